"""A result as a reader sees it in a terminal."""

from __future__ import annotations

import dataclasses
import io
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ninescope.result import PERCENTILES, Band, JobResult, Latencies, Latency, Result, Steadiness
from ninescope.result.endurance import facts as endurance_facts
from ninescope.result.host_queue import bands_in_device
from ninescope.result.host_queue import facts as host_queue_facts
from ninescope.result.reliability import facts as reliability_facts
from ninescope.result.tier import facts as tier_facts
from ninescope.text.causes import look, stacking_order
from ninescope.text.lines import PAGE, natural_width, plain_text, print_whole

_BAR_CELLS = 16
_CAUSE_CELLS = 10
_SMALL_SHARE = 0.01
_MANY_REQUESTS = 100
_MISSHAPEN = 0.1
_VOLUMES_SHOWN = 20
"""A band that differs by more than this share of the requests from what its name says is pointed out."""
_UNCERTAIN = ("99.9", "99.99", "99.999", "99.9999")
"""The percentiles that are shown with their intervals."""
_TAIL_REQUESTS = 30
"""The slowest requests are explained in words where so many of them stand behind the words."""


def duration(ns: float) -> str:
    """Write a time with the unit that fits it."""
    for unit, size in (("d", 86400e9), ("h", 3600e9)):
        if ns >= 2 * size:
            return f"{_three_digits(ns / size)} {unit}"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{_three_digits(ns / size)} {unit}"
    return f"{ns:.0f} ns"


def quantity(value: float, unit: str = "") -> str:
    """Write a number with its prefix."""
    for prefix, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{_three_digits(value / size)} {prefix}{unit}"
    return f"{_three_digits(value)} {unit}".rstrip()


def binary(value: float) -> str:
    """Write a size in units of 1024, as sizes of requests and drives are given."""
    for unit, size in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= size:
            return f"{_three_digits(value / size)} {unit}"
    return f"{value:.0f} B"


def drive_name(result: Result) -> str:
    """Name the drive of a result."""
    config: dict[str, Any] = result.document.get("config") or {}
    return str(config.get("name") or "the configured drive")


def workload_name(result: Result) -> str:
    """Name the workload of a result."""
    workload: dict[str, Any] = result.document.get("workload") or {}
    path = workload.get("path")
    if path:
        return "standard input" if path == "-" else str(path).rsplit("/", 1)[-1]
    if workload.get("jobs"):
        return f"{len(workload['jobs'])} jobs"
    job: dict[str, Any] | None = workload.get("job")
    if not job:
        return "workload"
    reads = f" {job['rwmixread']}% reads" if job.get("rw") in ("rw", "readwrite", "randrw") else ""
    how = f"{job['rate_iops']:g} IOPS" if job.get("rate_iops") else f"qd{job.get('iodepth', 1)}"
    return f"{job.get('rw')}{reads} {job.get('bs')} {how}"


def plural(op: str) -> str:
    """Name the requests of an operation."""
    return f"{op}es" if op == "flush" else f"{op}s"


def band_ranges(bands: tuple[Band, ...]) -> list[str]:
    """Say from which percentile to which the bands reach; the last one reaches to the slowest request."""
    edges = ["min", *(f"p{key}" for key in PERCENTILES)]
    starts = dict(zip([*edges[1:], "max"], edges, strict=True))
    ends = [*(band.name for band in bands[:-1]), "max"]
    return [f"{starts.get(band.name, '')}-{end}" for band, end in zip(bands, ends, strict=True)]


def as_text(result: Result, width: int = PAGE) -> str:
    """Return a result as plain text."""
    return plain_text(render(result, bars=False), width)


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
    bars = console.is_terminal and console.color_system is not None
    width = console.width if console.is_terminal else None
    print_whole(render(result, bars=bars, width=width), console)


def render(result: Result, *, bars: bool, width: int | None = None) -> Iterator[RenderableType]:
    """Yield the parts of the view: headline, latency, causes, slowest requests, drive, notes.

    `width` is that of the terminal; what has none gets tables as wide as they are.
    """
    yield _headline(result)
    if any(True for _ in result.latency):
        yield ""
        yield _latency_table(result, width)
    if result.jobs:
        yield ""
        yield _job_table(result, width)
    for op, bands in result.attribution:
        yield ""
        yield _CauseTable(f"Where the time of {plural(op)} went", bands, bars)
        inside = bands_in_device(bands)
        if inside:
            yield _CauseTable(f"Where the time of {plural(op)} in the device went", inside, bars)
        for remark in filter(None, (misshapen_band(bands), empty_bands(bands))):
            yield Text(f"  {remark}", "dim")
        yield from _tail_in_words(bands)
    if result.document.get("slowest"):
        from ninescope.text.slowest import told

        yield from told(result)
    known = list(facts(result))
    if known:
        yield ""
        yield _grid(known)
    said = list(notes(result))
    if said:
        yield ""
        yield Padding(Group(*(Text.assemble(("note ", "bold yellow"), note) for note in said)), (0, 0, 0, 1))


def _grid(rows: list[tuple[str, str]]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return Padding(grid, (0, 0, 0, 1), expand=False)


def _headline(result: Result) -> RenderableType:
    lines = [Text.assemble((workload_name(result), "bold"), " on ", (drive_name(result), "bold"))]
    speed = [f"{result.requests:,} requests", f"{duration(result.simulated_ns)} simulated"]
    if result.wall_seconds:
        speed.append(f"{duration(result.wall_seconds * 1e9)} of wall time")
    lines.append(Text(", ".join(speed)))
    seed = result.document.get("seed")
    what = [f"digest {result.digest}" if result.digest else "nothing was run"]
    lines.append(Text("  ".join(what + ([f"seed {seed}"] if seed is not None else [])), "dim"))
    if not result.complete:
        state = "this is the part that was run" if result.requests else "nothing was measured yet"
        lines.append(Text(f"INTERRUPTED: {state}", "bold red"))
    return Group(*(Text(" ") + line for line in lines))


def _latency_table(result: Result, width: int | None) -> RenderableType:
    """Show the latency, operations side by side.

    `width` is that of a terminal; where that is too narrow the operations stand below each other, and where
    it still is, each number stands on a line of its own. No name or number is cut.
    """
    table, remarks = _latencies_side_by_side(result)
    shown: list[RenderableType] = [table]
    if width is not None and natural_width(table) > width:
        shown = list(_latencies_stacked(table, width))
    return Group(*shown, *(Text(f"  {remark}", "dim") for remark in remarks))


def _latencies_stacked(wide: Table, width: int) -> Iterator[RenderableType]:
    """Yield the columns of a table of latencies one below the other, each with the names of its rows."""
    names, *columns = ([str(cell) for cell in column.cells] for column in wide.columns)
    for head, cells in zip((str(column.header) for column in wide.columns[1:]), columns, strict=True):
        table = Table(box=None, show_header=False, pad_edge=True, padding=(0, 2, 0, 1))
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        rows = [(name, cell) for name, cell in zip(names, cells, strict=True) if cell.strip()]
        for row in rows:
            table.add_row(*row)
        yield Text(f" {head}", "bold")
        if natural_width(table) <= width:
            yield table
        else:
            yield from (Padding(Text(f"{name} {cell.strip()}"), (0, 0, 0, 3)) for name, cell in rows)


def _latencies_side_by_side(result: Result) -> tuple[Table, list[str]]:
    """Return the table, and what is to be said below it."""
    table = Table(box=None, pad_edge=True, header_style="bold", padding=(0, 2, 0, 1))
    table.add_column("", no_wrap=True)
    columns: list[tuple[str, Latency]] = []
    for op, latency in result.latency:
        columns.append((op, latency))
        table.add_column(op, justify="right", no_wrap=True)
    device = worth_showing(result.latency, result.latency_without_host_queue)
    for op, _ in device:
        table.add_column(f"{op}, in device", justify="right", no_wrap=True, style="dim")
    blank = [""] * len(device)
    table.add_row("requests", *(f"{latency.count:,}" for _, latency in columns), *blank)
    moved = [result.throughput.get(op) for op, _ in columns]
    if any(moved):
        table.add_row("IOPS", *(quantity(m.iops) if m else "" for m in moved), *blank)
        rates = [quantity(m.bytes_per_second, "B/s") if m and m.bytes else "" for m in moved]
        if any(rates):
            table.add_row("throughput", *rates, *blank)
    columns += device
    table.add_row("mean", *(duration(latency.mean_ns) for _, latency in columns))
    untrusted = [key for key in PERCENTILES if all(key in latency.insufficient for _, latency in columns)]
    for key in PERCENTILES:
        if key not in untrusted and any(key in latency.percentiles_ns for _, latency in columns):
            table.add_row(f"p{key}", *(_percentile(latency, key) for _, latency in columns))
    table.add_row("max", *(duration(latency.max_ns) for _, latency in columns))
    remarks = []
    shown = {key for key in PERCENTILES if key not in untrusted}
    if any(shown & set(latency.insufficient) for _, latency in columns):
        remarks.append("* too few samples: fewer than 10 requests were slower")
    if any(set(_UNCERTAIN) & latency.intervals_ns.keys() - set(untrusted) for _, latency in columns):
        remarks.append("[low, high]: 95 % interval, by bootstrap over blocks of the run")
    if untrusted:
        beyond = f"p{untrusted[0]}" + (" and beyond" if len(untrusted) > 1 else "")
        remarks.append(f"{beyond}: too few samples to show (they are in the JSON)")
    return table, remarks


def _job_table(result: Result, width: int | None) -> RenderableType:
    """Show what each job did, one row for each of its operations.

    `width` is that of a terminal; where that is too narrow each job stands on a line above its operations,
    and where it still is, the numbers of an operation are a sentence. No name or number is cut.
    """
    side_by_side = _jobs_side_by_side(result)
    if width is None or natural_width(side_by_side) <= width:
        return side_by_side
    stacked = _jobs_stacked(result)
    return stacked if natural_width(stacked) <= width else _jobs_in_words(result)


_JOB_NUMBERS = ("requests", "IOPS", "throughput", "mean", "p50", "p99", "max")


def _new_job_table(*heads: str) -> Table:
    table = Table(box=None, pad_edge=True, header_style="bold", padding=(0, 2, 0, 1))
    for head in heads:
        table.add_column(head, no_wrap=True)
    for name in _JOB_NUMBERS:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _job_rows(job: JobResult) -> Iterator[tuple[str, list[str | Text]]]:
    """Yield the operations of a job with their numbers; a job that did nothing has no operation."""
    if not job.requests:
        yield "", ["0"]
    for op, latency in job.latency:
        moved = job.throughput[op]
        rate = quantity(moved.bytes_per_second, "B/s") if moved.bytes else ""
        times = (duration(latency.mean_ns), _percentile(latency, "50"), _percentile(latency, "99"))
        yield op, [f"{latency.count:,}", quantity(moved.iops), rate, *times, duration(latency.max_ns)]


def _jobs_side_by_side(result: Result) -> Table:
    table = _new_job_table("job", "")
    for job in result.jobs:
        for place, (op, numbers) in enumerate(_job_rows(job)):
            table.add_row("" if place else Text(job.name), op, *numbers)
    return table


def _jobs_stacked(result: Result) -> Table:
    table = _new_job_table("job")
    for job in result.jobs:
        table.add_row(Text(job.name, "bold"))
        for op, numbers in _job_rows(job):
            table.add_row(f"  {op}", *numbers)
    return table


def _jobs_in_words(result: Result) -> RenderableType:
    lines: list[RenderableType] = []
    for job in result.jobs:
        lines.append(Text(f" {job.name}", "bold", overflow="fold"))
        for op, numbers in _job_rows(job):
            words = (
                f"{name} {str(number).strip()}"
                for name, number in zip(_JOB_NUMBERS, numbers, strict=False)
                if str(number).strip()
            )
            lines.append(Padding(Text(f"{op} {', '.join(words)}".strip(), overflow="fold"), (0, 0, 0, 3)))
    return Group(*lines)


def _percentile(latency: Latency, key: str) -> Text:
    if key not in latency.percentiles_ns:
        return Text("")
    text = duration(latency.percentiles_ns[key])
    if key in latency.insufficient:
        return Text(f"{text}*", "dim")
    low, high = latency.intervals_ns.get(key, (0, 0))
    if key in _UNCERTAIN and low < high:
        return Text.assemble((f"[{duration(low)}, {duration(high)}] ", "dim"), f"{text} ")
    return Text(f"{text} ")


def _suspensions(ledger: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Say how often erases were suspended, and what it did to their blocks."""
    if not ledger.get("suspended_erases"):
        return
    words = (
        f"{ledger['suspended_erases']:,} of {ledger['erases']:,} erases suspended, "
        f"{ledger['suspensions'] / ledger['erases']:.3g} times on average, "
        f"{ledger['suspensions_max']:,} at most; the longest took {duration(ledger['erase_ns_max'])}"
    )
    if ledger["over_limit_erases"]:
        words += (
            f"; {ledger['over_limit_erases']:,} more often than their blocks bear, which adds up to "
            f"{ledger['added_rber_max']:.2g} to the bit error rate (inferred)"
        )
    if ledger["lost_ns"]:
        words += f"; {duration(ledger['lost_ns'])} of pulses begun anew"
    yield "suspends", words


def worth_showing(total: Latencies, device: Latencies) -> list[tuple[str, Latency]]:
    """Return the view without host queueing where it says something else."""
    differs = any(latency.mean_ns < 0.99 * getattr(total, op).mean_ns for op, latency in device)
    return list(device) if differs else []


def misshapen_band(bands: tuple[Band, ...]) -> str:
    """Say so where a band holds far more or fewer requests than its name says; else nothing."""
    total = sum(band.count for band in bands)
    if total < _MANY_REQUESTS:
        return ""
    edges = {"min": 0.0, "max": 100.0} | {f"p{key}": float(key) for key in PERCENTILES}
    worst, text = _MISSHAPEN, ""
    for band, reach in zip(bands, band_ranges(bands), strict=True):
        start, end = reach.split("-")
        off = abs(band.count / total - (edges.get(end, 100.0) - edges.get(start, 0.0)) / 100)
        if off > worst:
            worst = off
            text = f"{reach} holds {_share(band.count / total)}"
    return f"bands end where buckets of the histogram end: {text} of the requests" if text else ""


def empty_bands(bands: tuple[Band, ...]) -> str:
    """Name the bands before the last one that are not shown, because there is no request in them."""
    shown = {band.name for band in bands}
    names = [f"p{key}" for key in PERCENTILES]
    last = bands[-1].name if bands else ""
    missing: list[tuple[str, str]] = []
    for start, end in pairwise(["min", *names[: names.index(last) if last in names else None]]):
        if end in shown:
            continue
        goes_on = missing and missing[-1][1] == start
        missing.append((missing.pop()[0] if goes_on else start, end))
    if not missing or not bands:
        return ""
    ends = "both its ends lie" if len(missing) == 1 else "both ends of each lie"
    listed = " and in ".join("-".join(each) for each in missing)
    return f"no request in {listed}: {ends} in one bucket of the histogram"


def _tail_in_words(bands: tuple[Band, ...]) -> Iterator[RenderableType]:
    tail = tail_band(bands)
    if tail is None:
        return
    yield Text(
        f"  The slowest {tail.name} ({tail.count:,} requests) took {duration(tail.mean_ns)} on average:"
    )
    for cause, time in tail.top(3):
        share = time / tail.mean_ns
        if share < 0.05:
            break
        yield Text.assemble(
            f"  {share * 100:4.0f}%  ", (look(cause).label, "bold"), f": {look(cause).meaning}", style=""
        )


def tail_band(bands: tuple[Band, ...]) -> Band | None:
    """Join the slowest bands: as few as still hold enough requests to speak of."""
    total, count, parts = sum(band.count for band in bands), 0, dict[str, float]()
    for band in reversed(bands[1:]):
        count += band.count
        for cause, time in band.parts_ns.items():
            parts[cause] = parts.get(cause, 0.0) + time * band.count
        if count >= _TAIL_REQUESTS:
            means = {cause: time / count for cause, time in parts.items()}
            return dataclasses.replace(
                band, name=_share(count / total), count=count, upper_ns=bands[-1].upper_ns, parts_ns=means
            )
    return None


class _CauseTable:
    """The table of bands by causes, with as many causes as fit the width."""

    def __init__(self, title: str, bands: tuple[Band, ...], bars: bool) -> None:
        self._title = title
        self._bands = bands
        self._bars = bars

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        bars = self._bars and options.max_width >= 100
        ranges = band_ranges(self._bands)
        times = [duration(band.mean_ns) for band in self._bands]
        counts = [f"{band.count:,}" for band in self._bands]
        taken = sum(1 + max(8, *map(len, cells)) for cells in (ranges, counts, times)) + len("other") + 2
        taken += _BAR_CELLS + 1 if bars else 0
        room = max(2, (options.max_width - taken) // (_CAUSE_CELLS + 1))
        present = {
            cause
            for band in self._bands
            for cause in band.parts_ns
            if band.share(cause) >= _SMALL_SHARE / 2  # it shows as 1 % somewhere
        }
        largest = sorted(present, key=lambda cause: (-max(band.share(cause) for band in self._bands), cause))
        shown = stacking_order(largest[:room])
        rest = [1 - sum(band.share(cause) for cause in shown) for band in self._bands]
        with_rest = any(share >= _SMALL_SHARE / 2 for share in rest)
        table = Table(box=None, header_style="bold", padding=(0, 0, 0, 1))
        for name in (" band", "requests", "mean"):
            table.add_column(name, justify="left" if name == " band" else "right", no_wrap=True)
        if bars:
            table.add_column("", no_wrap=True)
        for cause in shown:
            header = Text(look(cause).label, f"bold {look(cause).colour}" if bars else "bold")
            table.add_column(header, justify="right", width=_CAUSE_CELLS, overflow="fold")
        if with_rest:
            table.add_column("other", justify="right")
        for index, (band, other) in enumerate(zip(self._bands, rest, strict=True)):
            cells: list[RenderableType] = [f" {ranges[index]}", counts[index], times[index]]
            if bars:
                cells.append(_bar(band))
            cells += [_cell(band.share(cause)) for cause in shown]
            if with_rest:
                cells.append(_cell(other))
            table.add_row(*cells)
        # A title of the table's would be folded at the table's width.
        yield Text(f"  {self._title}", "bold")
        if natural_width(table) > options.max_width:
            yield from self._in_words(ranges, counts, times)
            return
        yield table
        folded = largest[room:]
        if folded:
            names = (
                f"{look(cause).label} ({_share(max(band.share(cause) for band in self._bands))} at most)"
                for cause in folded
            )
            yield Text(f"  other, for want of room: {', '.join(names)}", "dim")

    def _in_words(self, ranges: list[str], counts: list[str], times: list[str]) -> Iterator[RenderableType]:
        """Yield each band with its causes as sentences, for whoever has no room for columns."""
        for band, reach, count, time in zip(self._bands, ranges, counts, times, strict=True):
            yield Padding(Text(f"{reach}: {count} requests, mean {time}", "bold"), (0, 0, 0, 2))
            named = [
                cause for cause in stacking_order(band.parts_ns) if band.share(cause) >= _SMALL_SHARE / 2
            ]
            words = ", ".join(f"{look(cause).label} {_share(band.share(cause))}" for cause in named)
            yield Padding(Text(words), (0, 0, 0, 4))


def _cell(share: float) -> Text:
    if share < _SMALL_SHARE / 2:
        return Text("-", "dim")
    return Text(f"{share * 100:.0f}%", "bold" if share >= 0.25 else "")


def _bar(band: Band) -> Text:
    """Draw the shares of a band as a bar; every cell belongs to the cause that holds its middle."""
    bar, filled, before = Text(), 0, 0.0
    for cause in stacking_order(band.parts_ns):
        before += band.share(cause)
        cells = round(before * _BAR_CELLS) - filled
        bar.append("\u2588" * cells, look(cause).colour)
        filled += cells
    return bar


def facts(result: Result) -> Iterator[tuple[str, str]]:
    """Yield what the drive did, as far as it says something; all counters are in the JSON."""
    document = result.document
    waf = result.waf
    if waf.total:
        sources = {
            "host": waf.host,
            "partial writes": waf.partial_writes,
            "migrated": waf.migration,
            "GC": waf.gc,
            "healed": waf.scrub,
            "wear": waf.wear,
            "padding": waf.padding,
            "map": waf.map,
        }
        parts = " + ".join(f"{name} {value:.3f}" for name, value in sources.items() if value >= 0.0005)
        yield "WAF", f"{waf.total:.3f} = {parts}"
    if result.steadiness is not None:
        yield "steady", _steadiness(result.steadiness)
    operations: Mapping[str, int] = document.get("operations") or {}
    if operations.get("erases") or operations.get("gc_programs"):
        yield (
            "GC",
            f"{operations.get('gc_reads', 0):,} pages read, {operations.get('gc_programs', 0):,} programmed, "
            f"{operations.get('erases', 0):,} erases",
        )
    counters: Mapping[str, int] = document.get("counters") or {}
    happened = [
        f"{counters[name]:,} {words}"
        for name, words in (
            ("buffer_stalls", "writes found the write buffer full"),
            ("allocation_stalls", "writes found no free page"),
            ("read_modify_write_reads", "reads to complete units written in part"),
            ("unmapped_units", "units read that were never written"),
            ("suspends", "operations suspended"),
        )
        if counters.get(name)
    ]
    if happened:
        yield "events", ", ".join(happened)
    yield from _host_cache(document)
    yield from _suspensions(document.get("suspension") or {})
    if "utilisation" in document and document["utilisation"] is None:
        yield "busy", "-"  # Shares of no time.
    yield from _use(document.get("utilisation") or {})
    yield from host_queue_facts(result)
    wear: Mapping[str, Any] = document.get("wear") or {}
    if wear.get("erases_max"):
        yield (
            "wear",
            f"{wear['erases_mean']:.2f} erases per block since it was new "
            f"({wear.get('erases_min', 0):,} to {wear['erases_max']:,})",
        )
    tier = result.tier
    if tier is not None:
        yield from tier_facts(tier)
    reliability = result.reliability
    if reliability is not None:
        yield from reliability_facts(reliability)
    for key, words in (("scm", "SCM"), ("storage_scm", "storage SCM")):
        yield from _scm(document.get(key) or {}, words)
    yield from endurance_facts(document)
    yield from _prepared(document)


def _scm(scm: Mapping[str, Any], words: str) -> Iterator[tuple[str, str]]:
    """Yield how the sectors of storage-class memory wore."""
    wear: Mapping[str, Any] = scm.get("wear") or {}
    if not wear.get("writes_max"):
        return
    text = f"{wear['writes_mean']:.2f} writes per sector since it was new, at most {wear['writes_max']:,}"
    if wear.get("endurance_used") is not None:
        text += f" ({wear['endurance_used'] * 100:.2g}% of {wear['endurance_writes']:.2g})"
    yield f"{words} wear", text
    copies: float | None = scm.get("copies_per_write")
    if copies:
        yield "levelling", f"{copies:.4f} sectors copied per sector written"
    verify: Mapping[str, Any] = scm.get("verify") or {}
    if verify.get("cycles_per_write") is not None:
        left = f"{verify['ber_factor']:.1%} of the bit errors are left"
        yield f"{words} verify", f"{verify['cycles_per_write']:.2f} cycles per sector written, {left}"


def _host_cache(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what the cache in front of the drive did, and what it asked the drive for."""
    cache: Mapping[str, int] = document.get("host_cache") or {}
    if cache:
        reads = f"{cache['read_hits']:,} of {cache['reads']:,} reads"
        writes = f"{cache['write_hits']:,} of {cache['writes']:,} writes found their block"
        dirty = f"{cache['dirty_blocks'] / cache['blocks']:.1%} dirty"
        disk = f"disk: {cache['disk_reads']:,} reads, {cache['disk_writes']:,} writes"
        yield "host cache", f"{reads} and {writes}; {cache['evictions']:,} evicted, {dirty}; {disk}"
    hints: Mapping[str, Mapping[str, Any]] = document.get("hints") or {}
    total = sum(hint["count"] for hint in hints.values())
    for name, hint in hints.items():
        p99 = duration(hint["percentiles_ns"]["99"])
        share = f"{hint['count']:,} ({hint['count'] / total:.1%})"
        yield f"  {name.replace('_', ' ')}", f"{share}, mean {duration(hint['mean_ns'])}, p99 {p99}"


def _use(utilisation: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    media = (("dies", "channels", "dies"), ("banks", "bank_channels", "SCM banks"))
    busy = []
    for units, buses, words in media:
        shares: Mapping[str, Any] = utilisation.get(units) or {}
        if shares.get("mean") is not None:
            spread = f" (from {_share(shares['min'])} to {_share(shares['max'])})" if "min" in shares else ""
            busy.append(f"{words} {_share(shares['mean'])}{spread}")
        channels: Mapping[str, Any] = utilisation.get(buses) or {}
        if channels.get("mean") is not None:
            busy.append(f"{'' if units == 'dies' else 'SCM '}channels {_share(channels['mean'])}")
    link: Mapping[str, Any] = utilisation.get("link") or {}
    if "in" in link:
        busy.append(f"host link {_share(link['in'])} in, {_share(link.get('out', 0.0))} out")
    if busy:
        yield "busy", ", ".join(busy)
    for units, _, words in media:
        occupancy: Mapping[str, float] = (utilisation.get(units) or {}).get("occupancy") or {}
        held = sorted(
            ((share, name) for name, share in occupancy.items() if name != "idle" and share >= 0.0005),
            reverse=True,
        )
        if held:
            parts = ", ".join(f"{occupancy_name(name)} {_share(share)}" for share, name in held)
            yield f"{words.removeprefix('SCM ')} with", parts


def _steadiness(told: Steadiness) -> str:
    """Say whether the window had settled."""
    verdict = {"not-steady": "no: ", "cannot-be-told": "cannot be told, "}.get(told.verdict, "")
    return f"{verdict}{told.words}"


def occupancy_name(name: str) -> str:
    """Write what a die is occupied with."""
    return name.replace("_", " ").replace("gc ", "GC ")


def _prepared(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "nand" not in ((document.get("config") or {}).get("drive") or {"nand": None}):
        return  # Memory that is overwritten in place needs no preparing.
    steady = document.get("steady_state")
    workload: Mapping[str, Any] = document.get("workload") or {}
    held = "the region of the job" if workload.get("kind") == "synthetic" else "what the trace reads"
    if workload.get("host_cache"):
        full = workload["host_cache"].get("initial") == "full"
        held = "the blocks of a full cache" if full else "no block of the cache"
    text = {
        "footprint": f"held {held}, and nothing else",
        "full": "was full",
        "none": "was empty",
    }.get(str(document.get("prefill")))
    if isinstance(steady, Mapping) and steady.get("window_waf"):
        by = " by the workload" if steady.get("by") == "workload" else ""
        settled = "to steady state" if steady.get("converged") else "but not to steady state"
        waf, low, high = (f"{steady[key]:.2f}" for key in ("waf", "waf_low", "waf_high"))
        # Of windows that are alike, or of one alone, there is no interval to speak of.
        ends = "" if low == waf == high else f", from {low} to {high}"
        text = (
            f"was full and overwritten {steady.get('drive_writes', 0):.1f} times{by}, {settled} "
            f"(WAF {waf}{ends})"
        )
    if text:
        run = (document.get("config") or {}).get("run") or {}
        order = ", filled in random order" if run.get("prefill_order") == "random" else ""
        yield "before", f"the drive {text}{order}"


def notes(result: Result) -> Iterator[str]:
    """Yield what a reader of a result must know, beyond what its headline says."""
    for note in result.notes:
        # What the headline says already.
        if note != "synthetic workload" and not note.startswith("partial result"):
            yield note
    workload: Mapping[str, Any] = result.document.get("workload") or {}
    yield from trace_remarks(workload)


def trace_as_text(stat: Mapping[str, Any], name: str) -> str:
    """Return what a trace contains as plain text."""
    requests, duration_ns = stat["requests"], stat["duration_ns"]
    rows: list[tuple[str, str]] = []
    for op in ("reads", "writes", "trims", "flushes"):
        count = stat.get(op, 0)
        if count:
            moved = stat.get(f"{op[:-1]}_bytes")
            size = f", {binary(moved)}, {binary(moved / count)} each" if moved else ""
            rows.append((op, f"{count:,} ({_share(count / requests)}){size}"))
    if duration_ns:
        rows.append(("time", f"{duration(duration_ns)}, {quantity(requests * 1e9 / duration_ns)} requests/s"))
    if stat.get("distinct_times", 0) > 1:
        clock = duration(stat["time_resolution_ns"])
        rows.append(("time stamps", f"{stat['distinct_times']:,} different ones, multiples of {clock}"))
    written = binary(stat["written_footprint_bytes"])
    rows += [
        ("footprint", f"{binary(stat['footprint_bytes'])}, of which {written} are written"),
        ("rewrites", f"{_share(stat['rewrite_ratio'])} of the written 4 KiB pages were written before"),
        (
            "sequential",
            f"{_share(stat['sequential_share'])} of the requests begin where the one before ended",
        ),
        ("addresses", f"up to {binary(stat['max_address'])} ({stat['max_address']:,} B)"),
        ("hash", str(stat.get("hash", ""))),
    ]
    rows += _trace_statistics(stat)
    if len(stat.get("volumes", ())) > 1:
        rows += [("volume", _volume_in_words(volume)) for volume in stat["volumes"][:_VOLUMES_SHOWN]]
        rest = len(stat["volumes"]) - _VOLUMES_SHOWN
        rows += [("volume", f"and {rest:,} more")] if rest > 0 else []
    rows += [("note", remark) for remark in trace_remarks(stat)]
    width = max(len(key) for key, _ in rows)
    lines = [f" {name}: {requests:,} requests, format {stat['format']}", ""]
    return "\n".join(lines + [f" {key:<{width}}  {text}" for key, text in rows])


def _trace_statistics(stat: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Say what `trace stat` found beyond what a run needs to know."""
    gaps, rewritten, busiest = (
        stat.get(key) or {} for key in ("inter_arrival", "rewrite_interval", "popularity")
    )
    if gaps.get("count"):
        variation = gaps["coefficient_of_variation"]
        bursts = "" if variation is None else f", {variation:.2f} times as uneven as Poisson arrivals"
        yield "arrivals", f"a gap of {_quantiles(gaps)}; mean {duration(gaps['mean_ns'])}{bursts}"
    if rewritten.get("count"):
        yield "rewritten", f"after {_quantiles(rewritten)}"
    shares = [
        f"{_share(spread['top_1_percent_share'])} of the page {op}s"
        for op in ("write", "read")
        if (spread := busiest.get(op) or {}).get("top_1_percent_share") is not None
    ]
    if shares:
        yield "busiest 1%", f"of the pages take {', '.join(shares)}"
    curve = (stat.get("reuse") or {}).get("miss_ratio")
    if curve:
        footprint = max(stat["footprint_bytes"], 1)
        points = [_miss_ratio(curve, footprint * part) for part in (0.01, 0.1, 1)]
        text = ", ".join(f"{_share(miss)} with {binary(size)}" for size, miss in points)
        yield "LRU misses", f"{text}; {_share(stat['reuse']['cold_share'])} are first accesses"
    kind = stat.get("class")
    if kind:
        below = binary(kind["random_below_bytes"])
        size = f"mean {kind['dominant']} {binary(kind['mean_bytes'])}, random below {below}"
        heat = f"{kind['hotness']:.3g} times over the footprint, hot from {kind['hot_from']:g}"
        yield "class", f"{kind['number']} of 8, {kind['name']} ({size}; {heat})"
    sample = stat.get("page_sample")
    if sample and not sample["exact"]:
        yield (
            "sampled",
            f"rewritten, busiest and LRU: from {_share(sample['share'])} of the pages ({sample['pages']:,})",
        )


def _quantiles(times: Mapping[str, Any]) -> str:
    return ", ".join(f"{duration(times[f'p{percent}_ns'])} (p{percent})" for percent in (50, 90, 99))


def _miss_ratio(curve: list[tuple[int, float]], size: float) -> tuple[int, float]:
    """Return the largest size of the curve up to `size`, and the miss ratio there."""
    at_size, miss = max((point for point in curve if point[0] <= size), default=curve[0])
    return at_size, miss


def _volume_in_words(volume: Mapping[str, Any]) -> str:
    reach = binary(volume["max_address"])
    return f"{volume['name']}: {volume['requests']:,} requests, addresses up to {reach}"


def trace_remarks(trace: Mapping[str, Any]) -> Iterator[str]:
    """Say what a trace reader had to skip or mend."""
    skipped = trace.get("skipped_lines")
    if skipped:
        first = trace.get("first_skipped") or {}
        where = f"; the first broken one is {broken_line(first)}" if first else ""
        were = "was" if skipped == 1 else "were"
        yield f"{_lines(skipped)} of the trace gave no request and {were} skipped{where}"
    for key, words in (
        ("reordered", "requests were out of order in time and put right"),
        ("clamped", "requests were far out of order; their time was raised to that of the one before"),
        ("unaligned", "requests were not aligned to sectors and were widened"),
    ):
        if trace.get(key):
            yield f"{trace[key]:,} {words}"


def broken_line(first: Mapping[str, Any]) -> str:
    """Tell the first broken line of a trace by its number; the names of columns are told as such."""
    if is_header(first.get("text", "")):
        return f"number {first['line']}, which looks like a header: {first['text']}"
    return f"number {first['line']}: {first['reason']}"


def is_header(line: str) -> bool:
    """Say whether a line of a trace names columns: words alone, and one of them what every trace has."""
    words = [word.strip().strip("\"'").lower() for word in re.split(r"[,;\t]", line)]
    named = any(name in word for word in words for name in ("time", "offset", "size", "lba", "address"))
    return len(words) > 1 and named and all(re.match(r"[a-z_]", word) for word in words)


def _lines(count: int) -> str:
    return f"{count:,} line{'' if count == 1 else 's'}"


def _share(share: float) -> str:
    if 0 < share < 0.001:
        return f"{share * 100:.1g}%"
    return f"{share * 100:.1f}%" if share < 0.0995 else f"{share * 100:.0f}%"


def _three_digits(value: float) -> str:
    if value >= 99.95:
        return f"{value:,.0f}"
    if value >= 9.995:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.1 or not value else f"{value:.2g}"
