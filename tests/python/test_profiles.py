"""`trace profile`, `trace generate`, and runs of what is drawn from a profile."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import ninescope
from conftest import NATIVE, ROOT, run_program
from ninescope.toml import loads

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
TPCC = (ROOT / "presets/profiles/tpcc.toml").read_text()


@pytest.fixture
def tpcc(tmp_path: Path) -> Path:
    """A copy of the shipped profile."""
    path = tmp_path / "copy.toml"
    path.write_text(TPCC)
    return path


@pytest.mark.parametrize("option", ["-o", "--out"])
def test_a_trace_becomes_a_profile(cli, msr_trace, tmp_path, option):
    path = tmp_path / "out.toml"
    code, out, err = cli("trace", "profile", msr_trace, option, path)
    assert (code, err) == (0, "")
    assert str(path) in out
    assert "profile of small" in out
    profile = loads(path.read_text())
    assert (profile["profile"], profile["name"], profile["label"]) == (1, "small", "profile")
    assert profile["source"] == ["reduced from small.csv"]
    assert profile["original"]["requests"] == 2000
    assert cli("check", path) == (0, f"{path}: profile, OK\n  2,000 requests, profile\n", "")


def test_a_profile_goes_to_stdout_and_has_the_name_that_is_given(cli, msr_trace):
    code, out, err = cli("trace", "profile", msr_trace, "--name", "a b")
    assert (code, err) == (0, "")
    assert loads(out)["name"] == "a b"


def test_a_trace_from_stdin_becomes_the_same_profile(cli, msr_trace):
    done = run_program("trace", "profile", "-", "--name", "small", stdin=msr_trace.read_bytes())
    assert (done.code, done.err) == (0, "")
    of_file = cli("trace", "profile", msr_trace).out
    assert done.out == of_file.replace("reduced from small.csv", "reduced from standard input")


def test_a_drawn_trace_is_piped_into_a_run():
    drawn = run_program("trace", "generate", "tpcc")
    assert drawn.code == 0
    assert "standard output: 6,999 requests, stand-in of tpcc" in drawn.err
    run = run_program("run", "-", "--json", stdin=drawn.out.encode())
    assert run.code == 0
    result = json.loads(run.out)
    assert (result["requests"], result["workload"]["format"]) == (6999, "msr")


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".mqsim.zst", ".iolog", ".parquet"])
def test_every_format_is_written(cli, tmp_path, ending):
    path = tmp_path / f"drawn{ending}"
    code, out, err = cli("trace", "generate", "tpcc", path, "--requests", "1e4", "--seed", "3")
    assert (code, err) == (0, "")
    assert f"{path}: 10,000 requests, stand-in of tpcc\n" in out
    assert "note: 1.43 times the 6,999 requests of the original" in out
    assert ninescope.trace_stat(path, strict=True)["requests"] == 10_000


def test_the_seed_alone_decides_what_is_drawn(cli, tpcc, tmp_path):
    def drawn(source: object, name: str, *options: object) -> bytes:
        path = tmp_path / name
        assert cli("trace", "generate", source, path, "--requests", "2000", *options).code == 0
        return path.read_bytes()

    first = drawn("tpcc", "a.csv", "--seed", "7")
    assert first == drawn(tpcc, "b.csv", "--seed", "7")
    assert first == gzip.decompress(drawn("tpcc", "c.csv.gz", "--seed", "7"))
    assert first != drawn("tpcc", "d.csv", "--seed", "8")
    assert drawn("tpcc", "e.csv") == drawn("tpcc", "f.csv", "--seed", "1")


def test_a_shipped_profile_runs_and_says_what_it_is(cli):
    code, out, err = cli("run", "tpcc", "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["workload"]["path"] == "tpcc (stand-in)"
    assert result["workload"]["format"] == "profile"
    assert result["requests"] == 6999
    assert "tpcc (stand-in)" in cli("run", "tpcc", "--requests", "100").out


def test_a_profile_in_a_file_runs_the_same_way(cli, tpcc, msr_trace, tmp_path):
    def result(*arguments: object) -> dict[str, object]:
        code, out, err = cli("run", *arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    shipped, copied = result("tpcc", "--requests", "1e3"), result(tpcc, "--requests", "1e3")
    assert shipped["digest"] == copied["digest"]
    assert shipped["requests"] == 1000
    assert result("tpcc", "--requests", "1e3", "--seed", "2")["digest"] != shipped["digest"]
    closed = result("tpcc", "--requests", "1e3", "--closed-loop", "--iodepth", "4")
    assert closed["workload"]["closed_loop"] is True
    slow = result("tpcc", "--requests", "1e3", "--time-scale", "3")
    assert slow["simulated_ns"] > 2 * shipped["simulated_ns"]
    own = tmp_path / "own.toml"
    assert cli("trace", "profile", msr_trace, "--out", own).code == 0
    assert result(own)["workload"]["path"] == "small (profile)"


def test_python_draws_and_replays():
    result = ninescope.Drive().run(ninescope.Workload.profile("tpcc", requests=500, seed=2))
    assert result.document["requests"] == 500
    assert "tpcc (stand-in)" in str(result)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("trace", "generate", "tpc"), ["no profile is named 'tpc'", "did you mean 'tpcc'?"]),
        (("trace", "generate", "nothing.toml"), ["'nothing.toml' does not exist"]),
        (("trace", "generate", "tpcc", "out.txt"), ["out.txt", "--to msr, mqsim, fio or parquet"]),
        (("trace", "generate", "tpcc", "-", "--to", "mrs"), ["'mrs'", "did you mean 'msr'?"]),
        (("trace", "generate", "tpcc", "--requests", "0"), ["--requests", "'0'"]),
        (("trace", "generate", "tpcc", "--requests", "some"), ["--requests", "'some'"]),
        (("trace", "generate", "tpcc", "--seed", "-1"), ["--seed"]),
        (("trace", "generate", "tpcc", "no/such/folder.csv"), ["there is no folder 'no/such'"]),
        (("trace", "profile", "nothing.csv"), ["'nothing.csv' does not exist"]),
        (("trace", "profile", "trace.csv", "--out", "out.txt"), ["out.txt", "ends in .toml"]),
        (("trace", "profile", "trace.csv", "--out", "no/such/out.toml"), ["no/such/out.toml"]),
        (("trace", "profile", "trace.csv", "--format", "mqsim"), ["trace.csv"]),
        (("run", "tpc"), ["'tpc' is no file", "did you mean 'tpcc'?"]),
        (("run", "tpcc", "--rw", "read"), ["--rw", "'tpcc' is already a workload"]),
        (("run", "tpcc", "--format", "msr"), ["--format", "trace files"]),
        (("run", "tpcc", "--time-scale", "0"), ["--time-scale 0"]),
        (("run", "tpcc", "--loop", "0"), ["--loop"]),
    ],
)
def test_a_mistake_is_named_and_nothing_is_written(cli, msr_trace, tmp_path, monkeypatch, arguments, words):
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "trace.csv").write_bytes(msr_trace.read_bytes())
    monkeypatch.chdir(folder)
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    for word in words:
        assert word in err
    assert [path.name for path in folder.iterdir()] == ["trace.csv"]


BAD_PROFILES = [
    ("requests = 6999", "requests = 7000", ["line LINE,", "original.requests: 7000 are 1 more than", "6999"]),
    ("requests = 6999", "requests = 6998", ["line LINE,", "requests: 6998 are 1 fewer than", "6999"]),
    ("footprint = ", "fotprint = ", ["line LINE,", "did you mean `footprint`?"]),
    ('"81688KiB"', '"300GiB"', ["line LINE,", "original.footprint", "bytes too many"]),
    ("profile = 1\n", "profile = 2\nanew = 1\n", ["line 2,", "profile: version 2 is not 1"]),
    ("profile = 1\n", "", ["not a profile", "no key `profile`"]),
    ("total = 4364", "total = 4363", ["line LINE,", "objects[0].total", "1 fewer than 4364"]),
    (
        "lags = [2732, 2987]",
        "lags = [2987, 2732]",
        ["line LINE,", "objects[2].parts[0].lags", "2987 is followed by 2732"],
    ),
    ("near = 1.0", "near = 1.5", ["line LINE,", "objects[0].near", "no share"]),
    ("next = [[1, 6],", "next = [[99, 6],", ["line LINE,", "arrivals.gaps[0].next", "no entry 99"]),
    ("[original]", "[original", ["line LINE,"]),
]


@pytest.mark.parametrize(("right", "wrong", "words"), BAD_PROFILES)
def test_a_profile_that_cannot_be_drawn_from_says_where(cli, tmp_path, right, wrong, words):
    path = tmp_path / "bad.toml"
    assert right in TPCC
    path.write_text(TPCC.replace(right, wrong, 1))
    line = TPCC[: TPCC.index(right)].count("\n") + 1
    target = tmp_path / "out.csv"
    for verb in (("trace", "generate", path, target), ("check", path), ("run", path)):
        code, out, err = cli(*verb)
        assert (code, out) == (2, "")
        # Without its key it is not known for a profile.
        for word in (str(path), *(words if verb[0] == "trace" or wrong else ())):
            assert word.replace("LINE", str(line)) in err
    assert not target.exists()


def test_what_is_no_profile_is_not_drawn_from(cli, msr_trace, tmp_path):
    drive = tmp_path / "drive.toml"
    drive.write_text('base = "tlc"\n')
    code, out, err = cli("trace", "generate", drive)
    assert (code, out) == (2, "")
    assert f"{drive}: not a profile" in err
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    code, out, err = cli("trace", "generate", binary)
    assert (code, out) == (2, "")
    assert "not a text file" in err
    code, out, err = cli("trace", "profile", drive)
    assert (code, out) == (2, "")
    assert str(drive) in err
