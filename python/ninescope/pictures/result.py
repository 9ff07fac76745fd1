"""Pictures of one result: where the time of its percentiles went, and which share was slower than what."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullLocator

from ninescope.result import PERCENTILES, Band, Latency, Result
from ninescope.text.causes import look, stacking_order
from ninescope.text.contrast import readable_on
from ninescope.text.names import band_ranges, drive_name, workload_name
from ninescope.text.units import duration

if TYPE_CHECKING:
    from numpy.typing import NDArray
from ninescope.figures.latency import OP_COLOURS
from ninescope.pictures.style import INK, Figure, finish, new_figure, plain, say_empty, times_along

_SMALL_SHARE = 0.01
_FEW_REQUESTS = 10
_PALE = 0.4
"""The opacity of a bar that stands for few requests."""


class Plots:
    """The figures of a result; each method returns the figure, and writes it where a path is given."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def tail(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw where the time of each percentile band went."""
        return finish(_tail(self._result), path)

    def cdf(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw which share of the requests was slower than what (the complementary CDF)."""
        return finish(_cdf(self._result), path)

    def slowest(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw what each of the slowest requests waited for, as time goes on."""
        from ninescope.pictures.slowest import draw

        return finish(draw(self._result), path)

    def tier(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw what lay where on a drive of two media, and what moved."""
        from ninescope.pictures.tier import draw

        return finish(draw(self._result), path)


def _tail(result: Result) -> Figure:
    panels = list(result.attribution)
    figure = new_figure(
        result,
        f"Where the time went: {workload_name(result)} on {drive_name(result)}",
        3.2 + 5.2 * max(1, len(panels)),
        6.4,
    )
    if not panels:
        say_empty(figure, "no request was measured")
        return figure
    axes = figure.subplots(
        2, len(panels), squeeze=False, sharex="col", sharey="row", gridspec_kw={"height_ratios": [1, 2.6]}
    )
    causes = _causes_worth_a_colour([band for _, bands in panels for band in bands])
    for column, (op, bands) in enumerate(panels):
        _totals(axes[0][column], op, bands)
        _stack(axes[1][column], bands, causes)
    axes[0][0].set_ylabel("latency\ndot: mean of the band\nbox: ends of the band", color=INK, fontsize=8.5)
    axes[1][0].set_ylabel("share of the latency", color=INK)
    handles = [
        Patch(facecolor=look(cause).colour, edgecolor="#999999", linewidth=0.4) for cause in reversed(causes)
    ]
    figure.legend(
        handles,
        [look(cause).label for cause in reversed(causes)],
        loc="outside right center",
        frameon=False,
        fontsize=9,
    )
    return figure


def _causes_worth_a_colour(bands: list[Band]) -> list[str]:
    """Return the causes that reach a percent somewhere, in stacking order, then "other" for the rest."""
    known = {cause for band in bands for cause in band.parts_ns}
    large = {cause for cause in known if any(band.share(cause) >= _SMALL_SHARE for band in bands)}
    rest = any(band.parts_ns[cause] for band in bands for cause in band.parts_ns.keys() - large)
    return stacking_order(large | ({"other"} if rest else set()))


def _totals(axes: Axes, op: str, bands: tuple[Band, ...]) -> None:
    positions = np.arange(len(bands))
    means = np.array([max(band.mean_ns, 1.0) for band in bands])
    lower = np.array([max(band.lower_ns, 1) for band in bands])
    upper = np.array([max(band.upper_ns, 1) for band in bands])
    colour = OP_COLOURS[op]
    axes.vlines(positions, lower, upper, color=colour, alpha=0.25, linewidth=9)
    axes.plot(positions, means, color=colour, marker="o", markersize=4, linewidth=1.2)
    for position, mean, top in zip(positions, means, np.maximum(means, upper), strict=True):
        axes.annotate(
            duration(float(mean)),
            (float(position), float(top)),
            textcoords="offset points",
            xytext=(0, 5),
            ha="center",
            fontsize=7.5,
            color=INK,
        )
    axes.set_yscale("log")
    times_along(axes.yaxis)
    axes.yaxis.set_minor_locator(NullLocator())
    axes.margins(y=0.25)
    axes.set_title(
        f"{op}{'es' if op == 'flush' else 's'} ({sum(band.count for band in bands):,})",
        loc="left",
        fontsize=11,
        color=colour,
    )
    plain(axes)


def _stack(axes: Axes, bands: tuple[Band, ...], causes: list[str]) -> None:
    positions = np.arange(len(bands))
    base = np.zeros(len(bands))
    named = set(causes) - {"other"}
    for cause in causes:
        shares = np.array(
            [
                sum(band.share(small) for small in band.parts_ns.keys() - named)
                if cause == "other"
                else band.share(cause)
                for band in bands
            ]
        )
        bars = axes.bar(
            positions, shares, 0.82, base, color=look(cause).colour, edgecolor="white", linewidth=0.5
        )
        opacities = [_PALE if band.count < _FEW_REQUESTS else 1.0 for band in bands]
        for bar, opacity in zip(bars, opacities, strict=True):
            bar.set_alpha(opacity)
        for position, share, bottom, opacity in zip(positions, shares, base, opacities, strict=True):
            if share >= 0.08:
                axes.text(
                    float(position),
                    float(bottom + share / 2),
                    f"{share * 100:.0f}",
                    ha="center",
                    va="center",
                    fontsize=7.5,
                    color=readable_on(look(cause).colour, dark=INK, opacity=opacity),
                )
        base += shares
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * 100:.0f} %"))
    labels = [
        f"{reach}\n{_short(band.count)}".replace("-", "\u2013")
        for reach, band in zip(band_ranges(bands), bands, strict=True)
    ]
    axes.set_xticks(positions, labels, fontsize=8)
    pale = any(band.count < _FEW_REQUESTS for band in bands)
    axes.set_xlabel(
        "latency band, and how many requests it holds" + (" (pale: fewer than 10)" if pale else ""),
        fontsize=9,
        color=INK,
    )
    plain(axes)
    axes.grid(visible=False)


def _cdf(result: Result) -> Figure:
    figure = new_figure(
        result, f"Share of slower requests: {workload_name(result)} on {drive_name(result)}", 8.6, 5.6
    )
    lines = [(op, latency) for op, latency in result.latency if latency.histogram is not None]
    if not lines:
        say_empty(figure, "no latency histogram (it is in latency.parquet of an output directory)")
        return figure
    axes = figure.subplots()
    smallest = 0.1
    for op, latency in lines:
        bounds, slower = _survival(latency)
        smallest = min(smallest, 1 / latency.count)
        colour = OP_COLOURS[op]
        axes.plot(bounds, slower, color=colour, linewidth=1.8, drawstyle="steps-post", label=f"{op}s")
        for key in PERCENTILES:
            value = latency.percentiles_ns.get(key)
            if value and value > 0 and key not in latency.insufficient:
                axes.plot(value, 1 - float(key) / 100, "o", color=colour, markersize=4)
    most = max(latency.count for _, latency in lines)
    axes.axhspan(smallest / 3, 10 / most, color="#000000", alpha=0.05, linewidth=0)
    axes.text(
        0.01,
        10 / most,
        "fewer than 10 samples",
        transform=axes.get_yaxis_transform(),
        ha="left",
        va="top",
        fontsize=7.5,
        color="#777777",
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(smallest / 3, 1.3)
    ticks = [1.0, 0.5] + [10.0**-nines for nines in range(1, 9) if 10.0**-nines >= smallest / 3]
    axes.set_yticks(ticks, [_share_and_percentile(tick) for tick in ticks])
    axes.yaxis.set_minor_locator(NullLocator())
    times_along(axes.xaxis)
    axes.set_xlabel("latency", color=INK)
    axes.set_ylabel("share of requests slower than this (and the percentile)", color=INK)
    axes.legend(frameon=False, loc="upper right")
    plain(axes)
    axes.grid(axis="x", color="#e6e6e6", linewidth=0.6)
    return figure


def _survival(latency: Latency) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return latencies and the share of requests slower than each."""
    assert latency.histogram is not None  # noqa: S101
    bounds, counts = latency.histogram
    used = np.flatnonzero(counts)
    steps = counts[used].astype(np.float64)
    at = np.clip(bounds[used].astype(np.float64), max(latency.min_ns, 1), max(latency.max_ns, 1))
    slower = np.clip(1 - np.cumsum(steps) / steps.sum(), 0, 1)
    slower[-1] = 0.0
    start = float(max(latency.min_ns, 1))
    # The last step falls to zero, which a logarithmic axis draws as a line down to its edge.
    return np.concatenate(([start], at)), np.concatenate(([1.0], np.maximum(slower, 1e-12)))


def _share_and_percentile(slower: float) -> str:
    if slower >= 1:
        return "100 %"
    share = f"{100 * slower:.8f}".rstrip("0").rstrip(".")
    percentile = f"{100 * (1 - slower):.8f}".rstrip("0").rstrip(".")
    return f"{share} %  (p{percentile})"


def _short(count: int) -> str:
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return str(count)
