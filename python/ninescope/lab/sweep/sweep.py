"""A sweep from file to table: the Python API of what `ninescope sweep` does."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ninescope._native import ConfigError
from ninescope.common import bars
from ninescope.lab import pool
from ninescope.lab.sweep.file import SweepFile
from ninescope.lab.sweep.lake import MARK, SNAPSHOTS, Failure, Lake, refuse_results
from ninescope.lab.sweep.plan import Plan, plan_of
from ninescope.lab.sweep.point import Point
from ninescope.lab.sweep.prepared import OWN, PreparedDrives
from ninescope.lab.sweep.runner import Runner, refuse_other_builds
from ninescope.lab.sweep.store import FolderStore, open_store

if TYPE_CHECKING:
    import polars as pl

    from ninescope.lab.sweep.compare import Compared
    from ninescope.pictures.interactive import PlotlyFigure

Location = str | os.PathLike[str]


@dataclasses.dataclass(frozen=True)
class Step:
    """A point is done, or cannot be."""

    label: str
    done: int
    total: int
    seconds: float
    kept: bool = False
    """It was done before, or by somebody else meanwhile."""
    error: str = ""


@dataclasses.dataclass(frozen=True)
class Status:
    """How far a sweep is."""

    name: str
    points: int
    done: int
    failures: tuple[tuple[str, Failure], ...]
    """What cannot be run, by its label."""
    run_now: int = 0
    """Of `done`, by this call."""
    damaged: tuple[str, ...] = ()
    """Files of points that are left because what was kept of them cannot be read."""

    @property
    def left(self) -> int:
        """How many points have neither a result nor an error."""
        return self.points - self.done - len(self.failures)

    @property
    def is_finished(self) -> bool:
        """Whether every point has a result."""
        return self.done == self.points


class Sweep:
    """Many runs, written down as axes.

    sweep = ninescope.Sweep.from_file("examples/sweeps/over-provisioning.toml")
    print(len(sweep.plan().points))
    sweep.run("out/sweep", jobs=2)
    print(sweep.table("out/sweep"))
    """

    def __init__(self, file: SweepFile) -> None:
        self.file = file

    @classmethod
    def from_file(cls, path: Location) -> Sweep:
        """Read a sweep file."""
        return cls(SweepFile.read(path))

    @classmethod
    def from_toml(cls, text: str, folder: Location = ".") -> Sweep:
        """Take a sweep written as TOML; relative paths in it start at `folder`."""
        return cls(SweepFile.parse(text, folder=folder))

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], folder: Location = ".") -> Sweep:
        """Take a sweep as values, as its TOML would be read to; tuples, ranges and arrays are lists."""
        return cls(SweepFile.of(document, folder=folder))

    @property
    def name(self) -> str:
        """What the sweep is called in a lake."""
        return self.file.name

    def plan(self) -> Plan:
        """Return all points, checked as a run checks them first. Nothing runs."""
        _ = self.checked
        return self._plan

    @functools.cached_property
    def _plan(self) -> Plan:
        return plan_of(self.file)

    @functools.cached_property
    def checked(self) -> int:
        """How many points were checked with their workloads; what is wrong with one is refused."""
        from ninescope.lab.sweep import estimate

        return estimate.check(self.file, self._plan)

    def run(
        self,
        out: Location,
        *,
        executor: Executor | pool.Pool | None = None,
        jobs: int | None = None,
        memory: int | None = None,
        retry: bool = False,
        snapshots: Location | bool = True,
        progress: bool | None = None,
        on_step: Callable[[Step], None] | None = None,
        on_remark: Callable[[str], None] | None = None,
    ) -> Status:
        """Run what the lake at `out` (a folder or a URL) does not have yet; it is made where there is none.

        `executor` says who runs it: a `concurrent.futures.Executor`, or what `ninescope.lab.pool` makes.
        Without one, `jobs` processes of this machine do, by default one per processor, each with `memory`
        bytes at most. Points in quarantine are tried again with `retry`.

        Prepared drives that points share are made once and kept in `snapshots`, a folder that the workers
        see under this path. By default it is in the lake where they can see that, and of each worker's own
        else; False keeps none.

        `progress` shows a bar, as of `Drive.run`; `on_step` is told of each point.

        `on_remark` is told what changes no result, as a damaged snapshot that was replaced; without it that
        is a RuntimeWarning.
        """
        from ninescope.lab.sweep import estimate
        from ninescope.lab.sweep.record import Record

        plan = self.plan()
        # What is refused leaves nothing behind: a new lake is made when all is accepted.
        store = open_store(out)
        there = Lake.open(out) if store.exists(MARK) else None
        if there is None:
            refuse_results(store)
        left = _left(there, plan.points, retry)
        if not left and there is not None:
            with store.written():
                Record.of(plan).save(there)
            return self.status(out)
        steps = bars.of_steps(self.name, progress, "points", on_step)
        with steps as told, store.written(), workers_of(executor, jobs, memory) as workers:
            estimate.refuse_too_large(plan, left, workers)
            refuse_other_builds(workers)
            lake = there or Lake.open(out, create=True)
            lake.sweep_up()
            Record.of(plan).save(lake)
            prepared = _prepared(snapshots, lake, workers, plan)
            for remark in plan.remarks:
                (on_remark or _warned)(remark)
            runner = Runner(lake, workers, retry=retry, prepared=prepared, on_remark=on_remark or _warned)
            run_now = self._run(runner, plan, left, told)
        return dataclasses.replace(self.status(out), run_now=run_now)

    def _run(
        self,
        runner: Runner,
        plan: Plan,
        left: Sequence[Point],
        on_step: Callable[[Step], None] | None,
    ) -> int:
        labels = plan.labels()
        total = len(plan.points)
        before = total - len(left)
        run_now = 0
        for done, outcome in enumerate(runner.run(left), before + 1):
            run_now += outcome.is_new and outcome.kept is not None
            if on_step is not None:
                seconds = outcome.kept.seconds if outcome.kept is not None else 0.0
                error = outcome.failure.error if outcome.failure is not None else ""
                on_step(Step(labels[outcome.point.id], done, total, seconds, not outcome.is_new, error))
        return run_now

    def status(self, out: Location) -> Status:
        """Say how far the sweep is in a lake."""
        from ninescope.lab.sweep.record import Record

        return status(Lake.open(out), Record.of(self._plan))

    def table(
        self, out: Location, *, where: str | Sequence[str] = (), all_builds: bool = False
    ) -> pl.DataFrame:
        """Return one row per combination of the axes: what they say, and the numbers of the result.

        `where` chooses rows: `"nand.read<=40us"`, or several of which all hold (`lab.sweep.filters`).
        """
        from ninescope.lab.sweep import record
        from ninescope.lab.sweep.filters import filtered

        known = record.Record.of(self._plan)
        frame = record.table(Lake.open(out), known, all_builds=all_builds)
        return filtered(frame, known, [where] if isinstance(where, str) else where)

    def compare(self, out: Location, a: str, b: str) -> Compared:
        """Compare two designs, named by values of their axes: `compare(out, "nand.read=20us", …)`."""
        from ninescope.lab.sweep.compare import compared
        from ninescope.lab.sweep.record import Record

        return compared(Lake.open(out), Record.of(self._plan), a, b)

    def plot(
        self,
        out: Location,
        path: Location,
        *,
        x: str,
        y: str,
        by: str | None = None,
        where: str | Sequence[str] = (),
        facet: str | Sequence[str] = (),
        log_x: bool = False,
        log_y: bool = False,
    ) -> Path:
        """Draw a number over an axis into a png, svg or pdf; return its path.

        `where` chooses rows, as in `table`; `facet` makes a panel for each value of an axis, or of two.
        """
        from ninescope.lab.sweep.plot import figure, save
        from ninescope.lab.sweep.record import Record

        frame, record = self.table(out, where=where), Record.of(self._plan)
        facets = (facet,) if isinstance(facet, str) else facet
        drawn = figure(frame, record, x, y, by=by, facet=facets, log_x=log_x, log_y=log_y)
        return save(drawn, Path(os.fspath(path)))

    def interactive(
        self,
        out: Location,
        *,
        x: str,
        y: str,
        by: str | None = None,
        where: str | Sequence[str] = (),
        log_x: bool = False,
        log_y: bool = False,
    ) -> PlotlyFigure:
        """Draw what `plot` draws to look into it in a notebook (needs plotly, the extra `notebook`)."""
        from ninescope.lab.sweep.plot import figure
        from ninescope.lab.sweep.record import Record
        from ninescope.pictures.interactive import picture

        frame = self.table(out, where=where)
        return picture(figure(frame, Record.of(self._plan), x, y, by=by, log_x=log_x, log_y=log_y))

    def sql(self, out: Location, query: str) -> pl.DataFrame:
        """Ask a lake in SQL: `sweep` is this sweep's table, `points` are all results."""
        from ninescope.lab.sweep.sql import asked

        return asked(Lake.open(out), query, self.name)


def _warned(remark: str) -> None:
    warnings.warn(remark, RuntimeWarning, stacklevel=2)


def status(lake: Lake, record: Any) -> Status:
    """Say how far a recorded sweep is in its lake."""
    from ninescope.lab.sweep.dataset import refreshed
    from ninescope.lab.sweep.values import shown

    # What comes to an end from here on is in no table yet: it is neither done nor damaged.
    written = lake.ids()
    kept = set(refreshed(lake)["point"].to_list())
    quarantined = lake.quarantined()
    labels: dict[str, str] = {}
    for point, (_, values) in zip(record.ids(), record.rows, strict=True):
        pairs = zip(record.columns, values, strict=True)
        labels.setdefault(point, " ".join(f"{name}={shown(value)}" for name, value in pairs))
    failures = tuple(
        (label, quarantined[point])
        for point, label in labels.items()
        if point in quarantined and point not in kept
    )
    unread = sorted(written & (set(labels) - kept))
    damaged = tuple(lake.file_of(point) for point in unread)
    return Status(record.name, len(labels), len(kept & set(labels)), failures, damaged=damaged)


def _left(lake: Lake | None, points: Sequence[Point], retry: bool) -> list[Point]:
    """Return what has to be run; those that share what a worker draws and keeps follow each other."""
    from ninescope.lab.sweep.dataset import refreshed

    kept = set(refreshed(lake)["point"].to_list()) if lake is not None else set[str]()
    failed = set(lake.quarantined()) if lake is not None and not retry else set[str]()
    left = [point for point in points if point.id not in kept and point.id not in failed]
    groups: dict[tuple[int, int], int] = {}
    for point in left:
        groups.setdefault(_group(point), len(groups))
    return sorted(left, key=lambda point: groups[_group(point)])


def left_of(out: Location | None, plan: Plan) -> tuple[dict[str, float], list[Point]]:
    """Return how long points took that a lake has [s], and those that it has not."""
    from ninescope.lab.sweep.dataset import refreshed

    if out is None:
        return {}, list(plan.points)
    store = open_store(out)
    kept = {}
    if store.exists(MARK):
        kept = dict(refreshed(Lake.open(out)).select("point", "seconds").iter_rows())
    known = {point.id: kept[point.id] for point in plan.points if point.id in kept}
    return known, [point for point in plan.points if point.id not in known]


def _group(point: Point) -> tuple[int, int]:
    return id(point.workload), point.seed if point.workload.kind == "profile" else 0


def _prepared(
    snapshots: Location | bool, lake: Lake, workers: pool.Pool, plan: Plan
) -> PreparedDrives | None:
    """Say where prepared drives are kept."""
    if snapshots is False:
        return None
    if snapshots is not True:
        return PreparedDrives(snapshots, plan.points)
    if workers.shares_files and isinstance(lake.store, FolderStore):
        return PreparedDrives(lake.store.path(SNAPSHOTS).absolute(), plan.points)
    return PreparedDrives(OWN, plan.points)


@contextlib.contextmanager
def workers_of(
    executor: Executor | pool.Pool | None, jobs: int | None, memory: int | None
) -> Iterator[pool.Pool]:
    """Give workers; those that the caller made go on when the block is left."""
    if executor is not None and (jobs is not None or memory is not None):
        raise ConfigError("jobs and memory are those of local processes: an executor has its own")
    if isinstance(executor, pool.Pool):
        yield executor
    elif executor is not None:
        yield pool.Pool(executor, getattr(executor, "_max_workers", None) or pool.processors())
    else:
        from ninescope.lab.sweep.estimate import fair_share

        count = jobs or pool.processors()
        with pool.local(count, memory=memory or fair_share(count)) as workers:
            yield workers
