"""A point: one run, known before it is made, and named by everything that its result depends on."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.lab.build import build
from ninescope.lab.sweep.source import Source
from ninescope.simulation.drive import Drive
from ninescope.simulation.run import LED_IN, PREFILL_ORDERS, PREFILLS

FORMAT = 1
"""Of what is kept of a point; another one makes all points others."""
WITH_PART = ("lab/sweep/source.py", "lab/sweep/worker.py")
"""Files of sweeps on which results depend."""
RUN_WORDS = ("prefill", "prefill_order", "warmup", "requests", "duration", "check")
"""What `[run]` says, as `Drive.run` takes it."""


def current_build() -> str:
    """Say which ninescope runs points now."""
    return build(*WITH_PART)


@dataclasses.dataclass(frozen=True)
class Point:
    """One run: a drive, a workload, how it is run, and a seed."""

    drive: Drive
    """As a worker gets it: with no file behind it (`carried`)."""
    config: str
    """The resolved drive as TOML."""
    workload: Source
    run: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    seed: int = 1
    drive_name: str = ""
    """What the drive is called in its result."""

    @classmethod
    def of(
        cls, drive: Drive, workload: Source, run: Mapping[str, Any] | None = None, *, seed: int = 1
    ) -> Point:
        """Make a point. What is wrong with the drive or with `run` is said at once, by a ConfigError."""
        config = drive.resolve()
        carried, name = _carried(drive, config)
        return cls(carried, config, workload, checked_run(run or {}), seed, name)

    @functools.cached_property
    def design(self) -> str:
        """The hash of what is run, whoever runs it: resolved drive, workload, seed, how it is run."""
        words = {
            # A drive that is sized to its trace is not the same as one that has the preset's size.
            "sized": self.drive.source is None,
            "config": without_prose(self.config),
            "workload": self.workload.identity(),
            # The checker changes no result.
            "run": {key: value for key, value in self.run.items() if key != "check"},
            "seed": self.seed,
        }
        return _hash(words)

    @functools.cached_property
    def id(self) -> str:
        """The name of the point: the hash of its design and of the build that runs it."""
        return point_id(self.design, current_build())


def point_id(design: str, of_build: str) -> str:
    """Return the name of a design run by a build."""
    return _hash({"format": FORMAT, "design": design, "build": of_build})


def checked_run(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a point is run, if that is right; ConfigErrors begin with the key."""
    checked: dict[str, Any] = {}
    for key, value in run.items():
        if key not in RUN_WORDS:
            raise ConfigError(f"{key}: is no word of a run{_elsewhere(key) or did_you_mean(key, RUN_WORDS)}")
        checked[key] = _CHECKS[key](key, value)
    # What is left out is what `Drive.run` takes: the same point, whether it is written or not.
    defaults = {**_DEFAULTS, "warmup": None if checked.get("prefill") in LED_IN else 0}
    return {key: value for key, value in checked.items() if value != defaults.get(key)}


def _elsewhere(key: str) -> str:
    """Return where a word stands that is no word of a run."""
    if key in {"seed", "seeds"}:
        return "; `seeds` stands in a file by itself, before the tables (`seeds = 5`)"
    return ""


_DEFAULTS = {"prefill": "footprint", "prefill_order": "ascending", "check": "off"}


def _count(key: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value) or value < 1:
        raise ConfigError(f"{key}: a number of requests is wanted, not {value!r}")
    return int(value)


def _share_or_count(key: str, value: object) -> int | float:
    given = value
    if isinstance(value, str) and value.endswith("%"):
        try:
            value = float(value[:-1]) / 100
        except ValueError:
            value = None
    if not isinstance(value, bool) and isinstance(value, int | float):
        if 0 <= value < 1:
            return float(value) or 0
        if value == int(value) and value >= 1 and not isinstance(given, str):
            return int(value)
    raise ConfigError(f"{key}: a number of requests or a share such as 0.2 is wanted, not {given!r}")


def _one_of(*known: str) -> Any:
    def check(key: str, value: object) -> str:
        if not isinstance(value, str) or value not in known:
            raise ConfigError(f"{key}: {value!r} is not one of {', '.join(known)}")
        return value

    return check


def _time(key: str, value: object) -> str:
    if not isinstance(value, str) or value.replace(".", "", 1).isdigit():
        raise ConfigError(f'{key}: a time with its unit is wanted, such as "10s", not {value!r}')
    return value


_CHECKS: Mapping[str, Any] = {
    "prefill": _one_of(*PREFILLS),
    "prefill_order": _one_of(*PREFILL_ORDERS),
    "warmup": _share_or_count,
    "requests": _count,
    "duration": _time,
    "check": _one_of("off", "cheap", "full"),
}


def _carried(drive: Drive, config: str) -> tuple[Drive, str]:
    """Return the drive without a file behind it, and its name."""
    import os

    source = drive.source
    if source is None:
        return drive, ""
    if "preset" in source:
        return drive, source["preset"]
    name = os.path.splitext(os.path.basename(source.get("file", "")))[0]
    return Drive({"toml": config}), name


def without_prose(config: str) -> str:
    """Return a resolved drive without what is only said of it: its summary, and where values come from."""
    kept, is_prose = [], False
    for line in config.splitlines():
        if line.startswith("["):
            is_prose = line == "[sources]"
        if line and not is_prose and not line.startswith("summary = "):
            kept.append(line)
    return "\n".join(kept)


def _hash(words: Any) -> str:
    return hashlib.sha256(json.dumps(words, sort_keys=True, default=dict).encode()).hexdigest()[:32]
