"""Flows of MQSim that differ, in one run: their mean latencies are those of MQSim.

MQSim's are from CMU-SAFARI's version of October 2022, run with the usual files and what is said here:
`Device_Response_Time` of each flow, which it cuts to whole us. There are 8 channels of 2 chips of 2 dies of
2 planes.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import NATIVE, tomllib
from mqsim_files import changed, mean_latency, run_as_mqsim

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")

DRIVE = {"Chip_No_Per_Channel": "2", "Block_No_Per_Plane": "512", "Ideal_Mapping_Table": "true"}
OF_EACH = {
    "Device_Level_Data_Caching_Mode": "TURNED_OFF",
    "Chip_IDs": "0,1",
    "Initial_Occupancy_Percentage": "50",
    "Working_Set_Percentage": "60",
    "Average_Request_Size": "16",
    "Stop_Time": "0",
    "Total_Requests_To_Generate": "50000",
}
READS = {"Read_Percentage": "100"}
CACHED_MAP = {"Ideal_Mapping_Table": "false"}
FIRST_HALF, SECOND_HALF = "0,1,2,3", "4,5,6,7"
CACHED = {"Device_Level_Data_Caching_Mode": "WRITE_CACHE"}
SLACK = 0.02


def of_depth(depth: int, seed: int, **values: str) -> dict[str, str]:
    return {"Average_No_of_Reqs_in_Queue": str(depth), "Seed": str(seed), **values}


def files_of(tmp_path: Path, drive: dict[str, str], flows: list[dict[str, str]]) -> tuple[str, str]:
    """Write the two files of MQSim with flows that are as the usual one but for these values."""
    config, workload = changed(tmp_path / "files", {**DRIVE, **drive})
    text = Path(workload).read_text()
    begin, end = text.index("\t\t<IO_Flow_Parameter_Set_S"), text.index("\t\t<IO_Flow_Parameter_Set_T")
    told = ""
    for values in flows:
        one = text[begin:end]
        for tag, value in {**OF_EACH, **values}.items():
            one = re.sub(rf"<{tag}>[^<]*<", f"<{tag}>{value}<", one)
        told += one
    Path(workload).write_text(text[:begin] + told + text[text.index("\t</IO_Scenario>") :])
    return config, workload


@pytest.mark.parametrize(
    ("drive", "flows", "means", "slack"),
    [
        pytest.param(
            {"Queue_Fetch_Size": "16"},
            [
                of_depth(depth, seed, **READS, Average_Request_Size="8", Address_Alignment_Unit="8")
                for depth, seed in ((8, 4242), (128, 99))
            ],
            [153, 1535],
            SLACK,
            id="16 commands of each are fetched",
        ),
        pytest.param(
            {"Data_Cache_Sharing_Mode": "EQUAL_PARTITIONING"},
            [of_depth(4, 4242, **CACHED), of_depth(32, 99, **CACHED)],
            [396, 3169],
            # Of 128 pages that wait MQSim merges more programs: those of any page of a block.
            0.025,
            id="each has the bound of its writes for itself",
        ),
        pytest.param(
            {},
            [of_depth(16, 4242, **READS, Priority_Class="URGENT"), of_depth(16, 99, **READS)],
            [200, 312],
            SLACK,
            id="chips go by class",
        ),
        pytest.param(
            {},
            [of_depth(8, 4242), of_depth(8, 7, **CACHED)],
            [1342, 472],
            SLACK,
            id="one writes through the cache and one past it",
        ),
        pytest.param(
            CACHED_MAP,
            [
                of_depth(16, 4242, **READS, Channel_IDs=FIRST_HALF),
                of_depth(16, 4242, Read_Percentage="0", Channel_IDs=SECOND_HALF),
            ],
            [475, 2186],
            SLACK,
            id="each has channels of its own, and its pages of a cached map there",
        ),
        pytest.param(
            CACHED_MAP,
            [
                of_depth(16, 4242, **CACHED, Read_Percentage="70", Channel_IDs=FIRST_HALF),
                of_depth(16, 4242, **CACHED, Read_Percentage="30", Channel_IDs=SECOND_HALF),
            ],
            [968, 1358],
            SLACK,
            id="each has channels of its own, below a cache and with a cached map",
        ),
    ],
)
def test_flows_that_differ_have_the_latencies_of_mqsim(cli, tmp_path, drive, flows, means, slack):
    files = files_of(tmp_path, drive, flows)
    result = run_as_mqsim(cli, files, tmp_path / "out")
    for job, mean in zip(result["by_job"], means, strict=True):
        assert mean_latency(job) == pytest.approx(mean, rel=slack), job["name"]


def test_commands_of_each_flow_that_are_fetched_are_bounded_by_themselves(tmp_path):
    """What 16 of each are is no more than that of a flow alone, whatever the depth of others."""
    from ninescope import mqsim

    flows = [of_depth(8, 1), of_depth(128, 2)]
    for as_mqsim in (False, True):
        imported = mqsim.convert(*files_of(tmp_path, {"Queue_Fetch_Size": "16"}, flows), as_mqsim=as_mqsim)
        controller = tomllib.loads(imported.files()["drive.toml"])["controller"]
        assert (controller["queue_depth"], controller["commands_per_queue"]) == (32, 16)
        shallow = mqsim.convert(*files_of(tmp_path, {"Queue_Fetch_Size": "128"}, flows), as_mqsim=as_mqsim)
        assert "commands_per_queue" not in tomllib.loads(shallow.files()["drive.toml"])["controller"]


@pytest.mark.parametrize(
    ("kind", "size", "unit", "is_told"),
    [
        ("STREAMING", "64", "128", True),
        ("STREAMING", "24", "16", True),
        ("STREAMING", "64", "16", False),
        ("RANDOM_UNIFORM", "64", "128", False),
    ],
)
def test_streams_with_gaps_are_told_to_have_none_here(tmp_path, kind, size, unit, is_told):
    """In MQSim a request of a stream begins at a multiple of the alignment, which may leave gaps."""
    from ninescope import mqsim

    values = {"Address_Distribution": kind, "Average_Request_Size": size, "Address_Alignment_Unit": unit}
    files = mqsim.convert(*files_of(tmp_path, {}, [of_depth(8, 1, **values)]), as_mqsim=True).files()
    assert any("each request of a stream begins at a multiple" in text for text in files.values()) is is_told


def test_a_flow_that_writes_past_the_cache_has_no_part_in_its_bound(tmp_path):
    from ninescope import mqsim

    flows = [of_depth(8, 1), of_depth(8, 2, **CACHED), of_depth(8, 3, **READS)]
    for as_mqsim in (True, False):
        imported = mqsim.convert(*files_of(tmp_path, {}, flows), as_mqsim=as_mqsim)
        past, through, reads = (flow.table for flow in imported.flows)
        assert (past["fua"], "fua" in through, "fua" in reads) == (1.0, False, False)
        assert not [left for _, left in imported.not_carried() if "Caching_Mode" in left.tag]
        if as_mqsim:
            controller = tomllib.loads(imported.files()["drive.toml"])["controller"]
            assert controller["shared_buffered_pages"] - past["buffer_pages"] == 8 * 2 * 2 * 2
            assert ("buffer_pages" in through, "buffer_pages" in reads) == (False, False)


def test_a_write_is_as_large_as_the_mean_of_all_that_are_written(tmp_path):
    """Three of four writes are of 4 KiB, one of 12 KiB on two pages: 48 sectors on five, and no reads."""
    from ninescope import mqsim

    count, size, unit = "Total_Requests_To_Generate", "Average_Request_Size", "Address_Alignment_Unit"
    flows = [
        of_depth(4, 1, **CACHED, **{size: "8", unit: "8", count: "30000"}),
        of_depth(4, 2, **CACHED, **{size: "24", unit: "16", count: "10000"}),
        of_depth(4, 3, **CACHED, **READS, **{size: "256"}),
    ]
    imported = mqsim.convert(*files_of(tmp_path, {}, flows), as_mqsim=True)
    pages = tomllib.loads(imported.files()["drive.toml"])["controller"]["shared_buffered_pages"]
    planes = 8 * 2 * 2 * 2
    assert pages == round(planes * 16 / ((3 * 8 + 24) / (3 + 2)))
