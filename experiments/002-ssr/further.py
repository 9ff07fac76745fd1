"""What is run beside the long runs: floods as long as the configured patience asks for, and causes.

The flood is what claim 2.8 is judged by. A full run has more seeds of shorter runs, which say how far a write
tail is from run to run, and the stand-in at an eighth less than its load; no verdict rests on those.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import experiment
from experiment import POLICIES, TRY_OUT, Scene

from ninescope.papers.experiment import Point, Settings

PATIENT = ("ssr-des", "ssr-static", "ssr-dynamic")
"""Policies that let reads go first for a limited time at each stop. The baseline never stops, and I-ES has no
limit: the flood of the scenes is theirs."""
PATIENCE_NS = 64_000_000
"""As the presets have it, and as it is varied."""
SEEDS = 8
"""Beside those of the verdicts."""
SEEDED = {
    "fio": (10_000_000, ("ssr-ies", "ssr-static", "ssr-dynamic")),
    "tpcc-stand-in": (11_000_000, ("ssr-static", "ssr-dynamic")),
}
"""A third of what verdicts have, and the policies whose write tails differ from run to run."""
LIGHTER = 0.875
"""Of the rate of the stand-in."""


def points(settings: Settings) -> list[Point]:
    """List the floods, and in a full run the rest."""
    if settings.brief or settings.length < TRY_OUT:
        return []
    floods = [
        Point(f"flood/{policy}", {"kind": "flood", "policy": policy}, weight=4 * stops(policy))
        for policy in PATIENT
    ]
    if settings.quick:
        return floods
    seeded = [
        Point(
            f"seeds/{workload}/{policy}/{seed}",
            {"kind": "seed", "workload": workload, "policy": policy, "seed": seed, "requests": requests},
            weight=40,
        )
        for workload, (requests, policies) in SEEDED.items()
        for policy in policies
        for seed in range(
            settings.seed + experiment.FULL_SEEDS, settings.seed + experiment.FULL_SEEDS + SEEDS
        )
    ]
    lighter = [
        Point(f"lighter/{policy}", {"kind": "lighter", "policy": policy}, weight=10) for policy in POLICIES
    ]
    return [*floods, *seeded, *lighter]


def simulate(point: Point, settings: Settings) -> dict[str, Any]:
    """Simulate one of them."""
    parameters = point.parameters
    policy = parameters["policy"]
    if parameters["kind"] == "flood":
        return flood(policy, settings)
    workload = parameters.get("workload", "tpcc-stand-in")
    words = experiment.job(workload, settings)
    drive = experiment.varied(policy, None, settings)
    if parameters["kind"] == "seed":
        return experiment.long_runs(drive, words, parameters["requests"], [parameters["seed"]], settings)
    words["rate_iops"] = round(words["rate_iops"] * LIGHTER)
    requests = experiment.QUICK_REQUESTS[workload]
    return experiment.long_runs(drive, words, requests, [settings.seed], settings)


def flood(policy: str, settings: Settings) -> dict[str, Any]:
    """Flood an erase for longer than all its stops may last."""
    patience = settings.varying("scheduler.suspend.parked_max", PATIENCE_NS)
    with tempfile.TemporaryDirectory(prefix="ninescope-") as folder:
        scene = Scene(policy, None, settings, Path(folder))
        lasts = scene.erase_ns + (stops(policy) + 2) * patience
        return scene.besieged(experiment.FLOOD_GAP_NS, int(lasts // experiment.FLOOD_GAP_NS))


def stops(policy: str) -> int:
    """Return how often an erase may stop: at the end of each loop, or so many times in each."""
    return {"ssr-des": 3, "ssr-static": 30, "ssr-dynamic": 90}[policy]
