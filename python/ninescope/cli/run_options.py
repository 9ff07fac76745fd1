"""The options of `ninescope run`: what each is called and takes, and all of them together.

What they mean to a run is said in `run`, and what workload and drive they describe in `given`.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import typer

from ninescope.cli.common import one_of

Workload = Annotated[
    str | None,
    typer.Argument(
        metavar="TRACE | NAME | FILE.toml | JOB.fio | -",
        help="A trace, a job or a profile (shipped ones by name), or - for stdin.",
    ),
]
Trace = Annotated[str | None, typer.Option(metavar="FILE", help="The same as the positional TRACE.")]
Drive = Annotated[
    str | None,
    typer.Option(
        metavar="PRESET|FILE.toml",
        help="The drive; without it the preset tlc, enlarged where a trace reaches further.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the drive. Repeatable."),
]
Seed = Annotated[
    int, typer.Option(min=0, max=(1 << 64) - 1, metavar="N", help="Seed of every random stream.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")]
Out = Annotated[
    str | None, typer.Option(metavar="DIR", help="Write result, configuration, tables and figures here.")
]
Prefill = Annotated[
    str,
    typer.Option(
        metavar="footprint|full|raw|steady|steady-uniform|steady-overwritten|steady-composed|none",
        help="What the drive holds at first.",
    ),
]
PrefillOrder = Annotated[
    str,
    typer.Option(
        metavar="ascending|random", help="In which order it was written; random lays neighbours apart."
    ),
]
Snapshots = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="Keep prepared drives here, and take them from here next time."),
]
FromSnapshot = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Take the prepared drive from this file (`ninescope snapshot`)."),
]
Warmup = Annotated[
    str | None,
    typer.Option(
        metavar="N|SHARE",
        help="Run so many requests (or 10%) before measuring; else a job leads in after steady prefill.",
    ),
]
Requests = Annotated[str | None, typer.Option(metavar="N", help="Stop after so many requests (1e6 works).")]
Duration = Annotated[str | None, typer.Option(metavar="T", help="Stop after so much simulated time (10s).")]
Loop = Annotated[int | None, typer.Option(min=1, metavar="N", help="Replay the trace so many times.")]
TimeScale = Annotated[
    float | None, typer.Option(metavar="X", help="Multiply the trace's time stamps (0.5: twice as fast).")
]
ClosedLoop = Annotated[
    bool, typer.Option("--closed-loop", help="Ignore time stamps and keep the queue full.")
]
Trims = Annotated[
    bool, typer.Option("--trims", help="Replay the trace's discards too, which are skipped otherwise.")
]
Volume = Annotated[
    list[str] | None,
    typer.Option("--volume", metavar="NAME", help="Replay this volume of the trace alone; repeatable."),
]
Volumes = Annotated[
    str | None,
    typer.Option(
        metavar="in-order|merge|map:NAME=OFFSET;…",
        help="Where a trace's volumes lie: one after the other, all at zero, or each at its offset.",
    ),
]
Addresses = Annotated[
    str | None,
    typer.Option(
        metavar="refuse|wrap|compact",
        help="Addresses beyond the drive: refuse, take modulo its size, or close all gaps.",
    ),
]
HostCache = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Put the trace behind the [host_cache] of a TOML file, on the drive."),
]
ZoneLog = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Put the trace through the [zone_log] of a TOML file, on the drive's zones."
    ),
]
Stream = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=255,
        metavar="N",
        help="Name a stream (placement handle) for the trace's writes, where it names none.",
    ),
]
Alone = Annotated[
    bool,
    typer.Option(
        "--alone", help="Run each of several jobs also alone, and say how much slower it was than that."
    ),
]
LogRequests = Annotated[
    bool, typer.Option("--log-requests", help="Write one row per request (requests.parquet in --out).")
]
Provenance = Annotated[
    str | None,
    typer.Option(
        metavar="FILE.zip", help="Pack the run, so that `ninescope replay FILE.zip` comes to the same."
    ),
]
FioLogs = Annotated[
    bool,
    typer.Option(
        "--fio-logs",
        help="Write logs of bandwidth, IOPS and latency as fio does (ninescope_bw.log ... in --out).",
    ),
]
Check = Annotated[
    str,
    typer.Option(metavar="off|cheap|full", help="Walk beside the run and end it where an invariant breaks."),
]
ExplainSlowest = Annotated[
    int | None,
    typer.Option(
        min=1, max=1000, metavar="K", help="Tell the way of the K slowest reads and the K slowest writes."
    ),
]
TraceWindow = Annotated[
    str | None,
    typer.Option(
        metavar="FROM..TO",
        help="Write timeline.json, what every die did in this simulated time (10ms..12ms), to --out.",
    ),
]
Rw = Annotated[
    str | None,
    typer.Option(
        metavar="read|write|trim|randread|randwrite|randtrim|rw|randrw",
        help="Make a job, in fio's words (readwrite is rw).",
    ),
]
Bs = Annotated[str | None, typer.Option(metavar="SIZE", help="Job: request size, as 4k.")]
Iodepth = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Job or closed loop: requests in flight.")
]
Rwmixread = Annotated[
    float | None,
    typer.Option(min=0, max=100, metavar="PERCENT", help="Job: percent of reads in a mix (62.5 works)."),
]
Size = Annotated[
    str | None, typer.Option(metavar="SIZE|PERCENT", help="Job: the region it works on, as 8g or 50%.")
]
RandomDistribution = Annotated[
    str | None, typer.Option(metavar="uniform|zipf:T", help="Job: how addresses are drawn.")
]
RateIops = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Job: requests per second (open loop).")
]
Rate = Annotated[
    str | None, typer.Option(metavar="RATE", help="Job: bytes per second, as 200MB/s (open loop).")
]
Fua = Annotated[
    float | None,
    typer.Option(
        min=0, max=1, metavar="SHARE", help="Job: the share of its writes to be on the media (FUA)."
    ),
]

_JOB = ("rw", "bs", "iodepth", "rwmixread", "size", "random_distribution", "rate_iops", "rate", "fua")
_REPLAY = (
    "columns",
    "strict",
    "loop",
    "time_scale",
    "closed_loop",
    "trims",
    "volume",
    "volumes",
    "host_cache",
    "zone_log",
    "stream",
    "addresses",
)
_ADDRESSES = ("refuse", "wrap", "compact")


@dataclasses.dataclass(frozen=True)
class Options:
    """All options, as somebody gave them."""

    workload: str | None
    trace: str | None
    drive: str | None
    set_: list[str] | None
    seed: int
    json_: bool
    out: str | None
    prefill: str
    prefill_order: str
    snapshots: str | None
    from_snapshot: str | None
    warmup: str | None
    requests: str | None
    duration: str | None
    loop: int | None
    time_scale: float | None
    closed_loop: bool
    strict: bool
    format_: str | None
    columns: str | None
    trims: bool
    volume: list[str] | None
    volumes: str | None
    addresses: str | None
    host_cache: str | None
    zone_log: str | None
    stream: int | None
    alone: bool
    log_requests: bool
    fio_logs: bool
    provenance: str | None
    check: str
    explain_slowest: int | None
    trace_window: str | None
    rw: str | None
    bs: str | None
    iodepth: int | None
    rwmixread: float | None
    size: str | None
    random_distribution: str | None
    rate_iops: int | None
    rate: str | None
    fua: float | None

    def job(self) -> dict[str, Any]:
        """Return the words of a job; in a closed loop the number of requests in flight is none of them."""
        return {name: getattr(self, name) for name in _JOB if not (self.closed_loop and name == "iodepth")}

    def replay(self) -> dict[str, Any]:
        """Return how a trace is replayed."""
        words = {"format": self.format_, **{name: getattr(self, name) for name in _REPLAY}}
        words["volume"] = self.volume or None
        if self.addresses is not None:
            words["addresses"] = one_of("--addresses", self.addresses, _ADDRESSES)
        return words | ({"iodepth": self.iodepth} if self.closed_loop else {})
