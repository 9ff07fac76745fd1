"""What is run beside what claims are judged by: the best remedy for other errors than those of claim 0.11.

Which raw bit error rate of SCM a remedy is for, and how many errors may be left, the paper does not say. Here
both are others, with the requests of a quick run. Only with a full run, and no verdict rests on it.
"""

from __future__ import annotations

from typing import Any

import experiment
from experiment import QUICK_CHOICES, QUICK_CODE_REQUESTS, STRONGEST, UBER, VOLUMES, WANTED_RBERS

from ninescope.papers import stand_ins
from ninescope.papers.experiment import Inferred, Point, Settings
from ninescope.simulation.codes import joint_choices

INFERRED = (
    Inferred(
        "raw bit error rate that a remedy is for",
        f"{WANTED_RBERS[-1]:g}",
        f"the most that the published {STRONGEST['scm']} bits bear, to two digits; not said in the paper",
    ),
    Inferred(
        "uncorrectable bit errors that are allowed", f"{UBER:g} a bit", "customary; not said in the paper"
    ),
)
"""They decide which runs are compared, and no run: the points below are what varies them."""
OTHERS = (
    (UBER, 1.2e-3),
    (UBER, 1.5e-3),
    (UBER, 1.7e-3),
    (UBER, WANTED_RBERS[-1]),
    (1e-13, 2.2e-3),
    (1e-17, 1.6e-3),
)
"""Uncorrectable and raw bit error rates; the last of each of the former is near the most that 35 bear."""


def points(settings: Settings) -> list[Point]:
    """List each volume once; a quick run has nothing of it."""
    if settings.quick or settings.brief:
        return []
    return [Point(f"{volume}/remedies", {"volume": volume}, weight=2) for volume in VOLUMES]


def simulate(point: Point, settings: Settings) -> dict[str, Any]:
    """Run all pairs of cycles and bits that are tried."""
    volume = point.parameters["volume"]
    requests = settings.requests(QUICK_CODE_REQUESTS[volume])
    stand_in = stand_ins.take(volume, requests, settings)
    nand = STRONGEST["nand"]
    wanted = dict.fromkeys(pair for uber, rber in OTHERS for pair in pairs(uber, rber))
    return {
        "runs": {
            experiment.name_of(bits, nand, cycles): experiment.measure_codes(
                stand_in, (bits, nand, cycles), {}, settings
            )
            for cycles, bits in wanted
        }
    }


def pairs(uber: float, rber: float) -> list[tuple[int, int]]:
    """List verify cycles, and the fewest bits that suffice after them."""
    user_data = experiment.BASE["scm"]["ecc"]["user_data"]
    found = joint_choices(user_data, rber=rber, uber=uber, verify_cycles=max(QUICK_CHOICES))
    return [
        (choice.verify_cycles, choice.code.correctable)
        for choice in found
        if choice.verify_cycles in QUICK_CHOICES
        and choice.code
        and choice.code.correctable <= STRONGEST["scm"]
    ]
