"""An experiment from end to end with few requests, and what any has to come to whatever its numbers are."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from ninescope.papers import provenance, runner
from ninescope.papers.claims import load_claims
from ninescope.papers.experiment import Settings
from ninescope.papers.judge import judge
from ninescope.papers.published import load_published
from ninescope.papers.runner import Measurement


def run(folder: Path, settings: Settings) -> Measurement:
    """Measure, and check that verdicts, tables, figures and what is published of them can be shown."""
    measurement = runner.measure(folder / "experiment.py", settings, jobs=2)
    for claim in load_claims(folder / "claims.toml").claims:
        if claim.grade == "quantitative" or not settings.brief:
            assert judge(claim, measurement.summary.measured, quick=settings.quick).readings
    tables = {table.title: table for table in measurement.summary.tables}
    assert len(tables) == len(measurement.summary.tables)
    for table in tables.values():
        assert table.rows, table.title
        assert {len(row) for row in table.rows} == {len(table.columns)}, table.title
    runs = list(provenance.runs(measurement.results))
    assert runs
    assert len({run.name for run in runs}) == len(runs)
    if not settings.brief:
        with_what_is_published(folder, measurement)
    return measurement


OF_FULL_RUNS = (
    "Gains at the best share, by the time of a sector on the bus",
    "A bit of SCM with flash at full strength, and where times add",
)
"""Tables that short runs do not have."""


def with_what_is_published(folder: Path, measurement: Measurement) -> None:
    """Check that each figure shows something, and that each published number has its place."""
    tables = {table.title: table for table in measurement.summary.tables}
    for figure in measurement.figures:
        values = [
            value
            for panel in figure.panels
            for series in panel.series
            for value in series.y
            if value is not None
        ]
        assert values, figure.name
        json.dumps(dataclasses.asdict(figure), allow_nan=False)
    published = load_published(folder / "published.toml")
    assert published.series or published.tables
    published.on(measurement.figures)
    for table in published.tables:
        if table.title in OF_FULL_RUNS and table.title not in tables:
            continue
        shown = {cell for row in table.beside(tables[table.title]) for cell in row} - {""}
        assert shown == set(table.cells.values()) - {""}, table.title
