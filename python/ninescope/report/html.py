"""From a document to one HTML file that needs no network, no other file, and no script to be read.

Everything that the page draws is also there as a table. The same document gives the same bytes.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.resources
import re
from collections.abc import Mapping, Sequence
from typing import Any

import jinja2
from markupsafe import Markup, escape

from ninescope.figures import Figure
from ninescope.report import lanes as of_lanes
from ninescope.report import values
from ninescope.report.document import (
    AttributionBand,
    AttributionBlock,
    Cell,
    Claims,
    Document,
    GanttBlock,
    Part,
)
from ninescope.text.contrast import luminance
from ninescope.text.units import duration

VERDICT_SIGNS = {"holds": ("\u2713", "yes"), "not reproduced": ("\u2717", "no"), "not judged": ("?", "open")}
"""The sign and the style of a verdict; another word has neither."""
_SMALL_SHARE = 0.01
"""A part that nowhere reaches it is not in the legend."""
_LABELLED_SHARE = 0.07
"""A piece of a bar of this share has room for its number."""
_NUMERIC = re.compile(
    r"[<>~]?[+\u2212-]?\d[\d,.]*(?:e[+-]?\d+)?\s?[%A-Za-z\u00b5/]{0,6}\*?(?: \(.*\)| to .*)?\Z"
)
"""A number with its unit, its mark and its interval."""
_UNIT = re.compile(r"(\d) (%|ns|us|ms|s|min|h|d|k|M|G|[kMGT]?i?B(?:/s)?)(?![\w/])")
"""A number and its unit, which no line may end between."""
_SENTENCE = 24
"""A text of more characters needs room to be read."""
_EMPTY = ("", "-", "\u2013")


def render(document: Document) -> str:
    """Return a document as the text of an HTML file."""
    licence = f"/* uPlot\n{_asset('assets/uplot/LICENSE').strip()}\n*/"  # it has to go with every copy
    lanes = any(isinstance(block, GanttBlock) for block in document.blocks())
    scripts = ["assets/uplot/uPlot.iife.min.js", "templates/report.js"]
    # A page without lanes does not carry what draws them.
    script = "\n".join((licence, *map(_asset, [*scripts, "templates/gantt.js"] if lanes else scripts)))
    style = "\n".join((_asset("assets/uplot/uPlot.min.css"), _asset("templates/report.css")))
    early = _asset("templates/early.js").strip()
    return (
        _environment()
        .get_template("page.html")
        .render(
            document=document,
            page=_Page(),
            lanes=lanes,
            style=_trusted(style),
            script=_trusted(script),
            early=_trusted(early),
            hashes=[_hash(early), _hash(script)],
        )
    )


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: _asset(f"templates/{name}")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["prose"] = prose
    environment.filters["duration"] = duration
    return environment


def _asset(name: str) -> str:
    return importlib.resources.files("ninescope.report").joinpath(name).read_text(encoding="utf-8")


def _trusted(text: str) -> Markup:
    """Mark a text as HTML: an asset of this package, or JSON in which no markup can stand."""
    return Markup(text)  # noqa: S704


def _hash(script: str) -> str:
    """Return what a security policy calls a script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def prose(text: str) -> Markup:
    """Return a text with what stands between backquotes as code; an odd backquote is itself."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        parts[-2:] = ["`".join(parts[-2:])]
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else escape(_UNIT.sub("\\1\u00a0\\2", part))
        for index, part in enumerate(parts)
    )


class _Page:
    """What the templates ask for: numbers of figures and tables in reading order, and what is computed."""

    def __init__(self) -> None:
        self._figures = 0
        self._tables = 0
        self._others = 0

    def figure_number(self) -> int:
        """Count one more figure."""
        self._figures += 1
        return self._figures

    def table_number(self) -> int:
        """Count one more table."""
        self._tables += 1
        return self._tables

    def unique(self) -> str:
        """Return an id for whatever has no number. Ids of sections have no capital letters."""
        self._others += 1
        return f"X{self._others}"

    @staticmethod
    def kind(block: Any) -> str:
        """Say which macro shows a block."""
        return type(block).__name__

    @staticmethod
    def figure_json(figure: Figure) -> Markup:
        """Return the data of a figure."""
        return _trusted(values.as_json(figure))

    @staticmethod
    def gantt_json(block: GanttBlock) -> Markup:
        """Return the data of lanes over time."""
        return _trusted(of_lanes.as_json(block))

    gantt_tables = staticmethod(of_lanes.tables)
    figure_tables = staticmethod(values.tables)
    legend = staticmethod(values.legend)

    @staticmethod
    def swatch(entry: values.Entry) -> Markup:
        """Draw what a series of lines or points looks like."""
        dash = " ".join(f"{1.7 * part:g}" for part in entry.style.dash)
        line = (
            f'<path class="stroke" d="M1 6h28" stroke-dasharray="{dash}"/>' if entry.form != "points" else ""
        )
        scale = 4 if entry.form == "points" else 2.9
        marker = (
            ""
            if entry.published and entry.form != "points"
            else f'<path class="mark" transform="translate(15 6) scale({scale})" '
            f'd="{values.OUTLINES[entry.style.marker]}"/>'
        )
        return _trusted(f'<svg viewBox="0 0 30 12" width="30" height="12">{line}{marker}</svg>')

    @staticmethod
    def cell(cell: str | Cell) -> Cell:
        """Return a cell with all that it might have."""
        return cell if isinstance(cell, Cell) else Cell(cell)

    @staticmethod
    def numeric(rows: Sequence[Sequence[str | Cell]], columns: Sequence[str]) -> list[bool]:
        """Say which columns hold numbers."""
        texts = [[cell.text if isinstance(cell, Cell) else cell for cell in row] for row in rows]
        return [
            any(row[index] not in _EMPTY for row in texts)
            and all(row[index] in _EMPTY or _NUMERIC.match(row[index]) for row in texts)
            for index in range(len(columns))
        ]

    @staticmethod
    def columns(rows: Sequence[Sequence[str | Cell]], columns: Sequence[str]) -> list[list[str]]:
        """Return the classes of each column: those of numbers, and those of sentences."""
        texts = [[cell.text if isinstance(cell, Cell) else cell for cell in row] for row in rows]
        return [
            ["number"] if numeric else ["long"] if any(len(row[index]) > _SENTENCE for row in texts) else []
            for index, numeric in enumerate(_Page.numeric(rows, columns))
        ]

    @staticmethod
    def verdict(verdict: str) -> tuple[str, str]:
        """Return sign and style of a verdict."""
        return VERDICT_SIGNS.get(verdict, ("", "plain"))

    @staticmethod
    def verdict_counts(claims: Claims) -> Mapping[str, int]:
        """Count verdicts, the known ones first."""
        found = [claim.verdict for claim in claims.claims]
        order = dict.fromkeys((*(verdict for verdict in VERDICT_SIGNS if verdict in found), *sorted(found)))
        return {verdict: found.count(verdict) for verdict in order}

    @staticmethod
    def pieces(block: AttributionBlock, band: AttributionBand) -> list[dict[str, Any]]:
        """Return the pieces of a bar from left to right."""
        total = sum(band.parts_ns.values()) or 1.0
        pieces = []
        for part in block.parts:
            time = band.parts_ns.get(part.name, 0.0)
            if time <= 0:
                continue
            share = time / total
            pieces.append(
                {
                    "part": part,
                    "width": f"{share * 100:.3f}",
                    "percent": percent(share),
                    "number": f"{share * 100:.0f}" if share >= _LABELLED_SHARE else "",
                    "time": duration(time),
                    "dark": _is_dark(part.colour),
                }
            )
        return pieces

    @staticmethod
    def shown_parts(block: AttributionBlock) -> list[Part]:
        """Return the parts that can be seen in the bars."""
        return [
            part
            for part in block.parts
            if any(
                band.parts_ns.get(part.name, 0.0) >= _SMALL_SHARE * band.mean_ns > 0 for band in block.bands
            )
        ]

    @staticmethod
    def used_parts(block: AttributionBlock) -> list[Part]:
        """Return the parts that any time went to."""
        return [
            part for part in block.parts if any(band.parts_ns.get(part.name, 0.0) > 0 for band in block.bands)
        ]

    @staticmethod
    def part_cell(band: AttributionBand, part: Part) -> str:
        """Write what went to a part of a band's time."""
        time = band.parts_ns.get(part.name, 0.0)
        if time <= 0:
            return "\u2013"
        return f"{duration(time)} ({percent(time / band.mean_ns)})"

    @staticmethod
    def scale(block: AttributionBlock, band: AttributionBand) -> str:
        """Return how long a bar is where lengths stand for times."""
        return f"{band.mean_ns / (max(each.mean_ns for each in block.bands) or 1.0):.4f}"


def percent(share: float) -> str:
    """Write a share."""
    if 0 < share < 0.001:
        return "<0.1%"
    return f"{share * 100:.1f}%" if share < 0.0995 else f"{share * 100:.0f}%"


def _is_dark(colour: str) -> bool:
    """Say whether white is the better colour on this one, by the contrast of WCAG."""
    if not re.fullmatch(r"#[0-9a-fA-F]{6}", colour):
        return False
    return luminance(colour) < 0.179
