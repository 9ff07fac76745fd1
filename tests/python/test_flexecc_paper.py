"""Paper 003: every claim is there and measured, its workloads are what the README says, and small runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

import miniature
import ninescope
from conftest import NATIVE, ROOT, tomllib
from ninescope import toml
from ninescope.papers import runner
from ninescope.papers.claims import load_claims
from ninescope.papers.experiment import Settings
from ninescope.papers.judge import judge

FOLDER = ROOT / "experiments/003-flexecc"
CLAIMS = load_claims(FOLDER / "claims.toml").claims


@pytest.fixture
def module() -> Any:
    """What is simulated: `experiment.py`."""
    return runner.load(FOLDER / "experiment.py")


@pytest.fixture
def findings() -> Any:
    """What it comes to: `findings.py`."""
    return runner.load_findings(FOLDER / "experiment.py")


def test_every_claim_is_there():
    stricter = ("3.5b", "3.6b")
    found = [claim.id for claim in CLAIMS if claim.id not in stricter]
    assert found == [f"3.{number}" for number in range(1, 12)]


def test_what_measures_holds_no_text_of_what_was_published():
    text = (FOLDER / "experiment.py").read_text()
    for claim in CLAIMS:
        assert claim.statement not in text
        for check in claim.checks:
            assert str(check) not in text


# ---- from results to verdicts ------------------------------------------------------------------------

CACHE = {
    "ecc_reads": 100,
    "edc_reads": 1,
    "edc_moved": 400,
    "ecc_moved": 10,
    "ecc_to_edc": 4,
    "corruptions": 500,
    "corruptions_under_edc": 450,
    "disk_accesses": 1,
    "disk_accesses_of_moves": 0,
    "prefetched": 330,
    "corrected": 20,
    "never_met": 149,
}


def run(response_ns: float, **others: Any) -> dict[str, Any]:
    """One run, as `measure` would tell it."""
    hints = {"dirty_write": 848, "host_read": 100, "flush_read": 52}
    return {
        "requests": 1000,
        "hints": hints,
        "response_ns": response_ns,
        "read_ns": response_ns,
        "write_ns": None,
        "busy": 0.9,
        "cleaning_ns": 2e9,
        "gc_units": 414,
        "erases": 7,
        "waf": 1.4,
        "simulated_s": 2.0,
        "cache": CACHE,
        **others,
    }


def faked(module: Any, settings: Settings) -> dict[str, Any]:
    """Results of all points, in which FlexECC takes 70 % of the time."""
    results: dict[str, Any] = {}
    for point in module.points(settings):
        kind = point.parameters["kind"]
        pair = {"flexecc": run(700.0, cleaning_ns=1.9e9), "bch-ssd": run(1000.0)}
        if kind == "single":
            results[point.name] = {
                "flexecc": {"read": {"median_ns": 25_800}, "write": {"median_ns": 200_800}},
                "bch-ssd": {"read": {"median_ns": 30_000}, "write": {"median_ns": 200_800}},
            }
        elif kind == "decoders":
            names = [f"{n}-{k}-{t}" for n, k, t in module.DECODERS]
            results[point.name] = dict.fromkeys(names, 10.4)
        elif kind == "sweep":
            results[point.name] = {"runs": {f"{rber:g}": pair for rber in module.RBERS}}
        elif kind == "fates":
            results[point.name] = {"runs": dict.fromkeys(module.FATES, run(700.0))}
        elif kind == "variants":
            loads = {"loaded": pair, "unloaded": pair}
            results[point.name] = {"runs": dict.fromkeys(module.VARIANTS, loads)}
        else:
            results[point.name] = {"speed": 6.0, "runs": pair, "ledger": run(700.0)}
    return results


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("brief", [True, False])
def test_what_is_claimed_is_measured(module, findings, quick, brief):
    settings = Settings(quick=quick, brief=brief)
    results = faked(module, settings)
    summary = findings.summarise(results, settings)
    json.dumps(summary.measured, allow_nan=False)
    for claim in CLAIMS:
        if claim.grade == "quantitative" or not brief:
            assert judge(claim, summary.measured, quick=quick).readings
    for table in summary.tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}, table.title
    figures = findings.figures(results, settings)
    assert [figure.name for figure in figures] == ([] if brief else ["response", "cleaning", "faults"])


def verdict(measured: Any, claim: str) -> str:
    [found] = [one for one in CLAIMS if one.id == claim]
    return judge(found, measured).verdict


def test_verdicts_follow_from_what_was_measured(module, findings):
    settings = Settings(quick=False)
    results = faked(module, settings)
    measured = findings.summarise(results, settings).measured
    assert measured["improvement_percent"]["oltp"] == pytest.approx(30)
    assert measured["cleaning_saved_percent"]["oltp"] == pytest.approx(5)
    assert measured["bch2crc_over_crc_moved"]["oltp"] == pytest.approx(0.01)
    assert [verdict(measured, claim) for claim in ("3.1", "3.3", "3.4", "3.10")] == [
        "holds",
        "not reproduced",
        "holds",
        "holds",
    ]
    for name in ("r75", "r90"):
        results[name]["runs"]["flexecc"]["response_ns"] = 400.0
    results["oltp"]["runs"]["flexecc"]["cache"] = CACHE | {"edc_moved": 0}
    measured = findings.summarise(results, settings).measured
    assert verdict(measured, "3.3") == "holds"
    assert verdict(measured, "3.9") == "not reproduced"
    assert verdict(measured, "3.10") == "not judged", "of nothing there is no share"


def test_the_ledger_counts_deviations_of_what_is_expected(findings):
    # 1.25 million requests of 4096 bits at 1e-7: 512 errors, and 22.6 is one deviation.
    found = findings.ledger(run(1.0, cache=CACHE | {"corruptions": 534}), Settings(quick=True))
    assert found["deviation"] == pytest.approx(0.98, abs=0.03)
    assert found["corruptions"] == 8 * 534
    assert found["prefetched_share"] == pytest.approx(330 / 534)
    assert found["disk_accesses"] == 8


# ---- what is run -------------------------------------------------------------------------------------


@pytest.mark.parametrize("quick", [True, False])
def test_the_cache_fills_a_drive_with_spare_blocks(module, quick):
    settings = Settings(quick=quick)
    for name in module.DRIVES:
        described = module.describe(name, settings, {}, rber=1e-7, until_ns=5_000)
        raw = described["geometry"]["blocks_per_plane"] * 8 * 64
        logical = int(raw / (1 + described["ftl"]["over_provisioning"]))
        assert logical == module.cache_blocks(settings)
        assert 1 - logical / raw == pytest.approx(1 / 3, abs=0.001)
        corruption = described["nand"]["corruption"]
        assert (corruption["at"], corruption["until"]) == ("0ns", "5000ns")
        # As many errors as of 4096 bits of each request.
        requests = 1_250_000 if quick else 10_000_000
        errors = corruption["initial_rber"] * logical * 32_768
        assert errors == pytest.approx(1e-7 * requests * 4096)
        # 5 % of the blocks of a plane are free, two of them in reserve, when the host begins to wait.
        free = 70 if quick else 557
        assert described["ftl"]["gc_trigger"] == {
            "policy": "foreground",
            "beyond_reserve": free - 2,
            "gain": 2,
        }
        assert described["ftl"]["victim"] == "random-invalid"
    # 14.5 GiB.
    assert module.cache_blocks(Settings(quick=False)) * 4096 == 14.5 * 2**30


def test_what_happens_by_itself_keeps_the_time_of_the_workload(module):
    settings = Settings(quick=False)
    own, fast = (module.describe("flexecc", settings, {}, speed=speed) for speed in (1.0, 4.0))
    assert own["scrub"]["period"] == own["scrub"]["first"] == "60000000000ns"
    assert fast["scrub"]["period"] == fast["scrub"]["first"] == "15000000000ns"
    assert (own["backing_store"], fast["backing_store"]["read"]) == (
        {"read": "8000000ns", "parallel": 4},
        "2000000ns",
    )
    cache = module.Load("fileserver", settings).host_cache(4.0)
    assert (cache["disk_read_latency"], cache["clean_ios_total"]) == ("2000000ns", 4)


def test_time_and_space_shrink_together(module):
    large = module.Load("fileserver", Settings(quick=False))
    small = module.Load("fileserver", Settings(quick=True))
    of_large, of_small = large.file_system(1.0), small.file_system(1.0)
    assert of_large["files"] == 8 * of_small["files"] == 3_120
    assert (of_large["page_cache"], of_small["page_cache"]) == ("1048576KiB", "131072KiB")
    assert (of_large["dirty_expire"], of_small["dirty_expire"]) == ("30000000000ns", "3750000000ns")
    assert of_large["rate_ops"] == of_small["rate_ops"] == 665
    fast = large.file_system(4.0)
    assert (fast["rate_ops"], fast["dirty_expire"]) == (2660, "7500000000ns")
    assert large.host_cache(4.0)["disk_write_latency"] == "2000000ns"


def test_each_file_system_writes_a_part_of_its_size(module):
    """Files or a log; what the page cache holds, which is larger."""
    written = {}
    for name in module.FILEBENCH:
        found = module.Load(name, Settings(quick=False)).file_system(1.0)
        assert found["page_cache"] == "1048576KiB"
        assert found["warm"]
        if name == "webserver":
            written[name] = found["log_size"]
        elif name == "oltp":
            written[name] = f"{10 * int(found['mean_file_size'].removesuffix('KiB'))}KiB"
        else:
            written[name] = f"{found['files'] * {'fileserver': 128, 'varmail': 16}[name]}KiB"
    assert written == {
        "fileserver": f"{390 << 10}KiB",
        "webserver": f"{1000 << 10}KiB",
        "varmail": f"{260 << 10}KiB",
        "oltp": f"{320 << 10}KiB",
    }
    # filebench's own: 1,000 files of 16 KiB, which any page cache holds.
    assert module.Load("webserver", Settings(quick=False)).file_system(1.0)["files"] == 1_000


def test_reads_and_writes_of_r75_go_to_blocks_of_their_own_choice(module, monkeypatch):
    import polars as pl

    monkeypatch.setattr(module, "QUICK_SCALE", 64)
    table = module.draw_requests(module.Load("r75", Settings()))
    reads = table.filter(pl.col("op") == "read")
    writes = table.filter(pl.col("op") == "write")
    assert len(reads) / len(table) == pytest.approx(0.75, abs=0.01)
    blocks = module.cache_blocks(Settings())
    assert blocks == 116 * 512
    assert writes["lba"].n_unique() == round(blocks / 27.5)
    # 117,188 draws of 59,392 blocks: e^-1.97 of them are not met.
    assert reads["lba"].n_unique() / blocks == pytest.approx(1 - 0.139, abs=0.01)
    assert table["lba"].max() < 8 * blocks
    assert table["submitted_ns"].is_sorted()
    seconds = table["submitted_ns"].max() / 1e9
    assert len(table) / seconds == pytest.approx(5000, rel=0.02)


def test_the_baseline_names_every_claim():
    stored = tomllib.loads((FOLDER / "baseline.toml").read_text())
    assert list(stored["quick"]) == [claim.id for claim in CLAIMS]


# ---- small runs --------------------------------------------------------------------------------------


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize("name", ["fileserver", "r90"])
def test_small_runs_do_what_the_paper_describes(module, name, monkeypatch):
    """A sixty-fourth of everything: who reads what under which code, and what becomes of bad pages."""
    monkeypatch.setattr(module, "QUICK_SCALE", 64)
    load = module.Load(name, Settings())
    flexecc = load.run("flexecc", 1.0, rber=1e-6)
    # Without the scrubber, whose reads the host's would wait for.
    monkeypatch.setattr(module, "SCRUB_NS", 1e15)
    good, baseline = (load.run(drive, 1.0) for drive in ("flexecc", "bch-ssd"))
    assert flexecc["hints"] == good["hints"] == baseline["hints"]
    assert good["cache"]["corruptions"] == 0
    if name == "r90":
        assert good["read_ns"] == pytest.approx(baseline["read_ns"] - 4_200 * 0.98, rel=0.02)
    cache = flexecc["cache"]
    reads = flexecc["hints"].get("host_read", 0) + flexecc["hints"].get("flush_read", 0)
    assert cache["ecc_reads"] + cache["edc_reads"] == pytest.approx(reads, rel=0.01)
    assert (cache["edc_reads"] > cache["ecc_reads"]) == (name == "r90")
    # 156,250 requests of 4096 bits at 1e-6: 640 errors, in 636.6 different pages of 59,392.
    assert cache["corruptions"] == pytest.approx(636.6, abs=4 * 25)
    assert cache["prefetched"] > 0.5 * cache["corruptions"]


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_one_page_at_a_time_takes_what_the_paper_lists(module):
    found = module.single_requests(Settings())
    for drive, read in (("flexecc", 25_800), ("bch-ssd", 30_000)):
        assert found[drive]["read"]["median_ns"] == pytest.approx(read, abs=50)
        assert found[drive]["write"]["median_ns"] == pytest.approx(200_800, abs=50)


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_every_drive_of_a_full_run_can_be_built(module):
    job = ninescope.Workload.job(rw="randrw", bs="4k", size="16MiB", requests=5)
    for name in module.DRIVES:
        for words in module.VARIANTS.values():
            described = module.describe(name, Settings(quick=False), words, rber=1e-7, until_ns=1)
            drive = ninescope.Drive.from_toml(toml.dumps(described))
            assert drive.run(job).document["requests"] == 5


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_the_whole_experiment_runs_with_few_requests():
    # As many as it takes to run out of the free blocks of a cache of a tenth.
    found = miniature.run(FOLDER, Settings(length=0.02, varied="size of the cache", factor=0.1))
    assert found.results["oltp"]["runs"]["flexecc"]["cleaning_ns"] > 0
    brief = miniature.run(FOLDER, Settings(length=0.01, brief=True))
    assert "sweep" not in brief.results


# ---- what the slides leave open ------------------------------------------------------------------------


def simulated(module: Any, settings: Settings) -> Any:
    """All that a workload is run with, but for the requests of the file systems."""
    drives = [module.describe(name, settings, {}, rber=1e-7) for name in module.DRIVES]
    order = module.ORDERS[settings.varying("order in which the cache was filled", 1.0)]
    found: list[Any] = [drives, order]
    for name in module.WORKLOADS:
        load = module.Load(name, settings)
        found += [load.speed(), load.host_cache(6.0)]
        if name in module.PREFILLED:
            found.append(module.draw_requests(load).to_dict(as_series=False))
        else:
            found.append(load.file_system(6.0))
    return found


def series_of(**columns: list[int]) -> Any:
    """What a run did in intervals of equal length: what is not named, nothing."""
    import polars as pl

    names = ("reads", "host_written_bytes", "flash_programmed_bytes", "flash_erased_bytes")
    [length] = {len(values) for values in columns.values()}
    return pl.DataFrame({name: columns.get(name, [0] * length) for name in names})


def test_the_busiest_stretch_is_that_in_which_dies_are_held_longest(module):
    each = {"read": 30.0, "program": 200.0, "erase": 1500.0}
    # The last interval may be shorter, and is left out.
    reads = series_of(reads=[1, 1, 1, 1, 4, 4, 0])
    assert module.busiest(reads, each, 1.0) == pytest.approx(1)
    assert module.busiest(reads, each, 1 / 3) == pytest.approx(2)
    assert module.busiest(reads, each, 2 / 3) == pytest.approx(10 / 4 / 2)
    # A page that is moved is read and programmed; 64 of them are erased in 1500.
    page = 4096
    cleaning = series_of(
        host_written_bytes=[page, page, page, 0],
        flash_programmed_bytes=[page, page, 2 * page, 0],
        flash_erased_bytes=[0, 0, 64 * page, 0],
    )
    whole = 3 * 200 + 230 + 1500
    assert module.busiest(cleaning, each, 1 / 3) == pytest.approx((200 + 230 + 1500) / (whole / 3))


def test_what_each_operation_held_a_die_for_is_what_the_run_says(module):
    document = {
        "measured_ns": 1_000,
        "config": {"drive": {"geometry": {"channels": 2, "packages_per_channel": 1, "dies_per_package": 2}}},
        "utilisation": {"dies": {"occupancy": {"host_read": 0.3, "gc_read": 0.1, "erase": 0.2, "idle": 0.4}}},
        "operations": {"host_reads": 15, "gc_reads": 5, "programs": 0, "erases": 2},
    }
    assert module.held_by_each(document) == pytest.approx({"read": 80.0, "program": 0.0, "erase": 400.0})


def test_every_inferred_value_changes_what_is_simulated(module, monkeypatch):
    class Recorded:
        """A run whose dies get busier."""

        document: Any = None

        def to_polars(self, name: str) -> Any:
            assert name == "series"
            return series_of(reads=list(range(100)))

    monkeypatch.setattr(module.Load, "result", lambda *arguments: Recorded())
    monkeypatch.setattr(module, "measure", lambda document: {"busy": 0.15})
    monkeypatch.setattr(module, "held_by_each", lambda document: {"read": 30, "program": 200, "erase": 1500})
    chosen = simulated(module, Settings(length=0.001))
    assert simulated(module, Settings(length=0.001, varied="nothing", factor=0.5)) == chosen
    for inferred in module.INFERRED:
        for factor in (0.5, 1.5):
            varied = simulated(module, Settings(length=0.001, varied=inferred.name, factor=factor))
            assert varied != chosen, inferred.name


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_drives_of_inferred_values_can_be_built(module, factor):
    job = ninescope.Workload.job(rw="randrw", bs="4k", size="16MiB", requests=5)
    for inferred in module.INFERRED:
        for quick in (True, False):
            settings = Settings(quick=quick, varied=inferred.name, factor=factor)
            described = module.describe(module.FLEXECC, settings, {}, rber=1e-7, until_ns=1)
            assert ninescope.Drive.from_toml(toml.dumps(described)).run(job).document["requests"] == 5
