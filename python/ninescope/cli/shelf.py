"""`ninescope shelf`: a drive that lay without power."""

from __future__ import annotations

from typing import Annotated

import typer

from ninescope.cli.common import print_pairs


def shelf(
    snapshot: Annotated[
        str, typer.Argument(metavar="SNAPSHOT", help="A prepared drive (`snapshot save`, `run --snapshots`).")
    ],
    out: Annotated[str, typer.Option("--out", metavar="FILE", help="The snapshot to write.")],
    for_: Annotated[str, typer.Option("--for", metavar="TIME", help="How long it lies there: 90d, 12h.")],
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="TEMPERATURE",
            help="How warm it is there: 40C, 55. Without it as at nand.temperature.reference.",
        ),
    ] = None,
) -> None:
    """Age a drive: write a snapshot whose data is older, for `run --from-snapshot`."""
    from ninescope.simulation.snapshots import celsius, describe, lay_on_shelf
    from ninescope.text.snapshots import in_words

    lay_on_shelf(snapshot, out, for_, None if at is None else celsius(at))
    print_pairs(list(in_words(describe(out))))
