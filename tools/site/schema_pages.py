"""Pages of the reference made of the JSON Schemas: every key of a drive, a job and a profile."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from writing import code, escaped, sentence, table, toctree

import ninescope
from ninescope.common import catalogue
from ninescope.toml import loads

QUANTITIES = {
    "Bytes": "a size",
    "Duration": "a time",
    "BytesPerSecond": "a rate",
    "Hertz": "a frequency",
    "Microwatts": "a power",
    "Femtojoules": "an energy",
}
"""Numbers that are written with a unit, by their name in the schemas."""

UNIT = re.compile(r" \[([^\]]+)\](?=[.,;:]|$| )")
NO_UNITS = {"scm"}
"""What stands in brackets and is a table."""

FILES = {
    "job": "What a drive is asked to do. [Jobs](../jobs.md) explains it.",
    "profile": "What a trace is like, without its rows. [Profiles](../profiles.md) explains it.",
}
"""Kinds of files beside drives."""

DRIVE = """# Keys of a drive

Every key that the file of a drive may have, from the schema that `ninescope schema drive` prints. A *default*
is what a key is where nothing is said; a key without one is left out, or has to be given. Beside it stands
what the default drive, `{default}`, has, and below the keys where that comes from.
[Every preset](../presets/index.md) has a page of its own.
"""


class Row(NamedTuple):
    """A key: what it may be, in which unit, what it is where nothing is said, and what it means."""

    key: str
    value: str
    unit: str
    default: str
    meaning: str


class Section(NamedTuple):
    """The keys of a table, or of the table of one policy."""

    path: str
    policy: str | None
    summary: str
    rows: list[Row]
    around: tuple[str, ...]
    """The policies in whose tables it lies."""


def sections(
    root: dict[str, Any], schema: dict[str, Any], path: str = "", around: tuple[str, ...] = ()
) -> Iterator[Section]:
    """Yield the tables that a schema knows, each policy's by itself, those around first."""
    schema = _whole(root, schema)
    inside = around
    if "properties" in schema:
        policy = schema["properties"].get("policy", {}).get("const")
        keys = {key: of for key, of in schema["properties"].items() if key != "policy" or policy is None}
        rows = [_row(root, f"{path}.{key}".lstrip("."), of) for key, of in keys.items()]
        yield Section(path, policy, schema.get("description", ""), rows, around)
        inside = around if policy is None else (*around, f"{path} = {policy}")
        for key, of in keys.items():
            yield from sections(root, of, f"{path}.{key}".lstrip("."), inside)
    for way in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from sections(root, way, path, inside)
    if "items" in schema:
        yield from sections(root, schema["items"], f"{path}[]", inside)
    if isinstance(schema.get("additionalProperties"), dict):
        yield from sections(root, schema["additionalProperties"], f"{path}.NAME", inside)


def _whole(root: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with what it refers to."""
    if "$ref" in schema:
        return {**root["$defs"][schema["$ref"].rpartition("/")[2]], **schema}
    return schema


def _row(root: dict[str, Any], key: str, schema: dict[str, Any]) -> Row:
    said = " ".join(schema.get("description", "").split())
    unit = next((found for found in UNIT.findall(said) if found not in NO_UNITS), "")
    if unit:
        said = said.replace(f" [{unit}]", "", 1)
    default = schema.get("default")
    hidden = default is None or (isinstance(default, dict) and "policy" not in default)
    shown = "" if hidden else toml(default)
    return Row(key, " or ".join(_kinds(root, schema)), unit, shown, said)


def toml(value: Any) -> str:
    """Return a value as a file has it."""
    if isinstance(value, dict):
        if set(value) == {"policy"}:
            return toml(value["policy"])
        return "{ " + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def _kinds(root: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    """Return what a value may be, in words."""
    name = schema.get("$ref", "").rpartition("/")[2]
    if name in QUANTITIES:
        return [QUANTITIES[name]]
    schema = _whole(root, schema)
    names = list(_constants(root, schema))
    if any("policy" in table for table in _tables(root, schema)):
        return [f"a policy: {', '.join(f'`{each}`' for each in names)}"]
    found = [", ".join(f"`{each}`" for each in names)] if names else []
    stated = schema.get("type", ())
    for kind in (stated,) if isinstance(stated, str) else stated:
        found += [] if names and kind == "string" else [_plain(root, kind, schema)]
    for way in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if "const" not in way:
            found += _kinds(root, way)
    return [each for each in dict.fromkeys(found) if each]


def _plain(root: dict[str, Any], kind: str, schema: dict[str, Any]) -> str:
    if kind == "array":
        inner = " or ".join(_kinds(root, schema["items"])) if "items" in schema else ""
        return f"a list, each {inner}" if inner else "a list"
    words = {
        "integer": "a whole number",
        "boolean": "`true` or `false`",
        "string": "a text",
        "object": "a table",
    }
    return words.get(kind, f"a {kind}") + _bounds(schema)


def _bounds(schema: dict[str, Any]) -> str:
    said = ""
    if "minimum" in schema:
        said = f" from {schema['minimum']:g}" + ("" if "maximum" in schema else " on")
    if "exclusiveMinimum" in schema:
        said += f" above {schema['exclusiveMinimum']:g}"
    if "maximum" in schema:
        said += f" to {schema['maximum']:g}"
    if "exclusiveMaximum" in schema:
        said += f" below {schema['exclusiveMaximum']:g}"
    return said


def _constants(root: dict[str, Any], schema: dict[str, Any]) -> Iterator[str]:
    """Yield the names that a value may be."""
    if isinstance(schema.get("const"), str):
        yield schema["const"]
    yield from (name for name in schema.get("enum", ()) if isinstance(name, str))
    for way in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if "properties" not in way and "$ref" not in way:
            yield from _constants(root, way)


def _tables(root: dict[str, Any], schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "properties" in schema:
        yield schema["properties"]
    for way in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from _tables(root, _whole(root, way))


# ---- pages -------------------------------------------------------------------------------------------------


def texts() -> dict[str, str]:
    """Return the pages, by where they lie on the site."""
    pages = {f"reference/{kind}.md": _file_page(kind, about) for kind, about in FILES.items()}
    pages |= {f"reference/drive/{name}.md": _drive_page(name) for name in tables_of_a_drive()}
    return pages | {"reference/drive/index.md": _drive_index()}


def of(kind: str) -> dict[str, Any]:
    """Return the schema of a kind of file."""
    schema: dict[str, Any] = json.loads(catalogue.schemas()[kind])
    return schema


def tables_of_a_drive() -> list[str]:
    """Return the keys of a drive that are tables, or lists of tables: a page for each."""
    root = of("drive")
    return [key for key, schema in root["properties"].items() if any(sections(root, schema, key))]


def _drive_page(name: str) -> str:
    root = of("drive")
    own = dict(flattened(loads(ninescope.Drive.preset(catalogue.DEFAULT_PRESET).resolve())))
    sources = own.pop("sources", {})
    lines = [f"# `[{name}]` of a drive", ""]
    for section in sections(root, root["properties"][name], name):
        lines += _section(section, own if section.policy is None else {})
    named = [(code(key), escaped(source)) for key, source in sources.items() if key.split(".")[0] == name]
    if named:
        lines += [f"## Where the values of `{catalogue.DEFAULT_PRESET}` come from", ""]
        lines += table(("key", "source"), named)
    return "\n".join(lines)


def _section(section: Section, own: dict[str, Any]) -> list[str]:
    named = section.path if section.policy is None else f"{section.path} = {section.policy}"
    within = "".join(f", within `{policy}`" for policy in reversed(section.around))
    lines = [f"## `{named}`{within}", "", sentence(section.summary), ""]
    with_own = any(row.key in own for row in section.rows)
    heads = ["key", "value", "unit", "default", "meaning"]
    rows = []
    for row in section.rows:
        cells = [code(row.key), escaped(row.value), row.unit, code(row.default), escaped(row.meaning)]
        here = [code(toml(own[row.key])) if row.key in own else ""] if with_own else []
        rows.append([*cells[:4], *here, cells[4]])
    if with_own:
        heads.insert(4, f"in {code(catalogue.DEFAULT_PRESET)}")
    return [*lines, *(table(heads, rows) if rows else [])]


def _file_page(kind: str, about: str) -> str:
    root = of(kind)
    lines = [f"# Keys of a {kind}", "", about, ""]
    for section in sections(root, root):
        lines += _section(section._replace(path=section.path or kind), {})
    return "\n".join(lines)


def _drive_index() -> str:
    root = of("drive")
    tables = tables_of_a_drive()
    written = [(each, escaped(root["$defs"][name]["description"])) for name, each in QUANTITIES.items()]
    keys = (
        (f"[`{key}`]({key}.md)" if key in tables else code(key), escaped(schema.get("description", "")))
        for key, schema in root["properties"].items()
    )
    lines = [DRIVE.format(default=catalogue.DEFAULT_PRESET), *table(("what", "how it is written"), written)]
    return "\n".join([*lines, *table(("key", "meaning"), keys)]) + toctree(tables)


def flattened(values: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a table by their keys with dots; a policy with its parameters is one value."""
    for key, value in values.items():
        name = f"{before}{key}"
        if isinstance(value, dict) and "policy" not in value and name != "sources":
            yield from flattened(value, f"{name}.")
        else:
            yield name, value
