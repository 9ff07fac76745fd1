"""`ninescope report`: a run, or claims that were judged, as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH", help="What `run --out` or `papers run --out` wrote: the folder, or a result.json."
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE.html", help="Where to write it; without it report.html in the folder."),
    ] = None,
) -> None:
    """Write a result as one HTML file that needs no network and no other file."""
    from ninescope._native import ConfigError
    from ninescope.report import write
    from ninescope.report.stored import document_of

    given = Path(path)
    folder = given if given.is_dir() else given.parent
    if out is not None and (not out or Path(out).is_dir()):
        raise ConfigError(f"--out wants the name of a file, not {out!r}")
    target = folder / "report.html" if out is None else Path(out)
    if not target.parent.is_dir():
        raise ConfigError(f"cannot write {target}: there is no folder {target.parent}")
    write(document_of(given), target)
    print(f"written to {target}")
