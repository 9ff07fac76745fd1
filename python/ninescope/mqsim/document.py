"""MQSim's XML files, read without trusting them: no document types or entities; every value has its line."""

from __future__ import annotations

import dataclasses
import difflib
import math
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from ninescope._native import ConfigError

_BYTES_MAX = 1 << 24
_DEPTH_MAX = 16


@dataclasses.dataclass
class Element:
    """One tag."""

    tag: str
    line: int
    text: str = ""
    children: list[Element] = dataclasses.field(default_factory=list)


class _Builder:
    """Makes a tree of what the parser meets, and refuses what MQSim's files never hold."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.parser.EntityDeclHandler = self.entity
        self.root: Element | None = None
        self.open: list[Element] = []

    def refuse(self, problem: str) -> NoReturn:
        raise ConfigError(f"{self.name}: line {self.parser.CurrentLineNumber}: {problem}")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, self.parser.CurrentLineNumber)
        if len(self.open) == _DEPTH_MAX:
            self.refuse(f"<{tag}> lies {_DEPTH_MAX} tags deep, and MQSim's files do not")
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop()

    def characters(self, text: str) -> None:
        self.open[-1].text += text

    def doctype(self, *declaration: object) -> None:
        self.refuse("a document type (<!DOCTYPE ...>) is not accepted")

    def entity(self, *declaration: object) -> None:
        self.refuse("an entity declaration is not accepted")


def read(path: str, root: str) -> Element:
    """Return the file's outermost tag, which has to be `root`."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    if len(data) > _BYTES_MAX:
        raise ConfigError(f"{path}: {len(data):,} bytes are no configuration of MQSim")
    builder = _Builder(path)
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as error:
        if error.code == expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS]:
            within = builder.open[-1] if builder.open else None
            where = (
                f"within <{within.tag}>, which begins in line {within.line}" if within else "before any tag"
            )
            raise ConfigError(f"{path}: line {error.lineno}: the file ends {where}") from None
        raise ConfigError(f"{path}: line {error.lineno}: {expat.ErrorString(error.code)}") from None
    found = builder.root
    if found is None or found.tag != root:
        what = "nothing" if found is None else f"<{found.tag}>"
        raise ConfigError(f"{path}: the file holds {what}, and <{root}> is wanted")
    return found


KINDS = {"Execution_Parameter_Set": "the drive", "MQSim_IO_Scenarios": "the workload"}
"""MQSim's files by their outermost tags."""
_HEAD = 4096
"""So many bytes of a file hold its outermost tag, with what comments stand before it."""


def kind_of(path: str) -> str | None:
    """Say which file of MQSim a file is; None: it is none."""
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return None
    return next((kind for tag, kind in KINDS.items() if f"<{tag}>".encode() in head), None)


def import_command(path: str) -> str:
    """Return the command that takes over a file of MQSim."""
    files = ["SSDCONFIG.xml", "WORKLOAD.xml"]
    files[kind_of(path) != "the drive"] = path
    return f"`ninescope import mqsim {' '.join(files)} --out DIR`"


class Sheet:
    """The values of one tag."""

    def __init__(self, file: str, element: Element) -> None:
        self.file = file
        self.element = element
        self._values: dict[str, Element] = {}
        for child in element.children:
            if child.tag in self._values:
                raise ConfigError(f"{file}: line {child.line}: <{child.tag}> is there twice")
            if not child.children:
                self._values[child.tag] = child

    def wrong(self, tag: str, problem: str) -> NoReturn:
        """Refuse the value of a tag."""
        raise ConfigError(
            f"{self.file}: line {self._values[tag].line}: <{tag}> {self.raw(tag) or ''}: {problem}"
        )

    def raw(self, tag: str) -> str | None:
        """Return a value as it stands, or None where the tag is missing."""
        return self._values[tag].text.strip() if tag in self._values else None

    def text(self, tag: str) -> str:
        """Return a value that has to be there: where it is not, MQSim silently takes one of its own."""
        value = self.raw(tag)
        if value == "":
            raise ConfigError(f"{self.file}: line {self._values[tag].line}: <{tag}> is empty")
        if value is None:
            raise ConfigError(
                f"{self.file}: line {self.element.line}: <{self.element.tag}> has no <{tag}>"
                f"{self._like(tag)}; MQSim would take a built-in value that no file shows"
            )
        return value

    def _like(self, tag: str) -> str:
        """Name a tag that may have been meant to be this one."""
        meant = difflib.get_close_matches(tag, self._values, 1, 0.8)
        return f" (but <{meant[0]}> in line {self._values[meant[0]].line})" if meant else ""

    def number(self, tag: str, least: float = 0, most: float = 1e15) -> float:
        """Return a number within bounds."""
        text = self.text(tag)
        try:
            value = float(text)
        except ValueError:
            self.wrong(tag, "is not a number")
        if not math.isfinite(value) or not least <= value <= most:
            self.wrong(tag, f"is not a number from {least:g} to {most:g}")
        return value

    def count(self, tag: str, least: int = 0, most: int = 1 << 48) -> int:
        """Return a whole number within bounds."""
        value = self.number(tag, least, most)
        if value != int(value):
            self.wrong(tag, "is not a whole number")
        return int(value)

    def has(self, tag: str) -> bool:
        """Say whether the tag is there."""
        return tag in self._values

    def flag(self, tag: str) -> bool:
        """Return true or false."""
        return self.one_of(tag, ("true", "false")) == "true"

    def one_of(self, tag: str, words: tuple[str, ...]) -> str:
        """Return one of some words; MQSim does not look at their case."""
        text = self.text(tag)
        for word in words:
            if word.lower() == text.lower():
                return word
        return self.wrong(tag, f"is not known; there is {', '.join(words)}")

    def line_of(self, tag: str) -> int:
        """Return the line of a tag that is there."""
        return self._values[tag].line

    def values(self) -> list[tuple[str, str]]:
        """List all tags that hold a value."""
        return [(tag, value.text.strip()) for tag, value in self._values.items()]
