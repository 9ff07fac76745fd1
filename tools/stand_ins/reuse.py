"""What the miss ratios of LRU caches say about how far apart the uses of an address are.

An LRU cache of c holds the c addresses used last. Within w requests fp(w) different addresses are used on
average, and fp grows by the share of the requests whose address was not used in the w requests before. So
what a cache of c misses comes more than w(c) requests after the use before it, where w(c) is the integral of
1 / missed(x) from 0 to c (Xiang, Ding, Luo, Bao: HOTL, ASPLOS 2013).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

# Steps of the integral between two sizes of a cache.
STEPS = 64


def distances(curve: list[tuple[float, float]], addresses: float) -> list[float]:
    """Return the requests between two uses up to which caches have hits.

    `curve` has pairs of a cache's size, as a part of the addresses, and the share of the requests that it
    misses. Between two sizes misses fall by a power of the size.
    """
    points = [
        (1.0, 1.0),
        *(
            (max(part * addresses, 1.0 + place), max(missed, 1e-6))
            for place, (part, missed) in enumerate(curve, 1)
        ),
    ]
    found, requests = [], 1.0
    for (low, above), (high, below) in pairwise(points):
        sizes = np.geomspace(low, max(high, low * 1.000001), STEPS)
        missed = np.geomspace(above, below, STEPS)
        requests += float(np.sum(np.diff(sizes) * 2 / (missed[1:] + missed[:-1])))
        found.append(requests)
    return found


def within(curve: list[tuple[float, float]], new: float) -> list[float]:
    """Return the shares of the further uses that come within these distances; `new` of all are first uses."""
    shares = [min(max((1 - missed) / max(1 - new, 1e-9), 0.001), 0.9995) for _, missed in curve]
    return [float(share) for share in np.maximum.accumulate(np.array(shares) + 1e-5 * np.arange(len(shares)))]
