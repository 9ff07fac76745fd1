"""FlexECC against the same drive with BCH for everything: response, cleaning, and what becomes of bad pages.

The paper: Huang, Subedi, He, He, Zhou, "FlexECC: Partially Relaxing ECC of MLC SSD for Better Cache
Performance", USENIX ATC 2014 (slides). Figures and acceptance live elsewhere; this only measures.
"""

from __future__ import annotations

import dataclasses
import functools
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import ninescope
from ninescope import catalogue, toml
from ninescope.papers.experiment import Point, Settings, Summary, Table
from ninescope.papers.stand_ins import with_changes
from ninescope.traces import TemporaryFolder

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
SETS, SET_BLOCKS = 2452, 512
"""The cache, and so what the drive holds: 4.79 GiB, whole sets of flashcache."""
BLOCKS_PER_PLANE, DIES, PAGES_PER_BLOCK = 2885, 8, 64
FREE_SHARE = 0.05
"""Of all blocks, below which garbage is collected."""
QUICK_SCALE = 8
"""A quick run divides space and time by this: cache, files, spare blocks and requests are fewer by it, what
waits so long does so shorter by it, and rates are as they are. Counts are told times this."""
UTILISATION = 0.9
"""Of the dies of BCH-SSD: requests come faster by so much that they are that busy."""
WRITTEN_SHARE = 64
"""R_75 and R_90 write one block of the cache in so many."""
RATE = 5_000.0
"""Requests of R_75 and R_90 a second, as in the shipped jobs."""
RBER = 1e-7
"""Of the errors put into the drive for the ledger."""
RBERS = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5)
FILES: dict[str, dict[str, Any]] = {
    # The page cache holds all files: what is read from the drive was written before.
    "fileserver": {"file_system.page_cache": "2GiB", "file_system.rate_ops": 575.0},
    "varmail": {"file_system.rate_ops": 1_240.0},
    "oltp": {"file_system.rate_ops": 10_400.0},
    "webserver": {},
}
"""Changes of the shipped jobs beside their cache: rates at which the share of reads is that of the paper."""

VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "dies 70 % busy": {"utilisation": 0.7},
    "dies 50 % busy": {"utilisation": 0.5},
    "the die is free while its page is decoded": {"holds_die": False},
    "a codeword of 512 B, eight times the time": {"codeword": "512B"},
    "reads go first": {"scheduler.transactions": "reads-first"},
}
"""What the paper leaves open, decided otherwise; no verdict rests on it."""
QUICK_VARIANTS = (
    "as it is",
    "the die is free while its page is decoded",
    "a codeword of 512 B, eight times the time",
)
QUICK_VARIED = ("fileserver", "r90")

Results = Mapping[str, dict[str, Any]]


def points(settings: Settings) -> list[Point]:
    """List the workloads, the sweep of errors, what is decided otherwise, and single requests."""
    each = [Point(name, {"kind": "workload", "workload": name}, weight=4) for name in WORKLOADS]
    sweep = Point("sweep", {"kind": "sweep", "workload": "fileserver"}, weight=11)
    varied = [
        Point(f"{name}/variants", {"kind": "variants", "workload": name}, weight=14)
        for name in (QUICK_VARIED if settings.quick else WORKLOADS)
    ]
    single = Point("single", {"kind": "single"}, weight=0.1)
    decoders = Point("decoders", {"kind": "decoders"}, weight=0.1)
    return [*each, sweep, *varied, single, decoders]


def simulate(point: Point, settings: Settings) -> dict[str, Any]:
    """Simulate one of them."""
    kind = point.parameters["kind"]
    if kind == "single":
        return single_requests(settings)
    if kind == "decoders":
        return decoders()
    workload = Load(point.parameters["workload"], settings)
    if kind == "workload":
        speed = workload.speed(UTILISATION)
        runs = {name: workload.run(name, speed) for name in DRIVES}
        return {"speed": speed, "runs": runs, "ledger": workload.run(FLEXECC, 1.0, rber=RBER)}
    if kind == "sweep":
        speed = workload.speed(UTILISATION)
        return {
            "runs": {
                f"{rber:g}": {name: workload.run(name, speed, rber=rber) for name in DRIVES} for rber in RBERS
            }
        }
    names = QUICK_VARIANTS if settings.quick else tuple(VARIANTS)
    return {"runs": {name: varied(workload, VARIANTS[name]) for name in names}}


def varied(workload: Load, words: Mapping[str, Any]) -> dict[str, Any]:
    """Run a workload with something decided otherwise: as fast as it comes, and with busy dies."""
    speed = workload.speed(words.get("utilisation", UTILISATION), words)
    return {
        "loaded": {name: workload.run(name, speed, words) for name in DRIVES},
        "unloaded": {name: workload.run(name, 1.0, words) for name in DRIVES},
    }


# ---- drives ----------------------------------------------------------------------------------------------


def describe(
    name: str, scale: int, words: Mapping[str, Any], rber: float = 0.0, at_ns: int = 0
) -> dict[str, Any]:
    """Describe a drive: the preset, smaller by a factor, with what a variant decides otherwise.

    Errors are put in at a time, and the scrubber begins then.
    """
    preset = toml.loads(catalogue.preset(name).toml)
    blocks = round(BLOCKS_PER_PLANE / scale)
    pages = blocks * DIES * PAGES_PER_BLOCK
    changes: dict[str, Any] = {
        "geometry.blocks_per_plane": blocks,
        # Half a page below the share at which the cache fills it, whatever way the capacity is rounded.
        "ftl.over_provisioning": pages / (cache_blocks(scale) + 0.5) - 1,
        "ftl.gc_trigger.beyond_reserve": round(blocks * FREE_SHARE) - preset["ftl"]["gc_reserve_blocks"],
    }
    for code in ("ecc", "edc"):
        if code in preset["nand"]:
            if "holds_die" in words:
                changes[f"nand.{code}.holds_die"] = words["holds_die"]
            if "codeword" in words:
                changes[f"nand.{code}.user_data"] = words["codeword"]
                if code == "ecc":
                    changes["nand.ecc.correctable"] = 6
    if "scheduler.transactions" in words:
        changes["scheduler.transactions"] = words["scheduler.transactions"]
    if rber:
        changes["nand.corruption"] = {"initial_rber": rber, "at": f"{at_ns}ns"}
        if "scrub" in preset:
            changes["scrub.first"] = f"{at_ns}ns"
    return with_changes(preset, changes)


def cache_blocks(scale: int) -> int:
    """Return the blocks of the cache."""
    return SETS // scale * SET_BLOCKS


# ---- workloads -------------------------------------------------------------------------------------------


class Load(NamedTuple):
    """A workload in front of a cache that is the whole drive, full of clean blocks."""

    name: str
    settings: Settings

    @property
    def scale(self) -> int:
        """Everything is smaller by this."""
        return QUICK_SCALE if self.settings.quick else 1

    def speed(self, utilisation: float, words: Mapping[str, Any] | None = None) -> float:
        """Return how much faster requests have to come for the dies of BCH-SSD to be so busy."""
        return float(utilisation / at_its_rate(self, tuple(sorted((words or {}).items())))["busy"])

    def duration_ns(self) -> float:
        """Return how long it takes at its own rate."""
        return float(at_its_rate(self, ())["simulated_s"] * 1e9)

    def run(
        self, name: str, speed: float, words: Mapping[str, Any] | None = None, *, rber: float = 0.0
    ) -> dict[str, Any]:
        """Run it on a drive, so many times as fast as it comes."""
        at_ns = round(self.duration_ns() / speed / 2) if rber else 0
        text = toml.dumps(describe(name, self.scale, words or {}, rber, at_ns))
        drive = ninescope.Drive.from_toml(text)
        with tempfile.TemporaryDirectory(prefix="ninescope-") as folder:
            workload = self.requests(Path(folder), speed)
            return measure(
                drive.run(workload, seed=self.settings.seed, requests=REQUESTS // self.scale).document
            )

    def requests(self, folder: Path, speed: float) -> ninescope.Workload:
        """Return the requests of the disk behind the cache."""
        path = folder / "job.toml"
        if self.name in PREFILLED:
            path.write_text(toml.dumps({"host_cache": self.host_cache(speed)}), encoding="utf-8")
            trace = drawn(self.name, self.scale, self.settings.seed)
            words = {**trace.words, "host_cache": str(path), "time_scale": 1 / speed}
            return dataclasses.replace(trace, words=words)
        job = toml.loads(catalogue.preset(self.name).toml)
        changes = {
            "summary": None,
            "file_system.requests": None,
            "file_system.warm": True,
            **FILES[self.name],
        }
        job = with_changes(job, changes)
        job = {"file_system": self.file_system(job, speed), "host_cache": self.host_cache(speed)}
        path.write_text(toml.dumps(job), encoding="utf-8")
        return ninescope.Workload.job_file(path)

    def host_cache(self, speed: float) -> dict[str, Any]:
        """Describe the cache: the whole drive, full at the beginning."""
        return {
            "size": f"{cache_blocks(self.scale) * 4}KiB",
            "initial": "full",
            "fallow_delay": f"{round(900e9 / self.scale / speed)}ns",
            "disk_read_latency": f"{round(8e6 / speed)}ns",
            "disk_write_latency": f"{round(8e6 / speed)}ns",
        }

    def file_system(self, job: Mapping[str, Any], speed: float) -> dict[str, Any]:
        """Describe the file system of a shipped job, smaller and faster."""
        # The webserver's files are told as a multiple of its cache, those of the others in files.
        grown = (
            SETS * SET_BLOCKS * 4096 / size(job["host_cache"]["size"]) if self.name == "webserver" else 1.0
        )
        factor = grown / self.scale
        found: dict[str, Any] = dict(job["file_system"])
        personality = PERSONALITIES[self.name]
        for key in ("disk_size", "page_cache"):
            found[key] = f"{round(size(found[key]) * factor / 4096) * 4}KiB"
        found["journal_size"] = f"{round((32 << 20) / self.scale / 4096) * 4}KiB"
        if self.name == "oltp":
            # Ten files at any scale: the files are smaller then.
            found["mean_file_size"] = f"{round(10_240 / self.scale)}KiB"
            found["log_size"] = f"{round(10_240 / self.scale)}KiB"
        else:
            found["files"] = round(found.get("files", personality) * factor)
        found["dirty_expire"] = f"{round(30e9 / self.scale / speed)}ns"
        found["rate_ops"] = found["rate_ops"] * speed
        return found


PERSONALITIES = {"fileserver": 10_000, "webserver": 1_000, "varmail": 1_000, "oltp": 10}
"""Files of filebench's own workloads."""


def size(text: str) -> int:
    """Read a size of the shipped jobs."""
    number, unit = text[:-3], text[-3:]
    return int(number) << {"KiB": 10, "MiB": 20, "GiB": 30}[unit]


@functools.lru_cache(maxsize=64)
def at_its_rate(workload: Load, words: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    """Run a workload on BCH-SSD with requests as fast as it makes them."""
    return workload.run(BCH_SSD, 1.0, {key: value for key, value in words if key != "utilisation"})


@functools.lru_cache(maxsize=1)
def drawn(name: str, scale: int, seed: int) -> ninescope.Workload:
    """Draw R_75 or R_90, and keep it for the runs that follow."""
    folder = TemporaryFolder()
    path = Path(folder.path) / f"{name}.parquet"
    draw_requests(name, scale, seed).write_parquet(path)
    return ninescope.Workload.trace(path)


def draw_requests(name: str, scale: int, seed: int) -> pl.DataFrame:
    """Draw R_75 or R_90: single pages in a Poisson process, reads of any block, writes of a few.

    The blocks that are written lie anywhere in the cache.
    """
    import numpy as np
    import polars as pl

    blocks, count = cache_blocks(scale), REQUESTS // scale
    draws = np.random.Generator(np.random.PCG64(seed))
    share = {"r75": 0.75, "r90": 0.9}[name]
    reads = draws.random(count) < share
    written = np.argsort(draws.random(blocks))[: blocks // WRITTEN_SHARE]
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


def measure(document: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what matters of a result."""
    hints = {name: (of["count"], of["mean_ns"]) for name, of in document["hints"].items()}
    requests = sum(count for count, _ in hints.values())
    dies = document["utilisation"]["dies"]
    held = {name: share * document["measured_ns"] * DIES for name, share in dies["occupancy"].items()}
    cache = (document.get("reliability") or {}).get("cache") or {}
    return {
        "requests": requests,
        "hints": {name: count for name, (count, _) in hints.items()},
        "response_ns": sum(count * mean for count, mean in hints.values()) / requests,
        "read_ns": mean_of(hints, ("host_read", "flush_read")),
        "write_ns": mean_of(hints, ("dirty_write", "clean_write")),
        "busy": 1 - dies["occupancy"]["idle"],
        "cleaning_ns": sum(held.get(name, 0.0) for name in CLEANING),
        "gc_units": document["ftl"]["gc_units"],
        "erases": document["operations"]["erases"],
        "waf": document["waf"]["total"],
        "simulated_s": document["simulated_ns"] / 1e9,
        "cache": {name: cache.get(key) for name, key in COUNTERS.items()},
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
        alone = with_changes(describe(name, QUICK_SCALE, {}), {"scrub": None})
        drive = ninescope.Drive.from_toml(toml.dumps(alone))
        of_drive = {}
        for op in ("read", "write"):
            job = ninescope.Workload.job(rw=f"rand{op}", bs="4KiB", iodepth=1, requests=1_000)
            latency = getattr(drive.run(job, seed=settings.seed, prefill="full").latency, op)
            of_drive[op] = latency.percentile(50)
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


# ---- what it comes to ------------------------------------------------------------------------------------


def summarise(results: Results, settings: Settings) -> Summary:
    """Name what was measured."""
    scale = QUICK_SCALE if settings.quick else 1
    single = results["single"]
    gains = {name: improvement(results[name]["runs"]) for name in WORKLOADS}
    moved = {name: results[name]["runs"][FLEXECC]["cache"]["edc_moved"] * scale for name in WORKLOADS}
    of_filebench = [moved[name] for name in FILEBENCH]
    normalised = {rber: 1 - improvement(runs) / 100 for rber, runs in results["sweep"]["runs"].items()}
    measured: dict[str, Any] = {
        "page_us": {name: {op: single[name][op] / 1000 for op in ("read", "write")} for name in DRIVES},
        "page_read_saved_percent": 100 * (1 - single[FLEXECC]["read"] / single[BCH_SSD]["read"]),
        "improvement_percent": gains,
        "least_improvement_percent": {"read-intensive": min(gains[name] for name in PREFILLED)},
        "most_improvement_percent": {"write-intensive": max(gains[name] for name in FILEBENCH)},
        "cleaning_saved_percent": {name: cleaning_saved(results[name]["runs"]) for name in WORKLOADS},
        # To the percent: runs differ by less for reasons of chance.
        "normalised_response": {rber: round(found, 2) for rber, found in normalised.items()},
        "ledger": {name: ledger(results[name]["ledger"], scale) for name in WORKLOADS},
        "reads_of_10m": {name: reads_of(results[name]["runs"][FLEXECC]) for name in WORKLOADS},
        "crc_read_share": {name: crc_read_share(results[name]["runs"][FLEXECC]) for name in WORKLOADS},
        "crc_moved": {
            **moved,
            "spread": share(max(of_filebench) - min(of_filebench), max(of_filebench)),
            "r75_over_fileserver": share(moved["r75"], moved["fileserver"]),
        },
        "bch2crc_over_crc_moved": {
            name: share(results[name]["runs"][FLEXECC]["cache"]["ecc_to_edc"] * scale, moved[name])
            for name in WORKLOADS
        },
        "decoder_us": results["decoders"],
    }
    tables = [
        workload_table(results),
        response_table(results, measured),
        counter_table(results, scale),
        cleaning_table(results, measured),
        ledger_table(results, measured),
        sweep_table(results),
        variant_table(results),
        decoder_table(results),
    ]
    return Summary(measured, tables)


def share(part: float, whole: float) -> float | None:
    """Return a share; None where there is nothing to share."""
    return part / whole if whole else None


def improvement(runs: Mapping[str, Any]) -> float:
    """Return by how much the mean response of FlexECC is shorter [%]."""
    return 100 * (1 - float(runs[FLEXECC]["response_ns"] / runs[BCH_SSD]["response_ns"]))


def cleaning_saved(runs: Mapping[str, Any]) -> float | None:
    """Return how much less time the dies spend on collecting garbage [%]; None where they collect none."""
    whole = runs[BCH_SSD]["cleaning_ns"]
    return 100 * (1 - runs[FLEXECC]["cleaning_ns"] / whole) if whole else None


def reads_of(run: Mapping[str, Any]) -> float:
    """Return the reads among ten million requests."""
    reads = sum(run["hints"].get(name, 0) for name in ("host_read", "flush_read"))
    return float(reads / run["requests"] * REQUESTS)


def crc_read_share(run: Mapping[str, Any]) -> float | None:
    """Return the share of reads of pages under CRC."""
    cache = run["cache"]
    return share(cache["edc_reads"], cache["edc_reads"] + cache["ecc_reads"])


LEDGER = (
    "corruptions",
    "corruptions_under_edc",
    "disk_accesses",
    "disk_accesses_of_moves",
    "prefetched",
    "corrected",
    "never_met",
)


def ledger(run: Mapping[str, Any], scale: int) -> dict[str, Any]:
    """Return what became of the pages that were made bad."""
    cache = run["cache"]
    expected = cache_blocks(scale) * (1 - (1 - RBER) ** (8 * 4096))
    count = cache["corruptions"]
    return {
        "corruptions": count * scale,
        # Of a Poisson count: how many standard deviations it lies off.
        "deviation": (count - expected) / expected**0.5,
        "prefetched_share": share(cache["prefetched"], count),
        **{name: cache[name] * scale for name in LEDGER if name != "corruptions"},
    }


def us(time_ns: float | None) -> str | None:
    """Write a time."""
    return None if time_ns is None else f"{time_ns / 1000:,.1f} us"


def percent(value: float | None) -> str | None:
    """Write a share that is given in percent."""
    return None if value is None else f"{value:+.1f} %"


def thousands(count: float) -> str:
    """Write a count."""
    return f"{count:,.0f}"


def workload_table(results: Results) -> Table:
    """Tabulate what the drive was asked for."""
    kinds = ("dirty_write", "clean_write", "host_read", "flush_read")
    rows: list[list[Any]] = []
    for name, words in WORKLOADS.items():
        run = results[name]["ledger"]
        shares = [f"{run['hints'].get(kind, 0) / run['requests']:.1%}" for kind in kinds]
        rate = run["requests"] / run["simulated_s"]
        rows.append([words, thousands(run["requests"]), *shares, thousands(rate)])
    columns = ["workload", "requests", *(kind.replace("_", " ") + "s" for kind in kinds), "a second"]
    return Table("What the drive is asked for", columns, rows)


def response_table(results: Results, measured: Mapping[str, Any]) -> Table:
    """Tabulate mean responses with busy dies."""
    rows: list[list[Any]] = []
    for name, words in WORKLOADS.items():
        found = results[name]
        row: list[Any] = [words, f"{found['speed']:.1f} x", f"{found['runs'][BCH_SSD]['busy']:.1%}"]
        for key in ("response_ns", "read_ns", "write_ns"):
            row += [us(found["runs"][drive][key]) for drive in (BCH_SSD, FLEXECC)]
        rows.append([*row, percent(measured["improvement_percent"][name])])
    columns = ["workload", "faster by", "dies busy", "BCH-SSD", "FlexECC"]
    return Table(
        "Mean response with busy dies",
        [*columns, "reads, BCH-SSD", "FlexECC", "writes, BCH-SSD", "FlexECC", "shorter by"],
        rows,
    )


def counter_table(results: Results, scale: int) -> Table:
    """Tabulate the counters of the paper."""
    names = {
        "ecc_reads": "BCH_READ",
        "edc_reads": "CRC_READ",
        "edc_moved": "CRC_MOVED",
        "ecc_to_edc": "BCH2CRC",
        "ecc_moved": "moved under BCH",
    }
    rows: list[list[Any]] = []
    for name, words in WORKLOADS.items():
        cache = results[name]["runs"][FLEXECC]["cache"]
        rows.append([words, *(thousands(cache[key] * scale) for key in names)])
    return Table("Counters of FlexECC, for ten million requests", ["workload", *names.values()], rows)


def cleaning_table(results: Results, measured: Mapping[str, Any]) -> Table:
    """Tabulate the time that dies collect garbage."""
    rows: list[list[Any]] = []
    for name, words in WORKLOADS.items():
        runs = results[name]["runs"]
        row: list[Any] = [words]
        for drive in (BCH_SSD, FLEXECC):
            run = runs[drive]
            row += [
                f"{run['cleaning_ns'] / 1e9:,.1f} s",
                thousands(run["gc_units"]),
                thousands(run["erases"]),
            ]
        rows.append([*row, percent(measured["cleaning_saved_percent"][name])])
    columns = ["workload", "BCH-SSD", "pages moved", "erases", "FlexECC", "pages moved", "erases", "saved"]
    return Table("Time of the dies for garbage collection", columns, rows)


def ledger_table(results: Results, measured: Mapping[str, Any]) -> Table:
    """Tabulate what became of bad pages."""
    rows: list[list[Any]] = []
    for name, words in WORKLOADS.items():
        found = measured["ledger"][name]
        rows.append([words, *(thousands(found[key]) for key in LEDGER), f"{found['deviation']:+.1f}"])
    columns = ["workload", *(key.replace("_", " ") for key in LEDGER), "deviations"]
    return Table(
        f"What became of bad pages, bit error rate {RBER:g}",
        columns,
        rows,
        note="deviations: of the number of bad pages from what is expected, in standard deviations",
    )


def sweep_table(results: Results) -> Table:
    """Tabulate File over the bit error rate."""
    rows: list[list[Any]] = []
    for rber, runs in results["sweep"]["runs"].items():
        times = [us(runs[drive]["response_ns"]) for drive in (BCH_SSD, FLEXECC)]
        cache = runs[FLEXECC]["cache"]
        normalised = 1 - improvement(runs) / 100
        rows.append([rber, *times, f"{normalised:.3f}", cache["disk_accesses"], cache["prefetched"]])
    columns = ["bit error rate", "BCH-SSD", "FlexECC", "normalised", "disk accesses", "prefetched"]
    return Table("File with bad pages", columns, rows)


def variant_table(results: Results) -> Table:
    """Tabulate what open decisions would change."""
    rows: list[list[Any]] = []
    for name, words in WORKLOADS.items():
        if f"{name}/variants" not in results:
            continue
        for variant, runs in results[f"{name}/variants"]["runs"].items():
            loaded, unloaded = runs["loaded"], runs["unloaded"]
            row: list[Any] = [words, variant]
            for found in (loaded, unloaded):
                row += [us(found[drive]["response_ns"]) for drive in (BCH_SSD, FLEXECC)]
                row.append(percent(improvement(found)))
            rows.append(row)
    columns = ["workload", "decided otherwise", "BCH-SSD, busy", "FlexECC", "shorter by"]
    return Table(
        "Decided otherwise: mean response with busy dies, and at the workload's own rate",
        [*columns, "BCH-SSD, own rate", "FlexECC", "shorter by"],
        rows,
    )


def decoder_table(results: Results) -> Table:
    """Tabulate the fitted decoder."""
    rows = [[f"({name.replace('-', ', ')})", f"{time:.1f} us"] for name, time in results["decoders"].items()]
    return Table("Decoders: 8 bits a cycle at 100 MHz, 0.16 t^2 cycles", ["(n, k, t)", "decodes in"], rows)


# ---- figures -----------------------------------------------------------------------------------------

COLOURS = {BCH_SSD: "#444444", FLEXECC: "#1f6fb4"}
LABELS = {BCH_SSD: "BCH-SSD", FLEXECC: "FlexECC"}


def draw_bars(axes: Any, values: Mapping[str, list[float]], label: str) -> None:
    """Draw both drives side by side for each workload, BCH-SSD being 1."""
    for index, drive in enumerate((BCH_SSD, FLEXECC)):
        heights = [
            of / base if base else 0.0 for of, base in zip(values[drive], values[BCH_SSD], strict=True)
        ]
        places = [place + (index - 0.5) * 0.4 for place in range(len(heights))]
        axes.bar(places, heights, width=0.4, color=COLOURS[drive], label=LABELS[drive])
    axes.set_xticks(range(len(WORKLOADS)), list(WORKLOADS.values()))
    axes.set(ylabel=label)


def draw(results: Results, directory: Path, settings: Settings) -> list[Path]:
    """Draw mean response, cleaning time, and File over the bit error rate."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4), dpi=140, layout="constrained", facecolor="white")
    response, cleaning, faults = figure.subplots(1, 3)
    for axes, key, label in (
        (response, "response_ns", "mean response, BCH-SSD = 1"),
        (cleaning, "cleaning_ns", "time for garbage collection, BCH-SSD = 1"),
    ):
        values = {drive: [float(results[name]["runs"][drive][key]) for name in WORKLOADS] for drive in DRIVES}
        draw_bars(axes, values, label)
    response.legend(frameon=False, loc="lower left")
    normalised = {float(rber): 1 - improvement(runs) / 100 for rber, runs in results["sweep"]["runs"].items()}
    faults.plot(list(normalised), list(normalised.values()), "o-", color=COLOURS[FLEXECC])
    faults.axhline(1, color="#999999", linestyle="--")
    faults.set(xscale="log", xlabel="bit error rate", ylabel="mean response of File, BCH-SSD = 1")
    for axes in (response, cleaning, faults):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#e6e6e6", linewidth=0.6, axis="y")
        axes.set_axisbelow(True)
    path = directory / "flexecc.png"
    figure.savefig(path)
    return [path]
