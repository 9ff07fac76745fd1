"""Real volumes in the place of stand-ins, where somebody has the traces: known by name, counts and hash.

A volume is looked for in a folder under its name, read whole once, and refused unless it is the one that was
published, as far as that is known of it. What simulates is only told where it lies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import ninescope
from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.papers.claims import load_toml
from ninescope.papers.experiment import RealVolume

ENDINGS = (".csv", ".csv.gz", ".csv.zst", ".csv.bz2", ".csv.xz")
FILE = "volumes.toml"
_KEYS = ("requests", "writes", "bytes", "hash")
BY_HASH = "known by its hash"
BY_STATISTICS = "known by its name, {}; its hash is not registered"
ROUNDED = 0.006
"""Of the published bytes: they have three digits or more."""


@dataclasses.dataclass(frozen=True)
class Volume:
    """A volume as it was published."""

    name: str
    requests: int
    hash: str | None = None
    """Of all its requests, as `ninescope trace stat` says it."""
    writes: int | None = None
    """How many of them write, where that is published."""
    bytes: float | None = None
    """What they read and write together, rounded, where that is published."""

    @property
    def known(self) -> str:
        """How it is recognised."""
        if self.hash is not None:
            return BY_HASH
        counts = ["requests", *(["writes"] if self.writes is not None else [])]
        parts = [f"its number of {' and of '.join(counts)}"]
        if self.bytes is not None:
            parts.append("its bytes")
        return BY_STATISTICS.format(" and ".join(parts))


def load_register(path: Path) -> dict[str, Volume]:
    """Read `volumes.toml`: the published volumes by name."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    found = {}
    for name, words in load_toml(path, text).items():
        if not isinstance(words, Mapping) or not isinstance(words.get("requests"), int):
            raise ConfigError(f"{path}: {name}.requests: must be a whole number")
        for key in words:
            if key not in _KEYS:
                raise ConfigError(f"{path}: {name}.{key}: is not a key here{did_you_mean(key, _KEYS)}")
        for key, kinds, what in _OPTIONAL:
            if key in words and (isinstance(words[key], bool) or not isinstance(words[key], kinds)):
                raise ConfigError(f"{path}: {name}.{key}: must be {what}")
        found[name] = Volume(name, **words)
    return found


_OPTIONAL: tuple[tuple[str, type | tuple[type, ...], str], ...] = (
    ("writes", int, "a whole number"),
    ("bytes", (int, float), "a number"),
    ("hash", str, "a text"),
)


def look(
    folder: Path,
    register: Mapping[str, Volume],
    needed: Iterable[str],
    left_out: Callable[[str], None] = lambda words: None,
) -> tuple[RealVolume, ...]:
    """Find the volumes that are in a folder, all that are needed among them; each is read whole.

    One that is not needed and is another one, or cut off, is left out, and `left_out` is told so.
    """
    if not folder.is_dir():
        problem = "is no folder" if folder.exists() else "there is no such folder"
        raise ConfigError(f"--traces {folder}: {problem}")
    wanted = set(needed)
    files = {name: file for name in register if (file := _file(folder, name)) is not None}
    missing = [name for name in register if name in wanted and name not in files]
    if missing:
        names = ", ".join(f"{name}.csv" for name in missing)
        raise ConfigError(
            f"--traces {folder}: {names}: no such file, plain or compressed ({', '.join(ENDINGS[1:])})"
        )
    found = []
    for name in sorted(files, key=lambda name: name not in wanted):  # what is needed may stop it: first
        try:
            found.append(_recognised(files[name], register[name]))
        except ConfigError as error:
            if name in wanted:
                raise
            left_out(str(error))
    return tuple(sorted(found, key=lambda volume: list(register).index(volume.name)))


def _file(folder: Path, name: str) -> Path | None:
    return next((file for end in ENDINGS if (file := folder / f"{name}{end}").is_file()), None)


def _recognised(file: Path, volume: Volume) -> RealVolume:
    """Read a volume whole, and refuse it if it is another one, or not all of it."""
    found = ninescope.trace_stat(file, format="msr", strict=True)
    names = [one["name"] for one in found["volumes"]]
    if names != [volume.name]:
        raise ConfigError(f"{file}: holds {', '.join(names) or 'nothing'}, and should be {volume.name}")
    requests = found["requests"]
    if requests != volume.requests:
        what = "cut off" if requests < volume.requests else "not the published volume"
        raise ConfigError(
            f"{file}: has {requests:,} requests, {volume.name} has {volume.requests:,}: it is {what}"
        )
    _compare(file, volume, found)
    number = found["class"]["number"]
    return RealVolume(volume.name, str(file.resolve()), requests, found["hash"], volume.known, number)


def _compare(file: Path, volume: Volume, found: Mapping[str, Any]) -> None:
    """Refuse a volume of the right length whose other numbers are not the published ones."""
    if volume.writes is not None and found["writes"] != volume.writes:
        raise ConfigError(
            f"{file}: {found['writes']:,} of its requests write, of {volume.name} {volume.writes:,}: it was "
            "changed"
        )
    together = found["read_bytes"] + found["write_bytes"]
    if volume.bytes is not None and abs(together / volume.bytes - 1) > ROUNDED:
        raise ConfigError(
            f"{file}: its requests are of {together:,} bytes, those of {volume.name} of some "
            f"{volume.bytes:,.0f}: it was changed"
        )
    if volume.hash is not None and found["hash"] != volume.hash:
        raise ConfigError(
            f"{file}: its requests have the hash {found['hash']}, those of {volume.name} have {volume.hash}: "
            "it was changed"
        )
