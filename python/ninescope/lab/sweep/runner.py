"""Runs points on a pool, each once, and keeps in a lake what they come to.

    with pool.local(jobs=2) as workers:
        for outcome in Runner(lake, workers).run(points):
            print(outcome.point.id, outcome.kept.metrics["read_p99_ns"])

Points are taken from their iterator as workers become free, so that whoever makes them may look at earlier
outcomes first: that is how a search runs. The runner knows neither sweeps nor searches.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any

from ninescope._native import ConfigError
from ninescope.lab.build import of_another
from ninescope.lab.pool import Pool, PoolLostError, WorkerLostError
from ninescope.lab.sweep import worker
from ninescope.lab.sweep.claims import Claims
from ninescope.lab.sweep.lake import Failure, Kept, Lake
from ninescope.lab.sweep.point import Point, current_build
from ninescope.lab.sweep.prepared import PreparedDrives
from ninescope.lab.sweep.source import File

ATTEMPTS = 3
"""So often a point is given to a worker that is lost, before it is the point that is to blame."""
SENDINGS = 20
"""So often files are sent along with a point, before something is wrong with the workers."""
_LOOK_SECONDS = 1.0
"""How often a runner that has nothing to do looks whether others are done."""
_AHEAD = 2
"""Points that wait for a worker, so that none waits for a point."""
_HELD = 16
"""So many points per worker may be taken up while drives are prepared for them."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a point: one of `kept` and `failure` is there."""

    point: Point
    kept: Kept | None = None
    failure: Failure | None = None
    is_new: bool = True
    """It was run by this runner now: the lake did not have it, and nobody else ran it meanwhile."""


@dataclasses.dataclass
class _UnderWay:
    points: list[Point]
    """Equal ones; most often it is one. None where a drive is prepared for others."""
    task: worker.Task
    held: list[_UnderWay] = dataclasses.field(default_factory=list)
    """What begins when this drive is prepared."""
    attempts: int = 1
    sendings: int = 0
    sent: tuple[str, ...] = ()


class Runner:
    """Runs points on a pool, and keeps in a lake what they come to."""

    def __init__(
        self,
        lake: Lake,
        pool: Pool,
        *,
        attempts: int = ATTEMPTS,
        retry: bool = False,
        prepared: PreparedDrives | None = None,
        on_remark: Callable[[str], None] | None = None,
    ) -> None:
        """`retry` tries points in quarantine again. `prepared` keeps drives that points share.

        `on_remark` is told what changes no result, and somebody should look at all the same.
        """
        self._lake = lake
        self._pool = pool
        self._attempts = attempts
        self._failures = lake.quarantined()
        if retry:
            for point in self._failures:
                lake.release(point)
            self._failures = {}
        self._under_way: dict[Future[Any], _UnderWay] = {}
        self._by_id: dict[str, _UnderWay] = {}
        self._postponed: list[Point] = []
        self._handles: dict[str, Any] = {}
        self._remark = on_remark or (lambda words: None)
        self._prepared = prepared
        self._preparing: dict[str, _UnderWay | None] = {}
        """What prepares a drive, by its key; None where that is done."""

    @property
    def workers(self) -> int:
        """How many points are run at a time."""
        return self._pool.workers

    def run(self, points: Iterable[Point | None]) -> Iterator[Outcome]:
        """Run points; yield what became of each, in the order in which they are done.

        A None among the points says that none can be made before another outcome is known.
        """
        try:
            yield from self._run(iter(points))
        finally:
            for future in self._under_way:
                future.cancel()

    def _run(self, source: Iterator[Point | None]) -> Iterator[Outcome]:
        is_at_end = False
        with Claims(self._lake.store) as claims:
            while True:
                must_wait = False
                while not (is_at_end or must_wait) and self._has_room():
                    try:
                        point = next(source)
                    except StopIteration:
                        is_at_end = True
                        break
                    if point is None:
                        must_wait = True
                    else:
                        yield from self._taken(point, claims)
                yield from self._freed(claims)
                if self._under_way:
                    yield from self._waited(claims)
                elif self._postponed:
                    time.sleep(_LOOK_SECONDS)
                elif is_at_end:
                    return
                elif must_wait:
                    raise RuntimeError("points were to follow an outcome, and nothing is under way")

    def _has_room(self) -> bool:
        """Say whether a point more may be taken up."""
        workers = self._pool.workers
        return len(self._under_way) < workers + _AHEAD and len(self._by_id) < _HELD * workers + _AHEAD

    def _taken(self, point: Point, claims: Claims) -> Iterator[Outcome]:
        """Take a point up, unless it is done, fails, or is run by somebody else."""
        # Claims before results: whoever ends a point keeps it first and gives it up afterwards, so that what
        # nobody claims now, and is not kept a moment later, is nobody's.
        others = claims.others()
        known = self._known(point)
        if known is not None:
            yield known
        elif point.id in self._by_id:
            self._by_id[point.id].points.append(point)
        elif point.id in others or not claims.take(point.id):
            self._postponed.append(point)
        else:
            self._take_up(point, claims)

    def _take_up(self, point: Point, claims: Claims) -> None:
        """Start a point, or let it wait for its drive."""
        drives = self._prepared
        key = drives.key(point) if drives is not None else None
        folder = drives.folder if drives is not None and key is not None else None
        entry = _UnderWay([point], worker.Task.of(point, prepared=folder))
        self._by_id[point.id] = entry
        claims.tell(self._by_id)
        if drives is None or key is None or not drives.is_shared:
            self._start(entry)
            return
        if key not in self._preparing:
            preparation = _UnderWay([], entry.task)
            self._preparing[key] = preparation
            self._start(preparation)
        waited_for = self._preparing[key]
        if waited_for is None:
            self._start(entry)
        else:
            waited_for.held.append(entry)

    def _freed(self, claims: Claims) -> Iterator[Outcome]:
        """Look at what others had: it is done, or they gave it up."""
        if not self._postponed:
            return
        points, self._postponed = self._postponed, []
        others = claims.others()
        for point in points:
            if point.id in others and not self._lake.has(point.id):
                self._postponed.append(point)
            elif self._has_room() or self._lake.has(point.id):
                yield from self._taken(point, claims)
            else:
                self._postponed.append(point)

    def _known(self, point: Point) -> Outcome | None:
        if point.id in self._failures:
            return Outcome(point, failure=self._failures[point.id], is_new=False)
        if self._lake.has(point.id):
            kept = self._lake.get(point.id)
            if kept is not None:
                return Outcome(point, kept, is_new=False)
        return None

    def _start(self, entry: _UnderWay) -> None:
        files = {file.content: file for file in entry.task.workload.files if file.content in entry.sent}
        names = {content: file.name for content, file in files.items()}
        handles = [self._handle(file) for file in files.values()]
        try:
            work = worker.run_point if entry.points else worker.prepare_drive
            future = self._pool.submit(work, entry.task, names, *handles)
        except Exception as error:
            raise self._lost(error) from error
        self._under_way[future] = entry

    def _handle(self, file: File) -> Any:
        """Return what stands for the content of a file; it is read once."""
        if file.content not in self._handles:
            try:
                content = Path(file.path).read_bytes()
            except OSError as error:
                raise ConfigError(f"{file.path}: {error.strerror}") from error
            self._handles[file.content] = self._pool.put(content)
        return self._handles[file.content]

    def _waited(self, claims: Claims) -> Iterator[Outcome]:
        """Wait until something is done, and see what."""
        timeout = _LOOK_SECONDS if self._postponed else None
        done, _ = wait(self._under_way, timeout=timeout or _LOOK_SECONDS * 10, return_when=FIRST_COMPLETED)
        for future in [future for future in self._under_way if future in done]:
            entry = self._under_way.pop(future)
            outcomes = self._ended(entry, future)
            if outcomes:
                self._by_id.pop(entry.task.id, None)
            yield from outcomes
        claims.tell(self._by_id)

    def _ended(self, entry: _UnderWay, future: Future[Any]) -> list[Outcome]:
        """Keep what a point came to, or start it again: then there is no outcome yet."""
        try:
            answer: worker.Answer = future.result()
        except BaseException as error:
            if not isinstance(error, Exception) and not future.cancelled():
                raise
            return self._went_wrong(entry, error)
        match answer:
            case worker.Done():
                self._told(answer.remarks)
                return self._kept(entry, answer)
            case worker.Ready():
                self._told(answer.remarks)
                return self._released(entry)
            case worker.Failed():
                return self._failed(entry, answer.error)
            case worker.Missing():
                return self._sent_along(entry, answer.files)
            case worker.OtherBuild():
                raise _of_another_build(answer)

    def _went_wrong(self, entry: _UnderWay, error: BaseException) -> list[Outcome]:
        """Try again what a lost worker had, and what failed for a reason of its machine."""
        error = self._pool.failure(error)
        if isinstance(error, PoolLostError):
            raise error
        if isinstance(error, ImportError):
            raise _cannot_import(error) from error
        if isinstance(error, WorkerLostError):
            self._handles.clear()  # they may have gone with it
            entry.attempts += error.times - 1
        if entry.attempts >= self._attempts:
            return self._failed(entry, f"tried {entry.attempts} times: {error or type(error).__name__}")
        entry.attempts += 1
        what = "a point" if entry.points else "a drive"
        self._remark(f"{what} is begun again: {error or type(error).__name__}")
        self._start(entry)
        return []

    def _told(self, remarks: Sequence[str]) -> None:
        for words in remarks:
            self._remark(words)

    def _sent_along(self, entry: _UnderWay, files: tuple[str, ...]) -> list[Outcome]:
        entry.sendings += 1
        if entry.sendings > SENDINGS:
            return self._failed(entry, "its workers do not keep the files that they are sent")
        entry.sent = tuple({*entry.sent, *files})
        self._start(entry)
        return []

    def _kept(self, entry: _UnderWay, done: worker.Done) -> list[Outcome]:
        result = kept(entry.points[0], done)
        self._lake.put(result)
        return [Outcome(point, result, is_new=not index) for index, point in enumerate(entry.points)]

    def _released(self, preparation: _UnderWay) -> list[Outcome]:
        """Start what waited for a drive. Where it could not be prepared, each point finds out for itself."""
        for key, one in self._preparing.items():
            if one is preparation:
                self._preparing[key] = None
        for entry in preparation.held:
            self._start(entry)
        return []

    def _failed(self, entry: _UnderWay, error: str) -> list[Outcome]:
        if not entry.points:
            return self._released(entry)
        point = entry.points[0]
        failure = Failure(point.id, error, entry.attempts, entry.task.build, described(point))
        self._lake.quarantine(failure)
        self._failures[point.id] = failure
        return [Outcome(point, failure=failure, is_new=not index) for index, point in enumerate(entry.points)]

    def _lost(self, error: Exception) -> Exception:
        found = self._pool.failure(error)
        return (
            found
            if isinstance(found, ConfigError)
            else PoolLostError(f"the workers take no more points: {error}")
        )


def refuse_other_builds(workers: Pool) -> None:
    """Ask workers elsewhere which build they are, before anything is written for them.

    Whoever comes later, or cannot be asked, is asked again with each point.
    """
    if workers.shares_files:
        return
    try:
        answers = workers.on_each(worker.other_build, current_build())
    except Exception as error:
        found = workers.failure(error)
        if isinstance(found, ImportError):
            raise _cannot_import(found) from error
        if isinstance(found, ConfigError):
            raise found from error
        return
    for answer in answers:
        if answer is not None:
            raise _of_another_build(answer)


def _of_another_build(answer: worker.OtherBuild) -> ConfigError:
    return ConfigError(of_another(answer.worker, answer.build, current_build()))


def _cannot_import(error: BaseException) -> ConfigError:
    return ConfigError(f"the workers cannot import what they need: {error}")


def kept(point: Point, done: worker.Done) -> Kept:
    """Return what a lake keeps of a point that is done."""
    return Kept(
        id=point.id,
        design=point.design,
        build=current_build(),
        what=described(point),
        document=done.document,
        metrics=done.metrics,
        histograms=done.histograms,
        blocks=done.blocks,
        seconds=round(done.seconds, 3),
    )


def described(point: Point) -> dict[str, Any]:
    """Say what a point is, for whoever reads its file."""
    return {
        "drive": point.drive_name or "default",
        "workload": {"name": point.workload.name, **point.workload.identity()},
        "run": dict(point.run),
        "seed": point.seed,
    }
