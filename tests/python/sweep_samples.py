"""Sweeps that take a moment: small drives, few requests."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from conftest import ROOT
from ninescope.lab.sweep.sweep import Sweep

DRIVE = ROOT / "examples/drives/small.toml"
SMALL = f"""
name = "small"
seeds = 2

[drive]
file = "{DRIVE}"

[workload]
rw = "randrw"
bs = "4k"
size = "16m"
iodepth = 4

[run]
requests = 300

[axes]
"ftl.over_provisioning" = [0.1, 0.2]
"nand.read" = ["20us", "60us"]
"""
"""Eight points."""
LONGER = SMALL.replace("requests = 300", "requests = 60_000").replace("seeds = 2", "seeds = 3")
"""Twelve points of a quarter of a second or so."""


def sweep_file(folder: Path, text: str = SMALL, name: str = "small.toml") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path


def run_here(sweep: Sweep, out: object, *, workers: int = 1, **options: object):
    """Run a sweep in threads of this process: any executor will do."""
    with ThreadPoolExecutor(workers) as executor:
        return sweep.run(out, executor=executor, **options)


def csv(out: object, name: str | None = None, columns: Sequence[str] = ()) -> bytes:
    """Return the table of a lake, byte for byte."""
    from ninescope.lab.sweep import record
    from ninescope.lab.sweep.lake import Lake

    lake = Lake.open(out)
    frame = record.table(lake, record.Record.load(lake, name))
    return record.as_bytes(frame.select(columns) if columns else frame, "csv")


def in_form(out: Path, form: str) -> bytes:
    """Return the table of a lake in another form."""
    from ninescope.lab.sweep import record
    from ninescope.lab.sweep.lake import Lake

    lake = Lake.open(out)
    return record.as_bytes(record.table(lake, record.Record.load(lake)), form)
