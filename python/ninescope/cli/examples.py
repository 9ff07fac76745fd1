"""`ninescope examples`: drives, jobs, traces, sweeps and searches to begin with, wherever it is installed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="List and copy the examples that come with ninescope.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("list")
def list_(
    kind: Annotated[str | None, typer.Argument(help="Only this folder of them.", metavar="[FOLDER]")] = None,
) -> None:
    """List them, folder by folder."""
    from ninescope.cli.common import one_of
    from ninescope.common import shipped

    folder = shipped.folder("examples")
    kinds = tuple(sorted(entry.name for entry in folder.iterdir() if entry.is_dir()))
    for name in kinds if kind is None else [one_of("the folder", kind, kinds)]:
        print(name)
        for file in sorted((folder / name).iterdir()):
            print(f"  {file.name}")


@app.command()
def copy(
    to: Annotated[Path, typer.Argument(metavar="[DIR]", help="A folder that is not there yet.")] = Path(
        "examples"
    ),
) -> None:
    """Copy all of them, as commands of the documentation name them (`examples/…`)."""
    from ninescope import ConfigError
    from ninescope.common import shipped

    if to.exists():
        raise ConfigError(f"{to}: there is something of that name, and nothing of it is overwritten")
    try:
        shutil.copytree(
            shipped.folder("examples"), to, ignore=shutil.ignore_patterns("__pycache__", "target")
        )
    except (OSError, shutil.Error) as error:
        raise ConfigError(f"{to}: {error}") from error
    print(to)
