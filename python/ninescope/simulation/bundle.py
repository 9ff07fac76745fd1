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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ninescope._native import ConfigError
from ninescope.common.files import existing, json_of, text_of, written_whole
from ninescope.result import Result
from ninescope.result.identity import of_run
from ninescope.simulation.run import Run
from ninescope.simulation.traces import TemporaryFolder
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
        self._folder = TemporaryFolder()
        self.path = existing(path, "bundle")
        try:
            with zipfile.ZipFile(path) as bundle:
                names = bundle.namelist()
                if _ABOUT not in names:
                    raise ConfigError(f"{path}: is no bundle: it has no {_ABOUT}")
                # Names that lead out of the folder are made harmless by whoever extracts.
                bundle.extractall(self._folder.path)
        except (zipfile.BadZipFile, OSError) as error:
            raise ConfigError(f"{path}: is no bundle, or a damaged one: {error}") from None
        self.about: dict[str, Any] = json_of(str(self._place(_ABOUT)))
        version = self.about.get(_FORMAT)
        if version != _VERSION:
            raise ConfigError(f"{path}: is a bundle of format {version}, and this ninescope reads {_VERSION}")

    @property
    def trace(self) -> Mapping[str, Any] | None:
        """Return by what the trace is known that is not packed; None where there is none."""
        known: Mapping[str, Any] | None = self.about["trace"]
        return known

    def run(self, trace: str | None = None) -> Run:
        """Return the run, from its beginning; `trace` is where the trace of the bundle lies here."""
        words = dict(self.about["run"]["workload"])
        words |= {word: str(self._place(member)) for word, member in self.about["files"].items()}
        if self.trace is not None:
            if trace is None:
                raise ConfigError(
                    f"{self.path}: its trace {self.trace['name']} is not in it ({self.trace['requests']:,} "
                    f"requests, hash {self.trace['hash']}); --trace FILE says where it lies"
                )
            replay = {word: value for word, value in words.items() if word not in ("name", "copied_from")}
            self._held = Workload.trace(trace, **replay)
            words = dict(self._held.words)
        elif trace is not None:
            raise ConfigError(f"{self.path}: --trace {trace} is given, and all that it replays is in it")
        drive = {"drive": {"file": str(self._place(self.about["drive"]))}, "set": []}
        looked_at = {"log_requests": False, "check": "off", "explain_slowest": None, "trace_window": None}
        started = Run({**self.about["run"], **looked_at, **drive, "workload": words})
        if self.trace is not None:
            found = started.workload_hash()
            if found != self.trace["hash"]:
                raise ConfigError(
                    f"{trace}: is not the trace of {self.path}: its hash is {found}, that of "
                    f"{self.trace['name']} was {self.trace['hash']}"
                )
        return started

    def compare(self, result: Result) -> Verdict:
        """Say whether a run of it came to the same."""
        was, now = self.about["identity"], _identity(result.document)
        names = {"digest": "what the device did", "workload": "the workload", "drive": "the drive"}
        differences = [
            f"{words}: {now[name]}, and it was {was[name]}"
            for name, words in names.items()
            if now[name] != was[name]
        ]
        if now["requests"] != was["requests"]:
            differences.append(f"requests: {now['requests']:,}, and they were {was['requests']:,}")
        builds = [self.about["build"], result.document["build"]]
        versions = [build["version"] for build in builds]
        remarks = []
        if versions[0] != versions[1]:
            remarks.append(f"it was made by ninescope {versions[0]}, this is {versions[1]}")
        return Verdict(result, tuple(differences), tuple(remarks))

    def _place(self, member: str) -> Path:
        return Path(self._folder.path, *Path(member).parts)
