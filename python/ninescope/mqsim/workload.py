"""The flows of a workload.xml of MQSim: synthetic ones as jobs, traces beside them or by themselves."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

from ninescope._native import ConfigError
from ninescope.mqsim import pieces, resources
from ninescope.mqsim.document import Element, Sheet, read
from ninescope.mqsim.preparation import Touched, used_at_start
from ninescope.mqsim.report import Drive, Left, Part
from ninescope.mqsim.settings import CARRIED, OTHERWISE, UNKNOWN, WRONG, unknown

_SECTOR = 512
_TRACE_GRAIN = 4096
"""A trace beside others begins at a multiple of this [B]."""
_SYNTHETIC, _TRACE = "IO_Flow_Parameter_Set_Synthetic", "IO_Flow_Parameter_Set_Trace_Based"
_CLASSES = ("URGENT", "HIGH", "MEDIUM", "LOW")
# What arrives by a rate or by its times has so many pages under way, which is as good as no bound.
_PAGES_UNDER_WAY = 8192
_REPLAY = ("format", "volumes", "addresses", "time_scale", "loop", "requests")
_CACHING = ("TURNED_OFF", "WRITE_CACHE", "READ_CACHE", "WRITE_READ_CACHE")
# One unit of a trace's clock in ns, which is how the reader takes its time stamps.
_TIME_UNITS = {"PICOSECOND": 0.001, "NANOSECOND": 1, "MICROSECOND": 1000}


@dataclasses.dataclass
class Flow(Part):
    """One flow: a job, or a trace with the keys that replay it, as options where it runs by itself."""

    name: str = ""
    trace: str | None = None
    options: list[str] = dataclasses.field(default_factory=list)
    reads: bool = True
    write_cached: bool = True
    reads_cached: bool = False
    request_bytes: int | None = None
    """The size of the pages that all requests want, where they want one [B]."""
    request_size: int = 0
    """The size of all requests, or their mean [B]."""
    share: float = 1.0
    """The share of the drive that its addresses have."""
    working_set: float = 1.0
    """Its share of the drive's capacity."""
    written: tuple[dict[int, float], int] | None = None
    """The share of requests of so many sectors, and at multiples of how many all begin; none of a trace."""
    executed: float = 1.0
    """The share of a trace's requests that it makes."""
    sheet: Sheet | None = None

    def is_touched_in_parts(self) -> bool:
        """Say whether pages that lie side by side may be read first by different requests, in any order.

        Requests at multiples of their size have their pages together, and those of a stream in order.
        """
        aligned, size = (str(self.table.get(key, "")).removesuffix("B") for key in ("blockalign", "bs"))
        if not self.reads or "rand" not in str(self.table.get("rw", "")):
            return False
        return not size or bool(aligned and int(aligned) % int(size))

    def touched(self) -> Touched | None:
        """Say how requests as its own touch the drive before the run; None of a trace."""
        if self.sheet is None or self.written is None:
            return None
        kind, filled = self.sheet.text("Address_Distribution"), "Initial_Occupancy_Percentage"
        hot = self.sheet.number("Percentage_of_Hot_Region", 0, 100) if kind == "RANDOM_HOTCOLD" else 0.0
        return Touched(
            sectors=self.request_size // _SECTOR,
            unit=self.written[1],
            occupancy=self.sheet.number(filled, 0, 100) / 100 if self.sheet.has(filled) else 0.0,
            working_set=self.working_set,
            streams=kind == "STREAMING",
            hot=hot / 100,
        )

    def replay_options(self) -> list[str]:
        """Return how `ninescope run` replays a trace by itself."""
        keys = [key for key in self.table if key in _REPLAY]
        return [word for key in keys for word in (f"--{key.replace('_', '-')}", str(self.table[key]))]

    def sectors_of_writes(self, page: int) -> float:
        """Return how many sectors of a page of so many a write has in the mean; all where it is not known."""
        if self.written:
            return pieces.of_sizes(*self.written, page)
        if self.trace and Path(self.trace).is_file():
            return pieces.of_trace(self.trace, page) or page
        return page

    def writes(self) -> float | None:
        """Return how many writes it makes; None where that is not known."""
        if self.trace is not None:
            return pieces.writes_of(self.trace) if Path(self.trace).is_file() else None
        reads = self.table.get("rwmixread", 0 if "write" in self.table["rw"] else 100)
        requests = self.table.get("requests")
        return requests * (1 - reads / 100) if requests is not None else None if reads < 100 else 0.0

    def pages_under_way(self, page: int) -> int:
        """Return how many pages of so many sectors its writes have under way at a time at most."""
        if "iodepth" not in self.table:
            return _PAGES_UNDER_WAY
        return int(self.table["iodepth"]) * (max(self.sizes_written(), default=page) // page + 2)

    def mean_written(self, page: int) -> float:
        """Return how many sectors a write has in the mean, or a page where that is not known."""
        sizes = self.sizes_written()
        moved = sum(sectors * share for sectors, share in sizes.items())
        return moved / sum(sizes.values()) if sizes else page

    def sizes_written(self) -> dict[int, float]:
        """Return the shares of writes of so many sectors; none where they are not known."""
        if self.written:
            return self.written[0]
        if self.trace and Path(self.trace).is_file():
            return pieces.sizes_of_trace(self.trace)
        return {}


def read_flows(
    path: str, scenario: int, *, as_mqsim: bool = False, trace: str | None = None
) -> tuple[list[Flow], list[Left]]:
    """Convert the flows of the scenario of that number (from 1), and list what is left of the file.

    `trace` is the one that a flow replays, where it does not lie where the file says.
    """
    root = read(path, "MQSim_IO_Scenarios")
    scenarios = [child for child in root.children if child.tag == "IO_Scenario"]
    if not 1 <= scenario <= len(scenarios):
        raise ConfigError(
            f"{path}: line {root.line}: no <IO_Scenario> has number {scenario}; there is {len(scenarios)}"
        )
    left = [
        Left(child.tag, "", unknown("MQSim_IO_Scenarios", child.tag).why, UNKNOWN)
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
            left.append(Left(element.tag, "", unknown("IO_Scenario", element.tag).why, UNKNOWN))
            continue
        flows.append(_flow(path, element, len(flows) + 1, as_mqsim))
    if not flows:
        raise ConfigError(f"{path}: line {scenarios[scenario - 1].line}: <IO_Scenario> has no flow")
    _find_traces([flow for flow in flows if flow.trace is not None], Path(path).parent, trace)
    return flows, left


def _find_traces(flows: list[Flow], folder: Path, given: str | None) -> None:
    """Take a trace from where it was given, or from beside the workload where it is there alone."""
    if given is not None and len(flows) != 1:
        raise ConfigError(f"--trace {given}: {len(flows)} flows replay a trace, and it is for one")
    for flow in flows:
        beside = folder / str(flow.trace)
        if given is not None:
            flow.trace = given
        elif not Path(str(flow.trace)).is_file() and beside.is_file():
            flow.trace = str(beside)
        if flow.executed < 1 and "loop" not in flow.table and Path(str(flow.trace)).is_file():
            requests = int(flow.executed * pieces.requests_of(str(flow.trace)))
            flow.put("requests", max(1, requests), "Percentage_To_Be_Executed")
            flow.say("Percentage_To_Be_Executed", CARRIED, "")


def _flow(path: str, element: Element, number: int, as_mqsim: bool) -> Flow:
    sheet = Sheet(path, element)
    flow = Flow(name=f"flow-{number}", as_mqsim=as_mqsim, sheet=sheet)
    mode = sheet.one_of("Device_Level_Data_Caching_Mode", _CACHING)
    if sheet.has("Priority_Class"):
        sheet.one_of("Priority_Class", _CLASSES)
    flow.write_cached = mode in ("WRITE_CACHE", "WRITE_READ_CACHE")
    flow.reads_cached = "READ" in mode
    if flow.reads_cached and as_mqsim:
        why = (
            "reads are not cached; there a cached read misses later writes, and what was only read is "
            "programmed"
        )
        flow.say("Device_Level_Data_Caching_Mode", WRONG, why)
    (_synthetic if element.tag == _SYNTHETIC else _replayed)(flow, sheet)
    return flow


def _synthetic(flow: Flow, sheet: Sheet) -> None:
    flow.put("name", flow.name, _element_name(sheet))
    sectors = sheet.count("Average_Request_Size", 1, 1 << 21)
    flow.request_size = sectors * _SECTOR
    fixed = sheet.one_of("Request_Size_Distribution", ("FIXED", "NORMAL")) == "FIXED"
    deviation = 0.0
    if fixed:
        flow.put("bs", f"{sectors * _SECTOR}B", "Average_Request_Size")
        flow.request_bytes = sectors * _SECTOR
        flow.idle("of normally distributed sizes, and these are fixed", "Variance_Request_Size")
    else:
        deviation = _normal_sizes(flow, sheet, sectors)
    _operations(flow, sheet)
    _addresses(flow, sheet, sectors, fixed)
    unit = sheet.count("Address_Alignment_Unit", 1) if sheet.flag("Generated_Aligned_Addresses") else 1
    flow.written = pieces.sizes(sectors, deviation), unit
    _arrivals(flow, sheet, sectors)
    stop, requests = sheet.count("Stop_Time"), sheet.count("Total_Requests_To_Generate")
    if stop:
        flow.put("duration", f"{stop}ns", "Stop_Time")
        flow.idle("MQSim stops by Stop_Time where there is one", "Total_Requests_To_Generate")
    elif requests:
        flow.put("requests", requests, "Total_Requests_To_Generate")
        flow.idle("the flow ends by Total_Requests_To_Generate", "Stop_Time")
    else:
        sheet.wrong("Stop_Time", "neither it nor <Total_Requests_To_Generate> says where the flow ends")
    if sheet.has("Seed"):
        flow.options += ["--seed", str(sheet.count("Seed"))]


def _normal_sizes(flow: Flow, sheet: Sheet, sectors: int) -> float:
    """Draw sizes from a normal distribution. Returns its deviation in sectors."""
    variance = sheet.number("Variance_Request_Size", 0, 1 << 20)
    if flow.as_mqsim:
        # Rounding up is rounding to the nearest of what is half a sector more.
        mean, deviation = sectors * _SECTOR + _SECTOR // 2, variance
        source = "Average_Request_Size, rounded up, Variance_Request_Size, --as mqsim: as standard deviation"
        what = "a draw below one sector is a request of up to 32 MiB there, and one sector here"
        flow.say("Variance_Request_Size", WRONG, f"taken as the standard deviation; {what}")
    else:
        mean, deviation = sectors * _SECTOR, math.sqrt(variance)
        source = "Average_Request_Size, Variance_Request_Size"
    flow.put("bsnormal", f"{mean}B/{round(deviation * _SECTOR)}B", source)
    return deviation


def in_order(flows: list[Flow]) -> list[Flow]:
    """Return the flows of one run as its file has them: traces behind jobs, and so at the drive's end."""
    return sorted(flows, key=lambda flow: flow.trace is not None)


def place_trace(flow: Flow, flows: list[Flow], capacity: float, page: int) -> None:
    """Give a trace beside others its part of the drive, which ends where the drive does."""
    index = flows.index(flow)
    path = Path(str(flow.trace))
    flow.put("name", flow.name, _element_name(flow.sheet) if flow.sheet else "")
    # Of a file of jobs other paths lie beside it.
    flow.put("trace", str(path.resolve() if path.is_file() else path), "File_Path")
    before = sum(other.share for other in flows[:index])
    grain = max(_TRACE_GRAIN, page)
    why = f"part {index + 1} of {len(flows)}: each flow has addresses of its own"
    flow.put("offset", f"{math.ceil(capacity * before / grain) * grain}B", why)


def share_drive(flow: Flow, flows: list[Flow], spared: float) -> None:
    """Give one of several flows its part of the drive, in which its working set lies.

    It ends so much of the drive before the next part: a flow begins at a whole request, and in a whole page.
    """
    index = flows.index(flow)
    why = f"part {index + 1} of {len(flows)}: each flow has addresses of its own"
    if index:
        before = sum(other.share for other in flows[:index])
        flow.put("offset_percent", round(100 * before, 9), why)
    size = 100 * (flow.share * flow.working_set - spared)
    flow.put("size_percent", round(size, 9), f"Working_Set_Percentage of {why}")
    if index and flow.sheet and flow.sheet.has("Seed"):
        flow.say("Seed", OTHERWISE, "a run has one seed, that of its first flow")


def give_planes(flows: list[Flow], counts: resources.Counts, drive: dict[str, Any]) -> bool:
    """Give the flows of one run the planes that they keep to, where they can have them, and addresses.

    Returns whether they have planes of their own.
    """
    own = [resources.numbers_of(flow.sheet, counts) for flow in flows if flow.sheet]
    reasons = [
        resources.why_not(numbers, own, is_job=flow.trace is None)
        for flow, numbers in zip(flows, own, strict=True)
    ]
    apart = not any(reasons) and not all(resources.is_whole(numbers, counts) for numbers in own)
    merged = drive["geometry"]["dies_per_package"] != counts[2]
    of_others = next(filter(None, reasons), "")
    for flow, numbers, reason in zip(flows, own, reasons, strict=True):
        if apart:
            flow.share = resources.share_of(numbers, counts) / own.count(numbers)
            resources.put(flow, numbers, counts, dies_are_merged=merged)
        else:
            flow.share = 1 / len(flows)
            resources.leave(flow, numbers, counts, reason or of_others)
    return apart


def give_classes(flows: list[Flow], drive: Drive) -> None:
    """Give the flows of one run their classes, and the drive what tells these apart, where they differ."""
    sheets = [flow.sheet for flow in flows if flow.sheet]
    # A flow without a class is HIGH there, which matters, and so is refused below, where another is not.
    if len({(sheet.raw("Priority_Class") or "HIGH").upper() for sheet in sheets}) < 2:
        return
    if drive.no_classes:
        for flow in flows:
            flow.idle(drive.no_classes, "Priority_Class")
        return
    for flow, sheet in zip(flows, sheets, strict=True):
        word = sheet.one_of("Priority_Class", _CLASSES).lower()
        flow.put("priority", word, "Priority_Class")
        flow.say("Priority_Class", CARRIED, "")
    why = "Transaction_Scheduling_Policy = PRIORITY_OUT_OF_ORDER: chips go by the classes of flows"
    drive.put("scheduler.transactions", "by-class", why)
    drive.carry("Transaction_Scheduling_Policy")
    if not drive.as_mqsim:
        why = "Priority_Class of the flows, whose weights are 4, 2 and 1 there, too"
        drive.put("scheduler.arbitration", "weighted-round-robin", why)


def prepare(flows: list[Flow], drive: Drive) -> None:
    """Leave the drive as flows have touched it before the run, where MQSim has them do so."""
    touched = [flow.touched() for flow in flows]
    of_jobs = [one for one in touched if one is not None]
    if not drive.as_mqsim or drive.starts_empty or len(of_jobs) < len(flows):
        return
    drive.is_prepared = True
    page = int(drive.table["geometry"]["page_size"].removesuffix("B")) // _SECTOR
    shares = used_at_start(of_jobs, page)
    # What goes through a cache ends there before its rest is read, and here behind that.
    if shares and not any(flow.write_cached and flow.writes() != 0 for flow in flows):
        why = "Initial_Occupancy_Percentage; --as mqsim: each access before has its first sector in use"
        drive.put("ftl.used_at_start", shares, why)
        for flow in flows:
            flow.say("Initial_Occupancy_Percentage", CARRIED, "")
    if "map" in drive.table["ftl"] and not all(one.streams for one in of_jobs):
        why = "Enabled_Preconditioning: memory is full of entries of what was touched"
        drive.put("ftl.map.warm", True, why)
        untouched = sum(one.untouched() for one in of_jobs) / len(of_jobs)
        why = "Initial_Occupancy_Percentage; --as mqsim: what was not touched changes when it is read first"
        drive.put("ftl.map.changed_at_start", round(untouched, 4), why)


def give_buffer(flows: list[Flow], drive: Drive) -> None:
    """Give flows their parts of the write buffer, and have those write past a cache that do not use it."""
    for flow, pages in zip(flows, drive.buffer_parts, strict=False):
        if pages is not None:
            flow.put("buffer_pages", pages, "--as mqsim: pages of its own that wait for their programs")
    tag = "Device_Level_Data_Caching_Mode"
    writes_past = [flow for flow in flows if flow.writes() != 0 and not flow.write_cached]
    for flow in writes_past if any(flow.write_cached for flow in flows) else []:
        if flow.trace is None:
            flow.put(
                "fua", 1.0, f"{tag}: its writes end at their programs, and those of other flows in a cache"
            )
        else:
            flow.say(tag, OTHERWISE, "the drive has a cache for other flows, and a trace writes through it")


def settle(flow: Flow) -> None:
    """Account for all that the file says of a flow."""
    if flow.sheet:
        flow.settle(flow.sheet, flow.sheet.element.tag)


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
        flow.idle("of hot and cold addresses, and these are not", "Percentage_of_Hot_Region")
    if kind == "STREAMING" and 0 < reads < 100:
        flow.put("shared_position", True, "Address_Distribution: reads and writes go on from each other")


def _addresses(flow: Flow, sheet: Sheet, sectors: int, fixed: bool) -> None:
    flow.working_set = sheet.number("Working_Set_Percentage", 1, 100) / 100
    unit = sheet.count("Address_Alignment_Unit", 1, 1 << 21)
    if not sheet.flag("Generated_Aligned_Addresses"):
        flow.idle("of aligned addresses, and these are not", "Address_Alignment_Unit")
        unit = 1
        flow.put("blockalign", f"{_SECTOR}B", "Generated_Aligned_Addresses = false: any sector")
        flow.request_bytes = None
    elif unit != sectors or not fixed:
        flow.put("blockalign", f"{unit * _SECTOR}B", "Address_Alignment_Unit")
        if sectors % unit and flow.table["rw"] in ("read", "write", "rw"):
            why = "each request of a stream begins at a multiple there; here it follows the one before it"
            flow.say("Address_Alignment_Unit", OTHERWISE, f"of random addresses; {why}")
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
        flow.idle("of flows that arrive by bandwidth, and this one keeps a queue depth", "Bandwidth")
        return
    rate = sheet.count("Bandwidth", 1)
    if flow.as_mqsim:
        requests = rate // _SECTOR // sectors
        if requests < 1:
            sheet.wrong("Bandwidth", "is less than one request per second, which MQSim counts as none")
        source = "--as mqsim: Bandwidth / Average_Request_Size, in whole requests"
        flow.put("rate_iops", requests, source)
    else:
        flow.put("rate", f"{rate}B/s", "Bandwidth")
    flow.put("rate_process", "poisson", "Synthetic_Generator_Type = BANDWIDTH")
    why = "of flows that keep a queue depth, and this one does not"
    flow.idle(why, "Average_No_of_Reqs_in_Queue")


def _replayed(flow: Flow, sheet: Sheet) -> None:
    flow.trace = sheet.text("File_Path")
    flow.put("format", "mqsim", "File_Path")
    flow.put("volumes", "merge", "MQSim does not look at the device of a row")
    flow.put("addresses", "wrap", "MQSim folds addresses beyond the drive")
    unit = sheet.one_of("Time_Unit", tuple(_TIME_UNITS))
    if unit != "NANOSECOND" and not flow.as_mqsim:
        flow.put("time_scale", _TIME_UNITS[unit], "Time_Unit")
    if unit == "NANOSECOND":
        flow.say("Time_Unit", CARRIED, "")
    replays = sheet.count("Relay_Count", 1, 1 << 20)
    if replays > 1:
        flow.put("loop", replays, "Relay_Count")
        if flow.as_mqsim:
            why = "from the second replay on arrivals count their offset twice there"
            flow.say("Relay_Count", WRONG, f"{why}; here replays follow each other")
    flow.executed = sheet.number("Percentage_To_Be_Executed", 0, 100) / 100
