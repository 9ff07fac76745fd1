"""What is run beside what claims are judged by: a search over what the paper leaves open, all of it at once.

What one placement reaches does not hang on how the other two are run, so that each is run once for each way
to decide what concerns it, and every combination of them follows. Volumes are cut; drives keep the size that
the whole volume has, so that what is read hot is the share of SCM that it is there. Only with a full run, and
no verdict rests on it.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import experiment
from experiment import BACKGROUND, FOREGROUND, PLACEMENTS, RATIOS, TABLE_RATIOS, VARIANTS, VOLUMES

from ninescope.papers import stand_ins
from ninescope.papers.experiment import Point, Settings

REQUESTS = {
    "prxy_0": 500_000,
    "proj_0": 150_000,
    "mds_0": 100_000,
    "src2_2": 12_000,
    "prxy_1": 900_000,
    "proj_3": 150_000,
    "src1_1": 70_000,
}
"""The first requests of each volume."""
MLC: Mapping[str, Any] = VARIANTS["MLC"]["changes"]
SETTINGS: dict[str, dict[str, Any]] = {
    "one request at a time": {},
    "8 in flight": {"iodepth": 8},
    "32 in flight": {"iodepth": 32},
    "one at a time, MLC": {"changes": MLC},
}
"""What concerns all placements."""
LESS = {"moves": "hot-and-random"}
WAYS: dict[str, dict[str, dict[str, Any]]] = {
    "wb": {"waits": {}, "does not wait": BACKGROUND},
    "wo-dm": {"does not wait": {}, "waits": FOREGROUND},
    "rwb-dm": {
        "waits": {},
        "does not wait": BACKGROUND,
        "waits, moves less": LESS,
        "does not wait, moves less": {**BACKGROUND, **LESS},
    },
}
"""What concerns one: whether a request waits for evictions; moves less: up comes what is hot and random. The
first of each is what claims are judged by."""
APART_VOLUMES = ("prxy_0", "src2_2")
APART_RATIO = 3
APART = "RWB-DM does not wait and moves less"
"""Tried on whole volumes beside what `experiment` takes away there."""


class Combination(NamedTuple):
    """One way to decide all of it."""

    setting: str
    ways: Mapping[str, str]
    """By placement."""

    @property
    def words(self) -> str:
        """How it is called."""
        return "; ".join(
            [self.setting, *(f"{experiment.SHORT[name]} {way}" for name, way in self.ways.items())]
        )


def combinations() -> Iterator[Combination]:
    """Go through all of them."""
    for setting in SETTINGS:
        for ways in itertools.product(*WAYS.values()):
            yield Combination(setting, dict(zip(WAYS, ways, strict=True)))


def points(settings: Settings) -> list[Point]:
    """List each volume under each setting; a quick run has nothing of it."""
    if settings.quick or settings.brief:
        return []
    searched = [
        Point(
            f"{volume}/search/{setting}",
            {
                "volume": volume,
                "requests": settings.requests(REQUESTS[volume]),
                "whole": settings.requests(experiment.FULL_REQUESTS[volume]),
                "runs": runs(volume, setting),
            },
            weight=REQUESTS[volume] * SETTINGS[setting].get("iodepth", 1),
        )
        for volume in VOLUMES
        for setting in SETTINGS
    ]
    changes = WAYS["rwb-dm"]["does not wait, moves less"]
    apart = [
        experiment.group(
            volume,
            APART,
            [experiment.run("rwb-dm", APART_RATIO, placement_changes=changes)],
            experiment.requests_of(settings),
        )
        for volume in APART_VOLUMES
    ]
    return [*searched, *apart]


def runs(volume: str, setting: str) -> list[dict[str, Any]]:
    """Say what is run of a volume under a setting: each placement in each of its ways."""
    return [
        experiment.run(placement, ratio, way, placement_changes=changes, **SETTINGS[setting])
        for placement in PLACEMENTS
        for way, changes in WAYS[placement].items()
        for ratio in (RATIOS if volume == "prxy_1" else TABLE_RATIOS)
    ]


def simulate(point: Point, settings: Settings) -> dict[str, Any]:
    """Run a volume, cut, on drives of the size that the whole one needs."""
    if "whole" not in point.parameters:
        return experiment.simulate(point, settings)
    volume = point.parameters["volume"]
    cut = stand_ins.take(volume, point.parameters["requests"], settings)
    sized = dataclasses.replace(cut, footprint=footprint(volume, point.parameters["whole"], settings))
    return {
        "stand_in": cut.as_row(),
        "footprint": sized.footprint,
        "runs": {
            words["name"]: experiment.measure(sized, words, settings) for words in point.parameters["runs"]
        },
    }


@functools.cache
def footprint(volume: str, requests: int, settings: Settings) -> int:
    """Return what the whole volume touches."""
    return stand_ins.take(volume, requests, settings).footprint
