"""Builds the stand-ins in presets/profiles from what is published, and says how near they come."""

from __future__ import annotations

import argparse
from pathlib import Path

import table
from problem import Impossible
from solve import ROOT, solve

PROFILES = ROOT / "presets" / "profiles"


def source_lines(volume: table.Volume, sources: dict[str, str]) -> list[str]:
    """What a profile says of its sources."""
    scale = f"scaled 1/{volume.scale} in requests, pages, span and duration" if volume.scale > 1 else "not scaled"
    used = sorted({each.source for each in volume.constraints}) + (["prototype"] if volume.shape else [])
    return [
        f"Stand-in for MSR Cambridge volume {volume.name}, built from published statistics; no request of it was seen.",
        f"It is {scale}; tools/stand_ins/volumes.toml has each constraint, docs/stand-ins.md how near it is met.",
        *(f"{name}: {sources[name]}" for name in used),
    ]


def main() -> int:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="volumes; all without any")
    parser.add_argument("--rounds", type=int, default=10, help="corrections at most")
    parser.add_argument("--out", type=Path, default=PROFILES, help="folder of the profiles")
    arguments = parser.parse_args()
    sources, volumes = table.load()
    failed = 0
    arguments.out.mkdir(parents=True, exist_ok=True)
    for volume in volumes:
        if arguments.names and volume.name not in arguments.names:
            continue
        try:
            solve(volume, source_lines(volume, sources), arguments.out, arguments.rounds)
        except Impossible as problem:
            print(f"{volume.name}: impossible: {problem}")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
