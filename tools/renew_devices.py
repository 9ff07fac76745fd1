"""Write docs/validation/devices.md and the sources of presets from stored calibrations: `make devices-docs`.

`make devices` calibrates anew first: each drive of examples/devices that is a preset, which is renewed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ninescope.lab.calibrate.record import Calibration

ROOT = Path(__file__).resolve().parents[1]
DEVICES = ROOT / "examples/devices"
STORED = ROOT / "docs/validation/devices"
PAGE = ROOT / "docs/validation/devices.md"
PRESETS = ROOT / "presets/drives"
IMAGES = ROOT / "docs/images"
AIM = 0.1
"""Median of the errors of held-out figures."""

HEAD = """# Drives that one can buy

Each of these presets was calibrated by [`ninescope calibrate`](../calibrating.md) on a few published figures,
and predicts the others, which had no part in the fit. They were known when the device files were written, though:
which mechanisms a drive has, and which parameters are open, was in places chosen after a look at what a first fit
missed, and the notes of the drive say where. The device files ([examples/devices](../../examples/devices))
say what was fitted within which bounds, and where each figure comes from. Every figure of a device file is here, bad
ones included; where some are far off, the notes of the drive say what the model lacks, as far as that is known. Of
long published tables a file has some of the rows, and no drive has figures that are no numbers of results, as resets.
`make devices` calibrates all of them anew, `make devices-docs` writes this page, and the sources in the presets, from
what is stored beside it. A run on one of them notes of which kinds no figure is (random writes to a full drive, say).

An error is simulated / published - 1. Presets are scaled down; `--set geometry.blocks_per_plane=N` enlarges one. A cache
of one bit in a cell is so many blocks of each plane, whatever there are: `ftl.slc_cache.borrowed_blocks` grows with them.

![Simulated over published, every figure of every drive](../images/devices.png)

"""  # noqa: E501


def names() -> list[str]:
    """Return the devices that are presets: those with a stored result, and those to come."""
    return sorted(path.stem for path in DEVICES.glob("*.toml") if path.stem != "by-fio")


def stored() -> list[Calibration]:
    """Return the stored results."""
    from ninescope.lab.calibrate.record import Calibration as Stored

    paths = [STORED / f"{name}.json" for name in names()]
    return [Stored.from_json(json.loads(path.read_text())) for path in paths if path.exists()]


def page() -> str:
    """Return the page."""
    from ninescope.lab.calibrate.record import error_shown, name_of
    from ninescope.lab.calibrate.text import markdown

    found = stored()
    lines = [
        "| drive | fitted | median | held out | median | worst | |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for one in found:
        worst = one.worst("holdout")
        cells = [
            f"[{one.device}](#{one.device})",
            f"{len(one.of('fit'))}",
            f"{one.median('fit'):.1%}",
            f"{len(one.of('holdout'))}",
            f"{one.median('holdout'):.1%}",
            error_shown(worst) if worst else "-",
            name_of(worst) if worst else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    parts = [markdown(one, 2) for one in found]
    return HEAD + "\n".join(lines) + "\n\n" + together(found) + "\n\n" + "\n".join(parts)


def together(found: list[Calibration]) -> str:
    """Say how far all predictions are off, and on how many drives the median is as good as is aimed at."""
    errors = [abs(row.error) for one in found for row in one.of("holdout") if row.error is not None]
    near = sum(error <= AIM for error in errors)
    medians = [median for one in found if (median := one.median("holdout")) is not None]
    drives = sum(median <= AIM for median in medians)
    return (
        f"The aim is a median of {AIM:.0%}. All {len(errors)} predictions together have one of "
        f"{statistics.median(errors):.1%}, and {near} of them lie within {AIM:.0%}; but most are of one "
        f"drive, and by drives the median is that good on {drives} of {len(medians)}."
    )


def calibrate(name: str, out: Path) -> None:
    """Calibrate a device anew, and keep what came of it."""
    from ninescope.lab.calibrate import DeviceFile, calibrate

    found = calibrate(DeviceFile.read(DEVICES / f"{name}.toml"), out / name, on_step=print)
    keep(name, found.as_json(), found.drive)


def keep(name: str, document: dict[str, object], drive: str) -> None:
    """Store a result, and the drive as a preset."""
    STORED.mkdir(exist_ok=True)
    (STORED / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
    (PRESETS / f"{name}.toml").write_text(drive)


def rewritten(name: str) -> str:
    """Return the preset of a stored result, with what is said of its values today; nothing is run."""
    from ninescope.lab.calibrate.calibrate import rewritten as write
    from ninescope.lab.calibrate.file import DeviceFile
    from ninescope.lab.calibrate.record import Calibration as Stored

    found = Stored.from_json(json.loads((STORED / f"{name}.json").read_text()))
    return write(DeviceFile.read(DEVICES / f"{name}.toml"), found).drive


def draw() -> None:
    """Draw how far all figures of all drives are missed."""
    from ninescope import pictures
    from ninescope.lab.calibrate.figure import devices_figure

    pictures.save(devices_figure(stored()), IMAGES, ("png",))
    pictures.reduce_colours(IMAGES / "devices.png", pictures.SMALL)


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calibrate", metavar="DIR", type=Path, help="calibrate anew; runs are kept here")
    parser.add_argument("--keep", metavar="DIR", type=Path, help="take reports and drives that lie here")
    parser.add_argument("--only", metavar="NAME", nargs="*", help="of these devices")
    given = parser.parse_args()
    for name in given.only or names():
        if given.calibrate is not None:
            calibrate(name, given.calibrate)
        elif given.keep is not None and (given.keep / name / "report.json").exists():
            report = json.loads((given.keep / name / "report.json").read_text())
            keep(name, report, (given.keep / name / "drive.toml").read_text())
        if (STORED / f"{name}.json").exists():
            (PRESETS / f"{name}.toml").write_text(rewritten(name))
    PAGE.write_text(page())
    draw()
    return 0


if __name__ == "__main__":
    sys.exit(main())
