"""What comparing two designs came to, as data: each metric with both values, difference and verdict."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ninescope import conveniences
from ninescope.common.catalogue import did_you_mean
from ninescope.lab.compare.conditions import Difference, build
from ninescope.lab.compare.metrics import Metric
from ninescope.lab.compare.sides import Side
from ninescope.lab.compare.verdict import Verdict
from ninescope.lab.statistics import Contrast, Interval

VERSION = 1
"""Of its JSON."""


@dataclasses.dataclass(frozen=True)
class Row:
    """A metric of both."""

    metric: Metric
    a: Interval | None
    """The value of A, the mean over its runs, with its interval where there is one; None: not measured."""
    b: Interval | None
    contrast: Contrast | None
    """Difference and ratio; None where chance has no part in it, or there is no telling."""
    p_corrected: float | None
    """Its p, corrected for all metrics that are compared (Holm)."""
    verdict: Verdict
    is_trusted: bool = True
    """Whether enough samples stand behind it, on one side at least."""


@dataclasses.dataclass(frozen=True, repr=False)
class Comparison:
    """What comparing A with B came to."""

    a: Side
    """The runs of A that were compared."""
    b: Side
    design: str
    """What the intervals rest on, in words."""
    rows: tuple[Row, ...]
    differences: tuple[Difference, ...]
    """What differs in workload, drive, build and the way it was run."""
    remarks: tuple[str, ...]
    """What a reader must know about comparing these two."""

    def __getitem__(self, key: str) -> Row:
        """Return a metric by its key: `comparison["read.p99.9"]`."""
        for row in self.rows:
            if row.metric.key == key:
                return row
        known = [row.metric.key for row in self.rows]
        raise KeyError(f"no metric {key!r} is compared{did_you_mean(key, known)}")

    def __iter__(self) -> Iterator[Row]:
        """Go through all metrics that are compared, in the order in which they are shown."""
        return iter(self.rows)

    def __len__(self) -> int:
        """Return how many metrics are compared."""
        return len(self.rows)

    def __contains__(self, key: object) -> bool:
        """Say whether a metric of this key is compared."""
        return any(row.metric.key == key for row in self.rows)

    def is_equal_throughout(self, row: Row) -> bool:
        """Say whether both measured the same, run by run; never where runs of other seeds face each other."""
        return self.a.seeds == self.b.seeds and all(
            row.metric.read(one) == row.metric.read(other)
            for one, other in zip(self.a.results, self.b.results, strict=True)
        )

    def document(self) -> dict[str, Any]:
        """Return it as JSON: times in ns, rates per second, sizes in B, shares from 0 to 1."""
        return {
            "comparison": VERSION,
            "a": _side(self.a),
            "b": _side(self.b),
            "design": self.design,
            "remarks": list(self.remarks),
            "differences": [difference._asdict() for difference in self.differences],
            "metrics": [_row(row) for row in self.rows],
        }

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write it as one HTML file that needs nothing else; return its path."""
        return conveniences.comparison_report(self, Path(path))

    def save(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write `comparison.json` and the figures into a folder; return their paths."""
        return conveniences.comparison_files(self, Path(directory))

    def __repr__(self) -> str:
        found = sum(row.verdict.kind in ("lower", "higher") for row in self.rows)
        return f"<ninescope.Comparison {self.design}: {found} of {len(self.rows)} metrics differ>"

    def __str__(self) -> str:
        """Return what `ninescope compare` prints."""
        return conveniences.comparison_as_text(self)

    def _repr_html_(self) -> str:
        return conveniences.comparison_as_html(self)


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
