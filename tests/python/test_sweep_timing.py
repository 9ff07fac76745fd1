"""What a plan says of time: arithmetic with what points were measured to take; here costs are made up."""

from __future__ import annotations

import heapq
import json
import subprocess
import sys
import time

import numpy as np
import pytest

from conftest import NATIVE
from ninescope.lab.sweep import estimate, timing
from ninescope.lab.sweep.file import SweepFile
from ninescope.lab.sweep.plan import plan_of
from ninescope.lab.sweep.timing import Measured, Span, costs_of, error_among, error_of, sample, span
from ninescope.lab.sweep.worker import Probed
from ninescope.text.lines import between
from sweep_samples import SMALL

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")


def points_of(text: str = SMALL) -> list:
    return list(plan_of(SweepFile.parse(text)).points)


def cost(*, preparing: float = 0.0, loading: float = 0.0, running: float = 0.0, rest: float = 0.0) -> Probed:
    return Probed(preparing, loading, running, rest, is_rough=False)


def scheduled(costs: list[float], workers: int) -> float:
    """When the last of them ends, each given to whoever is free first: a naive model of a pool."""
    free = [0.0] * workers
    for each in costs:
        heapq.heapreplace(free, free[0] + each)
    return max(free)


def test_a_span_holds_whatever_order_points_are_run_in():
    draw = np.random.RandomState(1)
    for _ in range(300):
        workers = int(draw.randint(1, 9))
        costs = draw.lognormal(0, 1, draw.randint(1, 60)).tolist()
        found = span(costs, workers, 0.0)
        for _ in range(3):
            draw.shuffle(costs)
            assert found.low - 1e-9 <= scheduled(costs, min(workers, len(costs))) <= found.high + 1e-9
        assert found.low <= found.likely <= found.high


def test_a_span_by_hand():
    # 12 s of work for two, of which the longest takes 2 s: 6 s to 7 s, and a tenth more either way.
    assert span([2.0] * 6, 2, 0.1) == pytest.approx((6.5, 5.4, 7.7))
    # What is done once is off by two fifths, and others may make all of it a quarter longer, or shorter.
    whole = span([2.0] * 6, 2, 0.1).around(1.5)
    assert whole == pytest.approx((8.0, 5.4 + 0.9, 7.7 + 2.1))
    assert whole.beside_others(0.25) == pytest.approx((8.0, 6.3 / 1.25, 9.8 * 1.25))
    # Keeping takes 0.5 s each: 3 s that lie beside the 6 s of the workers, or behind them.
    assert span([2.0] * 6, 2, 0.1, 0.5) == pytest.approx((8.0, 5.4, 11.0))
    # Where it takes longer than the workers do, it is what all wait for.
    assert span([2.0] * 6, 2, 0.0, 4.0).low == pytest.approx(24.0)
    assert span([2.0] * 6, 100, 0.0) == pytest.approx((2 + 5 / 6, 2.0, 2 + 5 / 3))
    assert span([], 4, 0.1) == (0, 0, 0)


def test_points_that_share_a_drive_pay_for_it_once_and_load_it_each():
    points = points_of(SMALL.replace("[run]", '[run]\nprefill = "full"'))
    # Over-provisioning and seed make a drive: four of them, each for two times of reads.
    found = Measured(1.0, {points[0].id: cost(preparing=3, loading=0.5, running=2, rest=0.1)}, 2)
    costs = costs_of(points, found)
    assert sorted(costs) == pytest.approx([2.6] * 4 + [5.6] * 4)
    # Where nothing is kept, each prepares its own.
    alone = points_of(SMALL.replace("[run]", '[run]\nprefill = "none"'))
    found = Measured(1.0, {alone[0].id: cost(preparing=3, running=2, rest=0.1)}, 2)
    assert costs_of(alone, found) == pytest.approx([5.1] * 8)


def test_more_requests_take_longer_and_another_workload_its_own_time():
    text = SMALL.replace('"nand.read" = ["20us", "60us"]', '"run.requests" = [100, 400]').replace(
        "seeds = 2", ""
    )
    points = points_of(text)
    first = next(point for point in points if point.run["requests"] == 100)
    found = Measured(0.0, {first.id: cost(running=1.0, rest=0.5)}, 1)
    assert sorted(costs_of(points, found)) == pytest.approx([1.5, 1.5, 4.5, 4.5])

    two = points_of(
        SMALL.replace(
            "[workload]", "[[workload]]\nname = 'scan'\nrw = 'read'\nsize = '16m'\n[[workload]]\nname = 'mix'"
        )
    )
    scan, mix = (next(point for point in two if point.workload.name == name) for name in ("read", "randrw"))
    found = Measured(0.0, {scan.id: cost(running=1.0), mix.id: cost(running=9.0)}, 1)
    by_name = {point.workload.name: each for point, each in zip(two, costs_of(two, found), strict=True)}
    assert by_name == pytest.approx({"read": 1.0, "randrw": 9.0})
    # Of a workload that was not begun the others are all that is known.
    found = Measured(0.0, {scan.id: cost(running=1.0)}, 1)
    assert costs_of(two, found) == pytest.approx([1.0] * len(two))


def test_what_is_begun_is_of_each_workload_and_keeps_all_workers_busy():
    points = points_of()
    assert len(sample(points, 1)) == 2
    assert len(sample(points, 3)) == 6
    assert sorted(each.id for each in sample(points, 100)) == sorted(each.id for each in points)
    assert len({each.id for each in sample(points, 3)}) == 6
    two = points_of(
        SMALL.replace(
            "[workload]", "[[workload]]\nname = 'scan'\nrw = 'read'\nsize = '16m'\n[[workload]]\nname = 'mix'"
        )
    )
    assert {each.workload.name for each in sample(two, 1)} == {"read", "randrw"}


def test_the_error_is_what_points_differ_by():
    points = points_of()
    even = {point.id: cost(running=2.0) for point in points[:4]}
    assert error_of(points, Measured(0, even, 2)) == 0.25  # a second is not the run
    # 1, 3, 1, 3: s = 1.1547, over 2 and the root of 4, twice.
    uneven = {point.id: cost(running=1.0 + 2 * (at % 2)) for at, point in enumerate(points[:4])}
    assert error_of(points, Measured(0, uneven, 2)) == pytest.approx(2 * 1.154701 / 2 / 2, rel=1e-6)
    rough = {points[0].id: cost(running=2.0)._replace(is_rough=True)}
    assert error_of(points, Measured(0, rough, 2)) == 0.5
    assert error_among([1.0, 3.0, 1.0, 3.0]) == pytest.approx(0.57735, rel=1e-5)
    assert error_among([1.0]) == 0.5


def test_an_estimate_is_made_of_what_was_measured(monkeypatch):
    # Start of the workers, preparing, running and what is done with results: 24 s were said for 47.
    plan = plan_of(SweepFile.parse(SMALL))
    asked = []

    def made_up(points, workers, drives, further):
        asked.append((len(points), workers, [drives.key(point) is not None for point in points]))
        assert {point.id for point in (*points, *further)} == {point.id for point in plan.points}
        return Measured(
            1.5,
            {point.id: cost(preparing=2.0, loading=0.5, running=3.0, rest=0.25) for point in points},
            workers,
            keeping=0.1,
            ending=0.5,
            reading=0.01,
            unsteady=0.25,
        )

    monkeypatch.setattr(timing, "measured", made_up)
    found = estimate.estimate(plan, list(plan.points), 2, before=1.0)
    # 8 points of 3.75 s, and four drives of 2 s: 38 s for two workers, the longest 5.75 s; 0.8 s to keep
    # them. Once: 1 s until workers start, 1.5 s for that; at the end 0.5 s for four results, 0.04 s for the
    # others.
    assert asked == [(4, 2, [True] * 4)]
    most = 19 + 2.875 + 0.8
    assert found.seconds == pytest.approx(
        (
            3.04 + (19 + most) / 2,
            (3.04 * 0.6 + 19 * 0.75) / 1.25,
            (3.04 * 1.4 + most * 1.25) * 1.25,
        )
    )
    assert found.how == "an estimate: 4 points begun for a second"
    assert estimate.estimate(plan, [], 2).seconds == (0, 0, 0)
    assert estimate.estimate(plan, list(plan.points), 2, probe=False).seconds is None


def test_points_done_before_say_how_long_others_take(monkeypatch):
    monkeypatch.setattr(timing, "unsteadiness", lambda: 0.0)
    plan = plan_of(SweepFile.parse(SMALL))
    found = estimate.estimate(plan, list(plan.points[:4]), 2, known={"a": 2.0, "b": 2.0})
    assert found.seconds == pytest.approx((4.5, 4.0 * 0.75, 5.0 * 1.25))
    assert found.how == "as long as 2 points done before"
    # The start of this process and of the workers, each a second, and others that may double all of it.
    monkeypatch.setattr(timing, "unsteadiness", lambda: 1.0)
    around = estimate.estimate(plan, list(plan.points[:4]), 2, known={"a": 2.0, "b": 2.0}, before=1.0)
    assert around.seconds == pytest.approx((6.5, (3.0 + 2 * 0.6) / 2, (6.25 + 2 * 1.4) * 2))


def test_measuring_runs_points_in_workers_at_the_same_time():
    # How long anything takes is no business of a test: that all was measured is.
    points = points_of(SMALL.replace("[run]", '[run]\nprefill = "full"'))
    drives = timing.PreparedDrives(timing.OWN, points)
    found = timing.measured(sample(points, 2), 2, drives)
    assert found.workers == 2
    assert min(found.startup, found.keeping, found.ending, found.reading) > 0
    assert found.unsteady >= 0
    assert len(found.costs) == 4
    for each in found.costs.values():
        assert min(each.preparing, each.loading, each.running, each.rest) > 0
        assert not each.is_rough


def test_of_short_points_many_are_begun_and_of_long_ones_no_more_than_are_asked_for(monkeypatch):
    points = points_of()
    begun = sample(points, 1)
    others = timing.further(points, begun)
    assert sorted(each.id for each in (*begun, *others)) == sorted(each.id for each in points)
    assert set(timing.measured(begun, 1, None, others).costs) == {point.id for point in points}
    monkeypatch.setattr(timing, "MORE_SECONDS", 0.0)
    assert set(timing.measured(begun, 1, None, others).costs) == {point.id for point in begun}


def test_a_long_run_among_short_ones_says_what_a_request_takes():
    # 0.5 s to begin with, and 1 ms for a request: of 100 requests 0.6 s, of 10,000 10.5 s. Taken by itself
    # the short one says 6 ms for a request, which made 33 s of the long one.
    text = SMALL.replace('"nand.read" = ["20us", "60us"]', '"run.requests" = [100, 10_000]')
    points = points_of(text)
    took = {100: 0.6, 10_000: 10.5}
    found = Measured(0.0, {p.id: cost(running=took[p.run["requests"]]) for p in points[:4]}, 1)
    assert sum(costs_of(points, found)) == pytest.approx(4 * (0.6 + 10.5))
    assert error_of(points, found) < 0.3


def test_what_no_workload_that_was_begun_says_of_others_is_in_the_error():
    text = SMALL.replace('"nand.read" = ["20us", "60us"]', '"workload.iodepth" = [1, 2, 4, 8]')
    points = points_of(text.replace("seeds = 2", ""))
    by_depth = {depth: [p for p in points if p.workload.what["iodepth"] == depth] for depth in (1, 2, 4, 8)}
    one = {by_depth[1][0].id: cost(running=1.0)}
    # Three quarters of the points are of workloads of which nothing is known but one other: half of that.
    assert error_of(points, Measured(0.0, one, 1)) == pytest.approx(0.25 + 0.75 * 0.5)
    # 1 s and 3 s: mean 2, s = 1.4142, standard error 1; of the difference to the mean of two others root 2
    # times as much, twice, over 2: 1.4142, for half of the points.
    two = one | {by_depth[2][0].id: cost(running=3.0)}
    assert error_of(points, Measured(0.0, two, 1)) == pytest.approx(0.25 + 0.5 * 1.414214, rel=1e-6)
    assert len({point.workload.what["iodepth"] for point in sample(points, 1)}) == 4


SWEEPS = {
    "many short points": (SMALL.replace("seeds = 2", "seeds = 12"), 1),
    "many short points side by side": (SMALL.replace("seeds = 2", "seeds = 12"), 2),
    "drives that are shared": (SMALL.replace("[run]", '[run]\nprefill = "full"'), 2),
    "mixed": (SMALL.replace('"nand.read" = ["20us", "60us"]', '"run.requests" = [300, 100_000]'), 2),
    "few long ones": (SMALL.replace("requests = 300", "requests = 100_000").replace("seeds = 2", ""), 1),
}


def test_sweeps_take_as_long_as_their_plan_says(tmp_path):
    # Each is measured right after its estimate, since both depend on what else the machine does at that time;
    # as that may change in between, one of five may lie outside of its range. Before the start of processes,
    # the lake and the load were in it, four of five lay above it.
    outside = []
    for name, (text, jobs) in SWEEPS.items():
        file = tmp_path / "sweep.toml"
        file.write_text(text)
        program = [sys.executable, "-m", "ninescope", "sweep"]
        asked = [*program, "plan", file, "--jobs", str(jobs), "--json"]
        planned = subprocess.run(asked, capture_output=True, check=True, timeout=300)
        said = Span(**json.loads(planned.stdout)["estimated_seconds"])
        began = time.perf_counter()
        run = [*program, "run", file, "--jobs", str(jobs), "--out", tmp_path / name.replace(" ", "-")]
        subprocess.run(run, capture_output=True, check=True, timeout=300)
        took = time.perf_counter() - began
        if not said.low <= took <= said.high:
            outside.append(f"{name}: {took:.1f} s instead of {said}")
    assert len(outside) <= 1, outside


def test_a_time_is_written_with_its_ends():
    assert between(9.5, 4.4, 15.0) == "about 9.5 s (4.4 s to 15 s)"
    assert between(0.0, 0.0, 0.0) == "about 0 s"
    assert between(*Span(100.0, 90.0, 200.0)) == "about 1.7 min (1.5 min to 3.3 min)"
