"""Which of several points is dominated, and which one is chosen. Of every coordinate less is better."""

from __future__ import annotations

import math
from collections.abc import Sequence

Values = Sequence[float]


def dominates(one: Values, other: Values) -> bool:
    """Say whether a point is nowhere worse than another, and somewhere better."""
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


def front(points: Sequence[Values]) -> list[int]:
    """Return the places of points that none dominates, in order of their first coordinate.

    Of equal points the first alone: the others are the same answer again.
    """
    order = sorted(range(len(points)), key=lambda place: (tuple(points[place]), place))
    found: list[int] = []
    for place in order:
        # What dominates it comes before it in this order.
        known = (points[other] for other in found)
        if not any(dominates(other, points[place]) or list(other) == list(points[place]) for other in known):
            found.append(place)
    return found


def knee(points: Sequence[Values]) -> int:
    """Return the place of the point nearest to the best of every coordinate, each measured by its spread.

    For the points of a front; of equally near ones the first.
    """
    spans = []
    for column in zip(*points, strict=True):
        finite = [value for value in column if math.isfinite(value)] or [0.0]
        spans.append((min(column), (max(finite) - min(finite)) or 1.0))

    def distance(place: int) -> float:
        parts = [(value - best) / span if value != best else 0.0
                 for value, (best, span) in zip(points[place], spans, strict=True)]  # fmt: skip
        return math.hypot(*parts)

    return min(range(len(points)), key=lambda place: (distance(place), place))


def spread(points: Sequence[Values], most: int) -> list[int]:
    """Return the places of so many points of a front: its knee, and those that lie furthest apart."""
    places = front(points)
    if len(places) <= most:
        return places
    on_front = [points[place] for place in places]
    chosen = [knee(on_front)]
    lows = [min(column) for column in zip(*on_front, strict=True)]
    spans = [
        (max(column) - low) or 1.0 for column, low in zip(zip(*on_front, strict=True), lows, strict=True)
    ]
    scaled = [[(value - low) / span for value, low, span in zip(point, lows, spans, strict=True)]
              for point in on_front]  # fmt: skip
    while len(chosen) < most:
        gaps = {
            index: min(math.dist(scaled[index], scaled[other]) for other in chosen)
            for index in range(len(places))
            if index not in chosen
        }
        chosen.append(max(gaps, key=lambda index: (gaps[index], -index)))
    return [places[index] for index in sorted(chosen)]
