"""Profiles: what a trace is like in numbers, without a row of it, and requests drawn from them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ninescope import _native
from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean, shipped_profiles
from ninescope.common.files import existing, text_of
from ninescope.simulation.traces import Written, as_trace, encode, target_format, write

MANY_CROWDED = 0.01
"""Share of the requests from which on it is worth a word that new objects found no room."""


class Drawn(NamedTuple):
    """What was drawn from a profile."""

    name: str
    label: str
    format: str
    requests: int
    original_requests: int
    left_out: int
    """Requests of an operation that the format has no word for."""
    rounded: int
    """Requests whose time lost digits that the format's unit cannot hold."""
    crowded: int
    """New objects that found the span too full for them."""

    def remarks(self) -> list[str]:
        """Say what is not as in the profile."""
        remarks = []
        if self.requests > self.original_requests:
            times = self.requests / self.original_requests
            remarks.append(f"{times:.3g} times the {self.original_requests:,} requests of the original")
        if self.crowded > MANY_CROWDED * self.requests:
            remarks.append(f"{self.crowded:,} objects found the span too full and took known addresses")
        if self.left_out:
            remarks.append(f"{self.left_out:,} trims and flushes were left out: {self.format} has no words")
        return remarks


def profile_of(
    path: str | os.PathLike[str], *, name: str, source: Iterable[str] = (), **options: object
) -> str:
    """Reduce a trace to its profile; return the text of its TOML file.

    `options` say how the trace is read: `format`, `columns`, `strict`, `trims`, `volume`.
    """
    with as_trace(path, options) as (readable, words):
        return _native.profile_of_trace(os.fspath(readable), json.dumps(words), name, list(source))


def profile_text(profile: str | os.PathLike[str]) -> tuple[str, str]:
    """Return name and text of a profile that is shipped or in a file."""
    given = os.fspath(profile)
    shipped = shipped_profiles()
    if given in shipped:
        return given, shipped[given].toml
    if not given.endswith(".toml") and os.sep not in given and not Path(given).exists():
        raise ConfigError(
            f"no profile is named {given!r}{did_you_mean(given, shipped)} (a file ends in .toml)"
        )
    return given, text_of(existing(given, "profile"))


def generate(
    profile: str | os.PathLike[str],
    target: str = "-",
    *,
    to: str | None = None,
    requests: int | None = None,
    seed: int = 1,
) -> Drawn:
    """Draw a trace from a profile (a shipped one by its name, or a file) and write it to `target`.

    The format is that of the ending of `target`, or `to`; that of standard output is MSR's unless `to` says
    otherwise. As many requests are drawn as `requests` says, or as the original had.
    """
    format, compression = target_format(target, to or ("msr" if target == "-" else None))  # noqa: A001
    batches = _batches(profile, requests, seed)
    return _drawn(batches, format, write(batches, target, format, compression))


def draw_rows(
    profile: str | os.PathLike[str], path: Path, *, requests: int | None = None, seed: int = 1
) -> Drawn:
    """Draw a trace as rows that the engine reads: every operation and nanosecond."""
    batches = _batches(profile, requests, seed)
    with path.open("wb") as file:
        return _drawn(batches, "rows", encode(batches, file, "rows", "zstd"))


def _batches(profile: str | os.PathLike[str], requests: int | None, seed: int) -> _native.ProfileBatches:
    origin, text = profile_text(profile)
    if requests is not None and requests < 1:
        raise ConfigError(f"requests: {requests} is not a number of requests")
    if not 0 <= seed < 1 << 64:
        raise ConfigError(f"seed: {seed} is not a seed: a whole number from 0 to 2^64 - 1")
    return _native.ProfileBatches(origin, text, requests, seed)


def _drawn(batches: _native.ProfileBatches, format: str, written: Written) -> Drawn:  # noqa: A002
    drawn, _, _, crowded = batches.report()
    return Drawn(
        batches.name,
        batches.label,
        format,
        drawn,
        batches.original_requests,
        written.left_out,
        written.rounded,
        crowded,
    )
