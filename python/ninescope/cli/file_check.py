"""Saying what a file is, and what is wrong with it, told by its name and by what stands in it.

All that ninescope reads is known here: drives, jobs, profiles, host caches, sweeps, searches, levers, what
papers claim, traces, snapshots and MQSim's files; and what it writes: results, comparisons, lakes and logs.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ninescope import _native
from ninescope._native import ConfigError
from ninescope.common import kinds
from ninescope.common.files import COMPARISON, LAKE_MARK, OF_PAPERS, RESULT, TABLES, json_of, text_of
from ninescope.common.written import RESULTS, Written, folder_kind, json_kind, log_kind
from ninescope.mqsim import document as mqsim
from ninescope.result import Result
from ninescope.simulation.remarks import broken_line, file_remarks, trace_remarks
from ninescope.simulation.snapshots import SUFFIX, is_snapshot
from ninescope.simulation.snapshots import check as check_snapshot
from ninescope.simulation.traces import trace_stat
from ninescope.text.snapshots import in_words
from ninescope.toml import loads

_BEFORE_DRIVE = {"host_cache": "host cache", "zone_log": "log on zones"}
"""What stands before a drive, and says nothing of requests by itself: its table, and what it is called."""
_HEAD = 4096
"""So many letters of a page say who made it."""
DAMAGED = 0.05
"""The share of broken lines, or of times out of order, from which on a trace is not right."""
_SMALL_JOB = {"rw": "read", "bs": "512", "requests": 1}
"""Fits on every drive there is."""


class Verdict(NamedTuple):
    """A file that is right: what it is, and what is to be said about it."""

    kind: str
    notes: list[str]


def check(
    path: str,
    *,
    drive: Mapping[str, Any] | None = None,
    strict: bool = False,
    format: str | None = None,  # noqa: A002
    columns: str | None = None,
) -> Verdict:
    """Say what a file is; a ConfigError says what is wrong with it.

    `drive` is that which a job is for (the `drive` and `set` of a run), where a default one will not do.
    `strict` refuses a trace with lines that cannot be read, which are otherwise told. `format` says that the
    file is a trace, and of which format, `columns` what the columns of one are. A folder is a result or a
    lake.
    """
    place = Path(path)
    is_open = format is None and columns is None
    if is_open and place.is_dir():
        return _folder(place)
    if is_open and (place.suffix == SUFFIX or is_snapshot(path)):
        return Verdict("snapshot", [f"{name}: {text}" for name, text in in_words(check_snapshot(path))])
    by_name = _by_name(place) if is_open else None
    if drive is not None:
        is_of_jobs = by_name is _job or (by_name is _toml and kinds.kind_of(path) is kinds.JOB)
        if not is_of_jobs:
            raise ConfigError(f"{path}: --drive is for a job, which this file is not")
        return _job_or_before_drive(path, drive) if by_name is _toml else _job(path, drive)
    if by_name is not None:
        return by_name(path)
    return _trace(path, strict=strict, format=format, columns=columns)


def _by_name(path: Path) -> Callable[[str], Verdict] | None:
    """Return what checks files of such a name; None: it may be a trace."""
    if path.name in TABLES and (path.parent / RESULT).exists():
        return lambda _: _result(path.parent, f"a table of the result {path.parent}")
    if path.suffix == ".html" and "ninescope" in text_of(str(path))[:_HEAD]:
        return lambda _: Verdict("report", ["to be opened in a browser; nothing in it is read again"])
    if mqsim.kind_of(str(path)) is not None:
        return _mqsim
    log = log_kind(path)
    if log is not None:
        return lambda _: _made(log, "no input")
    return {".fio": _job, ".toml": _toml, ".json": _json}.get(path.suffix)


# ---- TOML ------------------------------------------------------------------------------------------------


def _toml(path: str) -> Verdict:
    if kinds.is_profile(path):
        text = Path(path).read_text(encoding="utf-8-sig")
        profile = _native.ProfileBatches(path, text, None, 1)
        return Verdict("profile", [f"{profile.original_requests:,} requests, {profile.label}"])
    if kinds.is_of_none(path):
        raise ConfigError(
            f"{path}: TOML of no kind that ninescope knows (drives, jobs, profiles, host caches, sweeps, "
            "searches, levers, files of papers)"
        )
    kind = kinds.kind_of(path)
    # What is no TOML, or has slips alone, is looked at as a drive: the engine says it, with its line.
    return _drive(path) if kind is None else _CHECKS[kind](path)


def _drive(path: str) -> Verdict:
    return Verdict("drive", _check_run({"drive": {"file": path}, "workload": {"job": _SMALL_JOB}}))


def _job(path: str, drive: Mapping[str, Any] | None = None) -> Verdict:
    notes = _check_run({**(drive or {}), "workload": {"job_file": path}})
    return Verdict("job", [*notes, *file_remarks(path)])


def _job_or_before_drive(path: str, drive: Mapping[str, Any] | None = None) -> Verdict:
    kinds.refuse_a_list_called_job(path)
    text = text_of(path)
    tables = list(loads(text))
    if len(tables) != 1 or tables[0] not in _BEFORE_DRIVE:
        return _job(path, drive)
    # By itself it says nothing of requests: a job is put behind it, where it changes no line.
    with tempfile.TemporaryDirectory(prefix="ninescope-") as folder:
        whole = Path(folder, "whole.toml")
        whole.write_text(f'{text}\n[job]\nrw = "read"\nrequests = 1\nsize = "4k"\n', encoding="utf-8")
        try:
            return Verdict(_BEFORE_DRIVE[tables[0]], _job(str(whole), drive).notes)
        except ConfigError as error:
            raise ConfigError(str(error).replace(str(whole), path)) from None


def _check_run(request: dict[str, object]) -> list[str]:
    return [note for note in _native.check_run(json.dumps(request)) if note != "synthetic workload"]


def _sweep(path: str) -> Verdict:
    from ninescope.common.numbers import counted
    from ninescope.lab.sweep.sweep import Sweep

    sweep = Sweep.from_file(path)
    plan = sweep.plan()
    notes = [f"{counted(len(plan.points), 'point')}; `ninescope sweep plan {path}` lists them"]
    if sweep.checked < len(plan.rows):
        points = counted(sweep.checked, "point")
        notes.append(f"checked with their workloads: {points}; the others by their drives")
    return Verdict("sweep", [*notes, *plan.remarks])


def _search(path: str) -> Verdict:
    from ninescope.lab.search.search import Search

    search = Search.from_file(path)
    doubts = search.plan().doubts
    goals = ", ".join(f"{of.direction} {of.text}" for of in search.file.goals.objectives)
    return Verdict("search", [goals, *doubts, f"`ninescope search plan {path}` says what it takes"])


def _claims(path: str) -> Verdict:
    from ninescope.papers.claims import load_claims

    found = load_claims(Path(path))
    return Verdict("claims of a paper", [f"{found.id}: {found.title}", f"{len(found.claims)} claims"])


def _published(path: str) -> Verdict:
    from ninescope.papers.published import load_published

    found = load_published(Path(path))
    return Verdict(
        "what a paper published", [f"{len(found.series)} series of figures, {len(found.tables)} tables"]
    )


def _baseline(path: str) -> Verdict:
    from ninescope.papers.catalogue import load_baseline

    found = load_baseline(Path(path))
    return Verdict("baseline of a paper", [f"{mode}: {len(each)} verdicts" for mode, each in found.items()])


def _device(path: str) -> Verdict:
    from ninescope.lab.calibrate import DeviceFile

    found = DeviceFile.read(path)
    uses = [figure.use for figure in found.figures]
    told = f"{len(uses)} figures, {uses.count('fit')} of them fitted"
    return Verdict("device file", [f"{len(found.space.parameters)} parameters, {told}"])


def _levers(path: str) -> Verdict:
    from ninescope.lab.levers import read

    return Verdict("file of levers", [", ".join(lever.name for lever in read(path))])


_CHECKS: Mapping[kinds.Kind, Callable[[str], Verdict]] = {
    kinds.DRIVE: _drive,
    kinds.JOB: _job_or_before_drive,
    kinds.SWEEP: _sweep,
    kinds.SEARCH: _search,
    kinds.DEVICE: _device,
    kinds.LEVERS_FILE: _levers,
    kinds.CLAIMS: _claims,
    kinds.PUBLISHED: _published,
    kinds.BASELINE: _baseline,
}


def _mqsim(path: str) -> Verdict:
    kind = mqsim.kind_of(path)
    mqsim.read(path, next(tag for tag, each in mqsim.KINDS.items() if each == kind))
    command = mqsim.import_command(path)
    return Verdict(
        f"{kind} of a configuration of MQSim", [f"{command} makes a drive and jobs of the two files"]
    )


# ---- What ninescope wrote --------------------------------------------------------------------------------


def _json(path: str) -> Verdict:
    """Say what a JSON file is by the keys that all of its kind have."""
    if Path(path).name == LAKE_MARK:
        return _folder(Path(path).parent)
    document = json_of(path)
    kind = json_kind(document)
    if kind is None and isinstance(document, Mapping) and "fio version" in document:
        return _of_fio(path)
    if kind is None:
        raise ConfigError(f"{path}: JSON of no kind that ninescope knows (results, comparisons, lakes)")
    if kind is RESULTS:
        return _result(Path(path), "result")
    return _made(kind, "made by ninescope")


def _of_fio(path: str) -> Verdict:
    from ninescope.lab.calibrate.fio import jobs_of

    jobs = jobs_of(Path(path))
    told = f"`ninescope import fio {path} --drive PRESET --out DEVICE.toml` makes a device file of them"
    return Verdict("output of fio", [f"{len(jobs)} job{'s' if len(jobs) > 1 else ''}", told])


def _made(kind: Written, what: str) -> Verdict:
    return Verdict(kind.name.removeprefix("a "), [f"{what}; {kind.readers}"])


def _folder(path: Path) -> Verdict:
    kind = folder_kind(path)
    if kind is None:
        raise ConfigError(
            f"{path}: a folder with neither {RESULT} (of `run --out`) nor {LAKE_MARK} (a lake of results), "
            f"{COMPARISON} (of `compare --out`) or {OF_PAPERS} (of `papers run --out`)"
        )
    if kind is RESULTS:
        return _result(path, "result")
    if (path / LAKE_MARK).is_file():
        return _lake(path)
    for name in (COMPARISON, OF_PAPERS):
        if (path / name).is_file():
            return _json(str(path / name))
    return _made(kind, "made by ninescope")


def _lake(path: Path) -> Verdict:
    from ninescope.lab.sweep.lake import Lake

    lake = Lake.open(path)
    ids = lake.ids()
    damaged = sorted(lake.file_of(point) for point in ids if lake.get(point) is None)
    if damaged:
        raise ConfigError(
            f"{damaged[0]}: cannot be read, as {len(damaged):,} of {len(ids):,} points; the next `run` runs "
            "them again"
        )
    names = [
        f"{kind}: {', '.join(found)}" for kind in ("sweeps", "searches") if (found := lake.records(kind))
    ]
    return Verdict("lake of results", [f"{len(ids):,} points", *names])


def _result(path: Path, kind: str) -> Verdict:
    from ninescope.lab.compare.sides import load

    result = Result.load(path)
    if path.is_dir():
        load("A", path)  # with all its tables
    notes = [] if result.complete else ["interrupted: it is the part that was run"]
    digest = f"digest {result.digest}" if result.digest else "nothing was run"
    return Verdict(kind, [f"{result.requests:,} requests, {digest}", *notes])


# ---- Traces ----------------------------------------------------------------------------------------------


def _trace(
    path: str,
    *,
    strict: bool,
    format: str | None,  # noqa: A002
    columns: str | None,
) -> Verdict:
    stat = trace_stat(path, strict=strict, format=format, columns=columns)
    _refuse_damage(path, stat)
    return Verdict(f"trace ({stat['format']})", [f"{stat['requests']:,} requests", *trace_remarks(stat)])


def _refuse_damage(path: str, stat: dict[str, Any]) -> None:
    """Refuse a trace of which so much had to be skipped or mended that it is another one."""
    lost, clamped, kept = stat.get("broken_lines", 0), stat.get("clamped", 0), stat["requests"]
    lines = lost + kept + stat.get("skipped_discards", 0)
    skipped = stat.get("first_skipped") or {}
    if lost > DAMAGED * lines:
        where = f"; the first is {broken_line(skipped)}" if skipped else ""
        raise ConfigError(
            f"{path}: {lost:,} of {lines:,} lines give no request{where} (--strict stops at the first)"
        )
    if clamped > DAMAGED * kept:
        raise ConfigError(
            f"{path}: {clamped:,} of {kept:,} requests lie too far before earlier ones to be put in order; "
            "sort the trace by time"
        )
