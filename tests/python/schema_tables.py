"""The tables and keys that the JSON Schemas know, for tests that go through all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

Path = tuple[str | int, ...]
Around = tuple[tuple[Path, str], ...]
"""Policies whose tables lie around another one: where, and which."""


UNITS = ("Bytes", "Duration", "BytesPerSecond")
"""Numbers that are written with a unit."""


class Table(NamedTuple):
    """A table that a file may hold: where, with which keys, as which policy, within which ones."""

    path: Path
    keys: dict[str, Any]
    policy: str | None
    around: Around


def tables(root: dict[str, Any]) -> Iterator[Table]:
    """Every table of a schema."""

    def walk(schema: dict[str, Any], path: Path, around: Around) -> Iterator[Table]:
        if "$ref" in schema:
            schema = {**root["$defs"][schema["$ref"].rpartition("/")[2]], **schema}
        if "properties" in schema:
            policy = schema["properties"].get("policy", {}).get("const")
            yield Table(path, schema["properties"], policy, around)
            if policy is not None:
                around = (*around, (path, policy))
        for key, inner in schema.get("properties", {}).items():
            yield from walk(inner, (*path, key), around)
        for way in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
            yield from walk(way, path, around)
        if "items" in schema:
            yield from walk(schema["items"], (*path, 0), around)

    yield from walk(root, (), ())


def with_value(document: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """The document with one value changed; lists on the way become lists of one.

    What is beside the way is the same object in both: copying all of a drive takes longer than checking it.
    """
    changed = dict(document)
    for index in reversed(range(len(path))):
        if path[index] == 0:
            for key in reversed(path[index + 1 :]):
                value = {key: value}
            value, path = [value], path[:index]
    inner = changed
    for key in path[:-1]:
        following = inner.get(key)
        inner[key] = dict(following) if isinstance(following, dict) else {}
        inner = inner[key]
    if path:
        inner[path[-1]] = value
    else:
        changed.update(value)
    return changed


def numbers(root: dict[str, Any], schema: dict[str, Any]) -> set[str]:
    """The kinds of number that a key takes: of "integer", "number", "Bytes", "Duration", "BytesPerSecond"."""
    name = schema.get("$ref", "").rpartition("/")[2]
    if name in UNITS:
        return {name}
    ways = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    ways += [schema["items"]] if "items" in schema else []
    ways += [root["$defs"][name]] if name else []
    stated = schema.get("type", ())
    own = {"integer", "number"} & ({stated} if isinstance(stated, str) else set(stated))
    return own.union(*(numbers(root, way) for way in ways)) if "properties" not in schema else set()
