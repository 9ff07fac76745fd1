"""Where the time of both went, band by band: side by side, as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ninescope.result import OPS, Band, Result
from ninescope.text.causes import look, stacking_order
from ninescope.text.result import band_ranges, duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ninescope.lab.compare.comparison import Comparison
    from ninescope.pictures.result import Figure

_SMALL_SHARE = 0.01
_BAR = 0.36
_INK = "#222222"
_EMPTY = (
    "A band without a bar: where many requests take equally long they lie in one band together, and a band "
    "beside it is empty."
)
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


def reaches(bands: Bands) -> dict[str, str]:
    """Return from where to where each band reaches, by its name."""
    return dict(zip((band.name for band in bands), band_ranges(bands), strict=True))


def draw(comparison: Comparison) -> Figure | None:
    """Draw the shares of the causes, A and B next to each other in each band; None where there are none."""
    from matplotlib.patches import Patch

    from ninescope.pictures.result import Figure, head

    panels = list(of_both(comparison))
    if not panels:
        return None
    causes = _large(band for _, a, b in panels for band in (*a, *b))
    figure = Figure(figsize=(3.2 + 6.4 * len(panels), 5.4), dpi=150, layout="constrained", facecolor="white")
    head(figure, f"Where the time went: A, {comparison.a.title}; B, {comparison.b.title}", 12)
    for axes, (op, a, b) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _panel(axes, op, a, b, causes)
    handles = [
        Patch(facecolor=look(cause).colour, edgecolor="#999999", linewidth=0.4, label=look(cause).label)
        for cause in reversed(causes)
    ]
    figure.legend(handles=handles, loc="outside right center", frameon=False, fontsize=9)
    if any({band.name for band in a} ^ {band.name for band in b} for _, a, b in panels):
        figure.supxlabel(_EMPTY, fontsize=8, color=_INK)
    return figure


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


def _large(bands: Iterable[Band]) -> list[str]:
    """Return the causes that can be seen somewhere, as they are stacked, then "other" for the rest."""
    known = list(bands)
    large = {cause for band in known for cause in band.parts_ns if band.share(cause) >= _SMALL_SHARE}
    rest = any(band.parts_ns.keys() - large for band in known)
    return stacking_order(large | ({"other"} if rest else set()))


def _panel(axes: Axes, op: str, a: Bands, b: Bands, causes: Sequence[str]) -> None:
    from ninescope.pictures.result import OP_COLOURS, plain

    names = [band.name for band in max(a, b, key=len)]
    names += [band.name for band in min(a, b, key=len) if band.name not in names]
    for aside, label, bands in ((-0.5, "A", a), (0.5, "B", b)):
        for band in bands:
            place = names.index(band.name) + aside * (_BAR + 0.04)
            _bar(axes, place, band, causes)
            above = f"{label}\n{duration(band.mean_ns)}"
            axes.text(place, 1.01, above, ha="center", va="bottom", fontsize=6.5, color=_INK)
        for name in names:
            if name not in {band.name for band in bands}:
                place = names.index(name) + aside * (_BAR + 0.04)
                words = f"{label}: no requests"
                axes.text(place, 0.5, words, ha="center", va="center", rotation=90, fontsize=6.5, color=_INK)
    places = reaches(b) | reaches(a)
    axes.set_xticks(range(len(names)), [places[name].replace("-", "\u2013") for name in names], fontsize=8)
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_ylim(0, 1.12)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    title = f"{op}{'es' if op == 'flush' else 's'}"
    axes.set_title(title, loc="left", fontsize=11, color=OP_COLOURS[op])
    axes.set_xlabel("latency band; above each bar the mean latency in it", fontsize=9, color=_INK)
    plain(axes)
    axes.grid(visible=False)


def _bar(axes: Axes, place: float, band: Band, causes: Sequence[str]) -> None:
    base = 0.0
    for cause in causes:
        small = band.parts_ns.keys() - set(causes)
        share = sum(band.share(each) for each in small) if cause == "other" else band.share(cause)
        axes.bar(place, share, _BAR, base, color=look(cause).colour, edgecolor="white", linewidth=0.4)
        base += share
