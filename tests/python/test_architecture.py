"""The rooms of python/ninescope, and the arrows between them: what may import what.

Every import counts as an arrow: at the top of a module, late in a function, for types alone, and a name that
is taken from `ninescope` itself. Whoever adds a module puts it into a room; whoever adds a room adds it here
and to docs/python-rooms.md.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from conftest import ROOT

PACKAGE = ROOT / "python/ninescope"

ROOMS = (
    ("_native",),
    ("toml",),
    ("common",),
    ("extension",),
    ("result", "mqsim"),
    ("simulation",),
    ("text",),
    ("figures",),
    ("pictures",),
    ("lab",),
    ("report",),
    ("papers",),
    ("cli",),
    ("__main__",),
)
"""Each may import those before it; those side by side do not see each other."""
ROOMS_OF_THE_LAB = (
    ("build", "pool", "statistics"),
    ("compare", "fidelity", "replications"),
    ("sweep", "levers"),
    ("search",),
    ("calibrate",),
)
"""The same within the lab."""
DOOR = "conveniences"
"""The one module that may import whatever it is asked for."""
THROUGH_THE_DOOR = (
    "result.result",  # print(result), result.plot, result.report
    "simulation.codes",  # Code.plot
    "lab.compare.comparison",  # print(comparison), save, report
    "lab.search.search",  # Search.report
    "lab.search.record",  # what a notebook shows
)
"""Who comes through it: data that shows itself."""
EXCEPTIONS: Mapping[tuple[str, str], str] = {}
"""Arrows that may be there nevertheless, from one module to another, each with its reason."""

ALONE = {
    "fsspec": "lab.sweep.store",
    "jinja2": "report.html",
    "matplotlib": "pictures",
    "optuna": "lab.search.optimiser",
    "plotly": "pictures.interactive",
    "tqdm": "common.bars",
    "typer": "cli",
}
"""What others wrote, and who alone knows it."""
SCREEN = 70
"""So many lines a function may have, its options and what it says of itself included."""


class Arrow(NamedTuple):
    """An import."""

    source: str
    target: str
    line: int


class Tree:
    """The modules below a folder, by their names without that of the package, and their arrows.

    What the package itself offers is at home elsewhere: whoever takes it has an arrow to there, and the
    package has none.
    """

    def __init__(self, root: Path) -> None:
        self.name = root.name
        self.files = {self._module(root, file): file for file in sorted(root.rglob("*.py"))}
        self.homes = _homes(self.files[""]) if "" in self.files else {}
        self.hidden: list[str] = []
        self.arrows = [
            arrow
            for module, file in self.files.items()
            for arrow in self._arrows(module, file)
            if module and arrow.target not in ("", module)
        ]

    @staticmethod
    def _module(root: Path, file: Path) -> str:
        parts = file.relative_to(root).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def _arrows(self, module: str, file: Path) -> Iterator[Arrow]:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            for name in self._named(node, module, file):
                yield Arrow(module, self._known(name), node.lineno)

    def _named(self, node: ast.AST, module: str, file: Path) -> Iterator[str]:
        """Yield what a node imports, with all its dots, without the name of the package."""
        if isinstance(node, ast.Import):
            yield from (name for each in node.names if (name := self._within(each.name)) is not None)
            if any(each.asname and each.name == self.name for each in node.names):
                self._hide(module, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            base = self._base(node, module, file)
            if base is not None:
                yield from (f"{base}.{each.name}".lstrip(".") for each in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == self.name:
                yield node.attr
        elif isinstance(node, ast.Call) and "import_module" in ast.dump(node.func):
            words = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
            given = node.args[0] if node.args else None
            if isinstance(given, ast.Constant):
                name = self._within(str(given.value))
                yield from () if name is None else (name,)
            elif module and any(str(word).startswith(self.name) for word in words):
                self._hide(module, node.lineno)

    def _hide(self, module: str, line: int) -> None:
        self.hidden.append(f"{module}, line {line}: imports what its text does not name")

    def _within(self, name: str) -> str | None:
        first, _, rest = name.partition(".")
        return rest if first == self.name else None

    def _base(self, node: ast.ImportFrom, module: str, file: Path) -> str | None:
        if not node.level:
            return self._within(node.module or "")
        parents = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
        above = parents[: len(parents) - node.level + 1]
        return ".".join([*above, *([node.module] if node.module else [])])

    def _known(self, name: str) -> str:
        """Return the module that a dotted name is or lies in; what the package itself offers is at home."""
        first, _, rest = name.partition(".")
        if first in self.homes:
            name = f"{self.homes[first]}.{rest}"
        while name and name not in self.files and name != "_native":
            name = name.rpartition(".")[0]
        return name


def _homes(file: Path) -> dict[str, str]:
    """Return where the names are at home that the package offers: its table `_HOME`."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_HOME":
            return dict(ast.literal_eval(node.value))
    return {}


def wrong(tree: Tree, rooms: tuple[tuple[str, ...], ...], within: str = "") -> Iterator[str]:
    """Yield arrows that lead up, or aside, and modules that are in no room."""
    place = {room: level for level, names in enumerate(rooms) for room in names}
    before = f"{within}." if within else ""

    def room(module: str) -> str | None:
        below = module.startswith(before) and module != within and module != DOOR
        return module.removeprefix(before).partition(".")[0] if below else None

    for module in tree.files:
        if module and room(module) not in {*place, None}:
            yield f"{module} is in no room: {room(module)} is not in the table"
    for source, target, line in tree.arrows:
        one, other = room(source), room(target)
        if one == other or one not in place or other not in place or (source, target) in EXCEPTIONS:
            continue
        if place[one] <= place[other]:
            how = "above" if place[one] < place[other] else "beside"
            yield f"{source}, line {line}: imports {target}, and {before}{other} is {how} {before}{one}"


def circles(tree: Tree) -> Iterator[str]:
    """Yield circles of modules, a shortest one for each knot; the door is no part of any."""
    ends: dict[str, set[str]] = {module: set() for module in tree.files}
    for source, target, _ in tree.arrows:
        if DOOR not in (source, target) and (source, target) not in EXCEPTIONS and target in ends:
            ends[source].add(target)
    told: set[str] = set()
    for start in sorted(ends):
        way = _way_back(start, ends)
        if way and not told & set(way):
            told |= set(way)
            yield " -> ".join([*way, start])


def _way_back(start: str, ends: Mapping[str, set[str]]) -> list[str]:
    """Return the shortest way from a module to itself; none where there is none."""
    ways, seen = [[start]], {start}
    while ways:
        way = ways.pop(0)
        for after in sorted(ends[way[-1]]):
            if after == start:
                return way
            if after not in seen:
                seen.add(after)
                ways.append([*way, after])
    return []


def strangers(tree: Tree) -> Iterator[str]:
    """Yield who comes through the door and is not named."""
    for source, target, line in tree.arrows:
        if target == DOOR and source not in THROUGH_THE_DOOR:
            yield f"{source}, line {line}: imports {DOOR}, which is for {', '.join(THROUGH_THE_DOOR)}"


@pytest.fixture(scope="module")
def package() -> Tree:
    return Tree(PACKAGE)


def test_every_arrow_leads_down(package: Tree) -> None:
    assert not list(wrong(package, ROOMS))


def test_every_arrow_of_the_lab_leads_down(package: Tree) -> None:
    assert not list(wrong(package, ROOMS_OF_THE_LAB, within="lab"))


def test_no_modules_import_each_other_in_a_circle(package: Tree) -> None:
    assert not list(circles(package))


def test_only_data_that_shows_itself_comes_through_the_door(package: Tree) -> None:
    assert not list(strangers(package))
    assert {source for source, target, _ in package.arrows if target == DOOR} == set(THROUGH_THE_DOOR)


def test_no_import_is_hidden(package: Tree) -> None:
    assert not package.hidden


@pytest.mark.parametrize(("library", "alone"), ALONE.items())
def test_what_others_wrote_is_known_to_one_alone(package: Tree, library: str, alone: str) -> None:
    imports = re.compile(rf"^\s*(from|import) {library}\b", re.MULTILINE)
    knows = [module for module, file in package.files.items() if imports.search(file.read_text())]
    assert knows
    assert not [module for module in knows if module != alone and not module.startswith(f"{alone}.")]


def test_the_page_on_architecture_shows_the_same_rooms() -> None:
    def shown(rooms: tuple[tuple[str, ...], ...]) -> str:
        return " < ".join(names[0] if len(names) == 1 else f"{{ {', '.join(names)} }}" for names in rooms)

    page = (ROOT / "docs/python-rooms.md").read_text()
    assert f"\n{shown(ROOMS[1:-1])}\n" in page
    assert f"`{shown(ROOMS_OF_THE_LAB)}`" in page
    assert all(f"\n| `{room}` |" in page for names in ROOMS[1:-1] for room in names)


def test_exceptions_are_those_that_are_there(package: Tree) -> None:
    assert set(EXCEPTIONS) <= {(source, target) for source, target, _ in package.arrows}


def test_the_root_holds_a_handful_of_modules(package: Tree) -> None:
    alone = {module for module, file in package.files.items() if file.parent == PACKAGE and module}
    assert alone == {"__main__", DOOR, "toml"}


def test_every_function_fits_a_screen(package: Tree) -> None:
    long = [
        f"{module}: {node.name} begins in line {node.lineno}"
        for module, file in package.files.items()
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno >= SCREEN
    ]
    assert not long


# ---- the checker itself ------------------------------------------------------------------------------


def house(root: Path, files: Mapping[str, str]) -> Tree:
    """Build a package of modules, each by its path without the ending."""
    package = root / "ninescope"
    for name, text in {"__init__": "", **files}.items():
        file = package / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        (file.parent / "__init__.py").touch()
        file.write_text(textwrap.dedent(text))
    return Tree(package)


LOW_AND_HIGH = (("low",), ("high", "other"))


@pytest.mark.parametrize(
    "text",
    [
        "from ninescope.high import thing",
        "import ninescope.high.thing",
        "from ninescope import high",
        "from ..high.thing import word",
        "def late():\n    from ninescope.high.thing import word",
        "if TYPE_CHECKING:\n    from ninescope.high.thing import word",
        "from ninescope import Word",
        "import ninescope\nninescope.Word()",
        "import importlib\nimportlib.import_module('ninescope.high.thing')",
    ],
)
def test_an_arrow_that_leads_up_is_found_however_it_is_written(tmp_path: Path, text: str) -> None:
    homes = '_HOME = {"Word": "high.thing"}'
    tree = house(tmp_path, {"__init__": homes, "low/one": text, "high/thing": "word = 1"})
    [found] = wrong(tree, LOW_AND_HIGH)
    assert found.startswith("low.one, line ")
    assert found.endswith("and high is above low")


def test_rooms_side_by_side_do_not_see_each_other(tmp_path: Path) -> None:
    tree = house(tmp_path, {"low/one": "", "high/thing": "from ninescope.other import two", "other/two": ""})
    [found] = wrong(tree, LOW_AND_HIGH)
    assert found == "high.thing, line 1: imports other.two, and other is beside high"


def test_arrows_that_lead_down_or_stay_in_their_room_are_right(tmp_path: Path) -> None:
    down = "from ninescope.low.one import word\nfrom ninescope.high import two\nimport json\n"
    tree = house(tmp_path, {"low/one": "word = 1", "high/thing": down, "high/two": ""})
    assert not [*wrong(tree, LOW_AND_HIGH), *circles(tree), *tree.hidden]


def test_a_module_belongs_to_a_room(tmp_path: Path) -> None:
    [found] = wrong(house(tmp_path, {"low/one": "", "stray": ""}), LOW_AND_HIGH)
    assert found == "stray is in no room: stray is not in the table"


def test_a_circle_is_told_as_the_way_around_it(tmp_path: Path) -> None:
    files = {
        "low/one": "from ninescope.low.two import b",
        "low/two": "def late():\n    from ninescope.low import three",
        "low/three": "if TYPE_CHECKING:\n    from ninescope.low.one import a",
        "low/apart": "from ninescope.low import one",
    }
    tree = house(tmp_path, files)
    assert list(circles(tree)) == ["low.one -> low.two -> low.three -> low.one"]


def test_a_module_that_imports_from_what_gathers_it_is_a_circle(tmp_path: Path) -> None:
    gathers = "from ninescope.low.one import a"
    tree = house(tmp_path, {"low/__init__": gathers, "low/one": "from ninescope.low import b"})
    assert list(circles(tree)) == ["low -> low.one -> low"]


def test_the_door_leads_anywhere_and_opens_to_few(tmp_path: Path) -> None:
    up = "def show(it):\n    from ninescope.high import thing"
    asks = "from ninescope import conveniences"
    high = "from ninescope.low import one"
    tree = house(tmp_path, {"conveniences": up, "low/one": asks, "high/thing": high})
    assert not [*wrong(tree, LOW_AND_HIGH), *circles(tree)]
    [found] = strangers(tree)
    assert found.startswith("low.one, line 1: imports conveniences, which is for result.result")


@pytest.mark.parametrize(
    "text", ["import importlib\nimportlib.import_module(f'ninescope.{name}')", "\nimport ninescope as other"]
)
def test_an_import_that_is_put_together_or_renamed_is_hidden(tmp_path: Path, text: str) -> None:
    tree = house(tmp_path, {"low/one": text})
    assert tree.hidden == ["low.one, line 2: imports what its text does not name"]
