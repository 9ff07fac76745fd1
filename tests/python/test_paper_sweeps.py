"""Sweeps of the papers: the same runs, asked through a sweep file, come to the same digests."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import NATIVE, ROOT, tomllib
from ninescope.lab.sweep.lake import Lake
from ninescope.lab.sweep.sweep import Sweep
from ninescope.papers import runner
from ninescope.papers.experiment import Point, Settings
from sweep_samples import run_here

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")

TAILS = ROOT / "examples/sweeps/ssr-tails.toml"
EXPERIMENT = ROOT / "experiments/002-ssr/experiment.py"
LENGTH = 0.02


@pytest.fixture
def ssr() -> Any:
    return runner.load(EXPERIMENT)


def test_the_sweep_of_tails_has_the_lengths_of_a_quick_run(ssr):
    words = tomllib.loads(TAILS.read_text(encoding="utf-8"))
    assert words["run"]["prefill"] == ssr.PREFILL
    assert words["run"]["warmup"] == ssr.WARMUP_REQUESTS
    assert words["run"]["requests"] == ssr.QUICK_REQUESTS["fio"]
    assert words["when"][0]["set"] == {"run.requests": ssr.QUICK_REQUESTS["tpcc-stand-in"]}
    assert [each["name"] for each in words["workload"]] == list(ssr.WORKLOADS)
    assert words["axes"]["drive.preset"] == list(ssr.POLICIES)


def test_a_sweep_runs_what_the_experiment_runs(ssr, tmp_path):
    text = TAILS.read_text(encoding="utf-8")
    settings = Settings(quick=True, length=LENGTH)
    for number in (ssr.WARMUP_REQUESTS, *ssr.QUICK_REQUESTS.values()):
        text = text.replace(f"{number:_}", str(settings.requests(number)))
    sweep = Sweep.from_toml("name = 'tails'\n" + text, folder=TAILS.parent)
    run_here(sweep, tmp_path / "lake")
    lake = Lake.open(tmp_path / "lake")
    found = {lake.result(point.id).digest for point in sweep.plan().points}

    expected = set()
    for workload in ssr.WORKLOADS:
        for policy in ssr.POLICIES:
            words = {"kind": "run", "workload": workload, "policy": policy}
            run = ssr.simulate(Point(f"{workload}/{policy}", words), settings)
            expected.add(run["seeds"][str(settings.seed)]["provenance"]["digest"])
    assert len(expected) == len(ssr.WORKLOADS) * len(ssr.POLICIES)
    assert found == expected
