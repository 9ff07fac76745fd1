"""What was measured, as Markdown."""

from __future__ import annotations

import platform
import statistics
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

BEGIN = "<!-- make bench-sweeps writes from here -->"
END = "<!-- to here -->"
EXTRAPOLATED = 100_000
_STEPS = (
    ("plan", "make the plan"),
    ("rows", "write down its rows"),
    ("kept", "write the results"),
    ("first_table", "first table (all results are read)"),
    ("table", "table after that"),
    ("csv", "write it as CSV"),
    ("status", "`status`"),
    ("sql", "`sql`: a mean over all points"),
    ("resume", "`resume` where nothing is left"),
)


def tables(numbers: Mapping[str, Any]) -> str:
    """Write everything."""
    same = "equal byte for byte" if numbers["same_tables"] else "**not equal**"
    parts = [
        f"Measured on {_machine(numbers['cores'])}, {date.today().isoformat()}.",
        _workers(numbers),
        f"The tables of all these runs are {same}.",
        *(f"Not measured: {name} ({why})." for name, why in numbers["impossible"].items()),
        _overhead(numbers),
        _large(numbers["large"]),
    ]
    return "\n\n".join(parts) + "\n"


def put(page: Path, text: str) -> None:
    """Write the tables into a page, between its marks."""
    before, begin, rest = page.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{page} lacks its marks")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}")


def _machine(cores: int) -> str:
    model = "an unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
    system = f"Linux {platform.release().partition('-')[0]}, Python {platform.python_version()}"
    return f"{cores} cores of {model}, {system}"


def _workers(numbers: Mapping[str, Any]) -> str:
    """Write how workers add up, each against one of its own kind."""
    lines = [
        "| who runs it | workers | a point | wall | speed-up | efficiency | simulating |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    alone: dict[str, float] = {}
    for name, runs in numbers["ways"].items():
        kind = "Dask" if name.startswith("Dask") else "local"
        wall = statistics.median(run["wall_s"] for run in runs)
        count = runs[0]["workers"]
        point = statistics.median(run["point_s"] for run in runs)
        busy = statistics.median(run["simulating_s"] / (run["wall_s"] * count) for run in runs)
        alone.setdefault(kind, wall)
        speed_up = alone[kind] / wall
        lines.append(
            f"| {name} | {count} | {point:.2f} s | {wall:.1f} s | {speed_up:.2f} | {speed_up / count:.0%} "
            f"| {busy:.0%} |"
        )
    return "\n".join(lines)


def _overhead(numbers: Mapping[str, Any]) -> str:
    lines = ["| who runs it | a point costs beside its simulation |", "| --- | ---: |"]
    lines += [f"| {name} | {seconds * 1e3:.1f} ms |" for name, seconds in numbers["overhead_s"].items()]
    return "\n".join(lines)


def _large(sizes: Mapping[str, Mapping[str, float]]) -> str:
    """Write what large sweeps cost; the last column goes on as the two before it rise."""
    (small, first), (large, second) = ((int(size), took) for size, took in sizes.items())

    def further(name: str) -> float:
        rise = max(0.0, (second[name] - first[name]) / (large - small))
        return second[name] + rise * (EXTRAPOLATED - large)

    lines = [
        f"| points | {small:,} | {large:,} | {EXTRAPOLATED:,} (extrapolated) |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {label} | {_seconds(first[key])} | {_seconds(second[key])} | {_seconds(further(key))} |"
        for key, label in _STEPS
    ]
    lines += [
        f"| {label} | {_bytes(first[key])} | {_bytes(second[key])} | {_bytes(further(key))} |"
        for key, label in (("bytes", "results on disk"), ("dataset_bytes", "their numbers as Parquet"))
    ]
    return "\n".join(lines)


def _seconds(value: float) -> str:
    return (
        f"{value * 1e3:.0f} ms" if value < 1 else f"{value:.1f} s" if value < 100 else f"{value / 60:.1f} min"
    )


def _bytes(value: float) -> str:
    return f"{value / 1e6:.2f} MB" if value < 1e9 else f"{value / 1e9:.2f} GB"
