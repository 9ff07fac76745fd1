"""Which runs are compared with which, and how: pair by pair, side by side, or from within single runs."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence

from ninescope.lab.compare.conditions import (
    arrivals_are_given,
    build,
    differing,
    same_requests,
    same_workload,
)
from ninescope.lab.compare.metrics import Metric, trusted
from ninescope.lab.compare.sides import Side
from ninescope.lab.compare.within import ByBlocks, by_time
from ninescope.lab.statistics import Contrast, Interval, TooShortError, paired, unpaired
from ninescope.result import Result

_FEW = 4
"""Intervals of fewer replications are wide."""
_NOT_STEADY = {
    "drift": "measured window drifts, and its numbers with it",
    "free-blocks": "drive lives on blocks that were free, and its numbers hold while these last",
    "emptied-blocks": "drive empties blocks, and its numbers hold while it does",
    "read-only": "drive became read-only, and its numbers are those of one that refuses writes",
}
"""Why a side is not steady, and what that means."""


@dataclasses.dataclass(frozen=True)
class Design:
    """Which runs are compared, and how."""

    a: Side
    b: Side
    replicated: bool
    paired: bool
    words: str
    blocks: ByBlocks

    @classmethod
    def of(cls, a: Side, b: Side) -> Design:
        """Pair what met the same chance; take single runs where one side has no more."""
        common = sorted(set(a.seeds) & set(b.seeds))
        if len(a.results) == 1 or len(b.results) == 1:
            return cls._single(a, b, common)
        if same_workload(a.first, b.first) and len(common) > 1:
            left = [
                f"{side.name} with {_seeds(sorted(set(side.seeds) - set(common)))}"
                for side in (a, b)
                if set(side.seeds) - set(common)
            ]
            rest = f"; left out, because the other has no such run: {' and '.join(left)}" if left else ""
            words = f"{len(common)} runs of each, paired by their {_seeds(common)}{rest}"
            return cls._made(a.only(common), b.only(common), words, replicated=True, is_paired=True)
        why = "their seeds differ" if same_workload(a.first, b.first) else "their workloads differ"
        words = (
            f"{len(a.results)} runs of A with {_seeds(a.seeds)} and {len(b.results)} of B with "
            f"{_seeds(b.seeds)}, not paired: {why}"
        )
        return cls._made(a, b, words, replicated=True, is_paired=False)

    @classmethod
    def _single(cls, a: Side, b: Side, common: list[int]) -> Design:
        """Compare one run of each: with the same seed, where there are such."""
        one = a.only(common[:1] or a.seeds[:1])
        other = b.only(common[:1] or b.seeds[:1])
        is_paired = same_requests(one.first, other.first)
        how = "on the same requests" if is_paired else "not on the same requests"
        words = f"one run of each, {how}, with {_seeds(one.seeds)} and {_seeds(other.seeds)}"
        if one.seeds == other.seeds:
            words = f"one run of each, {how}, with {_seeds(one.seeds)}"
        if len(a.results) != len(b.results):
            words += "; the other runs are left out, because one side has no more than one"
        return cls._made(one, other, words, replicated=False, is_paired=is_paired)

    @classmethod
    def _made(cls, a: Side, b: Side, words: str, *, replicated: bool, is_paired: bool) -> Design:
        same = is_paired and all(
            same_requests(one, other) for one, other in zip(a.results, b.results, strict=True)
        )
        blocks = ByBlocks(a.results, b.results, same_requests=same)
        return cls(a, b, replicated, is_paired, words, blocks)

    def contrast(self, metric: Metric) -> Contrast:
        """Compare a metric; `TooShortError` says why there is no telling."""
        if self.replicated:
            return self._of_replications(metric)
        if metric.percentile:
            return self.blocks.contrast(metric)
        if metric.of_time:
            same = self.paired and arrivals_are_given(self.a.first) and arrivals_are_given(self.b.first)
            return by_time(metric, self.a.first, self.b.first, same_arrivals=same)
        raise TooShortError("one run of each")

    @functools.cached_property
    def is_of_the_same(self) -> bool:
        """Whether both devices did the same, operation by operation, in every pair of runs."""
        return self.paired and all(
            one.digest and one.digest == other.digest
            for one, other in zip(self.a.results, self.b.results, strict=True)
        )

    def same(self, metric: Metric) -> Contrast | None:
        """Return that a metric is the same, where the runs are and so are its values; chance has no part."""
        if not self.is_of_the_same or any(
            metric.read(one) is None or metric.read(one) != metric.read(other)
            for one, other in zip(self.a.results, self.b.results, strict=True)
        ):
            return None
        is_nothing = not any(metric.read(run) for run in self.a.results)
        return Contrast(
            difference=Interval(0.0, 0.0, 0.0),
            ratio=None if is_nothing else Interval(1.0, 1.0, 1.0),
            p=1.0,
            method="equal digests: both devices did the same, operation by operation",
            samples=(len(self.a.results), len(self.b.results)),
            paired=True,
        )

    def _of_replications(self, metric: Metric) -> Contrast:
        runs = [side.results for side in (self.a, self.b)]
        values = [[value for run in side if (value := metric.read(run)) is not None] for side in runs]
        if [len(each) for each in values] != [len(side) for side in runs]:
            raise TooShortError("not all runs measured it")
        if not all(trusted(metric, run) for side in runs for run in side):
            return self.blocks.contrast(metric)
        resolution = (metric.resolution(values[0]), metric.resolution(values[1]))
        return (paired if self.paired else unpaired)(values[0], values[1], resolution=resolution)


def _seeds(seeds: Sequence[int]) -> str:
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    if list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"seeds {seeds[0]} to {seeds[-1]}"
    return f"seeds {', '.join(map(str, seeds))}"


def _is_untold(run: Result) -> bool:
    return run.steadiness is not None and run.steadiness.is_steady is None


def _failed(side: Side) -> Iterator[str]:
    """Yield how many requests of a side were answered with an error."""
    failed = sum(moved.failed for run in side.results for moved in run.throughput.values())
    if failed:
        requests = sum(run.requests for run in side.results)
        yield f"of {side.name} {failed:,} of {requests:,} requests failed: latencies have them, no rate has"


def _not_steady(side: Side) -> Iterator[str]:
    """Yield why a side is not steady, and in how many of its runs."""
    for reason, words in _NOT_STEADY.items():
        found = sum(run.steadiness is not None and reason in run.steadiness.reasons for run in side.results)
        if found:
            which = "its" if len(side.results) == 1 else f"in {found} of its {len(side.results)} runs the"
            yield f"{side.name} is not steady: {which} {words}"


def remarks(design: Design) -> Iterator[str]:
    """Yield what weakens the comparison."""
    a, b = design.a.first, design.b.first
    for side in (design.a, design.b):
        broken = [run for run in side.results if not run.complete]
        if broken:
            runs = "its run was" if len(side.results) == 1 else f"{len(broken)} of its runs were"
            yield f"{side.name} is incomplete: {runs} interrupted"
    for side in (design.a, design.b):
        yield from _failed(side)
    for side in (design.a, design.b):
        yield from _not_steady(side)
    untold = [side.name for side in (design.a, design.b) if any(_is_untold(run) for run in side.results)]
    if untold:
        yield f"of {' and '.join(untold)} it cannot be told whether the measured window drifts"
    if not same_workload(a, b):
        yield "the workloads differ: a difference may be theirs, not that of the drives"
    if build(a) != build(b):
        yield f"A was made by ninescope {build(a)}, B by {build(b)}: a difference may be theirs"
    if design.is_of_the_same:
        if differing(a, b):
            yield "both devices did the same, operation by operation: their digests are equal"
        else:
            yield "A and B are the same run: workload, drive, build, seed and digest are equal"
    elif not design.replicated:
        yield (
            "intervals come from within single runs; what differs from seed to seed is not in them: "
            "runs with several seeds have it, and an interval for every metric"
        )
    elif len(design.a.results) < _FEW or len(design.b.results) < _FEW:
        yield "intervals of so few runs are wide: five of each, or more, say far more"
