"""What the documents say is so: what is not modelled, and the keys, options, files and counts that they name.

Sentences cannot be run. What they name can be looked up: a key of the configuration in the schema, an option
in the command line, a file in the tree, a count in the lists of the program.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import NATIVE, ROOT
from schema_tables import tables

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs/tutorials").glob("*.md")),
]
NUMBERS = {"five": 5, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20}
FOREIGN_OPTIONS = {
    *("--all", "--test", "--bin", "--release", "--locked", "--check"),  # of cargo
    *("--output-format", "--version"),  # of fio
    "--with",  # of the random worlds
}


@pytest.mark.parametrize("crate", sorted(ROOT.glob("crates/*")), ids=lambda crate: crate.name)
def test_sources_cite_what_a_reader_has_and_no_paper_by_its_number(crate):
    """Mechanisms are named for what they are; papers have numbers in experiments and presets alone."""
    named = re.compile(r"prototype\.md|spec\.md|design\.md|of the specification|[Pp]aper 00\d|experiments/0")
    for path in crate.rglob("*.rs"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert not named.search(line), f"{path.relative_to(ROOT)}:{number}: {line.strip()}"


def test_the_page_on_architecture_stays_short():
    """It is read in one sitting: what it would say beyond that has pages of its own."""
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split()) <= 1_500


@pytest.fixture(scope="module")
def root() -> dict[str, Any]:
    """The schema of drives."""
    from ninescope.common import catalogue

    schema: dict[str, Any] = json.loads(catalogue.schemas()["drive"])
    return schema


def keys_of(root: dict[str, Any]) -> set[str]:
    """Every key of a drive with the names of the tables around it."""
    return {
        ".".join(str(part) for part in (*table.path, key) if part != 0)
        for table in tables(root)
        for key in table.keys
    }


def modelled(root: dict[str, Any]) -> Iterator[str]:
    """A line for each key with its description, and for each policy with its summary."""
    for table in tables(root):
        path = ".".join(str(part) for part in table.path if part != 0)
        for key, schema in table.keys.items():
            name = f"{path}.{key}".lstrip(".")
            yield f"{name}: {schema.get('description', '')}"
            for policy, summary in policies(root, schema):
                yield f"{name} = {policy}: {summary}"


def policies(root: dict[str, Any], schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "$ref" in schema:
        yield from policies(root, root["$defs"][schema["$ref"].rpartition("/")[2]])
    if isinstance(schema.get("const"), str):
        yield schema["const"], schema.get("description", "")
    for way in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from policies(root, way)


def contradictions(patterns: list[str], lines: list[str]) -> list[str]:
    return [line for line in lines if any(re.search(pattern, line, re.IGNORECASE) for pattern in patterns)]


def section(page: str, heading: str) -> str:
    return (ROOT / page).read_text().partition(f"{heading}\n")[2].partition("\n## ")[0]


def items() -> list[dict[str, Any]]:
    from ninescope.toml import loads

    found: list[dict[str, Any]] = loads((ROOT / "docs/not-modelled.toml").read_text())["item"]
    return found


def test_the_readme_denies_what_the_list_denies():
    text = section("README.md", "## What is not modelled yet")
    bullets = [" ".join(bullet.split()) for bullet in re.split(r"^- ", text, flags=re.MULTILINE)[1:]]
    bullets[-1] = bullets[-1].partition(" Presets take")[0]
    assert [bullet.rstrip(";.") for bullet in bullets] == [" ".join(item["says"].split()) for item in items()]


def test_nothing_that_is_denied_is_a_key(root):
    lines = list(modelled(root))
    assert len(lines) > 300
    for item in items():
        assert item["contradicted_by"], item["says"]
        assert contradictions(item["contradicted_by"], lines) == [], item["says"]


@pytest.mark.parametrize(
    ("denied", "key"),
    [
        (["retr(y|ies)"], "nand.retry"),  # what README said when both were there
        (["retention", r"initial_age"], "nand.initial_age"),
        (["(free block|least).*worn"], "ftl.free_block_choice"),  # the name of a policy
    ],
)
def test_a_key_that_is_there_contradicts(root, denied, key):
    assert any(line.startswith(key) for line in contradictions(denied, list(modelled(root))))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_keys_that_a_page_names_are_there(root, page):
    keys = keys_of(root)
    tables_of_a_drive = {key.partition(".")[0] for key in keys if "." in key}
    wrong = []
    for name in re.findall(r"(?:`|--set '?)([a-z_]+(?:\.[a-z_]+)+)", page.read_text()):
        if name.partition(".")[0] in tables_of_a_drive and not name.endswith((".rs", ".md", ".py", ".png")):
            wrong += [] if name in keys else [name]
    assert [name for name in wrong if name not in of_results()] == []


@functools.cache
def of_results() -> set[str]:
    """The keys of results that have sections of every kind: some are called as tables of a drive."""
    import ninescope

    small = {"geometry.blocks_per_plane": 24, "geometry.channels": 1, "ftl.over_provisioning": 0.3}
    job = ninescope.Workload.job(rw="randrw", size="1m", requests=50)
    documents = [ninescope.Drive.preset("hybrid-ecc").with_(small).run(job).document]

    def named(value: Any, name: str) -> Iterator[str]:
        yield name
        for key, inner in value.items() if isinstance(value, dict) else ():
            yield from named(inner, f"{name}.{key}".lstrip("."))

    return {name for document in documents for name in named(document, "")}


def options() -> set[str]:
    """Every option of every command."""
    import typer

    from ninescope.cli import command_line

    def of(command: Any) -> Iterator[str]:
        for parameter in command.params:
            yield from (*parameter.opts, *parameter.secondary_opts)
        for inner in getattr(command, "commands", {}).values():
            yield from of(inner)

    return {"--help", *of(typer.main.get_command(command_line()))}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_options_that_a_page_names_are_there(page):
    text = re.sub(r"^(\s*(\$ )?)?(cargo|make|git|fio|uv) .*$", "", page.read_text(), flags=re.MULTILINE)
    text = re.sub(r"`[^`\n]*(cargo|mypy|stubtest|tools/)[^`\n]*`", "", text)
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))
    assert sorted(named - options() - FOREIGN_OPTIONS) == []


def files() -> list[str]:
    """Every file of the tree that a page may name from some folder on."""
    folders = ("crates", "python", "tests", "docs", "examples", "experiments", "presets", "tools", "fuzz")
    return [f"/{path.relative_to(ROOT)}" for name in folders for path in (ROOT / name).rglob("*.*")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_source_files_that_a_page_names_are_there(page):
    named = re.findall(r"`([\w./-]+\.(?:rs|py|toml|md|fio))`", page.read_text())
    paths = [path for path in named if "/" in path and not path.startswith(("out/", "./", "/"))]
    known = files()
    # Crates have their sources in a folder `src`, which nobody says.
    short = [path.replace("/src/", "/") for path in known]
    assert [path for path in paths if not any(name.endswith(f"/{path}") for name in (*known, *short))] == []


def counted(page: str, pattern: str) -> int:
    [word] = re.findall(pattern, (ROOT / page).read_text())
    return int(word) if word.isdigit() else NUMBERS[word.lower()]


def test_what_the_pages_count_is_as_many():
    table = section("docs/traces.md", "## Formats").partition("### ")[0]
    formats = re.findall(r"^\| (`[a-z].*?) \|", table, re.MULTILINE)
    named = [name for name in formats if "csv:" not in name]
    assert counted("docs/usage.md", r"content: (\w+) formats") == len(named)
    profiles = list((ROOT / "presets/profiles").glob("*.toml"))
    assert counted("README.md", r"(\w+) come with ninescope") == len(profiles)
    papers = [folder for folder in (ROOT / "experiments").glob("0*") if (folder / "claims.toml").exists()]
    assert counted("README.md", r"(\w+) papers can be checked") == len(papers)


def test_every_cause_has_its_words():
    """A row of docs/results.md for each cause that a request can have, as the tables call it."""
    from ninescope.text.causes import LOOKS

    text = section("docs/results.md", "## Where the time went")
    rows = re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE)
    said = {name.strip() for row in rows for name in row.split(",")}
    shown = {look.label for cause, look in LOOKS.items() if cause != "other"}
    assert sorted(shown - said) == []
