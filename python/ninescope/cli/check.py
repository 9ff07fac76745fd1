"""`ninescope check`: what a file or a folder is, and what is wrong with it."""

from __future__ import annotations

import contextlib
import sys
from typing import Annotated

import typer

from ninescope.cli import run_options as options
from ninescope.cli.common import Strict, TraceColumns, TraceFormat, naming_stdin


def check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|DIR",
            help="A drive, job, profile, sweep, search, trace, snapshot, result, lake; - is a trace (stdin).",
        ),
    ],
    drive: Annotated[
        str | None,
        typer.Option(
            metavar="PRESET|FILE.toml", help="The drive that a job is for; without it the preset tlc."
        ),
    ] = None,
    set_: options.Set = None,
    strict: Strict = False,
    format_: TraceFormat = None,
    columns: TraceColumns = None,
) -> None:
    """Say what a file is and what is wrong with it. Exits with 2 where something is."""
    from pathlib import Path

    from ninescope.cli.file_check import check
    from ninescope.cli.given import drive_of
    from ninescope.common.files import existing, spooled

    with contextlib.ExitStack() as stack:
        if file == "-":
            path, name = str(stack.enter_context(spooled(sys.stdin.buffer))), "standard input"
        else:
            path = name = file if Path(file).is_dir() else existing(file, "file")
        with naming_stdin({"trace": path, "name": file}):
            given = drive_of(drive, set_ or []).request() if drive or set_ else None
            verdict = check(path, drive=given, strict=strict, format=format_, columns=columns)
    print(f"{name}: {verdict.kind}, OK")
    for note in verdict.notes:
        print(f"  {note}")
