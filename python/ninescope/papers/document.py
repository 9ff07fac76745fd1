"""From what runs of papers left behind to a report: `ninescope.report` shows it.

Nothing here simulates or judges; it reads `report.json` and, where there is one, `sensitivity.json`.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ninescope._native import ConfigError
from ninescope.papers import record, sensitivity
from ninescope.papers.claims import ORIGINS
from ninescope.papers.judge import HOLDS, NOT_JUDGED, NOT_REPRODUCED, OF_FULL_RUN, TOO_SHORT, VERDICTS
from ninescope.papers.record import figure_title, table_title
from ninescope.papers.report import full_run_words, real_traces_words
from ninescope.papers.values import PREDICTED
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
    Source,
    TableBlock,
    Text,
    literal,
)
from ninescope.text.causes import look, stacking_order

GRADES = ("exact", "quantitative", "ordering")
_SMALL_SHARE = 0.01
_FEW_VALUES = 6
"""So many values have room in a line of the table of claims."""
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
    def published(self) -> list[Stored]:
        """The claims that are the paper's."""
        return published_claims(self.claims)

    @property
    def fragile(self) -> list[str]:
        """The claims that hold, and would not with another value."""
        return fragile_claims(self.found, self.swings or {})[0]


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


def published_claims(claims: Sequence[Stored]) -> list[Stored]:
    """Leave out what was not published: claims of our own."""
    return [claim for claim in claims if claim.get("origin") != "ours"]


def own_claims(claims: Sequence[Stored]) -> list[Stored]:
    """Return the claims of our own."""
    return [claim for claim in claims if claim.get("origin") == "ours"]


def _score(papers: Sequence[_Paper]) -> Facts:
    """Count verdicts of published claims; those of our own stand beside them."""
    claims = [claim for paper in papers for claim in paper.published]
    columns = count_columns(claims)[1:]
    held = _count(claims, HOLDS)
    rows = [
        (column, f"{_of_column(claims, column)} of {held if column == _PREDICTED else len(claims)}")
        for column in columns
    ]
    if ours := [claim for paper in papers for claim in own_claims(paper.claims)]:
        rows.append(("of our own", f"{_count(ours, HOLDS)} of {len(ours)} hold"))
    examined = [paper for paper in papers if paper.swings is not None]
    if examined:
        rows.append(("fragile", _sum_of_fragile(papers)))
    modes = " and ".join(dict.fromkeys(paper.found["mode"] for paper in papers))
    return Facts([*rows, ("run", modes)], headline=True)


def _count(claims: Sequence[Stored], verdict: str) -> int:
    return sum(claim["verdict"] == verdict for claim in claims)


def _caveats(paper: _Paper) -> list[Block]:
    caveats = list(paper.found["paper"].get("caveats", []))
    if volumes := paper.found.get("real_traces"):
        caveats.insert(0, real_traces_words(volumes))
    return [Notes(caveats)] if caveats else []


def _by_paper(papers: Sequence[_Paper]) -> TableBlock:
    every = [claim for paper in papers for claim in paper.claims]
    counts = count_columns(published_claims(every))
    rows: list[list[str | Cell]] = []
    for paper in papers:
        name = Cell(paper.id, link=f"paper-{paper.id}")
        held = counted(paper.published, counts)
        rows.append([name, paper.found["paper"]["title"], *held, _words_of_fragile(paper)])
    rows.append(
        ["all", "published claims", *counted(published_claims(every), counts), _sum_of_fragile(papers)]
    )
    if ours := own_claims(every):
        named = ", ".join(claim["id"] for claim in ours)
        rows.append(["our own", f"not of a paper: {named}", *counted(ours, counts), ""])
    columns = ["paper", "about", *counts, "fragile"]
    note = f"{PREDICTED_NOTE} {_FRAGILE}" if _PREDICTED in counts else _FRAGILE
    return TableBlock("By paper", columns, rows, note=note, stacked=True)


def count_columns(claims: Sequence[Stored]) -> list[str]:
    """Name what a count shows: quick runs alone are too short for some claims, and old records mark none."""
    columns = [_CLAIMS, *VERDICTS]
    if not _count(claims, TOO_SHORT):
        columns.remove(TOO_SHORT)
    if any(claim.get("mark") for claim in claims):
        columns.insert(columns.index(HOLDS) + 1, _PREDICTED)
    return columns


def counted(claims: Sequence[Stored], columns: Sequence[str]) -> list[str]:
    """Count claims by `count_columns`."""
    return [str(_of_column(claims, column)) for column in columns]


def _of_column(claims: Sequence[Stored], column: str) -> int:
    if column == _CLAIMS:
        return len(claims)
    if column == _PREDICTED:
        return sum(claim["verdict"] == HOLDS and claim["mark"] == PREDICTED for claim in claims)
    return _count(claims, column)


_CLAIMS = "claims"
_PREDICTED = "of them predicted"
PREDICTED_NOTE = (
    "Predicted: no value or rule was chosen by the figure that a claim is judged by; the others are "
    "calibrated, and say that the mechanism can bring it about."
)


def _sum_of_fragile(papers: Sequence[_Paper]) -> str:
    examined = [paper for paper in papers if paper.swings is not None]
    if not examined:
        return "not examined"
    count = str(sum(len(paper.fragile) for paper in examined))
    return count if len(examined) == len(papers) else f"{count}, in {len(examined)} of {len(papers)} papers"


_FRAGILE = (
    "Fragile: a quantitative claim that holds as some value was chosen that the paper does not give, and "
    "neither for half of that value nor for half as much again."
)


def _words_of_fragile(paper: _Paper) -> str:
    if paper.swings is None:
        return "not examined"
    return fragile_words(paper.found, paper.swings)


def fragile_claims(found: Stored, swings: Stored) -> tuple[list[str], list[str]]:
    """Return what is fragile: claims that hold in a record, and those that do in short runs alone."""
    fragile = [claim["id"] for claim in swings.get("claims", []) if claim["fragile"]]
    held = {claim["id"] for claim in found["claims"] if claim["verdict"] == HOLDS}
    return [one for one in fragile if one in held], [one for one in fragile if one not in held]


def fragile_words(found: Stored, swings: Stored) -> str:
    """Say which claims of a paper are fragile."""
    hold, short = fragile_claims(found, swings)
    words = [", ".join(hold)] if hold else []
    words += [f"{', '.join(short)} (where they hold: in short runs)"] if short else []
    return "; ".join(words) or "none"


def _by_grade(papers: Sequence[_Paper]) -> TableBlock:
    counts = count_columns([claim for paper in papers for claim in paper.published])
    rows = []
    for grade in GRADES:
        claims = [claim for paper in papers for claim in paper.published if claim["grade"] == grade]
        rows.append([grade, *counted(claims, counts)])
    return TableBlock("Published claims by grade", ["grade", *counts], rows)


def _open(papers: Sequence[_Paper]) -> list[Block]:
    """List all claims in one table: the proof at a glance."""
    rows: list[list[str | Cell]] = []
    for paper in papers:
        for claim in paper.claims:
            rows.append(
                [
                    Cell(claim["id"], link=claim_anchor(claim)),
                    Cell(claim["statement"], under=under_words(claim)),
                    published_words(claim["published"]),
                    measured_words(claim),
                    Cell(
                        claim["verdict"],
                        verdict=claim["verdict"],
                        title=claim["cause"],
                        under=f"full run: {other}" if (other := claim.get("verdict_of_full_run")) else "",
                    ),
                ]
            )
    columns = ["claim", "statement", "published", "measured", "verdict"]
    return [TableBlock("All claims", columns, rows, stacked=True)]


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
    yield "configuration", "Configuration", list(_configuration(found))
    yield "provenance", "Provenance", list(_provenance(paper))


def claim_anchor(claim: Stored) -> str:
    """Return where a claim stands in the document."""
    return f"claim-{claim['id']}"


def origin_words(claim: Stored) -> str:
    """Say whose a claim is, where it is not simply the paper's."""
    return ORIGINS.get(claim.get("origin", "paper"), "")


def under_words(claim: Stored) -> str:
    """Say of a claim whether it is predicted, and whose it is."""
    return "; ".join(filter(None, (claim.get("mark", ""), origin_words(claim))))


def remark(claim: Stored) -> str:
    """Say why a claim does not hold; or by how little it does, and on what that rests."""
    other = claim.get("verdict_of_full_run")
    return " ".join(filter(None, (full_run_words(other) if other else "", _reason(claim))))


def _reason(claim: Stored) -> str:
    if claim["verdict"] == HOLDS:
        return str(claim.get("note", ""))
    explanation = str(claim["explanation"])
    # What was written about a full run does not say what a quick one measured.
    quick = explanation.startswith(OF_FULL_RUN)
    return str(claim["cause"]) if quick else explanation or str(claim["cause"])


def _claim(claim: Stored) -> ClaimLine:
    return ClaimLine(
        id=claim["id"],
        grade=claim["grade"],
        statement=claim["statement"],
        published=published_words(claim["published"]),
        measured=measured_words(claim),
        verdict=claim["verdict"],
        cause=remark(claim),
        source="; ".join(filter(None, (origin_words(claim), claim["source"]))),
        mark=claim.get("mark", ""),
        details=[
            CheckLine(check["text"], _values_of(check), check["verdict"], check["cause"])
            for check in claim["checks"]
        ],
        anchor=claim_anchor(claim),
    )


def _values_of(check: Stored) -> str:
    values = ", ".join(check["measured"])
    margin = check.get("margin")
    return values if margin is None else f"{values} ({margin:.1%} from its limit)"


def published_words(published: Any) -> str:
    """Write what was published."""
    return ", ".join(map(str, published)) if isinstance(published, list) else str(published)


def measured_words(claim: Stored) -> str:
    """Write what was measured, each value with its name, in short where it is much."""
    checks = claim["checks"]
    named: dict[str, tuple[str, str]] = {}
    for check in checks:
        # A record of an earlier version does not name them.
        paths = check.get("paths") or [f"{check['text']} {place}" for place in range(len(check["measured"]))]
        names = check.get("names") or [""] * len(paths)
        for path, name, value in zip(paths, names, check["measured"], strict=True):
            of = check.get("of", "")
            named.setdefault(path, (of, f"{name}{'' if of or not name else ':'} {value}".strip()))
    if len(named) > _FEW_VALUES:
        held = sum(check["verdict"] == HOLDS for check in checks)
        have_to = "" if claim["needed"] == len(checks) else f", {claim['needed']} have to"
        return f"{held} of {len(checks)} checks hold{have_to}"
    groups = itertools.groupby(named.values(), key=lambda one: one[0])
    return "; ".join(
        f"{of}: {words}" if of else words
        for of, words in ((of, ", ".join(words for _, words in group)) for of, group in groups)
    )


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
        note = f"{note.rstrip('.')}{'. ' if note else ''}Published: {table['source']}"
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


GIVEN_COLUMNS = ("value", "is", "source")
INFERRED_COLUMNS = ("value", "as chosen", "why", "calibrated on")
RULES_COLUMNS = ("rule", "calibrated on", "how")


MARKS_TITLE = "Calibrated or predicted, and why"
MARK_COLUMNS = ("claim", "is", "because")


def mark_rows(marks: Sequence[Stored]) -> list[list[str]]:
    """Tabulate why each claim is calibrated or predicted."""
    return [[one["claim"], one["mark"], one["because"]] for one in marks]


def given_rows(given: Sequence[Stored]) -> list[list[str]]:
    """Tabulate what of the configuration the paper gives."""
    return [[one["name"], one["value"], one["source"]] for one in given]


def inferred_rows(inferred: Sequence[Stored]) -> list[list[str]]:
    """Tabulate what it does not give, and the published figure that each was chosen by, if any was."""
    return [[one["name"], one["value"], one["why"], one.get("calibrated_on", "")] for one in inferred]


def rules_rows(rules: Sequence[Stored]) -> list[list[str]]:
    """Tabulate what was decided that is no value."""
    return [[one["name"], one["calibrated_on"], one["how"]] for one in rules]


def _sensitivity(paper: _Paper) -> Iterator[Block]:
    if given := paper.found.get("given"):
        yield TableBlock("What the paper gives", GIVEN_COLUMNS, given_rows(given))
    inferred = paper.found["inferred"]
    if inferred:
        rows = inferred_rows(inferred)
        yield TableBlock("What the paper does not give", INFERRED_COLUMNS, rows)
    if rules := paper.found.get("rules"):
        yield TableBlock("Rules that were chosen", RULES_COLUMNS, rules_rows(rules))
    if marks := paper.found.get("marks"):
        yield TableBlock(MARKS_TITLE, MARK_COLUMNS, mark_rows(marks))
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
    if differing := differing_words(paper.claims, swings):
        yield Notes([differing])
    yield TableBlock(
        "What that comes to",
        ["claim", "statement", "finding"],
        [[claim["id"], claim["statement"], claim["words"]] for claim in swings["claims"]],
    )


def differing_words(claims: Sequence[Stored], swings: Stored) -> str:
    """Say which claims the runs with values varied judge otherwise, though nothing is varied."""
    verdicts = {claim["id"]: claim["verdict"] for claim in claims}
    found = [
        f"{claim['id']} ({claim['chosen']['verdict']} there, {verdicts[claim['id']]} above)"
        for claim in swings["claims"]
        if verdicts.get(claim["id"], claim["chosen"]["verdict"]) != claim["chosen"]["verdict"]
    ]
    if not found:
        return ""
    return (
        "The runs with values varied are short ones, and without any value varied they judge these claims "
        f"otherwise than the claims are judged above: {', '.join(found)}."
    )


_SHORT = {HOLDS: "holds", NOT_REPRODUCED: "fails", NOT_JUDGED: "open", TOO_SHORT: "open"}


def _swing(swing: Stored) -> Cell:
    outcomes = list(swing["outcomes"].values())
    words = " / ".join(_SHORT[outcome["verdict"]] for outcome in outcomes)
    return Cell(f"{words}, {swing['change']:.0%}")


def _configuration(found: Stored) -> Iterator[Block]:
    """Show what was simulated, folded away: files of drives, and what each simulation is told."""
    stored = found.get("configuration") or {"files": [], "sets": [], "points": []}
    for name, text in stored["files"]:
        yield Details(f"`{literal(name)}`, as the experiment reads it", [Source(text, title=name)])
    for name, text in stored["sets"]:
        yield Details(f"{literal(name)}", [Source(text, title=name)])
    if stored["points"]:
        rows: list[list[str | Cell]] = [[name, _told(told)] for name, told in stored["points"]]
        table = TableBlock("What each simulation is told", ["simulation", "told"], rows)
        yield Details(f"{len(rows):,} simulations, and what each is told", [table])


def _told(told: Stored) -> str:
    return "; ".join(f"{key}: {_told_value(value)}" for key, value in told.items())


def _told_value(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(one, dict) and "name" in one for one in value):
        names = [str(one["name"]) for one in value]
        return f"{len(names):,}: {', '.join(names)}"
    return literal(value if isinstance(value, str) else json.dumps(value))


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
