"""What was written into each part of a drive whose jobs have planes of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ninescope.result import Result
from ninescope.result.partitions import Partition


def facts(result: Result) -> Iterator[tuple[str, str]]:
    """Yield the partitions of a drive, with the write amplification of each, where there are any."""
    words = [_words(partition, result.partitions) for partition in result.partitions]
    if words:
        yield "planes", "; ".join(words)


def _words(partition: Partition, others: Sequence[Partition]) -> str:
    whose = ", ".join(partition.jobs) or "no job"
    shared = [other for other in others if other is not partition]
    if not any(set(partition.channels) & set(other.channels) for other in shared):
        where = f"channels {_numbers(partition.channels)}"
    else:
        where = f"dies {_numbers(partition.dies)}"
        if any(set(partition.dies) & set(other.dies) for other in shared):
            where += f", planes {_numbers(partition.planes)}"
    waf = partition.units_per_host_unit
    return f"{whose} on {where}, " + ("nothing written" if waf is None else f"WAF {waf:.3f}")


def _numbers(numbers: Sequence[int]) -> str:
    """Tell numbers that ascend, those that follow each other as a range."""
    starts = [number for before, number in pairwise((-2, *numbers)) if number != before + 1]
    ends = [number for number, behind in pairwise((*numbers, -2)) if behind != number + 1]
    ranges = zip(starts, ends, strict=True)
    return ", ".join(str(start) if start == end else f"{start} to {end}" for start, end in ranges)
