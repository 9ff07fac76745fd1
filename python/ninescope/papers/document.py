"""From what runs of papers left behind to a report: `ninescope.report` shows it.

Nothing here simulates or judges; it reads `report.json` and, where there is one, `sensitivity.json`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ninescope._native import ConfigError
from ninescope.causes import look, stacking_order
from ninescope.figures import Figure
from ninescope.papers import record, sensitivity
from ninescope.papers.judge import HOLDS, NOT_JUDGED, NOT_REPRODUCED, VERDICTS
from ninescope.report.document import (
    AttributionBand,
    AttributionBlock,
    Block,
    Cell,
    CheckLine,
    ClaimLine,
    Claims,
    Details,
    Document,
    Facts,
    FigureBlock,
    Notes,
    Part,
    Section,
    TableBlock,
    Text,
)

GRADES = ("exact", "quantitative", "ordering")
_SMALL_SHARE = 0.01
_FEW_VALUES = 4
Stored = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class _Paper:
    """What is stored of one paper."""

    found: Stored
    swings: Stored | None

    @property
    def id(self) -> str:
        return str(self.found["paper"]["id"])

    @property
    def claims(self) -> Sequence[Stored]:
        claims: Sequence[Stored] = self.found["claims"]
        return claims

    @property
    def fragile(self) -> list[str]:
        return [claim["id"] for claim in (self.swings or {}).get("claims", []) if claim["fragile"]]


def is_of_papers(folder: Path) -> bool:
    """Say whether a folder is what `papers run --out` wrote: of one paper, or of several in sub-folders."""
    return bool(_folders(folder))


def of_folder(folder: Path) -> Document:
    """Make a report of the output folder of `papers run --out`."""
    folders = _folders(folder)
    if not folders:
        raise ConfigError(f"{folder}: there is no {record.FILE} here, nor in its folders")
    papers = [_Paper(record.read(one), sensitivity.read(one)) for one in folders]
    return _of_one(papers[0]) if folders == [folder] else _of_all(papers)


def _folders(folder: Path) -> list[Path]:
    if (folder / record.FILE).is_file():
        return [folder]
    if not folder.is_dir():
        return []
    return [one for one in sorted(folder.iterdir()) if one.is_dir() and (one / record.FILE).is_file()]


# ---- documents -----------------------------------------------------------------------------------------


def _of_one(paper: _Paper) -> Document:
    words = paper.found["paper"]
    sections = [Section(kind, title, blocks) for kind, title, blocks in _parts(paper, prefix="") if blocks]
    return Document(
        title=words["title"],
        subtitle=f"Paper {paper.id}: {words['citation']}",
        lead=[_score([paper]), *_caveats(paper)],
        sections=sections,
        facts=_foot([paper]),
    )


def _of_all(papers: Sequence[_Paper]) -> Document:
    sections = [Section("summary", "Summary", [_by_paper(papers), _by_grade(papers), *_open(papers)])]
    for paper in papers:
        parts = [
            Section(f"paper-{paper.id}.{kind}", title, blocks)
            for kind, title, blocks in _parts(paper, prefix=f"{paper.id}-")
            if blocks
        ]
        words = paper.found["paper"]
        opening: list[Block] = [Text([words["citation"] + "."]), _score([paper]), *_caveats(paper)]
        sections.append(Section(f"paper-{paper.id}", f"{paper.id}: {words['title']}", opening, parts))
    return Document(
        title="Published designs on one simulator",
        subtitle=f"{len(papers)} papers, every claim derived anew by simulation and judged",
        lead=[_score(papers), Text([_ABSTRACT])],
        sections=sections,
        facts=_foot(papers),
    )


_ABSTRACT = (
    "Each claim is judged by a rule that was written down before, from values that simulations came to in "
    "processes which cannot read what was published. A claim that is not reproduced stays here with its "
    "cause. What is published stands beside what was measured, dashed or hollow in figures."
)


def _score(papers: Sequence[_Paper]) -> Facts:
    claims = [claim for paper in papers for claim in paper.claims]
    rows = [(verdict, f"{_count(claims, verdict)} of {len(claims)}") for verdict in VERDICTS]
    examined = [paper for paper in papers if paper.swings is not None]
    if examined:
        rows.append(("fragile", str(sum(len(paper.fragile) for paper in examined))))
    modes = " and ".join(dict.fromkeys(paper.found["mode"] for paper in papers))
    return Facts([*rows, ("run", modes)], headline=True)


def _count(claims: Sequence[Stored], verdict: str) -> int:
    return sum(claim["verdict"] == verdict for claim in claims)


def _caveats(paper: _Paper) -> list[Block]:
    caveats = paper.found["paper"].get("caveats", [])
    return [Notes(caveats)] if caveats else []


def _by_paper(papers: Sequence[_Paper]) -> TableBlock:
    rows = []
    for paper in papers:
        words = [_words_of_fragile(paper)]
        counts = [str(_count(paper.claims, verdict)) for verdict in VERDICTS]
        rows.append([paper.id, paper.found["paper"]["title"], str(len(paper.claims)), *counts, *words])
    every = [claim for paper in papers for claim in paper.claims]
    fragile = sum(len(paper.fragile) for paper in papers)
    rows.append(["all", "", str(len(every)), *(str(_count(every, one)) for one in VERDICTS), str(fragile)])
    return TableBlock("By paper", ["paper", "about", "claims", *VERDICTS, "fragile"], rows, note=_FRAGILE)


_FRAGILE = (
    "Fragile: a quantitative claim that holds as some value was chosen that the paper does not give, and "
    "neither for half of that value nor for half as much again."
)


def _words_of_fragile(paper: _Paper) -> str:
    if paper.swings is None:
        return "not examined"
    return ", ".join(paper.fragile) or "none"


def _by_grade(papers: Sequence[_Paper]) -> TableBlock:
    rows = []
    for grade in GRADES:
        claims = [claim for paper in papers for claim in paper.claims if claim["grade"] == grade]
        rows.append([grade, str(len(claims)), *(str(_count(claims, verdict)) for verdict in VERDICTS)])
    return TableBlock("By grade", ["grade", "claims", *VERDICTS], rows)


def _open(papers: Sequence[_Paper]) -> list[Block]:
    """List all claims in one table: the proof at a glance."""
    rows: list[list[str | Cell]] = []
    for paper in papers:
        for claim in paper.claims:
            rows.append(
                [
                    claim["id"],
                    claim["statement"],
                    published_words(claim["published"]),
                    measured_words(claim),
                    Cell(claim["verdict"], verdict=claim["verdict"], title=claim["cause"]),
                ]
            )
    return [TableBlock("All claims", ["claim", "statement", "published", "measured", "verdict"], rows)]


def _foot(papers: Sequence[_Paper]) -> list[tuple[str, str]]:
    facts = []
    for label, values in (
        ("ninescope", [paper.found["manifest"]["ninescope"] for paper in papers]),
        ("seed", [str(paper.found["seed"]) for paper in papers]),
        ("build", [paper.found["manifest"]["build"] for paper in papers]),
    ):
        facts.append((label, ", ".join(dict.fromkeys(values))))
    facts.append(("digest", ", ".join(f"{paper.id} {paper.found['digest']}" for paper in papers)))
    return facts


# ---- parts of one paper --------------------------------------------------------------------------------


def _parts(paper: _Paper, prefix: str) -> Iterator[tuple[str, str, list[Block]]]:
    found = paper.found
    yield "claims", "Claims", [Claims("Claims", [_claim(claim) for claim in paper.claims])]
    figures: list[Block] = [
        FigureBlock(dataclasses.replace(figure, name=f"{prefix}{figure.name}", title=figure_title(figure)))
        for figure in map(record.figure, found["figures"])
    ]
    yield "figures", "Figures", figures
    attributions: list[Block] = [_attribution(one, prefix) for one in found.get("attributions", [])]
    yield "attribution", "Where the time went", attributions
    yield "tables", "Tables", [_table(table) for table in found["tables"]]
    yield "sensitivity", "Sensitivity", list(_sensitivity(paper))
    yield "provenance", "Provenance", list(_provenance(paper))


def figure_title(figure: Figure) -> str:
    """Return the title of a figure, with its number in the paper behind it: a report counts its own."""
    title = _NUMBERED.sub("", figure.title)
    number = figure.name.removeprefix("figure-")
    return f"{title} (figure {number} of the paper)" if number.isdecimal() else title


def table_title(title: str) -> str:
    """Return the title of a table, with its number in the paper behind it."""
    number = _NUMBERED.match(title)
    return f"{title[number.end() :]} ({number[1].lower()} of the paper)" if number else title


_NUMBERED = re.compile(r"((?:Figure|Table) \d+)[:.] *")


def _claim(claim: Stored) -> ClaimLine:
    return ClaimLine(
        id=claim["id"],
        grade=claim["grade"],
        statement=claim["statement"],
        published=published_words(claim["published"]),
        measured=measured_words(claim),
        verdict=claim["verdict"],
        cause=claim["explanation"] or claim["cause"] if claim["verdict"] != HOLDS else "",
        source=claim["source"],
        details=[
            CheckLine(check["text"], ", ".join(check["measured"]), check["verdict"], check["cause"])
            for check in claim["checks"]
        ],
    )


def published_words(published: Any) -> str:
    """Write what was published."""
    return ", ".join(map(str, published)) if isinstance(published, list) else str(published)


def measured_words(claim: Stored) -> str:
    """Write what was measured, in short where it is much."""
    checks = claim["checks"]
    values = dict.fromkeys(value for check in checks for value in check["measured"])
    if len(values) <= _FEW_VALUES:
        return ", ".join(values)
    held = sum(check["verdict"] == HOLDS for check in checks)
    return f"{held} of {len(checks)} checks hold, {claim['needed']} have to"


def _table(table: Stored) -> TableBlock:
    published = table.get("published")
    rows: list[list[str | Cell]] = []
    for number, row in enumerate(table["rows"]):
        words = [_cell(cell) for cell in row]
        beside = published[number] if published else [""] * len(words)
        rows.append(
            [
                Cell(word, published=other) if other else word
                for word, other in zip(words, beside, strict=True)
            ]
        )
    note = table["note"]
    if published:
        note = f"{note}{'. ' if note else ''}Published: {table['source']}"
    return TableBlock(table_title(table["title"]), list(table["columns"]), rows, note=note)


def _cell(cell: Any) -> str:
    if cell is None:
        return "-"
    return f"{cell:,.4g}" if isinstance(cell, float) else str(cell)


def _attribution(stored: Stored, prefix: str) -> AttributionBlock:
    rows = [(name, count, dict(parts)) for name, count, parts in stored["rows"]]
    worth = stacking_order(
        cause
        for cause in dict.fromkeys(cause for _, _, parts in rows for cause in parts)
        if any(parts.get(cause, 0) > _SMALL_SHARE * sum(parts.values()) for _, _, parts in rows)
    )
    bands = []
    for name, count, parts in rows:
        shown = {look(cause).label: parts.get(cause, 0.0) for cause in worth}
        rest = sum(parts.values()) - sum(shown.values())
        bands.append(AttributionBand(name, count, sum(parts.values()), {**shown, _REST.name: rest}))
    known = [Part(look(cause).label, look(cause).colour) for cause in worth]
    return AttributionBlock(
        f"{prefix}{stored['name']}", stored["title"], bands, [*known, _REST], note=stored["note"]
    )


_REST = Part("everything else", "#bbbbbb", "what took less than a hundredth in all of them")


def _sensitivity(paper: _Paper) -> Iterator[Block]:
    inferred = paper.found["inferred"]
    if inferred:
        rows = [[one["name"], one["value"], one["why"]] for one in inferred]
        yield TableBlock("What the paper does not give", ["value", "as chosen", "why"], rows)
    swings = paper.swings
    if swings is None:
        yield Text(["No run has varied these values (`ninescope papers sensitivity`)."])
        return
    yield Text(
        [
            "Each of them was halved and made half as large again, one at a time, in a quick run, and the "
            "quantitative claims were judged again. A cell says the verdict at -50 % and at +50 %, and by "
            "how much a value of the claim changed at most."
        ]
    )
    if swings["build"] != paper.found["manifest"]["build"]:
        yield Notes(["The values were varied with another build than that of the claims above."])
    names = [one["name"] for one in swings["inferred"]]
    rows_of_claims: list[list[str | Cell]] = []
    for claim in swings["claims"]:
        verdict = claim["chosen"]["verdict"]
        cells = [_swing(swing) for swing in claim["varied"]]
        rows_of_claims.append([claim["id"], Cell(verdict, verdict=verdict), *cells])
    yield TableBlock("Verdicts with values varied", ["claim", "as chosen", *names], rows_of_claims)
    yield TableBlock(
        "What that comes to",
        ["claim", "statement", "finding"],
        [[claim["id"], claim["statement"], claim["words"]] for claim in swings["claims"]],
    )


_SHORT = {HOLDS: "holds", NOT_REPRODUCED: "fails", NOT_JUDGED: "open"}


def _swing(swing: Stored) -> Cell:
    outcomes = list(swing["outcomes"].values())
    words = " / ".join(_SHORT[outcome["verdict"]] for outcome in outcomes)
    return Cell(f"{words}, {swing['change']:.0%}")


def _provenance(paper: _Paper) -> Iterator[Block]:
    found = paper.found
    manifest = found["manifest"]
    rows = [
        ("mode", found["mode"]),
        ("seed", str(found["seed"])),
        ("digest of all runs", found["digest"]),
        ("ninescope", manifest["ninescope"]),
        ("build", manifest["build"]),
        ("commit", manifest["commit"] or "unknown"),
        ("machine", manifest["machine"]),
        ("processor time of all runs", f"{manifest['busy_seconds']:,.0f} s"),
        ("runs", f"{len(found['runs']):,}"),
    ]
    yield Facts(rows)
    if found["runs"]:
        table = TableBlock(
            "Runs",
            ["run", "digest", "requests", "hash of the workload", "hash of the configuration"],
            [
                [name, digest, f"{requests:,}", workload[:16], config]
                for name, digest, workload, config, requests in found["runs"]
            ],
        )
        yield Details(f"{len(found['runs']):,} runs, each with its digest", [table])
