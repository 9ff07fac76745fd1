"""`ninescope calibrate`: what is not known of a drive, fitted to figures that are."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ninescope.cli.common import console
from ninescope.cli.given import drive_of
from ninescope.cli.sweep import Jobs, JsonFlag, Memory, bytes_of

if TYPE_CHECKING:
    from ninescope.lab.calibrate import Calibration


def calibrate(
    device: Annotated[
        str, typer.Argument(metavar="DEVICE", help="A device file (examples/devices has some).")
    ],
    out: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Write the calibrated drive (drive.toml), the report and a figure here, and keep the runs.",
        ),
    ] = None,
    drive: Annotated[
        str | None,
        typer.Option(
            metavar="PRESET|FILE", help="Fit nothing: say by how much this drive misses the figures."
        ),
    ] = None,
    jobs: Jobs = None,
    memory: Memory = None,
    json_: JsonFlag = False,
) -> None:
    """Fit parameters of a drive to some figures, published or measured with fio, and predict the others.

    Says of each parameter between which values it lies, which ones the figures cannot tell apart, and by how
    much every figure is missed, fitted and held out apart.
    """
    from ninescope.lab.calibrate import DeviceFile, tried
    from ninescope.lab.calibrate import calibrate as run

    file = DeviceFile.read(device)

    def say(words: str) -> None:
        print(f"{file.name}  {words}", file=sys.stderr, flush=True)

    how: dict[str, Any] = {"jobs": jobs, "memory": bytes_of(memory), "on_step": say}
    found = run(file, out, **how) if drive is None else tried(file, drive_of(drive, []), out, **how)
    if out is not None:
        _write(found, Path(out), with_drive=drive is None)
    if json_:
        print(json.dumps(found.as_json()))
        return
    from ninescope.lab.calibrate.text import print_calibration

    print_calibration(found, console())
    if out is not None:
        print(f"\nwritten to {out}")


def _write(found: Calibration, folder: Path, *, with_drive: bool) -> None:
    from ninescope.common.files import written_whole
    from ninescope.lab.calibrate.figure import errors_figure
    from ninescope.lab.calibrate.text import markdown
    from ninescope.lab.sweep.plot import save

    texts = {"report.json": json.dumps(found.as_json(), indent=1) + "\n", "report.md": markdown(found)}
    if with_drive:
        texts["drive.toml"] = found.drive
    for name, text in texts.items():
        with written_whole(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    save(errors_figure(found), folder / "errors.png")
