"""Calibrations as text: for a terminal, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ninescope.lab.calibrate.record import (
    Calibration,
    Fitted,
    Row,
    choices_shown,
    error_shown,
    is_of,
    metric_shown,
    name_of,
    number_shown,
)
from ninescope.text.lines import print_rows

if TYPE_CHECKING:
    from rich.console import Console

_CALLED = {"fit": "Fitted", "holdout": "Held out"}


def print_calibration(found: Calibration, console: Console) -> None:
    """Print parameters, what is not told apart, and every figure with its error."""
    print(f"{found.device}{f': {found.summary}' if found.summary else ''}")
    if found.parameters:
        print()
        heads = ("parameter", "value", "95 % interval", "bounds", "")
        print_rows(heads, [_parameter(found, index) for index in range(len(found.parameters))], console)
    for line in said_lines(found):
        print(line)
    for use, called in _CALLED.items():
        rows = [row for row in found.rows if row.use == use]
        if rows:
            print(f"\n{called}: {_summary(found, use)}\n")
            print_rows(_heads(rows), [_cells(row) for row in rows], console, right=(3, 4, 5), spare=(6,))
    for row in found.unmeasured:
        print(f"not measured: {name_of(row)}: {row.reason}")
    for note in found.notes:
        print(f"note: {note}")
    if found.effort.told():
        print(f"\n{found.effort.told()}")


def _parameter(found: Calibration, index: int) -> tuple[str, ...]:
    each = found.parameters[index]
    interval = f"{each.low} to {each.high}" if each.low else ", ".join(each.alike) or "-"
    bounds = f"{each.bounds[0]} to {each.bounds[1]}" if each.bounds[0] else ", ".join(each.values) or "-"
    return each.name, each.value, interval, bounds, "" if each.is_determined else "not determined"


def said_lines(found: Calibration) -> Iterator[str]:
    """Say which parameters the fitted figures do not determine, and which ones they have at a bound."""
    for each in found.at_bounds:
        wanted = f"figures may want what is beyond {each.value}, or the drive lacks something"
        yield f"at a bound: {each.name}: {wanted}"
    for name in found.undetermined:
        yield f"not determined: {name}: no fitted figure depends on it enough"
    for fitted in found.parameters:
        if fitted.others:
            yield f"{_verdict_of_choice(fitted)}: {fitted.name}: {choices_shown(fitted)}"
    for group in found.together:
        yield f"not told apart: {' and '.join(group)}: the fitted figures know them only together"
    for one, other, correlation in found.correlated:
        yield f"correlated: {one} and {other} ({correlation:+.2f})"
    if found.sigma and not found.singular:
        yield f"the error of a figure is taken for {found.sigma:.1%}"
    if found.singular:
        values = ", ".join(f"{value:.3g}" for value in found.singular)
        yield f"singular values of the slopes: {values}; the error of a figure is taken for {found.sigma:.1%}"


def _verdict_of_choice(fitted: Fitted) -> str:
    """Say whether the figures tell the values of a parameter apart that is no number."""
    if fitted.is_determined:
        return f"told apart ({fitted.value})"
    return "not determined" if len(fitted.alike) == len(fitted.values) else "not all told apart"


def _summary(found: Calibration, use: str) -> str:
    rows, worst = found.of(use), found.worst(use)  # type: ignore[arg-type]
    if worst is None:
        return "none was measured"
    median = found.median(use)  # type: ignore[arg-type]
    count = f"{len(rows)} figure{'s' if len(rows) > 1 else ''}"
    return f"{count}, median error {median:.1%}, worst {error_shown(worst)} ({name_of(worst)})"


def _heads(rows: Sequence[Row]) -> tuple[str, ...]:
    return "figure", "", "number", is_of(rows), "simulated", "error", "source"


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.set,
        row.case,
        metric_shown(row.metric),
        number_shown(row.published, row.metric),
        number_shown(row.simulated, row.metric),
        error_shown(row),
        row.source,
    )


def markdown(found: Calibration, level: int = 1) -> str:
    """Write a calibration as Markdown."""
    mark = "#" * level
    lines = [f"{mark} {found.device}", "", *([f"{found.summary}.", ""] if found.summary else [])]
    lines += [f"{found.verdict()}.", ""]
    if found.parameters:
        rows = [_parameter(found, index) for index in range(len(found.parameters))]
        lines += [*_table(("parameter", "value", "95 % interval", "bounds", ""), rows), ""]
    lines += [f"- {line}" for line in said_lines(found)] + [""]
    for use, called in _CALLED.items():
        of_use = [row for row in found.rows if row.use == use]
        if of_use:
            lines += [
                f"{mark}# {called}: {_summary(found, use)}",
                "",
                *_table(_heads(of_use), [_cells(row) for row in of_use], right=(3, 4, 5)),
                "",
            ]
    lines += [f"- not measured: {name_of(row)}: {row.reason}" for row in found.unmeasured]
    lines += [f"- {note}" for note in found.notes]
    lines += [f"- {found.effort.told()}"] if found.effort.told() else []
    lines += ["", "Sources:", "", *(f"- `{key}`: {text}" for key, text in found.sources)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    rule = [" ---: " if index in right else " --- " for index in range(len(heads))]
    return [
        f"| {' | '.join(heads)} |",
        f"|{'|'.join(rule)}|",
        *(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows),
    ]
