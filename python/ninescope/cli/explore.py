"""`ninescope explore`: a page to look into results, down to what the dies did behind the slowest requests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ninescope.cli.common import REPORTS, html_file

if TYPE_CHECKING:
    from ninescope.result import Result

MOST = 8
"""So many results stand side by side: as many as there are colours."""


def explore(
    results: Annotated[
        list[str],
        typer.Argument(
            metavar="RESULT...",
            help="What `run --out` wrote: the folder, or a result.json; several to compare.",
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.html", help="Where to write it; without it explore.html in the (first) folder."
        ),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Write a page to look into results: percentiles, causes, time, and the dies behind each slow request.

    It is one file, and needs no network. A run with `--explain-slowest 20` has requests to zoom into, with
    `--trace-window` also all that its dies did then.
    """
    from ninescope._native import ConfigError
    from ninescope.report import write
    from ninescope.report.explore import names_of, of_results

    if len(results) > MOST:
        raise ConfigError(f"{len(results)} results are too many to be told apart: at most {MOST}")
    if out is not None:
        html_file(out)
    loaded = [_loaded(Path(path)) for path in results]
    first = Path(results[0])
    target = Path(out) if out else (first if first.is_dir() else first.parent) / REPORTS[2]
    if target.is_dir() or not target.parent.is_dir():
        reason = "it is a folder" if target.is_dir() else f"there is no folder {target.parent}"
        raise ConfigError(f"cannot write {target}: {reason}")
    folders = [path.removesuffix("/result.json") for path in results]
    write(of_results(dict(zip(names_of(folders), loaded, strict=True))), target)
    print(f"written to {target}")
    if open_:
        import webbrowser

        webbrowser.open(target.resolve().as_uri())


def _loaded(path: Path) -> Result:
    """Read a result with all that the page shows of it; whatever is damaged is refused in one line."""
    from ninescope._native import ConfigError
    from ninescope.common.files import RESULT
    from ninescope.result import Result
    from ninescope.result.saved import refused

    if not path.exists():
        raise ConfigError(f"{str(path)!r} does not exist")
    if path.is_dir() and not (path / RESULT).exists():
        from ninescope.common.written import refuse_as_result

        refuse_as_result(path)
        raise ConfigError(f"{path} holds no {RESULT} (of `run --out`)")
    result = Result.load(path)
    if path.is_dir():
        from ninescope.report.ways import Timeline

        with refused(path / "timeline.json", "a damaged timeline"):
            Timeline.of(result)
    return result
