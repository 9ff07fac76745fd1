"""What a run of a paper leaves behind: everything a report shows, in one file, and what people open directly.

`report.json` is read again by `ninescope.papers.document`, so that a report can be made anew without
simulating. Verdicts are judged when it is written.
"""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

import ninescope
from ninescope._native import ConfigError
from ninescope.common.files import OF_PAPERS
from ninescope.figures import Axis, Figure, Panel, Series
from ninescope.lab.build import build
from ninescope.papers import machine, provenance
from ninescope.papers.claims import Bound, Order
from ninescope.papers.experiment import Inferred, Table, as_rows
from ninescope.papers.judge import Finding, Reading
from ninescope.papers.published import Published
from ninescope.papers.report import Report, claim_as_json, near_words, print_report
from ninescope.papers.runner import FORBIDDEN

FILE = OF_PAPERS
FORMAT = 1
_NO_CONFIGURATION = (*FORBIDDEN, "baseline.toml")
_NUMBERED = re.compile(r"((?:Figure|Table) \d+)[:.] *")


def record(report: Report, published: Published, inferred: Sequence[Inferred]) -> dict[str, Any]:
    """Return the document of `report.json`."""
    measurement = report.measurement
    runs = sorted(provenance.runs(measurement.results))
    return {
        "format": FORMAT,
        "paper": {
            "id": report.paper.id,
            "title": report.claims.title,
            "citation": report.claims.citation,
            "folder": report.paper.folder.name,
            "caveats": list(report.claims.caveats),
        },
        "mode": report.mode,
        "seed": report.settings.seed,
        "real_traces": as_rows(report.settings.volumes),
        "claims": [_claim(report, judgement) for judgement in report.judgements],
        "regressions": list(report.regressions),
        "tables": [_table(table, published) for table in measurement.summary.tables],
        "figures": [dataclasses.asdict(figure) for figure in published.on(measurement.figures)],
        "configuration": _configuration(report),
        "attributions": [dataclasses.asdict(one) for one in measurement.summary.attributions],
        "given": [dataclasses.asdict(one) for one in report.values.published],
        "inferred": [
            {**dataclasses.asdict(one), "calibrated_on": report.values.calibrated_on(one.name)}
            for one in inferred
        ],
        "rules": [
            {"name": one.of, "calibrated_on": one.words, "how": one.how} for one in report.values.rules
        ],
        "marks": [
            {"claim": judgement.claim.id, "mark": report.mark(judgement), "because": reason}
            for judgement in report.judgements
            if (reason := report.reasons.get(judgement.claim.id))
        ],
        "runs": [list(run) for run in runs],
        "digest": digest_of(runs),
        "manifest": {
            "ninescope": ninescope.__version__,
            "build": build(),
            "commit": machine.commit(report.paper.folder),
            "machine": machine.description(),
            "busy_seconds": round(measurement.busy_seconds, 1),
        },
    }


def digest_of(runs: Sequence[provenance.Run]) -> str:
    """Return one digest of all that the devices did: equal on every machine for one build and one seed."""
    text = "".join(f"{run.name} {run.digest}\n" for run in runs)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _claim(report: Report, judgement: Any) -> dict[str, Any]:
    words = {
        "checks": [_check(finding, judgement.readings) for finding in judgement.findings],
        "needed": judgement.claim.needed,
        "explanation": judgement.explanation,
        "note": " ".join(filter(None, (*near_words(judgement), judgement.note))),
    }
    mark = report.mark(judgement)
    return claim_as_json(report.paper.id, judgement, report.by_full_run, mark) | words


def _check(finding: Finding, readings: Mapping[str, Reading]) -> dict[str, Any]:
    """Return a check with what was measured for it, each value with the path and the words that name it."""
    check = finding.check
    value = readings[check.names[0]].value
    return {
        "text": str(check),
        "verdict": finding.verdict,
        "cause": finding.cause,
        "paths": list(check.names),
        "of": check.what if isinstance(check, Order) else "",
        "names": list(check.words),
        "measured": [_with_unit(readings[name], check.unit) for name in check.names],
        "margin": check.margin(value) if isinstance(check, Bound) and isinstance(value, float) else None,
    }


def _with_unit(reading: Reading, unit: str) -> str:
    return f"{reading} {unit}" if unit and reading.value is not None else str(reading)


def _configuration(report: Report) -> dict[str, Any]:
    """Return what was simulated: files of drives and jobs as they are, and what each simulation is told."""
    folder = report.paper.folder
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".toml", ".fio") and path.name not in _NO_CONFIGURATION and path.is_file()
    ]
    return {
        "files": [[path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")] for path in files],
        "sets": [list(one) for one in report.measurement.configuration.items()],
        "points": [[name, told] for name, told in sorted(report.measurement.parameters.items())],
    }


def _table(table: Table, published: Published) -> dict[str, Any]:
    stored: dict[str, Any] = dataclasses.asdict(table)
    found = published.table(table.title)
    if found is not None:
        stored |= {"published": found.beside(table), "source": found.source}
    return stored


def read(folder: Path) -> dict[str, Any]:
    """Read a `report.json`."""
    file = folder / FILE
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{file}: is no JSON: {error}") from error
    if not isinstance(stored, dict) or "claims" not in stored or "paper" not in stored:
        raise ConfigError(f"{file}: is not what `ninescope papers run --out` writes")
    if stored.get("format") != FORMAT:
        raise ConfigError(f"{file}: is of format {stored.get('format')}, and this ninescope reads {FORMAT}")
    return stored


def figure_title(figure: Figure) -> str:
    """Return the title of a figure, with its number in the paper behind it: a report counts its own."""
    title = _NUMBERED.sub("", figure.title)
    if title != figure.title:
        title = title[:1].upper() + title[1:]
    number = figure.name.removeprefix("figure-")
    return f"{title} (figure {number} of the paper)" if number.isdecimal() else title


def table_title(title: str) -> str:
    """Return the title of a table, with its number in the paper behind it."""
    number = _NUMBERED.match(title)
    if not number:
        return title
    rest = title[number.end() :]
    return f"{rest[:1].upper()}{rest[1:]} ({number[1].lower()} of the paper)"


def figure(stored: Mapping[str, Any]) -> Figure:
    """Make a figure of what is stored of it."""
    panels = [
        Panel(
            **{
                **panel,
                "x": Axis(**panel["x"]),
                "y": Axis(**panel["y"]),
                "series": [Series(**series) for series in panel["series"]],
            }
        )
        for panel in stored["panels"]
    ]
    return Figure(**{**stored, "panels": panels})


def save(report: Report, directory: Path, published: Published, inferred: Sequence[Inferred]) -> list[Path]:
    """Write `report.json`, `claims.json`, `measured.json`, `report.txt`, tables as CSV, and figures."""
    from ninescope import pictures
    from ninescope.common.files import written_whole

    text = io.StringIO()
    print_report(report, Console(file=text, width=120))
    stored = record(report, published, inferred)
    files = {
        FILE: json.dumps(stored, allow_nan=False) + "\n",
        "claims.json": json.dumps(report.as_json(), indent=2) + "\n",
        "measured.json": json.dumps(report.measurement.summary.measured, indent=2) + "\n",
        "report.txt": text.getvalue(),
    }
    for table in report.measurement.summary.tables:
        rows = io.StringIO()
        csv.writer(rows, lineterminator="\n").writerows([table.columns, *table.rows])
        name = re.sub(r"[^a-z0-9]+", "-", table.title.lower()).strip("-")
        files[f"{name}.csv"] = rows.getvalue()
    for name, content in files.items():
        with written_whole(directory / name) as temporary:
            temporary.write_text(content, encoding="utf-8")
    drawn = []
    for one in map(figure, stored["figures"]):
        drawn += pictures.save(dataclasses.replace(one, title=figure_title(one)), directory)
    return [*(directory / name for name in files), *drawn]
