"""Paper 002: the whole of it in miniature, and what its inferred values change."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conftest import NATIVE, ROOT, tomllib
from ninescope import toml
from ninescope.figures import Figure
from ninescope.papers import provenance, runner
from ninescope.papers.claims import load_claims
from ninescope.papers.experiment import Settings
from ninescope.papers.judge import judge
from ninescope.papers.published import load_published

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")

FOLDER = ROOT / "experiments/002-ssr"
CLAIMS = load_claims(FOLDER / "claims.toml").claims
FIGURES = {"figure-5", "figure-7", "figure-8", "figure-9", "figure-10", "improvement", "survival", "causes"}


@pytest.fixture
def experiment() -> Any:
    """What is simulated: `experiment.py`."""
    return runner.load(FOLDER / "experiment.py")


@pytest.fixture(scope="module")
def miniature() -> runner.Measurement:
    """All of the paper, with a two-hundredth of the requests."""
    return runner.measure(FOLDER / "experiment.py", Settings(length=0.005), jobs=2)


def has_values(figure: Figure) -> bool:
    return any(value is not None for panel in figure.panels for one in panel.series for value in one.y)


# ---- in miniature ------------------------------------------------------------------------------------


def test_the_whole_paper_in_miniature(miniature):
    found = miniature
    verdicts = {claim.id: judge(claim, found.summary.measured, quick=True).verdict for claim in CLAIMS}
    # A single erase is as long in a short run.
    for claim in ("2.1", "2.2", "2.8"):
        assert verdicts[claim] == "holds"
    assert {figure.name for figure in found.figures} == FIGURES
    # The tails of so few requests say nothing, and nothing is said of them.
    empty = {figure.name for figure in found.figures if not has_values(figure)}
    assert empty <= {"improvement", "causes"}
    figures = {figure.name: figure for figure in load_published(FOLDER / "published.toml").on(found.figures)}
    assert any(one.published for panel in figures["figure-8"].panels for one in panel.series)
    tables = {table.title: table for table in found.summary.tables}
    for table in tables.values():
        assert all(len(row) == len(table.columns) for row in table.rows), table.title
    published = load_published(FOLDER / "published.toml")
    for title in {table.title for table in published.tables}:
        assert any(any(row) for row in published.table(title).beside(tables[title])), title
    runs = list(provenance.runs(found.results))
    assert len(runs) > 50
    assert all(run.workload and run.requests for run in runs)


def test_a_brief_run_measures_what_claims_of_a_quantity_need(experiment, miniature):
    settings = Settings(length=0.005, brief=True)
    points = [point.name for point in experiment.points(settings)]
    assert len(points) < len(miniature.results) / 3
    results = {name: miniature.results[name] for name in points}
    findings = runner.load_findings(FOLDER / "experiment.py")
    measured = findings.summarise(results, settings).measured
    json.dumps(measured, allow_nan=False)
    for claim in CLAIMS:
        if claim.grade == "quantitative":
            brief, whole = (
                judge(claim, found, quick=True) for found in (measured, miniature.summary.measured)
            )
            assert brief.readings == whole.readings
    figures = findings.figures(results, settings)
    assert {figure.name for figure in figures} < FIGURES


def test_the_tail_of_a_distribution_outlasts_its_thinning(experiment):
    findings = runner.load_findings(FOLDER / "experiment.py")
    histogram = [[1000 * place, 10] for place in range(1, 1000)] + [[2_000_000, 1]]
    latency = {"count": 9991, "histogram": histogram}
    run = findings.Run("fio", "ssr-des", {"latency": {"read": latency}})
    series = findings.slower(run, "read")
    assert len(series.x) <= 300
    assert (series.x[-1], series.y[-1]) == (999, pytest.approx(1 / 9991))
    for at, share in zip(series.x, series.y, strict=True):
        assert share == pytest.approx((9991 - 10 * at) / 9991)


# ---- what is inferred --------------------------------------------------------------------------------


def test_requests_are_those_of_the_job_files(experiment):
    for workload, requests in experiment.FULL_REQUESTS.items():
        job = tomllib.loads((FOLDER / f"workloads/{workload}.toml").read_text())
        assert job["requests"] == requests


def test_runs_of_other_seeds_are_put_together(experiment):
    runs = [
        experiment.long_runs(
            experiment.drive("ssr-des", Settings()),
            experiment.job("fio", Settings()),
            3_000_000,
            seeds,
            Settings(length=0.02),
        )
        for seeds in ([1], [2], [1, 2])
    ]
    one, other, both = runs
    for op in ("read", "write"):
        first, second, found = (run["latency"][op] for run in runs)
        assert found["count"] == first["count"] + second["count"]
        assert found["mean_ns"] * found["count"] == pytest.approx(
            first["mean_ns"] * first["count"] + second["mean_ns"] * second["count"]
        )
        assert found["max_ns"] == max(first["max_ns"], second["max_ns"])
        low, high = sorted(run["percentiles_ns"]["90"] for run in (first, second))
        assert low <= found["percentiles_ns"]["90"] <= high
        behind = first["behind_erase"] * first["count"] + second["behind_erase"] * second["count"]
        assert found["behind_erase"] * found["count"] == pytest.approx(behind)
    assert both["erases"] == one["erases"] + other["erases"]
    assert set(both["seeds"]) == {"1", "2"}


def test_what_is_inferred_is_what_the_presets_have(experiment):
    names = [value.name for value in experiment.INFERRED if value.name != experiment.RATE]
    assert list(experiment.inferred(Settings())) == names
    for policy in experiment.POLICIES:
        preset = keys_of(experiment.drive(policy, Settings()))
        for name in names:
            assert keys_of(experiment.drive(policy, Settings(varied=name))) == preset


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_each_inferred_value_changes_the_drives(experiment, factor):
    chosen = keys_of(experiment.drive("ssr-static", Settings()))
    for value in experiment.INFERRED:
        settings = Settings(varied=value.name, factor=factor)
        varied = keys_of(experiment.drive("ssr-static", settings))
        different = {key for key in chosen if varied[key] != chosen[key]}
        rate = experiment.job("tpcc-stand-in", settings)["rate_iops"]
        if value.name == experiment.RATE:
            assert (different, rate) == (set(), factor * 40_000)
        else:
            assert (different, rate) == ({value.name.split(".")[0]}, 40_000), value.name


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_varied_loops_still_make_a_scene(experiment, factor):
    settings = Settings(varied="nand.erase_loops", factor=factor, length=0.01)
    scene = experiment.scenes("ssr-des", None, settings)
    loops = round(3 * factor)
    assert scene["erase_ns"] == pytest.approx(loops * 5e6, rel=1e-3)
    assert scene["max_wait_ns"] == pytest.approx(5e6, rel=1e-3)


def keys_of(drive: Any) -> dict[str, Any]:
    found = toml.loads(drive.resolve())
    found.pop("sources")
    # It says which tables differ from the preset's.
    found.pop("summary")
    return found


def test_a_flood_lasts_longer_than_all_stops_may_and_the_erase_of_des_ends_in_it():
    further = runner.load(FOLDER / "further.py")
    found = further.flood("ssr-des", Settings())
    # Three loops of 5 ms, and two stops of 64 ms each between them; the last loop's end is none.
    assert found["suspends"] == 2
    assert 15e6 + 2 * 64e6 <= found["erase_ns"] < 15e6 + 2 * 64e6 + 1e6
    assert found["reads_ns"] > 15e6 + 3 * 64e6
    assert [further.stops(policy) for policy in further.PATIENT] == [3, 30, 90]


def test_how_many_seeds_tell_two_policies_apart(experiment):
    findings = runner.load_findings(FOLDER / "experiment.py")
    # Intervals of 1.96 * 1 / sqrt(n) around 0 and of none around 1: apart from n = 3.84 on.
    assert findings.seeds_needed((0.0, 1.0), (1.0, 0.0)) == "4"
    assert findings.seeds_needed((0.0, 1.0), (1.0, 1.0)) == "16"
    assert findings.seeds_needed((0.5, 1.0), (0.5, 0.1)) == "more than 10,000"
    middle, deviation = findings.in_logarithms([1.0, 2.718281828459045**2])
    assert (middle, deviation) == (pytest.approx(1.0), pytest.approx(2**0.5))
    # Student's, two-sided, 95 %: a value is in any table.
    assert findings.student(8) == pytest.approx(2.365)
