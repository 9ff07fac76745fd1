"""Every command and every Python example in the documentation runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import ninescope
from conftest import NATIVE, ROOT, forking

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]  # test_tutorials.py follows the tutorials
LINKED = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOT_HERE = ("make ", "git ", "cargo ", ".ci/run")  # they run the tests, or what the tests run in

SHOWS_WHAT_IS_PRINTED = ("comparing.md", "searching.md")
"""Pages whose first text block is what one of their commands prints, whole but for what "..." stands for."""


def blocks(page: Path, *languages: str) -> list[str]:
    return [
        text
        for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
        if language in languages
    ]


def commands(page: Path) -> list[str]:
    found = []
    for text in blocks(page, "console", "sh"):
        lines = text.replace("\\\n", " ").splitlines()
        marked = [line[2:] for line in lines if line.startswith("$ ")]
        found += marked or [line for line in lines if line and not line.startswith("#")]
    return [line for line in found if not line.startswith(NOT_HERE)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder that looks like the project's root."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "README.md").symlink_to(ROOT / "README.md")
    return folder


@pytest.fixture(scope="module")
def plans() -> dict[str, str]:
    """What plans of examples printed: several pages show the same, and a plan begins runs for seconds."""
    return {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_runs(page, project, shell_path, plans):
    environment = os.environ | {"PATH": f"{shell_path}:{os.environ['PATH']}", "COLUMNS": "100"}
    if NATIVE:
        (shell_path / "ninescope").write_text(forking().command.read_text())
    printed: list[str] = []
    for line in commands(page):
        if line in plans:
            printed += plans[line].splitlines()
            continue
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line.replace(".venv/bin/", "")],
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, f"{page.name}: {line}\n{done.stdout}{done.stderr}"
        printed += done.stdout.splitlines()
        if re.fullmatch(r"ninescope (search|sweep) plan examples/\S+", line):
            plans[line] = done.stdout
    if page.name in SHOWS_WHAT_IS_PRINTED:
        shown = blocks(page, "text")[0]
        at = 0
        for part in re.split(r"^ *\.\.\.\n", shown, flags=re.MULTILINE):
            lines = part.splitlines()
            places = (start for start in range(at, len(printed)) if printed[start] == lines[0])
            found = next((start for start in places if printed[start : start + len(lines)] == lines), None)
            assert found is not None, f"{page.name} shows what is not printed:\n{part}"
            at = found + len(lines)


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize("words", ["ftl.victim=", "ftl.gc_trigger=", "slows-down"])
def test_what_is_shown_of_collection_collects(words, project, monkeypatch, capsys):
    from ninescope.cli import main

    monkeypatch.chdir(project)
    shown = [line for line in commands(ROOT / "docs/collection.md") if words in line and " run " in line]
    for line in shown:
        with pytest.raises(SystemExit) as end:
            main([*shlex.split(line)[1:], "--json"])
        assert not end.value.code, line
        result = json.loads(capsys.readouterr().out)
        assert result["ftl"]["gc_victims"] > 0, line
        if "deadline" in line:
            assert result["counters"]["overdue_collections"] > 0, line
        if words == "slows-down":
            assert result["counters"]["throttled_units"] > 0, line
    assert shown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_python_example_runs(page, project, monkeypatch):
    monkeypatch.chdir(project)
    names: dict[str, object] = {"__name__": "__main__"}
    for text in blocks(page, "python"):
        exec(compile(text, page.name, "exec"), names)


def test_the_readme_has_commands_and_examples():
    assert len(commands(ROOT / "README.md")) >= 3
    assert blocks(ROOT / "README.md", "python")


@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page):
    for link in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if "://" not in link:
            assert (page.parent / link).exists(), f"{page.name}: {link}"


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_the_readme_shows_what_the_demo_prints():
    def timeless(text: str) -> list[str]:
        return re.sub(r", [\d.]+ [mu]?s of wall time", "", text).splitlines()

    [shown] = blocks(ROOT / "README.md", "text")
    demo = ninescope.Drive.from_file(ROOT / "examples/drives/demo.toml")
    trace = ninescope.Workload.trace(ROOT / "examples/traces/pgbench.csv.zst")
    assert timeless(shown) == timeless(str(demo.run(trace, prefill="steady-uniform"))), (
        "`make figures` renews it"
    )


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_the_columns_of_the_tables_are_documented(tmp_path):
    import polars as pl

    job = ninescope.Workload.job(rw="randrw", size="16m", requests=2_000, flush_every=100)
    drive = ninescope.Drive.from_file(ROOT / "examples/drives/demo.toml")
    drive.run(job, log_requests=True).save(tmp_path)
    text = (ROOT / "docs/results.md").read_text().partition("## The tables\n")[2].partition("\n## ")[0]
    documented: dict[str, dict[str, str]] = {}
    for part in re.split(r"^(?=`\w+\.parquet`)", text, flags=re.MULTILINE)[1:]:
        rows = re.findall(r"^\| (`.*?) \| (\w+) \| (.*?) ?\|", part, re.MULTILINE)
        columns = {name: kind for names, kind, _ in rows for name in re.findall(r"`(\w+)`", names)}
        for name, _, unit in rows:
            assert ("_ns" not in name) or unit == "ns", name
        for table in re.findall(r"`(\w+\.parquet)`(?!\W*only)", part.partition("| column")[0]):
            documented[table] = dict(columns)
    assert {path.name for path in tmp_path.glob("*.parquet")} == set(documented)
    del documented["latency.parquet"]["block"]
    for table, columns in documented.items():
        schema = pl.read_parquet_schema(tmp_path / table)
        assert {name: str(kind) for name, kind in schema.items()} == columns, table


def test_the_interpreter_is_new_enough():
    assert sys.version_info >= (3, 10)
