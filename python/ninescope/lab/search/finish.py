"""What is done when all trials are: candidates with several seeds, the chosen one, its neighbours.

Designs are run with the same seeds, so that they are compared pair by pair (common random numbers).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ninescope.lab.compare.metrics import BUCKET
from ninescope.lab.compare.verdict import Verdict, by_chance, untold, without_chance
from ninescope.lab.search.evaluate import Entry, Evaluator, best_of, ended_on, numbers_of
from ninescope.lab.search.evidence import EXACT
from ninescope.lab.search.file import KNEE, SearchFile
from ninescope.lab.search.goals import Constraint, Goals, Number, Objective
from ninescope.lab.search.pareto import front, knee, spread
from ninescope.lab.search.space import Design
from ninescope.lab.search.trial import FULL, Trial
from ninescope.lab.statistics import Contrast, holm, paired

Say = Callable[[str, int, int], None]
"""Hears what is done: in words, how much of how much."""
HOLDS, ON_AVERAGE, VIOLATED, UNMEASURED = "holds", "holds on average", "violated", "not measured"
BETTER, WORSE, TRADE, SAME = "better", "worse", "better in one, worse in another", "no difference shown"


@dataclasses.dataclass(frozen=True)
class Measured:
    """A number of a design over several seeds."""

    text: str
    """The objective or the constraint that it is the number of."""
    values: tuple[float | None, ...]
    """One for each seed."""
    mean: float | None
    low: float | None
    high: float | None
    """The 95 % interval of the mean; None of one seed."""
    verdict: str = ""
    """Of a constraint: whether it holds."""


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A design run with several seeds."""

    trial: int | None
    """Its trial; None of a neighbour, and of one that became the answer."""
    design: Design
    shown: dict[str, str]
    objectives: tuple[Measured, ...] = ()
    constraints: tuple[Measured, ...] = ()
    error: str = ""
    """Why it cannot be run."""
    points: dict[str, str] = dataclasses.field(default_factory=dict)
    """Its runs with the first seed, by workload."""

    @property
    def is_feasible(self) -> bool:
        """Say whether all constraints hold on average."""
        return not self.error and all(each.verdict in (HOLDS, ON_AVERAGE) for each in self.constraints)

    def oriented(self, goals: Goals) -> list[float] | None:
        """Return the means of all objectives, of which less is better; None where one was not measured."""
        if self.error or any(each.mean is None for each in self.objectives):
            return None
        return [of.oriented(each.mean) for of, each in zip(goals.objectives, self.objectives, strict=True)
                if each.mean is not None]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Neighbour:
    """A design one step aside of the chosen one."""

    parameter: str
    candidate: Candidate
    verdicts: tuple[Verdict, ...]
    """Of each objective, against the chosen one."""
    effect: str
    """In a word: whether it is better, worse, or neither can be shown."""


@dataclasses.dataclass(frozen=True)
class Finish:
    """How a search ended."""

    candidates: tuple[Candidate, ...] = ()
    chosen: int | None = None
    """The place of the answer among the candidates; None where none keeps all constraints."""
    neighbours: tuple[Neighbour, ...] = ()


def finish(file: SearchFile, evaluator: Evaluator, trials: Sequence[Trial], say: Say) -> Finish:
    """Run the last candidates, choose one, and look around it; go where it is better, some steps far."""
    goals = file.goals
    best = best_of(trials, goals)
    if not best:
        return Finish()
    values = [trial.values(goals) or [] for trial in best]
    picked = [best[place] for place in spread(values, file.final.candidates)]
    seeds = tuple(range(1, file.final.seeds + 1))
    entries = {trial.number: evaluator.replicate(trial.design, seeds) for trial in picked}
    say(
        f"{len(picked)} candidates with {len(seeds)} seed{'s' if len(seeds) > 1 else ''} each", 0, len(picked)
    )
    _run(file, evaluator, list(entries.values()), "candidate", say)
    candidates = [_candidate(file, entries[trial.number], trial.number) for trial in picked]
    chosen = choose(goals, candidates, file.final.choose)
    if chosen is None:
        return Finish(tuple(candidates))
    neighbours = _neighbours(file, evaluator, candidates[chosen], seeds, say)
    for _ in range(file.final.steps):
        better = [neighbour.candidate for neighbour in neighbours if neighbour.effect == BETTER]
        place = choose(goals, better, file.final.choose)
        if place is None:
            break
        candidates.append(better[place])
        chosen = len(candidates) - 1
        neighbours = _neighbours(file, evaluator, candidates[chosen], seeds, say)
    return Finish(tuple(candidates), chosen, neighbours)


def _run(file: SearchFile, evaluator: Evaluator, entries: Sequence[Entry], what: str, say: Say) -> None:
    """Run designs, and say which is done."""

    def done(entry: Entry, count: int) -> None:
        if entry.is_new:
            say(f"{what}: {file.space.label(entry.trial.design)}", count, len(entries))

    evaluator.run_all(entries, done)


def choose(goals: Goals, candidates: Sequence[Candidate], how: str) -> int | None:
    """Return the place of the answer: the knee of the front of what holds, or the best by one objective."""
    places, points = [], []
    for place, candidate in enumerate(candidates):
        values = candidate.oriented(goals)
        if candidate.is_feasible and values is not None:
            places.append(place)
            points.append(values)
    if not places:
        return None
    on_front = front(points)
    if how == KNEE:
        return places[on_front[knee([points[index] for index in on_front])]]
    column = [of.text for of in goals.objectives].index(how)
    return places[min(on_front, key=lambda index: (points[index][column], points[index]))]


def _neighbours(
    file: SearchFile,
    evaluator: Evaluator,
    chosen: Candidate,
    seeds: Sequence[int],
    say: Say,
) -> tuple[Neighbour, ...]:
    around: list[tuple[str, Candidate | Entry]] = []
    for parameter, design in file.space.neighbours(chosen.design, file.fixed()):
        try:
            around.append((parameter, evaluator.replicate(design, seeds)))
        except ValueError as error:  # a ConfigError: no such drive can be built
            shown = file.space.shown(design)
            around.append((parameter, Candidate(None, design, shown, error=" ".join(str(error).split()))))
    entries = [each for _, each in around if isinstance(each, Entry)]
    say(f"{len(around)} neighbours of the chosen design", 0, len(entries))
    _run(file, evaluator, entries, "neighbour", say)
    candidates = [
        (parameter, _candidate(file, each, None) if isinstance(each, Entry) else each)
        for parameter, each in around
    ]
    return judged(file.goals, chosen, candidates)


def judged(
    goals: Goals, chosen: Candidate, candidates: Sequence[tuple[str, Candidate]]
) -> tuple[Neighbour, ...]:
    """Compare objectives of neighbours with those of the chosen design, corrected for all of them (Holm)."""
    rows = [
        [
            compared(of.number, a, b)
            for of, a, b in zip(goals.objectives, chosen.objectives, candidate.objectives, strict=True)
        ]
        if not candidate.error
        else []
        for _, candidate in candidates
    ]
    contrasts = [each for row in rows for each in row if isinstance(each, Contrast)]
    corrected = iter(holm([contrast.p for contrast in contrasts]))
    found = []
    for (parameter, candidate), row in zip(candidates, rows, strict=True):
        verdicts = tuple(
            by_chance(each, next(corrected), len(contrasts)) if isinstance(each, Contrast) else each
            for each in row
        )
        found.append(Neighbour(parameter, candidate, verdicts, _effect(goals, candidate, verdicts)))
    return tuple(found)


def compared(number: Number, a: Measured, b: Measured) -> Contrast | Verdict:
    """Compare a number of two designs seed by seed."""
    pairs = list(zip(a.values, b.values, strict=True))
    if any(one is None or other is None for one, other in pairs):
        return untold("not measured in both")
    first = [float(one) for one, _ in pairs if one is not None]
    second = [float(other) for _, other in pairs if other is not None]
    if any(math.isinf(value) for value in (*first, *second)):
        return untold("without limit") if first != second else Verdict("none", "the same (without limit)")
    if set(number.metrics) <= set(EXACT):
        return without_chance(first[0], second[0], "by the configuration")
    if len(first) < 2:
        return untold("one seed says nothing about chance")
    share = BUCKET if number.percentile else 0.0
    resolution = (share * sum(first) / len(first), share * sum(second) / len(second))
    return paired(first, second, resolution=resolution)


def _effect(goals: Goals, candidate: Candidate, verdicts: Sequence[Verdict]) -> str:
    """Say in a word what a step aside does."""
    if candidate.error:
        return "cannot be run"
    for measured in candidate.constraints:
        if measured.verdict in (VIOLATED, UNMEASURED):
            return f"{measured.text}: {measured.verdict}"
    good = {"minimise": "lower", "maximise": "higher"}
    shown = [
        verdict.kind == good[of.direction]
        for of, verdict in zip(goals.objectives, verdicts, strict=True)
        if verdict.kind in ("lower", "higher")
    ]
    if not shown:
        return SAME
    return TRADE if len(set(shown)) > 1 else BETTER if shown[0] else WORSE


def _candidate(file: SearchFile, entry: Entry, trial: int | None) -> Candidate:
    design = entry.trial.design
    shown = file.space.shown(design)
    if entry.trial.state != FULL:
        return Candidate(trial, design, shown, error=entry.trial.reason)
    ended = ended_on({workload: entry.runs(workload) for workload in entry.wanted})
    if ended is not None:
        return Candidate(trial, design, shown, error=f"its drive became read-only on {ended}")
    seeds = len(next(iter(entry.wanted.values())))
    runs = [
        Trial(index, design, FULL, metrics={
            workload: numbers_of(entry.runs(workload)[index]) for workload in entry.wanted
        })
        for index in range(seeds)
    ]  # fmt: skip
    return Candidate(
        trial,
        design,
        shown,
        tuple(measured(of, [run.objective(of) for run in runs]) for of in file.goals.objectives),
        tuple(bounded(of, [run.bounded(of) for run in runs]) for of in file.goals.constraints),
        points={workload: points[0].design for workload, points in entry.wanted.items()},
    )


def measured(of: Objective | Constraint, values: Sequence[float | None]) -> Measured:
    """Return the mean of a number over seeds, with its interval."""
    text, known = of.text, [value for value in values if value is not None]
    if len(known) < len(values) or not known:
        return Measured(text, tuple(values), None, None, None)
    if any(math.isinf(value) for value in known):
        return Measured(
            text, tuple(values), math.inf if all(map(math.isinf, known)) else min(known), None, None
        )
    if len(known) == 1:
        return Measured(text, tuple(values), known[0], None, None)
    return Measured(text, tuple(values), *of.number.interval(known))


def bounded(of: Constraint, values: Sequence[float | None]) -> Measured:
    """Return the number of a constraint over seeds, and whether it holds."""
    found = measured(of, values)
    if found.mean is None:
        verdict = UNMEASURED
    elif not of.holds(found.mean):
        verdict = VIOLATED
    elif found.low is None or found.high is None:
        verdict = HOLDS if len(values) == 1 or math.isinf(found.mean) else ON_AVERAGE
    else:
        verdict = HOLDS if of.holds(found.high if of.is_upper else found.low) else ON_AVERAGE
    return dataclasses.replace(found, verdict=verdict)


def as_json(found: Finish) -> dict[str, Any]:
    """Return it as what JSON can hold."""
    stored: dict[str, Any] = _plain(dataclasses.asdict(found))
    for neighbour, original in zip(stored["neighbours"], found.neighbours, strict=True):
        neighbour["verdicts"] = [list(verdict) for verdict in original.verdicts]
    return stored


def of_json(stored: Mapping[str, Any]) -> Finish:
    """Read what `as_json` made."""
    return Finish(
        tuple(_candidate_of(each) for each in stored["candidates"]),
        stored["chosen"],
        tuple(
            Neighbour(
                each["parameter"],
                _candidate_of(each["candidate"]),
                tuple(Verdict(*verdict) for verdict in each["verdicts"]),
                each["effect"],
            )
            for each in stored["neighbours"]
        ),
    )


def _candidate_of(stored: Mapping[str, Any]) -> Candidate:
    lists = {
        name: tuple(
            _measured_of(each)
            for each in stored[name]
        )
        for name in ("objectives", "constraints")
    }  # fmt: skip
    return Candidate(**{**stored, **lists})


def _measured_of(stored: Mapping[str, Any]) -> Measured:
    rest = {key: _number(value) for key, value in stored.items() if key != "values"}
    return Measured(values=tuple(map(_number, stored["values"])), **rest)


def _number(value: Any) -> Any:
    return math.inf if value == "unlimited" else value


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return "unlimited" if isinstance(value, float) and math.isinf(value) else value
