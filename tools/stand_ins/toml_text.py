"""Reading TOML, and writing profiles."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

# The module is part of Python 3.11, and a package before.
_READER: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


def read(path: Path) -> dict[str, Any]:
    """The file as a table."""
    table: dict[str, Any] = _READER.loads(path.read_text(encoding="utf-8"))
    return table


def _is_table(value: object) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)
    )


def _value(value: object) -> str:
    if (
        isinstance(value, list)
        and value
        and all(isinstance(entry, str) for entry in value)
        and len(value) > 2
    ):
        return "[\n" + "".join(f"  {json.dumps(entry)},\n" for entry in value) + "]"
    return json.dumps(value)


def write(table: dict[str, Any], name: str = "") -> str:
    """A table as TOML; lists of tables as arrays of tables."""
    lines = [f"{key} = {_value(value)}" for key, value in table.items() if not _is_table(value)]
    for key, value in table.items():
        if not _is_table(value):
            continue
        path = f"{name}.{key}" if name else key
        if isinstance(value, dict):
            lines += ["", f"[{path}]", write(value, path)]
        else:
            for entry in value:
                lines += ["", f"[[{path}]]", write(entry, path)]
    return "\n".join(lines)
