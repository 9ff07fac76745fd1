"""Renew what README.md and docs/ show of the demo: the text that it prints, and its figures.

`make figures` runs it after a change that moves the numbers; a test says when that is due.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

import ninescope
from ninescope import pictures

ROOT = Path(__file__).resolve().parents[1]


def main(result_directory: Path) -> None:
    """Take the demo's result directory."""
    text = str(ninescope.Result.load(result_directory)).rstrip()
    readme = ROOT / "README.md"
    before = readme.read_text(encoding="utf-8")
    after, found = re.subn(
        r"(```text\n).*?(\n```)", lambda match: match[1] + text + match[2], before, count=1, flags=re.DOTALL
    )
    if not found:
        sys.exit("README.md has no block of text to renew")
    readme.write_text(after, encoding="utf-8")
    images = ROOT / "docs/images"
    images.mkdir(exist_ok=True)
    for name in ("tail.png", "cdf.png"):
        shutil.copyfile(Path(result_directory, name), images / name)
    _slowest().plot.slowest(images / "slowest.png")
    _errors(images / "errors.png")
    for image in images.glob("*.png"):
        pictures.reduce_colours(image, pictures.SMALL)


def _errors(path: Path) -> None:
    """Draw what docs/calibrating.md shows of a calibration."""
    from ninescope.lab.calibrate import DeviceFile, calibrate
    from ninescope.lab.calibrate.figure import errors_figure
    from ninescope.lab.sweep.plot import save

    save(errors_figure(calibrate(DeviceFile.read(ROOT / "examples/devices/by-fio.toml"))), path)


def _slowest() -> ninescope.Result:
    """Run what docs/usage.md shows of `--explain-slowest`."""
    settings = {"scheduler.suspend": "between-loops", "nand.erase_loop": "1ms", "nand.erase_loops": 4}
    job = ninescope.Workload.job(rw="randrw", rwmixread=40, rate_iops=40_000, size="2g", requests=20_000)
    drive = ninescope.Drive.from_file(ROOT / "examples/drives/demo.toml").with_(settings)
    return drive.run(job, requests=20_000, prefill="steady-uniform", explain_slowest=5)


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("folder", type=Path, metavar="FOLDER")
    given = words.parse_args()
    if not given.folder.is_dir():
        words.error(f"{given.folder} is no folder")
    main(given.folder)
