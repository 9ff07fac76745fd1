"""A report as data: sections of blocks, without saying how any of them is shown.

`ninescope.report.html` writes a document as one HTML file. Whoever makes a document knows no HTML, and
nothing here knows results or papers.

Texts are plain text in which `code` stands between backquotes. Nothing else in them means anything: names of
files, traces and jobs may go in as they are (a backquote in a name: see `literal`).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence

from ninescope.figures import Figure

_ID = re.compile(r"[a-z][a-z0-9.-]*\Z")


def literal(text: str) -> str:
    """Return a text in which no backquote means code."""
    return text.replace("`", "'")


@dataclasses.dataclass(frozen=True)
class Text:
    """Paragraphs."""

    paragraphs: Sequence[str]


@dataclasses.dataclass(frozen=True)
class Facts:
    """What is known, as a list of a label and a text each."""

    rows: Sequence[tuple[str, str]]
    headline: bool = False
    """The few numbers that a reader came for: shown large, side by side."""


@dataclasses.dataclass(frozen=True)
class Cell:
    """A cell of a table with more to it than its text."""

    text: str
    under: str = ""
    """What stands small under it: an interval."""
    published: str = ""
    """What the paper has there: shown small under ours, and called so."""
    verdict: str = ""
    """"holds", "not reproduced", "not judged", or any other word: a badge, alone where it is the text too."""
    title: str = ""
    """What is behind it: shown on demand, and read out."""
    faint: bool = False
    """It is of little weight: too few samples, say."""
    link: str = ""
    """An anchor of this document that it leads to."""


@dataclasses.dataclass(frozen=True)
class TableBlock:
    """A table. Its first column heads the rows; columns of numbers stand flush right by themselves."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    note: str = ""
    stacked: bool = False
    """Where there is no room for its columns, each row becomes a small block; else the table scrolls."""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.title!r}: {len(self.columns)} columns and {len(row)} cells")


@dataclasses.dataclass(frozen=True)
class FigureBlock:
    """A figure; names of figures are unique in a document."""

    figure: Figure


@dataclasses.dataclass(frozen=True)
class Part:
    """A cause that time went to."""

    name: str
    """How it is called."""
    colour: str
    meaning: str = ""
    """What the request waited for, as the end of a sentence about it."""


@dataclasses.dataclass(frozen=True)
class AttributionBand:
    """Requests of one slice of the distribution, or of one configuration, and where their time went."""

    name: str
    """`p99-p99.9`."""
    count: int
    mean_ns: float
    parts_ns: Mapping[str, float]
    """Mean time by the name of the part; the sum is `mean_ns`."""
    lower_ns: float | None = None
    upper_ns: float | None = None


@dataclasses.dataclass(frozen=True)
class AttributionBlock:
    """Where the time of several bands went: a bar for each band, its parts in the order of `parts`."""

    name: str
    """Unique in the document: `attribution-read`."""
    title: str
    bands: Sequence[AttributionBand]
    parts: Sequence[Part]
    note: str = ""

    def __post_init__(self) -> None:
        known = {part.name for part in self.parts}
        for band in self.bands:
            for name in band.parts_ns:
                if name not in known:
                    raise ValueError(f"attribution {self.name!r}: part {name!r} is not listed")


@dataclasses.dataclass(frozen=True)
class Span:
    """A time in which one thing was so: a bar of a lane."""

    from_ns: int
    until_ns: int
    part: str
    """The name of the part that gives it its colour."""
    what: str
    """`erase block 17 (loop 3 of 4)`."""
    low: bool = False
    """It is a phase of what lies above it, and has the lower part of the lane."""


@dataclasses.dataclass(frozen=True)
class Lane:
    """What happened in one place, by time: a request, a die, a channel."""

    name: str
    spans: Sequence[Span]


@dataclasses.dataclass(frozen=True)
class View:
    """Lanes over a stretch of time."""

    name: str
    """`read #14202`."""
    what: str
    """What is to be known of it, as a sentence."""
    from_ns: int
    until_ns: int
    """From where to where it is shown at first."""
    zero_ns: int
    """Times are told from here on."""
    lanes: Sequence[Lane]


@dataclasses.dataclass(frozen=True)
class GanttBlock:
    """Views of which one is shown, and zoomed into; there is at least one."""

    name: str
    """Unique in the document: `ways`."""
    title: str
    views: Sequence[View]
    parts: Sequence[Part]
    note: str = ""

    def __post_init__(self) -> None:
        known = {part.name for part in self.parts}
        for view in self.views:
            for lane in view.lanes:
                for span in lane.spans:
                    if span.part not in known:
                        raise ValueError(f"Gantt {self.name!r}: part {span.part!r} is not listed")


@dataclasses.dataclass(frozen=True)
class CheckLine:
    """One of the checks behind a claim."""

    wanted: str
    """`write p99.99 of A: in 2 to 3`."""
    measured: str = ""
    verdict: str = ""
    cause: str = ""


@dataclasses.dataclass(frozen=True)
class ClaimLine:
    """A published claim and what became of it."""

    id: str
    grade: str
    """`exact`, `quantitative`, `ordering`."""
    statement: str
    published: str
    measured: str
    verdict: str
    """`holds`, `not reproduced`, `not judged`, `too short to say`."""
    cause: str = ""
    """Why it does not hold; or what has to be known where it does."""
    source: str = ""
    """Where in the paper it stands."""
    details: Sequence[CheckLine] = ()
    anchor: str = ""
    """What links lead to; unique in the document."""
    mark: str = ""
    """`calibrated`, `predicted`; empty where that is not known."""


@dataclasses.dataclass(frozen=True)
class Claims:
    """Claims with their verdicts: a line each that unfolds to its checks, and a count above them."""

    title: str
    claims: Sequence[ClaimLine]
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Details:
    """Blocks folded away behind a line."""

    summary: str
    blocks: Sequence[Block]


@dataclasses.dataclass(frozen=True)
class Notes:
    """Caveats: what a reader of these numbers must know."""

    notes: Sequence[str]
    warning: bool = False
    """They weaken what the report says: an interrupted run."""


@dataclasses.dataclass(frozen=True)
class Source:
    """Text to be read as it is, line by line: a configuration."""

    text: str
    title: str = ""
    """What it is, for whoever cannot see it: `resolved configuration, TOML`."""


Block = (
    Text
    | Facts
    | TableBlock
    | FigureBlock
    | AttributionBlock
    | GanttBlock
    | Claims
    | Details
    | Notes
    | Source
)


@dataclasses.dataclass(frozen=True)
class Section:
    """A part of a document under a heading of its own, in the list of contents."""

    id: str
    """Unique in the document; the anchor of links to it: `latency`, `paper-002.claims`."""
    title: str
    blocks: Sequence[Block] = ()
    subsections: Sequence[Section] = ()
    """One level of them, each with blocks alone."""

    def __post_init__(self) -> None:
        if not _ID.match(self.id):
            raise ValueError(f"section {self.id!r}: an id is made of a-z, 0-9, dots and hyphens")
        if any(section.subsections for section in self.subsections):
            raise ValueError(f"section {self.id!r}: sections of subsections are too deep")


@dataclasses.dataclass(frozen=True)
class Document:
    """A report."""

    title: str
    subtitle: str
    sections: Sequence[Section]
    facts: Sequence[tuple[str, str]] = ()
    """What stands at its foot: version, digest, seed."""
    lead: Sequence[Block] = ()
    """What comes before the first section: an abstract, headline facts, warnings."""

    def __post_init__(self) -> None:
        for what, names in (
            ("section", [section.id for section in self.all_sections()]),
            ("figure", list(self.figure_names())),
        ):
            for index, name in enumerate(names):
                if name in names[:index]:
                    raise ValueError(f"two {what}s of the document are called {name!r}")

    def all_sections(self) -> Iterator[Section]:
        """Go through all sections, each before its subsections."""
        for section in self.sections:
            yield section
            yield from section.subsections

    def blocks(self) -> Iterator[Block]:
        """Go through all blocks, folded ones included, in reading order."""
        yield from _unfolded(self.lead)
        for section in self.all_sections():
            yield from _unfolded(section.blocks)

    def figure_names(self) -> Iterator[str]:
        """Go through the names of figures, attributions and Gantts."""
        for block in self.blocks():
            if isinstance(block, FigureBlock):
                yield block.figure.name
            elif isinstance(block, AttributionBlock | GanttBlock):
                yield block.name


def _unfolded(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        if isinstance(block, Details):
            yield from _unfolded(block.blocks)
