"""Which kinds of TOML files there are, how they are told apart, and which command takes which.

A file is taken for what most of the keys at its top belong to.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import NamedTuple

from ninescope._native import ConfigError
from ninescope.toml import loads

PROFILE_KEY = "profile"
"""What tells a profile from other TOML files."""


class Kind(NamedTuple):
    """A kind of TOML file."""

    name: str
    keys: frozenset[str]
    """What stands at its top, as far as others do not have it."""
    taken: str
    """Which command takes the file FILE."""


DRIVE = Kind(
    "drive",
    frozenset(
        (
            "base",
            "geometry",
            "nand",
            "dram",
            "firmware",
            "power",
            "scm",
            "storage_scm",
            "tier",
            "ftl",
            "controller",
            "scheduler",
            "namespaces",
            "backing_store",
            "scrub",
            "refresh",
            "endurance",
            "sources",
        )
    ),
    "`ninescope run WORKLOAD --drive FILE` runs a workload on it",
)
JOB = Kind(
    "job",
    frozenset(
        (
            "rw",
            "readwrite",
            "bs",
            "blocksize",
            "iodepth",
            "job",
            "jobs",
            "traces",
            "requests",
            "size",
            "rwmixread",
            "rate_iops",
            "rate",
            "bsnormal",
            "host_cache",
            "zone_log",
            "file_system",
        )
    ),
    "`ninescope run FILE` runs it",
)
SWEEP = Kind(
    "sweep",
    frozenset(("axes", "when", "zip", "seeds", "drive", "workload", "run")),
    "`ninescope sweep run FILE --out DIR` runs it",
)
SEARCH = Kind(
    "search",
    frozenset(
        (
            "parameters",
            "minimise",
            "maximise",
            "constraints",
            "trials",
            "batch",
            "sampler",
            "pruning",
            "final",
            "zip",
            "drive",
            "workload",
            "run",
        )
    ),
    "`ninescope search run FILE --out DIR` runs it",
)
DEVICE = Kind(
    "device file",
    frozenset(
        ("figures", "parameters", "sources", "rounds", "accuracy", "trials", "seeds", "zip", "drive", "run")
    ),
    "`ninescope calibrate FILE` calibrates a drive by it",
)
LEVERS_FILE = Kind(
    "file of levers", frozenset(("levers",)), "`ninescope levers WORKLOAD --levers FILE` runs them"
)
PROFILE = Kind(
    "profile", frozenset((PROFILE_KEY,)), "`ninescope run FILE` draws a trace from it and replays it"
)
CLAIMS = Kind("file of claims of a paper", frozenset(("paper", "claim")), "`ninescope papers` reads it")
PUBLISHED = Kind(
    "file of what a paper published", frozenset(("series", "table")), "`ninescope papers` reads it"
)
BASELINE = Kind("baseline of a paper", frozenset(("quick", "full")), "`ninescope papers` reads it")
KINDS = (DRIVE, JOB, SWEEP, SEARCH, DEVICE, LEVERS_FILE, CLAIMS, PUBLISHED, BASELINE)
"""Of kinds that fit alike the first is meant. Profiles have a key that no other file has."""


def is_profile(path: str | os.PathLike[str]) -> bool:
    """Tell a profile from other TOML files; what cannot be read is none."""
    try:
        # Tables of that name are in files of other programs.
        key = loads(Path(path).read_text(encoding="utf-8-sig")).get(PROFILE_KEY)
        return key is not None and not isinstance(key, dict)
    except (OSError, ValueError):  # whoever reads it next says it, with its line
        return False


def kind_of(path: str | os.PathLike[str]) -> Kind | None:
    """Return what kind of TOML file it is; None where it is none, or cannot be read."""
    keys = _keys(path)
    if is_profile(path):
        return PROFILE
    kind = max(KINDS, key=lambda one: len(keys & one.keys))
    return kind if keys & kind.keys else None


def is_of_none(path: str | os.PathLike[str]) -> bool:
    """Say whether a TOML file has keys, and none that is, or is a slip for, one of a kind that is known."""
    keys = _keys(path)
    known = ["summary", "name", *(key for kind in KINDS for key in kind.keys)]
    return bool(keys) and not any(difflib.get_close_matches(key, known, n=1, cutoff=0.7) for key in keys)


def refuse_others(path: str | os.PathLike[str], *wanted: Kind) -> None:
    """Say of a file that belongs elsewhere what it is and which command takes it; any other may be wanted."""
    keys, kind, name = _keys(path), kind_of(path), os.fspath(path)
    if is_of_none(path) and kind is None:
        raise ConfigError(
            f"{name}: is TOML of no kind that ninescope knows, and a {wanted[0].name} is wanted"
        )
    if kind is None or kind in wanted:
        return
    if max(len(keys & one.keys) for one in wanted) >= len(keys & kind.keys):
        return  # whoever reads it says what is wrong with it
    raise ConfigError(f"{name}: is a {kind.name}, not a {wanted[0].name}; {kind.taken.replace('FILE', name)}")


def refuse_a_list_called_job(path: str | os.PathLike[str]) -> None:
    """Say of `[[job]]` how several jobs are written."""
    try:
        is_list = isinstance(loads(Path(path).read_text(encoding="utf-8-sig")).get("job"), list)
    except (OSError, ValueError):  # whoever reads it next says it, with its line
        return
    if is_list:
        raise ConfigError(f"{os.fspath(path)}: [[job]]: several jobs are written [[jobs]], and one is [job]")


def _keys(path: str | os.PathLike[str]) -> frozenset[str]:
    try:
        return frozenset(loads(Path(path).read_text(encoding="utf-8-sig")))
    except (OSError, ValueError):  # whoever reads it next says it, with its line
        return frozenset()
