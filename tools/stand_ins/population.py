"""From numbers about a volume to objects with uses of their own.

The numbers are those of a *window*, the first requests of the volume, of which most is published, and of the
whole. Where the window is the whole both are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from arrivals import arrivals
from ladder import Popularity, Rung, bisect, ladder
from lags import Row, grid_to, quantiles_of, spread, tilted
from problem import ImpossibleError

PAGE_SECTORS = 8
PAGE_BYTES = 4096
STRETCHES = 16
CLASSES = (1, 2, 4, 16, 64)
# Of the room that objects have, what their uses fill on average.
FILLED = 0.95
# Uses from which on an object is used a little more or less often to make the sum right.
MANY_USES = 16.0
# So few objects are all of one size.
FEW_OBJECTS = 300
# Objects of the busiest hundredth of the pages are all there by this share of the trace.
EARLY = 0.02
# Share of the new objects that go on where an earlier request ended: reads that scan, and writes. Inferred.
RUNS = {"read": 0.6, "write": 0.3}
# How long what is only read is read again, as a share of the trace. Inferred.
READ_LIFE = 0.12
# Share of the larger objects read once that come right after the one before: scans. Inferred.
NEAR = 0.7


@dataclass
class Targets:
    """What a population is to be like. Counts of pages are of 4 KiB."""

    requests: float
    writes: float
    pages: float
    read_pages: float
    duration_s: float
    span_bytes: float
    window: float
    window_writes: float
    window_pages: float
    window_written: float
    window_rewritten: float
    window_page_writes: float
    window_page_reads: float
    window_duration_s: float
    busiest: float
    top_share: float
    quantiles_s: tuple[float, float, float]
    # Shares of the rewrites that are to come within them.
    within: tuple[float, float, float]
    mean_s: float
    multiple_share: float
    unaligned_share: float
    # Bytes per byte of the pages touched.
    fill: float
    # Bytes of the whole, where they are published and the window's are not like them.
    bytes: float | None = None
    anchors: list[tuple[float, float]] = field(default_factory=list)
    # Hot and cold sets as chosen, instead of published popularity.
    shape: dict[str, float] | None = None


@dataclass
class Group:
    """Objects to be: `count` of them, each of `pages` on average, used `uses` times."""

    op: str
    count: float
    pages: float
    uses: float
    # Reads among the uses: the first is one, if there are any besides writes.
    reads: float
    # Shares of the trace within which they are born, and how many in each.
    births: list[tuple[float, float, float]]
    # Requests from the first use to the last.
    life: float
    kind: str


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


class Builder:
    """One volume's population under way."""

    def __init__(self, targets: Targets) -> None:
        self.targets = t = targets
        self.groups: list[Group] = []
        self.notes: dict[str, float] = {}
        self.window_share = min(t.window / t.requests, 1.0)
        self.is_whole = self.window_share > 0.999
        self.reads = t.requests - t.writes
        self.window_reads = t.window - t.window_writes
        self.write_growth = 1.0 if self.is_whole else t.writes / t.window_writes
        self.read_growth = 1.0 if self.is_whole else self.reads / self.window_reads
        self.gap_s = t.window_duration_s / t.window
        # Requests within which there are writes.
        self.writes_end = min(t.requests, self.write_growth * t.window)

    def build(self) -> list[Group]:
        """All groups of objects."""
        if self.targets.shape:
            self.build_shape(self.targets.shape)
        else:
            self.build_published()
        return self.groups

    # Volumes whose popularity is published, or inferred as if it were.

    def build_published(self) -> None:
        t = self.targets
        growth = self.write_growth
        # Pages read and not written, in the window and in all; pages written.
        window_only_read = max(t.window_pages - t.window_written, 0.0)
        written = t.pages - max(
            t.pages - t.window_written * growth, window_only_read * t.pages / t.window_pages
        )
        written = max(written, t.pages - t.read_pages, t.window_written)
        if self.is_whole:
            written = t.window_written
        only_read = t.pages - written
        both = written + t.read_pages - t.pages
        if both < 0:
            raise ImpossibleError(
                "pages",
                f"{t.pages:.0f} are {-both:.0f} more than the written and the read ones make together",
            )
        if both > written:
            raise ImpossibleError("read_pages", f"{both - written:.0f} more than there are pages")
        lasting = (
            t.window_written if growth <= 1.001 else (growth * t.window_written - written) / (growth - 1)
        )
        known = Popularity(
            t.window_written,
            t.window_rewritten,
            t.window_page_writes,
            t.top_share,
            min(t.busiest, t.window_writes),
        )
        rungs = ladder(known, [] if self.is_whole else [lasting])
        placed = self.through(rungs, lasting)
        # The pages that are also read are among the less busy ones.
        body = [rung for rung, _ in placed if rung.kind not in {"peak", "top"}]
        share = both / sum(rung.pages for rung in body) if body else 0.0
        if share > 1:
            raise ImpossibleError(
                "read_pages", f"of the written pages {share:.2f} times those there are would be read"
            )
        reads_per_page = max(1.0, t.window_page_reads * self.read_growth / t.read_pages)
        mixed_reads = [min(reads_per_page, 1 + 0.5 * max(rung.uses - 1, 0)) for rung in body]
        mixed_page_reads = sum(
            rung.pages * share * reads for rung, reads in zip(body, mixed_reads, strict=True)
        )
        page_reads = t.window_page_reads * self.read_growth - mixed_page_reads
        if only_read > 0 and page_reads < only_read:
            raise ImpossibleError(
                "page_reads", f"{only_read - page_reads:.0f} too few to read each page that is read once"
            )
        write_large, read_large = self.large(t.window_page_reads * self.read_growth)
        seen = 0.0
        for (rung, births), reads in zip(
            placed, [0.0] * (len(placed) - len(body)) + mixed_reads, strict=True
        ):
            mixed = share if rung in body else 0.0
            for part, with_reads in ((1 - mixed, 0.0), (mixed, reads)):
                large = (0.0, 1.0) if rung.kind == "peak" else write_large
                seen += self.add_written(rung, part, with_reads, large, births)
        self.correct_size(read_large, page_reads, seen, only_read)
        self.add_bytes()

    def through(
        self, rungs: list[Rung], lasting: float
    ) -> list[tuple[Rung, list[tuple[float, float, float]]]]:
        """The rungs through the whole volume: some last, others are followed by others like them."""
        t = self.targets
        life = t.mean_s * t.window_page_writes / max(t.window_rewritten, 1) / self.gap_s
        self.body_life = life
        spread_to = min(max(2 * (1 - life / t.window), EARLY), 0.9) * self.window_share
        end = self.writes_end / t.requests
        found: list[tuple[Rung, list[tuple[float, float, float]]]] = []
        rank = 0.0
        for rung in rungs:
            if rung.kind in {"peak", "top"}:
                births = [(0.0, EARLY * self.window_share, 1.0)]
                rung.uses *= self.write_growth
            elif self.is_whole:
                births = [(0.0, spread_to if rung.kind == "body" else 0.999, 1.0)]
            elif rank + rung.pages <= lasting * 1.001:
                births = [(0.0, spread_to, 1.0)]
                if rung.kind != "once":
                    rung.uses *= self.write_growth
            else:
                early = 1 / self.write_growth
                tail = 1.0 if rung.kind == "once" else 1 - 0.3 * life / t.requests
                edge = self.window_share if rung.kind == "once" else spread_to
                births = [
                    (0.0, edge, early),
                    (self.window_share, max(end * tail, self.window_share + 0.01), 1 - early),
                ]
                rung.pages *= self.write_growth
                rung.kind = "passing" if rung.kind == "body" else rung.kind
            rank += rung.pages
            found.append((rung, births))
        return found

    def large(self, page_reads: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """Share of the pages in larger requests, and their pages each: of writes, and of reads."""
        t = self.targets
        page_writes = t.window_page_writes * self.write_growth
        mean_write = page_writes / t.writes
        mean_read = page_reads / self.reads
        for name, mean in (("page_writes", mean_write), ("page_reads", mean_read)):
            if mean < 1:
                raise ImpossibleError(name, f"{1 - mean:.2f} pages too few for each request")
        # As large a share of the reads as of the writes is of several pages. Inferred.
        read_share = min(max(t.multiple_share, (mean_read - 1) / 127, 0.01), 0.95, (mean_read - 1) / 1.05)
        read_share = max(read_share, 0.01)
        read_pages = max(1 + (mean_read - 1) / read_share, 2.0)
        multiple = t.multiple_share * t.requests - read_share * self.reads
        # The busiest page is written by itself.
        busiest = min(t.busiest, t.window_writes) * self.write_growth
        mean_write = (page_writes - busiest) / max(t.writes - busiest, 1.0)
        write_share = min(max(multiple / (t.writes - busiest), 0.05), 0.95, (mean_write - 1) / 1.05)
        write_share = max(write_share, 0.01)
        write_pages = max(1 + (mean_write - 1) / write_share, 2.0)
        # Reads of written pages are as large as their writes: what is only read may have to be larger.
        return (
            (write_share * write_pages / mean_write, write_pages),
            (read_share * read_pages / mean_read, read_pages),
        )

    def add_written(
        self,
        rung: Rung,
        part: float,
        reads: float,
        large: tuple[float, float],
        births: list[tuple[float, float, float]],
    ) -> float:
        """Objects of one rung, small and large; returns the read requests that they take."""
        t = self.targets
        late = births[0][1]
        life = {
            "peak": FILLED * (self.writes_end - late * t.requests),
            "top": FILLED * (self.writes_end - late * t.requests),
            "once": 0.3 * t.window,
            "passing": min(self.body_life, 0.6 * t.requests),
        }.get(rung.kind, min(self.body_life * self.write_growth, 2.0 * self.writes_end))
        share, pages = large
        seen = 0.0
        for pages_each, of_pages in ((1.0, 1 - share), (pages, share)):
            count = rung.pages * part * of_pages / pages_each
            if count < 0.5:
                continue
            uses = rung.uses + reads
            kind = rung.kind if not reads else rung.kind + "-read"
            self.groups.append(
                Group("read" if reads else "write", count, pages_each, uses, reads, births, life, kind)
            )
            seen += count * reads
        return seen

    def correct_size(
        self, large: tuple[float, float], page_reads: float, seen: float, only_read: float
    ) -> None:
        """What is only read, and read again: as many requests as are left."""
        t = self.targets
        requests = self.reads - seen
        if only_read <= 0:
            return
        mean = page_reads / max(requests, 1.0)
        if mean < 1.0:
            # Fewer pages cannot be: the small ones among the reads of written pages take what is missing.
            mean = 1.0
        pages = max(large[1], mean * 1.05, 2.0)
        share = min(max((1 - 1 / mean) / (1 - 1 / pages), 0.0), 1.0)
        often = page_reads / only_read
        again = min(0.6, (often - 1) / 2)
        window_part = min(
            max((t.window_pages - t.window_written) / only_read, 0.01) if not self.is_whole else 1.0, 0.99
        )
        births = [(0.0, 0.999, 1.0)]
        if not self.is_whole:
            edge = self.window_share
            births = [(0.0, edge, window_part), (edge, 0.999, 1 - window_part)]
        rungs = [(1 - again, 1.0, "scan")]
        if again > 0.001:
            extra = (often - 1) / again
            rungs += [
                (0.9 * again, 1 + extra * 0.5 / 0.9, "again"),
                (0.1 * again, 1 + extra * 0.5 / 0.1, "often"),
            ]
        for of_pages, uses, kind in rungs:
            for pages_each, part in ((1.0, 1 - share), (pages, share)):
                count = only_read * of_pages * part / pages_each
                if count >= 0.5:
                    early = [(low, min(high, 0.95), part) for low, high, part in births]
                    self.groups.append(
                        Group(
                            "read",
                            count,
                            pages_each,
                            uses,
                            uses,
                            births if kind == "scan" else early,
                            READ_LIFE * t.requests,
                            kind,
                        )
                    )

    def add_bytes(self) -> None:
        """Larger writes after the window, where the whole has more bytes than the window leads to expect."""
        t = self.targets
        if t.bytes is None:
            return
        pages, uses = 16.0, 200.0
        mean = sum(group.count * group.uses * group.pages for group in self.groups) * PAGE_BYTES * t.fill
        missing = t.bytes - mean
        tops = [group for group in self.groups if group.kind == "top" and group.op == "write"]
        written = sum(group.count * group.uses * group.pages for group in tops)
        requests = sum(group.count * group.uses for group in tops)
        each = pages * PAGE_BYTES - written / requests * PAGE_BYTES * t.fill
        moved = missing / each
        if not 0 <= moved < 0.5 * requests:
            raise ImpossibleError(
                "bytes", f"{missing:.4g} bytes cannot be made up for after the first requests"
            )
        for group in tops:
            group.uses *= 1 - moved / requests
        begin = self.window_share
        births = [(begin, begin + 0.2, 1.0)]
        self.groups.append(
            Group("write", moved / uses, pages, uses, 0.0, births, 0.7 * (1 - begin) * t.requests, "late")
        )

    # Volumes of which only the shape of the hot sets is given.

    def build_shape(self, shape: dict[str, float]) -> None:
        """Hot and cold reads and writes: what is written hot is read hot too; cold pages are apart."""
        t = self.targets
        hot_reads, hot_writes = shape["hot_read_pages"] * t.pages, shape["hot_write_pages"] * t.pages
        cold_read_pages, cold_write_pages = t.read_pages - hot_reads, t.pages - t.read_pages
        for name, pages in (
            ("hot_read_pages", cold_read_pages),
            ("read_pages", cold_write_pages),
            ("hot_write_pages", hot_reads - hot_writes),
        ):
            if pages < 0:
                raise ImpossibleError(name, f"{-pages:.0f} more pages than there are")
        hot = {}
        for op, requests, page_accesses, cold, cold_share in (
            ("read", self.reads, t.window_page_reads, cold_read_pages, shape["cold_reads"]),
            ("write", t.writes, t.window_page_writes, cold_write_pages, shape["cold_writes"]),
        ):
            cold_requests = requests * cold_share
            cold_mean = max(cold / cold_requests, 1.0)
            again = max(cold_requests / (cold / cold_mean), 1.0)
            self.groups.append(
                Group(
                    op,
                    cold / cold_mean,
                    cold_mean,
                    again,
                    again if op == "read" else 0.0,
                    [(0.0, 0.999 if again < 1.5 else 0.6, 1.0)],
                    0.35 * t.requests,
                    "scan" if op == "read" and again < 1.5 else "once",
                )
            )
            pages = hot_reads if op == "read" else hot_writes
            hot[op] = HotUses(op, requests - cold_requests, page_accesses - cold * again, pages)
        self.add_hot(hot["read"], hot["write"])

    def add_hot(self, reads: HotUses, writes: HotUses) -> None:
        """Add pages that are read hot; writes go to the busiest of them.

        A power law of slope 0.6 each, in four steps. Inferred.
        """
        early = [(0.0, EARLY, 1.0)]
        life = FILLED * (1 - EARLY) * self.targets.requests
        size = max(1.8 * reads.mean, 2.0)
        large = {uses.op: min(uses.share_of(size), 1.0) for uses in (reads, writes)}
        curves = {uses.op: uses.curve(int(reads.pages)) for uses in (reads, writes)}
        ranks = int(reads.pages)
        edges = [0, *(int(ranks * part) for part in (0.02, 0.1, 0.35)), ranks]
        for begin, end in zip(edges, edges[1:], strict=False):
            if end <= begin:
                continue
            here = reads.pages * (end - begin) / ranks
            read, written = (float(curves[op][begin:end].mean()) for op in ("read", "write"))
            for pages_each, of_reads, of_writes in (
                (1.0, 1 - large["read"], 1 - large["write"]),
                (size, large["read"], large["write"]),
            ):
                count = here * of_reads / pages_each
                if count >= 0.5:
                    # Fewer of the writes are large than of the reads.
                    uses = read + written * of_writes / of_reads
                    self.groups.append(Group("read", count, pages_each, uses, read, early, life, "hot"))


@dataclass
class HotUses:
    """Reads, or writes, of what is hot."""

    op: str
    requests: float
    page_accesses: float
    pages: float

    @property
    def mean(self) -> float:
        """Pages of a request."""
        return self.page_accesses / self.requests

    def share_of(self, size: float) -> float:
        """Which share of the page accesses are requests of that size, if the others are of one page."""
        if self.mean < 1:
            raise ImpossibleError(
                f"mean_{self.op}_bytes", f"{1 - self.mean:.2f} pages too few for each hot request"
            )
        return (1 - 1 / self.mean) / (1 - 1 / size)

    def curve(self, ranks: int) -> Any:
        """Accesses of each page, the busiest first; those beyond the pages have none."""
        used = max(int(self.pages), 8)
        curve = np.zeros(max(ranks, used))
        curve[:used] = np.arange(1, used + 1, dtype=float) ** -0.6
        return curve * (self.page_accesses / curve.sum())


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
    again = [group for group in groups if group.uses > 1]
    written = [group for group in again if group.op == "write" or group.reads < group.uses]
    rows = [
        Row(
            max((group.uses - group.reads - 1), 0.02) * group.count * group.pages,
            max(group.life / max(group.uses - 1, 1.0), 1.5),
        )
        for group in written
    ]
    if t.shape:
        even = np.full(len(grid), 1.0)
        laws = [tilted(even, grid, row.mean) for row in rows]
    else:
        q50, q90, q99 = t.quantiles_s
        laws = (
            spread(rows, (q50 / gap_s, q90 / gap_s, q99 / gap_s), t.within, float(t.requests)) if rows else []
        )
    by_group = {id(group): law for group, law in zip(written, laws, strict=True)}
    made: list[dict[str, Any]] = []
    for group in groups:
        count = int(group.count)
        total = round(count * group.uses)
        label = 1 << max(int(np.log2(max(total / count, 1.0))), 0)
        lag = group.life / max(group.uses - 1, 1.0) if group.uses > 1 else 0.0
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
        if total > count:
            mean = max(lag, 1.5)
            chosen = by_group.get(id(group))
            if chosen is None:
                chosen = tilted(np.full(len(grid), 1.0), grid, mean)
            law["ops"] = operations(group)
            lags = quantiles_of(chosen, grid, mean, total - count)
            law["parts"] = [{"part": "whole", "after": [["whole", 1]], "lags": lags}]
        made.append(law)
    settle_total(made, round(t.requests))
    return made


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
    runs = [{"op": op, "ends": [[1, 1]]} for op in ("read", "write") if op in kinds]
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
        "addresses": {"span": f"{span // 1024}KiB", "continues": "again", "phases": [[0, 1]]},
        "arrivals": arrivals(round(t.requests), t.anchors),
        "runs": runs,
        "objects": made,
    }


__all__ = ["Targets", "bisect", "profile_of"]
