"""From numbers about a volume to objects with uses of their own.

The numbers are those of a *window*, the first requests of the volume, of which most is published, and of the
whole. Where the window is the whole both are the same. What a profile says of the objects is not known here
(`classes.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from ladder import Popularity, Rung, bisect, ladder
from problem import ImpossibleError

PAGE_BYTES = 4096
# Of the room that objects have, what their uses fill on average.
FILLED = 0.95
# Objects of the busiest hundredth of the pages are all there by this share of the trace.
EARLY = 0.02
# How long what is only read is read again, as a share of the trace, where no miss ratio is known. Inferred.
READ_LIFE = 0.12
# Of what is only read, the part that is read again at most, and how much of that goes to the busiest tenth.
# Inferred.
READ_AGAIN, READ_OFTEN = 0.6, 0.5
# Of pages that are used alike, as many lie in large objects at most.
LARGE_AT_MOST = 0.95


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
    # Of what is only read, the part that is read again at most, and how much of that the busiest tenth has.
    read_again: float = READ_AGAIN
    read_often: float = READ_OFTEN
    # Hot and cold sets as chosen, instead of published popularity.
    shape: dict[str, float] | None = None
    # Sizes of LRU caches, as parts of all first addresses, and what they miss; shares of the further uses
    # that are to come within the distances that follow.
    lru: list[tuple[float, float]] = field(default_factory=list)
    lru_within: tuple[float, ...] = ()
    # What is used so many times as often is this power of it as likely to be used in larger requests.
    size_slope: float = 0.0
    # By operation, the share of the objects that are used together with the one that was new before, behind
    # which they lie.
    close: dict[str, float] | None = None


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

    @property
    def only_read(self) -> bool:
        """Whether it is never written."""
        return self.op == "read" and self.reads >= self.uses


def lean(groups: list[Group], slope: float) -> None:
    """Move pages between the small and the large objects that are used alike; their requests stay as many.

    With a slope above 0 busy pages are used in larger requests and idle ones in smaller ones, so that there
    are more objects.
    """
    if not slope:
        return
    pairs = [
        (small, large)
        for small, large in pairwise(groups)
        if (small.kind, small.uses, small.births) == (large.kind, large.uses, large.births)
        and small.pages < large.pages
    ]
    pages = [small.count * small.pages + large.count * large.pages for small, large in pairs]
    shares = [large.count * large.pages / there for (_, large), there in zip(pairs, pages, strict=True)]

    def leant(level: float) -> list[float]:
        raised = ((small.uses / level) ** slope for small, _ in pairs)
        return [min(share * factor, LARGE_AT_MOST) for share, factor in zip(shares, raised, strict=True)]

    def spared(found: list[float]) -> float:
        """Requests that the large ones spare."""
        return sum(
            there * share * small.uses * (1 / small.pages - 1 / large.pages)
            for (small, large), there, share in zip(pairs, pages, found, strict=True)
        )

    level = math.exp(bisect(lambda level: spared(leant(math.exp(level))), spared(shares), -10.0, 20.0))
    for (small, large), there, share in zip(pairs, pages, leant(level), strict=True):
        small.count, large.count = there * (1 - share) / small.pages, there * share / large.pages


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
            for is_read in (False, True):
                lean([group for group in self.groups if group.only_read == is_read], self.targets.size_slope)
        return self.groups

    # Volumes whose popularity is published, or inferred as if it were.

    def build_published(self) -> None:
        """Objects by the rungs of the published popularity, and reads beside them."""
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
        again = min(t.read_again, (often - 1) / 2)
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
                (0.9 * again, 1 + extra * (1 - t.read_often) / 0.9, "again"),
                (0.1 * again, 1 + extra * t.read_often / 0.1, "often"),
            ]
        for of_pages, uses, kind in rungs:
            if of_pages <= 0:
                continue
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
            hot[op] = HotUses(
                op, requests - cold_requests, page_accesses - cold * again, pages, shape["hot_slope"]
            )
        self.add_hot(hot["read"], hot["write"])

    def add_hot(self, reads: HotUses, writes: HotUses) -> None:
        """Add pages that are read hot; writes go to the busiest of them.

        A power law each, in four steps.
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
    # Popularity falls by this power of the rank.
    slope: float

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
        curve[:used] = np.arange(1, used + 1, dtype=float) ** -self.slope
        return curve * (self.page_accesses / curve.sum())
