"""Reading `values.toml`: what of a configuration is published, and by which figures the rest was chosen.

It marks claims: one that a value or a rule was chosen by is *calibrated*, every other one is *predicted*.
It is read where results are shown, never where anything is measured.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ninescope import toml
from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.papers.claims import Claims, load_toml
from ninescope.papers.experiment import Inferred

CALIBRATED = "calibrated"
PREDICTED = "predicted"
_PUBLISHED_KEYS = ("value", "is", "source")
_CALIBRATED_KEYS = ("value", "rule", "figure", "claims", "how")


@dataclasses.dataclass(frozen=True)
class PublishedValue:
    """A value of the configuration that the paper gives."""

    name: str
    value: str
    """With its unit."""
    source: str
    """Where in the paper."""


@dataclasses.dataclass(frozen=True)
class Calibration:
    """An inferred value, or a rule, that somebody chose by a published figure."""

    of: str
    """The name of an inferred value, or what the rule says."""
    figure: str
    """The published figure that it was chosen by."""
    claims: tuple[str, ...]
    """The claims that this figure decides, or helps to decide: none where no claim is judged by it."""
    how: str = ""
    is_rule: bool = False

    @property
    def words(self) -> str:
        """Say by what it was chosen."""
        named = (
            f" (claim{'s' if len(self.claims) > 1 else ''} {', '.join(self.claims)})" if self.claims else ""
        )
        return f"{self.figure}{named}"


@dataclasses.dataclass(frozen=True)
class Values:
    """A `values.toml`."""

    published: Sequence[PublishedValue] = ()
    calibrations: Sequence[Calibration] = ()

    def mark(self, claim: str) -> str:
        """Return whether a claim is calibrated or predicted."""
        return CALIBRATED if any(claim in one.claims for one in self.calibrations) else PREDICTED

    def calibrated_on(self, name: str) -> str:
        """Say which figures an inferred value was chosen by; empty where by none."""
        return "; ".join(one.words for one in self.calibrations if one.of == name and not one.is_rule)

    @property
    def rules(self) -> list[Calibration]:
        """Return what was decided that is no value."""
        return [one for one in self.calibrations if one.is_rule]


def load_values(path: Path, claims: Claims, inferred: Sequence[Inferred]) -> Values:
    """Read a `values.toml`. It must speak of claims and of inferred values that are there."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    return _Reader(path, text, claims, inferred).values()


class _Reader:
    """Turns the text into values, and names file, line and key of what is wrong."""

    def __init__(self, path: Path, text: str, claims: Claims, inferred: Sequence[Inferred]) -> None:
        self._path = path
        self._text = text
        self._claims = [claim.id for claim in claims.claims]
        self._inferred = [one.name for one in inferred]

    def values(self) -> Values:
        document = load_toml(self._path, self._text)
        self._known(document, ("published", "calibrated"), "")
        return Values(
            [self._published(one, where) for one, where in self._tables(document, "published")],
            [self._calibration(one, where) for one, where in self._tables(document, "calibrated")],
        )

    def _tables(self, document: Mapping[str, Any], key: str) -> list[tuple[Mapping[str, Any], str]]:
        found = document.get(key, [])
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            self._refuse("", key, f"must be tables, [[{key}]]")
        return [(one, f"{key}[{number}]") for number, one in enumerate(found)]

    def _published(self, stored: Mapping[str, Any], where: str) -> PublishedValue:
        self._known(stored, _PUBLISHED_KEYS, where)
        return PublishedValue(*(self._string(stored, key, where) for key in _PUBLISHED_KEYS))

    def _calibration(self, stored: Mapping[str, Any], where: str) -> Calibration:
        self._known(stored, _CALIBRATED_KEYS, where)
        if ("value" in stored) == ("rule" in stored):
            self._refuse(
                where, "rule" if "rule" in stored else "value", "either value or rule says what was chosen"
            )
        is_rule = "rule" in stored
        of = self._string(stored, "rule" if is_rule else "value", where)
        if not is_rule and of not in self._inferred:
            self._refuse(
                where, "value", f"nothing of this name is inferred: {of!r}{did_you_mean(of, self._inferred)}"
            )
        return Calibration(
            of,
            self._string(stored, "figure", where),
            self._named_claims(stored, where),
            self._string(stored, "how", where) if "how" in stored else "",
            is_rule,
        )

    def _named_claims(self, stored: Mapping[str, Any], where: str) -> tuple[str, ...]:
        named = stored.get("claims")
        if not isinstance(named, list) or not all(isinstance(one, str) for one in named):
            problem = "must be a list of claims, empty where none is judged by the figure"
            self._refuse(where, "claims", problem if "claims" in stored else f"is missing; it {problem}")
        for claim in named:
            if claim not in self._claims:
                self._refuse(
                    where, "claims", f"there is no claim {claim!r}{did_you_mean(claim, self._claims)}"
                )
        return tuple(named)

    def _string(self, table: Mapping[str, Any], key: str, where: str) -> str:
        value = table.get(key)
        if not isinstance(value, str) or not value.strip():
            self._refuse(where, key, "must be a text" if key in table else "is missing")
        return " ".join(value.split())

    def _known(self, table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
        for key in table:
            if key not in known:
                self._refuse(where, key, f"is not a key here{did_you_mean(key, known)}")

    def _refuse(self, where: str, key: str, problem: str) -> NoReturn:
        line = toml.line_of(self._text, where, key)
        at = f", line {line}" if line else ""
        named = ".".join(part for part in (where, key) if part)
        raise ConfigError(f"{self._path}{at}: {named}: {problem}")
