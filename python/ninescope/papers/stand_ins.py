"""What experiments with stand-ins of traces share: drawing one, and sizing a drive by what it touches.

Where somebody has the volume that a stand-in is for, its own requests take the place of those that are drawn.

A stand-in that is drawn shorter than its volume touches less. So that a share of memory means the same for
all of them, drives are made as large as the footprint of what was drawn.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ninescope
from ninescope import toml
from ninescope.papers.experiment import RealVolume, Settings
from ninescope.simulation.traces import TemporaryFolder, convert

WARMUP = 0.3
"""Left out: memory is empty at first, and what is touched for the first time says nothing about a cache."""


@dataclasses.dataclass(frozen=True)
class StandIn:
    """A stand-in, drawn; it lives as long as this does."""

    name: str
    workload: ninescope.Workload
    statistics: Mapping[str, Any]
    footprint: int
    """Bytes that it touches, in pages of 4 KiB, which a run puts next to each other."""
    is_real: bool = False
    """It is the beginning of a real volume, and stands in for nothing."""

    def as_row(self) -> dict[str, Any]:
        """Return what it is like, in numbers and texts."""
        found = self.statistics
        return {
            "requests": found["requests"],
            "write_share": found["writes"] / found["requests"],
            "mean_read_bytes": found["mean_read_bytes"],
            "mean_write_bytes": found["mean_write_bytes"],
            "footprint": self.footprint,
            "read_footprint": found["read_footprint_bytes"],
            "written_footprint": found["written_footprint_bytes"],
            "read_and_written": self._read_and_written(),
            "class": found["class"],
            "is_real": self.is_real,
        }

    def _read_and_written(self) -> float:
        """Return which share of what is read is written as well, some time."""
        read, written = (self.statistics[f"{what}_footprint_bytes"] for what in ("read", "written"))
        return float(max(0, read + written - self.footprint) / read) if read else 0.0


PLANES = ("channels", "packages_per_channel", "dies_per_package", "planes_per_die")


def take(name: str, requests: int, settings: Settings) -> StandIn:
    """Take so many requests of a real volume, where somebody has it, or else draw its stand-in."""
    for volume in settings.volumes:
        if volume.name == name:
            return beginning(volume, min(requests, volume.requests))
    return draw(name, requests, seed=settings.seed)


@functools.lru_cache(maxsize=2)
def beginning(volume: RealVolume, requests: int) -> StandIn:
    """Take the first requests of a real volume, replayed in a closed loop; the last two are kept."""
    folder = TemporaryFolder()
    path = Path(folder.path, f"{volume.name}.csv.zst")
    convert(volume.file, str(path), format="msr", requests=requests)
    trace = ninescope.Workload.trace(path, closed_loop=True, iodepth=1, addresses="compact")
    statistics = ninescope.trace_stat(path)
    workload = ninescope.Workload(trace.words, folder)
    return StandIn(volume.name, workload, statistics, statistics["footprint_bytes"], is_real=True)


@functools.lru_cache(maxsize=2)
def draw(name: str, requests: int, *, seed: int, iodepth: int = 1) -> StandIn:
    """Draw a stand-in that is replayed in a closed loop; the last two are kept, for the runs that follow."""
    workload = ninescope.Workload.profile(
        name, requests=requests, seed=seed, closed_loop=True, iodepth=iodepth, addresses="compact"
    )
    statistics = ninescope.trace_stat(workload.words["trace"], format=workload.words["format"])
    return StandIn(name, workload, statistics, statistics["footprint_bytes"])


def deeper(stand_in: StandIn, iodepth: int) -> ninescope.Workload:
    """Return the same requests with more of them in flight."""
    return _with_words(stand_in, iodepth=iodepth)


def at_own_times(stand_in: StandIn) -> ninescope.Workload:
    """Return the same requests at their own times, with whatever idle time lies between them."""
    return _with_words(stand_in, closed_loop=False, iodepth=None)


def repeated(stand_in: StandIn, passes: int) -> ninescope.Workload:
    """Return the same requests so many times, one pass behind the other."""
    return _with_words(stand_in, loop=passes)


def _with_words(stand_in: StandIn, **words: object) -> ninescope.Workload:
    return dataclasses.replace(stand_in.workload, words={**stand_in.workload.words, **words})


def flash_sized(
    base: Mapping[str, Any], footprint: int, capacity: float, changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a drive whose flash, spare blocks included, is so many times the footprint.

    It can just hold the footprint. Flash comes in whole blocks on all planes, so that it is a little more.
    """
    description = with_changes(base, changes)
    geometry = description["geometry"]
    page = size(geometry["page_size"])
    planes = math.prod(int(geometry[key]) for key in PLANES)
    row: int = planes * geometry["pages_per_block"] * page
    logical = math.ceil(footprint / page) * page
    geometry["blocks_per_plane"] = math.ceil(capacity * logical / row)
    # Just below the share at which the footprint fills it, whatever way the logical capacity is rounded.
    description["ftl"]["over_provisioning"] = geometry["blocks_per_plane"] * row / (logical + page) - 1
    return description


def with_changes(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a description with keys changed: `{"nand.read": "45us"}`. A key that is None is taken out."""
    description = copy.deepcopy(dict(base))
    for path, value in changes.items():
        *tables, key = path.split(".")
        table = description
        for name in tables:
            table = table.setdefault(name, {})
        if value is None:
            table.pop(key, None)
        else:
            table[key] = copy.deepcopy(value)
    return description


def drive(description: Mapping[str, Any]) -> ninescope.Drive:
    """Make a drive of a description."""
    return ninescope.Drive.from_toml(toml.dumps(description))


def size(text: str) -> int:
    """Read a size with a binary unit."""
    for unit, factor in (("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)):
        if text.endswith(unit):
            return int(text.removesuffix(unit)) * factor
    return int(text.removesuffix("B"))
