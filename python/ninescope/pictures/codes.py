"""Pictures of codes: how often they fail, and how long they take."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator

from ninescope._native import ConfigError
from ninescope.pictures.style import INK, Figure, finish, head, plain, tick
from ninescope.simulation.codes import UBER, Code

FORMATS = ("png", "svg", "pdf")
_FLOOR = 1e-30
"""UBERs below this are not drawn."""
_POINTS = 300
_STYLES = ("-", "--", ":", "-.")
_MANY = 8
"""From so many codes on only some of them are named."""


def plot(
    codes: Sequence[Code],
    path: str | os.PathLike[str] | None = None,
    *,
    uber: float = UBER,
    rber: float | None = None,
) -> Figure:
    """Draw the UBER of codes over the RBER and, of several, their times; write it where a path is given."""
    if not codes:
        raise ConfigError("there is no code to draw")
    if path is not None and Path(path).suffix.lstrip(".") not in FORMATS:
        raise ConfigError(
            f"{os.fspath(path)!r}: figures end in .{', .'.join(FORMATS[:-1])} or .{FORMATS[-1]}"
        )
    several = len(codes) > 1
    figure = Figure(figsize=(13 if several else 7.5, 5.2), dpi=150, layout="constrained", facecolor="white")
    head(figure, _title(codes))
    panels = figure.subplots(1, 2 if several else 1, squeeze=False)[0]
    _failures(panels[0], codes, uber, rber)
    if several:
        _times(panels[1], codes)
    return finish(figure, path)


def name(code: Code) -> str:
    """Return what a code is called in a legend."""
    size = f"{code.user_bytes >> 10} KiB" if code.user_bytes % 1024 == 0 else f"{code.user_bytes} B"
    if code.correctable == 0:
        return f"{code.policy.upper()}-{code.parity_bits} of {size}"
    return f"{size}, t = {code.correctable}"


def _title(codes: Sequence[Code]) -> str:
    kinds = sorted({code.policy.upper() for code in codes})
    return f"{' and '.join(kinds)}: {name(codes[0])}" if len(codes) == 1 else f"{' and '.join(kinds)} codes"


def _failures(axes: Axes, codes: Sequence[Code], uber: float, rber: float | None) -> None:
    """Draw UBER over RBER, the target, and where it is met."""
    abers = [code.aber(uber) for code in codes]
    highest = min(0.5, 4 * max(abers))
    lowest = max(min(abers) / 10, min(code.aber(_FLOOR) for code in codes))
    rates = np.geomspace(lowest, highest, _POINTS)
    shown = _named(len(codes))
    colours = mpl.colormaps["viridis"](np.linspace(0, 0.9, len(codes)))
    for index, (code, aber, colour) in enumerate(zip(codes, abers, colours, strict=True)):
        values = code.uber(rates)
        drawn = values >= _FLOOR
        label = name(code) if index in shown else None
        axes.plot(rates[drawn], values[drawn], color=colour, linewidth=1.6, label=label)
        axes.plot(aber, uber, "o", color=colour, markersize=4)
    axes.axhline(uber, color="#888888", linewidth=0.9, linestyle="--")
    axes.text(
        0.01,
        uber,
        f"target {uber:g}",
        transform=axes.get_yaxis_transform(),
        va="bottom",
        fontsize=8,
        color=INK,
    )
    if rber is not None and rber > 0:
        axes.axvline(rber, color="#bbbbbb", linewidth=0.9, linestyle=":")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(numticks=12))
    axes.set_xlabel("raw bit error rate (dots: the largest that meets the target)", color=INK)
    axes.set_ylabel("uncorrectable bit error rate", color=INK)
    if len(codes) > 1:  # the title names one alone
        axes.legend(frameon=False, fontsize=8.5, loc="upper left")
    plain(axes)
    axes.grid(axis="x", color="#e6e6e6", linewidth=0.6)


def _named(count: int) -> set[int]:
    """Return which of so many codes are named: all, or some with the first and the last."""
    if count <= _MANY:
        return set(range(count))
    return {round(place) for place in np.linspace(0, count - 1, _MANY)}


def _times(axes: Axes, codes: Sequence[Code]) -> None:
    """Draw the times of a codeword over the errors corrected."""
    for index, line in enumerate(_lines(codes)):
        found = sorted(line, key=lambda code: code.correctable)
        of = f", {name(found[0]).partition(',')[0]}" if len(found) < len(codes) else ""
        passes = [code.encode_time(1) for code in found]
        clean = [code.decode_time(1, 0) for code in found]
        times = [("decode, with errors", "#d9621e", [code.decode_time(1, 1) for code in found])]
        if clean == passes:
            times.append(("decode, clean, and encode", "#1f6fb4", clean))
        else:
            times += [("decode, clean", "#1f6fb4", clean), ("encode", "#6a8f3c", passes)]
        for what, colour, values in times:
            axes.plot(
                [code.correctable for code in found],
                values,
                _STYLES[index % len(_STYLES)],
                color=colour,
                marker="o",
                markersize=3.5,
                label=what + of,
            )
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))
    axes.set_xlabel("errors corrected in a codeword, t", color=INK)
    axes.set_ylabel("time of a codeword", color=INK)
    axes.legend(frameon=False, fontsize=8.5)
    plain(axes)


def _lines(codes: Sequence[Code]) -> list[list[Code]]:
    """Return codes that a line goes through: those of a size, or all where each has a size of its own."""
    sizes = sorted({code.user_bytes for code in codes})
    if len(sizes) == len(codes):
        return [list(codes)]
    return [[code for code in codes if code.user_bytes == size] for size in sizes]
