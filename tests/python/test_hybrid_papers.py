"""The papers on drives of two media: their claims are all there, and what measures does not know them."""

from __future__ import annotations

import json
import re
import shutil
from typing import Any

import pytest

import ninescope
from conftest import NATIVE, ROOT, tomllib
from ninescope.papers import runner, stand_ins
from ninescope.papers.claims import load_claims
from ninescope.papers.experiment import Settings
from ninescope.papers.judge import judge

FOLDERS = {"000": "000-hybrid-ecc", "001": "001-data-management", "004": "004-multi-scm"}
CLAIMS = {
    "000": [f"0.{number}" for number in range(1, 13)],
    "001": [f"1.{number}" for number in range(1, 11)],
    "004": [f"4.{number}" for number in range(1, 10)],
}
"""Those of the tables in which the papers' claims were collected."""
VOLUMES = ("prxy_0", "proj_0", "mds_0", "src2_2", "prxy_1", "proj_3", "src1_1")


def experiment(paper: str) -> Any:
    """What is simulated: `experiment.py`."""
    return runner.load(ROOT / "experiments" / FOLDERS[paper] / "experiment.py")


def further(paper: str) -> Any:
    """What is simulated beside: `further.py`."""
    return runner.load(ROOT / "experiments" / FOLDERS[paper] / "further.py")


def findings(paper: str) -> Any:
    """What it comes to: `findings.py`."""
    return runner.load_findings(ROOT / "experiments" / FOLDERS[paper] / "experiment.py")


@pytest.mark.parametrize("paper", FOLDERS)
def test_every_claim_is_there(paper):
    claims = load_claims(ROOT / "experiments" / FOLDERS[paper] / "claims.toml")
    found = [claim.id for claim in claims.claims]
    assert [claim for claim in found if claim.rstrip("bc") == claim] == CLAIMS[paper]


@pytest.mark.parametrize("paper", FOLDERS)
def test_what_measures_holds_no_text_of_what_was_published(paper):
    folder = ROOT / "experiments" / FOLDERS[paper]
    text = "".join((folder / name).read_text() for name in ("experiment.py", "findings.py"))
    for claim in load_claims(folder / "claims.toml").claims:
        assert claim.statement not in text
        for check in claim.checks:
            assert str(check) not in text


@pytest.mark.parametrize("paper", FOLDERS)
def test_names_of_groups_are_their_own(paper):
    for quick in (True, False):
        points = experiment(paper).points(Settings(quick=quick))
        assert len({point.name for point in points}) == len(points)
        for point in points:
            names = [run["name"] for run in point.parameters.get("runs", [])]
            assert len(set(names)) == len(names)


ROW = {
    "requests": 1000,
    "write_share": 0.5,
    "mean_read_bytes": 4096.0,
    "mean_write_bytes": 4096.0,
    "footprint": 100 << 20,
    "read_footprint": 50 << 20,
    "written_footprint": 60 << 20,
    "read_and_written": 0.2,
    "class": {
        "number": 5,
        "name": "read-hot-random",
        "dominant": "read",
        "mean_bytes": 7268.0,
        "random_below_bytes": 8192,
        "hotness": 55.7,
        "hot_from": 20.0,
    },
    "is_real": False,
}
WEAR = {"m": {"writes_max": 7, "writes_mean": 2.0}, "s": {"writes_max": 3, "writes_mean": 0.5}}
CURVE = {"bits": [1, 35], "encode_ns": [5, 5], "decode_ns": [5, 9], "acceptable_ber": [1e-9, 2e-3]}
CODE = {
    "curve": CURVE,
    "correctable": 35,
    "rate": 0.9,
    "codeword_bits": 4551,
    "acceptable_ber": {f"{uber:g}": 2e-3 for uber in (1e-13, 1e-15, 1e-16, 1e-17)},
    "encode_ns": [5000, 5500],
    "decode_ns": [5000, 9000],
    "encode_slowest_over_fastest": 1.1,
    "decode_rises": True,
}
CHOICES = {"0.0005": [[0, 20]], "0.001": [[0, 25], [7, 20]], "0.0019": [[0, 35], [3, 29]]}
MATHEMATICS = {"scm": CODE, "nand": CODE, "choices": CHOICES, "ber_left": [1.0, 0.9, 0.8]}
RUN = {
    "ber_factor": 0.51,
    "iops": 1000.0,
    "mean_us": 900.0,
    "requests": 700,
    "scm_over_footprint": 0.1,
    "erases": 3,
    "sectors_read": 20,
    "sectors_written": 10,
    "wear": WEAR,
    "copies": {"m": 0.1, "s": None},
    "tier": {},
}


def run_names(module: Any, point: Any, settings: Settings) -> list[str]:
    """Return the names of the runs of a group."""
    if point.parameters.get("kind") == "codes":
        # What codes suffice for an error rate is asked of the engine, which these tests do without.
        module.choices = lambda rber, settings: [tuple(pair) for pair in MATHEMATICS["choices"][f"{rber:g}"]]
        return [module.name_of(*run) for run in module.wanted_runs(settings)]
    if point.parameters.get("kind") == "otherwise":
        ends = [module.name_of(*run) for run in module.variant_runs()]
        return [f"{variant}: {end}" for variant in module.CODE_VARIANTS for end in ends]
    return [run["name"] for run in point.parameters.get("runs", [])] or list(module.VARIANTS)


def remedies() -> list[str]:
    """Return the names of runs with the remedies that no claim is judged by."""
    module = further("000")
    pairs = [pair for uber, rber in module.OTHERS for pair in module.pairs(uber, rber)]
    return [experiment("000").name_of(bits, module.STRONGEST["nand"], cycles) for cycles, bits in pairs]


def invented(paper: str, settings: Settings, *, real: bool = False) -> dict[str, Any]:
    """Answer for the simulations of a paper, and of what is run beside."""
    module = experiment(paper)
    results: dict[str, Any] = {}
    for point in [*module.points(settings), *further(paper).points(settings)]:
        if point.parameters.get("kind") == "mathematics":
            rates = (f"{rber:g}" for rber in module.wanted_rbers(settings))
            results[point.name] = MATHEMATICS | {"choices": {rate: CHOICES[rate] for rate in rates}}
            continue
        names = remedies() if point.name.endswith("/remedies") else run_names(module, point, settings)
        runs = {name: RUN | {"iops": 1000.0 + 10 * index} for index, name in enumerate(names)}
        results[point.name] = {"stand_in": {**ROW, "is_real": real}, "runs": runs}
    return results


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("paper", FOLDERS)
def test_what_is_claimed_is_measured(paper, quick):
    """Whatever the simulations say: tables, figures and every value that a claim names."""
    settings = Settings(quick=quick)
    results = invented(paper, settings)
    found = findings(paper)
    summary = found.summarise(results, settings)
    json.dumps(summary.measured, allow_nan=False)
    for claim in load_claims(ROOT / "experiments" / FOLDERS[paper] / "claims.toml").claims:
        assert judge(claim, summary.measured, quick=quick).readings
    for table in summary.tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}, table.title
    for figure in found.figures(results, settings):
        assert any(panel.series for panel in figure.panels), figure.name


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize("paper", FOLDERS)
def test_nothing_calls_a_real_trace_a_stand_in(paper):
    settings, found = Settings(quick=False), findings(paper)
    for real, word in ((True, "real trace"), (False, "stand-in")):
        results = invented(paper, settings, real=real)
        words = [
            text
            for table in found.summarise(results, settings).tables
            for text in (
                table.title,
                table.note,
                *table.columns,
                *(cell for row in table.rows for cell in row),
            )
        ]
        for figure in found.figures(results, settings):
            words += [figure.title, figure.caption, *(one.label for p in figure.panels for one in p.series)]
        said = " ".join(str(text).lower() for text in words).replace(
            "and where one is not at hand its stand-in", ""
        )
        said = said.replace("docs/stand-ins.md", "")
        assert word in said
        assert {"real trace": "stand-in", "stand-in": "real trace"}[word] not in said


# ---- table 1 of paper 001 ----------------------------------------------------------------------------


def table_of(answer: str) -> dict[str, Any]:
    """What would have been measured if one placement were clearly the best everywhere."""
    module = findings("001")
    cell = {name: 2.0 if name == answer else 1.0 for name in module.PLACEMENTS}
    ratios = [str(ratio) for ratio in module.TABLE_RATIOS]
    return {
        "margin": {volume: {ratio: module.margins(cell) for ratio in ratios} for volume in VOLUMES},
        "spread": {volume: {ratio: module.spread(cell) for ratio in ratios} for volume in VOLUMES},
    }


@pytest.mark.parametrize(("answer", "score"), [("wb", 12), ("wo-dm", 6), ("rwb-dm", 8)])
def test_one_answer_for_all_cells_does_not_reproduce_the_table(answer, score):
    claims = load_claims(ROOT / "experiments/001-data-management/claims.toml")
    cells = {claim.id: claim for claim in claims.claims if claim.id.startswith("1.6")}
    assert [len(claim.checks) for claim in cells.values()] == [28, 28, 28]
    for claim in cells.values():
        judgement = judge(claim, table_of(answer))
        assert judgement.score.startswith(f"{score} of 28")
        assert judgement.verdict == "not reproduced"


def test_margins_and_spread():
    module = findings("001")
    cell = {"wb": 100.0, "wo-dm": 80.0, "rwb-dm": 125.0}
    assert module.margins(cell) == {"wb": 0.8, "wo-dm": 0.64, "rwb-dm": 1.25, "wb-or-rwb-dm": 1.5625}
    assert module.spread(cell) == pytest.approx(0.36)


# ---- slopes and remedies of paper 000 ----------------------------------------------------------------


def coded(iops: dict[str, float]) -> dict[str, Any]:
    """Results of runs with codes."""
    return {"prxy_0/codes": {"runs": {name: {"iops": value} for name, value in iops.items()}}}


def test_a_slope_is_the_loss_for_each_step_of_the_first_run():
    module, slope = experiment("000"), findings("000").slope
    results = coded({module.name_of(bits, 1, 0): 800 - 4.0 * bits for bits in (0, 5, 20, 35)})
    found = slope(results, "prxy_0", [(bits, 1, 0) for bits in (0, 5, 20, 35)], 0)
    assert found == pytest.approx(4 / 800)
    # Least squares by hand: (0, 1), (1, 0.5), (2, 0.4): mean 1 and 0.633, slope -0.6 / 2.
    results = coded({module.name_of(1, 428, cycles): iops for cycles, iops in enumerate((10.0, 5.0, 4.0))})
    assert slope(results, "prxy_0", [(1, 428, cycles) for cycles in range(3)], 2) == pytest.approx(0.3)


@pytest.mark.parametrize(("verified", "cycles"), [(90.0, 0), (101.0, 7)])
def test_the_best_remedy_reaches_most_iops(verified, cycles):
    module = experiment("000")
    results = coded({module.name_of(25, 428, 0): 100.0, module.name_of(20, 428, 7): verified})
    choices = {"codes": {"choices": {"0.001": [[0, 25], [7, 20]]}}}
    found = findings("000").best_remedies({**results, **choices}, "prxy_0")
    assert found["0.001"]["cycles"] == cycles
    assert found["0.001"]["gain"] == pytest.approx(max(verified, 100) / 100 - 1)


# ---- drives ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("footprint", [123_456_789, 200 << 20, 1 << 30])
def test_flash_is_sized_by_the_footprint(footprint):
    base = experiment("001").BASE
    description = stand_ins.flash_sized(base, footprint, 1.25, {})
    geometry = description["geometry"]
    planes = geometry["channels"] * geometry["dies_per_package"]
    raw = planes * geometry["blocks_per_plane"] * geometry["pages_per_block"] * (16 << 10)
    logical = raw / (1 + description["ftl"]["over_provisioning"])
    assert (
        1.25 <= raw / footprint < 1.25 + planes * geometry["pages_per_block"] * (16 << 10) / footprint + 0.01
    )
    assert footprint <= logical <= footprint + (32 << 10)
    assert base["ftl"]["over_provisioning"] == 0.25, "the description it came from stays"


def test_changes_reach_into_tables_and_take_keys_out():
    base = {"a": {"b": 1, "c": {"d": 2}}, "e": 3}
    changed = stand_ins.with_changes(base, {"a.c.d": 4, "a.b": None, "f.g": 5})
    assert changed == {"a": {"c": {"d": 4}}, "e": 3, "f": {"g": 5}}
    assert base["a"]["c"]["d"] == 2


def test_what_memory_costs():
    cost = findings("004").cost
    assert [round(cost(share), 3) for share in (0, 5, 8, 10, 100)] == [1, 1.117, 1.187, 1.233, 3.333]


def test_wear_is_extrapolated_from_passes():
    module = findings("004")
    once = {"m": {"writes_max": 600, "writes_mean": 9.0}, "s": {"writes_max": 2, "writes_mean": 0.5}}
    thrice = {"m": {"writes_max": 900, "writes_mean": 27.0}, "s": {"writes_max": 5, "writes_mean": 1.5}}
    # M has 900 where S has 5, which endures 1e5: that recurs 20,000 times.
    assert module.worn_at_limit(thrice) == pytest.approx(900 * 20_000)
    assert module.worn_at_limit({**thrice, "s": {"writes_max": 0, "writes_mean": 0.0}}) is None
    # After the first pass M gains 300 where S gains 3, or 1 in the mean.
    assert module.ratio_of_growth(once, thrice) == pytest.approx(100)
    assert module.ratio_of_growth(once, thrice, "writes_mean") == pytest.approx(300)
    assert module.ratio_of_growth(thrice, thrice) is None


def test_wear_is_of_as_many_passes_for_each_volume_and_case():
    module = experiment("004")
    for quick, passes in ((True, 2), (False, 3)):
        points = module.points(Settings(quick=quick))
        runs_of = {point.name: {run["name"]: run for run in point.parameters["runs"]} for point in points}
        for volume in module.VOLUMES:
            worn = runs_of[f"{volume}/wear"]
            assert {f"{module.CASE_SHARE}/{case}/wear" for case in module.CASES} <= set(worn)
            for name, run in worn.items():
                # The same run, but for its length.
                once = runs_of[volume][name.removesuffix("/wear")]
                assert run == {**once, "name": name, "passes": passes}
    brief = [run for point in module.points(Settings(brief=True)) for run in point.parameters["runs"]]
    assert not [run for run in brief if "passes" in run]


def test_which_case_is_nearest_to_both_limits():
    nearest = findings("004").nearest_to_both_limits
    one = {"case-1": 40.0, "case-2": 2e4, "case-3": 900.0, "case-4": 100.0, "weak": 9e3}
    assert nearest({"a": one, "b": one | {"case-4": 1e3}, "c": one | {"case-3": None}}) == 1


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize("paper", FOLDERS)
def test_every_drive_of_a_full_run_can_be_built(paper):
    """A drive that is refused in the last minute of a long run would cost the run."""
    module = experiment(paper)
    job = ninescope.Workload.job(rw="randrw", bs="4k", size="16MiB", requests=5)
    footprints = {"prxy_1": 201 << 20, "src2_2": 1540 << 20}
    full = Settings(quick=False)
    if paper == "000":
        remedies = [
            module.remedies({"scm": scm, "nand": nand}, cycles, full)
            for scm, nand, cycles in module.wanted_runs(full)
        ]
        variants = [{**remedies[-1], **changes} for changes in module.CODE_VARIANTS.values()]
        described = [
            module.describe(footprints["prxy_1"], changes, full)
            for changes in (*module.VARIANTS.values(), *remedies, *variants)
        ]
    else:
        describe = module.hybrid if paper == "001" else module.describe
        described = [
            describe(footprints.get(point.parameters["volume"], 400 << 20), run, full)
            for point in module.points(full)
            for run in point.parameters["runs"]
        ]
    assert len(described) > 4
    for description in {json.dumps(one): one for one in described}.values():
        assert stand_ins.drive(description).run(job).document["requests"] == 5


# ---- what was published changes nothing that is measured -----------------------------------------------

SMALL = {"000": ("prxy_0", 0.02), "001": ("src2_2/wo-dm", 0.1), "004": ("proj_3", 0.05)}
"""The group that is run, and which share of its requests."""


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize("paper", FOLDERS)
def test_altering_what_was_published_changes_no_measured_value(paper, tmp_path):
    group, length = SMALL[paper]

    def results(name: str, *, alter: bool) -> dict[str, dict[str, Any]]:
        folder = tmp_path / name / FOLDERS[paper]
        shutil.copytree(ROOT / "experiments" / FOLDERS[paper], folder)
        for published in (folder / "claims.toml", folder / "published.toml"):
            altered = re.sub(r"(= |\[|, )(\d+)", r"\g<1>1\2", published.read_text())
            assert altered != published.read_text()
            if alter:
                published.write_text(altered)
        measurement = runner.measure(
            folder / "experiment.py",
            Settings(length=length),
            jobs=1,
            select=lambda point: bool(point.name == group),
        )
        assert list(measurement.results) == [group]
        return dict(measurement.results)

    before = results("before", alter=False)
    assert json.dumps(results("after", alter=True)) == json.dumps(before)
    assert before[group]["runs"]
    assert all(run["iops"] > 0 for run in before[group]["runs"].values())


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize("memory", ["s", "m"])
def test_memory_alone_takes_what_one_computes_by_hand(memory, tmp_path):
    """One request at a time: its sectors in the memory and on the bus, one after the other."""
    module = experiment("004")
    trace = tmp_path / "one.trace"
    requests = [(0, 8, 0), (64, 1, 1), (32, 32, 0), (0, 8, 1), (70, 20, 1)]
    trace.write_text(
        "".join(f"{time} 0 {lba} {count} {op}\n" for time, (lba, count, op) in enumerate(requests))
    )
    workload = ninescope.Workload.trace(trace, format="mqsim", closed_loop=True, iodepth=1)
    alone = module.alone_of(memory, module.NONE, "plain")
    drive = stand_ins.drive(module.describe(1 << 20, alone, Settings()))
    document = drive.run(workload, prefill="none").document
    array = {"s": 1_000, "m": 100}[memory]
    by_hand = sum(count * (array + 400) for _, count, _ in requests)
    # Beside that the link, which is next to nothing here: 16 KiB take 17 ns.
    assert by_hand <= document["measured_ns"] <= by_hand + 20 * len(requests)


def test_baselines_name_every_claim():
    for paper, folder in FOLDERS.items():
        stored = tomllib.loads((ROOT / "experiments" / folder / "baseline.toml").read_text())
        assert "quick" in stored
        claims = load_claims(ROOT / "experiments" / folder / "claims.toml")
        assert list(stored["quick"]) == [claim.id for claim in claims.claims], paper
