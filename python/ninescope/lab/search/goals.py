"""What a search wants: objectives and constraints over the numbers of results, and whether they can hold.

Written as `"p99.99 < 500us"`, `"lifetime > 5y"`, `"read_p99.9 on prxy_0"`. Numbers are
those of `ninescope.result.metrics`, with or without their unit. Those without an operation (`p99.99`, `mean`,
`max`) are of reads or of writes, whichever is worse. Of several workloads the worst counts, unless one is
named.

Nothing here knows parameters or runs.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Literal

from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.lab.statistics import LEVEL, Interval, positive_interval, share_interval
from ninescope.lab.sweep.values import in_unit_of, quantity
from ninescope.result.metrics import NAMES, OF_BOTH, OPS, SHARES, names, unit

Direction = Literal["minimise", "maximise"]

_AT_MOST_ALL = (*SHARES, "waf_host")
"""A tier above flash may take some of what the host writes, and with it write amplification falls below 1."""
_HIGHER_IS_BETTER = (
    "iops", "bytes_per_second", "hit_ratio", "lifetime_years", "lifetime_passes", "dwpd", "iops_per_cost",
)  # fmt: skip
_YEAR_NS = Decimal(365 * 86_400 * 10**9)
_CONSTRAINT = re.compile(r"\s*([^<>=\s]+)\s*(<=|>=|<|>)\s*([^<>=]+?)\s*(?:\son\s+(\S+)\s*)?")
_OBJECTIVE = re.compile(r"\s*(\S+?)\s*(?:\son\s+(\S+)\s*)?")
_YEARS = re.compile(r"([0-9.eE+-]+)\s*(?:y|years?)")


@dataclasses.dataclass(frozen=True)
class _Sum:
    """A number that is the sum of others."""

    whole: str
    parts: tuple[str, ...]


_SUMS = (
    _Sum("iops", tuple(f"{op}_iops" for op in OPS)),
    _Sum("bytes_per_second", tuple(f"{op}_bytes_per_second" for op in OPS)),
    _Sum("waf_total", tuple(name for name in NAMES if name.startswith("waf_") and name != "waf_total")),
)


@dataclasses.dataclass(frozen=True)
class Number:
    """A number of results: one of `ninescope.result.metrics`, or the worse of two."""

    name: str
    """As a person writes it: `p99.99`, `read_p99.9`, `lifetime`."""
    metrics: tuple[str, ...]
    """What it is made of; of several the worst counts."""

    @property
    def higher_is_better(self) -> bool:
        """Say which way is better."""
        return self.metrics[0].removeprefix("read_").removeprefix("write_") in _HIGHER_IS_BETTER

    @property
    def percentile(self) -> str:
        """Return which percentile it is: "99.99", or "" where it is none."""
        match = re.fullmatch(r"(?:read_|write_)p([\d.]+)_ns", self.metrics[0])
        return match[1] if match else ""

    def worst(self, values: Iterable[float | None]) -> float | None:
        """Return the worst of several values; None where one was not measured."""
        known = list(values)
        if not known or any(value is None for value in known):
            return None
        pick = min if self.higher_is_better else max
        return pick(value for value in known if value is not None)

    def interval(self, values: Sequence[float], level: float = LEVEL) -> Interval:
        """Return the mean of independent values of it, with an interval of what it can be."""
        of = share_interval if self.metrics[0] in SHARES else positive_interval
        return of(values, level)

    def written(self, value: float | None) -> str:
        """Write a value with its unit."""
        from ninescope.lab.sweep.text import number
        from ninescope.text.units import duration

        if value is None:
            return "not measured"
        if math.isinf(value):
            return "unlimited"
        name = self.metrics[0]
        if name.endswith("_ns"):
            return duration(value)
        if name.endswith("_years"):
            return f"{number(value)} years"
        if name.endswith("bytes_per_second"):
            return f"{number(value / 1e6)} MB/s"
        scale = unit(name).scale
        return f"{number(value * scale)}{' %' if name in SHARES else ''}"


@dataclasses.dataclass(frozen=True)
class Objective:
    """What is to become as small, or as large, as can be."""

    direction: Direction
    number: Number
    workload: str | None = None
    """The one whose number counts; None: the worst of all."""

    @property
    def text(self) -> str:
        """Return it as it is written: `read_p99.9 on prxy_0`."""
        return self.number.name + (f" on {self.workload}" if self.workload else "")

    def oriented(self, value: float) -> float:
        """Return a value of which less is better."""
        return value if self.direction == "minimise" else -value


@dataclasses.dataclass(frozen=True)
class Constraint:
    """What has to hold."""

    number: Number
    operator: Literal["<", "<=", ">", ">="]
    limit: float
    """In the unit of the number."""
    text: str
    """As it is written."""
    workload: str | None = None
    """Where it has to hold; None: everywhere."""

    @property
    def is_upper(self) -> bool:
        """Say whether the limit is one from above."""
        return self.operator in ("<", "<=")

    def holds(self, value: float | None) -> bool:
        """Say whether a value is within the limit; what was not measured is not."""
        if value is None:
            return False
        match self.operator:
            case "<":
                return value < self.limit
            case "<=":
                return value <= self.limit
            case ">":
                return value > self.limit
            case _:
                return value >= self.limit

    def violation(self, value: float | None) -> float:
        """Return by how much a value misses the limit, relatively: 0 or less where it holds."""
        if value is None:
            return 1.0
        if math.isinf(value):
            return 10.0 if self.is_upper else -1.0
        off = value - self.limit if self.is_upper else self.limit - value
        relative = off / abs(self.limit) if self.limit else off
        return relative if not self.holds(value) else min(relative, 0.0)


@dataclasses.dataclass(frozen=True)
class Goals:
    """Everything that a search wants."""

    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...]

    @property
    def all(self) -> tuple[Objective | Constraint, ...]:
        """Return objectives, then constraints."""
        return (*self.objectives, *self.constraints)


def number(written: str) -> Number:
    """Return the number that a name means; a mistyped one is answered with the nearest."""
    known = names()
    if written in known:
        return Number(written, known[written])
    raise ConfigError(f"no result has a number {written!r}{did_you_mean(written, known)}")


def objective(direction: Direction, written: object, workloads: Sequence[str]) -> Objective:
    """Read an objective: `read_p99.9`, or `read_p99.9 on prxy_0`."""
    match = _OBJECTIVE.fullmatch(written) if isinstance(written, str) else None
    if match is None:
        raise ConfigError(f'a number is wanted, as "p99.9" or "cost on prxy_0", not {written!r}')
    return Objective(direction, number(match[1]), _workload(match[2], workloads))


def constraint(written: object, workloads: Sequence[str]) -> Constraint:
    """Read a constraint: `p99.99 < 500us`, or `iops >= 1000 on prxy_1`."""
    match = _CONSTRAINT.fullmatch(written) if isinstance(written, str) else None
    if match is None or not isinstance(written, str):
        raise ConfigError(f'a limit is wanted, as "p99.99 < 500us" or "lifetime > 5y", not {written!r}')
    name, operator, limit, where = match.groups()
    of = number(name)
    found = Constraint(
        of,
        operator,  # type: ignore[arg-type]  # the expression lets nothing else pass
        _limit(of, limit),
        " ".join(written.split()),
        _workload(where, workloads),
    )
    _possible(found)
    return found


def _workload(name: str | None, workloads: Sequence[str]) -> str | None:
    if name is not None and name not in workloads:
        raise ConfigError(f"no workload is named {name!r}{did_you_mean(name, workloads)}")
    return name


def _limit(of: Number, written: str) -> float:
    """Read a limit in the unit of its number."""
    name = of.metrics[0]
    years = _YEARS.fullmatch(written)
    if years is not None:
        try:
            found: tuple[str, Decimal] | None = ("time", Decimal(years[1]) * _YEAR_NS)
        except ArithmeticError:
            found = None
    else:
        found = quantity(written)
    if found is None:
        raise ConfigError(f"{written!r} is no number, with a unit or without")
    kind, amount = found
    bare, example = _wanted(name)
    if name.endswith("_years"):
        if kind == "time":
            return float(amount / _YEAR_NS)
    elif (kept := in_unit_of(name, written)) is not None:
        return float(kept)
    elif kind in bare:
        return float(amount)
    raise ConfigError(f"{of.name} is compared with {example}, not with {written!r}")


_WANTED: Mapping[str, tuple[tuple[str, ...], str]] = {
    "_ns": ((), "a time such as 500us"),
    "_years": ((), "a time such as 5y"),
    "bytes_per_second": ((), "a rate such as 100MB/s"),
    "_watts": (("number",), "a number, or one such as 2.5W"),
    "_joules": (("number",), "a number, or one such as 20uJ"),
}
"""By the end of a number's name: which kinds its limits are of, beside quantities in its unit; an example."""


def _wanted(name: str) -> tuple[tuple[str, ...], str]:
    if name in SHARES:
        return ("share", "number"), "a share such as 0.9 or 90%"
    known = (wanted for ending, wanted in _WANTED.items() if name.endswith(ending))
    return next(known, (("number",), "a number without a unit"))


def _possible(of: Constraint) -> None:
    """Refuse limits that no result can keep, and those below 0, which no number ever is."""
    least, most = _range(of.number.metrics[0])
    below_all = of.is_upper and (of.limit < least or (of.limit == least and of.operator == "<"))
    above_all = not of.is_upper and (of.limit > most or (of.limit == most and of.operator == ">"))
    range_ = f"never below {least:g}" if math.isinf(most) else f"from {least:g} to {most:g}"
    if below_all or above_all:
        raise ConfigError(f"{of.text!r} can never hold: {of.number.name} is {range_}")
    if of.limit < 0:
        raise ConfigError(f"{of.text!r} says nothing: {of.number.name} is {range_}")


def _range(metric: str) -> tuple[float, float]:
    """Return between which values a number of any result lies."""
    return 0.0, 1.0 if metric in _AT_MOST_ALL else math.inf


# ---- contradictions -------------------------------------------------------------------------------------


def contradiction(constraints: Sequence[Constraint]) -> tuple[Constraint, ...]:
    """Return constraints that no result can keep together, as few as show it; none where there are none.

    A lower limit of one number contradicts an upper limit of another that is never smaller: `p50 > 2us` and
    `p99 < 1us`; half of the requests take the median or longer, so that a mean is at least half of it, and so
    with other percentiles. Lower limits of parts contradict an upper one of their sum, `read_iops > 5` and
    `iops < 4`, and where these are all its parts upper limits of them a lower one of the sum.
    """
    for one, other in itertools.permutations(constraints, 2):
        if one.is_upper or not other.is_upper or not _meet(one, other):
            continue
        least = one.limit * _least_share(one.number, other.number)
        if least > other.limit or (least == other.limit and (one.operator == ">" or other.operator == "<")):
            return one, other
    return _sum_contradiction(constraints)


def _sum_contradiction(constraints: Sequence[Constraint]) -> tuple[Constraint, ...]:
    for workload in dict.fromkeys(of.workload for of in constraints):
        here = [of for of in constraints if of.workload in (None, workload)]
        for of in here:
            for sum_ in _SUMS:
                if of.number.metrics != (sum_.whole,):
                    continue
                parts = _parts_beyond(of, sum_, here)
                if parts:
                    return *parts, of
    return ()


def _parts_beyond(of: Constraint, sum_: _Sum, here: Sequence[Constraint]) -> list[Constraint]:
    """Return the limits of parts that together leave no room for that of their sum."""
    tightest: dict[str, Constraint] = {}
    for other in here:
        metric = other.number.metrics[0]
        if metric in sum_.parts and other.number.metrics == (metric,) and other.is_upper != of.is_upper:
            pick = min if other.is_upper else max
            tightest[metric] = pick(tightest.get(metric, other), other, key=lambda each: each.limit)
    if not tightest or (not of.is_upper and set(tightest) != set(sum_.parts)):
        return []
    total = sum(each.limit for each in tightest.values())
    is_strict = any(each.operator in ("<", ">") for each in (of, *tightest.values()))
    off = total - of.limit if of.is_upper else of.limit - total
    return list(tightest.values()) if off > 0 or (off == 0 and is_strict) else []


def _meet(one: Constraint, other: Constraint) -> bool:
    """Say whether both are about one run, and the number of `other` is at least a share of that of `one`."""
    if one.workload and other.workload and one.workload != other.workload:
        return False
    return _least_share(one.number, other.number) > 0


def _least_share(one: Number, other: Number) -> float:
    """Return which share of a number another never falls below, in whatever result; 0 where there is none."""
    if _never_above(one, other):
        return 1.0
    first, second = _latency(one), _latency(other)
    if first is None or second is None or _what(other) != "mean" or not one.percentile:
        return 0.0
    return round(1 - float(one.percentile) / 100, 9) if set(first[0]) <= set(second[0]) else 0.0


def _never_above(one: Number, other: Number) -> bool:
    """Say whether a number is never larger than another, in whatever result."""
    if set(one.metrics) <= set(other.metrics):
        return True
    first, second = _latency(one), _latency(other)
    if first is None or second is None:
        return False
    (ops, rank), (other_ops, other_rank) = first, second
    return (
        set(ops) <= set(other_ops)
        and rank <= other_rank
        and not (
            rank != other_rank
            and "mean" in (_what(one), _what(other))
            and "max" not in (_what(one), _what(other))
        )
    )


def _what(of: Number) -> str:
    return of.metrics[0].removeprefix("read_").removeprefix("write_").removesuffix("_ns")


def _latency(of: Number) -> tuple[tuple[str, ...], int] | None:
    """Return operations and rank of a latency: percentiles grow, and nothing is above the maximum."""
    what = _what(of)
    if what not in OF_BOTH:
        return None
    return tuple(metric.partition("_")[0] for metric in of.metrics), OF_BOTH.index(what)
