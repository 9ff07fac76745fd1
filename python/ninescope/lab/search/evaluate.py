"""Designs become points, points become values: short runs first, the whole where they leave it open."""

from __future__ import annotations

import collections
import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ninescope._native import ConfigError
from ninescope.lab.search.evidence import EXACT, REPLICATIONS_MIN, Shown, beyond, end, worse_by_seeds
from ninescope.lab.search.file import SearchFile
from ninescope.lab.search.goals import Constraint, Goals, Objective
from ninescope.lab.search.pareto import front
from ninescope.lab.search.space import Design
from ninescope.lab.search.trial import FULL, PRUNED, REFUSED, Runs, Trial, value_of
from ninescope.lab.sweep.estimate import needs_of
from ninescope.lab.sweep.lake import Kept
from ninescope.lab.sweep.point import Point
from ninescope.lab.sweep.runner import Outcome, Runner
from ninescope.result.metrics import NAMES
from ninescope.result.waf import is_read_only

OnTrial = Callable[[Trial], None]
_SEED = 1
"""Of the runs of a search, until its candidates are run with several."""


@dataclasses.dataclass
class Entry:
    """A trial, and the points that it waits for."""

    trial: Trial
    wanted: dict[str, list[Point]]
    """By workload."""
    is_short: bool
    kept: dict[str, Kept] = dataclasses.field(default_factory=dict)
    """By point."""
    is_new: bool = False
    """Whether any of its points was run just now."""

    @property
    def is_complete(self) -> bool:
        """Say whether all its points are done."""
        return all(point.id in self.kept for points in self.wanted.values() for point in points)

    def runs(self, workload: str) -> list[Kept]:
        """Return the runs on a workload, one for each seed."""
        return [self.kept[point.id] for point in self.wanted[workload]]


class Evaluator:
    """Evaluates designs of a search on a runner."""

    def __init__(self, file: SearchFile, runner: Runner | None) -> None:
        """Without a runner, points can be made and not run."""
        self._file = file
        self._goals = file.goals
        self._runner = runner
        self._requests: dict[str, int] = {}

    def points(
        self, design: Design, *, short: bool = False, seeds: Sequence[int] = (_SEED,)
    ) -> dict[str, list[Point]]:
        """Return the points of a design: for each workload one for each seed."""
        settings = self._file.space.settings(design)
        found = {}
        for workload in self._file.workloads:
            values = {**settings, "workload": workload}
            if short:
                values["run.requests"] = self.requests(workload, values, short=True)
            found[workload] = [self._file.base.point(values, seed=seed) for seed in seeds]
        return found

    def requests(self, workload: str, values: Mapping[str, Any], *, short: bool) -> int:
        """Return how many requests a run of a workload has."""
        full = values.get("run.requests") or self._file.base.run.get("requests")
        if full is None:
            if workload not in self._requests:
                count = requests_of(self._file, workload, values)
                self._requests[workload] = count
            full = self._requests[workload]
        return max(1, round(float(full) * self._file.pruning.short)) if short else int(full)

    def batch(self, trials: Sequence[Trial], best: Sequence[Trial], on_trial: OnTrial) -> None:
        """Find out what becomes of trials.

        `best` are the feasible ones of earlier batches that none dominates. What becomes of a trial
        depends on itself and on `best` alone, not on the others or their order.
        """
        pending: collections.deque[Entry] = collections.deque()
        for trial in trials:
            try:
                is_short = self._file.pruning.short > 0
                seeds = range(_SEED, _SEED + self._file.pruning.seeds) if is_short else (_SEED,)
                wanted = self.points(trial.design, short=is_short, seeds=seeds)
                pending.append(Entry(trial, wanted, is_short))
            except ConfigError as error:
                trial.state, trial.reason = REFUSED, " ".join(str(error).split())
                on_trial(trial)
        self._drive(pending, lambda entry: self._next(entry, best, on_trial))

    def replicate(self, design: Design, seeds: Sequence[int]) -> Entry:
        """Return a design as something to be run in full with several seeds."""
        return Entry(Trial(-1, design), self.points(design, seeds=seeds), is_short=False)

    def run_all(self, entries: Sequence[Entry], on_done: Callable[[Entry, int], None]) -> None:
        """Run whatever entries want; `on_done` hears of each, and how many are done."""
        count = 0

        def done(entry: Entry) -> Entry | None:
            nonlocal count
            if not entry.trial.state:
                entry.trial.state = FULL
            count += 1
            on_done(entry, count)
            return None

        self._drive(collections.deque(entries), done)

    # ---- on the runner --------------------------------------------------------------------------------

    def _drive(
        self,
        pending: collections.deque[Entry],
        is_done: Callable[[Entry], Entry | None],
    ) -> None:
        """Run the points of entries; `is_done` may answer a complete entry with a further one."""
        waiting: dict[str, list[Entry]] = {}
        queue: collections.deque[Point] = collections.deque()
        left: set[int] = set()

        def take(entry: Entry) -> None:
            left.add(id(entry))
            alive.append(entry)
            for points in entry.wanted.values():
                for point in points:
                    waiting.setdefault(point.id, []).append(entry)
                    queue.append(point)

        alive: list[Entry] = []
        for entry in pending:
            take(entry)

        def source() -> Iterator[Point | None]:
            while left:
                point = queue.popleft() if queue else None
                # What nobody waits for any more need not be run.
                if point is None or any(id(entry) in left for entry in waiting.get(point.id, ())):
                    yield point

        assert self._runner is not None  # noqa: S101
        for outcome in self._runner.run(source()):
            for entry in waiting.pop(outcome.point.id, []):
                self._arrived(entry, outcome)
                if id(entry) in left and (entry.is_complete or entry.trial.state == REFUSED):
                    left.discard(id(entry))
                    further = is_done(entry)
                    if further is not None:
                        take(further)

    @staticmethod
    def _arrived(entry: Entry, outcome: Outcome) -> None:
        entry.is_new |= outcome.is_new
        if outcome.kept is not None:
            entry.kept[outcome.point.id] = outcome.kept
            return
        error = outcome.failure.error if outcome.failure is not None else "no result"
        entry.trial.state, entry.trial.reason = REFUSED, " ".join(error.splitlines()[-1].split())

    # ---- what becomes of a trial ----------------------------------------------------------------------

    def _next(self, entry: Entry, best: Sequence[Trial], on_trial: OnTrial) -> Entry | None:
        """Look at the runs of a trial; return the full ones where short ones leave it open."""
        trial = entry.trial
        trial.requests += sum(int(kept.metrics.get("requests") or 0) for kept in entry.kept.values())
        if trial.state == REFUSED:
            on_trial(trial)
            return None
        runs = {workload: entry.runs(workload) for workload in entry.wanted}
        ended = ended_on(runs)
        if ended is not None:
            trial.state = REFUSED
            trial.reason = f"its drive became read-only on {ended}: it takes no more writes"
            on_trial(trial)
            return None
        if entry.is_short:
            reason = self.pruned(runs, best)
            if reason is None:
                trial.short_runs = runs
                return Entry(trial, self.points(trial.design), is_short=False)
            trial.state, trial.reason = PRUNED, reason
        else:
            trial.state, trial.full_runs = FULL, runs
        take_runs(trial, runs, entry.wanted)
        on_trial(trial)
        return None

    def pruned(self, runs: Mapping[str, Sequence[Kept]], best: Sequence[Trial]) -> str | None:
        """Say why a design need not be run in full; None where it has to be."""
        return violated(self._goals, runs, self._file.pruning.level, self._file.pruning.margin) or dominated(
            self._goals, runs, best, self._file.pruning.level, self._file.pruning.margin
        )


def requests_of(file: SearchFile, workload: str, values: Mapping[str, Any]) -> int:
    """Return how many requests a workload has; a ConfigError where there is no saying."""
    known = {**values, "workload": workload}
    known.pop("run.requests", None)
    try:
        count = needs_of(file.base.point(known))[0]
    except ConfigError as error:
        file.refuse_workload(workload, str(error))
    source = file.base.workloads[workload]
    if source.kind == "profile":
        drawn = source.words.get("requests")
        count = int(drawn) if drawn else None
    if not count:
        raise ConfigError(
            f"{workload}: nothing says how many requests it has, so none can be called a short run: give "
            "run.requests, or switch pruning off (pruning = false)"
        )
    return count


def take_runs(
    trial: Trial, runs: Mapping[str, Sequence[Kept]], wanted: Mapping[str, Sequence[Point]]
) -> None:
    """Keep of the runs of a trial what tables and comparisons need: of several seeds, those of the first."""
    for workload, kept in runs.items():
        trial.metrics[workload] = numbers_of(kept[0], rough=trial.state == PRUNED)
        trial.points[workload] = wanted[workload][0].design


def numbers_of(kept: Kept, *, rough: bool = False) -> dict[str, float | int | None]:
    """Return the numbers of a result; a lifetime that nothing shortens is without limit.

    `rough` takes percentiles that too few samples stand behind as well: they tell an optimiser where not
    to look.
    """
    found = {name: kept.metrics.get(name) for name in NAMES}
    for op, latency in (kept.document.get("latency") or {}).items() if rough else ():
        for key, value in (latency.get("percentiles_ns") or {}).items():
            if f"{op}_p{key}_ns" in found and latency.get("count"):
                found[f"{op}_p{key}_ns"] = value
    lifetime = (kept.document.get("endurance") or {}).get("lifetime") or {}
    if "unlimited" in (lifetime.get("reason") or ""):
        found |= dict.fromkeys(("lifetime_years", "lifetime_passes", "dwpd"), math.inf)
    return found


def ended_on(runs: Runs) -> str | None:
    """Return a workload under which a drive came to its end, so that its numbers are not what was asked."""
    ended = (name for name, kept in runs.items() if any(is_read_only(one.document) for one in kept))
    return next(ended, None)


def violated(goals: Goals, runs: Mapping[str, Sequence[Kept]], level: float, margin: float) -> str | None:
    """Say which constraint short runs show to be violated, and how."""
    for constraint in goals.constraints:
        limit = _with_margin(constraint.limit, margin, up=constraint.is_upper)
        for workload, kept in _of(runs, constraint):
            shown = beyond(constraint.number, kept, limit, above=constraint.is_upper, level=level)
            if shown is not None:
                return f"{constraint.text} is violated on {workload}: {shown.words}"
    return None


def dominated(
    goals: Goals, runs: Mapping[str, Sequence[Kept]], best: Sequence[Trial], level: float, margin: float
) -> str | None:
    """Say which of the best designs short runs show to be better in some objective, and worse in none."""
    for trial in best:
        found = [_worse(of, runs, trial, level, margin) for of in goals.objectives]
        if all(found) and any(shown is not _EQUAL for shown in found):
            words = "; ".join(shown.words for shown in found if shown is not None and shown.words)
            return f"dominated by trial {trial.number}: {words}"
    return None


_EQUAL = Shown("", "")
"""A design costs exactly as much as another."""


def _worse(
    of: Objective, runs: Mapping[str, Sequence[Kept]], than: Trial, level: float, margin: float
) -> Shown | None:
    """Say whether short runs show a design to be worse in an objective than one that was run in full.

    That one was chosen for being good, and some of that is luck: what counts is not its value but how bad it
    may be by its own runs.
    """
    above = of.direction == "minimise"
    if set(of.number.metrics) <= set(EXACT):
        return _dearer(of, runs, than, above=above, level=level)
    if len(_of(runs, of)[0][1]) >= REPLICATIONS_MIN:
        factor = _with_margin(1.0, margin, up=above)
        mine, others = _by_seed(of, runs), _by_seed(of, than.short_runs)
        return worse_by_seeds(of.number, mine, others, factor=factor, above=above, level=level)
    ends = [end(of.number, kept[0], level) for _, kept in _of(than.full_runs, of)]
    if not above or not ends or any(each is None for each in ends):
        return None
    limit = _with_margin(max(each for each in ends if each is not None), margin, up=True)
    return _any_beyond(of, runs, limit, above=True, level=level)


def _dearer(
    of: Objective, runs: Mapping[str, Sequence[Kept]], than: Trial, *, above: bool, level: float
) -> Shown | None:
    """Compare what chance has no part in."""
    value = than.objective(of)
    if value is None:
        return None
    if value_of(of.number, numbers_of(_of(runs, of)[0][1][0])) == value:
        return _EQUAL
    return _any_beyond(of, runs, value, above=above, level=level)


def _any_beyond(
    of: Objective, runs: Mapping[str, Sequence[Kept]], limit: float, *, above: bool, level: float
) -> Shown | None:
    """Say whether an objective lies beyond a limit: the worst workload counts, so that one is enough."""
    for _, kept in _of(runs, of):
        shown = beyond(of.number, kept, limit, above=above, level=level)
        if shown is not None:
            return shown
    return None


def _by_seed(of: Objective, runs: Mapping[str, Sequence[Kept]]) -> list[float | None]:
    """Return an objective of each seed."""
    seeds = min((len(kept) for kept in runs.values()), default=0)
    each = [{workload: numbers_of(kept[seed]) for workload, kept in runs.items()} for seed in range(seeds)]
    return [Trial(-1, {}, FULL, metrics=metrics).objective(of) for metrics in each]


def _with_margin(limit: float, margin: float, *, up: bool) -> float:
    return limit * (1 + margin) if up else limit / (1 + margin)


def _of(runs: Mapping[str, Sequence[Kept]], of: Constraint | Objective) -> list[tuple[str, Sequence[Kept]]]:
    return [(workload, kept) for workload, kept in runs.items() if of.workload in (None, workload)]


def best_of(trials: Sequence[Trial], goals: Goals) -> list[Trial]:
    """Return the feasible trials that none dominates, in the order of the first objective."""
    feasible = [trial for trial in trials if trial.is_feasible(goals) and trial.values(goals) is not None]
    values = [trial.values(goals) or [] for trial in feasible]
    return [feasible[place] for place in front(values)]
