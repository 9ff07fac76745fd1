"""Renew the table of MQSim's settings in docs/importing.md from the importer's own: `make mqsim-docs`."""

from __future__ import annotations

import argparse
from pathlib import Path

from ninescope.mqsim.settings import CARRIED, GROUPS, Fate, Setting, settings

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs/importing.md"
BEGIN, END = "<!-- mqsim settings: begin -->\n", "<!-- mqsim settings: end -->\n"


def table() -> str:
    """Return the settings by the tag in which they stand, each with what becomes of it."""
    lines = ["| in | setting | becomes |", "| --- | --- | --- |"]
    for section, entries in settings().items():
        rows: dict[str, list[str]] = {}
        for name, setting in entries.items():
            rows.setdefault(_said(setting), []).append(f"`{name}`")
        lines += [f"| {section} | {', '.join(names)} | {said} |" for said, names in rows.items()]
    return "\n".join(lines) + "\n"


def _said(setting: Setting) -> str:
    said = _becomes(setting.fate)
    if setting.values:
        values = ", ".join(f"`{value}`" for value in setting.values)
        rest = _becomes(setting.beyond) if setting.beyond else "refused"
        said += f"; only {values}, others are {rest}"
    elif setting.beyond:
        said += f"; else {_becomes(setting.beyond)}"
    if setting.same is not None:
        said += f"; `{setting.same}` is carried over: so it is here"
    if setting.as_mqsim:
        said += f"; with `--as mqsim` {_becomes(setting.as_mqsim)}"
    return said


def _becomes(fate: Fate) -> str:
    if fate.group == CARRIED:
        return fate.to if "`" in fate.to or " " in fate.to else f"`{fate.to}`"
    return f"**{GROUPS[fate.group]}**: {fate.why}"


def renewed(text: str) -> str:
    """Return the page with the table of today."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + table() + END + rest.split(END)[1]


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    DOCS.write_text(renewed(DOCS.read_text()))
