"""`ninescope replay`: a run that somebody packed is run again, and comes to the same or not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ninescope.cli.common import EXIT_FAILURE, EXIT_INTERRUPTED


def replay(
    bundle: Annotated[
        str, typer.Argument(metavar="BUNDLE.zip", help="What `ninescope run --provenance` wrote.")
    ],
    trace: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where the trace of the bundle lies here.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write the result of the new run here.")
    ] = None,
) -> None:
    """Run a bundle again and say whether it comes to the same. Exits with 1 where it does not."""
    from ninescope.cli.run_output import run_to_end
    from ninescope.simulation.bundle import Bundle

    opened = Bundle(bundle)
    quiet = not sys.stderr.isatty()
    result = run_to_end(opened.run(trace), quiet=quiet)
    if not (result.complete and opened.compare_with_alone(result, lambda run: run_to_end(run, quiet=quiet))):
        raise typer.Exit(EXIT_INTERRUPTED)
    verdict = opened.compare(result)
    if out is not None:
        result.save(Path(out))
    for remark in verdict.remarks:
        print(f"ninescope: {remark}", file=sys.stderr)
    if verdict.differences:
        print(f"{bundle}: comes to something else")
        for difference in verdict.differences:
            print(f"  {difference}")
        raise typer.Exit(EXIT_FAILURE)
    print(f"{bundle}: the same, {result.requests:,} requests, digest {result.digest}")
