"""Jobs of a run once more, each alone on the same drive: how much slower they are together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ninescope._native import ConfigError
from ninescope.result.fairness import jain, least_over_most, mean_latency
from ninescope.simulation.run import Run

if TYPE_CHECKING:
    from ninescope.result import Result

ONE_ALONE = "alone: the workload has one job, which runs alone as it is"


def check_several(run: Run) -> None:
    """Refuse a run of which no job could run alone, before it is run."""
    if len(run.job_names()) < 2:
        raise ConfigError(ONE_ALONE)


def compare_with_alone(
    result: Result, asked: Mapping[str, Any], to_end: Callable[[Run], Result | None]
) -> bool:
    """Run each job alone as well, and add to the result how much slower it was than that.

    `to_end` runs a run to its end; None or a part of a result ends the comparison, and False is returned.
    """
    unasked = {"log_requests": False, "explain_slowest": None, "trace_window": None}
    slowdowns = []
    for stored in result.document["by_job"]:
        alone = to_end(Run({**asked, **unasked, "only_job": stored["name"]}))
        if alone is None or not alone.complete:
            return False
        latency = alone.document["latency"]
        mean = mean_latency(latency)
        stored["alone"] = {
            "requests": alone.document["requests"],
            "mean_ns": mean,
            "throughput": alone.document["throughput"],
            "latency": latency,
        }
        together = mean_latency(stored["latency"])
        # Of a job that did nothing there is no slowdown.
        stored["slowdown"] = together / mean if mean and together else None
        slowdowns.append(stored["slowdown"])
    known = [slowdown for slowdown in slowdowns if slowdown is not None]
    result.document["fairness"] = {"jain": jain(known), "least_over_most": least_over_most(known)}
    return True
