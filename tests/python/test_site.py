"""The site of the documentation: pages have places, links lead somewhere, the reference leaves nothing out.

Building it (`make site`) fails at whatever Sphinx warns of, as a link to a heading that is not there.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conftest import NATIVE, ROOT
from schema_tables import tables

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")


@pytest.fixture(scope="module")
def site() -> Any:
    """The modules of tools/site, which find each other as they do when the folder is run."""

    def module(name: str) -> ModuleType:
        sys.path.insert(0, str(ROOT / "tools/site"))
        try:
            return importlib.import_module(name)
        finally:
            sys.path.remove(str(ROOT / "tools/site"))

    return module


@pytest.fixture(scope="module")
def reference(site) -> dict[str, str]:
    texts: dict[str, str] = site("reference").texts()
    return texts


def rows_of(page: str) -> dict[str, list[str]]:
    """Rows of tables by their first cell, all that there are of one key."""
    found: dict[str, list[str]] = {}
    for row in re.findall(r"^\| `([^`]+)` \| .*$", page, re.MULTILINE):
        found[row] = [line for line in page.splitlines() if line.startswith(f"| `{row}` |")]
    return found


@pytest.mark.parametrize("kind", ["drive", "job", "profile"])
def test_every_key_has_a_row_with_its_unit_its_default_and_its_meaning(reference, kind):
    from ninescope.common import catalogue

    root = json.loads(catalogue.schemas()[kind])
    text = "\n".join(page for at, page in reference.items() if at.startswith(f"reference/{kind}"))
    rows, seen = rows_of(text), 0
    for table in tables(root):
        path = "".join("[]" if part == 0 else f".{part}" for part in table.path)
        for key, schema in table.keys.items():
            if key == "policy" and table.policy:
                continue
            name = f"{path}.{key}".lstrip(".")
            if kind == "drive" and "." not in name:
                assert f"`{name}`" in reference["reference/drive/index.md"], name
                continue
            assert name in rows, name
            default, said = schema.get("default"), " ".join(schema.get("description", "").split())
            if isinstance(default, str | int | float):
                shown = json.dumps(default, ensure_ascii=False).replace("|", "\\|")
                assert any(f"| `{shown}` |" in row for row in rows[name]), (name, shown)
            for unit in re.findall(r"\[(ns|count|bytes|B|percent|1/bit)\]", said):
                assert any(f"| {unit} |" in row for row in rows[name]), (name, unit)
            first = re.split(r"[\[\]`*_<{|]", said)[0].strip()
            assert any(first in row for row in rows[name]), (name, first)
            seen += 1
    assert seen > {"drive": 300, "job": 100, "profile": 30}[kind]


def test_every_value_of_every_preset_is_there_with_its_source(reference):
    import ninescope
    from ninescope.toml import loads

    def leaves(table: dict[str, Any], before: str = "") -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in table.items():
            inner = isinstance(value, dict) and "policy" not in value
            found |= leaves(value, f"{before}{key}.") if inner else {f"{before}{key}": value}
        return found

    sourced = 0
    for preset in ninescope.presets():
        resolved = loads(ninescope.Drive.preset(preset.name).resolve())
        sources = resolved.pop("sources", {})
        page = reference[f"reference/presets/{preset.name}.md"]
        for key, value in leaves(resolved).items():
            assert key == "summary" or f"| `{key}` |" in page, (preset.name, key)
            if isinstance(value, str) and key != "summary":
                assert f'| `{key}` | `"{value}"` |' in page, (preset.name, key)
        for key, source in sources.items():
            first = re.split(r"[\[\]`*_<{|]", " ".join(source.split()))[0].strip()
            assert any(first in row for row in rows_of(page)[key]), (preset.name, key)
            sourced += 1
    assert sourced > 100


def test_every_option_of_every_command_is_there(reference):
    import typer

    from ninescope.cli import command_line

    page = reference["reference/commands.md"]

    def walk(command: Any, path: str) -> int:
        inner = getattr(command, "commands", {})
        if inner:
            return sum(walk(each, f"{path} {name}") for name, each in inner.items())
        section = page.partition(f"## `{path}`\n")[2].partition("\n## ")[0]
        options = [name for each in command.params if each.param_type_name == "option" for name in each.opts]
        assert [name for name in options if f"`{name}" not in section] == [], path
        return len(options)

    assert walk(typer.main.get_command(command_line()), "ninescope") > 100


def test_what_the_package_offers_has_pages(reference):
    import ninescope

    pages = "\n".join(text for at, text in reference.items() if at.startswith("reference/python/"))
    for name in ninescope.__all__:
        assert re.search(rf"^\.\. auto\w+:: ninescope\.{name}$", pages, re.MULTILINE), name
    for name in ("ninescope.lab.compare.compare", "ninescope.lab.levers.pull", "ninescope.result.Band"):
        assert f":: {name}\n" in pages, name


def test_every_page_has_one_place(site):
    places = site("places")
    pages = places.Pages.read(ROOT)
    named = [page for section in places.navigation() for page in section["pages"]]
    assert len(named) == len(set(named))
    below = [page for children in pages.children().values() for page in children]
    assert sorted([*map(pages.named, named), *below, "index.md"]) == sorted(
        [*pages.placed.values(), *(page for page in named if page.startswith("reference/"))]
    )
    assert len(pages.placed) > 120


PAGE = """See [b](b.md#there), [the root](../../README.md), [a source](../../src/main.rs),
[all](../../src), ![x](drawn.png). `[not](a-link.md)`, [out](https://example.org) and [here](#there).

```text
[nor](this.md)
```
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    files = dict.fromkeys(
        ("README.md", "docs/README.md", "docs/sub/README.md", "docs/sub/b.md"), "# A page\n"
    )
    files |= {"docs/sub/a.md": PAGE, "docs/sub/drawn.png": "PNG", "src/main.rs": "fn main() {}\n"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_links_lead_to_the_same_on_the_site(site, tree):
    places = site("places")
    named = ["docs/README.md", "docs/sub/README.md", "docs/sub/a.md", "docs/sub/b.md", "README.md"]
    pages = places.Pages(tree, {name: places.place(name) for name in named})
    assert pages.placed["docs/README.md"] == "index.md"
    assert pages.placed["docs/sub/README.md"] == "sub/index.md"
    assert pages.relinked("docs/sub/a.md") == (
        "See [b](b.md#there), [the root](../repository/README.md), "
        "[a source](../source/src/main.rs.html){.external},\n[all](../source/src/index.html){.external}, "
        + PAGE[PAGE.index("![x]") :]
    )
    assert set(pages.copied) == {"sub/drawn.png"}
    assert set(pages.listed) == {"source/src/main.rs.html", "source/src/index.html"}


@pytest.mark.parametrize("link", ["nothing.md", "../../../beyond.md"])
def test_links_to_nothing_end_the_build(site, tree, link):
    places = site("places")
    (tree / "docs/sub/b.md").write_text(f"[x]({link})\n")
    pages = places.Pages(tree, {"docs/sub/b.md": "sub/b.md"})
    with pytest.raises(SystemExit, match=r"^docs/sub/b\.md: "):
        pages.relinked("docs/sub/b.md")


def test_text_is_shown_as_it_is(site):
    writing = site("writing")
    assert writing.escaped("a_b *c* `d_e|f` [g] <h>") == "a\\_b \\*c\\* `d_e\\|f` \\[g\\] \\<h>"
    assert writing.code("a|b") == "`a\\|b`"
    assert writing.table(("x", "y"), [("1", "2")]) == ["| x | y |", "| --- | --- |", "| 1 | 2 |", ""]
