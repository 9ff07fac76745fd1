"""Comparing two designs: which metrics there are, what each came to, and what may be said of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from ninescope.lab.compare.comparison import Comparison, Row
from ninescope.lab.compare.conditions import differing
from ninescope.lab.compare.design import Design, remarks
from ninescope.lab.compare.metrics import Metric, metrics_of, trusted
from ninescope.lab.compare.sides import Side
from ninescope.lab.compare.verdict import SAME, Verdict, by_chance, untold, without_chance
from ninescope.lab.compare.within import interval_within
from ninescope.lab.statistics import Interval, TooShortError, holm, is_same
from ninescope.result import Result


def compare(a: Result | Sequence[Result] | Side, b: Result | Sequence[Result] | Side) -> Comparison:
    """Compare two results, or two designs that were run with several seeds each.

    Runs with the same seeds met the same chance, and are compared pair by pair; others are not paired. Single
    runs are compared by what varies within them. The result says which it was.
    """
    first = a if isinstance(a, Side) else Side.of("A", a)
    second = b if isinstance(b, Side) else Side.of("B", b)
    [comparison] = compare_each([(first, second)])
    return comparison


def compare_each(pairs: Sequence[tuple[Side, Side]]) -> list[Comparison]:
    """Compare several pairs of designs, each by itself.

    Verdicts are corrected for all metrics of all of them at once: whoever looks at many comparisons finds a
    difference in one by chance just as among many metrics.
    """
    designs = [Design.of(a, b) for a, b in pairs]
    drafts = [[_draft(metric, each) for metric in _metrics(each)] for each in designs]
    judged = [draft.contrast for rows in drafts for draft in rows if draft.verdict is not SAME]
    p = [contrast.p for contrast in judged if contrast]
    corrected = iter(holm(p))
    return [
        Comparison(
            a=design.a,
            b=design.b,
            design=design.words,
            rows=tuple(_judged(draft, corrected, len(p)) for draft in rows),
            differences=tuple(differing(a.first, b.first)),
            remarks=tuple(remarks(design)),
        )
        for (a, b), design, rows in zip(pairs, designs, drafts, strict=True)
    ]


def compare_metric(pairs: Sequence[tuple[Side, Side]], metric: Metric) -> list[Row]:
    """Compare one metric of several pairs of designs; verdicts are corrected for all of the pairs at once."""
    drafts = [_draft(metric, Design.of(a, b)) for a, b in pairs]
    p = [draft.contrast.p for draft in drafts if draft.contrast and draft.verdict is not SAME]
    corrected = iter(holm(p))
    return [_judged(draft, corrected, len(p)) for draft in drafts]


def _metrics(design: Design) -> list[Metric]:
    return metrics_of([*design.a.results, *design.b.results])


def _judged(draft: Row, corrected: Iterator[float], compared: int) -> Row:
    """Give a metric its verdict, where there is an interval: the next of the corrected p is its own."""
    if draft.contrast is None or draft.verdict is SAME:
        return draft
    p = next(corrected)
    return dataclasses.replace(
        draft, p_corrected=p, verdict=by_chance(draft.contrast, p, compared, draft.metric.unit)
    )


def _draft(metric: Metric, design: Design) -> Row:
    """Compare a metric, but for the correction that needs all of them."""
    a, b = (_value(metric, side, replicated=design.replicated) for side in (design.a, design.b))
    known = any(trusted(metric, run) for side in (design.a, design.b) for run in side.results)
    draft = Row(metric, a, b, None, None, untold("not measured in both"), known)
    if a is None or b is None:
        return draft
    if metric.exact:
        verdict = without_chance(a.value, b.value, "by the configuration", metric.unit)
        return dataclasses.replace(draft, verdict=verdict)
    if same := design.same(metric):
        return dataclasses.replace(draft, contrast=same, verdict=SAME)
    try:
        return dataclasses.replace(draft, contrast=design.contrast(metric), is_trusted=True)
    except TooShortError as error:
        if is_same(a.value, b.value) and trusted(metric, design.a.first) and trusted(metric, design.b.first):
            return dataclasses.replace(draft, verdict=Verdict("none", "no difference shown (equal)"))
        return dataclasses.replace(draft, verdict=untold(str(error)))


def _value(metric: Metric, side: Side, *, replicated: bool) -> Interval | None:
    values = [value for run in side.results if (value := metric.read(run)) is not None]
    if not values:
        return None
    mean = sum(values) / len(values)
    if metric.exact:
        return Interval(mean, mean, mean)
    if not replicated:
        return interval_within(metric, side.first) or Interval(mean, mean, mean)
    return metric.interval(values) if len(values) > 1 else Interval(mean, mean, mean)
