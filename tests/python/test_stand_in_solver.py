"""The solver of stand-ins: misses of LRU caches as distances, and laws that meet what is known."""

from __future__ import annotations

import importlib
import math
import sys
from typing import Any

import numpy as np
import pytest

from conftest import ROOT


@pytest.fixture(scope="module")
def tool() -> Any:
    """Return the modules of the solver by name."""
    sys.path.insert(0, str(ROOT / "tools/stand_ins"))
    try:
        return importlib.import_module
    finally:
        # They import each other by name.
        for name in ("reuse", "lags", "population", "classes", "table", "solve"):
            importlib.import_module(name)
        sys.path.pop(0)


def test_addresses_drawn_alike_come_again_after_the_distances_of_the_closed_form(tool):
    # Of M addresses drawn alike a cache of c misses 1 - c / M, and within w requests M (1 - exp(-w / M)) of
    # them are used: w(c) = -M log(1 - c / M).
    addresses = 100_000
    parts = np.linspace(0.001, 0.9, 200)
    curve = [(float(part), float(1 - part)) for part in parts]
    expected = [-addresses * math.log(1 - part) for part in parts]
    assert tool("reuse").distances(curve, addresses) == pytest.approx(expected, rel=0.01)


def test_a_loop_over_all_addresses_comes_again_after_as_many_requests(tool):
    # A cache that holds not all of a loop has no hit: each request comes after one to each address.
    curve = [(0.5, 1.0), (0.9, 1.0)]
    assert tool("reuse").distances(curve, 1_000) == pytest.approx([500, 900], rel=0.01)


def test_shares_of_the_further_uses_leave_out_the_first(tool):
    # A tenth are first uses; of the other nine tenths a third, and then all come again.
    assert tool("reuse").within([(0.1, 0.7), (0.5, 0.1)], 0.1) == pytest.approx([1 / 3, 0.9995], abs=1e-4)


def test_laws_meet_two_pooled_laws_and_the_mean_of_each_class(tool):
    lags = tool("lags")
    rows = [
        lags.Row((1.0, 3.0), 50.0),
        lags.Row((0.0, 2.0), 4_000.0, at_most=True),
        lags.Row((2.0, 1.0), 900.0),
    ]
    pooled = [
        lags.Pooled("rewrites", (100.0, 1_000.0), (0.6, 0.85)),
        lags.Pooled("", (30.0, 3_000.0), (0.4, 0.9)),
    ]
    laws = lags.spread(rows, pooled, 100_000.0)
    grid = lags.grid_to(100_000.0)
    assert all(float(law.sum()) == pytest.approx(1) for law in laws)
    assert [float(law @ grid) for law in (laws[0], laws[2])] == pytest.approx([50, 900], rel=0.01)
    assert float(laws[1] @ grid) <= 4_000 * 1.01
    for place, each in enumerate(pooled):
        weights = [row.weights[place] for row in rows]
        mixed = sum(weight * law for weight, law in zip(weights, laws, strict=True)) / sum(weights)
        for mark, share in zip(each.marks, each.within, strict=True):
            assert float(mixed[grid <= mark].sum()) == pytest.approx(share, abs=0.005)


def test_what_the_means_leave_no_room_for_is_an_error_where_it_is_published(tool):
    lags = tool("lags")
    rows = [lags.Row((1.0,), 10.0)]
    marks, within = (1_000.0, 2_000.0), (0.1, 0.2)
    with pytest.raises(tool("problem").ImpossibleError, match="rewrites"):
        lags.spread(rows, [lags.Pooled("rewrites", marks, within)], 1e6)
    assert len(lags.spread(rows, [lags.Pooled("", marks, within)], 1e6)) == 1


def test_larger_requests_go_to_busy_pages_while_pages_and_requests_stay(tool):
    population = tool("population")

    def pair(uses: float, kind: str) -> list[Any]:
        births = [(0.0, 1.0, 1.0)]
        return [
            population.Group("write", 1_000.0, 1.0, uses, 0.0, births, 100.0, kind),
            population.Group("write", 100.0, 8.0, uses, 0.0, births, 100.0, kind),
        ]

    groups = [*pair(100.0, "top"), *pair(2.0, "body")]

    def pages(some: list[Any]) -> float:
        return sum(group.count * group.pages for group in some)

    def requests(some: list[Any]) -> float:
        return sum(group.count * group.uses for group in some)

    before, objects = (pages(groups), requests(groups)), sum(group.count for group in groups)
    population.lean(groups, 0.5)
    assert (pages(groups), requests(groups)) == pytest.approx(before, rel=1e-6)
    assert pages(groups[:2]) == pytest.approx(1_800)
    assert groups[1].count > 100 > groups[3].count
    assert sum(group.count for group in groups) > objects


def test_the_shipped_profiles_were_made_of_the_sources_that_the_table_names(tool):
    sources, volumes = tool("table").load()
    for volume in volumes:
        text = (ROOT / f"presets/profiles/{volume.name}.toml").read_text(encoding="utf-8")
        for name in {each.source for each in volume.constraints}:
            assert sources[name] in text, f"{volume.name}: {name}"


def test_published_miss_ratios_fall_with_the_size_of_the_cache(tool):
    _, volumes = tool("table").load()
    curves = {volume.name: volume.lru for volume in volumes if volume.lru}
    assert set(curves) == {"hm_0", "prxy_1", "src1_1"}
    for curve in curves.values():
        parts, missed = zip(*curve, strict=True)
        assert len(parts) == 8
        assert list(parts) == sorted(parts)
        assert list(missed) == sorted(missed, reverse=True)
