"""The flows of a workload.xml of MQSim: synthetic ones as jobs, traces as options of `ninescope run`."""

from __future__ import annotations

import dataclasses

from ninescope._native import ConfigError
from ninescope.mqsim.document import Element, Sheet, read
from ninescope.mqsim.report import Left, Part

_SECTOR = 512
_SYNTHETIC, _TRACE = "IO_Flow_Parameter_Set_Synthetic", "IO_Flow_Parameter_Set_Trace_Based"
_RESOURCES = ("Channel_IDs", "Chip_IDs", "Die_IDs", "Plane_IDs")
"""In the order in which `resources` of a drive counts them."""
_CACHING = ("TURNED_OFF", "WRITE_CACHE", "READ_CACHE", "WRITE_READ_CACHE")
# One unit of a trace's clock in ns, which is how the reader takes its time stamps.
_TIME_UNITS = {"PICOSECOND": 0.001, "NANOSECOND": 1.0, "MICROSECOND": 1000.0}


@dataclasses.dataclass
class Flow(Part):
    """One flow: a job, or a trace with the options that replay it."""

    name: str = ""
    trace: str | None = None
    options: list[str] = dataclasses.field(default_factory=list)
    reads: bool = True
    write_cached: bool = True
    request_bytes: int | None = None
    """The size of all requests, where there is one."""
    resources: dict[str, str] = dataclasses.field(default_factory=dict)
    """The channels, chips, dies and planes it may use."""
    working_set: float = 1.0
    """Its share of the drive's capacity."""


def read_flows(path: str, scenario: int) -> tuple[list[Flow], list[Left]]:
    """Convert the flows of the scenario of that number (from 1), and list what is left of the file."""
    root = read(path, "MQSim_IO_Scenarios")
    scenarios = [child for child in root.children if child.tag == "IO_Scenario"]
    if not 1 <= scenario <= len(scenarios):
        raise ConfigError(
            f"{path}: line {root.line}: no <IO_Scenario> has number {scenario}; there is {len(scenarios)}"
        )
    left = [
        Left(child.tag, "", "not known to this importer")
        for child in root.children
        if child.tag != "IO_Scenario"
    ]
    if len(scenarios) > 1:
        others = ", ".join(str(number) for number in range(1, len(scenarios) + 1) if number != scenario)
        left.append(
            Left("IO_Scenario", others, f"only number {scenario} was asked for; --scenario chooses another")
        )
    flows: list[Flow] = []
    for element in scenarios[scenario - 1].children:
        if element.tag not in (_SYNTHETIC, _TRACE):
            left.append(Left(element.tag, "", "not known to this importer"))
            continue
        flows.append(_flow(path, element, len(flows) + 1))
    if not flows:
        raise ConfigError(f"{path}: line {scenarios[scenario - 1].line}: <IO_Scenario> has no flow")
    return flows, left


def _flow(path: str, element: Element, number: int) -> Flow:
    sheet = Sheet(path, element)
    flow = Flow(name=f"flow-{number}")
    mode = sheet.one_of("Device_Level_Data_Caching_Mode", _CACHING)
    flow.write_cached = mode in ("WRITE_CACHE", "WRITE_READ_CACHE")
    if "READ" in mode:
        flow.left.append(Left("Device_Level_Data_Caching_Mode", mode, "no cache for reads"))
    flow.leave(
        sheet,
        {
            "Priority_Class": "one queue, all requests alike",
            "Initial_Occupancy_Percentage": "--prefill says what the drive holds",
        },
    )
    flow.resources = {tag: sheet.text(tag) for tag in _RESOURCES}
    (_synthetic if element.tag == _SYNTHETIC else _replayed)(flow, sheet)
    flow.leave_unknown(sheet)
    return flow


def _synthetic(flow: Flow, sheet: Sheet) -> None:
    flow.put("name", flow.name, _element_name(sheet))
    sectors = sheet.count("Average_Request_Size", 1, 1 << 21)
    flow.put("bs", f"{sectors * _SECTOR}B", "Average_Request_Size")
    if sheet.one_of("Request_Size_Distribution", ("FIXED", "NORMAL")) == "FIXED":
        flow.request_bytes = sectors * _SECTOR
        flow.leave(sheet, {"Variance_Request_Size": "of normally distributed sizes, and these are fixed"})
    else:
        why = "all requests have the average size"
        flow.leave(sheet, {"Request_Size_Distribution": why, "Variance_Request_Size": why})
    _operations(flow, sheet)
    _addresses(flow, sheet, sectors)
    _arrivals(flow, sheet, sectors)
    stop, requests = sheet.count("Stop_Time"), sheet.count("Total_Requests_To_Generate")
    if stop:
        flow.put("duration", f"{stop}ns", "Stop_Time")
        flow.leave(sheet, {"Total_Requests_To_Generate": "MQSim stops by Stop_Time where there is one"})
    elif requests:
        flow.put("requests", requests, "Total_Requests_To_Generate")
    else:
        sheet.wrong("Stop_Time", "neither it nor <Total_Requests_To_Generate> says where the flow ends")
    flow.leave(sheet, {"Seed": "another random sequence; --seed chooses one"})


def whole_drive(flow: Flow, counts: tuple[int, int, int, int]) -> None:
    """List the resources that a flow keeps to, where they are not all there are."""
    for (tag, text), count in zip(flow.resources.items(), counts, strict=True):
        if {word.strip() for word in text.split(",")} != {str(number) for number in range(count)}:
            flow.left.append(Left(tag, text, "every flow reaches the whole drive"))


def _element_name(sheet: Sheet) -> str:
    """Name a flow's tag with its line."""
    return f"{sheet.element.tag}, line {sheet.element.line}"


def _operations(flow: Flow, sheet: Sheet) -> None:
    reads = sheet.count("Read_Percentage", 0, 100)
    flow.reads = reads > 0
    kind = sheet.one_of(
        "Address_Distribution", ("STREAMING", "RANDOM_UNIFORM", "RANDOM_HOTCOLD", "MIXED_STREAMING_RANDOM")
    )
    if kind == "MIXED_STREAMING_RANDOM":
        sheet.wrong("Address_Distribution", "has no counterpart")
    words = ("read", "write", "rw") if kind == "STREAMING" else ("randread", "randwrite", "randrw")
    flow.put(
        "rw", words[0 if reads == 100 else 1 if reads == 0 else 2], "Read_Percentage, Address_Distribution"
    )
    if 0 < reads < 100:
        flow.put("rwmixread", reads, "Read_Percentage")
    if kind == "RANDOM_HOTCOLD":
        hot = sheet.count("Percentage_of_Hot_Region", 1, 99)
        zones = f"zoned:{100 - hot}/{hot}:{hot}/{100 - hot}"
        flow.put("random_distribution", zones, "Address_Distribution, Percentage_of_Hot_Region")
    else:
        flow.leave(sheet, {"Percentage_of_Hot_Region": "of hot and cold addresses, and these are not"})


def _addresses(flow: Flow, sheet: Sheet, sectors: int) -> None:
    flow.working_set = sheet.number("Working_Set_Percentage", 1, 100) / 100
    unit = sheet.count("Address_Alignment_Unit", 1, 1 << 21)
    aligned = sheet.flag("Generated_Aligned_Addresses")
    if not aligned:
        flow.leave(sheet, {"Address_Alignment_Unit": "of aligned addresses, and these are not"})
        flow.put("blockalign", f"{_SECTOR}B", "Generated_Aligned_Addresses = false: any sector")
        flow.request_bytes = None
    elif unit != sectors:
        flow.put("blockalign", f"{unit * _SECTOR}B", "Address_Alignment_Unit")
        if unit % sectors:
            flow.request_bytes = None


def _arrivals(flow: Flow, sheet: Sheet, sectors: int) -> None:
    by_depth = sheet.one_of("Synthetic_Generator_Type", ("QUEUE_DEPTH", "BANDWIDTH")) == "QUEUE_DEPTH"
    if by_depth:
        flow.put(
            "iodepth",
            sheet.count("Average_No_of_Reqs_in_Queue", 1, 65535),
            "Synthetic_Generator_Type = QUEUE_DEPTH, Average_No_of_Reqs_in_Queue",
        )
        why = "of flows that arrive by bandwidth, and this one keeps a queue depth"
        flow.leave(sheet, {"Bandwidth": why, "Intensity": why})
        return
    rate = sheet.number("Bandwidth", 1) / (sectors * _SECTOR)
    flow.put("rate_iops", round(rate, 6), "Bandwidth / Average_Request_Size")
    flow.put("rate_process", "poisson", "Synthetic_Generator_Type = BANDWIDTH")
    flow.leave(
        sheet, {"Average_No_of_Reqs_in_Queue": "of flows that keep a queue depth, and this one does not"}
    )


def _replayed(flow: Flow, sheet: Sheet) -> None:
    flow.trace = sheet.text("File_Path")
    flow.options += ["--format", "mqsim"]
    unit = sheet.one_of("Time_Unit", tuple(_TIME_UNITS))
    if unit != "NANOSECOND":
        flow.options += ["--time-scale", f"{_TIME_UNITS[unit]:g}"]
    replays = sheet.count("Relay_Count", 1, 1 << 20)
    if replays > 1:
        flow.options += ["--loop", str(replays)]
    share = sheet.number("Percentage_To_Be_Executed", 0, 100)
    if share < 100:
        flow.left.append(
            Left(
                "Percentage_To_Be_Executed", f"{share:g}", "the whole trace runs; --requests N stops earlier"
            )
        )
