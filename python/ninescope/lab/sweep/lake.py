"""The results lake: one file per point, named by what it is, and whatever else sweeps and searches keep.

    lake.json               which format this is; a newer one is refused
    points/<id>.json.gz     what a point came to, and what it is; never changed once it is there
    quarantine/<id>.json    a point that cannot be run, with its error
    claims/<runner>.json    what a runner has under way, renewed while it lives
    sweeps/<name>.json      the points of a sweep, in order, with its axes
    dataset/*.parquet       the numbers of all points as a table, made from `points/`
    snapshots/*             prepared drives that points share; nothing here looks at them

Points belong to no sweep: two that share some share their results. A file that cannot be read is as good as
none, so that whatever is lost is run again. Nothing here knows axes or schedulers.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.common.files import LAKE_MARK, WRITTEN_ALONE
from ninescope.lab.sweep.store import FolderStore, Store, open_store

if TYPE_CHECKING:
    from ninescope.result import Histogram, Result

VERSION = 1
MARK = LAKE_MARK
"""The file that makes a folder a lake."""
SNAPSHOTS = "snapshots"
"""The folder of prepared drives, where workers see the lake. It holds no results and may be removed."""
_WORDS = "ninescope lake"
_POINT = ".json.gz"
_LEVEL = 6
"""Of gzip: a hundredth larger than with 9, in a third of the time."""

Sparse = dict[str, list[list[int]]]
"""Histograms by operation: upper bounds [ns] and counts of the buckets that hold something."""


@dataclasses.dataclass(frozen=True)
class Kept:
    """What a point came to."""

    id: str
    design: str
    """The point without the build: the same in the results of another one."""
    build: str
    what: Mapping[str, Any]
    """What was run: workload, how, seed, and the names of drive and workload."""
    document: Mapping[str, Any]
    """The result document, without wall times and paths."""
    metrics: Mapping[str, float | int | None]
    """The numbers of the result (`ninescope.result.metrics`)."""
    histograms: Sparse = dataclasses.field(default_factory=dict)
    blocks: Mapping[str, list[list[list[int]]]] = dataclasses.field(default_factory=dict)
    """Histograms of each block of the run, by operation."""
    seconds: float = 0.0
    """How long it took. No table shows it."""

    def result(self) -> Result:
        """Return the result, with its histograms."""
        from ninescope.result import Result

        return Result(
            dict(self.document),
            histograms={op: _columns(pairs) for op, pairs in self.histograms.items()},
            blocks={op: tuple(_columns(pairs) for pairs in each) for op, each in self.blocks.items()},
        )


@dataclasses.dataclass(frozen=True)
class Failure:
    """Why a point is in quarantine."""

    id: str
    error: str
    attempts: int
    build: str
    what: Mapping[str, Any]


def refuse_results(store: Store) -> None:
    """Refuse to make a lake where something else was written: whose a file is could not be told."""
    for name, what in WRITTEN_ALONE.items():
        if store.exists(name):
            raise ConfigError(
                f"cannot write to {store.label()}: it holds {what} ({name}), and a lake of results shares "
                "its folder with nothing else; name another one"
            )


class Lake:
    """A lake that is there. Everybody may read; runners write points, each its own file."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @classmethod
    def open(cls, location: str | os.PathLike[str], *, create: bool = False) -> Lake:
        """Open the lake at a path or a URL, or make one there."""
        store = open_store(location)
        try:
            mark = json.loads(store.read(MARK))
            version = mark["version"] if mark["format"] == _WORDS else None
        except FileNotFoundError:
            if not create:
                raise ConfigError(
                    f"{store.label()}: there is no lake of results here (no {MARK}); `sweep run` makes one"
                ) from None
            refuse_results(store)
            version = VERSION
            mark = {"format": _WORDS, "version": VERSION}
            store.write(MARK, json.dumps(mark).encode() + b"\n")
        except (ValueError, KeyError, TypeError):
            version = None
        if not isinstance(version, int):
            raise ConfigError(f"{store.label(MARK)}: is not of a lake of results")
        if version > VERSION:
            raise ConfigError(
                f"{store.label()}: is a lake of version {version}, and this ninescope knows {VERSION} at most"
            )
        return cls(store)

    # ---- points ---------------------------------------------------------------------------------------

    def ids(self) -> set[str]:
        """Return the names of all points that are kept, of every build."""
        return _stems(self.store.names("points"), _POINT)

    def stamps(self) -> dict[str, str]:
        """Return the names of all points, each with what changes when its file does."""
        return {
            name.removesuffix(_POINT): stamp
            for name, stamp in self.store.stamps("points").items()
            if name.endswith(_POINT)
        }

    def file_of(self, point: str) -> str:
        """Return what a person calls the file of a point."""
        return self.store.label(f"points/{point}{_POINT}")

    def has(self, point: str) -> bool:
        """Say whether a point is kept."""
        return self.store.exists(f"points/{point}{_POINT}")

    def get(self, point: str) -> Kept | None:
        """Return what is kept of a point; None where that is nothing, or cannot be read."""
        stored = self._read(f"points/{point}{_POINT}")
        try:
            kept = Kept(**{field.name: stored[field.name] for field in dataclasses.fields(Kept)})
        except (KeyError, TypeError):
            return None
        return kept if kept.id == point else None

    def put(self, kept: Kept) -> None:
        """Keep what a point came to."""
        # `dataclasses.asdict` would copy every histogram: most of what a point costs here.
        stored = {field.name: getattr(kept, field.name) for field in dataclasses.fields(kept)}
        content = gzip.compress(_line(stored), _LEVEL, mtime=0)
        self.store.write(f"points/{kept.id}{_POINT}", content)

    def result(self, point: str) -> Result:
        """Return the result of a point, by its name or the beginning of it."""
        found = [name for name in self.ids() if name.startswith(point)]
        kept = self.get(found[0]) if len(found) == 1 else None
        if kept is None:
            many = f"{len(found)} points begin so" if len(found) > 1 else "there is no such point"
            raise ConfigError(f"{self.store.label()}: {point}: {many}")
        return kept.result()

    # ---- quarantine -----------------------------------------------------------------------------------

    def quarantined(self) -> dict[str, Failure]:
        """Return all points that cannot be run."""
        found = {}
        for name in _stems(self.store.names("quarantine")):
            stored = self._read(f"quarantine/{name}.json")
            try:
                found[name] = Failure(**stored)
            except TypeError:
                continue
        return found

    def quarantine(self, failure: Failure) -> None:
        """Note that a point cannot be run."""
        self.store.write(f"quarantine/{failure.id}.json", _line(dataclasses.asdict(failure)))

    def release(self, point: str) -> None:
        """Take a point out of quarantine."""
        self.store.remove(f"quarantine/{point}.json")

    # ---- sweeps and searches --------------------------------------------------------------------------

    def records(self, kind: str) -> list[str]:
        """List what was recorded: the names of `sweeps`, or of `searches`."""
        return sorted(_stems(self.store.names(kind)))

    def record(self, kind: str, name: str) -> dict[str, Any] | None:
        """Return a record; None where there is none that can be read."""
        return self._read(f"{kind}/{name}.json") or None

    def chosen_record(self, kind: str, word: str, name: str | None) -> tuple[str, dict[str, Any]]:
        """Return a record and its name: the only one of its kind where none is named.

        `word` is what a person calls one of that kind: "sweep" for `sweeps`.
        """
        names = self.records(kind)
        if name is None and len(names) == 1:
            name = names[0]
        if name is None:
            several = f"there are several, name one with --{word}: {', '.join(names)}"
            raise ConfigError(f"{self.store.label()}: which {word}? {several if names else 'there is none'}")
        stored = self.record(kind, name)
        if stored is None and name in names:
            where = self.store.label(f"{kind}/{name}.json")
            raise ConfigError(f"{where}: is damaged; `{word} run` with the file of {name!r} writes it again")
        if stored is None:
            raise ConfigError(f"{self.store.label()}: no {word} is named {name!r}{did_you_mean(name, names)}")
        return name, stored

    def put_record(self, kind: str, name: str, record: Mapping[str, Any]) -> None:
        """Write a record; an earlier one of that name makes place."""
        self.store.write(f"{kind}/{name}.json", _line(record))

    def _read(self, name: str) -> dict[str, Any]:
        try:
            content = self.store.read(name)
            stored = json.loads(gzip.decompress(content) if name.endswith(".gz") else content)
        except (FileNotFoundError, ValueError, EOFError, gzip.BadGzipFile, zlib.error):
            return {}
        return stored if isinstance(stored, dict) else {}

    def sweep_up(self) -> None:
        """Take away what killed writers left behind."""
        if isinstance(self.store, FolderStore):
            self.store.sweep_up()


def _stems(names: list[str], ending: str = ".json") -> set[str]:
    return {name.removesuffix(ending) for name in names if name.endswith(ending)}


def _line(stored: Mapping[str, Any]) -> bytes:
    return json.dumps(stored, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def _columns(pairs: list[list[int]]) -> Histogram:
    import numpy as np

    bounds, counts = pairs or ([], [])
    return np.array(bounds, dtype=np.uint64), np.array(counts, dtype=np.uint64)
