"""Levers of one's own: a file of single changes of a drive, beside those that are built in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from ninescope import _native, toml
from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.common.files import existing, text_of
from ninescope.common.kinds import LEVERS_FILE, refuse_others
from ninescope.lab.levers.catalogue import LEVERS, Config, Lever, Settings
from ninescope.simulation.drive import Drive
from ninescope.text.causes import LOOKS

KEY = "levers"
_WORDS = ("name", "says", "set", "cost", "causes", "bound")
_SMALL_JOB = {"rw": "read", "bs": "512", "requests": 1}
"""Fits on every drive there is."""


def read(path: str | os.PathLike[str], drive: Drive | None = None) -> list[Lever]:
    """Read levers; what is wrong is named by file, line and key.

    With a drive, what each lever sets is looked at on it: a key that it does not have, or a value that it
    cannot have, is refused.
    """
    given = existing(os.fspath(path), "file of levers")
    refuse_others(given, LEVERS_FILE)
    reader = _Reader(given, text_of(given))
    levers = reader.levers()
    for number, lever in enumerate(levers):
        if drive is not None:
            reader.try_on(drive, number, lever)
    return levers


class _Reader:
    """Turns a document into levers, and knows on which line a key stands."""

    def __init__(self, path: str, text: str) -> None:
        self._path, self._text = path, text

    def levers(self) -> list[Lever]:
        try:
            document = toml.loads(self._text)
        except ValueError as error:
            raise ConfigError(f"{self._path}: {error}") from None
        for key in document:
            if key not in (KEY, "summary"):
                self._refuse(f"is no key of a file of levers{did_you_mean(key, [KEY])}", "", key)
        tables = document.get(KEY)
        if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
            self._refuse(f"tables are wanted: [[{KEY}]]", "", KEY)
        if not tables:
            self._refuse("there is none", "", KEY)
        levers: list[Lever] = []
        for number, table in enumerate(tables):
            levers.append(self._lever(number, table, [*LEVERS, *levers]))
        return levers

    def _lever(self, number: int, table: Mapping[str, Any], taken: Sequence[Lever]) -> Lever:
        where = f"{KEY}[{number}]"
        for word in table:
            if word not in _WORDS:
                self._refuse(f"is no word of a lever{did_you_mean(word, _WORDS)}", where, word)
        name = self._text_at(where, table, "name")
        if not name or not name.replace("-", "").replace(".", "").isalnum():
            self._refuse("a name is wanted, of letters, digits, '.' and '-'", where, "name")
        if any(lever.name == name for lever in taken):
            self._refuse(f"a lever is called {name!r} already", where, "name")
        bound = table.get("bound", False)
        if not isinstance(bound, bool):
            self._refuse(f"true or false are wanted, not {bound!r}", where, "bound")
        settings = self._set(where, table.get("set"))
        return Lever(
            name,
            self._text_at(where, table, "says")
            or ", ".join(f"{key} = {_short(settings[key])}" for key in settings),
            _always(settings),
            self._causes(where, table.get("causes", [])),
            is_bound=bound,
            price=self._text_at(where, table, "cost"),
        )

    def _text_at(self, where: str, table: Mapping[str, Any], key: str) -> str:
        value = table.get(key, "")
        if not isinstance(value, str):
            self._refuse(f"a text is wanted, not {value!r}", where, key)
        return " ".join(value.split())

    def _set(self, where: str, written: object) -> Settings:
        if not isinstance(written, Mapping) or not written:
            self._refuse('what it changes is wanted, as set = { "nand.read" = "34us" }', where, "set")
        for key, value in written.items():
            if isinstance(value, Mapping) and "policy" not in value:
                self._refuse(
                    f'keys are written with dots, as "{key}.{next(iter(value), "...")}"', where, "set", key
                )
        return dict(written)

    def _causes(self, where: str, written: object) -> tuple[str, ...]:
        if not isinstance(written, list):
            self._refuse(f"a list of causes is wanted, not {written!r}", where, "causes")
        for cause in written:
            if cause not in LOOKS:
                self._refuse(
                    f"no cause is called {cause!r}{did_you_mean(str(cause), LOOKS)}", where, "causes"
                )
        return tuple(written)

    def try_on(self, drive: Drive, number: int, lever: Lever) -> None:
        """Have the engine look at the changed drive; refuse the lever for what it has against it."""
        settings = lever.settings({}) or {}
        try:
            changed = drive.changed(settings)
            _native.check_run(json.dumps({**changed.request(), "workload": {"job": _SMALL_JOB}}))
        except ConfigError as error:
            words = " ".join(str(error).split())
            found = [key for key in settings if words.startswith(f"--set {key}=")]
            if found:
                words = words.removeprefix(f"--set {found[0]}=").partition(": ")[2]
                words = words.removeprefix(found[0]).lstrip(": ")
            self._refuse(words, f"{KEY}[{number}]", "set", *found[:1])

    def _refuse(self, problem: str, where: str, *keys: str) -> NoReturn:
        raise ConfigError(
            f"{self._path}{self._line(where, keys)}: {'.'.join(_filled((where, *keys)))}: {problem}"
        )

    def _line(self, where: str, keys: Sequence[str]) -> str:
        """Say on which line it stands, or what is around it."""
        for count in range(len(keys), 0, -1):
            table = ".".join(_filled((where, *keys[: count - 1])))
            line = toml.line_of(self._text, table, keys[count - 1])
            if line:
                return f", line {line}"
        return ""


def _filled(words: Iterable[str]) -> list[str]:
    return [word for word in words if word]


def _short(value: object) -> str:
    return str(value.get("policy")) if isinstance(value, Mapping) else str(value)


def _always(settings: Settings) -> Callable[[Config], Settings | None]:
    """Return what sets these keys on every drive."""

    def of(config: Config) -> Settings | None:
        return dict(settings)

    return of
