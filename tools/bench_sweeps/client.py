"""Runs one sweep and prints what it took as JSON: `client.py FILE LAKE N`, or a scheduler's address for N.

A process of its own, so that every way of running begins alike, and may stand on another host.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from pathlib import Path

from ninescope.lab import pool
from ninescope.lab.sweep import record
from ninescope.lab.sweep.lake import Lake
from ninescope.lab.sweep.sweep import Step, Sweep


def main() -> int:
    """Run."""
    file, lake, on = sys.argv[1:]
    sweep = Sweep.from_file(file)
    sweep.plan()
    steps: list[tuple[float, float]] = []

    def note(step: Step) -> None:
        if step.error:
            raise SystemExit(step.error)
        steps.append((time.perf_counter(), step.seconds))

    with pool.local(int(on)) if on.isdigit() else pool.dask(on) as workers:
        began = time.perf_counter()
        sweep.run(lake, executor=workers, on_step=note)
        wall = time.perf_counter() - began
        count = workers.workers
    opened = Lake.open(lake)
    table = record.as_bytes(record.table(opened, record.Record.load(opened)), "csv")
    print(
        json.dumps(
            {
                "workers": count,
                "points": len(steps),
                "wall_s": wall,
                "simulating_s": sum(seconds for _, seconds in steps),
                "ends_s": [at - began for at, _ in steps],
                "seconds": [seconds for _, seconds in steps],
                "table": hashlib.sha256(table).hexdigest(),
                "bytes": sum(path.stat().st_size for path in Path(lake, "points").iterdir()),
            }
        )
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
