"""A calibration from file to record: fit, intervals, and the error of every figure."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np

from ninescope import toml
from ninescope._native import ConfigError
from ninescope.lab import pool
from ninescope.lab.calibrate.choices import Choices, values_of
from ninescope.lab.calibrate.evaluate import Evaluator
from ninescope.lab.calibrate.file import DeviceFile
from ninescope.lab.calibrate.fit import (
    GAIN,
    GOOD_ENOUGH,
    STEP,
    Fit,
    beside,
    is_smooth,
    place_of,
    refuse_without_optimiser,
    value_at,
)
from ninescope.lab.calibrate.linear import Said, said
from ninescope.lab.calibrate.record import Calibration, Fitted, Other, Row, choices_shown
from ninescope.lab.search.space import Design, Parameter, Raw
from ninescope.lab.sweep.lake import SNAPSHOTS, Lake
from ninescope.lab.sweep.point import current_build
from ninescope.lab.sweep.prepared import PreparedDrives
from ninescope.lab.sweep.runner import Runner, refuse_other_builds
from ninescope.lab.sweep.store import FolderStore
from ninescope.lab.sweep.sweep import workers_of
from ninescope.lab.sweep.values import number_and_unit
from ninescope.simulation.drive import Drive
from ninescope.simulation.validated import with_kinds

LAKE = "lake"
"""The folder of the runs, beside what a calibration writes."""
CLOSE = 0.9
"""Parameters that correlate by more are named."""
Say = Callable[[str], None]


def calibrate(
    file: DeviceFile,
    out: str | os.PathLike[str] | None = None,
    *,
    executor: Executor | pool.Pool | None = None,
    jobs: int | None = None,
    memory: int | None = None,
    on_step: Say | None = None,
) -> Calibration:
    """Fit what is open to the figures that are to be fitted, and say by how much every figure is missed.

    Runs are kept in the lake `out/lake`, so that a calibration that was interrupted goes on; without `out` in
    one that goes away. Workers are chosen as for a sweep, and change nothing in what is found.
    """
    refuse_without_optimiser()
    with _evaluator(file, out, executor, jobs, memory, on_step) as evaluator:
        fit = Fit(file, evaluator)
        best = fit.best()
        while True:
            evaluator.say("slopes near the fit")
            found = _Slopes(file, evaluator, best.design).found()
            found.others = Choices(file, fit, best, found.said.sigma, found.half).all()
            if best.cost < GOOD_ENOUGH or fit.top.cost > best.cost * (1 - GAIN):
                break
            best = fit.again()  # beside another choice, to which the fit had not come
        return _record(file, evaluator, file.settings(best.design), best.design, found)


def tried(
    file: DeviceFile,
    drive: Drive,
    out: str | os.PathLike[str] | None = None,
    *,
    executor: Executor | pool.Pool | None = None,
    jobs: int | None = None,
    memory: int | None = None,
    on_step: Say | None = None,
) -> Calibration:
    """Say by how much a drive that is there misses every figure; nothing is fitted."""
    file = dataclasses.replace(file, base=dataclasses.replace(file.base, drive=drive, set_={}))
    with _evaluator(file, out, executor, jobs, memory, on_step) as evaluator:
        return _record(file, evaluator, {}, {}, None)


@contextlib.contextmanager
def _evaluator(
    file: DeviceFile,
    out: str | os.PathLike[str] | None,
    executor: Executor | pool.Pool | None,
    jobs: int | None,
    memory: int | None,
    on_step: Say | None,
) -> Iterator[Evaluator]:
    """Open a lake and workers."""
    with contextlib.ExitStack() as stack:
        if out is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ninescope-")))
        else:
            folder = Path(out) / LAKE
        workers = stack.enter_context(workers_of(executor, jobs, memory))
        refuse_other_builds(workers)
        lake = Lake.open(folder, create=True)
        lake.sweep_up()
        kept = None
        if workers.shares_files and isinstance(lake.store, FolderStore):
            kept = PreparedDrives(lake.store.path(SNAPSHOTS).absolute())
        yield Evaluator(file, Runner(lake, workers, prepared=kept), on_step or (lambda words: None))


@dataclasses.dataclass
class _Found:
    """What the figures say of parameters."""

    smooth: list[str]
    """Those that are numbers, in the order of what is said of them."""
    said: Said
    others: Mapping[str, tuple[Other, ...]] = dataclasses.field(default_factory=dict)
    """Of each one that is none, what its other values come to."""

    def half(self, name: str) -> float | None:
        """Return half the width of a number's interval, in places."""
        return self.said.half[self.smooth.index(name)] if name in self.smooth else None

    @property
    def undetermined(self) -> tuple[str, ...]:
        """The numbers of which no figure says anything."""
        return tuple(self.smooth[index] for index in self.said.undetermined)

    @property
    def together(self) -> tuple[tuple[str, ...], ...]:
        """Parameters that are known only together: numbers, and choices with what changes beside them."""
        groups = [tuple(self.smooth[index] for index in group) for group in self.said.together]
        for name, others in self.others.items():
            beside = dict.fromkeys(each for other in others for each, _ in other.moved)
            if beside:
                groups.append((name, *beside))
        return tuple(groups)


class _Slopes:
    """Finite differences around the fit, in several seeds."""

    def __init__(self, file: DeviceFile, evaluator: Evaluator, design: Design) -> None:
        self._file, self._evaluator, self._design = file, evaluator, design
        self.smooth = [each for each in file.space.parameters if is_smooth(each) and each.name in design]
        self._figures = [figure for figure in file.figures if figure.use == "fit"]

    def found(self) -> _Found:
        """Return what the figures say of the parameters that are numbers."""
        seeds = range(1, self._file.seeds + 1)
        pairs = [beside(parameter, self._design, STEP) for parameter in self.smooth]
        designs = [self._design, *itertools.chain.from_iterable(pairs)]
        found = self._evaluator.misses(
            [self._file.settings(each) for each in designs], self._figures, list(seeds)
        )
        here = _numbers(found[0])
        columns = []
        for index, (parameter, (low, high)) in enumerate(zip(self.smooth, pairs, strict=True)):
            span = place_of(parameter, high[parameter.name]) - place_of(parameter, low[parameter.name])
            rise = _numbers(found[2 * index + 2]) - _numbers(found[2 * index + 1])
            # A figure that one side has not is left out.
            columns.append(np.nan_to_num(np.mean(rise, axis=0) / span if span > 0 else 0 * rise[0]))
        noise = 0.0
        if len(here) > 1:
            noise = float(np.nanmean(np.nanstd(here, axis=0, ddof=1))) / math.sqrt(len(here))
        misses = [float(each) for each in np.nan_to_num(np.nanmean(here, axis=0))]
        slopes = np.array(columns).reshape(len(self.smooth), len(misses)).T
        names = [parameter.name for parameter in self.smooth]
        return _Found(names, said(slopes, misses, noise, self._file.accuracy))


def _numbers(of_seeds: list[list[float | None]]) -> Any:
    return np.array([[np.nan if miss is None else miss for miss in each] for each in of_seeds], float)


def _record(
    file: DeviceFile,
    evaluator: Evaluator,
    settings: Mapping[str, Any],
    design: Design,
    found: _Found | None,
) -> Calibration:
    """Run every figure with several seeds, and write down what it came to."""
    evaluator.say(f"all {len(file.figures)} figures, {file.seeds} seeds each")
    seeds = list(range(1, file.seeds + 1))
    misses = evaluator.misses([settings], file.figures, seeds)[0]
    rows = tuple(
        Row.of(figure, [of_seed[index] for of_seed in misses], evaluator.reasons.get(figure.label, ""))
        for index, figure in enumerate(file.figures)
    )
    calibration = Calibration(
        file.name,
        file.summary,
        "",
        tuple(_parameters(file, design, found)) if found else (),
        rows,
        found.undetermined if found else (),
        found.together if found else (),
        tuple(_correlated(found.smooth, found.said)) if found else (),
        found.said.singular if found else (),
        found.said.sigma if found else 0.0,
        tuple(file.sources.items()),
        (*file.notes, *(f"{one.name}: {one.note}" for one in file.sets if one.note)),
        file.seeds,
        evaluator.effort(),
        current_build(),
    )
    return _with_drive(file, calibration, settings)


def _parameters(file: DeviceFile, design: Design, found: _Found) -> Iterator[Fitted]:
    weak = {*found.undetermined, *itertools.chain.from_iterable(found.together)}
    for parameter in file.space.parameters:
        name = parameter.name
        if name not in design:
            continue
        value = parameter.shown(design[name])
        half = found.half(name)
        if half is None:
            yield _chosen(parameter, value, found.others[name])
            continue
        place = place_of(parameter, design[name])
        low, high = (parameter.shown(value_at(parameter, place + sign * half)) for sign in (-1, 1))
        bounds = parameter.shown(parameter.low), parameter.shown(parameter.high)
        yield Fitted(name, value, low, high, bounds, name not in weak)


def _chosen(parameter: Parameter, value: str, others: tuple[Other, ...]) -> Fitted:
    """Say of a value out of several which others meet the figures as well."""
    values = tuple(parameter.shown(each) for each in values_of(parameter))
    # Between two values either is an end: nothing can be asked of what is beyond.
    has_ends = parameter.kind != "choice" and len(values) > 2
    return Fitted(
        parameter.name,
        value,
        bounds=(values[0], values[-1]) if has_ends else ("", ""),
        is_determined=not any(other.is_alike for other in others),
        values=values,
        others=others,
    )


def _correlated(names: list[str], found: Said) -> Iterator[tuple[str, str, float]]:
    for one, other in itertools.combinations(range(len(names)), 2):
        if abs(found.correlation[one][other]) >= CLOSE:
            yield names[one], names[other], round(found.correlation[one][other], 3)


def _fitted_sources(file: DeviceFile, calibration: Calibration) -> Iterator[tuple[str, str]]:
    """Say of each key that was fitted by which parameters, and between which values these lie."""
    told: dict[str, list[str]] = {}
    for each in calibration.parameters:
        interval = f" (95 % from {each.low} to {each.high})" if each.low else ""
        weak = "" if each.is_determined else ", which the figures do not determine"
        if each.others:
            interval = f" ({choices_shown(each)})"
        for key in file.keys_of(each.name):
            name = f"{each.name} " if key != each.name else ""
            told.setdefault(key, []).append(f"{name}{each.value}{interval}{weak}")
    for key, words in told.items():
        yield key, f"calibrated to figures of {file.name}: {'; '.join(words)}"


def rewritten(file: DeviceFile, calibration: Calibration) -> Calibration:
    """Write the drive of a stored calibration anew, with what is said of its values; nothing is run."""
    design: Design = {}
    for each in calibration.parameters:
        design[each.name] = _raw(file.space[each.name], each.value)
    return _with_drive(file, calibration, file.settings(design))


def _raw(parameter: Parameter, value: str) -> Raw:
    """Return what `shown` wrote."""
    if parameter.kind in ("choice", "ordered"):
        return next(each for each in values_of(parameter) if parameter.shown(each) == value)
    number = number_and_unit(value, parameter.name)[0]
    return int(number) if parameter.kind == "whole" else float(number)


def _with_drive(file: DeviceFile, calibration: Calibration, settings: Mapping[str, Any]) -> Calibration:
    """Write the drive: complete, with where its values come from, and what it was validated on."""
    point = file.base.point({**settings, "workload": next(iter(file.base.workloads))})
    document = toml.loads(point.config)
    document["summary"] = file.summary or file.name
    sources = document.setdefault("sources", {})
    of_preset = (file.base.drive.source or {}).get("preset")
    if of_preset is not None:  # what was said of another drive, where its value is kept
        for key, source in sources.items():
            sources[key] = f"as in {of_preset}: {source}"
    measured = {(row.set, row.case, row.metric) for row in calibration.rows if row.error is not None}
    kinds = [kind for figure in file.figures if figure.key in measured for kind in file.kinds_of(figure)]
    sources["summary"] = with_kinds(calibration.verdict(), kinds)
    # Also where the value is that of the drive it is based on, whose reason was another one.
    sources |= dict.fromkeys(file.base.set_, f"set by the device file of {file.name}")
    sources |= dict(_fitted_sources(file, calibration))
    try:
        return dataclasses.replace(calibration, drive=toml.dumps(document))
    except TypeError as error:  # a value that TOML has no words for
        raise ConfigError(f"the drive cannot be written: {error}") from None
