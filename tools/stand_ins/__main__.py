"""Builds the stand-ins in presets/profiles from what is published, and says how near they come.

Without options every profile is built anew; with `--check` they are drawn and measured as they are. Both
compare with the published numbers and write docs/stand-ins.md if all volumes took part. The exit code is 1
if a constraint is missed by more than its tolerance, or cannot be met at all.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import report
import table
from problem import ImpossibleError
from solve import ROOT, ROUNDS, Measured, measure, seen, solve

PROFILES = ROOT / "presets" / "profiles"
PAGE = ROOT / "docs" / "stand-ins.md"


def source_lines(volume: table.Volume, sources: dict[str, str]) -> list[str]:
    """What a profile says of its sources."""
    scale = (
        f"scaled 1/{volume.scale} in requests, pages, span and duration" if volume.scale > 1 else "not scaled"
    )
    used = sorted({each.source for each in volume.constraints}) + (["prototype"] if volume.shape else [])
    return [
        f"stand-in for volume {volume.name} of MSR Cambridge, from published statistics",
        f"{scale}; docs/stand-ins.md says how near each constraint is met, and what is inferred",
        *(sources[name] for name in used),
    ]


def missed(volume: table.Volume, measured: Measured) -> list[str]:
    """The constraints that are not met, and by how much."""
    found = []
    for each in volume.constraints:
        by = seen(volume, measured, each.of, each.key) / each.value - 1
        if abs(by) > each.tolerance:
            found.append(f"{volume.name}: {each.key} of {each.of} is missed by {by:+.1%}")
    return found


def main() -> int:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="volumes; all without any")
    parser.add_argument("--check", action="store_true", help="measure the profiles as they are")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="corrections at most")
    parser.add_argument("--out", type=Path, default=PROFILES, help="folder of the profiles")
    arguments = parser.parse_args()
    sources, volumes = table.load()
    chosen = [volume for volume in volumes if not arguments.names or volume.name in arguments.names]
    arguments.out.mkdir(parents=True, exist_ok=True)
    problems: list[str] = []
    results: list[tuple[table.Volume, Measured]] = []
    for volume in chosen:
        try:
            if arguments.check:
                measured = measure(arguments.out / f"{volume.name}.toml", volume.lengths)
            else:
                measured = solve(volume, source_lines(volume, sources), arguments.out, arguments.rounds)
        except ImpossibleError as problem:
            problems.append(f"{volume.name}: impossible: {problem}")
            continue
        results.append((volume, measured))
        problems += missed(volume, measured)
    if len(results) == len(volumes):
        report.write(PAGE, sources, results)
    for line in problems:
        print(line)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
