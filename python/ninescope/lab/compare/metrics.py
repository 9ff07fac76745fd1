"""What is compared: each metric with its name, its unit, and how it is read from a result.

None of them can be negative, and shares are not above 1: their intervals are not either.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from ninescope.lab.statistics import Interval, Numbers, positive_interval, share_interval
from ninescope.result import OPS, PERCENTILES, Latency, Result

Unit = Literal["ns", "1/s", "B/s", "share", "years", ""]
Better = Literal["lower", "higher", ""]
OfTime = Literal["", "iops", "bandwidth", "mean"]

BUCKET = 1 / 128
"""A percentile lies at most this share of it below what is told: the width of the histogram's buckets."""


@dataclasses.dataclass(frozen=True)
class Metric:
    """A number that two results have in common."""

    key: str
    """Its name for programs: `read.p99.9`."""
    label: str
    """Its name for readers: `read p99.9`."""
    unit: Unit
    better: Better
    read: Callable[[Result], float | None] = dataclasses.field(repr=False, compare=False)
    """Takes it from a result; None where it was not measured."""
    op: str = ""
    percentile: str = ""
    of_time: OfTime = ""
    """What of the time series it is the mean of."""
    exact: bool = False
    """It follows from the configuration: chance has no part in it."""
    is_count: bool = False

    def interval(self, values: Sequence[float] | Numbers) -> Interval:
        """Return the mean of independent values of it, with an interval of what it can be."""
        return share_interval(values) if self.unit == "share" else positive_interval(values)

    def resolution(self, values: Iterable[float]) -> float:
        """Return how far below its value a mean over runs may lie, because it is not stored more exactly."""
        known = list(values)
        if self.is_count:
            return 1.0  # one more or less is where the run happened to end
        return BUCKET * sum(known) / len(known) if self.percentile else 0.0


def trusted(metric: Metric, result: Result) -> bool:
    """Say whether enough samples stand behind a metric; all others but percentiles have them."""
    if not metric.percentile:
        return metric.read(result) is not None
    latency: Latency = getattr(result.latency, metric.op)
    return metric.percentile in latency.percentiles_ns and metric.percentile not in latency.insufficient


def metrics_of(results: Iterable[Result]) -> list[Metric]:
    """Return what can be read from any of these results, in the order in which it is shown."""
    runs = list(results)
    return [metric for metric in _all() if any(metric.read(result) is not None for result in runs)]


def every_metric() -> list[Metric]:
    """Return all that can be read from results, whatever they measured."""
    return list(_all())


def _all() -> Iterator[Metric]:
    for op in OPS:
        yield from _of_operation(op)
    yield Metric("waf", "WAF", "", "lower", lambda result: result.waf.total or None)
    yield Metric("zone_log.waf", "WAF of the zone log", "", "lower", _of_zone_log)
    yield Metric("erases", "erases", "", "lower", _erases, is_count=True)
    yield Metric("tier.hit_ratio", "SCM hit ratio", "share", "higher", _hit_ratio)
    yield Metric("codewords.failed", "failed codewords", "", "lower", _failed_codewords, is_count=True)
    for units, words in (("dies", "dies"), ("channels", "channels"), ("banks", "SCM banks")):
        yield Metric(f"busy.{units}", f"{words} busy", "share", "", _busy(units))
    yield Metric("lifetime.years", "lifetime", "years", "higher", _lifetime("years"))
    yield Metric("lifetime.dwpd", "drive writes per day", "", "higher", _lifetime("dwpd"))
    yield Metric("cost.total", "cost", "", "lower", _cost("total"), exact=True)
    yield Metric("cost.per_logical_gb", "cost per GB", "", "lower", _cost("per_logical_gb"), exact=True)
    yield Metric("cost.iops_per_cost", "IOPS per cost", "", "higher", _cost("iops_per_cost"))


def _of_operation(op: str) -> Iterator[Metric]:
    yield Metric(f"{op}.iops", f"{op} IOPS", "1/s", "higher", _moved(op, "iops"), op=op, of_time="iops")
    moved = _moved(op, "bytes_per_second")
    yield Metric(f"{op}.bandwidth", f"{op} throughput", "B/s", "higher", moved, op=op, of_time="bandwidth")
    yield Metric(f"{op}.mean", f"{op} mean", "ns", "lower", _mean(op), op=op, of_time="mean")
    for key in PERCENTILES:
        read = _percentile(op, key)
        yield Metric(f"{op}.p{key}", f"{op} p{key}", "ns", "lower", read, op=op, percentile=key)


def _moved(op: str, what: str) -> Callable[[Result], float | None]:
    def read(result: Result) -> float | None:
        moved = result.throughput.get(op)
        return (float(getattr(moved, what)) or None) if moved else None

    return read


def _mean(op: str) -> Callable[[Result], float | None]:
    def read(result: Result) -> float | None:
        latency: Latency = getattr(result.latency, op)
        return float(latency.mean_ns) if latency.count else None

    return read


def _percentile(op: str, key: str) -> Callable[[Result], float | None]:
    def read(result: Result) -> float | None:
        latency: Latency = getattr(result.latency, op)
        value = latency.percentiles_ns.get(key)
        return None if value is None else float(value)

    return read


def _of_zone_log(result: Result) -> float | None:
    return None if result.zone_log is None else result.zone_log.write_amplification


def _erases(result: Result) -> float | None:
    operations: Mapping[str, Any] = result.document.get("operations") or {}
    return float(operations["erases"]) if "erases" in operations else None


def _hit_ratio(result: Result) -> float | None:
    value = None if result.tier is None else result.tier.hit_ratio
    return None if value is None else float(value)


def _failed_codewords(result: Result) -> float | None:
    if result.reliability is None:
        return None
    return float(sum(use.failed_codewords for use in result.reliability.codes.values()))


def _busy(units: str) -> Callable[[Result], float | None]:
    def read(result: Result) -> float | None:
        utilisation: Mapping[str, Any] = result.document.get("utilisation") or {}
        mean = (utilisation.get(units) or {}).get("mean")
        return None if mean is None else float(mean)

    return read


def _lifetime(what: str) -> Callable[[Result], float | None]:
    def read(result: Result) -> float | None:
        endurance = result.endurance
        value = None if endurance is None else getattr(endurance.lifetime, what)
        return None if value is None else float(value)

    return read


def _cost(what: str) -> Callable[[Result], float | None]:
    def read(result: Result) -> float | None:
        value = None if result.cost is None else getattr(result.cost, what)
        return None if value is None else float(value)

    return read
