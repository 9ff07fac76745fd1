"""Papers 000 and 004: the whole experiments with few requests, and what they infer.

What they share with paper 001 is in `test_hybrid_papers.py`.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import pytest

import miniature
import ninescope
from conftest import NATIVE, ROOT
from ninescope.papers import runner, stand_ins
from ninescope.papers.experiment import Settings

FOLDERS = {"000": ROOT / "experiments/000-hybrid-ecc", "004": ROOT / "experiments/004-multi-scm"}
FIGURES = {
    "000": ["figure-2", "figure-3", "figure-4", "figure-5"],
    "004": ["performance", "cost", "wear-levelling", "endurance", "weak-levelling"],
}
LENGTHS = {"000": 0.004, "004": 0.003}
FOOTPRINTS = {"000": 126 << 20, "004": 444 << 20}
"""About the smallest of a brief run."""
needs_engine = pytest.mark.skipif(not NATIVE, reason="the engine is not built")


def module_of(paper: str) -> Any:
    """What is simulated: `experiment.py`."""
    return runner.load(FOLDERS[paper] / "experiment.py")


@needs_engine
@pytest.mark.parametrize("paper", FOLDERS)
def test_the_whole_experiment_runs_with_few_requests(paper):
    found = miniature.run(FOLDERS[paper], Settings(length=LENGTHS[paper]))
    assert [figure.name for figure in found.figures] == FIGURES[paper]
    brief = miniature.run(FOLDERS[paper], Settings(length=LENGTHS[paper], brief=True))
    # A brief run leaves out runs, and those that it has are the same.
    runs = 0
    for name, point in brief.results.items():
        for run, result in point["runs"].items():
            assert result == found.results[name]["runs"][run]
            runs += 1
    assert runs < sum(len(point.get("runs", [])) for point in found.results.values()) / 2


@needs_engine
@pytest.mark.parametrize("paper", FOLDERS)
def test_a_full_run_comes_to_all_tables_and_figures(paper):
    settings = Settings(quick=False, length=LENGTHS[paper] / 10)
    found = miniature.run(FOLDERS[paper], settings)
    assert [figure.name for figure in found.figures] == FIGURES[paper]


# ---- what the papers leave open ------------------------------------------------------------------------


class Recorded:
    """A drive that says what it is asked to run, and runs nothing."""

    def __init__(self, asked: list[Any], description: Any) -> None:
        self._asked, self._description = asked, description

    def run(self, workload: Any, *, seed: int, warmup: float) -> Any:
        self._asked.append((workload, seed, warmup, self._description))
        medium = {"counters": {"sectors_read": 1, "sectors_written": 1}, "wear": {}, "copies_per_write": None}
        return ninescope.Result(
            {
                "throughput": {op: {"iops": 1.0, "requests": 1} for op in ("read", "write")},
                "scm": medium,
                "storage_scm": medium,
                "config": {"drive": {"scm": {"capacity": "1MiB"}}},
                "digest": "",
                "workload": {"hash": "1"},
                "requests": 1,
            }
        )


def simulated(paper: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """All that a brief run asks of drives: which requests, how many are left out, and what drive it is."""
    module, asked = module_of(paper), []

    def draw(name: str, requests: int, *, seed: int) -> stand_ins.StandIn:
        row = {"requests": 1, "writes": 0, "mean_read_bytes": 0, "mean_write_bytes": 0, "class": {}}
        statistics = {**row, "read_footprint_bytes": 0, "written_footprint_bytes": 0}
        drawn: Any = (name, requests)
        return stand_ins.StandIn(name, drawn, statistics, FOOTPRINTS[paper])

    monkeypatch.setattr(stand_ins, "draw", draw)
    monkeypatch.setattr(stand_ins, "drive", functools.partial(Recorded, asked))
    for point in module.points(settings):
        module.simulate(point, settings)
    return asked


@needs_engine
@pytest.mark.parametrize("paper", FOLDERS)
def test_every_inferred_value_changes_what_is_simulated(paper, monkeypatch):
    chosen = simulated(paper, Settings(brief=True), monkeypatch)
    assert simulated(paper, Settings(brief=True, varied="nothing", factor=0.5), monkeypatch) == chosen
    names = [inferred.name for inferred in module_of(paper).INFERRED]
    assert len(set(names)) == len(names) >= 6
    for name in names:
        found = [
            simulated(paper, Settings(brief=True, varied=name, factor=factor), monkeypatch)
            for factor in (0.5, 1.5)
        ]
        assert found[0] != found[1], name
        assert chosen != found[1], name


@needs_engine
@pytest.mark.parametrize("paper", FOLDERS)
def test_drives_of_inferred_values_can_be_built(paper, monkeypatch):
    job = ninescope.Workload.job(rw="randrw", bs="4k", size="16MiB", requests=5)
    build = stand_ins.drive
    for inferred, factor in itertools.product(module_of(paper).INFERRED, (0.5, 1.5)):
        settings = Settings(brief=True, varied=inferred.name, factor=factor)
        for _, _, warmup, description in simulated(paper, settings, monkeypatch)[::5]:
            assert build(description).run(job, warmup=warmup).document["requests"] > 0
