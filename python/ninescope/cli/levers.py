"""`ninescope levers`: what single changes of a drive buy of a number."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ninescope.cli import run_options as options
from ninescope.cli.common import console, count, one_of
from ninescope.cli.given import drive_of, workload_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ninescope.lab.levers import Lever, Levers
    from ninescope.simulation.drive import Drive
    from ninescope.simulation.workload import Workload

_PAIRED = 3
"""Runs of each lever where the seed changes what is asked for."""


def levers(
    workload: options.Workload = None,
    goal: Annotated[
        str,
        typer.Option(
            metavar="NUMBER", help="What is to get better: p99.9, read.p99, write.mean, read.iops, waf."
        ),
    ] = "p99.9",
    drive: options.Drive = None,
    set_: options.Set = None,
    lever: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this lever. Repeatable.")
    ] = None,
    levers_: Annotated[
        str | None,
        typer.Option("--levers", metavar="FILE", help="Levers of one's own, beside those that are built in."),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Say which levers there are, and end.")] = False,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help=f"Runs of each lever; {_PAIRED} of jobs, 1 of traces."),
    ] = None,
    requests: options.Requests = None,
    prefill: options.Prefill = "steady",
    jobs: Annotated[int | None, typer.Option(min=1, metavar="N", help="Simulations side by side.")] = None,
    json_: options.Json = False,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write levers.json and the figure into a folder.")
    ] = None,
    rw: options.Rw = None,
    bs: options.Bs = None,
    iodepth: options.Iodepth = None,
    rwmixread: options.Rwmixread = None,
    size: options.Size = None,
    random_distribution: options.RandomDistribution = None,
    rate_iops: options.RateIops = None,
) -> None:
    """Run single changes of a drive beside it, paired on the same random streams, and rank what each buys."""
    if list_:
        _list(levers_)
        return
    job = {
        "rw": rw, "bs": bs, "iodepth": iodepth, "rwmixread": rwmixread, "size": size,
        "random_distribution": random_distribution, "rate_iops": rate_iops,
    }  # fmt: skip
    limit = None if requests is None else count("--requests", requests)
    with contextlib.ExitStack() as stack:
        chosen = workload_of(workload, job, {}, limit, 1, stack)
        seeds = seeds or (1 if "trace" in chosen.words else _PAIRED)
        options_of_run = {"seeds": range(1, seeds + 1), "requests": limit, "prefill": prefill}
        of = drive_of(drive, set_ or [])
        wanted = _chosen(levers_, of, lever)
        if out is not None:
            from ninescope.common.files import output_directory

            stack.enter_context(output_directory(Path(out)))
        found = _pulled(of, chosen, goal, wanted, jobs, options_of_run)
        _deliver(found, out, as_json=json_)


def _list(path: str | None) -> None:
    """Say which levers there are."""
    from ninescope.lab.levers import LEVERS, read

    for each in (*LEVERS, *(read(path) if path is not None else [])):
        print(f"{each.name:<20} {'bound: ' if each.is_bound else ''}{each.says}")


def _chosen(path: str | None, drive: Drive, names: list[str] | None) -> Sequence[Lever]:
    """Return those that are to be run: all, built-in and of the file, or those that are named."""
    from ninescope.lab.levers import LEVERS, named, read

    own = [] if path is None else read(path, drive)
    return [*LEVERS, *own] if names is None else named(names, own)


def _pulled(
    drive: Drive,
    workload: Workload,
    goal: str,
    chosen: Sequence[Lever],
    jobs: int | None,
    words: dict[str, Any],
) -> Levers:
    from ninescope.lab import pool
    from ninescope.lab.levers import pull
    from ninescope.simulation.run import PREFILLS

    one_of("--prefill", words["prefill"], PREFILLS)
    with pool.local(jobs) as workers:
        return pull(
            drive,
            workload,
            goal,
            levers=chosen,
            workers=workers,
            on_step=lambda told: print(f"ninescope: {told}", file=sys.stderr),
            **words,
        )


def _deliver(found: Levers, out: str | None, *, as_json: bool) -> None:
    from ninescope.lab.levers.saving import document, save
    from ninescope.lab.levers.text import print_levers

    written = save(found, Path(out)) if out is not None else []
    if as_json:
        print(json.dumps(document(found)))
        return
    terminal = console()
    print_levers(found, terminal)
    if written:
        terminal.print(f"\n written to {out}", highlight=False, soft_wrap=True)
