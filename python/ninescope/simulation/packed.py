"""What is in a bundle, read with the suspicion that is due to a file of somebody else's.

Nothing outside of it is read by its words: files are named by members, and no member leads out. What is not
as it should be is told by the names of the bundle, the member and the key, never by that of the temporary
folder in which its files lie.
"""

from __future__ import annotations

import json
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ninescope._native import ConfigError
from ninescope.common.files import existing
from ninescope.simulation.traces import TemporaryFolder

_DAMAGED = (zipfile.BadZipFile, OSError, EOFError, RuntimeError, ValueError, zlib.error)
"""What is raised of archives that are none, that end early, and that are encrypted."""
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_LONG = 60
_NAMES: Mapping[type, str] = {dict: "a table", str: "a text", int: "a whole number", type(None): "null"}


class Packed:
    """The members of a bundle, in a folder of their own that lasts as long as this."""

    def __init__(self, path: str) -> None:
        self.path = existing(path, "bundle")
        self._folder = TemporaryFolder()
        try:
            with zipfile.ZipFile(path) as bundle:
                self._members = frozenset(self._checked(bundle.infolist()))
                for name in self._members:
                    bundle.extract(name, self._folder.path)
        except ConfigError:
            raise
        except _DAMAGED as error:
            raise ConfigError(f"{path}: is no bundle, or a damaged one: {error}") from None

    def _checked(self, entries: Sequence[zipfile.ZipInfo]) -> Iterator[str]:
        """Yield the names of files; refuse what leads out of the bundle, and what is not plain."""
        seen: set[str] = set()
        for entry in entries:
            name = entry.filename
            if _leads_out(name):
                raise ConfigError(f"{self.path}: its member {name!r} leads out of it")
            if stat.S_ISLNK(entry.external_attr >> 16):
                raise ConfigError(f"{self.path}: its member {name!r} is a symbolic link")
            if name in seen:
                raise ConfigError(f"{self.path}: its member {name!r} is there twice")
            if entry.compress_type not in _COMPRESSIONS:
                raise ConfigError(f"{self.path}: its member {name!r} is neither stored nor deflated")
            seen.add(name)
            if not entry.is_dir():
                yield name

    def document(self, member: str) -> dict[str, Any]:
        """Return the table in a member that is JSON."""
        if member not in self._members:
            raise ConfigError(f"{self.path}: is no bundle: it has no {member}")
        try:
            document = json.loads(Path(self._folder.path, member).read_bytes())
        except UnicodeDecodeError:
            raise ConfigError(f"{self.path}: {member} is not a text file") from None
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{self.path}: {member} is not JSON ({error})") from None
        if not isinstance(document, dict):
            raise ConfigError(f"{self.path}: {member} is not a table in JSON")
        return document

    def place(self, key: str, member: str) -> str:
        """Return where the file lies that `key` of the bundle's words names."""
        if _leads_out(member):
            raise ConfigError(f"{self.path}: {key}: {member!r} leads out of the bundle")
        if member not in self._members:
            raise ConfigError(f"{self.path}: {key}: {member!r} is not in the bundle")
        return str(Path(self._folder.path, member))

    def told(self, error: Exception) -> ConfigError:
        """Return an error in words that name the bundle and its member, where they named the folder."""
        words = str(error).replace(f"{self._folder.path}/", "")
        return ConfigError(f"{self.path}: {words}")


def checked(path: str, table: Mapping[str, Any], wanted: Mapping[str, tuple[type, ...]], where: str) -> None:
    """Refuse a table that lacks one of the keys that are wanted, or has it of another kind."""
    for key, kinds in wanted.items():
        value: Any = table
        for part in key.split("."):
            if part not in value:
                raise ConfigError(f"{path}: {where}: {key} is missing")
            value = value[part]
        if type(value) not in kinds:
            names = " or ".join(_NAMES[kind] for kind in kinds)
            raise ConfigError(f"{path}: {where}: {key} is {shortened(value)}, and {names} is wanted")


def shortened(value: object) -> str:
    """Write a value of a JSON document in at most a few words."""
    if isinstance(value, Mapping):
        return f"a table of {len(value):,} keys"
    if isinstance(value, list):
        return f"a list of {len(value):,}"
    words = json.dumps(value)
    return words if len(words) <= _LONG else f"{words[: _LONG - 4]}..."


def _leads_out(name: str) -> bool:
    """Say whether a name is not one of a file beneath, on any system."""
    parts = re.split(r"[/\\]", name)
    return not name or ".." in parts or parts[0] == "" or re.match(r"[A-Za-z]:", name) is not None
