"""Where in a TOML file something stands: the parser does not say."""

from __future__ import annotations

import re

_HEADER = re.compile(r"\s*(\[\[?)\s*(.+?)\s*\]")
_KEY = re.compile(
    r"""\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+))*)\s*="""
)
_PART = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*(?:\.|$)""")


def line_of(text: str, *path: str | int) -> int:
    """Return the line of a key or table, or of the nearest that is around it; 0 where none is written.

    `("when", 1, "if")` is a key of the second `[[when]]`. Keys with dots may be quoted or not.
    """
    wanted = _flat(path)
    best, best_length = 0, 0
    table: tuple[str, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        if header:
            table = _parts(header[2])
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, str(counts[table]))
            here = table
        elif match := _KEY.match(line):
            here = (*table, *_parts(match[1]))
            # An inline table is one line: what is in it stands there.
        else:
            continue
        if here == wanted[: len(here)] and len(here) > best_length:
            best, best_length = number, len(here)
    return best


def _flat(path: tuple[str | int, ...]) -> tuple[str, ...]:
    return tuple(
        part for word in path for part in (str(word).split(".") if isinstance(word, str) else [str(word)])
    )


def _parts(key: str) -> tuple[str, ...]:
    return tuple(
        part
        for match in _PART.finditer(key)
        for part in (match[1] or match[2] or match[3] or "").split(".")
        if part
    )
