"""Choose which victims paper 003's drive collects and how large the files are, by CRC_MOVED alone.

    python tools/choose_files_of_003.py

Of the slides' counters it reads the row CRC_MOVED of `experiments/003-flexecc/published.toml`, of the
simulations the same counter, and nothing else of either. The rule:

1. Victims. With each rule for victims, each workload of filebench is run with files of 160, 250, 400, 630 and
   1000 MiB, and R_75 and R_90, which have none. The four of filebench move as many pages in the slides: the
   level of a rule is what all four reach, or what the slides say where that is less. The rule is taken whose
   level, and whose counts of R_75 and R_90, are off by the least in all, as shares of the slides' level.
2. Files. Of each of the four a size is sought that comes nearest to that level: between the two sizes of the
   row on either side of it the size is interpolated, in steps of 10 MiB, run, and interpolated again with
   what it came to, three times. Of those that were run the nearest is taken, the smaller of two.

It prints each run, and at its end what to write down: some 80 full runs of a drive, half an hour on two
processors.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import importlib.util
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType

from ninescope import toml
from ninescope.papers.experiment import Settings

ROOT = Path(__file__).resolve().parents[1]
PAPER = ROOT / "experiments" / "003-flexecc"
SIZES = (160, 250, 400, 630, 1000)
"""Of all files together [MiB]: preferred numbers of ISO 3, five to the decade."""
STEP = 10
"""Sizes that are interpolated are multiples of it [MiB]."""
TIMES = 3

Run = tuple[str, str, int]
"""A workload, a rule for victims, and MiB of files; 0 where it has none."""


def published() -> dict[str, int]:
    """Read the one row."""
    tables = toml.loads((PAPER / "published.toml").read_text(encoding="utf-8"))["table"]
    table = next(table for table in tables if table["title"] == "Page transitions")
    row = next(row for row in table["rows"] if row[0] == "CRC_MOVED")
    return {
        name: int(cell.replace(",", "")) for name, cell in zip(table["columns"][1:], row[1:], strict=True)
    }


def experiment() -> ModuleType:
    """Load what simulates."""
    spec = importlib.util.spec_from_file_location("flexecc", PAPER / "experiment.py")
    if spec is None or spec.loader is None:
        sys.exit(f"{PAPER}: there is no experiment")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def moved(run: Run) -> int:
    """Return the clean pages that garbage collection moves, of a full run at the workload's own rate."""
    workload, victim, mebibytes = run
    paper = experiment()
    if mebibytes:
        vars(paper)["FILES_KIB"] = {**vars(paper)["FILES_KIB"], workload: mebibytes << 10}
    # Nothing is bad in these runs: what the scrubber would read says nothing, and takes most of their time.
    settings = Settings(quick=False, varied="scrub.period", factor=1e4)
    found = paper.Load(workload, settings).run(paper.FLEXECC, 1.0, {"victim": victim})
    return int(found["cache"]["edc_moved"])


def all_of(runs: Iterable[Run], known: dict[Run, int]) -> None:
    """Run those that are not known yet, one per processor."""
    wanted = [run for run in runs if run not in known]
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        for run, count in zip(wanted, pool.map(moved, wanted), strict=True):
            known[run] = count
            print(f"{run[1]:15} {run[0]:11} {run[2] or '':>5} {count:>10,}", flush=True)


def level(known: Mapping[Run, int], victim: str, names: Iterable[str], most: int) -> int:
    """Return what all of the four reach with this rule for victims."""
    return min(most, *(max(known[run] for run in known if run[:2] == (name, victim)) for name in names))


def main() -> None:
    """Choose."""
    paper, slides = experiment(), published()
    names: Mapping[str, str] = paper.WORKLOADS
    of_files = paper.FILEBENCH
    target = round(sum(slides[names[name]] for name in of_files) / len(of_files))
    known: dict[Run, int] = {}
    victims = list(paper.VICTIMS.values())
    all_of(
        (
            run
            for victim in victims
            for run in [
                *((name, victim, 0) for name in paper.PREFILLED),
                *((name, victim, size) for name in of_files for size in SIZES),
            ]
        ),
        known,
    )

    def off(victim: str) -> float:
        of_others = sum(abs(known[name, victim, 0] - slides[names[name]]) for name in paper.PREFILLED)
        return (abs(level(known, victim, of_files, target) - target) + of_others) / target

    for victim in victims:
        print(f"{victim}: off by {off(victim):.3f}")
    victim = min(victims, key=off)
    wanted = level(known, victim, of_files, target)
    print(f"ftl.victim = {victim}; all four reach {wanted:,}")
    for _ in range(TIMES):
        all_of([(name, victim, between(of(known, name, victim), wanted)) for name in of_files], known)
    for name in of_files:
        runs = of(known, name, victim)
        size = min(runs, key=lambda size: (abs(runs[size] - wanted), size))
        print(f"{name}: {size} MiB move {runs[size]:,}")


def of(known: Mapping[Run, int], name: str, victim: str) -> dict[int, int]:
    """Return what one workload moves with one rule, by size."""
    return {run[2]: count for run, count in sorted(known.items()) if run[:2] == (name, victim)}


def between(runs: Mapping[int, int], wanted: int) -> int:
    """Interpolate the size at which so many are moved; the one that was run where none is beyond it."""
    below = max((size for size, count in runs.items() if count <= wanted), default=min(runs))
    above = min((size for size, count in runs.items() if count > wanted and size > below), default=below)
    if above == below or runs[below] > wanted:
        return below
    share = (wanted - runs[below]) / (runs[above] - runs[below])
    return round((below + share * (above - below)) / STEP) * STEP


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    main()
