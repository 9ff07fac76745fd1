"""Lanes over time: as tables for whoever reads them, as JSON for the script that draws them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ninescope.report.document import GanttBlock, View
from ninescope.report.values import ValueTable, script_safe
from ninescope.text.units import duration

MOST_ROWS = 120
"""So many bars of a view stand in its table: those of the first lanes, the way of a request before all."""


def as_json(block: GanttBlock) -> str:
    """Return what the script of a page needs, safe inside a script element."""
    parts = {part.name: index for index, part in enumerate(block.parts)}
    data = {
        "parts": [[part.name, part.colour] for part in block.parts],
        "views": [_view(view, parts) for view in block.views],
    }
    return script_safe(data)


def _view(view: View, parts: dict[str, int]) -> dict[str, Any]:
    """Return a view; times count from its zero, and words that are there many times are written once."""
    words: dict[str, int] = {}
    lanes = [
        [
            lane.name,
            [
                [
                    span.from_ns - view.zero_ns,
                    span.until_ns - view.zero_ns,
                    parts[span.part],
                    words.setdefault(span.what, len(words)),
                    int(span.low),
                ]
                for span in sorted(lane.spans, key=lambda span: (span.from_ns, span.low))
            ],
        ]
        for lane in view.lanes
    ]
    return {
        "name": view.name,
        "what": view.what,
        "from": view.from_ns - view.zero_ns,
        "until": view.until_ns - view.zero_ns,
        "words": list(words),
        "lanes": lanes,
    }


def tables(block: GanttBlock) -> Iterator[ValueTable]:
    """Yield a table for each view: what was when, and where."""
    for view in block.views:
        rows = [
            [
                lane.name,
                _since(span.from_ns - view.zero_ns),
                duration(span.until_ns - span.from_ns),
                span.what,
            ]
            for lane in view.lanes
            for span in lane.spans
        ]
        kept = rows[:MOST_ROWS]
        rest = f"; {len(rows) - MOST_ROWS:,} more are drawn" if len(rows) > MOST_ROWS else ""
        yield ValueTable(f"{view.name}: {view.what}{rest}", ["lane", "from", "length", "what"], kept)


def _since(time: int) -> str:
    return f"\u2212{duration(-time)}" if time < 0 else duration(time)
