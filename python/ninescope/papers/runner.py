"""Runs experiments in processes of their own, or on the workers of a pool.

A worker loads `experiment.py` and `findings.py`, and cannot open any file of what was published: that has no
way into what is measured. Workers end when the process that started them does.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.util
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from types import ModuleType
from typing import Any

from ninescope._native import ConfigError, SimulationError
from ninescope.figures import Figure
from ninescope.lab import pool
from ninescope.lab.build import of_another, this_worker
from ninescope.papers.experiment import Experiment, Findings, Inferred, Point, Settings, Summary
from ninescope.papers.points import Identity, Kept, PointStore

FORBIDDEN = ("claims.toml", "published.toml", "values.toml")
FINDINGS = "findings.py"
ATTEMPTS = 3
"""So often a simulation is given to a worker that is lost, before it is to blame itself."""


class ExperimentError(RuntimeError):
    """An experiment failed; the message is its traceback."""


@dataclasses.dataclass(frozen=True)
class Step:
    """One point is done."""

    point: str
    done: int
    total: int
    seconds: float
    kept: bool = False
    """It was simulated before, and its result kept."""


@dataclasses.dataclass(frozen=True)
class Measurement:
    """What an experiment measured."""

    results: Mapping[str, dict[str, Any]]
    summary: Summary
    figures: tuple[Figure, ...]
    seconds: float
    """Wall time of this run; what was kept is not in it."""
    busy_seconds: float = 0.0
    """What all points took together when they were simulated."""
    parameters: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    """What each point was told, by its name."""
    configuration: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """What the experiment sets beside its files: TOML by its name."""


def measure(
    experiment: Path,
    settings: Settings,
    *,
    jobs: int | None = None,
    on_step: Callable[[Step], None] | None = None,
    select: Callable[[Point], bool] | None = None,
    keep_in: Path | None = None,
    workers: pool.Pool | None = None,
) -> Measurement:
    """Run an experiment: its points side by side, `jobs` at a time (by default one per processor).

    `select` leaves points out; then there is no summary. Results of points are kept in the folder `keep_in`,
    and what is kept there is not simulated again. `workers` simulate instead of processes of this machine;
    they see the experiment's folder under the same path, and do one thing at a time each.
    """
    [found] = measure_each(
        experiment,
        [settings],
        jobs=jobs,
        on_step=on_step,
        select=select,
        keep_in=keep_in,
        workers=workers,
    )
    return found


def measure_each(
    experiment: Path,
    each: Sequence[Settings],
    *,
    jobs: int | None = None,
    on_step: Callable[[Step], None] | None = None,
    select: Callable[[Point], bool] | None = None,
    keep_in: Path | None = None,
    workers: pool.Pool | None = None,
) -> list[Measurement]:
    """Run an experiment with several settings, all their points side by side."""
    began = time.monotonic()
    if not experiment.is_file():
        raise ConfigError(f"{experiment}: there is no such file")
    with pool.local(jobs if workers is None else 1, begin=_begin_worker) as here:
        start = here.submit
        wanted: list[list[Point]] = []
        for settings in each:
            points: list[Point] = _answer(start(_points, experiment, settings))
            wanted.append([point for point in points if select is None or select(point)])
        tasks = [(number, point) for number, points in enumerate(wanted) for point in points]
        # The heaviest first, those of one point after each other: a worker may keep what they share.
        tasks.sort(key=lambda task: (-task[1].weight, task[1].name))
        found = _simulated(workers or here, experiment, each, tasks, on_step, keep_in)
        measurements = []
        for number, settings in enumerate(each):
            # In one order, whoever was done first.
            results = {point.name: found[number, point.name].result for point in wanted[number]}
            busy = sum(found[number, point.name].seconds for point in wanted[number])
            summary, figures, sets = Summary({}), (), {}
            if select is None:
                summary = _answer(start(_summarise, experiment, results, settings))
                figures = tuple(_answer(start(_figures, experiment, results, settings)))
                sets = _answer(start(_configuration, experiment, settings))
            told = {point.name: point.parameters for point in wanted[number]}
            took = time.monotonic() - began
            measurements.append(Measurement(results, summary, figures, took, busy, told, sets))
    return measurements


def _simulated(
    workers: pool.Pool,
    experiment: Path,
    each: Sequence[Settings],
    tasks: Sequence[tuple[int, Point]],
    on_step: Callable[[Step], None] | None,
    keep_in: Path | None,
) -> dict[tuple[int, str], Kept]:
    """Simulate what is not kept; return all, by the number of the settings and the name of the point."""
    found: dict[tuple[int, str], Kept] = {}

    def is_done(task: tuple[int, Point], what: Kept, *, kept: bool) -> None:
        number, point = task
        found[number, point.name] = what
        if on_step is not None:
            on_step(Step(_words(each[number], point), len(found), len(tasks), what.seconds, kept))

    identity = Identity.of(experiment)
    stores = [None if keep_in is None else PointStore(keep_in, identity, settings) for settings in each]
    left = []
    for number, point in tasks:
        store = stores[number]
        if store is not None and (what := store.get(point)) is not None:
            is_done((number, point), what, kept=True)
        else:
            left.append((number, point))
    for (number, point), answer in _answers(workers, experiment, identity, each, left):
        what = Kept(*answer)
        store = stores[number]
        if store is not None:
            store.put(point, what)
        is_done((number, point), what, kept=False)
    return found


def _answers(
    workers: pool.Pool,
    experiment: Path,
    identity: Identity,
    each: Sequence[Settings],
    tasks: Sequence[tuple[int, Point]],
) -> Iterator[tuple[tuple[int, Point], Any]]:
    """Simulate tasks; yield what each comes to when it is done. What a lost worker had is begun again."""
    under_way: dict[Future[Any], tuple[tuple[int, Point], int]] = {}

    def begin(task: tuple[int, Point], attempt: int) -> None:
        future = workers.submit(_simulate, experiment, identity, task[1], each[task[0]])
        under_way[future] = (task, attempt)

    for task in tasks:
        begin(task, 1)
    while under_way:
        for future in wait(under_way, return_when=FIRST_COMPLETED).done:
            task, attempt = under_way.pop(future)
            error = future.exception()
            found = None if error is None else workers.failure(error)
            if found is None:
                yield task, _answer(future)
            elif not isinstance(found, pool.WorkerLostError):
                raise found
            elif attempt < ATTEMPTS:
                begin(task, attempt + 1)
            else:
                raise ExperimentError(f"a simulation ended before its time, {attempt} times: {found}")


def _words(settings: Settings, point: Point) -> str:
    return f"{settings.varied} x {settings.factor:g}: {point.name}" if settings.varied else point.name


def inferred(experiment: Path) -> tuple[Inferred, ...]:
    """Return what an experiment infers."""
    with pool.local(1, begin=_begin_worker) as workers:
        found: tuple[Inferred, ...] = _answer(workers.submit(_inferred, experiment))
    return found


def volumes(experiment: Path) -> tuple[str, ...]:
    """Return the published volumes that an experiment runs."""
    with pool.local(1, begin=_begin_worker) as workers:
        found: tuple[str, ...] = _answer(workers.submit(_volumes, experiment))
    return found


def _answer(future: Future[Any]) -> Any:
    try:
        kind, answer = future.result()
    except pool.WorkerLostError as error:
        raise ExperimentError(f"a simulation ended before its time: {error}") from None
    errors = {"config": ConfigError, "simulation": SimulationError, "experiment": ExperimentError}
    if kind in errors:
        raise errors[kind](answer)
    return answer


# ---- in the worker ------------------------------------------------------------------------------------


_is_guarded = threading.Event()


def _begin_worker() -> None:
    """Refuse from now on what no experiment reads; a worker of others begins with its first task."""
    if not _is_guarded.is_set():
        _is_guarded.set()
        sys.addaudithook(_refuse_claims)


def _refuse_claims(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" or not isinstance(arguments[0], str | bytes):
        return
    name = os.path.basename(os.fsdecode(arguments[0]))
    if name in FORBIDDEN:
        raise PermissionError(f"an experiment does not read {name}: what was published measures nothing")


def _guarded(function: Callable[[], Any]) -> tuple[str, Any]:
    """Call; bring errors home as text, because not every exception can cross."""
    try:
        return "done", function()
    except ConfigError as error:
        return "config", str(error)
    except SimulationError as error:
        return "simulation", str(error)
    except Exception:
        return "experiment", traceback.format_exc()


def load(path: Path) -> Experiment:
    """Load an `experiment.py`, once for each content."""
    module = _module(path)
    for function in ("points", "simulate"):
        if not callable(getattr(module, function, None)):
            raise ConfigError(f"{path}: there is no function {function}")
    experiment: Experiment = module
    return experiment


def load_findings(path: Path) -> Findings:
    """Load the `findings.py` beside an `experiment.py`, once; without one it is the latter."""
    beside = path.with_name(FINDINGS)
    module = _module(path)
    if beside.exists():
        # Every folder has an `experiment`: the name means this one while the file beside it is loaded.
        with _named("experiment", module):
            module = _module(beside)
    if not callable(getattr(module, "summarise", None)):
        raise ConfigError(f"{beside if beside.exists() else path}: there is no function summarise")
    findings: Findings = module
    return findings


@contextlib.contextmanager
def _named(name: str, module: ModuleType) -> Iterator[None]:
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        yield
    finally:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before


def _module(path: Path) -> ModuleType:
    # By content: a worker of a cluster lives on while somebody changes the file.
    content = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    name = f"ninescope_experiment_{path.parent}_{path.stem}_{content}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path}: is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.dont_write_bytecode = writes
    return module


def _points(path: Path, settings: Settings) -> tuple[str, Any]:
    def run() -> list[Point]:
        points = load(path).points(settings)
        names = [point.name for point in points]
        if len(set(names)) < len(names):
            raise ConfigError(f"{path}: two points have one name")
        return points

    return _guarded(run)


def _simulate(path: Path, identity: Identity, point: Point, settings: Settings) -> tuple[str, Any]:
    _begin_worker()

    def run() -> tuple[dict[str, Any], float]:
        _refuse_others(path, identity)
        began = time.monotonic()
        result = load(path).simulate(point, settings)
        # Through JSON, so that a result is the same whether it was kept or just made.
        return json.loads(json.dumps(result, allow_nan=False)), time.monotonic() - began

    return _guarded(run)


def _refuse_others(path: Path, identity: Identity) -> None:
    """Refuse to simulate as another build, or another state of the experiment, than whoever asks."""
    here = Identity.of(path)
    if here.build != identity.build:
        raise ConfigError(of_another(this_worker(), here.build, identity.build))
    if here.experiment != identity.experiment:
        raise ConfigError(
            f"worker {this_worker()} sees other files in {path.parent} than this run began with: "
            "were they changed just now?"
        )


def _summarise(path: Path, results: Mapping[str, dict[str, Any]], settings: Settings) -> tuple[str, Any]:
    def run() -> Summary:
        summary = load_findings(path).summarise(results, settings)
        json.dumps(dict(summary.measured), allow_nan=False)
        return summary

    return _guarded(run)


def _figures(path: Path, results: Mapping[str, dict[str, Any]], settings: Settings) -> tuple[str, Any]:
    def run() -> list[Figure]:
        findings = load_findings(path)
        return list(findings.figures(results, settings)) if hasattr(findings, "figures") else []

    return _guarded(run)


def _configuration(path: Path, settings: Settings) -> tuple[str, Any]:
    def run() -> dict[str, str]:
        findings = load_findings(path)
        return dict(findings.configuration(settings)) if hasattr(findings, "configuration") else {}

    return _guarded(run)


def _volumes(path: Path) -> tuple[str, Any]:
    return _guarded(lambda: tuple(getattr(load(path), "VOLUMES", ())))


def _inferred(path: Path) -> tuple[str, Any]:
    return _guarded(lambda: tuple(getattr(load(path), "INFERRED", ())))
