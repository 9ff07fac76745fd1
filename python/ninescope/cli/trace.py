"""`ninescope trace`: looking into traces, and writing them in other formats."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ninescope.cli.common import Strict, TraceColumns, TraceFormat, Volume, count, naming_stdin
from ninescope.cli.common import time_scale as checked_time_scale

app = typer.Typer(help="Look into traces.", no_args_is_help=True, rich_markup_mode=None)


@app.command("stat")
def trace_stat(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A trace, or - for stdin.")],
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    strict: Strict = False,
    format_: TraceFormat = None,
    columns: TraceColumns = None,
    trims: Annotated[bool, typer.Option("--trims", help="Count discards as requests.")] = False,
    volume: Volume = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write the numbers and their figures here.")
    ] = None,
) -> None:
    """Say what a trace contains."""
    from ninescope.common.files import output_directory, spooled
    from ninescope.common.written import trace_file
    from ninescope.simulation.traces import trace_stat as stat_of

    if out is not None and not out:
        raise typer.BadParameter("--out wants a directory, and its name is empty")
    with contextlib.ExitStack() as stack:
        if out is not None:
            stack.enter_context(output_directory(Path(out)))
        if file == "-":
            path, name = stack.enter_context(spooled(sys.stdin.buffer)), "standard input"
        else:
            path, name = Path(trace_file(file)), Path(file).name
        with naming_stdin({"trace": path, "name": file}):
            stat = stat_of(
                path, format=format_, columns=columns, strict=strict, trims=trims, volume=volume or ()
            )
        if out is not None:
            _save_trace_stat(stat, name, Path(out))
    if json_:
        print(json.dumps(stat))
        return
    from ninescope.text.trace import trace_as_text

    print(trace_as_text(stat, name))
    if out is not None:
        print(f"\n written to {out}")


def _save_trace_stat(stat: dict[str, Any], name: str, out: Path) -> None:
    """Write the figures of a trace, and last its numbers."""
    from ninescope.common.files import written_whole
    from ninescope.pictures.trace import draw

    draw(stat, name, out)
    with written_whole(out / "trace.json") as temporary:
        temporary.write_text(json.dumps(stat, indent=1), encoding="utf-8")


@app.command("convert")
def trace_convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A trace, or - for stdin.")],
    target: Annotated[
        str,
        typer.Argument(metavar="OUT", help="The file to write (.gz and .zst compress it), or - for stdout."),
    ],
    volume: Volume = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="msr|mqsim|fio|parquet",
            help="The format to write, where OUT does not end in .csv, .mqsim, .iolog or .parquet.",
        ),
    ] = None,
    format_: TraceFormat = None,
    columns: TraceColumns = None,
    strict: Strict = False,
    requests: Annotated[
        str | None, typer.Option(metavar="N", help="Stop after so many requests (1e6 works).")
    ] = None,
    trims: Annotated[
        bool, typer.Option("--trims", help="Take discards too, which are skipped otherwise.")
    ] = False,
    time_scale: Annotated[
        float, typer.Option(metavar="X", help="Multiply the trace's time stamps (0.5: twice as fast).")
    ] = 1.0,
) -> None:
    """Write a trace in another format."""
    from ninescope.common.files import spooled
    from ninescope.common.written import trace_file
    from ninescope.simulation.traces import convert, target_format

    target_format(target, to)  # before a long trace is taken in
    options = {
        "format": format_,
        "columns": columns,
        "strict": strict,
        "trims": trims,
        "volume": volume or [],
        "requests": None if requests is None else count("--requests", requests),
        "time_scale": checked_time_scale(time_scale),
    }
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(spooled(sys.stdin.buffer)) if source == "-" else trace_file(source)
        with naming_stdin({"trace": path, "name": source}):
            done = convert(path, target, to=to, **options)
    report = sys.stderr if target == "-" else sys.stdout
    where = "standard output" if target == "-" else target
    print(f" {where}: {done.requests:,} requests, format {done.format}", file=report)
    for remark in done.remarks():
        print(f" note: {remark}", file=report)


@app.command("profile")
def trace_profile(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A trace, or - for stdin.")],
    out: Annotated[
        str, typer.Option("-o", "--out", metavar="OUT.toml", help="The file to write; - is stdout.")
    ] = "-",
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="What it stands for; the file's name otherwise.")
    ] = None,
    format_: TraceFormat = None,
    columns: TraceColumns = None,
    strict: Strict = False,
    trims: Annotated[bool, typer.Option("--trims", help="Take discards too.")] = False,
    volume: Volume = None,
) -> None:
    """Reduce a trace to a profile: what it is like in numbers, and no row of it."""
    from ninescope._native import ConfigError
    from ninescope.common.files import output_file, spooled
    from ninescope.common.written import trace_file
    from ninescope.simulation.profiles import profile_of

    if out != "-" and not out.endswith(".toml"):
        raise ConfigError(f"--out {out!r}: a profile's file ends in .toml")
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(spooled(sys.stdin.buffer)) if file == "-" else trace_file(file)
        called = name if name is not None else "standard input" if file == "-" else _stem(file)
        with naming_stdin({"trace": path, "name": file}):
            text = profile_of(
                path,
                name=called,
                source=[f"reduced from {'standard input' if file == '-' else Path(file).name}"],
                format=format_,
                columns=columns,
                strict=strict,
                trims=trims,
                volume=volume or [],
            )
    if out == "-":
        print(text, end="")
        return
    with output_file(Path(out)) as temporary:
        temporary.write_text(text, encoding="utf-8")
    print(f" {out}: profile of {called}, {len(text) / 1024:.0f} KiB")


def _stem(file: str) -> str:
    """Return the name of a file without its endings."""
    return Path(file).name.split(".")[0] or Path(file).name


@app.command("generate")
def trace_generate(
    profile: Annotated[
        str, typer.Argument(metavar="NAME | PROFILE.toml", help="A shipped profile, or one in a file.")
    ],
    target: Annotated[
        str, typer.Argument(metavar="[OUT]", help="The file to write (.gz and .zst compress it); stdout.")
    ] = "-",
    to: Annotated[
        str | None,
        typer.Option(metavar="msr|mqsim|fio|parquet", help="The format, where OUT does not say it."),
    ] = None,
    requests: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="How many requests (1e6 works); as many as the original had otherwise."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=(1 << 64) - 1, metavar="N", help="Random seed.")] = 1,
) -> None:
    """Draw a trace of any length from a profile."""
    from ninescope.simulation.profiles import generate

    drawn = generate(
        profile,
        target,
        to=to,
        requests=None if requests is None else count("--requests", requests),
        seed=seed,
    )
    report = sys.stderr if target == "-" else sys.stdout
    where = "standard output" if target == "-" else target
    print(f" {where}: {drawn.requests:,} requests, {drawn.label} of {drawn.name}", file=report)
    for remark in drawn.remarks():
        print(f" note: {remark}", file=report)


@app.command("compare")
def trace_compare(
    original: Annotated[str, typer.Argument(metavar="TRACE", help="The trace that is stood in for.")],
    other: Annotated[
        str, typer.Argument(metavar="TRACE | NAME | PROFILE.toml", help="Another trace, or a profile of it.")
    ],
    drive: Annotated[
        str | None,
        typer.Option(metavar="PRESET|FILE.toml", help="Let this drive, sized to TRACE, serve both too."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=(1 << 64) - 1, metavar="N", help="Seed of a profile.")] = 1,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say how well one trace, or what is drawn from a profile, stands in for another."""
    import dataclasses
    import tempfile

    from ninescope.cli.given import drive_of
    from ninescope.common.catalogue import shipped_profiles
    from ninescope.common.kinds import is_profile
    from ninescope.common.written import trace_file
    from ninescope.lab.fidelity import as_text, compare
    from ninescope.simulation.profiles import draw_rows

    trace_file(original)
    chosen = None if drive is None else drive_of(drive, [])
    with tempfile.TemporaryDirectory(prefix="ninescope-") as folder:
        stand_in: str | Path = other
        if other in shipped_profiles() or is_profile(other):
            stand_in = Path(folder, "drawn.rows.zst")
            draw_rows(other, stand_in, seed=seed)
        else:
            trace_file(other)
        rows = compare(original, stand_in, drive=chosen)
    if json_:
        print(json.dumps([{**dataclasses.asdict(row), "difference": row.difference} for row in rows]))
    else:
        print(as_text(rows, Path(original).name, Path(other).name))
