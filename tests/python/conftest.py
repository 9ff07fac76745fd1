"""What the tests share.

Before the engine is built, `fakes` stands in for it and the tests of the engine itself are skipped. As soon
as `ninescope._native` can be imported the fake is out of the way. `make test` sets NINESCOPE_NATIVE=required.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

import forks

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # noqa: F401

if TYPE_CHECKING:
    from ninescope.lab.sweep.sweep import Sweep

ROOT = Path(__file__).resolve().parents[2]
NEED_THE_ENGINE = (
    "test_codes.py",
    "test_end_to_end.py",
    "test_naive_ftl.py",
    "test_queue_depth_one.py",
    "test_snapshots.py",
    "test_trace_convert.py",
    "test_trace_stat.py",
)
# What takes longest comes first, so that no process is left with a long file when the others have ended.
LONG = (
    "test_documentation.py",
    "test_search_run.py",
    "test_papers.py",
    "test_fio_options.py",
    "test_schema.py",
    "test_cli.py",
    "test_flexecc_paper.py",
    "test_data_management_paper.py",
    "test_scm_papers.py",
    "test_ssr_paper.py",
    "test_statistics.py",
    "test_report.py",
    "test_sweep_disturbed.py",
    "test_sweep_timing.py",
    "test_bad_traces.py",
)

try:
    import ninescope._native  # noqa: F401

    NATIVE = True
except ModuleNotFoundError as error:
    if os.environ.get("NINESCOPE_NATIVE") == "required" or error.name not in (
        "ninescope",
        "ninescope._native",
    ):
        raise
    sys.path.insert(0, str(ROOT / "python"))
    import fakes

    fakes.install()
    NATIVE = False


# What is imported is much and stays: to look through it after each 700 objects took a tenth of the time.
gc.set_threshold(50_000, 20, 20)


def pytest_report_header() -> str:
    return "ninescope engine: " + (
        "the real one" if NATIVE else "FAKE (not built); tests of the engine are skipped"
    )


def pytest_xdist_auto_num_workers() -> int:
    """Two more than processors: fio sleeps in its tests, and programs of other tests wait for each other."""
    return (os.cpu_count() or 1) + 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONG.index(item.path.name) if item.path.name in LONG else len(LONG))
    if not NATIVE:
        for item in items:
            if item.path.name in NEED_THE_ENGINE:
                item.add_marker(pytest.mark.skip(reason="the engine is not built"))


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


def command() -> list[str]:
    """The ninescope command line as a program of its own."""
    return [sys.executable, *(["-m", "ninescope"] if NATIVE else [str(ROOT / "tests/python/fakes.py")])]


PROGRAMS = contextlib.ExitStack()
"""What ends with the tests."""


@functools.cache
def forking() -> forks.Forks:
    """The server of the programs that begin where what others wrote is imported already."""
    # The path of a socket is short.
    folder = PROGRAMS.enter_context(tempfile.TemporaryDirectory())
    return PROGRAMS.enter_context(forks.server(Path(folder)))


def pytest_sessionfinish() -> None:
    PROGRAMS.close()


def quick_command() -> list[str]:
    """As `command`, for programs that get no signal and whose start is not what is tested."""
    return [str(forking().command)] if NATIVE else command()


class Interruption(NamedTuple):
    """What a program that got a signal left: its exit code, its stdout and what a terminal showed."""

    code: int
    out: str
    shown: str


def interrupted(arguments: list[str], sign: str, number: int, out: Path) -> Interruption:
    """Run the command line, and send it a signal as soon as its terminal shows `sign`, a pattern."""
    import pty

    terminal, far_end = pty.openpty()
    with out.open("w") as stdout:  # not a pipe, which nobody would empty
        process = subprocess.Popen(
            [*command(), *arguments], stdout=stdout, stderr=far_end, env=os.environ | {"TERM": "xterm"}
        )
    os.close(far_end)
    shown = ""
    is_sent = False
    with contextlib.suppress(OSError):  # the end of a terminal
        while chunk := os.read(terminal, 4096):
            shown += chunk.decode(errors="replace")
            if not is_sent and re.search(sign, re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", shown)):
                process.send_signal(number)
                is_sent = True
    os.close(terminal)
    return Interruption(process.wait(60), out.read_text(), shown)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., Outcome]]:
    """Run the command line in this process."""
    from ninescope.cli import main

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def run(*arguments: object) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        return Outcome(int(caught.value.code or 0), *capsys.readouterr())

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def shell_path(tmp_path: Path) -> Path:
    """A folder with a `ninescope` command, to be put on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "ninescope"
    words = " ".join(f"'{word}'" for word in command())
    script.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    script.chmod(0o755)
    python = folder / "python"
    python.write_text(f"#!/bin/sh\nexec '{sys.executable}' \"$@\"\n")
    python.chmod(0o755)
    return folder


def run_program(*arguments: object, stdin: bytes | None = None, timeout: float = 120) -> Outcome:
    """Run the command line as a program of its own, which begins quickly."""
    if NATIVE:
        code, out, err = forking().run([*map(str, arguments)], stdin, timeout)
        return Outcome(code, out.decode(), err.decode())
    done = subprocess.run(
        [*command(), *map(str, arguments)],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        timeout=timeout,
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def msr_trace(tmp_path: Path) -> Path:
    """A small trace of mixed reads and writes in the MSR format."""
    path = tmp_path / "small.csv"
    start = 128166372000000000
    with path.open("w") as file:
        for index in range(2000):
            kind = "Write" if index % 3 else "Read"
            offset = (index * 7919 % 4096) * 4096
            file.write(f"{start + index * 1000},host,0,{kind},{offset},{4096 * (1 + index % 3)},500\n")
    return path


@pytest.fixture
def sweep(tmp_path: Path) -> Sweep:
    """The small sweep, read from a file."""
    from ninescope.lab.sweep.sweep import Sweep
    from sweep_samples import sweep_file

    return Sweep.from_file(sweep_file(tmp_path))


@pytest.fixture
def undisturbed(sweep: Sweep, tmp_path: Path) -> bytes:
    """The table of the small sweep, run in one thread."""
    from sweep_samples import csv, run_here

    run_here(sweep, tmp_path / "undisturbed")
    return csv(tmp_path / "undisturbed")
