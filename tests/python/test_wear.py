"""Blocks that wear out and break, and wear that is level, from end to end."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

import ninescope
from conftest import NATIVE, ROOT

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
DEMO = ROOT / "examples" / "drives" / "demo.toml"


SMALL = {
    "geometry__channels": 2,
    "geometry__packages_per_channel": 1,
    "geometry__blocks_per_plane": 64,
    "geometry__pages_per_block": 16,
    "ftl__over_provisioning": 0.6,
}
HINTED = {"policy": "hinted", "streams": 2}
ISOLATED = {"policy": "fdp", "handles": ["initially-isolated", "persistently-isolated"]}


def drive(**sets: object):
    import ninescope

    return ninescope.Drive.from_file(DEMO).with_(**(SMALL | sets))


def writes(requests: int, **options: object):
    import ninescope

    return ninescope.Workload.job(rw="randwrite", bs="16k", iodepth=8, requests=requests, **options)


def test_failures_are_counted_and_blocks_are_left_out():
    sets = {"nand__program_failures": 5e-4, "nand__erase_failures": 1e-2}
    result = drive(**sets).run(writes(8_000), prefill="full", check="full")
    broken = result.bad_blocks
    assert broken is not None
    assert broken.program_failures > 0
    failures = broken.program_failures + broken.erase_failures
    assert broken.retired_blocks >= broken.blocks_of_group * failures * 0.5
    assert broken.bad_blocks >= broken.retired_blocks
    assert len(set(broken.table)) == broken.bad_blocks
    dies, planes, blocks = (max(places) for places in zip(*broken.table, strict=True))
    assert (dies < 4, planes < 2, blocks < 64) == (True, True, True)
    assert broken.pages_programmed_again >= broken.program_failures
    assert not broken.read_only
    assert result.waf.failed_programs > 0
    assert sum(result.document["waf"]["bytes"].values()) == result.document["waf"]["flash_bytes"]
    plain = drive().run(writes(500))
    assert plain.bad_blocks is None


def test_a_drive_without_spare_blocks_answers_writes_with_an_error_and_says_so():
    from ninescope.text.result import print_result

    result = drive(nand__erase_failures=0.1).run(writes(8_000), prefill="full", check="full")
    broken = result.bad_blocks
    assert broken is not None
    assert broken.read_only
    assert broken.spare_blocks_left == 0, "whichever of its groups ran out"
    assert 0 < broken.refused_commands < 8_000
    assert result.document["requests"] == 8_000, "they complete"
    console = Console(file=io.StringIO(), width=150)
    print_result(result, console)
    assert "no block is left to write to" in console.file.getvalue()
    assert "over: the drive takes no more writes" in console.file.getvalue()
    assert result.endurance is not None
    assert result.endurance.lifetime.passes is None
    assert "over" in (result.endurance.lifetime.reason or "")


def test_what_was_refused_counts_in_no_rate_and_makes_no_result_steady():
    from ninescope.lab.compare import compare

    result = drive(nand__erase_failures=0.1).run(writes(8_000), prefill="full")
    broken, moved = result.bad_blocks, result.throughput["write"]
    assert broken is not None
    assert moved.failed == broken.refused_commands > 0
    done = 8_000 - broken.refused_commands
    assert moved.bytes == done * 16_384
    seconds = result.document["measured_ns"] / 1e9
    assert moved.iops == pytest.approx(done / seconds)
    assert moved.bytes_per_second == pytest.approx(done * 16_384 / seconds)
    assert result.cost is not None
    assert result.cost.iops_per_cost == pytest.approx(moved.iops / result.cost.total)
    assert result.document["jobs"][0]["write"]["total_ios"] == done, "fio counts none that failed either"
    assert result.steadiness is not None
    assert result.steadiness.is_steady is False
    assert result.steadiness.reasons[0] == "read-only"
    assert f"refused {broken.refused_commands} commands" in result.steadiness.words
    assert f"failed {broken.refused_commands:,}" in " ".join(str(result).split())
    # What a table, a figure and a comparison say of it.
    healthy = drive(nand__erase_failures=1e-9).run(writes(8_000), prefill="full")
    told = str(compare(healthy, result))
    assert "drive became read-only, and its numbers are those of one that refuses writes" in " ".join(
        told.split()
    )


def test_each_job_says_what_of_it_failed():
    each = {"rw": "randwrite", "bs": "16k", "iodepth": 4, "requests": 4_000}
    jobs = ninescope.Workload.jobs({"name": "one", **each}, {"name": "other", **each})
    result = drive(nand__erase_failures=0.1).run(jobs, prefill="full")
    failed = [job.throughput["write"].failed for job in result.jobs]
    assert sum(failed) == result.throughput["write"].failed > 0
    told = " ".join(str(result).split())
    assert all(f"4,000 ({count:,} failed)" in told for count in failed)


def test_a_drive_of_which_only_reads_are_asked_has_refused_nothing():
    reads = ninescope.Workload.job(rw="randread", bs="16k", iodepth=8, requests=2_000)
    result = drive(nand__erase_failures=0.1).run(reads, prefill="full")
    assert result.throughput["read"].failed == 0
    assert result.steadiness is None


def test_what_is_programmed_again_is_decided_again():
    cores = {"cores": 1, "clock": "1GHz", "transaction": 50_000}
    sets = {"nand__program_failures": 2e-3, "firmware": cores, "controller__write_completion": "program"}
    result = drive(**sets).run(writes(4_000), prefill="full", check="full")
    broken = result.bad_blocks
    assert broken is not None
    assert broken.program_failures > 0
    # One core that takes 50 us for each page is busy always: pages wait for it when one of their block fails.
    assert broken.pages_programmed_again > broken.program_failures
    assert result.document["firmware"]["counters"]["waits"] > 0
    parts = [entry["parts_ns"] for entry in result.document["attribution"]["write"]]
    assert all(entry["firmware"] > 0 for entry in parts)
    assert any(entry.get("program_failure", 0) > 0 for entry in parts)


def test_an_aged_drive_is_a_snapshot(tmp_path):
    aged = drive(nand__erase_failures=1e-3)
    first = aged.run(writes(1_000), prefill="raw", snapshots=tmp_path)
    again = aged.run(writes(1_000), prefill="raw", snapshots=tmp_path)
    assert again.digest == first.digest
    assert again.document["performance"]["snapshot"]["loaded"]
    assert first.bad_blocks == again.bad_blocks
    assert again.bad_blocks is not None


def test_level_wear_is_less_far_apart():
    spreads = {}
    for policy in ("none", "threshold", "dual-pool"):
        sets: dict[str, object] = {"ftl__free_block_choice": "least-worn", "ftl__wear_leveling": policy}
        if policy != "none":
            sets["ftl__wear_leveling__cycles"] = 2
        job = writes(20_000, size="25%")
        result = drive(**sets).run(job, prefill="full", check="full")
        wear = result.document["wear"]
        spreads[policy] = wear["erases_max"] - wear["erases_min"]
        assert (result.document["ftl"]["leveled_groups"] > 0) == (policy != "none")
        assert (result.waf.wear > 0) == (policy != "none")
    assert spreads["threshold"] < spreads["none"], spreads


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        ({"nand__program_failures": 1.5}, "nand.program_failures"),
        ({"nand__failures_rise": 2.0}, "nand.failures_rise"),
        ({"nand__factory_bad_blocks": 0.9}, "nand.factory_bad_blocks"),
        ({"nand__wear_out": {"policy": "weibull", "shape": 0.0}}, "nand.wear_out.shape"),
        ({"ftl__wear_leveling": {"policy": "threshold", "cycles": 0}}, "ftl.wear_leveling.cycles"),
        ({"ftl__wear_leveling": "threshold", "ftl__map": "entries"}, "ftl.wear_leveling"),
        ({"nand__erase_failures": 0.1, "ftl__map": "entries"}, "nand.erase_failures"),
        (
            {"nand__erase_failures": 0.1, "ftl__streams": HINTED, "ftl__stream_channels": [[0], [1]]},
            "nand.erase_failures",
        ),
        ({"ftl__wear_leveling": "threshold", "ftl__streams": ISOLATED}, "ftl.wear_leveling"),
    ],
)
def test_what_makes_no_sense_names_its_key(sets, words):
    with pytest.raises(ValueError, match=words):
        drive(**sets).run(writes(10))


def test_a_drive_that_wears_out_while_it_is_prepared_is_refused():
    with pytest.raises(ValueError, match="read-only"):
        drive(nand__wear_out={"policy": "fixed", "cycles": 1.0}).run(writes(10), prefill="steady-uniform")
