"""Snapshots: prepared drives in files. Preparing one to be saved, and saying what a file is.

What is in a file, and which file is whose, is the engine's business.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ninescope import _native
from ninescope._native import ConfigError
from ninescope.common.files import existing
from ninescope.simulation.run import LED_IN, SLICE_MS, Described, Progress, progress_of, request
from ninescope.simulation.workload import Workload

MAGIC = b"\x899SCOPE\n"
"""What every snapshot begins with."""
SUFFIX = ".snapshot"
"""How the files of a folder of snapshots end."""
_FULL = ("full", "raw", *LED_IN)


class Preparation:
    """A drive that is being prepared by itself, without a run."""

    def __init__(self, request: dict[str, Any]) -> None:
        self._preparation = _native.Preparation(json.dumps(request))
        self.complete = False

    def slices(self) -> Iterator[Progress]:
        """Advance slice by slice to the end; between two slices the caller may stop."""
        while not self.complete:
            self.complete = self._preparation.run_slice(SLICE_MS)
            yield self.progress()

    def progress(self) -> Progress:
        """Say how far it is."""
        return progress_of(self._preparation.progress())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drive into a file, whole or not at all."""
        self._preparation.save(os.fspath(path))


def preparation(
    drive: Described, workload: Workload | None, *, prefill: str, prefill_order: str = "ascending", seed: int
) -> Preparation:
    """Begin to prepare a drive as a run of `workload` would."""
    if workload is None:
        if prefill not in _FULL:
            raise ConfigError(
                f"prefill {prefill!r} depends on the workload, and none is given ({', '.join(_FULL)} do not)"
            )
        workload = Workload.job(rw="read", requests=1)
    return Preparation(request(drive, workload, prefill=prefill, prefill_order=prefill_order, seed=seed))


def check_target(path: Path) -> None:
    """Refuse a file that cannot be written, before anything is prepared for it."""
    try:
        if path.is_dir():
            raise ConfigError(f"cannot write {path}: it is a directory")
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error


def is_snapshot(path: str | os.PathLike[str]) -> bool:
    """Say whether a file begins like a snapshot."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what the head of a snapshot says: the drive, how it was prepared, how large it is."""
    known: dict[str, Any] = json.loads(_native.describe_snapshot(existing(os.fspath(path), "snapshot")))
    return known


def check(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a snapshot to its end and return the same, and what the drive holds."""
    known: dict[str, Any] = json.loads(_native.check_snapshot(existing(os.fspath(path), "snapshot")))
    return known


def shelve(
    snapshot: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    time: str,
    celsius: float | None = None,
) -> None:
    """Age a drive: write a snapshot whose data is older, for `Drive.run(..., from_snapshot=out)`.

    `snapshot` is the file of a prepared drive (`Drive.save_snapshot`, or one of a folder `snapshots`), which
    lies there without power for `time`, as "90d", and is so many degrees `celsius` warm; without them it is
    as warm as at `nand.temperature.reference`. `out` may be the same file.
    """
    try:
        lay_on_shelf(snapshot, out, str(time), celsius)
    except ConfigError as error:
        told = str(error)
        for option, word in (("--for", "time"), ("--at", "celsius")):
            if told.startswith(f"{option} "):
                told = f"shelve: {word} {told.removeprefix(f'{option} ')}"
        raise ConfigError(told) from None


def lay_on_shelf(
    snapshot: str | os.PathLike[str], out: str | os.PathLike[str], time: str, celsius: float | None
) -> None:
    """Do the same; messages call the time `--for` and the temperature `--at`, as the command does."""
    check_target(Path(out))
    _native.shelve_snapshot(existing(os.fspath(snapshot), "snapshot"), os.fspath(out), time, celsius)


def celsius(text: str) -> float:
    """Read a temperature: `40C`, `40 C`, `40`."""
    try:
        return float(text.strip().removesuffix("C"))
    except ValueError:
        raise ConfigError(f"--at {text}: no temperature in degrees Celsius, as in 40C") from None


def snapshots_in(folder: Path) -> list[Path]:
    """Return the snapshots in a folder, by name."""
    return sorted(
        path for path in folder.iterdir() if path.suffix == SUFFIX and not path.name.startswith(".")
    )
