"""Pairs with MQSim where chips read what waits for its program, and pages have places by touch."""

from __future__ import annotations

import pytest

from conftest import NATIVE
from mqsim_files import FLOW, alone, changed, mean_latency, run_as_mqsim

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
WITHOUT_CACHE = {
    "Device_Level_Data_Caching_Mode": "TURNED_OFF",
    "Initial_Occupancy_Percentage": "50",
    "Block_No_Per_Plane": "256",
    "Stop_Time": "0",
}


def latencies(reads: tuple[int, ...], programs: tuple[int, ...]) -> dict[str, str]:
    """Times of pages by type [us]: of the first, of the second of three, of the last."""
    kinds = ("LSB", "CSB", "MSB")
    first = {f"Page_Read_Latency_{kind}": f"{time}000" for kind, time in zip(kinds, reads, strict=True)}
    return first | {
        f"Page_Program_Latency_{kind}": f"{time}000" for kind, time in zip(kinds, programs, strict=True)
    }


def shape(channels: int, chips: int, dies: int, planes: int) -> dict[str, str]:
    """Channels, chips, dies and planes of a drive that its flow has all of."""
    counts = {
        "Flash_Channel_Count": channels,
        "Chip_No_Per_Channel": chips,
        "Die_No_Per_Chip": dies,
        "Plane_No_Per_Die": planes,
    }
    ids = zip(("Channel_IDs", "Chip_IDs", "Die_IDs", "Plane_IDs"), counts.values(), strict=True)
    return {tag: str(count) for tag, count in counts.items()} | {
        tag: ",".join(map(str, range(count))) for tag, count in ids
    }


def flow(addresses: str, reads: int, sectors: int, depth: int, reach: int, seed: int) -> dict[str, str]:
    return {
        "Address_Distribution": addresses,
        "Read_Percentage": str(reads),
        "Average_Request_Size": str(sectors),
        "Address_Alignment_Unit": str(sectors),
        "Average_No_of_Reqs_in_Queue": str(depth),
        "Working_Set_Percentage": str(reach),
        "Total_Requests_To_Generate": "30000",
        "Seed": str(seed),
    }


HALVES = {
    **shape(4, 4, 1, 1),
    **latencies((25, 25, 25), (200, 200, 200)),
    **flow("STREAMING", 0, 8, 4, 50, 8210),
    "Flash_Technology": "SLC",
    "Page_Capacity": "8192",
    "Channel_Transfer_Rate": "200",
    "Plane_Allocation_Scheme": "CWDP",
    "PCIe_Lane_Count": "4",
    "Transaction_Scheduling_Policy": "OUT_OF_ORDER",
}
TWO_BITS = {
    **shape(8, 1, 2, 2),
    **latencies((50, 50, 75), (400, 600, 900)),
    **flow("RANDOM_UNIFORM", 70, 128, 2, 20, 6755),
    "Flash_Technology": "MLC",
    "Page_Capacity": "4096",
    "Channel_Transfer_Rate": "500",
    "Plane_Allocation_Scheme": "PCWD",
    "PCIe_Lane_Count": "1",
    "Transaction_Scheduling_Policy": "PRIORITY_OUT_OF_ORDER",
    "Enabled_Preconditioning": "false",
    "Ideal_Mapping_Table": "true",
}
# MQSim's means, cut to whole us, of CMU-SAFARI's version of October 2022 run with these very files.
CASES = {
    "halves of a prepared drive with a cached map": (
        {**HALVES, "Enabled_Preconditioning": "true", "Ideal_Mapping_Table": "false"},
        374,
    ),
    "halves of an empty drive": (
        {**HALVES, "Enabled_Preconditioning": "false", "Ideal_Mapping_Table": "false"},
        357,
    ),
    "planes in step": (TWO_BITS, 559),
}


@pytest.mark.parametrize("case", CASES)
def test_the_mean_latency_is_that_of_mqsim(cli, tmp_path, case):
    values, theirs = CASES[case]
    files = alone(changed(tmp_path / "files", {**WITHOUT_CACHE, **values}), f"{FLOW}_Synthetic")
    ours = mean_latency(run_as_mqsim(cli, files, tmp_path / "out"))
    assert ours == pytest.approx(theirs, rel=0.02)
