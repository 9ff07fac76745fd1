"""What a report says of the latencies of a run: the table, the percentiles, and the whole distribution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ninescope.report.document import Block, Cell, FigureBlock, TableBlock, Text
from ninescope.result import PERCENTILES, Latency, Result
from ninescope.text.latency import worth_showing
from ninescope.text.units import duration, quantity

if TYPE_CHECKING:
    pass
from ninescope.figures.latency import distribution, percentiles


def blocks(result: Result) -> Iterator[Block]:
    """Yield all that is said of latencies; nothing where no request was measured."""
    columns = list(result.latency)
    if not columns:
        return
    yield _latency_table(result, columns)
    known = percentiles(columns)
    if known is not None:
        yield FigureBlock(known)
    whole = distribution(columns)
    if whole is not None:
        yield FigureBlock(whole)
    else:
        yield Text(["The whole distribution is in `latency.parquet` of an output directory."])


def _latency_table(result: Result, columns: list[tuple[str, Latency]]) -> TableBlock:
    device = worth_showing(result.latency, result.latency_without_host_queue)
    every = [*columns, *device]
    blank = [""] * len(device)
    moved = [result.throughput.get(op) for op, _ in columns]
    failed: list[str | Cell] = [f"{each.failed:,}" if each and each.failed else "" for each in moved]
    rows: list[list[str | Cell]] = [
        ["requests", *(f"{latency.count:,}" for _, latency in columns), *blank],
        *([["failed", *failed, *blank]] if any(failed) else []),
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
        [f"p{key}", *(percentile_cell(latency, key) for _, latency in every)]
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


def percentile_cell(latency: Latency, key: str) -> str | Cell:
    """Write a percentile with its interval, or with a mark where too few samples stand behind it."""
    if key not in latency.percentiles_ns:
        return ""
    text = duration(latency.percentiles_ns[key])
    if key in latency.insufficient:
        return Cell(f"{text}*", faint=True)
    low, high = latency.intervals_ns.get(key, (0, 0))
    return Cell(text, under=f"{duration(low)} to {duration(high)}") if low < high else text
