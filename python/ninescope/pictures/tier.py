"""The picture of two media: which served what, what moved, and how slots and hits went in time."""

from __future__ import annotations

from typing import Any

from ninescope.pictures.style import Figure, new_figure, plain, say_empty
from ninescope.result import Result
from ninescope.result.tier import CLASSES, MIGRATIONS, Tier
from ninescope.text.names import drive_name, workload_name


def draw(result: Result) -> Figure:
    """Draw which medium served which class, what moved, and how slots and hits went in time."""
    figure = new_figure(result, f"What lay where: {workload_name(result)} on {drive_name(result)}", 12.0, 7.2)
    tier = Tier.of(result.document)
    if tier is None:
        say_empty(figure, "the drive has one medium")
        return figure
    axes = figure.subplots(2, 2)
    _by_class(axes[0][0], tier)
    _migrations(axes[0][1], tier)
    _in_time(axes[1][0], axes[1][1], result, tier)
    for each in axes.flat:
        plain(each)
    for each in axes[0]:  # bars lie, and numbers stand below them
        each.grid(visible=False, axis="y")
        each.grid(axis="x", color="#e6e6e6", linewidth=0.6)
    return figure


def _by_class(axes: Any, tier: Tier) -> None:
    left = [0.0] * len(CLASSES)
    names = [name.replace("_", " ") for name in CLASSES]
    looks = (
        ("written_upper", "written above", "#1f4e79"),
        ("read_upper", "read above", "#9ecae1"),
        ("written_lower", "written below", "#c0271f"),
        ("read_lower", "read below", "#fdd0a2"),
    )
    for key, label, colour in looks:
        values = [getattr(tier.bytes[name], key) / 2**30 for name in CLASSES]
        axes.barh(names, values, left=left, label=label, color=colour)
        left = [before + value for before, value in zip(left, values, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel("host data [GiB]")
    axes.set_title("Who served which accesses", fontsize=9, loc="left")
    # Below the axes: within them it lies on whichever bars are long.
    axes.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=len(looks))


def _migrations(axes: Any, tier: Tier) -> None:
    shown = [(words.split(",")[0], tier.counters.get(key, 0)) for key, words in MIGRATIONS.items()]
    bars = axes.barh([words for words, _ in shown], [count for _, count in shown], color="#8c6bb1")
    axes.bar_label(bars, labels=[f"{count:,}" for _, count in shown], fontsize=7, padding=3)
    axes.margins(x=0.15)
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("pages")
    axes.set_title("What moved, and why", fontsize=9, loc="left")


def _in_time(slots: Any, hits: Any, result: Result, tier: Tier) -> None:
    series = result.to_polars("series")
    seen = series.filter(series["scm_page_accesses_total"] > 0)
    seconds = seen["begin_ns"].to_numpy() / 1e9
    slots.plot(seconds, seen["scm_slots_used"].to_numpy() / tier.slots * 100, color="#1f4e79")
    slots.set_ylim(0, 103)
    slots.set_ylabel("slots used [%]")
    slots.set_title("Slots in time", fontsize=9, loc="left")
    accesses = seen["scm_page_accesses_total"].diff(null_behavior="ignore").fill_null(0).to_numpy()
    found = seen["scm_page_hits_total"].diff(null_behavior="ignore").fill_null(0).to_numpy()
    some = accesses > 0
    hits.plot(seconds[some], found[some] / accesses[some] * 100, color="#41ab5d")
    hits.set_ylim(0, 103)
    hits.set_ylabel("pages found above [%]")
    hits.set_title("Hits in time", fontsize=9, loc="left")
    for axes in (slots, hits):
        axes.set_xlabel("time [s]")
