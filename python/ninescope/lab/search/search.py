"""A search from file to answer: the Python API of what `ninescope search` does."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ninescope import conveniences
from ninescope._native import ConfigError
from ninescope.common import bars
from ninescope.lab import pool
from ninescope.lab.search.estimate import Estimate, estimate
from ninescope.lab.search.evaluate import Evaluator, best_of
from ninescope.lab.search.file import SearchFile
from ninescope.lab.search.finish import finish
from ninescope.lab.search.foresight import foreseen
from ninescope.lab.search.optimiser import STARTUP, Optimiser, derived, optuna
from ninescope.lab.search.prices import priced
from ninescope.lab.search.record import KIND, Record
from ninescope.lab.search.space import Design
from ninescope.lab.search.trial import PRUNED, REFUSED, Trial
from ninescope.lab.sweep.base import WORKLOAD, of_drive, of_workload, remarks_of
from ninescope.lab.sweep.estimate import CHECK_SECONDS, needs_of
from ninescope.lab.sweep.file import said
from ninescope.lab.sweep.lake import MARK, Lake, refuse_results
from ninescope.lab.sweep.point import current_build, without_prose
from ninescope.lab.sweep.runner import Runner, refuse_other_builds
from ninescope.lab.sweep.store import FolderStore, open_store

if TYPE_CHECKING:
    import polars as pl

Location = str | os.PathLike[str]
IDLE = 8
"""After so many batches in a row that bring nothing new, a search ends."""
DRAWN = 64
"""Designs that are drawn to see how many can be built."""


@dataclasses.dataclass(frozen=True)
class Step:
    """Something is done: a design was tried, or a part of the end has begun."""

    label: str
    done: int
    total: int


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a search is made of, before anything runs."""

    designs: int | None
    """How many there are; None where they cannot be counted."""
    short_requests: dict[str, int]
    """Requests of short runs, by workload; empty without pruning."""
    drawn: int
    refused: tuple[str, ...]
    """Why designs of those drawn cannot be built."""
    doubts: tuple[str, ...] = ()
    """What may not be measured, and what short runs cannot prune by."""


class Search:
    """Which design is best.

    search = ninescope.Search.from_file("examples/searches/best-drive.toml")
    record = search.run("out/best", jobs=2)
    print(search.table("out/best", front_only=True))
    search.report("out/best", "best.html")
    """

    def __init__(self, file: SearchFile) -> None:
        self.file = file

    @classmethod
    def from_file(cls, path: Location) -> Search:
        """Read a search file."""
        return cls(SearchFile.read(path))

    @classmethod
    def from_toml(cls, text: str, folder: Location = ".") -> Search:
        """Take a search written as TOML; relative paths in it start at `folder`."""
        return cls(SearchFile.parse(text, folder=folder))

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], folder: Location = ".") -> Search:
        """Take a search as values, as its TOML would be read to; tuples, ranges and arrays are lists."""
        return cls(SearchFile.of(document, folder=folder))

    @property
    def name(self) -> str:
        """What the search is called in a lake."""
        return self.file.name

    def plan(self) -> Plan:
        """Say what the search is made of, and check what can be checked. Nothing runs."""
        return self._plan

    @functools.cached_property
    def _plan(self) -> Plan:
        file = self.file
        short: dict[str, int] = {}
        if file.pruning.short:
            evaluator = Evaluator(file, None)
            for workload in file.workloads:
                short[workload] = evaluator.requests(workload, {}, short=True)
        refused = _refused(file)
        doubts = (*_remarks(file), *foreseen(file), *priced(file))
        return Plan(file.space.size(file.fixed()), short, DRAWN, tuple(refused), doubts)

    def estimate(self, jobs: int | None = None, *, probe: bool = True, before: float = 0.0) -> Estimate:
        """Say what the search will take on so many workers; a few runs are begun, for a second each.

        `before` is what is done before workers are started [s].
        """
        return estimate(self.file, jobs or pool.processors(), probe=probe, before=before)

    def run(
        self,
        out: Location,
        *,
        trials: int | None = None,
        executor: Executor | pool.Pool | None = None,
        jobs: int | None = None,
        memory: int | None = None,
        retry: bool = False,
        progress: bool | None = None,
        on_step: Callable[[Step], None] | None = None,
    ) -> Record:
        """Search, from where it was left; the lake at `out` is made where there is none.

        Workers are chosen as for `Sweep.run`; what is found does not depend on them. `trials` takes the place
        of the file's. `progress` shows a bar, as of `Drive.run`; `on_step` is told of each design.
        """
        from ninescope.lab.sweep.sweep import workers_of

        optuna()
        self.plan()
        _refuse_url(out)
        if not open_store(out).exists(MARK):
            refuse_results(open_store(out))
        wanted = trials or self.file.trials
        steps = bars.of_steps(self.name, progress, "designs", on_step)
        with steps as told, open_store(out).written(), workers_of(executor, jobs, memory) as workers:
            say = told or (lambda step: None)
            # Nothing is written before all that can be refused was looked at.
            refuse_other_builds(workers)
            lake = Lake.open(out, create=True)
            lake.sweep_up()
            with self._optimiser(lake) as optimiser:
                evaluator = Evaluator(self.file, Runner(lake, workers, retry=retry))
                return _Run(self.file, lake, optimiser, evaluator, wanted, say).record()

    def _optimiser(self, lake: Lake) -> Optimiser:
        file = self.file
        optimiser = Optimiser(
            Path(lake.store.label(f"{KIND}/{file.name}.journal")),
            file.space,
            file.fixed(),
            directions=[of.direction for of in file.goals.objectives],
            sampler=file.sampler,
            seed=file.seed,
        )
        try:
            _same_search(optimiser, file, lake.store.label())
        except BaseException:
            optimiser.close()
            raise
        return optimiser

    def record(self, out: Location) -> Record:
        """Return what a lake knows of the search."""
        return Record.load(Lake.open(out), self.name)

    def table(self, out: Location, *, front_only: bool = False) -> pl.DataFrame:
        """Return one row per design that was tried, or of the front alone."""
        from ninescope.lab.search.record import table

        return table(self.record(out), front_only=front_only)

    def plot(self, out: Location, path: Location, *, x: str | None = None, y: str | None = None) -> Path:
        """Draw the front and what was tried beside it into a png, svg or pdf; return its path."""
        from ninescope.lab.search.figures import front_figure
        from ninescope.lab.sweep.plot import save

        return save(front_figure(self.record(out), x, y), Path(path))

    def report(self, out: Location, path: Location) -> Path:
        """Write the search as one HTML file that needs nothing else; return its path."""
        return conveniences.search_report(self.record(out), Path(path))


def _remarks(file: SearchFile) -> tuple[str, ...]:
    """Say which words of workloads say nothing; designs that change words may give them a meaning."""
    changed = file.space.settings(next(iter(file.drawn(1))))
    if any(key.startswith(f"{WORKLOAD}.") for key in changed):
        return ()
    return remarks_of({name: (source,) for name, source in file.base.workloads.items()})


def _refuse_url(out: Location) -> None:
    store = open_store(out)
    if not isinstance(store, FolderStore):
        raise ConfigError(
            f"{store.label()}: a search keeps its journal in a folder, so --out cannot be a URL"
        )


def _refused(file: SearchFile) -> list[str]:
    """Draw designs, and say what is wrong with those that cannot be run; refuse a workload that none can.

    The engine checks them as before a run, workload by workload, for as long as that may take.
    """
    began = time.monotonic()
    problems: list[str] = []
    fine: set[str] = set()
    failed: dict[str, str] = {}
    for design in file.drawn(DRAWN):
        settings = file.space.settings(design)
        try:
            for workload in file.workloads:
                point = file.base.point({**settings, "workload": workload})
                if time.monotonic() - began < CHECK_SECONDS:
                    failed.setdefault(workload, "")
                    try:
                        needs_of(point)
                    except ConfigError as error:
                        message = str(error)
                        failed[workload] = message if of_workload(message)[0] else of_drive(message)[1]
                        raise
                    fine.add(workload)
        except ConfigError as error:
            problems.append(f"{file.space.label(design)}: {of_drive(str(error))[1]}")
    for workload, problem in failed.items():
        if problem and workload not in fine:
            word, told = of_workload(problem)
            told = told if word else f"no design can be run on {workload}: {told}"
            raise ConfigError(said(file.path, file.text, told, file.base.place_of(workload, word)))
    if len(problems) == DRAWN:
        raise ConfigError(f"{file.path}: of {DRAWN} designs none can be built: {problems[0]}")
    return problems


class _Run:
    """A search under way."""

    def __init__(
        self,
        file: SearchFile,
        lake: Lake,
        optimiser: Optimiser,
        evaluator: Evaluator,
        wanted: int,
        say: Callable[[Step], None],
    ) -> None:
        self._file, self._lake, self._wanted, self._say = file, lake, wanted, say
        self._optimiser, self._evaluator = optimiser, evaluator
        self._trials: list[Trial] = []
        self._by_design: dict[str, Trial] = {}
        self._done = 0
        size = file.space.size(file.fixed())
        self._all = list(file.space.all_designs(file.fixed())) if size is not None else None
        """Every design, where they can be counted."""
        self._idle = 0
        """Batches in a row that brought nothing new."""

    def record(self) -> Record:
        """Search to the end."""
        ended = self._ended()
        while not ended:
            self._batch()
            ended = self._ended()
            if not ended:
                self._keep()
        # What is left of the end is run before anything says that it ended.
        self._keep()
        found = finish(self._file, self._evaluator, self._trials, self._tell_end)
        return self._keep(ended=ended, finish=found, importance=self._importance())

    def _keep(self, **rest: Any) -> Record:
        record = Record.of(self._file, self._trials, wanted=self._wanted, **rest)
        record.save(self._lake)
        return record

    def _tell(self, label: str) -> None:
        self._say(Step(label, self._done, max(self._wanted, self._done)))

    def _tell_end(self, label: str, done: int, total: int) -> None:
        self._say(Step(label, done, total))

    def _ended(self) -> str:
        tried = len(self._by_design)
        if self._all is not None and tried >= len(self._all):
            return f"all {tried:,} designs were tried"
        if tried >= self._wanted:
            return f"{tried:,} designs were tried"
        if self._idle >= IDLE:
            return f"{tried:,} designs were tried, and nothing new was proposed any more"
        return ""

    def _batch(self) -> None:
        """Ask for some designs, find out what they come to, and tell."""
        first = len(self._trials)
        instead = self._instead(first)
        batch = [
            Trial(number, self._optimiser.ask(number, instead.pop(0) if instead else None))
            for number in range(first, first + self._file.batch)
        ]
        new = []
        for trial in batch:
            key = _key(trial.design)
            if key in self._by_design:
                trial.same_as = self._by_design[key].number
            else:
                self._by_design[key] = trial
                new.append(trial)
        self._idle = 0 if new else self._idle + 1
        self._evaluator.batch(new, best_of(self._trials, self._file.goals), self._say_trial)
        for trial in batch:
            if trial.same_as is not None:
                same = self._by_design[_key(trial.design)]
                trial.state, trial.reason = same.state, same.reason
                trial.metrics, trial.points = same.metrics, same.points
            self._trials.append(trial)
        best = {trial.number for trial in best_of(self._trials, self._file.goals)}
        for trial in self._trials:
            if trial.number not in best:  # and will never be again
                trial.forget_runs()
        self._refuse_unmeasured()
        for trial in batch:
            values = self._values(trial)
            goals = self._file.goals
            self._optimiser.tell(
                trial.number, values, [of.violation(trial.bounded(of)) for of in goals.constraints]
            )

    def _instead(self, first: int) -> list[Design]:
        """Return what is tried whatever is proposed: where all designs are tried, or proposals repeat."""
        if self._all is None:
            return []
        left = [design for design in self._all if _key(design) not in self._by_design]
        if len(self._all) <= self._file.trials:
            return left[: self._file.batch]
        if not self._idle:
            return []
        generator = random.Random(derived(self._file.seed, first, "left"))  # noqa: S311
        return generator.sample(left, min(self._file.batch, len(left)))

    def _values(self, trial: Trial) -> list[float] | None:
        """Return what Optuna is told; of a trial without values, nothing."""
        if trial.state == REFUSED:
            return None
        found = [trial.objective(of) for of in self._file.goals.objectives]
        return (
            None if any(value is None for value in found) else [value for value in found if value is not None]
        )

    def _refuse_unmeasured(self) -> None:
        """Give up where no design has a number that is asked for: more of them would not have it either.

        Too few requests are seen at once; a number that only some drives have is waited for.
        """
        full = [trial for trial in self._trials if trial.state not in (REFUSED, PRUNED)]
        if not full:
            return
        is_early = len(self._trials) < STARTUP
        for of in self._file.goals.all:
            if is_early and not of.number.percentile:
                continue
            missing = [
                workload
                for workload in self._file.workloads
                if of.workload in (None, workload) and all(_lacks(of, trial, workload) for trial in full)
            ]
            if missing:
                told = (
                    "too few requests stand behind it: ten have to be slower than the percentile; give "
                    "run.requests more"
                    if of.number.percentile
                    else "no result has it"
                )
                raise ConfigError(f"{self._file.path}: {of.text} on {missing[0]} cannot be measured: {told}")

    def _say_trial(self, trial: Trial) -> None:
        self._done += 1
        if self._optimiser.is_told(trial.number):
            return  # before this process began
        goals = self._file.goals
        if trial.state in (PRUNED, REFUSED):
            told = f"{trial.state}: {trial.reason}"
        else:
            values = [f"{of.text} {of.number.written(trial.objective(of))}" for of in goals.objectives]
            broken = [of.text for of in goals.constraints if not of.holds(trial.bounded(of))]
            told = ", ".join(values) + (f" (not {'; not '.join(broken)})" if broken else "")
        self._tell(f"trial {trial.number}: {self._file.space.label(trial.design)}: {told}")

    def _importance(self) -> dict[str, dict[str, float]]:
        found = {}
        for of in self._file.goals.objectives:
            shares = self._optimiser.importance(
                lambda number, of=of: _target(self._trials[number], of)  # type: ignore[misc]
            )
            if shares:
                found[of.text] = shares
        return found


def _target(trial: Trial, of: Any) -> float | None:
    value = trial.objective(of)
    return None if value is None else float(of.oriented(value))


def _lacks(of: Any, trial: Trial, workload: str) -> bool:
    from ninescope.lab.search.trial import value_of

    return value_of(of.number, trial.metrics[workload]) is None


def _key(design: Design) -> str:
    return json.dumps(design, sort_keys=True)


def _same_search(optimiser: Optimiser, file: SearchFile, place: str) -> None:
    """Refuse to go on with another search under the same name."""
    mine = _parts(file)
    begun = optimiser.identity
    if begun is None:
        optimiser.identity = json.dumps(mine)
        return
    known = json.loads(begun)
    other = [part for part in mine if known.get(part) != mine[part]]
    if other:
        raise ConfigError(
            f"the search {file.name} in {place} was begun with other {', '.join(other)}: give this one "
            "another `name`, or another --out (what the lake has already is not run again)"
        )


def _parts(file: SearchFile) -> dict[str, str]:
    """Return hashes of all that proposals depend on, by what it is called."""
    base = file.base
    first = base.point({})
    words: dict[str, Any] = {
        "parameters": [
            [each.name, each.keys, each.kind, each.rows, each.labels, each.low, each.high, each.log,
             each.unit, each.condition.text if each.condition else ""]
            for each in file.space.parameters
        ],
        "objectives": [[of.direction, of.text] for of in file.goals.objectives],
        "constraints": [of.text for of in file.goals.constraints],
        "drive": [without_prose(first.config), base.drive.source is None],
        "workloads": {name: source.identity() for name, source in base.workloads.items()},
        "run": dict(base.run),
        "pruning": dataclasses.asdict(file.pruning),
        "sampler, seed or batch": [file.sampler, file.seed, file.batch],
        "build of ninescope": current_build(),
    }  # fmt: skip
    return {
        part: hashlib.sha256(json.dumps(value, sort_keys=True, default=dict).encode()).hexdigest()[:16]
        for part, value in words.items()
    }


def names(lake: Lake) -> Sequence[str]:
    """List the searches of a lake."""
    return [name for name in lake.records(KIND) if lake.record(KIND, name) is not None]
