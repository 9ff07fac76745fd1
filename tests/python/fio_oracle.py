"""What fio issues for a job file, and what ninescope issues for the same file.

fio runs on files of its own in an empty folder; its latency logs with offsets tell each request of each
job, in the order in which they completed. Offsets are told from the beginning of the job's file on: where
fio's files lie on the simulated drive is computed here from their lengths, by the documented rule.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

import ninescope
from conftest import NATIVE

REQUIRED = os.environ.get("NINESCOPE_FIO") == "required"
NEEDS_FIO = [
    pytest.mark.skipif(not NATIVE, reason="the engine is not built"),
    pytest.mark.skipif(
        shutil.which("fio") is None and not REQUIRED,
        reason="NO fio HERE: NOTHING IS COMPARED WITH IT (Debian: apt-get install fio python3-six)",
    ),
]

READ, WRITE, TRIM = range(3)
_OPS = {"read": READ, "write": WRITE, "trim": TRIM}
# Files begin at multiples of this on the simulated drive.
_BLOCK = 4096


@dataclass(frozen=True)
class Issued:
    """What one job issued."""

    # Direction, offset in its file and bytes of each request, in the order of issue; flushes apart.
    requests: tuple[tuple[int, int, int], ...]
    flushes: int
    # The most requests in flight, in fio's classes: 1, 2, 4, ... 64.
    depth: int
    # When its first request was submitted, since that of the first job [ms].
    began_ms: float
    # The time that was measured [ms].
    measured_ms: float

    def of(self, direction: int) -> list[tuple[int, int]]:
        """Give offset and bytes of the requests of a direction."""
        return [(offset, size) for op, offset, size in self.requests if op == direction]

    @property
    def directions(self) -> Counter[int]:
        return Counter(op for op, _, _ in self.requests)


@dataclass(frozen=True)
class Run:
    """What all jobs of a file issued."""

    jobs: tuple[Issued, ...]
    # Length of each job's file, and which jobs share one [B].
    lengths: tuple[int, ...]
    files: tuple[str, ...]


def fio(folder: Path, *words: object) -> str:
    """Run fio in a folder and return what it prints."""
    jobs = "".join(path.read_text() for word in words if (path := folder / str(word)).is_file())
    # Where none is named, each fio compares the clocks of all processors: half of what a short job takes.
    # Where one is, jobs that are held back wait for their time in a loop.
    is_short = jobs and not re.search(r"(?m)^(rate|thinktime|clocksource)", jobs)
    clock = ["--clocksource=clock_gettime"] if is_short else []
    done = subprocess.run(
        ["fio", *clock, *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def run_fio(text: str, folder: Path, *, files: tuple[str, ...] = (), length: int = 0) -> Run:
    """Let fio run a job file; `files` are there before, `length` bytes long, and sparse."""
    place = folder / "fio"
    place.mkdir()
    for directory in re.findall(r"(?m)^directory=(.*)$", text):
        (place / directory).mkdir(exist_ok=True)
    for name in files:
        with (place / name).open("wb") as file:
            file.truncate(length)
    job_file = folder / "job.fio"
    job_file.write_text(text)
    # One I/O log holds one job.
    alone = len(re.findall(r"(?m)^\[(?!global)", text)) == 1 and "numjobs" not in text
    logged = [
        "--write_lat_log=log",
        "--log_offset=1",
        "--log_unix_epoch=1",
        *["--write_iolog=issued"] * alone,
    ]
    fio(place, job_file, "--output=out.json", "--output-format=json", *logged)
    out = (place / "out.json").read_text()
    documents = json.loads(out[out.index("{") :])["jobs"]
    rows = [_rows(place / f"log_lat.{index + 1}.log") for index in range(len(documents))]
    first = min((began for _, began in rows), default=0.0)
    jobs = [
        Issued(
            requests,
            _flushes(place / "issued") if alone else 0,
            max(int(key.lstrip(">=")) for key, share in document["iodepth_level"].items() if share),
            began - first,
            document["job_runtime"],
        )
        for (requests, began), document in zip(rows, documents, strict=True)
    ]
    jobs = _by_number(jobs, [document["jobname"] for document in documents])
    if files:
        names = files * len(documents)
    elif alone:
        names = (_only_file(place, documents[0]["jobname"]),)
    else:
        names = tuple(_file_of_each(text, folder))
    return Run(tuple(jobs), tuple(_length(place / name) for name in names), names)


def _by_number(jobs: list[Issued], names: list[str]) -> list[Issued]:
    """Put copies in the order of their numbers: fio makes the first, then the others from the last on."""
    ordered: list[Issued] = []
    for name in dict.fromkeys(names):
        of_section = [job for job, other in zip(jobs, names, strict=True) if other == name]
        ordered += [of_section[0], *of_section[:0:-1]]
    return ordered


def _rows(log: Path) -> tuple[tuple[tuple[int, int, int], ...], float]:
    rows = [[int(word) for word in line.split(",")] for line in log.read_text().splitlines()]
    requests = tuple((op, offset, size) for _, _, op, size, offset, *_ in rows)
    return requests, min((time - latency / 1e6 for time, latency, *_ in rows), default=0.0)


def _flushes(log: Path) -> int:
    """Count the flushes that follow a write: fio 3.33 repeats one after each read until the next write."""
    words = [line.split()[2] for line in log.read_text().splitlines() if len(line.split()) > 2]
    return sum(before == "write" and word in ("sync", "datasync") for before, word in pairwise(words))


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _only_file(place: Path, job: str) -> str:
    """Say which file the only job of a run worked on: the one beside what fio writes of it."""
    own = ("out.json", "issued", *(path.name for path in place.glob("log_*.log")))
    paths = [path for path in place.rglob("*") if path.is_file() and path.name not in own]
    # The null engine makes none.
    names = [str(path.relative_to(place)) for path in paths] or [job]
    assert len(names) == 1, names
    return names[0]


def _file_of_each(text: str, folder: Path) -> list[str]:
    """Ask fio which file each job works on: alone in an empty folder, a section leaves its files there."""
    names: list[str] = []
    quick = re.sub(r"(?m)^(runtime|ramp_time|startdelay)=.*$", "", text)
    quick = re.sub(r"(?m)^time_based.*$", "", quick)
    quick = re.sub(r"(?m)^(thinktime.*)$", "", quick)
    (folder / "quick.fio").write_text(quick)
    for section in dict.fromkeys(re.findall(r"(?m)^\[(.*)\]$", text)):
        if section == "global":
            continue
        place = folder / f"of-{section}"
        place.mkdir()
        for directory in re.findall(r"(?m)^directory=(.*)$", text):
            (place / directory).mkdir(exist_ok=True)
        out = fio(place, folder / "quick.fio", f"--section={section}", "--output-format=json", "--size=64k")
        jobs = len(json.loads(out[out.index("{") :])["jobs"])
        made = sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_file())
        # The null engine makes none.
        made = made or [section]
        assert len(made) in (1, jobs), made
        names += made if len(made) == jobs else made * jobs
    return names


def run_ours(text: str, folder: Path, fio_run: Run) -> Run:
    """Let ninescope run the same file, on a drive with room for it."""
    path = folder / "ours.fio"
    path.write_text(text)
    result = ninescope.Drive().run(ninescope.Workload.job_file(path), prefill="none", log_requests=True)
    frame = result.to_polars("requests").sort("id")
    names = [job.name for job in result.jobs]
    tables = [frame] if not names else [frame.filter(frame["job"] == name) for name in names]
    measured = [result.document["measured_ns"]] if not names else [job.measured_ns for job in result.jobs]
    begins = _begins(fio_run)
    first = min((table["submitted_ns"].min() or 0 for table in tables), default=0)
    jobs = []
    for table, measured_ns, begin in zip(tables, measured, begins, strict=True):
        rows = table.select("op", "lba", "sectors").rows()
        requests = tuple(
            (_OPS[op], lba * 512 - begin, sectors * 512) for op, lba, sectors in rows if op in _OPS
        )
        began = ((table["submitted_ns"].min() or 0) - first) / 1e6
        depth = _most_at_once(table["submitted_ns"].to_list(), table["latency_ns"].to_list())
        jobs.append(Issued(requests, len(rows) - len(requests), depth, began, measured_ns / 1e6))
    return Run(tuple(jobs), fio_run.lengths, fio_run.files)


def _begins(run: Run) -> list[int]:
    """Say where each job's file begins on the drive: one after another, at multiples of a block."""
    begins: dict[str, int] = {}
    end = 0
    for name, length in zip(run.files, run.lengths, strict=True):
        if name not in begins:
            begins[name] = end
            end += -(-length // _BLOCK) * _BLOCK
    return [begins[name] for name in run.files]


def _most_at_once(submitted: list[int], latencies: list[int]) -> int:
    """Count the most requests in flight, rounded up to a class of fio's."""
    changes = [(at, 1) for at in submitted] + [
        (at + latency, -1) for at, latency in zip(submitted, latencies, strict=True)
    ]
    inside = most = 0
    for _, change in sorted(changes):
        inside += change
        most = max(most, inside)
    return min(64, 1 << max(most - 1, 0).bit_length())
