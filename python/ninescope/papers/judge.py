"""From measured values and claims to verdicts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from ninescope._native import ConfigError
from ninescope.catalogue import did_you_mean
from ninescope.papers.claims import Bound, Check, Claim, Order

HOLDS = "holds"
NOT_REPRODUCED = "not reproduced"
NOT_JUDGED = "not judged"
VERDICTS = (HOLDS, NOT_REPRODUCED, NOT_JUDGED)


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

    @property
    def cause(self) -> str:
        """Why it does not hold; empty where it does."""
        if self.verdict == HOLDS:
            return ""
        decisive = [finding.cause for finding in self.findings if finding.verdict == self.verdict]
        return ". ".join(
            [*dict.fromkeys(decisive), *([self.claim.explanation] if self.claim.explanation else [])]
        )


def judge(claim: Claim, measured: Mapping[str, Any]) -> Judgement:
    """Judge one claim: it holds where all checks do; one that fails outweighs one that cannot be decided."""
    names = dict.fromkeys(name for check in claim.checks for name in check.names)
    readings = {name: reading(measured, name, claim.id) for name in names}
    findings = tuple(_finding(check, readings) for check in claim.checks)
    verdicts = {finding.verdict for finding in findings}
    for verdict in (NOT_REPRODUCED, NOT_JUDGED):
        if verdict in verdicts:
            return Judgement(claim, verdict, readings, findings)
    return Judgement(claim, HOLDS, readings, findings)


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


def _finding(check: Check, readings: Mapping[str, Reading]) -> Finding:
    for name in check.names:
        if readings[name].value is None:
            return Finding(check, NOT_JUDGED, f"{name} is not measured with these settings")
    if isinstance(check, Order):
        return _order(check, readings)
    return _bound(check, readings)


def _bound(check: Bound, readings: Mapping[str, Reading]) -> Finding:
    measured = readings[check.name]
    if not measured.enough:
        return Finding(check, NOT_JUDGED, f"too few samples for {check.name}")
    assert measured.value is not None  # noqa: S101
    if check.low <= measured.value <= check.high:
        return Finding(check, HOLDS)
    return Finding(check, NOT_REPRODUCED, f"wanted {check}, measured {measured}")


def _order(check: Order, readings: Mapping[str, Reading]) -> Finding:
    reversed_, open_ = [], []
    for relation, (first, second) in zip(
        check.relations, zip(check.names, check.names[1:], strict=False), strict=True
    ):
        one, other = readings[first], readings[second]
        words = f"{first} = {one}, {second} = {other}"
        if not (one.enough and other.enough):
            open_.append(f"too few samples: {words}")
        elif one.bottom > other.top or (
            relation == "<" and one.bottom == other.top == one.top == other.bottom
        ):
            reversed_.append(f"wanted {first} {relation} {second}: {words}")
        elif relation == "<" and one.top >= other.bottom:
            open_.append(f"cannot be told apart: {words}")
    if reversed_:
        return Finding(check, NOT_REPRODUCED, "; ".join(reversed_))
    return Finding(check, NOT_JUDGED, "; ".join(open_)) if open_ else Finding(check, HOLDS)


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
