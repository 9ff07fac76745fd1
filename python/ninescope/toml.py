"""Reading TOML, and writing as much of it as a configuration needs."""

from __future__ import annotations

import importlib
import json
import math
import re
import sys
from collections.abc import Mapping
from typing import Any

_TWICE = re.compile(r"^(Cannot overwrite a value|Cannot declare .* twice)(?= \()")
"""What the parser says of a key that is given again."""
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def loads(text: str) -> dict[str, Any]:
    """Read TOML; a ValueError says where it is wrong."""
    # The module is part of Python 3.11, and a dependency before.
    tomllib: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        document: dict[str, Any] = tomllib.loads(text)
    except ValueError as error:
        raise ValueError(_TWICE.sub("a key or table is there twice", str(error))) from None
    return document


_HEADER = re.compile(r"\s*(\[\[?)\s*([\w.-]+)\s*\]")


def line_of(text: str, where: str, key: str) -> int:
    """Return the line of a key of the table `where`, or else of that table; 0 where neither is written.

    Tables of an array are named with their number, `claim[2].check[0]`; an array itself is a key.
    """
    table, best = "", 0
    counts: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _place(header[2], counts, opens=header[1] == "[[")
            if not best and (table == where or (not where and header[2] == key)):
                best = number
        elif table == where and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return number
    return best


def _place(name: str, counts: dict[str, int], *, opens: bool) -> str:
    """Name a table by its place: the number in each array that its name goes through."""
    words: list[str] = []
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        array = ".".join(parts[:depth])
        if opens and depth == len(parts):
            counts[array] = counts.get(array, -1) + 1
            for other in [one for one in counts if one.startswith(f"{array}.")]:
                del counts[other]
        words.append(f"{parts[depth - 1]}[{counts[array]}]" if array in counts else parts[depth - 1])
    return ".".join(words)


def dumps(table: Mapping[str, Any], name: str = "") -> str:
    """Write a table; keys whose value is None are left out."""
    values = [(key, value) for key, value in table.items() if value is not None]
    lines = [f"{_key(key)} = {_value(value)}" for key, value in values if not isinstance(value, Mapping)]
    if name and lines:
        lines.insert(0, f"[{name}]")
    parts = ["\n".join(lines) + "\n"] if lines else []
    for key, value in values:
        if isinstance(value, Mapping):
            parts.append(dumps(value, f"{name}.{_key(key)}" if name else _key(key)))
    return "\n".join(part for part in parts if part)


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else json.dumps(key)


def _value(value: object) -> str:
    if type(value) is int:  # most of what a profile holds, and `json` takes ten times as long
        return str(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # inf, -inf, nan, for which JSON has no words
    return json.dumps(value)  # strings, other numbers and booleans are written alike
