"""Results: what a run measured."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ninescope.result.endurance import Cost, Endurance
from ninescope.result.host_queue import CAUSE as HOST_QUEUE
from ninescope.result.host_queue import HostQueue
from ninescope.result.reliability import Reliability
from ninescope.result.scm import Scm
from ninescope.result.stored import known_keys
from ninescope.result.tier import Tier

if TYPE_CHECKING:
    import polars as pl

    from ninescope.pictures.result import Plots

OPS = ("read", "write", "trim", "flush")
DATA_OPS = OPS[:2]
PERCENTILES = ("50", "90", "99", "99.9", "99.99", "99.999", "99.9999")

Columns = Mapping[str, NDArray[Any]]
Histogram = tuple[NDArray[np.uint64], NDArray[np.uint64]]


BLOCKS_REQUESTS = 8 * 1024
"""Blocks of fewer requests of an operation say nothing of chance."""
_ENOUGH_BEYOND = 10
"""A percentile is trusted when at least so many samples lie beyond it."""


@dataclasses.dataclass(frozen=True)
class Latency:
    """The latency of one operation [ns]."""

    count: int = 0
    min_ns: int = 0
    mean_ns: float = 0.0
    max_ns: int = 0
    percentiles_ns: Mapping[str, int] = dataclasses.field(default_factory=dict)
    insufficient: tuple[str, ...] = ()
    """The percentiles that too few samples stand behind."""
    intervals_ns: Mapping[str, tuple[int, int]] = dataclasses.field(default_factory=dict)
    """Where each percentile lies in 95 % of the runs put together from blocks of this one."""
    histogram: Histogram | None = None
    """Upper bounds [ns] and counts of the buckets."""
    blocks: tuple[Histogram, ...] = ()
    """The same for each block of the run; none of so few requests that blocks say nothing of chance. The
    table `latency_blocks` has them nevertheless."""

    @classmethod
    def merged(cls, latencies: Iterable[Latency]) -> Latency:
        """Put the latencies of several runs together, as if one run had measured all of them.

        Intervals are those of all blocks together, so that runs of other seeds make them narrower.
        """
        from ninescope import _native

        parts = [latency for latency in latencies if latency.count]
        if not parts:
            return cls()
        if any(latency.histogram is None for latency in parts):
            raise ValueError("a latency without its histogram cannot be merged (it is in latency.parquet)")
        histogram = _added(latency.histogram for latency in parts if latency.histogram is not None)
        count = sum(latency.count for latency in parts)
        merged = cls(
            count=count,
            min_ns=min(latency.min_ns for latency in parts),
            mean_ns=sum(latency.mean_ns * latency.count for latency in parts) / count,
            max_ns=max(latency.max_ns for latency in parts),
            histogram=histogram,
            blocks=tuple(block for latency in parts for block in latency.blocks),
        )
        keys = tuple(dict.fromkeys(key for latency in parts for key in latency.percentiles_ns))
        needed = {key: _ENOUGH_BEYOND / (1 - float(key) / 100) for key in keys}
        complete = all(latency.blocks for latency in parts)
        bounds = (
            _native.bootstrap(list(merged.blocks), [round(float(key) * 1e7) for key in keys])
            if complete
            else []
        )
        within = [
            tuple(min(max(bound, merged.min_ns), merged.max_ns) for bound in interval) for interval in bounds
        ]
        return dataclasses.replace(
            merged,
            percentiles_ns={key: merged.percentile(float(key)) for key in keys},
            insufficient=tuple(key for key in keys if count < needed[key] * (1 - 1e-9)),
            intervals_ns={key: (low, high) for key, (low, high) in zip(keys, within, strict=bool(within))},
        )

    def interval(self, percent: float) -> tuple[int, int]:
        """Return where the percentile [ns] lies in 95 % of the runs put together from blocks of this one."""
        key = _percentile_key(percent)
        if key not in self.intervals_ns:
            known = ", ".join(self.intervals_ns) or "none: the run is too short"
            raise ValueError(f"there is no interval of the {key}th percentile (there is {known})")
        return self.intervals_ns[key]

    def percentile(self, percent: float) -> int:
        """Return the latency [ns] that so many percent of the requests did not exceed."""
        if not 0 <= percent <= 100:
            raise ValueError(f"a percentile lies between 0 and 100, not at {percent}")
        if not self.count:
            raise ValueError("no request of this kind was measured")
        key = _percentile_key(percent)
        if key in self.percentiles_ns:
            return self.percentiles_ns[key]
        if self.histogram is None or not len(self.histogram[1]):
            known = ", ".join(self.percentiles_ns)
            raise ValueError(f"the {key}th percentile is not stored (only {known}) and there is no histogram")
        bounds, counts = self.histogram
        if percent == 0:
            return self.min_ns
        rank = max(1, int(np.ceil(percent / 100 * int(counts.sum()))))
        bucket = int(np.searchsorted(np.cumsum(counts), rank))
        return min(max(int(bounds[bucket]), self.min_ns), self.max_ns)


@dataclasses.dataclass(frozen=True)
class Latencies:
    """Latency by operation."""

    read: Latency = Latency()
    write: Latency = Latency()
    trim: Latency = Latency()
    flush: Latency = Latency()

    def __iter__(self) -> Iterator[tuple[str, Latency]]:
        """Go through the operations that occurred."""
        for op in OPS:
            latency: Latency = getattr(self, op)
            if latency.count:
                yield op, latency


@dataclasses.dataclass(frozen=True)
class Band:
    """The requests between two percentiles, and where their time went."""

    name: str
    count: int
    lower_ns: int
    upper_ns: int
    parts_ns: Mapping[str, float]
    """Mean time by cause; the parts sum to the mean latency of the band."""

    @property
    def mean_ns(self) -> float:
        """The mean latency of the band."""
        return sum(self.parts_ns.values())

    @property
    def in_device(self) -> Band:
        """The same requests without their wait in the host: what they spent their time on in the device."""
        parts = {cause: time for cause, time in self.parts_ns.items() if cause != HOST_QUEUE}
        return dataclasses.replace(self, parts_ns=parts)

    def top(self, count: int) -> list[tuple[str, float]]:
        """Return the largest causes with their mean time, largest first."""
        parts = sorted(self.parts_ns.items(), key=lambda part: (-part[1], part[0]))
        return [(cause, time) for cause, time in parts[:count] if time > 0]

    def share(self, cause: str) -> float:
        """Return a cause's share of the time of this band."""
        total = self.mean_ns
        return self.parts_ns.get(cause, 0.0) / total if total else 0.0


@dataclasses.dataclass(frozen=True)
class Attribution:
    """Why: the latency of each percentile band, split by cause."""

    read: tuple[Band, ...] = ()
    write: tuple[Band, ...] = ()
    trim: tuple[Band, ...] = ()
    flush: tuple[Band, ...] = ()

    def __iter__(self) -> Iterator[tuple[str, tuple[Band, ...]]]:
        """Go through the operations that occurred."""
        for op in OPS:
            bands: tuple[Band, ...] = getattr(self, op)
            if any(band.count for band in bands):
                yield op, tuple(band for band in bands if band.count)

    def to_polars(self) -> pl.DataFrame:
        """Return one row per operation, band and cause."""
        import polars as pl

        rows = [
            (op, band.name, band.count, band.lower_ns, band.upper_ns, cause, float(time), band.share(cause))
            for op, bands in self
            for band in bands
            for cause, time in band.parts_ns.items()
        ]
        schema = {
            "op": pl.String,
            "band": pl.String,
            "count": pl.UInt64,
            "lower_ns": pl.UInt64,
            "upper_ns": pl.UInt64,
            "cause": pl.String,
            "mean_ns": pl.Float64,
            "share": pl.Float64,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")


@dataclasses.dataclass(frozen=True)
class DieAct:
    """A time in which a die did one thing."""

    from_ns: int
    until_ns: int
    occupancy: str
    """What it was occupied with, as in the causes: "erase", "host_read", "suspend_overhead"."""
    what: str
    """The same in words: "erase of block 17 (loops 1-2 of 3, suspended 1x)"."""
    command: str = ""
    blocks: tuple[int, ...] = ()
    suspensions: int = 0
    """How often the command had been suspended by then."""
    requests: tuple[int, ...] = ()
    """The requests it worked for, as far as they are known."""
    die: int | None = None
    """The die, where the stage is not about a single one."""
    own: bool = False
    """It worked for the request itself: in a queue, for another part of it."""

    @property
    def cause(self) -> str:
        """The cause that a request which waits for the die counts this time for."""
        return "own_parts" if self.own else f"die_{self.occupancy}"


@dataclasses.dataclass(frozen=True)
class Stage:
    """A time that a request spent in one place."""

    stage: str
    """A cause, or "die_queue" (split by what the die did) or "link_wait"."""
    from_ns: int
    until_ns: int
    die: int | None = None
    behind_others: bool = False
    """Of a stall: other writes waited before it; `die_did` is what the dies did that those waited for."""
    die_did: tuple[DieAct, ...] = ()
    """What the die did meanwhile."""
    die_did_earlier_ns: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """What it did before that, in sum by occupancy, where it was too much to list."""


@dataclasses.dataclass(frozen=True)
class SlowRequest:
    """The way of one request from submission to completion."""

    id: int
    lba: int
    """The first sector [512 B]."""
    sectors: int
    submitted_ns: int
    completed_ns: int
    latency_ns: int
    parts_ns: Mapping[str, int]
    """Where the latency went, largest first; they sum to it."""
    stages: tuple[Stage, ...] = ()


@dataclasses.dataclass(frozen=True)
class Slowest:
    """The slowest requests, slowest first."""

    read: tuple[SlowRequest, ...] = ()
    write: tuple[SlowRequest, ...] = ()

    def __iter__(self) -> Iterator[tuple[str, tuple[SlowRequest, ...]]]:
        """Go through the operations that occurred."""
        for op in DATA_OPS:
            requests: tuple[SlowRequest, ...] = getattr(self, op)
            if requests:
                yield op, requests


@dataclasses.dataclass(frozen=True)
class Waf:
    """Write amplification: bytes programmed to flash per byte that the host wrote, by who asked for them."""

    total: float = 0.0
    """The sum of the others."""
    host: float = 0.0
    """What the host wrote itself: 1, and less where a tier above flash took some of it."""
    partial_writes: float = 0.0
    """What else is in the mapping units that it wrote in part."""
    migration: float = 0.0
    gc: float = 0.0
    scrub: float = 0.0
    wear: float = 0.0
    padding: float = 0.0
    map: float = 0.0


@dataclasses.dataclass(frozen=True)
class Change:
    """By how much a number changed: 0.1 is 10 % more."""

    change: float = 0.0
    low: float = 0.0
    high: float = 0.0
    """The ends of its interval."""
    level: float = 0.995
    """The level of the interval: that at which a drift is told."""
    p: float = 1.0
    """How often chance alone shows as much."""


@dataclasses.dataclass(frozen=True)
class Steadiness:
    """Whether the measured window had settled."""

    verdict: str = ""
    """"not-steady", "no-drift-shown" or "cannot-be-told"."""
    words: str = ""
    """In a sentence, with the trend."""
    drift: Change | None = None
    """Of write amplification from beginning to end; None where the window is too short for that."""
    start: Change | None = None
    """From its first tenth to the others."""
    waf: tuple[float, ...] = ()
    """Write amplification of each tenth of what the host wrote."""
    programmed_bytes: int = 0
    erased_bytes: int = 0

    @property
    def is_steady(self) -> bool | None:
        """Say whether no drift shows; None where that cannot be told."""
        return None if self.verdict == "cannot-be-told" else self.verdict != "not-steady"


@dataclasses.dataclass(frozen=True)
class Throughput:
    """What one operation moved."""

    requests: int = 0
    bytes: int = 0
    iops: float = 0.0
    bytes_per_second: float = 0.0


@dataclasses.dataclass(frozen=True)
class JobResult:
    """What one of several jobs did."""

    name: str
    requests: int = 0
    bytes: int = 0
    iops: float = 0.0
    """Requests per second of `measured_ns`."""
    began_ns: int | None = None
    """When it began, or measuring did; None where it never began."""
    measured_ns: int = 0
    """The time from then to its last completion."""
    throughput: Mapping[str, Throughput] = dataclasses.field(default_factory=dict)
    """What each of its operations moved."""
    latency: Latencies = Latencies()
    """Latency from submission to completion, without histograms and intervals."""


class Result:
    """What a run measured. `document` is the complete JSON; the rest reads from it."""

    def __init__(
        self,
        document: dict[str, Any],
        *,
        histograms: Mapping[str, Histogram] | None = None,
        blocks: Mapping[str, tuple[Histogram, ...]] | None = None,
        series: Columns | None = None,
        requests: Columns | None = None,
        timeline: str | None = None,
    ) -> None:
        self.document = document
        self._histograms = dict(histograms or {})
        self._blocks = dict(blocks or {})
        self._series = series
        self._requests = requests
        self._timeline = timeline
        self._directory: Path | None = None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Read what `save` or `ninescope run --out` wrote: the directory, or a `result.json` alone."""
        from ninescope.common.files import RESULT
        from ninescope.result.saved import document_of, refused

        path = Path(path)
        file = path / RESULT if path.is_dir() else path
        result = cls(document_of(file))
        if path.is_dir():
            result._directory = path
            with refused(file, "a damaged result"):
                result._histograms = _read_histograms(path / "latency.parquet")
                result._blocks = _read_blocks(path / "latency_blocks.parquet")
                with contextlib.suppress(FileNotFoundError):
                    result._timeline = (path / "timeline.json").read_text(encoding="utf-8")
        return result

    @property
    def complete(self) -> bool:
        """Whether the run went to its end."""
        return bool(self.document.get("complete", True))

    @property
    def digest(self) -> str:
        """What the device did, as a hash: equal on every machine for equal configuration and seed.

        Empty where the run was interrupted before the device did anything.
        """
        return str(self.document.get("digest") or "")

    @property
    def requests(self) -> int:
        """The number of requests measured."""
        return int(self.document.get("requests", 0))

    @property
    def simulated_ns(self) -> int:
        """The simulated time [ns]."""
        return int(self.document.get("simulated_ns", 0))

    @property
    def wall_seconds(self) -> float:
        """How long the simulator took to prepare the drive and to run, 0 where it was not noted."""
        noted = self.document.get("performance") or {}
        return float(noted.get("prepare_seconds") or 0.0) + float(noted.get("run_seconds") or 0.0)

    @property
    def notes(self) -> list[str]:
        """What a reader of these numbers must know."""
        return [str(note) for note in self.document.get("notes") or []]

    @cached_property
    def latency(self) -> Latencies:
        """Latency from submission to completion."""
        return self._latencies("latency", self._histograms, self._blocks)

    @cached_property
    def latency_without_host_queue(self) -> Latencies:
        """Latency from the moment the device takes a command."""
        return self._latencies("latency_without_host_queue", {}, {})

    @cached_property
    def attribution(self) -> Attribution:
        """Where the time of each percentile band went."""
        parts = self.document.get("attribution") or {}
        return Attribution(**{op: tuple(_band(band) for band in parts.get(op) or []) for op in OPS})

    @cached_property
    def host_queue(self) -> HostQueue | None:
        """What filled the drive's queue, and whether the drive kept up; None where nothing was run."""
        return HostQueue.of(self.document)

    @cached_property
    def slowest(self) -> Slowest:
        """The slowest requests, each with its way through the drive; empty if not asked for."""
        stored = self.document.get("slowest") or {}
        return Slowest(
            **{op: tuple(_slow_request(entry) for entry in stored.get(op) or []) for op in DATA_OPS}
        )

    @cached_property
    def timeline(self) -> dict[str, Any] | None:
        """The timeline of the window that was asked for, as Chrome's trace events; None where none was.

        `save` writes it as `timeline.json`, which https://ui.perfetto.dev and chrome://tracing open.
        """
        return None if self._timeline is None else dict(json.loads(self._timeline))

    @cached_property
    def throughput(self) -> Mapping[str, Throughput]:
        """What each operation moved."""
        return {
            op: known_keys(Throughput, values)
            for op, values in (self.document.get("throughput") or {}).items()
            if isinstance(values, dict)
        }

    @cached_property
    def jobs(self) -> tuple[JobResult, ...]:
        """What each job did, in the order of their file; empty where there was one job alone, or a trace."""
        return tuple(_job_result(stored) for stored in self.document.get("by_job") or ())

    @cached_property
    def waf(self) -> Waf:
        """Write amplification by source."""
        waf: Waf = known_keys(Waf, self.document.get("waf") or {})
        return waf

    @cached_property
    def steadiness(self) -> Steadiness | None:
        """Whether the measured window had settled; None where nothing was programmed to flash."""
        stored = self.document.get("steadiness")
        if not stored:
            return None
        parts: dict[str, Any] = {"waf": tuple(stored.get("waf") or ())}
        parts |= {key: known_keys(Change, stored[key]) for key in ("drift", "start") if stored.get(key)}
        told: Steadiness = known_keys(Steadiness, {**stored, **parts})
        return told

    @cached_property
    def scm(self) -> Scm | None:
        """The drive's storage-class memory, the upper one of two; None where it has none."""
        return Scm.of(self.document, "scm")

    @cached_property
    def storage_scm(self) -> Scm | None:
        """The storage-type memory below another one; None where it has none."""
        return Scm.of(self.document, "storage_scm")

    @cached_property
    def reliability(self) -> Reliability | None:
        """What codes found and what was done about it; None for a drive without codes."""
        return Reliability.of(self.document)

    @cached_property
    def tier(self) -> Tier | None:
        """What lay where on a drive of two media; None for a drive of one."""
        return Tier.of(self.document)

    @cached_property
    def endurance(self) -> Endurance | None:
        """How long the drive lasts under what was measured; None where nothing was."""
        return Endurance.of(self.document)

    @cached_property
    def cost(self) -> Cost | None:
        """What the drive's media cost, and what they give for it; None where nothing was measured."""
        return Cost.of(self.document)

    @property
    def plot(self) -> Plots:
        """The figures of this result."""
        from ninescope.pictures.result import Plots

        return Plots(self)

    def to_polars(self, table: str = "summary") -> pl.DataFrame:
        """Return a table.

        "summary" (one row, to concatenate over runs), "latency" (one row per bucket), "latency_blocks" (one
        row per bucket and block of the run), "attribution", "series" (over time) or "requests" (one row per
        request; an error where logging was not asked for).
        """
        import polars as pl

        match table:
            case "summary":
                return pl.DataFrame([self._summary()])
            case "latency":
                return _histogram_frame(self._histograms)
            case "latency_blocks":
                return _block_frame(self._blocks)
            case "attribution":
                return self.attribution.to_polars()
            case "series":
                return self._frame("series", self._series)
            case "requests":
                frame = self._request_frame()
                if frame is None:
                    raise ValueError(
                        "requests were not logged; run with log_requests=True (--log-requests --out DIR)"
                    )
                return frame
        raise ValueError(
            f"no table {table!r}; there is summary, latency, latency_blocks, attribution, series, requests"
        )

    def save(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write `result.json`, `config.toml` and the tables, all of them or none; return the paths."""
        from ninescope.common.files import output_directory, written_whole

        texts = {
            "result.json": json.dumps(self.document, indent=2) + "\n",
            "config.toml": self.config_toml(),
        }
        if self._timeline is not None:
            texts["timeline.json"] = self._timeline
        tables = {
            "requests.parquet": self._request_frame(),
            "series.parquet": self.to_polars("series"),
            "latency.parquet": self.to_polars("latency"),
            "latency_blocks.parquet": self.to_polars("latency_blocks"),
        }
        written: list[Path] = []
        with output_directory(Path(directory)) as folder:
            # Files take their places in the opposite order: where result.json is, the rest is.
            with contextlib.ExitStack() as stack:
                for name, text in texts.items():
                    temporary = stack.enter_context(written_whole(folder / name))
                    temporary.write_text(text, encoding="utf-8")
                    written.append(folder / name)
                for name, frame in tables.items():
                    if frame is not None and frame.width:
                        frame.write_parquet(stack.enter_context(written_whole(folder / name)))
                        written.append(folder / name)
            for name in ("timeline.json", *tables):
                if folder / name not in written:
                    (folder / name).unlink(missing_ok=True)  # of an earlier run
        return written[::-1]

    def save_fio_logs(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write logs of bandwidth, IOPS and latency as fio does, all of them or none; return the paths."""
        from ninescope.common.files import output_directory, written_whole
        from ninescope.result.fio_logs import logs

        texts = logs(self.to_polars("series"))
        with output_directory(Path(directory)) as folder, contextlib.ExitStack() as stack:
            for name, text in texts.items():
                stack.enter_context(written_whole(folder / name)).write_text(text, encoding="utf-8")
        return [Path(directory) / name for name in texts]

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write this result as one HTML file that needs nothing else; return its path."""
        from ninescope.report import write
        from ninescope.report.single import of_result

        return write(of_result(self), Path(path))

    def config_toml(self) -> str:
        """Return the resolved drive as TOML, ready for `--drive`."""
        from ninescope.toml import dumps

        config = self.document.get("config") or {}
        return str(config.get("drive_toml") or dumps(config.get("drive") or {}))

    def __repr__(self) -> str:
        reads, writes = self.latency.read, self.latency.write
        parts = [f"{self.requests:,} requests"]
        for name, latency in (("read", reads), ("write", writes)):
            if latency.count:
                parts.append(f"{name} p99 {latency.percentile(99) / 1e3:,.1f} us")
        if writes.count:
            parts.append(f"WAF {self.waf.total:.2f}")
        if not self.complete:
            parts.append("incomplete")
        parts.append(f"digest {self.digest}" if self.digest else "nothing was run")
        return f"<ninescope.Result {', '.join(parts)}>"

    def __str__(self) -> str:
        """Return what `ninescope run` prints."""
        from ninescope.text.result import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from ninescope.text.result import as_html

        return as_html(self)

    def _latencies(
        self, key: str, histograms: Mapping[str, Histogram], blocks: Mapping[str, tuple[Histogram, ...]]
    ) -> Latencies:
        stored = self.document.get(key) or {}
        return Latencies(
            **{op: _latency(stored.get(op) or {}, histograms.get(op), blocks.get(op, ())) for op in OPS}
        )

    def _summary(self) -> dict[str, Any]:
        row: dict[str, Any] = {
            "digest": self.digest,
            "complete": self.complete,
            "seed": self.document.get("seed"),
            "requests": self.requests,
            "simulated_ns": self.simulated_ns,
        }
        for op in DATA_OPS:
            moved = self.throughput.get(op, Throughput())
            row |= {f"{op}_iops": moved.iops, f"{op}_bytes_per_second": moved.bytes_per_second}
            latency: Latency = getattr(self.latency, op)
            row[f"{op}_mean_ns"] = float(latency.mean_ns)
            row |= {f"{op}_p{key}_ns": latency.percentiles_ns.get(key) for key in PERCENTILES}
            row[f"{op}_max_ns"] = latency.max_ns
        return row | {f"waf_{field.name}": getattr(self.waf, field.name) for field in dataclasses.fields(Waf)}

    def _request_frame(self) -> pl.DataFrame | None:
        """Return the log of requests; None where there is none."""
        import polars as pl

        if self._requests is None:
            frame = self._frame("requests", None)
            return frame if frame.width else None
        if not self._requests:  # logged, and nothing happened
            columns = ("id", "submitted_ns", "latency_ns", "host_queue_ns", "op", "lba", "sectors")
            return pl.DataFrame(schema={name: pl.String if name == "op" else pl.UInt64 for name in columns})
        return self._frame("requests", self._requests)

    def _frame(self, name: str, columns: Columns | None) -> pl.DataFrame:
        import polars as pl

        if columns is None and self._directory is not None:
            path = self._directory / f"{name}.parquet"
            return pl.read_parquet(path) if path.exists() else pl.DataFrame()
        return pl.DataFrame(dict(columns or {}))


def _latency(
    stored: Mapping[str, Any], histogram: Histogram | None, blocks: tuple[Histogram, ...]
) -> Latency:
    latency: Latency = known_keys(Latency, stored)
    return dataclasses.replace(
        latency,
        insufficient=tuple(latency.insufficient),
        intervals_ns={key: (low, high) for key, (low, high) in latency.intervals_ns.items()},
        histogram=histogram,
        blocks=blocks if latency.count >= BLOCKS_REQUESTS else (),
    )


def _job_result(stored: Mapping[str, Any]) -> JobResult:
    job: JobResult = known_keys(JobResult, stored)
    return dataclasses.replace(
        job,
        throughput={op: known_keys(Throughput, values) for op, values in stored["throughput"].items()},
        latency=Latencies(**{op: _latency(stored["latency"].get(op) or {}, None, ()) for op in OPS}),
    )


def _percentile_key(percent: float) -> str:
    return f"{percent:.10f}".rstrip("0").rstrip(".")


def _added(histograms: Iterable[Histogram]) -> Histogram:
    counts: dict[int, int] = {}
    for histogram in histograms:
        for bound, count in zip(*(column.tolist() for column in histogram), strict=True):
            counts[bound] = counts.get(bound, 0) + count
    bounds = sorted(counts)
    return np.array(bounds, dtype=np.uint64), np.array([counts[bound] for bound in bounds], dtype=np.uint64)


def _band(stored: Mapping[str, Any]) -> Band:
    parts = stored.get("parts_ns") or {}
    total = sum(parts.values())
    return Band(
        name=str(stored["band"]),
        count=int(stored.get("count", 0)),
        lower_ns=int(stored.get("lower_ns", 0)),
        upper_ns=int(stored.get("upper_ns", total)),
        parts_ns=parts,
    )


def _slow_request(stored: Mapping[str, Any]) -> SlowRequest:
    request: SlowRequest = known_keys(SlowRequest, stored)
    return dataclasses.replace(request, stages=tuple(_stage(stage) for stage in stored.get("stages") or []))


def _stage(stored: Mapping[str, Any]) -> Stage:
    stage: Stage = known_keys(Stage, stored)
    return dataclasses.replace(stage, die_did=tuple(_die_act(act) for act in stored.get("die_did") or []))


def _die_act(stored: Mapping[str, Any]) -> DieAct:
    act: DieAct = known_keys(DieAct, stored)
    return dataclasses.replace(act, blocks=tuple(act.blocks), requests=tuple(act.requests))


def _histogram_frame(histograms: Mapping[str, Histogram]) -> pl.DataFrame:
    import polars as pl

    frames = [pl.DataFrame(schema={"op": pl.String, "upper_ns": pl.UInt64, "count": pl.UInt64})]
    for op, (bounds, counts) in histograms.items():
        used = counts > 0
        columns = {"op": [op] * int(used.sum()), "upper_ns": bounds[used], "count": counts[used]}
        frames.append(pl.DataFrame(columns, schema=frames[0].schema))
    return pl.concat(frames)


def _read_histograms(path: Path) -> dict[str, Histogram]:
    import polars as pl

    if not path.exists():
        return {}
    frame = pl.read_parquet(path)
    parts = {op: frame.filter(pl.col("op") == op) for op in OPS}
    return {op: (part["upper_ns"].to_numpy(), part["count"].to_numpy()) for op, part in parts.items()}


def _block_frame(blocks: Mapping[str, tuple[Histogram, ...]]) -> pl.DataFrame:
    import polars as pl

    schema = {"op": pl.String, "block": pl.UInt32, "upper_ns": pl.UInt64, "count": pl.UInt64}
    frames = [pl.DataFrame(schema=schema)]
    for op, rows in blocks.items():
        for block, (bounds, counts) in enumerate(rows):
            columns = {
                "op": [op] * len(bounds),
                "block": [block] * len(bounds),
                "upper_ns": bounds,
                "count": counts,
            }
            frames.append(pl.DataFrame(columns, schema=schema))
    return pl.concat(frames)


def _read_blocks(path: Path) -> dict[str, tuple[Histogram, ...]]:
    import polars as pl

    if not path.exists():
        return {}
    frame = pl.read_parquet(path)
    blocks: dict[str, tuple[Histogram, ...]] = {}
    for op in OPS:
        rows = frame.filter(pl.col("op") == op).partition_by("block", maintain_order=True)
        blocks[op] = tuple((row["upper_ns"].to_numpy(), row["count"].to_numpy()) for row in rows)
    return blocks
