"""An ssdconfig.xml of MQSim as a drive."""

from __future__ import annotations

import itertools
import math

from ninescope._native import ConfigError
from ninescope.mqsim import memory
from ninescope.mqsim.document import Sheet, read
from ninescope.mqsim.memory import Written
from ninescope.mqsim.report import Drive, Left, Part
from ninescope.mqsim.settings import OTHERWISE, UNKNOWN, WRONG, unknown

_ROOT = "Execution_Parameter_Set"
_HOST, _DEVICE, _FLASH = "Host_Parameter_Set", "Device_Parameter_Set", "Flash_Parameter_Set"
_SECTOR = 512

_CELLS = {"SLC": ("LSB",), "MLC": ("LSB", "MSB"), "TLC": ("LSB", "CSB", "MSB")}
_ORDERS = tuple("".join(letters) for letters in itertools.permutations("CWDP"))
_NS = 1 << 40
# What is taken for each policy that chooses victims, and what is to be said of it.
_PACKET, _PACKET_HEAD = 128, 28
"""Bytes of data that a packet of its link carries at most, and those before them [B]."""
_VICTIMS = {
    "GREEDY": ("greedy", ""),
    "FIFO": ("fifo", ""),
    "RANDOM": ("random", ", of blocks that are full"),
    "RANDOM_P": ("random", ""),
    "RANDOM_PP": ("random-invalid", ", of blocks that hold anything invalid"),
}
# What MQSim builds in for NVDDR2: the command and address cycles of a one-plane command.
_COMMAND_ADDRESS_NS = 290
# What MQSim adds to the time of each read of an array.
_READ_MORE_NS = 20
# MQSim starts collecting at this many free blocks of a plane, however small the threshold.
_GC_BLOCKS_LEAST = 10
# What an entry takes of a cached map here.
_COPYBACKS = 65_535
"""How often in a row a page may be copied at most, which is as good as without an end."""
_MAP_ENTRY = 8


def read_drive(
    path: str,
    *,
    page_bytes: int | None,
    cached: bool,
    reads_cached: bool,
    one_command_per_chip: bool,
    as_mqsim: bool,
    flows: int,
    traces: bool,
    written: Written,
) -> Drive:
    """Convert the file. Requests of `page_bytes`, below a page, want such pages.

    Writes are `cached`, and reads too with `reads_cached`.

    With `as_mqsim` channel and dies do what MQSim does of the file, else what the file says of hardware.
    So many `flows` are in one run, with `traces` among them, and `written` says what they write.
    """
    root = read(path, "Execution_Parameter_Set")
    sections = {child.tag: child for child in root.children}
    for name in (_HOST, _DEVICE):
        if name not in sections:
            raise ConfigError(f"{path}: line {root.line}: <{root.tag}> has no <{name}>")
    host, device = Sheet(path, sections[_HOST]), Sheet(path, sections[_DEVICE])
    nested = {child.tag: child for child in device.element.children if child.children}
    if _FLASH not in nested:
        device.text(_FLASH)
    flash = Sheet(path, nested[_FLASH])
    part = Drive(as_mqsim=as_mqsim)
    part.table["summary"] = f"imported from MQSim's {path.rpartition('/')[2]}"
    together = "--as mqsim" if as_mqsim else "--one-command-per-chip" if one_command_per_chip else None
    _geometry(part, device, flash, page_bytes, together)
    _nand(part, device, flash)
    _ftl(part, device, flash)
    if as_mqsim:
        _by_sector(part, flash)
        _starts_empty(part, device)
    _map(part, device, flash, cached=cached, flows=flows)
    _controller(part, host, device, cached, flows)
    if as_mqsim and reads_cached and not cached:
        for tag in (
            "Caching_Mechanism",
            *(tag for tag, _ in device.values() if tag.startswith("Data_Cache_")),
        ):
            part.say(tag, OTHERWISE, "of a cache of reads alone, and reads are not cached")
    if cached and as_mqsim:
        memory.bound_writes(part, device, flash, written)
        memory.keep_rewritten(part, device, written)
    elif cached and reads_cached:
        memory.write_back(part, device)
    elif cached:
        memory.buffer_writes(part, device)
    elif reads_cached and not as_mqsim:
        memory.cache_reads(part, device)
    _scheduler(part, device, flash)
    for sheet, section in ((host, _HOST), (device, _DEVICE), (flash, _FLASH)):
        part.settle(sheet, section)
        part.tags |= {tag: (sheet.line_of(tag), value) for tag, value in sheet.values()}
    tables = [(tag, _ROOT) for tag in set(sections) - {_HOST, _DEVICE}]
    tables += [(tag, _DEVICE) for tag in set(nested) - {_FLASH}]
    part.left += [Left(tag, "", unknown(section, tag).why, UNKNOWN) for tag, section in sorted(tables)]
    return part


def _geometry(part: Drive, device: Sheet, flash: Sheet, page_bytes: int | None, per_chip: str | None) -> None:
    dies, planes = flash.count("Die_No_Per_Chip", 1, 64), flash.count("Plane_No_Per_Die", 1, 4)
    together = f"{per_chip}: the dies of a chip are one"
    if per_chip and dies * planes > 4:
        flash.wrong(
            "Die_No_Per_Chip",
            f"{dies} dies of {planes} planes cannot stand for one die, which has at most 4 planes; "
            "--as hardware takes them",
        )
    channels = device.count("Flash_Channel_Count", 1, 4096)
    chips = device.count("Chip_No_Per_Channel", 1, 4096)
    part.resources = (channels, chips, dies, planes)
    part.put("geometry.channels", channels, "Flash_Channel_Count")
    part.put("geometry.packages_per_channel", chips, "Chip_No_Per_Channel")
    part.put(
        "geometry.dies_per_package", 1 if per_chip else dies, together if per_chip else "Die_No_Per_Chip"
    )
    part.put(
        "geometry.planes_per_die",
        dies * planes if per_chip else planes,
        together if per_chip else "Plane_No_Per_Die",
    )
    part.put("geometry.blocks_per_plane", flash.count("Block_No_Per_Plane", 1, 1 << 24), "Block_No_Per_Plane")
    pages, size = flash.count("Page_No_Per_Block", 1, 1 << 16), flash.count("Page_Capacity", 512, 1 << 20)
    whole = part.as_mqsim or page_bytes is None or page_bytes >= size or size % page_bytes != 0
    if page_bytes is None or whole:
        part.put("geometry.pages_per_block", pages, "Page_No_Per_Block")
        part.put("geometry.page_size", f"{size}B", "Page_Capacity")
    else:
        why = f"of {size} B, cut to the requests: each programs a page of its own, and only its sectors move"
        part.put(
            "geometry.pages_per_block",
            pages * (size // page_bytes),
            f"Page_No_Per_Block, for the same capacity {why}",
        )
        part.put("geometry.page_size", f"{page_bytes}B", f"Page_Capacity {why}")
    part.put("ftl.mapping_unit", part.table["geometry"]["page_size"], "Address_Mapping = PAGE_LEVEL")


def _by_sector(part: Drive, flash: Sheet) -> None:
    """Move and merge sectors, and merge commands within a die of those that are one here."""
    why = "--as mqsim: of each page the sectors alone move that are asked for or written"
    part.put("nand.read_moves", "sectors", why)
    part.put("nand.program_moves", "sectors", why)
    why = "--as mqsim: what the drive holds at the start is merged with nothing, what flows used is"
    part.put("ftl.merges", "sectors", why)
    planes = flash.count("Plane_No_Per_Die", 1, 4)
    if part.table["geometry"]["planes_per_die"] > planes:
        part.put(
            "nand.planes_per_command", planes, "Plane_No_Per_Die: commands to planes of one die are merged"
        )


def _nand(part: Drive, device: Sheet, flash: Sheet) -> None:
    cell = flash.one_of("Flash_Technology", tuple(_CELLS))
    pages = _CELLS[cell]
    part.put("nand.cell", cell.lower(), "Flash_Technology")
    for key, word in (("read", "Read"), ("program", "Program")):
        tags = [f"Page_{word}_Latency_{page}" for page in pages]
        more = _READ_MORE_NS if part.as_mqsim and key == "read" else 0
        built_in = f"; --as mqsim: and {more} ns that MQSim builds in" if more else ""
        times = [f"{flash.count(tag, 1, _NS) + more}ns" for tag in tags]
        part.put(f"nand.{key}", times, ", ".join(tags) + built_in)
        others = [f"Page_{word}_Latency_{page}" for page in ("LSB", "CSB", "MSB") if page not in pages]
        part.idle(f"{cell} has no such page", *others)
    part.put("nand.erase_loop", f"{flash.count('Block_Erase_Latency', 1, _NS)}ns", "Block_Erase_Latency")
    part.put(
        "nand.endurance_cycles",
        flash.count("Block_PE_Cycles_Limit", 1, (1 << 32) - 1),
        "Block_PE_Cycles_Limit",
    )
    if cell == "TLC" and part.as_mqsim:
        why = "--as mqsim: pages come in the order of a planar part (Yaakobi et al., ICNC 2012)"
        first = [0] * 6 + [1] * 2
        types = {"first": first[: flash.count("Page_No_Per_Block", 1)], "then": [0, 0, 1, 1, 2, 2]}
        part.put("nand.page_types", types, why)
    device.one_of("Flash_Comm_Protocol", ("NVDDR2",))
    part.put(
        "nand.command_address",
        f"{_COMMAND_ADDRESS_NS}ns",
        "Flash_Comm_Protocol = NVDDR2, whose times are built in",
    )
    _channel_rate(part, device)


def _channel_rate(part: Drive, device: Sheet) -> None:
    width = device.count("Flash_Channel_Width", 1, 64)
    source = "Channel_Transfer_Rate x Flash_Channel_Width"
    if not part.as_mqsim:
        rate = device.number("Channel_Transfer_Rate", 1, 1e6)
        part.put("nand.channel_rate", f"{round(width * rate * 1e6)}B/s", source)
        return
    if device.number("Channel_Transfer_Rate", 1, 1e6) > 1000:
        device.wrong(
            "Channel_Transfer_Rate", "takes no time in MQSim, which cuts it to whole ns: 1000 is its most"
        )
    transfer_ns = int(1000 / device.number("Channel_Transfer_Rate"))
    part.put(
        "nand.channel_rate",
        f"{round(width * 1_000_000_000 / transfer_ns)}B/s",
        f"--as mqsim: {source}, cut to whole ns per transfer, {transfer_ns} here",
    )


def _ftl(part: Drive, device: Sheet, flash: Sheet) -> None:
    device.one_of("Memory_Type", ("FLASH",))
    device.one_of("Address_Mapping", ("PAGE_LEVEL",))
    spare = device.number("Overprovisioning_Ratio", 0.001, 0.9)
    part.put(
        "ftl.over_provisioning",
        round(spare / (1 - spare), 7),
        f"Overprovisioning_Ratio {spare:g} of all flash, here of what the host sees",
    )
    part.put("ftl.frontier_planes", 1, "each plane has a frontier of its own")
    order = device.one_of("Plane_Allocation_Scheme", _ORDERS)
    allocation: dict[str, str | int] = {"policy": "static", "order": order}
    why = "Plane_Allocation_Scheme"
    planes = flash.count("Plane_No_Per_Die", 1, 4)
    if part.table["geometry"]["planes_per_die"] > planes:
        allocation["planes_as_die"] = planes
        why += ", which goes over the dies of a chip that are one here"
    part.put("ftl.page_allocation", allocation, why)
    blocks = flash.count("Block_No_Per_Plane", 1, 1 << 24)
    threshold = max(int(device.number("GC_Exec_Threshold", 0, 1) * blocks), _GC_BLOCKS_LEAST)
    part.put(
        "ftl.gc_trigger",
        {"policy": "free-groups", "beyond_reserve": threshold - 1},
        f"GC_Exec_Threshold of {blocks} blocks, at least {_GC_BLOCKS_LEAST} of them; one is the reserve",
    )
    _victim(part, device, blocks)
    if not part.as_mqsim and device.has("Use_Copyback_for_GC") and device.flag("Use_Copyback_for_GC"):
        part.put("ftl.gc_copybacks", _COPYBACKS, "Use_Copyback_for_GC, which has no limit there")
    levelled = device.flag("Dynamic_Wearleveling_Enabled")
    part.put(
        "ftl.free_block_choice",
        "least-worn" if levelled or part.as_mqsim else "fifo",
        "--as mqsim: always on" if part.as_mqsim else "Dynamic_Wearleveling_Enabled",
    )


def _map(part: Drive, device: Sheet, flash: Sheet, *, cached: bool, flows: int) -> None:
    if device.flag("Ideal_Mapping_Table"):
        part.idle("of a cached map, and Ideal_Mapping_Table is true", "CMT_Capacity", "CMT_Sharing_Mode")
        return
    part.put("ftl.map.policy", "entries", "Ideal_Mapping_Table = false: single entries are cached")
    entry = _map_entry_bytes(part, flash)
    capacity = device.count("CMT_Capacity")
    if capacity < entry:
        device.wrong("CMT_Capacity", f"has no room for one entry of the map, which takes {entry} B there")
    entries = capacity // entry
    of_each = ""
    shared = device.one_of("CMT_Sharing_Mode", ("SHARED", "EQUAL_PARTITIONING")) == "SHARED"
    if part.as_mqsim and shared and flows > 1:
        entries, of_each = entries * flows, f", for each of {flows} flows (--as mqsim)"
        part.say("CMT_Sharing_Mode", WRONG, "each flow has a map of the full size there; here they share one")
    why = f"CMT_Capacity has {entries} entries of {entry} B there{of_each}; here they take {_MAP_ENTRY} B"
    part.put("ftl.map.size", f"{entries * _MAP_ENTRY}B", why)
    if cached:
        why = "Device_Level_Data_Caching_Mode: what is in the cache is written, and its entry looked up then"
        part.put("ftl.map.writes_wait", False, why)
    if part.as_mqsim and cached:
        why = "--as mqsim: a write is looked up as the cache takes it, and programmed when its entry is there"
        part.put("ftl.map.programs_wait", True, why)
    if part.as_mqsim:
        why = "--as mqsim: pages of the map are queued to be written, never are, and are at hand from then on"
        part.put("ftl.map.written", False, why)
        why = "--as mqsim: a chip reads pages of the map before what else waits"
        part.put("ftl.map.reads_first", True, why)
        why = "--as mqsim: of a page of the map one sector moves"
        part.put("ftl.map.fetch_size", f"{_SECTOR}B", why)
        why = "--as mqsim: a number of pages and a bit for each sector are an entry in flash"
        part.put("ftl.map.entry_size", f"{_map_entry_bytes(part, flash, numbers=1)}B", why)


def _starts_empty(part: Drive, device: Sheet) -> None:
    """Leave MQSim's blocks empty beside those that hold what may be read, where it begins with all empty."""
    if not device.has("Enabled_Preconditioning") or device.flag("Enabled_Preconditioning"):
        return
    part.starts_empty = True
    geometry, ftl = part.table["geometry"], part.table["ftl"]
    blocks = geometry["blocks_per_plane"]
    # Whole blocks: planes that begin with another page of a block are out of step for good.
    filled = math.ceil(blocks / (1 + ftl["over_provisioning"]))
    why = f"Block_No_Per_Plane, and with Enabled_Preconditioning = false {filled} more for what is read"
    part.put("geometry.blocks_per_plane", blocks + filled, f"--as mqsim: {why}")
    # Rounded down: the last page is there for the host.
    spare = math.floor(1e9 * blocks / filled) / 1e9
    why = "Overprovisioning_Ratio, to whole blocks; --as mqsim: and the blocks that are empty"
    part.put("ftl.over_provisioning", spare, why)


def _map_entry_bytes(part: Drive, flash: Sheet, numbers: int = 2) -> int:
    """Return what an entry takes of MQSim's cached map: two `numbers` of pages and a bit for each sector."""
    blocks, pages = flash.count("Block_No_Per_Plane", 1), flash.count("Page_No_Per_Block", 1)
    number = math.log2(math.prod(part.resources) * blocks * pages)
    return math.ceil((numbers * number + flash.count("Page_Capacity", _SECTOR) // _SECTOR) / 8)


def _victim(part: Part, device: Sheet, blocks: int) -> None:
    name = device.one_of("GC_Block_Selection_Policy", ("RGA", *_VICTIMS))
    source = f"GC_Block_Selection_Policy = {name}"
    if name == "RGA":
        victim = {"policy": "d-choices", "d": max(1, int(math.log2(blocks)))}
        part.put("ftl.victim", victim, f"{source}, whose set is log2 of the blocks of a plane")
        return
    word, what = _VICTIMS[name]
    part.put("ftl.victim", word, source + what)


def _link(part: Part, host: Sheet) -> None:
    lanes, rate = host.count("PCIe_Lane_Count", 1, 64), host.number("PCIe_Lane_Bandwidth", 0.001, 1000)
    source = "PCIe_Lane_Bandwidth x PCIe_Lane_Count"
    if part.as_mqsim:
        rate *= _PACKET / (_PACKET + _PACKET_HEAD)
        source += f"; --as mqsim: {_PACKET_HEAD} B go before each {_PACKET} B of data"
        part.put("controller.link_carries", "commands", "--as mqsim: entries and completions cross, too")
        part.put("controller.link_reads", "whole", "--as mqsim: data of a read cross when all are there")
    part.put("controller.link_rate", f"{round(lanes * rate * 1e9)}B/s", source)


def _sata(part: Part, host: Sheet, device: Sheet) -> None:
    """Say what SATA is: in MQSim a queue over the PCIe link both ways, in hardware one link and NCQ."""
    depth = device.count("IO_Queue_Depth", 1, 65535)
    if part.as_mqsim:
        _link(part, host)
        part.put("controller.queue_depth", depth, "IO_Queue_Depth; --as mqsim: more than NCQ numbers, too")
    else:
        part.put("controller.interface", "sata", "HostInterface_Type")
        part.put("controller.link_rate", "600MB/s", "SATA of 6 Gb/s, of which MQSim's files say nothing")
        part.put("controller.queue_depth", min(depth, 32), "IO_Queue_Depth, of which NCQ numbers 32")
        part.idle("of NVMe: SATA has a link of its own", "PCIe_Lane_Count", "PCIe_Lane_Bandwidth")
    delay = host.count("SATA_Processing_Delay", 0)
    part.put("controller.command_cost", f"{delay}ns", "SATA_Processing_Delay, one command after the other")
    part.idle("of NVMe: SATA has one queue", "Queue_Fetch_Size")


def _controller(part: Drive, host: Sheet, device: Sheet, cached: bool, flows: int) -> None:
    if device.one_of("HostInterface_Type", ("NVME", "SATA")) == "NVME":
        _link(part, host)
        fetched = min(device.count(tag, 1, 65535) for tag in ("IO_Queue_Depth", "Queue_Fetch_Size"))
        part.fetched_of_each = fetched
        of_each = f", of each of {flows} flows" if flows > 1 else ""
        part.put(
            "controller.queue_depth",
            min(fetched * flows, 65535),
            f"the smaller of Queue_Fetch_Size and IO_Queue_Depth{of_each}",
        )
        part.put("controller.command_cost", "0ns", "the controller takes no time per command")
        part.idle("of SATA", "SATA_Processing_Delay")
    else:
        _sata(part, host, device)
    mechanism = device.one_of("Caching_Mechanism", ("SIMPLE", "ADVANCED"))
    if cached:
        part.put(
            "controller.write_completion", "buffer", f"Device_Level_Data_Caching_Mode, {mechanism} cache"
        )
        if part.as_mqsim:
            why = "--as mqsim: what the cache has not of a page that waits is read from its chip"
            part.put("controller.forwards", "written", why)
        return
    part.put("controller.write_completion", "program", "Device_Level_Data_Caching_Mode has no write cache")
    if part.as_mqsim:
        part.put(
            "controller.buffered_pages",
            memory.UNBOUNDED_PAGES,
            "--as mqsim: any number of writes wait for their dies",
        )
        why = "--as mqsim: a page that waits for its program is read from its chip, also to be merged"
        part.put("controller.forwards", "nothing", why)
    of_cache = [tag for tag, _ in device.values() if tag.startswith("Data_Cache_")]
    part.idle("no flow writes through a cache", "Caching_Mechanism", *of_cache)


def _merged(part: Drive) -> None:
    """Say which commands are merged."""
    if not part.as_mqsim:
        why = "commands to two planes of a die are merged only now and then"
        part.put("scheduler.multi_plane", False, why)
        return
    why = "--as mqsim: commands to planes of a die are merged"
    part.put("scheduler.multi_plane", True, why)
    why = "--as mqsim: of all that wait"
    part.put("scheduler.merge_window", memory.UNBOUNDED_PAGES, why)
    why = "--as mqsim: those of equal page numbers, of any block, in any order within a block"
    if part.starts_empty:
        why += "; a page that was never written has its place when it is read first"
    part.put("scheduler.merge_by", "touch" if part.starts_empty else "write", why)
    part.put("nand.any_page", True, "--as mqsim: what is merged there keeps the order of its plane here")


def _scheduler(part: Drive, device: Sheet, flash: Sheet) -> None:
    if (
        device.one_of("Transaction_Scheduling_Policy", ("PRIORITY_OUT_OF_ORDER", "OUT_OF_ORDER"))
        == "OUT_OF_ORDER"
    ):
        part.no_classes = "Transaction_Scheduling_Policy = OUT_OF_ORDER has no classes"
    elif device.one_of("HostInterface_Type", ("NVME", "SATA")) == "SATA":
        part.no_classes = "of NVMe: SATA has one queue"
    why = "Transaction_Scheduling_Policy: reads, programs, erases"
    part.put("scheduler.transactions", "reads-first", why)
    if part.as_mqsim:
        why = "--as mqsim: a channel asks for commands when no read data wait"
        part.put("scheduler.channel", "read-data-first", why)
    _merged(part)
    if part.as_mqsim or not flash.has("CMD_Suspension_Support"):
        return
    if "ERASE" not in flash.one_of("CMD_Suspension_Support", ("NONE", "ERASE", "PROGRAM", "PROGRAM_ERASE")):
        part.put("scheduler.suspend", "none", "CMD_Suspension_Support: no erase is suspended")
        part.idle("of erases that are suspended, and none is", "Suspend_Erase_Time")
        return
    part.put("scheduler.suspend", "immediate", "CMD_Suspension_Support: erases, for reads")
    if flash.has("Suspend_Erase_Time"):
        recover = f"{flash.count('Suspend_Erase_Time', 0, _NS)}ns"
        part.put("nand.suspend_recover", recover, "Suspend_Erase_Time")
