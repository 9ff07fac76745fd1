"""Reading `published.toml`: what the figures and tables of a paper say, to be shown beside ours.

It is read where results are shown, never where anything is measured.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, get_args

from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.figures import Figure, Form, Panel, Series
from ninescope.papers.claims import load_toml
from ninescope.papers.experiment import Table

_SERIES_KEYS = ("figure", "panel", "label", "form", "x", "y", "source", "of")
_OPTIONAL = ("form", "of")
_TABLE_KEYS = ("title", "source", "columns", "rows")


@dataclasses.dataclass(frozen=True)
class PublishedSeries:
    """A series of a paper's figure."""

    figure: str
    panel: str
    label: str
    form: Form
    x: Sequence[Any]
    """Numbers, or names of categories of the panel."""
    y: Sequence[float]
    source: str
    of: str = ""
    """The label of the measured series that it is about."""


@dataclasses.dataclass(frozen=True)
class PublishedTable:
    """Cells of a paper's table: by the first cell of a row, and by the name of a column."""

    title: str
    source: str
    cells: Mapping[tuple[str, str], str]

    def beside(self, table: Table) -> list[list[str]]:
        """Return what is published for each cell of our table; empty where nothing is."""
        return [[self.cells.get((str(row[0]), column), "") for column in table.columns] for row in table.rows]


@dataclasses.dataclass(frozen=True)
class Published:
    """A `published.toml`."""

    file: Path
    series: Sequence[PublishedSeries] = ()
    tables: Sequence[PublishedTable] = ()

    def on(self, figures: Sequence[Figure]) -> list[Figure]:
        """Return figures with what is published beside what was measured."""
        found = {figure.name: figure for figure in figures}
        for one in self.series:
            if one.figure not in found:
                self._refuse(f"there is no figure {one.figure!r}{did_you_mean(one.figure, found)}")
            figure = found[one.figure]
            panels = {panel.name: panel for panel in figure.panels}
            if one.panel not in panels:
                self._refuse(
                    f"figure {one.figure!r} has no panel {one.panel!r}{did_you_mean(one.panel, panels)}"
                )
            found[one.figure] = figure.with_published(one.panel, self._placed(panels[one.panel], one))
        return list(found.values())

    def table(self, title: str) -> PublishedTable | None:
        """Return what is published of a table of ours."""
        return next((table for table in self.tables if table.title == title), None)

    def _placed(self, panel: Panel, one: PublishedSeries) -> Series:
        labels = [series.label for series in panel.series]
        if one.of and one.of not in labels:
            self._refuse(
                f"{one.figure}, {one.panel}: there is no series {one.of!r}{did_you_mean(one.of, labels)}"
            )
        places = []
        for place in one.x:
            if isinstance(place, str):
                if place not in panel.x.categories:
                    meant = did_you_mean(place, panel.x.categories)
                    self._refuse(f"{one.figure}, {one.panel}: {place!r} is no category{meant}")
                places.append(list(panel.x.categories).index(place))
            else:
                places.append(place)
        return Series(one.label, places, one.y, one.form, published=True, source=one.source, of=one.of)

    def _refuse(self, problem: str) -> NoReturn:
        raise ConfigError(f"{self.file}: {problem}")


def load_published(path: Path) -> Published:
    """Read a `published.toml`; a paper without one has published no numbers."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Published(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    document = load_toml(path, text)
    _known(path, document, ("series", "table"), "")
    series = [_series(path, one, f"series[{n}]") for n, one in enumerate(document.get("series", []))]
    tables = [_table(path, one, f"table[{n}]") for n, one in enumerate(document.get("table", []))]
    return Published(path, series, tables)


def _series(path: Path, stored: Any, where: str) -> PublishedSeries:
    _known(path, stored, _SERIES_KEYS, where)
    missing = [key for key in _SERIES_KEYS if key not in stored and key not in _OPTIONAL]
    if missing:
        raise ConfigError(f"{path}: {where}.{missing[0]}: is missing")
    form = stored.get("form", "points")
    if form not in get_args(Form):
        raise ConfigError(f"{path}: {where}.form: {form!r} is none of {', '.join(get_args(Form))}")
    if len(stored["x"]) != len(stored["y"]) or not stored["x"]:
        raise ConfigError(f"{path}: {where}.y: must be as many numbers as there are of x, and at least one")
    return PublishedSeries(**{**stored, "form": form})


def _table(path: Path, stored: Any, where: str) -> PublishedTable:
    _known(path, stored, _TABLE_KEYS, where)
    missing = [key for key in _TABLE_KEYS if key not in stored]
    if missing:
        raise ConfigError(f"{path}: {where}.{missing[0]}: is missing")
    cells = {}
    for number, row in enumerate(stored["rows"]):
        if len(row) != len(stored["columns"]):
            raise ConfigError(
                f"{path}: {where}.rows[{number}]: {len(row)} cells, and there are "
                f"{len(stored['columns'])} columns"
            )
        for column, cell in zip(stored["columns"][1:], row[1:], strict=True):
            cells[str(row[0]), str(column)] = str(cell)
    return PublishedTable(stored["title"], stored["source"], cells)


def _known(path: Path, table: Any, known: Sequence[str], where: str) -> None:
    if not isinstance(table, Mapping):
        raise ConfigError(f"{path}: {where}: must be a table")
    for key in table:
        if key not in known:
            name = f"{where}.{key}" if where else key
            raise ConfigError(f"{path}: {name}: is not a key here{did_you_mean(key, known)}")
