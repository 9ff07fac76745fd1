"""What a plan says of time: arithmetic with what points were measured to take; here costs are made up."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from conftest import NATIVE
from ninescope.lines import between
from ninescope.sweep import estimate, timing
from ninescope.sweep.file import SweepFile
from ninescope.sweep.plan import plan_of
from ninescope.sweep.timing import Measured, Span, costs_of, error_among, error_of, sample, span
from ninescope.sweep.worker import Probed
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
    assert span([2.0] * 6, 2, 0.1).plus(1.5) == pytest.approx((8.0, 6.9, 9.2))
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
    assert error_of(points, Measured(0, even, 2)) == 0.1  # a second is not the run
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

    def made_up(points, workers, drives):
        asked.append((len(points), workers, [drives.key(point) is not None for point in points]))
        return Measured(
            1.5,
            {point.id: cost(preparing=2.0, loading=0.5, running=3.0, rest=0.25) for point in points},
            workers,
        )

    monkeypatch.setattr(timing, "measured", made_up)
    found = estimate.estimate(plan, list(plan.points), 2)
    # 8 points of 3.75 s, and four drives of 2 s: 38 s for two workers, the longest 5.75 s.
    assert asked == [(4, 2, [True] * 4)]
    assert found.seconds == pytest.approx((1.5 + (19 + 21.875) / 2, 1.5 + 19 * 0.9, 1.5 + 21.875 * 1.1))
    assert found.how == "an estimate: 4 points begun for a second"
    assert estimate.estimate(plan, [], 2).seconds == (0, 0, 0)
    assert estimate.estimate(plan, list(plan.points), 2, probe=False).seconds is None


def test_points_done_before_say_how_long_others_take():
    plan = plan_of(SweepFile.parse(SMALL))
    found = estimate.estimate(plan, list(plan.points[:4]), 2, known={"a": 2.0, "b": 2.0})
    assert found.seconds == pytest.approx((4.5, 4.0 * 0.9, 5.0 * 1.1))
    assert found.how == "as long as 2 points done before"


def test_measuring_runs_points_in_workers_at_the_same_time():
    # How long anything takes is no business of a test: that all was measured is.
    points = points_of(SMALL.replace("[run]", '[run]\nprefill = "full"'))
    drives = timing.PreparedDrives(timing.OWN, points)
    found = timing.measured(sample(points, 2), 2, drives)
    assert found.workers == 2
    assert found.startup > 0
    assert len(found.costs) == 4
    for each in found.costs.values():
        assert min(each.preparing, each.loading, each.running, each.rest) > 0
        assert not each.is_rough


def test_a_time_is_written_with_its_ends():
    assert between(9.5, 4.4, 15.0) == "about 9.5 s (4.4 s to 15 s)"
    assert between(0.0, 0.0, 0.0) == "about 0 s"
    assert between(*Span(100.0, 90.0, 200.0)) == "about 1.7 min (1.5 min to 3.3 min)"
