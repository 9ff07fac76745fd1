"""The numbers of all points of a lake as one table: Parquet files, made from the points.

    dataset/part-<first digit of the point>.parquet

A file that is lost, damaged or of another ninescope is made again. Each is written whole; where two write one
at the same time, both write what is true.
"""

from __future__ import annotations

import io
from typing import Any

import polars as pl

from ninescope.metrics import NAMES
from ninescope.sweep.lake import Kept, Lake

FOLDER = "dataset"
_DIGITS = "0123456789abcdef"
_COUNTS = ("requests", "simulated_ns", "erases", "suspensions", "failed_codewords")
ABOUT = ("point", "design", "build", "drive", "workload", "prefill", "seed")
"""Columns that say what a point is; `seconds` and the numbers of its result follow."""
SCHEMA: dict[str, Any] = {
    **dict.fromkeys(ABOUT, pl.String),
    "seconds": pl.Float64,
    **{
        name: pl.Int64 if name in _COUNTS or name.endswith("max_ns") or "_p" in name else pl.Float64
        for name in NAMES
    },
}
SCHEMA["seed"] = pl.UInt64
SCHEMA |= {name: pl.Float64 for name in NAMES if name.startswith(("waf_", "lifetime_", "cost_", "iops_per_"))}
SCHEMA |= {name: pl.Float64 for name in NAMES if name.endswith("bytes_per_second")}


def refreshed(lake: Lake) -> pl.DataFrame:
    """Bring the dataset up to date with the points, and return all of it, sorted by point."""
    points = lake.ids()
    parts = []
    for digit in _DIGITS:
        mine = {point for point in points if point[:1] == digit}
        parts.append(_refreshed(lake, f"{FOLDER}/part-{digit}.parquet", mine))
    return pl.concat(parts)


def _refreshed(lake: Lake, name: str, points: set[str]) -> pl.DataFrame:
    stored = _read(lake, name)
    before = set(stored["point"].to_list())
    if before == points:
        return stored
    kept = [kept for point in sorted(points - before) if (kept := lake.get(point)) is not None]
    # What cannot be read is missing here, and is run again by whoever wants it.
    if not kept and before <= points:
        return stored
    added = pl.DataFrame([_row(one) for one in kept], schema=SCHEMA)
    frame = pl.concat([stored.filter(pl.col("point").is_in(list(points))), added]).sort("point")
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


def _row(kept: Kept) -> dict[str, Any]:
    what = kept.what
    return {
        "point": kept.id,
        "design": kept.design,
        "build": kept.build,
        "drive": what["drive"],
        "workload": what["workload"]["name"],
        "prefill": what["run"].get("prefill", "footprint"),
        "seed": what["seed"],
        "seconds": kept.seconds,
        **{name: kept.metrics.get(name) for name in NAMES},
    }
