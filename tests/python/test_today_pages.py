"""Pages on sweeps (what papers say today, comparisons): their tables are what the kept numbers come to."""

from __future__ import annotations

import importlib.util
import re
from types import ModuleType

import pytest

from conftest import NATIVE, ROOT
from ninescope.lab.sweep.sweep import Sweep

FOLDERS = {"docs/papers/today": "examples/sweeps/today", "docs/comparisons": "examples/sweeps"}
SWEEPS = {
    page: ROOT / sweeps / f"{page.stem}.toml"
    for folder, sweeps in FOLDERS.items()
    for page in sorted((ROOT / folder).glob("*.md"))
}


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """The program behind `make today-docs`."""
    spec = importlib.util.spec_from_file_location("renew_today", ROOT / "tools/renew_today.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", SWEEPS, ids=lambda page: page.stem)
def test_tables_are_what_was_measured(tool, page):
    text = page.read_text(encoding="utf-8")
    assert "<!-- end -->" in text
    assert tool.with_tables(text, page.parent) == text
    assert "| - |" not in text, "a cell without a number"


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize("page", SWEEPS, ids=lambda page: page.stem)
def test_each_page_has_a_sweep_that_can_be_run(page):
    sweep = Sweep.from_file(SWEEPS[page])
    rows = page.with_suffix(".csv").read_text(encoding="utf-8").splitlines()
    assert len(sweep.plan().points) == len(rows) - 1


def test_the_tool_knows_the_pages(tool):
    assert tool.pages() == SWEEPS


def test_pictures_are_there_and_small():
    for page in SWEEPS:
        for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            assert 1_000 < (page.parent / name).stat().st_size < 100_000, name


def test_a_pivot_has_a_line_for_each_row_and_a_column_for_each_value(tool):
    rows = [
        {"load": load, "policy": policy, "read_p99_ns": str(1000 * number)}
        for number, (load, policy) in enumerate([("1", "a"), ("1", "b"), ("8", "a")], 1)
    ]
    assert tool.pivot(rows, ["load"], "policy", "read_p99_us").splitlines() == [
        "| load | a | b |",
        "| --- | ---: | ---: |",
        "| 1 | 1 | 2 |",
        "| 8 | 3 | - |",
    ]


def test_a_cell_of_several_seeds_has_their_mean(tool):
    rows = [{"load": "1", "policy": "a", "iops": str(value)} for value in (1000, 1500, 1100)]
    rows.append({"load": "1", "policy": "b", "iops": ""})
    assert tool.pivot(rows, ["load"], "policy", "iops").splitlines()[2:] == ["| 1 | 1,200 | - |"]
