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
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "tools/instructions.txt"
PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "debug/examples/one_job"
RUNS = ("randread", "randrw", "randwrite", "randread coded")
FEW, MANY = 1_000, 4_000
TOLERANCE = 0.03
"""How many more instructions are let pass, as a share."""


def told(*command: str) -> str:
    """Return what a program says."""
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)  # noqa: S603
    return done.stdout + done.stderr


def instructions(run: str, requests: int) -> int:
    """Count the instructions of a run."""
    pattern, *coded = run.split()
    with tempfile.TemporaryDirectory() as folder:
        out = f"--callgrind-out-file={folder}/counts"
        said = told("valgrind", "--tool=callgrind", out, str(PROGRAM), pattern, str(requests), *coded)
    [count] = re.findall(r"Collected : (\d+)", said)
    return int(count)


def counted() -> dict[str, int]:
    """Return instructions per request of each run."""
    return {run: (instructions(run, MANY) - instructions(run, FEW)) // (MANY - FEW) for run in RUNS}


def main() -> int:
    """Count and compare; 1 where a run takes more than is let pass."""
    if shutil.which("valgrind") is None:
        print("instructions: SKIPPED, valgrind is not here")
        return 0
    told("cargo", "build", "--locked", "--quiet", "-p", "ninescope", "--example", "one_job")
    incremental = "" if os.environ.get("CARGO_INCREMENTAL") == "0" else ", incremental"
    compiler, found = told("rustc", "--version").strip() + incremental, counted()
    if os.environ.get("KEEP"):
        lines = [compiler, *(f"{count:>6} {run}" for run, count in found.items())]
        KEPT.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return 0
    of, *lines = KEPT.read_text(encoding="utf-8").splitlines()
    kept = {run: int(count) for count, run in (line.split(maxsplit=1) for line in lines)}
    more = [run for run in RUNS if found[run] > kept[run] * (1 + TOLERANCE)]
    for run, count in found.items():
        print(f"{run:16} {count:>6} instructions per request, {count / kept[run] - 1:+.1%} of {kept[run]}")
    if of != compiler:
        print(f"instructions: not judged, those that are kept are of {of}")
        return 0
    if more:
        print(
            f"instructions: {', '.join(more)}: more than {TOLERANCE:.0%} above what is kept; "
            "`make instructions KEEP=1` keeps them, where they have a reason"
        )
    return 1 if more else 0


if __name__ == "__main__":
    sys.exit(main())
