"""The options of `ninescope papers`: what each is called and takes."""

from __future__ import annotations

from typing import Annotated

import typer

Experiments = Annotated[
    str | None, typer.Option(metavar="DIR", help="The folder of experiments, if not the checkout's.")
]
ListJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Paper = Annotated[str, typer.Argument(metavar="ID|all", help="A paper (`papers list`), or all of them.")]
Quick = Annotated[
    bool,
    typer.Option("--quick", help="One to four minutes a paper, and the percentiles it allows (default)."),
]
Full = Annotated[
    bool,
    typer.Option(
        "--full",
        help="As many requests as every percentile needs: on two processors up to half an hour a paper.",
    ),
]
RunJson = Annotated[bool, typer.Option("--json", help="Print the verdicts as JSON, and nothing else.")]
RunOut = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="Write verdicts, tables and figures here (`all`: a folder each). "
        "A run that was interrupted goes on there.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Simulations at a time (default: one per processor)."),
]
Dask = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Simulate on a Dask cluster (tcp://host:8786), whose workers see this folder and have one "
        "thread each, or on N processes of one (local:N).",
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, max=(1 << 64) - 1, metavar="N", help="Seed of every random stream.")
]
Traces = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="Run real volumes of MSR Cambridge (DIR/prxy_0.csv and so on, plain or compressed) where "
        "stand-ins are run otherwise.",
    ),
]
RenewBaseline = Annotated[
    bool,
    typer.Option("--renew-baseline", help="Make these verdicts the ones that must hold from now on."),
]
SensitivityOut = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="Write what comes of it here, beside what `papers run` wrote: the report shows it. "
        "A run that was interrupted goes on there.",
    ),
]
SensitivityJson = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]
