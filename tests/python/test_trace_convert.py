"""`trace convert`: what is written reads back, in every format and archive, and nothing is half-written."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import ninescope
from conftest import ROOT, command, run_program
from ninescope.traces import COLUMNS

ENDINGS = [".csv", ".csv.gz", ".csv.zst", ".mqsim", ".mqsim.gz", ".mqsim.zst", ".parquet"]


def stat_without_names(path: Path) -> dict[str, object]:
    """Return the statistics without what formats call themselves and their only volume."""
    stat = ninescope.trace_stat(path, strict=True)
    return {key: value for key, value in stat.items() if key not in ("format", "volumes")}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_round_trip_changes_nothing(cli, msr_trace, tmp_path, ending):
    there, back = tmp_path / f"there{ending}", tmp_path / "back.csv"
    code, out, err = cli("trace", "convert", msr_trace, there)
    assert (code, err) == (0, "")
    assert "2,000 requests, format" in out
    assert "note" not in out
    assert stat_without_names(there) == stat_without_names(msr_trace)
    assert cli("trace", "convert", there, back).code == 0
    assert stat_without_names(back) == stat_without_names(msr_trace)


def test_fio_logs_say_what_the_trace_says(cli, msr_trace, tmp_path):
    path = tmp_path / "out.iolog.gz"
    assert cli("trace", "convert", msr_trace, path, "--requests", "2").code == 0
    assert gzip.decompress(path.read_bytes()).decode().splitlines() == [
        "fio version 3 iolog",
        "0 trace add",
        "0 trace open",
        "0 trace read 0 4096",
        "100 trace write 15659008 8192",
        "100 trace close",
    ]


def test_parquet_has_typed_columns(cli, msr_trace, tmp_path):
    path = tmp_path / "trace.parquet"
    assert cli("trace", "convert", msr_trace, path).code == 0
    frame = pl.read_parquet(path)
    assert frame.schema == {
        "submitted_ns": pl.UInt64,
        "op": pl.String,
        "lba": pl.UInt64,
        "sectors": pl.UInt32,
    }
    assert frame.row(1) == (100_000, "write", 30584, 16)


def test_options_reach_the_reader(cli, msr_trace, tmp_path):
    path = tmp_path / "few.csv"
    assert cli("trace", "convert", msr_trace, path, "--requests", "1e1", "--time-scale", "0.5").code == 0
    stat = ninescope.trace_stat(path)
    assert (stat["requests"], stat["duration_ns"]) == (10, 9 * 100_000 // 2)


def test_lost_digits_are_said(cli, tmp_path):
    source = tmp_path / "fine.mqsim"
    source.write_text("100 0 0 8 1\n300 0 8 8 0\n350 0 16 8 0\n")
    _, out, _ = cli("trace", "convert", source, tmp_path / "coarse.csv")
    assert "1 times were cut to 100 ns" in out
    _, out, _ = cli("trace", "convert", source, tmp_path / "coarse.iolog")
    assert "2 times were cut to 1 us" in out


def test_a_pipe_in_and_out(msr_trace):
    code, out, err = run_program("trace", "convert", "-", "-", "--to", "mqsim", stdin=msr_trace.read_bytes())
    assert code == 0
    assert "standard output: 2,000 requests, format mqsim" in err
    assert out.splitlines()[1] == "100000 0 30584 16 0"


def test_parquet_through_pipes(msr_trace):
    words = [*command(), "trace", "convert", "-", "-", "--to"]
    first = subprocess.run([*words, "parquet"], input=msr_trace.read_bytes(), capture_output=True, check=True)
    second = subprocess.run([*words, "msr"], input=first.stdout, capture_output=True, check=True)
    assert len(second.stdout.splitlines()) == 2000


def test_parquet_runs_as_the_trace_that_it_came_from(cli, tmp_path):
    source, path = tmp_path / "pgbench.csv", tmp_path / "pgbench.parquet"
    pgbench = ROOT / "examples/traces/pgbench.csv.zst"
    assert cli("trace", "convert", pgbench, source, "--requests", "3000").code == 0
    assert cli("trace", "convert", source, path).code == 0
    words = ("--drive", ROOT / "examples/drives/demo.toml", "--json")
    results = [json.loads(cli("run", trace, *words).out) for trace in (source, path)]
    assert results[0]["digest"] == results[1]["digest"]
    named = {key: results[1]["workload"][key] for key in ("path", "format", "volumes")}
    assert (named["path"], named["format"]) == ("pgbench.parquet", "parquet")
    described = results[0]["workload"] | named
    assert results[1]["workload"] == described


def test_the_request_log_of_a_run_is_a_trace(cli, tmp_path):
    out = tmp_path / "out"
    code = cli(
        "run", "--rw", "randrw", "--size", "64m", "--requests", "500", "--log-requests", "--out", out
    ).code
    assert code == 0
    assert ninescope.trace_stat(out / "requests.parquet")["requests"] == 500


def parquet(path: Path, **columns: object) -> Path:
    good = {"submitted_ns": [0, 1], "op": ["read", "write"], "lba": [0, 8], "sectors": [8, 8]}
    pl.DataFrame({**good, **columns}).write_parquet(path)
    return path


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"sectors": [8, 0]}, "row 2: the size is zero"),
        ({"sectors": [8, 1 << 40]}, "row 2: 1099511627776 sectors are more than"),
        ({"lba": [0, -8]}, "row 2: lba is negative"),
        ({"lba": [1 << 60, 0]}, "row 1: the address"),
        ({"submitted_ns": [0, None]}, "row 2: submitted_ns is missing"),
        ({"submitted_ns": [0.5, 1.0]}, "'submitted_ns' holds Float64, not whole numbers"),
        ({"op": ["read", "erase"]}, "row 2: op is not read or write"),
        ({"op": ["trim", "read"]}, "row 1: only reads and writes"),
    ],
)
def test_rows_that_are_no_requests_are_named(cli, tmp_path, columns, message):
    path = parquet(tmp_path / "bad.parquet", **columns)
    for words in (("trace", "stat", path), ("run", path), ("trace", "convert", path, tmp_path / "out.csv")):
        code, _, err = cli(*words)
        assert (code, "bad.parquet" in err, message in err) == (2, True, True), err
    assert not (tmp_path / "out.csv").exists()


def test_a_missing_column_is_named(cli, tmp_path):
    path = tmp_path / "bad.parquet"
    pl.DataFrame({"submitted_ns": [1], "op": ["read"], "lba": [0]}).write_parquet(path)
    code, _, err = cli("trace", "stat", path)
    assert code == 2
    assert "the column 'sectors' is missing; a trace has submitted_ns, op, lba, sectors" in err
    pl.DataFrame({name: np.array([], dtype=np.uint64) for name in COLUMNS}).write_parquet(path)
    assert "the trace is empty" in cli("trace", "stat", path).err
    path.write_bytes(b"PAR1 and no more")
    code, _, err = cli("trace", "stat", path)
    assert (code, "bad.parquet" in err) == (2, True)


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("out.txt", (), "does not say which format is wanted"),
        ("-", (), "does not say which format is wanted"),
        ("out.csv", ("--to", "mqsin"), "did you mean 'mqsim'"),
        ("out.parquet.gz", (), "compressed inside"),
        ("nowhere/out.csv", (), "there is no folder"),
        ("out.csv", ("--requests", "few"), "--requests"),
        ("out.csv", ("--time-scale", "0"), "--time-scale"),
    ],
)
def test_bad_arguments(cli, msr_trace, tmp_path, target, options, message):
    code, _, err = cli(
        "trace", "convert", msr_trace, target if target == "-" else tmp_path / target, *options
    )
    assert code == 2
    assert message in err
    assert [path.name for path in tmp_path.iterdir()] == ["small.csv"]


@pytest.mark.parametrize("ending", [".mqsim", ".parquet"])
def test_a_bad_line_leaves_no_file(cli, msr_trace, tmp_path, ending):
    with msr_trace.open("a") as file:
        file.write("this is no request\n")
    before = {path.name for path in tmp_path.iterdir()}
    code, _, err = cli("trace", "convert", msr_trace, tmp_path / f"out{ending}", "--strict")
    assert code == 2
    assert "small.csv:2001" in err
    assert {path.name for path in tmp_path.iterdir()} == before
    code, out, _ = cli("trace", "convert", msr_trace, tmp_path / f"out{ending}")
    assert code == 0
    assert "1 line of the trace gave no request" in out
