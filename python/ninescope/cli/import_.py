"""`ninescope import`: configurations of other simulators."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ninescope.cli.common import print_pairs

app = typer.Typer(
    help="Take over configurations of other simulators.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("mqsim")
def import_mqsim(
    config: Annotated[str, typer.Argument(metavar="SSDCONFIG.xml", help="MQSim's drive.")],
    workload: Annotated[str, typer.Argument(metavar="WORKLOAD.xml", help="MQSim's workload.")],
    out: Annotated[str, typer.Option(metavar="DIR", help="Write drive.toml and job.toml here.")],
    scenario: Annotated[int, typer.Option(min=1, metavar="N", help="Which IO_Scenario of the workload.")] = 1,
    one_command_per_chip: Annotated[
        bool,
        typer.Option(
            "--one-command-per-chip",
            help="Make one die of the dies of a chip: MQSim runs one command in a chip at a time.",
        ),
    ] = False,
    as_: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="hardware|mqsim",
            help="Whether the drive does what the file says, or what MQSim does of it.",
        ),
    ] = "hardware",
    json_: Annotated[bool, typer.Option("--json", help="Print the account as JSON.")] = False,
) -> None:
    """Make a drive and jobs of a configuration of MQSim, and list what has no counterpart.

    Flows that replay traces give the command that runs the trace.
    """
    from ninescope import mqsim
    from ninescope.common.files import existing

    if as_ not in ("hardware", "mqsim"):
        raise typer.BadParameter(f"--as is {as_!r}, and takes hardware or mqsim")
    if not out:
        raise typer.BadParameter("--out wants a directory, and its name is empty")
    imported = mqsim.convert(
        existing(config, "configuration"),
        existing(workload, "workload"),
        scenario=scenario,
        one_command_per_chip=one_command_per_chip,
        as_mqsim=as_ == "mqsim",
    )
    mqsim.save(imported, Path(out))
    if json_:
        print(json.dumps(imported.document(out)))
        return
    written = ", ".join(str(Path(out, name)) for name in imported.files())
    print(f"written: {written} (where each value comes from stands under `sources`)\n")
    print("not carried over")
    print_pairs([(f"  {left.tag} {left.value}".rstrip(), left.why) for _, left in imported.not_carried()])
    print("\nrun it with")
    for command in imported.commands(out):
        print(f"  {command}")
