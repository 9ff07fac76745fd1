"""What pictures have in common: paper and ink, heads, axes without ornaments, and how they are written."""

from __future__ import annotations

import io
import math
import os
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from ninescope.common.files import written_whole
from ninescope.result import Result

if TYPE_CHECKING:
    from matplotlib.axis import Axis

INK = "#222222"
_FEWEST_TICKS = 2
_INCHES_PER_LETTER_AND_POINT = 0.0085
"""How wide a bold letter is, about, for each point of its size."""


class Figure(MatplotlibFigure):
    """A figure that notebooks show."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()


def finish(figure: Figure, path: str | os.PathLike[str] | None) -> Figure:
    """Return a figure, and write it where a path is given."""
    if path is not None:
        path = Path(path)
        with written_whole(path) as temporary:
            figure.savefig(temporary, format=path.suffix.lstrip(".") or "png")
    return figure


def head(figure: MatplotlibFigure, title: str, size: float = 13) -> None:
    """Write the title of a figure, in as many lines as it needs."""
    room = int(figure.get_figwidth() / (_INCHES_PER_LETTER_AND_POINT * size))
    lines = textwrap.wrap(title, room, break_on_hyphens=False)
    figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=size, fontweight="bold", color=INK)


def new_figure(result: Result, title: str, width: float, height: float) -> Figure:
    """Begin a figure with title and provenance."""
    figure = Figure(figsize=(width, height), dpi=150, layout="constrained", facecolor="white")
    head(figure, title)
    state = "" if result.complete else "   INTERRUPTED"
    figure.text(
        0.995,
        0.005,
        f"ninescope {result.document.get('ninescope', '')}   digest {result.digest}{state}",
        ha="right",
        va="bottom",
        fontsize=7,
        color="#888888",
    )
    figure.get_layout_engine().set(rect=(0, 0.025, 1, 0.975))  # type: ignore[union-attr, call-arg]
    return figure


def tick(ns: float) -> str:
    """Write a time at an axis."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:g} {unit}"
    return f"{ns:g} ns"


class _TimeLocator(LogLocator):
    """Ticks of a logarithmic axis: powers of ten; where fewer than two are seen 1, 2, 5; else even steps."""

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        low, high = sorted((vmin, vmax))
        tens = [float(each) for each in super().tick_values(vmin, vmax)]
        if sum(low <= each <= high for each in tens) >= _FEWEST_TICKS or low <= 0:
            return tens
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        ticks = [step * 10.0**power for power in powers for step in (1, 2, 5)]
        ticks = [each for each in ticks if low <= each <= high]
        if len(ticks) < _FEWEST_TICKS:
            even: Any = MaxNLocator(4, steps=[1, 2, 5, 10], min_n_ticks=_FEWEST_TICKS)
            ticks = [float(each) for each in even.tick_values(low, high) if low <= each <= high]
        return ticks


def times_along(axis: Axis) -> None:
    """Label a logarithmic axis of times, with two ticks or more however narrow it is."""
    axis.set_major_locator(_TimeLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))
    axis.set_minor_formatter(NullFormatter())


def plain(axes: Any) -> None:
    """Take the ornaments off axes."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#aaaaaa")
    axes.tick_params(colors="#444444", labelsize=8)
    axes.tick_params(which="minor", labelcolor="#444444", labelsize=8)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    axes.set_axisbelow(True)


def say_empty(figure: Figure, text: str) -> None:
    """Say in a figure that it has nothing to show."""
    figure.text(0.5, 0.5, text, ha="center", va="center", color="#777777")
