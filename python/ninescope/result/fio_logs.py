"""Logs as fio writes them (`write_bw_log`, `write_iops_log`, `write_lat_log`), for tools that read those.

A line is an interval of one direction: its end [ms], the value, the direction (0 reads, 1 writes), and
three columns that are 0 in fio's logs of averages, too: size, offset and priority. Values are KiB/s,
requests/s and the mean latency [ns].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# The names, to which fio2gnuplot has patterns: -b and -i.
BANDWIDTH, IOPS, LATENCY = "ninescope_bw.log", "ninescope_iops.log", "ninescope_lat.log"
NAMES = (BANDWIDTH, IOPS, LATENCY)
_MS = 1_000_000


def logs(series: pl.DataFrame) -> dict[str, str]:
    """Return the text of each log, from the time series of a result."""
    lines: dict[str, list[str]] = {name: [] for name in NAMES}
    present = [op for op in ("read", "write") if series[f"{op}s"].sum()]
    for end_ms, seconds, row in _intervals(series):
        for direction, op in enumerate(("read", "write")):
            requests, size = row[f"{op}s"], row[f"{op}_bytes"]
            if op not in present:
                continue
            values = {
                BANDWIDTH: size / 1024 / seconds,
                IOPS: requests / seconds,
                LATENCY: row[f"{op}_latency_sum_ns"] / max(requests, 1),
            }
            for name, value in values.items():
                if name != LATENCY or requests:
                    lines[name].append(f"{end_ms}, {round(value)}, {direction}, 0, 0, 0\n")
    return {name: "".join(text) for name, text in lines.items()}


def _intervals(series: pl.DataFrame) -> list[tuple[int, float, dict[str, int]]]:
    """Give end [ms], length [s] and sums of intervals; those that end in one millisecond are put together."""
    begins = series["begin_ns"].to_list()
    # A run of one interval is shorter than that.
    length = begins[1] - begins[0] if len(begins) > 1 else _MS
    together: list[tuple[int, int, dict[str, int]]] = []
    for row in series.iter_rows(named=True):
        begin, end = row["begin_ns"], row["begin_ns"] + length
        end_ms = -(-end // _MS)
        if together and together[-1][0] == end_ms:
            _, first, sums = together[-1]
            together[-1] = (end_ms, first, {key: sums[key] + row[key] for key in sums})
        else:
            together.append((end_ms, begin, row))
    ends = [begin for _, begin, _ in together[1:]] + [begins[-1] + length] if together else []
    return [
        (end_ms, (end - begin) / 1e9, sums) for (end_ms, begin, sums), end in zip(together, ends, strict=True)
    ]
