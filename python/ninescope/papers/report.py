"""Verdicts as text and as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from ninescope.papers.catalogue import Paper
from ninescope.papers.claims import ORIGINS, Bound, Claims
from ninescope.papers.experiment import Cell, Settings, Table, as_rows
from ninescope.papers.judge import (
    HOLDS,
    LEFT_OUT,
    NOT_JUDGED,
    NOT_REPRODUCED,
    TOO_SHORT,
    Judgement,
    Reading,
)
from ninescope.papers.runner import Measurement
from ninescope.papers.sensitivity import Sensitivity
from ninescope.papers.values import PREDICTED, Values
from ninescope.text.lines import print_whole

_LONG = 40
"""A cell of more characters may be wrapped."""
_MARKS = {HOLDS: "+", NOT_REPRODUCED: "-", NOT_JUDGED: "?", TOO_SHORT: "?"}
_VERDICT_WIDTH = 2 + max(map(len, _MARKS))
_STYLES = {HOLDS: "green", NOT_REPRODUCED: "bold red", NOT_JUDGED: "yellow", TOO_SHORT: "yellow"}


@dataclasses.dataclass(frozen=True)
class Report:
    """What one paper came to."""

    paper: Paper
    claims: Claims
    settings: Settings
    judgements: tuple[Judgement, ...]
    measurement: Measurement
    regressions: tuple[str, ...]
    by_full_run: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Of a quick run: the committed verdicts of a full one, where they are others."""
    values: Values = dataclasses.field(default_factory=Values)
    """What of the configuration is published, and by which figures the rest was chosen."""
    reasons: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Why each claim is calibrated or predicted."""

    @property
    def mode(self) -> str:
        """How it was run."""
        return "quick" if self.settings.quick else "full"

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict of each claim."""
        return {judgement.claim.id: judgement.verdict for judgement in self.judgements}

    def mark(self, judgement: Judgement) -> str:
        """Return whether a claim is calibrated or predicted; one of our own was published by nobody."""
        claim = judgement.claim
        return "" if claim.origin == "ours" else self.values.mark(claim.id)

    def predicted(self, verdict: str) -> int:
        """Count the published claims with a verdict that no value was chosen by."""
        return sum(
            judgement.verdict == verdict and self.mark(judgement) == PREDICTED
            for judgement in self.judgements
        )

    def as_json(self) -> dict[str, Any]:
        """Return the document of `--json`. It depends on nothing but settings and build."""
        return {
            "papers": [
                {
                    "id": self.paper.id,
                    "title": self.claims.title,
                    "citation": self.claims.citation,
                    "mode": self.mode,
                    "seed": self.settings.seed,
                    "regressions": list(self.regressions),
                    "real_traces": as_rows(self.settings.volumes),
                    "tables": [dataclasses.asdict(table) for table in self.measurement.summary.tables],
                }
            ],
            "claims": [
                claim_as_json(self.paper.id, judgement, self.by_full_run, self.mark(judgement))
                for judgement in self.judgements
            ],
        }


def together(reports: Sequence[Report]) -> dict[str, Any]:
    """Return one document for several papers."""
    documents = [report.as_json() for report in reports]
    return {key: [item for document in documents for item in document[key]] for key in ("papers", "claims")}


def claim_as_json(
    paper: str, judgement: Judgement, by_full_run: Mapping[str, str] | None = None, mark: str = ""
) -> dict[str, Any]:
    """Return a claim with its verdict, and that of a full run where a quick one judges otherwise."""
    claim = judgement.claim
    other = (by_full_run or {}).get(claim.id)
    return {
        "id": claim.id,
        "paper": paper,
        "statement": claim.statement,
        "grade": claim.grade,
        "source": claim.source,
        "origin": claim.origin,
        "mark": mark,
        "published": claim.published,
        "range": [str(check) for check in claim.checks],
        "measured": {name: reading.value for name, reading in judgement.readings.items()},
        "intervals": {
            name: [reading.low, reading.high]
            for name, reading in judgement.readings.items()
            if reading.low is not None
        },
        "verdict": judgement.verdict,
        **({"verdict_of_full_run": other} if other else {}),
        "cause": judgement.cause,
    }


def print_report(report: Report, console: Console) -> None:
    """Print verdicts, causes and tables."""
    console.print()
    print_whole(_render(report), console)


def print_summary(reports: Sequence[Report], console: Console) -> None:
    """Print one line for each paper: how many claims hold, and which were not judged."""
    shown = RichTable(
        title="All papers", title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0)
    )
    known = verdicts_shown([verdict for report in reports for verdict in report.verdicts.values()])
    for column in ("paper", "claims", known[0], "of them predicted", *known[1:], "wall time"):
        shown.add_column(column, justify="left" if column == "paper" else "right", no_wrap=True)

    def count(judgements: Sequence[Judgement], predicted: str) -> list[str]:
        held, *others = (str(sum(one.verdict == verdict for one in judgements)) for verdict in known)
        return [str(len(judgements)), held, predicted, *others]

    for report in reports:
        seconds = f"{report.measurement.seconds:.0f} s"
        predicted = str(report.predicted(HOLDS))
        shown.add_row(report.paper.id, *count(published_ones(report.judgements), predicted), seconds)
    every = [judgement for report in reports for judgement in report.judgements]
    total = sum(report.measurement.seconds for report in reports)
    predicted = str(sum(report.predicted(HOLDS) for report in reports))
    shown.add_row("all", *count(published_ones(every), predicted), f"{total:.0f} s", style="bold")
    if ours := [judgement for judgement in every if judgement.claim.origin == "ours"]:
        shown.add_row("our own", *count(ours, ""), "")
    print_whole([Padding.indent(shown, 1)], console)
    for verdict, words in ((NOT_JUDGED, NOT_JUDGED), (TOO_SHORT, "too short a run to say")):
        if claims := [judgement.claim.id for judgement in every if judgement.verdict == verdict]:
            console.print(f" {words}: {', '.join(claims)}")
    for verdict in (NOT_REPRODUCED, HOLDS):
        others = [
            claim for report in reports for claim, found in report.by_full_run.items() if found == verdict
        ]
        if others:
            console.print(f" {verdict} in a full run, which counts: {', '.join(others)}")


def verdicts_shown(found: Sequence[str]) -> list[str]:
    """Return the verdicts that a count shows: those that there are, and in any case whether claims hold."""
    return [verdict for verdict in _MARKS if verdict in (HOLDS, NOT_REPRODUCED) or verdict in found]


def published_ones(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Leave out claims of our own."""
    return [judgement for judgement in judgements if judgement.claim.origin != "ours"]


def print_sensitivity(found: Sensitivity, console: Console) -> None:
    """Print what was varied, and what each quantitative claim hangs on."""
    console.print()
    title = f"{found.paper}  values that the paper does not give, each halved and half as large again"
    console.print(Padding.indent(Text(title, style="bold"), 1))
    rows: list[list[Cell]] = [[one.name, one.value, one.why] for one in found.inferred]
    print_whole([Padding.indent(_table(Table("As chosen", ["value", "chosen", "why"], rows)), 1)], console)
    console.print()
    for finding in found.findings:
        verdict = finding.chosen.verdict
        heading = Text.assemble(
            (f"{finding.claim:<5}", "bold"),
            (f"{verdict:<{_VERDICT_WIDTH}}", _STYLES[verdict]),
            finding.statement,
        )
        console.print(Padding.indent(heading, 1))
        console.print(Padding.indent(Text(finding.words), 6))
    console.print()


def _render(report: Report) -> Iterator[RenderableType]:
    yield Padding.indent(Text(f"{report.paper.id}  {report.claims.title}", style="bold"), 1)
    yield Padding.indent(Text(report.claims.citation, style="dim"), 1)
    if volumes := as_rows(report.settings.volumes):
        yield Padding.indent(Text(real_traces_words(volumes)), 1)
    yield Text()
    for table in report.measurement.summary.tables:
        yield Padding.indent(_table(table), 1)
        yield Text()
    for judgement in report.judgements:
        yield from _judgement(judgement, report.by_full_run.get(judgement.claim.id), report.mark(judgement))
    found = published_ones(report.judgements)
    counts = []
    for verdict in verdicts_shown([judgement.verdict for judgement in found]):
        count = sum(judgement.verdict == verdict for judgement in found)
        predicted = f"hold, {report.predicted(HOLDS)} of them predicted"
        counts.append(f"{count} {predicted if verdict == HOLDS else verdict}")
    ours = len(report.judgements) - len(found)
    summary = (
        f"{len(found)} claims: {', '.join(counts)}{f', and {ours} of our own' if ours else ''}   "
        f"({report.mode}, seed {report.settings.seed}, {report.measurement.seconds:.0f} s of wall time)"
    )
    yield Padding.indent(Text(summary), 1)


def real_traces_words(volumes: Sequence[Mapping[str, Any]]) -> str:
    """Say which real traces took the places of stand-ins, and how they were recognised."""
    named = [
        f"{one['name']} ({one['requests']:,} requests, hash {one['hash']}, {one['known']})" for one in volumes
    ]
    return f"Real traces, where claims speak of stand-ins: {'; '.join(named)}."


def full_run_words(verdict: str) -> str:
    """Say that a quick run is not the last word."""
    return f"A full run judges otherwise, and it counts: {verdict}."


def _judgement(judgement: Judgement, by_full_run: str | None, mark: str) -> Iterator[RenderableType]:
    claim = judgement.claim
    heading = Text.assemble(
        (f"{claim.id:<5}", "bold"),
        (f"{judgement.verdict:<{_VERDICT_WIDTH}}", _STYLES[judgement.verdict]),
        claim.statement,
        (f"  ({', '.join(filter(None, (claim.grade, mark, ORIGINS[claim.origin])))})", "dim"),
    )
    heading.overflow = "fold"
    yield Padding.indent(heading, 1)
    yield Padding.indent(Text(f"published: {_published(claim.published)}", style="dim"), 6)
    for line, style in _measured(judgement):
        yield Padding.indent(Text(line, style=style), 6)
    overruled = full_run_words(by_full_run) if by_full_run else ""
    for words in (overruled, *near_words(judgement), judgement.note, judgement.explanation):
        if words:
            yield Padding.indent(Text(words), 6)
    yield Text()


def near_words(judgement: Judgement) -> Iterator[str]:
    """Say which checks hold by a hair."""
    for finding in judgement.near:
        check = finding.check
        value = judgement.readings[check.names[0]].value
        if isinstance(check, Bound) and value is not None and (margin := check.margin(value)) is not None:
            yield f"Near its limit: {check}, {margin:.1%} of it away."


def _measured(judgement: Judgement) -> Iterator[tuple[str, str]]:
    """Write each check with what was measured for it, those that do not hold with their intervals."""
    left_out = 0
    for finding in judgement.findings:
        if finding.verdict == LEFT_OUT:
            left_out += 1
            continue
        holds = finding.verdict == HOLDS
        readings = [judgement.readings[name] for name in finding.check.names]
        values = ", ".join(_value(reading) if holds else _plain(reading) for reading in readings)
        yield f"{_MARKS[finding.verdict]} {finding.check}: {values}", "dim" if holds else ""
    if judgement.claim.at_least is not None:
        yield f"  {judgement.score}", ""
    if left_out:
        yield f"  ({left_out} more {LEFT_OUT})", "dim"


def _value(reading: Reading) -> str:
    return _plain(dataclasses.replace(reading, low=None))


def _plain(reading: Reading) -> str:
    return str(reading) + ("" if reading.enough else "*")


def _published(published: Any) -> str:
    if isinstance(published, list | tuple):
        return ", ".join(map(str, published))
    return str(published)


def _table(table: Table) -> RenderableType:
    shown = RichTable(
        title=table.title,
        title_justify="left",
        title_style="bold",
        caption=table.note or None,
        caption_justify="left",
        caption_style="dim",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="dim",
    )
    for index, column in enumerate(table.columns):
        numeric = all(not isinstance(row[index], str) or _is_numeric(row[index]) for row in table.rows)
        long = any(isinstance(row[index], str) and len(str(row[index])) > _LONG for row in table.rows)
        shown.add_column(column, justify="right" if numeric else "left", no_wrap=not long)
    for row in table.rows:
        shown.add_row(*(Text(_cell(cell)) for cell in row))
    return shown


def _is_numeric(cell: Cell) -> bool:
    return isinstance(cell, str) and (cell[:1].isdigit() or cell in ("", "-"))


def _cell(cell: Cell) -> str:
    if cell is None:
        return "-"
    return f"{cell:,.4g}" if isinstance(cell, float) else str(cell)
