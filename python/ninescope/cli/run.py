"""`ninescope run`: its options, and the drive and the workload that they describe."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ninescope.cli.common import EXIT_INTERRUPTED, Strict, TraceFormat, count, naming_stdin, one_of
from ninescope.cli.common import time_scale as checked_time_scale
from ninescope.cli.run_output import deliver, run_to_end

if TYPE_CHECKING:
    from ninescope.simulation.drive import Drive
    from ninescope.simulation.workload import Workload

_MANY = 1_000_000
"""So many requests are more than a moment's work."""
CHECK_LEVELS = ("off", "cheap", "full")
_OF_ONE_DIRECTION = ("read", "write", "trim", "randread", "randwrite", "randtrim")


def run(
    workload: Annotated[
        str | None,
        typer.Argument(
            metavar="TRACE | NAME | FILE.toml | JOB.fio | -",
            help="A trace, a job or a profile (shipped ones by name), or - for stdin.",
        ),
    ] = None,
    trace: Annotated[
        str | None, typer.Option(metavar="FILE", help="The same as the positional TRACE.")
    ] = None,
    drive: Annotated[
        str | None,
        typer.Option(
            metavar="PRESET|FILE.toml",
            help="The drive; without it the preset tlc, enlarged where a trace reaches further.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the drive. Repeatable."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=(1 << 64) - 1, metavar="N", help="Seed of every random stream.")
    ] = 1,
    json_: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")
    ] = False,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write result, configuration, tables and figures here.")
    ] = None,
    prefill: Annotated[
        str,
        typer.Option(
            metavar="footprint|full|raw|steady|steady-uniform|none", help="What the drive holds at first."
        ),
    ] = "footprint",
    prefill_order: Annotated[
        str,
        typer.Option(
            metavar="ascending|random", help="In which order it was written; random lays neighbours apart."
        ),
    ] = "ascending",
    snapshots: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Keep prepared drives here, and take them from here next time."),
    ] = None,
    from_snapshot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Take the prepared drive from this file (`ninescope snapshot`)."),
    ] = None,
    warmup: Annotated[
        str, typer.Option(metavar="N|SHARE", help="Run so many requests (or 10%) before measuring.")
    ] = "0",
    requests: Annotated[
        str | None, typer.Option(metavar="N", help="Stop after so many requests (1e6 works).")
    ] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="T", help="Stop after so much simulated time (10s).")
    ] = None,
    loop: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Replay the trace so many times.")
    ] = None,
    time_scale: Annotated[
        float | None, typer.Option(metavar="X", help="Multiply the trace's time stamps (0.5: twice as fast).")
    ] = None,
    closed_loop: Annotated[
        bool, typer.Option("--closed-loop", help="Ignore time stamps and keep the queue full.")
    ] = False,
    strict: Strict = False,
    format_: TraceFormat = None,
    trims: Annotated[
        bool, typer.Option("--trims", help="Replay the trace's discards too, which are skipped otherwise.")
    ] = False,
    volume: Annotated[
        list[str] | None,
        typer.Option("--volume", metavar="NAME", help="Replay this volume of the trace alone; repeatable."),
    ] = None,
    volumes: Annotated[
        str | None,
        typer.Option(
            metavar="in-order|merge|map:NAME=OFFSET;…",
            help="Where a trace's volumes lie: one after the other, all at zero, or each at its offset.",
        ),
    ] = None,
    addresses: Annotated[
        str | None,
        typer.Option(
            metavar="refuse|wrap|compact",
            help="Addresses beyond the drive: refuse, take modulo its size, or close all gaps.",
        ),
    ] = None,
    host_cache: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Put the trace behind the [host_cache] of a TOML file, on the drive."
        ),
    ] = None,
    log_requests: Annotated[
        bool, typer.Option("--log-requests", help="Write one row per request (requests.parquet in --out).")
    ] = False,
    fio_logs: Annotated[
        bool,
        typer.Option(
            "--fio-logs",
            help="Write logs of bandwidth, IOPS and latency as fio does (ninescope_bw.log ... in --out).",
        ),
    ] = False,
    check: Annotated[
        str,
        typer.Option(
            metavar="off|cheap|full", help="Walk beside the run and end it where an invariant breaks."
        ),
    ] = "off",
    explain_slowest: Annotated[
        int | None,
        typer.Option(
            min=1, max=1000, metavar="K", help="Tell the way of the K slowest reads and the K slowest writes."
        ),
    ] = None,
    trace_window: Annotated[
        str | None,
        typer.Option(
            metavar="FROM..TO",
            help="Write timeline.json, what every die did in this simulated time (10ms..12ms), to --out.",
        ),
    ] = None,
    rw: Annotated[
        str | None,
        typer.Option(metavar="read|write|randread|randwrite|rw|randrw", help="Make a job, in fio's words."),
    ] = None,
    bs: Annotated[str | None, typer.Option(metavar="SIZE", help="Job: request size, as 4k.")] = None,
    iodepth: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Job or closed loop: requests in flight.")
    ] = None,
    rwmixread: Annotated[
        float | None,
        typer.Option(min=0, max=100, metavar="PERCENT", help="Job: percent of reads in a mix (62.5 works)."),
    ] = None,
    size: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Job: the region it works on, as 8g.")
    ] = None,
    random_distribution: Annotated[
        str | None, typer.Option(metavar="uniform|zipf:T", help="Job: how addresses are drawn.")
    ] = None,
    rate_iops: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Job: requests per second (open loop).")
    ] = None,
) -> None:
    """Run a workload on a drive and show throughput, latency and its causes.

    Nothing else is needed: `ninescope run TRACE` takes the default drive, enlarged where the trace reaches
    further.
    """
    from ninescope.simulation.run import PREFILL_ORDERS, PREFILLS, Run, request

    limit = None if requests is None else count("--requests", requests)
    if duration is not None and duration.replace(".", "", 1).isdigit():
        raise typer.BadParameter(
            f"--duration {duration} lacks a unit: {duration}s? (ns, us, ms, s, min, h or d)"
        )
    if from_snapshot is not None:
        from ninescope.common.files import existing

        existing(from_snapshot, "snapshot")
    if out is not None and not out:
        raise typer.BadParameter("--out wants a directory, and its name is empty")
    if log_requests and out is None:
        raise typer.BadParameter("--log-requests writes a file, so it needs --out DIR")
    if fio_logs and out is None:
        raise typer.BadParameter("--fio-logs writes files, so it needs --out DIR")
    if trace_window is not None and out is None:
        raise typer.BadParameter("--trace-window writes a file, so it needs --out DIR")
    window = None if trace_window is None else _window(trace_window)
    _say_what_a_mix_is(rw, rwmixread)
    job = {
        "rw": rw,
        "bs": bs,
        "iodepth": iodepth,
        "rwmixread": rwmixread,
        "size": size,
        "random_distribution": random_distribution,
        "rate_iops": rate_iops,
    }
    replay = {
        "format": format_,
        "strict": strict,
        "loop": loop,
        "time_scale": time_scale,
        "closed_loop": closed_loop,
        "trims": trims,
        "volume": volume or None,
        "volumes": volumes,
        "host_cache": host_cache,
        "addresses": None
        if addresses is None
        else one_of("--addresses", addresses, ("refuse", "wrap", "compact")),
    }
    if closed_loop:
        replay["iodepth"] = job.pop("iodepth")
    with contextlib.ExitStack() as stack:
        source = _one_source(workload, trace)
        chosen = workload_of(source, job, replay, limit, seed, stack)
        asked = request(
            drive_of(drive, set_ or []),
            chosen,
            seed=seed,
            warmup=_warmup(warmup),
            requests=limit,
            duration=duration,
            prefill=one_of("--prefill", prefill, PREFILLS),
            prefill_order=one_of("--prefill-order", prefill_order, PREFILL_ORDERS),
            log_requests=log_requests,
            check=one_of("--check", check, CHECK_LEVELS),
            explain_slowest=explain_slowest,
            trace_window=window,
            snapshots=snapshots,
            from_snapshot=from_snapshot,
        )
        if out is not None:
            from ninescope.common.files import output_directory

            stack.enter_context(output_directory(Path(out)))
        with naming_stdin(chosen.words):
            with _naming_the_window(trace_window):
                started = Run(asked)
            if source is None and not (size or limit or duration):
                _say_how_many(started.progress().total)
            result = run_to_end(started, quiet=not sys.stderr.isatty())
        for remark in started.remarks():
            print(f"ninescope: {remark}", file=sys.stderr)
        deliver(result, None if out is None else Path(out), as_json=json_, fio_logs=fio_logs)
    if not result.complete:
        raise typer.Exit(EXIT_INTERRUPTED)


def _say_what_a_mix_is(rw: str | None, rwmixread: float | None) -> None:
    """Say of a mix that it is none, or that it looks like a share."""
    if rwmixread is not None and rw in _OF_ONE_DIRECTION:
        print(f"ninescope: --rwmixread says nothing of --rw {rw}, which is of one direction", file=sys.stderr)
    elif rwmixread is not None and 0 < rwmixread < 1:
        print(f"ninescope: --rwmixread {rwmixread:g} is {rwmixread:g} %, not a share", file=sys.stderr)


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


def workload_of(
    source: str | None,
    job: dict[str, Any],
    replay: dict[str, Any],
    limit: int | None,
    seed: int,
    stack: contextlib.ExitStack,
) -> Workload:
    """Return the workload of an argument, of the words of a job and of those of a replay."""
    from ninescope.simulation.workload import Workload

    job = {key: value for key, value in job.items() if value is not None}
    replay = {key: value for key, value in replay.items() if value is not None and value is not False}
    if source is None:
        if not job:
            raise typer.BadParameter("nothing to run: give a trace, a job file or --rw")
        if "rw" not in job:
            describe = "describes" if len(job) == 1 else "describe"
            raise typer.BadParameter(f"{_options(job)} {describe} a job, which also needs --rw")
        if replay:
            raise typer.BadParameter(f"{_options(replay)} is about traces, and this is a job")
        return Workload.job(**job, **({} if limit is None else {"requests": limit}))
    if job:
        hint = " (--closed-loop makes it one of traces)" if "iodepth" in job else ""
        raise typer.BadParameter(
            f"{_options(job)} describes a job{hint}, and {source!r} is already a workload"
        )

    from ninescope.common.files import existing, spooled

    is_job = source != "-" and Path(source).suffix in (".toml", ".fio")
    if "time_scale" in replay and not is_job:
        checked_time_scale(replay["time_scale"])
    if source == "-":
        path = stack.enter_context(spooled(sys.stdin.buffer))
        with naming_stdin({"trace": path, "name": source}):
            trace = Workload.trace(path, **replay)
        return Workload({**trace.words, "name": "-"})
    profile = _profile(source)
    if profile is not None:
        of_files = {key: value for key, value in replay.items() if key in ("format", "volume", "volumes")}
        if of_files:
            raise typer.BadParameter(
                f"{_options(of_files)} is about trace files, and {source!r} is a profile"
            )
        return Workload.profile(profile, requests=limit, seed=seed, **replay)
    is_shipped = _is_shipped_job(source)
    if is_job or is_shipped:
        if replay:
            raise typer.BadParameter(f"{_options(replay)} is about traces, and {source!r} is a job")
        return Workload.preset(source) if is_shipped else Workload.job_file(existing(source, "job file"))
    _refuse_unknown_name(source)
    _refuse_mqsim(source)
    return Workload.trace(source, **replay)


def _is_shipped_job(source: str) -> bool:
    from ninescope.common.catalogue import presets

    return not Path(source).exists() and any(preset.name == source for preset in presets("jobs"))


def _refuse_unknown_name(source: str) -> None:
    """Say of what neither exists nor looks like a file which names there are."""
    from ninescope.common.catalogue import did_you_mean, presets

    if Path(source).exists() or os.sep in source or "." in source:
        return
    names = [preset.name for kind in ("jobs", "profiles") for preset in presets(kind)]
    raise typer.BadParameter(
        f"{source!r} is no file, and no job or profile has that name{did_you_mean(source, names)}"
    )


def _refuse_mqsim(source: str) -> None:
    """Say of a file of MQSim what becomes of it here."""
    from ninescope.mqsim.document import import_command, kind_of

    kind = kind_of(source)
    if kind is not None:
        raise typer.BadParameter(
            f"{source}: {kind} of MQSim; {import_command(source)} makes files for ninescope of it"
        )


def _profile(source: str) -> str | None:
    """Return the profile that is meant, if one is: a shipped one, or a file with the keys of one."""
    from ninescope.common.catalogue import shipped_profiles
    from ninescope.common.kinds import is_profile

    if Path(source).exists():
        return source if source.endswith(".toml") and is_profile(source) else None
    return source if source in shipped_profiles() else None


def _options(words: dict[str, Any]) -> str:
    return ", ".join(f"--{word.replace('_', '-')}" for word in words)


def drive_of(name: str | None, settings: list[str]) -> Drive:
    """Return the drive of `--drive` and `--set`."""
    from ninescope._native import ConfigError
    from ninescope.common.files import existing
    from ninescope.simulation.drive import Drive

    for setting in settings:
        if "=" not in setting:
            raise typer.BadParameter(f"--set wants key=value, not {setting!r}")
    if name is None:
        drive = Drive()
    elif name.endswith(".fio") and Path(name).is_file():
        raise ConfigError(f"--drive: {name} is a job file, not a drive; `ninescope run {name}` runs it")
    elif name.endswith(".toml") or os.sep in name:
        _refuse_mqsim(name)
        drive = Drive.from_file(existing(name, "drive file"))
    else:
        try:
            drive = Drive.preset(name)
        except ConfigError as error:
            raise ConfigError(f"--drive: {error} (a file ends in .toml)") from None
    return Drive(drive.source, tuple(settings))


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
def _naming_the_window(text: str | None) -> Iterator[None]:
    """Call the window by its option in messages of the engine."""
    from ninescope._native import ConfigError

    try:
        yield
    except ConfigError as error:
        key, _, rest = str(error).partition(": ")
        if text is None or not key.startswith("trace_window"):
            raise
        raise ConfigError(f"--trace-window {text}: {rest}") from None
