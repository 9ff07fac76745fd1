"""What cannot be met."""

from __future__ import annotations


class ImpossibleError(Exception):
    """A constraint that no population meets, and by how much."""

    def __init__(self, constraint: str, problem: str) -> None:
        super().__init__(f"{constraint}: {problem}")
