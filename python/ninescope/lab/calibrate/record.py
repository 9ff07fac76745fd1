"""A calibration as data: parameters with their intervals, every figure with its error, what is said of it."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ninescope.lab.calibrate.figures import Figure, Use, unit_shown

FORMAT = 1


@dataclasses.dataclass(frozen=True)
class Other:
    """A value that was not chosen, with everything else fitted anew."""

    value: str
    is_alike: bool
    """It meets the fitted figures as well as the value that was chosen, as far as they are good for."""
    error: float | None
    """By how much the fitted figures are missed, root mean square; None where one was not measured."""
    moved: tuple[tuple[str, str], ...] = ()
    """Where it does: other parameters that are beyond their intervals then, and their values."""


@dataclasses.dataclass(frozen=True)
class Fitted:
    """A parameter."""

    name: str
    value: str
    low: str = ""
    """The ends of its 95 % interval; nothing where it is no number."""
    high: str = ""
    bounds: tuple[str, str] = ("", "")
    is_determined: bool = True
    values: tuple[str, ...] = ()
    """Of one that is no number, all that it may be."""
    others: tuple[Other, ...] = ()
    """Those of them that were tried in its place; on a scale all that meet the figures, and the next."""

    @property
    def alike(self) -> tuple[str, ...]:
        """The values that the fitted figures do not tell apart, its own among them, in their order."""
        known = {self.value, *(other.value for other in self.others if other.is_alike)}
        return tuple(value for value in self.values if value in known)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Fitted:
        """Take a document as `as_json` of a calibration writes it."""
        words: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in document.items()
        }
        words["others"] = tuple(
            Other(**{**other, "moved": tuple(tuple(each) for each in other["moved"])})
            for other in document.get("others", ())
        )
        return cls(**words)


@dataclasses.dataclass(frozen=True)
class Row:
    """A figure, and what the drive comes to."""

    set: str
    case: str
    metric: str
    use: Use
    source: str
    published: float
    """In the number's own unit, as `simulated`; of fio's output what fio measured."""
    simulated: float | None
    spread: float = 0.0
    """Standard deviation between seeds, as a share."""
    reason: str = ""
    """Why nothing was measured."""
    of_fio: bool = False
    """It was taken out of an output of fio."""

    @property
    def error(self) -> float | None:
        """By which share the drive misses it."""
        return None if self.simulated is None else self.simulated / self.published - 1

    @classmethod
    def of(cls, figure: Figure, misses: Sequence[float | None], reason: str) -> Row:
        """Take the misses of several seeds together: their mean is that of logarithms."""
        known = [miss for miss in misses if miss is not None]
        value = figure.value * math.exp(statistics.fmean(known)) if len(known) == len(misses) else None
        return cls(
            figure.set,
            figure.case.label,
            figure.metric,
            figure.use,
            figure.source,
            figure.value,
            value,
            statistics.stdev(known) if len(known) > 1 else 0.0,
            reason if value is None else "",
            figure.of_fio,
        )


@dataclasses.dataclass(frozen=True)
class Effort:
    """What a calibration took."""

    runs: int = 0
    """Simulations that were run."""
    kept: int = 0
    """Simulations that its lake had from before."""
    seconds: float = 0.0
    """From beginning to end, where nobody looks for exactness: everything else on the machine is in it."""
    run_seconds: float = 0.0
    """What the simulations took, each by itself, those from before included."""
    workers: int = 0

    def told(self) -> str:
        """Say it in a line; nothing where it is not known."""
        if not self.workers:
            return ""
        before = f" ({self.kept} more were there from before)" if self.kept else ""
        count = f"{self.runs} simulation{'' if self.runs == 1 else 's'}{before}"
        workers = f"{self.workers} worker{'s' if self.workers > 1 else ''}"
        return (
            f"{count} in {_time(self.seconds)} on {workers}; all take {_time(self.run_seconds)} by themselves"
        )


def _time(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


@dataclasses.dataclass(frozen=True)
class Calibration:
    """What a calibration came to."""

    device: str
    summary: str
    drive: str
    """The drive, as TOML."""
    parameters: tuple[Fitted, ...]
    rows: tuple[Row, ...]
    undetermined: tuple[str, ...] = ()
    together: tuple[tuple[str, ...], ...] = ()
    correlated: tuple[tuple[str, str, float], ...] = ()
    """Pairs of parameters whose correlation is beyond 0.9."""
    singular: tuple[float, ...] = ()
    sigma: float = 0.0
    sources: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    seeds: int = 1
    effort: Effort = Effort()
    build: str = ""

    @property
    def at_bounds(self) -> tuple[Fitted, ...]:
        """The parameters that figures determine, and whose fit ends where it may go no further."""
        return tuple(each for each in self.parameters if each.is_determined and each.value in each.bounds)

    def of(self, use: Use) -> tuple[Row, ...]:
        """Return the figures of a use that were measured."""
        return tuple(row for row in self.rows if row.use == use and row.error is not None)

    def median(self, use: Use) -> float | None:
        """Return the median of the sizes of errors."""
        sizes = [abs(row.error) for row in self.of(use) if row.error is not None]
        return statistics.median(sizes) if sizes else None

    def worst(self, use: Use) -> Row | None:
        """Return the figure that is missed by most, by ratio."""
        return max(self.of(use), key=lambda row: abs(math.log1p(row.error or 0.0)), default=None)

    @property
    def unmeasured(self) -> tuple[Row, ...]:
        """The figures that no run had."""
        return tuple(row for row in self.rows if row.error is None)

    def verdict(self) -> str:
        """Say in a line with which error the drive was validated on what."""
        words = []
        for use, called in (("fit", "fitted to"), ("holdout", "predicts")):
            rows, worst = self.of(use), self.worst(use)  # type: ignore[arg-type]
            if worst is not None:
                words.append(
                    f"{called} {counted(rows)} with a median error of "
                    f"{self.median(use):.1%} (worst {worst.error:+.0%}: {name_of(worst)})"  # type: ignore[arg-type]
                )
        if len(words) == 1 and not self.of("holdout"):
            words.append("nothing was held out")
        return "; ".join(words)

    def as_json(self) -> dict[str, Any]:
        """Return it as a document; the drive is beside it."""
        written = dataclasses.asdict(self)
        del written["drive"]
        for row, of in zip(written["rows"], self.rows, strict=True):
            row["error"] = of.error
        summary = {
            use: {
                "figures": len(self.of(use)),
                "median_error": self.median(use),
                "worst_error": worst.error if (worst := self.worst(use)) is not None else None,
                "worst": name_of(worst) if worst is not None else None,
            }
            for use in _uses()
        }
        at_bounds = [each.name for each in self.at_bounds]
        head = {"format": FORMAT, "verdict": self.verdict(), "errors": summary}
        return {**head, **written, "at_bounds": at_bounds}

    @classmethod
    def from_json(cls, document: dict[str, Any], drive: str = "") -> Calibration:
        """Take a document as `as_json` writes it."""
        document = {"effort": {"runs": document.get("runs", 0)}, **document}
        names = {field.name for field in dataclasses.fields(cls)}
        words = {key: value for key, value in document.items() if key in names}
        fields = {field.name for field in dataclasses.fields(Row)}
        words["rows"] = tuple(
            Row(**{key: value for key, value in row.items() if key in fields}) for row in document["rows"]
        )
        words["parameters"] = tuple(Fitted.from_json(each) for each in document["parameters"])
        words["effort"] = Effort(**document["effort"])
        for key in ("together", "correlated", "sources"):
            words[key] = tuple(tuple(each) for each in document[key])
        for key in ("undetermined", "singular", "notes"):
            words[key] = tuple(document[key])
        return cls(**words, drive=drive)


def _uses() -> Iterable[Use]:
    return ("fit", "holdout")


def counted(rows: Sequence[Row]) -> str:
    """Say how many figures these are, and where they are from where that is one thing."""
    count = f"{len(rows)} {{}}figure{'s' if len(rows) > 1 else ''}{{}}"
    of_fio = {row.of_fio for row in rows}
    if of_fio == {True}:
        return count.format("", " measured with fio")
    return count.format("published " if of_fio == {False} else "", "")


def is_of(rows: Iterable[Row]) -> str:
    """Say in a word what figures are held against."""
    of_fio = {row.of_fio for row in rows}
    return "published" if of_fio == {False} else "fio" if of_fio == {True} else "published or fio"


def name_of(row: Row) -> str:
    """Name a figure in a line."""
    return " ".join(word for word in (row.set, row.case, metric_shown(row.metric)) if word)


def metric_shown(metric: str) -> str:
    """Write a number's name without its unit."""
    for ending in ("_ns", "_joules", "_watts", "_celsius"):
        metric = metric.removesuffix(ending)
    return metric.replace("bytes_per_second", "throughput")


def number_shown(value: float | None, metric: str) -> str:
    """Write a value with its unit."""
    if value is None:
        return "-"
    unit, scale = unit_shown(metric)
    number = value / scale
    digits = f"{number:,.0f}" if number >= 1000 else f"{number:.4g}"
    return f"{digits} {unit}".strip()


def choices_shown(fitted: Fitted) -> str:
    """Say which other values of a parameter meet the figures as well, and which do not."""
    told = []
    alike = [other for other in fitted.others if other.is_alike]
    if alike:
        does = "meet" if len(alike) > 1 else "meets"
        named = " and ".join(_with_moved(other) for other in alike)
        told.append(f"{named} {does} the fitted figures as well")
    missed = [other for other in fitted.others if not other.is_alike and other.error is not None]
    if missed:
        each = [f"{other.value} misses the fitted figures by {other.error:.1%}" for other in missed[:1]]
        each += [f"{other.value} by {other.error:.1%}" for other in missed[1:]]
        told.append(", ".join(each))
    told += [f"{other.value} has not all of them" for other in fitted.others if other.error is None]
    return "; ".join(told)


def _with_moved(other: Other) -> str:
    moved = ", ".join(f"{name} {value}" for name, value in other.moved)
    return f"{other.value} (beside {moved})" if moved else other.value


def error_shown(row: Row) -> str:
    """Write an error."""
    return "-" if row.error is None else f"{row.error:+.1%}"
