"""What the points of a sweep or a search have in common, and how a point is made of it by changing keys.

A key is one of the drive as `--set` takes it (`nand.read`), `drive.preset` or `drive.file`, a word of the
workload (`workload.iodepth`) or of the run (`run.requests`), or `workload`, the name of one of several.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.lab.sweep.point import Point, checked_run
from ninescope.lab.sweep.source import Source
from ninescope.lab.sweep.values import listed
from ninescope.simulation.drive import Drive

DRIVE_WORDS = ("preset", "file", "set")
WORKLOAD = "workload"
RUN = "run"
DRIVE = "drive"
_EXPECTED = re.compile(
    r", expected one of (?P<known>`[^`]*`(?:, `[^`]*`)*)(?P<hint> ?did you mean `[^?]*`\?)?"
)
_IN_RESOLVED = re.compile(r"\s+at line \d+, column \d+\b.*", re.DOTALL)
_KEY_IS = re.compile(r"([a-z_]+(?:\.[a-z_0-9]+)+)(?: is |: )")


class KeyProblemError(ConfigError):
    """A key, or its value, is wrong. `key` is as it is written; the message goes without it."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}" if key else problem)
        self.key = key
        self.problem = problem


@dataclasses.dataclass(frozen=True)
class Base:
    """Drive, workloads and run; `point` changes keys of them."""

    drive: Drive
    workloads: Mapping[str, Source]
    """By name, in their order; the first is taken where none is named."""
    run: Mapping[str, Any]
    folder: Path = Path()
    """Where relative paths begin."""
    set_: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Keys of the drive that are set for all points."""
    is_listed: bool = False
    """Whether the file has a list of workloads, `[[workload]]`."""
    _resolved: dict[tuple[Any, ...], tuple[str, Drive, str]] = dataclasses.field(
        default_factory=dict, compare=False, repr=False
    )
    _sources: dict[Any, Source] = dataclasses.field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, document: Mapping[str, Any], folder: Path) -> Base:
        """Read `[drive]`, `[workload]` (or several `[[workload]]`) and `[run]` of a file.

        What is wrong raises a `KeyProblemError` whose key is the path in the file, as `run.warmup`.
        """
        drive, settings = _drive(_table(document, DRIVE), folder)
        try:
            run = checked_run(_table(document, RUN))
        except ConfigError as error:
            raise _keyed(RUN, error) from None
        written = document.get(WORKLOAD)
        return cls(drive, _workloads(written, folder), run, folder, settings, isinstance(written, list))

    def values(self, workload: str) -> dict[str, Any]:
        """Return the values of the keys that are set here."""
        source = self.workloads[workload]
        words = source.what if isinstance(source.what, Mapping) else source.words
        return {
            **self.set_,
            **{f"{RUN}.{key}": value for key, value in self.run.items()},
            **{f"{WORKLOAD}.{key}": value for key, value in words.items()},
            WORKLOAD: workload,
        }

    def place_of(self, workload: str, word: str = "") -> tuple[str | int, ...]:
        """Return where a file has a workload, or a word of it."""
        index = (list(self.workloads).index(workload),) if self.is_listed else ()
        return (WORKLOAD, *index, *([word] if word else []))

    def point(self, values: Mapping[str, Any], *, seed: int = 1) -> Point:
        """Make a point with keys changed: `{"nand.read": "45us", "workload.iodepth": 8}`.

        What is wrong with a key raises a `KeyProblemError`.
        """
        drive = self.drive
        settings = dict(self.set_)
        of_workload: dict[str, Any] = {}
        run = dict(self.run)
        name = next(iter(self.workloads))
        for key, value in values.items():
            first, _, rest = key.partition(".")
            if key == WORKLOAD:
                name = self._named(value)
            elif first == WORKLOAD:
                of_workload[rest] = value
            elif first == RUN:
                run[rest] = value
            elif first == DRIVE:
                drive = self._other_drive(key, rest, value)
            else:
                settings.pop(key, None)
                settings[key] = value
        # A table takes its place before keys in it do.
        settings = dict(sorted(settings.items(), key=lambda item: item[0].count(".")))
        source = self._source(name, of_workload)
        try:
            run = checked_run(run)
        except ConfigError as error:
            raise _keyed(RUN, error) from None
        drive = drive.changed(settings) if settings else drive
        config, carried, drive_name = self._resolve(drive)
        return Point(carried, config, source, run, seed, drive_name)

    def _named(self, name: object) -> str:
        if name not in self.workloads:
            raise KeyProblemError(
                WORKLOAD, f"no workload is named {name!r}{did_you_mean(str(name), self.workloads)}"
            )
        return str(name)

    def _other_drive(self, key: str, word: str, value: object) -> Drive:
        if word not in ("preset", "file") or not isinstance(value, str):
            raise KeyProblemError(key, "of a drive, its preset or its file can be named")
        try:
            return _named_drive({word: value}, self.folder)
        except ConfigError as error:
            raise KeyProblemError(key, str(error)) from None

    def _source(self, name: str, words: Mapping[str, Any]) -> Source:
        """Return a workload with words changed; equal ones are one object, which is hashed once."""
        if not words:
            return self.workloads[name]
        key = (name, repr(sorted(words.items())))
        if key not in self._sources:
            try:
                self._sources[key] = self.workloads[name].with_words(words)
            except ConfigError as error:
                raise _keyed("", error) from None
        return self._sources[key]

    def _resolve(self, drive: Drive) -> tuple[str, Drive, str]:
        """Resolve a drive; many points share one."""
        key = (repr(drive.source), drive.settings)
        if key not in self._resolved:
            try:
                point = Point.of(drive, next(iter(self.workloads.values())))
            except ConfigError as error:
                raise _of_setting(error) from None
            self._resolved[key] = (point.config, point.drive, point.drive_name)
        return self._resolved[key]


def _table(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    table = document.get(key, {})
    if not isinstance(table, Mapping):
        raise KeyProblemError(key, f"a table is wanted: [{key}]")
    return table


def _drive(table: Mapping[str, Any], folder: Path) -> tuple[Drive, dict[str, Any]]:
    for word in table:
        if word not in DRIVE_WORDS:
            raise KeyProblemError(
                f"{DRIVE}.{word}", f"is no word of a drive{did_you_mean(word, DRIVE_WORDS)}"
            )
    if "preset" in table and "file" in table:
        raise KeyProblemError(f"{DRIVE}.file", "there is a preset as well, and a drive is one of them")
    settings = table.get("set", {})
    if not isinstance(settings, Mapping):
        raise KeyProblemError(f"{DRIVE}.set", "a table is wanted: [drive.set]")
    source = {word: value for word, value in table.items() if word != "set"}
    for word, value in source.items():
        if not isinstance(value, str):
            raise KeyProblemError(f"{DRIVE}.{word}", f"a text is wanted, not {value!r}")
        try:
            return _named_drive(source, folder), flattened(settings)
        except ConfigError as error:
            raise KeyProblemError(f"{DRIVE}.{word}", str(error)) from None
    return Drive(), flattened(settings)


def _named_drive(source: Mapping[str, str], folder: Path) -> Drive:
    if "preset" in source:
        name = source["preset"]
        from ninescope.common.catalogue import presets

        names = [preset.name for preset in presets("drives")]
        if name not in names:
            raise ConfigError(f"no drive is named {name!r}{did_you_mean(name, names)}")
        return Drive.preset(name)
    from ninescope.common.files import existing

    return Drive.from_file(existing(str(folder / source["file"]), "drive file"))


def flattened(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return keys with dots: nested tables are written out.

    A table that names a policy is a value, and so is one whose key was written with dots: it takes the place
    of what was there.
    """
    found: dict[str, Any] = {}
    for key, value in table.items():
        path = f"{before}{key}"
        if isinstance(value, Mapping) and "policy" not in value and "." not in key and not _is_range(value):
            found |= flattened(value, f"{path}.")
        else:
            found[path] = value
    return found


def _is_range(value: Mapping[str, Any]) -> bool:
    return "from" in value and "to" in value


def _workloads(written: object, folder: Path) -> dict[str, Source]:
    if written is None:
        raise KeyProblemError(WORKLOAD, "nothing says what is run: a table [workload] is wanted")
    tables = written if isinstance(written, list) else [written]
    found: dict[str, Source] = {}
    for index, table in enumerate(tables):
        where = WORKLOAD if not isinstance(written, list) else f"{WORKLOAD}.{index}"
        if not isinstance(table, Mapping):
            raise KeyProblemError(where, "a table is wanted: [workload]")
        try:
            source = Source.of(table, folder)
        except ConfigError as error:
            raise _keyed(where, error) from None
        name = table.get("name", source.name)
        if not isinstance(name, str) or not name:
            raise KeyProblemError(f"{where}.name", f"a text is wanted, not {name!r}")
        if name in found:
            raise KeyProblemError(where, f"two workloads are called {name!r}: give one a name of its own")
        found[name] = source
    if not found:
        raise KeyProblemError(WORKLOAD, "nothing says what is run: a table [workload] is wanted")
    return found


def _keyed(before: str, error: ConfigError) -> KeyProblemError:
    """Name the key of a message that begins with it."""
    if isinstance(error, KeyProblemError):
        return error
    key, colon, problem = str(error).partition(": ")
    if not colon or not key.replace(".", "").replace("_", "").isalnum():
        return KeyProblemError(before, str(error))
    return KeyProblemError(f"{before}.{key}" if before else key, problem)


def _of_setting(error: ConfigError) -> KeyProblemError:
    """Take the key out of what the engine says of a `--set`."""
    if not str(error).startswith("--set ") or ": " not in str(error):
        return KeyProblemError("", plainly(str(error)))
    return KeyProblemError(*of_setting(str(error)))


def plainly(message: str) -> str:
    """Return what the engine says in one line: the nearest word first, and no long list of all of them."""
    words = " ".join(message.split())
    match = _EXPECTED.search(words)
    if match is None:
        return words
    hint = (match["hint"] or "").strip().replace("`", "'")
    known = re.findall(r"`([^`]*)`", match["known"])
    if "unknown name" in words and hint.removeprefix("did you mean '").removesuffix("'?") not in known:
        hint = ""  # a key, where a value is wanted
    said = f"; {hint}" if hint else f"; there is {listed(known)}"
    return f"{words[: match.start()]}{said}{words[match.end() :]}"


def of_setting(message: str) -> tuple[str, str]:
    """Return the key that the engine finds wrong in a `--set`, which nobody wrote, and what."""
    setting, _, problem = message.removeprefix("--set ").partition(": ")
    key = setting.partition("=")[0]
    return key, plainly(problem).removeprefix(f"{key}: ").removeprefix(f"{key} ")


def remarks_of(sources: Mapping[str, Sequence[Source]]) -> tuple[str, ...]:
    """Say which words say nothing in whatever becomes of a workload: an axis may give them a meaning."""
    found = []
    for name, of_points in sources.items():
        told = [source.remarks() for source in {id(source): source for source in of_points}.values()]
        everywhere = [remark for remark in (told[0] if told else ()) if all(remark in each for each in told)]
        found += [f"workload {name}: {remark}" if len(sources) > 1 else remark for remark in everywhere]
    return tuple(found)


def of_workload(message: str) -> tuple[str, str]:
    """Return the word of a workload that the engine finds wrong ("" where it names none), and what."""
    first, _, rest = message.partition(": ")
    if first == "job":
        word, _, problem = rest.partition(": ")
        return (word, plainly(problem)) if word.isidentifier() else ("", plainly(rest))
    if first.startswith(f"{WORKLOAD}."):
        return first.removeprefix(f"{WORKLOAD}."), plainly(rest)
    return "", plainly(message)


def without_line(message: str) -> str:
    """Leave out the line of a preset: whoever named the preset has it in no file."""
    return _IN_RESOLVED.sub("", message) if message.startswith("preset ") else message


def of_drive(message: str) -> tuple[str, str]:
    """Return the key that the engine finds wrong in a drive as a whole ("" where it names none), and what.

    It saw the resolved drive, as one text that nobody wrote: lines of that lead nowhere.
    """
    words = _IN_RESOLVED.sub("", message.removeprefix(f"{DRIVE}: "))
    match = _KEY_IS.match(words)
    return match[1] if match else "", plainly(words)
