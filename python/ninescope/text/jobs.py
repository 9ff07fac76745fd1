"""What each of several jobs did, a row for each of its operations, and whom its requests waited for."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ninescope.result import Fairness, JobResult, JobWaits, Result
from ninescope.text.causes import look
from ninescope.text.latency import percentile
from ninescope.text.lines import natural_width
from ninescope.text.names import plural
from ninescope.text.units import duration, quantity

_JOB_NUMBERS = ("requests", "IOPS", "throughput", "mean", "p50", "p99", "max")


def job_table(result: Result, width: int | None) -> RenderableType:
    """Show what each job did, one row for each of its operations.

    `width` is that of a terminal; where that is too narrow each job stands on a line above its operations,
    and where it still is, the numbers of an operation are a sentence. No name or number is cut.
    """
    side_by_side = _jobs_side_by_side(result)
    if width is None or natural_width(side_by_side) <= width:
        return side_by_side
    stacked = _jobs_stacked(result)
    return stacked if natural_width(stacked) <= width else _jobs_in_words(result)


_HOLDERS_TOLD = 4
"""So many jobs are named for which another one waited."""
_SHARE_TOLD = 0.0005
"""Less of its time than that is not told."""


def waits_in_words(result: Result) -> Iterator[RenderableType]:
    """Yield for whom the requests of each job waited, as shares of their time and of that of the slowest."""
    rows = [
        (f"{plural(op)} of {job.name}", words)
        for job in result.jobs
        for op, waits in job.waits.items()
        if (words := _waits_of(job.name, waits, [other.name for other in result.jobs]))
    ]
    if not rows:
        return
    heading = "Who waited for whom, as a share of its time (and of that beyond p99); the rest is its own"
    yield _heading(heading)
    for who, words in rows:
        yield Padding(Text(f"{who}: {words}", overflow="fold"), (0, 0, 0, 4))


def slowdowns_in_words(result: Result) -> Iterator[RenderableType]:
    """Yield how much slower each job was than alone, and how alike that is, where it is known."""
    told = [(job, words) for job in result.jobs if (words := slowdown_in_words(job))]
    if not told or result.fairness is None:
        return
    yield _heading("Slowdown against running alone (mean latency)")
    slowdowns = ", ".join(f"{job.name} {words}" for job, words in told)
    words = f"{slowdowns}; {indices_in_words(result.fairness)}"
    yield Padding(Text(words, overflow="fold"), (0, 0, 0, 4))
    if any(job.slowdown_of == "rate" for job in result.jobs):
        yield Padding(Text(OF_RATE, overflow="fold"), (0, 0, 0, 4))


OF_RATE = "* a closed loop that waits to be let in: requests per second alone over those together"


def slowdown_in_words(job: JobResult) -> str:
    """Say how much slower a job was than alone; nothing where it is not known."""
    if job.slowdown is None:
        return "starved" if job.starved else ""
    return f"{job.slowdown:.2f}{'*' if job.slowdown_of == 'rate' else ''}"


def indices_in_words(fairness: Fairness) -> str:
    """Say how alike slowdowns are."""
    named = {"Jain's fairness index": fairness.jain, "least over most": fairness.least_over_most}
    return ", ".join(f"{name} {value:.3f}" for name, value in named.items() if value is not None)


def _heading(words: str) -> RenderableType:
    return Padding(Text(words, "bold", overflow="fold"), (1, 0, 0, 2))


def _waits_of(own: str, waits: JobWaits, jobs: list[str]) -> str:
    def told(holder: str | None, share: float) -> str:
        name = {None: "the drive itself", own: "its own"}.get(holder, holder)
        tail = waits.beyond_p99
        beyond = f" ({tail.share(holder):.1%})" if tail else ""
        return f"{name} {share:.1%}{beyond}{'' if holder == own else _mostly(waits, holder)}"

    shares: list[tuple[str | None, float]] = [(job, waits.share(job)) for job in jobs]
    shares.sort(key=lambda of: -of[1])
    shares = [*shares[:_HOLDERS_TOLD], (None, waits.share(None))]
    words = [told(holder, share) for holder, share in shares if share >= _SHARE_TOLD]
    return "; ".join(words)


def _mostly(waits: JobWaits, holder: str | None) -> str:
    """Say by which cause a job waited for a holder most."""
    by_cause = waits.behind_drive_ns if holder is None else waits.behind_ns.get(holder) or {}
    most = max(by_cause, key=lambda cause: by_cause[cause], default="")
    if not most:
        return ""
    share = by_cause[most] / (sum(by_cause.values()) or 1)
    return f", {'most' if share > 1 / 2 else 'the largest part'} of it {look(most).label}"


def _new_job_table(*heads: str) -> Table:
    table = Table(box=None, pad_edge=True, header_style="bold", padding=(0, 2, 0, 1))
    for head in heads:
        table.add_column(head, no_wrap=True)
    for name in _JOB_NUMBERS:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _job_rows(job: JobResult) -> Iterator[tuple[str, list[str | Text]]]:
    """Yield the operations of a job with their numbers; a job that did nothing has no operation."""
    if not job.requests:
        yield "", ["0"]
    for op, latency in job.latency:
        moved = job.throughput[op]
        rate = quantity(moved.bytes_per_second, "B/s") if moved.bytes else ""
        times = (duration(latency.mean_ns), percentile(latency, "50"), percentile(latency, "99"))
        failed = f" ({moved.failed:,} failed)" if moved.failed else ""
        count = f"{latency.count:,}{failed}"
        yield op, [count, quantity(moved.iops), rate, *times, duration(latency.max_ns)]


def _jobs_side_by_side(result: Result) -> Table:
    table = _new_job_table("job", "")
    for job in result.jobs:
        for place, (op, numbers) in enumerate(_job_rows(job)):
            table.add_row("" if place else Text(job.name), op, *numbers)
    return table


def _jobs_stacked(result: Result) -> Table:
    table = _new_job_table("job")
    for job in result.jobs:
        table.add_row(Text(job.name, "bold"))
        for op, numbers in _job_rows(job):
            table.add_row(f"  {op}", *numbers)
    return table


def _jobs_in_words(result: Result) -> RenderableType:
    lines: list[RenderableType] = []
    for job in result.jobs:
        lines.append(Text(f" {job.name}", "bold", overflow="fold"))
        for op, numbers in _job_rows(job):
            words = (
                f"{name} {str(number).strip()}"
                for name, number in zip(_JOB_NUMBERS, numbers, strict=False)
                if str(number).strip()
            )
            lines.append(Padding(Text(f"{op} {', '.join(words)}".strip(), overflow="fold"), (0, 0, 0, 3)))
    return Group(*lines)
