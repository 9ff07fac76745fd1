"""What becomes of each setting of MQSim: the table is whole, and what it says is so.

`mqsim_defaults/` has every setting of MQSim's two files with its usual value. Here each is changed, one at a
time: what is said to be carried over changes the drive, the job or the command, and nothing else does.
"""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

import ninescope
from conftest import NATIVE, ROOT, tomllib
from mqsim_files import DEFAULTS, FILES, FLOW, alone, changed, names, outcome

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")


HOT = {"Address_Distribution": "RANDOM_HOTCOLD", "Percentage_of_Hot_Region": "10"}
NORMAL = {"Request_Size_Distribution": "NORMAL", "Variance_Request_Size": "4"}
TLC = {"Flash_Technology": "TLC"}
NEEDS: dict[str, dict[str, str]] = {
    "Percentage_of_Hot_Region": HOT,
    "Variance_Request_Size": NORMAL,
    "Request_Size_Distribution": {"Variance_Request_Size": "4"},
    "Address_Distribution": {"Percentage_of_Hot_Region": "10"},
    "Bandwidth": {"Synthetic_Generator_Type": "BANDWIDTH"},
    "Total_Requests_To_Generate": {"Stop_Time": "0", "Total_Requests_To_Generate": "1000"},
    "Page_Read_Latency_CSB": TLC,
    "Page_Program_Latency_CSB": TLC,
    "Channel_IDs": {"Ideal_Mapping_Table": "true"},
    "Chip_IDs": {"Ideal_Mapping_Table": "true"},
    "Die_IDs": {"Ideal_Mapping_Table": "true"},
    "Plane_IDs": {"Ideal_Mapping_Table": "true"},
    "Suspend_Erase_Time": {"CMD_Suspension_Support": "ERASE"},
    # Of a share of 5 % the count of blocks counts, and not the least that there is.
    "GC_Exec_Threshold": {"Block_No_Per_Plane": "2048"},
    "SATA_Processing_Delay": {"HostInterface_Type": "SATA"},
    # Of what fits a row of DRAM neither says anything.
    "Data_Cache_DRAM_Row_Size": {"Average_Request_Size": "64"},
    "Data_Cache_DRAM_tRP": {"Average_Request_Size": "64"},
    # A drive with fewer has not all that flows name.
    "Die_No_Per_Chip": {"Die_IDs": "0"},
    "Plane_No_Per_Die": {"Plane_IDs": "0"},
}
"""What else must be said for a setting to have an effect."""
OTHER_WORDS = {
    "IO_Queue_Depth": "100",
    "Memory_Type": "PCM",
    "HostInterface_Type": "SATA",
    "Caching_Mechanism": "SIMPLE",
    "Data_Cache_Sharing_Mode": "EQUAL_PARTITIONING",
    "Data_Cache_Capacity": "134217728",
    "Address_Mapping": "HYBRID",
    "CMT_Capacity": "1048576",
    "CMT_Sharing_Mode": "EQUAL_PARTITIONING",
    "Plane_Allocation_Scheme": "PDWC",
    "Transaction_Scheduling_Policy": "OUT_OF_ORDER",
    "Overprovisioning_Ratio": "0.09",
    "GC_Exec_Threshold": "0.07",
    "GC_Block_Selection_Policy": "GREEDY",
    "GC_Hard_Threshold": "0.006",
    "Flash_Comm_Protocol": "SDR",
    "Flash_Technology": "TLC",
    "CMD_Suspension_Support": "NONE",
    "Die_No_Per_Chip": "1",
    "Plane_No_Per_Die": "1",
    "Page_Capacity": "16384",
    "Priority_Class": "URGENT",
    "Device_Level_Data_Caching_Mode": "TURNED_OFF",
    "Channel_IDs": "0,1",
    "Chip_IDs": "0,1",
    "Die_IDs": "0",
    "Plane_IDs": "0",
    "Synthetic_Generator_Type": "BANDWIDTH",
    "Address_Distribution": "RANDOM_HOTCOLD",
    "Request_Size_Distribution": "NORMAL",
    "Average_Request_Size": "24",
    "Address_Alignment_Unit": "32",
    "Stop_Time": "5000000",
    "File_Path": "other.trace",
    "Percentage_To_Be_Executed": "50",
    "Time_Unit": "MICROSECOND",
    "Initial_Occupancy_Percentage": "33",
    "Bandwidth": "1048576",
}
"""Another value of those that are no numbers, or of which not every number makes sense."""


def table() -> dict[tuple[str, str], Any]:
    from ninescope.mqsim.settings import settings

    return {(section, name): one for section, named in settings().items() for name, one in named.items()}


def another(name: str, text: str) -> str:
    if name in OTHER_WORDS:
        return OTHER_WORDS[name]
    [value] = set(re.findall(rf"<{name}>([^<]*)</{name}>", text))
    if value in ("true", "false"):
        return "false" if value == "true" else "true"
    return str(int(float(value)) + 1)


def test_every_setting_of_the_files_is_in_the_table_and_every_other_way_round():
    from ninescope.mqsim.settings import GROUPS

    told = {name for _, name in table()}
    there = {name for file in FILES for name in names((DEFAULTS / file).read_text())}
    assert told == there
    assert len(told) > 85
    for where, setting in table().items():
        for fate in filter(None, (setting.fate, setting.as_mqsim, setting.beyond)):
            assert fate.group in GROUPS, where
            assert bool(fate.to) == (fate.group == "carried"), where
            assert bool(fate.why) == (fate.group != "carried"), where


@pytest.mark.parametrize("as_mqsim", [False, True])
def test_each_setting_is_accounted_for_once(as_mqsim):
    from ninescope import mqsim

    imported = mqsim.convert(*(str(DEFAULTS / file) for file in FILES), as_mqsim=as_mqsim)
    counts = imported.counts()
    assert counts["unknown"] == 0
    for part, text in (
        (imported.drive, (DEFAULTS / FILES[0]).read_text()),
        *zip(imported.flows, (DEFAULTS / FILES[1]).read_text().split("<IO_Flow_")[1:], strict=True),
    ):
        assert sorted([*part.carried, *(left.tag for left in part.left)]) == sorted(names(text))
    # The drive's cache, chips and cached map are as MQSim has them.
    assert counts["wrong"] == (3 if as_mqsim else 1)


@pytest.mark.parametrize("as_mqsim", [False, True], ids=["as hardware", "as mqsim"])
@pytest.mark.parametrize(("section", "name"), table() if NATIVE else [])
def test_a_setting_that_is_carried_over_changes_something_and_no_other_does(
    section, name, as_mqsim, tmp_path
):
    setting = table()[section, name]
    needed = NEEDS.get(name, {})
    files = alone(changed(tmp_path / "before", needed, section), section)
    before, _ = outcome(files, as_mqsim=as_mqsim)
    text = (tmp_path / "before" / FILES[section.startswith(FLOW)]).read_text()
    value = another(name, re.sub(r"<Seed>321</Seed>|<Seed>798</Seed>", "<Seed>1</Seed>", text))
    files = alone(changed(tmp_path / "after", {**needed, name: value}, section), section)
    if setting.values and not setting.beyond:
        with pytest.raises(ninescope.ConfigError, match=f"<{name}> {value}"):
            outcome(files, as_mqsim=as_mqsim)
        return
    after, said = outcome(files, as_mqsim=as_mqsim)
    if setting.beyond:
        assert (name, value, setting.beyond.group) in said
        assert after == before
        return
    fate = setting.fate_of(value, as_mqsim=as_mqsim)
    carried = fate.group == "carried" and value.lower() != setting.same
    assert (after != before) == carried, fate
    assert ((name, value, fate.group) in said) == (fate.group != "carried")


@pytest.mark.parametrize(
    ("values", "without_effect"),
    [
        ({}, {"Page_Read_Latency_CSB", "Page_Program_Latency_CSB", "Bandwidth", "Percentage_of_Hot_Region"}),
        ({"Ideal_Mapping_Table": "true"}, {"CMT_Capacity", "CMT_Sharing_Mode"}),
        (
            {"Device_Level_Data_Caching_Mode": "TURNED_OFF"},
            {"Caching_Mechanism", "Data_Cache_Capacity", "Data_Cache_DRAM_tCL", "Data_Cache_DRAM_Row_Size"},
        ),
        ({"CMD_Suspension_Support": "NONE"}, {"Suspend_Erase_Time"}),
        ({"Synthetic_Generator_Type": "BANDWIDTH"}, {"Average_No_of_Reqs_in_Queue"}),
        ({"Generated_Aligned_Addresses": "false"}, {"Address_Alignment_Unit"}),
        ({"Stop_Time": "0", "Total_Requests_To_Generate": "9"}, {"Stop_Time"}),
    ],
)
def test_what_other_values_of_a_file_leave_without_effect_is_told(tmp_path, values, without_effect):
    _, said = outcome(changed(tmp_path / "files", values), as_mqsim=False)
    told = {tag for tag, _, group in said if group == "idle"}
    assert without_effect <= told
    _, usual = outcome(changed(tmp_path / "usual", {}), as_mqsim=False)
    assert not values or not without_effect & {tag for tag, _, group in usual if group == "idle"}


def test_values_become_what_the_docs_say(tmp_path):
    def made(values: dict[str, str], *, as_mqsim: bool = False) -> tuple[Any, Any]:
        (drive, [job, _], _), _ = outcome(changed(tmp_path / "files", values), as_mqsim=as_mqsim)
        return drive, job

    _, job = made({**HOT, "Percentage_of_Hot_Region": "20"})
    assert job["random_distribution"] == "zoned:80/20:20/80"
    # A variance of 4 square sectors is a standard deviation of 2; MQSim takes 4, and rounds up.
    _, job = made(NORMAL)
    assert (job["bsnormal"], "bs" in job) == ("4096B/1024B", False)
    assert made(NORMAL, as_mqsim=True)[1]["bsnormal"] == "4352B/2048B"
    # 1,000,000 B/s are 1,953 sectors per second, and those 244 requests of 8 sectors.
    arrivals = {"Synthetic_Generator_Type": "BANDWIDTH", "Bandwidth": "1000000"}
    _, job = made(arrivals)
    assert (job["rate"], job["rate_process"], "iodepth" in job) == ("1000000B/s", "poisson", False)
    assert made(arrivals, as_mqsim=True)[1]["rate_iops"] == 244
    # 2 bytes at 800 MT/s, which MQSim cuts to 1 ns.
    wide = {"Flash_Channel_Width": "2", "Channel_Transfer_Rate": "800"}
    assert made(wide)[0]["nand"]["channel_rate"] == "1600000000B/s"
    assert made(wide, as_mqsim=True)[0]["nand"]["channel_rate"] == "2000000000B/s"
    assert made({})[0]["scheduler"]["suspend"] == "immediate"
    assert made({})[0]["nand"]["suspend_recover"] == "700000ns"
    assert made({"CMD_Suspension_Support": "PROGRAM"})[0]["scheduler"]["suspend"] == "none"
    assert "suspend" not in made({}, as_mqsim=True)[0]["scheduler"]
    victim = made({"GC_Block_Selection_Policy": "RANDOM_PP"})[0]["ftl"]["victim"]
    assert victim == "random-invalid"


def test_a_cached_map_has_as_many_entries_as_in_mqsim(tmp_path):
    """8 channels of 4 chips of 2 dies of 2 planes of 2048 blocks of 256 pages are 2^26 pages of 16 sectors.

    An entry has 2 x 26 + 16 bits, which are 9 B.
    """

    def made(values: dict[str, str], *, as_mqsim: bool = False) -> Any:
        drive, _, _ = outcome(changed(tmp_path / "files", values), as_mqsim=as_mqsim)[0]
        return drive["ftl"].get("map")

    assert made({"Ideal_Mapping_Table": "true"}) is None
    entries = 2_097_152 // 9
    plain = {"policy": "entries", "size": f"{entries * 8}B", "writes_wait": False}
    assert made({}) == plain
    assert made({"Device_Level_Data_Caching_Mode": "TURNED_OFF"}).get("writes_wait") is None
    peer = made({}, as_mqsim=True)
    # Of each of the two flows.
    assert {key: peer[key] for key in plain} == {**plain, "size": f"{2 * entries * 8}B"}
    assert (peer["written"], peer["fetch_size"], peer["programs_wait"]) == (False, "512B", True)
    assert "programs_wait" not in made({"Device_Level_Data_Caching_Mode": "TURNED_OFF"}, as_mqsim=True)
    # A quarter of the blocks: 2^24 pages, entries of 8 B.
    assert made({"Block_No_Per_Plane": "512"})["size"] == f"{2_097_152}B"
    with pytest.raises(ninescope.ConfigError, match=r"CMT_Capacity> 8: has no room for one entry .* 9 B"):
        made({"CMT_Capacity": "8"})
    with pytest.raises(ninescope.ConfigError, match=r"line \d+: <CMT_Capacity> 0: has no room for one entry"):
        made({"CMT_Capacity": "0"})


def test_each_flow_has_a_map_of_the_full_size_in_mqsim(tmp_path):
    config, workload = changed(tmp_path / "files", {})
    text = Path(workload).read_text()
    begin, end = text.index("\t\t<IO_Flow_Parameter_Set_S"), text.index("\t\t<IO_Flow_Parameter_Set_T")
    Path(workload).write_text(text[:begin] + text[begin:end] * 2 + text[text.index("\t</IO_Scenario>") :])

    def made(sharing: str, *, as_mqsim: bool) -> tuple[int, list[Any]]:
        text = Path(config).read_text()
        name = "CMT_Sharing_Mode"
        Path(config).write_text(re.sub(rf"<{name}>[^<]*</{name}>", f"<{name}>{sharing}</{name}>", text))
        (drive, _, _), said = outcome((config, workload), as_mqsim=as_mqsim)
        return int(drive["ftl"]["map"]["size"].removesuffix("B")), [
            group for tag, _, group in said if tag == name
        ]

    one = 2_097_152 // 9 * 8
    assert made("SHARED", as_mqsim=False) == (one, [])
    assert made("SHARED", as_mqsim=True) == (2 * one, ["wrong"])
    for as_mqsim in (False, True):
        assert made("EQUAL_PARTITIONING", as_mqsim=as_mqsim) == (one, ["otherwise"])


def test_as_mqsim_only_the_sectors_asked_for_move(tmp_path):
    """Pages and the channel are the file's, whatever requests have of a page."""
    by_sector = {"read_moves": "sectors", "program_moves": "sectors"}
    for sectors in ("8", "24"):
        files = changed(tmp_path / "files", {"Average_Request_Size": sectors})
        (drive, _, _), _ = outcome(files, as_mqsim=True)
        assert (drive["geometry"]["page_size"], drive["ftl"]["mapping_unit"]) == ("8192B", "8192B")
        assert drive["nand"]["channel_rate"] == f"{round(1e9 / 3)}B/s"
        assert {key: drive["nand"][key] for key in by_sector} == by_sector
        assert (drive["ftl"]["merges"], drive["ftl"]["map"]["fetch_size"]) == ("sectors", "512B")
        plain = outcome(files, as_mqsim=False)[0][0]
        assert not {*by_sector} & {*plain["nand"]}
        assert "merges" not in plain["ftl"]
        assert (drive["scheduler"]["multi_plane"], plain["scheduler"]["multi_plane"]) == (True, False)


def test_as_mqsim_planes_of_a_die_are_merged(tmp_path):
    files = changed(tmp_path / "files", {})
    drive = outcome(files, as_mqsim=True)[0][0]
    assert drive["geometry"]["planes_per_die"] == 4
    assert drive["nand"]["planes_per_command"] == 2
    text = Path(files[1]).read_text()
    tag = "IO_Flow_Parameter_Set_Trace_Based"
    begin, end = text.index(f"<{tag}>"), text.index(f"</{tag}>") + len(f"</{tag}>")
    Path(files[1]).write_text(text[:begin] + text[end:])
    drive = outcome(files, as_mqsim=True)[0][0]
    # Two dies are one here, over which the order still goes die by die.
    allocation = {"policy": "static", "order": "CWDP", "planes_as_die": 2}
    assert (drive["nand"]["planes_per_command"], drive["ftl"]["page_allocation"]) == (2, allocation)
    assert (drive["nand"]["any_page"], drive["scheduler"]["merge_window"]) == (True, 65535)
    assert drive["scheduler"]["merge_by"] == "touch"
    prepared = changed(tmp_path / "prepared", {"Enabled_Preconditioning": "true"})
    assert outcome(prepared, as_mqsim=True)[0][0]["scheduler"]["merge_by"] == "write"


@pytest.mark.parametrize(("pages", "first"), [("192", [0, 0, 0, 0, 0, 0, 1, 1]), ("4", [0, 0, 0, 0])])
def test_as_mqsim_pages_of_three_bits_come_in_the_order_of_a_planar_part(tmp_path, pages, first):
    files = alone(changed(tmp_path / "files", {**TLC, "Page_No_Per_Block": pages}), f"{FLOW}_Synthetic")
    drive = outcome(files, as_mqsim=True)[0][0]
    assert drive["nand"]["page_types"] == {"first": first, "then": [0, 0, 1, 1, 2, 2]}
    assert "page_types" not in outcome(files, as_mqsim=False)[0][0]["nand"]


@pytest.mark.parametrize(
    ("sectors", "unit", "page", "mean"),
    [
        (8, 8, 16, 8.0),  # within one page
        (16, 16, 16, 16.0),
        (16, 8, 16, 16 / 1.5),  # one page or two
        (24, 8, 16, 24 / 2.0),  # 16 and 8, or 8 and 16
        (2, 1, 16, 2 / (17 / 16)),  # of 16 beginnings one is the last sector
        (128, 128, 16, 16.0),
    ],
)
def test_how_much_of_a_page_a_write_has(sectors, unit, page, mean):
    from ninescope.mqsim.pieces import of_sizes

    assert of_sizes({sectors: 1.0}, unit, page) == pytest.approx(mean)


def test_sizes_of_a_normal_law_are_rounded_up():
    from ninescope.mqsim.pieces import of_sizes, sizes

    shares = sizes(16, 2)
    assert sum(shares.values()) == pytest.approx(1)
    # Of the law's values half are above 16, and 68.3 % within a deviation.
    assert sum(shares[size] for size in shares if size > 16) == pytest.approx(0.5)
    assert sum(shares[size] for size in (15, 16, 17, 18)) == pytest.approx(0.6827, abs=1e-4)
    assert sum(size * share for size, share in shares.items()) == pytest.approx(16.5, abs=0.01)
    # Half of them have a page and a piece of the next one.
    mean = sum(size * share for size, share in shares.items())
    assert of_sizes(shares, 16, 16) == pytest.approx(mean / 1.5)


def test_the_bound_of_writes_counts_what_a_trace_writes(cli, tmp_path):
    """128 planes of 16 sectors; the writes of the trace have 32 sectors on 4 pages: 8 of each."""
    config, workload = changed(tmp_path / "files", {"Device_Level_Data_Caching_Mode": "WRITE_CACHE"})
    text = Path(workload).read_text()
    flow = text[
        text.index("\t\t<IO_Flow_Parameter_Set_Synthetic>") : text.index("\t\t<IO_Flow_Parameter_Set_T")
    ]
    Path(workload).write_text(text.replace(flow, ""))
    rows = "0 0 8 16 0\n10 0 40 16 0\n20 0 0 64 1\n"
    (tmp_path / "files/traces").mkdir()
    (tmp_path / "elsewhere.trace").write_text(rows)

    def pages(*options: object) -> tuple[int, str]:
        code, text, err = cli(
            *("import", "mqsim", config, workload, "--out", tmp_path / "out", "--as", "mqsim"), *options
        )
        assert code == 0, err
        drive = (tmp_path / "out/drive.toml").read_text()
        return int(re.findall(r"\nshared_buffered_pages = (\d+)", drive)[0]), text

    assert pages()[0] == 128, "as if all pages were whole"
    count, text = pages("--trace", tmp_path / "elsewhere.trace")
    assert count == 128 * 16 // 8
    assert f"ninescope run {tmp_path / 'elsewhere.trace'} --drive" in text
    (tmp_path / "files/traces/tpcc-small.trace").write_text(rows)
    assert pages()[0] == 256, "beside the workload"
    text = Path(workload).read_text()
    Path(workload).write_text(re.sub(r"(<Percentage_To_Be_Executed>)100<", r"\g<1>67<", text))
    assert re.search(r"--addresses wrap --requests 2$", pages()[1], re.MULTILINE), "of three requests"
    files = changed(tmp_path / "files", {})
    code, _, err = cli("import", "mqsim", *files, "--out", tmp_path / "no", "--trace", tmp_path / "none")
    assert (code, "none" in err) == (2, True)


def test_several_synthetic_flows_are_jobs_of_one_run(cli, tmp_path):
    """Each has addresses of its own, its depth and its bound in the drive; the seed is that of the first."""
    config, workload = changed(tmp_path / "files", {"Read_Percentage": "50"})
    text = Path(workload).read_text()
    begin, end = text.index("\t\t<IO_Flow_Parameter_Set_S"), text.index("\t\t<IO_Flow_Parameter_Set_T")
    flow = text[begin:end]
    second = (
        flow.replace(">798<", ">9<")
        .replace("Queue>16<", "Queue>2<")
        .replace("Set_Percentage>50", "Set_Percentage>100")
    )
    Path(workload).write_text(text[:begin] + flow + second + text[text.index("\t</IO_Scenario>") :])
    code, out, err = cli("import", "mqsim", config, workload, "--out", tmp_path / "out", "--json")
    assert code == 0, err
    report = json.loads(out)
    assert report["files"] == ["drive.toml", "job.toml"]
    [command] = report["commands"]
    assert command.endswith("--seed 798 --prefill full")
    assert ("Seed", "9") in [(item["tag"], item["value"]) for item in report["not_carried"]]
    jobs = tomllib.loads((tmp_path / "out/job.toml").read_text())["jobs"]
    assert [(job["name"], job["iodepth"]) for job in jobs] == [("flow-1", 16), ("flow-2", 2)]
    assert [job.get("offset_percent", 0) for job in jobs] == [0, 50]
    assert [job["size_percent"] for job in jobs] == [25, 50]
    drive = tomllib.loads((tmp_path / "out/drive.toml").read_text())
    assert drive["controller"]["queue_depth"] == 2 * 512
    code, out, err = cli(*command.split()[1:], "--requests", "400", "--json")
    assert code == 0, err
    assert [job["name"] for job in json.loads(out)["by_job"]] == ["flow-1", "flow-2"]


def flows_on(tmp_path: Path, *planes: dict[str, str]) -> tuple[str, str]:
    """Return the files with flows that keep to these planes."""
    config, workload = changed(tmp_path / "files", {})
    text = Path(workload).read_text()
    begin = text.index("\t\t<IO_Flow_Parameter_Set_S")
    flow = text[begin : text.index("\t\t<IO_Flow_Parameter_Set_T")]
    told = ""
    for values in planes:
        one = flow
        for tag, numbers in values.items():
            one = re.sub(rf"<{tag}>[^<]*<", f"<{tag}>{numbers}<", one)
        told += one
    Path(workload).write_text(text[:begin] + told + text[text.index("\t</IO_Scenario>") :])
    return config, workload


def test_flows_that_keep_to_planes_have_them_for_themselves(cli, tmp_path):
    """8 channels of 4 chips of 2 dies of 2 planes: a flow has as much of the addresses as of the planes."""
    files = flows_on(
        tmp_path,
        {"Channel_IDs": "0, 3"},
        {"Channel_IDs": "1", "Chip_IDs": "0,2"},
        {"Channel_IDs": "2", "Chip_IDs": "1", "Die_IDs": "1", "Plane_IDs": "0"},
        {"Channel_IDs": "4,5,6,7"},
        {"Channel_IDs": "4,5,6,7"},
    )
    code, out, err = cli("import", "mqsim", *files, "--out", tmp_path / "out", "--json")
    assert code == 0, err
    report = json.loads(out)
    assert not {"Channel_IDs", "Plane_IDs"} & {item["tag"] for item in report["not_carried"]}
    jobs = tomllib.loads((tmp_path / "out/job.toml").read_text())["jobs"]
    assert [job.get("channels") for job in jobs] == [[0, 3], None, None, [4, 5, 6, 7], [4, 5, 6, 7]]
    # Chips of two dies, four to a channel: chips 0 and 2 of channel 1 are dies 8, 9, 12 and 13.
    assert [job.get("dies") for job in jobs] == [None, [8, 9, 12, 13], [2 * 8 + 2 + 1], None, None]
    assert [job.get("planes") for job in jobs] == [None, None, [0], None, None]
    shares = [2 / 8, 1 / 16, 1 / 128, 1 / 4, 1 / 4]
    begins = [job.get("offset_percent", 0) / 100 for job in jobs]
    assert begins == pytest.approx([sum(shares[:index]) for index in range(5)])
    half = [share / 2 for share in shares]  # of the working set
    assert [job["size_percent"] / 100 for job in jobs] == pytest.approx(half, rel=1e-3)
    command = report["commands"][0].split()[1:]
    code, out, err = cli(*command, "--prefill", "none", "--requests", "50", "--json")
    assert code == 0, err
    document = json.loads(out)
    assert [part["jobs"] for part in document["partitions"]] == [
        ["flow-1"],
        ["flow-2"],
        ["flow-3"],
        ["flow-4", "flow-5"],
        [],
    ]


def test_flows_that_keep_to_planes_have_map_and_cache_of_mqsim_too(cli, tmp_path):
    files = flows_on(tmp_path, {"Channel_IDs": "0,1,2,3"}, {"Channel_IDs": "4,5,6,7"})
    code, out, err = cli("import", "mqsim", *files, "--as", "mqsim", "--out", tmp_path / "out", "--json")
    assert code == 0, err
    report = json.loads(out)
    left = {item["tag"]: item["why"] for item in report["not_carried"]}
    assert not {"Data_Cache_Capacity", "Ideal_Mapping_Table", "Channel_IDs"} & left.keys()
    command = report["commands"][0].split()[1:]
    code, out, err = cli(*command, "--prefill", "none", "--requests", "50", "--json")
    assert code == 0, err
    document = json.loads(out)
    assert [part["jobs"] for part in document["partitions"]] == [["flow-1"], ["flow-2"]]
    assert {"map", "tier"} <= document.keys()


def test_the_dies_of_a_chip_are_one_as_in_mqsim(tmp_path):
    from ninescope import mqsim

    files = flows_on(tmp_path, {"Die_IDs": "1", "Plane_IDs": "0"}, {"Die_IDs": "0"})
    first, second = mqsim.convert(*files, as_mqsim=True).flows
    assert (first.table["planes"], second.table["planes"]) == ([2], [0, 1])
    assert "dies" not in first.table
    first, second = mqsim.convert(*files).flows
    assert first.table["dies"] == [2 * chip + 1 for chip in range(32)]
    assert (first.table["planes"], second.table["dies"]) == ([0], [2 * chip for chip in range(32)])


def test_commands_that_are_not_fetched_wait_in_the_queue_of_the_host(cli, tmp_path):
    """Of 64 at a time 16 are let in: the others wait in the queue, and their latencies begin there."""
    values = {"Average_No_of_Reqs_in_Queue": "64", "Queue_Fetch_Size": "16", "Ideal_Mapping_Table": "true"}
    files = alone(changed(tmp_path / "files", values), f"{FLOW}_Synthetic")
    (drive, job, _), _ = outcome(files, as_mqsim=True)
    assert (drive["controller"]["queue_depth"], job[0]["iodepth"]) == (16, 64)
    assert drive["controller"]["commands_per_queue"] == 16
    shallow = alone(
        changed(tmp_path / "shallow", {**values, "Average_No_of_Reqs_in_Queue": "16"}), f"{FLOW}_Synthetic"
    )
    (drive, _, _), _ = outcome(shallow, as_mqsim=True)
    assert "commands_per_queue" not in drive["controller"]


@pytest.mark.parametrize(
    ("planes", "why"),
    [
        (({"Channel_IDs": "0,1"}, {"Channel_IDs": "1,2"}), "share some of their planes"),
        (({"Channel_IDs": "0,1"}, {}), "share some of their planes"),
    ],
)
def test_flows_that_share_some_planes_share_the_drive(cli, tmp_path, planes, why):
    from ninescope import mqsim

    files = flows_on(tmp_path, *planes)
    code, out, err = cli("import", "mqsim", *files, "--out", tmp_path / "out")
    assert code == 0, err
    names = ", ".join(f"flow-{index + 1}" for index, values in enumerate(planes) if values)
    assert f"note: {names}: Channel_IDs not kept to: flows that share some of their planes" in out

    imported = mqsim.convert(*files)
    assert not any({"channels", "dies", "planes"} & flow.table.keys() for flow in imported.flows)
    left = [left for _, left in imported.not_carried() if left.tag == "Channel_IDs"]
    assert left
    assert all(why in each.why for each in left)
    assert [flow.table["size_percent"] for flow in imported.flows] == [25, 25]


@pytest.mark.parametrize("tag", ["Channel_IDs", "Chip_IDs", "Die_IDs", "Plane_IDs"])
def test_a_flow_on_what_the_drive_has_not_is_refused(tmp_path, tag):
    from ninescope import mqsim

    for numbers, words in (
        ("9", "names 9, which the drive has not"),
        ("0,99", "names 99, which the drive has not: its numbers are 0 to"),
        ("0;1", "is no list of numbers"),
    ):
        with pytest.raises(ninescope.ConfigError, match=rf"xml: line \d+: <{tag}> {numbers}.*{words}"):
            mqsim.convert(*flows_on(tmp_path, {tag: numbers}))


def test_flows_of_differing_classes_have_them(cli, tmp_path):
    from ninescope import mqsim

    classes = ("URGENT", "LOW", "high", "MEDIUM")
    files = flows_on(tmp_path, *({"Priority_Class": word, "Read_Percentage": "100"} for word in classes))
    code, out, err = cli("import", "mqsim", *files, "--out", tmp_path / "out", "--json")
    assert code == 0, err
    report = json.loads(out)
    assert "Priority_Class" not in {item["tag"] for item in report["not_carried"]}
    jobs = tomllib.loads((tmp_path / "out/job.toml").read_text())["jobs"]
    assert [job["priority"] for job in jobs] == ["urgent", "low", "high", "medium"]
    assert "Transaction_Scheduling_Policy" not in {item["tag"] for item in report["not_carried"]}
    command = [*report["commands"][0].split()[1:], "--set", "controller.queue_depth=8"]
    code, out, err = cli(*command, "--prefill", "none", "--requests", "400", "--json")
    assert code == 0, err
    assert json.loads(out)["by_job"][0]["arbitration"]["out_of_turn"] > 0
    peer = mqsim.convert(*files, as_mqsim=True)
    assert peer.drive.table["scheduler"]["transactions"] == "by-class"
    assert [flow.table["priority"] for flow in peer.flows] == ["urgent", "low", "high", "medium"]
    assert "arbitration" not in peer.drive.table["scheduler"], "what is taken in goes by turns there"
    for values, as_mqsim, group, why in (
        ({"Transaction_Scheduling_Policy": "OUT_OF_ORDER"}, True, "idle", "OUT_OF_ORDER has no classes"),
        ({"Transaction_Scheduling_Policy": "OUT_OF_ORDER"}, False, "idle", "OUT_OF_ORDER has no classes"),
        ({"HostInterface_Type": "SATA"}, False, "idle", "SATA has one queue"),
    ):
        text = (tmp_path / "files/ssdconfig.xml").read_text()
        for tag, word in values.items():
            text = re.sub(rf"<{tag}>[^<]*<", f"<{tag}>{word}<", text)
        (tmp_path / "other.xml").write_text(text)
        imported = mqsim.convert(str(tmp_path / "other.xml"), files[1], as_mqsim=as_mqsim)
        said = [left for _, left in imported.not_carried() if left.tag == "Priority_Class"]
        assert [(left.group, why in left.why) for left in said] == [(group, True)] * 4
        assert "arbitration" not in imported.drive.table["scheduler"]
        assert imported.drive.table["scheduler"]["transactions"] == "reads-first"


def test_flows_of_one_class_are_alike_and_other_words_are_refused(tmp_path):
    from ninescope import mqsim

    imported = mqsim.convert(*flows_on(tmp_path, {"Priority_Class": "LOW"}, {"Priority_Class": "LOW"}))
    assert "arbitration" not in imported.drive.table["scheduler"]
    assert [left.group for _, left in imported.not_carried() if left.tag == "Priority_Class"] == ["idle"]
    with pytest.raises(ninescope.ConfigError, match=r"xml: line 6: <Priority_Class> SILLY: is not known"):
        mqsim.convert(*flows_on(tmp_path, {"Priority_Class": "SILLY"}))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            {"Page_Capacity": "1000"},
            r"line \d+: <Page_Capacity> 1000 becomes geometry.page_size: .*512 B x 2\^n",
        ),
        (
            {"Block_No_Per_Plane": "2"},
            r"<Overprovisioning_Ratio> 0.07 becomes ftl.over_provisioning, "
            r"line \d+: <Block_No_Per_Plane> 2 becomes geometry.blocks_per_plane: ",
        ),
        (
            {"Block_Erase_Latency": "1"},
            r"<Suspend_Erase_Time> 700000 becomes .*<Block_Erase_Latency> 1 becomes nand",
        ),
    ],
)
def test_what_the_engine_refuses_is_told_in_terms_of_the_file(cli, tmp_path, values, words):
    config, workload = changed(tmp_path / "files", values)
    code, out, err = cli("import", "mqsim", config, workload, "--out", tmp_path / "no")
    assert (code, out) == (2, "")
    assert re.search(rf"{config}: .*{words}", err), err
    tag, value = next(iter(values.items()))
    lines = Path(config).read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if f"<{tag}>{value}<" in text)
    assert f"line {line}: <{tag}>" in err
    assert "column" not in err
    assert not (tmp_path / "no").exists()


def test_a_trace_beside_a_job_is_in_its_file(cli, tmp_path):
    """As much of it as is to be executed, in its half of the drive, behind the job whatever the order."""
    config, workload = changed(
        tmp_path / "files", {"Percentage_To_Be_Executed": "50", "Read_Percentage": "50"}
    )
    text = Path(workload).read_text()
    begin, middle = text.index("\t\t<IO_Flow_Parameter_Set_S"), text.index("\t\t<IO_Flow_Parameter_Set_T")
    end = text.index("\t</IO_Scenario>")
    turned = text[:begin] + text[middle:end] + text[begin:middle] + text[end:]
    turned = turned.replace("<Priority_Class>HIGH", "<Priority_Class>LOW", 1)
    Path(workload).write_text(turned)
    trace = tmp_path / "files/traces/tpcc-small.trace"
    trace.parent.mkdir()
    trace.write_text("".join(f"{1000 * index} 0 {16 * index} 16 {index % 2}\n" for index in range(40)))
    code, out, err = cli("import", "mqsim", config, workload, "--out", tmp_path / "out", "--json")
    assert code == 0, err
    [command] = json.loads(out)["commands"]
    assert command.endswith("--seed 798 --prefill full")
    flows = tomllib.loads((tmp_path / "out/job.toml").read_text())
    [job], [replayed] = flows["jobs"], flows["traces"]
    assert (job["name"], job["size_percent"], job["priority"]) == ("flow-2", 25, "high")
    assert "offset_percent" not in job
    assert (replayed["name"], replayed["requests"], replayed["priority"]) == ("flow-1", 20, "low")
    assert replayed["trace"] == str(trace)
    code, out, err = cli(*command.split()[1:], "--prefill", "none", "--requests", "200", "--json")
    assert code == 0, err
    document = json.loads(out)
    assert [one["name"] for one in document["by_job"]] == ["flow-2", "flow-1"]
    offset = int(replayed["offset"].removesuffix("B"))
    assert offset == pytest.approx(document["config"]["logical_bytes"] / 2, rel=1e-3)


@pytest.mark.parametrize("order", ["CWDP", "PDWC", "WDPC"])
def test_the_order_of_planes_is_that_of_the_file(tmp_path, order):
    files = changed(tmp_path / "files", {"Plane_Allocation_Scheme": order})
    (drive, _, _), _ = outcome(files, as_mqsim=False)
    assert drive["ftl"]["page_allocation"] == {"policy": "static", "order": order}
    with pytest.raises(ninescope.ConfigError, match="<Plane_Allocation_Scheme> CWDD"):
        outcome(changed(tmp_path / "files", {"Plane_Allocation_Scheme": "CWDD"}), as_mqsim=False)


def test_a_trace_is_for_one_flow(cli, tmp_path):
    config, workload = changed(tmp_path / "files", {})
    text = Path(workload).read_text()
    flow = text[text.index("\t\t<IO_Flow_Parameter_Set_T") : text.index("\t</IO_Scenario>")]
    Path(workload).write_text(text.replace(flow, flow * 2))
    code, _, err = cli("import", "mqsim", config, workload, "--out", tmp_path / "no", "--trace", workload)
    assert code == 2
    assert "--trace" in err
    assert "2 flows replay a trace" in err
    code, out, err = cli("import", "mqsim", config, workload, "--out", tmp_path / "out")
    assert code == 0, err
    assert "note: flow-2, flow-3: a trace wraps at the drive's end" in out
    traces = tomllib.loads((tmp_path / "out/job.toml").read_text())["traces"]
    begins = [int(trace["offset"].removesuffix("B")) for trace in traces]
    # Of three parts the second and the third, each from a page on.
    assert begins[1] == pytest.approx(2 * begins[0], abs=8192)


def test_an_unknown_setting_is_named_as_unknown_with_what_it_may_have_been(cli, tmp_path):
    config, workload = changed(tmp_path / "files", {})
    for path, old, new in (
        (config, "<PCIe_Lane_Count>", "<PCIe_Lane_Cuont>7</PCIe_Lane_Cuont><PCIe_Lane_Count>"),
        (workload, "<File_Path>", "<Wings>2</Wings><File_Path>"),
    ):
        Path(path).write_text(Path(path).read_text().replace(old, new))
    code, out, err = cli("import", "mqsim", config, workload, "--out", tmp_path / "out")
    assert code == 0, err
    assert "   2 unknown: no setting of MQSim" in out
    assert re.search(r"PCIe_Lane_Cuont 7 +not known to this importer; did you mean PCIe_Lane_Count\?", out)
    assert re.search(r"Wings 2 +not known to this importer$", out, re.MULTILINE)
    assert "# unknown:\n#   PCIe_Lane_Cuont = 7: not known" in (tmp_path / "out/drive.toml").read_text()


def test_the_account_is_a_count_for_each_group_and_whole_with_verbose(cli, tmp_path):
    files = [DEFAULTS / file for file in FILES]
    code, out, err = cli("import", "mqsim", *files, "--out", tmp_path / "out")
    assert code == 0, err
    for group in ("carried over", "wrong there", "without effect there", "modelled otherwise"):
        assert re.search(rf"^ *\d+ {group}: ", out, re.MULTILINE)
    assert "unknown" not in out
    assert "Caching_Mechanism" not in out
    assert "Caching_Mechanism = ADVANCED: a buffer" in (tmp_path / "out/drive.toml").read_text()
    code, out, _ = cli("import", "mqsim", *files, "--out", tmp_path / "out", "--verbose", "--as", "mqsim")
    assert re.search(r"Caching_Mechanism ADVANCED +what is done is that of", out)
    assert re.search(
        r"done as MQSim does it, where hardware does not\n(.*\n)*  scheduler.channel +a channel", out
    )


def test_the_table_in_the_docs_is_this_one():
    spec = importlib.util.spec_from_file_location("renew", ROOT / "tools/renew_mqsim_settings.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    text = (ROOT / "docs/importing.md").read_text()
    assert tool.renewed(text) == text, "`make mqsim-docs` renews it"
