"""Searches that take a moment: small drives, few requests."""

from __future__ import annotations

import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from conftest import ROOT
from ninescope.lab.search.search import Search
from ninescope.lab.sweep.lake import Kept

DRIVE = ROOT / "examples/drives/small.toml"
SMALL = f"""
name = "small"
minimise = ["cost_per_logical_gb", "read_mean"]
trials = 12
pruning = false

[final]
seeds = 2
candidates = 2

[drive]
file = "{DRIVE}"

[workload]
rw = "randrw"
bs = "4k"
size = "16m"
iodepth = 4

[run]
requests = 300

[parameters]
"ftl.over_provisioning" = [0.1, 0.15, 0.2]
"nand.read" = ["20us", "40us", "60us", "80us"]
"nand.program" = ["300us", "600us"]
"ftl.victim" = {{ choices = ["greedy", "fifo"], if = "ftl.over_provisioning >= 0.15" }}
"""
"""Forty designs: 8 of the smallest over-provisioning, 16 of each other."""


def search_file(folder: Path, text: str = SMALL, name: str = "small.toml") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path


def search_here(text: str, out: object, *, workers: int = 1, **options: object):
    """Search in threads of this process: any executor will do."""
    with ThreadPoolExecutor(workers) as executor:
        return Search.from_toml(text).run(out, executor=executor, **options)


def kept(metrics: dict, blocks: dict | None = None) -> Kept:
    """A result of which nothing but numbers and blocks is known."""
    return Kept("id", "design", "build", {}, {}, metrics, blocks=blocks or {})
