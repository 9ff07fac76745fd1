"""One run: from a request to a result, in slices, so that signals and progress bars have their turn."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ninescope import _native
from ninescope.common import bars
from ninescope.common.numbers import whole
from ninescope.simulation import validated
from ninescope.simulation.workload import Workload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ninescope.result import Result

SLICE_MS = 50
_PHASES = {"prepare": "preparing", "run": "running"}
"""What a bar says."""
PREFILL_ORDERS = ("ascending", "random")
LED_IN = ("steady", "steady-uniform", "steady-overwritten", "steady-composed")
"""What they prepare a job leads in to, unless a warm-up is given; a test asks the engine for the same."""
PREFILLS = ("footprint", "full", "raw", *LED_IN, "none")
"""What a drive may hold when a run begins (`docs/usage.md`)."""


class Described(Protocol):
    """A drive, of which a run wants nothing but its part of the request."""

    def request(self) -> dict[str, Any]:
        """Return it."""
        ...


class Progress(NamedTuple):
    """How far a run is."""

    phase: str
    """"prepare" or "run"."""
    done: int
    total: int | None
    simulated_ns: int


def progress_of(told: dict[str, int | str | None]) -> Progress:
    """Take what the engine says of how far it is."""
    total = told.get("total")
    return Progress(
        phase=str(told.get("phase", "run")),
        done=int(told.get("done") or 0),
        total=None if total is None else int(total),
        simulated_ns=int(told.get("simulated_ns") or 0),
    )


def request(
    drive: Described,
    workload: Workload,
    *,
    seed: int = 1,
    warmup: int | float | None = None,
    requests: int | float | None = None,
    duration: str | None = None,
    prefill: str = "footprint",
    prefill_order: str = "ascending",
    log_requests: bool = False,
    check: str = "off",
    explain_slowest: int | None = None,
    trace_window: tuple[str, str] | None = None,
    snapshots: str | os.PathLike[str] | None = None,
    from_snapshot: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Assemble what the engine is asked."""
    if not isinstance(workload, Workload):
        raise TypeError(
            "what is run must be a Workload (Workload.trace(path), Workload.job(rw=...) or "
            f"Workload.job_file(path)), not {workload!r}"
        )
    places = {"snapshots": snapshots, "from_snapshot": from_snapshot}
    return {
        **drive.request(),
        # They change nothing in a run, so that a run without them is asked for as ever.
        **{key: os.fspath(place) for key, place in places.items() if place is not None},
        **({} if prefill_order == "ascending" else {"prefill_order": prefill_order}),
        "workload": dict(workload.words),
        "seed": whole(seed),
        "warmup": whole(warmup),
        "requests": whole(requests),
        "duration": duration,
        "prefill": prefill,
        "log_requests": log_requests,
        "check": check,
        "explain_slowest": whole(explain_slowest),
        "trace_window": None if trace_window is None else _window(trace_window),
    }


def _window(window: tuple[str, str]) -> dict[str, str]:
    """Write a window of simulated time as the engine takes it."""
    if isinstance(window, str) or len(window) != 2 or not all(isinstance(time, str) for time in window):
        raise _native.ConfigError(
            f"trace_window: two times such as ('10ms', '12ms') are wanted, not {window!r}"
        )
    for time in window:
        if time.strip().replace(".", "", 1).isdigit():
            raise _native.ConfigError(
                f"trace_window: {time} lacks a unit: {time}ms? (ns, us, ms, s, min, h or d)"
            )
    return {"from": window[0], "until": window[1]}


class Run:
    """A simulation under way."""

    def __init__(self, request: dict[str, Any]) -> None:
        self._logged = bool(request["log_requests"])
        workload = dict(request["workload"])
        self._copied_from = workload.pop("copied_from", None)
        try:
            self._simulation = _native.Simulation(json.dumps({**request, "workload": workload}))
        except _native.ConfigError as error:
            if self._copied_from is None:
                raise
            # The copy is gone when somebody reads this.
            told = str(error).replace(str(workload["trace"]), str(workload.get("name", "the workload")))
            raise _native.ConfigError(told) from None
        self.complete = False

    def slices(self) -> Iterator[Progress]:
        """Advance slice by slice to the end; between two slices the caller may stop."""
        while not self.complete:
            self.complete = self._simulation.run_slice(SLICE_MS)
            yield self.progress()

    def to_end(
        self, on_progress: Callable[[Progress], None] | None = None, bar: bool | None = False
    ) -> Result:
        """Run to the end, and return the result; `bar` as `Drive.run` has `progress`."""
        with bars.shown(bar, "requests") as move:
            for progress in self.slices():
                if on_progress is not None:
                    on_progress(progress)
                if move is not None:
                    move(_PHASES.get(progress.phase, progress.phase), progress.done, progress.total)
        return self.result()

    def progress(self) -> Progress:
        """Say how far it is."""
        return progress_of(self._simulation.progress())

    def job_names(self) -> list[str]:
        """Return what its jobs are called; nothing of what has none."""
        workload = self._known()["workload"]
        jobs = workload.get("jobs") or [workload["job"]] if "job" in workload or "jobs" in workload else []
        return [str(job["name"]) for job in (*jobs, *workload.get("traces", ()))]

    def workload_hash(self) -> str | None:
        """Return the hash of the requests of a trace, which is known before it is run; None of others."""
        told: str | None = self._known()["workload"].get("hash")
        return told

    def drive(self) -> tuple[dict[str, Any], str]:
        """Return the resolved drive, which is known before it is run: its name and values, and as TOML."""
        config = self._known()["config"]
        return config, str(config["drive_toml"])

    def _known(self) -> dict[str, Any]:
        """Return what is known so far, before anything was run too."""
        document: dict[str, Any] = json.loads(self._simulation.result_json(False))
        return document

    def snapshot(self) -> dict[str, Any] | None:
        """Say what became of the snapshot of the prepared drive, where one was asked for."""
        told = self._simulation.snapshot_json()
        report: dict[str, Any] | None = None if told is None else json.loads(told)
        return report

    def remarks(self) -> list[str]:
        """Return what somebody should look at although it changes nothing in the result."""
        snapshot = self.snapshot()
        if snapshot is None or snapshot["problem"] is None:
            return []
        replaced = "; the drive was prepared anew and the file replaced" if snapshot["saved"] else ""
        return [f"{snapshot['problem']}{replaced}"]

    def result(self) -> Result:
        """Take the result: of the whole run, or of what has been run so far (`complete` is False then)."""
        from ninescope.result import OPS, Result
        from ninescope.result.when_asked import MadeMapping

        simulation = self._simulation
        measured = simulation.measured()
        document = json.loads(simulation.result_json(self.complete))
        document["notes"] += validated.notes_of(document)
        if self._copied_from is not None:  # the engine read the copy
            document["workload"]["format"] = self._copied_from
        return Result(
            document,
            histograms=MadeMapping(lambda: {op: measured.histogram(op) for op in OPS}),
            blocks=MadeMapping(lambda: {op: tuple(measured.latency_blocks(op)) for op in OPS}),
            series=MadeMapping(measured.series),
            requests=_named(simulation.request_log(), document) if self._logged else None,
            timeline=simulation.timeline_json(),
        )


def _named(
    columns: dict[str, NDArray[np.generic]], document: dict[str, Any]
) -> dict[str, NDArray[np.generic]]:
    """Write operations and jobs as their names: the engine numbers them in their order."""
    if "op" in columns:
        import numpy

        from ninescope.result import OPS

        columns["op"] = numpy.array(OPS)[columns["op"].astype(numpy.intp)]
        if "job" in columns:
            names = [job["name"] for job in document["by_job"]]
            columns["job"] = numpy.array(names)[columns["job"].astype(numpy.intp)]
    return columns
