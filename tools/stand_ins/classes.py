"""From objects to what a profile says of them: classes with sizes, operations and intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from arrivals import arrivals
from lags import Array, Pooled, Row, grid_to, quantiles_of, spread, tilted
from population import EARLY, FILLED, Builder, Group, Targets
from problem import ImpossibleError
from reuse import distances

PAGE_SECTORS = 8
PAGE_BYTES = 4096
STRETCHES = 16
CLASSES = (1, 2, 4, 16, 64)
# Uses from which on an object is used a little more or less often to make the sum right.
MANY_USES = 16.0
# So few objects are all of one size.
FEW_OBJECTS = 300
# Share of the new objects that go on where an earlier request ended: reads that scan, and writes. Inferred.
RUNS = {"read": 0.6, "write": 0.3}
# Share of the larger objects read once that come right after the one before: scans. Inferred.
NEAR = 0.7
# Where it is known how close together data lies: the share of the new objects that lie right behind the one
# that was new before, and how many quantiles say so. Inferred.
BEHIND = 0.96
PLACES = 50


def sectors_of(pages: float, cut: int) -> list[list[int]]:
    """Sizes of several pages with a mean, less some sectors of the last."""
    label = max(size for size in CLASSES if size <= max(pages, 2))
    above = {2: 3, 4: 15, 16: 63, 64: 4096}[label]
    low = max(label, round(pages / 2))
    high = min(max(round(1.6 * pages), low + 1), above)
    share = min(max((pages - low) / (high - low), 0.0), 1.0)
    pairs = [
        [low * PAGE_SECTORS - cut, round(1000 * (1 - share))],
        [high * PAGE_SECTORS - cut, round(1000 * share)],
    ]
    return [pair for pair in pairs if pair[1] > 0]


def parts_of_page(mean: float, unaligned: float) -> list[list[int]]:
    """Sizes within a page with a mean, of which a share is no whole page."""
    if mean > 7.99:
        return [[PAGE_SECTORS, 1]]
    share = min(max(unaligned, (8 - mean) / 7), 1.0)
    size = max(8 - (8 - mean) / share, 1.0)
    low = min(int(size), 7)
    high_share = min(size - low, 1.0)
    sizes = {8: 1 - share}
    for sectors, part in ((low, share * (1 - high_share)), (low + 1, share * high_share)):
        sizes[sectors] = sizes.get(sectors, 0.0) + part
    return [
        [sectors, round(1000 * part)] for sectors, part in sorted(sizes.items()) if round(1000 * part) > 0
    ]


def births_of(count: int, births: list[tuple[float, float, float]]) -> list[int]:
    """How many are born in each stretch."""
    edges = np.linspace(0, 1, STRETCHES + 1)
    sums = np.zeros(STRETCHES + 1)
    for low, high, part in births:
        sums += part * np.clip((edges - low) / max(high - low, 1e-9), 0, 1)
    whole = np.round(sums / sums[-1] * count).astype(int)
    return [int(value) for value in np.diff(whole)]


def split(group: Group) -> list[Group]:
    """A group whose uses lie between two classes of uses becomes two."""
    count = max(round(group.count), 1)
    if group.uses >= MANY_USES:
        # A few busy objects are no whole number of them: so many are used as often in all.
        scale = group.count / count
        # Few of several sizes would make each seed another volume.
        pages = float(round(group.pages)) if count <= FEW_OBJECTS else group.pages
        scale *= group.pages / pages
        group = replace(group, pages=pages, uses=group.uses * scale, reads=group.reads * scale)
    label = 1 << int(np.log2(max(group.uses, 1.0)))
    above = group.uses - (2 * label - 1)
    if above <= 0:
        return [replace(group, count=count)]
    more = round(above * count)
    parts = [(count - more, 2.0 * label - 1), (more, 2.0 * label)]
    found = []
    for objects, uses in parts:
        reads = group.reads if group.reads < group.uses else uses
        if objects > 0:
            found.append(replace(group, count=objects, uses=uses, reads=min(reads, uses)))
    return found


def classes(targets: Targets, groups: list[Group]) -> list[dict[str, Any]]:
    """The groups as classes of a profile."""
    t = targets
    gap_s = t.window_duration_s / t.window
    groups = [part for group in groups for part in split(group)]
    common = [group for group in groups if group.kind != "late"]
    written_only = [group for group in common if group.op == "write"]
    small = [group for group in written_only if group.pages < 1.5]
    accesses = sum(group.count * group.uses * group.pages for group in common)
    small_uses = sum(group.count * group.uses for group in small)
    large_uses = sum(group.count * group.uses for group in written_only) - small_uses
    # Where many requests end within a page, large ones do so in the middle of their last.
    cut = PAGE_SECTORS // 2 if t.fill < 0.9 else 0
    mean_small = 8 - (accesses * 8 * (1 - t.fill) - large_uses * cut) / max(small_uses, 1)
    mean_small = min(mean_small, 8.0)
    if mean_small < 1:
        raise ImpossibleError(
            "mean_request_bytes", f"requests within a page would have {mean_small:.2f} sectors"
        )
    unaligned = t.unaligned_share * sum(group.count * group.uses for group in groups) / max(small_uses, 1)
    small_sizes = parts_of_page(mean_small, unaligned)
    grid = grid_to(t.requests)
    laws = laws_of(t, groups, gap_s)
    made: list[dict[str, Any]] = []
    for group in groups:
        count = int(group.count)
        total = round(count * group.uses)
        label = 1 << max(int(np.log2(max(total / count, 1.0))), 0)
        chosen, lag = laws.get(id(group), (None, 0.0))
        law: dict[str, Any] = {
            "op": group.op,
            "uses": label,
            "pages": max(size for size in CLASSES if size <= max(round(group.pages), 1)),
            "lag": 0 if group.uses <= 1 else 4 ** int(np.log2(max(lag, 1)) / 2),
            "total": total,
            "births": births_of(count, group.births),
            "sizes": sizes_of(group, small_sizes, cut),
            "next": [],
        }
        if group.kind == "scan" and group.pages >= 1.5:
            law["next"] = [[len(made), 1]]
            law["near"] = NEAR
        elif t.close is not None and count > FEW_OBJECTS:
            law["next"] = [[len(made), 1]]
            law["near"] = law["follows"] = round(t.close["read" if group.only_read else "write"], 3)
        if total > count:
            mean = max(lag, 1.5)
            if chosen is None:
                chosen = even(grid, mean)
            law["ops"] = operations(group)
            lags = quantiles_of(chosen, grid, mean, total - count)
            law["parts"] = [{"part": "whole", "after": [["whole", 1]], "lags": lags}]
        made.append(law)
    settle_total(made, round(t.requests))
    return made


def even(grid: Array, mean: float) -> Array:
    """A law even in the logarithm, tilted to a mean."""
    law: Array = tilted(np.ones((1, len(grid))), grid, np.array([mean]))[0]
    return law


def laws_of(t: Targets, groups: list[Group], gap_s: float) -> dict[int, tuple[Array, float]]:
    """The law of the lags of each group that is used again, by its identity, and their mean."""
    grid = grid_to(t.requests)
    again = [group for group in groups if group.uses > 1]
    written = [group for group in again if group.op == "write" or group.reads < group.uses]
    pooled: list[Pooled] = []
    if not t.shape:
        q50, q90, q99 = t.quantiles_s
        marks = (q50 / gap_s, q90 / gap_s, q99 / gap_s)
        pooled.append(Pooled("rewrite_p50_s, rewrite_p90_s, rewrite_p99_s", marks, t.within))
    if t.lru:
        addresses = sum(group.count for group in groups)
        pooled.append(Pooled("", tuple(distances(t.lru, addresses)), t.lru_within))
    # Where nothing is known of all uses, what is only read is drawn by itself.
    drawn = (again if t.lru else written) if pooled else []
    rows = [row_of(t, group) for group in drawn]
    laws = spread(rows, pooled, float(t.requests)) if rows else []
    found = {}
    for group, row, law in zip(drawn, rows, laws, strict=True):
        mean = min(float(law @ grid), row.mean) if row.at_most else row.mean
        if row.at_most:
            group.life = mean * max(group.uses - 1, 1.0)
            end = min(max(1 - group.life / t.requests, EARLY), 0.999)
            group.births = [(low * end, high * end, part) for low, high, part in group.births]
        found[id(group)] = (law, mean)
    for group in again:
        if id(group) not in found:
            mean = max(group.life / max(group.uses - 1, 1.0), 1.5)
            found[id(group)] = (even(grid, mean), mean)
    return found


def row_of(t: Targets, group: Group) -> Row:
    """A group as a row of the pooled laws."""
    uses = group.count * max(group.uses - 1, 0.02)
    rewrites = group.count * group.pages * max(group.uses - group.reads - 1, 0.02)
    weights = (() if t.shape else (0.0 if group.only_read else rewrites,)) + ((uses,) if t.lru else ())
    if t.lru and group.only_read:
        return Row(
            weights, max(FILLED * (1 - EARLY) * t.requests / max(group.uses - 1, 1.0), 1.5), at_most=True
        )
    return Row(weights, max(group.life / max(group.uses - 1, 1.0), 1.5))


def sizes_of(group: Group, small: list[list[int]], cut: int) -> list[list[int]]:
    """Sizes of the objects of a group: only what is never read ends within a page."""
    if group.pages < 1.5:
        return small if group.op == "write" else [[PAGE_SECTORS, 1]]
    cut = cut if group.op == "write" else 0
    if group.count <= FEW_OBJECTS and group.uses >= MANY_USES:
        return [[round(group.pages) * PAGE_SECTORS - cut, 1]]
    return sectors_of(group.pages, cut)


def operations(group: Group) -> list[list[Any]]:
    """Which operation follows which."""
    if group.op == "write":
        return [["write", "write", 1]]
    writes = group.uses - group.reads
    if writes <= 0:
        return [["read", "read", 1]]
    if group.kind == "hot":
        # What is hot is read and written in no order.
        of_reads = round(1000 * group.reads / group.uses)
        return [
            [before, after, part]
            for before in ("read", "write")
            for after, part in (("read", of_reads), ("write", 1000 - of_reads))
            if part > 0
        ]
    back = min((group.reads - 1) / max(writes - 1, 0.1), 0.9)
    chain: list[list[Any]] = [["read", "write", 1]]
    if writes > 1:
        chain.append(["write", "write", round(1000 * (1 - back))])
        if back > 0:
            chain.append(["write", "read", round(1000 * back)])
    return chain


def settle_total(made: list[dict[str, Any]], requests: int) -> None:
    """Makes all uses as many as there are requests: classes with most uses take the difference."""
    missing = requests - sum(law["total"] for law in made)
    if abs(missing) > 0.03 * requests:
        raise ImpossibleError("requests", f"the objects take {-missing} more than there are")
    takers = [law for law in made if law["uses"] >= 4]
    takers = takers or made
    whole = sum(law["total"] for law in takers)
    for law in sorted(takers, key=lambda law: int(law["total"])):
        objects = sum(law["births"])
        share = round(missing * law["total"] / whole)
        whole -= law["total"]
        least, most = objects * law["uses"], objects * (2 * law["uses"] - 1)
        total = min(max(law["total"] + share, least), most)
        missing -= total - law["total"]
        law["total"] = total
    # What is left over goes wherever there is room.
    for law in sorted(made, key=lambda law: -int(law["total"])):
        objects = sum(law["births"])
        total = min(max(law["total"] + missing, objects * law["uses"]), objects * (2 * law["uses"] - 1))
        if law["uses"] >= 2:
            missing -= total - law["total"]
            law["total"] = total
    if missing != 0:
        raise ImpossibleError("requests", f"the objects take {-missing} more than there are")


def runs_of(kinds: set[str]) -> list[str]:
    """The operations that there are."""
    return [op for op in ("read", "write") if op in kinds]


def jumps(op: str) -> dict[str, Any]:
    """How far from what was new before a new object lies: nearly always right behind it, or anywhere."""
    near = round(BEHIND * PLACES)
    far = [round(each) for each in np.geomspace(1, 1 << 20, PLACES - near)]
    return {"op": op, "behind": 1.0, "distances": [0] * near + far, "ages": [1, 1]}


def profile_of(name: str, sources: list[str], targets: Targets) -> dict[str, Any]:
    """The profile of a volume."""
    t = targets
    groups = Builder(t).build()
    # The rarest first: it takes the first births of a stretch whatever else there is.
    made = classes(t, groups)
    kinds = {law["op"] for law in made}
    # What goes on behind a part of a page would cross the borders of pages.
    has_parts = any(size % PAGE_SECTORS for law in made for size, _ in law["sizes"])
    shares = RUNS | ({"write": 0.0} if has_parts else {})
    for law in made:
        run = round(100 * shares[law["op"]])
        law["lie"] = [["jump", 100 - run], ["run", run]]
    runs = [{"op": op, "ends": [[1, 1]]} for op in runs_of(kinds)]
    span = int(t.span_bytes) // PAGE_BYTES * PAGE_BYTES
    return {
        "profile": 1,
        "name": name,
        "summary": f"MSR Cambridge {name}: {t.requests / 1e6:.3g} M requests, {t.pages * 4 / 2**20:.3g} GiB",
        "label": "stand-in",
        "source": sources,
        "original": {
            "requests": round(t.requests),
            "duration": f"{round(t.duration_s * 1e9)}ns",
            "footprint": f"{round(t.pages) * 4}KiB",
        },
        "addresses": {
            "span": f"{span // 1024}KiB",
            "continues": "again",
            "phases": [[0, 1]],
            **({"jumps": [jumps(op) for op in runs_of(kinds)]} if t.close else {}),
        },
        "arrivals": arrivals(round(t.requests), t.anchors),
        "runs": runs,
        "objects": made,
    }
