"""When requests come: bursts of requests, and the published durations."""

from __future__ import annotations

from typing import Any

import numpy as np

# Stretches of an even pace, and of one that changes.
EVEN_STRETCHES = 8
STRETCHES = 64
POINTS = 9
# Nothing is published on how bursty the volumes are. Gaps are of three kinds: within a burst, between the
# requests of one action, and between actions; in parts of the mean gap. Which follows which is chosen such
# that three gaps in four are of the first two kinds and bursts have some four requests.
KINDS = ((0.0005, 0.02), (0.02, 0.5), (0.5, 20.0))
FOLLOWS = ((0.75, 0.10, 0.15), (0.35, 0.40, 0.25), (0.45, 0.25, 0.30))
WEIGHT = 1_000_000


def arrivals(requests: int, anchors: list[tuple[float, float]]) -> dict[str, Any]:
    """The law of the arrivals; anchors are (request, seconds), from the first to the last."""
    stretches_there = EVEN_STRETCHES if len(anchors) == 2 else STRETCHES
    edges = np.interp(
        np.linspace(0, requests - 1, stretches_there + 1),
        [at for at, _ in anchors],
        [time for _, time in anchors],
    )
    nanoseconds = [round(edge * 1e3) * 1_000_000 for edge in edges]
    mean_gap = nanoseconds[-1] / (requests - 1)
    share = np.linalg.matrix_power(np.array(FOLLOWS), 64)[0]
    gaps: list[dict[str, Any]] = []
    for kind, (low, high) in enumerate(KINDS):
        lengths = np.geomspace(low * mean_gap, high * mean_gap, POINTS)
        gaps.append(
            {
                "lengths": [round(float(length)) for length in lengths],
                "mean": round((high - low) * mean_gap / float(np.log(high / low)), 1),
                "next": [[place, round(WEIGHT * share[kind] * p)] for place, p in enumerate(FOLLOWS[kind])],
            }
        )
    stretches = [end - begin for begin, end in zip(nanoseconds, nanoseconds[1:], strict=False)]
    return {"stretches": stretches, "gaps": gaps}
