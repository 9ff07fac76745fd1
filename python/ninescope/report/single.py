"""The report of one run, as a document. This module knows results, and no HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ninescope.common.numbers import counted
from ninescope.figures import Axis, Figure, Panel, Series
from ninescope.figures.latency import trusted
from ninescope.figures.series import in_time
from ninescope.report import latency as of_latency
from ninescope.report.document import (
    AttributionBand,
    AttributionBlock,
    Block,
    Cell,
    Details,
    Document,
    Facts,
    FigureBlock,
    Notes,
    Part,
    Section,
    Source,
    TableBlock,
    Text,
    literal,
)
from ninescope.report.latency import percentile_cell
from ninescope.result import PERCENTILES, Band, Result
from ninescope.result.attribution import bands_in_device
from ninescope.result.identity import of_run
from ninescope.result.jobs import JobWaits
from ninescope.text.bands import empty_bands, misshapen_band, tail_band
from ninescope.text.causes import look, stacking_order
from ninescope.text.facts import facts
from ninescope.text.host_queue import facts as host_queue_facts
from ninescope.text.jobs import OF_RATE, indices_in_words, slowdown_in_words
from ninescope.text.names import band_ranges, drive_name, plural, workload_name
from ninescope.text.result import notes
from ninescope.text.units import duration, quantity
from ninescope.toml import dumps

_TOP_CAUSES = 3
_SPOKEN_SHARE = 0.05
"""A cause of a smaller share is not named in a sentence."""


def of_result(result: Result) -> Document:
    """Return the report of a run."""
    sections = [
        Section("latency", "Latency", list(of_latency.blocks(result))),
        Section("causes", "Where the time went", list(_causes(result))),
        Section("slowest", "The slowest requests", list(_slowest(result))),
        Section("jobs", "The jobs", list(_jobs(result))),
        Section("time", "In the course of the run", [FigureBlock(each) for each in in_time(result)]),
        Section("drive", "What the drive did", list(_drive(result))),
        Section("caveats", "Caveats", [Notes([literal(note) for note in _caveats(result)])]),
        Section("configuration", "Configuration", list(_configuration(result))),
        Section("provenance", "Provenance", [Facts(list(_provenance(result)))]),
    ]
    seed = result.document.get("seed")
    return Document(
        title=f"{workload_name(result)} on {drive_name(result)}",
        subtitle=literal(_subtitle(result)),
        lead=list(_lead(result)),
        sections=[section for section in sections if section.blocks],
        facts=[
            ("made by", f"ninescope {result.document.get('ninescope', '')}"),
            ("digest", f"`{result.digest}`" if result.digest else "nothing was run"),
            ("seed", "unknown" if seed is None else str(seed)),
        ],
    )


def _subtitle(result: Result) -> str:
    drive: Mapping[str, Any] = (result.document.get("config") or {}).get("drive") or {}
    simulated = ""
    if result.requests:
        requests = counted(result.requests, "request")
        simulated = f"{requests} in {duration(result.simulated_ns)} of simulated time"
    return ". ".join(part for part in (str(drive.get("summary") or ""), simulated) if part)


# ---- What comes first ------------------------------------------------------------------------------------


def _lead(result: Result) -> Iterator[Block]:
    if not result.complete:
        state = "this is the part that was run" if result.requests else "nothing was measured"
        yield Notes([f"The run was interrupted: {state}."], warning=True)
    abstract = [words for op, bands in result.attribution if (words := tail_sentence(op, bands))]
    if abstract:
        yield Text([" ".join(abstract)])
    headline = list(_headline(result))
    if headline:
        yield Facts(headline, headline=True)


def tail_sentence(op: str, bands: tuple[Band, ...]) -> str:
    """Say in a sentence what the slowest requests of an operation waited for."""
    tail = tail_band(bands)
    if tail is None or not tail.mean_ns:
        return ""
    causes = [
        f"{time / tail.mean_ns * 100:.0f}% of it {look(cause).label} ({look(cause).meaning})"
        if look(cause).meaning
        else f"{time / tail.mean_ns * 100:.0f}% of it {look(cause).label}"
        for cause, time in tail.top(_TOP_CAUSES)
        if time / tail.mean_ns >= _SPOKEN_SHARE
    ]
    took = f"The slowest {tail.name} of the {plural(op)} took {duration(tail.mean_ns)} on average"
    return f"{took}: {', '.join(causes)}."


def _headline(result: Result) -> Iterator[tuple[str, str]]:
    for op, latency in result.latency:
        moved = result.throughput.get(op)
        if moved and moved.iops:
            rate = f", {quantity(moved.bytes_per_second, 'B/s')}" if moved.bytes else ""
            yield f"{op} IOPS{rate}", quantity(moved.iops)
        tail = [key for key in PERCENTILES if float(key) >= 99 and trusted(latency, key)]
        if tail:
            yield f"{op} p{tail[-1]}", duration(latency.percentiles_ns[tail[-1]])
    if result.waf.total:
        steady = result.steadiness is None or result.steadiness.is_steady is not False
        yield f"write amplification{'' if steady else ', not steady'}", f"{result.waf.total:.3f}"
    lifetime = result.endurance.lifetime if result.endurance is not None else None
    if lifetime is not None and lifetime.dwpd is not None:
        yield f"drive writes per day over {lifetime.dwpd_years:g} years", quantity(lifetime.dwpd)


# ---- Causes ----------------------------------------------------------------------------------------------


def _causes(result: Result) -> Iterator[Block]:
    for op, bands in result.attribution:
        yield attribution(f"attribution-{op}", f"Where the time of {plural(op)} went", bands)
        inside = bands_in_device(bands)
        if inside:
            title = f"Where the time of {plural(op)} in the device went"
            yield attribution(f"attribution-{op}-in-device", title, inside)
    rows = [(literal(label), literal(text)) for label, text in host_queue_facts(result)]
    if rows:
        yield Facts(rows)


def attribution(name: str, title: str, bands: tuple[Band, ...]) -> AttributionBlock:
    """Return where the time of an operation went, a bar for each band."""
    causes = stacking_order({cause for band in bands for cause in band.parts_ns})
    looks = {cause: look(cause) for cause in causes}
    remarks = [
        "Each bar is a slice of the distribution. Its parts are the shares of the causes in percent; they "
        "are measured, and sum to the latency of every single request.",
    ]
    if any(band.count < 10 for band in bands):
        remarks.append("Pale: fewer than 10 requests.")
    for remark in filter(None, (misshapen_band(bands), empty_bands(bands))):
        remarks.append(f"{remark[0].upper()}{remark[1:]}.")
    return AttributionBlock(
        name=name,
        title=title,
        bands=[
            AttributionBand(
                name=reach,
                count=band.count,
                mean_ns=band.mean_ns,
                parts_ns={looks[cause].label: time for cause, time in band.parts_ns.items()},
                lower_ns=band.lower_ns,
                upper_ns=band.upper_ns,
            )
            for reach, band in zip(band_ranges(bands), bands, strict=True)
        ],
        parts=[Part(shown.label, shown.colour, shown.meaning) for shown in looks.values()],
        note=" ".join(remarks),
    )


def _slowest(result: Result) -> Iterator[Block]:
    for op, requests in result.slowest:
        rows: list[list[str | Cell]] = [
            [
                f"{request.id:,}",
                f"{request.submitted_ns / 1e6:,.3f} ms",  # as a window around it is given
                duration(request.latency_ns),
                ", ".join(
                    f"{look(cause).label} {time / request.latency_ns * 100:.0f}%"
                    for cause, time in list(request.parts_ns.items())[:_TOP_CAUSES]
                    if time and time >= _SPOKEN_SHARE * request.latency_ns
                ),
            ]
            for request in requests
        ]
        columns = ["request", "submitted at", "latency", "where it went"]
        yield TableBlock(f"The slowest {plural(op)}", columns, rows)
    if any(True for _ in result.slowest):
        yield Text(
            [
                "Requests are counted from 0 in the order of submission; times count from the beginning of "
                "the run. Their whole way through the drive is in `result.json`."
            ]
        )


_HOLDERS_TOLD = 8
"""So many jobs have a column in the table of who waited for whom."""


# ---- Jobs and the drive ----------------------------------------------------------------------------------


def _jobs(result: Result) -> Iterator[Block]:
    if not result.jobs:
        return
    rows: list[list[str | Cell]] = []
    for job in result.jobs:
        if not job.requests:
            rows.append([literal(job.name), "", "0", "", "", "", "", "", ""])
        for op, latency in job.latency:
            moved = job.throughput[op]
            rows.append(
                [
                    literal(job.name),
                    op,
                    f"{latency.count:,}",
                    quantity(moved.iops),
                    quantity(moved.bytes_per_second, "B/s") if moved.bytes else "",
                    duration(latency.mean_ns),
                    percentile_cell(latency, "50"),
                    percentile_cell(latency, "99"),
                    duration(latency.max_ns),
                ]
            )
    columns = ["job", "operation", "requests", "IOPS", "throughput", "mean", "p50", "p99", "slowest"]
    yield TableBlock("What each job did", columns, rows, "Rates are those of the time in which a job ran.")
    yield from _waits(result)
    yield from _slowdowns(result)


def _waits(result: Result) -> Iterator[Block]:
    """Yield for whom each job waited: a row for each of its operations, a column for each holder."""
    told = [(job.name, op, waits) for job in result.jobs for op, waits in job.waits.items()]
    holders = [job.name for job in result.jobs if any(waits.share(job.name) > 0 for _, _, waits in told)]
    holders = holders[:_HOLDERS_TOLD]

    def share(waits: JobWaits, holder: str | None) -> str:
        tail = f" ({waits.beyond_p99.share(holder):.1%})" if waits.beyond_p99 else ""
        return f"{waits.share(holder):.1%}{tail}"

    rows = [
        [literal(name), op, *(share(waits, holder) for holder in (*holders, None))]
        for name, op, waits in told
    ]
    if rows:
        columns = ["job", "operation", *holders, "the drive itself"]
        words = "Shares of the time of all requests of a job, and in brackets of its slowest hundredth."
        yield TableBlock("Who waited for whom", columns, rows, words)


def _slowdowns(result: Result) -> Iterator[Block]:
    """Yield how much slower each job was than alone, and how alike that is, where it is known."""
    rows = [[literal(job.name), words] for job in result.jobs if (words := slowdown_in_words(job))]
    fairness = result.fairness
    if not rows or fairness is None:
        return
    indices = indices_in_words(fairness)
    words = f"Mean latency over that of the job alone. {indices[0].upper()}{indices[1:]}."
    if any(job.slowdown_of == "rate" for job in result.jobs):
        words = f"{words} {OF_RATE}."
    yield TableBlock("Slowdown against running alone", ["job", "times"], rows, words)


def _drive(result: Result) -> Iterator[Block]:
    rows = [(_label(label), literal(text)) for label, text in facts(result)]
    if rows:
        yield Facts(rows)
    figure = _occupancy(result)
    if figure is not None:
        yield FigureBlock(figure)


def _label(label: str) -> str:
    return literal(label.strip())


def _occupancy(result: Result) -> Figure | None:
    """Draw what the dies were occupied with."""
    from ninescope.text.names import occupancy_name

    utilisation: Mapping[str, Any] = result.document.get("utilisation") or {}
    shares: Mapping[str, float] = (utilisation.get("dies") or {}).get("occupancy") or {}
    held = sorted(
        ((share, name) for name, share in shares.items() if name != "idle" and share >= 0.0005), reverse=True
    )
    if not held:
        return None
    panel = Panel(
        "",
        Axis("", categories=[occupancy_name(name) for _, name in held]),
        Axis("share of the time [%]", low=0),
        [Series("dies", list(range(len(held))), [share * 100 for share, _ in held], form="bars")],
    )
    return Figure(
        "occupancy",
        "What the dies were occupied with",
        [panel],
        "Shares of the simulated time, over all dies; the rest they were idle.",
    )


# ---- What stands behind it -------------------------------------------------------------------------------


def _caveats(result: Result) -> Iterator[str]:
    yield from (f"{note[0].upper()}{note[1:]}." for note in notes(result) if note)
    workload: Mapping[str, Any] = result.document.get("workload") or {}
    if workload.get("kind") == "synthetic":
        yield "The workload is synthetic: a job, not a recording."
    if str(workload.get("format")) == "profile":
        yield "The workload is a stand-in, drawn from published statistics: not the trace it is named after."
    short = {
        key: [plural(op) for op, latency in result.latency if key in latency.insufficient]
        for key in PERCENTILES
    }
    first = next((key for key, ops in short.items() if ops), None)
    if first is not None:
        whose = " and ".join(short[first])
        yield f"From p{first} on, the percentiles of {whose} have too few samples behind them to be trusted."
    if any(True for _ in result.latency):
        yield "The histogram behind percentiles is exact to 0.8%; fastest, slowest and mean are exact."
    yield "Drives are typical ones, not measured models of products; their timings are in the configuration."


def _configuration(result: Result) -> Iterator[Block]:
    workload: Mapping[str, Any] = result.document.get("workload") or {}
    yield Facts([*_workload_facts(workload), ("drive", literal(drive_name(result))), *_before(result)])
    known = {key: value for key, value in workload.items() if value not in (None, [], {})}
    if known:
        yield Details("The workload as it was run", [Source(dumps(known), "workload, TOML")])
    toml = result.config_toml()
    if toml.strip():
        yield Details(
            "The drive with all its values", [Source(toml, "resolved configuration of the drive, TOML")]
        )


def _workload_facts(workload: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    path = workload.get("path")
    if path:
        yield "workload", literal("standard input" if path == "-" else str(path))
    for job in workload.get("jobs") or ([workload["job"]] if workload.get("job") else []):
        said = {key: value for key, value in job.items() if value is not None and key != "name"}
        words = ", ".join(
            f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in said.items()
        )
        name = literal(str(job.get("name") or "job"))
        yield name if name == "job" else f"job {name}", literal(words)
    for trace in workload.get("traces") or ():
        how = "queue kept full" if trace.get("closed_loop") else "at its time stamps"
        begins = f"from {trace.get('offset')} B on"
        words = f"{trace.get('path')}, {trace.get('requests'):,} requests, {how}, {begins}"
        yield f"trace {literal(str(trace.get('name')))}", literal(words)
    if workload.get("kind") == "trace":
        how = "queue kept full, time stamps ignored" if workload.get("closed_loop") else "at its time stamps"
        if workload.get("time_scale") not in (None, 1, 1.0):
            how += f", times {workload['time_scale']:g}"
        if (workload.get("loop") or 1) > 1:
            how += f", {workload['loop']} times"
        yield "replayed", how
        if workload.get("format"):
            yield "format", literal(str(workload["format"]))
        if workload.get("addresses"):
            yield "addresses beyond the drive", literal(str(workload["addresses"]))


def _before(result: Result) -> Iterator[tuple[str, str]]:
    if result.document.get("prefill"):
        run = (result.document.get("config") or {}).get("run") or {}
        order = ", in random order" if run.get("prefill_order") == "random" else ""
        yield "prefill", f"{result.document['prefill']}{order}"


def _provenance(result: Result) -> Iterator[tuple[str, str]]:
    document = result.document
    build: Mapping[str, Any] = document.get("build") or {}
    yield "ninescope", str(document.get("ninescope", "unknown"))
    if build:
        yield "build", literal(", ".join(f"{key} {value}" for key, value in build.items()))
    yield "seed", "unknown" if document.get("seed") is None else str(document["seed"])
    if result.digest:
        yield "digest of what the device did", f"`{literal(result.digest)}`"
    yield from _hashes(result)
    yield "requests measured", f"{result.requests:,}"
    yield "simulated time", f"{duration(result.simulated_ns)} ({result.simulated_ns:,} ns)"
    if result.wall_seconds:
        yield "wall time", duration(result.wall_seconds * 1e9)
    yield "complete", "yes" if result.complete else "no: the run was interrupted"


def _hashes(result: Result) -> Iterator[tuple[str, str]]:
    """Yield what names the requests and the configuration, as far as the result has them."""
    document = result.document
    workload: Mapping[str, Any] = document.get("workload") or {}
    if not result.digest or "hash" not in workload or not {"seed", "config", "requests"} <= document.keys():
        return
    known = of_run(document)
    whose = "the requests" if workload["hash"] else "the job and the seed"
    yield f"hash of {whose}", f"`{literal(str(known['workload']))}`"
    yield "hash of the configuration", f"`{literal(str(known['config']))}`"
