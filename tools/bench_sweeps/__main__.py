"""Measures what sweeps cost: how workers add up, what a point costs beside its simulation, and large sweeps.

Writes docs/scaling.md between its marks, and the numbers as JSON. `--brief` takes a minute, leaves the page
as it is, and says nothing that could be relied on.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import large
import page
import workers

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "scaling.md"


def main() -> int:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--brief", action="store_true", help="small, to see that it works")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "out" / "bench-sweeps", help="folder of the numbers"
    )
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-sweeps-") as folder:
        scale = workers.BRIEF if arguments.brief else workers.FULL
        numbers = {
            **workers.measure(Path(folder), scale),
            "large": large.measure(Path(folder), (100, 1_000) if arguments.brief else (1_000, 10_000)),
        }
    (arguments.out / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n")
    text = page.tables(numbers)
    (arguments.out / "tables.md").write_text(text)
    print(text)
    if not arguments.brief:
        page.put(PAGE, text)
    return 0 if numbers["same_tables"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
