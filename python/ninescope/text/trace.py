"""What a trace contains, as a reader sees it in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ninescope.simulation.remarks import trace_remarks
from ninescope.text.units import binary, duration, percent, quantity

_VOLUMES_SHOWN = 20
"""So many volumes are told one by one."""


def trace_as_text(stat: Mapping[str, Any], name: str) -> str:
    """Return what a trace contains as plain text."""
    requests, duration_ns = stat["requests"], stat["duration_ns"]
    rows: list[tuple[str, str]] = []
    for op in ("reads", "writes", "trims", "flushes"):
        count = stat.get(op, 0)
        if count:
            moved = stat.get(f"{op[:-1]}_bytes")
            size = f", {binary(moved)}, {binary(moved / count)} each" if moved else ""
            rows.append((op, f"{count:,} ({percent(count / requests)}){size}"))
    if stat.get("stream_writes"):
        named = f"{stat['stream_writes']:,} writes name one, at most {stat['highest_stream']}"
        rows.append(("streams", named))
    if duration_ns:
        rows.append(("time", f"{duration(duration_ns)}, {quantity(requests * 1e9 / duration_ns)} requests/s"))
    if stat.get("distinct_times", 0) > 1:
        clock = duration(stat["time_resolution_ns"])
        rows.append(("time stamps", f"{stat['distinct_times']:,} different ones, multiples of {clock}"))
    written = binary(stat["written_footprint_bytes"])
    rows += [
        ("footprint", f"{binary(stat['footprint_bytes'])}, of which {written} are written"),
        ("rewrites", f"{percent(stat['rewrite_ratio'])} of the written 4 KiB pages were written before"),
        (
            "sequential",
            f"{percent(stat['sequential_share'])} of the requests begin where the one before ended",
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
        f"{percent(spread['top_1_percent_share'])} of the page {op}s"
        for op in ("write", "read")
        if (spread := busiest.get(op) or {}).get("top_1_percent_share") is not None
    ]
    if shares:
        yield "busiest 1%", f"of the pages take {', '.join(shares)}"
    curve = (stat.get("reuse") or {}).get("miss_ratio")
    if curve:
        footprint = max(stat["footprint_bytes"], 1)
        points = [_miss_ratio(curve, footprint * part) for part in (0.01, 0.1, 1)]
        text = ", ".join(f"{percent(miss)} with {binary(size)}" for size, miss in points)
        yield "LRU misses", f"{text}; {percent(stat['reuse']['cold_share'])} are first accesses"
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
            f"rewritten, busiest and LRU: from {percent(sample['share'])} of the pages ({sample['pages']:,})",
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
