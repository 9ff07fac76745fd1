"""The report of a comparison, as a document. This module knows comparisons, and no HTML."""

from __future__ import annotations

from collections.abc import Iterator

from ninescope.figures import Figure
from ninescope.lab.compare.attribution import Bands, of_both
from ninescope.lab.compare.comparison import Comparison, Row
from ninescope.lab.compare.conditions import build
from ninescope.lab.compare.figures import figures
from ninescope.lab.compare.metrics import Metric
from ninescope.lab.compare.sides import Side
from ninescope.lab.compare.text import too_few
from ninescope.lab.compare.values import MINUS, shown, signed
from ninescope.lab.compare.within import TAIL
from ninescope.lab.statistics import Interval
from ninescope.report.document import (
    AttributionBand,
    AttributionBlock,
    Block,
    Cell,
    Details,
    Document,
    Facts,
    FigureBlock,
    Notes,
    Part,
    Section,
    Source,
    TableBlock,
    Text,
    literal,
)
from ninescope.text.causes import look, stacking_order
from ninescope.text.names import plural, reaches
from ninescope.text.result import notes
from ninescope.text.units import duration

_SPOKEN = 4
"""So many differences are named at the beginning."""


def of_comparison(comparison: Comparison) -> Document:
    """Return the report of a comparison."""
    drawn = list(figures(comparison))
    sections = [
        Section("metrics", "Metric by metric", [_table(comparison), *_blocks(drawn, "relative")]),
        Section("latency", "Latency", list(_blocks(drawn, "percentiles", "survival"))),
        Section("causes", "Where the time went", list(_causes(comparison))),
        Section("differences", "What differs", list(_differences(comparison))),
        Section("caveats", "Caveats", list(_caveats(comparison))),
        Section("provenance", "Provenance", list(_provenance(comparison))),
    ]
    made_by = comparison.b.first.document.get("ninescope", "")
    return Document(
        title="A and B compared",
        subtitle=literal(f"A: {comparison.a.title}. B: {comparison.b.title}"),
        lead=[
            Text([literal(_abstract(comparison))]),
            Text([literal(f"{comparison.design[0].upper()}{comparison.design[1:]}.")]),
        ],
        sections=[section for section in sections if section.blocks],
        facts=[("made by", f"ninescope {made_by}")],
    )


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _abstract(comparison: Comparison) -> str:
    """Say what is shown, of the metrics that most differ first."""
    found = [row for row in comparison.rows if row.verdict.kind in ("lower", "higher")]
    untold = [row for row in comparison.rows if row.verdict.kind == "untold" and row.is_trusted]
    rest = f" Of {len(untold)} metrics it cannot be told." if untold else ""
    if not found:
        return f"No difference is shown in any metric.{rest}"
    named = [f"{row.metric.label}: {row.verdict.words}" for row in found[:_SPOKEN]]
    more = f"; and {len(found) - _SPOKEN} more" if len(found) > _SPOKEN else ""
    return f"{'; '.join(named)}{more}.{rest}"


def _table(comparison: Comparison) -> TableBlock:
    left_out = too_few(comparison)
    rows: list[list[str | Cell]] = [
        [
            row.metric.label,
            Cell(row.verdict.words, title=row.contrast.method if row.contrast else ""),
            _value(row.metric, row.a),
            _value(row.metric, row.b),
            _difference(row),
            _ratio(row),
        ]
        for row in comparison.rows
        if row not in left_out
    ]
    remarks = ["Small under a value: its 95% interval, of each metric by itself."]
    judged = sum(row.p_corrected is not None for row in comparison.rows)
    if judged:
        remarks.append(f"Verdicts are corrected for {judged} metrics at once, after Holm.")
    if left_out:
        names = ", ".join(row.metric.label for row in left_out)
        remarks.append(f"Left out, because fewer than {TAIL} requests lie beyond them: {names}.")
    columns = ["", "verdict", "A", "B", "B - A", "B / A"]  # what a phone shows first says most
    return TableBlock("A and B, metric by metric", columns, rows, " ".join(remarks))


def _value(metric: Metric, value: Interval | None) -> str | Cell:
    if value is None:
        return ""
    text = shown(value.value, metric.unit)
    if not value.low < value.high:
        return text
    return Cell(text, under=f"{shown(value.low, metric.unit)} to {shown(value.high, metric.unit)}")


def _difference(row: Row) -> str | Cell:
    if row.a is None or row.b is None:
        return ""
    unit = row.metric.unit
    if row.contrast is None:
        return signed(row.b.value - row.a.value, unit, MINUS)
    if row.contrast.difference == (0, 0, 0):
        return "0"
    value, low, high = (signed(end, unit, MINUS) for end in row.contrast.difference)
    return Cell(value, under=f"{low} to {high}")


def _ratio(row: Row) -> str | Cell:
    if row.contrast is None or row.contrast.ratio is None:
        return f"{row.b.value / row.a.value:.4g}" if row.a and row.b and row.a.value else ""
    value, low, high = row.contrast.ratio
    if low == high:
        return f"{value:.4g}"
    return Cell(f"{value:.4g}", under=f"{low:.4g} to {high:.4g}")


def _blocks(drawn: list[Figure], *names: str) -> Iterator[Block]:
    yield from (FigureBlock(figure) for figure in drawn if figure.name in names)


def _causes(comparison: Comparison) -> Iterator[Block]:
    for op, a, b in of_both(comparison):
        causes = stacking_order({cause for band in (*a, *b) for cause in band.parts_ns})
        yield AttributionBlock(
            name=f"attribution-{op}",
            title=f"Where the time of {plural(op)} went",
            bands=list(_bands(a, b)),
            parts=[Part(look(cause).label, look(cause).colour, look(cause).meaning) for cause in causes],
            note="Each pair of bars is a slice of the distribution, of A and of B; the parts are shares of "
            "the causes in percent.",
        )


def _bands(a: Bands, b: Bands) -> Iterator[AttributionBand]:
    """Go through the bands of both, those of the same name one after the other."""
    words = reaches(b) | reaches(a)
    names = dict.fromkeys(band.name for band in (*max(a, b, key=len), *min(a, b, key=len)))
    for name in names:
        for label, bands in (("A", a), ("B", b)):
            for band in bands:
                if band.name == name:
                    yield AttributionBand(
                        name=f"{words[name]} {label}",
                        count=band.count,
                        mean_ns=band.mean_ns,
                        parts_ns={look(cause).label: time for cause, time in band.parts_ns.items()},
                        lower_ns=band.lower_ns,
                        upper_ns=band.upper_ns,
                    )


def _differences(comparison: Comparison) -> Iterator[Block]:
    if not comparison.differences:
        yield Text(["Workload, drive and build are the same."])
    else:
        rows = [
            [literal(key), literal(a if a is not None else "-"), literal(b if b is not None else "-")]
            for key, a, b in comparison.differences
        ]
        yield TableBlock("Keys with another value on either side", ["key", "A", "B"], rows)
    for side in (comparison.a, comparison.b):
        toml = side.first.config_toml()
        if toml.strip():
            summary = f"The drive of {side.name} with all its values"
            yield Details(
                summary, [Source(toml, f"resolved configuration of the drive of {side.name}, TOML")]
            )


def _caveats(comparison: Comparison) -> Iterator[Block]:
    said = [_sentence(remark) for remark in comparison.remarks]
    for side in (comparison.a, comparison.b):
        said += [f"{side.name}: {note}." for note in dict.fromkeys(notes(side.first)) if note]
    if said:
        yield Notes([literal(words) for words in said])


def _provenance(comparison: Comparison) -> Iterator[Block]:
    rows: list[list[str | Cell]] = [
        [
            side.name,
            str(seed),
            f"`{literal(run.digest)}`" if run.digest else "nothing was run",
            f"{run.requests:,}",
            duration(run.simulated_ns),
            "yes" if run.complete else "no",
        ]
        for side in (comparison.a, comparison.b)
        for seed, run in zip(side.seeds, side.results, strict=True)
    ]
    yield TableBlock("The runs", ["", "seed", "digest", "requests", "simulated", "complete"], rows)
    yield Facts(list(_sources(comparison.a, comparison.b)))


def _sources(*sides: Side) -> Iterator[tuple[str, str]]:
    for side in sides:
        yield f"build of {side.name}", literal(build(side.first))
        if side.source:
            yield f"source of {side.name}", literal(side.source)
