"""What simulations of an experiment came to, one file each: a run that was interrupted goes on where it was.

A file is named by everything that its result depends on, so that a result of another build, another seed or
an experiment that was changed since is never taken for this one. It is written whole or not at all. What was
published is not among it.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import ninescope
from ninescope import _native
from ninescope.files import written_whole
from ninescope.papers.experiment import Point, Settings

_NO_MATTER = ("claims.toml", "published.toml", "baseline.toml", "findings.py", "README.md")
"""Files of an experiment that simulate nothing."""
WITHOUT_PART = (
    "cli",
    "compare",
    "report",
    "bootstrap.py",
    "figures.py",
    "pictures.py",
    "plots.py",
    "replications.py",
    "saved.py",
    "statistics.py",
    "student.py",
    "text.py",
    "papers/catalogue.py",
    "papers/claims.py",
    "papers/document.py",
    "papers/judge.py",
    "papers/machine.py",
    "papers/points.py",
    "papers/published.py",
    "papers/record.py",
    "papers/report.py",
    "papers/runner.py",
    "papers/sensitivity.py",
)
"""Parts that show, keep or start what others find: a change of them makes no result another one."""


class Kept(NamedTuple):
    """What a simulation came to, and how long it took [s]."""

    result: dict[str, Any]
    seconds: float


class PointStore:
    """A folder of results."""

    def __init__(self, folder: Path, experiment: Path, settings: Settings) -> None:
        self.folder = folder
        self._settings = dataclasses.asdict(settings)
        self._build = build()
        self._experiment = _digest(_files_of(experiment.parent), experiment.parent)

    def file(self, point: Point) -> Path:
        """Say where the result of a point is, or would be."""
        words = {
            "build": self._build,
            "experiment": self._experiment,
            "settings": self._settings,
            "point": point.name,
            "parameters": point.parameters,
        }
        text = json.dumps(words, sort_keys=True, default=dict)
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"

    def get(self, point: Point) -> Kept | None:
        """Return what is kept of a point. What cannot be read is simulated again."""
        try:
            stored = json.loads(self.file(point).read_text(encoding="utf-8"))
            return Kept(dict(stored["result"]), float(stored["seconds"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, point: Point, kept: Kept) -> None:
        """Keep what a point came to."""
        self.folder.mkdir(parents=True, exist_ok=True)
        document = {
            "point": point.name,
            "settings": self._settings,
            "build": self._build,
            "experiment": self._experiment,
            "seconds": round(kept.seconds, 3),
            "result": kept.result,
        }
        file = self.file(point)
        with written_whole(file) as temporary:
            temporary.write_text(json.dumps(document, allow_nan=False) + "\n", encoding="utf-8")


@functools.cache
def build() -> str:
    """Say which ninescope simulates, by the content of the package and its engine."""
    package = Path(ninescope.__file__).parent
    others = [package / name for name in WITHOUT_PART]
    sources = [
        path
        for path in sorted(package.rglob("*.py"))
        if "__pycache__" not in path.parts
        and not any(part == path or part in path.parents for part in others)
    ]
    return _digest([*sources, Path(_native.__file__ or "")], package)


def _files_of(folder: Path) -> list[Path]:
    def matters(path: Path) -> bool:
        hidden = any(part.startswith((".", "__pycache__")) for part in path.relative_to(folder).parts)
        return path.is_file() and not hidden and path.name not in _NO_MATTER

    return sorted(path for path in folder.rglob("*") if matters(path))


def _digest(files: list[Path], root: Path) -> str:
    digest = hashlib.sha256()
    for part in _parts(files, root):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()[:16]


def _parts(files: list[Path], root: Path) -> Iterator[bytes]:
    for path in files:
        name = path.relative_to(root) if path.is_relative_to(root) else Path(path.name)
        yield name.as_posix().encode()
        yield path.read_bytes()
