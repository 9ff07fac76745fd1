"""`ninescope check`: what a file is, and what is wrong with it."""

from __future__ import annotations

import contextlib
import sys
from typing import Annotated

import typer

from ninescope.cli.common import Strict, TraceFormat, naming_stdin


def check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A drive, job, profile, trace or snapshot; - is a trace from stdin."
        ),
    ],
    strict: Strict = False,
    format_: TraceFormat = None,
) -> None:
    """Say what a file is and what is wrong with it. Exits with 2 where something is."""
    from ninescope.check import check
    from ninescope.files import existing, spooled

    with contextlib.ExitStack() as stack:
        if file == "-":
            path, name = str(stack.enter_context(spooled(sys.stdin.buffer))), "standard input"
        else:
            path = name = existing(file, "file")
        with naming_stdin({"trace": path, "name": file}):
            verdict = check(path, strict=strict, format=format_)
    print(f"{name}: {verdict.kind}, OK")
    for note in verdict.notes:
        print(f"  {note}")
