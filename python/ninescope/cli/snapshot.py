"""`ninescope snapshot`: prepared drives in files."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from ninescope.cli.common import EXIT_BAD_INPUT, naming_stdin, one_of, print_pairs
from ninescope.cli.given import drive_of, workload_of
from ninescope.cli.run_output import prepare_to_end

app = typer.Typer(
    help="Keep prepared drives in files, or say what they are (`ninescope check FILE` reads them whole).",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("save")
def snapshot_save(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to write.")],
    workload: Annotated[
        str | None,
        typer.Argument(
            metavar="[TRACE | NAME | FILE.toml | JOB.fio | -]",
            help="What the drive is prepared for: needed for --prefill footprint; steady is by its writes.",
        ),
    ] = None,
    drive: Annotated[
        str | None,
        typer.Option(
            metavar="PRESET|FILE.toml", help="The drive; without it the preset tlc, as `run` takes it."
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the drive. Repeatable."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=(1 << 64) - 1, metavar="N", help="Seed of every random stream.")
    ] = 1,
    prefill: Annotated[
        str,
        typer.Option(
            metavar="footprint|full|raw|steady|steady-uniform|steady-overwritten|steady-composed",
            help="What the drive holds.",
        ),
    ] = "steady",
    prefill_order: Annotated[
        str,
        typer.Option(
            metavar="ascending|random", help="In which order it is written; random lays neighbours apart."
        ),
    ] = "ascending",
) -> None:
    """Prepare a drive as `run` does and write it to FILE, for `run --from-snapshot FILE`."""
    from ninescope.common.files import alone
    from ninescope.simulation.run import PREFILL_ORDERS, PREFILLS
    from ninescope.simulation.snapshots import check_target, describe, preparation
    from ninescope.text.snapshots import in_words

    check_target(Path(file))
    prefill = one_of("--prefill", prefill, tuple(kind for kind in PREFILLS if kind != "none"))
    order = one_of("--prefill-order", prefill_order, PREFILL_ORDERS)
    with contextlib.ExitStack() as stack:
        stack.enter_context(alone(Path(file).with_name(f".{Path(file).name}.lock"), Path(file)))
        chosen = None if workload is None else workload_of(workload, {}, {}, None, seed, stack)
        with naming_stdin({} if chosen is None else chosen.words):
            preparing = preparation(
                drive_of(drive, set_ or []), chosen, prefill=prefill, prefill_order=order, seed=seed
            )
        prepare_to_end(preparing, quiet=not sys.stderr.isatty())
        preparing.save(file)
    print_pairs(list(in_words(describe(file))))


@app.command("info")
def snapshot_info(
    paths: Annotated[
        list[str], typer.Argument(metavar="FILE|DIR...", help="Snapshots, or folders of them (--snapshots).")
    ],
    json_: Annotated[bool, typer.Option("--json", help="Print everything as JSON, a list.")] = False,
) -> None:
    """Say what snapshots are: the drive, how it was prepared. Only their heads are read."""
    from ninescope._native import ConfigError
    from ninescope.common.files import existing
    from ninescope.simulation.snapshots import describe, snapshots_in
    from ninescope.text.snapshots import in_words

    files: list[Path] = []
    for name in paths:
        path = Path(name)
        found = snapshots_in(path) if path.is_dir() else [Path(existing(name, "snapshot"))]
        if not found:
            print(f"ninescope: {path} holds no snapshots", file=sys.stderr)
        files += found
    known = []
    for file in files:
        try:
            known.append((file, describe(file)))
        except ConfigError as error:  # the others of a folder can still be told
            print(f"ninescope: error: {error}", file=sys.stderr)
    if json_:
        print(json.dumps([{"path": str(file), **description} for file, description in known]))
    else:
        for number, (file, description) in enumerate(known):
            if number:
                print()
            print_pairs([("snapshot", str(file)), *in_words(description)])
    if len(known) < len(files):
        raise typer.Exit(EXIT_BAD_INPUT)
