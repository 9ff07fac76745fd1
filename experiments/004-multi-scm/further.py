"""What is run beside what claims are judged by: what the slides leave open, decided otherwise.

Whole volumes, the same requests as in the verdicts: in its first million a volume touches less, and M-SCM may
gain on the whole what it loses there. Only with a full run, and no verdict rests on it.
"""

from __future__ import annotations

from typing import Any

from experiment import (
    BUSES,
    CASE_SHARE,
    FULL_REQUESTS,
    LADDER,
    VARIANTS,
    alone_of,
    group,
    multi,
    simulate,
    variant_runs,
)

from ninescope.papers.experiment import Point, Settings

__all__ = ["points", "simulate"]

AS_IT_IS = "as it is"
"""It is among what claims are judged by."""
SLOWER_BUS = "0.5"
SLOWER = f"{SLOWER_BUS} us a sector on the buses"
BUS_SHARES = {"prxy_0": 8, "hm_0": 10, "prxy_1": 5}
"""Shares of M-SCM whose gains the slides give, and the slower end of what the bus was inferred to be."""
ON_WHOLE = {
    "prxy_1": tuple(name for name in VARIANTS if name != AS_IT_IS),
    "hm_0": tuple(name for name in VARIANTS if name != AS_IT_IS),
    "prxy_0": (
        "queue depth 8",
        "copies in the foreground",
        "no fetch, and dirty sectors alone go down",
    ),
}
"""Volumes that gain, and what is decided otherwise of each: of proj_3 M-SCM is not needed, and of prxy_0,
which is the longest, what moves it most. S alone, and 5 % of M with both levelled, say the gain."""


def points(settings: Settings) -> list[Point]:
    """List what is decided otherwise of each volume; a quick run has nothing of it."""
    if settings.quick or settings.brief:
        return []
    return [
        group(f"{volume}/otherwise/{name}", volume, FULL_REQUESTS[volume], runs)
        for volume in ON_WHOLE
        for name, runs in runs_of(volume).items()
    ]


def runs_of(volume: str) -> dict[str, list[dict[str, Any]]]:
    """Say what is run of a volume, by what is decided otherwise."""
    found = {
        variant: [run for run in variant_runs(variant) if run.get("case", "case-1") == "case-1"]
        for variant in ON_WHOLE[volume]
    }
    rate = BUSES[SLOWER_BUS]
    slower = {"scm.channel_rate": rate, "storage_scm.channel_rate": rate}
    found[SLOWER] = [alone_of("s", LADDER, f"levelled/{SLOWER_BUS}", changes=slower)]
    for share in dict.fromkeys((BUS_SHARES[volume], CASE_SHARE)):
        found[SLOWER].append(multi(share, "case-1", SLOWER_BUS, changes=slower))
    return found
