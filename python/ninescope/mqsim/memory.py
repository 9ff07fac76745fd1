"""What MQSim calls its data cache: a cache or a buffer of pages in DRAM, and how long DRAM takes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ninescope.mqsim.report import Drive, Part
from ninescope.mqsim.settings import CARRIED

if TYPE_CHECKING:
    from ninescope.mqsim.document import Sheet

UNBOUNDED_PAGES = 65535
"""So many pages of a buffer are as good as no bound."""
_SECTOR = 512
_NS = 1 << 40
# What makes the rate of DRAM, and the time of an access beside its data.
_RATE = ("Data_Cache_DRAM_Data_Rate", "Data_Cache_DRAM_Data_Busrt_Size")
_ACCESS = ("Data_Cache_DRAM_tRCD", "Data_Cache_DRAM_tCL", "Data_Cache_DRAM_tRP")
_ROW = "Data_Cache_DRAM_Row_Size"
# MQSim knows all pages that were written within a second; a drive writes no more than so many.
_WRITTEN_IN_A_SECOND = 1 << 19
# Up to here the times of sizes are told.
_LARGEST = 1 << 20
# Banks of a cache in DRAM, where nothing else is said.
_BANKS = 8


@dataclasses.dataclass(frozen=True)
class OfFlow:
    """What a flow that writes is like."""

    cached: bool
    """It writes through the cache."""
    sectors_of_page: Callable[[int], float]
    """How many sectors of a page of so many a write has."""
    waiting: Callable[[int], int]
    """So many pages, of so many sectors, it has under way at a time at most."""


@dataclasses.dataclass(frozen=True)
class Written:
    """What is written through a cache, in the mean of the flows, and by each of them."""

    flows: list[OfFlow | None]
    """None of one that reads alone."""
    sectors_of_page: Callable[[int], float]
    """How many sectors of a page of so many a write has."""
    sizes: Callable[[], Mapping[int, float]]
    """The shares of requests of so many sectors; none where they are not known."""


@dataclasses.dataclass(frozen=True)
class Times:
    """The times of DRAM as the file gives them."""

    rate: float
    """Transfers in a microsecond [1/us]."""
    burst: int
    """Bytes of one of them [B]."""
    row: int
    """Bytes of a row [B]."""
    open: int
    """Opening a row and asking for a column of it [ns]."""
    close: int
    """Closing it [ns]."""

    def as_mqsim(self, size: int) -> float:
        """Say how long MQSim has DRAM work for so many bytes [ns]: `estimate_dram_access_time`.

        Its bursts take half of their time, and of what lies beyond a row half of the rows are left out, and
        what is left of the last one is divided by the time of a burst.
        """
        per_burst = 1e3 / self.rate
        if size <= self.row:
            return self.open + int(size // self.burst // 2 * per_burst)
        of_row = int(self.row // self.burst // 2 * per_burst + self.close)
        rest = int(size % self.row / (self.burst * per_burst))
        return self.open + of_row * (size // self.row // 2) + self.open + rest


def bound_writes(part: Drive, device: Sheet, flash: Sheet, written: Written) -> None:
    """Bound the writes that wait for their programs, as MQSim does.

    Flows that share no cache have the bound each for itself, and those that write past it have none: they
    have parts of the buffer, and what is left is for the others and for what leaves the cache.
    """
    sectors = math.prod(part.resources) * flash.count("Page_Capacity", 512, 1 << 20) // _SECTOR
    page = _page_bytes(part) // _SECTOR
    of_page = written.sectors_of_page(page)

    def bound(of_page: float) -> int:
        return max(1, min(round(sectors / of_page), UNBOUNDED_PAGES))

    apart = len(written.flows) > 1 and not _is_shared(device)
    part.cache_bound = bound(of_page)
    room = (UNBOUNDED_PAGES - part.cache_bound) // len(written.flows)
    for flow in written.flows:
        pages = None
        if flow is not None and not flow.cached:
            pages = max(part.cache_bound, flow.waiting(page))
        elif flow is not None and apart:
            pages = bound(flow.sectors_of_page(page))
        part.buffer_parts.append(None if pages is None else min(pages, room))
    own = sum(pages for pages in part.buffer_parts if pages is not None)
    of_all = "of each flow" if apart else "of all together"
    why = (
        f"--as mqsim: the sectors of a page for each plane, {of_all}, wait for their programs, "
        f"whatever the capacity; a write has {of_page:.4g} sectors of a page in the mean"
    )
    pages = min(part.cache_bound + own, UNBOUNDED_PAGES)
    part.put("controller.shared_buffered_pages", pages, why)
    part.put("controller.buffered_pages", pages, "--as mqsim: any of them may be those of one die")


def keep_rewritten(part: Drive, device: Sheet, written: Written) -> None:
    """Keep in the cache what is written again: what MQSim has written within a second stays there."""
    cache, why = _of_banks(part, device)
    part.put("dram.cache", f"{cache}B", why)
    _write_through(part, device, written, cache)
    stays = "--as mqsim: what was written in this second stays in the cache, the rest is programmed at once"
    slots, waiting = cache // _page_bytes(part), part.cache_bound
    free = {"evict_free": float(f"{waiting / slots:.4g}")} if waiting < slots else {}
    known = min(max(1, _WRITTEN_IN_A_SECOND // slots), 1000)
    lately = {"recent_writes": float(known), "forget_every": "1s"}
    part.put("tier.placement", {"policy": "rewritten", **lately, **free}, stays)
    _parts(part, device)
    if not _is_shared(device) and len(written.flows) > 1:
        part.put("dram.jobs_in_turn", True, "--as mqsim: flows that share no cache have DRAM in turn")


def write_back(part: Drive, device: Sheet) -> None:
    """Put a cache of writes and reads into DRAM."""
    cache, why = _of_banks(part, device)
    part.put("dram.capacity", f"{cache}B", why)
    _times(part, device)
    why = "Device_Level_Data_Caching_Mode = WRITE_READ_CACHE: what is written and what is read"
    part.put("tier.placement", {"policy": "wb", "copy_reads": True}, why)
    _parts(part, device)


def cache_reads(part: Drive, device: Sheet) -> None:
    """Put a cache of reads alone into DRAM."""
    cache, why = _of_banks(part, device)
    part.put("dram.capacity", f"{cache}B", why)
    _times(part, device)
    part.put("tier.placement", "read-cache", "Device_Level_Data_Caching_Mode = READ_CACHE: what is read")
    _parts(part, device)


def buffer_writes(part: Drive, device: Sheet) -> None:
    """Let the cache be a buffer of pages that are programmed at once, which lies in DRAM."""
    pages = _pages_per_die(part, device.count("Data_Cache_Capacity"))
    part.put("controller.buffered_pages", pages, "Data_Cache_Capacity, an equal share for each die")
    if not _has_times(device):
        return
    bytes_ = (pages * _dies(part) + _filling(part)) * _page_bytes(part)
    part.put("dram.capacity", f"{bytes_}B", "the buffer, and a page that fills for each plane")
    part.put("dram.write_buffer", True, "Device_Level_Data_Caching_Mode: what is written lies in DRAM")
    _times(part, device)


# ---- room ------------------------------------------------------------------------------------------------


def _of_banks(part: Drive, device: Sheet) -> tuple[int, str]:
    """Return the size of a cache of whole pages for each bank [B], and why it is that."""
    pages = device.count("Data_Cache_Capacity") // _page_bytes(part)
    banks = min(_BANKS, max(1, pages))
    if banks < _BANKS:
        part.put("dram.banks", banks, "a page for each")
    whole = max(1, pages // banks) * banks * _page_bytes(part)
    return whole, "Data_Cache_Capacity" + (f", in whole pages for each of {banks} banks" if banks > 1 else "")


def _write_through(part: Drive, device: Sheet, written: Written, cache: int) -> None:
    """Have what is written go through DRAM once, beside a cache of so many bytes."""
    pages = part.table["controller"]["shared_buffered_pages"]
    bytes_ = cache + (pages + _filling(part)) * _page_bytes(part)
    beside = "the cache, " if cache else ""
    part.put("dram.capacity", f"{bytes_}B", f"{beside}the pages that wait, and one that fills for each plane")
    part.put("dram.write_buffer", True, "--as mqsim: what is written goes into DRAM first")
    part.put("dram.cut_through", True, "--as mqsim: what is programmed at once is not read from there")
    _times_as_mqsim(part, device, written)


def _parts(part: Drive, device: Sheet) -> None:
    """Give each flow a part of a cache, where they do not share it."""
    if not _is_shared(device):
        part.put("tier.parts", "separate", "Data_Cache_Sharing_Mode = EQUAL_PARTITIONING")
        part.say("Data_Cache_Sharing_Mode", CARRIED, "")


def _is_shared(device: Sheet) -> bool:
    tag = "Data_Cache_Sharing_Mode"
    return not device.has(tag) or device.one_of(tag, ("SHARED", "EQUAL_PARTITIONING")) == "SHARED"


def _page_bytes(part: Part) -> int:
    return int(str(part.table["geometry"]["page_size"]).removesuffix("B"))


def _dies(part: Part) -> int:
    geometry = part.table["geometry"]
    dies: int = geometry["channels"] * geometry["packages_per_channel"] * geometry["dies_per_package"]
    return dies


def _filling(part: Part) -> int:
    planes: int = part.table["geometry"]["planes_per_die"]
    return _dies(part) * planes


def _pages_per_die(part: Part, capacity: int) -> int:
    return max(1, min(capacity // _page_bytes(part) // _dies(part), UNBOUNDED_PAGES))


# ---- times -----------------------------------------------------------------------------------------------


def _times(part: Drive, device: Sheet) -> None:
    """Say how long DRAM takes: a burst for each transfer, and a row that is closed, opened and asked."""
    if not _has_times(device):
        part.put("dram.rate", "1000GB/s", "the file says nothing of its times")
        part.put("dram.access", "0ns", "the file says nothing of its times")
        return
    mega = math.prod(device.number(tag, 1e-3, 1e9) for tag in _RATE)
    part.put("dram.rate", f"{max(1, round(mega * 1e6))}B/s", " x ".join(_RATE))
    access = sum(device.count(tag, 0, _NS) for tag in _ACCESS)
    part.put("dram.access", f"{access}ns", " + ".join(_ACCESS))


def _times_as_mqsim(part: Drive, device: Sheet, written: Written) -> None:
    """Say how long MQSim has DRAM work, by the mean of what is written."""
    sizes = written.sizes() or {_page_bytes(part) // _SECTOR: 1.0}
    times = _of_file(device)
    mean = sum(share * sectors * _SECTOR for sectors, share in sizes.items()) / sum(sizes.values())
    taken = sum(share * times.as_mqsim(sectors * _SECTOR) for sectors, share in sizes.items())
    taken = taken / sum(sizes.values()) - times.open
    rate = min(max(1, round(mean / max(taken, 1e-3) * 1e9)), 10**12)
    why = (
        f"{', '.join((*_RATE, _ROW, _ACCESS[-1]))}; --as mqsim: by its formula, where a transfer takes half "
        f"of its time and what lies beyond a row is miscounted, {mean:.0f} B, the mean of a write, take "
        f"{taken + times.open:.0f} ns"
    )
    part.put("dram.rate", f"{rate}B/s", why)
    part.put("dram.access", f"{times.open}ns", "Data_Cache_DRAM_tRCD + Data_Cache_DRAM_tCL")
    largest = min(max(sizes) * _SECTOR, _LARGEST)
    if largest > times.row:
        of_sizes = range(_SECTOR, largest + 1, _SECTOR)
        points = [(size, round(times.as_mqsim(size) - times.open)) for size in of_sizes]
        told = [{"size": f"{size}B", "time": f"{time}ns"} for size, time in _corners(points)]
        part.put("dram.transfer_times", told, "--as mqsim: the same formula, of what is let in together")


def _corners(points: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Keep the points between which all others lie on straight lines from the origin on, to 1 ns."""
    kept, first = [(0, 0)], 0
    for number, (size, time) in enumerate(points):
        begin, of_begin = kept[-1]
        slope = (time - of_begin) / (size - begin)
        between = points[first:number]
        if any(abs(of_begin + slope * (one - begin) - taken) > 1 for one, taken in between):
            kept.append(points[number - 1])
            first = number
    return [*kept[1:], points[-1]]


def _of_file(device: Sheet) -> Times:
    """Read them; what the file does not give MQSim has from itself."""

    def count(tag: str, own: int, least: int = 0) -> int:
        return device.count(tag, least, _NS) if device.has(tag) else own

    rate, burst = _RATE
    opens = count("Data_Cache_DRAM_tRCD", 13) + count("Data_Cache_DRAM_tCL", 13)
    return Times(
        rate=device.number(rate, 1e-3, 1e9) if device.has(rate) else 800.0,
        burst=count(burst, 4, 1),
        row=count(_ROW, 8192, 1),
        open=opens,
        close=count("Data_Cache_DRAM_tRP", 13),
    )


def _has_times(device: Sheet) -> bool:
    return all(device.has(tag) for tag in (*_RATE, *_ACCESS))
