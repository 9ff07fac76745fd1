"""The table of what is published, `volumes.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import toml_text

TABLE = Path(__file__).parent / "volumes.toml"
# Numbers that grow with the length of the volume, and with it are divided by its scale.
SCALED = {
    "requests",
    "pages",
    "read_pages",
    "written_pages",
    "rewritten_pages",
    "page_writes",
    "page_reads",
    "bytes",
    "span_bytes",
    "first_addresses",
    "duration_s",
    # A shorter trace in which pages are written as often has shorter intervals.
    "rewrite_p50_s",
    "rewrite_p90_s",
    "rewrite_p99_s",
    "rewrite_mean_s",
}
GAP_FROM, GAP_TO = 10_000, 490_000
# What an LRU cache of so many thousandths of all first addresses misses.
LRU = "lru_missed_{}_permille"
LRU_SIZES = (1, 3, 10, 30, 100, 200, 400, 800)


@dataclass(frozen=True)
class Constraint:
    """One number of a volume: of the whole, or of its first requests."""

    # "whole", or how many requests, already scaled.
    of: str
    key: str
    value: float
    source: str
    tolerance: float = 0.1
    why: str = ""


@dataclass
class Volume:
    """What is known of one volume, scaled."""

    name: str
    scale: int
    constraints: list[Constraint]
    compared: list[Constraint]
    shape: dict[str, float]
    # What was inferred: value and reason.
    inferred: dict[str, tuple[float, str]]
    inferred_whole: dict[str, tuple[float, str]]

    @property
    def window(self) -> str:
        """The part of the volume of which most is known."""
        return next((each.of for each in self.constraints if each.of != "whole"), "whole")

    def find(self, of: str, key: str) -> float | None:
        """A published number."""
        return next((each.value for each in self.constraints if (each.of, each.key) == (of, key)), None)

    @property
    def lru(self) -> list[tuple[float, float]]:
        """Sizes of LRU caches, as parts of the first addresses, and what they miss."""
        found = [(size / 1000, self.find("whole", LRU.format(size))) for size in LRU_SIZES]
        return [(part, missed) for part, missed in found if missed is not None]

    @property
    def lengths(self) -> list[int]:
        """Lengths at which something is measured."""
        found = {int(each.of) for each in [*self.constraints, *self.compared] if each.of != "whole"}
        if any(each.key == "mean_gap_s" for each in [*self.constraints, *self.compared]):
            found |= {GAP_FROM // self.scale, GAP_TO // self.scale}
        return sorted(found)


def _constraints(of: str, table: dict[str, Any], scale: int) -> list[Constraint]:
    name = "whole" if of == "whole" else str(int(of.removeprefix("first_")) // scale)
    found = []
    for key, entry in table.items():
        value = entry["value"] / (scale if key in SCALED else 1)
        tolerance = entry.get("tolerance", 0.1)
        found.append(Constraint(name, key, value, entry["source"], tolerance, entry.get("why", "")))
    return found


def load() -> tuple[dict[str, str], list[Volume]]:
    """The sources, and all volumes."""
    table = toml_text.read(TABLE)
    volumes = []
    for name, entry in table["volume"].items():
        scale = int(entry.get("scale", 1))
        parts = [part for part in entry if part == "whole" or part.startswith("first_")]
        inferred = [
            {
                key: (each["value"] / (scale if key in SCALED else 1), each["why"])
                for key, each in entry.get(part, {}).items()
            }
            for part in ("inferred", "inferred_whole")
        ]
        volumes.append(
            Volume(
                name,
                scale,
                [each for part in parts for each in _constraints(part, entry[part], scale)],
                [
                    each
                    for part, compared in entry.get("compared", {}).items()
                    for each in _constraints(part, compared, scale)
                ],
                {key: each["value"] for key, each in entry.get("shape", {}).items()},
                inferred[0],
                inferred[1],
            )
        )
    return table["sources"], volumes
