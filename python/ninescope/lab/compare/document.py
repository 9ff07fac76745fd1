"""A comparison as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ninescope.lab.compare.conditions import build
from ninescope.lab.compare.sides import Side
from ninescope.lab.statistics import Interval

if TYPE_CHECKING:
    from ninescope.lab.compare.comparison import Comparison, Row

VERSION = 1


def document(comparison: Comparison) -> dict[str, Any]:
    """Return it as JSON: times in ns, rates per second, sizes in B, shares from 0 to 1."""
    return {
        "comparison": VERSION,
        "a": _side(comparison.a),
        "b": _side(comparison.b),
        "design": comparison.design,
        "remarks": list(comparison.remarks),
        "differences": [difference._asdict() for difference in comparison.differences],
        "metrics": [_row(row) for row in comparison.rows],
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "source": side.source or None,
        "title": side.title,
        "runs": [
            {"seed": seed, "digest": run.digest, "complete": run.complete, "requests": run.requests}
            for seed, run in zip(side.seeds, side.results, strict=True)
        ],
        "build": build(side.first),
    }


def _row(row: Row) -> dict[str, Any]:
    contrast = row.contrast

    def ends(interval: Interval | None) -> dict[str, float] | None:
        return None if interval is None else interval._asdict()

    return {
        "key": row.metric.key,
        "unit": row.metric.unit,
        "better": row.metric.better or None,
        "a": ends(row.a),
        "b": ends(row.b),
        "difference": ends(contrast.difference) if contrast else None,
        "ratio": ends(contrast.ratio) if contrast else None,
        "p": contrast.p if contrast else None,
        "p_corrected": row.p_corrected,
        "method": contrast.method if contrast else None,
        "samples": list(contrast.samples) if contrast else None,
        "paired": contrast.paired if contrast else None,
        "verdict": row.verdict.kind,
        "words": row.verdict.words,
    }
