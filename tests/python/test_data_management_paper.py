"""Paper 001: the whole experiment with few requests, and what it infers.

What it shares with the other papers on drives of two media is in `test_hybrid_papers.py`.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import miniature
import ninescope
from conftest import NATIVE, ROOT
from ninescope.lab.sweep.values import quantity
from ninescope.papers import runner, stand_ins
from ninescope.papers.experiment import Settings

FOLDER = ROOT / "experiments/001-data-management"
FOOTPRINTS = {"prxy_0": 351 << 20, "prxy_1": 199 << 20}
"""About those of a brief run: the smallest that drives are made for."""


@pytest.fixture
def module() -> Any:
    """What is simulated: `experiment.py`."""
    return runner.load(FOLDER / "experiment.py")


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_the_whole_experiment_runs_with_few_requests():
    found = miniature.run(FOLDER, Settings(length=0.003))
    assert [figure.name for figure in found.figures] == ["figure-3", "figure-4", "figure-5", "ratio-sweep"]
    brief = miniature.run(FOLDER, Settings(length=0.003, brief=True))
    # A brief run leaves out runs, and gives some fewer requests; the others are the same.
    same = [
        name
        for name, point in brief.results.items()
        if point["stand_in"]["requests"] == found.results[name]["stand_in"]["requests"]
    ]
    assert [name for name in same if name.startswith("prxy_1/")]
    assert len(same) < len(brief.results)
    for name in same:
        for run, result in brief.results[name]["runs"].items():
            assert result == found.results[name]["runs"][run]


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_a_full_run_draws_whole_stand_ins_for_the_classes():
    settings = Settings(quick=False, length=0.001)
    found = miniature.run(FOLDER, settings)
    classes = found.figures[0]
    named = [series.label for panel in classes.panels for series in panel.series if series.form == "points"]
    assert len(named) == 16
    assert {"hm_0", "prxy_1", "usr_0"} <= set(named)


def simulated(module: Any, settings: Settings) -> list[Any]:
    """All drives of a brief run, and what is left out of each."""
    return [
        (
            module.hybrid(FOOTPRINTS[point.parameters["volume"]], run, settings),
            module.warmup_share(settings),
        )
        for point in module.points(settings)
        for run in point.parameters["runs"]
    ]


def test_every_inferred_value_changes_what_is_simulated(module):
    chosen = simulated(module, Settings(brief=True))
    assert simulated(module, Settings(brief=True, varied="nothing", factor=0.5)) == chosen
    for inferred, factor in itertools.product(module.INFERRED, (0.5, 1.5)):
        varied = simulated(module, Settings(brief=True, varied=inferred.name, factor=factor))
        assert varied != chosen, inferred.name


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_drives_of_inferred_values_can_be_built(module, factor):
    job = ninescope.Workload.job(rw="randrw", bs="4k", size="16MiB", requests=5)
    for inferred in module.INFERRED:
        settings = Settings(brief=True, varied=inferred.name, factor=factor)
        for description, warmup in simulated(module, settings)[::5]:
            found = stand_ins.drive(description).run(job, warmup=warmup)
            assert found.document["config"]["drive"]["geometry"]["channels"] == 4


def test_random_is_what_is_a_sector_smaller_than_what_flash_writes_at_a_time(module):
    geometry = module.BASE["geometry"]
    written_at_a_time = stand_ins.size(geometry["page_size"]) * geometry["planes_per_die"]
    assert quantity(module.RANDOM_UP_TO) == ("size", written_at_a_time - 512)
