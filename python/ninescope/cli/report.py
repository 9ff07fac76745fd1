"""`ninescope report`: a run, two runs compared, or claims that were judged, as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ninescope.cli.common import REPORTS, html_file

if TYPE_CHECKING:
    from ninescope.report.document import Document


def report(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH", help="What `run --out` or `papers run --out` wrote: the folder, or a result.json."
        ),
    ],
    other: Annotated[
        str | None,
        typer.Argument(
            metavar="OTHER",
            help="Compare it with PATH: a run, or a folder of runs with several seeds, as for `compare`.",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.html",
            help="Where to write it; without it report.html in the folder, comparison.html in that of OTHER.",
        ),
    ] = None,
) -> None:
    """Write a result, or two compared, as one HTML file that needs no network and no other file."""
    from ninescope._native import ConfigError
    from ninescope.report import write

    given = Path(path if other is None else other)
    folder = given if given.is_dir() else given.parent
    if out is not None and (not out or Path(out).is_dir()):
        raise ConfigError(f"--out wants the name of a file, not {out!r}")
    if out is not None:
        html_file(out)
    name = REPORTS[0 if other is None else 1]
    target = folder / name if out is None else Path(out)
    if not target.parent.is_dir():
        raise ConfigError(f"cannot write {target}: there is no folder {target.parent}")
    write(_document(path, other), target)
    print(f"written to {target}")


def _document(path: str, other: str | None) -> Document:
    if other is None:
        from ninescope.cli.stored import document_of

        return document_of(Path(path))
    from ninescope.lab.compare.judging import compare
    from ninescope.lab.compare.sides import load
    from ninescope.report.paired import of_comparison

    return of_comparison(compare(load("A", Path(path)), load("B", Path(other))))
