"""What lay where on a drive of two media, and what moved: the section `tier` of a result."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ninescope.pictures.result import Figure
    from ninescope.result.result import Result

CLASSES = ("hot_random", "hot_sequential", "cold_random", "cold_sequential")
"""Classes of accesses: of hot or cold pages, in random or sequential requests."""

MIGRATIONS = {
    "evicted_dirty": "copied down",
    "evicted_clean": "dropped clean",
    "evictions_kept": "copied down and kept, because they were written meanwhile",
    "copied_up": "copied up",
    "moved_up": "moved up",
    "fetched_on_write": "completed after a write",
}
"""What happened to pages, by counter."""


@dataclasses.dataclass(frozen=True)
class ClassBytes:
    """Host bytes of one class of accesses, by operation and medium."""

    read_upper: int = 0
    read_lower: int = 0
    written_upper: int = 0
    written_lower: int = 0

    @property
    def upper_share(self) -> float | None:
        """The share that the upper medium served; None without any bytes."""
        total = self.read_upper + self.read_lower + self.written_upper + self.written_lower
        return (self.read_upper + self.written_upper) / total if total else None


@dataclasses.dataclass(frozen=True)
class Tier:
    """The upper medium of a drive of two, in the measured time."""

    placement: str
    slots: int
    pages: int
    """Pages of the host."""
    slots_holding: int
    """Slots that held a page at the end."""
    slots_dirty: int
    hit_ratio: float | None
    """Pages of host requests that were found above, of all."""
    bytes: Mapping[str, ClassBytes]
    counters: Mapping[str, Any]

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Tier | None:
        """Read the tier of a result; None for a drive of one medium."""
        stored = document.get("tier")
        if not stored:
            return None
        by_class = {name: ClassBytes(**stored["bytes"][name]) for name in CLASSES}
        return cls(
            placement=stored["placement"],
            slots=stored["slots"],
            pages=stored["pages"],
            slots_holding=stored["slots_holding"],
            slots_dirty=stored["slots_dirty"],
            hit_ratio=stored["hit_ratio"],
            bytes=by_class,
            counters=stored["counters"],
        )


def facts(tier: Tier) -> Iterator[tuple[str, str]]:
    """Yield lines on what lay where and what moved."""
    hits = "" if tier.hit_ratio is None else f"{tier.hit_ratio:.1%} of the pages asked for were in SCM, "
    used = tier.slots_holding / tier.slots
    yield (
        "tier",
        f"{tier.placement}: {hits}{tier.slots:,} slots for {tier.pages:,} pages, "
        f"{used:.0%} held one at the end",
    )
    shares = [
        f"{name.replace('_', ' ')} {share:.0%}"
        for name in CLASSES
        if (share := tier.bytes[name].upper_share) is not None
    ]
    if shares:
        yield "in SCM", ", ".join(shares) + " of the bytes"
    moved = [f"{tier.counters[key]:,} {words}" for key, words in MIGRATIONS.items() if tier.counters.get(key)]
    if moved:
        yield "pages", ", ".join(moved)


def draw(result: Result) -> Figure:
    """Draw which medium served which class, what moved, and how slots and hits went in time."""
    from ninescope.pictures import result as plots
    from ninescope.text.result import drive_name, workload_name

    figure = plots.new_figure(
        result, f"What lay where: {workload_name(result)} on {drive_name(result)}", 12.0, 7.2
    )
    tier = Tier.of(result.document)
    if tier is None:
        plots.say_empty(figure, "the drive has one medium")
        return figure
    axes = figure.subplots(2, 2)
    _by_class(axes[0][0], tier)
    _migrations(axes[0][1], tier)
    _in_time(axes[1][0], axes[1][1], result, tier)
    for each in axes.flat:
        plots.plain(each)
    for each in axes[0]:  # bars lie, and numbers stand below them
        each.grid(visible=False, axis="y")
        each.grid(axis="x", color="#e6e6e6", linewidth=0.6)
    return figure


def _by_class(axes: Any, tier: Tier) -> None:
    left = [0.0] * len(CLASSES)
    names = [name.replace("_", " ") for name in CLASSES]
    looks = (
        ("written_upper", "written to SCM", "#1f4e79"),
        ("read_upper", "read from SCM", "#9ecae1"),
        ("written_lower", "written below", "#c0271f"),
        ("read_lower", "read from below", "#fdd0a2"),
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
    hits.set_ylabel("pages found in SCM [%]")
    hits.set_title("Hits in time", fontsize=9, loc="left")
    for axes in (slots, hits):
        axes.set_xlabel("time [s]")
