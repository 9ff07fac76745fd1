"""Searches as text, for a terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from ninescope.lab.compare.verdict import Verdict
from ninescope.lab.search.finish import Candidate, Measured
from ninescope.lab.search.goals import Number
from ninescope.lab.search.record import Record, column, numbers, table
from ninescope.lab.search.trial import FULL, PRUNED, REFUSED
from ninescope.lab.sweep.values import shown
from ninescope.text.lines import as_html as lines_as_html
from ninescope.text.lines import between, is_too_wide, print_rows, some
from ninescope.text.units import binary

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console
    from rich.table import Table

    from ninescope.lab.search.estimate import Estimate
    from ninescope.lab.search.file import SearchFile
    from ninescope.lab.search.search import Plan


FEW_PARAMETERS = 5
"""So many have room in columns of their own."""


def plan_lines(file: SearchFile, plan: Plan, found: Estimate) -> Iterator[str]:
    """Say what a search is made of."""
    yield f"{file.name}{f': {file.summary}' if file.summary else ''}"
    for parameter in file.space.parameters:
        if parameter.labels:
            words = f"{len(parameter.labels):>4}  {parameter.name}: {some(parameter.labels)}"
        else:
            ends = f"{parameter.shown(parameter.low)} to {parameter.shown(parameter.high)}"
            words = f"      {parameter.name}: {ends}{', by ratios' if parameter.log else ''}"
        yield f"  {words}{f'   if {parameter.condition.text}' if parameter.condition else ''}"
    if plan.designs is not None and plan.designs <= file.trials:
        yield f"{plan.designs:,} designs exist; all are tried, {file.batch} at a time"
    else:
        designs = f"{plan.designs:,} designs" if plan.designs is not None else "more designs than are counted"
        yield f"{designs}, {file.trials} are tried, {file.batch} at a time, proposed by {file.sampler}"
    for of in file.goals.objectives:
        yield f"  {of.direction} {of.text}"
    for bound in file.goals.constraints:
        yield f"  keep {bound.text}"
    yield f"each on {some(file.workloads)}"
    if plan.short_requests:
        told = ", ".join(f"{count:,} of {name}" for name, count in plan.short_requests.items())
        yield (
            f"short runs first: {told} "
            f"(intervals of {file.pruning.level:.0%}, margin {file.pruning.margin:.0%})"
        )
    yield (
        f"at the end: {file.final.candidates} candidates at most with {file.final.seeds} seeds, and the "
        "neighbours of the chosen one"
    )
    if plan.refused:
        yield f"of {plan.drawn} designs at random {len(plan.refused)} cannot be built, as {plan.refused[0]}"
    yield from _estimate_lines(file, found)
    for doubt in plan.doubts:
        yield f"note: {doubt}"


def _estimate_lines(file: SearchFile, found: Estimate) -> Iterator[str]:
    """Say what it takes."""
    workers = f"{found.workers} worker{'s' if found.workers > 1 else ''}"
    runs = f"{found.runs:,} runs"
    if found.seconds is not None:
        begun = f"{found.begun} run{' was' if found.begun == 1 else 's were'} begun for a second"
        spared = ", less what pruning spares" if file.pruning.short else ""
        yield f"time: {between(*found.seconds)} on {workers}{spared} ({runs}; estimated: {begun})"
    else:
        yield f"time: not estimated ({runs})"
    each, all_ = binary(found.worker_bytes), binary(found.all_bytes)
    yield f"memory: up to {each} for a drive, {all_} on {workers} (of designs drawn at random)"


def status_line(record: Record) -> str:
    """Say how far a search is."""
    tried = len(record.distinct)
    of = f" of {record.wanted:,}" if tried < record.wanted else ""
    words = [f"{record.name}: {tried:,}{of} designs tried"]
    words += [f"{record.count(state):,} {told}" for state, told in (
        (FULL, "in full"), (PRUNED, "pruned"), (REFUSED, "refused")) if record.count(state)]  # fmt: skip
    words.append(f"ended: {record.ended}" if record.ended else "not ended; `search resume` goes on")
    return ", ".join(words)


def answer_lines(record: Record) -> Iterator[str]:
    """Say what the answer is."""
    finish, goals = record.finish, record.goals
    if not record.ended:
        return
    if finish.chosen is None:
        yield from _no_answer(record)
        return
    chosen = finish.candidates[finish.chosen]
    yield f"The answer ({how_chosen(record)}):"
    for name, value in chosen.shown.items():
        yield f"  {name} = {value}"
    for of, found in zip(goals.objectives, chosen.objectives, strict=True):
        yield f"  {of.direction} {of.text}: {written(of.number, found)}"
    for bound, found in zip(goals.constraints, chosen.constraints, strict=True):
        yield f"  {bound.text}: {found.verdict}, {written(bound.number, found)}"
    effects: dict[str, int] = {}
    for neighbour in finish.neighbours:
        effects[neighbour.effect] = effects.get(neighbour.effect, 0) + 1
    told = "; ".join(f"{count} {effect}" for effect, count in effects.items())
    if "better" in effects:
        told += ": a longer search would go there"
    yield f"Its {len(finish.neighbours)} neighbours: {told}"


def how_chosen(record: Record) -> str:
    """Say by what the answer was chosen."""
    choose = record.settings["final"]["choose"]
    if len(record.directions) == 1:
        return f"the best {record.directions[0][1]}"
    return "the knee of the front" if choose == "knee" else f"the best {choose}"


def _no_answer(record: Record) -> Iterator[str]:
    if record.finish.candidates:
        yield "No candidate keeps all constraints with every seed taken together."
        return
    if not record.constraints:
        yield "No design could be measured."
        return
    if record.count(FULL):
        yield "No design that was run in full keeps all constraints."
    else:
        yield "No design was run in full: short runs already showed that constraints are violated."
    nearest = record.nearest()
    if nearest is not None:
        label = " ".join(f"{name}={value}" for name, value in record.shown[nearest.number].items())
        yield f"Nearest is trial {nearest.number}: {label}"
        for of in record.goals.constraints:
            value = nearest.bounded(of)
            yield f"  {of.text}: {'holds' if of.holds(value) else 'violated'}, {of.number.written(value)}"


def written(of: Number, found: Measured) -> str:
    """Write a mean with its interval."""
    text = of.written(found.mean)
    if found.low is None or found.high is None or found.low == found.high:
        return text
    return f"{text} ({of.written(found.low)} to {of.written(found.high)})"


def cells(record: Record, frame: pl.DataFrame) -> Iterator[list[str]]:
    """Yield the rows of a table of trials as text."""
    known = numbers(record.goals)
    for row in frame.iter_rows(named=True):
        yield [
            "-" if value is None else known[name].written(value) if name in known else shown(value)
            for name, value in row.items()
        ]


def _narrower(record: Record, frame: pl.DataFrame) -> pl.DataFrame:
    """Write many parameters into one column, and leave out what is the same of a whole front."""
    import polars as pl

    names = [name for name, _ in record.parameters]
    if len(names) > FEW_PARAMETERS:
        words = [
            ", ".join(f"{name} {value}" for name, value in record.shown[trial].items())
            for trial in frame["trial"].to_list()
        ]
        frame = frame.drop(names).with_columns(pl.Series("design", words, dtype=pl.String))
    is_front = "front" not in frame.columns
    return frame.drop([name for name in ("state", "feasible") if is_front and name in frame.columns])


def print_table(record: Record, frame: pl.DataFrame, console: Console) -> None:
    """Print trials."""
    frame = _narrower(record, frame)
    spare = [index for index, name in enumerate(frame.columns) if name == "reason"]
    names = _heads(record, frame)
    rows = list(cells(record, frame))
    if is_too_wide(names, rows, console):
        names = _last_words(names, {name for name, _ in record.parameters})
    print_rows(names, rows, console, right=_to_the_right(record, frame), spare=spare)


def as_html(record: Record) -> str:
    """Return what a notebook shows: how far it is, the front, and the answer."""
    from rich.text import Text

    front = table(record, front_only=True)
    tables = [_drawn(record, _narrower(record, front))] if front.height else []
    return lines_as_html([Text(status_line(record)), *tables, *map(Text, answer_lines(record))])


def _drawn(record: Record, frame: pl.DataFrame) -> Table:
    from rich.table import Table
    from rich.text import Text

    drawn, right = Table(box=None, pad_edge=False), _to_the_right(record, frame)
    for index, name in enumerate(_heads(record, frame)):
        drawn.add_column(Text(name), justify="right" if index in right else "left", overflow="fold")
    for row in cells(record, frame):
        drawn.add_row(*map(Text, row))
    return drawn


def _heads(record: Record, frame: pl.DataFrame) -> list[str]:
    heads = {column(of): of.text for of in record.goals.objectives} | {
        column(of): of.number.name + (f" on {of.workload}" if of.workload else "")
        for of in record.goals.constraints
    }
    return [heads.get(name, name) for name in frame.columns]


def _to_the_right(record: Record, frame: pl.DataFrame) -> list[int]:
    known = numbers(record.goals)
    return [index for index, name in enumerate(frame.columns) if name in known or name == "trial"]


def _last_words(names: Sequence[str], keys: Collection[str]) -> list[str]:
    """Write the keys among names by their last word, where that is still one of them alone."""
    last = [name.rpartition(".")[2] if name in keys else name for name in names]
    return [word if last.count(word) == 1 else name for word, name in zip(last, names, strict=True)]


def against(verdict: Verdict) -> str:
    """Write how a neighbour compares with the chosen design: nothing else is compared here."""
    return verdict.words.replace("B is ", "", 1)


def print_neighbours(record: Record, console: Console) -> None:
    """Print what lies one step aside of the answer."""
    if not record.finish.neighbours:
        return
    goals = record.goals
    rows = []
    for neighbour in record.finish.neighbours:
        candidate: Candidate = neighbour.candidate
        words = [against(verdict) for verdict in neighbour.verdicts]
        words += ["-"] * (len(goals.objectives) - len(words))
        change = f"{neighbour.parameter}={candidate.shown.get(neighbour.parameter, '-')}"
        rows.append([change, neighbour.effect, *words])
    print("One step aside")
    print_rows(["change", "effect", *(of.text for of in goals.objectives)], rows, console)
