"""FlexECC against the same drive with BCH for everything: response, cleaning, and what becomes of bad pages.

The paper: Huang, Subedi, He, He, Zhou, "FlexECC: Partially Relaxing ECC of MLC SSD for Better Cache
Performance", USENIX ATC 2014 (slides). This only simulates: what it comes to is in `findings.py`, and what
was published and what would count as reproducing it are in files that nothing here may read.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import ninescope
from ninescope import toml
from ninescope.common import catalogue
from ninescope.papers import provenance
from ninescope.papers.experiment import Inferred, Point, Settings
from ninescope.papers.stand_ins import with_changes
from ninescope.simulation.traces import TemporaryFolder

if TYPE_CHECKING:
    import polars as pl

FLEXECC, BCH_SSD = "flexecc", "bch-ssd"
DRIVES = (FLEXECC, BCH_SSD)
WORKLOADS = {
    "fileserver": "File",
    "webserver": "Web",
    "varmail": "Mail",
    "oltp": "OLTP",
    "r75": "R_75",
    "r90": "R_90",
}
FILEBENCH = ("fileserver", "webserver", "varmail", "oltp")
"""Those of filebench, which mostly write."""
PREFILLED = ("r75", "r90")
"""Those that mostly read what is there."""

# ---- what is run: one shape for a quick and for a full run ---------------------------------------------

REQUESTS = 10_000_000
"""Pages that the drive is asked for; derived from the paper's counts of reads and its shares."""
SETS, SET_BLOCKS = 7424, 512
"""The cache, and so what the drive holds: 14.5 GiB, whole sets of flashcache."""
BLOCKS_PER_PLANE, DIES, PAGES_PER_BLOCK = 11_136, 8, 64
RESERVE_SHARE = 1 / 3
"""Of all blocks, that are spare; those of a plane are so many with it."""
FREE_SHARE = 0.05
"""Of all blocks, below which garbage is collected."""
GAIN = 2
"""Blocks of a plane that must be free beyond those before host writes go on."""
VICTIMS = {1.0: "random-invalid", 0.5: "greedy", 1.5: "random"}
"""Which block is collected; a rule has no multiples, so that the factor of sensitivity names another one."""
ORDERS = {1.0: "random", 0.5: "ascending", 1.5: "ascending"}
"""In which order the cache was filled; likewise."""
DISK_NS = 8e6
"""What the disk behind the cache takes."""
DISK_READS = 4
"""It serves so many at a time, as the cache lets it (`clean_ios_total`)."""
SCRUB_NS = 60e9
"""From one pass of the scrubber to the next."""
DIRTY_EXPIRE_NS = 30e9
"""After so long the file system writes what is dirty."""
QUICK_SCALE = 8
"""A quick run divides space and time by this: cache, files, spare blocks and requests are fewer by it, what
waits so long does so shorter by it, and rates are as they are. Counts are told times this."""
IDLE_SHARE = 0.02
"""Of the dies of BCH-SSD: requests come faster by so much that they are busy but for that."""
STRETCH = 1 / 3
"""Of the time of a run: dies are so busy in the busiest stretch as long as this."""
WRITTEN_SHARE = {"r75": 1 / 27.5, "r90": 1 / 61}
"""Of the blocks of the cache: those that R_75 and R_90 write."""
FILES_KIB = {"fileserver": 390 << 10, "webserver": 1000 << 10, "varmail": 260 << 10, "oltp": 320 << 10}
"""Of files that are written."""
RATE = 5_000.0
"""Requests of R_75 and R_90 a second, as in the shipped jobs."""
RBER = 1e-7
"""Of the errors put into the drive for the ledger."""
BITS_OF_A_REQUEST = 4096
"""So many bits can err with each request, of any page of the cache."""
PAGE_BYTES = 4096
BITS_OF_A_PAGE = 8 * PAGE_BYTES
"""Of which one that errs makes a bad page."""
RBERS = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5)
SWEEPS, QUICK_SWEEPS = 5, 3
"""Runs of each, with a seed each: with busy dies, what a run comes to scatters by some 3 %."""
RATES = {"fileserver": 665.0, "varmail": 1_215.0, "oltp": 10_400.0, "webserver": 14_000.0}
"""Operations a second, at which the share of reads is that of the paper."""
PAGE_CACHE = "1GiB"
"""It holds all files: what is read from the drive was written before."""

VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "dies 98 % busy in the mean of the run": {"stretch": 1.0},
    "dies 98 % busy in the busiest tenth of the run": {"stretch": 0.1},
    "dies 90 % busy": {"utilisation": 0.9},
    "dies 60 % busy": {"utilisation": 0.6},
    "victims are those with the fewest valid pages": {"victim": "greedy"},
    "the cache was filled by address": {"order": "ascending"},
    "garbage is collected in the background": {"trigger": "free-groups"},
    "the die is free while its page is decoded": {"holds_die": False},
    "a codeword of 512 B, eight times the time": {"codeword": "512B"},
    "reads go first": {"scheduler.transactions": "reads-first"},
}
"""What the paper leaves open, decided otherwise; no verdict rests on it."""
QUICK_VARIANTS = ("as it is", "dies 90 % busy", "victims are those with the fewest valid pages")
QUICK_VARIED = ("fileserver",)

FILES = "files that are written"
FATES: dict[str, tuple[str, float]] = {
    "as it is": ("", 1.0),
    "the scrubber passes every 10 s": ("scrub.period", 1 / 6),
    "the scrubber passes every 2 s": ("scrub.period", 1 / 30),
    "the files that are written are a third of the cache": (FILES, 12.0),
}
"""What may decide what becomes of bad pages: an inferred value each, and its multiple."""
FATES_OF = ("fileserver", "r75", "r90")

OF_QUANTITATIVE_LEDGERS = ("fileserver", "r75", "r90")
"""Those whose bad pages a brief run counts."""

INFERRED = (
    Inferred(
        "dies", "8", "no shape is published: the elements of DiskSim's SSD extension; the capacity stays"
    ),
    Inferred(
        "size of the cache",
        "14.5 GiB, 3.80 million pages of 4 KiB",
        "not published, chosen (values.toml): as many clean pages are moved by all that write, each once",
    ),
    Inferred(
        "blocks in reserve",
        "a third of all blocks",
        "not published, chosen (values.toml): more than a million pages have to be free before garbage is"
        " collected; DiskSim's default of 15 % leaves too few",
    ),
    Inferred(
        "ftl.victim",
        "any block with something invalid (varied: greedy, and any block at all)",
        "not published, chosen (values.toml): a page is moved once and not again; a rule of DiskSim's SSD"
        " extension, whose default is greedy",
    ),
    Inferred(
        "order in which the cache was filled",
        "random (varied: by address)",
        "the slides fill it by misses of the cache, which come in no order of addresses",
    ),
    Inferred(
        "idle share of the dies",
        f"{IDLE_SHARE}, on BCH-SSD with busy dies",
        "no load is published: chosen once, for what R_90 gains; the idle share is varied and not the busy"
        " one",
    ),
    Inferred(
        "busiest stretch",
        "a third of the run, in which dies are so busy",
        "not published, chosen (values.toml): workloads that write collect garbage in phases, and would be"
        " overloaded in them at such a load of the whole run",
    ),
    Inferred(
        "ftl.gc_trigger",
        "5 % of all blocks are free",
        "not published: the low watermark of DiskSim's SSD extension",
    ),
    Inferred(
        "ftl.gc_trigger.gain",
        "2 blocks",
        "not published: the high watermark of DiskSim's SSD extension is one block above the low one, and is"
        " passed",
    ),
    Inferred(
        "geometry.pages_per_block",
        "64 pages of 4 KiB",
        "not published: the default of DiskSim's SSD extension; the capacity stays",
    ),
    Inferred(
        "part that R_75 and R_90 write",
        "1/27.5 and 1/61 of the cache",
        "not published, chosen (values.toml): reads go to all pages alike",
    ),
    Inferred(
        FILES,
        "390 MiB of File, 260 of Mail, 320 of OLTP; of Web a log of 1,000",
        "not published, chosen (values.toml) for each workload: as many clean pages are moved whatever is"
        " written; by a rule that reads nothing else",
    ),
    Inferred(
        "latency of the disk", "8 ms, four at a time", "not published: 5 to 10 ms are customary; chosen"
    ),
    Inferred(
        "bits that can err",
        "4096 with each request, of pages of 4 KiB anywhere in the cache",
        "not published, chosen (values.toml): 4107 bad pages at 1e-7 are 4096 bits of ten million requests,"
        " or 1.26 million pages",
    ),
    Inferred(
        "scrub.period",
        "60 s of the workload's time",
        "not published, chosen (values.toml)",
    ),
    Inferred(
        "file_system.dirty_expire",
        "30 s",
        "not published: what the operating system does when nothing is set",
    ),
    Inferred(
        "page cache",
        "1 GiB",
        "chosen: it holds all files, as hardly any of the published reads are of clean data",
    ),
)
"""What the paper does not say; each is varied where it enters, in `describe` and in `Load`."""


def points(settings: Settings) -> list[Point]:
    """List the workloads, the sweep of errors, what is decided otherwise, and single requests."""
    each = [Point(name, {"kind": "workload", "workload": name}, weight=4) for name in WORKLOADS]
    decoders = Point("decoders", {"kind": "decoders"}, weight=0.1)
    if settings.brief:
        return [*each, decoders]
    sweeps = [
        Point(f"sweep/{index}", {"kind": "sweep", "workload": "fileserver", "index": index}, weight=11)
        for index in range(QUICK_SWEEPS if settings.quick else SWEEPS)
    ]
    varied = [
        Point(f"{name}/variants", {"kind": "variants", "workload": name}, weight=14)
        for name in (QUICK_VARIED if settings.quick else WORKLOADS)
    ]
    fates = [
        Point(f"{name}/fates", {"kind": "fates", "workload": name}, weight=3)
        for name in (() if settings.quick else FATES_OF)
    ]
    single = Point("single", {"kind": "single"}, weight=0.1)
    return [*each, *sweeps, *varied, *fates, single, decoders]


def simulate(point: Point, settings: Settings) -> dict[str, Any]:
    """Simulate one of them."""
    kind = point.parameters["kind"]
    if kind == "single":
        return single_requests(settings)
    if kind == "decoders":
        return decoders()
    seed = settings.seed + point.parameters.get("index", 0)
    workload = Load(point.parameters["workload"], dataclasses.replace(settings, seed=seed))
    if kind == "workload":
        speed = workload.speed()
        found = {"speed": speed, "runs": {name: workload.run(name, speed) for name in DRIVES}}
        if not settings.brief or workload.name in OF_QUANTITATIVE_LEDGERS:
            found["ledger"] = workload.run(FLEXECC, 1.0, rber=RBER)
        return found
    if kind == "sweep":
        speed = workload.speed()
        return {
            "runs": {
                f"{rber:g}": {name: workload.run(name, speed, rber=rber) for name in DRIVES} for rber in RBERS
            }
        }
    # No verdict rests on these: a full run has more of them, and not larger ones.
    small = Load(workload.name, dataclasses.replace(settings, quick=True))
    if kind == "fates":
        # R_75 and R_90 have no files.
        tried = [name for name, (value, _) in FATES.items() if workload.name in FILEBENCH or value != FILES]
        return {"runs": {name: fate(small, *FATES[name]) for name in tried}}
    names = QUICK_VARIANTS if settings.quick else tuple(VARIANTS)
    return {"runs": {name: varied(small, VARIANTS[name]) for name in names}}


def fate(workload: Load, value: str, factor: float) -> dict[str, Any]:
    """Run FlexECC as fast as requests come, with errors and with a multiple of an inferred value."""
    settings = workload.settings
    if value:
        settings = dataclasses.replace(settings, varied=value, factor=factor)
    return Load(workload.name, settings).run(FLEXECC, 1.0, rber=RBER)


def varied(workload: Load, words: Mapping[str, Any]) -> dict[str, Any]:
    """Run a workload with something decided otherwise: as fast as it comes, and with busy dies."""
    speed = workload.speed(words)
    return {
        "loaded": {name: workload.run(name, speed, words) for name in DRIVES},
        "unloaded": {name: workload.run(name, 1.0, words) for name in DRIVES},
    }


# ---- drives ----------------------------------------------------------------------------------------------


def describe(
    name: str,
    settings: Settings,
    words: Mapping[str, Any],
    *,
    speed: float = 1.0,
    rber: float = 0.0,
    until_ns: int = 0,
) -> dict[str, Any]:
    """Describe a drive: the preset, of another size, with what a variant decides otherwise.

    The scrubber and the disk keep the time of the workload, which comes `speed` times as fast. Errors come
    one after another from the beginning on.
    """
    preset = toml.loads(catalogue.preset(name).toml)
    changes = {**sizes(settings), **collection(preset, settings, words), **codes(preset, words)}
    if "backing_store" in preset:
        changes["backing_store.read"] = f"{disk_ns(settings, speed)}ns"
        changes["backing_store.parallel"] = DISK_READS
    if "scrub" in preset:
        period = round(settings.varying("scrub.period", SCRUB_NS) / scale_of(settings) / speed)
        changes["scrub.first"] = changes["scrub.period"] = f"{period}ns"
    if "scheduler.transactions" in words:
        changes["scheduler.transactions"] = words["scheduler.transactions"]
    if rber:
        of_a_bit = errors_of_a_bit(settings, rber)
        changes["nand.corruption"] = {"initial_rber": of_a_bit, "at": "0ns", "until": f"{until_ns}ns"}
    return with_changes(preset, changes)


def errors_of_a_bit(settings: Settings, rber: float) -> float:
    """Return what errs of a bit of the cache in a whole run, where so much errs of each request's."""
    bits = REQUESTS / scale_of(settings) * settings.varying("bits that can err", BITS_OF_A_REQUEST)
    return rber * bits / (cache_blocks(settings) * BITS_OF_A_PAGE)


def disk_ns(settings: Settings, speed: float) -> int:
    """Return what the disk behind the cache takes, in the time of the workload."""
    return round(settings.varying("latency of the disk", DISK_NS) / speed)


def shape(settings: Settings) -> tuple[int, int, int]:
    """Return dies, blocks of each, and their pages; more dies or larger blocks make no larger drive."""
    dies = round(settings.varying("dies", DIES))
    pages_per_block = round(settings.varying("geometry.pages_per_block", PAGES_PER_BLOCK))
    larger = (1 - RESERVE_SHARE) / (1 - settings.varying("blocks in reserve", RESERVE_SHARE))
    of_block = DIES * PAGES_PER_BLOCK / (dies * pages_per_block)
    of_cache = cache_blocks(settings) / (SETS // scale_of(settings) * SET_BLOCKS)
    return dies, round(BLOCKS_PER_PLANE * larger * of_block * of_cache / scale_of(settings)), pages_per_block


def sizes(settings: Settings) -> dict[str, Any]:
    """Make a drive as large as its cache and what is spare."""
    dies, blocks, pages_per_block = shape(settings)
    return {
        "geometry.channels": dies,
        "geometry.pages_per_block": pages_per_block,
        "geometry.blocks_per_plane": blocks,
        # Half a page below the share at which the cache fills it, whatever way the capacity is rounded.
        "ftl.over_provisioning": blocks * dies * pages_per_block / (cache_blocks(settings) + 0.5) - 1,
    }


def collection(preset: Mapping[str, Any], settings: Settings, words: Mapping[str, Any]) -> dict[str, Any]:
    """Decide when garbage is collected, and where."""
    blocks = shape(settings)[1]
    free = round(blocks * settings.varying("ftl.gc_trigger", FREE_SHARE))
    trigger: dict[str, Any] = {
        "policy": words.get("trigger", "foreground"),
        "beyond_reserve": free - preset["ftl"]["gc_reserve_blocks"],
    }
    if trigger["policy"] == "foreground":
        trigger["gain"] = round(settings.varying("ftl.gc_trigger.gain", GAIN))
    victim = VICTIMS[settings.varying("ftl.victim", 1.0)]
    return {"ftl.gc_trigger": trigger, "ftl.victim": words.get("victim", victim)}


def codes(preset: Mapping[str, Any], words: Mapping[str, Any]) -> dict[str, Any]:
    """Decide about codecs what a variant does."""
    changes: dict[str, Any] = {}
    for code in ("ecc", "edc"):
        if code in preset["nand"]:
            if "holds_die" in words:
                changes[f"nand.{code}.holds_die"] = words["holds_die"]
            if "codeword" in words:
                changes[f"nand.{code}.user_data"] = words["codeword"]
                if code == "ecc":
                    changes["nand.ecc.correctable"] = 6
    return changes


def scale_of(settings: Settings) -> int:
    """Say by what everything is smaller."""
    return QUICK_SCALE if settings.quick else 1


def cache_blocks(settings: Settings) -> int:
    """Return the blocks of the cache."""
    return round(settings.varying("size of the cache", SETS // scale_of(settings))) * SET_BLOCKS


# ---- workloads -------------------------------------------------------------------------------------------


class Load(NamedTuple):
    """A workload in front of a cache that is the whole drive, full of clean blocks."""

    name: str
    settings: Settings

    @property
    def scale(self) -> int:
        """Everything is smaller by this."""
        return scale_of(self.settings)

    @property
    def request_count(self) -> int:
        """What the drive is asked for."""
        return self.settings.requests(REQUESTS // self.scale)

    def speed(self, words: Mapping[str, Any] | None = None) -> float:
        """Return how much faster requests have to come for the dies of BCH-SSD to be busy."""
        words = words or {}
        idle = self.settings.varying("idle share of the dies", IDLE_SHARE)
        utilisation = words.get("utilisation", 1 - idle)
        return float(utilisation / at_its_rate(self, tuple(sorted(words.items())))["busy"])

    def duration_ns(self) -> float:
        """Return how long it takes at its own rate."""
        return float(at_its_rate(self, ())["simulated_s"] * 1e9)

    def run(
        self, name: str, speed: float, words: Mapping[str, Any] | None = None, *, rber: float = 0.0
    ) -> dict[str, Any]:
        """Run it on a drive, and keep what matters: see `result`."""
        return measure(self.result(name, speed, words or {}, rber=rber).document)

    def result(
        self, name: str, speed: float, words: Mapping[str, Any], *, rber: float = 0.0
    ) -> ninescope.Result:
        """Run it on a drive, so many times as fast as it comes; errors come as long as requests do."""
        until_ns = round(self.duration_ns() / speed) if rber else 0
        described = describe(name, self.settings, words, speed=speed, rber=rber, until_ns=until_ns)
        drive = ninescope.Drive.from_toml(toml.dumps(described))
        order = ORDERS[self.settings.varying("order in which the cache was filled", 1.0)]
        with tempfile.TemporaryDirectory(prefix="ninescope-") as folder:
            return drive.run(
                self.requests(Path(folder), speed),
                seed=self.settings.seed,
                requests=self.request_count,
                prefill_order=words.get("order", order),
            )

    def requests(self, folder: Path, speed: float) -> ninescope.Workload:
        """Return the requests of the disk behind the cache."""
        path = folder / "job.toml"
        if self.name in PREFILLED:
            path.write_text(toml.dumps({"host_cache": self.host_cache(speed)}), encoding="utf-8")
            trace = drawn(self)
            words = {**trace.words, "host_cache": str(path), "time_scale": 1 / speed}
            return dataclasses.replace(trace, words=words)
        job = {"file_system": self.file_system(speed), "host_cache": self.host_cache(speed)}
        path.write_text(toml.dumps(job), encoding="utf-8")
        return ninescope.Workload.job_file(path)

    def host_cache(self, speed: float) -> dict[str, Any]:
        """Describe the cache: the whole drive, full at the beginning."""
        disk = f"{disk_ns(self.settings, speed)}ns"
        return {
            "size": f"{cache_blocks(self.settings) * 4}KiB",
            "initial": "full",
            "fallow_delay": f"{round(900e9 / self.scale / speed)}ns",
            "clean_ios_total": DISK_READS,
            "disk_read_latency": disk,
            "disk_write_latency": disk,
        }

    def file_system(self, speed: float) -> dict[str, Any]:
        """Describe the file system of a shipped job, of another size and faster."""
        job = toml.loads(catalogue.preset(self.name).toml)
        found: dict[str, Any] = {key: value for key, value in job["file_system"].items() if key != "requests"}
        written = self.settings.varying(FILES, FILES_KIB[self.name]) / self.scale
        # A disk that holds those that there usually are holds no multiple of them.
        room = max(1.0, self.settings.varying(FILES, 1.0))
        page_cache = self.settings.varying("page cache", size(PAGE_CACHE))
        expire = self.settings.varying("file_system.dirty_expire", DIRTY_EXPIRE_NS)
        found |= {
            # Filebench makes its files just before.
            "warm": True,
            "disk_size": pages(size(found["disk_size"]) * room / self.scale),
            "page_cache": pages(page_cache / self.scale),
            "journal_size": pages((32 << 20) / self.scale),
            "dirty_expire": f"{round(expire / self.scale / speed)}ns",
            "rate_ops": RATES[self.name] * speed,
        }
        if self.name == "oltp":
            # Ten files at any scale: the files are smaller then.
            return found | {
                "mean_file_size": f"{round(written / 10)}KiB",
                "log_size": f"{round(10_240 / self.scale)}KiB",
            }
        if self.name == "webserver":
            # What is read is in any page cache. What is written is the log, which begins anew when so long.
            return found | {"files": round(1_000 / self.scale), "log_size": f"{round(written)}KiB"}
        return found | {"files": round(written / MEAN_FILE_KIB[self.name])}


MEAN_FILE_KIB = {"fileserver": 128, "varmail": 16}
"""Filebench's mean sizes of files."""


def pages(size_bytes: float) -> str:
    """Write a size, in whole pages."""
    return f"{round(size_bytes / 4096) * 4}KiB"


def size(text: str) -> int:
    """Read a size of the shipped jobs."""
    number, unit = text[:-3], text[-3:]
    return int(number) << {"KiB": 10, "MiB": 20, "GiB": 30}[unit]


@functools.lru_cache(maxsize=64)
def at_its_rate(workload: Load, words: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    """Run a workload on BCH-SSD with requests as fast as it makes them: how busy it is, and for how long.

    As busy as in the busiest stretch of the run: workloads that write collect garbage in phases.
    """
    others = {key: value for key, value in words if key not in {"utilisation", "stretch"}}
    result = workload.result(BCH_SSD, 1.0, others)
    found = measure(result.document)
    stretch = dict(words).get("stretch", workload.settings.varying("busiest stretch", STRETCH))
    return {
        **found,
        "busy": found["busy"] * busiest(result.to_polars("series"), held_by_each(result.document), stretch),
    }


def busiest(series: pl.DataFrame, each: Mapping[str, float], stretch: float) -> float:
    """Return how much busier dies are in the busiest stretch of a run, of that share of it, than in all.

    By what was done in each interval of the run, and how long one of each kind held a die in all of it.
    """
    import numpy as np

    host = series["host_written_bytes"].to_numpy() / PAGE_BYTES
    programmed = series["flash_programmed_bytes"].to_numpy() / PAGE_BYTES
    erased = series["flash_erased_bytes"].to_numpy() / (PAGE_BYTES * PAGES_PER_BLOCK)
    # What is collected is read first, and programmed.
    reads = series["reads"].to_numpy() + programmed - host
    held = reads * each["read"] + programmed * each["program"] + erased * each["erase"]
    # The last interval may be shorter.
    held = held[:-1] if len(held) > 1 else held
    length = min(len(held), max(1, round(stretch * len(held))))
    before = np.concatenate([[0.0], np.cumsum(held)])
    of_stretches = before[length:] - before[:-length]
    return float(of_stretches.max() / length / (before[-1] / len(held)))


@functools.lru_cache(maxsize=1)
def drawn(workload: Load) -> ninescope.Workload:
    """Draw R_75 or R_90, and keep it for the runs that follow."""
    folder = TemporaryFolder()
    path = Path(folder.path) / f"{workload.name}.parquet"
    draw_requests(workload).write_parquet(path)
    return ninescope.Workload.trace(path)


def draw_requests(workload: Load) -> pl.DataFrame:
    """Draw R_75 or R_90: single pages in a Poisson process, reads of any block, writes of a few.

    The blocks that are written lie anywhere in the cache.
    """
    import numpy as np
    import polars as pl

    settings = workload.settings
    blocks, count = cache_blocks(settings), workload.request_count
    few = round(blocks * settings.varying("part that R_75 and R_90 write", WRITTEN_SHARE[workload.name]))
    draws = np.random.Generator(np.random.PCG64(settings.seed))
    share = {"r75": 0.75, "r90": 0.9}[workload.name]
    reads = draws.random(count) < share
    written = np.argsort(draws.random(blocks))[:few]
    anywhere = (draws.random(count) * blocks).astype(np.int64)
    of_few = written[(draws.random(count) * len(written)).astype(np.int64)]
    times = np.cumsum(-np.log1p(-draws.random(count)) * (1e9 / RATE)).astype(np.int64)
    return pl.DataFrame(
        {
            "submitted_ns": times,
            "op": np.where(reads, "read", "write"),
            "lba": np.where(reads, anywhere, of_few) * 8,
            "sectors": np.full(count, 8, dtype=np.int64),
        }
    )


# ---- reading a result: the only place that knows its keys ------------------------------------------------

COUNTERS = {
    "ecc_reads": "ecc_reads",
    "edc_reads": "edc_reads",
    "edc_moved": "edc_moved",
    "ecc_moved": "ecc_moved",
    "ecc_to_edc": "ecc_to_edc",
    "corruptions": "corruptions",
    "corruptions_under_edc": "corruptions_under_edc",
    "disk_accesses": "refetches",
    "disk_accesses_of_moves": "refetches_for_moves",
    "prefetched": "prefetched",
    "corrected": "corrected",
    "never_met": "never_met",
}
"""Counters of a cache-oriented drive: their names here, and in a result."""
CLEANING = ("gc_read", "gc_program", "erase")
"""What a die does when it collects garbage."""
EACH = {
    "read": (("host_read", "gc_read"), ("host_reads", "gc_reads")),
    "program": (("host_program", "gc_program"), ("programs",)),
    "erase": (("erase",), ("erases",)),
}
"""What holds a die, and the operations that it is of."""


def held_ns(document: Mapping[str, Any]) -> dict[str, float]:
    """Return how long dies were held in all, by what for."""
    geometry = document["config"]["drive"]["geometry"]
    count_of_dies = math.prod(
        geometry[key] for key in ("channels", "packages_per_channel", "dies_per_package")
    )
    occupancy = document["utilisation"]["dies"]["occupancy"]
    return {name: share * document["measured_ns"] * count_of_dies for name, share in occupancy.items()}


def held_by_each(document: Mapping[str, Any]) -> dict[str, float]:
    """Return how long a read, a program and an erase each held a die [ns]."""
    held, operations = held_ns(document), document["operations"]
    found = {}
    for name, (holders, counted) in EACH.items():
        count = sum(operations[key] for key in counted)
        found[name] = sum(held.get(key, 0.0) for key in holders) / max(count, 1)
    return found


def measure(document: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what matters of a result."""
    hints = {name: (of["count"], of["mean_ns"]) for name, of in document["hints"].items()}
    requests = sum(count for count, _ in hints.values())
    held = held_ns(document)
    cache = (document.get("reliability") or {}).get("cache") or {}
    return {
        "requests": requests,
        "hints": {name: count for name, (count, _) in hints.items()},
        "response_ns": sum(count * mean for count, mean in hints.values()) / requests,
        "read_ns": mean_of(hints, ("host_read", "flush_read")),
        "write_ns": mean_of(hints, ("dirty_write", "clean_write")),
        "busy": 1 - document["utilisation"]["dies"]["occupancy"]["idle"],
        "cleaning_ns": sum(held.get(name, 0.0) for name in CLEANING),
        "gc_units": document["ftl"]["gc_units"],
        "erases": document["operations"]["erases"],
        "waf": document["waf"]["total"],
        "simulated_s": document["simulated_ns"] / 1e9,
        "cache": {name: cache.get(key) for name, key in COUNTERS.items()},
        provenance.KEY: provenance.of_run(document),
    }


def mean_of(hints: Mapping[str, tuple[int, float]], names: tuple[str, ...]) -> float | None:
    """Return the mean latency of several kinds of requests [ns]."""
    found = [hints[name] for name in names if hints.get(name, (0, 0.0))[0]]
    count = sum(one for one, _ in found)
    return sum(one * mean for one, mean in found) / count if count else None


# ---- single requests, and decoders -----------------------------------------------------------------------


def single_requests(settings: Settings) -> dict[str, Any]:
    """Let requests come one at a time: what a clean page takes on both drives."""
    found: dict[str, Any] = {}
    for name in DRIVES:
        # The scrubber would be in the way.
        alone = with_changes(describe(name, dataclasses.replace(settings, quick=True), {}), {"scrub": None})
        drive = ninescope.Drive.from_toml(toml.dumps(alone))
        of_drive = {}
        for op in ("read", "write"):
            job = ninescope.Workload.job(
                rw=f"rand{op}", bs="4KiB", iodepth=1, requests=settings.requests(1_000)
            )
            result = drive.run(job, seed=settings.seed, prefill="full")
            of_drive[op] = {
                "median_ns": getattr(result.latency, op).percentile(50),
                provenance.KEY: provenance.of_run(result.document),
            }
        found[name] = of_drive
    return found


DECODERS = (
    (8262, 8192, 5),
    (8360, 8192, 12),
    (9130, 8192, 67),
    (16459, 16384, 5),
    (16609, 16384, 15),
    (17914, 16384, 102),
)
"""Codes (n, k, t) whose decoders the paper lists."""


def decoders() -> dict[str, Any]:
    """Return how long the fitted decoder takes for the codes that the paper lists [us]."""
    found = {}
    for n, k, t in DECODERS:
        code = ninescope.Code.bch(user_data=f"{k // 8}B", correctable=t)
        if code.codeword_bits != n:
            raise RuntimeError(f"a code of {k} bits that corrects {t} has {code.codeword_bits} and not {n}")
        found[f"{n}-{k}-{t}"] = code.decode_time() / 1000
    return found
