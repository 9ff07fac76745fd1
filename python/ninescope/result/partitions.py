"""What was written into each part of a drive whose jobs have channels, dies or planes of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ninescope.result.stored import known_keys


@dataclass(frozen=True)
class Partition:
    """Planes that hold some addresses and no others, and what was written there."""

    jobs: tuple[str, ...]
    """The jobs whose regions lie there; none where no job touches what does."""
    channels: tuple[int, ...]
    """The channels that it has dies on."""
    dies: tuple[int, ...]
    """The dies that it has planes of."""
    planes: tuple[int, ...]
    """The planes of these dies."""
    logical_units: int
    """Mapping units of the host that lie there when all are written [count]."""
    physical_units: int
    """Mapping units of its planes [count]."""
    host_units: int = 0
    """Units that the host wrote, at once or by way of a cache or tier above."""
    programmed_units: int = 0
    """Units that were programmed, for any reason."""
    units_per_host_unit: float | None = None
    """Write amplification; None where the host wrote nothing."""
    map_units: int = 0
    """Pages of a map that lies in flash, written anew."""


def partitions_of(document: Mapping[str, Any]) -> tuple[Partition, ...]:
    """Read the partitions of a result; empty where the drive is one."""

    def partition(stored: Mapping[str, Any]) -> Partition:
        lists = {key: tuple(stored[key]) for key in ("jobs", "channels", "dies", "planes")}
        read: Partition = known_keys(Partition, {**stored, **lists})
        return read

    return tuple(partition(stored) for stored in document.get("partitions") or ())
