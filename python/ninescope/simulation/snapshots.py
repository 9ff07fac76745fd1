"""Snapshots: prepared drives in files. Preparing one to be saved, and saying what a file is.

What is in a file, and which file is whose, is the engine's business.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ninescope import _native
from ninescope._native import ConfigError
from ninescope.common.files import existing
from ninescope.simulation.run import SLICE_MS, Progress, progress_of

if TYPE_CHECKING:
    from ninescope.simulation.drive import Drive
    from ninescope.simulation.workload import Workload

MAGIC = b"\x899SCOPE\n"
"""What every snapshot begins with."""
SUFFIX = ".snapshot"
"""How the files of a folder of snapshots end."""
_FULL = ("full", "raw", "steady", "steady-uniform")


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
    drive: Drive, workload: Workload | None, *, prefill: str, prefill_order: str = "ascending", seed: int
) -> Preparation:
    """Begin to prepare a drive as a run of `workload` would."""
    from ninescope.simulation.run import request
    from ninescope.simulation.workload import Workload

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


def snapshots_in(folder: Path) -> list[Path]:
    """Return the snapshots in a folder, by name."""
    return sorted(
        path for path in folder.iterdir() if path.suffix == SUFFIX and not path.name.startswith(".")
    )


def in_words(known: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Tell what is known of a snapshot, in pairs of a name and a text."""
    from ninescope.text.result import binary, quantity

    drive = known["drive"]
    ftl, recipe = drive["ftl"], drive["recipe"]
    geometry = ftl["geometry"]
    shape = ("channels", "packages_per_channel", "dies_per_package", "planes_per_die", "blocks_per_plane")
    yield "shape", known["shape"]
    yield "drive", f"{binary(known['logical_bytes'])} for the host, {binary(known['raw_bytes'])} of flash"
    yield (
        "geometry",
        f"{' x '.join(str(geometry[key]) for key in shape)} blocks "
        f"(channel, package, die, plane, block) of {geometry['pages_per_block']} pages of "
        f"{binary(geometry['page_size'])}",
    )
    yield "unit", binary(geometry["mapping_unit"])
    policies = {
        key: value["policy"] for key, value in ftl.items() if isinstance(value, dict) and "policy" in value
    }
    yield "policies", ", ".join(f"{key} {name}" for key, name in policies.items())
    yield "seed", str(ftl["seed"])
    yield "prefill", f"{drive['prefill']}: {_preparing(known, recipe)}"
    if "wear" in known:
        wear = known["wear"]
        yield "holds", f"{known['mapped_units']:,} of {ftl['logical_units']:,} units"
        yield (
            "wear",
            f"{wear['erases_mean']:.2f} erases per block ({wear['erases_min']} to {wear['erases_max']})",
        )
    yield (
        "file",
        f"{quantity(known['file_bytes'], 'B')}, format {drive['format']}, ninescope {drive['ninescope']}",
    )


def _preparing(known: Mapping[str, Any], recipe: Mapping[str, Any]) -> str:
    """Tell how a drive was prepared."""
    at_random = recipe.get("fill_order") == "random"
    told = f"{recipe['fill_units']:,} units written{' in random order' if at_random else ''}"
    overwritten = known["prepared_units"] - recipe["fill_units"]
    if overwritten <= 0:
        return told
    whose = "at random" if recipe.get("by_workload") is None else "by a workload"
    told = f"{told}, {overwritten:,} overwritten {whose}"
    steady = known["steady_state"]
    if steady is None:
        return told
    settled = "to steady state" if steady["converged"] else "not to steady state"
    return f"{told}, {settled} (WAF {steady['waf']:.2f})"
