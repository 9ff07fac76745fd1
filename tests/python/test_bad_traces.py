"""Traces with mistakes: each verb says in one line which file has what wrong, and exits with 2."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from conftest import NATIVE, ROOT, run_program

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
LATE = b"128166372999999999"
ROWS = "".join(
    f"{128166372000000000 + index * 1000},h,0,{('Read', 'Write')[index % 2]},{index % 97 * 4096},4096,5\n"
    for index in range(3000)
).encode()
PGBENCH = (ROOT / "examples/traces/pgbench.csv.zst").read_bytes()


def half(archive: bytes) -> bytes:
    return archive[: len(archive) // 2]


def damaged(archive: bytes) -> bytes:
    middle = len(archive) // 2
    return (
        archive[:middle]
        + bytes(byte ^ 0x5A for byte in archive[middle : middle + 40])
        + archive[middle + 40 :]
    )


MISTAKES: dict[str, tuple[bytes, str]] = {
    "cut.csv.gz": (half(gzip.compress(ROWS)), "the gzip archive is truncated"),
    "cut.csv.bz2": (half(bz2.compress(ROWS)), "the bzip2 archive is truncated"),
    "cut.csv.xz": (half(lzma.compress(ROWS)), "the xz archive is truncated"),
    "cut.csv.zst": (half(PGBENCH), "the zstd archive is truncated"),
    "damaged.csv.gz": (damaged(gzip.compress(ROWS)), "the gzip archive is damaged"),
    "damaged.csv.xz": (damaged(lzma.compress(ROWS)), "the xz archive is damaged"),
    "damaged.csv.zst": (damaged(PGBENCH), "the zstd archive is damaged"),
    "nothing.csv": (b"", "the trace is empty"),
    "nothing.csv.gz": (gzip.compress(b""), "the trace is empty"),
    "mixed.csv": (ROWS[:6000] + b"".join(b"%d 0 %d 8 1\n" % (i, 8 * i) for i in range(99)), "reads as msr"),
    "header.csv": (
        b"Timestamp,Hostname,Disk,Type,Offset,Size,Response\n",
        "`Timestamp` does not say its unit",
    ),
    "prose.txt": (b"this is\nno trace\n", "reads as no known format"),
    "binary.bin": (bytes(range(256)) * 9, "it is binary, not text, and no trace in a format that is known"),
    "negative.csv": (b"1,h,0,Read,-4096,4096,1\n2,h,0,Read,-8192,4096,1\n", "as msr, the offset is negative"),
    "far.csv": (b"1,h,0,Read,18446744073709551615,4096,1\n", "as msr, the address is too large"),
    "large.csv": (b"1,h,0,Read,0,99999999999999999999999,1\n", "as msr, the size is too large"),
    "zero.csv": (b"1,h,0,Read,0,0,1\n2,h,0,Read,4096,0,1\n", "as msr, the size is zero"),
    "cut.parquet": (b"PAR1 and no more", "cut.parquet"),
}
STRICT: dict[str, tuple[bytes, str]] = {
    "negative.csv": (
        ROWS + LATE + b",h,0,Read,-1,512,1\n",
        "negative.csv:3001: the offset is negative",
    ),
    "far.csv": (
        ROWS + LATE + b",h,0,Read,18446744073709551615,512,1\n",
        "far.csv:3001: the address is",
    ),
    "zero.csv": (ROWS + LATE + b",h,0,Read,0,0,1\n", "zero.csv:3001: the size is zero"),
    "cut.csv": (ROWS + LATE + b",h,0,Re", "cut.csv:3001: the operation is unknown"),
    "early.csv": (ROWS + b"128166372000000000,h,0,Read,0,512,1\n", "early.csv:3001: the time lies before"),
}


def verbs(path: Path, target: Path) -> Iterator[tuple[object, ...]]:
    """Every command that reads a trace."""
    yield "check", path
    yield "trace", "stat", path
    yield "trace", "convert", path, target
    yield "run", path


def assert_refused(outcome: tuple[int, str, str], name: str, words: str) -> None:
    code, out, err = outcome
    assert (code, out) == (2, ""), err
    assert err.startswith("ninescope: error: ")
    assert len(err.splitlines()) == 1
    assert name in err
    assert words in err


@pytest.mark.parametrize("name", MISTAKES)
def test_every_verb_says_what_is_wrong(cli, tmp_path, name):
    content, words = MISTAKES[name]
    path, target = tmp_path / name, tmp_path / "out.csv"
    path.write_bytes(content)
    for verb in verbs(path, target):
        assert_refused(cli(*verb), name, words)
    assert not target.exists()


@pytest.mark.parametrize("name", STRICT)
def test_strict_names_the_line(cli, tmp_path, name):
    content, words = STRICT[name]
    path = tmp_path / name
    path.write_bytes(content)
    for verb in verbs(path, tmp_path / "out.mqsim"):
        assert_refused(cli(*verb, "--strict"), name, words)
    code, out, _ = cli("check", path)
    assert code == 0
    assert len(out.splitlines()) >= 3, "the skipped or moved request is told"


@pytest.mark.parametrize(
    "name", ["cut.csv.gz", "cut.csv.zst", "mixed.csv", "zero.csv", "nothing.csv", "cut.parquet"]
)
def test_standard_input_is_called_so(tmp_path, name):
    content, words = MISTAKES[name]
    words = words.replace(name, "standard input")
    for verb in (
        ("check", "-"),
        ("trace", "stat", "-"),
        ("trace", "convert", "-", tmp_path / "o.csv"),
        ("run", "-"),
    ):
        assert_refused(run_program(*verb, stdin=content), "standard input", words)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("time=1[parsec],offset=5[B],size=6[B]", "parsec"),
        ("time=1[us],offset=5[us],size=6[B]", "offset"),
        ("time=1[us],offset=9[B],size=6[B]", "9"),
        ("time=1[us],size=6[B]", "offset"),
        ("time=when[us],offset=5[B],size=6[B]", "when"),
    ],
)
def test_columns_and_units_that_are_not_there_are_named(cli, tmp_path, columns, words):
    path = tmp_path / "trace.csv"
    path.write_bytes(ROWS)
    for verb in verbs(path, tmp_path / "out.mqsim"):
        code, out, err = cli(*verb, "--format", f"csv:{columns}")
        assert (code, out) == (2, ""), err
        assert words in err
        assert "Traceback" not in err


def test_a_described_trace_is_checked(cli, tmp_path):
    path = tmp_path / "trace.txt"
    path.write_text("7;W;1024;512\n9;R;4096;4096\n")
    words = ("--format", "csv:time=1[us],op=2,offset=3[B],size=4[B],sep=semicolon")
    code, out, err = cli("check", path, *words)
    assert (code, err) == (0, "")
    assert "trace (csv" in out
    assert "2 requests" in out


def test_a_parquet_trace_is_checked_with_all_its_operations(cli, tmp_path):
    path = tmp_path / "trace.parquet"
    columns = {
        "submitted_ns": [0, 5, 9],
        "op": ["write", "trim", "flush"],
        "lba": [0, 0, 0],
        "sectors": [8, 8, 0],
    }
    pl.DataFrame(columns).write_parquet(path)
    code, out, _ = cli("check", path)
    assert code == 0
    assert "trace (parquet), OK" in out
    assert "  2 requests\n  1 discard was left out" in out


@pytest.mark.parametrize("name", ["job.toml", "drive.toml"])
def test_a_byte_order_mark_does_not_hide_what_a_file_is(cli, tmp_path, name):
    path = tmp_path / name
    path.write_text('\ufeffrw = "read"\n' if name == "job.toml" else '\ufeffbase = "tlc"\n', encoding="utf-8")
    code, out, err = cli("check", path)
    assert (code, err) == (0, "")
    assert f"{name.partition('.')[0]}, OK" in out


def test_a_toml_that_is_no_text_is_said_alike_everywhere(cli, tmp_path):
    path = tmp_path / "job.toml"
    path.write_bytes(b"\xff\xfe\x00")
    for verb in ("check", "run"):
        assert_refused(cli(verb, path), "job.toml", "not a text file")
