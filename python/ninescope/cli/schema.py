"""`ninescope schema`: JSON Schemas, with which editors complete and check the files that people write."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ninescope.cli.common import one_of


def schema(
    kind: Annotated[str | None, typer.Argument(metavar="drive|job|profile", help="The kind of file.")] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write the schemas of all kinds (or of KIND) here.")
    ] = None,
) -> None:
    """Print the JSON Schema of a kind of file, for editors."""
    from ninescope.common.catalogue import schemas
    from ninescope.common.files import output_directory, written_whole

    known = schemas()
    if kind is not None:
        known = {one_of("the kind of file", kind, tuple(known)): known.get(kind, "")}
    elif out is None:
        raise typer.BadParameter(f"which kind of file: {', '.join(known)}? (--out DIR writes all)")
    if out is None:
        print(*known.values())
        return
    if not out:
        raise typer.BadParameter("--out wants a directory, and its name is empty")
    with output_directory(Path(out)):
        for name, text in known.items():
            path = Path(out, f"{name}.schema.json")
            with written_whole(path) as temporary:
                temporary.write_text(f"{text}\n", encoding="utf-8")
            print(f"written: {path}")
