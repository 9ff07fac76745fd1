"""Says what the shape of prxy_1 decides, which is hardly published: papers with others of it.

Each number of the shape in volumes.toml is halved and made half as large again, one at a time; the stand-in
is solved anew for the same published constraints, and what the papers claim of prxy_1 is measured with it.
Nothing is judged, and no profile that is shipped is touched. Writes docs/prxy_1-shape.md.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import table
from problem import ImpossibleError
from solve import ROOT, ROUNDS, solve

from ninescope.papers import runner, stand_ins
from ninescope.papers.experiment import Point, Settings

HEAD = Path(__file__).with_name("shape.md")
PAGE = ROOT / "docs" / "prxy_1-shape.md"
VOLUME, BESIDE = "prxy_1", "prxy_0"
FACTORS = (0.5, 1.5)
RATIOS = (1, 3, 25)
"""SCM as a percentage of flash: those at which paper 001 says which placement is best."""
SHARE = 5
"""M-SCM as a percentage of all memory: what paper 004 finds best for prxy_1."""
WORDS = {
    "hot_write_pages": "written hot",
    "hot_slope": "slope of popularity",
}


class Shape(NamedTuple):
    """One number of the shape, changed; none as it is shipped."""

    key: str
    factor: float

    @property
    def words(self) -> str:
        """What it is called."""
        return f"{WORDS[self.key]} x {self.factor:g}" if self.key else "as shipped"


class Found(NamedTuple):
    """What came of it."""

    shape: Shape
    footprint: int
    iops: dict[tuple[str, int], float]
    """Of paper 001, by placement and ratio."""
    gain: float
    """Of paper 004: IOPS with M-SCM over those without, less 1."""
    reads_per_program: float
    """Of paper 000: sectors of SCM read for each that is written."""


def shapes(volume: table.Volume) -> Iterator[Shape]:
    """List what is tried."""
    yield Shape("", 1.0)
    for key in volume.shape:
        for factor in FACTORS:
            yield Shape(key, factor)


def varied(volume: table.Volume, shape: Shape) -> table.Volume:
    """Return the volume with one number of its shape changed."""
    changed = {key: value * (shape.factor if key == shape.key else 1) for key, value in volume.shape.items()}
    return dataclasses.replace(volume, shape=changed)


def measured(shape: Shape) -> Found | str:
    """Solve the stand-in and run it; a text says why it cannot be had."""
    _, volumes = table.load()
    volume = varied(next(each for each in volumes if each.name == VOLUME), shape)
    with tempfile.TemporaryDirectory(prefix="ninescope-") as folder:
        try:
            solve(volume, [f"prxy_1 with {shape.words}"], Path(folder), ROUNDS)
        except ImpossibleError as problem:
            return f"{shape.words}: impossible: {problem}"
        return run(shape, str(Path(folder) / f"{VOLUME}.toml"))


def run(shape: Shape, profile: str) -> Found:
    """Run what the experiments of the papers run of prxy_1."""
    settings = Settings(quick=True)
    of_001 = experiment("001-data-management")
    requests = of_001.requests_of(settings)[VOLUME]
    runs = [of_001.run(placement, ratio) for placement in of_001.PLACEMENTS for ratio in RATIOS]
    placed = simulated(of_001, profile, requests, runs, settings)
    of_004 = experiment("004-multi-scm")
    runs = [of_004.multi(SHARE, "case-1"), of_004.alone_of("s", of_004.LADDER, "levelled")]
    both = simulated(of_004, profile, of_004.QUICK_REQUESTS[VOLUME], runs, settings)
    with_m, without = (words["iops"] for words in both["runs"].values())
    iops = {
        (placement, ratio): placed["runs"][f"{placement}/{ratio}"]["iops"]
        for placement in of_001.PLACEMENTS
        for ratio in RATIOS
    }
    return Found(
        shape, placed["stand_in"]["footprint"], iops, with_m / without - 1, reads_per_program(profile, VOLUME)
    )


def reads_per_program(profile: str, volume: str) -> float:
    """Run what paper 000 runs of a volume, with all its requests: sectors of SCM read for each written."""
    of_000, settings = experiment("000-hybrid-ecc"), Settings()
    stand_in = stand_ins.take(profile, settings.requests(of_000.FULL_REQUESTS[volume]), settings)
    run = of_000.measure(stand_in, {}, settings)
    return float(run["sectors_read"] / run["sectors_written"])


def experiment(folder: str) -> Any:
    """Load what a paper simulates."""
    return runner.load(ROOT / "experiments" / folder / "experiment.py")


def simulated(
    module: Any, profile: str, requests: int, runs: list[dict[str, Any]], settings: Settings
) -> dict[str, Any]:
    """Have an experiment draw a profile and run it."""
    words = {"volume": profile, "requests": requests, "runs": runs}
    found: dict[str, Any] = module.simulate(Point(VOLUME, words), settings)
    return found


def row(found: Found, beside: float) -> str:
    """Write a line of the table."""
    placements = list(dict.fromkeys(placement for placement, _ in found.iops))
    cells = [found.shape.words, f"{found.footprint / (1 << 20):,.0f} MiB"]
    for ratio in RATIOS:
        values = {placement: found.iops[placement, ratio] for placement in placements}
        best = max(values, key=values.__getitem__)
        told = (f"**{value:,.0f}**" if name == best else f"{value:,.0f}" for name, value in values.items())
        cells.append(" / ".join(told))
    quotient = found.reads_per_program / beside
    cells += [f"{found.gain:+.0%}", f"{found.reads_per_program:.2f}", f"{quotient:.2f}"]
    return f"| {' | '.join(cells)} |"


def page(results: list[Found | str], beside: float) -> str:
    """Write the page; `beside`: sectors of SCM read for each that is written, of the other volume."""
    ratios = " | ".join(f"IOPS at {ratio} %: WB / WO-DM / RWB-DM" for ratio in RATIOS)
    lines = [
        HEAD.read_text(encoding="utf-8"),
        f"| shape | footprint | {ratios} | 004: gain of {SHARE} % M-SCM "
        f"| 000: SCM reads per program | over {BESIDE} |",
        f"| --- | ---: |{' --- |' * len(RATIOS)} ---: | ---: | ---: |",
        *(row(found, beside) for found in results if isinstance(found, Found)),
    ]
    impossible = [f"- {found}" for found in results if isinstance(found, str)]
    return "\n".join([*lines, *(["", *impossible] if impossible else [])]) + "\n"


def main() -> None:
    """Run."""
    _, volumes = table.load()
    volume = next(each for each in volumes if each.name == VOLUME)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as workers:
        beside = workers.submit(reads_per_program, BESIDE, BESIDE)
        found = list(workers.map(measured, shapes(volume)))
        PAGE.write_text(page(found, beside.result()), encoding="utf-8")


if __name__ == "__main__":
    main()
