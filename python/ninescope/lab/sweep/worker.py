"""What happens in a worker: a point becomes a run, and what it came to is brought home.

Everything here can be pickled and depends on nothing but its arguments: the same point comes to the same,
whoever runs it.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ninescope._native import ConfigError, SimulationError
from ninescope.lab.build import this_worker
from ninescope.lab.sweep.point import Point, current_build
from ninescope.lab.sweep.prepared import OWN
from ninescope.lab.sweep.source import File, Source, content_hash
from ninescope.result.metrics import metrics_of
from ninescope.simulation.drive import Drive
from ninescope.simulation.traces import TemporaryFolder

if TYPE_CHECKING:
    from ninescope.result import Histogram
    from ninescope.simulation.run import Run
    from ninescope.simulation.workload import Workload


@dataclasses.dataclass(frozen=True)
class Task:
    """A point as it is sent to a worker."""

    id: str
    build: str
    """Whoever is another build refuses it."""
    drive: Drive
    drive_name: str
    workload: Source
    workload_name: str
    run: Mapping[str, Any]
    seed: int
    prepared: str | None = None
    """The folder of prepared drives: `prepared.OWN` stands for one of the worker's own, None for none."""

    @classmethod
    def of(cls, point: Point, workload_name: str = "", *, prepared: str | None = None) -> Task:
        """Take of a point what a worker needs."""
        return cls(
            point.id,
            current_build(),
            point.drive,
            point.drive_name,
            point.workload,
            workload_name or point.workload.name,
            point.run,
            point.seed,
            prepared,
        )


@dataclasses.dataclass(frozen=True)
class Done:
    """What a point came to."""

    document: dict[str, Any]
    metrics: dict[str, float | int | None]
    histograms: dict[str, list[list[int]]]
    blocks: dict[str, list[list[list[int]]]]
    seconds: float = 0.0
    """How long it took, its result included; 0 where it was only begun [s]."""
    remarks: tuple[str, ...] = ()
    """What somebody should look at although it changes nothing in the result."""


@dataclasses.dataclass(frozen=True)
class Ready:
    """The drive of a point is prepared, and others find it."""

    remarks: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Failed:
    """A point that will fail again wherever it is run."""

    error: str


@dataclasses.dataclass(frozen=True)
class Missing:
    """Files that this worker does not have, by the hashes of their content."""

    files: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class OtherBuild:
    """The worker is another ninescope than that which sent the point."""

    worker: str
    build: str


def other_build(build: str) -> OtherBuild | None:
    """Say which ninescope this worker is, if it is another."""
    if current_build() == build:
        return None
    return OtherBuild(this_worker(), current_build())


def ready(build: str) -> OtherBuild | None:
    """Load all that a point needs, and say which ninescope this worker is, if it is another."""
    from ninescope.simulation import run, workload  # noqa: F401

    return other_build(build)


Answer = Done | Ready | Failed | Missing | OtherBuild


def run_point(task: Task, contents: Mapping[str, str] | None = None, *files: bytes) -> Answer:
    """Run a point. `contents` names the hashes of `files` that are sent along."""
    return _worked(_run, task, contents or {}, files)


def prepare_drive(task: Task, contents: Mapping[str, str] | None = None, *files: bytes) -> Answer:
    """Prepare the drive of a point, and keep it for others; the point itself is not run."""
    return _worked(_prepare, task, contents or {}, files)


def _worked(
    work: Callable[[Task, Mapping[str, str]], Answer],
    task: Task,
    contents: Mapping[str, str],
    files: Sequence[bytes],
) -> Answer:
    """Do work with a point, if its files are here."""
    if (other := other_build(task.build)) is not None:
        return other
    try:
        for content, data in zip(contents, files, strict=True):
            _cached(content, contents[content], data)
        paths = {file.content: path for file in task.workload.files if (path := _path_of(file)) is not None}
        missing = tuple(file.content for file in task.workload.files if file.content not in paths)
        if missing:
            return Missing(missing)
        return work(task, paths)
    except (ConfigError, SimulationError) as error:
        return Failed(f"{type(error).__name__}: {error}")
    except (MemoryError, OSError):
        raise  # of this machine, perhaps not of another
    except Exception:
        return Failed(traceback.format_exc())


class Probed(NamedTuple):
    """What a point takes, from its beginning [s]."""

    preparing: float
    loading: float
    """Instead of that, where another point has prepared its drive."""
    running: float
    rest: float
    """What is done with its result."""
    is_rough: bool
    """Its run was not come to: another one, of a drive that was not prepared, stands for it."""
    answer: Done | None = None
    """What it came to so far, as it is taken home."""

    @property
    def whole(self) -> float:
        """All of it, for a drive that nobody has prepared."""
        return self.preparing + self.running + self.rest


def probe(task: Task, seconds: float) -> Probed:
    """Prepare a point, run it for so many seconds, and say what it would take to its end.

    One whose prepared drive is to be kept is begun twice, with the drive and without.
    """
    paths = {file.content: path for file in task.workload.files if (path := _path_of(file)) is not None}
    if task.prepared is None:
        return _probe(task, paths, seconds)
    with tempfile.TemporaryDirectory(dir=_folder()) as folder:
        kept = dataclasses.replace(task, prepared=folder)
        first = _probe(kept, paths, seconds, to_the_run=True)
        if first.is_rough:
            return first
        second = _probe(kept, paths, seconds)
        return second._replace(preparing=first.preparing, loading=second.preparing)


def _probe(task: Task, paths: Mapping[str, str], seconds: float, *, to_the_run: bool = False) -> Probed:
    began = time.perf_counter()
    run = _begun(task, workload_of(task, paths))
    prepared, first, progress = 0.0, 0, None
    for progress in run.slices():
        now = time.perf_counter() - began
        if progress.phase == "prepare":
            if now > 2 * seconds:
                break
        elif not prepared:
            # What was done before this is part of preparing: a drive that is loaded is loaded here.
            prepared, first = now, progress.done
            if to_the_run:
                break
        elif progress.done > first and now > prepared + seconds:
            break
    spent = time.perf_counter() - began
    if progress is not None and progress.phase == "prepare" and not run.complete:
        share = progress.done / progress.total if progress.total else 1.0
        bare = _probe(dataclasses.replace(task, run={**task.run, "prefill": "none"}), paths, seconds)
        preparing = spent / max(share, 1e-3)
        return bare._replace(preparing=preparing, loading=preparing / 2, is_rough=True)
    left = 1.0
    if progress is not None and not run.complete and progress.total and progress.done > first:
        left = (progress.total - first) / (progress.done - first)
    began = time.perf_counter()
    answer = _answer(task, run)
    rest = time.perf_counter() - began
    return Probed(prepared, prepared, (spent - prepared) * left, rest, is_rough=False, answer=answer)


def _run(task: Task, paths: Mapping[str, str]) -> Done:
    began = time.perf_counter()
    workload = workload_of(task, paths)  # a drawn trace is there for as long as this is
    run = _begun(task, workload)
    for _ in run.slices():
        pass
    answer = _answer(task, run)
    return dataclasses.replace(answer, seconds=time.perf_counter() - began)


def _prepare(task: Task, paths: Mapping[str, str]) -> Ready:
    workload = workload_of(task, paths)
    run = _begun(task, workload)
    for progress in run.slices():
        if progress.phase == "run":
            break
    return Ready(tuple(run.remarks()))


def _begun(task: Task, workload: Workload) -> Run:
    """Begin a run, with prepared drives from their folder if there can be one."""
    from ninescope.simulation.run import Run, request

    folder = task.prepared
    if folder == OWN:
        folder = str(Path(_folder(), "prepared"))
    if folder is not None:
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError:
            folder = None  # a run is none the worse without
    return Run(request(task.drive, workload, seed=task.seed, snapshots=folder, **task.run))


def _answer(task: Task, run: Run) -> Done:
    result = run.result()
    document = dict(result.document)
    for key in ("performance", "jobs", "fio version", "build"):  # times, and what is said twice
        document.pop(key, None)
    document["workload"] = {**document["workload"], "path": task.workload_name}
    document["config"] = {**document["config"]}
    if task.drive_name:
        document["config"]["name"] = task.drive_name
    histograms, blocks = {}, {}
    for op, latency in result.latency:
        if latency.histogram is not None:
            histograms[op] = _sparse(latency.histogram)
        blocks[op] = [_sparse(block) for block in latency.blocks]
    return Done(document, metrics_of(result), histograms, blocks, remarks=tuple(run.remarks()))


def _sparse(histogram: Histogram) -> list[list[int]]:
    bounds, counts = histogram
    used = np.nonzero(counts)[0]
    return [bounds[used].tolist(), counts[used].tolist()]


# ---- workloads ------------------------------------------------------------------------------------------


def request_of(task: Task, paths: Mapping[str, str], *, most: int | None = None) -> dict[str, Any]:
    """Return what the engine is asked. Of a profile no more than `most` requests are drawn."""
    from ninescope.simulation.run import request

    return request(task.drive, workload_of(task, paths, most=most), seed=task.seed, **task.run)


def workload_of(task: Task, paths: Mapping[str, str], *, most: int | None = None) -> Workload:
    """Make the workload of a point, with the files that lie at `paths` by the hashes of their content."""
    from ninescope.simulation.workload import Workload

    source, what = task.workload, task.workload.what
    words: dict[str, Any] = {
        key: paths[value.content] if isinstance(value, File) else value for key, value in source.words.items()
    }
    if isinstance(what, File):
        path = paths[what.content]
        return Workload.job_file(path) if source.kind == "job_file" else Workload.trace(path, **words)
    if isinstance(what, str):
        return _drawn(source, words, task.seed, most) if source.kind == "profile" else Workload.preset(what)
    return Workload.jobs(*what) if isinstance(what, tuple) else Workload.job(**what)


def _drawn(source: Source, words: dict[str, Any], seed: int, most: int | None) -> Workload:
    """Draw a trace from a profile, with the seed of the run where it has none of its own."""
    from ninescope.simulation.workload import Workload

    requests = words.pop("requests", None)
    if most is not None:
        requests = min(most, requests or most)
    drawn = _rows(source.text, str(source.what), requests, int(words.pop("seed", seed)))
    again = Workload.trace(drawn.words["trace"], **{**words, "trims": True})
    return Workload({**again.words, "name": drawn.words["name"], "copied_from": "profile"}, drawn)


@functools.lru_cache(maxsize=2)
def _rows(text: str, name: str, requests: int | None, seed: int) -> Workload:
    """Draw the requests of a profile; the last two are kept, for the points that follow."""
    from ninescope.simulation.workload import Workload

    path = Path(_folder(), name if name.endswith(".toml") else f"{name}.toml")
    path.write_text(text, encoding="utf-8")
    return Workload.profile(path, requests=requests, seed=seed)


# ---- files ----------------------------------------------------------------------------------------------


_FOLDERS: list[TemporaryFolder] = []
"""What this worker needs lies here for as long as it lives."""
_lock = threading.Lock()


def _folder() -> str:
    """Return a folder of this worker's own."""
    with _lock:
        if not _FOLDERS:
            _FOLDERS.append(TemporaryFolder())
    return _FOLDERS[0].path


def _cached(content: str, name: str, data: bytes) -> None:
    """Keep a file that was sent."""
    path = Path(_folder(), content + "".join(Path(name).suffixes))
    if not path.exists():
        # A full disk is one of this machine: not a ConfigError, which would be the point's.
        temporary = path.with_name(f"{path.name}.{threading.get_ident()}")
        temporary.write_bytes(data)
        temporary.replace(path)


def _path_of(file: File) -> str | None:
    """Return where a file lies for this worker; None where it does not, or holds something else."""
    cached = Path(_folder(), file.content + "".join(Path(file.name).suffixes))
    if cached.exists():
        return str(cached)
    try:
        state = os.stat(file.path)
        if _hash_of(file.path, state.st_size, state.st_mtime_ns) == file.content:
            return file.path
    except OSError:
        pass
    return None


@functools.lru_cache(maxsize=64)
def _hash_of(path: str, size: int, changed: int) -> str:
    """Hash a file once, for as long as it looks the same."""
    return content_hash(Path(path))
