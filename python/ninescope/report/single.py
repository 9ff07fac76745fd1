"""The report of one run, as a document. This module knows results, and no HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ninescope.causes import look, stacking_order
from ninescope.figures import Axis, Figure, Panel, Series
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
from ninescope.report.series import in_time
from ninescope.result import PERCENTILES, Band, Latency, Result
from ninescope.text import (
    band_ranges,
    drive_name,
    duration,
    facts,
    misshapen_band,
    notes,
    quantity,
    tail_band,
    workload_name,
    worth_showing,
)
from ninescope.toml import dumps

if TYPE_CHECKING:
    from numpy.typing import NDArray

OP_COLOURS = {"read": "#1f6fb4", "write": "#d9621e", "trim": "#6a8f3c", "flush": "#7a5aa0"}
_POINTS = 400
"""A curve is drawn through at most so many."""
_TOP_CAUSES = 3
_SPOKEN_SHARE = 0.05
"""A cause of a smaller share is not named in a sentence."""


def of_result(result: Result) -> Document:
    """Return the report of a run."""
    sections = [
        Section("latency", "Latency", list(_latency(result))),
        Section("causes", "Where the time went", list(_causes(result))),
        Section("slowest", "The slowest requests", list(_slowest(result))),
        Section("jobs", "The jobs", list(_jobs(result))),
        Section("time", "In the course of the run", list(in_time(result))),
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
    simulated = f"{result.requests:,} requests in {duration(result.simulated_ns)} of simulated time"
    return ". ".join(part for part in (str(drive.get("summary") or ""), simulated) if part)


# ---- What comes first ------------------------------------------------------------------------------------


def _lead(result: Result) -> Iterator[Block]:
    if not result.complete:
        state = "this is the part that was run" if result.requests else "nothing was measured"
        yield Notes([f"The run was interrupted: {state}."], warning=True)
    abstract = [words for op, bands in result.attribution if (words := _tail_in_words(op, bands))]
    if abstract:
        yield Text([" ".join(abstract)])
    headline = list(_headline(result))
    if headline:
        yield Facts(headline, headline=True)


def _tail_in_words(op: str, bands: tuple[Band, ...]) -> str:
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
    took = f"The slowest {tail.name} of the {_plural(op)} took {duration(tail.mean_ns)} on average"
    return f"{took}: {', '.join(causes)}."


def _headline(result: Result) -> Iterator[tuple[str, str]]:
    for op, latency in result.latency:
        moved = result.throughput.get(op)
        if moved and moved.iops:
            rate = f", {quantity(moved.bytes_per_second, 'B/s')}" if moved.bytes else ""
            yield f"{op} IOPS{rate}", quantity(moved.iops)
        trusted = [key for key in PERCENTILES if _trusted(latency, key) and float(key) >= 99]
        if trusted:
            yield f"{op} p{trusted[-1]}", duration(latency.percentiles_ns[trusted[-1]])
    if result.waf.total:
        yield "write amplification", f"{result.waf.total:.3f}"
    lifetime = result.endurance.lifetime if result.endurance is not None else None
    if lifetime is not None and lifetime.dwpd is not None:
        yield f"drive writes per day over {lifetime.dwpd_years:g} years", quantity(lifetime.dwpd)


# ---- Latency ---------------------------------------------------------------------------------------------


def _latency(result: Result) -> Iterator[Block]:
    columns = list(result.latency)
    if not columns:
        return
    yield _latency_table(result, columns)
    percentiles = _percentile_figure(columns)
    if percentiles is not None:
        yield FigureBlock(percentiles)
    survival = _survival_figure(columns)
    if survival is not None:
        yield FigureBlock(survival)
    else:
        yield Text(["The whole distribution is in `latency.parquet` of an output directory."])


def _latency_table(result: Result, columns: list[tuple[str, Latency]]) -> TableBlock:
    device = worth_showing(result.latency, result.latency_without_host_queue)
    every = [*columns, *device]
    blank = [""] * len(device)
    moved = [result.throughput.get(op) for op, _ in columns]
    rows: list[list[str | Cell]] = [
        ["requests", *(f"{latency.count:,}" for _, latency in columns), *blank],
        ["IOPS", *(quantity(each.iops) if each else "" for each in moved), *blank],
        [
            "throughput",
            *(quantity(each.bytes_per_second, "B/s") if each and each.bytes else "" for each in moved),
            *blank,
        ],
        ["fastest", *(duration(latency.min_ns) for _, latency in every)],
        ["mean", *(duration(latency.mean_ns) for _, latency in every)],
    ]
    rows += [
        [f"p{key}", *(_percentile_cell(latency, key) for _, latency in every)]
        for key in PERCENTILES
        if any(key in latency.percentiles_ns for _, latency in every)
    ]
    rows.append(["slowest", *(duration(latency.max_ns) for _, latency in every)])
    remarks = ["Latency counts from submission, or from the time stamp of a trace, to completion."]
    if device:
        remarks.append("In device: without the time in the host because the queue of the drive was full.")
    if any(latency.intervals_ns for _, latency in columns):
        remarks.append("Small under a percentile: its 95% interval, by bootstrap over blocks of the run.")
    if any(latency.insufficient for _, latency in every):
        remarks.append("* Too few samples: fewer than 10 requests were slower.")
    names = [op for op, _ in columns] + [f"{op}, in device" for op, _ in device]
    return TableBlock("Throughput and latency", ["", *names], rows, " ".join(remarks))


def _percentile_cell(latency: Latency, key: str) -> str | Cell:
    if key not in latency.percentiles_ns:
        return ""
    text = duration(latency.percentiles_ns[key])
    if key in latency.insufficient:
        return Cell(f"{text}*", faint=True)
    low, high = latency.intervals_ns.get(key, (0, 0))
    return Cell(text, under=f"{duration(low)} to {duration(high)}") if low < high else text


def _percentile_figure(columns: list[tuple[str, Latency]]) -> Figure | None:
    """Draw the trusted percentiles with their intervals."""
    keys = [key for key in PERCENTILES if any(_trusted(latency, key) for _, latency in columns)]
    if len(keys) < 2:
        return None
    series = []
    for op, latency in columns:
        known = [_trusted(latency, key) for key in keys]
        ends = [
            latency.intervals_ns.get(key) if each else None for key, each in zip(keys, known, strict=True)
        ]
        values = [
            latency.percentiles_ns[key] / 1e3 if each else None for key, each in zip(keys, known, strict=True)
        ]
        if not any(known):
            continue
        series.append(
            Series(
                _plural(op),
                list(range(len(keys))),
                values,
                low=[end[0] / 1e3 if end else None for end in ends] if any(ends) else (),
                high=[end[1] / 1e3 if end else None for end in ends] if any(ends) else (),
                colour=OP_COLOURS[op],
            )
        )
    panel = Panel(
        "",
        Axis("percentile", categories=[f"p{key}" for key in keys]),
        Axis("latency [us]", log=True),
        series,
    )
    return Figure(
        "percentiles",
        "Percentiles of the latency",
        [panel],
        "Whiskers are 95% intervals, by bootstrap over blocks of the run. Percentiles that fewer than 10 "
        "requests lie beyond are left out.",
    )


def _survival_figure(columns: list[tuple[str, Latency]]) -> Figure | None:
    """Draw which share of the requests was slower than what."""
    series = []
    for op, latency in columns:
        if latency.histogram is None or not len(latency.histogram[1]):
            continue
        at, slower = thinned(*survival(latency))
        series.append(
            Series(
                _plural(op),
                [round(value / 1e3, 4) for value in at.tolist()],
                slower.tolist(),
                form="steps",
                colour=OP_COLOURS[op],
            )
        )
    if not series:
        return None
    most = max(latency.count for _, latency in columns)
    panel = Panel(
        "",
        Axis("latency [us]", log=True),
        Axis("share of the requests that were slower", log=True, low=0.5 / most, high=1.4),
        series,
        [("below: fewer than 10 samples", 10 / most)] if most > 100 else [],
    )
    return Figure(
        "survival",
        "Which share of the requests was slower than what",
        [panel],
        "Every decade down is another nine: 1% are slower than p99, 0.1% slower than p99.9.",
    )


def survival(latency: Latency) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return latencies [ns] and the share of requests slower than each, from 1 to 0."""
    assert latency.histogram is not None  # noqa: S101
    bounds, counts = latency.histogram
    used = np.flatnonzero(counts)
    steps = counts[used].astype(np.float64)
    fastest, slowest = max(latency.min_ns, 1), max(latency.max_ns, 1)
    at = np.clip(bounds[used].astype(np.float64), fastest, slowest)
    slower = np.clip(1 - np.cumsum(steps) / steps.sum(), 0, 1)
    slower[-1] = 0.0
    if at[0] > fastest:
        at, slower = np.concatenate(([float(fastest)], at)), np.concatenate(([1.0], slower))
    return at, slower


def thinned(
    at: NDArray[np.float64], slower: NDArray[np.float64], points: int = _POINTS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Leave out points of a curve where they are densest, as it is seen with logarithmic axes."""
    if len(at) <= points:
        return at, slower
    x = np.log10(at)
    y = np.log10(np.maximum(slower, slower[slower > 0].min() / 10))
    far = np.hypot(np.diff(x) / max(np.ptp(x), 1e-9), np.diff(y) / max(np.ptp(y), 1e-9))
    along = np.concatenate(([0.0], np.cumsum(far)))
    chosen = np.unique(np.searchsorted(along, np.linspace(0, along[-1], points)))
    chosen = np.unique(np.concatenate(([0], chosen[chosen < len(at)], [len(at) - 1])))
    return at[chosen], slower[chosen]


def _trusted(latency: Latency, key: str) -> bool:
    return key in latency.percentiles_ns and key not in latency.insufficient


# ---- Causes ----------------------------------------------------------------------------------------------


def _causes(result: Result) -> Iterator[Block]:
    for op, bands in result.attribution:
        yield _attribution(op, bands)


def _attribution(op: str, bands: tuple[Band, ...]) -> AttributionBlock:
    causes = stacking_order({cause for band in bands for cause in band.parts_ns})
    looks = {cause: look(cause) for cause in causes}
    remarks = [
        "Each bar is a slice of the distribution. Its parts are the shares of the causes in percent; they "
        "are measured, and sum to the latency of every single request.",
    ]
    if any(band.count < 10 for band in bands):
        remarks.append("Pale: fewer than 10 requests.")
    misshapen = misshapen_band(bands)
    if misshapen:
        remarks.append(f"{misshapen[0].upper()}{misshapen[1:]}.")
    return AttributionBlock(
        name=f"attribution-{op}",
        title=f"Where the time of {_plural(op)} went",
        bands=[
            AttributionBand(
                name=reach,
                count=band.count,
                mean_ns=band.mean_ns,
                parts_ns={looks[cause].label: time for cause, time in band.parts_ns.items()},
                fastest_ns=band.lower_ns,
                slowest_ns=band.upper_ns,
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
                duration(request.submitted_ns),
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
        yield TableBlock(f"The slowest {_plural(op)}", columns, rows)
    if any(True for _ in result.slowest):
        yield Text(
            [
                "Requests are counted from 0 in the order of submission; times count from the beginning of "
                "the run. Their whole way through the drive is in `result.json`."
            ]
        )


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
                    _percentile_cell(latency, "50"),
                    _percentile_cell(latency, "99"),
                    duration(latency.max_ns),
                ]
            )
    columns = ["job", "operation", "requests", "IOPS", "throughput", "mean", "p50", "p99", "slowest"]
    yield TableBlock("What each job did", columns, rows, "Rates are those of the time in which a job ran.")


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
    from ninescope.text import occupancy_name

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
        key: [_plural(op) for op, latency in result.latency if key in latency.insufficient]
        for key in PERCENTILES
    }
    first = next((key for key, ops in short.items() if ops), None)
    if first is not None:
        whose = " and ".join(short[first])
        yield f"From p{first} on, the percentiles of {whose} have too few samples behind them to be trusted."
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
        yield f"job {literal(str(job.get('name', '')))}".rstrip(), literal(words)
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
        yield "prefill", str(result.document["prefill"])


def _provenance(result: Result) -> Iterator[tuple[str, str]]:
    document = result.document
    workload: Mapping[str, Any] = document.get("workload") or {}
    build: Mapping[str, Any] = document.get("build") or {}
    yield "ninescope", str(document.get("ninescope", "unknown"))
    if build:
        yield "build", literal(", ".join(f"{key} {value}" for key, value in build.items()))
    yield "seed", "unknown" if document.get("seed") is None else str(document["seed"])
    if result.digest:
        yield "digest of what the device did", f"`{literal(result.digest)}`"
    if workload.get("hash"):
        yield "hash of the requests", f"`{literal(str(workload['hash']))}`"
    elif workload.get("kind") == "synthetic":
        yield "requests", "drawn from the seed; they have no hash of their own"
    yield "requests measured", f"{result.requests:,}"
    yield "simulated time", f"{duration(result.simulated_ns)} ({result.simulated_ns:,} ns)"
    if result.wall_seconds:
        yield "wall time", duration(result.wall_seconds * 1e9)
    yield "complete", "yes" if result.complete else "no: the run was interrupted"


def _plural(op: str) -> str:
    return f"{op}es" if op == "flush" else f"{op}s"
