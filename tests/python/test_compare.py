"""Comparisons: of results whose truth is known, of what is said in words, and on the command line."""

from __future__ import annotations

import copy
import json
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import ninescope
from compare_samples import DRIVE, JOB, document, of_latencies, of_numbers, one_left_out
from conftest import NATIVE
from ninescope.lab.compare import Side, compare, load
from ninescope.lab.compare.attribution import draw, joined
from ninescope.lab.compare.conditions import differing, same_requests, same_workload
from ninescope.lab.compare.text import as_text
from ninescope.lab.compare.text import ratio as shown_ratio
from ninescope.lab.compare.verdict import by_chance, without_chance
from ninescope.lab.statistics import Contrast, Interval
from ninescope.result import Result

needs_the_engine = pytest.mark.skipif(not NATIVE, reason="the engine is not built")


def exponential(seed: int, count: int = 20_480, scale: float = 50_000, least: float = 40_000) -> np.ndarray:
    return least + np.random.default_rng(seed).exponential(scale, count)


# ---- Replications ----------------------------------------------------------------------------------------


def test_every_value_of_a_paired_comparison_by_hand():
    a = [of_numbers(np.random.default_rng(seed), seed=seed) for seed in (1, 2, 3)]
    b = [of_numbers(np.random.default_rng(seed + 10), seed=seed) for seed in (1, 2, 3)]
    for run, value in zip(a, (3.0, 3.2, 3.1), strict=True):
        run.document["waf"]["total"] = value
    for run, value in zip(b, (2.5, 2.8, 2.5), strict=True):
        run.document["waf"]["total"] = value
    found = compare(b=b[::-1], a=a)["waf"]
    assert found.contrast is not None
    assert found.contrast.difference.value == pytest.approx(-0.5)
    assert found.contrast.ratio.value == pytest.approx(7.8 / 9.3)
    # t(2) = 4.302653. Of logarithms, one pair left out after the other: log(7.8 / 9.3) +- t(2) 0.024478
    logs = [np.array(one_left_out(values)) for values in ((3.0, 3.2, 3.1), (2.5, 2.8, 2.5))]
    off = logs[1] - logs[0]
    half = 4.302653 * off.std(ddof=1) / np.sqrt(3)
    assert np.log(found.contrast.ratio[1:]) == pytest.approx(np.log(7.8 / 9.3) + np.array([-half, half]))
    # The difference is the same in units of A.
    expected = 3.1 * (7.8 / 9.3 * np.exp([-half, half]) - 1)
    assert found.contrast.difference[1:] == pytest.approx(expected)
    moved = off - off.mean() + np.log(7.8 / 9.3)
    assert found.contrast.p == pytest.approx(stats.ttest_1samp(moved, 0).pvalue)
    assert found.a.value == pytest.approx(3.1)
    half = 4.302653 * logs[0].std(ddof=1) / np.sqrt(3)
    assert found.a[1:] == pytest.approx((3.1 * np.exp(-half), 3.1 * np.exp(half)))


def test_same_seeds_are_paired_and_others_are_not():
    def runs(*seeds: int) -> list[Result]:
        return [of_numbers(np.random.default_rng(seed), seed=seed) for seed in seeds]

    same = compare(runs(1, 2, 3), runs(3, 2, 1))
    assert same.design == "3 runs of each, paired by their seeds 1 to 3"
    assert same["waf"].contrast.paired
    others = compare(runs(1, 2, 3), runs(4, 5, 7))
    assert others.design == (
        "3 runs of A with seeds 1 to 3 and 3 of B with seeds 4, 5, 7, not paired: their seeds differ"
    )
    assert not others["waf"].contrast.paired
    some = compare(runs(1, 2, 3), runs(2, 3, 9))
    assert some.design == (
        "2 runs of each, paired by their seeds 2 to 3; left out, because the other has no such run: "
        "A with seed 1 and B with seed 9"
    )
    assert some.a.seeds == some.b.seeds == [2, 3]
    one = compare(runs(1, 2, 3), runs(2))
    assert one.design == (
        "one run of each, on the same requests, with seed 2; the other runs are left out, because one side "
        "has no more than one"
    )


@pytest.mark.parametrize("is_paired", [True, False])
def test_designs_that_do_not_differ_are_told_so_in_95_of_100_cases_at_each_metric(is_paired):
    random = np.random.default_rng(20)
    runs, tables = 250, 0
    false: Counter[str] = Counter()
    for _ in range(runs):
        shared = [
            {"mean": random.normal(0, 5_000), "iops": random.normal(0, 2_000), "waf": random.normal(0, 0.3)}
            for _ in range(5)
        ]
        a = [of_numbers(random, seed=seed, common=shared[seed]) for seed in range(5)]
        b = [
            of_numbers(random, seed=seed, common=shared[seed])
            if is_paired
            else of_numbers(random, seed=seed + 5)
            for seed in range(5)
        ]
        if not is_paired:
            a = [of_numbers(random, seed=seed) for seed in range(5)]
        found = compare(a, b)
        judged = [row for row in found.rows if row.contrast is not None]
        false.update(row.metric.key for row in judged if row.contrast.excludes_none)
        tables += any(row.verdict.kind in ("lower", "higher") for row in judged)
    assert len(judged) >= 10
    most = stats.binom.ppf(0.9999, runs, 0.05)
    for row in judged:
        assert false[row.metric.key] <= most, row.metric.key
    # Values that are known exactly are not judged too mildly either.
    for key in ("read.iops", "read.mean", "waf", "busy.dies", "lifetime.years"):
        assert false[key] >= stats.binom.ppf(0.0001, runs, 0.05), key
    assert tables <= most


def test_a_slower_design_is_found_and_what_is_the_same_is_not():
    random = np.random.default_rng(21)
    shared = [{"mean": random.normal(0, 5_000)} for _ in range(6)]
    a = [of_numbers(random, seed=seed, common=shared[seed]) for seed in range(6)]
    b = [of_numbers(random, seed=seed, common=shared[seed], slower=1.2) for seed in range(6)]
    found = compare(a, b)
    row = found["read.mean"]
    assert row.verdict.kind == "higher"
    assert re.fullmatch(r"B is higher by \d+ % \(\d+ to \d+\)|.*\.\d.*", row.verdict.words)
    assert row.contrast.ratio.low < 1.2 < row.contrast.ratio.high
    assert found["read.iops"].verdict.kind == "lower"
    assert found["waf"].verdict.kind == "none"
    assert found["waf"].verdict.words.startswith("no difference shown (")


def test_what_follows_from_the_configuration_needs_no_chance():
    a, b = (of_numbers(np.random.default_rng(seed), seed=1) for seed in (1, 2))
    assert compare(a, b)["cost.total"].verdict == ("none", "the same (by the configuration)")
    dearer = Result(b.document | {"cost": b.document["cost"] | {"total": 6.0}})
    assert compare(a, dearer)["cost.total"].verdict == (
        "higher",
        "B is higher by 25.0 % (by the configuration)",
    )


def test_counts_that_differ_by_one_in_each_run_differ_by_chance():
    a = [of_numbers(np.random.default_rng(seed), seed=seed) for seed in (1, 2)]
    b = copy.deepcopy(a)
    for run, other in zip(a, b, strict=True):
        run.document["operations"]["erases"], other.document["operations"]["erases"] = 900, 901
    found = compare(a, b)["erases"]
    assert found.verdict.kind == "none"
    # (901 - 1) / 900 to 901 / (900 - 1), in units of A
    assert tuple(found.contrast.difference) == pytest.approx((1, 0, 900 * 2 / 899))


@needs_the_engine
def test_percentiles_too_far_out_for_single_runs_are_told_from_all_of_them():
    def runs(tail: float) -> list[Result]:
        found = []
        for seed in range(1, 7):
            random = np.random.default_rng(seed + round(tail * 100))
            values = exponential(seed + round(tail * 100), 20_480)
            found.append(
                of_latencies(np.where(random.random(20_480) < 2e-3, values * tail, values), seed=seed)
            )
        return found

    row = compare(runs(10), runs(30))["read.p99.99"]
    assert "blocks of the runs" in row.contrast.method
    assert row.contrast.samples == (120, 120)
    assert row.verdict.kind == "higher"


# ---- Single runs -----------------------------------------------------------------------------------------


def test_single_runs_are_compared_by_what_varies_within_them():
    a = of_latencies(exponential(1), seed=1)
    b = of_latencies(exponential(2, least=60_000), seed=2)
    found = compare(a, b)
    assert found.design == "one run of each, not on the same requests, with seed 1 and seed 2"
    assert found["read.p50"].contrast.method == "bootstrap over 20 and 20 blocks of the runs"
    assert found["read.mean"].contrast.method.startswith("Welch's interval of")
    assert any("from within single runs" in remark for remark in found.remarks)
    # Means of 90 and 110 us.
    assert found["read.mean"].verdict.kind == "higher"
    assert found["read.mean"].contrast.ratio.low < 110 / 90 < found["read.mean"].contrast.ratio.high
    assert found["read.iops"].verdict.kind == "lower"
    assert found["read.iops"].contrast.ratio.low < 90 / 110 < found["read.iops"].contrast.ratio.high
    assert found["read.iops"].contrast.ratio.value == pytest.approx(
        b.throughput["read"].iops / a.throughput["read"].iops
    )
    words = "cannot be told (fewer than 10 requests beyond it in A and B)"
    assert found["read.p99.99"].verdict.words == words
    assert not found["read.p99.99"].is_trusted


def test_single_runs_of_the_same_process_are_told_so():
    runs = 60
    false: Counter[str] = Counter()
    for index in range(runs):
        a, b = (of_latencies(exponential(2 * index + half, 10_240), seed=half) for half in (0, 1))
        rows = [row for row in compare(a, b).rows if row.contrast is not None]
        false.update(row.metric.key for row in rows if row.contrast.excludes_none)
    assert {row.metric.key for row in rows} == {
        "read.iops",
        "read.bandwidth",
        "read.mean",
        "read.p50",
        "read.p90",
        "read.p99",
        "read.p99.9",
    }
    assert max(false.values(), default=0) <= stats.binom.ppf(0.9999, runs, 0.05)


def ending_later(run: Result, by: float) -> Result:
    """The same run, of which the last request is done later by a share of it."""
    read = run.document["throughput"]["read"]
    rates = {key: read[key] / (1 + by) for key in ("iops", "bytes_per_second")}
    columns = run.to_polars("series")
    return Result(
        run.document | {"throughput": run.document["throughput"] | {"read": read | rates}},
        series={name: columns[name].to_numpy() for name in columns.columns},
    )


def test_requests_that_come_at_given_times_are_paired_in_time():
    random = np.random.default_rng(30)
    count = 20_480
    gaps = random.exponential(1, count) * np.repeat(random.uniform(20_000, 200_000, 160), count // 160)
    values = 30_000 + random.exponential(20_000, count) + 2e9 / gaps.clip(20_000)
    trace = {"kind": "trace", "path": "t.csv", "hash": "abc", "closed_loop": False, "requests": count}
    a = of_latencies(values, gaps_ns=gaps, workload=trace)
    b = of_latencies(values * 1.01, gaps_ns=gaps, seed=2, workload=trace | {"path": "copy.csv"})
    assert same_requests(a, b)
    found = compare(a, b)["read.mean"]
    assert found.contrast.paired
    assert found.verdict.kind == "higher"
    assert found.contrast.ratio.low < 1.01 < found.contrast.ratio.high
    assert compare(a, b)["read.iops"].verdict.words == "no difference shown (equal)"
    # The last of the same requests is done later: that is the end of the run, until it is one of its length.
    assert compare(a, ending_later(b, 2e-9))["read.iops"].verdict.words == "no difference shown (equal)"
    assert compare(a, ending_later(b, 0.01))["read.iops"].verdict.kind == "lower"
    closed = [
        Result(
            run.document | {"workload": trace | {"closed_loop": True}},
            series={
                name: run.to_polars("series")[name].to_numpy() for name in run.to_polars("series").columns
            },
        )
        for run in (a, b)
    ]
    assert not compare(*closed)["read.mean"].contrast.paired
    assert compare(*closed)["read.mean"].verdict.kind == "none"


def test_the_same_run_twice():
    run = of_latencies(exponential(1))
    found = compare(run, run)
    # It was told of its own scatter: read mean 1.00 [0.95, 1.06], and to be run with several seeds.
    assert {(row.verdict.kind, row.verdict.words) for row in found} == {("none", "the same (equal digests)")}
    assert all(row.contrast.ratio == (1, 1, 1) and row.contrast.difference == (0, 0, 0) for row in found)
    assert all(row.p_corrected is None for row in found)
    assert found.differences == ()
    assert found.remarks == ("A and B are the same run: workload, drive, build, seed and digest are equal",)
    assert "1.000 [1.000, 1.000] the same (equal digests)" in " ".join(str(found).split())
    assert "corrected" not in str(found)


def test_the_same_runs_with_several_seeds():
    runs = [of_latencies(exponential(seed), seed=seed) for seed in (1, 2, 3)]
    assert {row.verdict.words for row in compare(runs, runs)} == {"the same (equal digests)"}
    one_differs = [*runs[:2], Result(of_latencies(exponential(9), seed=3).document | {"digest": "another"})]
    assert not any(row.verdict.words == "the same (equal digests)" for row in compare(runs, one_differs))


def test_devices_that_did_the_same_may_differ_in_what_follows_from_the_configuration():
    run = of_latencies(exponential(1), cost={"total": 3.0, "media": {}})
    config = run.document["config"] | {"drive": {"nand": {"bit_cost": 2}}}
    dearer = Result(run.document | {"config": config, "cost": {"total": 4.0, "media": {}}})
    found = compare(run, dearer)
    assert found["read.mean"].verdict.words == "the same (equal digests)"
    assert found["cost.total"].verdict.words.endswith("(by the configuration)")
    assert any("digests are equal" in remark for remark in found.remarks)


def test_a_comparison_says_which_side_has_not_settled():
    steady, drifting = (
        of_latencies(exponential(1), steadiness={"verdict": verdict, "words": ""}, digest=verdict)
        for verdict in ("no-drift-shown", "not-steady")
    )
    remarks = compare(steady, drifting).remarks
    assert "B is not steady: its measured window drifts, and its numbers with it" in remarks
    assert not any("A is not steady" in remark for remark in remarks)


@pytest.mark.parametrize("stored", [{"reasons": ["free-blocks"]}, {}])
def test_a_side_that_lives_on_free_blocks_is_not_said_to_drift(stored):
    # Before reasons were stored, words alone said so.
    told = {
        "verdict": "not-steady",
        "words": "the drive lives on blocks that were free: 0 % of what was programmed was erased",
        "drift": {"change": 0.0, "low": 0.0, "high": 0.0, "level": 0.995, "p": 1.0},
        "programmed_bytes": 1 << 20,
        "erased_bytes": 0,
        **stored,
    }
    a, b = (of_latencies(exponential(seed), steadiness=told, digest=f"{seed}") for seed in (1, 2))
    words = "its drive lives on blocks that were free, and its numbers hold while these last"
    assert [remark for remark in compare(a, b).remarks if "steady" in remark] == [
        f"{side} is not steady: {words}" for side in "AB"
    ]


def test_a_short_run_and_a_run_without_tables_cannot_be_told():
    short = compare(of_latencies(exponential(1, 150)), of_latencies(exponential(2, 150)))
    words = "cannot be told (A and B too short for an interval: it takes 8,192 requests)"
    assert short["read.p50"].verdict.words == words
    longer = compare(of_latencies(exponential(1, 10_240)), of_latencies(exponential(2, 150)))
    assert longer["read.p50"].verdict.words == words.replace("A and B too", "B too")
    assert longer["read.p99"].verdict.words == "cannot be told (fewer than 10 requests beyond it in B)"
    assert "  fewer than 10 requests beyond: read p99.99, read p99.999" in str(longer)
    assert "too few" not in str(longer)
    assert short["read.mean"].verdict.words.startswith("cannot be told (")
    assert "16 are needed" in short["read.mean"].verdict.words
    alone = [Result(of_latencies(exponential(1, least=least)).document) for least in (40_000, 60_000)]
    words = compare(*alone)["read.mean"].verdict.words
    assert words == "cannot be told (no time series: give the folder of the run, not its JSON alone)"
    assert "give its folder" in compare(*alone)["read.p50"].verdict.words


def test_what_single_runs_say_nothing_of():
    a, b = (of_numbers(np.random.default_rng(seed), seed=1) for seed in (1, 2))
    words = "cannot be told (one run of each)"
    assert compare(a, b)["waf"].verdict.words == words
    same = Result(b.document | {"waf": a.document["waf"], "digest": "another"})
    assert compare(a, same)["waf"].verdict.words == "no difference shown (equal)"


# ---- Conditions ------------------------------------------------------------------------------------------


def test_what_differs_is_listed_by_its_keys():
    drive = {"summary": "other words", "ftl": {"victim": {"policy": "fifo"}, "over_provisioning": 0.15}}
    config = {"name": "demo", "drive": drive, "run": {"seed": 1, "prefill": "steady", "requests": 20_000}}
    a, b = (
        Result(document()),
        Result(document(config=config, workload={"kind": "synthetic", "job": JOB | {"bs": "8KiB"}})),
    )
    assert differing(a, b) == [
        ("workload.job.bs", "4KiB", "8KiB"),
        ("run.prefill", "full", "steady"),
        ("run.warmup", "0", None),
        ("ftl.victim.policy", "greedy", "fifo"),
    ]
    assert not same_workload(a, b)
    assert differing(a, Result(document(seed=2))) == []
    assert not same_requests(a, Result(document(seed=2)))
    assert DRIVE["summary"] not in str(differing(a, b))


@pytest.mark.parametrize("width", [80, 100, 140])
def test_hashes_of_workloads_stand_on_a_line(width):
    one, other = ("0123456789abcdef" * 2, "fedcba9876543210" * 2)
    a, b = (
        Result(document(workload={"kind": "trace", "path": "t.csv", "hash": each, "format": "msr"}))
        for each in (one, other)
    )
    found = compare(a, b)
    assert ("workload.hash", one, other) in found.differences
    line = next(line for line in as_text(found, width).splitlines() if "workload.hash" in line)
    assert line.split() == ["workload.hash", one[:12], other[:12]]


def with_run(seed: int, **changes: object) -> Result:
    result = of_numbers(np.random.default_rng(seed), seed=seed)
    result.document["config"]["run"].update(changes)
    return result


def test_what_the_drive_held_before_is_no_difference_of_workloads():
    found = compare([with_run(1), with_run(2)], [with_run(seed, prefill="steady") for seed in (1, 2)])
    assert found.design == "2 runs of each, paired by their seeds 1 to 2"
    assert "the workloads differ" not in " | ".join(found.remarks)
    assert ("run.prefill", "full", "steady") in found.differences


@pytest.mark.parametrize("key", ["requests", "duration", "warmup"])
def test_how_a_workload_is_cut_is_one(key):
    assert not same_workload(with_run(1), with_run(1, **{key: "7"}))


def test_what_weakens_a_comparison_is_said():
    a = of_latencies(exponential(1))
    b = of_latencies(
        exponential(2), complete=False, ninescope="0.2.0", workload={"kind": "synthetic", "job": {}}
    )
    said = " | ".join(compare(a, b).remarks)
    assert "B is incomplete: its run was interrupted" in said
    assert "the workloads differ" in said
    assert "A was made by ninescope 0.1.0 release x86_64, B by 0.2.0 release x86_64" in said


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        ([], "A holds no result"),
        ([document(1), document(1)], "A: two of its runs have the seed 1"),
        (
            [document(1), document(2, ninescope="0.2.0")],
            "A: its runs are of several designs, and only seeds may differ: build is 0.1.0 release x86_64 "
            "with seed 1 and 0.2.0 release x86_64 with seed 2",
        ),
    ],
)
def test_runs_that_are_no_replications_are_refused(runs, words):
    with pytest.raises(ninescope.ConfigError) as caught:
        Side.of("A", [Result(run) for run in runs])
    assert str(caught.value) == words


def test_traces_drawn_from_a_profile_are_another_one_with_each_seed():
    def drawn(seed: int) -> Result:
        words = {"kind": "trace", "path": "rsrch_0", "format": "profile", "hash": f"h{seed}", "requests": 500}
        return Result(document(seed, workload=words | {"reads": 100 + seed}))

    assert Side.of("A", [drawn(1), drawn(2)]).seeds == [1, 2]
    assert same_requests(drawn(1), drawn(1))
    assert not same_requests(drawn(1), drawn(2))


# ---- Words -----------------------------------------------------------------------------------------------


def contrast(
    ratio: tuple[float, float, float] | None, difference=(1.0, 0.5, 1.5), p: float = 0.001
) -> Contrast:
    known = None if ratio is None else Interval(*ratio)
    return Contrast(Interval(*difference), known, p, "made up", (5, 5), True)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (contrast((0.88, 0.86, 0.90), (-12, -14, -10)), "B is lower by 12 % (10 to 14)"),
        (contrast((1.123, 1.115, 1.131)), "B is higher by 12.3 % (11.5 to 13.1)"),
        (contrast((1.00123, 1.00115, 1.00131)), "B is higher by 0.123 % (0.115 to 0.131)"),
        (contrast((4.2, 3.6, 4.9)), "B is 4.2 times as high (3.6 to 4.9)"),
        (contrast(None, (7, 4, 10)), "B is higher by 7 (4 to 10)"),
        (contrast((0.0, 0.0, 0.0), (-945, -950, -940)), "B is lower by 945 (940 to 950)"),
        (contrast((1.01, 0.97, 1.05), (1, -3, 5), p=0.6), "no difference shown (-3 to +5 %)"),
        # What is left of something is not rounded to nothing.
        (contrast((0.009, 1.4e-5, 0.017), (-3, -5, -1), p=0.6), "no difference shown (-99.999 to -98.3 %)"),
        (contrast((0.5, 0.0004, 7.2), (-3, -5, 5), p=0.6), "no difference shown (-99.96 to +620 %)"),
        (contrast((0.0, 0.0, 7.2), (-3, -5, 5), p=0.6), "no difference shown (-5 to +5)"),
        (contrast((0.009, 1.4e-5, 0.017), (-3, -5, -1), p=0.01), "B is lower by 99.1 % (98.3 to 99.999)"),
        (contrast((1.7, 0.0004, 7_200), (1, -3, 5), p=0.6), "no difference shown (0.0004 to 7.2e+03 times)"),
        (contrast((1.02, 1.002, 1.038), (2, 0.2, 3.8), p=0.03), "B is higher by 2 % (0.2 to 4)"),
        (contrast((1.02, 1.002, 1.038), (2, 0.2, 3.8), p=0.07), "no difference shown (+0.2 to +4 %)"),
        (contrast((1, 1, 1), (0, 0, 0), p=1), "no difference shown (equal)"),
        (contrast(None, (1, -3, 5), p=0.6), "no difference shown (-3 to +5)"),
    ],
)
def test_verdicts_in_words(given, words):
    assert by_chance(given, given.p, 1).words == words


def test_what_many_looks_explain_is_said():
    words = by_chance(contrast((1.02, 1.01, 1.03), p=0.01), 0.2, 20).words
    assert words == "no difference shown (+1.0 to +3.0 %; alone it would be, but it is one of 20 compared)"
    assert without_chance(2.0, 1.5, "why").words == "B is lower by 25.0 % (why)"


def test_unknown_metrics_are_answered_with_the_nearest():
    found = compare(of_latencies(exponential(1)), of_latencies(exponential(2)))
    with pytest.raises(KeyError, match=r"did you mean 'read\.p99'"):
        found["read.p98"]


def spread_out(random: np.random.Generator, seed: int) -> Result:
    """A run in which whatever can vary varies by far, and shares are anywhere."""
    run = of_numbers(random, seed=seed)
    run.document["waf"]["total"] = float(random.lognormal(0, 1.5))
    run.document["operations"] = {"erases": int(random.poisson(2))}
    run.document["utilisation"] = {"dies": {"mean": float(random.beta(0.3, 0.3))}}
    run.document["throughput"]["read"]["iops"] = float(random.lognormal(5, 1.5))
    return run


@pytest.mark.parametrize("shared_seeds", [True, False])
def test_no_interval_leaves_what_its_quantity_can_be(shared_seeds):
    random = np.random.default_rng(31)
    ratios = 0
    for _ in range(40):
        count = int(random.integers(2, 9))
        a = [spread_out(random, seed) for seed in range(count)]
        b = [spread_out(random, seed + (0 if shared_seeds else count)) for seed in range(count)]
        forth, back = compare(a, b), compare(b, a)
        for row in forth.rows:
            most = 1.0 if row.metric.unit == "share" else math.inf
            for value in (row.a, row.b):
                assert value is None or 0 <= value.low <= value.value <= value.high <= most
            assert (
                "(-" not in row.verdict.words or float(re.search(r"\(-([\d.]+)", row.verdict.words)[1]) <= 100
            )
            if row.contrast is None or row.contrast.ratio is None:
                continue
            ratio, other = row.contrast.ratio, back[row.metric.key].contrast.ratio
            assert 0 < ratio.low <= ratio.high
            assert (1 / ratio.high, 1 / ratio.low) == pytest.approx(other[1:], rel=1e-6)
            shown_low = float(re.search(r"\[(.*),", shown_ratio(row))[1])
            assert shown_low > 0
            ratios += 1
    assert ratios > 200


# ---- Attribution -----------------------------------------------------------------------------------------


def banded(seed: int, count: int, erase: float) -> Result:
    band = {
        "band": "p50",
        "count": count,
        "lower_ns": 10,
        "upper_ns": 90,
        "parts_ns": {"command_array": 40.0},
    }
    slow = {
        "band": "max",
        "count": 10,
        "lower_ns": 90,
        "upper_ns": 900 + seed,
        "parts_ns": {"die_erase": erase},
    }
    return of_latencies(exponential(seed), seed=seed, attribution={"read": [band, slow]})


def test_bands_of_replications_are_put_together():
    fast, slow = joined([banded(1, 100, 300.0), banded(2, 300, 500.0)], "read")
    assert (fast.count, dict(fast.parts_ns)) == (400, {"command_array": 40.0})
    assert (slow.count, slow.upper_ns, dict(slow.parts_ns)) == (20, 902, {"die_erase": 400.0})


@pytest.mark.parametrize("width", [0.0, 300.0])
def test_a_band_without_a_bar_says_so(width):
    # Beside the bars of A a place was blank, and nothing told why.
    both = banded(1, 100, 300.0)
    one = banded(1, 100, 300.0)
    one.document["attribution"]["read"].pop()
    drawn = draw(compare(both, one if width else both))
    [axes] = drawn.axes
    words = [text.get_text() for text in axes.texts]
    assert words.count("B: no requests") == (1 if width else 0)
    assert "A: no requests" not in words
    drawn.canvas.draw()
    assert all(
        axes.bbox.padded(1).contains(*axes.transData.transform(text.get_position())) for text in axes.texts
    )
    assert ("A band without a bar" in str(drawn.get_supxlabel())) == bool(width)


# ---- What is no result -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("x", "B is a Result, or several with other seeds, not 'x'; Result.load reads one"),
        (Path("out"), "Result.load reads one"),
        (None, "B is a Result, or several with other seeds, not None"),
        (7, "not 7"),
        ([None], "not None"),
        (["x", "y"], "not 'x'; Result.load reads one"),
        ([], "B holds no result"),
    ],
)
def test_what_is_no_result_is_refused(given, words):
    with pytest.raises(ninescope.ConfigError, match=re.escape(words)):
        compare(banded(1, 100, 300.0), given)


def test_a_comparison_is_gone_through_metric_by_metric():
    comparison = compare(banded(1, 100, 300.0), banded(2, 100, 300.0))
    rows = list(comparison)
    assert rows == list(comparison.rows)
    assert len(comparison) == len(rows) > 5
    assert all(comparison[row.metric.key] is row and row.metric.key in comparison for row in comparison)
    assert "read.p42" not in comparison


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("nowhere", None, "nowhere: No such file or directory"),
        ("empty.json", "", "empty.json: the file is empty"),
        ("broken.json", "{", "broken.json: is not JSON"),
        ("list.json", "[]", "list.json: is not a result of ninescope"),
        ("it.toml", "base = 'tlc'", "not a result"),
        (".", None, "result.json: No such file or directory"),
    ],
)
def test_what_cannot_be_loaded_is_refused(tmp_path, name, content, words):
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises(ninescope.ConfigError, match=re.escape(words)):
        Result.load(path)


def test_a_damaged_table_of_a_result_is_refused(tmp_path):
    banded(1, 100, 300.0).save(tmp_path)
    (tmp_path / "latency.parquet").write_bytes(b"no Parquet")
    with pytest.raises(ninescope.ConfigError, match="is a damaged result"):
        Result.load(tmp_path)


# ---- Delivery --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> Path:
    """Runs in folders: a and b with three seeds each."""
    root = tmp_path_factory.mktemp("compare")
    for seed in (1, 2, 3):
        banded(seed, 100, 300.0).save(root / "a" / str(seed))
        slower = of_latencies(
            exponential(seed) * 1.3, seed=seed, attribution=banded(seed, 90, 900.0).document["attribution"]
        )
        slower.save(root / "b" / str(seed))
    return root


def test_folders_of_replications_and_single_runs_are_read(folders):
    assert load("A", folders / "a").seeds == [1, 2, 3]
    assert load("A", folders / "a/2").seeds == [2]
    alone = load("A", folders / "a/2/result.json")
    assert alone.first.latency.read.blocks  # from the tables beside it


def test_the_command_prints_a_table(cli, folders):
    done = cli("compare", folders / "a", folders / "b")
    assert done.code == 0, done.err
    assert "3 runs of each, paired by their seeds 1 to 3" in done.out
    assert "read mean" in done.out
    assert re.search(r"read mean .* higher by \d", done.out)
    assert "workload, drive and build are the same" in done.out
    assert max(map(len, done.out.splitlines())) <= 100


def test_the_command_prints_json(cli, folders):
    done = cli("compare", folders / "a/1", folders / "b/1", "--json")
    whole = json.loads(done.out)
    assert whole["design"] == "one run of each, on the same requests, with seed 1"
    [row] = [row for row in whole["metrics"] if row["key"] == "read.p90"]
    assert row["verdict"] == "higher"
    assert row["ratio"]["low"] < 1.3 < row["ratio"]["high"]
    assert row["paired"] is True
    assert whole["a"]["runs"] == [{"seed": 1, "digest": "digest-1", "complete": True, "requests": 20_480}]


def test_the_command_writes_a_folder_and_single_files(cli, folders, tmp_path):
    done = cli("compare", folders / "a", folders / "b", "--out", tmp_path / "out/both")
    assert done.code == 0, done.err
    assert {path.name for path in (tmp_path / "out/both").iterdir()} == {
        "comparison.json",
        "relative.png",
        "percentiles.png",
        "survival.png",
        "attribution.png",
    }
    for name in ("it.html", "it.json"):
        assert cli("compare", folders / "a", folders / "b", "--out", tmp_path / name).code == 0
    assert json.loads((tmp_path / "it.json").read_text()) == json.loads(
        (tmp_path / "out/both/comparison.json").read_text()
    )
    assert (tmp_path / "it.html").read_text().startswith("<!")


def test_the_report_of_two(cli, folders, tmp_path):
    done = cli("report", folders / "a", folders / "b", "--out", tmp_path / "two.html")
    assert done.code == 0, done.err
    page = (tmp_path / "two.html").read_text()
    for words in (
        "A and B compared",
        "B relative to A",
        "Which share of the requests was slower",
        "behind erase",
    ):
        assert words in page
    assert cli("report", folders / "a", folders / "b").code == 0
    assert (folders / "b/comparison.html").read_text() == page


def test_a_comparison_is_the_same_each_time(folders):
    first, second = (compare(load("A", folders / "a"), load("B", folders / "b")) for _ in range(2))
    assert json.dumps(first.document()) == json.dumps(second.document())
    assert str(first) == str(second)


@pytest.mark.parametrize(
    ("a", "b", "out", "words"),
    [
        ("a", "nowhere", None, "nowhere' does not exist"),
        ("a", "empty", None, "empty holds no result.json (of `run --out`), and no folder in it does"),
        ("a", "mixed", None, "mixed: two of its runs have the seed 1"),
        ("a", "broken", None, "broken/result.json: is not JSON"),
        ("a", "torn", None, "torn: is a damaged result"),
        ("a", "b", "it.pdf", "--out wants a folder, or a file that ends in .html or .json, not"),
        ("a", "b", "no/it.html", "there is no folder"),
        ("a", "b", "", "--out wants a folder or a file"),
    ],
)
def test_bad_input_is_refused_in_one_line(cli, folders, tmp_path, a, b, out, words):
    (tmp_path / "empty").mkdir()
    for name in ("x", "y"):
        Result(document(1)).save(tmp_path / "mixed" / name)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/result.json").write_text("{")
    Result(document(1)).save(tmp_path / "torn")
    (tmp_path / "torn/series.parquet").write_bytes(b"no Parquet")
    other = folders / b if b == "b" else tmp_path / b
    target = [] if out is None else ["--out", str(tmp_path / out) if out else ""]
    done = cli("compare", folders / a, other, *target)
    assert done.code == 2
    assert words in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert "Traceback" not in done.err


def test_a_notebook_shows_what_a_terminal_does_and_no_markup_of_a_name():
    import html

    sides = [Side.of(name, Result(document()), f"<b>{name}</b> & co") for name in "AB"]
    comparison = compare(*sides)
    shown = comparison._repr_html_()
    assert shown.startswith("<pre")
    assert "<b>" not in shown
    assert "&lt;b&gt;A&lt;/b&gt; &amp; co" in shown
    assert "script" not in shown
    plain = html.unescape(re.sub(r"<[^>]*>", "", shown))
    words = lambda text: " ".join(text.split())  # noqa: E731
    assert words(as_text(comparison, 110)) == words(plain)
