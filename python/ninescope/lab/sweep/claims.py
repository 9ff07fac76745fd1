"""Who runs what: so that two runners on one lake share the work instead of doing it twice.

Each runner writes one file with the points that it has under way, and renews it while it lives. It tells of a
point first and looks at others afterwards: of two that take one at the same moment at least one sees the
other and leaves it, in a folder. At a URL, where a look costs a trip, a claim is a courtesy: both may run a
point, and both come to the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
import uuid
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from ninescope.lab.sweep.store import FolderStore, Store

RENEW_SECONDS = 15.0
EXPIRE_SECONDS = 90.0
"""A claim that was not renewed for so long is nobody's: whoever had it was killed, or cannot be reached."""
_LEAVE_SECONDS = 0.05
REMOTE_SECONDS = 5.0
"""Where a look costs a trip over the network, what others have is looked at this often."""


class Claims:
    """What this runner has under way, told to others, and what others have."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._name = f"claims/{uuid.uuid4().hex}.json"
        self._interval = 0.0 if isinstance(store, FolderStore) else REMOTE_SECONDS
        self._mine: frozenset[str] = frozenset()
        self._written = 0.0
        self._is_written = False
        self._others: set[str] = set()
        self._looked = -EXPIRE_SECONDS

    def tell(self, points: Iterable[str]) -> None:
        """Tell others what is under way here."""
        mine = frozenset(points)
        now = time.monotonic()
        if mine == self._mine and now - self._written < RENEW_SECONDS:
            return
        if now - self._written < self._interval and mine < self._mine:
            return  # that some are done, others see from the points themselves
        claim = {"time": time.time(), "host": _host(), "pid": os.getpid(), "points": sorted(mine)}
        self._store.write(self._name, json.dumps(claim).encode() + b"\n", lasting=False)
        self._mine, self._written, self._is_written = mine, now, True

    def take(self, point: str) -> bool:
        """Claim a point; False where somebody else does, too, and it is left to whoever asks later."""
        before = self._mine
        self.tell({*before, point})
        if point not in self.others():
            return True
        self.tell(before)
        # Two that leave it to each other look again at different times.
        time.sleep(_LEAVE_SECONDS * int(uuid.UUID(self._name[7:39])) / (1 << 128))
        return False

    def others(self) -> set[str]:
        """Return what others have under way."""
        if time.monotonic() - self._looked >= self._interval:
            self._others = set()
            for name in self._store.names("claims"):
                if f"claims/{name}" != self._name:
                    self._others |= self._of(f"claims/{name}")
            self._looked = time.monotonic()
        return self._others

    def _of(self, name: str) -> set[str]:
        try:
            claim = json.loads(self._store.read(name))
            is_dead = claim["host"] == _host() and not _lives(claim["pid"])
            if is_dead or time.time() - claim["time"] > EXPIRE_SECONDS:
                self._store.remove(name)
                return set()
            return set(claim["points"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return set()

    def __enter__(self) -> Claims:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_written:
            # A store that is gone is reported by whoever needs it for more.
            with contextlib.suppress(Exception):
                self._store.remove(self._name)


def _host() -> str:
    """Return what tells this machine, and this space of process numbers, from others."""
    parts = [socket.gethostname()]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
    with contextlib.suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/pid"))
    return " ".join(parts)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
