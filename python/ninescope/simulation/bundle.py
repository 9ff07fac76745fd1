"""A run in one file, so that somebody else can run it again and see that it comes to the same.

A bundle holds the resolved drive, the words of the run, the files that its workload was read from, the build,
the result, and what identifies it: hashes of what the device did, of the workload and of the configuration. A
trace is not in it, which is named and known by its hash: traces are large, and often not to be handed on; one
that was drawn from a profile is.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ninescope._native import ConfigError
from ninescope.common.files import existing, text_of, written_whole
from ninescope.common.numbers import counted
from ninescope.result import Result
from ninescope.result.identity import of_run
from ninescope.simulation.alone import compare_with_alone
from ninescope.simulation.measured import Absent, Differing, differing
from ninescope.simulation.packed import Packed, checked, shortened
from ninescope.simulation.run import Run
from ninescope.simulation.workload import Workload
from ninescope.toml import loads

SUFFIX = ".zip"
_FORMAT = "ninescope_bundle"
_VERSION = 1
_ABOUT = "bundle.json"
_RESULT = "result.json"
_DRIVE = "drive"
_FILES = "files"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Of all that is packed: equal runs have equal bundles."""
_OF_WORKLOAD = ("job_file", "host_cache", "zone_log")
"""Words of a workload that name files, which are packed."""
_OF_DRIVE = ("drive", "set")
_CHANGE_NOTHING = ("snapshots", "log_requests", "check", "explain_slowest", "trace_window")
"""Words of a run that say what is looked at, and not what happens."""
_WANTED: Mapping[str, tuple[type, ...]] = {
    "build": (dict,),
    "build.version": (str,),
    "identity": (dict,),
    "identity.digest": (str,),
    "identity.workload": (str,),
    "identity.drive": (str,),
    "identity.requests": (int,),
    "drive": (str,),
    "run": (dict,),
    "run.seed": (int,),
    "run.prefill": (str,),
    "run.workload": (dict,),
    "files": (dict,),
    "trace": (dict, type(None)),
}
"""Keys of `bundle.json` without which nothing can be run again."""
_OF_TRACE: Mapping[str, tuple[type, ...]] = {
    "trace.name": (str,),
    "trace.hash": (str,),
    "trace.requests": (int,),
}
_NAMED = 5
"""So many figures that differ are named."""
_EXPLAINED_MAX = 1000
"""So many of the slowest requests of an operation can be told of."""


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What became of a bundle that was run again."""

    result: Result
    differences: tuple[str, ...]
    """What is not as it was, one line each; empty where all is the same."""
    remarks: tuple[str, ...] = ()
    """What may be why."""


def refuse_early(request: Mapping[str, Any], path: str) -> None:
    """Refuse what cannot be packed, before it is run for long."""
    if Path(path).suffix != SUFFIX:
        raise ConfigError(f"--provenance {path}: a bundle is a file that ends in {SUFFIX}")
    if request.get("from_snapshot") is not None:
        raise ConfigError(
            "--provenance: a run that begins with --from-snapshot has a past that no bundle holds; let "
            "the run prepare its drive (--prefill)"
        )
    job_file = request["workload"].get("job_file")
    if job_file is not None and str(job_file).endswith(".toml") and "traces" in loads(text_of(job_file)):
        raise ConfigError(f"--provenance: {job_file}: [[traces]] of a job file are in no bundle")
    try:
        Path(path).absolute().parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--provenance: cannot write {path}: {error.strerror}") from None


def write(path: str, request: Mapping[str, Any], result: Result) -> None:
    """Pack a run that is over, and its result."""
    document = {name: value for name, value in result.document.items() if name != "performance"}
    name = f"{_DRIVE}/{document['config']['name']}.toml"
    members = {name: result.config_toml().encode(), _RESULT: _json(document)}
    words = dict(request["workload"])
    packed: dict[str, str] = {}
    for word in _OF_WORKLOAD:
        if words.get(word) is not None:
            packed[word] = f"{_FILES}/{word}/{os.path.basename(words[word])}"
            members[packed[word]] = Path(words.pop(word)).read_bytes()
    trace = words.pop("trace", None)
    if words.get("copied_from") == "profile":
        packed["trace"] = f"{_FILES}/trace/{os.path.basename(trace)}"
        members[packed["trace"]] = Path(trace).read_bytes()
    about = {
        _FORMAT: _VERSION,
        "build": document["build"],
        "identity": _identity(document),
        "drive": name,
        "run": {key: value for key, value in request.items() if key not in (*_OF_DRIVE, *_CHANGE_NOTHING)}
        | {"workload": words},
        "files": packed,
        "trace": None if trace is None or "trace" in packed else _trace(trace, words, document),
    }
    members[_ABOUT] = _json(about)
    with written_whole(Path(path)) as temporary, zipfile.ZipFile(temporary, "w") as bundle:
        for member in sorted(members):
            entry = zipfile.ZipInfo(member, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            bundle.writestr(entry, members[member])


def _trace(path: str, words: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """Return by what a trace is known that is not packed."""
    workload = document["workload"]
    place = words.get("name") or os.path.basename(path)
    return {"name": place, "hash": workload["hash"], "requests": workload["requests"]}


def _identity(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is the same when it is run again, by whatever options its drive was put together."""
    known = of_run(document)
    return {
        "digest": known["digest"],
        "workload": known["workload"],
        "drive": hashlib.sha256(_json(document["config"]["drive"])).hexdigest()[:16],
        "requests": known["requests"],
    }


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True) + "\n").encode()


class Bundle:
    """A bundle that was opened, its files in a folder of their own."""

    def __init__(self, path: str) -> None:
        self._packed = Packed(path)
        self.path = self._packed.path
        self.about = self._packed.document(_ABOUT)
        version = self.about.get(_FORMAT)
        if version != _VERSION:
            raise ConfigError(f"{path}: is a bundle of format {version}, and this ninescope reads {_VERSION}")
        self._check_words()
        self._measured = self._packed.document(_RESULT)

    def _check_words(self) -> None:
        """Refuse words that are not those of `write`, and those that name what no member is."""
        checked(self.path, self.about, _WANTED, _ABOUT)
        if self.trace is not None:
            checked(self.path, self.about, _OF_TRACE, _ABOUT)
        files, run = self.about["files"], self.about["run"]
        for word in (*_OF_DRIVE, *_CHANGE_NOTHING, "from_snapshot"):
            if word in run:
                raise ConfigError(f"{self.path}: {_ABOUT}: run.{word} is no word of a bundle")
        for word in (*_OF_WORKLOAD, "trace"):
            if run["workload"].get(word) is not None:
                raise ConfigError(
                    f"{self.path}: {_ABOUT}: run.workload.{word} names a file, as `files` alone may"
                )
        if "copied_from" in run["workload"] and self.trace is None and "trace" not in files:
            raise ConfigError(f"{self.path}: {_ABOUT}: files.trace is missing")
        for word in files:
            if word not in (*_OF_WORKLOAD, "trace") or (word == "trace" and self.trace is not None):
                raise ConfigError(f"{self.path}: {_ABOUT}: files.{word} is no word of a bundle")
        checked(self.path, self.about, {f"files.{word}": (str,) for word in files}, _ABOUT)
        self._places = {word: self._place(f"files.{word}", member) for word, member in files.items()}
        self._drive = self._place("drive", self.about["drive"])
        if "job_file" in self._places and _has_traces(self._places["job_file"]):
            raise ConfigError(f"{self.path}: {files['job_file']}: [[traces]] of a job file are in no bundle")

    @property
    def trace(self) -> Mapping[str, Any] | None:
        """Return by what the trace is known that is not packed; None where there is none."""
        known: Mapping[str, Any] | None = self.about["trace"]
        return known

    def run(self, trace: str | None = None) -> Run:
        """Return the run, from its beginning; `trace` is where the trace of the bundle lies here."""
        words = dict(self.about["run"]["workload"]) | self._places
        if self.trace is not None:
            if trace is None:
                raise ConfigError(
                    f"{self.path}: its trace {self.trace['name']} is not in it ({self.trace['requests']:,} "
                    f"requests, hash {self.trace['hash']}); --trace FILE says where it lies"
                )
            words = self._words_of(trace, words)
        elif trace is not None:
            raise ConfigError(f"{self.path}: --trace {trace} is given, and all that it replays is in it")
        self._asked = {
            **self.about["run"],
            "log_requests": False,
            "check": "off",
            "explain_slowest": self._explained(),
            "trace_window": None,
            "drive": {"file": self._drive},
            "set": [],
            "workload": words,
        }
        try:
            started = Run(self._asked)
        except ConfigError as error:
            raise self._packed.told(error) from None
        if self.trace is not None:
            found = started.workload_hash()
            if found != self.trace["hash"]:
                raise ConfigError(
                    f"{trace}: is not the trace of {self.path}: its hash is {found}, that of "
                    f"{self.trace['name']} was {self.trace['hash']}"
                )
        return started

    def _words_of(self, trace: str, words: Mapping[str, Any]) -> dict[str, Any]:
        """Return the words of a replay of a trace that is not packed."""
        existing(trace, "trace")
        replay = {word: value for word, value in words.items() if word not in ("name", "copied_from")}
        try:
            self._held = Workload.trace(trace, **replay)
        except (TypeError, OverflowError) as error:  # words that no replay has, or that are none
            raise ConfigError(f"{self.path}: {_ABOUT}: run.workload: {error}") from None
        except ConfigError as error:
            raise self._packed.told(error) from None
        return dict(self._held.words)

    def _explained(self) -> int | None:
        """Return how many of the slowest requests the result tells of: so many are told of again."""
        told = self._measured.get("slowest")
        lists = [each for each in told.values() if isinstance(each, list)] if isinstance(told, dict) else []
        longest = max(map(len, lists), default=0)
        return min(longest, _EXPLAINED_MAX) or None

    def compare_with_alone(self, result: Result, to_end: Callable[[Run], Result | None]) -> bool:
        """Run each job alone as well where the packed run did; False where that was ended early."""
        if "fairness" not in self._measured or len(result.document.get("by_job") or ()) < 2:
            return True
        return compare_with_alone(result, self._asked, to_end)

    def compare(self, result: Result) -> Verdict:
        """Say whether a run of it came to the same, and measured what the result in the bundle says."""
        was, now = self.about["identity"], _identity(result.document)
        names = {"digest": "what the device did", "workload": "the workload", "drive": "the drive"}
        differences = [
            f"{words}: {now[name]}, and it was {was[name]}"
            for name, words in names.items()
            if now[name] != was[name]
        ]
        if now["requests"] != was["requests"]:
            differences.append(f"requests: {now['requests']:,}, and they were {was['requests']:,}")
        versions = [build["version"] for build in (self.about["build"], result.document["build"])]
        remarks = []
        found = list(differing(self._measured, result.document, other_file=self.trace is not None))
        if versions[0] != versions[1]:
            remarks.append(f"it was made by ninescope {versions[0]}, this is {versions[1]}")
            new = [each.key for each in found if each.was is Absent]
            if new:
                remarks.append(f"its result does not have {counted(len(new), 'key')} of this one: {new[0]}")
            found = [each for each in found if each.was is not Absent]
        return Verdict(result, (*differences, *_figures(found)), tuple(remarks))

    def _place(self, key: str, member: str) -> str:
        return self._packed.place(f"{_ABOUT}: {key}", member)


def _figures(found: Sequence[Differing]) -> Iterator[str]:
    """Say which figures are not as they were, the first of them by their names."""
    for key, was, now in found[:_NAMED]:
        if was is Absent:
            yield f"{_RESULT}: {key}: {shortened(now)}, and it was not there"
        elif now is Absent:
            yield f"{_RESULT}: {key}: is not there, and it was {shortened(was)}"
        else:
            yield f"{_RESULT}: {key}: {shortened(now)}, and it was {shortened(was)}"
    if len(found) > _NAMED:
        yield f"{_RESULT}: {counted(len(found) - _NAMED, 'key')} more"


def _has_traces(job_file: str) -> bool:
    """Say whether a job file names traces, which lie wherever it says; the engine tells what is no TOML."""
    if job_file.endswith(".fio"):
        return False
    try:
        return "traces" in loads(Path(job_file).read_text(encoding="utf-8-sig"))
    except ValueError:
        return False
