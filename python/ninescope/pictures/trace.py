"""Pictures of a trace, from what `trace stat` found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator, PercentFormatter

from ninescope.figures.latency import OP_COLOURS
from ninescope.pictures.style import INK, Figure, finish, head, plain, times_along
from ninescope.text.units import binary, duration

Stat = Mapping[str, Any]


def draw(stat: Stat, name: str, directory: Path) -> list[Path]:
    """Draw every figure that the trace has numbers for; take away what an earlier trace left."""
    written = []
    for stem, (title, panel) in _FIGURES.items():
        path = directory / f"{stem}.png"
        figure = Figure(figsize=(8, 4.6), dpi=150, layout="constrained", facecolor="white")
        head(figure, f"{title}: {name}", 12)
        axes = figure.subplots()
        if panel(axes, stat):
            plain(axes)
            finish(figure, path)
            written.append(path)
        else:
            path.unlink(missing_ok=True)
    return written


def _sizes(axes: Axes, stat: Stat) -> bool:
    bars = {op: found for op, found in stat["sizes"].items() if found}
    sizes = sorted({bar["up_to_bytes"] for found in bars.values() for bar in found})
    width = 0.8 / max(1, len(bars))
    for index, (op, found) in enumerate(bars.items()):
        places = [sizes.index(bar["up_to_bytes"]) + (index - (len(bars) - 1) / 2) * width for bar in found]
        axes.bar(places, [bar["count"] for bar in found], width, color=OP_COLOURS[op], label=f"{op}s")
    axes.set_xticks(range(len(sizes)), [_round_size(size) for size in sizes])
    axes.set_xlabel("request size, up to", color=INK)
    axes.set_ylabel("requests", color=INK)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.legend(frameon=False)
    return bool(bars)


def _popularity(axes: Axes, stat: Stat) -> bool:
    found = {op: spread for op, spread in stat["popularity"].items() if spread["pages"]}
    for op, spread in found.items():
        curve = np.array(spread["curve"])
        label = f"{op}s, {spread['pages']:,} pages"
        axes.plot(curve[:, 0], curve[:, 1], color=OP_COLOURS[op], linewidth=1.8, label=label)
        axes.plot(0.01, spread["top_1_percent_share"], "o", color=OP_COLOURS[op], markersize=4)
    axes.set_xscale("log")
    axes.axvline(0.01, color="#bbbbbb", linewidth=0.8, linestyle=":")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{share * 100:g} %"))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("share of the pages, the busiest first", color=INK)
    axes.set_ylabel("share of the page accesses", color=INK)
    axes.legend(frameon=False, loc="upper left")
    return bool(found)


def _times(key: str, colour: str, what: str) -> Callable[[Axes, Stat], bool]:
    """Return a panel with the distribution of times."""

    def panel(axes: Axes, stat: Stat) -> bool:
        times = stat[key]
        if not times["count"] or not times["max_ns"]:
            return False
        curve = np.array(times["cumulative"], dtype=np.float64)
        least = max(1.0, min(float(times["min_ns"]), curve[0, 0]))
        at = np.maximum(np.concatenate(([least], curve[:, 0])), 1.0)
        shares = np.concatenate(([0.0], curve[:, 1] / times["count"]))
        axes.plot(at, shares, color=colour, linewidth=1.8)
        for percent in (50, 90, 99):
            value = times[f"p{percent}_ns"]
            axes.plot(max(value, 1), percent / 100, "o", color=colour, markersize=4)
            axes.annotate(
                f"p{percent}  {duration(value)}",
                (max(value, 1), percent / 100),
                xytext=(-6, 2),
                textcoords="offset points",
                ha="right",
                fontsize=8,
                color=INK,
            )
        axes.set_xscale("log")
        axes.set_ylim(0, 1.05)
        times_along(axes.xaxis)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        axes.set_xlabel(what, color=INK)
        axes.set_ylabel("share that is no longer", color=INK)
        axes.grid(axis="x", color="#e6e6e6", linewidth=0.6)
        return True

    return panel


def _reuse(axes: Axes, stat: Stat) -> bool:
    curve = np.array(stat["reuse"]["miss_ratio"])
    if not stat["reuse"]["accesses"]:
        return False
    axes.plot(curve[:, 0], curve[:, 1], color=OP_COLOURS["read"], linewidth=1.8)
    axes.axhline(stat["reuse"]["cold_share"], color="#999999", linewidth=0.9, linestyle="--")
    axes.text(
        0.01,
        stat["reuse"]["cold_share"],
        "first accesses",
        transform=axes.get_yaxis_transform(),
        ha="left",
        va="bottom",
        fontsize=8,
        color="#777777",
    )
    axes.axvline(stat["footprint_bytes"], color="#bbbbbb", linewidth=0.8, linestyle=":")
    axes.set_xscale("log", base=2)
    sizes = [
        1 << bits for bits in range(12, 60, 3) if 1 << bits <= 2 * max(curve[-1, 0], stat["footprint_bytes"])
    ]
    axes.set_xticks(sizes, [_round_size(size) for size in sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylim(0, 1.05)
    sample = stat["page_sample"]
    how = "exact" if sample["exact"] else f"from {sample['share'] * 100:.3g} % of the pages"
    axes.set_xlabel(f"size of an LRU cache of 4 KiB pages ({how}; dotted: the footprint)", color=INK)
    axes.set_ylabel("miss ratio of page accesses", color=INK)
    return True


def _activity(axes: Axes, stat: Stat) -> bool:
    found = stat["activity"]
    seconds = found["stretch_ns"] / 1e9
    for op in ("read", "write"):
        counts = np.array(found[f"{op}s"], dtype=np.float64)
        if counts.any():
            edges = np.arange(len(counts) + 1) * seconds
            axes.stairs(counts / seconds, edges, color=OP_COLOURS[op], linewidth=1.2, label=f"{op}s")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("time", color=INK)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _clock(value)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.set_ylabel(f"requests/s, mean over {duration(found['stretch_ns'])}", color=INK)
    axes.legend(frameon=False)
    return bool(found["reads"])


def _round_size(size: int) -> str:
    return binary(size).replace(".00 ", " ").replace(".0 ", " ")


def _clock(seconds: float) -> str:
    return "0" if seconds <= 0 else duration(seconds * 1e9)


_FIGURES: dict[str, tuple[str, Callable[[Axes, Stat], bool]]] = {
    "sizes": ("Request sizes", _sizes),
    "popularity": ("How accesses spread over pages", _popularity),
    "rewrite_interval": (
        "How soon pages are rewritten",
        _times("rewrite_interval", OP_COLOURS["write"], "from one write of a page to its next"),
    ),
    "inter_arrival": (
        "Gaps between requests",
        _times("inter_arrival", OP_COLOURS["flush"], "from one request to the next"),
    ),
    "reuse": ("What an LRU cache would miss", _reuse),
    "activity": ("Requests over time", _activity),
}
