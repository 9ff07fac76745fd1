"""`ninescope check`: what a file is, and what is wrong with it."""

from __future__ import annotations

from typing import Annotated

import typer


def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A drive, a job or a trace.")],
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse a trace with lines that cannot be read.")
    ] = False,
) -> None:
    """Say what a file is and what is wrong with it. Exits with 2 where something is."""
    from ninescope.check import check
    from ninescope.files import existing

    verdict = check(existing(file, "file"), strict=strict)
    print(f"{file}: {verdict.kind}, OK")
    for note in verdict.notes:
        print(f"  {note}")
