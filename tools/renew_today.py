"""Renew the tables of docs/papers/today and docs/comparisons from what the sweeps behind them came to.

    make today-docs OUT=out/today

`OUT` holds lakes of sweeps of examples/sweeps/today and of examples/sweeps, by their names (002, victims
and so on); pages without one stay.
The numbers of a lake are kept beside the page as CSV, its figures as PNG. A page has a place for each
table; a test says that the tables are what the kept numbers come to.
"""

from __future__ import annotations

import argparse
import csv
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ninescope import pictures

ROOT = Path(__file__).resolve().parents[1]
SWEEPS = {ROOT / "docs/papers/today": "examples/sweeps/today", ROOT / "docs/comparisons": "examples/sweeps"}
"""Where the sweeps of a folder of pages are."""
PLACE = re.compile(
    r"<!-- (?P<name>\S+): (?P<rows>.+?) by (?P<column>.+?): (?P<value>\S+) -->\n.*?<!-- end -->", re.DOTALL
)
"""`<!-- 002: workload, workload.iodepth by suspend: read_p99.99_us -->`: what rows, columns and cells are."""
_BY_DEPTH = ("--x", "workload.iodepth", "--facet", "workload", "--y")
FIGURES = {
    "000": (*_BY_DEPTH, "iops", "--log-y"),
    "001": (*_BY_DEPTH, "iops", "--log-y"),
    "002": (*_BY_DEPTH, "read_p99.99"),
    "004": ("--x", "tier.scm_ratio", "--facet", "workload", "--y", "iops_per_cost"),
    "victims": ("--x", "ftl.victim", "--by", "workload", "--y", "waf_total"),
}
SCALES = {"_us": ("_ns", 1e-3)}


def pages() -> dict[Path, Path]:
    """Find the pages, and the sweep of each."""
    found = [(page, sweeps) for folder, sweeps in SWEEPS.items() for page in sorted(folder.glob("*.md"))]
    return {page: ROOT / sweeps / f"{page.stem}.toml" for page, sweeps in found}


def main(lakes: Path) -> None:
    """Take the lakes."""
    wanted = [page for page in pages() if (lakes / page.stem).is_dir()]
    if not wanted:
        sys.exit(f"{lakes}: there is no lake of a page here")
    for page in wanted:
        lake = lakes / page.stem
        table = _ninescope("sweep", "table", str(lake), "--csv")
        page.with_suffix(".csv").write_text(table, encoding="utf-8")
        if page.stem in FIGURES:
            figure = page.with_suffix(".png")
            _ninescope("sweep", "plot", str(lake), *FIGURES[page.stem], "--out", str(figure))
            pictures.reduce_colours(figure, pictures.SMALL)
        page.write_text(with_tables(page.read_text(encoding="utf-8"), page.parent), encoding="utf-8")


def _ninescope(*words: str) -> str:
    program = Path(sys.executable).with_name("ninescope")
    found = subprocess.run([program, *words], check=True, capture_output=True, text=True)  # noqa: S603
    return found.stdout


def with_tables(page: str, folder: Path) -> str:
    """Fill each place of a page with the table that it asks for."""

    def table(place: re.Match[str]) -> str:
        with (folder / f"{place['name']}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        words = place[0].split("\n", 1)[0]
        found = pivot(rows, place["rows"].split(", "), place["column"], place["value"])
        return f"{words}\n{found}\n<!-- end -->"

    return PLACE.sub(table, page)


def pivot(rows: Sequence[Mapping[str, str]], by: Sequence[str], column: str, value: str) -> str:
    """Tabulate a number: a line for each combination of `by`, a column for each value of `column`.

    Where several rows fall into one cell, those of several seeds, it has their mean.
    """
    lines: dict[tuple[str, ...], dict[str, list[float]]] = {}
    columns: dict[str, None] = {}
    for row in rows:
        columns[row[column]] = None
        cell = lines.setdefault(tuple(row[key] for key in by), {}).setdefault(row[column], [])
        cell += _numbers(row, value)
    heads = [*(key.removeprefix("workload.") for key in by), *columns]
    found = [heads, ["---"] * len(by) + ["---:"] * len(columns)]
    found += [[*key, *(_mean(cells.get(name, [])) for name in columns)] for key, cells in lines.items()]
    return "\n".join("| " + " | ".join(line) + " |" for line in found)


def _numbers(row: Mapping[str, str], name: str) -> list[float]:
    factor = 1.0
    for unit, (stored, scale) in SCALES.items():
        if name.endswith(unit):
            name, factor = name.removesuffix(unit) + stored, scale
    return [float(row[name]) * factor] if row[name] else []


def _mean(values: Sequence[float]) -> str:
    if not values:
        return "-"
    found = sum(values) / len(values)
    return f"{found:,.0f}" if abs(found) >= 100 else f"{found:.3g}"


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("folder", type=Path, metavar="FOLDER")
    given = words.parse_args()
    if not given.folder.is_dir():
        words.error(f"{given.folder} is no folder")
    main(given.folder)
