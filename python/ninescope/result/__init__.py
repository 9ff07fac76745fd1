"""What a run measured, as data: the document of a result, and what can be asked of it.

`result` has the whole, the other modules its sections, `metrics` its numbers by name, `saved` what lies in
files. Nothing here knows how a result is written, drawn or reported: who shows it reads it.
"""

from ninescope.result.attribution import Attribution, Band
from ninescope.result.bad_blocks import BadBlocks
from ninescope.result.block_map import BlockMap
from ninescope.result.energy import Energy, Heat
from ninescope.result.fairness import Fairness
from ninescope.result.fdp import Fdp, ReclaimUnitHandle, ReclaimUnits
from ninescope.result.hints import Hint
from ninescope.result.jobs import Arbitration, JobAlone, JobResult, JobWaits, Throughput, WaitBand, WaitedFor
from ninescope.result.latency import (
    BLOCKS_REQUESTS,
    DATA_OPS,
    OPS,
    PERCENTILES,
    Histogram,
    Latencies,
    Latency,
)
from ninescope.result.partitions import Partition
from ninescope.result.result import Result
from ninescope.result.slc_cache import SlcCache
from ninescope.result.slowest import DieAct, Slowest, SlowRequest, Stage
from ninescope.result.tables import Columns
from ninescope.result.waf import Change, MeasuredWaf, Steadiness, SteadyState, Waf
from ninescope.result.zone_log import ZoneLog
from ninescope.result.zones import Zones

__all__ = [
    "BLOCKS_REQUESTS",
    "DATA_OPS",
    "OPS",
    "PERCENTILES",
    "Arbitration",
    "Attribution",
    "BadBlocks",
    "Band",
    "BlockMap",
    "Change",
    "Columns",
    "DieAct",
    "Energy",
    "Fairness",
    "Fdp",
    "Heat",
    "Hint",
    "Histogram",
    "JobAlone",
    "JobResult",
    "JobWaits",
    "Latencies",
    "Latency",
    "MeasuredWaf",
    "Partition",
    "ReclaimUnitHandle",
    "ReclaimUnits",
    "Result",
    "SlcCache",
    "SlowRequest",
    "Slowest",
    "Stage",
    "Steadiness",
    "SteadyState",
    "Throughput",
    "Waf",
    "WaitBand",
    "WaitedFor",
    "ZoneLog",
    "Zones",
]
