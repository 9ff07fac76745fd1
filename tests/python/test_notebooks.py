"""The notebooks of examples/notebooks: their cells run in order, and what they assert holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import NATIVE, ROOT

NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))


def code(notebook: Path) -> list[str]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_its_first_cell_to_its_last(notebook, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("MPLBACKEND", "agg")
    names: dict[str, object] = {"__name__": "__main__"}
    for number, cell in enumerate(code(notebook)):
        exec(compile(cell, f"{notebook.name}, code cell {number}", "exec"), names)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs_and_asserts_what_it_shows(notebook):
    stored = json.loads(notebook.read_text(encoding="utf-8"))
    assert stored["nbformat"] == 4
    assert not [cell for cell in stored["cells"] if cell.get("outputs") or cell.get("execution_count")]
    assert any("assert " in cell for cell in code(notebook))


def test_there_are_notebooks():
    assert NOTEBOOKS
