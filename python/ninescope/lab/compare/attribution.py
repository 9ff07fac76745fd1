"""Where the time of both went, band by band: runs of a side put together, and the picture of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ninescope.result import OPS, Band, Result

if TYPE_CHECKING:
    from ninescope.lab.compare.comparison import Comparison
    from ninescope.pictures.style import Figure

Bands = tuple[Band, ...]


def of_both(comparison: Comparison) -> Iterator[tuple[str, Bands, Bands]]:
    """Yield the bands of A and of B for each operation that occurred in both."""
    for op in OPS:
        a, b = (joined(side.results, op) for side in (comparison.a, comparison.b))
        if a and b:
            yield op, a, b


def joined(results: Sequence[Result], op: str) -> Bands:
    """Return the bands of runs with other seeds put together: mean times over all their requests."""
    known: dict[str, list[Band]] = {}
    for result in results:
        for band in getattr(result.attribution, op):
            if band.count:
                known.setdefault(band.name, []).append(band)
    return tuple(_joined(name, bands) for name, bands in known.items())


def draw(comparison: Comparison) -> Figure | None:
    """Draw the shares of the causes, A and B next to each other in each band; None where there are none."""
    from ninescope.pictures.pairs import draw as draw_pairs

    panels = list(of_both(comparison))
    return draw_pairs(panels, comparison.a.title, comparison.b.title) if panels else None


def _joined(name: str, bands: Sequence[Band]) -> Band:
    count = sum(band.count for band in bands)
    causes = dict.fromkeys(cause for band in bands for cause in band.parts_ns)
    return Band(
        name=name,
        count=count,
        lower_ns=min(band.lower_ns for band in bands),
        upper_ns=max(band.upper_ns for band in bands),
        parts_ns={
            cause: sum(band.parts_ns.get(cause, 0.0) * band.count for band in bands) / count
            for cause in causes
        },
    )
