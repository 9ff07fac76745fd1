"""Jobs of a run once more, each alone on the same drive: how much slower they are together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ninescope._native import ConfigError
from ninescope.result.fairness import jain, least_over_most, mean_latency, rate_of
from ninescope.simulation.run import LED_IN, Run

if TYPE_CHECKING:
    from ninescope.result import Result

ONE_ALONE = "alone: the workload has one job, which runs alone as it is"
QUEUE_OF_HOST = ("queue_entries", "commands_per_queue", "fetch_time", "fetch_entries", "fetches_in_flight")
"""Keys of the controller with which requests wait in a queue of the host, as part of their latency."""
PACED = ("rate_iops", "write_rate_iops", "rate", "write_rate")
"""Words of a job that is no closed loop."""
PAUSED = ("thinktime", "iops_max", "bandwidth_max")
"""Words of a closed loop that does not always have `iodepth` requests that want to go."""
ENDED = ("requests", "io_size", "passes", "duration")
"""Words that end a job."""


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
    document = result.document
    by_rate, undecided = closed_loops_let_in(document), perhaps_done_before(document, asked)
    slowdowns = []
    for stored in document["by_job"]:
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
        stored["slowdown"] = None
        if mean and stored["requests"]:
            together = mean_latency(stored["latency"])
            rates = [rate_of(of["throughput"]) for of in (alone.document, stored)]
            is_by_rate = stored["name"] in by_rate and all(rates)
            stored["slowdown"] = rates[0] / rates[1] if is_by_rate else together / mean
            stored["slowdown_of"] = "rate" if is_by_rate else "latency"
        elif mean and stored["began_ns"] is not None and stored["name"] not in undecided:
            stored["starved"] = True
            document["notes"].append(
                f"job {stored['name']} was starved: none of its requests completed together with others, "
                f"and alone {stored['alone']['requests']:,} were; its slowdown has no bound"
            )
        # Of a job that did nothing alone either, or never began, there is no slowdown.
        slowdowns.append(math.inf if stored.get("starved") else stored["slowdown"])
    known = [slowdown for slowdown in slowdowns if slowdown is not None]
    document["fairness"] = {"jain": jain(known), "least_over_most": least_over_most(known)}
    return True


def closed_loops_let_in(document: Mapping[str, Any]) -> set[str]:
    """Return the closed loops whose wait to be let in by a full drive is not in their latency.

    Each submits a request when the drive has room, so that its latency may be as good as alone while its rate
    is not. As the same number of requests always wants to go, that number over the rate is, by Little's law,
    the time of a request from when it wanted to go: the slowdown is the rate alone over the one together.
    """
    controller = document["config"]["drive"].get("controller", {})
    if any(controller.get(key) is not None for key in QUEUE_OF_HOST):
        return set()  # They submit whether or not the drive has room.
    jobs = list(_described(document))
    if any(job.get("commands_per_queue") is not None for job in jobs):
        return set()
    depths = {job["name"]: depth for job in jobs if (depth := _kept_in_flight(job)) is not None}
    counters = document["counters"]
    may_be_full = (
        sum(depths.values()) > controller.get("queue_depth", math.inf)
        or counters.get("split_requests")  # each is several commands, which are what the drive has room for
        or counters.get("non_queued_commands")  # beside which nothing is let in
        or any(document["host_queue"]["share"].values())  # something that arrived by its time had to wait
    )
    paused = {job["name"] for job in jobs if any(job.get(key) for key in PAUSED)}
    # Of a trace the limits are told there alone.
    paused |= {limited["job"] for limited in document["host_queue"].get("limits", ())}
    return depths.keys() - paused if may_be_full else set()


def perhaps_done_before(document: Mapping[str, Any], asked: Mapping[str, Any]) -> set[str]:
    """Return the jobs that may have had their end before measuring began, of which nothing says it."""
    if not asked.get("warmup") and asked.get("prefill") not in LED_IN:
        return set()
    jobs = _described(document)
    return {job["name"] for job in jobs if job.get("kind") == "trace" or any(job.get(key) for key in ENDED)}


def _described(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield what the jobs and traces of a run are."""
    workload = document["workload"]
    jobs = workload.get("jobs") or ([workload["job"]] if "job" in workload else [])
    yield from (*jobs, *workload.get("traces", ()))


def _kept_in_flight(job: Mapping[str, Any]) -> float | None:
    """Return how many requests a closed loop keeps in flight; None of what arrives by its times or a rate."""
    if job.get("kind") == "trace":
        return (job.get("iodepth") or math.inf) if job.get("closed_loop") else None
    return None if any(job.get(key) for key in PACED) else job["iodepth"]
