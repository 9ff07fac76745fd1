"""Runs experiments in processes of their own, or on the workers of a pool.

A worker loads `experiment.py`, `further.py` and `findings.py`, and cannot open any file of what was
published: that has no way into what is measured. Workers end when the process that started them does.
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
from typing import Any, NamedTuple

from ninescope._native import ConfigError, SimulationError
from ninescope.figures import Figure
from ninescope.lab import pool
from ninescope.lab.build import of_another, this_worker
from ninescope.papers.experiment import Experiment, Findings, Inferred, Point, Settings, Summary, Table
from ninescope.papers.points import FURTHER, Identity, Kept, PointStore

FORBIDDEN = ("claims.toml", "marks.toml", "published.toml", "values.toml")
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

    def with_tables(self, more: Sequence[Table]) -> Measurement:
        """Return the same with tables that the experiment itself cannot make."""
        if not more:
            return self
        tables = [*self.summary.tables, *more]
        return dataclasses.replace(self, summary=dataclasses.replace(self.summary, tables=tables))


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
        tasks: list[Task] = []
        for number, settings in enumerate(each):
            listed: list[tuple[Path, Point]] = _answer(start(_points, experiment, settings))
            chosen = [(source, point) for source, point in listed if select is None or select(point)]
            wanted.append([point for _, point in chosen])
            tasks += [Task(number, source, point) for source, point in chosen]
        # The heaviest first, those of one point after each other: a worker may keep what they share.
        tasks.sort(key=lambda task: (-task.point.weight, task.point.name))
        found = _simulated(workers or here, each, tasks, on_step, keep_in)
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


class Task(NamedTuple):
    """A point to simulate."""

    number: int
    """Of its settings."""
    source: Path
    """The file that says it."""
    point: Point


def _simulated(
    workers: pool.Pool,
    each: Sequence[Settings],
    tasks: Sequence[Task],
    on_step: Callable[[Step], None] | None,
    keep_in: Path | None,
) -> dict[tuple[int, str], Kept]:
    """Simulate what is not kept; return all, by the number of the settings and the name of the point."""
    found: dict[tuple[int, str], Kept] = {}

    def is_done(task: Task, what: Kept, *, kept: bool) -> None:
        found[task.number, task.point.name] = what
        if on_step is not None:
            words = _words(each[task.number], task.point)
            on_step(Step(words, len(found), len(tasks), what.seconds, kept))

    identities = {source: Identity.of(source) for source in {task.source for task in tasks}}

    def store_of(task: Task) -> PointStore | None:
        settings = each[task.number]
        return None if keep_in is None else PointStore(keep_in, identities[task.source], settings)

    left = []
    for task in tasks:
        store = store_of(task)
        if store is not None and (what := store.get(task.point)) is not None:
            is_done(task, what, kept=True)
        else:
            left.append(task)
    for task, answer in _answers(workers, identities, each, left):
        what = Kept(*answer)
        if (store := store_of(task)) is not None:
            store.put(task.point, what)
        is_done(task, what, kept=False)
    return found


def _answers(
    workers: pool.Pool, identities: Mapping[Path, Identity], each: Sequence[Settings], tasks: Sequence[Task]
) -> Iterator[tuple[Task, Any]]:
    """Simulate tasks; yield what each comes to when it is done. What a lost worker had is begun again."""
    under_way: dict[Future[Any], tuple[Task, int]] = {}

    def begin(task: Task, attempt: int) -> None:
        identity = identities[task.source]
        future = workers.submit(_simulate, task.source, identity, task.point, each[task.number])
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


def inferred(experiment: Path, *, varied: bool = False) -> tuple[Inferred, ...]:
    """Return what an experiment infers; `varied` leaves out what its own runs do not hang on."""
    named = [experiment] if varied else sources(experiment)
    with pool.local(1, begin=_begin_worker) as workers:
        found: list[tuple[Inferred, ...]] = [_answer(workers.submit(_inferred, one)) for one in named]
    return tuple(value for values in found for value in values)


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
    """Load an `experiment.py`, or the `further.py` beside it, once for each content."""
    if not path.is_file():
        raise ConfigError(f"{path}: there is no such file")
    module = _module(path) if path.name != FURTHER else _load_beside(path, [path.with_name("experiment.py")])
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
        module = _load_beside(beside, sources(path))
    if not callable(getattr(module, "summarise", None)):
        raise ConfigError(f"{beside if beside.exists() else path}: there is no function summarise")
    findings: Findings = module
    return findings


def sources(experiment: Path) -> list[Path]:
    """Return the files that say what is simulated."""
    further = experiment.with_name(FURTHER)
    return [experiment, further] if further.exists() else [experiment]


def _load_beside(path: Path, before: Sequence[Path]) -> ModuleType:
    """Load a file of an experiment.

    Every folder has an `experiment`: the name means this one while the file is loaded.
    """
    with contextlib.ExitStack() as stack:
        for one in before:
            module = _module(one)
            stack.enter_context(_named(one.stem, module))
        return _module(path)


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
    def run() -> list[tuple[Path, Point]]:
        points = [(source, point) for source in sources(path) for point in load(source).points(settings)]
        names = [point.name for _, point in points]
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
