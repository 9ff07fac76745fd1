"""Markdown, written."""

from __future__ import annotations

import re
from collections.abc import Iterable


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return the lines of a table, and an empty one."""
    heads = list(heads)
    return [_cells(heads), _cells("---" for _ in heads), *(_cells(row) for row in rows), ""]


def _cells(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def toctree(places: Iterable[str], caption: str = "") -> str:
    """Return what puts pages below this one; they are listed beside it, not on it."""
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    return "\n".join(["", "```{toctree}", *options, "", *places, "```", ""])


def code(text: str) -> str:
    """Return text as code that may stand in a table, nothing of nothing."""
    return f"`{text.replace('|', chr(92) + '|')}`" if text else ""


def escaped(text: str) -> str:
    """Return text so that it is shown as it is; what stands between backticks is code as it was."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    parts[::2] = [re.sub(r"([*_<\[\]{}])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts).replace("|", "\\|")


def sentence(text: str) -> str:
    """Return text, escaped, with a full stop at its end."""
    said = escaped(text)
    return said if not said or said.endswith(".") else f"{said}."
