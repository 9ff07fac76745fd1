"""The parts of a search: goals, spaces, evidence, fronts, verdicts. Expectations are worked out by hand."""

from __future__ import annotations

import dataclasses
import html
import itertools
import math
import random
import re

import numpy as np
import pytest

import ninescope
from conftest import NATIVE
from ninescope.lab.search import pareto
from ninescope.lab.search.evaluate import dominated, violated
from ninescope.lab.search.evidence import beyond, end, slower_share
from ninescope.lab.search.file import SearchFile
from ninescope.lab.search.finish import Candidate, bounded, choose, judged, measured
from ninescope.lab.search.goals import Goals, constraint, contradiction, number, objective
from ninescope.lab.search.record import Record, table
from ninescope.lab.search.text import print_rows
from ninescope.lab.search.trial import FULL, PRUNED, Trial
from ninescope.lab.statistics import mean_interval
from search_samples import SMALL, kept

WORKLOADS = ("oltp", "backup")
needs_the_engine = pytest.mark.skipif(not NATIVE, reason="the engine is not built")

# ---- goals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "metrics", "limit"),
    [
        ("p99.99 < 500us", ("read_p99.99_ns", "write_p99.99_ns"), 500_000),
        ("read_p99.9<=1.5ms", ("read_p99.9_ns",), 1_500_000),
        ("write_mean_ns < 10us", ("write_mean_ns",), 10_000),
        ("lifetime > 5y", ("lifetime_years",), 5),
        ("lifetime > 730d", ("lifetime_years",), 2),
        ("lifetime >= 1.5 years", ("lifetime_years",), 1.5),
        ("throughput > 100MB/s", ("bytes_per_second",), 100e6),
        ("hit_ratio >= 90%", ("hit_ratio",), 0.9),
        ("die_utilisation < 0.5", ("die_utilisation",), 0.5),
        ("waf < 2", ("waf_total",), 2),
        ("cost < 1.5", ("cost_total",), 1.5),
        ("iops > 1e5", ("iops",), 100_000),
        ("power_mean_watts < 2.5", ("power_mean_watts",), 2.5),
        ("power_mean_watts < 2500mW", ("power_mean_watts",), 2.5),
        ("energy_per_request_joules <= 20uJ", ("energy_per_request_joules",), 20e-6),
    ],
)
def test_limits_are_read_in_the_unit_of_their_number(text, metrics, limit):
    found = constraint(text, WORKLOADS)
    assert found.number.metrics == metrics
    assert found.limit == pytest.approx(limit)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("p99.98 < 1ms", "did you mean 'p99.9"),
        ("lifetme > 5y", "did you mean 'lifetime'"),
        ("p99 < 500", "a time such as 500us"),
        ("lifetime > 5", "a time such as 5y"),
        ("iops > 5ms", "a number without a unit"),
        ("power_mean_watts < 5J", "a number, or one such as 2.5W"),
        ("energy_joules < 5us", "a number, or one such as 20uJ"),
        ("throughput > 100", "a rate such as 100MB/s"),
        ("p99 < fast", "no number"),
        ("p99 = 5us", "a limit is wanted"),
        ("p99 < 1us < 2us", "a limit is wanted"),
        ("p99 < 1us on oltpp", "did you mean 'oltp'"),
        ("p99 < 0us", "can never hold"),
        ("hit_ratio > 1", "can never hold"),
        ("hit_ratio >= 110%", "can never hold"),
        ("waf < 0", "can never hold: waf is never below 0"),
        ("waf_host > 1", "can never hold: waf_host is from 0 to 1"),
        ("lifetime < -1y", "can never hold"),
        ("lifetime > -1y", "says nothing: lifetime is never below 0"),
    ],
)
def test_what_is_wrong_with_a_limit_is_said(text, said):
    with pytest.raises(ninescope.ConfigError, match=said):
        constraint(text, WORKLOADS)


@pytest.mark.parametrize(
    "texts",
    [
        ("p99 < 1us", "p99 > 2us"),
        ("p99 < 1us", "p99 >= 1us"),
        ("p99 > 2us", "p99 <= 2us"),
        ("p50 > 2us", "p99 < 1us"),  # percentiles grow
        ("read_p99 > 2us", "p99 < 1us"),  # the worse one is no better than reads
        ("read_mean > 2us", "max < 1us"),
        ("waf < 2", "waf > 3"),
        ("iops > 10 on oltp", "iops < 5"),
        ("iops > 10", "iops < 5 on oltp"),
        ("lifetime > 5y", "lifetime < 365d"),
        ("read_iops > 500", "iops < 400"),
        ("read_iops > 300", "write_iops >= 100", "iops < 400"),
        ("read_iops < 300", "write_iops <= 100 on oltp", "iops >= 400"),
        ("write_throughput > 5MB/s".replace("throughput", "bytes_per_second"), "throughput < 4MB/s"),
        ("waf_gc > 3", "waf < 3"),
        ("waf_gc >= 0.5", "waf_partial_writes > 0.5", "waf <= 1"),
    ],
)
def test_constraints_that_contradict_each_other_are_found(texts):
    both = contradiction(
        [constraint("dwpd > 1", WORKLOADS), *(constraint(text, WORKLOADS) for text in texts)]
    )
    assert {each.text for each in both} == set(texts)


@pytest.mark.parametrize(
    "texts",
    [
        ("p99 < 2us", "p99 > 1us"),
        ("p99 <= 1us", "p99 >= 1us"),
        ("p99 > 2us", "p50 < 1us"),
        ("p99 > 2us", "read_p99 < 1us"),  # writes may be slower
        ("mean > 2us", "p99 < 1us"),  # a few may be very slow
        ("p99 > 2us", "mean < 1us"),
        ("iops > 10 on oltp", "iops < 5 on backup"),
        ("read_iops > 10", "write_iops < 5"),
        ("read_iops >= 300", "write_iops >= 100", "iops <= 400"),
        ("read_iops > 300 on oltp", "write_iops > 100 on backup", "iops < 400"),
        ("read_iops < 300", "iops > 400"),  # the rest may be writes
        ("waf < 1",),  # a tier above flash takes what the host writes
        ("waf_gc > 1", "waf < 2.5"),
        ("waf_gc < 1", "waf_wear < 1", "waf_padding < 1", "waf_map < 1", "waf > 9"),  # or scrubbing
        ("waf >= 1", "waf < 2"),
    ],
)
def test_constraints_that_can_hold_together_are_let_pass(texts):
    assert contradiction([constraint(text, WORKLOADS) for text in texts]) == ()


def test_by_how_much_a_limit_is_missed():
    upper, lower = constraint("p99 < 100us", WORKLOADS), constraint("lifetime > 5y", WORKLOADS)
    assert upper.violation(150_000) == pytest.approx(0.5)
    assert upper.violation(50_000) == pytest.approx(-0.5)
    assert not upper.holds(100_000)
    assert constraint("p99 <= 100us", WORKLOADS).holds(100_000)
    assert lower.violation(4) == pytest.approx(0.2)
    assert lower.holds(math.inf)
    assert lower.violation(math.inf) < 0
    assert not lower.holds(None)
    assert lower.violation(None) == 1


def test_of_reads_and_writes_and_of_workloads_the_worst_counts():
    goals = Goals(
        (objective("minimise", "p99", WORKLOADS), objective("maximise", "iops", WORKLOADS)),
        (constraint("p99 < 300ns on oltp", WORKLOADS), constraint("lifetime > 2y", WORKLOADS)),
    )
    trial = Trial(0, {}, FULL, metrics={
        "oltp": {"read_mean_ns": 1, "read_p99_ns": 100, "write_mean_ns": 1, "write_p99_ns": 200, "iops": 7,
                 "lifetime_years": 3.0},
        # Nothing is written: its percentile is missing because there is nothing to measure.
        "backup": {"read_mean_ns": 1, "read_p99_ns": 400, "write_mean_ns": None, "write_p99_ns": None,
                   "iops": 5, "lifetime_years": math.inf},
    })  # fmt: skip
    assert trial.values(goals) == [400, -5]
    assert [trial.bounded(of) for of in goals.constraints] == [200, 3.0]
    assert trial.is_feasible(goals)
    trial.metrics["oltp"]["read_p99_ns"] = None  # too few samples
    assert trial.values(goals) is None
    assert not trial.is_feasible(goals)
    assert Trial.of_json(trial.as_json()) == trial


# ---- spaces ---------------------------------------------------------------------------------------------


def parsed(parameters: str, more: str = "") -> SearchFile:
    head, _, _ = SMALL.partition("[parameters]")
    return SearchFile.parse(f"{more}\n{head}[parameters]\n{parameters}")


@needs_the_engine
def test_values_are_written_as_keys_take_them():
    file = parsed(
        """
"nand.read" = { from = "20us", to = "60us" }
"workload.bs" = { from = "4KiB", to = "64KiB", log = true }
"workload.iodepth" = { from = 1, to = 32, log = true }
"ftl.over_provisioning" = { from = 0.1, to = 0.3, step = 0.05 }
"ftl.victim" = ["greedy", { policy = "d-choices", d = 4 }]
"""
    )
    space = file.space
    assert [parameter.kind for parameter in space.parameters] == [
        "real",
        "real",
        "whole",
        "ordered",
        "choice",
    ]
    design = {"nand.read": 23.45678, "workload.bs": 5.4, "workload.iodepth": 7, "ftl.over_provisioning": 2,
              "ftl.victim": "d-choices(d=4)"}  # fmt: skip
    assert space.settings(design) == {
        "nand.read": "23.46us",
        "workload.bs": "5KiB",
        "workload.iodepth": 7,
        "ftl.over_provisioning": 0.2,
        "ftl.victim": {"policy": "d-choices", "d": 4},
    }
    assert space.size(file.fixed()) is None


@needs_the_engine
def test_conditions_decide_which_parameters_are_there():
    file = parsed(
        """
"ftl.victim" = ["greedy", { policy = "d-choices", d = 4 }]
"ftl.victim.d" = { choices = [2, 8, 16], if = 'ftl.victim == "d-choices"' }
"nand.read" = { choices = ["20us", "40us"], if = 'ftl.victim.d > 2' }
"""
    )
    space, fixed = file.space, file.fixed()
    designs = list(space.all_designs(fixed))
    # greedy: 1; d = 2: 1; d = 8 and 16: 2 each.
    assert len(designs) == space.size(fixed) == 6
    assert {"ftl.victim": "greedy"} in designs
    assert all(("nand.read" in design) == (design.get("ftl.victim.d", 0) > 0) for design in designs)


@needs_the_engine
def test_one_step_aside():
    file = parsed(
        """
"nand.read" = ["20us", "40us", "60us"]
"ftl.victim" = ["greedy", "fifo", "random"]
"workload.iodepth" = { from = 1, to = 32 }
"nand.program" = { from = "100us", to = "1000us" }
"ftl.over_provisioning" = { from = 0.1, to = 0.4, log = true }
"""
    )
    aside = {parameter.name: parameter.aside for parameter in file.space.parameters}
    assert aside["nand.read"](0) == [1]
    assert aside["nand.read"](1) == [0, 2]
    assert aside["ftl.victim"]("fifo") == ["greedy", "random"]
    assert aside["workload.iodepth"](4) == [1, 7]  # a tenth of 31 is 3.1
    assert aside["workload.iodepth"](32) == [29]
    assert aside["nand.program"](550.0) == [460.0, 640.0]
    assert aside["nand.program"](1000.0) == [910.0]
    assert aside["ftl.over_provisioning"](0.2) == [0.1741, 0.2297]  # 4^(1/10) = 1.1487
    design = {"nand.read": 1, "ftl.victim": "fifo", "workload.iodepth": 1, "nand.program": 100.0,
              "ftl.over_provisioning": 0.4}  # fmt: skip
    neighbours = list(file.space.neighbours(design, file.fixed()))
    assert [name for name, _ in neighbours] == ["nand.read"] * 2 + ["ftl.victim"] * 2 + [
        "workload.iodepth", "nand.program", "ftl.over_provisioning",
    ]  # fmt: skip
    for name, neighbour in neighbours:
        assert [key for key in design if design[key] != neighbour[key]] == [name]


READS = '["20us", "40us", "60us", "80us"]'


@needs_the_engine
@pytest.mark.parametrize(
    ("changed", "to", "said"),
    [
        ('minimise = ["cost_per_logical_gb", "read_mean"]', "", "nothing is to become better"),
        ('"read_mean"]', '"read_men"]', r"line \d+: minimise: no result has .*'read_men'; did you mean"),
        ("trials = 12", "trails = 12", r"line \d+: trails: is no key of a search; did you mean 'trials'"),
        ("trials = 12", "trials = 0", "trials: a number from 1 on"),
        ("trials = 12", 'trials = 12\nsampler = "tpa"', "did you mean 'tpe'"),
        ("trials = 12", 'constraints = ["p99 < 1us", "p99 > 2us"]',
         "'p99 > 2us' and 'p99 < 1us' cannot both hold"),
        # Half of the reads take the median or longer, a hundredth p99.
        ("trials = 12", 'constraints = ["read_mean < 19us", "read_p50 > 40us"]',
         "'read_p50 > 40us' and 'read_mean < 19us' cannot both hold"),
        ("trials = 12", 'constraints = ["mean < 3us", "read_p99 > 400us"]',
         "'read_p99 > 400us' and 'mean < 3us' cannot both hold"),
        ("0.15, 0.2]", "0.15, -0.2]", r"line \d+: parameters.ftl.over_provisioning: -0.2: .*greater than 0$"),
        ("nand.read", "nand.raed", r"line \d+: parameters.nand.raed: unknown field `raed`; did you"),
        ('"40us", ', '"40 parsecs", ', r"parameters.nand.read: 40 parsecs: "),
        (READS, "[]", "nand.read: no choices are left"),
        (READS, '["20us"]', "one value is no choice"),
        (READS, '"20us"', "a list or a range is wanted"),
        (READS, '["20us", "20us"]', "20us is there twice"),
        (READS, '{ from = "60us", to = "20us" }', "the lower end is not below the upper"),
        (READS, '{ from = "60us", to = "20us", step = "1us" }', "lower end is not below"),
        (READS, '{ from = "20us", to = "20KiB" }', "two units that do not fit"),
        (READS, '{ from = "0us", to = "20us", log = true }', "greater than 0"),
        (READS, '{ form = "20us", to = "60us" }', "form: is no word .* did you mean 'from'"),
        ("ftl.over_provisioning >= 0.15", "ftl.over_provisoning >= 0.15", "nor set; did you mean"),
        ("ftl.over_provisioning >= 0.15", "ftl.over_provisioning > 0.15 0", "is no expression"),
        ("ftl.over_provisioning >= 0.15", "ftl.victim == 'fifo'", "its condition asks for itself"),
        ("ftl.over_provisioning >= 0.15", "ftl.over_provisioning > 0.5", "holds for no design"),
        ("seeds = 2", "sedes = 2", r"line \d+: final.sedes: .* did you mean 'seeds'"),
        ("seeds = 2", 'seeds = 2\nchoose = "cost"', "'cost' is no objective"),
        ("pruning = false", "[pruning]\nshort = 1.5", "short: a share from 0 to below 1"),
        ("pruning = false", "[pruning]\nlevel = 0.1", "more than a half"),
        ('"greedy", "fifo"', '"greedy", "fofi"', r"parameters.ftl.victim: fofi: .*did you mean"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_said_with_its_place(changed, to, said):
    assert changed in SMALL
    text = SMALL.replace(changed, to, 1)
    if to.startswith("[pruning]"):  # a table ends what stands before it
        text = SMALL.replace(f"{changed}\n", "") + to
    with pytest.raises(ninescope.ConfigError, match=said):
        SearchFile.parse(text)


@needs_the_engine
def test_a_mean_may_be_far_below_a_tail():
    limits = 'constraints = ["read_mean < 21us", "read_p50 > 40us", "read_mean < 30us", "write_p99 > 2ms"]'
    SearchFile.parse(SMALL.replace("trials = 12", f"trials = 12\n{limits}"))


@needs_the_engine
def test_a_limit_is_named_by_its_own_line():
    text = SMALL.replace("trials = 12", 'constraints = [\n  "p50 < 1ms",\n  "waf_host  >  1.5",\n]')
    line = 1 + text.splitlines().index('  "waf_host  >  1.5",')
    with pytest.raises(ninescope.ConfigError, match=rf"line {line}: constraints: 'waf_host > 1.5' can never"):
        SearchFile.parse(text)


# ---- tables ---------------------------------------------------------------------------------------------


def printed(
    capsys, width: int | None, heads: list[str], rows: list[list[str]], **options: object
) -> list[str]:
    from rich.console import Console

    terminal = Console(width=width or 40, force_terminal=width is not None, color_system=None)
    print_rows(heads, rows, terminal, **options)
    return capsys.readouterr().out.splitlines()


def test_tables_are_never_cut(capsys):
    heads, rows = ["name", "value", "why"], [["one", "1", "x" * 60], ["two", "22", "x" * 60]]
    line = ["name  value  why", f"one       1  {'x' * 60}", f"two      22  {'x' * 60}"]
    assert printed(capsys, None, heads, rows, right=[1]) == line  # a pipe has no width
    assert printed(capsys, 80, heads, rows, right=[1]) == line
    short = ["name  value", "one       1", "two      22"]
    assert printed(capsys, 40, heads, rows, right=[1]) == [f"the same in all: why = {'x' * 60}", *short]
    assert printed(capsys, 40, heads, rows, right=[1], spare=[2]) == [
        "left out, for want of room: why (--csv has all)", *short
    ]  # fmt: skip
    rows[1][2] = "y" * 60
    assert printed(capsys, 40, heads, rows) == [
        "name   one", "value  1", f"why    {'x' * 60}", "", "name   two", "value  22", f"why    {'y' * 60}"
    ]  # fmt: skip


# ---- evidence -------------------------------------------------------------------------------------------


def blocks_of(*slow: int, requests: int = 100, fast_ns: int = 100, slow_ns: int = 2_000) -> list:
    """Blocks in which so many requests were slow."""
    return [[[fast_ns, slow_ns], [requests - each, each]] for each in slow]


def half_width(values: list[float], t: float) -> float:
    """Half an interval, term by term as `correlated_interval` has it in words; `t` from a table."""
    count = len(values)
    mean = sum(values) / count
    off = [value - mean for value in values]
    square = sum(each * each for each in off)
    lag_one = sum(one * other for one, other in itertools.pairwise(off)) / square
    seen = (count * lag_one + 1 + 12 * 0.5) / (count - 4 + 12)
    r = min(max(seen + 0.75 / math.sqrt(count), 0), 0.95)
    # n times the variance of a mean of values of variance 1: all pairs of them.
    inflation = sum(r ** abs(one - other) for one in range(count) for other in range(count)) / count
    # What the sample variance is short of 1 by: the variance of the mean that it is measured from.
    variance = square / (count - 1) / (1 - (inflation - 1) / (count - 1))
    return t * math.sqrt(variance * inflation / count)


def test_the_share_of_slow_requests_and_its_interval():
    # t of 9 degrees at 95 %: 2.262157.
    for slow in ([5, 15] * 5, [5] * 5 + [15] * 5):
        half = half_width([each / 100 for each in slow], 2.262157)
        share = slower_share(blocks_of(*slow), 1_000, 0.95, above=True)
        assert share.value == pytest.approx(0.1)
        assert share.low == pytest.approx(max(0.1 - half, 0.0), abs=1e-7)  # no share is less
        assert share.high == pytest.approx(0.1 + half, abs=1e-7)
    # By turns they say more about their mean than one after the other.
    assert half_width([5, 15] * 5, 1) < half_width([5] * 5 + [15] * 5, 1) / 3


def test_a_request_is_slower_where_all_of_its_bucket_is():
    blocks = blocks_of(*[10] * 8, slow_ns=1_280)  # a bucket from 1,270 to 1,280
    assert slower_share(blocks, 1_269, 0.95, above=True).value == pytest.approx(0.1)
    assert slower_share(blocks, 1_271, 0.95, above=True).value == 0
    assert slower_share(blocks, 1_271, 0.95, above=False).value == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("slow", "name", "is_shown"),
    [
        ([10] * 8, "read_p99", True),  # a tenth is slower, a hundredth may
        ([10] * 8, "read_p99.99", True),  # of 800 requests: the percentile itself is not known
        ([10] * 8, "read_p90", False),  # just a tenth may
        ([10] * 7, "read_p99", False),  # too few blocks
        ([80, 0, 0, 0, 0, 0, 0, 0], "read_p99", False),  # one bad block may be chance
        ([0] * 8, "read_p99", False),
    ],
)
def test_short_runs_show_that_a_percentile_is_too_high(slow, name, is_shown):
    run = kept({"read_mean_ns": 1.0}, {"read": blocks_of(*slow)})
    shown = beyond(number(name), [run], 1_000, above=True, level=0.99)
    assert (shown is not None) == is_shown


def test_of_a_worst_number_one_part_is_enough_to_be_above_and_all_are_needed_to_be_below():
    run = kept(
        {"read_mean_ns": 1.0, "write_mean_ns": 1.0},
        {"read": blocks_of(*[10] * 8), "write": blocks_of(*[0] * 8, requests=10_000)},
    )
    shown = beyond(number("p99"), [run], 1_000, above=True, level=0.99)
    assert shown is not None
    assert "of the reads took more than 1.00 us" in shown.words
    assert beyond(number("p99"), [run], 1_000, above=False, level=0.99) is None
    only_reads = kept(
        {"read_mean_ns": 1.0, "write_mean_ns": None}, {"read": blocks_of(*[1] * 64, requests=1_000)}
    )
    assert beyond(number("p99"), [only_reads], 1_000, above=False, level=0.99) is not None


def test_a_mean_by_its_blocks():
    # Means of 290 and 480 by turns: 385; t of 7 degrees at 99 % is 3.499483.
    run = kept({"read_mean_ns": 385.0}, {"read": blocks_of(*[10, 20] * 4)})
    low = (385 - half_width([290, 480] * 4, 3.499483)) * (1 - 1 / 256)
    assert beyond(number("read_mean"), [run], low - 0.1, above=True, level=0.99) is not None
    assert beyond(number("read_mean"), [run], low + 0.1, above=True, level=0.99) is None


def test_any_number_by_seeds():
    # 2.2 / 1.2536 = 1.75497 to 2.2 * 1.2536 = 2.75788, of logarithms: log 2.2 +- 4.302653 * 0.052522.
    runs = [kept({"waf_total": waf}) for waf in (2.0, 2.2, 2.4)]
    assert beyond(number("waf"), runs, 1.754, above=True, level=0.95) is not None
    assert beyond(number("waf"), runs, 1.756, above=True, level=0.95) is None
    assert beyond(number("waf"), runs, 2.76, above=False, level=0.95) is not None
    assert beyond(number("waf"), runs[:1], 1.0, above=True, level=0.95) is None  # one says nothing of chance
    assert beyond(number("waf"), [*runs, kept({"waf_total": None})], 1.0, above=True, level=0.95) is None


def test_cost_needs_no_interval():
    run = kept({"cost_total": 2.0})
    assert beyond(number("cost"), [run], 1.9, above=True, level=0.99) is not None
    assert beyond(number("cost"), [run], 2.0, above=True, level=0.99) is None


def series(draw: np.random.RandomState, count: int, correlation: float) -> np.ndarray:
    """A first-order autoregression of mean 0 and variance 1."""
    values = draw.standard_normal(count)
    for index in range(1, count):
        values[index] = correlation * values[index - 1] + math.sqrt(1 - correlation**2) * values[index]
    return values


def most_of(tries: int, probability: float) -> int:
    """So many come up, or fewer, but once in a thousand times."""
    seen, count = 0.0, -1
    while seen < 0.999:
        count += 1
        seen += math.comb(tries, count) * probability**count * (1 - probability) ** (tries - count)
    return count


TRIES = 1_000


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.5])
@pytest.mark.parametrize("count", [8, 12, 16, 28, 63])
def test_evidence_is_seldom_wrong_where_there_is_nothing_to_show(count, correlation):
    # Slow requests at just the share that may be: shown once in 200 times, also where blocks are alike.
    draw = np.random.RandomState(count)
    wrong = before = 0
    for _ in range(TRIES):
        slow = np.maximum(0, np.round(1_000 + 200 * series(draw, count, correlation))).astype(int).tolist()
        run = kept({"read_mean_ns": 1.0}, {"read": blocks_of(*slow, requests=100_000)})
        wrong += beyond(number("read_p99"), [run], 1_000, above=True, level=0.99) is not None
        before += mean_interval([each / 100_000 for each in slow], 0.99).low > 0.01
    assert wrong <= most_of(TRIES, 0.005)
    if correlation == 0.5:  # taken for independent they would be wrong far more often
        assert before > 2 * most_of(TRIES, 0.005)


@pytest.mark.parametrize(("count", "found"), [(8, 0.6), (12, 0.8), (16, 0.9), (63, 0.99)])
def test_what_is_there_to_show_is_shown(count, found):
    # Twice the distance at which blocks known to be independent show it in nine of ten cases: by a normal
    # approximation at (t + 1.2816) standard errors, t of 7, 11, 15 and 62 degrees at 99 %.
    t = {8: 3.4995, 12: 3.1058, 16: 2.9467, 63: 2.6575}[count]
    draw = np.random.RandomState(count)
    share = 1_000 + 200 * 2 * (t + 1.2816) / math.sqrt(count)
    shown = 0
    for _ in range(200):
        slow = np.round(share + 200 * series(draw, count, 0.0)).astype(int).tolist()
        run = kept({"read_mean_ns": 1.0}, {"read": blocks_of(*slow, requests=100_000)})
        shown += beyond(number("read_p99"), [run], 1_000, above=True, level=0.99) is not None
    assert shown >= found * 200


def latencies(draw: np.random.RandomState, blocks: int, correlation: float, scale: float = 1.0) -> list:
    """Blocks of a thousand requests, of which all of a block may be slower or faster, by some 30 %."""
    bounds = np.ceil(100 * (1 + 1 / 128) ** np.arange(1_200))
    found = []
    for level in np.exp(0.3 * series(draw, blocks, correlation)):
        slow = 200 + draw.exponential(10_000 * level * scale, 1_024)
        counts = np.bincount(np.searchsorted(bounds, slow), minlength=len(bounds))
        held = np.nonzero(counts)[0]
        found.append([bounds[held].astype(int).tolist(), counts[held].tolist()])
    return found


@pytest.mark.parametrize("name", ["read_p99", "read_mean"])
def test_the_best_of_many_is_not_taken_at_its_word(name):
    # Of thirty equal designs the one that looks best is lucky; no equal one is worse than it.
    goals = Goals((objective("minimise", name, ["oltp"]),), ())
    draw = np.random.RandomState(5)
    wrong = at_its_word = shown = 0
    for _ in range(3):
        full = [latencies(draw, 24, 0.5) for _ in range(30)]
        values = [value_in(name, blocks) for blocks in full]
        best = min(range(30), key=values.__getitem__)
        trial = of_runs(full[best], {f"{name}_ns": values[best]})
        for _ in range(50):
            run = kept({"read_mean_ns": 1.0}, {"read": latencies(draw, 24, 0.5)})
            wrong += dominated(goals, {"oltp": [run]}, [trial], 0.99, 0.0) is not None
            at_its_word += beyond(number(name), [run], values[best], above=True, level=0.99) is not None
        for _ in range(10):
            run = kept({"read_mean_ns": 1.0}, {"read": latencies(draw, 24, 0.5, scale=4.0)})
            shown += dominated(goals, {"oltp": [run]}, [trial], 0.99, 0.1) is not None
    assert wrong <= most_of(150, 0.005)
    assert wrong < at_its_word
    assert shown >= 24  # four times as slow: that is seen


def value_in(name: str, blocks: list) -> float:
    """A percentile or the mean of all blocks, request by request."""
    every = np.sort(np.concatenate([np.repeat(*block) for block in blocks]))
    return float(every.mean() if name == "read_mean" else every[math.ceil(0.99 * len(every)) - 1])


def of_runs(blocks: list, metrics: dict) -> Trial:
    """A trial that was run in full on one workload."""
    metrics = {"read_mean_ns": 1.0, **metrics}
    return Trial(
        7, {}, FULL, metrics={"oltp": metrics}, full_runs={"oltp": [kept(metrics, {"read": blocks})]}
    )


def test_the_end_of_a_percentile_is_the_least_bound_that_no_more_are_slower_than():
    draw = np.random.RandomState(1)
    run = kept({"read_mean_ns": 1.0}, {"read": latencies(draw, 20, 0.3)})
    found = end(number("read_p99"), run, 0.99)
    assert found is not None
    bounds = sorted({bound for block in run.blocks["read"] for bound in block[0]})
    below = bounds[bounds.index(found) - 1]
    assert slower_share(run.blocks["read"], found, 0.99, above=False).high < 0.01
    assert slower_share(run.blocks["read"], below, 0.99, above=False).high >= 0.01
    assert found > value_in("read_p99", run.blocks["read"])
    assert end(number("read_p99.99"), run, 0.99) is None  # two of twenty thousand are slower
    both = kept({"read_mean_ns": 1.0, "write_mean_ns": 1.0}, run.blocks)
    assert end(number("p99"), both, 0.99) is None  # nothing is known of writes
    assert end(number("waf"), run, 0.99) is None


def test_designs_compared_seed_by_seed():
    # 10.8 / 9 = 1.2, by logarithms from 1.1176 to 1.2884; seeds differ by more.
    goals = Goals((objective("minimise", "waf", ["oltp"]),), ())
    best = Trial(7, {}, FULL, short_runs={"oltp": [kept({"waf_total": waf}) for waf in (2.0, 3.0, 4.0)]})

    def told(*wafs: float, margin: float) -> str | None:
        runs = {"oltp": [kept({"waf_total": waf}) for waf in wafs]}
        return dominated(goals, runs, [best], 0.95, margin)

    assert "trial 7" in (told(2.5, 3.6, 4.7, margin=0.0) or "")
    assert told(2.5, 3.6, 4.7, margin=0.11) is not None
    assert told(2.5, 3.6, 4.7, margin=0.12) is None
    assert told(2.5, 3.4, 4.7, margin=0.1) is None
    assert told(2.2, 3.3, 4.4, margin=0.1) is None
    assert told(2.5, 3.6, math.inf, margin=0.0) is None
    rates = Goals((objective("maximise", "iops", ["oltp"]),), ())
    fast = Trial(7, {}, FULL, short_runs={"oltp": [kept({"iops": iops}) for iops in (100.0, 200.0, 300.0)]})
    slower = {"oltp": [kept({"iops": iops}) for iops in (50.0, 105.0, 140.0)]}  # 0.49 (0.40 to 0.61)
    assert dominated(rates, slower, [fast], 0.95, 0.0) is not None
    assert dominated(rates, {"oltp": [*fast.short_runs["oltp"]]}, [fast], 0.95, 0.0) is None


def test_what_is_pruned_and_why():
    goals = Goals(
        (objective("minimise", "cost", ["oltp"]), objective("minimise", "read_p99", ["oltp"])),
        (constraint("read_p99.9 < 1us", ["oltp"]),),
    )
    run = kept({"read_mean_ns": 1.0, "cost_total": 2.0}, {"read": blocks_of(*[10] * 8, slow_ns=1_100)})
    told = violated(goals, {"oltp": [run]}, 0.99, 0.0)
    assert told is not None
    assert told.startswith("read_p99.9 < 1us is violated on oltp: 10 %")
    assert violated(goals, {"oltp": [run]}, 0.99, 0.1) is None  # not by a tenth

    def best(cost: float, p99: int) -> list[Trial]:
        slow = blocks_of(*[2] * 20, requests=1_000, slow_ns=p99 * 2, fast_ns=p99)
        return [of_runs(slow, {"cost_total": cost, "read_p99_ns": p99})]

    runs = {"oltp": [run]}
    assert dominated(goals, runs, best(1.5, 900), 0.99, 0.1) is not None
    assert dominated(goals, runs, best(2.0, 900), 0.99, 0.1) is not None  # as dear, and slower
    assert dominated(goals, runs, best(2.5, 900), 0.99, 0.1) is None  # cheaper than that
    assert dominated(goals, runs, best(1.5, 1_050), 0.99, 0.1) is None  # perhaps no slower
    assert dominated(goals, runs, [], 0.99, 0.1) is None
    assert "trial 7" in (dominated(goals, runs, best(1.5, 900), 0.99, 0.1) or "")


# ---- fronts ---------------------------------------------------------------------------------------------


def test_the_front_against_every_pair():
    for seed in range(200):
        draw = random.Random(seed)
        points = [[draw.randrange(6) for _ in range(draw.choice((1, 2, 3)))] for _ in range(12)]
        points = [point[: len(points[0])] + [0] * (len(points[0]) - len(point)) for point in points]
        wanted = {
            tuple(point)
            for point in points
            if not any(
                all(a <= b for a, b in zip(other, point, strict=True)) and other != point for other in points
            )
        }
        places = pareto.front(points)
        assert {tuple(points[place]) for place in places} == wanted
        assert len(places) == len(wanted)  # of equal ones the first alone
        assert [points[place] for place in places] == sorted(points[place] for place in places)


def test_the_knee_and_what_lies_apart():
    points = [[0, 10], [1, 4], [2, 3], [10, 0]]
    # Distances to (0, 0), spans of 10: 1, 0.41, 0.36, 1.
    assert pareto.knee(points) == 2
    assert pareto.knee([[5.0]]) == 0
    assert pareto.spread(points, 4) == [0, 1, 2, 3]
    # The knee, then the far end (distance 0.854), then the other one (0.728).
    assert pareto.spread(points, 2) == [2, 3]
    assert pareto.spread(points, 3) == [0, 2, 3]
    assert pareto.spread([*points, [11, 11]], 5) == [0, 1, 2, 3]  # what is dominated is none of them


# ---- the end --------------------------------------------------------------------------------------------

GOALS = Goals(
    (objective("minimise", "cost", ["oltp"]), objective("minimise", "read_mean", ["oltp"])),
    (constraint("waf < 2", ["oltp"]),),
)


def candidate(cost: float, means: list[float], wafs: list[float]) -> Candidate:
    return Candidate(
        0, {}, {},
        tuple(measured(of, v) for of, v in zip(GOALS.objectives, ([cost] * len(means), means), strict=True)),
        (bounded(GOALS.constraints[0], wafs),),
    )  # fmt: skip


def test_whether_a_constraint_holds_over_seeds():
    verdicts = [bounded(GOALS.constraints[0], wafs).verdict for wafs in (
        [1.0, 1.01, 1.02], [1.7, 1.9, 2.1], [1.9, 2.0, 2.2], [1.5, None, 1.5], [math.inf] * 3)]  # fmt: skip
    assert verdicts == ["holds", "holds on average", "violated", "not measured", "violated"]
    lifetime = constraint("lifetime > 5y", ["oltp"])
    assert bounded(lifetime, [math.inf] * 3).verdict == "holds"


def test_the_answer_is_one_that_keeps_the_constraints():
    fine = [1.0, 1.0, 1.0]
    cheap, fast = candidate(1.0, [50, 51, 52], fine), candidate(9.0, [10, 11, 12], fine)
    between, broken = candidate(2.0, [15, 16, 17], fine), candidate(1.0, [10, 10, 10], [3.0, 3.0, 3.0])
    all_ = [cheap, fast, between, broken]
    assert choose(GOALS, all_, "knee") == 2
    assert choose(GOALS, all_, "cost") == 0
    assert choose(GOALS, all_, "read_mean") == 1
    assert choose(GOALS, [broken], "knee") is None


def test_neighbours_are_judged_by_what_is_shown():
    fine = [1.0, 1.0, 1.0]
    chosen = candidate(2.0, [100, 110, 105], fine)
    found = judged(GOALS, chosen, [
        ("a", candidate(2.0, [150, 160, 155], fine)),  # 50 slower in each pair
        ("b", candidate(2.0, [101, 108, 106], fine)),  # as likely chance
        ("c", candidate(1.0, [100, 110, 105], fine)),  # the same for half the cost
        ("d", candidate(1.0, [150, 160, 155], fine)),
        ("e", candidate(1.0, [100, 110, 105], [2.5, 2.6, 2.7])),
        ("f", Candidate(None, {}, {}, error="no such drive")),
    ])  # fmt: skip
    assert [neighbour.effect for neighbour in found] == [
        "worse", "no difference shown", "better", "better in one, worse in another", "waf < 2: violated",
        "cannot be run",
    ]  # fmt: skip
    assert found[0].verdicts[1].words.startswith("B is higher by 48 %")
    assert found[1].verdicts[1].words.startswith("no difference shown")
    one_seed = judged(GOALS, candidate(2.0, [100], [1.0]), [("a", candidate(2.0, [150], [1.0]))])
    assert one_seed[0].verdicts[1].kind == "untold"


def four_trials() -> tuple[SearchFile, list[Trial]]:
    """The best, one that it dominates, one that misses its limit, one pruned, and the best once more."""
    file = SearchFile.parse(SMALL.replace("trials = 12", 'constraints = ["waf < 2"]'))
    designs = list(itertools.islice(file.space.all_designs(file.fixed()), 4))

    def numbers(cost: float, mean: float, waf: float) -> dict:
        return {"randrw": {"cost_per_logical_gb": cost, "read_mean_ns": mean, "waf_total": waf}}

    return file, [
        Trial(0, designs[0], FULL, metrics=numbers(1.0, 50, 1.5)),
        Trial(1, designs[1], FULL, metrics=numbers(1.0, 60, 1.5)),
        Trial(2, designs[2], FULL, metrics=numbers(0.5, 10, 2.5)),
        Trial(3, designs[3], PRUNED, "because", metrics=numbers(0.1, 1, 1.0)),
        Trial(4, designs[0], FULL, metrics=numbers(1.0, 50, 1.5), same_as=0),
    ]


@needs_the_engine
def test_tables_say_what_was_tried():
    file, trials = four_trials()
    record = Record.of(file, trials)
    assert [trial.number for trial in record.front] == [0]
    frame = table(record)
    assert frame["trial"].to_list() == [0, 1, 2, 3]
    assert frame["feasible"].to_list() == [True, True, False, None]
    assert frame["front"].to_list() == [True, False, False, False]
    assert frame["reason"].to_list() == [None, None, None, "because"]
    assert table(record, front_only=True)["trial"].to_list() == [0]
    assert record.nearest() == trials[0]
    assert Record.of_json(record.as_json()) == record


@needs_the_engine
def test_a_notebook_shows_how_far_a_search_is_its_front_and_its_answer():
    def shown(record: Record) -> list[str]:
        drawn = record._repr_html_()
        assert drawn.startswith("<pre")
        assert "waf < 2" not in drawn  # what is no markup is escaped
        lines = html.unescape(re.sub("<[^>]*>", "", drawn)).splitlines()
        return [" ".join(line.split()) for line in lines if line]

    file, trials = four_trials()
    assert shown(Record.of(file, trials)) == [
        "small: 4 of 60 designs tried, 3 in full, 1 pruned, not ended; `search resume` goes on",
        "trial ftl.over_provisioning nand.read nand.program ftl.victim cost_per_logical_gb read_mean waf",
        "0 0.1 20us 300us - 1 50 ns 1.5",
    ]
    missing = shown(Record.of(file, [dataclasses.replace(trials[2], number=0)], ended="enough"))
    assert missing[1] == "No design that was run in full keeps all constraints."
    assert missing[-1] == "waf < 2: violated, 2.5"
