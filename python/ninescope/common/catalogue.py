"""What is built in: presets, profiles, policies and schemas; and the nearest of known words."""

import difflib
import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from ninescope import _native
from ninescope._native import ConfigError

DEFAULT_PRESET = "tlc"
"""What the engine takes where no drive is named."""


PRESET_KINDS = ("drives", "jobs", "profiles")


class Preset(NamedTuple):
    """A drive, a job or a profile that comes with ninescope."""

    name: str
    summary: str
    toml: str


class Parameter(NamedTuple):
    """What a policy can be told."""

    name: str
    summary: str
    values: str
    """What it may be, in words."""
    default: Any
    """None: it is left out."""
    unit: str | None
    """In what it is counted, where its values have no unit of their own: "count", "1/bit"."""


class Policy(NamedTuple):
    """An algorithm that a drive's configuration can name."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...] = ()


def presets(kind: str = "drives") -> list[Preset]:
    """List the presets of a kind: "drives", "jobs" or "profiles"."""
    return [Preset(*preset) for preset in _native.presets(kind)]


def preset(name: str, kind: str | None = None) -> Preset:
    """Return one preset of a kind, or of any; an unknown name is answered with the nearest."""
    kinds = PRESET_KINDS if kind is None else (kind,)
    known = {preset.name: preset for one in kinds for preset in presets(one)}
    if name not in known:
        what = "preset" if kind is None else kind.removesuffix("s")
        raise ConfigError(f"no {what} is named {name!r}{did_you_mean(name, known)}")
    return known[name]


def shipped_profiles() -> dict[str, Preset]:
    """List the profiles that come with ninescope, by name."""
    return {preset.name: preset for preset in presets("profiles")}


def policies() -> dict[str, list[Policy]]:
    """List the policies of each registry."""
    registries: dict[str, list[dict[str, Any]]] = json.loads(_native.policies())
    return {registry: [_policy(entry) for entry in entries] for registry, entries in registries.items()}


def _policy(entry: dict[str, Any]) -> Policy:
    parameters = (Parameter(**parameter) for parameter in entry.get("parameters", ()))
    return Policy(entry["name"], entry.get("summary", ""), tuple(parameters))


def schemas() -> dict[str, str]:
    """Return the JSON Schemas (as text) of the files that people write, by kind of file."""
    return dict(_native.schemas())


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of an error message: the nearest known word, or all of them."""
    known = list(known)
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there is {', '.join(known)}" if known else ""
