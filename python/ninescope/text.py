"""A result as a reader sees it in a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ninescope.causes import look, stacking_order
from ninescope.result import PERCENTILES, Band, Latencies, Latency, Result

_BAR_CELLS = 20
_CAUSE_CELLS = 12


def duration(ns: float) -> str:
    """Write a time with the unit that fits it."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{_three_digits(ns / size)} {unit}"
    return f"{ns:.0f} ns"


def quantity(value: float, unit: str = "") -> str:
    """Write a large number with its prefix."""
    for prefix, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{_three_digits(value / size)} {prefix}{unit}"
    return f"{_three_digits(value)} {unit}".rstrip()


def drive_name(result: Result) -> str:
    """Name the drive of a result."""
    config = result.document.get("config")
    if isinstance(config, dict):
        name = config.get("name") or config.get("preset")
        drive = config.get("drive")
        if isinstance(drive, dict):
            name = drive.get("name") or drive.get("preset") or name
        elif isinstance(drive, str) and "\n" not in drive:
            name = drive
        if name:
            return str(name)
    return "the configured drive"


def workload_name(result: Result) -> str:
    """Name the workload of a result."""
    workload: dict[str, Any] = result.document.get("workload") or {}
    path = workload.get("path")
    if path == "-":
        return "standard input"
    if path:
        return str(path).rsplit("/", 1)[-1]
    return str(workload.get("name") or workload.get("rw") or workload.get("kind") or "workload")


def as_text(result: Result, width: int = 100) -> str:
    """Return a result as plain text."""
    file = io.StringIO()
    Console(file=file, width=width, color_system=None).print(*render(result, bars=False), sep="\n")
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def as_html(result: Result) -> str:
    """Return a result as HTML, for notebooks."""
    console = Console(
        file=io.StringIO(), width=110, record=True, force_terminal=True, color_system="truecolor"
    )
    console.print(*render(result, bars=True), sep="\n")
    return console.export_html(
        inline_styles=True,
        code_format='<pre style="line-height:1.2;font-family:monospace">{code}</pre>',
    )


def print_result(result: Result, console: Console) -> None:
    """Print a result, in colour where there is a terminal."""
    if not console.is_terminal:
        console.print(as_text(result, console.width), markup=False, highlight=False, soft_wrap=True)
        return
    console.print(*render(result, bars=console.color_system is not None), sep="\n")


def render(result: Result, *, bars: bool) -> Iterator[RenderableType]:
    """Yield the parts of the view: headline, latency, write amplification, activity, attribution, notes."""
    yield _headline(result)
    if any(True for _ in result.latency):
        yield ""
        yield _latency_table(result)
    facts = list(_facts(result))
    if facts:
        yield ""
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="bold", no_wrap=True)
        grid.add_column(overflow="fold")
        for name, text in facts:
            grid.add_row(name, text)
        yield Padding(grid, (0, 0, 0, 1), expand=False)
    for op, bands in result.attribution:
        yield ""
        yield _attribution_table(op, bands, bars=bars)
    notes = list(_notes(result))
    if notes:
        yield ""
        yield Group(*(Text.assemble((" note ", "bold yellow"), note) for note in notes))


def _headline(result: Result) -> RenderableType:
    lines = [Text.assemble((workload_name(result), "bold"), " on ", (drive_name(result), "bold"))]
    speed = [f"{result.requests:,} requests", f"{duration(result.simulated_ns)} simulated"]
    if result.wall_seconds:
        speed.append(f"{duration(result.wall_seconds * 1e9)} of wall time")
        speed.append(f"{quantity(result.requests / result.wall_seconds)} requests/s")
    lines.append(Text(", ".join(speed)))
    seed = result.document.get("seed")
    lines.append(Text(f"digest {result.digest}" + (f"  seed {seed}" if seed is not None else ""), "dim"))
    if not result.complete:
        lines.append(Text("INTERRUPTED: this is the part that was run", "bold red"))
    return Group(*(Text(" ") + line for line in lines))


def _latency_table(result: Result) -> RenderableType:
    table = Table(box=None, pad_edge=True, header_style="bold", padding=(0, 2, 0, 1))
    table.add_column("")
    columns: list[tuple[str, Latency]] = []
    for op, latency in result.latency:
        columns.append((op, latency))
        table.add_column(op, justify="right", no_wrap=True)
    device = _worth_showing(result.latency, result.latency_without_host_queue)
    for op, _ in device:
        table.add_column(f"{op}, in device", justify="right", no_wrap=True, style="dim")
    blank = [""] * len(device)
    table.add_row("requests", *(f"{latency.count:,}" for _, latency in columns), *blank)
    moved = [result.throughput.get(op) for op, _ in columns]
    if any(moved):
        table.add_row("IOPS", *(quantity(m.iops) if m else "" for m in moved), *blank)
        table.add_row(
            "throughput", *(quantity(m.bytes_per_second, "B/s") if m else "" for m in moved), *blank
        )
    columns += device
    table.add_row("mean", *(duration(latency.mean_ns) for _, latency in columns))
    for key in PERCENTILES:
        if any(key in latency.percentiles_ns for _, latency in columns):
            table.add_row(f"p{key}", *(_percentile(latency, key) for _, latency in columns))
    table.add_row("max", *(duration(latency.max_ns) for _, latency in columns))
    if any(latency.insufficient for _, latency in columns):
        return Group(table, Text(" * too few samples beyond this percentile to trust it", "dim"))
    return table


def _percentile(latency: Latency, key: str) -> Text:
    if key not in latency.percentiles_ns:
        return Text("")
    text = duration(latency.percentiles_ns[key])
    return Text(f"{text}*", "dim") if key in latency.insufficient else Text(f"{text} ")


def _worth_showing(total: Latencies, device: Latencies) -> list[tuple[str, Latency]]:
    """Return the view without host queueing where it says something else."""
    differs = any(
        latency.percentiles_ns != getattr(total, op).percentiles_ns
        or latency.mean_ns != getattr(total, op).mean_ns
        for op, latency in device
    )
    return list(device) if differs else []


def _facts(result: Result) -> Iterator[tuple[str, RenderableType]]:
    waf = result.waf
    if waf.total:
        sources = {"host": waf.host, "GC": waf.gc, "wear": waf.wear, "padding": waf.padding, "map": waf.map}
        parts = " + ".join(f"{name} {value:.3f}" for name, value in sources.items() if value)
        yield "WAF", f"{waf.total:.3f}" + (f" = {parts}" if parts else "")
    operations: Mapping[str, Any] = result.document.get("operations") or {}
    if operations:
        yield "operations", _counts(operations)
    counters: Mapping[str, Any] = result.document.get("counters") or {}
    if any(counters.values()):
        yield "counters", _counts(counters)
    utilisation: Mapping[str, Any] = result.document.get("utilisation") or {}
    busy = [
        f"{name} {_share(use['mean'])}"
        + (f" ({_share(use['min'])} to {_share(use['max'])})" if "min" in use else "")
        for name, use in utilisation.items()
        if isinstance(use, dict) and use.get("mean") is not None
    ]
    if busy:
        yield "busy", ", ".join(busy)
    occupancy: Mapping[str, float] = (utilisation.get("dies") or {}).get("occupancy") or {}
    held = sorted(((share, name) for name, share in occupancy.items() if share >= 0.0005), reverse=True)
    if held:
        yield "die time", ", ".join(f"{name.replace('_', ' ')} {_share(share)}" for share, name in held)
    wear: Mapping[str, Any] = result.document.get("wear") or {}
    if "erases_mean" in wear:
        yield (
            "wear",
            f"erases per block: mean {wear['erases_mean']:.2f}, "
            f"min {wear.get('erases_min', 0):,}, max {wear.get('erases_max', 0):,}",
        )


def _counts(counts: Mapping[str, Any]) -> str:
    shown = [
        f"{name.replace('_', ' ')} {value:,}"
        for name, value in counts.items()
        if isinstance(value, int) and value
    ]
    return ", ".join(shown) or "none"


def _attribution_table(op: str, bands: tuple[Band, ...], *, bars: bool) -> _Fitted:
    return _Fitted(op, bands, bars)


class _Fitted:
    """The table of bands by causes, with as many causes as fit the width."""

    def __init__(self, op: str, bands: tuple[Band, ...], bars: bool) -> None:
        self._op = op
        self._bands = bands
        self._bars = bars

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        bars = self._bars and options.max_width >= 100
        taken = 30 + (_BAR_CELLS + 2 if bars else 0)
        room = max(2, (options.max_width - taken) // (_CAUSE_CELLS + 2))
        present = {cause for band in self._bands for cause, time in band.parts_ns.items() if time > 0}
        largest = sorted(present, key=lambda cause: (-sum(band.share(cause) for band in self._bands), cause))
        shown = stacking_order(largest if len(largest) <= room else largest[: room - 1])
        table = Table(
            title=f" Where the time of {self._op}s went: mean us and share, by latency band",
            title_justify="left",
            title_style="bold",
            box=None,
            header_style="bold",
            padding=(0, 1, 0, 1),
        )
        for name in ("band", "requests", "mean us"):
            table.add_column(name, justify="left" if name == "band" else "right", no_wrap=True)
        if bars:
            table.add_column("", no_wrap=True)
        for cause in shown:
            header = Text(look(cause).label, f"bold {look(cause).colour}" if bars else "bold")
            table.add_column(header, justify="right", width=_CAUSE_CELLS, overflow="fold")
        if len(shown) < len(present):
            table.add_column("other", justify="right", width=_CAUSE_CELLS)
        for band in self._bands:
            cells: list[RenderableType] = [band.name, f"{band.count:,}", _us(band.mean_ns)]
            if bars:
                cells.append(_bar(band))
            cells += [_part(band, band.parts_ns.get(cause, 0.0)) for cause in shown]
            if len(shown) < len(present):
                cells.append(
                    _part(band, band.mean_ns - sum(band.parts_ns.get(cause, 0.0) for cause in shown))
                )
            table.add_row(*cells)
        yield table


def _part(band: Band, time: float) -> Text:
    share = time / band.mean_ns if band.mean_ns else 0.0
    if share < 0.0005:
        return Text("-", "dim")
    return Text(f"{_us(time)} {share * 100:3.0f}%", "bold" if share >= 0.25 else "")


def _bar(band: Band) -> Text:
    """Draw the shares of a band as a bar; every cell belongs to the cause that holds its middle."""
    bar, filled, before = Text(), 0, 0.0
    for cause in stacking_order(band.parts_ns):
        before += band.share(cause)
        cells = round(before * _BAR_CELLS) - filled
        bar.append("\u2588" * cells, look(cause).colour)
        filled += cells
    return bar


def _notes(result: Result) -> Iterator[str]:
    yield from result.notes
    skipped = (result.document.get("workload") or {}).get("skipped_lines")
    if skipped:
        yield f"{skipped:,} lines of the trace were skipped"
    steady = result.document.get("steady_state")
    if isinstance(steady, dict) and steady.get("reached") is False:
        yield "the drive was not in steady state when the run began"


def _us(ns: float) -> str:
    return f"{ns / 1e3:,.1f}"


def _share(share: float) -> str:
    return f"{share * 100:.1f}%" if share < 0.0995 else f"{share * 100:.0f}%"


def _three_digits(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
