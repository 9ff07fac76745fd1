"""Following a run to its end, and delivering its result: to the terminal, as JSON, into a folder."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from ninescope.cli.common import REPORTS, Interrupted, console

_PROBED = 2.0
"""So long a run is looked at before it is said how long it takes [s]."""
_LONG = 20.0
"""Runs that take longer than this from then on are told [s]."""
_DATA = "result.json with its tables"
"""These are written first, together."""
FIGURES = ("tail.png", "cdf.png", "slowest.png", "tier.png")
"""What may be drawn of a run."""

if TYPE_CHECKING:
    from ninescope.result import Result
    from ninescope.simulation.run import Progress, Run
    from ninescope.simulation.snapshots import Preparation


def run_to_end(run: Run, *, quiet: bool) -> Result:
    """Run until it is complete or a signal comes; a second signal stops at once, without a result."""
    with _stoppable() as stopped:
        _follow(_telling_how_long(run.slices()) if quiet else run.slices(), stopped, quiet=quiet)
        if not run.complete:
            prepared = run.progress().phase != "prepare"
            what = "this is the part that was run" if prepared else "the drive was still being prepared"
            print(f"ninescope: interrupted; {what}", file=sys.stderr)
        return run.result()


def _telling_how_long(slices: Iterator[Progress]) -> Iterator[Progress]:
    """Say once of a run that takes long how long it will take: where no bar is drawn, nothing else does."""
    from ninescope.text.units import duration

    began: tuple[float, int] | None = None
    told = False
    for progress in slices:
        yield progress
        if told or progress.phase != "run" or not progress.total:
            continue
        now = time.monotonic()
        began = began or (now, progress.done)
        taken, done = now - began[0], progress.done - began[1]
        if taken >= _PROBED and done > 0:
            told = True
            left = taken * (progress.total - progress.done) / done
            if left >= _LONG:
                print(
                    f"ninescope: {progress.total:,} requests will take about {duration(left * 1e9)} more",
                    file=sys.stderr,
                )


def prepare_to_end(preparation: Preparation, *, quiet: bool) -> None:
    """Prepare a drive until it is ready; a signal ends it, and nothing is left of it."""
    with _stoppable() as stopped:
        _follow(preparation.slices(), stopped, quiet=quiet)
        if not preparation.complete:
            raise Interrupted


def _follow(slices: Iterator[Progress], stopped: Callable[[], bool], *, quiet: bool) -> None:
    with _no_bar() if quiet else _bar() as show:
        for progress in slices:
            show(progress)
            if stopped():
                return


@contextlib.contextmanager
def _stoppable() -> Iterator[Callable[[], bool]]:
    """Have a first signal noted, and a second one stop at once; give the question whether there was one."""
    stopped = False

    def stop(signal_number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        if stopped:
            raise Interrupted
        stopped = True

    before = [(number, signal.signal(number, stop)) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield lambda: stopped
    finally:
        for number, handler in before:
            signal.signal(number, handler)


@contextlib.contextmanager
def _no_bar() -> Iterator[Any]:
    yield lambda progress: None


@contextlib.contextmanager
def _bar() -> Iterator[Any]:
    """Show a progress bar on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from ninescope.text.units import duration

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[simulated]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(progress: Any) -> None:
            phase = progress.phase
            if phase not in tasks:
                for task in tasks.values():
                    bar.update(task, visible=False)
                description = {"prepare": "preparing the drive", "run": "simulating"}.get(phase, phase)
                tasks[phase] = bar.add_task(description, total=progress.total, simulated="")
            simulated = duration(progress.simulated_ns) if progress.simulated_ns else ""
            bar.update(tasks[phase], completed=progress.done, total=progress.total, simulated=simulated)

        yield show


def deliver(result: Result, out: Path | None, *, as_json: bool, fio_logs: bool = False) -> bool:
    """Write a result into `out` and to the standard output; say whether no signal cut the writing short.

    What was run is printed nevertheless, and what is not in the folder is named.
    """
    missing = [] if out is None else _written(result, out, fio_logs=fio_logs)
    if missing:
        print(f"ninescope: interrupted; not written to {out}: {', '.join(missing)}", file=sys.stderr)
    if as_json:
        print(json.dumps(result.document))
        return not missing
    from ninescope.text.result import print_result

    terminal = console()
    print_result(result, terminal)
    if out is not None and _DATA not in missing:
        see = "" if "tail.png" in missing else f": see {out / 'tail.png'}"
        terminal.print(f"\n written to {out}{see}", highlight=False, soft_wrap=True)
    return not missing


def _written(result: Result, out: Path, *, fio_logs: bool) -> list[str]:
    """Write a result with its figures; return what a signal left unwritten.

    Nothing that was made of an earlier run stays.
    """
    from ninescope.result.fio_logs import NAMES

    def save() -> None:
        result.save(out)
        for name in (*FIGURES, *REPORTS, *NAMES):
            (out / name).unlink(missing_ok=True)  # of an earlier run

    figures = {
        "tail.png": lambda: result.plot.tail(out / "tail.png"),
        "cdf.png": lambda: result.plot.cdf(out / "cdf.png"),
    }
    if any(True for _ in result.slowest):
        figures["slowest.png"] = lambda: result.plot.slowest(out / "slowest.png")
    if result.tier is not None:
        figures["tier.png"] = lambda: result.plot.tier(out / "tier.png")
    steps: dict[str, Callable[[], object]] = {_DATA: save}
    if fio_logs:
        steps["logs of fio"] = lambda: result.save_fio_logs(out)
    steps |= figures
    left = list(steps)
    try:
        for name, write in steps.items():
            write()
            left.remove(name)
    except Interrupted:
        return left
    except OSError as error:
        from ninescope._native import ConfigError

        raise ConfigError(f"cannot write to {out}: {error.strerror}") from error
    return []
