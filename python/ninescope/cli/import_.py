"""`ninescope import`: configurations of other simulators, and what fio measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ninescope.cli.common import print_pairs
from ninescope.cli.given import drive_of

if TYPE_CHECKING:
    from ninescope.mqsim import Imported

app = typer.Typer(
    help="Take over configurations of other simulators, and what fio measured.",
    no_args_is_help=True,
    rich_markup_mode=None,
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
    trace: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The trace of a flow, where it is not where the file says."),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="List what was not carried over.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print the account as JSON.")] = False,
) -> None:
    """Make a drive and jobs of a configuration of MQSim, and say what became of each of its settings.

    A trace by itself gives the command that runs it, beside other flows it is in their file.
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
        trace=existing(trace, "trace") if trace is not None else None,
    )
    mqsim.save(imported, Path(out))
    if json_:
        print(json.dumps(imported.document(out)))
        return
    written = ", ".join(str(Path(out, name)) for name in imported.files())
    print(f"written: {written} (where each value comes from stands under `sources`)\n")
    _print_account(imported, verbose=verbose)
    for note in imported.notes():
        print(f"\nnote: {note}")
    print("\nrun it with")
    for command in imported.commands(out):
        print(f"  {command}")


@app.command("fio")
def import_fio(
    results: Annotated[
        list[str], typer.Argument(metavar="FIO.json...", help="Outputs of fio --output-format=json.")
    ],
    out: Annotated[str, typer.Option(metavar="DEVICE.toml", help="The device file to write.")],
    drive: Annotated[
        str,
        typer.Option(metavar="PRESET|FILE", help="The drive nearest to what was measured: tlc without it."),
    ] = "",
) -> None:
    """Write a device file to start from, of a drive that was measured with fio.

    Every job becomes figures, one number of a few of them is fitted by what is open of the drive, and the
    others are predicted: `ninescope calibrate DEVICE.toml`. What may be chosen otherwise is said in it.
    """
    from ninescope import ConfigError
    from ninescope.common.catalogue import DEFAULT_PRESET
    from ninescope.common.files import existing, written_whole
    from ninescope.lab.calibrate import DeviceFile
    from ninescope.lab.calibrate.start import start

    path = Path(out)
    if not path.name:
        raise typer.BadParameter("--out wants a file, and its name is empty")
    if path.exists():
        raise ConfigError(f"{path}: is there already, and is not written over")
    drive = drive or DEFAULT_PRESET
    drive_of(drive, [])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from None
    made = start([Path(existing(each, "output of fio")) for each in results], drive, path)
    figures = DeviceFile.parse(made.text, out, path.parent).figures
    with written_whole(path) as temporary:
        temporary.write_text(made.text, encoding="utf-8")
    fitted = sum(figure.use == "fit" for figure in figures)
    told = f"{len(figures)} figures, {fitted} of them fitted by {' and '.join(made.parameters)}"
    print(f"written: {path}: {told}")
    for name, why in made.left_out:
        print(f"not taken: {name}: {why}")
    print(f"\nread what stands in it, change it, and calibrate with\n  ninescope calibrate {path} --out DIR")


def _print_account(imported: Imported, *, verbose: bool) -> None:
    """Say how many settings of MQSim became what, and list those that nobody knows."""
    from ninescope.mqsim.settings import CARRIED, GROUPS, MEANS, UNKNOWN

    for group, count in imported.counts().items():
        if not count:
            continue
        print(f"{count:4} {GROUPS[group]}: {MEANS[group]}")
        if group != CARRIED and (verbose or group == UNKNOWN):
            left = [left for _, left in imported.not_carried() if left.group == group]
            print_pairs([(f"       {one.tag} {one.value}".rstrip(), one.why) for one in left])
    if not verbose:
        print("     (--verbose lists them; they stand in the files, too)")
    done = imported.as_mqsim()
    if done:
        print("\ndone as MQSim does it, where hardware does not")
        print_pairs([(f"  {key}", source.replace("--as mqsim: ", "")) for key, source in done])
