"""The tables of a result: histograms of latencies as frames, and from files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ninescope.result.latency import OPS, Histogram

if TYPE_CHECKING:
    from typing import Any

    import polars as pl
    from numpy.typing import NDArray

Columns: TypeAlias = "Mapping[str, NDArray[Any]]"


def histogram_frame(histograms: Mapping[str, Histogram]) -> pl.DataFrame:
    """Return one row per bucket in which there is a request."""
    import polars as pl

    frames = [pl.DataFrame(schema={"op": pl.String, "upper_ns": pl.UInt64, "count": pl.UInt64})]
    for op, (bounds, counts) in histograms.items():
        used = counts > 0
        columns = {"op": [op] * int(used.sum()), "upper_ns": bounds[used], "count": counts[used]}
        frames.append(pl.DataFrame(columns, schema=frames[0].schema))
    return pl.concat(frames)


def read_histograms(path: Path) -> dict[str, Histogram]:
    """Read what `histogram_frame` made, by operation; nothing where there is no file."""
    import polars as pl

    if not path.exists():
        return {}
    frame = pl.read_parquet(path)
    parts = {op: frame.filter(pl.col("op") == op) for op in OPS}
    return {op: (part["upper_ns"].to_numpy(), part["count"].to_numpy()) for op, part in parts.items()}


def block_frame(blocks: Mapping[str, tuple[Histogram, ...]]) -> pl.DataFrame:
    """Return one row per bucket and block of the run."""
    import polars as pl

    schema = {"op": pl.String, "block": pl.UInt32, "upper_ns": pl.UInt64, "count": pl.UInt64}
    frames = [pl.DataFrame(schema=schema)]
    for op, rows in blocks.items():
        for block, (bounds, counts) in enumerate(rows):
            columns = {
                "op": [op] * len(bounds),
                "block": [block] * len(bounds),
                "upper_ns": bounds,
                "count": counts,
            }
            frames.append(pl.DataFrame(columns, schema=schema))
    return pl.concat(frames)


def read_blocks(path: Path) -> dict[str, tuple[Histogram, ...]]:
    """Read what `block_frame` made, by operation; nothing where there is no file."""
    import polars as pl

    if not path.exists():
        return {}
    frame = pl.read_parquet(path)
    blocks: dict[str, tuple[Histogram, ...]] = {}
    for op in OPS:
        rows = frame.filter(pl.col("op") == op).partition_by("block", maintain_order=True)
        blocks[op] = tuple((row["upper_ns"].to_numpy(), row["count"].to_numpy()) for row in rows)
    return blocks
