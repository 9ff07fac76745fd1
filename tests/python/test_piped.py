"""What is piped is whole: no name, no number and no column of a table is cut, however long it is."""

from __future__ import annotations

import io
import re
import subprocess

import pytest
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from compare_samples import document
from conftest import NATIVE, ROOT, quick_command
from ninescope.lab.compare import compare
from ninescope.result import Result
from ninescope.text.lines import plain_text, print_whole

LONG = "a-rather-long-name-of-a-job-that-reads-the-index-all-day-and-writes-its-log-at-night"


def of_words(*columns: str, no_wrap: bool, rows: int = 2) -> Table:
    table = Table(box=None)
    for column in columns:
        table.add_column(column, no_wrap=no_wrap, justify="right")
    for row in range(rows):
        table.add_row(*(f"{column}-of-row-{row}" for column in columns))
    return table


@pytest.mark.parametrize("no_wrap", [True, False])
@pytest.mark.parametrize(
    "within", [lambda table: table, lambda table: Group("above", Padding(table, (0, 0, 0, 4)))]
)
def test_a_table_that_is_wider_than_a_page_is_not_cut(no_wrap, within):
    names = [f"requests-that-were-{number}" for number in range(12)]
    lines = plain_text([within(of_words(*names, no_wrap=no_wrap))]).splitlines()
    for name in names:
        assert sum(name in line for line in lines) == 3
    assert not any("\u2026" in line for line in lines)
    # One line for the heads and one for each row: a pipe has no width.
    assert len([line for line in lines if names[0] in line]) == 3


def test_sentences_are_folded_at_a_page_and_words_never():
    words = "words that are many " * 20
    table = Table(box=None)
    table.add_column("short")
    table.add_column("long")
    table.add_row("requests", words)
    lines = plain_text([Text(words), table]).splitlines()
    assert max(map(len, lines)) <= 100
    assert sum("requests" in line for line in lines) == 1


def test_a_terminal_is_left_its_width():
    file = io.StringIO()
    print_whole([of_words("a", "b", no_wrap=True)], Console(file=file, width=60, force_terminal=True))
    assert "a-of-row-1" in file.getvalue()


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_two_jobs_of_long_names_are_told_apart_in_a_pipe(cli, tmp_path):
    file = tmp_path / "two.toml"
    jobs = "".join(
        f'[[jobs]]\nname = "{LONG}-{number}"\nrw = "randrw"\nbs = "4k"\nsize = "8m"\nrequests = 300\n'
        for number in (1, 2)
    )
    file.write_text(jobs)
    code, out, err = cli("run", file)
    assert code == 0, err
    for number in (1, 2):
        assert f"{LONG}-{number}" in out
    heads = next(line for line in out.splitlines() if line.lstrip().startswith("job "))
    assert heads.split() == ["job", "requests", "IOPS", "throughput", "mean", "p50", "p99", "max"]
    assert not re.search(r"\w\u2026", out)


def test_a_value_of_a_key_is_compared_whole():
    one, other = (
        Result(document(1, config={"name": "made up", "drive": {"ftl": {"victim": f"{LONG}-{at}"}}}))
        for at in (1, 2)
    )
    shown = str(compare(one, other))
    for number in (1, 2):
        assert f"{LONG}-{number}" in shown


# ---- A pipe that is closed -------------------------------------------------------------------------------


def closed_at(*arguments: object, lines: int, errors: bool = False) -> tuple[int, bytes]:
    """Run a program and close its pipe after so many lines; return its exit code and what else it said."""
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT if errors else subprocess.PIPE}
    with subprocess.Popen([*quick_command(), *map(str, arguments)], **pipe) as process:
        for _ in range(lines):
            assert process.stdout.readline()
        process.stdout.close()
        said = b"" if errors else process.stderr.read()
        return process.wait(120), said


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (("policies",), 0),
        (("policies", "--json"), 0),
        (("--help",), 0),
        (("run", "--rw", "randread", "--requests", "200"), 0),
        (("run", "--rw", "randread", "--requests", "200", "--json"), 0),
        (("trace", "convert", ROOT / "examples/traces/pgbench.csv.zst", "-", "--to", "msr"), 1),
    ],
)
def test_a_closed_pipe_ends_quietly(arguments, lines):
    # 128 + SIGPIPE, which is 13: what a shell says of `yes | head -1`.
    assert closed_at(*arguments, lines=lines) == (128 + 13, b"")


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_a_message_that_nobody_reads_is_no_bug():
    assert closed_at("run", "--rw", "randrd", lines=0, errors=True)[0] == 128 + 13
