"""`trace convert`: what is written reads back, in every format and archive, and nothing is half-written."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import ninescope
from conftest import ROOT, quick_command, run_program
from ninescope.simulation.traces import COLUMNS, OPS

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
    words = [*quick_command(), "trace", "convert", "-", "-", "--to"]
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


def drawn(generator: np.random.Generator, count: int) -> pl.DataFrame:
    """Requests of every operation in order of time, the first at zero."""
    times = np.cumsum(generator.integers(0, 3_000, count, dtype=np.uint64))
    ops = generator.integers(0, len(OPS), count)
    flushes = ops == OPS.index("flush")
    lbas = generator.integers(0, 1 << 40, count, dtype=np.uint64)
    sectors = generator.integers(1, 1 << 12, count, dtype=np.uint32)
    return pl.DataFrame(
        {
            "submitted_ns": times - times[0],
            "op": np.array(OPS)[ops],
            "lba": np.where(flushes, np.uint64(0), lbas),
            "sectors": np.where(flushes, np.uint32(0), sectors),
        }
    )


@pytest.mark.parametrize("count", [1, 2, 3, 1000, 65_535, 65_536, 65_537, 200_000])
def test_parquet_reads_back_with_every_operation(cli, tmp_path, count):
    """What is read of what was written is what was written, whatever the batches."""
    generator = np.random.default_rng(count)
    there, back = tmp_path / "there.parquet", tmp_path / "back.parquet"
    for _ in range(20 if count <= 1000 else 1):
        requests = drawn(generator, count)
        requests.write_parquet(there, row_group_size=int(generator.integers(1, 1 + 2 * count)))
        assert cli("trace", "convert", there, back, "--trims", "--strict").code == 0
        assert pl.read_parquet(back).equals(requests)


def test_conversions_keep_what_the_format_has_words_for(cli, tmp_path):
    requests = drawn(np.random.default_rng(7), 1000).with_columns(pl.col("submitted_ns") // 1000 * 1000)
    requests.write_parquet(tmp_path / "all.parquet")
    for words, kept in (((), ["read", "write", "flush"]), (("--trims",), list(OPS))):
        code, out, _ = cli("trace", "convert", tmp_path / "all.parquet", tmp_path / "all.iolog.zst", *words)
        assert (code, "has no words" in out) == (0, False)
        assert ("discards were left out (--trims takes them)" in out) == (not words)
        assert (
            cli("trace", "convert", tmp_path / "all.iolog.zst", tmp_path / "back.parquet", *words).code == 0
        )
        assert pl.read_parquet(tmp_path / "back.parquet").equals(requests.filter(pl.col("op").is_in(kept)))
    code, out, _ = cli("trace", "convert", tmp_path / "all.parquet", tmp_path / "all.csv", "--trims")
    left = requests.filter(pl.col("op").is_in(["trim", "flush"])).height
    assert f"{left} trims and flushes were left out" in out


def test_a_log_with_flushes_and_trims_runs_again(cli, tmp_path):
    job = tmp_path / "job.fio"
    job.write_text("[a]\nrw=randwrite\nbs=4k\nsize=64m\nfsync=8\nnumber_ios=400\nrate_iops=20000\n")
    words = ("--drive", ROOT / "examples/drives/demo.toml", "--prefill", "none", "--json")
    first = json.loads(cli("run", job, *words, "--log-requests", "--out", tmp_path / "out").out)
    again = json.loads(cli("run", tmp_path / "out/requests.parquet", *words).out)
    assert pl.read_parquet(tmp_path / "out/requests.parquet")["op"].n_unique() == 2
    assert again["requests"] == first["requests"] == 449, "no flush follows the last write"
    assert again["digest"] == first["digest"]


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell the peak of a program")
def test_long_parquet_takes_no_more_memory(tmp_path):
    """Peak memory of reading a trace does not grow with its length."""
    peaks = []
    for count in (300_000, 3_000_000):
        path = tmp_path / f"{count}.parquet"
        drawn(np.random.default_rng(1), count).write_parquet(path, row_group_size=1 << 16)
        program = (
            "import pathlib, re, sys, tempfile\n"
            "from ninescope.simulation.traces import copy_of_parquet\n"
            "with tempfile.TemporaryDirectory() as folder:\n"
            "    copy_of_parquet(sys.argv[1], folder)\n"
            # Of this program: what getrusage tells begins with what the one had that started it.
            "status = pathlib.Path('/proc/self/status').read_text()\n"
            "print(int(re.search(r'VmHWM:\\s*(\\d+)', status)[1]) >> 10)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, path], capture_output=True, check=True, text=True
        )
        peaks.append(int(done.stdout))
    assert peaks[1] < peaks[0] + 64, f"{peaks} MiB for 2.7 million rows of 29 bytes more"


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
        ({"op": ["read", "erase"]}, "row 2: op is none of read, write, trim, flush"),
        ({"op": ["read", "trim"], "sectors": [8, 0]}, "row 2: the size is zero"),
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
    assert (
        "bad.parquet: columns: the columns are `submitted_ns`, `op`, `lba`: none says that it is the size"
        in err
    )
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
