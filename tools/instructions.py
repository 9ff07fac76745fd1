"""Instructions per request of small runs against those that are kept: `make instructions`; KEEP=1 keeps them.

Of a run of many requests less one of few, counted by valgrind in the program that the tests are compiled
with: CI compiles nothing for it. Counts are those of one compiler and of CI's build, which is not incremental
(CARGO_INCREMENTAL=0): of others they are shown and not judged.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "tools/instructions.txt"
PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "debug/examples/one_job"
RUNS = (
    "randread",
    "randrw",
    "randwrite",
    "randread coded",
    "randread mapped",
    "randread roomy",
    "randwrite mapped",
    "randwrite roomy",
)
FEW, MANY = 1_000, 4_000
COLLECTED = 4_000
"""Requests by which a drive in a steady state has collected: so many more are run of writes."""
TOLERANCE = 0.03
"""How many more instructions are let pass, as a share."""
MAPPED = 0.1
"""How many more a command may take that finds its entry of a map in flash in memory (`mapped`).

A share of what one takes on a drive whose map is in memory and that moves as much (`roomy`).
"""


class RefusedError(Exception):
    """What is there cannot be used; the message says what."""


def told(*command: str) -> str:
    """Return what a program says."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)  # noqa: S603
    said = done.stdout + done.stderr
    if done.returncode:
        raise RefusedError(
            f"`{' '.join(command)}` failed: {(said.strip().splitlines() or ['without a word'])[-1]}"
        )
    return said


def collected(said: str) -> int:
    """Return the number that callgrind says that it collected."""
    counts = re.findall(r"Collected : (\d+)", said)
    if len(counts) != 1:
        raise RefusedError(f"callgrind told {len(counts)} counts instead of one")
    return int(counts[0])


def instructions(run: str, requests: int) -> int:
    """Count the instructions of a run."""
    pattern, *coded = run.split()
    with tempfile.TemporaryDirectory() as folder:
        out = f"--callgrind-out-file={folder}/counts"
        return collected(
            told("valgrind", "--tool=callgrind", out, str(PROGRAM), pattern, str(requests), *coded)
        )


def counted() -> dict[str, int]:
    """Return instructions per request of each run."""

    def of(run: str) -> int:
        more = 0 if run.startswith("randread") else COLLECTED
        return (instructions(run, MANY + more) - instructions(run, FEW + more)) // (MANY - FEW)

    # Counts do not mind what runs beside them.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(RUNS, pool.map(of, RUNS), strict=True))


def written(compiler: str, found: Mapping[str, int]) -> str:
    """Return what is kept of counts."""
    return "\n".join([compiler, *(f"{count:>6} {run}" for run, count in found.items())]) + "\n"


def read(text: str) -> tuple[str, dict[str, int]]:
    """Return the compiler and the counts of what was kept."""
    compiler, *lines = text.splitlines() or [""]
    kept = {}
    for number, line in enumerate(lines, 2):
        count, _, run = line.strip().partition(" ")
        if not (count.isdecimal() and int(count) and run in RUNS) or run in kept:
            raise RefusedError(
                f"{KEPT.name}, line {number}: {line.strip()!r} is no count of one of {', '.join(RUNS)}"
            )
        kept[run] = int(count)
    missing = [run for run in RUNS if run not in kept]
    if missing:
        raise RefusedError(
            f"{KEPT.name} has no count of {', '.join(missing)} (`make instructions KEEP=1` keeps them)"
        )
    return compiler, kept


def judged(found: Mapping[str, int], kept: Mapping[str, int]) -> list[str]:
    """Print what was counted beside what is kept; return the runs that take more than is let pass."""
    for run, count in found.items():
        print(f"{run:16} {count:>6} instructions per request, {count / kept[run] - 1:+.1%} of {kept[run]}")
    return [run for run in RUNS if found[run] > kept[run] * (1 + TOLERANCE)]


def slow_hits(found: Mapping[str, int]) -> list[str]:
    """Print what a hit in a cached map takes; return the patterns of which it is more than is let pass."""
    more = {
        pattern: found[f"{pattern} mapped"] / found[f"{pattern} roomy"] - 1
        for pattern in ("randread", "randwrite")
    }
    for pattern, share in more.items():
        print(f"{pattern:16} {share:+.1%} with a map in flash whose entries are in memory")
    return [pattern for pattern, share in more.items() if share > MAPPED]


def main() -> int:
    """Count and compare; 1 where a run takes more than is let pass."""
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    if sys.argv[1:]:
        raise RefusedError(
            f"takes no arguments, and was given {' '.join(sys.argv[1:])} (KEEP=1 keeps what is counted)"
        )
    if shutil.which("valgrind") is None:
        print("instructions: SKIPPED, valgrind is not here")
        return 0
    keep = os.environ.get("KEEP", "0") not in ("", "0")
    if not (keep or KEPT.exists()):
        raise RefusedError(f"{KEPT.name} is not there (`make instructions KEEP=1` writes it)")
    of, kept = ("", {}) if keep else read(KEPT.read_text(encoding="utf-8"))
    # As `cargo test --workspace` built it: of fewer crates the features are others, and all is built anew.
    told("cargo", "build", "--locked", "--quiet", "--workspace", "--example", "one_job")
    incremental = "" if os.environ.get("CARGO_INCREMENTAL") == "0" else ", incremental"
    compiler, found = told("rustc", "--version").strip() + incremental, counted()
    if keep:
        KEPT.write_text(written(compiler, found), encoding="utf-8")
        return 0
    more = judged(found, kept)
    slow = slow_hits(found)
    if of != compiler:
        print(f"instructions: not judged, those that are kept are of {of}")
        return 0
    if more:
        print(
            f"instructions: {', '.join(more)}: more than {TOLERANCE:.0%} above what is kept; "
            "`make instructions KEEP=1` keeps them, where they have a reason"
        )
    if slow:
        print(
            f"instructions: {', '.join(slow)}: a hit in a cached map takes more than {MAPPED:.0%} "
            "above a map in memory"
        )
    return 1 if more or slow else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RefusedError as refused:
        print(f"instructions: {refused}", file=sys.stderr)
        sys.exit(2)
