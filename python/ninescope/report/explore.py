"""One page to look into results, one or several side by side, down to the dies behind their slowest requests.

The page is a document as the other reports are. What it has beside them: lanes over time to zoom into, and
the figures and causes of several results in one place.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from ninescope.figures import Figure
from ninescope.figures.latency import distribution, percentiles
from ninescope.figures.series import in_time
from ninescope.figures.several import together
from ninescope.report.document import (
    AttributionBand,
    AttributionBlock,
    Block,
    Cell,
    Document,
    FigureBlock,
    GanttBlock,
    Notes,
    Part,
    Section,
    TableBlock,
    Text,
    literal,
)
from ninescope.report.latency import percentile_cell
from ninescope.report.single import attribution, tail_sentence
from ninescope.report.ways import Timeline, gantt_of_requests, gantt_of_window, window_around
from ninescope.result import OPS, PERCENTILES, Band, Result
from ninescope.text.causes import look, stacking_order
from ninescope.text.names import drive_name, plural, reaches, workload_name
from ninescope.text.result import notes
from ninescope.text.units import duration, quantity

Results = Mapping[str, Result]
"""Results by the names that they have on the page."""


def of_results(results: Results) -> Document:
    """Return the page of one result or more."""
    sections = [
        Section("percentiles", "Percentiles", list(_percentiles(results))),
        Section("causes", "Where the time went", list(_causes(results))),
        Section("time", "In the course of the run", list(_in_time(results))),
        Section("slowest", "The slowest requests", list(_slowest(results))),
        Section("window", "The recorded window", list(_windows(results))),
        Section("caveats", "Caveats", list(_caveats(results))),
    ]
    first = next(iter(results.values()))
    return Document(
        title=f"{', '.join(results)}: a look inside",
        subtitle=literal("; ".join(_subtitles(results))),
        lead=list(_lead(results)),
        sections=[section for section in sections if section.blocks],
        facts=[
            ("made by", f"ninescope {first.document.get('ninescope', '')}"),
            *((f"digest of {who}", f"`{result.digest}`") for who, result in results.items() if result.digest),
        ],
    )


def _subtitles(results: Results) -> Iterator[str]:
    for who, result in results.items():
        what = f"{workload_name(result)} on {drive_name(result)}"
        yield what if len(results) == 1 else f"{who}: {what}"


def _lead(results: Results) -> Iterator[Block]:
    cut = [who for who, result in results.items() if not result.complete]
    if cut:
        yield Notes([f"Interrupted, and only as far as it went: {literal(', '.join(cut))}."], warning=True)
    for who, result in results.items():
        said = [words for op, bands in result.attribution if (words := tail_sentence(op, bands))]
        if said:
            yield Text([literal(" ".join(said if len(results) == 1 else [f"{who}:", *said]))])


# ---- Percentiles -----------------------------------------------------------------------------------------


def _percentiles(results: Results) -> Iterator[Block]:
    for op in OPS:
        known = {who: result for who, result in results.items() if getattr(result.latency, op).count}
        if known:
            yield _table(op, known)
    for draw in (percentiles, distribution):
        found = {who: draw(list(result.latency)) for who, result in results.items()}
        yield from _figure({who: figure for who, figure in found.items() if figure is not None})


def _figure(figures: Mapping[str, Figure]) -> Iterator[Block]:
    if figures:
        yield FigureBlock(together(figures))


def _table(op: str, results: Results) -> TableBlock:
    latencies = {who: getattr(result.latency, op) for who, result in results.items()}
    moved = [result.throughput.get(op) for result in results.values()]
    rows: list[list[str | Cell]] = [
        ["requests", *(f"{latency.count:,}" for latency in latencies.values())],
        ["IOPS", *(quantity(each.iops) if each else "" for each in moved)],
        ["mean", *(duration(latency.mean_ns) for latency in latencies.values())],
    ]
    rows += [
        [f"p{key}", *(percentile_cell(latency, key) for latency in latencies.values())]
        for key in PERCENTILES
        if any(key in latency.percentiles_ns for latency in latencies.values())
    ]
    rows.append(["slowest", *(duration(latency.max_ns) for latency in latencies.values())])
    if op == "write":
        waf = [f"{result.waf.total:.3f}" if result.waf.total else "" for result in results.values()]
        rows += [["write amplification", *waf]] if any(waf) else []
    remark = "* Fewer than 10 requests were slower. "
    starred = any(latency.insufficient for latency in latencies.values())
    note = "Small under a percentile: its 95% interval."
    if len(results) > 1:
        note += " Whether a difference is more than chance says `ninescope compare`."
    return TableBlock(
        f"Latency of {plural(op)}", ["", *map(literal, results)], rows, (remark if starred else "") + note
    )


# ---- Causes ----------------------------------------------------------------------------------------------


def _causes(results: Results) -> Iterator[Block]:
    for op in OPS:
        bands = {who: getattr(result.attribution, op) for who, result in results.items()}
        known = {who: each for who, each in bands.items() if each}
        title = f"Where the time of {plural(op)} went"
        if len(results) == 1:
            yield from (attribution(f"attribution-{op}", title, each) for each in known.values())
        elif known:
            yield _side_by_side(f"attribution-{op}", title, known)


def _side_by_side(name: str, title: str, bands: Mapping[str, tuple[Band, ...]]) -> AttributionBlock:
    """Put the bands of several results under each other, those of the same slice together."""
    causes = stacking_order({cause for each in bands.values() for band in each for cause in band.parts_ns})
    names = dict.fromkeys(band.name for each in sorted(bands.values(), key=len)[::-1] for band in each)
    words = {band: reach for each in bands.values() for band, reach in reaches(each).items()}
    return AttributionBlock(
        name=name,
        title=title,
        bands=[
            AttributionBand(
                name=f"{words[slice_]} {who}",
                count=band.count,
                mean_ns=band.mean_ns,
                parts_ns={look(cause).label: time for cause, time in band.parts_ns.items()},
                lower_ns=band.lower_ns,
                upper_ns=band.upper_ns,
            )
            for slice_ in names
            for who, each in bands.items()
            for band in each
            if band.name == slice_
        ],
        parts=[Part(look(cause).label, look(cause).colour, look(cause).meaning) for cause in causes],
        note="A bar for each slice of the distribution and each result; the parts are shares of the causes.",
    )


# ---- Time ------------------------------------------------------------------------------------------------


def _in_time(results: Results) -> Iterator[Block]:
    drawn: dict[str, dict[str, Figure]] = {}
    for who, result in results.items():
        for figure in in_time(result):
            drawn.setdefault(figure.name, {})[who] = figure
    for figures in drawn.values():
        yield from _figure(figures)


# ---- The slowest requests --------------------------------------------------------------------------------


def _slowest(results: Results) -> Iterator[Block]:
    for number, (who, result) in enumerate(results.items()):
        of = "" if len(results) == 1 else f" of {literal(who)}"
        timeline = Timeline.of(result)
        gantt = gantt_of_requests(result, timeline, f"ways-{number}")
        if gantt is None:
            yield Text([f"No single request{of} was told: run it again with `--explain-slowest 20`."])
            continue
        yield _titled(gantt, of)
        yield from _missing(result, timeline, of)


def _titled(gantt: GanttBlock, of: str) -> GanttBlock:
    return dataclasses.replace(gantt, title=f"{gantt.title}{of}")


def _missing(result: Result, timeline: Timeline | None, of: str) -> Iterator[Block]:
    """Say how the surroundings of the slowest request are recorded, where they were not."""
    windows = [
        f"{op}: `--trace-window {window_around(requests[0])}`"
        for op, requests in result.slowest
        if timeline is None or not timeline.covers(requests[0])
    ]
    if windows:
        yield Text(
            [
                f"What all dies did around the slowest request{of} was not recorded. The same run with one "
                f"more option records it, and changes nothing else. Around the slowest {'; '.join(windows)}."
            ]
        )


def _windows(results: Results) -> Iterator[Block]:
    for number, (who, result) in enumerate(results.items()):
        timeline = Timeline.of(result)
        gantt = None if timeline is None else gantt_of_window(timeline, f"window-{number}")
        if gantt is not None:
            yield _titled(gantt, "" if len(results) == 1 else f" of {literal(who)}")


def _caveats(results: Results) -> Iterator[Block]:
    said: dict[str, list[str]] = {}
    for who, result in results.items():
        for note in dict.fromkeys(notes(result)):
            if note:
                said.setdefault(f"{note[0].upper()}{note[1:]}.", []).append(who)
    alone = len(results) == 1
    words = [note if alone else f"{', '.join(whose)}: {note}" for note, whose in said.items()]
    if words:
        yield Notes([literal(each) for each in words])


def names_of(paths: Sequence[str]) -> list[str]:
    """Return short names of folders, no two alike: their last parts, and as many more as tell them apart."""
    parts = [[part for part in PurePath(path).parts if part not in ("/", ".")] or [path] for path in paths]
    for count in range(1, max(map(len, parts)) + 1):
        names = ["/".join(each[-count:]) for each in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{each[-1]} ({number})" for number, each in enumerate(parts, 1)]
