"""What MQSim has touched of a drive before its run: sectors of pages that are in use, a map in memory.

With `Enabled_Preconditioning` MQSim draws requests as those of a flow until so much is touched as its
`Initial_Occupancy_Percentage` says. A page that is touched is in its place from then on, and the first sector
of each access to a page is in use: writes of other sectors are merged with it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

_WIDER = 1.1
"""Addresses have so many times the pages that are to be touched, or are drawn from the whole part."""
_MOST = 0.9
"""Where they have not even then, so much of them is touched."""
_HOT_IS_UNIFORM = 0.3
"""From this share on, hot addresses are drawn as all others."""


@dataclasses.dataclass(frozen=True)
class Touched:
    """How requests of a flow touch a drive before its run."""

    sectors: int
    """Sectors of a request, or of their mean."""
    unit: int
    """Requests begin at multiples of so many sectors."""
    occupancy: float
    """The share of the flow's pages that is touched in the end."""
    working_set: float
    """The share of them that its addresses have."""
    streams: bool
    """Its requests follow one another."""
    hot: float
    """The share of its addresses that is hot; 0: none."""

    def grain(self, page: int) -> int:
        """Return at multiples of how many sectors its requests begin in a page."""
        return math.gcd(self._step() if self.streams else self.unit, page)

    def untouched(self) -> float:
        """Return the share of accesses to untouched pages, which change as they are read first."""
        return 0.0 if self.streams else self._of_cold() * math.exp(-self._touches())

    def used(self, page: int, pieces: int) -> list[float]:
        """Return by piece the share of pages, of so many sectors, of which its first one is in use."""
        counts = self._counts(page, pieces)
        if self.streams:
            return [1.0 if count else 0.0 for count in counts]
        touches = self._touches()
        of_cold = [1 - math.exp(-touches * count / sum(counts)) for count in counts]
        # Hot addresses are touched first, all of them.
        of_hot = [1.0 if count else 0.0 for count in counts]
        cold = self._of_cold()
        return [(1 - cold) * one + cold * other for one, other in zip(of_hot, of_cold, strict=True)]

    def _step(self) -> int:
        return math.ceil(self.sectors / self.unit) * self.unit

    def _hot(self) -> float:
        return self.hot if self.hot <= _HOT_IS_UNIFORM else 0.0

    def _of_cold(self) -> float:
        """Return the share of requests to what is not hot, which is the share that hot addresses have."""
        return self._hot() or 1.0

    def _counts(self, page: int, pieces: int) -> list[int]:
        """Count how often accesses to pages begin in each piece, over all places where requests begin."""
        counts = [0] * pieces
        for start in range(0, page, self.grain(page)):
            counts[start * pieces // page] += 1
            counts[0] += (start + self.sectors - 1) // page
        return counts

    def _touches(self) -> float:
        """Return how often a page is touched in the mean of those that are drawn from."""
        hot = self._hot() * self.working_set
        pages = self.working_set - hot
        wanted = max(0.0, self.occupancy - hot)
        if pages < _WIDER * wanted:
            pages = 1 - hot
        share = min(wanted / pages, _MOST)
        return -math.log1p(-share)


def used_at_start(flows: Sequence[Touched], page: int) -> list[float]:
    """Return by equal piece of a page of so many sectors the share that is in use, in the mean of the flows.

    Nothing where all requests are of whole pages, which are merged with nothing.
    """
    if all(flow.sectors % page == 0 and flow.unit % page == 0 for flow in flows):
        return []
    pieces = page // math.gcd(*(flow.grain(page) for flow in flows))
    of_each = [flow.used(page, pieces) for flow in flows]
    return [round(sum(shares) / len(flows), 4) for shares in zip(*of_each, strict=True)]
