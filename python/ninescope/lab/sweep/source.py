"""Workloads by content: what a worker needs to make one again, on whatever machine it runs.

A file is named by the hash of what it holds; where it lies is only known where the sweep was started.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean, presets
from ninescope.simulation.remarks import file_remarks, jobs_remarks, replay_remarks

KINDS = ("trace", "job_file", "job", "profile", "preset")
"""What a workload may be: exactly one of these keys says it."""
JOB_WORDS = (
    "rw", "readwrite", "bs", "iodepth", "rwmixread", "size", "offset", "random_distribution", "rate_iops",
    "rate", "fua",
)  # fmt: skip
"""Words of fio that make a job where they stand alone; more of them can stand in a table `job`."""
REPLAY_WORDS = (
    "format", "columns", "strict", "loop", "time_scale", "closed_loop", "iodepth", "trims", "volume",
    "volumes", "addresses", "host_cache", "zone_log", "stream",
)  # fmt: skip
"""How a trace or a profile is replayed, as `Workload.trace` takes it."""
PROFILE_WORDS = (
    "requests",
    "seed",
    *(word for word in REPLAY_WORDS if word not in ("format", "columns", "volume", "volumes")),
)
_WORDS: Mapping[str, tuple[str, ...]] = {
    "trace": REPLAY_WORDS,
    "profile": PROFILE_WORDS,
    "job_file": (),
    "preset": (),
    "job": (),
}


@dataclasses.dataclass(frozen=True)
class File:
    """A file by its content."""

    name: str
    """What it is called: its base name."""
    content: str
    """Hash of what it holds."""
    path: str
    """Where it lies for whoever started the sweep; it is no part of what the file is."""

    @classmethod
    def of(cls, path: str | os.PathLike[str], what: str) -> File:
        """Read a file once."""
        from ninescope.common.files import existing

        given = existing(os.fspath(path), what)
        return cls(os.path.basename(given), content_hash(Path(given)), os.path.abspath(given))

    def identity(self) -> dict[str, str]:
        """Return what makes it this file."""
        # The ending may decide how it is read.
        return {"content": self.content, "ending": "".join(Path(self.name).suffixes)}


@dataclasses.dataclass(frozen=True)
class Source:
    """A workload: its kind, what is replayed or made, and how."""

    kind: str
    what: str | File | Mapping[str, Any] | tuple[Mapping[str, Any], ...]
    """A file, a name, or the words of a job or of several."""
    words: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """How it is replayed. The host cache of a trace is a `File`."""
    text: str = ""
    """Of a profile: its file."""

    @classmethod
    def of(cls, table: Mapping[str, Any], folder: str | os.PathLike[str] = ".") -> Source:
        """Read the words of a `[workload]`; relative paths start at `folder`.

        ConfigErrors begin with the key at fault, as `trace: ...`.
        """
        table = dict(table)
        table.pop("name", None)
        kind = _kind(table)
        if kind == "job" and "job" not in table:
            return cls("job", _job(table))
        what = table.pop(kind)
        known = _WORDS[kind]
        for word in table:
            if word not in known:
                raise ConfigError(f"{word}: {_not_of(kind, word)}")
        folder = Path(folder)
        if kind == "job":
            return cls("job", _jobs(what))
        if not isinstance(what, str):
            raise ConfigError(f"{kind}: a text is wanted, not {what!r}")
        for key, called in (("host_cache", "host cache"), ("zone_log", "log on zones")):
            if isinstance(table.get(key), str):
                table[key] = File.of(folder / table[key], called)
        if kind == "preset":
            names = [preset.name for preset in presets("jobs")]
            if what not in names:
                raise ConfigError(f"preset: no job is named {what!r}{did_you_mean(what, names)}")
            return cls("preset", what)
        if kind == "profile":
            from ninescope.simulation.profiles import profile_text

            path = folder / what
            try:
                name, text = profile_text(path if what.endswith(".toml") or path.exists() else what)
            except ConfigError as error:
                raise ConfigError(f"profile: {error}") from None
            return cls("profile", os.path.basename(name), table, text)
        return cls(kind, File.of(folder / what, kind.replace("_", " ")), table)

    @property
    def name(self) -> str:
        """What it is called where nobody gave it a name."""
        if isinstance(self.what, File):
            return self.what.name
        if isinstance(self.what, str):
            return self.what
        jobs = self.what if isinstance(self.what, tuple) else (self.what,)
        return "+".join(str(job.get("name") or job.get("rw", "job")) for job in jobs)

    @property
    def files(self) -> tuple[File, ...]:
        """All files that a worker needs."""
        return tuple(value for value in (self.what, *self.words.values()) if isinstance(value, File))

    def remarks(self) -> tuple[str, ...]:
        """Say which of its words say nothing beside the others."""
        if self.kind in ("trace", "profile"):
            return tuple(replay_remarks(self.words))
        if isinstance(self.what, File):
            return tuple(file_remarks(self.what.path)) if self.kind == "job_file" else ()
        return () if isinstance(self.what, str) else tuple(jobs_remarks(self.what, "job"))

    def with_words(self, words: Mapping[str, Any]) -> Source:
        """Change words of the replay, or of the job."""
        if self.kind == "job" and isinstance(self.what, Mapping):
            return dataclasses.replace(self, what=_job({**self.what, **words}))
        known = _WORDS[self.kind]
        for word in words:
            if word not in known:
                raise ConfigError(f"workload.{word}: {_not_of(self.kind, word)}")
        return dataclasses.replace(self, words={**self.words, **words})

    def identity(self) -> dict[str, Any]:
        """Return what makes it this workload, without names and places."""
        words = {
            key: value.identity() if isinstance(value, File) else value for key, value in self.words.items()
        }
        if self.kind == "profile":
            what: Any = hashlib.sha256(self.text.encode()).hexdigest()
        elif isinstance(self.what, File):
            what = self.what.identity()
        else:
            what = self.what
        return {"kind": self.kind, "what": what, "words": words}


def _not_of(kind: str, word: str) -> str:
    """Say that a word is none of a kind of workload."""
    what = kind.replace("_", " ")
    if word in JOB_WORDS:
        return f"is of a job made here, and this workload is a {what}"
    return f"says nothing of a {what}{did_you_mean(word, _WORDS[kind])}"


def content_hash(path: Path) -> str:
    """Return the hash of a file's content."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _kind(table: Mapping[str, Any]) -> str:
    named = [kind for kind in KINDS if kind in table]
    if not named and "rw" in table:
        return "job"
    if len(named) == 1:
        return named[0]
    if named:
        raise ConfigError(f"{named[1]}: there is {named[0]} as well, and a workload is one of them")
    known = (*KINDS, "rw", *REPLAY_WORDS)
    for word in table:
        if word not in known:
            raise ConfigError(f"{word}: is no word of a workload{did_you_mean(word, known)}")
    raise ConfigError(f"says not what is run: one of {', '.join(KINDS)} or rw is wanted")


def _job(words: Mapping[str, Any]) -> Mapping[str, Any]:
    for word in words:
        if word in ("trace", *KINDS):
            raise ConfigError(f"{word}: there is rw as well, and a workload is one of them")
    return dict(words)


def _jobs(what: object) -> Mapping[str, Any] | tuple[Mapping[str, Any], ...]:
    if isinstance(what, Mapping):
        return dict(what)
    if isinstance(what, list) and what and all(isinstance(job, Mapping) for job in what):
        return tuple(dict(job) for job in what)
    raise ConfigError("job: a table of fio's words, or several, are wanted")
