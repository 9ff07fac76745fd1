"""Real volumes in the place of stand-ins, where somebody has the traces: known by name, count and hash.

A volume is looked for in a folder under its name, read whole once, and refused unless it is the one that was
published. What simulates is only told where it lies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path

import ninescope
from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.papers.claims import load_toml
from ninescope.papers.experiment import RealVolume

ENDINGS = (".csv", ".csv.gz", ".csv.zst", ".csv.bz2", ".csv.xz")
FILE = "volumes.toml"
_KEYS = ("requests", "hash")
BY_HASH = "known by its hash"
BY_COUNT = "known by its name and its number of requests; its hash is not registered"


@dataclasses.dataclass(frozen=True)
class Volume:
    """A volume as it was published."""

    name: str
    requests: int
    hash: str | None = None
    """Of all its requests, as `ninescope trace stat` says it."""


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
        found[name] = Volume(name, **words)
    return found


def look(folder: Path, register: Mapping[str, Volume], needed: Iterable[str]) -> tuple[RealVolume, ...]:
    """Find the volumes that are in a folder, all that are needed among them; each is read whole."""
    if not folder.is_dir():
        problem = "is no folder" if folder.exists() else "there is no such folder"
        raise ConfigError(f"--traces {folder}: {problem}")
    files = {name: file for name in register if (file := _file(folder, name)) is not None}
    missing = [name for name in needed if name not in files]
    if missing:
        names = ", ".join(f"{name}.csv" for name in missing)
        raise ConfigError(
            f"--traces {folder}: {names}: no such file, plain or compressed ({', '.join(ENDINGS[1:])})"
        )
    return tuple(_recognised(files[name], register[name]) for name in files)


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
    if volume.hash is not None and found["hash"] != volume.hash:
        raise ConfigError(
            f"{file}: its requests have the hash {found['hash']}, those of {volume.name} have {volume.hash}: "
            "it was changed"
        )
    known = BY_COUNT if volume.hash is None else BY_HASH
    number = found["class"]["number"]
    return RealVolume(volume.name, str(file.resolve()), requests, found["hash"], known, number)
