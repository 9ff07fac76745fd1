"""`ninescope run`: what its options mean to a run, and the run itself."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ninescope.cli import run_options as options
from ninescope.cli.common import (
    EXIT_INTERRUPTED,
    Strict,
    TraceColumns,
    TraceFormat,
    count,
    naming_stdin,
    one_of,
)
from ninescope.cli.given import drive_of, workload_of
from ninescope.cli.run_output import deliver, run_to_end

if TYPE_CHECKING:
    from ninescope.result import Result
    from ninescope.simulation.run import Run
    from ninescope.simulation.workload import Workload

_MANY = 1_000_000
"""So many requests are more than a moment's work."""
CHECK_LEVELS = ("off", "cheap", "full")


def run(
    workload: options.Workload = None,
    trace: options.Trace = None,
    drive: options.Drive = None,
    set_: options.Set = None,
    seed: options.Seed = 1,
    json_: options.Json = False,
    out: options.Out = None,
    prefill: options.Prefill = "footprint",
    prefill_order: options.PrefillOrder = "ascending",
    snapshots: options.Snapshots = None,
    from_snapshot: options.FromSnapshot = None,
    warmup: options.Warmup = None,
    requests: options.Requests = None,
    duration: options.Duration = None,
    loop: options.Loop = None,
    time_scale: options.TimeScale = None,
    closed_loop: options.ClosedLoop = False,
    strict: Strict = False,
    format_: TraceFormat = None,
    columns: TraceColumns = None,
    trims: options.Trims = False,
    volume: options.Volume = None,
    volumes: options.Volumes = None,
    addresses: options.Addresses = None,
    host_cache: options.HostCache = None,
    zone_log: options.ZoneLog = None,
    stream: options.Stream = None,
    alone: options.Alone = False,
    log_requests: options.LogRequests = False,
    fio_logs: options.FioLogs = False,
    provenance: options.Provenance = None,
    check: options.Check = "off",
    explain_slowest: options.ExplainSlowest = None,
    trace_window: options.TraceWindow = None,
    rw: options.Rw = None,
    bs: options.Bs = None,
    iodepth: options.Iodepth = None,
    rwmixread: options.Rwmixread = None,
    size: options.Size = None,
    random_distribution: options.RandomDistribution = None,
    rate_iops: options.RateIops = None,
    rate: options.Rate = None,
    fua: options.Fua = None,
) -> None:
    """Run a workload on a drive and show throughput, latency and its causes.

    Nothing else is needed: `ninescope run TRACE` takes the default drive, enlarged where the trace reaches
    further.
    """
    _run(options.Options(**locals()))


def _run(given: options.Options) -> None:
    """Run what is described, and deliver the result."""
    from ninescope.simulation.bundle import refuse_early, write
    from ninescope.simulation.run import Run

    limit = None if given.requests is None else count("--requests", given.requests)
    _refuse_contradictions(given)
    window = None if given.trace_window is None else _window(given.trace_window)
    job, replay = given.job(), given.replay()
    out = None if given.out is None else Path(given.out)
    with contextlib.ExitStack() as stack:
        source = _one_source(given.workload, given.trace)
        with _naming_options(given):
            chosen = workload_of(source, job, replay, limit, given.seed, stack)
        _say_what_says_nothing(chosen, given)
        asked = _asked(given, chosen, limit, window)
        if given.provenance is not None:
            refuse_early(asked, given.provenance)
        if out is not None:
            from ninescope.common.files import output_directory

            stack.enter_context(output_directory(out))
        with naming_stdin(chosen.words):
            with _naming_options(given):
                started = Run(asked)
            if source is None and not (given.size or limit or given.duration):
                _say_how_many(started.progress().total)
            result = _results(started, asked, alone=given.alone)
            if given.provenance is not None and result.complete:
                write(given.provenance, asked, result)
        for remark in started.remarks():
            print(f"ninescope: {remark}", file=sys.stderr)
        is_whole = deliver(result, out, as_json=given.json_, fio_logs=given.fio_logs)
    if not (result.complete and is_whole):
        raise typer.Exit(EXIT_INTERRUPTED)


def _results(started: Run, asked: dict[str, Any], *, alone: bool) -> Result:
    """Run it to its end, and each of its jobs alone where that was asked for."""
    quiet = not sys.stderr.isatty()
    if not alone:
        return run_to_end(started, quiet=quiet)
    from ninescope.simulation.alone import check_several, compare_with_alone

    check_several(started)
    result = run_to_end(started, quiet=quiet)
    if result.complete:
        compare_with_alone(result, asked, lambda run: run_to_end(run, quiet=quiet))
    return result


def _refuse_contradictions(given: options.Options) -> None:
    """Refuse what no run can make of its options, before anything is read for long."""
    if given.duration is not None and given.duration.replace(".", "", 1).isdigit():
        raise typer.BadParameter(
            f"--duration {given.duration} lacks a unit: {given.duration}s? (ns, us, ms, s, min, h or d)"
        )
    if given.from_snapshot is not None:
        from ninescope.common.files import existing

        existing(given.from_snapshot, "snapshot")
    if given.out is not None and not given.out:
        raise typer.BadParameter("--out wants a directory, and its name is empty")
    if given.log_requests and given.out is None:
        raise typer.BadParameter("--log-requests writes a file, so it needs --out DIR")
    if given.fio_logs and given.out is None:
        raise typer.BadParameter("--fio-logs writes files, so it needs --out DIR")
    if given.trace_window is not None and given.out is None:
        raise typer.BadParameter("--trace-window writes a file, so it needs --out DIR")


def _asked(
    given: options.Options, workload: Workload, limit: int | None, window: tuple[str, str] | None
) -> dict[str, Any]:
    """Return what the engine is asked; words that are none of those known are told with the nearest."""
    from ninescope.simulation.run import PREFILL_ORDERS, PREFILLS, request

    return request(
        drive_of(given.drive, given.set_ or []),
        workload,
        seed=given.seed,
        warmup=None if given.warmup is None else _warmup(given.warmup),
        requests=limit,
        duration=given.duration,
        prefill=one_of("--prefill", given.prefill, PREFILLS),
        prefill_order=one_of("--prefill-order", given.prefill_order, PREFILL_ORDERS),
        log_requests=given.log_requests,
        check=one_of("--check", given.check, CHECK_LEVELS),
        explain_slowest=given.explain_slowest,
        trace_window=window,
        snapshots=given.snapshots,
        from_snapshot=given.from_snapshot,
    )


def _say_what_says_nothing(workload: Workload, given: options.Options) -> None:
    """Say of words of a job that they have no effect, and of a mix that it looks like a share."""
    from ninescope.simulation.remarks import file_remarks, job_remarks

    file = workload.words.get("job_file")
    of_words = job_remarks(workload.words.get("job") or {}, option="--")
    for remark in of_words if file is None else file_remarks(str(file)):
        print(f"ninescope: {remark}", file=sys.stderr)
    mix = given.rwmixread
    if mix is not None and given.rw in ("rw", "readwrite", "randrw") and 0 < mix < 1:
        print(f"ninescope: --rwmixread {mix:g} is {mix:g} %, not a share", file=sys.stderr)


def _say_how_many(requests: int | None) -> None:
    """Say of a job whose length nobody chose how long it is."""
    if requests is not None and requests >= _MANY:
        print(
            f"ninescope: {requests:,} requests cover the whole drive once; --requests N or --size SIZE makes "
            "them fewer",
            file=sys.stderr,
        )


def _one_source(positional: str | None, option: str | None) -> str | None:
    if positional is not None and option is not None and positional != option:
        raise typer.BadParameter("give the trace as argument or as --trace, not both")
    return positional if positional is not None else option


def _warmup(text: str) -> int | float:
    try:
        value = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if 0 <= value < 1:
        return value or 0
    if value >= 1 and value == int(value) and not text.endswith("%"):
        return int(value)
    if value >= 1 and text.endswith("%"):
        raise typer.BadParameter(
            f"--warmup {text} is to be below 100 %: of all requests nothing would be left to measure"
        )
    raise typer.BadParameter(f"--warmup wants a number of requests or a share such as 10%, not {text!r}")


def _window(text: str) -> tuple[str, str]:
    begin, dots, end = text.partition("..")
    if not (dots and begin.strip() and end.strip()):
        raise typer.BadParameter(f"--trace-window wants two times such as 10ms..12ms, not {text!r}")
    for time in (begin, end):
        if time.strip().replace(".", "", 1).isdigit():
            raise typer.BadParameter(
                f"--trace-window {text}: {time.strip()} lacks a unit: {time.strip()}ms? "
                "(ns, us, ms, s, min, h or d)"
            )
    return begin.strip(), end.strip()


@contextlib.contextmanager
def _naming_options(given: options.Options) -> Iterator[None]:
    """Call a window of time and a size by their options in messages of the engine."""
    from ninescope._native import ConfigError

    try:
        yield
    except ConfigError as error:
        words = str(error)
        if given.trace_window is not None and words.startswith("trace_window"):
            raise ConfigError(f"--trace-window {given.trace_window}: {words.partition(': ')[2]}") from None
        for before in ("job: size_percent: ", "job: size: "):
            if str(given.size).endswith("%") and words.startswith(before):
                raise ConfigError(f"--size {given.size}: {words.removeprefix(before)}") from None
        raise
