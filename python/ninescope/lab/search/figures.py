"""Figures of a search, as data."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.figures import PALETTE, Axis, Figure, Panel, Series
from ninescope.lab.search.goals import Number, Objective
from ninescope.lab.search.record import Record
from ninescope.lab.search.trial import FULL, PRUNED, Trial
from ninescope.result.metrics import unit

_GREY = "#9a9a9a"
_LIGHT = "#d0a58a"
_WIDE = 6.0
"""An axis whose values differ by so many times is logarithmic."""


def front_figure(record: Record, x: str | None = None, y: str | None = None) -> Figure:
    """Draw two objectives against each other: the front, and what was tried beside it."""
    objectives = record.goals.objectives
    if len(objectives) < 2 and (x is None or y is None):
        return course_figure(record)
    one, other = _objective(record, x, 0), _objective(record, y, 1)
    return Figure(
        "front", "The front, and what was tried", [_plane(record, one, other)], _caption(record), columns=1
    )


def _objective(record: Record, name: str | None, place: int) -> Objective:
    objectives = record.goals.objectives
    if name is None:
        return objectives[place]
    known = {of.text: of for of in objectives}
    if name not in known:
        raise ConfigError(f"{name!r} is no objective of {record.name}{did_you_mean(name, known)}")
    return known[name]


def _plane(record: Record, one: Objective, other: Objective) -> Panel:
    goals = record.goals
    front = {trial.number for trial in record.front}
    groups: dict[str, list[Trial]] = {
        "pruned (short runs)": [],
        "violates a constraint": [],
        "feasible": [],
        "front": [],
    }
    for trial in record.distinct:
        if trial.number in front:
            groups["front"].append(trial)
        elif trial.state == PRUNED:
            groups["pruned (short runs)"].append(trial)
        elif trial.state == FULL:
            groups["feasible" if trial.is_feasible(goals) else "violates a constraint"].append(trial)
    colours = (_LIGHT, _GREY, PALETTE[0], PALETTE[1])
    series = []
    for (label, trials), colour in zip(groups.items(), colours, strict=True):
        places = [(a, b) for trial in trials if (a := _value(trial, one)) is not None
                  and (b := _value(trial, other)) is not None]  # fmt: skip
        if label == "front":
            places.sort()
        if places:
            form = "line" if label == "front" and len(places) > 1 else "points"
            series.append(Series(label, [a for a, _ in places], [b for _, b in places], form, colour=colour))  # type: ignore[arg-type]
    series += _candidates(record, one, other)
    lines = [
        (of.text, of.limit * unit(of.number.metrics[0]).scale)
        for of in goals.constraints
        if of.number.metrics == other.number.metrics and of.workload == other.workload
    ]
    return Panel("", _axis(one, series, "x"), _axis(other, series, "y"), series, lines)


def _candidates(record: Record, one: Objective, other: Objective) -> list[Series]:
    """Draw the chosen design where several seeds put it."""
    finish = record.finish
    if finish.chosen is None:
        return []
    chosen = finish.candidates[finish.chosen]
    texts = [of.text for of in record.goals.objectives]
    a, b = (chosen.objectives[texts.index(of.text)] for of in (one, other))
    if a.mean is None or b.mean is None or not math.isfinite(a.mean) or not math.isfinite(b.mean):
        return []
    scale = _scale(other.number)
    low = [b.low * scale] if b.low is not None else []
    high = [b.high * scale] if b.high is not None else []
    x, y = [a.mean * _scale(one.number)], [b.mean * scale]
    return [Series("the answer, over seeds", x, y, "points", low, high, colour=PALETTE[2])]


def course_figure(record: Record) -> Figure:
    """Draw how the objectives of designs went on, trial by trial."""
    return Figure(
        "course",
        "In the course of the search",
        [_course(record, of) for of in record.goals.objectives],
        "Designs in the order in which they were tried; the line is the best so far that keeps all limits.",
    )


def _course(record: Record, of: Objective) -> Panel:
    goals = record.goals
    kept = [trial for trial in record.distinct if trial.is_feasible(goals) and _value(trial, of) is not None]
    others = [
        trial
        for trial in record.distinct
        if trial.state == FULL and not trial.is_feasible(goals) and _value(trial, of) is not None
    ]
    series = []
    for label, trials, colour in (("violates a constraint", others, _GREY), ("feasible", kept, PALETTE[0])):
        if trials:
            values = [_value(trial, of) for trial in trials]
            series.append(Series(label, [trial.number for trial in trials], values, "points", colour=colour))
    if kept:
        best: list[float] = []
        for trial in kept:
            value = _value(trial, of) or 0.0
            pick = min if of.direction == "minimise" else max
            best.append(pick(best[-1], value) if best else value)
        series.append(
            Series("best so far", [trial.number for trial in kept], best, "steps", colour=PALETTE[1])
        )
    return Panel(of.text, Axis("trial"), _axis(of, series, "y"), series)


def importance_figure(record: Record) -> Figure | None:
    """Draw which parameters are behind the objectives; None where too little is known."""
    if not record.importance:
        return None
    names = list(dict.fromkeys(name for shares in record.importance.values() for name in shares))
    series = [
        Series(text, range(len(names)), [100 * shares.get(name, 0.0) for name in names], "bars")
        for text, shares in record.importance.items()
    ]
    panel = Panel("", Axis("", categories=names), Axis("share [%]", low=0.0), series)
    caption = (
        "By PED-ANOVA (Watanabe, Bansal and Hutter, IJCAI 2023): what tells the best designs from others, "
        "over all that have a value, pruned ones included."
    )
    return Figure("importance", "What is behind the objectives", [panel], caption, columns=1)


def _value(trial: Trial, of: Objective) -> float | None:
    value = trial.objective(of)
    return None if value is None or math.isinf(value) else value * _scale(of.number)


def _scale(number: Number) -> float:
    return unit(number.metrics[0]).scale


def _axis(of: Objective, series: Sequence[Series], side: str) -> Axis:
    label = unit(of.number.metrics[0]).label
    if len(of.number.metrics) > 1:
        label = label.replace("read ", "", 1)
    values = [value for each in series for value in (each.x if side == "x" else each.y) if value is not None]
    is_log = bool(values) and min(values) > 0 and max(values) > _WIDE * min(values)
    return Axis(label + (f", {of.workload}" if of.workload else ""), log=is_log)


def _caption(record: Record) -> str:
    several = len(record.workloads) > 1
    worst = " Of several workloads the worst counts." if several else ""
    return f"One seed each; pruned designs stand where their short runs put them.{worst}"
