"""The picture of two runs, or of two designs: where the time of both went, band by band, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from ninescope.figures.latency import OP_COLOURS
from ninescope.pictures.style import INK, Figure, head, plain
from ninescope.result import Band
from ninescope.text.causes import look, stacking_order
from ninescope.text.names import reaches
from ninescope.text.units import duration

Bands = tuple[Band, ...]

_SMALL_SHARE = 0.01
_BAR = 0.36
_EMPTY = (
    "A band without a bar: where many requests take equally long they lie in one band together, and a band "
    "beside it is empty."
)


def draw(panels: Sequence[tuple[str, Bands, Bands]], a_title: str, b_title: str) -> Figure:
    """Draw the shares of the causes, A and B next to each other in each band of each operation."""
    causes = _large(band for _, a, b in panels for band in (*a, *b))
    figure = Figure(figsize=(3.2 + 6.4 * len(panels), 5.4), dpi=150, layout="constrained", facecolor="white")
    head(figure, f"Where the time went: A, {a_title}; B, {b_title}", 12)
    for axes, (op, a, b) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _panel(axes, op, a, b, causes)
    handles = [
        Patch(facecolor=look(cause).colour, edgecolor="#999999", linewidth=0.4, label=look(cause).label)
        for cause in reversed(causes)
    ]
    figure.legend(handles=handles, loc="outside right center", frameon=False, fontsize=9)
    if any({band.name for band in a} ^ {band.name for band in b} for _, a, b in panels):
        figure.supxlabel(_EMPTY, fontsize=8, color=INK)
    return figure


def _large(bands: Iterable[Band]) -> list[str]:
    """Return the causes that can be seen somewhere, as they are stacked, then "other" for the rest."""
    known = list(bands)
    large = {cause for band in known for cause in band.parts_ns if band.share(cause) >= _SMALL_SHARE}
    rest = any(band.parts_ns.keys() - large for band in known)
    return stacking_order(large | ({"other"} if rest else set()))


def _panel(axes: Axes, op: str, a: Bands, b: Bands, causes: Sequence[str]) -> None:
    names = [band.name for band in max(a, b, key=len)]
    names += [band.name for band in min(a, b, key=len) if band.name not in names]
    for aside, label, bands in ((-0.5, "A", a), (0.5, "B", b)):
        for band in bands:
            place = names.index(band.name) + aside * (_BAR + 0.04)
            _bar(axes, place, band, causes)
            above = f"{label}\n{duration(band.mean_ns)}"
            axes.text(place, 1.01, above, ha="center", va="bottom", fontsize=6.5, color=INK)
        for name in names:
            if name not in {band.name for band in bands}:
                place = names.index(name) + aside * (_BAR + 0.04)
                words = f"{label}: no requests"
                axes.text(place, 0.5, words, ha="center", va="center", rotation=90, fontsize=6.5, color=INK)
    places = reaches(b) | reaches(a)
    axes.set_xticks(range(len(names)), [places[name].replace("-", "\u2013") for name in names], fontsize=8)
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_ylim(0, 1.12)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    title = f"{op}{'es' if op == 'flush' else 's'}"
    axes.set_title(title, loc="left", fontsize=11, color=OP_COLOURS[op])
    axes.set_xlabel("latency band; above each bar the mean latency in it", fontsize=9, color=INK)
    plain(axes)
    axes.grid(visible=False)


def _bar(axes: Axes, place: float, band: Band, causes: Sequence[str]) -> None:
    base = 0.0
    for cause in causes:
        small = band.parts_ns.keys() - set(causes)
        share = sum(band.share(each) for each in small) if cause == "other" else band.share(cause)
        axes.bar(place, share, _BAR, base, color=look(cause).colour, edgecolor="white", linewidth=0.4)
        base += share
