"""What MQSim has touched of a drive before its run, against requests that are drawn one by one."""

from __future__ import annotations

import random

import pytest

from conftest import NATIVE
from mqsim_files import FLOW, alone, changed, mean_latency, outcome, run_as_mqsim

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
PAGE = 16
"""Sectors of a page."""
PAGES = 20_000
"""Pages of the drawn drive."""
PREPARED = {
    "Enabled_Preconditioning": "true",
    "Chip_No_Per_Channel": "2",
    "Block_No_Per_Plane": "512",
    "Chip_IDs": "0,1",
    "Device_Level_Data_Caching_Mode": "TURNED_OFF",
    "Synthetic_Generator_Type": "QUEUE_DEPTH",
    "Address_Distribution": "RANDOM_UNIFORM",
    "Request_Size_Distribution": "FIXED",
    "Read_Percentage": "70",
    "Average_No_of_Reqs_in_Queue": "16",
    "Stop_Time": "0",
    "Total_Requests_To_Generate": "40000",
    "Seed": "4242",
}


def drawn(sectors: int, unit: int, occupancy: float, working_set: float, hot: float = 0.0) -> list[set[int]]:
    """Draw requests until so many pages are touched; return by page the sectors that accesses began with."""
    touched: list[set[int]] = [set() for _ in range(PAGES)]
    reach = working_set if working_set - hot * working_set >= 1.1 * (occupancy - hot * working_set) else 1.0
    begin, end, wanted = 0, int(PAGES * reach * PAGE), min(occupancy, 0.9 * reach) * PAGES
    count, rng = 0, random.Random(1)

    def touch(start: int) -> None:
        nonlocal count
        at, last = start, start + sectors
        while at < last:
            page = at // PAGE
            if page < PAGES:
                count += not touched[page]
                touched[page].add(at % PAGE)
            at = (page + 1) * PAGE

    if hot:
        begin = int(PAGES * working_set * hot * PAGE)
        for start in range(0, begin, sectors):
            touch(start)
    while count < wanted:
        start = rng.randrange(begin, end)
        touch(start - start % unit)
    return touched


@pytest.mark.parametrize(
    ("sectors", "unit", "occupancy", "working_set"),
    [
        pytest.param(8, 8, 0.5, 0.6, id="half pages"),
        pytest.param(8, 8, 0.4, 1.0, id="half pages of all of the drive"),
        pytest.param(8, 8, 0.5, 0.3, id="addresses that are too few for what is touched"),
        pytest.param(24, 8, 0.5, 0.7, id="a page and a half"),
        pytest.param(3, 1, 0.3, 0.6, id="anywhere"),
        pytest.param(4, 4, 0.95, 1.0, id="all of it"),
    ],
)
def test_shares_of_used_sectors_are_those_of_drawn_requests(sectors, unit, occupancy, working_set):
    from ninescope.mqsim.preparation import Touched, used_at_start

    flow = Touched(sectors, unit, occupancy, working_set, streams=False, hot=0.0)
    shares = used_at_start([flow], PAGE)
    pages = drawn(sectors, unit, occupancy, working_set)
    # Those that its requests reach, whether they were touched or not.
    reached = pages[: int(PAGES * working_set)]
    step = PAGE // len(shares)
    for piece, share in enumerate(shares):
        theirs = sum(piece * step in page for page in reached) / len(reached)
        assert share == pytest.approx(theirs, abs=0.015), piece
    assert all(sector % step == 0 for page in reached for sector in page)


def test_hot_addresses_are_all_touched_and_asked_for_by_the_share_of_the_others():
    from ninescope.mqsim.preparation import Touched, used_at_start

    [first, second] = used_at_start([Touched(8, 8, 0.5, 0.6, streams=False, hot=0.1)], PAGE)
    pages = drawn(8, 8, 0.5, 0.6, hot=0.1)
    hot, cold = pages[: int(PAGES * 0.06)], pages[int(PAGES * 0.06) + 1 : int(PAGES * 0.6)]
    for sector, share in ((0, first), (8, second)):
        of_hot, of_cold = (sum(sector in page for page in part) / len(part) for part in (hot, cold))
        assert of_hot == 1.0
        # 90 % of the requests go to the hot addresses.
        assert share == pytest.approx(0.9 * of_hot + 0.1 * of_cold, abs=0.01)


def test_streams_use_all_that_they_begin_with_and_whole_pages_are_merged_with_nothing():
    from ninescope.mqsim.preparation import Touched, used_at_start

    assert used_at_start([Touched(8, 8, 0.5, 0.6, streams=True, hot=0.0)], PAGE) == [1.0, 1.0]
    # Of 12 sectors at multiples of 8 each begins 16 behind the one before.
    assert used_at_start([Touched(12, 8, 0.5, 0.6, streams=True, hot=0.0)], PAGE) == [1.0]
    assert used_at_start([Touched(32, 16, 0.5, 0.6, streams=False, hot=0.0)], PAGE) == []


def test_a_drive_is_prepared_where_mqsim_prepares_it(tmp_path):
    def made(*, as_mqsim: bool = True, **values: str):
        values = {**PREPARED, "Average_Request_Size": "8", "Address_Alignment_Unit": "8", **values}
        files = alone(changed(tmp_path / "files", values), f"{FLOW}_Synthetic")
        drive, _, commands = outcome(files, as_mqsim=as_mqsim)[0]
        return drive["ftl"].get("used_at_start"), drive["ftl"].get("map", {}).get("warm"), commands[0]

    shares, warm, command = made()
    assert len(shares) == 2
    assert warm is True
    assert command.endswith("--prefill footprint")
    assert made(Address_Distribution="STREAMING")[:2] == ([1.0, 1.0], None)
    assert made(Average_Request_Size="16", Address_Alignment_Unit="16")[:2] == (None, True)
    assert made(Ideal_Mapping_Table="true")[1] is None
    # What goes through a cache ends there before its rest is read.
    assert made(Device_Level_Data_Caching_Mode="WRITE_CACHE")[:2] == (None, True)
    shares, warm, command = made(Enabled_Preconditioning="false")
    assert (shares, warm) == (None, None)
    assert "--prefill full" in command
    assert made(as_mqsim=False)[:2] == (None, None)


# MQSim's means, cut to whole us, of CMU-SAFARI's version of October 2022 run with these very files.
LATENCIES = {
    "half pages, mixed": ({"Ideal_Mapping_Table": "true"}, 70, 8, 553),
    "half pages, written": ({"Ideal_Mapping_Table": "true"}, 0, 8, 1348),
    "pages with a map that is warm": (
        {"Ideal_Mapping_Table": "false", "Working_Set_Percentage": "20"},
        100,
        16,
        284,
    ),
}


@pytest.mark.parametrize("case", LATENCIES)
def test_a_prepared_drive_has_the_mean_latency_of_mqsim(cli, tmp_path, case):
    drive, reads, sectors, theirs = LATENCIES[case]
    values = {
        **PREPARED,
        "Initial_Occupancy_Percentage": "50",
        "Working_Set_Percentage": "60",
        "Read_Percentage": str(reads),
        "Average_Request_Size": str(sectors),
        "Address_Alignment_Unit": str(sectors),
        **drive,
    }
    files = alone(changed(tmp_path / "files", values), f"{FLOW}_Synthetic")
    ours = mean_latency(run_as_mqsim(cli, files, tmp_path / "out"))
    assert ours == pytest.approx(theirs, rel=0.02)
