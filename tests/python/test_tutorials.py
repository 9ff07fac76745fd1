"""Tutorials and case studies run as they are written, and show what is printed.

From top to bottom, in one folder: a `toml` block begins with a comment `# NAME` and is the file of that
name, as is a `python` block that begins with `# NAME.py`; `sh` and other `python` blocks are run whole, and a
`text` block is what those before it printed, whole but for what "..." stands for. Programs in Rust are shown
in parts; their tests are beside them.
`NINESCOPE_BLESS=1 pytest tests/python/test_tutorials.py` renews what is shown; look at what it says first.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import NATIVE, ROOT, forking

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
FOLDERS = ("tutorials", "case-studies")
PAGES = [page for folder in FOLDERS for page in sorted((ROOT / "docs" / folder).glob("[!R]*.md"))]
POLICIES = ROOT / "docs/own-policies.md"
VICTIM = ROOT / "examples/own-policies/src/bin/victim.rs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LEFT_OUT = re.compile(r"^ *\.\.\.\n", re.MULTILINE)
NOT_RUN = ("$ make ", "$ export ", "$ cargo ", "$ cp ", "$ sudo ", "$ fio ")
"""What a tutorial shows and a test cannot do: building, and what a drive of one's own is asked."""


def timeless(line: str) -> str:
    return re.sub(r", [\d.]+ [mu]?s of wall time", ", 1 s of wall time", line)


def skeleton(line: str) -> str:
    """A line without its numbers and its room: what it is about."""
    return re.sub(r"(?<![\w.])[-+]?\d[\d.,]*%?|\s+|\b([num]?s|[kMG])\b", "", line)


def place(part: list[str], printed: list[str], at: int) -> int | None:
    """Where lines begin that are about the same, from a line on."""
    words = [skeleton(line) for line in part]
    ends = range(at, len(printed) - len(part) + 1)
    exact = [start for start in ends if printed[start : start + len(part)] == part]
    alike = [
        start for start in ends if [skeleton(line) for line in printed[start : start + len(part)]] == words
    ]
    first = [start for start in ends if skeleton(printed[start]) == words[0]]
    return next(iter([*exact, *alike, *first]), None)


def as_printed(shown: str, printed: list[str], page: str) -> str:
    """What a text block has to be, after what was printed."""
    at, parts = 0, []
    for part in LEFT_OUT.split(shown):
        lines = [timeless(line) for line in part.splitlines()]
        start = place(lines, printed, at) if lines else at
        assert start is not None, f"{page} shows what is not printed:\n{part}\nof\n" + "\n".join(printed)
        at = start + len(lines)
        parts.append("".join(f"{line}\n" for line in printed[start:at]))
    marks = LEFT_OUT.findall(shown)
    return "".join(part + mark for part, mark in zip(parts, [*marks, ""], strict=True))


class Reader:
    """Who follows a tutorial to the letter, in a folder with the examples."""

    def __init__(self, page: Path, folder: Path, commands: Path) -> None:
        self.page, self.folder = page, folder
        (folder / "examples").symlink_to(ROOT / "examples")
        (commands / "ninescope").write_text(forking().command.read_text())
        self.environment = os.environ | {"PATH": f"{commands}:{os.environ['PATH']}", "COLUMNS": "100"}
        self.printed: list[str] = []
        self.shown = False
        self.ran = 0

    def run(self, command: list[str]) -> None:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, f"{self.page.name}: {command[-1]}\n{done.stdout}{done.stderr}"
        self.printed, self.shown = [] if self.shown else self.printed, False
        self.printed += [timeless(line) for line in done.stdout.splitlines()]
        self.ran += 1

    def reads(self, language: str, text: str) -> str:
        """Do what a block says; return it as it has to be."""
        if language == "sh":
            self.run(["bash", "-eo", "pipefail", "-c", text])
        elif language == "python" and (name := re.match(r"# ([\w-]+\.py)\n", text)):
            (self.folder / name[1]).write_text(text)
        elif language == "python":
            self.run(["python", "-c", text])
        elif language == "toml":
            name = re.match(r"# ([\w./-]+)\n", text)
            assert name, f"{self.page.name}: a file has no name in its first line: {text[:40]}"
            (self.folder / name[1]).write_text(text)
        elif language == "text":
            text, self.shown = as_printed(text, self.printed, self.page.name), True
        elif language == "console":
            assert all(line.startswith(NOT_RUN) for line in text.splitlines() if line.startswith("$")), text
            if "$ cargo run" in text:  # what it prints is held against what the page about policies says
                self.printed, self.shown = POLICIES.read_text().splitlines(), False
        else:
            assert language == "rust", f"{self.page.name}: nobody runs {language}"
            assert text in VICTIM.read_text(), f"{self.page.name} shows what is not in {VICTIM.name}:\n{text}"
        return text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_does_what_it_says(page, tmp_path, shell_path):
    folder = tmp_path / "here"
    folder.mkdir()
    reader = Reader(page, folder, shell_path)
    text = page.read_text()
    renewed = BLOCK.sub(lambda block: f"```{block[1]}\n{reader.reads(block[1], block[2])}```", text)
    assert reader.ran >= 2, "a tutorial is there to be followed"
    if os.environ.get("NINESCOPE_BLESS"):
        page.write_text(renewed)
    assert [timeless(line) for line in text.splitlines()] == [timeless(line) for line in renewed.splitlines()]


@pytest.mark.parametrize(("folder", "least"), [("tutorials", 6), ("case-studies", 5)])
def test_the_list_names_every_page_of_its_folder(folder, least):
    listed = re.findall(r"\]\(([\w-]+\.md)\)", (ROOT / "docs" / folder / "README.md").read_text())
    assert sorted(listed) == [page.name for page in PAGES if page.parent.name == folder]
    assert len(listed) >= least


def test_every_paper_has_a_case_study_that_leads_to_what_it_claims():
    for paper in sorted((ROOT / "experiments").glob("[0-9]*")):
        number = paper.name[:3]
        [study] = [page for page in PAGES if page.name.startswith(number)]
        text = study.read_text()
        assert f"ninescope papers run {number} --quick" in text
        assert f"../papers/{number}.md" in text


@pytest.mark.parametrize(
    ("shown", "needed"),
    [
        ("mean 5 us\n", "mean 7 us\n"),  # renewed
        ("a\n...\nmean 7 us\n", "a\n...\nmean 7 us\n"),
        ("...\nmean 5 us\n...\n", "...\nmean 7 us\n...\n"),
    ],
)
def test_what_is_shown_is_held_against_what_was_printed(shown, needed):
    assert as_printed(shown, ["a", "b 1", "mean 7 us", "c"], "page") == needed


def test_what_nobody_printed_is_told():
    with pytest.raises(AssertionError, match="shows what is not printed"):
        as_printed("nothing of it\n", ["a", "b"], "page")
