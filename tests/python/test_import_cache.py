"""What becomes of MQSim's data cache: a buffer or a cache in DRAM, and the times of that."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import NATIVE
from mqsim_files import FLOW, alone, changed, outcome
from ninescope.mqsim.memory import Times

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")


def cached_as(tmp_path: Path, mode: str, values: dict[str, str] | None = None) -> tuple[str, str]:
    """Return the files with one synthetic flow of a caching mode, on a drive whose map is in memory."""
    told = {"Device_Level_Data_Caching_Mode": mode, "Ideal_Mapping_Table": "true", **(values or {})}
    return alone(changed(tmp_path / "files", told), f"{FLOW}_Synthetic")


def test_the_times_of_dram_are_those_of_the_file_as_hardware(tmp_path):
    """100 MT/s of 1 B are 100 MB/s; rows are closed, opened and asked in 3 x 13 ns.

    256 MiB are 1,024 pages of 4 KiB, which requests have, for each of 64 dies. Each of 128 planes fills one.
    """
    (drive, _, _), said = outcome(cached_as(tmp_path, "WRITE_CACHE"), as_mqsim=False)
    assert drive["controller"]["buffered_pages"] == 1024
    capacity = (1024 * 64 + 128) * 4096
    told = {"capacity": f"{capacity}B", "write_buffer": True, "rate": "100000000B/s", "access": "39ns"}
    assert (drive["dram"], "tier" in drive) == (told, False)
    left = {tag: group for tag, _, group in said if "Data_Cache" in tag}
    assert left == {"Data_Cache_DRAM_Row_Size": "otherwise"}
    files = cached_as(tmp_path, "WRITE_CACHE", {"Data_Cache_DRAM_Data_Rate": "800"})
    files = (files[0], files[1])
    Path(files[0]).write_text(
        Path(files[0]).read_text().replace("Busrt_Size>1<", "Busrt_Size>4<").replace("tRP>13<", "tRP>10<")
    )
    (drive, _, _), _ = outcome(files, as_mqsim=False)
    assert (drive["dram"]["rate"], drive["dram"]["access"]) == ("3200000000B/s", "36ns")
    peer, said = outcome(files, as_mqsim=True)
    # 1,024 transfers of 4 B at 800 MT/s, half of which MQSim counts: 640 ns for a page of 4 KiB.
    assert (peer[0]["dram"]["rate"], peer[0]["dram"]["access"]) == ("6400000000B/s", "26ns")
    assert not {tag for tag, _, _ in said if "Data_Cache_DRAM" in tag}


@pytest.mark.parametrize(
    ("size", "taken"),
    [
        # As the formula of MQSim's source says, at 100 MT/s of 1 B: 10 ns each of them, half of them counted.
        (4096, 26 + 2048 * 10),
        (8192, 26 + 4096 * 10),
        # Beyond a row of 8 KiB half of the rows, rounded down, and the rest divided by 10 ns.
        (12288, 26 + 0 + 26 + 409),
        (16384, 26 + (40_960 + 13) * 1 + 26),
        (65536, 26 + (40_960 + 13) * 4 + 26),
    ],
)
def test_dram_takes_as_long_as_in_mqsim(size, taken):
    assert Times(rate=100.0, burst=1, row=8192, open=26, close=13).as_mqsim(size) == taken


def test_the_rate_of_dram_is_by_the_mean_of_what_is_written(tmp_path):
    """Of requests of 16 KiB each takes 40,999 ns beside 26 for its row."""
    files = cached_as(tmp_path, "WRITE_CACHE", {"Average_Request_Size": "32"})
    (drive, _, _), _ = outcome(files, as_mqsim=True)
    rate = int(drive["dram"]["rate"].removesuffix("B/s"))
    assert rate == pytest.approx(16384 / (40_999e-9), abs=1)
    assert (drive["dram"]["write_buffer"], drive["dram"]["cut_through"]) == (True, True)
    # A cache of 256 MiB, the pages that wait for their programs, and one that fills for each plane.
    waiting = drive["controller"]["shared_buffered_pages"]
    page = int(drive["geometry"]["page_size"].removesuffix("B"))
    planes = 64 * drive["geometry"]["planes_per_die"] // 2
    assert drive["dram"]["cache"] == f"{256 << 20}B"
    assert drive["dram"]["capacity"] == f"{(256 << 20) + (waiting + planes) * page}B"


def test_what_is_let_in_together_takes_the_time_of_the_formula(tmp_path):
    """Two rows at once take as long as one; what lies beyond one row next to nothing."""
    files = cached_as(tmp_path, "WRITE_CACHE", {"Average_Request_Size": "32"})
    (drive, _, _), _ = outcome(files, as_mqsim=True)
    told = [(one["size"], one["time"]) for one in drive["dram"]["transfer_times"]]
    # 8 KiB: 4,096 transfers of 10 ns. One sector more: row and column anew, and 512 B / 10.
    # 16 KiB: a row that is closed.
    assert told[:2] == [("8192B", "40960ns"), ("8704B", f"{26 + 51}ns")]
    assert told[-2:] == [("15872B", f"{26 + 768}ns"), ("16384B", f"{40_960 + 13 + 26}ns")]
    # Within a row it is a rate.
    (drive, _, _), _ = outcome(cached_as(tmp_path, "WRITE_CACHE"), as_mqsim=True)
    assert "transfer_times" not in drive["dram"]


def test_a_file_that_says_nothing_of_dram_has_a_buffer_alone(tmp_path):
    files = cached_as(tmp_path, "WRITE_CACHE")
    text = Path(files[0]).read_text()
    Path(files[0]).write_text(re.sub(r"\s*<Data_Cache_DRAM_tRP>[^\n]*", "", text))
    (drive, _, _), _ = outcome(files, as_mqsim=False)
    assert (drive["controller"]["buffered_pages"], "dram" in drive) == (1024, False)


def test_reads_are_cached_where_writes_are_too(cli, tmp_path):
    files = cached_as(tmp_path, "WRITE_READ_CACHE", {"Read_Percentage": "50"})
    (drive, _, _), said = outcome(files, as_mqsim=False)
    assert drive["tier"]["placement"] == {"policy": "wb", "copy_reads": True}
    assert (drive["dram"]["capacity"], drive["dram"]["rate"]) == ("268435456B", "100000000B/s")
    assert "buffered_pages" not in drive["controller"]
    assert "Device_Level_Data_Caching_Mode" not in {tag for tag, _, _ in said}
    code, out, err = cli("import", "mqsim", *files, "--out", tmp_path / "out", "--json")
    assert code == 0, err
    # Of 2,000 requests on 32 pages most are of a page that was read or written before.
    [command] = json.loads(out)["commands"]
    job = tmp_path / "out/job.toml"
    job.write_text(re.sub(r'\nsize = "\w+"', '\nsize = "128KiB"', job.read_text()))
    code, out, err = cli(*command.split()[1:], "--requests", "2000", "--json")
    assert code == 0, err
    assert json.loads(out)["tier"]["hit_ratio"] > 0.9
    # MQSim's reads are not cached, and a cache of reads alone is not there.
    peer, said = outcome(files, as_mqsim=True)
    # MQSim gives a slot away when its page was read for its program: as many are free as pages may wait.
    free = peer[0]["controller"]["shared_buffered_pages"] / ((256 << 20) // 8192)
    assert peer[0]["tier"]["placement"] == {
        "policy": "rewritten",
        "recent_writes": pytest.approx((1 << 19) // ((256 << 20) // 8192)),
        "forget_every": "1s",
        "evict_free": pytest.approx(free, rel=1e-3),
    }
    assert ("Device_Level_Data_Caching_Mode", "WRITE_READ_CACHE", "wrong") in said
    (drive, _, _), said = outcome(cached_as(tmp_path, "READ_CACHE"), as_mqsim=False)
    assert (drive["tier"]["placement"], drive["controller"]["write_completion"]) == ("read-cache", "program")
    assert (drive["dram"]["capacity"], drive["dram"]["rate"]) == ("268435456B", "100000000B/s")
    assert "Device_Level_Data_Caching_Mode" not in {tag for tag, _, _ in said}


def test_flows_have_parts_of_a_cache_where_the_file_says_so(cli, tmp_path):
    """With a part for each flow the bound of MQSim is each flow's too."""

    def two(mode: str, sharing: str) -> tuple[str, str]:
        config, workload = changed(
            tmp_path / "files",
            {
                "Device_Level_Data_Caching_Mode": mode,
                "Data_Cache_Sharing_Mode": sharing,
                "Ideal_Mapping_Table": "true",
            },
        )
        text = Path(workload).read_text()
        begin, end = text.index("\t\t<IO_Flow_Parameter_Set_S"), text.index("\t\t<IO_Flow_Parameter_Set_T")
        Path(workload).write_text(text[:begin] + text[begin:end] * 2 + text[text.index("\t</IO_Scenario>") :])
        return config, workload

    name = "Data_Cache_Sharing_Mode"
    files = two("WRITE_READ_CACHE", "EQUAL_PARTITIONING")
    code, out, err = cli("import", "mqsim", *files, "--out", tmp_path / "out", "--json")
    assert code == 0, err
    [command] = json.loads(out)["commands"]
    code, out, err = cli(*command.split()[1:], "--requests", "400", "--json")
    assert code == 0, err
    parts = [job["cache"]["part"] for job in json.loads(out)["by_job"]]
    assert len(set(parts)) == 2
    shared, said = outcome(two("WRITE_CACHE", "SHARED"), as_mqsim=True)
    assert "parts" not in shared[0]["tier"]
    apart, said = outcome(two("WRITE_CACHE", "EQUAL_PARTITIONING"), as_mqsim=True)
    assert apart[0]["tier"]["parts"] == "separate"
    assert name not in {tag for tag, _, _ in said}
    pages = [drive["controller"]["shared_buffered_pages"] for drive in (shared[0], apart[0])]
    assert [job["buffer_pages"] for job in apart[1]] == [pages[0]] * 2
    assert pages[1] == 3 * pages[0], "and as many for what leaves the cache"
    assert not any("buffer_pages" in job for job in shared[1])
    buffered, said = outcome(two("WRITE_CACHE", "EQUAL_PARTITIONING"), as_mqsim=False)
    assert (name, "EQUAL_PARTITIONING", "otherwise") in said
    assert "tier" not in buffered[0]
