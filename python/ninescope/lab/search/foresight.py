"""What runs of a search will not be able to measure, said before any of them begins.

How many requests of each operation a run measures follows from its workload: from the words of a job, from
what is drawn of a profile, from a trace that is read in a moment. Where it does not, nothing is said. Nothing
here knows results.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ninescope import _native
from ninescope.lab.search.evaluate import Evaluator
from ninescope.lab.search.evidence import BLOCKS_MIN, COUNTED, EXACT, REPLICATIONS_MIN
from ninescope.lab.search.file import SearchFile
from ninescope.lab.search.goals import Constraint, Number, Objective
from ninescope.lab.sweep.estimate import lead_in_of
from ninescope.lab.sweep.source import File, Source
from ninescope.result import BLOCKS_REQUESTS
from ninescope.result.metrics import OPS
from ninescope.simulation.traces import trace_stat

_DRAWN = 200_000
"""So many requests of a profile say how many of them are reads: half a second."""
_TRACE_BYTES = 32 << 20
"""Larger traces are not read to count their reads."""
_DESIGNS = 16
"""So many designs are looked at where the workload is part of them."""
_SURE = 5.0
"""So many standard deviations beside what is expected nothing comes out."""
_FAR_WORSE_ONLY = 2 * BLOCKS_MIN
_DONE = {"read": "read", "write": "written"}


@dataclasses.dataclass(frozen=True)
class Requests:
    """How many requests of a workload a run measures."""

    total: int
    reads: float | None
    """The share that reads; None: unknown."""
    is_drawn: bool
    """Whether each request is drawn by that share; else it is one of a whole, of which runs are a part."""

    def share(self, op: str) -> float | None:
        """Return the share of an operation."""
        return self.reads if op == "read" or self.reads is None else 1 - self.reads

    def most(self, op: str) -> float:
        """Return how many there are at most; 0 where the workload has none of it."""
        share = self.share(op)
        if share is None or (share and not self.is_drawn):
            return self.total
        return self.total * share + self._off(share)

    def least(self, op: str) -> float:
        """Return how many there are at least, as far as that is known."""
        share = self.share(op)
        if share is None:
            return self.total
        return max(0.0, self.total * share - self._off(share))

    def _off(self, share: float) -> float:
        return _SURE * math.sqrt(self.total * share * (1 - share)) if self.is_drawn else 0.0

    def told(self, op: str) -> str:
        """Write how many there are."""
        share = self.share(op)
        if share is None:
            return f"{self.total:,} requests"
        return f"{'' if share in (0, 1) else 'about '}{round(self.total * share):,} {op}s"


def foreseen(file: SearchFile) -> list[str]:
    """Refuse goals that no run can measure; say which are in doubt, and what short runs cannot prune by."""
    full = _requests(file, short=False)
    doubts: list[str] = []
    for of in file.goals.all:
        for workload in file.workloads:
            if of.workload in (None, workload) and full[workload]:
                doubts += _goal(file, of, workload, full[workload])
    if file.pruning.short:
        short = _requests(file, short=True)
        for workload in file.workloads:
            doubts += _unpruned(file, workload, short[workload])
    return list(dict.fromkeys(doubts))


# ---- goals ----------------------------------------------------------------------------------------------


def _goal(
    file: SearchFile, of: Objective | Constraint, workload: str, runs: Sequence[Requests]
) -> Iterator[str]:
    """Refuse a goal that no design's run can measure; tell one that some may not."""
    ops = [metric.partition("_")[0] for metric in of.number.metrics]
    is_of_op = ops[0] in OPS
    if is_of_op and not any(run.most(op) for run in runs for op in ops):
        nobody = " or ".join(_DONE[op] for op in ops)
        file.refuse_goal(of, f"{_on(of, workload)} cannot be measured: nothing is {nobody} there")
    if of.number.name.startswith("waf") and not any(run.most("write") for run in runs):
        yield f"{_on(of, workload)} may not be measured: nothing is written there"
    if not of.number.percentile:
        return
    needed = _needed(of.number)
    for op in ops:
        there = [run for run in runs if run.most(op)]
        if there and max(run.most(op) for run in there) < needed:
            most = max(there, key=lambda run: run.most(op))
            file.refuse_goal(
                of,
                f"{_on(of, workload)} cannot be measured: too few requests: a run measures {most.told(op)}, "
                f"and {needed:,} are needed, of which ten are slower; give run.requests more",
            )
        if there and min(run.least(op) for run in there) < needed:
            fewest = min(there, key=lambda run: run.least(op))
            yield (
                f"{_on(of, workload)} may not be measured: a run measures {fewest.told(op)}, and {needed:,} "
                "are needed, of which ten are slower"
            )


def _needed(number: Number) -> int:
    """Return how many requests a percentile needs."""
    return math.ceil(round(COUNTED / (1 - float(number.percentile) / 100), 6))


def _on(of: Objective | Constraint, workload: str) -> str:
    return of.text if of.workload else f"{of.text} on {workload}"


# ---- short runs -----------------------------------------------------------------------------------------


def _unpruned(file: SearchFile, workload: str, runs: Sequence[Requests]) -> Iterator[str]:
    """Say by which numbers short runs of a workload cannot prune, and why."""
    metrics: dict[str, Number] = {}
    for of in file.goals.all:
        if of.workload in (None, workload) and not set(of.number.metrics) <= set(EXACT):
            metrics |= dict.fromkeys(of.number.metrics, of.number)
    if file.pruning.seeds < REPLICATIONS_MIN:
        others = [metric for metric, number in metrics.items() if not _is_latency(metric, number)]
        if others:
            names = ", ".join(dict.fromkeys(metrics[metric].name for metric in others))
            yield (
                f"short runs on {workload} do not prune by {names}: that takes pruning.seeds = "
                f"{REPLICATIONS_MIN} or more"
            )
    for metric, number in metrics.items():
        op = metric.partition("_")[0]
        there = [run for run in runs if op in OPS and run.most(op)]
        if not there or not _is_latency(metric, number):
            continue
        fewest = min(there, key=lambda run: run.least(op))
        if why := _too_few(file, number, fewest, op):
            yield f"short runs on {workload} do not prune by {metric.removesuffix('_ns')}{why}"


def _is_latency(metric: str, number: Number) -> bool:
    """Say whether blocks of a run say how sure a number is."""
    return bool(number.percentile) or metric.endswith("_mean_ns")


def _too_few(file: SearchFile, number: Number, run: Requests, op: str) -> str:
    """Say why a short run is too short for a latency; nothing where it is not."""
    count = run.least(op)
    if file.pruning.seeds >= REPLICATIONS_MIN:
        if not number.percentile or count >= _needed(number):
            return ""
        return f": compared by seeds it has to be measured, with {_needed(number):,}, not {run.told(op)}"
    if count < BLOCKS_REQUESTS:
        return f": an interval takes {BLOCKS_REQUESTS:,}, not {run.told(op)}"
    if count < _FAR_WORSE_ONLY * BLOCKS_REQUESTS / BLOCKS_MIN:
        return f", unless it is far worse: {run.told(op)} are few for an interval"
    return ""


# ---- counting -------------------------------------------------------------------------------------------


def _requests(file: SearchFile, *, short: bool) -> dict[str, list[Requests]]:
    """Return what runs of each workload measure, of some designs where they change it; empty if unknown."""
    evaluator = Evaluator(file, None)
    keys = [key for parameter in file.space.parameters for key in parameter.keys]
    changes = any(key.partition(".")[0] in ("workload", "run") for key in keys)
    designs = [file.space.settings(design) for design in file.drawn(_DESIGNS if changes else 0)] or [{}]
    return {
        workload: [
            found
            for values in designs
            if (found := _of_design(file, evaluator, workload, values, short=short)) is not None
        ]
        for workload in file.workloads
    }


def _of_design(
    file: SearchFile, evaluator: Evaluator, workload: str, values: Mapping[str, Any], *, short: bool
) -> Requests | None:
    known = {**values, "workload": workload}
    try:
        point = file.base.point(known)
        total = evaluator.requests(workload, known, short=short)
    except ValueError:  # no such design can be built, or there is no saying
        return None
    warmup = point.run.get("warmup")
    if warmup is None and point.workload.kind not in ("trace", "profile"):
        # The engine says what a job leads in with: nobody else has its rules.
        warmup = lead_in_of(point, total)
    warmup = warmup or 0
    measured = total * (1 - warmup) if warmup < 1 else total - warmup
    return Requests(max(0, round(measured)), _reads(point.workload), point.workload.kind == "job")


def _reads(source: Source) -> float | None:
    """Return which share of the requests of a workload reads; None where that takes more than a moment."""
    if source.kind == "profile":
        return _drawn_reads(source.text, str(source.what))
    if source.kind == "job":
        jobs = source.what if isinstance(source.what, tuple) else (source.what,)
        shares = {_job_reads(job) for job in jobs if isinstance(job, Mapping)}
        return shares.pop() if len(shares) == 1 else None
    if source.kind == "trace" and isinstance(source.what, File):
        words = source.words
        known = None if "volumes" in words else words.get("volume", "")
        if known is None:
            return None
        return _trace_reads(source.what.path, words.get("format"), words.get("columns"), known)
    return None


def _job_reads(job: Mapping[str, Any]) -> float | None:
    word = str(job.get("rw") or job.get("readwrite") or "")
    if word in ("read", "randread"):
        return 1.0
    if word in ("write", "randwrite"):
        return 0.0
    mix = job.get("rwmixread", 50)
    is_mixed = word in ("rw", "readwrite", "randrw") and not {"rwmixwrite", "fsync", "fdatasync"} & set(job)
    return float(mix) / 100 if is_mixed and isinstance(mix, int | float) else None


@functools.lru_cache(maxsize=64)
def _drawn_reads(text: str, name: str) -> float:
    batches = _native.ProfileBatches(name, text, _DRAWN, 1)
    counts = np.zeros(len(OPS))
    while len((batch := batches.next(_DRAWN))[0]):
        # Trims and flushes have numbers beyond those of reads and writes.
        counts += np.bincount(batch[1], minlength=len(OPS))[: len(OPS)]
    return float(counts[0] / counts.sum()) if counts.sum() else 0.0


@functools.lru_cache(maxsize=64)
def _trace_reads(path: str, form: str | None, columns: str | None, volume: str) -> float | None:
    if Path(path).stat().st_size > _TRACE_BYTES:
        return None
    try:
        stat = trace_stat(path, format=form, columns=columns, volume=[volume] if volume else [])
    except ValueError:  # a run will say what is wrong with it
        return None
    both = stat["reads"] + stat["writes"]
    return float(stat["reads"]) / both if both else None
