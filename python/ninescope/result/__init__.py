"""What a run measured, as data: the document of a result, and what can be asked of it.

`result` has the whole, the other modules its sections, `metrics` its numbers by name, `saved` what lies in
files. Nothing here knows how a result is written, drawn or reported: who shows it reads it.
"""

from ninescope.result.result import (
    BLOCKS_REQUESTS,
    DATA_OPS,
    OPS,
    PERCENTILES,
    Attribution,
    Band,
    Change,
    Columns,
    DieAct,
    Histogram,
    JobResult,
    Latencies,
    Latency,
    Result,
    Slowest,
    SlowRequest,
    Stage,
    Steadiness,
    Throughput,
    Waf,
)

__all__ = [
    "BLOCKS_REQUESTS",
    "DATA_OPS",
    "OPS",
    "PERCENTILES",
    "Attribution",
    "Band",
    "Change",
    "Columns",
    "DieAct",
    "Histogram",
    "JobResult",
    "Latencies",
    "Latency",
    "Result",
    "SlowRequest",
    "Slowest",
    "Stage",
    "Steadiness",
    "Throughput",
    "Waf",
]
