"""The numbers of all points of a lake as one table: Parquet files, made from the points.

    dataset/part-<first digit of the point>.parquet

A file that is lost, damaged or of another ninescope is made again. Each is written whole; where two write one
at the same time, both write what is true.

Beside its numbers stands how a point's file looked when they were taken: its size, and when it was changed.
One that looks otherwise is read again, so that damage is noticed, and a copy of a lake costs a reading.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import polars as pl

from ninescope.lab.sweep.lake import Kept, Lake
from ninescope.result.metrics import NAMES
from ninescope.result.waf import REASONS, STEADINESS, reasons_of, steadiness_of

FOLDER = "dataset"
_DIGITS = "0123456789abcdef"
_COUNTS = ("requests", "simulated_ns", "erases", "suspensions", "failed_codewords")
ABOUT = ("point", "design", "build", "drive", "workload", "prefill", "seed")
"""Columns that say what a point is; `seconds` and the numbers of its result follow."""
STAMP = "stamp"
"""How the file of the point looked when it was read."""
HOUSEKEEPING = ("seconds", STAMP)
"""What is no result."""
SCHEMA: dict[str, Any] = {
    **dict.fromkeys(ABOUT, pl.String),
    STAMP: pl.String,
    STEADINESS: pl.String,
    REASONS: pl.String,
    "seconds": pl.Float64,
    **{
        name: pl.Int64 if name in _COUNTS or name.endswith("max_ns") or "_p" in name else pl.Float64
        for name in NAMES
    },
}
SCHEMA["seed"] = pl.UInt64
SCHEMA |= {
    name: pl.Float64
    for name in NAMES
    if name.startswith(("waf_", "lifetime_", "cost_", "iops_per_", "energy_", "power_"))
}
SCHEMA |= {name: pl.Float64 for name in NAMES if name.endswith("bytes_per_second")}


def refreshed(lake: Lake) -> pl.DataFrame:
    """Bring the dataset up to date with the points, and return all of it, sorted by point."""
    # Before they are read: what is written in between is read again next time.
    stamps = lake.stamps()
    parts = []
    for digit in _DIGITS:
        mine = {point: stamp for point, stamp in stamps.items() if point[:1] == digit}
        parts.append(_refreshed(lake, f"{FOLDER}/part-{digit}.parquet", mine))
    return pl.concat(parts)


def _refreshed(lake: Lake, name: str, stamps: Mapping[str, str]) -> pl.DataFrame:
    stored = _read(lake, name)
    before = dict(stored.select("point", STAMP).iter_rows())
    if before == stamps:
        return stored
    same = [point for point, stamp in before.items() if stamps.get(point) == stamp]
    changed = sorted(stamps.keys() - set(same))
    kept = [kept for point in changed if (kept := lake.get(point)) is not None]
    # What cannot be read is missing here, and is run again by whoever wants it.
    if not kept and len(same) == len(before):
        return stored
    added = pl.DataFrame([_row(one, stamps[one.id]) for one in kept], schema=SCHEMA)
    frame = pl.concat([stored.filter(pl.col("point").is_in(same)), added]).sort("point")
    content = io.BytesIO()
    frame.write_parquet(content)
    lake.store.write(name, content.getvalue())
    return frame


def _read(lake: Lake, name: str) -> pl.DataFrame:
    nothing = pl.DataFrame(schema=SCHEMA)
    try:
        frame = pl.read_parquet(io.BytesIO(lake.store.read(name)))
    except (FileNotFoundError, pl.exceptions.PolarsError, OSError):
        return nothing
    return frame if frame.schema == nothing.schema else nothing


def _row(kept: Kept, stamp: str) -> dict[str, Any]:
    what = kept.what
    return {
        "point": kept.id,
        STAMP: stamp,
        STEADINESS: steadiness_of(kept.document),
        REASONS: reasons_of(kept.document),
        "design": kept.design,
        "build": kept.build,
        "drive": what["drive"],
        "workload": what["workload"]["name"],
        "prefill": what["run"].get("prefill", "footprint"),
        "seed": what["seed"],
        "seconds": kept.seconds,
        **{name: kept.metrics.get(name) for name in NAMES},
    }
