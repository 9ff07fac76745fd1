"""Renew the table of fio's options in docs/jobs.md from what the importer reads: `make fio-docs`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
OPTIONS = ROOT / "crates/generators/src/fio/options.toml"
DOCS = ROOT / "docs/jobs.md"
BEGIN, END = "<!-- fio options: begin -->\n", "<!-- fio options: end -->\n"


def table() -> str:
    """Return the options by group: what is equal, what changes nothing, what is noted and what is refused."""
    lines = ["| about | option | |", "| --- | --- | --- |"]
    for group, options in tomllib.loads(OPTIONS.read_text()).items():
        rows: dict[str, list[str]] = {}
        for name, entry in options.items():
            names = ", ".join(f"`{each}`" for each in (name, *entry.get("also", ())))
            rows.setdefault(_said(entry), []).append(names)
        for said in sorted(rows, key=_order):
            lines.append(f"| {group} | {', '.join(rows[said])} | {said} |")
    return "\n".join(lines) + "\n"


def _said(entry: dict[str, Any]) -> str:
    match entry["is"]:
        case "equal":
            equal = f"**equal** of {entry['of']}" if "of" in entry else "**equal**"
            return f"{equal}; {entry['but']}" if "but" in entry else equal
        case "unchanged":
            return "changes nothing that is issued"
        case "noted":
            return f"**noted**: {entry['effect']}{_taken(entry, 'changes nothing')}"
    return f"**refused**: {entry['instead']}{_taken(entry, 'is taken')}"


def _taken(entry: dict[str, Any], words: str) -> str:
    values = ", ".join(f"`{value}`" for value in entry.get("off", ()))
    return f" ({values} {words})" if values else ""


def _order(said: str) -> int:
    words = ("**equal", "changes", "**noted", "**refused")
    return next(place for place, word in enumerate(words) if said.startswith(word))


def renewed(text: str) -> str:
    """Return the page with the table of today."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + table() + END + rest.split(END)[1]


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    DOCS.write_text(renewed(DOCS.read_text()))
