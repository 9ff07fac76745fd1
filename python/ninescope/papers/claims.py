"""Reading `claims.toml`: what was published, and what would count as reproducing it."""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ninescope import toml
from ninescope._native import ConfigError

GRADES = ("exact", "quantitative", "ordering")
RELATIONS = ("<", "<=")
ORIGINS = {
    "paper": "",
    "derived": "derived from published values",
    "secondary": "known from another paper's abstract or citation",
    "ours": "a claim of our own, not the paper's",
}
"""Whose a claim is, and how that is said."""
_PAPER_KEYS = ("id", "title", "citation", "caveats")
_CLAIM_KEYS = (
    "id",
    "statement",
    "grade",
    "published",
    "source",
    "origin",
    "explanation",
    "note",
    "at_least",
    "check",
)
_CHECK_KEYS = ("value", "equals", "range", "min", "max", "order", "label", "unit", "full_only")

NEAR = 0.05
"""Of its limit: a value that holds by less holds by a hair."""
NEAR_END = 0.1
"""Of a range with two ends: a value that is farther inside is not at its end."""

Published = str | float | int | Sequence[str | float | int]


@dataclasses.dataclass(frozen=True)
class Bound:
    """A measured value lies between two numbers, both included."""

    name: str
    low: float = -math.inf
    high: float = math.inf
    label: str = ""
    full_only: bool = False
    """Left out of quick runs, which are too short for it."""
    unit: str = ""
    """Of the measured value; empty where it has none, or where its name says it."""

    def __str__(self) -> str:
        what = self.what
        unit = f" {self.unit}" if self.unit else ""
        if self.low == self.high:
            return f"{what} = {self.low:g}{unit}"
        if self.low == -math.inf:
            return f"{what} <= {self.high:g}{unit}"
        if self.high == math.inf:
            return f"{what} >= {self.low:g}{unit}"
        return f"{what} in {self.low:g} to {self.high:g}{unit}"

    @property
    def names(self) -> tuple[str, ...]:
        """What has to be measured."""
        return (self.name,)

    @property
    def words(self) -> tuple[str, ...]:
        """How each of them is called in a table."""
        return (self.what,)

    @property
    def what(self) -> str:
        """What it is a value of."""
        return self.label or self.name

    def margin(self, value: float) -> float | None:
        """Return how far a value within is from the nearest limit, as a share of that limit.

        None where there is no distance to speak of: outside, or where one number alone is right.
        """
        if self.low == self.high or not self.low <= value <= self.high:
            return None
        limits = [limit for limit in (self.low, self.high) if math.isfinite(limit) and limit]
        return min((abs(value - limit) / abs(limit) for limit in limits), default=None)

    def is_near(self, value: float) -> bool:
        """Say whether a value within is so near a limit that a reader should know."""
        margin = self.margin(value)
        if margin is None or margin >= NEAR:
            return False
        # Of a narrow range each value is near both ends: what counts then is where in it.
        return min(value - self.low, self.high - value) < NEAR_END * (self.high - self.low)


@dataclasses.dataclass(frozen=True)
class Order:
    """Measured values stand in an order: `names[i] relations[i] names[i + 1]`."""

    names: tuple[str, ...]
    relations: tuple[str, ...]
    label: str = ""
    full_only: bool = False
    unit: str = ""

    def __str__(self) -> str:
        words = self.words
        chain = words[0] + "".join(
            f" {relation} {word}" for relation, word in zip(self.relations, words[1:], strict=True)
        )
        return f"{self.what}: {chain}" if self.what else chain

    @property
    def words(self) -> tuple[str, ...]:
        """How each of the values is called beside the others."""
        return tuple(short for short, _ in _without_common_parts(self.names))

    @property
    def what(self) -> str:
        """What they are values of."""
        return self.label or _without_common_parts(self.names)[0][1]


Check = Bound | Order


@dataclasses.dataclass(frozen=True)
class Claim:
    """One claim of a paper."""

    id: str
    statement: str
    grade: str
    published: Published
    source: str
    checks: tuple[Check, ...]
    explanation: str = ""
    """Why it is thought not to be reproduced, for as long as it is not."""
    at_least: int | None = None
    """So many of the checks must hold; all of them where it is not said."""
    origin: str = "paper"
    """A key of `ORIGINS`: a claim of our own is not counted among the published ones."""
    note: str = ""
    """What a reader has to know for as long as it holds: by how little, or on what it rests."""

    @property
    def needed(self) -> int:
        """How many of the checks must hold."""
        return len(self.checks) if self.at_least is None else self.at_least


@dataclasses.dataclass(frozen=True)
class Claims:
    """A `claims.toml`."""

    id: str
    title: str
    citation: str
    claims: tuple[Claim, ...]
    caveats: tuple[str, ...] = ()
    """What a reader of the verdicts must know: what is a stand-in, scaled or inferred."""


def load_claims(path: Path) -> Claims:
    """Read a `claims.toml`; what is wrong with it is named by file, line and key."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 text (byte {error.start})") from error
    return _Reader(path, text).claims()


def load_toml(path: Path, text: str) -> dict[str, Any]:
    """Parse TOML."""
    try:
        return toml.loads(text)
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from error


class _Reader:
    """Turns the text into claims, and knows on which line a key stands."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text

    def claims(self) -> Claims:
        document = load_toml(self._path, self._text)
        self._known(document, ("paper", "claim"), "")
        paper = document.get("paper")
        if not isinstance(paper, dict):
            self._refuse("", "paper", "there is no table [paper]")
        self._known(paper, _PAPER_KEYS, "paper")
        listed = document.get("claim")
        if not isinstance(listed, list) or not listed:
            self._refuse("", "claim", "there is no [[claim]]")
        claims = tuple(self._claim(claim, index) for index, claim in enumerate(listed))
        for index, claim in enumerate(claims):
            if claim.id in [earlier.id for earlier in claims[:index]]:
                self._refuse(f"claim[{index}]", "id", f"{claim.id!r} is used twice")
        return Claims(
            id=self._string(paper, "id", "paper"),
            title=self._string(paper, "title", "paper"),
            citation=self._string(paper, "citation", "paper"),
            claims=claims,
            caveats=self._caveats(paper),
        )

    def _caveats(self, paper: Mapping[str, Any]) -> tuple[str, ...]:
        caveats = paper.get("caveats", [])
        if not isinstance(caveats, list) or not all(isinstance(one, str) and one for one in caveats):
            self._refuse("paper", "caveats", "must be a list of texts")
        return tuple(" ".join(one.split()) for one in caveats)

    def _claim(self, claim: Any, index: int) -> Claim:
        where = f"claim[{index}]"
        if not isinstance(claim, dict):
            self._refuse("", "claim", "must be tables, [[claim]]")
        self._known(claim, _CLAIM_KEYS, where)
        grade = self._string(claim, "grade", where)
        if grade not in GRADES:
            self._refuse(where, "grade", f"{grade!r} is none of {', '.join(GRADES)}{_meant(grade, GRADES)}")
        published = claim.get("published")
        parts = published if isinstance(published, list) else [published]
        if not parts or any(
            isinstance(part, bool) or not isinstance(part, str | int | float) for part in parts
        ):
            self._refuse(where, "published", "must be a text, a number, or a list of them")
        checks = claim.get("check")
        if not isinstance(checks, list) or not checks:
            self._refuse(where, "check", "a claim needs at least one [[claim.check]]")
        at_least = claim.get("at_least")
        if at_least is not None and (
            isinstance(at_least, bool) or not isinstance(at_least, int) or not 1 <= at_least <= len(checks)
        ):
            self._refuse(where, "at_least", f"must be a number of checks, from 1 to {len(checks)}")
        return Claim(
            id=self._string(claim, "id", where),
            statement=self._string(claim, "statement", where),
            grade=grade,
            published=published,  # type: ignore[arg-type] # judged above
            source=self._string(claim, "source", where),
            checks=tuple(
                self._check(check, f"{where}.check[{number}]") for number, check in enumerate(checks)
            ),
            explanation=self._string(claim, "explanation", where) if "explanation" in claim else "",
            at_least=at_least,
            origin=self._origin(claim, where),
            note=self._string(claim, "note", where) if "note" in claim else "",
        )

    def _origin(self, claim: Mapping[str, Any], where: str) -> str:
        origin = self._string(claim, "origin", where) if "origin" in claim else "paper"
        if origin not in ORIGINS:
            known = ", ".join(ORIGINS)
            self._refuse(where, "origin", f"{origin!r} is none of {known}{_meant(origin, list(ORIGINS))}")
        return origin

    def _check(self, check: Any, where: str) -> Check:
        if not isinstance(check, dict):
            self._refuse(where, "", "must be a table, [[claim.check]]")
        self._known(check, _CHECK_KEYS, where)
        label = self._string(check, "label", where) if "label" in check else ""
        unit = self._string(check, "unit", where) if "unit" in check else ""
        full_only = check.get("full_only", False)
        if not isinstance(full_only, bool):
            self._refuse(where, "full_only", "must be true or false")
        limits = [key for key in ("equals", "range", "min", "max") if key in check]
        if "order" in check:
            for key in ("value", *limits):
                if key in check:
                    self._refuse(where, key, "an order has no limits")
            order = self._order(check["order"], where, label)
            return dataclasses.replace(order, full_only=full_only, unit=unit)
        name = self._string(check, "value", where)
        return Bound(name, *self._limits(check, limits, where), label, full_only, unit)

    def _limits(self, check: Mapping[str, Any], limits: Sequence[str], where: str) -> tuple[float, float]:
        if not limits:
            self._refuse(where, "value", "needs a limit: equals, range, min or max")
        if len(limits) > 1 and limits != ["min", "max"]:
            self._refuse(where, limits[1], f"cannot stand beside {limits[0]}")
        low, high = -math.inf, math.inf
        if "range" in check:
            ends = check["range"]
            if not isinstance(ends, list) or len(ends) != 2:
                self._refuse(where, "range", "must be two numbers, [low, high]")
            low, high = (self._number(end, "range", where) for end in ends)
        if "equals" in check:
            low = high = self._number(check["equals"], "equals", where)
        if "min" in check:
            low = self._number(check["min"], "min", where)
        if "max" in check:
            high = self._number(check["max"], "max", where)
        if low > high:
            self._refuse(where, limits[0], f"from {low:g} to {high:g} there is nothing")
        return low, high

    def _order(self, words: Any, where: str, label: str) -> Order:
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            self._refuse(where, "order", 'must be a list of texts, ["a", "<", "b"]')
        names, relations = tuple(words[::2]), tuple(words[1::2])
        if len(words) < 3 or len(words) % 2 == 0 or not all(word in RELATIONS for word in relations):
            self._refuse(where, "order", 'must be names with "<" or "<=" between them, ["a", "<", "b"]')
        return Order(names, relations, label)

    def _string(self, table: Mapping[str, Any], key: str, where: str) -> str:
        value = table.get(key)
        if not isinstance(value, str) or not value:
            self._refuse(where, key, "must be a text" if key in table else "is missing")
        return value

    def _number(self, value: Any, key: str, where: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
            self._refuse(where, key, f"{value!r} is not a number")
        return float(value)

    def _known(self, table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
        for key in table:
            if key not in known:
                self._refuse(where, key, f"is not a key here{_meant(key, known)}")

    def _refuse(self, where: str, key: str, problem: str) -> NoReturn:
        named = ".".join(part for part in (where, key) if part)
        line = toml.line_of(self._text, where, key)
        at = f", line {line}" if line else ""
        raise ConfigError(f"{self._path}{at}: {named}: {problem}")


def _without_common_parts(names: Sequence[str]) -> list[tuple[str, str]]:
    """Split paths into what differs and what all have in common."""
    parts = [name.split("/") for name in names]
    if len({len(path) for path in parts}) > 1:
        return [(name, "") for name in names]
    same = [len(set(column)) == 1 for column in zip(*parts, strict=True)]
    common = "/".join(part for part, is_same in zip(parts[0], same, strict=True) if is_same)
    return [
        ("/".join(part for part, is_same in zip(path, same, strict=True) if not is_same) or path[-1], common)
        for path in parts
    ]


def _meant(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""
