"""A device file to start from, made of what fio measured: which figures are fitted, and what is open.

A parameter is opened where a job tells something of it: the shallowest random read of page reads, the deepest
one of what a command costs, the largest sequential read of the link, writes of programs. That one number is
fitted; all others are held out. What is written says of each choice that it is one.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ninescope import toml
from ninescope._native import ConfigError
from ninescope.common.catalogue import presets
from ninescope.lab.calibrate.fio import Job, instead_of, jobs_of
from ninescope.lab.sweep.base import Base
from ninescope.lab.sweep.estimate import needs_of
from ninescope.lab.sweep.source import Source
from ninescope.lab.sweep.values import quantity
from ninescope.simulation.drive import Drive

REQUESTS = 12_000
"""Of a run: so many have ten that are slower than a percentile of 99.9 %."""
_ENOUGH = 10
SPREAD = 3.0
"""A time of the medium may be so many times what the preset has, or so little of it."""
DEEP = 16
"""From this depth on it is not the latency of single requests that is measured."""
LARGE = 64 * 1024
"""Bytes of a request that fills a link."""
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
_SIZE = re.compile(r"(\d+)\s*([kmg]?)i?b?", re.IGNORECASE)


@dataclasses.dataclass
class Taken:
    """A job of fio that becomes figures."""

    file: Path
    job: Job
    name: str
    words: dict[str, Any] = dataclasses.field(default_factory=dict)
    """What is asked otherwise than fio did."""
    prefill: str = ""
    fitted: str = ""
    """The number that is fitted."""

    @property
    def rw(self) -> str:
        """What it does."""
        return str(self.job.words["rw"])

    @property
    def depth(self) -> int:
        """How many requests are under way."""
        return int(self.job.words.get("iodepth", 1))

    @property
    def size(self) -> int:
        """Bytes of a request; 0 where it is no plain number."""
        match = _SIZE.fullmatch(str(self.job.words.get("bs", "")))
        return int(match[1]) * _UNITS[match[2].lower()] if match else 0

    @property
    def metrics(self) -> list[str]:
        """The numbers that a run of so many requests has, without units in their names."""
        mixed = "w" in self.rw.removeprefix("rand") and self.rw not in ("write", "randwrite")
        requests = REQUESTS // 4 if mixed else REQUESTS
        return [
            metric.removesuffix("_ns")
            for metric in self.job.metrics
            if not (found := re.fullmatch(r".*_p([\d.]+)_ns", metric))
            or requests * (1 - float(found[1]) / 100) >= _ENOUGH
        ]


@dataclasses.dataclass(frozen=True)
class Opened:
    """A parameter, and the keys that it is the value of where it is none itself."""

    name: str
    low: str
    high: str
    why: str
    keys: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Start:
    """A device file, and what was made of it."""

    text: str
    parameters: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    """Jobs that are not in it, and why."""


def start(files: Sequence[Path], drive: str, out: Path) -> Start:
    """Write a device file that is to lie at `out`, of outputs of fio and a preset or file of a drive."""
    resolved = toml.loads(_drive(drive).resolve())
    base = _drive_table(drive, out.parent)
    taken, left_out = _jobs(files, base, out.parent)
    if not taken:
        told = "; ".join(f"{name}: {why}" for name, why in left_out)
        raise ConfigError(f"no job of fio can be taken: {told}")
    opened = _opened(resolved, taken)
    text = "".join(_text(files, base, out, taken, opened, left_out))
    return Start(text, tuple(each.name for each in opened), tuple(left_out))


def _drive(name: str) -> Drive:
    return Drive.preset(name) if name in _drives() else Drive.from_file(name)


def _drives() -> list[str]:
    return [preset.name for preset in presets("drives")]


def _drive_table(name: str, folder: Path) -> dict[str, str]:
    return {"preset": name} if name in _drives() else {"file": _beside(Path(name), folder)}


def _beside(path: Path, folder: Path) -> str:
    """Return a path as it is written in a file of a folder."""
    return Path(os.path.relpath(path, folder)).as_posix()


# ---- jobs -----------------------------------------------------------------------------------------------


def _jobs(
    files: Sequence[Path], drive: Mapping[str, str], folder: Path
) -> tuple[list[Taken], list[tuple[str, str]]]:
    """Return the jobs that the drive can run, and the others with what is wrong with them."""
    taken: list[Taken] = []
    left_out: list[tuple[str, str]] = []
    for file in files:
        for job in jobs_of(file):
            name = f"{file.stem} {job.name}" if len(files) > 1 else job.name
            each = Taken(file, job, name)
            asked = json.dumps(job.words, sort_keys=True, default=str)
            same = [
                one.name for one in taken if asked == json.dumps(one.job.words, sort_keys=True, default=str)
            ]
            problem = job.problem or (
                f"asks the same as {same[0]!r}" if same else _problem(each, drive, folder)
            )
            if problem:
                left_out.append((name, problem))
            else:
                taken.append(each)
    return taken, left_out


def _problem(each: Taken, drive: Mapping[str, str], folder: Path) -> str:
    """Say why a job is not taken; make one whose size is that of a larger drive fit."""
    for option, value in each.job.left_out.items():
        return f"has {instead_of(option, value)}"
    if each.job.several:
        return each.job.several
    if not each.metrics:
        return "measured nothing that is a number of results"
    each.prefill = "full" if "w" in each.rw.removeprefix("rand") else ""
    for size in ({}, {"size": "100%"}):
        each.words = dict(size)
        try:
            base = Base.of({"drive": dict(drive), "workload": {"rw": "randread"}}, folder)
            source = Source.of({**each.job.words, **size}, folder)
            run = {"run.requests": REQUESTS} | ({"run.prefill": each.prefill} if each.prefill else {})
            point = dataclasses.replace(base, workloads={each.name: source}).point(run)
            needs_of(point)
        except ConfigError as error:
            problem = " ".join(str(error).split())
        else:
            return ""
    return problem


# ---- parameters -----------------------------------------------------------------------------------------


def _opened(drive: Mapping[str, Any], taken: Sequence[Taken]) -> list[Opened]:
    """Open what jobs tell something of, and mark the number of each that is fitted."""
    found = []
    random_ones = [each for each in taken if each.rw == "randread"]
    reads = sorted(random_ones, key=lambda each: (each.depth, each.size if each.depth < DEEP else -each.size))
    in_order = [each for each in taken if each.rw == "read" and each.size >= LARGE]
    writes = [each for each in taken if each.rw in ("write", "randwrite")]
    if reads and _fits(reads[0], "read_mean"):
        found.append(_of_medium(drive, "read", f"{reads[0].name}: a single read is mostly that of its page"))
        if len(reads) > 1 and reads[-1].depth >= DEEP and _fits(reads[-1], "read_iops"):
            why = f"{reads[-1].name}: many requests at once; perhaps dies, channels or firmware are short"
            found.append(Opened("controller.command_cost", "100ns", "10us", why))
    if in_order:
        largest = max(in_order, key=lambda each: each.job.metrics.get("read_iops", 0.0) * each.size)
        rate = largest.job.metrics.get("read_iops", 0.0) * largest.size / 1e6
        if _fits(largest, "read_iops"):
            why = f"{largest.name}: large reads in order; {rate:,.0f} MB/s were measured"
            found.append(Opened("controller.link_rate", f"{0.8 * rate:.4g}MB/s", f"{2 * rate:.4g}MB/s", why))
    if writes:
        best = max(writes, key=lambda each: (each.rw == "write", each.size, each.depth))
        if _fits(best, "write_iops"):
            found.append(_of_medium(drive, "write", f"{best.name}: writes wait for programs in the end"))
    if not found:  # mixes alone
        metric = next(each for each in taken[0].metrics if not each.endswith("_iops"))
        taken[0].fitted = metric
        op = metric.partition("_")[0]
        found.append(_of_medium(drive, op, f"{taken[0].name}: what there is"))
    return found


def _fits(each: Taken, metric: str) -> bool:
    """Mark a number as one to be fitted, where it was measured."""
    if metric not in each.metrics or each.fitted:
        return False
    each.fitted = metric
    return True


def _of_medium(drive: Mapping[str, Any], op: str, why: str) -> Opened:
    """Open the time of reads or writes of what the drive stores its data in."""
    if "nand" in drive:
        key = {"read": "nand.read", "write": "nand.program"}[op]
        times = drive["nand"][key.partition(".")[2]]
        return Opened(key, *_bounds(times if isinstance(times, list) else [times]), why)
    low, high = _bounds([drive["scm"]["read" if op == "read" else "set"]])
    if op == "read":
        return Opened("scm.read", low, high, why)
    return Opened("pulse", low, high, why, ("scm.set", "scm.reset"))


def _bounds(times: Sequence[str]) -> tuple[str, str]:
    known = [float(found[1]) for each in times if (found := quantity(each)) is not None]
    mean = math.fsum(known) / len(known)
    return tuple(f"{float(f'{mean * by:.2g}') / 1e3:g}us" for by in (1 / SPREAD, SPREAD))  # type: ignore[return-value]


# ---- text -----------------------------------------------------------------------------------------------


def _text(
    files: Sequence[Path],
    drive: Mapping[str, str],
    out: Path,
    taken: Sequence[Taken],
    opened: Sequence[Opened],
    left_out: Sequence[tuple[str, str]],
) -> Iterator[str]:
    named = ", ".join(file.name for file in files)
    [(kind, which)] = drive.items()
    yield _commented(
        f"A drive that was measured with fio ({named}), to start from: `ninescope calibrate {out.name} "
        "--out DIR` fits what is open below to one number of a job each, and predicts the others. Choose: "
        "what the drive is based on, what is known of it, what is open and within which bounds, which "
        "numbers are fitted."
    )
    yield f"name = {_quoted(out.stem)}\n"
    yield f"summary = {_quoted(f'Measured with fio; what no figure tells is that of {which}')}\n"
    yield "trials = 12\nseeds = 2\n\n"
    yield _commented("As near to the drive as there is (`ninescope presets`). A smaller one runs sooner.")
    yield f"[drive]\n{kind} = {_quoted(which)}\n\n"
    yield _commented("What is known of the drive, as dies and the width of its link, belongs here:")
    yield '# [drive.set]\n# geometry.packages_per_channel = 4\n# controller.link_rate = "7GB/s"\n\n'
    yield f"[run]\nrequests = {REQUESTS:_}\n\n[parameters]\n"
    for parameter in opened:
        yield _commented(parameter.why)
        bounds = f"{{ from = {_quoted(parameter.low)}, to = {_quoted(parameter.high)}, log = true }}"
        yield f"{_key(parameter.name)} = {bounds}\n"
    derived = [(key, each.name) for each in opened for key in each.keys]
    if derived:
        yield "\n[derived]\n" + "".join(f"{_key(key)} = {_quoted(name)}\n" for key, name in derived)
    yield "\n[sources]\n"
    for index, file in enumerate(files):
        yield f"{_source(index, files)} = {_quoted(f'{file.name}, measured with fio')}\n"
    for each in taken:
        yield from _sets(each, _source(files.index(each.file), files), out.parent)
    if left_out:
        yield "\n" + _commented("Not taken:")
        for name, why in left_out:
            yield _commented(f"{name}: {why}")


def _sets(each: Taken, source: str, folder: Path) -> Iterator[str]:
    """Write the figures of a job: the fitted one, and those that are held out."""
    uses = [("fit", [each.fitted])] if each.fitted else []
    uses.append(("holdout", [metric for metric in each.metrics if not _says_the_same(metric, each.fitted)]))
    for use, metrics in uses:
        if not metrics:
            continue
        is_fitted = use == "fit"
        yield f"\n[[figures]]\nname = {_quoted(f'{each.name} (fitted)' if is_fitted else each.name)}\n"
        yield f"source = {_quoted(source)}\nuse = {_quoted(use)}\n"
        yield f"fio = {_quoted(_beside(each.file, folder))}\njob = {_quoted(each.job.name)}\n"
        yield f"metrics = [{', '.join(map(_quoted, metrics))}]\n"
        if each.words:
            yield _commented(f"size={each.job.words['size']} was that of a larger drive.")
            yield 'workload = { size = "100%" }\n'
        if each.prefill:
            yield _commented(
                'What it had held before: "none" of an erased drive, "steady" after hours of writes.'
            )
            yield f"run = {{ prefill = {_quoted(each.prefill)} }}\n"


def _says_the_same(metric: str, fitted: str) -> bool:
    """Say whether a number follows from the fitted one: of so many under way a rate has its mean (Little)."""
    op, _, kind = fitted.partition("_")
    return metric == fitted or (kind in ("iops", "mean") and metric in (f"{op}_iops", f"{op}_mean"))


def _source(index: int, files: Sequence[Path]) -> str:
    return "mine" if len(files) == 1 else f"mine{index + 1}"


def _commented(words: str, width: int = 110) -> str:
    return "".join(f"# {line}\n" for line in textwrap.wrap(words, width - 2))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _key(name: str) -> str:
    return _quoted(name) if "." in name else name
