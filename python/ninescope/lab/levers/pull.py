"""Single changes of a drive are run beside it, on the same random streams, and ranked by what they buy.

Short runs go first: what they show to be no better is not run in full. Where what a lever
changes is rarer in them than in full, they show nothing.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.lab.compare import Side
from ninescope.lab.compare.comparison import Row
from ninescope.lab.compare.judging import compare_metric
from ninescope.lab.compare.metrics import Metric, every_metric, metrics_of
from ninescope.lab.levers.catalogue import LEVERS, Lever, Settings
from ninescope.lab.pool import Pool
from ninescope.result import DATA_OPS, Result
from ninescope.result.attribution import Band
from ninescope.result.waf import is_read_only
from ninescope.simulation.drive import Drive
from ninescope.simulation.run import Run, request
from ninescope.simulation.traces import TemporaryFolder
from ninescope.simulation.workload import Workload

Say = Callable[[str], None]
Options = dict[str, Any]
"""Of `Drive.run`."""
Wanted = tuple[Lever, Settings]
SHORT = 0.2
"""The share of the requests that short runs have."""
_MATTERS = 0.01
"""A ratio that short runs show to lie within this of 1, or beyond it on the worse side, buys nothing."""


@dataclasses.dataclass(frozen=True)
class Pulled:
    """What became of a lever."""

    lever: Lever
    settings: dict[str, Any]
    row: Row | None = None
    """The drive as it is, and the changed one; None where it could not be run."""
    cost: float | None = None
    """What the media cost, of what those of the drive as it is do; None where they cost the same: what is
    changed has a price that nothing here knows, or none."""
    promised: float | None = None
    """The ratio, were its causes to take no time and all else as long as before; None of no latency."""
    is_short: bool = False
    """Short runs showed enough."""
    error: str = ""
    """Why it cannot be run, or is no answer."""

    @property
    def ratio(self) -> float | None:
        """Return the number with the lever, of that without."""
        if self.row is None or self.row.a is None or self.row.b is None or not self.row.a.value:
            return None
        return self.row.b.value / self.row.a.value

    @property
    def disagreement(self) -> str:
        """Say where what was measured contradicts the attribution; nothing where it does not."""
        interval = None if self.row is None or self.row.contrast is None else self.row.contrast.ratio
        if interval is None or self.promised is None or self.row is None or self.row.metric.better != "lower":
            return ""
        if interval.high < self.promised - _MATTERS:
            return "more than its causes took: queues behind them are shorter, too"
        if self.lever.is_bound and interval.low > self.promised + _MATTERS:
            return "less than its causes took: something else takes their place"
        return ""


@dataclasses.dataclass(frozen=True)
class Levers:
    """What all came to, those first that buy most."""

    metric: Metric
    base: Side
    pulled: tuple[Pulled, ...]
    requests: int
    """Of each run in full."""


def pull(
    drive: Drive,
    workload: Workload,
    goal: str,
    *,
    levers: Sequence[Lever] = LEVERS,
    seeds: Sequence[int] = (1, 2, 3),
    requests: int | None = None,
    prefill: str = "steady",
    workers: Pool,
    on_step: Say | None = None,
) -> Levers:
    """Run a workload on a drive and on each changed one, with the same seeds; rank what a number comes to.

    `goal` is a number of a comparison: "read.p99.9", "write.mean", "waf"; without an operation (`p99.9`) it
    is that of reads or writes, whichever is worse in the drive as it is.
    """
    _refuse_unknown(goal)
    say = on_step or _silent
    say("the drive as it is")
    options: Options = {"prefill": prefill, "requests": requests}
    bench = _Bench(drive, workload, tuple(seeds), workers)
    first = bench.base(options).first
    if first.requests == 0:
        raise ConfigError("nothing was measured of the drive as it is")
    metric = metric_of(goal, first)
    short = max(1, round(first.requests * SHORT))
    named = [(lever, lever.settings(bench.config)) for lever in levers]
    wanted = [(lever, settings) for lever, settings in named if settings is not None]
    if not wanted:
        raise ConfigError("the drive has nothing that these levers change")
    say(f"{_levers(len(wanted))}, short runs of {short:,} requests")
    rough = bench.judged(wanted, metric, {**options, "requests": short}, is_short=True)
    promises = [promise(first, metric, each.lever.causes) for each in rough]
    left = [
        (each.lever, each.settings)
        for each, promised in zip(rough, promises, strict=True)
        if not each.error and not (_is_nothing(each) and _is_long_enough(each, promised))
    ]
    say(f"{_levers(len(left))} in full")
    full = {each.lever.name: each for each in bench.judged(left, metric, options, is_short=False)}
    pulled = [full.get(each.lever.name, each) for each in rough]
    return Levers(metric, bench.base(options), tuple(sorted(pulled, key=_rank)), first.requests)


def _silent(words: str) -> None:
    """Tell nobody."""


def _levers(count: int) -> str:
    return f"{count} lever{'' if count == 1 else 's'}"


def _refuse_unknown(goal: str) -> None:
    """Refuse what no result has, before anything is run."""
    names = [metric.key for metric in every_metric()]
    of_either = dict.fromkeys(
        metric.key.partition(".")[2] for metric in every_metric() if metric.op in DATA_OPS
    )
    known = [*of_either, *names]
    if goal.strip() not in known:
        raise ConfigError(f"--goal {goal}: no number is called so{did_you_mean(goal, known)}")


def metric_of(goal: str, result: Result) -> Metric:
    """Return the number that is meant, as a result has it."""
    there = {metric.key: metric for metric in metrics_of([result])}
    key = goal.strip()
    if key in there:
        return there[key]
    of_ops = [there[f"{op}.{key}"] for op in ("read", "write") if f"{op}.{key}" in there]
    if not of_ops:
        raise ConfigError(f"--goal {goal}: no such number was measured{did_you_mean(goal, there)}")
    worst = min if of_ops[0].better == "higher" else max
    return worst(of_ops, key=lambda metric: metric.read(result) or 0.0)


def _is_nothing(each: Pulled) -> bool:
    """Say whether short runs show that it buys nothing that matters."""
    contrast = None if each.row is None else each.row.contrast
    if each.row is None or contrast is None or contrast.ratio is None:
        return False
    low, high = contrast.ratio.low, contrast.ratio.high
    if each.row.metric.better == "higher":
        return high < 1 + _MATTERS
    return low > 1 - _MATTERS


def _is_long_enough(short: Pulled, promised: float | None) -> bool:
    """Say whether the causes took in short runs half of what they take in full, or take nothing there.

    What happens seldom, as an erase does, may not have happened yet: what the lever buys is not known then.
    """
    if promised is None or short.promised is None or promised > 1 - _MATTERS:
        return True
    return 1 - short.promised >= (1 - promised) / 2


def _rank(each: Pulled) -> tuple[bool, bool, float]:
    """Those first that buy most; bounds behind what can be done, and what cannot be run at the end."""
    ratio = each.ratio
    if ratio is None:
        return (True, each.lever.is_bound, 0.0)
    better = each.row is not None and each.row.metric.better == "higher"
    return (False, each.lever.is_bound, -ratio if better else ratio)


class _Bench:
    """Where the drive as it is and the changed ones are run."""

    def __init__(self, drive: Drive, workload: Workload, seeds: tuple[int, ...], workers: Pool) -> None:
        self._folder = TemporaryFolder()
        config, text = Run(request(drive, workload, seed=seeds[0])).drive()
        # The resolved drive: a lever sets keys of what is run, however it was put together.
        file = Path(self._folder.path, f"{config['name']}.toml")
        file.write_text(text, encoding="utf-8")
        self._drive = Drive.from_file(file)
        self._workload, self._seeds, self._workers = workload, seeds, workers
        self._bases: dict[int | None, Side] = {}
        self.config = config["drive"]

    def base(self, options: Options) -> Side:
        """Return the drive as it is, with as many requests."""
        count = options["requests"]
        if count not in self._bases:
            self._bases[count] = self._side(self._begun(self._drive, options))
        return self._bases[count]

    def judged(
        self, wanted: Sequence[Wanted], metric: Metric, options: Options, *, is_short: bool
    ) -> list[Pulled]:
        """Run levers, and compare each with the drive as it is; chance is judged for all of them at once."""
        under_way = [self._begun(self._drive.changed(settings), options) for _, settings in wanted]
        base = self.base(options)
        found: list[Pulled] = []
        sides: list[tuple[Pulled, Side]] = []
        for (lever, settings), futures in zip(wanted, under_way, strict=True):
            promised = promise(base.first, metric, lever.causes)
            draft = Pulled(lever, settings, is_short=is_short, promised=promised)
            try:
                side = self._side(futures)
            except ConfigError as error:
                found.append(dataclasses.replace(draft, error=" ".join(str(error).split())))
                continue
            if any(is_read_only(run.document) for run in side.results):
                found.append(dataclasses.replace(draft, error="the drive became read-only"))
                continue
            sides.append((draft, side))
        rows = compare_metric([(base, side) for _, side in sides], metric)
        for (draft, side), row in zip(sides, rows, strict=True):
            found.append(dataclasses.replace(draft, row=row, cost=_cost(base.first, side.first)))
        return found

    def _begun(self, drive: Drive, options: Options) -> list[Future[Result]]:
        return [self._workers.submit(_run, drive, self._workload, seed, options) for seed in self._seeds]

    @staticmethod
    def _side(futures: Sequence[Future[Result]]) -> Side:
        return Side.of("B", [future.result() for future in futures])


def _run(drive: Drive, workload: Workload, seed: int, options: Options) -> Result:
    """Do one of the runs; stands by itself so that it can be sent to another process."""
    return drive.run(workload, seed=seed, progress=False, **options)


def _cost(a: Result, b: Result) -> float | None:
    one, other = (None if result.cost is None else result.cost.total for result in (a, b))
    # Media are paid by the byte. Dies, buses, memory and firmware are not: of them 1 would say too much.
    if not one or other is None or math.isclose(one, other):
        return None
    return other / one


def promise(result: Result, metric: Metric, causes: Sequence[str]) -> float | None:
    """Return the ratio of a latency were these causes to take no time, by the attribution of its requests.

    Of a percentile it is the band of requests beyond it, of a mean all of them.
    """
    if metric.unit != "ns" or not metric.op:
        return None
    bands: tuple[Band, ...] = getattr(result.attribution, metric.op)
    if metric.percentile:
        value = metric.read(result) or 0.0
        bands = tuple(band for band in bands if band.upper_ns >= value)[:1]
    total = sum(band.count * band.mean_ns for band in bands)
    if not total:
        return None
    taken = sum(band.count * band.parts_ns.get(cause, 0.0) for band in bands for cause in causes)
    return 1 - taken / total
