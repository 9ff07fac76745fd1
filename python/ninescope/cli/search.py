"""`ninescope search`: which design is best under which limits."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ninescope.cli.common import Interrupted, console, html_file, one_of
from ninescope.cli.sweep import Dask, Directory, Jobs, JsonFlag, Memory, Out, Ray, Retry, bytes_of, workers

if TYPE_CHECKING:
    from ninescope.lab.search.record import Record
    from ninescope.lab.search.search import Step

app = typer.Typer(
    help="Find the design that is best under limits, trying as few as will do.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

File = Annotated[str, typer.Argument(metavar="FILE", help="A search file (examples/searches has some).")]
Name = Annotated[
    str | None,
    typer.Option("--search", metavar="NAME", help="Which search of the lake, where it holds several."),
]
Trials = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Try so many designs (default: what the file says).")
]


@app.command("plan")
def search_plan(
    file: File,
    jobs: Jobs = None,
    no_probe: Annotated[
        bool, typer.Option("--no-probe", help="Begin no run: say nothing about time.")
    ] = False,
    json_: JsonFlag = False,
) -> None:
    """Say what a search is made of, what it will take, and check it. Nothing is run to its end."""
    from ninescope.lab.search.search import Search
    from ninescope.lab.search.text import plan_lines
    from ninescope.lab.sweep.timing import age

    search = Search.from_file(file)
    plan = search.plan()
    found = search.estimate(jobs, probe=not no_probe, before=age())
    if json_:
        print(json.dumps(_plan_as_json(search, plan, found)))
        return
    for line in plan_lines(search.file, plan, found):
        print(line)


@app.command("run")
def search_run(
    file: File,
    out: Out,
    trials: Trials = None,
    jobs: Jobs = None,
    memory: Memory = None,
    dask: Dask = None,
    ray: Ray = None,
    retry: Retry = False,
) -> None:
    """Search, and say what is best.

    What was tried is kept, whatever happens: the same command, or `resume`, goes on. What is found depends
    neither on the number of workers nor on interruptions. Exits with 130 when interrupted.
    """
    from ninescope.lab.search.optimiser import optuna
    from ninescope.lab.search.search import Search

    optuna()  # where it is missing, that is said before anything else
    search = Search.from_file(file)
    for doubt in search.plan().doubts:
        print(f"{search.name}  note: {doubt}", file=sys.stderr)
    try:
        with workers(jobs, memory, dask, ray) as pool, _steps(search.name) as on_step:
            record = search.run(
                out,
                trials=trials,
                executor=pool,
                jobs=jobs,
                memory=bytes_of(memory),
                retry=retry,
                on_step=on_step,
            )
    except Interrupted:
        print(f"ninescope: `ninescope search resume FILE --out {out}` goes on", file=sys.stderr)
        raise
    _show(record, out)


@app.command("resume")
def search_resume(
    file: File,
    out: Out,
    trials: Trials = None,
    jobs: Jobs = None,
    memory: Memory = None,
    dask: Dask = None,
    ray: Ray = None,
    retry: Retry = False,
) -> None:
    """Go on with a search that was interrupted; where nothing is left, say again what was found."""
    from ninescope._native import ConfigError
    from ninescope.lab.search.record import KIND
    from ninescope.lab.search.search import Search
    from ninescope.lab.sweep.lake import Lake

    lake = Lake.open(out)  # what is not there cannot be gone on with
    name = Search.from_file(file).name
    if not lake.store.exists(f"{KIND}/{name}.journal"):
        raise ConfigError(f"{lake.store.label()}: no search {name!r} was begun here; `search run` begins one")
    search_run(file, out, trials, jobs, memory, dask, ray, retry)


@app.command("status")
def search_status(directory: Directory, search: Name = None, json_: JsonFlag = False) -> None:
    """Say how far the searches of a lake are."""
    from ninescope.lab.search.record import KIND, Record
    from ninescope.lab.search.text import status_line
    from ninescope.lab.sweep.lake import Lake
    from ninescope.lab.sweep.point import current_build

    lake = Lake.open(directory)
    names = [search] if search is not None else lake.records(KIND)
    records = [Record.load(lake, name) for name in names]
    if json_:
        print(json.dumps({"searches": [_status_as_json(record) for record in records]}))
        return
    if not records:
        print(f"{lake.store.label()}: no search was run here")
    for record in records:
        print(status_line(record))
        if record.build != current_build():
            print("  of another build of ninescope")


@app.command("table")
def search_table(
    directory: Directory,
    search: Name = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Every design that was tried, not the front alone.")
    ] = False,
    neighbours: Annotated[
        bool, typer.Option("--neighbours", help="What lies one step aside of the answer.")
    ] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    parquet: Annotated[str | None, typer.Option(metavar="FILE", help="Write Parquet.")] = None,
) -> None:
    """Show the Pareto front: the designs that keep all constraints, and that none is better than."""
    from ninescope.common.files import written_whole
    from ninescope.lab.search.record import neighbour_table, table
    from ninescope.lab.search.text import print_neighbours, print_table
    from ninescope.lab.sweep.record import as_bytes

    if csv + json_ + (parquet is not None) > 1:
        raise typer.BadParameter("give one of --csv, --json and --parquet")
    if all_ and neighbours:
        raise typer.BadParameter("give one of --all and --neighbours")
    record = _opened(directory, search)
    frame = neighbour_table(record) if neighbours else table(record, front_only=not all_)
    if parquet is not None:
        with written_whole(Path(parquet)) as temporary:
            temporary.write_bytes(as_bytes(frame, "parquet"))
    elif csv or json_:
        sys.stdout.write(as_bytes(frame, "csv" if csv else "json").decode())
    elif neighbours:
        print_neighbours(record, console())
    else:
        print_table(record, frame, console())
    if not record.ended:
        print("ninescope: the search has not ended", file=sys.stderr)


@app.command("plot")
def search_plot(
    directory: Directory,
    x: Annotated[
        str | None, typer.Option("--x", metavar="NUMBER", help="An objective (default: the first).")
    ] = None,
    y: Annotated[
        str | None, typer.Option("--y", metavar="NUMBER", help="Another (default: the second).")
    ] = None,
    out: Annotated[
        str, typer.Option(metavar="FILE", help="The figure: png, svg or pdf by its ending.")
    ] = "search.png",
    search: Name = None,
) -> None:
    """Draw the Pareto front, and what was tried beside it."""
    from ninescope.lab.search.figures import front_figure
    from ninescope.lab.sweep.plot import FORMS, save

    one_of("--out", Path(out).suffix.removeprefix("."), FORMS)
    save(front_figure(_opened(directory, search), x, y), Path(out))
    print(f"written to {out}")


@app.command("report")
def search_report(
    directory: Directory,
    search: Name = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="The HTML file (default: NAME.html in DIR).")
    ] = None,
) -> None:
    """Write one HTML file: the answer, the front, its neighbours, what was pruned and why."""
    from ninescope.report import write
    from ninescope.report.search import of_search

    record = _opened(directory, search)
    if out is not None:
        html_file(out)
    target = Path(out) if out is not None else Path(directory) / f"{record.name}.html"
    print(f"written to {write(of_search(record), target)}")


# ---- helpers --------------------------------------------------------------------------------------------


def _opened(directory: str, name: str | None) -> Record:
    from ninescope.lab.search.record import Record
    from ninescope.lab.sweep.lake import Lake

    return Record.load(Lake.open(directory), name)


def _show(record: Record, out: str) -> None:
    from ninescope.lab.search.record import table
    from ninescope.lab.search.text import answer_lines, print_neighbours, print_table, status_line
    from ninescope.report import write
    from ninescope.report.search import of_search

    print(status_line(record))
    print()
    front = table(record, front_only=True)
    if front.height:
        print_table(record, front, console())
        print()
    for line in answer_lines(record):
        print(line)
    print()
    print_neighbours(record, console())
    written = write(of_search(record), Path(out) / f"{record.name}.html")
    print(f"\nthe report: {written}")


def _plan_as_json(search: Any, plan: Any, found: Any) -> dict[str, Any]:
    file = search.file
    return {
        "name": file.name,
        "designs": plan.designs,
        "trials": file.trials,
        "parameters": [parameter.name for parameter in file.space.parameters],
        "objectives": [[of.direction, of.text] for of in file.goals.objectives],
        "constraints": [of.text for of in file.goals.constraints],
        "workloads": list(file.workloads),
        "short_requests": plan.short_requests,
        "refused": list(plan.refused),
        "drawn": plan.drawn,
        "notes": list(plan.doubts),
        "runs": found.runs,
        "estimated_seconds": found.seconds and found.seconds._asdict(),
        "workers": found.workers,
        "worker_bytes": found.worker_bytes,
        "all_bytes": found.all_bytes,
    }


def _status_as_json(record: Record) -> dict[str, Any]:
    return {
        "name": record.name,
        "wanted": record.wanted,
        "tried": len(record.distinct),
        **{state: record.count(state) for state in ("full", "pruned", "refused")},
        "front": [trial.number for trial in record.front],
        "ended": record.ended,
    }


@contextlib.contextmanager
def _steps(name: str) -> Iterator[Any]:
    """Show on stderr how far a search is: a bar where that is a terminal, else a line per design."""
    if not sys.stderr.isatty():

        def line(step: Step) -> None:
            print(f"{name}  {step.done:>3} of {step.total}  {step.label}", file=sys.stderr, flush=True)

        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None)

        def move(step: Step) -> None:
            words = step.label if len(step.label) <= 60 else f"{step.label[:59]}…"
            bar.update(
                task, completed=min(step.done, step.total), total=step.total, description=f"{name}: {words}"
            )

        yield move
