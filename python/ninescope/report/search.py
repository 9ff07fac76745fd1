"""The report of a search, as a document. This module knows searches, and no HTML."""

from __future__ import annotations

from collections.abc import Iterator

from ninescope.lab.search.figures import course_figure, front_figure, importance_figure
from ninescope.lab.search.finish import Candidate, Measured, Neighbour
from ninescope.lab.search.goals import Number
from ninescope.lab.search.record import Record
from ninescope.lab.search.text import against, answer_lines, how_chosen
from ninescope.lab.search.trial import FULL, PRUNED, REFUSED, Trial
from ninescope.report.document import (
    Block,
    Cell,
    Details,
    Document,
    Facts,
    FigureBlock,
    Notes,
    Section,
    Source,
    TableBlock,
    Text,
    literal,
)

_SHOWN = 40
"""So many pruned designs are listed."""


def of_search(record: Record) -> Document:
    """Return the report of a search."""
    sections = [
        Section("answer", "The answer", list(_answer(record))),
        Section("front", "The front", list(_front(record))),
        Section("neighbours", "One step aside", list(_neighbours(record))),
        Section("pruned", "What was not run in full", list(_pruned(record))),
        Section("course", "The search", list(_course(record))),
        Section("caveats", "Caveats", [Notes([literal(note) for note in _caveats(record)])]),
        Section("provenance", "Provenance", list(_provenance(record))),
    ]
    tried = len(record.distinct)
    return Document(
        title=literal(record.summary or record.name),
        subtitle=literal(f"{tried:,} designs on {', '.join(record.workloads)}"),
        lead=list(_lead(record)),
        sections=[section for section in sections if section.blocks],
        facts=[("search", literal(record.name)), ("build", record.build)],
    )


def _lead(record: Record) -> Iterator[Block]:
    if not record.ended:
        yield Notes(["The search has not ended: there is no answer yet."], warning=True)
        return
    chosen = _chosen(record)
    if chosen is None:
        yield Text([literal(line.strip()) for line in answer_lines(record)])
        return
    goals = record.goals
    yield Text([literal(_abstract(record, chosen))])
    yield Facts(
        [
            (literal(of.text), of.number.written(found.mean))
            for of, found in zip(goals.objectives, chosen.objectives, strict=True)
        ],
        headline=True,
    )


def _abstract(record: Record, chosen: Candidate) -> str:
    parts = ", ".join(f"{name} {value}" for name, value in chosen.shown.items())
    flat = [neighbour for neighbour in record.finish.neighbours if neighbour.effect == "no difference shown"]
    better = [neighbour for neighbour in record.finish.neighbours if neighbour.effect == "better"]
    around = f"Of its {len(record.finish.neighbours)} neighbours {len(flat)} show no difference"
    if not better:
        return f"Best, as {how_chosen(record)}: {parts}. {around}, and none is better."
    changes = "; ".join(f"{each.parameter} {each.candidate.shown.get(each.parameter, '')}" for each in better)
    return (
        f"Best, as {how_chosen(record)}, of what was tried: {parts}. {around}, and {len(better)} "
        f"{'is' if len(better) == 1 else 'are'} better ({changes}): a longer search would go there."
    )


def _chosen(record: Record) -> Candidate | None:
    finish = record.finish
    return None if finish.chosen is None else finish.candidates[finish.chosen]


def _answer(record: Record) -> Iterator[Block]:
    chosen = _chosen(record)
    if chosen is None:
        return
    goals = record.goals
    choices = dict(record.parameters)
    yield TableBlock(
        "The chosen design",
        ["parameter", "value", "out of"],
        [[name, value, literal(", ".join(choices[name]))] for name, value in chosen.shown.items()],
        f"Chosen as {how_chosen(record)}. Parameters that are not listed are not there in this design.",
    )
    rows: list[list[str | Cell]] = [
        [f"{of.direction} {of.text}", _cell(of.number, found), ""]
        for of, found in zip(goals.objectives, chosen.objectives, strict=True)
    ]
    rows += [
        [of.text, _cell(of.number, found), found.verdict]
        for of, found in zip(goals.constraints, chosen.constraints, strict=True)
    ]
    seeds = record.settings["final"]["seeds"]
    note = f"Means over {seeds} seeds, their 95% intervals under them. " if seeds > 1 else ""
    yield TableBlock(
        "Objectives and constraints",
        ["", "value", "verdict"],
        rows,
        f"{note}A constraint holds where the whole interval keeps it, and on average where the mean does.",
    )


def _cell(number: Number, found: Measured) -> str | Cell:
    if found.low is None or found.high is None or not found.low < found.high:
        return number.written(found.mean)
    under = f"{number.written(found.low)} to {number.written(found.high)}"
    return Cell(number.written(found.mean), under=under)


def _front(record: Record) -> Iterator[Block]:
    goals = record.goals
    if len(goals.objectives) > 1 and any(trial.state != REFUSED for trial in record.distinct):
        yield FigureBlock(front_figure(record))
    if record.front:
        yield _trials("Designs that keep all constraints, and that none is better than", record, record.front)
    if record.finish.candidates:
        yield _candidates(record)


def _trials(title: str, record: Record, trials: list[Trial]) -> TableBlock:
    goals = record.goals
    texts = [of.text for of in goals.objectives]
    bounds = [of for of in goals.constraints if of.number.name not in texts]
    rows: list[list[str | Cell]] = []
    for trial in trials:
        row: list[str | Cell] = [str(trial.number)]
        row += [of.number.written(trial.objective(of)) for of in goals.objectives]
        for bound in bounds:
            value = bound.number.written(trial.bounded(bound))
            row.append(value if bound.holds(trial.bounded(bound)) else Cell(value, under="violated"))
        rows.append([*row, literal(_label(record, trial))])
    columns = ["trial", *texts, *(of.text for of in bounds), "design"]
    return TableBlock(title, columns, rows, "One seed each.")


def _candidates(record: Record) -> TableBlock:
    goals = record.goals
    rows: list[list[str | Cell]] = []
    for place, candidate in enumerate(record.finish.candidates):
        name = "one step aside" if candidate.trial is None else str(candidate.trial)
        name += " (chosen)" if place == record.finish.chosen else ""
        if candidate.error:
            rows.append([name, candidate.error, *[""] * (len(goals.objectives) + len(goals.constraints) - 1)])
            continue
        row: list[str | Cell] = [name]
        row += [
            _cell(of.number, found) for of, found in zip(goals.objectives, candidate.objectives, strict=True)
        ]
        for of, found in zip(goals.constraints, candidate.constraints, strict=True):
            cell = _cell(of.number, found)
            text, under = (cell.text, cell.under) if isinstance(cell, Cell) else (cell, "")
            row.append(Cell(text, under=f"{found.verdict}{f', {under}' if under else ''}"))
        rows.append(row)
    columns = ["trial", *(of.text for of in goals.objectives), *(of.text for of in goals.constraints)]
    seeds = record.settings["final"]["seeds"]
    return TableBlock(
        f"The candidates, with {seeds} seed{'s' if seeds > 1 else ''}",
        columns,
        rows,
        "Designs of the front that lie apart, with the same seeds each; then steps aside that were better.",
    )


def _neighbours(record: Record) -> Iterator[Block]:
    neighbours = record.finish.neighbours
    if not neighbours:
        return
    goals = record.goals
    yield Text([
        "Each parameter of the chosen design was moved by one step, with the same seeds, and compared pair "
        "by pair. What is called lower or higher is more than chance, corrected for all of this table (Holm)."
    ])  # fmt: skip
    rows = [_neighbour(record, neighbour) for neighbour in neighbours]
    columns = ["change", "effect", *(of.text for of in goals.objectives)]
    yield TableBlock("The neighbours of the chosen design", columns, rows)


def _neighbour(record: Record, neighbour: Neighbour) -> list[str | Cell]:
    chosen = _chosen(record)
    before = chosen.shown.get(neighbour.parameter, "") if chosen is not None else ""
    candidate, goals = neighbour.candidate, record.goals
    row: list[str | Cell] = [
        Cell(
            f"{neighbour.parameter} = {candidate.shown.get(neighbour.parameter, '')}",
            under=f"instead of {before}",
        ),
        Cell(neighbour.effect, title=candidate.error),
    ]
    if candidate.error:
        return [*row, *[Cell("\u2013", title=candidate.error)] * len(goals.objectives)]
    found = zip(goals.objectives, candidate.objectives, neighbour.verdicts, strict=True)
    return [*row, *(Cell(of.number.written(one.mean), under=against(verdict)) for of, one, verdict in found)]


def _pruned(record: Record) -> Iterator[Block]:
    pruned = [trial for trial in record.distinct if trial.state == PRUNED]
    refused = [trial for trial in record.distinct if trial.state == REFUSED]
    settings = record.settings["pruning"]
    if settings["short"]:
        full = record.count(FULL)
        yield Text([
            f"Every design was first run with {settings['short']:.0%} of the requests. Where the "
            f"{settings['level']:.0%} intervals of that run lay beyond a limit, or beyond a better design, "
            f"by more than {settings['margin']:.0%}, it was not run in full: {len(pruned)} of "
            f"{len(pruned) + full} designs."
        ])  # fmt: skip
    for title, trials in (("Pruned designs", pruned), ("Designs that cannot be built or run", refused)):
        if trials:
            rows = [
                [str(trial.number), literal(_label(record, trial)), literal(trial.reason)]
                for trial in trials[:_SHOWN]
            ]
            more = f"And {len(trials) - _SHOWN} more." if len(trials) > _SHOWN else ""
            yield TableBlock(title, ["trial", "design", "why"], rows, more)


def _label(record: Record, trial: Trial) -> str:
    return ", ".join(f"{name} {value}" for name, value in record.shown[trial.number].items())


def _course(record: Record) -> Iterator[Block]:
    if any(trial.state == FULL for trial in record.distinct):
        yield FigureBlock(course_figure(record))
    figure = importance_figure(record)
    if figure is not None:
        yield FigureBlock(figure)
    if record.distinct:
        trials = [trial for trial in record.distinct if trial.state == FULL]
        yield Details(
            f"All {len(trials)} designs that were run in full", [_trials("All of them", record, trials)]
        )


def _caveats(record: Record) -> Iterator[str]:
    yield (
        "A search tries some designs of many: the answer is the best of those that were tried, and its "
        "neighbours say how flat it is around it."
    )
    yield "A short run is not a long one: what wears in or fills slowly is seen in full runs alone."
    if any(trial.state == PRUNED for trial in record.distinct):
        yield "Of pruned designs the numbers are those of short runs, and rough."
    if record.settings["final"]["seeds"] == 1:
        yield "Candidates were run with one seed: nothing says what is chance."


def _provenance(record: Record) -> Iterator[Block]:
    settings = record.settings
    yield Facts([
        ("sampler", f"{settings['sampler']}, {settings['batch']} designs at a time, seed {settings['seed']}"),
        ("designs", f"{len(record.distinct):,}; {len(record.trials):,} were proposed, some twice"),
        ("ended", record.ended or "not yet"),
        ("requests simulated", f"{sum(trial.requests for trial in record.distinct):,} to try them"),
        ("build", record.build),
    ])  # fmt: skip
    points = [
        [str(trial.number), *(trial.points.get(workload, "") for workload in record.workloads)]
        for trial in record.front
    ]
    if points:
        yield Details(
            "The runs of the front", [TableBlock("Points in the lake", ["trial", *record.workloads], points)]
        )
    yield Details("The search file", [Source(record.text, "the search, TOML")])
