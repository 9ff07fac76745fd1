"""The command line. Whatever is heavy is imported by the command that needs it, so that `--help` is quick."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shlex
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from ninescope.drive import Drive
    from ninescope.papers.catalogue import Paper
    from ninescope.papers.report import Report
    from ninescope.papers.runner import Step
    from ninescope.result import Result
    from ninescope.run import Run
    from ninescope.workload import Workload

EXIT_FAILURE = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
CHECK_LEVELS = ("off", "cheap", "full")

app = typer.Typer(
    name="ninescope",
    help="Simulate an SSD and see where every nanosecond of the tail went.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
presets_app = typer.Typer(
    help="List the drives and jobs that come with ninescope, or show one.",
    invoke_without_command=True,
    rich_markup_mode=None,
)
trace_app = typer.Typer(help="Look into traces.", no_args_is_help=True, rich_markup_mode=None)
papers_app = typer.Typer(
    help="Judge published claims by experiments.", no_args_is_help=True, rich_markup_mode=None
)
import_app = typer.Typer(
    help="Take over configurations of other simulators.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(presets_app, name="presets")
app.add_typer(import_app, name="import")
app.add_typer(trace_app, name="trace")
app.add_typer(papers_app, name="papers")


class Interrupted(BaseException):
    """The user or the system asked to stop."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; every way out has its exit code."""
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the caller: nobody writes, or nobody reads
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (lives as long as the process)
    try:
        try:
            app(args=arguments, prog_name="ninescope")
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_FAILURE)
    except OSError as error:  # of the output: every other one is caught where it is known
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"ninescope: error: cannot write the output: {error.strerror}", file=sys.stderr)
        sys.exit(EXIT_BAD_INPUT)
    except Interrupted:
        print("ninescope: interrupted", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    except ImportError as error:
        if not any(text in str(error) for text in ("ninescope._native", "name '_native'")):
            raise
        print("ninescope: error: the engine is not built; `make demo` builds it", file=sys.stderr)
        sys.exit(EXIT_FAILURE)
    except Exception as error:
        from ninescope import ConfigError, SimulationError

        if isinstance(error, ConfigError):
            print(f"ninescope: error: {error}", file=sys.stderr)
            sys.exit(EXIT_BAD_INPUT)
        if isinstance(error, SimulationError):
            print(f"ninescope: internal error: {error}", file=sys.stderr)
            typed = sys.argv[1:] if arguments is None else arguments
            again = _replay_command(typed)
            if again:
                same = ", with the same standard input" if "-" in typed else ""
                print(f"ninescope: to replay it to that point{same}: {again}", file=sys.stderr)
            sys.exit(EXIT_FAILURE)
        raise
    sys.exit(0)


def _replay_command(arguments: Sequence[str]) -> str | None:
    """Return the command that meets an internal error again, with every check on: a run is its input."""
    if not arguments or arguments[0] != "run":
        return None
    words = list(arguments)
    for position, word in enumerate(words):
        if word == "--check":
            del words[position : position + 2]
            break
        if word.startswith("--check="):
            del words[position]
            break
    return shlex.join(["ninescope", *words, "--check", "full"])


def _interrupt(signal_number: int, frame: FrameType | None) -> NoReturn:
    raise Interrupted


def _version(asked: bool) -> None:
    if asked:
        from ninescope import _native

        print(f"ninescope {_native.version()}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def run(
    workload: Annotated[
        str | None,
        typer.Argument(metavar="TRACE | JOB.toml | JOB.fio | -", help="A trace, a job file, or - for stdin."),
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
        typer.Option(metavar="footprint|full|raw|steady|none", help="What the drive holds at first."),
    ] = "footprint",
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
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse a trace with lines that cannot be read.")
    ] = False,
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="The trace's format, where guessing is wrong."),
    ] = None,
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
        int | None, typer.Option(min=0, max=100, metavar="PERCENT", help="Job: percent of reads in a mix.")
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
    from ninescope.run import Run, request

    limit = None if requests is None else _count("--requests", requests)
    if duration is not None and duration.replace(".", "", 1).isdigit():
        raise typer.BadParameter(
            f"--duration {duration} lacks a unit: {duration}s? (ns, us, ms, s, min or h)"
        )
    if out is not None and not out:
        raise typer.BadParameter("--out wants a directory, and its name is empty")
    if log_requests and out is None:
        raise typer.BadParameter("--log-requests writes a file, so it needs --out DIR")
    if trace_window is not None and out is None:
        raise typer.BadParameter("--trace-window writes a file, so it needs --out DIR")
    window = None if trace_window is None else _window(trace_window)
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
        else _one_of("--addresses", addresses, ("refuse", "wrap", "compact")),
    }
    if closed_loop:
        replay["iodepth"] = job.pop("iodepth")
    with contextlib.ExitStack() as stack:
        chosen = _workload(_one_source(workload, trace), job, replay, limit, stack)
        asked = request(
            _drive(drive, set_ or []),
            chosen,
            seed=seed,
            warmup=_warmup(warmup),
            requests=limit,
            duration=duration,
            prefill=_one_of("--prefill", prefill, ("footprint", "full", "raw", "steady", "none")),
            log_requests=log_requests,
            check=_one_of("--check", check, CHECK_LEVELS),
            explain_slowest=explain_slowest,
            trace_window=window,
        )
        if out is not None:
            from ninescope.files import output_directory

            stack.enter_context(output_directory(Path(out)))
        with _naming_stdin(chosen.words):
            with _naming_the_window(trace_window):
                started = Run(asked)
            result = _run_to_end(started, quiet=not sys.stderr.isatty())
        _deliver(result, None if out is None else Path(out), as_json=json_)
    if not result.complete:
        raise typer.Exit(EXIT_INTERRUPTED)


def _one_source(positional: str | None, option: str | None) -> str | None:
    if positional is not None and option is not None and positional != option:
        raise typer.BadParameter("give the trace as argument or as --trace, not both")
    return positional if positional is not None else option


def _workload(
    source: str | None,
    job: dict[str, Any],
    replay: dict[str, Any],
    limit: int | None,
    stack: contextlib.ExitStack,
) -> Workload:
    from ninescope.workload import Workload

    job = {key: value for key, value in job.items() if value is not None}
    replay = {key: value for key, value in replay.items() if value is not None and value is not False}
    if source is None:
        if not job:
            raise typer.BadParameter("nothing to run: give a trace, a job file or --rw")
        if "rw" not in job:
            raise typer.BadParameter(f"{_options(job)} describe a job, which also needs --rw")
        if replay:
            raise typer.BadParameter(f"{_options(replay)} is about traces, and this is a job")
        return Workload.job(**job, **({} if limit is None else {"requests": limit}))
    if job:
        hint = " (--closed-loop makes it one of traces)" if "iodepth" in job else ""
        raise typer.BadParameter(
            f"{_options(job)} describes a job{hint}, and {source!r} is already a workload"
        )

    from ninescope.files import existing, spooled

    if source == "-":
        trace = Workload.trace(stack.enter_context(spooled(sys.stdin.buffer)), **_replay(replay))
        return Workload({**trace.words, "name": "-"})
    suffix = Path(source).suffix
    if suffix in (".toml", ".fio"):
        if replay:
            raise typer.BadParameter(f"{_options(replay)} is about traces, and {source!r} is a job")
        return Workload.job_file(existing(source, "job file"))
    if not Path(source).exists() and _is_shipped_job(source):
        if replay:
            raise typer.BadParameter(f"{_options(replay)} is about traces, and {source!r} is a job")
        return Workload.preset(source)
    return Workload.trace(existing(source, "trace"), **_replay(replay))


def _is_shipped_job(name: str) -> bool:
    from ninescope.catalogue import presets

    return any(preset.name == name for preset in presets("jobs"))


def _replay(words: dict[str, Any]) -> dict[str, Any]:
    scale = words.get("time_scale", 1.0)
    if not (math.isfinite(scale) and scale > 0):
        raise typer.BadParameter(f"--time-scale {scale:g} is not a number greater than 0")
    return words


@contextlib.contextmanager
def _naming_stdin(words: Mapping[str, Any]) -> Iterator[None]:
    """Keep the name of the temporary copy of standard input out of messages."""
    from ninescope._native import ConfigError

    try:
        yield
    except ConfigError as error:
        if words.get("name") != "-":
            raise
        raise ConfigError(str(error).replace(str(words["trace"]), "standard input")) from None


def _options(words: dict[str, Any]) -> str:
    return ", ".join(f"--{word.replace('_', '-')}" for word in words)


def _drive(name: str | None, settings: list[str]) -> Drive:
    from ninescope._native import ConfigError
    from ninescope.drive import Drive
    from ninescope.files import existing

    for setting in settings:
        if "=" not in setting:
            raise typer.BadParameter(f"--set wants key=value, not {setting!r}")
    if name is None:
        drive = Drive()
    elif name.endswith(".toml") or os.sep in name:
        drive = Drive.from_file(existing(name, "drive file"))
    else:
        try:
            drive = Drive.preset(name)
        except ConfigError as error:
            raise ConfigError(f"--drive: {error} (a file ends in .toml)") from None
    return Drive(drive.source, tuple(settings))


def _count(option: str, text: str) -> int:
    try:
        value = float(text.replace("_", ""))
    except ValueError:
        value = -1.0
    if not 1 <= value < 1 << 63 or value != int(value):
        raise typer.BadParameter(f"{option} wants a whole number such as 1000000 or 1e6, not {text!r}")
    return int(value)


def _warmup(text: str) -> int | float:
    try:
        value = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if 0 <= value < 1:
        return value or 0
    if value >= 1 and value == int(value) and not text.endswith("%"):
        return int(value)
    raise typer.BadParameter(f"--warmup wants a number of requests or a share such as 10%, not {text!r}")


def _window(text: str) -> tuple[str, str]:
    begin, dots, end = text.partition("..")
    if not (dots and begin.strip() and end.strip()):
        raise typer.BadParameter(f"--trace-window wants two times such as 10ms..12ms, not {text!r}")
    for time in (begin, end):
        if time.strip().replace(".", "", 1).isdigit():
            raise typer.BadParameter(
                f"--trace-window {text}: {time.strip()} lacks a unit: {time.strip()}ms? "
                "(ns, us, ms, s, min or h)"
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


def _one_of(option: str, word: str, known: tuple[str, ...]) -> str:
    if word not in known:
        from ninescope.catalogue import did_you_mean

        raise typer.BadParameter(f"{option} {word!r} is not known{did_you_mean(word, known)}")
    return word


def _run_to_end(run: Run, *, quiet: bool) -> Result:
    """Run until it is complete or a signal comes; a second signal stops at once, without a result."""
    stopped = False

    def stop(signal_number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        if stopped:
            raise Interrupted
        stopped = True

    before = [(number, signal.signal(number, stop)) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        with _no_bar() if quiet else _bar() as show:
            for progress in run.slices():
                show(progress)
                if stopped:
                    break
        if not run.complete:
            prepared = run.progress().phase != "prepare"
            what = "this is the part that was run" if prepared else "the drive was still being prepared"
            print(f"ninescope: interrupted; {what}", file=sys.stderr)
        return run.result()
    finally:
        for number, handler in before:
            signal.signal(number, handler)


@contextlib.contextmanager
def _no_bar() -> Iterator[Any]:
    yield lambda progress: None


@contextlib.contextmanager
def _bar() -> Iterator[Any]:
    """Show a progress bar on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from ninescope.text import duration

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[simulated]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(progress: Any) -> None:
            phase = progress.phase
            if phase not in tasks:
                for task in tasks.values():
                    bar.update(task, visible=False)
                description = {"prepare": "preparing the drive", "run": "simulating"}.get(phase, phase)
                tasks[phase] = bar.add_task(description, total=progress.total, simulated="")
            simulated = duration(progress.simulated_ns) if progress.simulated_ns else ""
            bar.update(tasks[phase], completed=progress.done, total=progress.total, simulated=simulated)

        yield show


def _deliver(result: Result, out: Path | None, *, as_json: bool) -> None:
    if out is not None:
        try:
            result.save(out)
            result.plot.tail(out / "tail.png")
            result.plot.cdf(out / "cdf.png")
            if any(True for _ in result.slowest):
                result.plot.slowest(out / "slowest.png")
            else:
                (out / "slowest.png").unlink(missing_ok=True)  # of an earlier run
        except OSError as error:
            from ninescope._native import ConfigError

            raise ConfigError(f"cannot write to {out}: {error.strerror}") from error
    if as_json:
        print(json.dumps(result.document))
        return
    from ninescope.text import print_result

    console = _console()
    print_result(result, console)
    if out is not None:
        console.print(f"\n written to {out}: see {out / 'tail.png'}", highlight=False, soft_wrap=True)


def _console() -> Console:
    from rich.console import Console

    # A pipe has no width.
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=100)


@presets_app.callback()
def _presets(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        presets_list()


@presets_app.command("list")
def presets_list() -> None:
    """List the drives and jobs that come with ninescope."""
    from ninescope.catalogue import DEFAULT_PRESET, PRESET_KINDS, presets

    _print_pairs(
        [
            (preset.name, preset.summary + (" (the default)" if preset.name == DEFAULT_PRESET else ""))
            for kind in PRESET_KINDS
            for preset in presets(kind)
        ]
    )


@presets_app.command("show")
def presets_show(name: str) -> None:
    """Print one preset as TOML: a start for a file of your own."""
    from ninescope.catalogue import preset

    print(preset(name).toml.rstrip("\n"))


@trace_app.command("stat")
def trace_stat(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A trace, or - for stdin.")],
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse a trace with lines that cannot be read.")
    ] = False,
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="The trace's format, where guessing is wrong."),
    ] = None,
    trims: Annotated[bool, typer.Option("--trims", help="Count discards as requests.")] = False,
    volume: Annotated[
        list[str] | None, typer.Option("--volume", metavar="NAME", help="Only this volume; repeatable.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write the numbers and their figures here.")
    ] = None,
) -> None:
    """Say what a trace contains."""
    from ninescope import catalogue
    from ninescope.files import existing, output_directory, spooled

    if out is not None and not out:
        raise typer.BadParameter("--out wants a directory, and its name is empty")
    with contextlib.ExitStack() as stack:
        if out is not None:
            stack.enter_context(output_directory(Path(out)))
        if file == "-":
            path, name = stack.enter_context(spooled(sys.stdin.buffer)), "standard input"
        else:
            path, name = Path(existing(file, "trace")), Path(file).name
        with _naming_stdin({"trace": path, "name": file}):
            stat = catalogue.trace_stat(path, format=format_, strict=strict, trims=trims, volume=volume or ())
        if out is not None:
            _save_trace_stat(stat, name, Path(out))
    if json_:
        print(json.dumps(stat))
        return
    from ninescope.text import trace_as_text

    print(trace_as_text(stat, name))
    if out is not None:
        print(f"\n written to {out}")


def _save_trace_stat(stat: dict[str, Any], name: str, out: Path) -> None:
    """Write the figures of a trace, and last its numbers."""
    from ninescope.files import written_whole
    from ninescope.trace_plots import draw

    draw(stat, name, out)
    with written_whole(out / "trace.json") as temporary:
        temporary.write_text(json.dumps(stat, indent=1), encoding="utf-8")


@trace_app.command("convert")
def trace_convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A trace, or - for stdin.")],
    target: Annotated[
        str,
        typer.Argument(metavar="OUT", help="The file to write (.gz and .zst compress it), or - for stdout."),
    ],
    to: Annotated[
        str | None,
        typer.Option(
            metavar="msr|mqsim|fio|parquet",
            help="The format to write, where OUT does not end in .csv, .mqsim, .iolog or .parquet.",
        ),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="The trace's format, where guessing is wrong."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse a trace with lines that cannot be read.")
    ] = False,
    requests: Annotated[
        str | None, typer.Option(metavar="N", help="Stop after so many requests (1e6 works).")
    ] = None,
    time_scale: Annotated[
        float, typer.Option(metavar="X", help="Multiply the trace's time stamps (0.5: twice as fast).")
    ] = 1.0,
) -> None:
    """Write a trace in another format."""
    from ninescope.files import existing, spooled
    from ninescope.traces import convert, target_format

    target_format(target, to)  # before a long trace is taken in
    options = {
        "format": format_,
        "strict": strict,
        "requests": None if requests is None else _count("--requests", requests),
        "time_scale": _replay({"time_scale": time_scale})["time_scale"],
    }
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(spooled(sys.stdin.buffer)) if source == "-" else existing(source, "trace")
        with _naming_stdin({"trace": path, "name": source}):
            done = convert(path, target, to=to, **options)
    report = sys.stderr if target == "-" else sys.stdout
    where = "standard output" if target == "-" else target
    print(f" {where}: {done.requests:,} requests, format {done.format}", file=report)
    for remark in done.remarks():
        print(f" note: {remark}", file=report)


@import_app.command("mqsim")
def import_mqsim(
    config: Annotated[str, typer.Argument(metavar="SSDCONFIG.xml", help="MQSim's drive.")],
    workload: Annotated[str, typer.Argument(metavar="WORKLOAD.xml", help="MQSim's workload.")],
    out: Annotated[str, typer.Option(metavar="DIR", help="Write drive.toml and job.toml here.")],
    scenario: Annotated[int, typer.Option(min=1, metavar="N", help="Which IO_Scenario of the workload.")] = 1,
    one_command_per_chip: Annotated[
        bool,
        typer.Option(
            "--one-command-per-chip",
            help="Make one die of the dies of a chip: MQSim runs one command in a chip at a time.",
        ),
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print the account as JSON.")] = False,
) -> None:
    """Make a drive and jobs of a configuration of MQSim, and list what has no counterpart.

    Flows that replay traces give the command that runs the trace.
    """
    from ninescope import mqsim
    from ninescope.files import existing

    if not out:
        raise typer.BadParameter("--out wants a directory, and its name is empty")
    imported = mqsim.convert(
        existing(config, "configuration"),
        existing(workload, "workload"),
        scenario=scenario,
        one_command_per_chip=one_command_per_chip,
    )
    mqsim.save(imported, Path(out))
    if json_:
        print(json.dumps(imported.document(out)))
        return
    written = ", ".join(str(Path(out, name)) for name in imported.files())
    print(f"written: {written} (where each value comes from stands under `sources`)\n")
    print("not carried over")
    _print_pairs([(f"  {left.tag} {left.value}".rstrip(), left.why) for _, left in imported.not_carried()])
    print("\nrun it with")
    for command in imported.commands(out):
        print(f"  {command}")


@papers_app.command("list")
def papers_list(
    experiments: Annotated[
        str | None, typer.Option(metavar="DIR", help="The folder of experiments, if not the checkout's.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the papers, their claims, and the committed verdicts."""
    from ninescope.papers import catalogue

    found = [
        (paper, paper.claims(), paper.baseline())
        for paper in catalogue.papers(catalogue.experiments_folder(experiments))
    ]
    if json_:
        papers = [
            {
                "id": paper.id,
                "title": claims.title,
                "citation": claims.citation,
                "claims": [claim.id for claim in claims.claims],
                "baseline": baseline,
            }
            for paper, claims, baseline in found
        ]
        print(json.dumps({"papers": papers}))
        return
    for paper, claims, baseline in found:
        print(f"{paper.id}  {claims.title}\n     {claims.citation}")
        for mode, verdicts in baseline.items():
            held = sum(verdict == "holds" for verdict in verdicts.values())
            print(f"     {mode}: {held} of {len(claims.claims)} claims hold")
        if not baseline:
            print(f"     {len(claims.claims)} claims, none judged yet")


@papers_app.command("run")
def papers_run(
    paper: Annotated[str, typer.Argument(metavar="ID|all", help="A paper (`papers list`), or all of them.")],
    quick: Annotated[
        bool, typer.Option("--quick", help="Under two minutes, percentiles up to what that allows (default).")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="As many requests as every percentile needs.")] = False,
    json_: Annotated[
        bool, typer.Option("--json", help="Print the verdicts as JSON, and nothing else.")
    ] = False,
    out: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Write verdicts, tables and figures here (`all`: a folder each)."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Simulations at a time (default: one per processor)."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=(1 << 64) - 1, metavar="N", help="Seed of every random stream.")
    ] = 1,
    experiments: Annotated[
        str | None, typer.Option(metavar="DIR", help="The folder of experiments, if not the checkout's.")
    ] = None,
    renew_baseline: Annotated[
        bool,
        typer.Option("--renew-baseline", help="Make these verdicts the ones that must hold from now on."),
    ] = False,
) -> None:
    """Measure what a paper claims, and judge it.

    Exits with 1 where a claim that holds in the committed baseline no longer does.
    """
    from ninescope.papers import catalogue

    if quick and full:
        raise typer.BadParameter("--quick or --full, not both")
    if renew_baseline and seed != 1:
        raise typer.BadParameter("the baseline is that of seed 1: --renew-baseline goes without --seed")
    if out is not None and not out:
        raise typer.BadParameter("--out wants a directory, and its name is empty")
    chosen = catalogue.chosen(catalogue.experiments_folder(experiments), paper)
    for one in chosen:  # before anything runs for minutes
        one.claims()
        one.baseline()
    reports = []
    for one in chosen:
        folder = None if out is None else Path(out, one.id) if paper == "all" else Path(out)
        report = _judged(one, folder, quick=not full, seed=seed, jobs=jobs)
        if renew_baseline:
            one.renew_baseline(report.mode, report.verdicts)
        reports.append(report)
        if not json_:
            from ninescope.papers.report import print_report

            print_report(report, _console())
            if folder is not None:
                print(f" written to {folder}")
    if json_:
        from ninescope.papers.report import together

        print(json.dumps(together(reports)))
    if renew_baseline:
        return
    worse = [(report, claim) for report in reports for claim in report.regressions]
    for report, claim in worse:
        now = report.verdicts.get(claim, "no claim any more")
        print(
            f"ninescope: {claim} holds in {report.paper.baseline_file}, and now it is: {now}", file=sys.stderr
        )
    if worse:
        raise typer.Exit(EXIT_FAILURE)


def _judged(paper: Paper, out: Path | None, *, quick: bool, seed: int, jobs: int | None) -> Report:
    """Run one paper's experiment and judge its claims."""
    from ninescope.files import output_directory
    from ninescope.papers.catalogue import regressions
    from ninescope.papers.experiment import Settings
    from ninescope.papers.judge import judge
    from ninescope.papers.report import Report, save
    from ninescope.papers.runner import ExperimentError, measure

    settings = Settings(quick=quick, seed=seed)
    claims = paper.claims()
    with contextlib.nullcontext() if out is None else output_directory(out):
        try:
            with _steps(paper.id) as on_step:
                measurement = measure(
                    paper.experiment_file, settings, jobs=jobs, draw_into=out, on_step=on_step
                )
        except ExperimentError as error:
            print(
                f"{str(error).rstrip()}\nninescope: the experiment of paper {paper.id} failed",
                file=sys.stderr,
            )
            raise typer.Exit(EXIT_FAILURE) from None
        judgements = tuple(judge(claim, measurement.summary.measured, quick=quick) for claim in claims.claims)
        verdicts = {judgement.claim.id: judgement.verdict for judgement in judgements}
        committed = paper.baseline().get("quick" if quick else "full", {})
        report = Report(
            paper, claims, settings, judgements, measurement, tuple(regressions(committed, verdicts))
        )
        if out is not None:
            save(report, out)
    return report


@contextlib.contextmanager
def _steps(paper: str) -> Iterator[Any]:
    """Show on stderr how far an experiment is: a bar where that is a terminal, else a line per simulation."""
    if not sys.stderr.isatty():

        def line(step: Step) -> None:
            print(
                f"{paper}  {step.done:>3} of {step.total}  {step.point} ({step.seconds:.1f} s)",
                file=sys.stderr,
                flush=True,
            )

        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"paper {paper}", total=None)

        def move(step: Step) -> None:
            bar.update(
                task, completed=step.done, total=step.total, description=f"paper {paper}: {step.point}"
            )

        yield move


@app.command()
def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A drive, a job or a trace.")],
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse a trace with lines that cannot be read.")
    ] = False,
) -> None:
    """Say what a file is and what is wrong with it. Exits with 2 where something is."""
    from ninescope.check import check
    from ninescope.files import existing

    verdict = check(existing(file, "file"), strict=strict)
    print(f"{file}: {verdict.kind}, OK")
    for note in verdict.notes:
        print(f"  {note}")


@app.command()
def policies(
    registry: Annotated[str | None, typer.Argument(help="Only this registry.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the algorithms that a drive's configuration can name."""
    from ninescope import catalogue

    known = catalogue.policies()
    if registry is not None:
        known = {_one_of("the registry", registry, tuple(known)): known.get(registry, [])}
    if json_:
        print(json.dumps({name: [policy._asdict() for policy in entries] for name, entries in known.items()}))
        return
    for index, (name, entries) in enumerate(known.items()):
        print(f"{chr(10) if index else ''}{name}")
        _print_pairs([(f"  {policy.name}", policy.summary) for policy in entries])


def _print_pairs(pairs: list[tuple[str, str]]) -> None:
    width = max((len(name) for name, _ in pairs), default=0)
    for name, text in pairs:
        print(f"{name:<{width}}  {text}".rstrip())
