"""The figures of a run over time: requests, latency, write amplification, and what a tier held."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ninescope.figures.figure import Axis, Figure, Panel, Series

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ninescope.result import Result

    Column = NDArray[np.float64]

_POINTS = 160
"""A curve over time has at most so many."""
_NOTED = 0.01
"""Less than this share that is not drawn is not spoken of."""
_COLOURS = {"read": "#1f6fb4", "write": "#d9621e"}


def in_time(result: Result) -> Iterator[Figure]:
    """Yield the figures over time of a result that holds its time series."""
    frame = result.to_polars("series")
    if frame.width == 0 or frame.height < 4:
        return
    columns = {name: frame[name].to_numpy().astype(np.float64) for name in frame.columns}
    groups = _Groups(columns["begin_ns"])
    yield _requests(columns, groups)
    if columns.get("flash_programmed_bytes", np.zeros(1)).any():
        yield _write_amplification(columns, groups)
    if "scm_slots_used" in columns and result.tier is not None:
        figure = _tier(columns, groups, result.tier.slots)
        if figure is not None:
            yield figure


class _Groups:
    """Neighbouring intervals taken together, so that a curve has a number of points that can be seen.

    The last interval is left out: the run ended in it.
    """

    def __init__(self, begin_ns: Column) -> None:
        whole = len(begin_ns) - 1
        self._size = max(1, -(-whole // _POINTS))
        self._count = whole // self._size
        self.seconds = begin_ns[: self._count * self._size : self._size] / 1e9
        self.length = self._size * float(begin_ns[1] - begin_ns[0]) / 1e9

    def sums(self, column: Column) -> Column:
        """Add up what stands in each group."""
        rows: Column = column[: self._count * self._size].reshape(self._count, self._size).sum(axis=1)
        return rows

    def last(self, column: Column) -> Column:
        """Return what stands at the end of each group."""
        return column[self._size - 1 : self._count * self._size : self._size]


def _requests(columns: dict[str, Column], groups: _Groups) -> Figure:
    rates, latencies = [], []
    x = _rounded(groups.seconds)
    for op, colour in _COLOURS.items():
        counts = groups.sums(columns[f"{op}s"])
        if not counts.any():
            continue
        times = groups.sums(columns[f"{op}_latency_sum_ns"])
        means = [
            float(time / count) / 1e3 if count else None for time, count in zip(times, counts, strict=True)
        ]
        rates.append(Series(f"{op}s", x, _rounded(counts / groups.length), form="steps", colour=colour))
        latencies.append(Series(f"{op}s", x, means, colour=colour))
    time = Axis("simulated time [s]")
    return Figure(
        "time",
        "Requests and their latency in the course of the run",
        [
            Panel("Requests", time, Axis("requests per second", low=0), rates),
            Panel("Mean latency", time, Axis("latency [us]", log=True), latencies),
        ],
        f"Each point stands for {groups.length:.3g} s; the last, incomplete interval is left out.",
    )


def _write_amplification(columns: dict[str, Column], groups: _Groups) -> Figure:
    """Draw what was programmed, and what was erased, per byte of the host, interval by interval."""
    host = groups.sums(columns["host_written_bytes"])
    x = _rounded(groups.seconds)
    curves = []
    for name, label, colour in (
        ("flash_programmed_bytes", "programmed (WAF)", "#1f6fb4"),
        ("flash_erased_bytes", "erased", "#8a8a8a"),
    ):
        per_byte = [
            float(each / written) if written else None
            for each, written in zip(groups.sums(columns[name]), host, strict=True)
        ]
        curves.append(Series(label, x, per_byte, colour=colour))
    return Figure(
        "waf-in-time",
        "Write amplification in the course of the run",
        [
            Panel(
                "Per byte of the host",
                Axis("simulated time [s]"),
                Axis("bytes per byte of the host", low=0),
                curves,
            )
        ],
        f"Each point stands for {groups.length:.3g} s. In a drive that has settled both are level, and the "
        f"same on average.{_not_drawn(columns['flash_programmed_bytes'], groups)}",
    )


def _not_drawn(programmed: Column, groups: _Groups) -> str:
    """Say what was programmed where nothing is drawn: garbage is collected after the last request, too."""
    left = 1 - float(groups.sums(programmed).sum() / programmed.sum())
    if left < _NOTED:
        return ""
    return f" {left:.0%} of what was programmed is not drawn: it was after the last whole interval."


def _tier(columns: dict[str, Column], groups: _Groups, slots: int) -> Figure | None:
    accesses, hits = (
        groups.last(columns[name]) for name in ("scm_page_accesses_total", "scm_page_hits_total")
    )
    if not accesses.any():
        return None
    asked, found = np.diff(accesses, prepend=0.0), np.diff(hits, prepend=0.0)
    shares = [
        float(hit / access) * 100 if access > 0 else None for hit, access in zip(found, asked, strict=True)
    ]
    used = groups.last(columns["scm_slots_used"]) / slots * 100
    x = _rounded(groups.seconds)
    time = Axis("simulated time [s]")
    return Figure(
        "tier-time",
        "What lay above in the course of the run",
        [
            Panel(
                "Slots that held a page",
                time,
                Axis("slots [%]", low=0, high=103),
                [Series("above", x, _rounded(used), form="steps")],
            ),
            Panel(
                "Pages found there",
                time,
                Axis("pages asked for [%]", low=0, high=103),
                [Series("above", x, shares)],
            ),
        ],
        f"Each point stands for {groups.length:.3g} s.",
    )


def _rounded(values: Column) -> list[float]:
    return [float(f"{value:.6g}") for value in values.tolist()]
