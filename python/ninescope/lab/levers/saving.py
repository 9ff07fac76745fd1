"""Levers as JSON, and written into a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ninescope.common.files import output_directory, written_whole
from ninescope.lab.levers.figures import figure
from ninescope.lab.levers.pull import Levers, Pulled

FILE = "levers.json"
VERSION = 1
"""Of its JSON."""


def document(levers: Levers) -> dict[str, Any]:
    """Return what JSON can hold, those first that buy most."""
    return {
        "levers_version": VERSION,
        "goal": levers.metric.key,
        "unit": levers.metric.unit,
        "now": levers.metric.read(levers.base.first),
        "workload": levers.base.first.document["workload"],
        "drive": levers.base.first.document["config"]["name"],
        "requests": levers.requests,
        "seeds": levers.base.seeds,
        "levers": [_entry(each) for each in levers.pulled],
    }


def _entry(each: Pulled) -> dict[str, Any]:
    interval = None if each.row is None or each.row.contrast is None else each.row.contrast.ratio
    return {
        "name": each.lever.name,
        "says": each.lever.says,
        "bound": each.lever.is_bound,
        "settings": each.settings,
        "ratio": each.ratio,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "verdict": None if each.row is None else each.row.verdict.words,
        "cost": each.cost,
        "price": each.lever.price or None,
        "without_its_causes": each.promised,
        "disagreement": each.disagreement or None,
        "short": each.is_short,
        "error": each.error or None,
    }


def save(levers: Levers, directory: Path) -> list[Path]:
    """Write JSON and figure into a folder."""
    from ninescope import pictures

    with output_directory(directory) as folder:
        written = list(pictures.save(figure(levers), folder))
        with written_whole(folder / FILE) as temporary:
            temporary.write_text(json.dumps(document(levers), indent=2) + "\n", encoding="utf-8")
        written.append(folder / FILE)
    return written
