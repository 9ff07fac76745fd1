"""Mean latencies of MQSim's files as MQSim has them, each of something that takes a mechanism of its own.

The numbers are `Device_Response_Time` of MQSim (CMU-SAFARI, October 2022, built as it is) of the same files.
"""

from __future__ import annotations

import pytest

from conftest import NATIVE
from mqsim_files import FLOW, alone, changed, mean_latency, run_as_mqsim

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")

PLANAR = {
    "Flash_Technology": "TLC",
    "Page_Program_Latency_LSB": "500000",
    "Page_Program_Latency_CSB": "900000",
    "Page_Program_Latency_MSB": "1300000",
    "Page_No_Per_Block": "192",
}
# Few chips, nothing cached, one flow.
PLAIN = {
    "Chip_No_Per_Channel": "2",
    "Block_No_Per_Plane": "512",
    "Ideal_Mapping_Table": "true",
    "Enabled_Preconditioning": "false",
    "Device_Level_Data_Caching_Mode": "TURNED_OFF",
    "Chip_IDs": "0,1",
    "Synthetic_Generator_Type": "QUEUE_DEPTH",
    "Stop_Time": "0",
}


def flow(
    *, reads: int, sectors: int, depth: int, requests: int, order: str = "RANDOM_UNIFORM"
) -> dict[str, str]:
    return {
        "Read_Percentage": str(reads),
        "Average_Request_Size": str(sectors),
        "Address_Alignment_Unit": str(min(sectors, 16)),
        "Request_Size_Distribution": "FIXED",
        "Average_No_of_Reqs_in_Queue": str(depth),
        "Address_Distribution": order,
        "Total_Requests_To_Generate": str(requests),
    }


CASES = {
    "pages of three bits in the order of a planar part": (
        PLANAR | flow(reads=0, sectors=16, depth=1, requests=2000),
        832,
    ),
    "a stream whose pages meet those of other planes": (
        flow(reads=0, sectors=128, depth=8, requests=4000, order="STREAMING"),
        1850,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_mean_latency_is_that_of_mqsim(cli, tmp_path, case):
    values, theirs = CASES[case]
    files = alone(changed(tmp_path / "files", PLAIN | values), f"{FLOW}_Synthetic")
    ours = mean_latency(run_as_mqsim(cli, files, tmp_path / "out"))
    assert ours == pytest.approx(theirs, rel=0.02)
