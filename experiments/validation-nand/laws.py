"""Measures the laws of flash that wears and ages on small drives, and prints them beside their formulas.

Usage: .venv/bin/python experiments/validation-nand/laws.py [--write]

Takes some seconds. Its tables are in docs/validation/nand.md, between two marks: `--write` renews them there.
Every formula here is worked out apart from the simulator, in floating point of Python.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ninescope
from ninescope.result.reliability import Reliability

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/validation/nand.md"
MARKS = ("<!-- laws: begin -->\n", "<!-- laws: end -->\n")

MLC = {
    "floor": 8.34e-5,
    "cycles_factor": 3.30e-11,
    "cycles_exponent": 1.71,
    "retention_factor": 5.56e-19,
    "retention_cycles_exponent": 2.49,
    "retention_exponent": 3.33,
    "reads_factor": 6.26e-13,
    "reads_cycles_exponent": 1.76,
    "reads_exponent": 0.47,
}
"""2y-nm MLC in the law of Kim et al. (FAST 2019), days and reads of a block, as SimpleSSD's source has it."""
PAGES = 64
"""Pages of a block of the drives here."""
TLC = {
    "floor": 1.48e-3,
    "cycles_factor": 3.90e-10,
    "cycles_exponent": 2.05,
    "retention_factor": 6.28e-5 * 24**0.54,
    "retention_cycles_exponent": 0.14,
    "retention_exponent": 0.54,
    "reads_factor": 3.73e-9 / PAGES**1.71,
    "reads_cycles_exponent": 0.33,
    "reads_exponent": 1.71,
}
"""72-layer TLC in the same law, as a public fork of MQSim has it.

From hours to days, and from reads of a page to those of a block.
"""
SHARES = {
    0: ([1.0], [0.9, 0.1], [0.7, 0.3]),
    1_000: ([0.9, 0.1], [0.6, 0.3, 0.1], [0.3, 0.4, 0.2, 0.1]),
    3_000: ([0.6, 0.3, 0.1], [0.2, 0.3, 0.3, 0.2], [0.05, 0.15, 0.35, 0.3, 0.15]),
}
"""Of pages that do not decode: which share takes one attempt, two, and so on, at each of AGES."""
AGES = (0, 30, 365)
MEANWHILE = (365, 180, 90, 30, 0)
"""How many days before they are read the parts of a drive were written."""
BOLTZMANN = 8.617e-5


def by_law(law: dict[str, float], cycles: float, days: float, reads: float = 0.0) -> float:
    """Work out the law's rate; `reads` are so many of a block."""
    rate: float = (
        law["floor"]
        + law["cycles_factor"] * cycles ** law["cycles_exponent"]
        + law["retention_factor"]
        * cycles ** law["retention_cycles_exponent"]
        * days ** law["retention_exponent"]
        + law["reads_factor"] * cycles ** law["reads_cycles_exponent"] * reads ** law["reads_exponent"]
    )
    return rate


def mean_by_law(law: dict[str, float], cycles: float, reads: int) -> float:
    """Work out the law's mean rate over the reads of a block from the first to so many.

    The mean of a power is a power.
    """
    most = by_law(law, cycles, 0, reads) - by_law(law, cycles, 0)
    return by_law(law, cycles, 0) + most / (law["reads_exponent"] + 1)


def acceleration(energy: float, reference: float, celsius: float) -> float:
    """Work out Arrhenius's factor."""
    return math.exp(energy / BOLTZMANN * (1 / (reference + 273.15) - 1 / (celsius + 273.15)))


def mean_attempts(shares: list[float]) -> float:
    """Work out the mean number of attempts."""
    return sum(number * share for number, share in enumerate(shares, 1))


def drive(nand: dict[str, Any]) -> ninescope.Drive:
    """Build a drive of one plane, whose code corrects whatever fails here."""
    geometry = {
        "channels": 1,
        "packages_per_channel": 1,
        "dies_per_package": 1,
        "planes_per_die": 1,
        "blocks_per_plane": 64,
        "pages_per_block": PAGES,
    }
    code = {"policy": "bch", "user_data": "1KiB", "correctable": 250}
    change = {"geometry": geometry, "ftl": {"frontier_planes": 1}, "nand": {"ecc": code, **nand}}
    flat = {f"{table}.{key}": value for table, keys in change.items() for key, value in keys.items()}
    return ninescope.Drive.preset("tlc").with_(flat)


def reads_of(nand: dict[str, Any], requests: int, size: str = "32m") -> Reliability:
    """Read pages of a drive at random, and return what became of their bits."""
    job = ninescope.Workload.job(rw="randread", bs="16k", iodepth=4, size=size, requests=requests)
    found = drive(nand).run(job, prefill="full", seed=7).reliability
    if found is None:
        raise SystemExit("the drive has no errors")
    return found


def measured(nand: dict[str, Any], requests: int = 4_000, size: str = "32m") -> float:
    """Measure the rate of bits that are wrong."""
    code = reads_of(nand, requests, size).codes["nand"]
    if code.failed_codewords:
        raise SystemExit(f"{code.failed_codewords} codewords were not corrected: their bits are not counted")
    return code.corrected_bits / (code.codewords * code.codeword_bits)


def errors(law: dict[str, float], **changed: float) -> dict[str, Any]:
    """Write the law as a drive has it."""
    return {"policy": "power-law", **law, **changed}


Row = tuple[str, float, float]
"""What it is, measured, by formula."""


def cycles_rows() -> Iterator[Row]:
    """Yield wear alone: no age, and no reads that count."""
    for name, law in (("MLC", MLC), ("TLC", TLC)):
        for cycles in (0, 1_000, 2_000, 4_000):
            nand = {"errors": errors(law, reads_factor=0.0), "initial_cycles": cycles}
            yield f"{name}, {cycles:,} cycles", measured(nand), by_law(law, cycles, 0)


def retention_rows() -> Iterator[Row]:
    """Yield age after 1,000 and 3,000 cycles."""
    for name, law, ages in (("MLC", MLC, (30, 90, 180)), ("TLC", TLC, (1, 7, 30))):
        for cycles in (1_000, 3_000):
            for days in ages:
                nand = {
                    "errors": errors(law, reads_factor=0.0),
                    "initial_cycles": cycles,
                    "initial_age": f"{days}d",
                }
                yield f"{name}, {cycles:,} cycles, {days} days", measured(nand), by_law(law, cycles, days)


def reads_rows() -> Iterator[Row]:
    """Yield reads of one block: the mean over all of them, after 3,000 cycles."""
    for name, law in (("MLC", MLC), ("TLC", TLC)):
        for reads in (1_000, 10_000, 40_000):
            nand = {"errors": errors(law), "initial_cycles": 3_000}
            block = f"{PAGES * 16}k"
            yield f"{name}, {reads:,} reads", measured(nand, reads, block), mean_by_law(law, 3_000, reads)


def temperature_rows() -> Iterator[Row]:
    """Yield how many days at 40 C a day at another temperature is, by errors linear in days."""
    linear = {"floor": 0.0, "cycles_factor": 0.0, "retention_cycles_exponent": 0.0, "retention_exponent": 1.0}
    for celsius in (25.0, 40.0, 55.0, 66.0, 85.0):
        days = 10.0 / acceleration(1.1, 40.0, celsius)
        nand = {
            "errors": errors(MLC, reads_factor=0.0, retention_factor=2e-4, **linear),
            "initial_age": f"{days * 86_400e9:.0f}ns",
            "temperature": {"running": 40.0, "stored": celsius},
        }
        yield f"{celsius:g} C", measured(nand, 2_000) / 2e-4 / days, acceleration(1.1, 40.0, celsius)


def retry_rows() -> Iterator[Row]:
    """Yield attempts of a page that does not decode, by cycles and age."""
    rows = [{"cycles": cycles, "shares": list(shares)} for cycles, shares in SHARES.items()]
    retry = {"policy": "table", "retention": [f"{days}d" for days in AGES], "rows": rows}
    for cycles, shares in SHARES.items():
        for days, of_age in zip(AGES, shares, strict=True):
            nand = {
                "errors": {"policy": "constant", "rber": 0.5},
                "retry": retry,
                "initial_cycles": cycles,
                "initial_age": f"{days}d",
            }
            counters = reads_of(nand, 4_000).counters
            yield (
                f"{cycles:,} cycles, {days} days",
                counters["retries"] / counters["retried_reads"],
                mean_attempts(list(of_age)),
            )


def retry_by_age_rows() -> Iterator[Row]:
    """Yield attempts by the age of the data, told by one run of a drive that holds data of several ages."""
    rows = [{"cycles": cycles, "shares": list(shares)} for cycles, shares in SHARES.items()]
    drive_of_ages = drive(
        {
            "errors": {"policy": "constant", "rber": 0.5},
            "retry": {"policy": "table", "retention": [f"{days}d" for days in AGES], "rows": rows},
            "initial_cycles": 3_000,
            "initial_age": "1s",
        }
    )
    # A megabyte is a block: what is there at the start is the oldest, and the rest is written as time passes.
    parts = [
        {"rw": "write", "bs": "16k", "size": "8m", "offset": f"{8 * part}m", "requests": 512}
        | {"name": f"{days} days", "startdelay": f"{MEANWHILE[0] - days}d"}
        for part, days in enumerate(MEANWHILE)
        if part
    ]
    reads = {"name": "reads", "rw": "randread", "bs": "16k", "size": f"{8 * len(MEANWHILE)}m", "iodepth": 4}
    # What was written last is older than a minute and read within the hour, so that one class has all of it.
    reads |= {"requests": 20_000, "startdelay": f"{MEANWHILE[0] * 86_400 + 62}s"}
    found = drive_of_ages.run(ninescope.Workload.jobs(*parts, reads), prefill="full", seed=7).reliability
    if found is None or len(found.reads_by_age) != len(MEANWHILE):
        raise SystemExit("the drive does not hold data of as many ages as it should")
    for of, days in zip(found.reads_by_age, reversed(MEANWHILE), strict=True):
        yield f"{days} days", of.retries / of.retried, mean_attempts_at(days)


def mean_attempts_at(days: float) -> float:
    """Work out the mean number of attempts after 3,000 cycles: between two columns it changes linearly."""
    means = [mean_attempts(list(shares)) for shares in SHARES[3_000]]
    number = next(number for number, column in enumerate(AGES) if column >= days)
    if AGES[number] == days:
        return means[number]
    (low, high), (less, more) = AGES[number - 1 : number + 1], means[number - 1 : number + 1]
    return less + (more - less) * (days - low) / (high - low)


LOOP_US, LOOPS, RECOVER_US = 5_000.0, 3, 100.0
READS, READS_EACH_SECOND, WRITES_EACH_SECOND = 40_000, 20, 640
SUSPENDS: dict[str, tuple[str | dict[str, Any], int]] = {
    "never": ("none", 0),
    "between loops": ("between-loops", LOOPS),
    "10 safe points a loop": ("every-safe-point", 10 * LOOPS),
    "20 safe points a loop": ({"policy": "every-safe-point", "points_per_loop": 20}, 20 * LOOPS),
}
"""Policies, and the points of a whole erase where each may stop."""


def tail_rows() -> Iterator[Row]:
    """Yield how long reads wait behind erases: a percentile beyond that of reads which meet none, in us.

    A read that meets an erase comes at any point of it, and waits to its end, or to the next point where it
    may stop and then until voltages have recovered. So of the reads that meet one a share x waits for longer
    than 1 - x of the time from point to point.
    """
    erase_us = LOOP_US * LOOPS
    seconds = READS / READS_EACH_SECOND
    writes = round(seconds * WRITES_EACH_SECOND)
    jobs = ninescope.Workload.jobs(
        {"name": "writes", "rw": "write", "bs": "16k", "size": "32m"}
        | {"rate_iops": WRITES_EACH_SECOND, "requests": writes},
        {"name": "reads", "rw": "randread", "bs": "16k", "size": "16m", "offset": "32m"}
        | {"rate_iops": READS_EACH_SECOND, "rate_process": "poisson", "requests": READS},
    )
    for words, (policy, points) in SUSPENDS.items():
        nand = {
            "erase_loop": f"{LOOP_US:g}us",
            "erase_loops": LOOPS,
            "program": ["10us"],
            "program_pulses": 1,
            "read": ["40us"],
            "suspend_recover": f"{RECOVER_US:g}us",
        }
        found = drive(nand).with_({"scheduler.suspend": policy}).run(jobs, prefill="full", seed=7)
        read, counters = found.document["latency"]["read"]["percentiles_ns"], found.document["counters"]
        meets_one = counters["group_erases"] * erase_us / (seconds * 1e6)
        for percentile in ("99", "99.9"):
            share = (1 - float(percentile) / 100) / meets_one
            wait = (1 - share) * erase_us / max(points, 1) + (RECOVER_US if points else 0)
            yield f"{words}, p{percentile}", (read[percentile] - read["50"]) / 1e3, wait


TABLES = {
    "Wrong bits by P/E cycles": ("of new data", cycles_rows, ".3e"),
    "Wrong bits by age": ("of old data, not read", retention_rows, ".3e"),
    "Wrong bits by reads of the block": ("mean over all reads, after 3,000 cycles", reads_rows, ".3e"),
    "Days at 40 C of a day at another temperature": ("1.1 eV", temperature_rows, ".3f"),
    "Attempts to read again": ("of pages that do not decode at first", retry_rows, ".2f"),
    "Attempts to read again, by one run": (
        "after 3,000 cycles, of data that was written so long before",
        retry_by_age_rows,
        ".2f",
    ),
    "Reads behind erases": ("an erase of 15 ms may be suspended: us beyond the median", tail_rows, ".1f"),
}


def text() -> str:
    """Return all tables as they stand in the docs."""
    lines = []
    for title, (what, rows, digits) in TABLES.items():
        lines += [
            f"### {title}",
            "",
            f"| {what} | measured | by formula | ratio |",
            "| --- | ---: | ---: | ---: |",
        ]
        lines += [
            f"| {name} | {found:{digits}} | {formula:{digits}} | {found / formula:.3f} |"
            for name, found, formula in rows()
        ]
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Print the tables, or write them into the docs."""
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(f"usage: {sys.argv[0]} [--write]")
    tables = text()
    if not sys.argv[1:]:
        print(tables)
        return
    before, rest = PAGE.read_text().split(MARKS[0])
    PAGE.write_text(before + MARKS[0] + "\n" + tables + MARKS[1] + rest.split(MARKS[1])[1])


if __name__ == "__main__":
    main()
