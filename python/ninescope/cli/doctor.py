"""`ninescope doctor`: what of ninescope works on this machine, and what is missing for the rest."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from typing import Annotated, NamedTuple

import typer

from ninescope.cli.common import EXIT_FAILURE

_PYTHON = (3, 10)
"""The least version, as pyproject.toml has it."""
_PARTS = (
    ("numpy", "histograms and arrays"),
    ("polars", "tables, and Parquet read and written"),
    ("matplotlib", "figures"),
    ("jinja2", "reports"),
)
"""What is installed with it: the module, and what it is for."""
_EXTRAS = (
    ("optuna", "sweep", "searches"),
    ("fsspec", "sweep", "sweeps into object stores"),
    ("distributed", "sweep", "sweeps on a Dask cluster"),
    ("ray", "ray", "sweeps on a Ray cluster"),
    ("plotly", "notebook", "interactive figures in notebooks"),
    ("tqdm", "notebook", "progress bars in notebooks"),
)
"""What may be installed beside it: the module, its extra, and what it is for."""
_ROOM = 1 << 30
"""So much is free where temporary files lie, or traces that are copied find no room [B]."""


class Finding(NamedTuple):
    """One thing that was looked at."""

    is_well: bool
    is_needed: bool
    """Nothing works without it."""
    words: str


def doctor(
    missing: Annotated[bool, typer.Option("--missing", help="Say only what is missing.")] = False,
) -> None:
    """Say what works on this machine, and what is missing. Exits with 1 where nothing can be simulated."""
    findings = list(examined())
    for finding in findings:
        mark = "ok     " if finding.is_well else "MISSING" if finding.is_needed else "without"
        if not (missing and finding.is_well):
            print(f"{mark}  {finding.words}")
    if any(finding.is_needed and not finding.is_well for finding in findings):
        raise typer.Exit(EXIT_FAILURE)


def examined() -> Iterator[Finding]:
    """Look at one thing after the other, what everything needs first."""
    version = ".".join(map(str, sys.version_info[:3]))
    least = ".".join(map(str, _PYTHON))
    is_new = sys.version_info[:2] >= _PYTHON
    yield Finding(is_new, True, f"Python {version}{'' if is_new else f', and {least} is the least'}")
    yield _engine()
    yield _simulates()
    for module, what in _PARTS:
        yield _module(module, what, "ninescope")
    for module, extra, what in _EXTRAS:
        yield _module(module, what, f"ninescope[{extra}]")
    yield _fio()
    yield _room()
    yield Finding(True, False, f"{os.cpu_count()} processors, {platform.system()} on {platform.machine()}")


def _engine() -> Finding:
    try:
        from ninescope import _native
    except ImportError as error:
        return Finding(
            False, True, f"the engine: it is not built ({error}); `make set-up` builds it in a checkout"
        )
    return Finding(True, True, f"the engine, version {_native.version()}")


def _simulates() -> Finding:
    """Run something small, on which all else rests."""
    try:
        import ninescope

        drive, workload = ninescope.Drive.preset("tlc"), ninescope.Workload.job(rw="randread", requests=100)
        result = drive.run(workload, prefill="none")
    except Exception as error:
        return Finding(False, True, f"a simulation: {type(error).__name__}: {error}")
    return Finding(result.requests == 100, True, f"a simulation, digest {result.digest}")


def _module(module: str, what: str, package: str) -> Finding:
    if importlib.util.find_spec(module) is None:
        return Finding(False, False, f"{module}, for {what}: pip install '{package}'")
    try:
        version = importlib.metadata.version(module)
    except importlib.metadata.PackageNotFoundError:
        version = "of an unknown version"
    return Finding(True, False, f"{module} {version}, for {what}")


def _fio() -> Finding:
    """Look for fio, with which one's own drive is measured."""
    found, what = shutil.which("fio"), "to measure a drive of your own and calibrate one by it"
    if found is None:
        return Finding(
            False, False, f"fio, {what}: the system's package fio, or https://github.com/axboe/fio"
        )
    return Finding(True, False, f"fio in {found}, {what}")


def _room() -> Finding:
    folder = tempfile.gettempdir()
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
        status = os.statvfs(folder)
    except (OSError, AttributeError) as error:
        return Finding(False, False, f"temporary files in {folder}: {error}")
    free = status.f_bavail * status.f_frsize
    return Finding(free >= _ROOM, False, f"temporary files in {folder}: {free / 2**30:.1f} GiB are free")
