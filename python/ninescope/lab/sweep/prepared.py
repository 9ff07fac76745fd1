"""Prepared drives that several points share: which points do, and where the drives are kept.

What a prepared drive depends on is the engine's business (`docs/snapshots.md`); here it is only guessed, so
that points wait for the one that prepares for them. A wrong guess costs time, and changes no result.
"""

from __future__ import annotations

import collections
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ninescope.lab.sweep.point import Point

OWN = ""
"""In the place of a folder: each worker keeps prepared drives for itself, for as long as it lives."""
_IN_SHAPE = ("[geometry]", "[ftl]", "[ftl.")
"""Tables of a resolved drive on which preparing depends."""
_NOT_OF_WRITES = (
    "iodepth",
    "requests",
    "duration",
    "rate_iops",
    "write_rate_iops",
    "rate_by_bytes",
    "rate",
    "write_rate",
    "rate_process",
    "rwmixread",
)
"""Words of a job that say when it writes and beside which reads: a drive is worn in by its writes alone."""


class PreparedDrives:
    """Prepared drives in a folder that workers see under the same path, or in one of each worker's own."""

    def __init__(self, folder: str | os.PathLike[str], points: Iterable[Point] | None = None) -> None:
        """Of `points`, only drives that at least two of them share are kept; without them, all are."""
        self.folder = os.fspath(folder)
        self._uses: collections.Counter[str] | None = None
        self._keys: dict[str, str | None] = {}
        if points is not None:
            self._uses = collections.Counter(key for point in points if (key := self._key(point)) is not None)

    @property
    def is_shared(self) -> bool:
        """Whether what one worker prepares is there for others."""
        return self.folder != OWN

    def key(self, point: Point) -> str | None:
        """Return what points of one prepared drive have in common; None where it is not worth keeping."""
        key = self._key(point)
        return key if key is None or self._uses is None or self._uses[key] > 1 else None

    def _key(self, point: Point) -> str | None:
        prefill = point.run.get("prefill", "footprint")
        of_drive = self._of_drive(point.config)
        if prefill == "none" or of_drive is None:
            return None
        words: list[object] = [of_drive, prefill, point.run.get("prefill_order"), point.seed]
        if prefill == "footprint" or point.drive.source is None:
            how_far = {key: value for key, value in point.run.items() if key not in ("prefill", "check")}
            words += [point.workload.identity(), how_far]
        elif prefill == "steady":
            words.append(_writes(point.workload.identity()))
        return hashlib.sha256(json.dumps(words, sort_keys=True, default=dict).encode()).hexdigest()

    def _of_drive(self, config: str) -> str | None:
        """Return what matters of a resolved drive; many points share one. None where it has no flash."""
        if config not in self._keys:
            kept, is_in_shape = [], False
            for line in config.splitlines():
                if line.startswith("["):
                    is_in_shape = line.startswith(_IN_SHAPE)
                if is_in_shape:
                    kept.append(line)
            self._keys[config] = "\n".join(kept) if "[geometry]" in kept else None
        return self._keys[config]


def _writes(workload: dict[str, Any]) -> dict[str, Any]:
    """Return what matters of a workload that wears a drive in."""
    told = {key: value for key, value in workload.items() if key != "words"}
    words, what = (_without(workload["words"]), workload["what"])
    return told | {"words": words, "what": _without(what) if isinstance(what, Mapping) else what}


def _without(words: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in words.items() if key not in _NOT_OF_WRITES}
