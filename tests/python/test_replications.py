"""Replications of drives, and what comparing them comes to."""

from __future__ import annotations

import concurrent.futures
import pickle
from collections import Counter

import pytest
from scipy import stats

import ninescope
from conftest import NATIVE, ROOT
from ninescope.lab.compare import compare
from ninescope.lab.replications import replicate
from ninescope.result import Result

needs_the_engine = pytest.mark.skipif(not NATIVE, reason="the engine is not built")


@pytest.fixture(scope="module")
def drive() -> ninescope.Drive:
    return ninescope.Drive.from_file(ROOT / "examples/drives/demo.toml")


@pytest.fixture(scope="module")
def job() -> ninescope.Workload:
    return ninescope.Workload.job(rw="randrw", rwmixread=70, size="32m", iodepth=4, requests=12_000)


def test_an_option_that_no_run_has_is_refused_with_the_nearest(drive, job):
    with pytest.raises(
        ninescope.ConfigError, match=r"'prefil' is no option of a run; did you mean 'prefill'\?"
    ):
        replicate(drive, job, seeds=2, prefil="full")


@needs_the_engine
def test_replications_are_the_runs_of_their_seeds(drive, job):
    runs = replicate(drive, job, seeds=2)
    assert [run.document["seed"] for run in runs] == [1, 2]
    assert runs[1].digest == drive.run(job, seed=2).digest
    assert runs[0].digest != runs[1].digest
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        beside = replicate(drive, job, seeds=[2, 1], executor=executor)
    assert [run.digest for run in beside] == [runs[1].digest, runs[0].digest]
    again = pickle.loads(pickle.dumps(runs[0]))
    assert again.document == runs[0].document
    assert compare(again, runs[0])["read.p99"].verdict.kind == "none"


@needs_the_engine
def test_a_profile_is_drawn_anew_with_each_seed(drive):
    def drawn(seed: int) -> ninescope.Workload:
        return ninescope.Workload.profile("rsrch_0", requests=500, seed=seed, addresses="wrap")

    one, other = replicate(drive, drawn, seeds=2)
    assert one.document["workload"]["hash"] != other.document["workload"]["hash"]
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        beside = replicate(drive, drawn, seeds=2, executor=executor)
    assert [run.digest for run in beside] == [one.digest, other.digest]
    assert compare([one, other], beside).design == "2 runs of each, paired by their seeds 1 to 2"


@needs_the_engine
def test_the_same_seed_asks_both_designs_for_the_same(drive, job):
    other = drive.with_(scheduler__suspend="every-safe-point", nand__read="60us")
    one, two = (
        each.run(job, seed=5, log_requests=True).to_polars("requests").sort("id") for each in (drive, other)
    )
    assert (one["lba"] == two["lba"]).all()
    assert (one["op"] == two["op"]).all()


@needs_the_engine
def test_a_slower_drive_is_found(drive, job):
    slower = drive.with_(nand__read="60us")
    single = compare(drive.run(job), slower.run(job))
    assert single["read.mean"].verdict.kind == "higher"
    assert single["read.p50"].contrast.paired
    assert single.differences == (("nand.read", "34us, 52us, 34us", "60us"),)
    several = compare(replicate(drive, job, seeds=3), replicate(slower, job, seeds=3))
    assert several["read.mean"].verdict.kind == "higher"
    assert several["read.iops"].verdict.kind == "lower"
    assert several["cost.total"].verdict.kind == "none"


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        (0, "one or more"),
        ([], "one or more"),
        ([1, 1], "1 is there twice"),
        ([-1], "no whole number"),
        ([True], "True"),
    ],
)
def test_bad_seeds_are_refused(drive, job, seeds, words):
    with pytest.raises(ninescope.ConfigError, match=words):
        replicate(drive, job, seeds=seeds)


@needs_the_engine
def test_runs_of_one_drive_that_differ_in_their_seeds_alone_are_called_different_by_chance_alone(drive):
    small = drive.with_(geometry__blocks_per_plane=40, controller__write_completion="program")
    job = ninescope.Workload.job(rw="randrw", iodepth=4, requests=1_500)
    pairs, size, tables = 50, 4, 0
    false: Counter[str] = Counter()
    runs = replicate(small, job, seeds=2 * size * pairs, prefill="full")
    for pair in range(pairs):
        begin = 2 * size * pair
        found = compare(runs[begin : begin + size], runs[begin + size : begin + 2 * size])
        judged = [row for row in found.rows if row.contrast is not None]
        assert not any(row.contrast.paired for row in judged)
        false.update(row.metric.key for row in judged if row.contrast.excludes_none)
        tables += any(row.verdict.kind in ("lower", "higher") for row in judged)
    most = stats.binom.ppf(0.9999, pairs, 0.05)
    assert len(judged) >= 10
    assert all(count <= most for count in false.values()), false
    assert tables <= most
    # Nor are intervals so wide that they never miss: of 50, one at least with a probability of 0.92.
    assert false["read.mean"] + false["read.iops"] + false["busy.dies"] > 0


@needs_the_engine
def test_the_same_seeds_on_both_sides_make_intervals_narrower(drive):
    small = drive.with_(geometry__blocks_per_plane=40)
    job = ninescope.Workload.job(rw="randrw", iodepth=4, requests=3_000)
    a = replicate(small, job, seeds=range(1, 6), prefill="full")
    slower = small.with_(nand__read="53us")
    same, others = (
        replicate(slower, job, seeds=seeds, prefill="full") for seeds in (range(1, 6), range(6, 11))
    )

    def width(key: str, b: list[Result]) -> float:
        _, low, high = compare(a, b)[key].contrast.difference
        return high - low

    for key in ("read.mean", "read.iops", "busy.dies"):
        assert width(key, same) < 0.5 * width(key, others), key
