"""An ssdconfig.xml of MQSim as a drive."""

from __future__ import annotations

import dataclasses
import math

from ninescope.mqsim.document import Sheet, read
from ninescope.mqsim.report import Left, Part

_CELLS = {"SLC": ("LSB",), "MLC": ("LSB", "MSB"), "TLC": ("LSB", "CSB", "MSB")}
_NS = 1 << 40
_UNBOUNDED_PAGES = 65535
# What MQSim builds in for NVDDR2: the command and address cycles of a one-plane command.
_COMMAND_ADDRESS_NS = 290
# What MQSim adds to the time of each read of an array.
_READ_MORE_NS = 20
# MQSim starts collecting at this many free blocks of a plane, however small the threshold.
_GC_BLOCKS_LEAST = 10

_NO_DRAM = "the controller's DRAM takes no time"
_NO_MAP = "the whole map is in DRAM: no miss reads flash"
_NO_SUSPEND = "MQSim never reaches its code for suspending"
_HOST_LEFT = {
    "Enable_ResponseTime_Logging": "use --log-requests or series.parquet",
    "ResponseTime_Logging_Period_Length": "use --log-requests or series.parquet",
}
_DEVICE_LEFT = {
    "Seed": "another random sequence; --seed chooses one",
    "Enabled_Preconditioning": "--prefill says what the drive holds",
    "Data_Cache_Sharing_Mode": "one host queue shares everything",
    "Data_Cache_DRAM_Row_Size": _NO_DRAM,
    "Data_Cache_DRAM_Data_Rate": _NO_DRAM,
    "Data_Cache_DRAM_Data_Busrt_Size": _NO_DRAM,
    "Data_Cache_DRAM_tRCD": _NO_DRAM,
    "Data_Cache_DRAM_tCL": _NO_DRAM,
    "Data_Cache_DRAM_tRP": _NO_DRAM,
    "CMT_Capacity": _NO_MAP,
    "CMT_Sharing_Mode": _NO_MAP,
    "Use_Copyback_for_GC": "no copyback: moved pages cross the channel",
    "Preemptible_GC_Enabled": "no counterpart; the scheduling policy orders host and garbage collection",
    "GC_Hard_Threshold": "only matters to preemptible garbage collection",
    "Static_Wearleveling_Enabled": "no static wear levelling",
    "Static_Wearleveling_Threshold": "no static wear levelling",
    "Preferred_suspend_erase_time_for_read": _NO_SUSPEND,
    "Preferred_suspend_erase_time_for_write": _NO_SUSPEND,
    "Preferred_suspend_write_time_for_read": _NO_SUSPEND,
    "Prefered_suspend_erase_time_for_read": _NO_SUSPEND,
    "Prefered_suspend_erase_time_for_write": _NO_SUSPEND,
    "Prefered_suspend_write_time_for_read": _NO_SUSPEND,
}
_FLASH_LEFT = {
    "CMD_Suspension_Support": _NO_SUSPEND,
    "Suspend_Erase_Time": _NO_SUSPEND,
    "Suspend_Program_Time": _NO_SUSPEND,
    "Page_Metadat_Capacity": "spare bytes are neither stored nor moved (MQSim does not move them either)",
}


@dataclasses.dataclass
class Drive(Part):
    """A drive, and how many channels, chips per channel, dies per chip and planes per die MQSim gives it."""

    resources: tuple[int, int, int, int] = (0, 0, 0, 0)


def read_drive(
    path: str, *, page_bytes: int | None, cached: bool, one_command_per_chip: bool, as_mqsim: bool
) -> Drive:
    """Convert the file. Requests of `page_bytes`, below a page, want such pages; `cached`: writes are.

    With `as_mqsim` channel and dies do what MQSim does of the file, else what the file says of hardware.
    """
    root = read(path, "Execution_Parameter_Set")
    sections = {child.tag: child for child in root.children}
    for name in ("Host_Parameter_Set", "Device_Parameter_Set"):
        if name not in sections:
            from ninescope._native import ConfigError

            raise ConfigError(f"{path}: line {root.line}: <{root.tag}> has no <{name}>")
    host = Sheet(path, sections["Host_Parameter_Set"])
    device = Sheet(path, sections["Device_Parameter_Set"])
    nested = {child.tag: child for child in device.element.children if child.children}
    if "Flash_Parameter_Set" not in nested:
        device.text("Flash_Parameter_Set")
    flash = Sheet(path, nested["Flash_Parameter_Set"])
    part = Drive()
    part.table["summary"] = f"imported from MQSim's {path.rpartition('/')[2]}"
    together = "--as mqsim" if as_mqsim else "--one-command-per-chip" if one_command_per_chip else None
    _geometry(part, device, flash, page_bytes, together)
    _nand(part, device, flash, _READ_MORE_NS if as_mqsim else 0)
    _ftl(part, device, flash)
    _controller(part, host, device, cached)
    if cached:
        _buffer(part, device, flash, as_mqsim)
    device.one_of("Transaction_Scheduling_Policy", ("PRIORITY_OUT_OF_ORDER", "OUT_OF_ORDER"))
    part.put(
        "scheduler.transactions", "reads-first", "Transaction_Scheduling_Policy: reads, programs, erases"
    )
    if as_mqsim:
        part.put(
            "scheduler.channel",
            "read-data-first",
            "--as mqsim: a channel asks for commands when no read data wait",
        )
    part.put("scheduler.multi_plane", False, "commands to two planes of a die are merged only now and then")
    part.leave(host, _HOST_LEFT)
    part.leave(device, _DEVICE_LEFT)
    part.leave(flash, _FLASH_LEFT)
    for sheet in (host, device, flash):
        part.leave_unknown(sheet)
    part.left += [
        Left(tag, "", "not known to this importer")
        for tag in (set(sections) - {"Host_Parameter_Set", "Device_Parameter_Set"})
        | (set(nested) - {"Flash_Parameter_Set"})
    ]
    return part


def _geometry(part: Drive, device: Sheet, flash: Sheet, page_bytes: int | None, per_chip: str | None) -> None:
    dies, planes = flash.count("Die_No_Per_Chip", 1, 64), flash.count("Plane_No_Per_Die", 1, 4)
    together = f"{per_chip}: the dies of a chip are one"
    if per_chip and dies * planes > 4:
        flash.wrong(
            "Die_No_Per_Chip", f"{dies} dies of {planes} planes cannot stand for one die of at most 4"
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
    whole = page_bytes is None or page_bytes >= size or size % page_bytes != 0
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


def _nand(part: Part, device: Sheet, flash: Sheet, read_more: int) -> None:
    cell = flash.one_of("Flash_Technology", tuple(_CELLS))
    pages = _CELLS[cell]
    part.put("nand.cell", cell.lower(), "Flash_Technology")
    for key, word in (("read", "Read"), ("program", "Program")):
        tags = [f"Page_{word}_Latency_{page}" for page in pages]
        more = read_more if key == "read" else 0
        built_in = f", and {more} ns that MQSim builds in" if more else ""
        times = [f"{flash.count(tag, 1, _NS) + more}ns" for tag in tags]
        part.put(f"nand.{key}", times, ", ".join(tags) + built_in)
        for page in ("LSB", "CSB", "MSB"):
            if page not in pages:
                tag = f"Page_{word}_Latency_{page}"
                part.leave(flash, {tag: f"{cell} has no such page"})
    part.put("nand.erase_loop", f"{flash.count('Block_Erase_Latency', 1, _NS)}ns", "Block_Erase_Latency")
    part.put(
        "nand.endurance_cycles",
        flash.count("Block_PE_Cycles_Limit", 1, (1 << 32) - 1),
        "Block_PE_Cycles_Limit",
    )
    device.one_of("Flash_Comm_Protocol", ("NVDDR2",))
    part.put(
        "nand.command_address",
        f"{_COMMAND_ADDRESS_NS}ns",
        "Flash_Comm_Protocol = NVDDR2, whose times are built in",
    )
    width = device.count("Flash_Channel_Width", 1, 64)
    transfer_ns = int(1000 / device.number("Channel_Transfer_Rate", 1, 1000))
    part.put(
        "nand.channel_rate",
        f"{width * 1_000_000_000 // transfer_ns}B/s",
        f"Channel_Transfer_Rate x Flash_Channel_Width; cut to whole ns per transfer, {transfer_ns} here",
    )


def _ftl(part: Part, device: Sheet, flash: Sheet) -> None:
    device.one_of("Memory_Type", ("FLASH",))
    device.one_of("Address_Mapping", ("PAGE_LEVEL",))
    spare = device.number("Overprovisioning_Ratio", 0.001, 0.9)
    part.put(
        "ftl.over_provisioning",
        round(spare / (1 - spare), 7),
        f"Overprovisioning_Ratio {spare:g} of all flash, here of what the host sees",
    )
    part.put("ftl.frontier_planes", 1, "each plane has a frontier of its own")
    part.put("ftl.page_allocation", "static", "Plane_Allocation_Scheme")
    scheme = device.text("Plane_Allocation_Scheme").upper()
    if scheme != "CWDP":
        part.left.append(
            Left("Plane_Allocation_Scheme", scheme, "static striping is CWDP, whatever is asked for")
        )
    blocks = flash.count("Block_No_Per_Plane", 1, 1 << 24)
    threshold = max(int(device.number("GC_Exec_Threshold", 0, 1) * blocks), _GC_BLOCKS_LEAST)
    part.put(
        "ftl.gc_trigger",
        {"policy": "free-groups", "beyond_reserve": threshold - 1},
        f"GC_Exec_Threshold of {blocks} blocks, at least {_GC_BLOCKS_LEAST} of them; one is the reserve",
    )
    _victim(part, device, blocks)
    levelled = device.flag("Dynamic_Wearleveling_Enabled")
    part.put("ftl.free_block_choice", "least-worn" if levelled else "fifo", "Dynamic_Wearleveling_Enabled")
    if not device.flag("Ideal_Mapping_Table"):
        part.leave(device, {"Ideal_Mapping_Table": _NO_MAP})


def _victim(part: Part, device: Sheet, blocks: int) -> None:
    name = device.one_of(
        "GC_Block_Selection_Policy", ("GREEDY", "RGA", "RANDOM", "RANDOM_P", "RANDOM_PP", "FIFO")
    )
    if name == "RGA":
        victim: object = {"policy": "d-choices", "d": max(1, int(math.log2(blocks)))}
        source = "GC_Block_Selection_Policy = RGA, whose set is log2 of the blocks of a plane"
    else:
        victim = {"GREEDY": "greedy", "FIFO": "fifo"}.get(name, "random")
        source = f"GC_Block_Selection_Policy = {name}"
    part.put("ftl.victim", victim, source)
    if name in ("RANDOM_P", "RANDOM_PP"):
        part.left.append(
            Left("GC_Block_Selection_Policy", name, "taken as RANDOM: candidates are never all valid")
        )


def _controller(part: Part, host: Sheet, device: Sheet, cached: bool) -> None:
    if device.one_of("HostInterface_Type", ("NVME", "SATA")) == "NVME":
        lanes, rate = host.count("PCIe_Lane_Count", 1, 64), host.number("PCIe_Lane_Bandwidth", 0.001, 1000)
        part.put(
            "controller.link_rate", f"{round(lanes * rate * 1e9)}B/s", "PCIe_Lane_Bandwidth x PCIe_Lane_Count"
        )
        part.leave(host, {"SATA_Processing_Delay": "of SATA, and HostInterface_Type is NVME"})
        fetched = min(device.count("IO_Queue_Depth", 1, 65535), device.count("Queue_Fetch_Size", 1, 65535))
        part.put("controller.queue_depth", fetched, "the smaller of Queue_Fetch_Size and IO_Queue_Depth")
    else:
        device.wrong("HostInterface_Type", "only NVME is carried over")
    part.put("controller.command_cost", "0ns", "the controller takes no time per command")
    mechanism = device.one_of("Caching_Mechanism", ("SIMPLE", "ADVANCED"))
    if cached:
        part.put(
            "controller.write_completion", "buffer", f"Device_Level_Data_Caching_Mode, {mechanism} cache"
        )
    else:
        part.put(
            "controller.write_completion", "program", "Device_Level_Data_Caching_Mode has no write cache"
        )
        part.leave(device, {"Data_Cache_Capacity": "no flow writes through a cache"})


def _buffer(part: Drive, device: Sheet, flash: Sheet, as_mqsim: bool) -> None:
    if as_mqsim:
        bound = math.prod(part.resources) * flash.count("Page_Capacity", 512, 1 << 20)
        pages = max(1, min(bound // _page_bytes(part), _UNBOUNDED_PAGES))
        why = (
            "--as mqsim: a page for each plane, of all together, waits for its program, whatever the capacity"
        )
        part.put("controller.shared_buffered_pages", pages, why)
        part.put("controller.buffered_pages", pages, "--as mqsim: any of them may be those of one die")
        part.leave(device, {"Data_Cache_Capacity": "bounds what is rewritten in the cache alone"})
        return
    pages = _pages_per_die(part, device.count("Data_Cache_Capacity"))
    part.put("controller.buffered_pages", pages, "Data_Cache_Capacity, an equal share for each die")


def _page_bytes(part: Part) -> int:
    return int(part.table["geometry"]["page_size"].removesuffix("B"))


def _pages_per_die(part: Part, capacity: int) -> int:
    geometry = part.table["geometry"]
    dies: int = geometry["channels"] * geometry["packages_per_channel"] * geometry["dies_per_package"]
    return max(1, min(capacity // _page_bytes(part) // dies, _UNBOUNDED_PAGES))
