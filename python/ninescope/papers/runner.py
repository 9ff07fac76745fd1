"""Runs experiments in processes of their own.

A worker loads `experiment.py`, and cannot open any `claims.toml`: what was published has no way into what is
measured. Workers end when the process that started them does.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import json
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from ninescope._native import ConfigError, SimulationError
from ninescope.papers.experiment import Experiment, Point, Settings, Summary
from ninescope.papers.points import Kept, PointStore

FORBIDDEN = "claims.toml"
NEEDED = ("points", "simulate", "summarise")


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
    figures: tuple[Path, ...]
    seconds: float


def measure(
    experiment: Path,
    settings: Settings,
    *,
    jobs: int | None = None,
    draw_into: Path | None = None,
    on_step: Callable[[Step], None] | None = None,
    select: Callable[[Point], bool] | None = None,
    keep_in: Path | None = None,
) -> Measurement:
    """Run an experiment: its points side by side, `jobs` at a time (by default one per processor).

    `select` leaves points out; then there is no summary. Results of points are kept in the folder `keep_in`,
    and what is kept there is not simulated again.
    """
    began = time.monotonic()
    if not experiment.is_file():
        raise ConfigError(f"{experiment}: there is no such file")
    with _workers(jobs or os.cpu_count() or 1) as start:
        points: list[Point] = _answer(start(_points, experiment, settings))
        points = [point for point in points if select is None or select(point)]
        points.sort(key=lambda point: -point.weight)
        results: dict[str, dict[str, Any]] = {}

        def is_done(point: Point, found: Kept, *, kept: bool) -> None:
            results[point.name] = found.result
            if on_step is not None:
                on_step(Step(point.name, len(results), len(points), found.seconds, kept))

        store = None if keep_in is None else PointStore(keep_in, experiment, settings)
        left = []
        for point in points:
            if store is not None and (found := store.get(point)) is not None:
                is_done(point, found, kept=True)
            else:
                left.append(point)
        under_way = {start(_simulate, experiment, point, settings): point for point in left}
        for future in as_completed(under_way):
            point, found = under_way[future], Kept(*_answer(future))
            if store is not None:
                store.put(point, found)
            is_done(point, found, kept=False)
        # In one order, whoever was done first.
        results = {point.name: results[point.name] for point in points}
        if select is not None:
            return Measurement(results, Summary({}), (), time.monotonic() - began)
        summary: Summary = _answer(start(_summarise, experiment, results, settings))
        figures: tuple[Path, ...] = ()
        if draw_into is not None:
            figures = tuple(_answer(start(_draw, experiment, results, draw_into, settings)))
    return Measurement(results, summary, figures, time.monotonic() - began)


@contextlib.contextmanager
def _workers(count: int) -> Iterator[Callable[..., Future[Any]]]:
    """Give a function that starts a call in a worker; when the block is left early, the workers are ended."""
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), _begin_worker)

    def start(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        # Ctrl-C reaches every process of the terminal's group. It is blocked while a worker starts, which
        # inherits that: the parent alone decides what it means.
        with _blocked_signals():
            return pool.submit(function, *arguments)

    try:
        yield start
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown()


@contextlib.contextmanager
def _blocked_signals() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _answer(future: Future[Any]) -> Any:
    try:
        kind, answer = future.result()
    except BrokenProcessPool:
        raise ExperimentError(
            "a worker process ended before its work did (is there enough memory?)"
        ) from None
    errors = {"config": ConfigError, "simulation": SimulationError, "experiment": ExperimentError}
    if kind in errors:
        raise errors[kind](answer)
    return answer


# ---- in the worker ------------------------------------------------------------------------------------


def _begin_worker() -> None:
    # What an experiment prints is no result: standard output belongs to the verdicts.
    os.dup2(2, 1)
    sys.addaudithook(_refuse_claims)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _refuse_claims(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" or not isinstance(arguments[0], str | bytes):
        return
    if os.path.basename(os.fsdecode(arguments[0])) == FORBIDDEN:
        raise PermissionError(f"an experiment does not read {FORBIDDEN}: what was published measures nothing")


def _end_with(sentinel: Any) -> None:
    """Wait for the end of the parent."""
    multiprocessing.connection.wait([sentinel])
    os._exit(1)


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


def _load(path: Path) -> Experiment:
    name = "ninescope_experiment_" + path.parent.name.replace("-", "_")
    if name in sys.modules:
        loaded: Experiment = sys.modules[name]
        return loaded
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
    for function in NEEDED:
        if not callable(getattr(module, function, None)):
            raise ConfigError(f"{path}: there is no function {function}")
    experiment: Experiment = module
    return experiment


def _points(path: Path, settings: Settings) -> tuple[str, Any]:
    def run() -> list[Point]:
        points = _load(path).points(settings)
        names = [point.name for point in points]
        if len(set(names)) < len(names):
            raise ConfigError(f"{path}: two points have one name")
        return points

    return _guarded(run)


def _simulate(path: Path, point: Point, settings: Settings) -> tuple[str, Any]:
    def run() -> tuple[dict[str, Any], float]:
        began = time.monotonic()
        result = _load(path).simulate(point, settings)
        # Through JSON, so that a result is the same whether it was kept or just made.
        return json.loads(json.dumps(result, allow_nan=False)), time.monotonic() - began

    return _guarded(run)


def _summarise(path: Path, results: Mapping[str, dict[str, Any]], settings: Settings) -> tuple[str, Any]:
    def run() -> Summary:
        summary = _load(path).summarise(results, settings)
        json.dumps(dict(summary.measured), allow_nan=False)
        return summary

    return _guarded(run)


def _draw(
    path: Path, results: Mapping[str, dict[str, Any]], directory: Path, settings: Settings
) -> tuple[str, Any]:
    def run() -> list[Path]:
        experiment = _load(path)
        return experiment.draw(results, directory, settings) if hasattr(experiment, "draw") else []

    return _guarded(run)
