"""The one door from data to the rooms that show it.

`print(result)`, `result.plot.tail()`, `result.report(path)`: people expect of a result, a code, a comparison
or a search that it shows itself. Data knows neither text nor pictures nor reports. It knows this module, and
this module alone knows rooms above those that call it; each is imported when it is asked for. Nobody else
comes through here (`tests/python/test_architecture.py` says who does).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ninescope.lab.compare.comparison import Comparison
    from ninescope.lab.search.record import Record
    from ninescope.pictures.interactive import Interactive
    from ninescope.pictures.result import Plots
    from ninescope.pictures.style import Figure
    from ninescope.result.result import Result
    from ninescope.simulation.codes import Code

    __all__ = ["Figure", "Interactive", "Plots"]  # data names in its types what these functions return


def result_as_text(result: Result) -> str:
    """Return what `ninescope run` prints."""
    from ninescope.text.result import as_text

    return as_text(result)


def result_as_html(result: Result) -> str:
    """Return what a notebook shows."""
    from ninescope.text.result import as_html

    return as_html(result)


def result_plots(result: Result) -> Plots:
    """Return the pictures of a result."""
    from ninescope.pictures.result import Plots

    return Plots(result)


def result_interactive(result: Result) -> Interactive:
    """Return the interactive figures of a result."""
    from ninescope.pictures.interactive import Interactive

    return Interactive(result)


def result_report(result: Result, path: Path) -> Path:
    """Write a result as one HTML file."""
    from ninescope.report import write
    from ninescope.report.single import of_result

    return write(of_result(result), path)


def code_plot(code: Code, path: str | os.PathLike[str] | None, uber: float) -> Figure:
    """Draw a code, and write the picture where a path is given."""
    from ninescope.pictures.codes import plot

    return plot([code], path, uber=uber)


def comparison_as_text(comparison: Comparison) -> str:
    """Return what `ninescope compare` prints."""
    from ninescope.lab.compare.text import as_text

    return as_text(comparison)


def comparison_as_html(comparison: Comparison) -> str:
    """Return what a notebook shows."""
    from ninescope.lab.compare.text import as_html

    return as_html(comparison)


def comparison_files(comparison: Comparison, directory: Path) -> list[Path]:
    """Write the JSON of a comparison, and its pictures."""
    from ninescope.lab.compare.saving import save

    return save(comparison, directory)


def comparison_report(comparison: Comparison, path: Path) -> Path:
    """Write a comparison as one HTML file."""
    from ninescope.report import write
    from ninescope.report.paired import of_comparison

    return write(of_comparison(comparison), path)


def search_as_html(record: Record) -> str:
    """Return what a notebook shows."""
    from ninescope.lab.search.text import as_html

    return as_html(record)


def search_report(record: Record, path: Path) -> Path:
    """Write a search as one HTML file."""
    from ninescope.report import write
    from ninescope.report.search import of_search

    return write(of_search(record), path)
