"""`ninescope sweep`: many runs, planned, run on whatever there is, and never lost."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ninescope.cli.common import EXIT_FAILURE, Interrupted, console, one_of

if TYPE_CHECKING:
    from ninescope.lab.pool import Pool
    from ninescope.lab.sweep.lake import Lake
    from ninescope.lab.sweep.plan import Plan
    from ninescope.lab.sweep.record import Record
    from ninescope.lab.sweep.sweep import Status, Step, Sweep

app = typer.Typer(
    help="Plan many runs, run them anywhere, and look at them together.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

File = Annotated[str, typer.Argument(metavar="FILE", help="A sweep file (examples/sweeps has some).")]
Directory = Annotated[str, typer.Argument(metavar="DIR", help="A lake of results: a folder or a URL.")]
Out = Annotated[
    str,
    typer.Option(metavar="DIR", help="The lake of results: a folder or a URL; it is made where it is not."),
]
Name = Annotated[
    str | None,
    typer.Option("--sweep", metavar="NAME", help="Which sweep of the lake, where it holds several."),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Simulations at a time on this machine (default: one per processor)."
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="What a simulation may take, as 4GiB (default: a fair share of what is free)."
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS|local[:N]", help="Run on a Dask cluster, or on one started here."),
]
Ray = Annotated[str | None, typer.Option(metavar="ADDRESS|local", help="Run on a Ray cluster.")]
Snapshots = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="Keep drives that points share here, as workers see it (default: with the lake).",
    ),
]
NoSnapshots = Annotated[bool, typer.Option("--no-snapshots", help="Prepare the drive of each point anew.")]
Retry = Annotated[bool, typer.Option("--retry", help="Try again what could not be run.")]
Where = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="Only these rows; also <, <=, !=, or a condition as 'workload == \"oltp\" or nand.read < 40us'; "
        "repeatable.",
    ),
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]


@app.command("plan")
def sweep_plan(
    file: File,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Leave out what this lake of results has already.")
    ] = None,
    jobs: Jobs = None,
    no_probe: Annotated[
        bool, typer.Option("--no-probe", help="Begin no point: say nothing about time.")
    ] = False,
    show: Annotated[int, typer.Option(min=0, metavar="N", help="List so many points.")] = 12,
    json_: JsonFlag = False,
) -> None:
    """Say what a sweep is made of, and what it will take. Nothing is run to its end."""
    from ninescope.lab import pool
    from ninescope.lab.sweep import estimate, timing
    from ninescope.lab.sweep.sweep import Sweep, left_of

    sweep = Sweep.from_file(file)
    plan = sweep.plan()
    known, left = left_of(out, plan)
    found = estimate.estimate(
        plan, left, jobs or pool.processors(), known=known, probe=not no_probe, before=timing.age()
    )
    if json_:
        print(json.dumps(_plan_as_json(plan, found)))
        return
    from ninescope.lab.sweep.text import plan_lines

    for line in plan_lines(sweep.file, plan, found, sweep.checked, show):
        print(line)


@app.command("run")
def sweep_run(
    file: File,
    out: Out,
    jobs: Jobs = None,
    memory: Memory = None,
    dask: Dask = None,
    ray: Ray = None,
    snapshots: Snapshots = None,
    no_snapshots: NoSnapshots = False,
    retry: Retry = False,
) -> None:
    """Run what the lake does not have yet.

    Points that are done are kept, whatever happens: the same command, or `resume`, goes on. Exits with 1
    where points cannot be run, and with 130 when interrupted.
    """
    from ninescope.lab.sweep.sweep import Sweep

    if no_snapshots and snapshots is not None:
        raise typer.BadParameter("give one of --snapshots and --no-snapshots")
    sweep = Sweep.from_file(file)
    sweep.plan()  # what is wrong is said before workers start
    try:
        with workers(jobs, memory, dask, ray) as given, _steps(sweep.name) as (on_step, on_remark):
            status = sweep.run(
                out,
                executor=given,
                jobs=jobs,
                memory=bytes_of(memory),
                retry=retry,
                snapshots=snapshots or not no_snapshots,
                on_step=on_step,
                on_remark=on_remark,
            )
    except Interrupted:
        _say_how_far(sweep, out)
        raise
    _end(status, out)


@app.command("resume")
def sweep_resume(
    file: File,
    out: Out,
    jobs: Jobs = None,
    memory: Memory = None,
    dask: Dask = None,
    ray: Ray = None,
    snapshots: Snapshots = None,
    no_snapshots: NoSnapshots = False,
    retry: Retry = False,
) -> None:
    """Go on with a sweep that was interrupted; where nothing is left, nothing happens."""
    from ninescope.lab.sweep.lake import Lake

    Lake.open(out)  # what is not there cannot be gone on with
    sweep_run(file, out, jobs, memory, dask, ray, snapshots, no_snapshots, retry)


@app.command("status")
def sweep_status(directory: Directory, sweep: Name = None, json_: JsonFlag = False) -> None:
    """Say how far the sweeps of a lake are."""
    from ninescope._native import ConfigError
    from ninescope.lab.sweep.lake import Lake
    from ninescope.lab.sweep.record import KIND, Record
    from ninescope.lab.sweep.sweep import status

    lake = Lake.open(directory)
    names = [sweep] if sweep is not None else lake.records(KIND)
    records: list[Record] = []
    damaged: list[ConfigError] = []
    for name in names:
        try:
            records.append(Record.load(lake, name))
        except ConfigError as error:
            damaged.append(error)
    found = [status(lake, record) for record in records]
    if json_:
        print(json.dumps({"sweeps": [_status_as_json(one) for one in found]}))
    else:
        _print_status(lake, records, found)
    # One that cannot be read hides no other.
    if damaged:
        raise ConfigError("\n".join(map(str, damaged)))


@app.command("table")
def sweep_table(
    directory: Directory,
    sweep: Name = None,
    columns: Annotated[
        str | None,
        typer.Option(metavar="A,B,…", help="Only these columns beside the axes (`all`: every one)."),
    ] = None,
    where: Where = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    parquet: Annotated[str | None, typer.Option(metavar="FILE", help="Write Parquet.")] = None,
    all_builds: Annotated[
        bool, typer.Option("--all-builds", help="Show results of other builds of ninescope as well.")
    ] = False,
) -> None:
    """Show one row for each combination of a sweep's axes.

    A table is the same, byte for byte, whoever ran the points and in whatever order.
    """
    from ninescope.common.files import written_whole
    from ninescope.lab.sweep import record as records
    from ninescope.lab.sweep.filters import filtered
    from ninescope.lab.sweep.steadiness import are_not_steady, verdicts_of

    if csv + json_ + (parquet is not None) > 1:
        raise typer.BadParameter("give one of --csv, --json and --parquet")
    lake, record = _opened(directory, sweep)
    frame = filtered(records.table(lake, record, all_builds=all_builds), record, where or ())
    unsteady = are_not_steady(frame)
    wanted = [] if columns is None else [name.strip() for name in columns.split(",") if name.strip()]
    is_read = parquet is None and not csv and not json_
    if wanted and wanted != ["all"]:
        kept = records.columns_of(frame, wanted, record)
        # Whoever reads it is to see which; programs get what they asked for.
        frame = frame.select(*kept, *(verdicts_of(frame, kept) if is_read else ()))
    if parquet is not None:
        with written_whole(Path(parquet)) as temporary:
            temporary.write_bytes(records.as_bytes(frame, "parquet"))
    elif csv or json_:
        sys.stdout.write(records.as_bytes(frame, "csv" if csv else "json").decode())
    else:
        from ninescope.lab.sweep.text import print_table

        print_table(frame, record, console(), chosen=bool(wanted))
    if unsteady:
        print(f"{'note' if is_read else 'ninescope'}: {unsteady}", file=sys.stdout if is_read else sys.stderr)
    _warn(frame, record)


@app.command("plot")
def sweep_plot(
    directory: Directory,
    x: Annotated[str, typer.Option("--x", metavar="AXIS", help="An axis of the sweep.")],
    y: Annotated[str, typer.Option("--y", metavar="NUMBER", help="A number of the results, as read_p99_ns.")],
    by: Annotated[
        str | None,
        typer.Option(metavar="AXIS", help="A line for each of its values (default: the other axes)."),
    ] = None,
    facet: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AXIS", help="A panel for each of its values; given twice, rows and columns of panels."
        ),
    ] = None,
    where: Where = None,
    out: Annotated[
        str, typer.Option(metavar="FILE", help="The figure: png, svg or pdf by its ending.")
    ] = "sweep.png",
    log_x: Annotated[bool, typer.Option("--log-x", help="A logarithmic axis.")] = False,
    log_y: Annotated[bool, typer.Option("--log-y", help="A logarithmic axis.")] = False,
    sweep: Name = None,
) -> None:
    """Draw a number of the results over an axis; of several seeds the mean, from the least to the most."""
    from ninescope.lab.sweep import record as records
    from ninescope.lab.sweep.filters import filtered
    from ninescope.lab.sweep.plot import FORMS, figure, save, withheld
    from ninescope.lab.sweep.steadiness import below_a_figure

    one_of("--out", Path(out).suffix.removeprefix("."), FORMS)
    lake, record = _opened(directory, sweep)
    frame = filtered(records.table(lake, record), record, where or ())
    _warn(frame, record)
    save(figure(frame, record, x, y, by=by, facet=facet or (), log_x=log_x, log_y=log_y), Path(out))
    print(f"written to {out}")
    for line in filter(None, (withheld(frame, record.columns, y), below_a_figure(frame))):
        print(line)


@app.command("compare")
def sweep_compare(
    directory: Directory,
    a: Annotated[str, typer.Argument(metavar="A", help="Values that name a design: nand.read=40us,seed=1")],
    b: Annotated[str, typer.Argument(metavar="B", help="The same for another one, or a point's name.")],
    sweep: Name = None,
    json_: JsonFlag = False,
) -> None:
    """Compare two designs of a sweep, as `ninescope compare` does: with intervals over the seeds.

    What else differs between rows are settings, and each is compared by itself; of several the range is
    shown.
    """
    from ninescope.lab.sweep.compare import compared, print_compared

    lake, record = _opened(directory, sweep)
    found = compared(lake, record, a, b)
    if json_:
        print(json.dumps(found.as_json()))
    else:
        print_compared(found, console())


@app.command("sql")
def sweep_sql(
    directory: Directory,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help='As "select * from points where waf_total > 2"')
    ],
    sweep: Name = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Ask a lake in SQL.

    The table `points` holds every result of the lake, of every build; each sweep is a table of its own name,
    with its axes.
    """
    from ninescope.lab.sweep import record as records
    from ninescope.lab.sweep.lake import Lake
    from ninescope.lab.sweep.sql import asked
    from ninescope.lab.sweep.text import print_frame

    if csv and json_:
        raise typer.BadParameter("give one of --csv and --json")
    frame = asked(Lake.open(directory), query, sweep)
    if csv or json_:
        sys.stdout.write(records.as_bytes(frame, "csv" if csv else "json").decode())
    else:
        print_frame(frame, console())


# ---- helpers --------------------------------------------------------------------------------------------


def _opened(directory: str, name: str | None) -> tuple[Lake, Record]:
    from ninescope.lab.sweep.lake import Lake
    from ninescope.lab.sweep.record import Record

    lake = Lake.open(directory)
    return lake, Record.load(lake, name)


@contextlib.contextmanager
def workers(jobs: int | None, memory: str | None, dask: str | None, ray: str | None) -> Iterator[Pool | None]:
    """Give the workers that are asked for; None for processes of this machine."""
    from ninescope.lab import pool

    if dask is not None and ray is not None:
        raise typer.BadParameter("give one of --dask and --ray")
    if dask is None and ray is None:
        yield None
        return
    if jobs is not None or memory is not None:
        raise typer.BadParameter("--jobs and --memory are those of this machine; a cluster has its own")
    with pool.dask(dask) if dask is not None else pool.ray(None if ray == "local" else ray) as given:
        yield given


def bytes_of(memory: str | None) -> int | None:
    """Read what --memory says."""
    from ninescope.lab.sweep.values import quantity

    if memory is None:
        return None
    found = quantity(memory)
    if found is None or found[0] != "size" or found[1] < 1 << 20:
        raise typer.BadParameter(f"--memory wants a size such as 4GiB, not {memory!r}")
    return int(found[1])


def _end(status: Status, out: str) -> None:
    """Say what came of it; exit with 1 where points cannot be run."""
    from ninescope.common.numbers import counted

    print(f"{_how_far(status)}; `ninescope sweep table {out}` shows them")
    for label, failure in status.failures:
        print(f"ninescope: {label or 'the point'}: {failure.error.splitlines()[-1]}", file=sys.stderr)
    if status.failures:
        print(
            f"ninescope: {len(status.failures)} of {counted(status.points, 'point')} cannot be run "
            "(--retry tries them again)",
            file=sys.stderr,
        )
        raise typer.Exit(EXIT_FAILURE)


def _say_how_far(sweep: Sweep, out: str) -> None:
    from ninescope.common.numbers import counted

    with contextlib.suppress(Exception):  # the interrupt is what counts
        status = sweep.status(out)
        print(
            f"ninescope: {status.done:,} of {counted(status.points, 'point')} "
            f"{'is' if status.points == 1 else 'are'} kept; "
            f"`ninescope sweep resume FILE --out {out}` goes on",
            file=sys.stderr,
        )


def _print_status(lake: Lake, records: list[Record], found: list[Status]) -> None:
    """Say of each sweep how far it is."""
    from ninescope.lab.sweep.record import KIND, is_of_this_build, of_other_builds

    if not lake.records(KIND):
        print(f"{lake.store.label()}: no sweep was run here")
    for one, record in zip(found, records, strict=True):
        print(_how_far(one))
        for label, failure in one.failures:
            print(f"  {label or 'the point'}: {failure.error.splitlines()[-1]}")
        if not is_of_this_build(record):
            print("  planned by another build of ninescope: run the sweep again to have results of this one")
        elif others := of_other_builds(lake, record):
            print(f"  {others:,} results of other builds are kept beside it (`sweep table --all-builds`)")


def _how_far(status: Status) -> str:
    from ninescope.common.numbers import counted

    words = [f"{status.done:,} of {counted(status.points, 'point')} done"]
    if status.failures:
        words.append(f"{len(status.failures):,} cannot be run")
    if status.left:
        words.append(f"{status.left:,} left")
    if status.damaged:
        words.append(f"{len(status.damaged):,} of these damaged, as {status.damaged[0]}")
    return f"{status.name}: {', '.join(words)}"


def _status_as_json(status: Status) -> dict[str, Any]:
    return {
        "name": status.name,
        "points": status.points,
        "done": status.done,
        "left": status.left,
        "damaged": list(status.damaged),
        "failed": [
            {"label": label, "point": failure.id, "error": failure.error, "attempts": failure.attempts}
            for label, failure in status.failures
        ],
    }


def _plan_as_json(plan: Plan, found: Any) -> dict[str, Any]:
    return {
        "name": plan.name,
        "combinations": plan.combinations,
        "left_out": plan.left_out,
        "merged": plan.merged,
        "notes": list(plan.remarks),
        "points": [
            {"point": row.point.design, "values": dict(zip(plan.columns, row.values, strict=True))}
            for row in plan.rows
        ],
        "left": found.points,
        "estimated_seconds": found.seconds and found.seconds._asdict(),
        "estimated_by": found.how,
        "workers": found.workers,
        "worker_bytes": found.worker_bytes,
        "all_bytes": found.all_bytes,
    }


def _warn(frame: Any, record: Record) -> None:
    """Say on stderr what a table lacks."""
    from ninescope.lab.sweep.record import DONE, STATE, is_of_this_build

    if STATE in frame.columns:
        missing = int((frame[STATE] != DONE).sum())
        if missing:
            print(f"ninescope: {missing:,} of {frame.height:,} rows have no result", file=sys.stderr)
    if not is_of_this_build(record):
        print("ninescope: these are results of another build of ninescope", file=sys.stderr)


@contextlib.contextmanager
def _steps(name: str) -> Iterator[Any]:
    """Show on stderr how far a sweep is: a bar where that is a terminal, else a line per point."""
    if not sys.stderr.isatty():

        def line(step: Step) -> None:
            took = (
                step.error.splitlines()[-1]
                if step.error
                else "kept"
                if step.kept
                else f"{step.seconds:.1f} s"
            )
            print(
                f"{name}  {step.done:>3} of {step.total}  {step.label} ({took})", file=sys.stderr, flush=True
            )

        def told(remark: str) -> None:
            print(f"{name}  note: {remark}", file=sys.stderr, flush=True)

        yield line, told
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None)

        def move(step: Step) -> None:
            bar.update(task, completed=step.done, total=step.total, description=f"{name}: {step.label}")

        def noted(remark: str) -> None:
            bar.console.print(f"{name}  note: {remark}", markup=False, highlight=False, soft_wrap=True)

        yield move, noted
