"""The result of a run: its document, what is read from that, and how it is kept in files."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ninescope import conveniences
from ninescope.common.files import CONFIG, RESULT, output_directory, written_whole
from ninescope.common.numbers import counted
from ninescope.result.attribution import Attribution, band_of
from ninescope.result.bad_blocks import BadBlocks, bad_blocks_of
from ninescope.result.block_map import BlockMap, block_map_of
from ninescope.result.cached_map import CachedMap
from ninescope.result.endurance import Cost, Endurance
from ninescope.result.energy import Energy
from ninescope.result.fairness import Fairness
from ninescope.result.fdp import Fdp
from ninescope.result.fio_logs import logs
from ninescope.result.hints import Hint, hints_of
from ninescope.result.host_queue import HostQueue
from ninescope.result.jobs import JobResult, Throughput, job_of
from ninescope.result.latency import DATA_OPS, OPS, PERCENTILES, Histogram, Latencies, Latency, latency_of
from ninescope.result.partitions import Partition, partitions_of
from ninescope.result.reliability import Reliability
from ninescope.result.scm import Scm
from ninescope.result.slc_cache import SlcCache, slc_cache_of
from ninescope.result.slowest import Slowest, slow_request_of
from ninescope.result.stored import known_keys
from ninescope.result.tables import Columns, block_frame, histogram_frame, read_blocks, read_histograms
from ninescope.result.tier import Tier
from ninescope.result.waf import STEADINESS, MeasuredWaf, Steadiness, SteadyState, Waf, steadiness_of
from ninescope.result.zone_log import ZoneLog
from ninescope.result.zones import Zones
from ninescope.toml import dumps

if TYPE_CHECKING:
    import polars as pl

    from ninescope.conveniences import Interactive, Plots


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
        self._histograms: Mapping[str, Histogram] = {} if histograms is None else histograms
        self._blocks: Mapping[str, tuple[Histogram, ...]] = {} if blocks is None else blocks
        self._series = series
        self._requests = requests
        self._timeline = timeline
        self._directory: Path | None = None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Read what `save` or `ninescope run --out` wrote: the directory, or a `result.json` alone."""
        from ninescope.common.written import refuse_as_result
        from ninescope.result.saved import document_of, refused

        path = Path(path)
        if path.is_dir():
            refuse_as_result(path)
        file = path / RESULT if path.is_dir() else path
        result = cls(document_of(file))
        if path.is_dir():
            result._directory = path
            with refused(file, "a damaged result"):
                result._histograms = read_histograms(path / "latency.parquet")
                result._blocks = read_blocks(path / "latency_blocks.parquet")
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
        return Attribution(**{op: tuple(band_of(band) for band in parts.get(op) or []) for op in OPS})

    @cached_property
    def host_queue(self) -> HostQueue | None:
        """What filled the drive's queue, and whether the drive kept up; None where nothing was run."""
        return HostQueue.of(self.document)

    @cached_property
    def slowest(self) -> Slowest:
        """The slowest requests, each with its way through the drive; empty if not asked for."""
        stored = self.document.get("slowest") or {}
        return Slowest(
            **{op: tuple(slow_request_of(entry) for entry in stored.get(op) or []) for op in DATA_OPS}
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
        return tuple(job_of(stored) for stored in self.document.get("by_job") or ())

    @cached_property
    def partitions(self) -> tuple[Partition, ...]:
        """The parts of a drive whose jobs have planes of their own; empty where the drive is one."""
        return partitions_of(self.document)

    @cached_property
    def bad_blocks(self) -> BadBlocks | None:
        """What broke of the drive's blocks; None where nothing can."""
        return bad_blocks_of(self.document)

    @cached_property
    def block_map(self) -> BlockMap | None:
        """What a map of blocks merged; None where the map is one of pages."""
        return block_map_of(self.document)

    @cached_property
    def slc_cache(self) -> SlcCache | None:
        """What blocks of one bit in a cell took; None where the drive has none."""
        return slc_cache_of(self.document)

    @cached_property
    def fairness(self) -> Fairness | None:
        """How fair the drive was to its jobs; None where they were not run alone as well (`alone=True`)."""
        stored = self.document.get("fairness")
        return None if stored is None else Fairness(**stored)

    @cached_property
    def waf(self) -> Waf:
        """Write amplification by source."""
        waf: Waf = known_keys(Waf, self.document.get("waf") or {})
        return waf

    @cached_property
    def steadiness(self) -> Steadiness | None:
        """Whether the measured window had settled; None where nothing was programmed to flash."""
        stored = self.document.get("steadiness")
        return Steadiness.of(stored) if stored else None

    @cached_property
    def steady_state(self) -> SteadyState | None:
        """What preparing the drive to a steady state came to; None where it was prepared otherwise."""
        stored = self.document.get("steady_state")
        if not stored:
            return None
        measured = self.document.get("steady_state_measured")
        parts: dict[str, Any] = {"window_waf": tuple(stored.get("window_waf") or ())}
        if measured:
            parts["measured"] = known_keys(MeasuredWaf, measured)
        found: SteadyState = known_keys(SteadyState, {**stored, **parts})
        return found

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
    def cached_map(self) -> CachedMap | None:
        """What was in memory of a map that lies in flash; None where all of it is in memory."""
        return CachedMap.of(self.document)

    @cached_property
    def fdp(self) -> Fdp | None:
        """What was written by each placement handle; None where the drive has none."""
        return Fdp.of(self.document)

    @cached_property
    def zns(self) -> Zones | None:
        """What was asked of the zones of the drive; None where it has none."""
        return Zones.of(self.document)

    @cached_property
    def zone_log(self) -> ZoneLog | None:
        """What a log of the host on the drive's zones did; None where no requests went to one."""
        return ZoneLog.of(self.document)

    @cached_property
    def hints(self) -> Mapping[str, Hint]:
        """What a cache in front of the drive, or a log on its zones, asked for; empty without them."""
        return hints_of(self.document)

    @cached_property
    def energy(self) -> Energy | None:
        """What the drive drew; None where its description does not say what its parts draw."""
        return Energy.of(self.document)

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
        return conveniences.result_plots(self)

    @property
    def interactive(self) -> Interactive:
        """The figures of this result to look into in a notebook (needs plotly, the extra `notebook`)."""
        return conveniences.result_interactive(self)

    def to_polars(self, table: str = "summary") -> pl.DataFrame:
        """Return a table.

        "summary" (one row, to concatenate over runs), "latency" (one row per bucket), "latency_blocks" (one
        row per bucket and block of the run), "attribution", "series" (over time) or "requests" (one row per
        request; an error where logging was not asked for).
        """
        import polars as pl

        match table:
            case "summary":
                return pl.DataFrame([self._summary()], schema_overrides={STEADINESS: pl.String})
            case "latency":
                return histogram_frame(self._histograms)
            case "latency_blocks":
                return block_frame(self._blocks)
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
        texts = {
            "result.json": json.dumps(self.document, indent=2) + "\n",
            CONFIG: self.config_toml(),
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
        texts = logs(self.to_polars("series"))
        with output_directory(Path(directory)) as folder, contextlib.ExitStack() as stack:
            for name, text in texts.items():
                stack.enter_context(written_whole(folder / name)).write_text(text, encoding="utf-8")
        return [Path(directory) / name for name in texts]

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write this result as one HTML file that needs nothing else; return its path."""
        return conveniences.result_report(self, Path(path))

    def config_toml(self) -> str:
        """Return the resolved drive as TOML, ready for `--drive`."""
        config = self.document.get("config") or {}
        return str(config.get("drive_toml") or dumps(config.get("drive") or {}))

    def __repr__(self) -> str:
        reads, writes = self.latency.read, self.latency.write
        parts = [counted(self.requests, "request")]
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
        return conveniences.result_as_text(self)

    def _repr_html_(self) -> str:
        return conveniences.result_as_html(self)

    def _latencies(
        self, key: str, histograms: Mapping[str, Histogram], blocks: Mapping[str, tuple[Histogram, ...]]
    ) -> Latencies:
        stored = self.document.get(key) or {}
        return Latencies(
            **{
                op: latency_of(
                    stored.get(op) or {}, partial(histograms.get, op), partial(_blocks_of, blocks, op)
                )
                for op in OPS
            }
        )

    def _summary(self) -> dict[str, Any]:
        row: dict[str, Any] = {
            "digest": self.digest,
            "complete": self.complete,
            "seed": self.document.get("seed"),
            "requests": self.requests,
            "simulated_ns": self.simulated_ns,
            STEADINESS: steadiness_of(self.document),
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


def _blocks_of(blocks: Mapping[str, tuple[Histogram, ...]], op: str) -> tuple[Histogram, ...]:
    return blocks.get(op, ())
