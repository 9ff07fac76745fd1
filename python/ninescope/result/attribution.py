"""Where the time of requests went: percentile bands, each split by cause."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ninescope.result.host_queue import CAUSE as HOST_QUEUE
from ninescope.result.latency import OPS

if TYPE_CHECKING:
    import polars as pl

_DOMINATES = 0.5
"""From this share of its time on, the wait in the host hides the rest of a band."""


@dataclasses.dataclass(frozen=True)
class Band:
    """The requests between two percentiles, and where their time went."""

    name: str
    count: int
    lower_ns: int
    upper_ns: int
    parts_ns: Mapping[str, float]
    """Mean time by cause; the parts sum to the mean latency of the band."""

    @property
    def mean_ns(self) -> float:
        """The mean latency of the band."""
        return sum(self.parts_ns.values())

    @property
    def in_device(self) -> Band:
        """The same requests without their wait in the host: what they spent their time on in the device."""
        parts = {cause: time for cause, time in self.parts_ns.items() if cause != HOST_QUEUE}
        return dataclasses.replace(self, parts_ns=parts)

    def top(self, count: int) -> list[tuple[str, float]]:
        """Return the largest causes with their mean time, largest first."""
        parts = sorted(self.parts_ns.items(), key=lambda part: (-part[1], part[0]))
        return [(cause, time) for cause, time in parts[:count] if time > 0]

    def share(self, cause: str) -> float:
        """Return a cause's share of the time of this band."""
        total = self.mean_ns
        return self.parts_ns.get(cause, 0.0) / total if total else 0.0


@dataclasses.dataclass(frozen=True)
class Attribution:
    """Why: the latency of each percentile band, split by cause."""

    read: tuple[Band, ...] = ()
    write: tuple[Band, ...] = ()
    trim: tuple[Band, ...] = ()
    flush: tuple[Band, ...] = ()

    def __iter__(self) -> Iterator[tuple[str, tuple[Band, ...]]]:
        """Go through the operations that occurred."""
        for op in OPS:
            bands: tuple[Band, ...] = getattr(self, op)
            if any(band.count for band in bands):
                yield op, tuple(band for band in bands if band.count)

    def to_polars(self) -> pl.DataFrame:
        """Return one row per operation, band and cause."""
        import polars as pl

        rows = [
            (op, band.name, band.count, band.lower_ns, band.upper_ns, cause, float(time), band.share(cause))
            for op, bands in self
            for band in bands
            for cause, time in band.parts_ns.items()
        ]
        schema = {
            "op": pl.String,
            "band": pl.String,
            "count": pl.UInt64,
            "lower_ns": pl.UInt64,
            "upper_ns": pl.UInt64,
            "cause": pl.String,
            "mean_ns": pl.Float64,
            "share": pl.Float64,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")


def band_of(stored: Mapping[str, Any]) -> Band:
    """Read a band of a result."""
    parts = stored.get("parts_ns") or {}
    total = sum(parts.values())
    return Band(
        name=str(stored["band"]),
        count=int(stored.get("count", 0)),
        lower_ns=int(stored.get("lower_ns", 0)),
        upper_ns=int(stored.get("upper_ns", total)),
        parts_ns=parts,
    )


def bands_in_device(bands: tuple[Band, ...]) -> tuple[Band, ...]:
    """Return the bands without the wait in the host where that hides the rest of one of them; else none."""
    if all(band.share(HOST_QUEUE) < _DOMINATES for band in bands):
        return ()
    return tuple(band.in_device for band in bands)
