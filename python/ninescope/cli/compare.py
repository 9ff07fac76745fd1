"""`ninescope compare`: two results, or two designs run with several seeds, metric by metric."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ninescope.cli.common import console

if TYPE_CHECKING:
    from ninescope.lab.compare.comparison import Comparison


def compare(
    a: Annotated[
        str,
        typer.Argument(
            metavar="A", help="A folder of `run --out`, its result.json, or a folder of such folders."
        ),
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="The same, of what is compared with it.")],
    json_: Annotated[
        bool, typer.Option("--json", help="Print the comparison as JSON, and nothing else.")
    ] = False,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|FILE.html|FILE.json",
            help="Write JSON and figures into a folder, or one file: a report, or the JSON.",
        ),
    ] = None,
) -> None:
    """Compare two results: every metric with its difference, its interval, and what may be said of it.

    Runs of one design with several seeds stand in a folder of folders; those with the same seed in A and B
    are compared pair by pair.
    """
    import json

    from ninescope.lab.compare.judging import compare as compared
    from ninescope.lab.compare.sides import load
    from ninescope.lab.compare.text import print_comparison

    target = None if out is None else _target(out)
    comparison = compared(load("A", Path(a)), load("B", Path(b)))
    if target is not None:
        _write(comparison, target)
    if json_:
        print(json.dumps(comparison.document()))
        return
    terminal = console()
    print_comparison(comparison, terminal)
    if target is not None:
        terminal.print(f"\n written to {target}", highlight=False, soft_wrap=True)


def _target(out: str) -> Path:
    """Return where to write, if that can be written at all."""
    from ninescope._native import ConfigError

    path = Path(out)
    if not out:
        raise ConfigError("--out wants a folder or a file, and its name is empty")
    if path.is_dir() or not path.suffix[1:].isalpha():  # `out/p99.9` is a folder
        return path
    if path.suffix not in (".html", ".json"):
        raise ConfigError(f"--out wants a folder, or a file that ends in .html or .json, not {out!r}")
    if not path.parent.is_dir():
        raise ConfigError(f"cannot write {path}: there is no folder {path.parent}")
    return path


def _write(comparison: Comparison, target: Path) -> None:
    if target.suffix == ".html" and not target.is_dir():
        comparison.report(target)
    elif target.suffix == ".json" and not target.is_dir():
        from ninescope.lab.compare.saving import save_json

        save_json(comparison, target)
    else:
        comparison.save(target)
