"""From the table to a profile: build, draw, measure, correct, until it is near enough."""

from __future__ import annotations

import json
import math
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import toml_text
from classes import profile_of
from lags import WITHIN
from population import READ_AGAIN, READ_OFTEN, Targets
from problem import ImpossibleError
from reuse import within
from table import GAP_FROM, GAP_TO, LRU, Volume

ROOT = Path(__file__).parents[2]
PAGE_BYTES = 4096
SEED = 1
ROUNDS = 8
# What is near enough to stop at.
NEAR, NEAR_INFERRED = 0.04, 0.15
# Corrections: how much of a deviation, and from which on. Counts are nearly right as they are built.
DAMPING, DAMPING_COUNTS, DAMPING_HITS = 0.8, 0.6, 0.5
# Each round corrects less than the one before.
STRENGTH, CALMER = 1.0, 0.87
DEAD, DEAD_COUNTS = 0.015, 0.025
# What an inferred number counts against a published one.
INFERRED_WEIGHT = 0.15
WEEK_S = 604_800.0
# New pages come this much slower after the part that is known. Inferred.
GROWTH = 0.6
# Pages written and read, where only one of them is known, as a share of the written ones. Inferred.
READ_TOO = 0.1

Measured = dict[str, dict[str, float]]
# Which target a measured number corrects.
CORRECTS_WINDOW = {
    "pages": "window_pages",
    "written_pages": "window_written",
    "rewritten_pages": "window_rewritten",
    "page_writes": "window_page_writes",
    "page_reads": "window_page_reads",
    "max_writes_to_a_page": "busiest",
    "top_1_percent_write_share": "top_share",
    "rewrite_mean_s": "mean_s",
    "multiple_share": "multiple_share",
}
# Inferred numbers that nothing measures.
CHOSEN = {"read_again", "read_often"}
# How close together the data of a window of requests lies, and the first guess at what makes it so.
CLOSENESS = {"read": "read_closeness", "write": "written_closeness"}
CLOSE = {"read": 0.6, "write": 0.4}
# So many are used together at most: chains of twenty objects.
CLOSE_AT_MOST = 0.95
DAMPING_CLOSE = 0.6
# The least share of the requests that a cache larger by a step has to hit.
FEW = 1e-5
# How much steeper larger requests go to what is busy, where there are too few first addresses.
SLOPE_STEP = 0.6
CORRECTS_WHOLE = {"pages": "pages", "read_pages": "read_pages", "bytes": "bytes"}

HEADING = "# A profile of ninescope: what a trace is like. `ninescope trace generate` draws one from it.\n"
"""What stands above every profile."""


def targets_of(volume: Volume) -> Targets:
    """What the population is built for at first: published numbers, and inferred ones in their place."""

    def known(key: str, default: float | None = None) -> float:
        found = volume.find(volume.window, key)
        found = volume.inferred.get(key, (None, ""))[0] if found is None else found
        if found is None and volume.window == "whole":
            found = volume.inferred_whole.get(key, (None, ""))[0]
        if found is None:
            found = default
        if found is None:
            raise ImpossibleError(key, f"{volume.name} has neither a published nor an inferred value")
        return found

    def whole(key: str, default: float | None = None) -> float:
        found = volume.find("whole", key)
        found = volume.inferred_whole.get(key, (None, ""))[0] if found is None else found
        if found is None and volume.window == "whole":
            found = volume.inferred.get(key, (None, ""))[0]
        if found is None:
            found = default
        if found is None:
            raise ImpossibleError(
                key, f"{volume.name} has neither a published nor an inferred value of the whole"
            )
        return found

    requests = round(whole("requests"))
    window = float(requests if volume.window == "whole" else int(volume.window))
    writes = requests * whole("write_share")
    write_share = volume.find(volume.window, "write_share")
    window_writes = window * (writes / requests if write_share is None else write_share)
    page_writes = known("page_writes", window_writes * known("mean_write_bytes", PAGE_BYTES) / PAGE_BYTES)
    page_reads = known(
        "page_reads", (window - window_writes) * known("mean_read_bytes", PAGE_BYTES) / PAGE_BYTES
    )
    pages_there = known("pages", whole("pages", 0))
    if volume.shape:
        written = pages_there - whole("read_pages")
    else:
        written = known("written_pages", (1 - known("rewrite_ratio", 0)) * page_writes)
    growth = requests / window
    read_pages = whole("read_pages", 0)
    only_read = (pages_there - written) * (1 + GROWTH * (growth - 1))
    if read_pages:
        only_read = min(only_read, 0.95 * read_pages)
    pages = whole("pages", written * (1 + GROWTH * (growth - 1)) + only_read)
    read_pages = read_pages or pages - written * (1 - READ_TOO)
    duration = whole("duration_s", WEEK_S)
    gap = volume.find(volume.window, "mean_gap_s")
    window_duration = duration if volume.window == "whole" else known("duration_s", (gap or 0) * window)
    anchors = [(0.0, 0.0), (float(requests - 1), duration)]
    if volume.window != "whole":
        anchors.insert(1, (window - 1, window_duration))
    bytes_there = volume.find(volume.window, "mean_request_bytes")
    fill = 1.0 if bytes_there is None else bytes_there * window / (PAGE_BYTES * (page_reads + page_writes))
    shape = dict(volume.shape)
    if shape:
        shape |= {key: known(key) for key in ("hot_read_pages", "cold_reads", "cold_writes")}
    lru = volume.lru
    new = min(whole("first_addresses", 0) / requests, lru[-1][1]) if lru else 0.0
    near = volume.find("whole", CLOSENESS["read"])
    return Targets(
        requests=requests,
        writes=writes,
        pages=pages,
        read_pages=read_pages,
        duration_s=duration,
        span_bytes=whole("span_bytes", volume.find(volume.window, "span_bytes")),
        window=window,
        window_writes=window_writes,
        window_pages=pages_there,
        window_written=written,
        window_rewritten=known("rewritten_pages", known("rewritten_share", 1.0) * written),
        window_page_writes=page_writes,
        window_page_reads=page_reads,
        window_duration_s=window_duration,
        busiest=known("max_writes_to_a_page", 1.0),
        top_share=known("top_1_percent_write_share", 0.0),
        quantiles_s=(known("rewrite_p50_s", 1), known("rewrite_p90_s", 1), known("rewrite_p99_s", 1)),
        within=WITHIN,
        mean_s=known("rewrite_mean_s", 1),
        multiple_share=known("multiple_share", 0.5),
        unaligned_share=next((each.value for each in volume.compared if each.key == "unaligned_share"), 0.0),
        fill=min(fill, 1.0),
        bytes=volume.find("whole", "bytes"),
        anchors=anchors,
        shape=shape or None,
        read_again=volume.inferred.get("read_again", (READ_AGAIN, ""))[0],
        read_often=volume.inferred.get("read_often", (READ_OFTEN, ""))[0],
        lru=lru,
        lru_within=tuple(within(lru, new)),
        close=None if near is None else CLOSE,
    )


def measure(path: Path, lengths: list[int], seconds: tuple[float, ...] = ()) -> Measured:
    """Draws the profile and says what the requests are like."""
    command = [
        "cargo",
        "run",
        "--release",
        "--quiet",
        "--locked",
        "-p",
        "ninescope-generators",
        "--example",
        "stand_in",
    ]
    run = [*command, "--", str(path), str(SEED), *(str(length) for length in lengths)]
    run += [f"{mark}s" for mark in seconds]
    output = subprocess.run(run, cwd=ROOT, env=os.environ, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    found: Measured = json.loads(output.stdout)
    return found


def seen(volume: Volume, measured: Measured, of: str, key: str) -> float:
    """One measured number."""
    if key == "mean_gap_s":
        begin, end = GAP_FROM // volume.scale, GAP_TO // volume.scale
        return (measured[str(end)]["duration_s"] - measured[str(begin)]["duration_s"]) / (end - begin)
    return float(measured[of][key])


def deviations(volume: Volume, measured: Measured) -> dict[tuple[str, str], float]:
    """How far each constraint is missed, as a share of it."""
    return {
        (each.of, each.key): seen(volume, measured, each.of, each.key) / each.value - 1
        for each in volume.constraints
    }


def wanted(volume: Volume, first: Targets) -> list[tuple[str, str, float]]:
    """All that the requests should be like: what is published, and what was inferred in its place."""
    found = [(each.of, each.key, each.value) for each in volume.constraints]
    there = {(of, key) for of, key, _ in found}
    more: list[tuple[str, str, float]] = []
    if not volume.shape:
        more = [
            (volume.window, key, value) for key, (value, _) in volume.inferred.items() if key not in CHOSEN
        ]
    more += [("whole", key, value) for key, (value, _) in volume.inferred_whole.items()]
    del first
    return found + [each for each in more if each[:2] not in there]


def shifted(now: float, wanted: float, got: float, strength: float) -> float:
    """A share that is raised as far as it came out too low, in odds."""

    def odds(share: float) -> float:
        share = min(max(share, 0.001), 0.9998)
        return math.log(share / (1 - share))

    moved = odds(now) + strength * (odds(wanted) - odds(got))
    return 1 / (1 + math.exp(-min(max(moved, -6.0), 8.0)))


def corrected(
    targets: Targets, volume: Volume, measured: Measured, goals: list[tuple[str, str, float]], strength: float
) -> Targets:
    """The targets with what came out too low raised, and the other way round."""
    changes: dict[str, Any] = {}
    for of, key, value in goals:
        if value <= 0 or (key not in CORRECTS_WINDOW and key not in CORRECTS_WHOLE):
            continue
        is_interval = key.startswith("rewrite_") and key.endswith("_s")
        factor = value / max(seen(volume, measured, of, key), 1e-9)
        if abs(factor - 1) < (DEAD if is_interval else DEAD_COUNTS):
            continue
        factor = min(max(factor ** (strength * (DAMPING if is_interval else DAMPING_COUNTS)), 0.4), 2.5)
        name = CORRECTS_WHOLE.get(key) if of == "whole" else None
        if volume.window == of and (of != "whole" or key not in {"read_pages", "bytes"}):
            name = CORRECTS_WINDOW.get(key, name)
        if name is None:
            continue
        changes[name] = getattr(targets, name) * factor
        if of == "whole" and volume.window == "whole" and name == "window_pages":
            changes["pages"] = targets.pages * factor
    shares: Any = measured[volume.window]["rewrites_within"]
    moved = [
        shifted(now, wanted, got, strength)
        for now, wanted, got in zip(targets.within, WITHIN, shares, strict=True)
    ]
    moved_within = (
        moved[0],
        max(moved[1], moved[0] + 0.02),
        max(moved[2], moved[1] + 0.002, moved[0] + 0.03),
    )
    for share in ("top_share", "multiple_share"):
        if share in changes:
            changes[share] = min(changes[share], 0.98)
    if targets.lru:
        changes["lru_within"] = corrected_hits(targets, measured, strength)
    if targets.lru and volume.find("whole", "first_addresses") is not None:
        factor = (volume.find("whole", "first_addresses") or 1.0) / measured["whole"]["first_addresses"]
        changes["size_slope"] = min(
            max(targets.size_slope + strength * SLOPE_STEP * math.log(factor), 0.0), 1.0
        )
    if targets.close is not None:
        changes["close"] = corrected_closeness(targets.close, volume, measured, strength)
    return replace(targets, within=moved_within, **changes)


def corrected_hits(targets: Targets, measured: Measured, strength: float) -> tuple[float, ...]:
    """The shares of the further uses that are to come within the distances of each size of an LRU cache.

    What comes between two sizes, and beyond the last, is made more where it came out too little.
    """
    there = measured["whole"]
    new = there["first_addresses"] / there["requests"]
    parts = []
    for missed in (
        [each for _, each in targets.lru],
        [there[LRU.format(round(1000 * part))] for part, _ in targets.lru],
    ):
        parts.append(np.maximum(-np.diff([1.0, *missed, min(new, missed[-1] - FEW)]), FEW))
    now = np.maximum(np.diff([0.0, *targets.lru_within, 1.0]), FEW)
    raised = now * np.clip(parts[0] / parts[1], 0.3, 3.0) ** (strength * DAMPING_HITS)
    return tuple(float(share) for share in np.cumsum(raised / raised.sum())[:-1])


def corrected_closeness(
    close: dict[str, float], volume: Volume, measured: Measured, strength: float
) -> dict[str, float]:
    """The shares of the objects that are used together with the one that was new before, by operation."""
    found = {}
    for op, key in CLOSENESS.items():
        # What is used by itself has a closeness of one.
        factor = ((volume.find("whole", key) or 1.0) - 1) / max(measured["whole"][key] - 1, 0.01)
        raised = shifted(close[op], min(0.5 * factor, 0.9), 0.5, strength * DAMPING_CLOSE)
        found[op] = min(raised, CLOSE_AT_MOST)
    return found


def solve(volume: Volume, sources: list[str], folder: Path, rounds: int = ROUNDS) -> Measured:
    """The profile as text, and what the requests drawn from it are like."""
    first = targets = targets_of(volume)
    goals = wanted(volume, first)
    best: tuple[float, str, Measured] | None = None
    path = folder / f"{volume.name}.toml"
    for turn in range(rounds):
        try:
            text = HEADING + toml_text.write(profile_of(volume.name, sources, targets)) + "\n"
        except ImpossibleError as problem:
            if best is None:
                raise
            print(f"{volume.name}: round {turn + 1} cannot be built: {problem}")
            break
        path.write_text(text, encoding="utf-8")
        measured = measure(path, volume.lengths, targets.quantiles_s)
        missed = deviations(volume, measured)
        worst = max(missed, key=lambda each: abs(missed[each]))
        every = {
            (of, key): seen(volume, measured, of, key) / value - 1
            for of, key, value in goals
            if has(measured, key)
        }
        inferred = sum(min(abs(value), 3.0) ** 2 for each, value in every.items() if each not in missed)
        tolerances = {(each.of, each.key): each.tolerance for each in volume.constraints}
        published = sum(
            (min(abs(value), 3.0) * 0.1 / tolerances[each]) ** 2 for each, value in missed.items()
        )
        score = published + (INFERRED_WEIGHT**2) * inferred
        print(
            f"{volume.name}: round {turn + 1}: worst {worst[1]} of {worst[0]} {missed[worst]:+.1%}; "
            + ", ".join(
                f"{of} {key} {value:+.0%}" for (of, key), value in every.items() if abs(value) > 0.05
            ),
            flush=True,
        )
        if best is None or score < best[0]:
            best = (score, text, measured)
        loose = max((abs(value) for each, value in every.items() if each not in missed), default=0.0)
        if abs(missed[worst]) < NEAR and loose < NEAR_INFERRED:
            break
        targets = corrected(targets, volume, measured, goals, STRENGTH * CALMER**turn)
    if best is None:
        raise ImpossibleError(volume.name, "no round was made")
    path.write_text(best[1], encoding="utf-8")
    return best[2]


def has(measured: Measured, key: str) -> bool:
    """Whether a number is measured."""
    return key in measured["whole"] or key == "mean_gap_s"
