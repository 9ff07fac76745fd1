"""Imports the configurations of thirteen MQSim runs, runs them with ninescope and prints both sides.

Usage: .venv/bin/python experiments/validation-mqsim/compare.py [--peers DIR] [--traces DIR]

Needs `make demo` first, and zstd for the trace rows. MQSim's outputs are read from
../shared/peers/mqsim and the traces from ../shared/traces/other (relative to the repository); what is
not there is skipped, and said so.
docs/validation/mqsim.md explains the numbers.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from ninescope import toml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NINESCOPE = ROOT / ".venv" / "bin" / "ninescope"
CASES = ("rand70_128g_fresh", "rand70_128g_o40", "randw_128g_fresh", "wsrch", "tpcc")
_READS, _MIXES = ("a_r_qd1", "a_r_qd64", "a_seqr_64k", "b_r_qd64"), ("a_70_4k_qd16", "a_50_qd32", "b_50_qd32")
WITHOUT_CACHES = (*_READS, *_MIXES, "a_w_qd16")
# In the account mapping reads are a step of their own, by formula.
IDEAL = ['ftl.map="ideal"']
# Where each page of a request is a request of its own, more than MQSim fetches at a time are inside.
UNBOUNDED = [*IDEAL, "controller.buffered_pages=65535", "controller.queue_depth=65535"]
AT_PROGRAM = ['controller.write_completion="program"']
CHIPS = 32
PAGE_SECTORS = 16
# What MQSim charges: tR 75, command 0.290, setup 0.030, one sector 1.536 (us).
MAPPING_READ = 75 + 0.290 + 0.030 + 1.536


class Peer:
    """One MQSim output."""

    def __init__(self, folder: Path) -> None:
        root = ET.parse(folder / "workload_scenario_1.xml").getroot()
        flow = root.find(".//Host.IO_Flow")
        stream = root.find(".//SSDDevice.IO_Stream")
        ftl = root.find(".//SSDDevice.FTL")
        if flow is None or stream is None or ftl is None:
            sys.exit(f"{folder}: not what MQSim writes")
        self.flow = {item.tag: item.text or "" for item in flow}
        self.stream = {item.tag: int(item.text or 0) for item in stream}
        self.ftl = {key: int(value) for key, value in ftl.attrib.items() if value.lstrip("-").isdigit()}
        chips = root.findall(".//SSDDevice.FlashChips")
        self.executing = mean(float(chip.attrib["Fraction_of_Time_in_Execution"]) for chip in chips)
        self.transferring = mean(float(chip.attrib["Fraction_of_Time_in_DataXfer"]) for chip in chips)
        self.queues: dict[str, tuple[int, int, float]] = {}
        for queue in root.findall(".//SSDDevice.TSU/*"):
            kind = queue.tag.split(".")[2]
            entered, left, waited = self.queues.get(kind, (0, 0, 0.0))
            count = int(queue.attrib["No_Of_Transactions_Dequeued"])
            wait = int(queue.attrib["Avg_Transaction_Waiting_Time"]) if count else 0
            entered += int(queue.attrib["No_Of_Transactions_Enqueued"])
            self.queues[kind] = (entered, left + count, waited + count * wait)

    def wait(self, kind: str) -> float:
        """Mean wait in a queue of its scheduler [us]."""
        _, count, total = self.queues[kind]
        return total / count if count else 0.0

    @property
    def requests(self) -> int:
        """Requests of the run."""
        return int(self.flow["Request_Count"])

    @property
    def response(self) -> int:
        """Mean request [us]."""
        return int(self.flow["Device_Response_Time"])

    @property
    def simulated(self) -> float:
        """Simulated time [us], which MQSim does not print: array time of all commands / share executing."""
        programs = self.ftl["Issued_Flash_Program_CMD"] + self.ftl["Issued_Flash_Multiplane_Program_CMD"]
        reads = self.ftl["Issued_Flash_Read_CMD"] + self.ftl["Issued_Flash_Multiplane_Read_CMD"]
        return (750 * programs + 75 * reads) / CHIPS / self.executing

    def pages(self, kind: str) -> int:
        """Pages that commands of a kind read or wrote."""
        return self.ftl[f"Issued_Flash_{kind}_CMD"] + 2 * self.ftl[f"Issued_Flash_Multiplane_{kind}_CMD"]


def ninescope(*arguments: str) -> dict[str, Any]:
    """Run a command and return what it prints as JSON."""
    command = [str(NINESCOPE), *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


class Imported:
    """The drive and the job that `ninescope import mqsim` makes of a case."""

    def __init__(self, peer: Path, folder: Path, trace: Path | None) -> None:
        files = [str(peer / "ssdconfig.xml"), str(peer / "workload.xml")]
        dies, chips, alike = (folder / f"{peer.name}{kind}" for kind in ("", "-chips", "-as-mqsim"))
        ninescope("import", "mqsim", *files, "--out", str(dies))
        ninescope("import", "mqsim", *files, "--out", str(chips), "--one-command-per-chip")
        # Of writes of a trace it is counted how much of a page they have.
        traced = ["--trace", str(trace)] if trace else []
        ninescope("import", "mqsim", *files, "--out", str(alike), "--as", "mqsim", *traced)
        self.job = dies / "job.toml"
        self.dies = dies / "drive.toml"
        # MQSim runs one command in a chip at a time, whatever die it is for: its chips are our dies.
        self.chips = chips / "drive.toml"
        self.alike = alike / "drive.toml"
        for drive in (self.dies, self.chips):
            without_dram(drive)


def without_dram(drive: Path) -> None:
    """Have a drive's buffer cost no time: what is compared here is flash, channels and the map."""
    table = toml.loads(drive.read_text())
    table.pop("dram", None)
    table["sources"] = {key: said for key, said in table["sources"].items() if not key.startswith("dram.")}
    drive.write_text(toml.dumps(table))


class Run:
    """One run of ninescope. Times in us."""

    def __init__(self, work: Path, drive: Path, sets: list[str], *options: str) -> None:
        words = [word for item in sets for word in ("--set", item)]
        # The devices of a trace share one drive's addresses, as they do in the peer.
        merged = [] if work.suffix == ".toml" else ["--volumes", "merge"]
        result = ninescope("run", str(work), "--drive", str(drive), *merged, *options, *words)
        self.counters = result["counters"]
        self.requests = result["requests"]
        self.simulated = result["simulated_ns"] / 1e3
        self.digest = result["digest"]
        kinds = {key: value for key, value in result["latency"].items() if value.get("count")}
        self.count = {key: value["count"] for key, value in kinds.items()}
        self.mean = {key: value["mean_ns"] / 1e3 for key, value in kinds.items()}
        self.all = sum(self.count[key] * self.mean[key] for key in kinds) / sum(self.count.values())
        self.utilisation = result["utilisation"]
        bands = result["attribution"].get("read", [])
        link = sum(band["count"] * band["parts_ns"].get("link", 0) for band in bands)
        # Mean read without the host link, which MQSim's transactions do not see.
        self.read_inside = self.mean.get("read", 0) - link / max(1, self.count.get("read", 0)) / 1e3

    def share(self, kind: str) -> float:
        """Share of the requests that are of a kind."""
        return float(self.count.get(kind, 0) / self.requests)


def mean(values: Iterable[float]) -> float:
    """Work out the mean."""
    listed = list(values)
    return sum(listed) / len(listed)


def line(case: str, theirs: float, ours: float, note: str = "") -> None:
    """Print a number of both, and their ratio."""
    print(f"  {case:<46} {theirs:>12,.4g} {ours:>12,.4g} {ours / theirs:>7.3f}  {note}")


def title(text: str) -> None:
    """Print the head of a table."""
    print(f"\n{text}\n  {'':<46} {'MQSim':>12} {'ninescope':>12} {'ratio':>7}")


def exact(case: str, theirs: int, ours: int) -> None:
    """Print a count of both, which is to be equal."""
    print(f"  {case:<46} {theirs:>12,} {ours:>12,} {'equal' if theirs == ours else f'{ours - theirs:+,}':>7}")


# ---- traces: made at run time, nothing of them is kept -----------------------------------------------


def unpacked(path: Path) -> list[tuple[int, int, int, int]]:
    """Read a packed trace of MQSim: time, first sector, sectors, kind."""
    text = subprocess.run(["zstd", "-dc", str(path)], capture_output=True, text=True, check=True).stdout
    rows = (row.split() for row in text.splitlines())
    return [(int(row[0]), int(row[2]), int(row[3]), int(row[4])) for row in rows if len(row) == 5]


def split(rows: list[tuple[int, int, int, int]], folder: Path) -> Path:
    """Each request cut at page borders, as MQSim cuts them into transactions."""
    path = folder / "split.trace"
    with path.open("w") as out:
        for time, first, sectors, kind in rows:
            lba, end = first, first + sectors
            while lba < end:
                part = min(end - lba, PAGE_SECTORS - lba % PAGE_SECTORS)
                out.write(f"{time} 0 {lba} {part} {kind}\n")
                lba += part
    return path


def with_mapping_reads(reads: float, mapping_reads_per_read: float, requests: int, folder: Path) -> Path:
    """Write the rand70 workload; some reads follow another one, which stands for a mapping read."""
    draw = random.Random(798)
    places = 31_000_000
    path = folder / "mapping.trace"
    with path.open("w") as out:
        for _ in range(requests):
            is_read = draw.random() < reads
            if is_read and draw.random() < mapping_reads_per_read:
                out.write(f"0 0 {draw.randrange(places) * 8} 8 1\n")
            out.write(f"0 0 {draw.randrange(places) * 8} 8 {int(is_read)}\n")
    return path


# ---- theory ------------------------------------------------------------------------------------------


def closed_network(
    population: int,
    servers: int,
    read_share: float,
    read: float,
    program: float,
    after_read: float,
    write_hold: float,
    slot_mapping: float = 0.0,
    background_mapping: float = 0.0,
    mapping: float = MAPPING_READ,
) -> tuple[float, float]:
    """Mean response of a request and of a read [us] in a closed loop over equal servers.

    Reads hold a slot through wait and service; programs are left behind as background work with lower
    priority (non-preemptive, M/G/1); an arriving read sees the other population - 1 slots (Bard-Schweitzer).
    """
    others = (population - 1) / population
    response, read_response = population * program / servers, read
    for _ in range(2000):
        rate = population / response / servers
        rho_read = rate * read_share * read * others
        rho_mapping = rate * (read_share * slot_mapping * others + background_mapping) * mapping
        rho_program = rate * (1 - read_share) * program
        work = (rho_read * read + rho_mapping * mapping + rho_program * program) / 2
        wait = work / (1 - rho_read - rho_mapping)
        read_response = read + after_read + wait + slot_mapping * (mapping + wait)
        new = read_share * read_response + (1 - read_share) * write_hold
        response = 0.9 * response + 0.1 * new
    return response, read_response


# ---- the cases ---------------------------------------------------------------------------------------


def rand70(peer: Peer, ours: Imported, folder: Path) -> None:
    """Print mixed requests."""
    title("rand70_128g_fresh (4 KiB, 70/30, QD 16, 1 M)")
    dies = Run(ours.job, ours.dies, IDEAL, "--prefill", "full")
    chips = Run(ours.job, ours.chips, IDEAL, "--prefill", "full")
    packed = Run(
        ours.job,
        ours.dies,
        [*IDEAL, 'geometry.page_size="8KiB"', "geometry.pages_per_block=256"],
        "--prefill",
        "full",
    )
    exact("requests", peer.requests, chips.requests)
    exact("reads", int(peer.flow["Read_Request_Count"]), chips.count["read"])
    user = peer.pages("Read") - peer.queues["Mapping_Read_TR_Queue"][1]
    exact("flash pages read, mapping left out", user, chips.counters["host_page_reads"])
    exact("flash pages programmed", peer.pages("Program"), chips.counters["host_page_programs"])
    theirs = 16 * peer.simulated / peer.requests
    print(f"  MQSim's simulated time {peer.simulated / 1e6:.3f} s; 16 x time / requests = {theirs:.2f} us")
    line("mean, 8 KiB pages shared by two writes", theirs, packed.all)
    line("mean, every die by itself", theirs, dies.all)
    line("mean, one command per chip", theirs, chips.all)
    waiting = peer.ftl["CMT_Misses_For_Read"] + peer.ftl["CMT_Misses_For_Write"] - peer.ftl["CMT_Misses"]
    read_queries = peer.ftl["Total_CMT_Queries_For_Reads"]
    in_slot = (
        waiting
        * peer.ftl["CMT_Misses_For_Read"]
        / (peer.ftl["CMT_Misses_For_Read"] + peer.ftl["CMT_Misses_For_Write"])
        / read_queries
    )
    reads = int(peer.flow["Read_Request_Count"]) / peer.requests
    background = peer.queues["Mapping_Read_TR_Queue"][1] / peer.requests - reads * in_slot
    trace = with_mapping_reads(reads, in_slot, peer.requests, folder)
    mapped = Run(
        trace,
        ours.chips,
        [*IDEAL, "controller.queue_depth=16"],
        "--prefill",
        "full",
        "--closed-loop",
        "--format",
        "mqsim",
    )
    response = 16 * mapped.simulated / peer.requests
    line("... and mapping reads as extra reads", theirs, response, f"{in_slot:.3f} per read")
    dram = 26e-3 + 4096 / 2 * 10e-3
    load = dram * (1 - reads) / theirs * 16
    hold = 1.25 + dram + load * dram / 2 / (1 - load)
    read, program, after = 75 + 0.29 + 12.288, 750 + 0.29 + 12.288, 1.024
    args = (reads, read, program, after)
    before = closed_network(16, CHIPS, *args, 1.024, in_slot, 0.0, 75 + 0.29 + 12.288)
    final = closed_network(16, CHIPS, *args, hold, in_slot, background)
    line(
        "... and DRAM and background mapping (formula)",
        theirs,
        response * final[0] / before[0],
        f"write holds its slot {hold:.1f} us",
    )
    print("\n  MQSim's mean read transaction [us]:")
    stream = peer.stream
    own = peer.wait("User_Read_TR_Queue")
    mapping = in_slot * (peer.wait("Mapping_Read_TR_Queue") + MAPPING_READ)
    print(
        f"    reported turnaround {stream['Average_Read_Transaction_Turnaround_Time']}, "
        f"its parts: array 75 + transfer 12.6 + queue {own:.1f} + mapping {in_slot:.3f} x "
        f"({peer.wait('Mapping_Read_TR_Queue'):.1f} + {MAPPING_READ:.1f}) = {75 + 12.6 + own + mapping:.1f}"
    )
    print(
        f"    MQSim's mapping writes: {peer.queues['Mapping_Write_TR_Queue'][0]:,} queued, "
        f"{peer.queues['Mapping_Write_TR_Queue'][1]:,} ever served"
    )
    print("\n  ninescope against theory (closed network, 16 slots):")
    for name, run, servers in (("64 dies", dies, 64), ("32 chips", chips, 32)):
        share = run.share("read")
        demand = share * read + (1 - share) * program
        formula = closed_network(16, servers, share, read, program, after, 1.024)
        rate = run.requests / run.simulated
        smallest = share * (read + after) + (1 - share) * 1.024
        occupancy = run.utilisation["dies"]["occupancy"]
        busy = occupancy["host_read"] + occupancy["host_program"]
        print(
            f"    {name}: X {rate * 1e3:.2f} k/s; bounds: servers {servers / demand * 1e3:.1f} k/s, "
            f"no waiting {16 / smallest * 1e3:.1f} k/s; Little X R = {rate * run.all:.4f}; "
            f"utilisation law {rate * demand / servers:.5f}, measured {busy:.5f}"
        )
        print(
            f"      read response {run.mean['read']:.1f} us, formula {formula[1]:.1f} "
            f"({run.mean['read'] / formula[1] - 1:+.1%}); request {run.all:.1f}, formula {formula[0]:.1f} "
            f"({run.all / formula[0] - 1:+.1%})"
        )


def randw(peer: Peer, ours: Imported, folder: Path) -> None:
    """Print random writes."""
    title("randw_128g_fresh (4 KiB random writes, 1 M)")
    # MQSim's write buffer holds 2048 sectors not yet programmed (1 MiB): 256 writes of 4 KiB. Where a write
    # completes at its program, that is a closed loop of 256 programs.
    job = folder / "randw.toml"
    job.write_text(ours.job.read_text().replace("iodepth = 16\n", "iodepth = 256\n"))
    run = Run(job, ours.chips, IDEAL + AT_PROGRAM, "--prefill", "none")
    exact("requests", peer.requests, run.requests)
    exact("flash pages programmed", peer.pages("Program"), run.counters["host_page_programs"])
    line("throughput [k/s]", peer.requests / peer.simulated * 1e3, run.requests / run.simulated * 1e3)
    per_write = 750 + 0.29 + 12.288
    busy = run.requests / run.simulated * per_write / CHIPS
    line("share of time a chip is busy", peer.executing + peer.transferring, busy)
    chip_time = (peer.executing + peer.transferring) * CHIPS * peer.simulated / peer.requests
    line("chip time per write [us]", chip_time, per_write)
    line(
        "write transaction, mean [us]",
        peer.stream["Average_Write_Transaction_Turnaround_Time"],
        run.all,
        "MQSim's includes the write cache's and the mapping's queues",
    )


def wsrch(peer: Peer, ours: Imported, trace: Path, folder: Path) -> None:
    """Print a trace of a web search."""
    title("wsrch (24,783 requests, open loop)")
    dies = Run(trace, ours.dies, UNBOUNDED)
    chips = Run(trace, ours.chips, UNBOUNDED)
    rows = unpacked(trace)
    parts = Run(split(rows, folder), ours.chips, UNBOUNDED, "--format", "mqsim")
    exact("requests", peer.requests, chips.requests)
    exact("reads", int(peer.flow["Read_Request_Count"]), chips.count["read"])
    exact("writes", int(peer.flow["Write_Request_Count"]), chips.count["write"])
    user = peer.pages("Read") - peer.queues["Mapping_Read_TR_Queue"][1]
    exact("flash pages read, mapping left out", user, chips.counters["host_page_reads"])
    exact("flash pages programmed", peer.pages("Program"), chips.counters["host_page_programs"])
    mapping = peer.wait("Mapping_Read_TR_Queue") + MAPPING_READ
    missed = peer.ftl["CMT_Misses_For_Read"] / peer.ftl["Total_CMT_Queries_For_Reads"]
    line("mean, every die by itself", peer.response, dies.all)
    line("mean, one command per chip", peer.response, chips.all)
    line(f"... + mapping read {missed:.3f} x {mapping:.1f} us", peer.response, chips.all + missed * mapping)
    size = sum(row[2] for row in rows) * 512 / len(rows)
    link = size * (156 / 128 - 1) / 4000
    line(
        f"... + PCIe packet headers {link:.2f} us",
        peer.response,
        chips.all + missed * mapping + link,
        "MQSim truncates to whole us",
    )
    without = peer.stream["Average_Read_Transaction_Turnaround_Time"] - missed * mapping
    line("read transaction, their mapping taken off", without, parts.read_inside, "ours without link")


def tpcc(peer: Peer, ours: Imported, trace: Path, folder: Path) -> None:
    """Print a trace of TPC-C."""
    title("tpcc (6,999 requests, open loop at 51 k/s)")
    dies = Run(trace, ours.dies, UNBOUNDED)
    chips = Run(trace, ours.chips, UNBOUNDED)
    log = folder / "tpcc"
    late = Run(trace, ours.chips, UNBOUNDED + AT_PROGRAM)
    rows = unpacked(trace)
    parts = Run(
        split(rows, folder),
        ours.chips,
        UNBOUNDED + AT_PROGRAM,
        "--format",
        "mqsim",
        "--log-requests",
        "--out",
        str(log),
    )
    exact("requests", peer.requests, chips.requests)
    exact("reads", int(peer.flow["Read_Request_Count"]), chips.count["read"])
    exact("writes", int(peer.flow["Write_Request_Count"]), chips.count["write"])
    exact(
        "user page reads (ours: 1 more forwarded)",
        peer.ftl["Total_CMT_Queries_For_Reads"],
        chips.counters["host_page_reads"],
    )
    exact(
        "read-modify-write reads",
        peer.queues["User_Read_TR_Queue"][1] - peer.ftl["Total_CMT_Queries_For_Reads"],
        chips.counters["read_modify_write_reads"],
    )
    exact("flash pages programmed", peer.pages("Program"), chips.counters["host_page_programs"])
    ours_work = (
        (
            parts.counters["program_commands"] * (750.29 + 24.576)
            + parts.counters["read_commands"] * (75.29 + 24.576)
        )
        / CHIPS
        / 1e3
    )
    line("work per chip [ms]", (peer.executing + peer.transferring) * peer.simulated / 1e3, ours_work)
    first = rows[0][0] / 1e6
    line("first arrival to last program [ms]", peer.simulated / 1e3 - first, late.simulated / 1e3)
    mapping = peer.wait("Mapping_Read_TR_Queue") + MAPPING_READ
    turnaround = peer.stream["Average_Read_Transaction_Turnaround_Time"]
    line("read transaction [us]", turnaround, parts.read_inside)
    line(f"... their mapping read ({mapping:.0f} us) taken off", turnaround - mapping, parts.read_inside)
    line("... and our wider transfer", turnaround - mapping, parts.read_inside - 24.576 + 13.2)
    written = peer.stream["Average_Write_Transaction_Turnaround_Time"]
    line("write transaction, to end of program [us]", written, parts.mean["write"])
    merged = Run(
        folder / "split.trace",
        ours.chips,
        [*UNBOUNDED, *AT_PROGRAM, "scheduler.multi_plane=true"],
        "--format",
        "mqsim",
    )
    commands = peer.ftl["Issued_Flash_Program_CMD"] + peer.ftl["Issued_Flash_Multiplane_Program_CMD"]
    line("program commands", commands, parts.counters["program_commands"], "none merged")
    line("program commands, planes merged", commands, merged.counters["program_commands"], "up to 4 planes")
    line("write transaction, planes merged", written, merged.mean["write"])
    line("read transaction, planes merged", turnaround - mapping, merged.read_inside, "their mapping off")
    line("mean, every die by itself, unbounded buffer", peer.response, dies.all)
    line("mean, one command per chip, unbounded buffer", peer.response, chips.all)
    line("mean, one command per chip, no buffer", peer.response, late.all)
    bounded = with_buffer(log / "requests.parquet", rows, 2048)
    line("mean, shared buffer of 2048 sectors (arithmetic)", peer.response, bounded)
    line("... + mapping read", peer.response, bounded + mapping * late.share("read"))


def with_buffer(path: Path, rows: list[tuple[int, int, int, int]], capacity: int) -> float:
    """Mean latency [us] of the requests `rows` if writes completed when a shared buffer takes them.

    `path` is the log of the split trace, each page completing at its program. When a page is programmed
    hardly depends on when the buffer takes it (its chip's queue holds it either way), so a page enters as
    soon as those before it that are not yet programmed leave room. A request is done with its last page.
    """
    log = pl.read_parquet(path).sort("id")
    pages = log.select("submitted_ns", "latency_ns", "sectors").iter_rows()
    inside: list[tuple[int, int]] = []
    held = entered = 0
    total = 0.0
    for _, lba, sectors, kind in rows:
        count = (lba + sectors - 1) // PAGE_SECTORS - lba // PAGE_SECTORS + 1
        longest = 0.0
        for _ in range(count):
            submitted, latency, size = next(pages)
            if kind == 1:
                longest = max(longest, latency)
                continue
            at = max(submitted, entered)
            while inside and (inside[0][0] <= at or held >= capacity):
                end, gone = heapq.heappop(inside)
                at, held = max(at, end), held - gone
            heapq.heappush(inside, (max(submitted + latency, at), size))
            held, entered = held + size, at
            longest = max(longest, at - submitted)
        total += longest + (sectors * 512 / 2 * 10 if kind == 0 else 0)
    return total / len(rows) / 1e3


def as_printed(name: str, peer: Path, folder: Path, trace: Path | None) -> None:
    """Print the mean request of a case by the import and the command that it prints alone, as both kinds."""
    root = ET.parse(peer / "workload_scenario_1.xml").getroot()
    theirs = int(root.findtext(".//Host.IO_Flow/Device_Response_Time") or 0)
    files = [str(peer / "ssdconfig.xml"), str(peer / "workload.xml")]
    traced = ["--trace", str(trace)] if trace else []
    for kind in ("hardware", "mqsim"):
        out = str(folder / f"{name}-printed-{kind}")
        report = ninescope("import", "mqsim", *files, "--as", kind, "--out", out, *traced)
        result = ninescope(*shlex.split(report["commands"][0])[1:])
        kinds = [value for value in result["latency"].values() if value.get("count")]
        total = sum(value["count"] * value["mean_ns"] for value in kinds)
        line(f"{name}, --as {kind}", theirs, total / sum(value["count"] for value in kinds) / 1e3)


def as_imported(name: str, peer: Peer, ours: Imported, trace: Path) -> None:
    """Print the imports of a case beside MQSim's output: counts and mean, with nothing else changed."""
    title(f"{name}, as imported")
    synthetic = ours.job.exists()
    prefill = ["--prefill", "none" if peer.flow["Read_Request_Count"] == "0" else "full"] if synthetic else []
    for what, drive in (
        ("every die by itself", ours.dies),
        ("one command per chip", ours.chips),
        ("--as mqsim", ours.alike),
    ):
        run = Run(ours.job if synthetic else trace, drive, [], *prefill)
        print(f"  {what}")
        exact("  requests", peer.requests, run.requests)
        exact("  reads", int(peer.flow["Read_Request_Count"]), run.count.get("read", 0))
        exact("  writes", int(peer.flow["Write_Request_Count"]), run.count.get("write", 0))
        user = peer.pages("Read") - peer.queues["Mapping_Read_TR_Queue"][1]
        reads = run.counters["host_page_reads"] + run.counters["read_modify_write_reads"]
        exact("  flash pages read, mapping left out", user, reads)
        exact("  flash pages programmed", peer.pages("Program"), run.counters["host_page_programs"])
        line("  mean request [us]", peer.response, run.all)


def main() -> None:
    """Compare what is there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--peers", type=Path, default=ROOT.parent / "shared" / "peers" / "mqsim")
    parser.add_argument("--traces", type=Path, default=ROOT.parent / "shared" / "traces" / "other")
    options = parser.parse_args()
    skipped = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        title("mean request [us], of nothing but the import and the command that it prints")
        for case in (*WITHOUT_CACHES, *CASES):
            peer = options.peers / case
            trace = options.traces / f"mqsim_{case}-small.trace.zst"
            replayed = trace if case in ("wsrch", "tpcc") else None
            if (peer / "workload_scenario_1.xml").exists() and (replayed is None or trace.exists()):
                as_printed(case, peer, folder, replayed)
            elif case in WITHOUT_CACHES:
                skipped.append(f"{case}: no {peer / 'workload_scenario_1.xml'}")
        for case in CASES:
            output = options.peers / case
            trace = options.traces / f"mqsim_{case}-small.trace.zst"
            synthetic = "128g" in case
            needed = [output / "workload_scenario_1.xml"] + ([] if synthetic else [trace])
            missing = [str(path) for path in needed if not path.exists()]
            if trace in needed and shutil.which("zstd") is None:
                missing.append("zstd command")
            if missing:
                skipped.append(f"{case}: no {', '.join(missing)}")
                continue
            imported = Imported(output, folder, None if synthetic else trace)
            judge(case, Peer(output), imported, trace, folder)
    for reason in skipped:
        print(f"SKIPPED {reason}", file=sys.stderr)
    sys.exit(2 if len(skipped) == len(WITHOUT_CACHES) + len(CASES) else 0)


def judge(case: str, peer: Peer, ours: Imported, trace: Path, folder: Path) -> None:
    """Print everything about one case."""
    as_imported(case, peer, ours, trace)
    if case == "rand70_128g_fresh":
        rand70(peer, ours, folder)
    elif case == "randw_128g_fresh":
        randw(peer, ours, folder)
    elif case == "wsrch":
        wsrch(peer, ours, trace, folder)
    elif case == "tpcc":
        tpcc(peer, ours, trace, folder)


if __name__ == "__main__":
    main()
