"""From measured values and claims to verdicts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.papers.claims import Bound, Check, Claim, Order

HOLDS = "holds"
NOT_REPRODUCED = "not reproduced"
NOT_JUDGED = "not judged"
TOO_SHORT = "too short to say"
"""Of a quick run: it might judge otherwise than a full one does."""
VERDICTS = (HOLDS, NOT_REPRODUCED, NOT_JUDGED, TOO_SHORT)
OF_FULL_RUN = "Of the full run:"
"""Before what was written about a full run, in what a quick one says."""
LEFT_OUT = "only with --full"
"""What becomes of a check that quick runs are too short for. It is no verdict."""


@dataclasses.dataclass(frozen=True)
class Reading:
    """A measured value."""

    value: float | None
    """None: not measured with these settings."""
    low: float | None = None
    high: float | None = None
    enough: bool = True

    def __str__(self) -> str:
        if self.value is None:
            return "not measured"
        text = _number(self.value)
        if self.low is not None and self.high is not None:
            text += f" ({_number(self.low)} to {_number(self.high)})"
        return text

    @property
    def bottom(self) -> float:
        """The lower end of what it may be."""
        assert self.value is not None  # noqa: S101
        return self.value if self.low is None else self.low

    @property
    def top(self) -> float:
        """The upper end of what it may be."""
        assert self.value is not None  # noqa: S101
        return self.value if self.high is None else self.high


@dataclasses.dataclass(frozen=True)
class Finding:
    """What one check came to."""

    check: Check
    verdict: str
    cause: str = ""


@dataclasses.dataclass(frozen=True)
class Judgement:
    """What one claim came to."""

    claim: Claim
    verdict: str
    readings: Mapping[str, Reading]
    findings: tuple[Finding, ...]
    quick: bool = False

    @property
    def is_open(self) -> bool:
        """Say whether it is decided neither way."""
        return self.verdict in (NOT_JUDGED, TOO_SHORT)

    @property
    def explanation(self) -> str:
        """Why it is thought not to hold; empty where it does. Its numbers are those of a full run."""
        return "" if self.verdict == HOLDS else self._of_full_run(self.claim.explanation)

    @property
    def note(self) -> str:
        """What has to be known where it holds. Its numbers are those of a full run."""
        return self._of_full_run(self.claim.note) if self.verdict == HOLDS else ""

    def _of_full_run(self, text: str) -> str:
        words = " ".join(text.split())
        return f"{OF_FULL_RUN} {words}" if words and self.quick else words

    @property
    def near(self) -> list[Finding]:
        """List the checks that hold by a hair, where the claim does and needs each of them.

        What is exact is near its limits by nature, and a count as near as a count can be.
        """
        if self.verdict != HOLDS or self.claim.at_least is not None or self.claim.grade == "exact":
            return []
        return [
            finding
            for finding in self.findings
            if isinstance(finding.check, Bound)
            and isinstance(value := self.readings[finding.check.name].value, float)
            and finding.check.is_near(value)
        ]

    @property
    def score(self) -> str:
        """How many of the checks hold, and how many have to."""
        held = sum(finding.verdict == HOLDS for finding in self.findings)
        return f"{held} of {len(self.findings)} checks hold, and {self.claim.needed} have to"

    @property
    def cause(self) -> str:
        """Why it does not hold; empty where it does."""
        if self.verdict == HOLDS:
            return ""
        decisive = [finding.cause for finding in self.findings if finding.verdict == self.verdict]
        if any(finding.verdict == LEFT_OUT for finding in self.findings):
            decisive.append(f"some of its checks are made {LEFT_OUT}")
        count = [] if self.claim.at_least is None else [self.score]
        return ". ".join(
            [
                *count,
                *dict.fromkeys(decisive),
                *([self.explanation] if self.explanation else []),
            ]
        )


def judge(claim: Claim, measured: Mapping[str, Any], *, quick: bool = False) -> Judgement:
    """Judge one claim: it holds where all checks do, or as many as it asks for.

    One check that fails outweighs one that cannot be decided.
    A quick run leaves out the checks that it is too short for, and does not judge what its intervals leave
    open: where that decides, it is too short to say what a full run would.
    """
    names = dict.fromkeys(name for check in claim.checks for name in check.names)
    readings = {name: reading(measured, name, claim.id) for name in names}
    findings = tuple(
        Finding(check, LEFT_OUT) if quick and check.full_only else _finding(check, readings, quick=quick)
        for check in claim.checks
    )
    verdict = _verdict(claim, [finding.verdict for finding in findings])
    return Judgement(claim, verdict, readings, findings, quick)


def _verdict(claim: Claim, found: Sequence[str]) -> str:
    """Say what a claim comes to: some claims need only so many of their checks."""
    may_fail = len(claim.checks) - claim.needed
    if found.count(NOT_REPRODUCED) > may_fail:
        return NOT_REPRODUCED
    if found.count(HOLDS) >= claim.needed:
        return HOLDS
    return NOT_JUDGED if NOT_JUDGED in found else TOO_SHORT


def reading(measured: Mapping[str, Any], name: str, claim: str) -> Reading:
    """Look up a measured value by its path."""
    node: Any = measured
    for part in name.split("/"):
        if not isinstance(node, Mapping) or part not in node:
            known = sorted(_names(measured))
            raise ConfigError(
                f"claim {claim} asks for {name!r}, which the experiment does not measure"
                + did_you_mean(name, known)
            )
        node = node[part]
    enough, interval = True, None
    if isinstance(node, Mapping):
        if "value" not in node:
            raise ConfigError(f"claim {claim} asks for {name!r}, which is not one value but several")
        enough, interval = not node.get("insufficient", False), node.get("interval")
        node = node["value"]
    if node is None:
        return Reading(None)
    if not isinstance(node, int | float):
        raise ConfigError(f"claim {claim} asks for {name!r}, which is {node!r} and not a number")
    low, high = interval if interval is not None else (None, None)
    return Reading(node, low, high, enough)


def _finding(check: Check, readings: Mapping[str, Reading], *, quick: bool) -> Finding:
    missing = [name for name in check.names if readings[name].value is None]
    if missing:
        return Finding(check, NOT_JUDGED, f"{', '.join(missing)} not measured")
    if isinstance(check, Order):
        return _order(check, readings, quick=quick)
    return _bound(check, readings, quick=quick)


def _bound(check: Bound, readings: Mapping[str, Reading], *, quick: bool) -> Finding:
    """Judge a value; a quick run does not judge one whose interval lies on both sides of a limit."""
    measured = readings[check.name]
    if not measured.enough:
        return Finding(check, TOO_SHORT if quick else NOT_JUDGED, f"too few samples for {check.name}")
    assert measured.value is not None  # noqa: S101
    if quick and (
        measured.bottom < check.low <= measured.top or measured.bottom <= check.high < measured.top
    ):
        return Finding(check, TOO_SHORT, f"cannot be told apart: {check}, measured {measured}")
    if check.low <= measured.value <= check.high:
        return Finding(check, HOLDS)
    return Finding(check, NOT_REPRODUCED, f"wanted {check}, measured {measured}")


def _order(check: Order, readings: Mapping[str, Reading], *, quick: bool) -> Finding:
    """Judge an order by intervals: what a full run cannot tell apart is not in that order."""
    wrong, open_, few = [], [], []
    pairs = zip(check.names[:-1], check.relations, check.names[1:], strict=True)
    for first, relation, second in pairs:
        one, other = readings[first], readings[second]
        words = f"{first} = {one}, {second} = {other}"
        exact_tie = one.low is None and other.low is None and one.value == other.value
        if not (one.enough and other.enough):
            few.append(f"too few samples: {words}")
        elif one.bottom > other.top or (relation == "<" and exact_tie):
            wrong.append(f"wanted {first} {relation} {second}: {words}")
        elif relation == "<" and one.top >= other.bottom:
            open_.append(f"cannot be told apart: {words}")
    if wrong or (open_ and not quick):
        return Finding(check, NOT_REPRODUCED, "; ".join(wrong + open_))
    undecided = TOO_SHORT if quick else NOT_JUDGED
    return Finding(check, undecided, "; ".join(open_ + few)) if open_ or few else Finding(check, HOLDS)


def _names(tree: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """List the paths of all measured values."""
    for key, node in tree.items():
        if isinstance(node, Mapping) and "value" not in node:
            yield from _names(node, f"{before}{key}/")
        else:
            yield f"{before}{key}"


def _number(value: float) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
