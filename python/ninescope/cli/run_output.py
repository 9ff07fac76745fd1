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

from ninescope.cli.common import Interrupted, console

_PROBED = 2.0
"""So long a run is looked at before it is said how long it takes [s]."""
_LONG = 20.0
"""Runs that take longer than this from then on are told [s]."""

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


def deliver(result: Result, out: Path | None, *, as_json: bool, fio_logs: bool = False) -> None:
    """Write a result into `out` and to the standard output."""
    if out is not None:
        try:
            from ninescope.result.fio_logs import NAMES

            result.save(out)
            if fio_logs:
                result.save_fio_logs(out)
            else:
                for name in NAMES:
                    (out / name).unlink(missing_ok=True)  # of an earlier run
            result.plot.tail(out / "tail.png")
            result.plot.cdf(out / "cdf.png")
            drawn = ((any(True for _ in result.slowest), "slowest.png", result.plot.slowest),)
            for is_there, name, draw in (*drawn, (result.tier is not None, "tier.png", result.plot.tier)):
                if is_there:
                    draw(out / name)
                else:
                    (out / name).unlink(missing_ok=True)  # of an earlier run
        except OSError as error:
            from ninescope._native import ConfigError

            raise ConfigError(f"cannot write to {out}: {error.strerror}") from error
    if as_json:
        print(json.dumps(result.document))
        return
    from ninescope.text.result import print_result

    terminal = console()
    print_result(result, terminal)
    if out is not None:
        terminal.print(f"\n written to {out}: see {out / 'tail.png'}", highlight=False, soft_wrap=True)
