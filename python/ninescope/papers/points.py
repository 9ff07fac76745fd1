"""What simulations of an experiment came to, one file each: a run that was interrupted goes on where it was.

A file is named by everything that its result depends on, so that a result of another build, another seed or
an experiment that was changed since is never taken for this one. It is written whole or not at all. What was
published is not among it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

from ninescope.common.files import written_whole
from ninescope.lab.build import build, digest
from ninescope.papers.experiment import Point, Settings

FURTHER = "further.py"
"""What is simulated beside: a change of it makes no result of `experiment.py` another one."""
_NO_MATTER = (
    "baseline.toml",
    "claims.toml",
    "findings.py",
    "marks.toml",
    "published.toml",
    "README.md",
    "values.toml",
)
"""Files of an experiment that simulate nothing."""


class Kept(NamedTuple):
    """What a simulation came to, and how long it took [s]."""

    result: dict[str, Any]
    seconds: float


class Identity(NamedTuple):
    """What simulates: results of another are never taken for those of this one."""

    build: str
    experiment: str
    """The digest of the files that its simulations may read."""

    @classmethod
    def of(cls, source: Path) -> Identity:
        """Say what would simulate the points of an `experiment.py`, or of the `further.py` beside it."""
        files = [path for path in _files_of(source.parent) if path.name != FURTHER or source.name == FURTHER]
        return cls(build(), digest(files, source.parent))


class PointStore:
    """A folder of results."""

    def __init__(self, folder: Path, identity: Identity, settings: Settings) -> None:
        self.folder = folder
        self._settings = settings.as_words()
        self._identity = identity

    def file(self, point: Point) -> Path:
        """Say where the result of a point is, or would be."""
        words = {
            **self._identity._asdict(),
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
            **self._identity._asdict(),
            "seconds": round(kept.seconds, 3),
            "result": kept.result,
        }
        file = self.file(point)
        with written_whole(file) as temporary:
            temporary.write_text(json.dumps(document, allow_nan=False) + "\n", encoding="utf-8")


def _files_of(folder: Path) -> list[Path]:
    def matters(path: Path) -> bool:
        hidden = any(part.startswith((".", "__pycache__")) for part in path.relative_to(folder).parts)
        return path.is_file() and not hidden and path.name not in _NO_MATTER

    return sorted(path for path in folder.rglob("*") if matters(path))
