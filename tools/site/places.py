"""Where each file of the tree lies on the site, and what its links lead to there."""

from __future__ import annotations

import dataclasses
import functools
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from writing import toctree

from ninescope.toml import loads

ROOT = Path(__file__).resolve().parents[2]
NAVIGATION = Path(__file__).with_name("navigation.toml")
FENCE = re.compile(r"^\s*(```+|~~~+)")
LINK = re.compile(r"\]\(([^()\s]+)\)")
CODE = re.compile(r"(`+[^`]*`+)")
SKIPPED = {"__pycache__", "target", "out"}
LARGEST_LISTING = 200_000
"""Bytes of a source that is shown; a larger one, as anything that is no text, is only named."""


def write(path: Path, content: str | bytes) -> None:
    """Write a file unless it holds that already: Sphinx reads anew what is newer."""
    data = content.encode() if isinstance(content, str) else content
    if not path.is_file() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def place(path: str) -> str:
    """Return where a page lies on the site: of docs/ as there, others by their path in the repository."""
    of = PurePosixPath(path)
    of = of.relative_to("docs") if of.parts[0] == "docs" else PurePosixPath("repository", of)
    folder_page = of.name == "README.md" and of.parent != PurePosixPath("repository")
    return str(of.with_name("index.md") if folder_page else of)


def navigation() -> list[dict[str, Any]]:
    """Return the sections of the site, each with its title and its pages."""
    sections: list[dict[str, Any]] = loads(NAVIGATION.read_text())["section"]
    return sections


@dataclasses.dataclass
class Pages:
    """The pages of the site that are written by hand, and what they lead to."""

    root: Path
    placed: dict[str, str]
    """Pages by their path in the repository: where they lie on the site."""
    copied: dict[str, Path] = dataclasses.field(default_factory=dict)
    """Figures and data by where they lie on the site."""
    listed: dict[str, Path] = dataclasses.field(default_factory=dict)
    """Sources that pages link to, by where their listing lies; folders too."""

    @classmethod
    def read(cls, root: Path) -> Pages:
        """Find the pages: all of docs/, and those elsewhere that the navigation names."""
        docs = [path.relative_to(root).as_posix() for path in sorted((root / "docs").rglob("*.md"))]
        named = [page for section in navigation() for page in section["pages"]]
        elsewhere = [page for page in named if not page.startswith(("docs/", "reference/"))]
        return cls(root, {page: place(page) for page in [*docs, *elsewhere]})

    def texts(self) -> dict[str, str]:
        """Return what stands on each page, its links as they are on the site."""
        texts = {at: self.relinked(page) for page, at in self.placed.items()}
        for at, children in self.children().items():
            texts[at] += toctree(_named(children))
        texts["index.md"] += "".join(
            toctree(_named(self.named(page) for page in section["pages"]), section["title"])
            for section in navigation()
        )
        return texts

    def named(self, page: str) -> str:
        """Return where a page that the navigation names lies: one of the tree, or one of the reference."""
        return self.placed.get(page, page)

    def children(self) -> dict[str, list[str]]:
        """Return the pages that the navigation does not name, by the first page of their folder."""
        named = {self.named(page) for section in navigation() for page in section["pages"]}
        found: dict[str, list[str]] = {}
        for at in sorted(set(self.placed.values()) - named - {"index.md"}):
            above = PurePosixPath(at).parent
            above = above.parent if PurePosixPath(at).name == "index.md" else above
            while str(above / "index.md") not in named and above.name:
                above = above.parent
            if not above.name:
                raise SystemExit(f"tools/site/navigation.toml names no place for {at}")
            found.setdefault(str(above / "index.md"), []).append(at)
        return found

    def relinked(self, page: str) -> str:
        """Return the text of a page with its links as they are on the site."""
        lines, fence = [], ""
        for line in (self.root / page).read_text(encoding="utf-8").splitlines(keepends=True):
            mark = FENCE.match(line)
            if mark and (not fence or mark[1].startswith(fence)):
                fence = "" if fence else mark[1]
            elif not fence:
                parts = CODE.split(line)
                lead = functools.partial(self._led, page)
                parts[::2] = [LINK.sub(lead, part) for part in parts[::2]]
                line = "".join(parts)  # noqa: PLW2901
            lines.append(line)
        return "".join(lines)

    def _led(self, page: str, link: re.Match[str]) -> str:
        target, hash_, anchor = link[1].partition("#")
        if "://" in target or target.startswith("mailto:") or not target:
            return link[0]
        path = os.path.normpath(PurePosixPath(page).parent / target)
        if path.startswith(".."):
            raise SystemExit(f"{page}: {target} lies outside of the repository")
        full = self.root / path
        if not full.exists():
            raise SystemExit(f"{page}: there is no {target}")
        if full.is_dir() and f"{path}/README.md" in self.placed:
            path = f"{path}/README.md"
        here = PurePosixPath(self.placed[page]).parent
        if path in self.placed:
            return f"]({_relative(self.placed[path], here)}{hash_}{anchor})"
        if path.startswith("docs/") and full.is_file():
            at = path.removeprefix("docs/")
            self.copied[at] = full
            return f"]({_relative(at, here)})"
        return f"]({_relative(self._list(full), here)}){{.external}}"

    def _list(self, path: Path) -> str:
        """Have a source listed, and what lies in a folder too; return where."""
        of = path.relative_to(self.root).as_posix()
        at = f"source/{of}/index.html" if path.is_dir() else f"source/{of}.html"
        if at not in self.listed:
            self.listed[at] = path
            for inner in _within(path) if path.is_dir() else ():
                self._list(inner)
        return at


def shown(path: Path) -> bool:
    """Whether a source is text, and short enough to be shown."""
    return path.stat().st_size <= LARGEST_LISTING and b"\0" not in path.read_bytes()


def _within(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name not in SKIPPED and not path.name.startswith(".") and (path.is_dir() or shown(path)):
            yield path


def _relative(at: str, folder: PurePosixPath) -> str:
    return os.path.relpath(at, folder)


def _named(places: Iterable[str]) -> list[str]:
    """Return pages as a list of pages names them, from the first folder of the site on."""
    return [f"/{PurePosixPath(at).with_suffix('')}" for at in places]
