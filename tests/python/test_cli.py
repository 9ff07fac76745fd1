"""The command line: what it accepts, what it says, and how it exits."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import pty
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from conftest import NATIVE, ROOT, command, interrupted, quick_command, run_program
from ninescope.cli import VERBS, command_line

JOB = ("run", "--rw", "randrw", "--bs", "4k", "--iodepth", "4", "--size", "64m", "--requests", "2000")


HEAVY = (
    "numpy",
    "polars",
    "matplotlib",
    "jinja2",
    "optuna",
    "fsspec",
    "pydantic",
    "rich",
    "ninescope._native",
)


def imported_by(*typed: str) -> tuple[str, set[str]]:
    """What a command says, and every module that its process has imported when it ends."""
    script = (
        f"import sys; sys.argv = ['ninescope', *{typed!r}]\n"
        "from ninescope.cli import main\n"
        "try: main()\n"
        "finally: print(*sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    said, _, modules = done.stdout.rstrip("\n").rpartition("\n")
    return said, set(modules.split())


def test_help_names_every_command_and_imports_nothing_heavy():
    help_text, modules = imported_by("--help")
    assert not modules.intersection(HEAVY)
    for name in ("run", "presets", "trace", "policies"):
        assert any(line.strip().startswith(name) for line in help_text.splitlines())


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize(
    ("needs", "typed"),
    [
        ({"rich"}, ("run", "--rw", "randrw", "--requests", "20000", "--size", "64m")),
        (set(), ("run", "--rw", "randread", "--requests", "1000", "--prefill", "full", "--json")),
        (set(), ("presets", "show", "tlc")),
        (set(), ("policies",)),
        (set(), ("schema", "drive")),
        (set(), ("check", str(ROOT / "examples/drives/demo.toml"))),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_verb_imports_no_other_and_nothing_heavy_that_it_does_not_need(needs, typed):
    _, modules = imported_by(*typed)
    # What options are read with is typer's own affair.
    assert modules.intersection(HEAVY) - {"pydantic"} == needs | {"ninescope._native"}
    verbs = modules.intersection(verb().__name__ for verb in VERBS.values())
    assert verbs == {f"ninescope.cli.{typed[0]}"}


def test_every_verb_is_the_same_alone_and_among_the_others():
    whole = typer.main.get_command(command_line())
    assert list(whole.commands) == list(VERBS)
    for name, verb in whole.commands.items():
        alone = typer.main.get_command(command_line([name, "--help"])).commands
        assert list(alone) == [name]
        assert [each.opts for each in alone[name].params] == [each.opts for each in verb.params]
        assert alone[name].help == verb.help
    assert list(typer.main.get_command(command_line(["rum"])).commands) == list(VERBS)


def test_version(cli):
    code, out, _ = cli("--version")
    assert code == 0
    assert out.startswith("ninescope ")


def test_a_job_prints_latency_and_causes(cli):
    code, out, err = cli(*JOB)
    assert (code, err) == (0, "")
    for word in (
        "digest",
        "p99.9",
        "Where the time of reads went",
        "Where the time of writes went",
        "WAF",
    ):
        assert word in out


def test_json_is_the_only_thing_on_stdout(cli):
    code, out, _ = cli(*JOB, "--json")
    assert code == 0
    document = json.loads(out)
    assert document["complete"] is True
    assert document["requests"] == 2000


def test_a_trace_may_be_given_as_argument_or_option(cli, msr_trace):
    digests = {
        json.loads(cli("run", *arguments, "--json").out)["digest"]
        for arguments in ((msr_trace,), ("--trace", msr_trace))
    }
    assert len(digests) == 1


@pytest.mark.parametrize("compress", [False, True])
def test_a_trace_may_come_from_stdin(msr_trace, compress):
    text = msr_trace.read_bytes()
    code, out, err = run_program("run", "-", "--json", stdin=gzip.compress(text) if compress else text)
    assert code == 0, err
    assert json.loads(out)["workload"]["path"] == "-"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run",), "nothing to run"),
        (("run", "nowhere.csv"), "'nowhere.csv' does not exist"),
        (("run", "nowhere.fio"), "job file 'nowhere.fio' does not exist"),
        (("run", "nowhere.toml"), "job file 'nowhere.toml' does not exist"),
        (("run", "a.csv", "--trace", "b.csv"), "not both"),
        (("run", "a.csv", "--rw", "read"), "already a workload"),
        (("run", "--bs", "4k"), "also needs --rw"),
        (("run", "--rw", "read", "--loop", "2"), "about traces"),
        ((*JOB, "--drive", "tlcc"), "did you mean 'tlc"),
        ((*JOB, "--drive", "nowhere.toml"), "drive file 'nowhere.toml' does not exist"),
        ((*JOB, "--set", "novalue"), "key=value"),
        ((*JOB, "--set", "bogus.key=1"), "bogus"),
        (("run", "--rw", "read", "--size", "101%"), "--size 101%: 101 is not a share in percent"),
        (("run", "--rw", "read", "--size", "all%"), "`all%` is not a size"),
        ((*JOB, "--set", "nand.endurance_cycles=1e99"), "is wanted, not 1e99\n"),
        ((*JOB, "--set", "endurance.dwpd_years=1e99"), "dwpd_years is 1e99, at most 1000"),
        ((*JOB, "--prefill", "ful"), "did you mean 'full'"),
        ((*JOB, "--check", "ful"), "did you mean 'full'"),
        ((*JOB, "--warmup", "some"), "--warmup wants"),
        (("run", "--rw", "read", "--requests", "1.5"), "--requests wants"),
        (("run", "--rw", "read", "--sed", "1"), "--seed"),
        ((*JOB, "--seed", "18446744073709551616"), "--seed"),
        ((*JOB, "--duration", "10"), "10s?"),
        ((*JOB, "--log-requests"), "needs --out"),
        ((*JOB, "--out", ""), "--out wants a directory"),
        ((*JOB, "--explain-slowest", "0"), "--explain-slowest"),
        ((*JOB, "--explain-slowest", "1001"), "--explain-slowest"),
        ((*JOB, "--explain-slowest", "few"), "--explain-slowest"),
        ((*JOB, "--trace-window", "1ms..2ms"), "--trace-window writes a file, so it needs --out"),
        ((*JOB, "--out", "o", "--trace-window", "1ms"), "--trace-window wants two times"),
        ((*JOB, "--out", "o", "--trace-window", "..2ms"), "--trace-window wants two times"),
        ((*JOB, "--out", "o", "--trace-window", "1..2ms"), "--trace-window 1..2ms: 1 lacks a unit: 1ms?"),
        ((*JOB, "--out", "o", "--trace-window", "1ms..2"), "2 lacks a unit"),
        (("run", "a.csv", "--iodepth", "4"), "--closed-loop"),
        (("run", "--rw", "read", "--time-scale", "0"), "about traces"),
        (("presets", "show", "tlcc"), "did you mean 'tlc"),
        (("policies", "ftl.victm"), "did you mean 'ftl.victim'"),
        (("trace", "stat", "nowhere.csv"), "does not exist"),
        (("rum",), "run"),
    ],
)
def test_bad_input_is_named_and_exits_with_2(cli, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = cli(*arguments)
    assert code == 2
    assert message in err
    assert out == ""
    assert "Traceback" not in err


def test_a_mistyped_file_is_answered_with_its_neighbour(cli, msr_trace):
    assert "small.csv'?" in cli("run", msr_trace.with_name("smal.csv")).err


def test_a_directory_is_no_trace(cli, tmp_path):
    code, _, err = cli("run", tmp_path)
    assert code == 2
    assert "directory" in err.lower()


def test_out_holds_everything_and_nothing_else(cli, tmp_path):
    out = tmp_path / "deep" / "out"
    code, text, _ = cli(*JOB, "--out", out, "--log-requests")
    assert code == 0
    assert str(out / "tail.png") in text
    assert sorted(path.name for path in out.iterdir()) == [
        "cdf.png",
        "config.toml",
        "latency.parquet",
        "latency_blocks.parquet",
        "requests.parquet",
        "result.json",
        "series.parquet",
        "tail.png",
    ]
    assert (out / "tail.png").read_bytes().startswith(b"\x89PNG")


def test_a_second_run_leaves_no_stale_table_behind(cli, tmp_path):
    out = tmp_path / "out"
    cli(*JOB, "--out", out, "--log-requests")
    cli(*JOB, "--out", out)
    assert not (out / "requests.parquet").exists()


def test_a_second_run_leaves_nothing_that_was_made_of_the_first(cli, tmp_path):
    out = tmp_path / "out"
    cli(*JOB, "--out", out, "--explain-slowest", 3, "--fio-logs")
    assert cli("report", out).code == 0
    assert cli("report", out, out).code == 0
    made = {path.name for path in out.iterdir()}
    assert made >= {"report.html", "comparison.html", "slowest.png", "ninescope_bw.log"}
    cli(*JOB, "--out", out)
    assert cli(*JOB, "--out", tmp_path / "fresh").code == 0
    assert sorted(path.name for path in out.iterdir()) == sorted(
        path.name for path in (tmp_path / "fresh").iterdir()
    )


@pytest.mark.parametrize(
    ("at", "missing"),
    [
        ("tail", "tail.png, cdf.png"),
        ("cdf", "cdf.png"),
        ("save", "result.json with its tables, tail.png, cdf.png"),
    ],
)
def test_an_interrupt_of_the_writing_prints_the_result_and_names_what_is_missing(
    cli, tmp_path, monkeypatch, at, missing
):
    from ninescope.pictures.result import Plots
    from ninescope.result import Result

    cli(*JOB, "--out", tmp_path / "out")
    monkeypatch.setattr(Result if at == "save" else Plots, at, lambda *_: signal.raise_signal(signal.SIGINT))
    code, out, err = cli(*JOB, "--out", tmp_path / "out")
    assert code == 130
    assert "digest" in out
    assert err == f"ninescope: interrupted; not written to {tmp_path / 'out'}: {missing}\n"
    if at != "save":  # nothing of the first run is taken for one of the second
        there = {"tail.png", "cdf.png"} - set(missing.split(", "))
        assert {path.name for path in (tmp_path / "out").glob("*.png")} == there
    assert json.loads(cli(*JOB, "--out", tmp_path / "out", "--json").out)["complete"] is True


def test_an_unwritable_out_is_refused_before_the_simulation(cli, tmp_path, monkeypatch):
    from ninescope.simulation import run

    monkeypatch.setattr(run, "Run", lambda request: pytest.fail("the simulation was started"))
    (tmp_path / "file").write_text("")
    code, _, err = cli(*JOB, "--out", tmp_path / "file" / "out")
    assert code == 2
    assert "cannot write to" in err


def test_a_table_beyond_the_limit_of_file_sizes_is_one_clear_error(tmp_path):
    out = tmp_path / "out"
    words = " ".join(f"'{word}'" for word in [*command(), *JOB, "--out", out, "--log-requests"])
    done = subprocess.run(["bash", "-c", f"ulimit -f 4; {words}"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith("ninescope: error: cannot write ")
    assert "File too large" in line
    assert not out.exists()


@pytest.mark.parametrize("arguments", [JOB, (*JOB, "--json"), ("presets",), ("--help",)])
def test_an_unwritable_stdout_is_one_clear_error(arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*quick_command(), *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "ninescope: error: cannot write the output: No space left on device\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("json_", ["", "--json"])
def test_a_closed_stream_is_nobody_who_reads(tmp_path, closed, json_):
    words = " ".join(f"'{word}'" for word in [*command(), *JOB, "--out", tmp_path / "out"])
    done = subprocess.run(["bash", "-c", f"{words} {json_} {closed}"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out/result.json").exists()


def test_an_out_that_is_a_file_is_refused(cli, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = cli(*JOB, "--out", tmp_path / "file")
    assert code == 2
    assert "not a directory" in err


def test_a_failed_run_leaves_no_directory(cli, tmp_path):
    out = tmp_path / "deep" / "out"
    code, *_ = cli(*JOB, "--set", "bogus.key=1", "--out", out)
    assert code == 2
    assert not out.parent.exists()


@pytest.mark.parametrize("scale", ["nan", "inf", "-1", "0"])
def test_a_time_scale_is_a_number_greater_than_0(cli, msr_trace, scale):
    code, out, err = cli("run", msr_trace, "--time-scale", scale)
    assert (code, out) == (2, "")
    assert "--time-scale" in err


def test_presets_are_listed_and_shown(cli):
    listed = cli("presets").out
    assert listed == cli("presets", "list").out
    name = listed.split()[0]
    shown = cli("presets", "show", name)
    assert shown.code == 0
    assert "=" in shown.out


def test_the_default_preset_is_marked(cli):
    [default] = [line for line in cli("presets").out.splitlines() if line.endswith("(the default)")]
    assert default.startswith("tlc ")


def test_policies_are_listed(cli):
    assert "greedy" in cli("policies").out
    assert "greedy" in {policy["name"] for policy in json.loads(cli("policies", "--json").out)["ftl.victim"]}


def test_trace_stat(cli, msr_trace):
    code, out, _ = cli("trace", "stat", msr_trace)
    assert code == 0
    assert "2,000 requests, format msr" in out
    assert "1,333 (67%)" in out
    assert "of which" in out
    assert {"requests", "rewrite_ratio", "format"} <= json.loads(
        cli("trace", "stat", msr_trace, "--json").out
    ).keys()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_gives_the_part_that_was_run(tmp_path, number):
    out = tmp_path / "out"
    job = "run --rw randread --size 64m --prefill none --requests 1e9 --json"
    ended = interrupted(
        [*job.split(), "--out", str(out)], r"simulating\W* [1-9]\d*/", number, tmp_path / "stdout"
    )
    assert ended.code == 130, ended.shown
    document = json.loads(ended.out)
    assert document["complete"] is False
    assert 0 < document["requests"] < 1e9
    assert json.loads((out / "result.json").read_text())["complete"] is False


def test_a_reader_that_has_seen_enough_gets_no_traceback():
    shell = " ".join(f"'{word}'" for word in [*command(), *JOB]) + " --json | head -c 10"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
    assert len(done.stdout) == 10
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("json_", [(), ("--json",)])
def test_progress_is_shown_on_a_terminal_and_kept_out_of_stdout(json_):
    terminal, far_end = pty.openpty()
    process = subprocess.Popen(
        [*quick_command(), "run", "--rw", "randread", "--size", "64m", "--requests", "1e6", *json_],
        stdout=subprocess.PIPE,
        stderr=far_end,
        env=os.environ | {"TERM": "xterm"},
        text=True,
    )
    os.close(far_end)
    shown = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while chunk := os.read(terminal, 4096):
            shown += chunk
    text, _ = process.communicate(timeout=60)
    os.close(terminal)
    assert process.returncode == 0
    assert b"simulating" in shown
    assert "simulating" not in text


def test_two_signals_stop_at_once(monkeypatch, cli):
    from ninescope.simulation import run

    def impatient(self):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        yield pytest.fail("still running")

    monkeypatch.setattr(run.Run, "slices", impatient)
    code, out, err = cli(*JOB)
    assert (code, out) == (130, "")
    assert "interrupted" in err


def test_an_inconsistency_of_the_engine_exits_with_1(monkeypatch, cli):
    from ninescope import SimulationError
    from ninescope.simulation import run

    def broken(self):
        raise SimulationError("parts do not sum to the latency")
        yield

    monkeypatch.setattr(run.Run, "slices", broken)
    for options in ((), ("--check", "cheap"), ("--check=cheap",)):
        code, _, err = cli(*JOB, *options)
        assert code == 1
        words = shlex.join(["ninescope", *JOB, "--check", "full"])
        assert err == (
            "ninescope: internal error: parts do not sum to the latency\n"
            f"ninescope: to replay it to that point: {words}\n"
        )


def test_an_option_without_its_value_is_told_with_its_values(cli):
    for option, values in (("--check", "off, cheap or full"), ("--prefill-order", "ascending or random")):
        code, out, err = cli(*JOB, option)
        assert (code, out) == (2, "")
        assert f"Option '{option}' requires an argument: {values}." in " ".join(err.split())
    code, _, err = cli(*JOB, "--seed")
    assert (code, "requires an argument." in err) == (2, True)
    # What follows it is taken for its value.
    code, _, err = cli(*JOB, "--check", "--json")
    assert (code, "there is off, cheap, full" in err) == (2, True)


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_a_mix_of_one_direction_is_told_to_say_nothing(cli):
    words = "ninescope: --rwmixread says nothing of --rw randread, which is of one direction\n"
    job = ("run", "--rw", "randread", "--size", "4m", "--requests", "20")
    assert words in cli(*job, "--rwmixread", "70").err
    assert cli(*job).err == ""


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_writes_of_a_job_ask_to_be_on_the_media(cli, tmp_path):
    """On the command line as in a file: with a share of 1 all writes do, with 0 none."""
    job = ("run", "--rw", "randwrite", "--bs", "4k", "--size", "4m", "--requests", "200", "--json")

    def result(*options: str) -> dict:
        code, out, err = cli(*job, *options)
        assert (code, err) == (0, "")
        return json.loads(out)

    asked = [result(*options)["counters"]["fua_writes"] for options in ((), ("--fua", "0"), ("--fua", "1"))]
    assert asked == [0, 0, 200]
    some = result("--fua", "0.25")
    assert 20 < some["counters"]["fua_writes"] < 80
    path = tmp_path / "job.toml"
    path.write_text('rw = "randwrite"\nbs = "4k"\nsize = "4m"\nrequests = 200\nfua = 0.25\n')
    assert json.loads(cli("run", path, "--json").out)["digest"] == some["digest"]
    code, _, err = cli(*job, "--fua", "1.5")
    assert (code, "--fua" in err) == (2, True)
    code, _, err = cli("run", path, "--fua", "1")
    assert (code, "--fua describes a job" in err) == (2, True)
    reads = ("run", "--rw", "randread", "--size", "4m", "--requests", "20", "--fua", "1")
    assert "--fua says nothing of --rw randread, which writes nothing" in cli(*reads).err


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_words_of_a_job_that_say_nothing_are_told(cli, tmp_path):
    job = ("run", "--size", "4m", "--requests", "20", "--rw")
    ordered = "--random-distribution says nothing of --rw read, whose addresses follow each other"
    assert f"ninescope: {ordered}\n" in cli(*job, "read", "--random-distribution", "zipf:1.2").err
    assert cli(*job, "randread", "--random-distribution", "zipf:1.2").err == ""
    size = 'size = "4m"\nrequests = 20\n'
    for text, words in (
        ('rw = "randread"\nrwmixread = 30\n', "`rwmixread` says nothing of `rw` randread"),
        ('rw = "randread"\nrate_process = "poisson"\n', "`rate_process` says nothing without `rate_iops`"),
        ('random_distribution = "zipf:1.2"\n', "`random_distribution` says nothing of `rw` read"),
        ('rw = "randrw"\nrwmixread = 30\nrate_iops = 100\nrate_process = "poisson"\n', ""),
    ):
        path = tmp_path / "job.toml"
        for head, name in (("", ""), ("[job]\n", ""), ('[[jobs]]\nname = "one"\n', "jobs[0]: ")):
            path.write_text(head + text + size)
            code, _, err = cli("run", path)
            assert (code, bool(err)) == (0, bool(words)), err
            assert (f"{name}{words}" if words else "") in err
            assert words in cli("check", path).out


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_a_slip_is_told_by_what_was_written(cli, tmp_path):
    assert "error: --size 200%: 200 is not a share" in cli("run", "--rw", "read", "--size", "200%").err
    path = tmp_path / "job.toml"
    path.write_text('[[job]]\nrw = "read"\n')
    for verb in ("run", "check"):
        code, _, err = cli(verb, path)
        assert (code, f"{path}: [[job]]: several jobs are written [[jobs]]" in err) == (2, True), err
    path.write_text('[workload]\nrw = "read"\nrequests = 1\n[axes]\n"ftl.victim" = ["a"]\n')
    err = cli("sweep", "plan", path).err
    assert "unknown name `a`; there is greedy" in err
    assert "did you mean" not in err
    path.write_text(path.read_text().replace('"a"', '"greedi"'))
    assert "did you mean 'greedy'?" in cli("sweep", "plan", path).err
    for word in ("trim", "randtrim", "readwrite"):
        assert word in cli("run", "--help").out


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_a_checked_run_is_the_run_and_says_so(cli):
    digests = set()
    for level in ("off", "cheap", "full"):
        code, out, err = cli(*JOB, "--check", level, "--json")
        assert code == 0, err
        result = json.loads(out)
        digests.add(result["digest"])
        said = [note for note in result["notes"] if note.startswith(f"checked ({level})")]
        assert len(said) == (level != "off")
        assert result["config"]["run"]["check"] == level
    assert len(digests) == 1


@pytest.mark.skipif(NATIVE, reason="the engine is built")
def test_without_the_engine_the_command_says_so():
    done = subprocess.run(
        [sys.executable, "-m", "ninescope", "presets"],
        env={"PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "make demo" in done.stderr


def test_files_of_the_package_are_typed():
    assert (Path(ROOT) / "python/ninescope/py.typed").exists()


TWO_VOLUMES = "1,hm,0,Write,0,4096,1\n2,hm,1,Read,4096,4096,1\n"


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_the_volumes_of_a_trace_are_placed_as_asked_for(cli, tmp_path):
    trace = tmp_path / "two.csv"
    trace.write_text(TWO_VOLUMES)

    def volumes(*options):
        code, out, err = cli("run", str(trace), "--json", *options)
        assert code == 0, err
        result = json.loads(out)
        places = [(volume["name"], volume["base"]) for volume in result["workload"]["volumes"]]
        return places, result["requests"], " ".join(result["notes"])

    places, requests, notes = volumes()
    assert (places, requests) == ([("hm_0", 0), ("hm_1", 1 << 20)], 2)
    assert "hm_1 from 1 MiB on" in notes
    places, _, notes = volumes("--volumes", "merge")
    assert places == [("hm_0", 0), ("hm_1", 0)]
    assert "2 volumes are merged" in notes
    places, _, _ = volumes("--volumes", "map:hm_0=1GiB;hm_1=0B")
    assert places == [("hm_0", 1 << 30), ("hm_1", 0)]
    assert volumes("--volume", "hm_1")[1] == 1
    for options, words in (
        (("--volume", "zz"), "no volume `zz`; the trace has `hm_0`, `hm_1`"),
        (("--volumes", "beside"), "in-order, merge, map:"),
        (("--volumes", "map:hm_0=0B"), "volume `hm_1` has no place"),
    ):
        code, _, err = cli("run", str(trace), *options)
        assert code == 2
        assert words in err


FAR = 80_826_987_479_040
"""An address of a cloud's volume, beyond 2^32 units of 4 KiB."""


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize(
    "rows",
    [
        f"1,host,0,Write,{FAR},4096,5\n2,host,0,Read,8192,4096,5\n3,host,0,Read,{FAR - 8192},4096,5\n",
        f"419,W,{FAR},4096,1577808144360767\n419,R,8192,4096,1577808144360868\n"
        "419,R,0,8192,1577808144360968\n",
    ],
    ids=["msr", "alibaba"],
)
def test_a_plain_run_of_addresses_beyond_any_drive_puts_them_together_and_says_so(cli, tmp_path, rows):
    path = tmp_path / "far.csv"
    path.write_text(rows)
    code, out, err = cli("run", path, "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["workload"]["addresses"] == "compact"
    [note] = [note for note in result["notes"] if "--addresses compact" in note]
    assert f"{FAR + 4096} B is beyond the largest drive" in note
    asked = json.loads(cli("run", path, "--addresses", "compact", "--json").out)
    assert asked["digest"] == result["digest"]
    # Who asks for it to be refused is told what would help, and so is who names a drive.
    for more in (("--addresses", "refuse"), ("--drive", "tlc")):
        code, out, err = cli("run", path, *more)
        assert (code, out) == (2, "")
        assert "compact" in err
        assert err.count("ninescope: error") == 1


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("ftl.over_provisioning=1e9", "ftl.over_provisioning is 1000000000, at most 100"),
        ("geometry.channels=0", "geometry.channels must not be zero"),
        ("geometry.pages_per_block=0", "geometry.pages_per_block must not be zero"),
        ("ftl.mapping_unit=0B", "ftl.mapping_unit must not be zero"),
        ("geometry.page_size=12KiB", "geometry.page_size is 12288 B"),
    ],
)
def test_a_wrong_drive_is_not_blamed_on_the_addresses(cli, msr_trace, wrong, words):
    code, out, err = cli("run", msr_trace, "--set", wrong)
    assert (code, out) == (2, "")
    assert words in err
    assert "address " not in err


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_a_map_in_flash_is_told_what_it_cannot_fetch_and_lies_there_from_the_start(cli):
    drive = ROOT / "examples/drives/without-dram.toml"
    run = ("run", "--rw", "randread", "--size", "16MiB", "--requests", "100", "--drive", drive)
    for sets, words in (
        (("ftl.map.fetch_size=32KiB",), "ftl.map.fetch_size is 32768 B, and takes 1 to 4096 B"),
        (("ftl.map.entry_size=8KiB",), "ftl.map.entry_size is 8KiB, and an entry takes 1 to 64 B"),
        (("ftl.map.programs_wait=true",), "ftl.map.programs_wait is true, and ftl.map.writes_wait is true"),
        (
            (
                "ftl.map.writes_wait=false",
                "ftl.map.programs_wait=true",
                "nand.die_failures=[{die=0,at='1ms'}]",
            ),
            "nand.die_failures is given: a program that waits for the map would not move",
        ),
        (
            (
                "ftl.mapping_unit=16KiB",
                "dram={capacity='16MiB',rate='3GB/s',access='30ns'}",
                "tier.placement=wb",
                "ftl.map.writes_wait=false",
                "ftl.map.programs_wait=true",
            ),
            "tier.placement is wb: what the host writes goes to the cache above flash",
        ),
        (("ftl.map.policy=pages", "ftl.map.fetch_size=512B"), "512 B, and whole pages of 4096 B are cached"),
    ):
        code, out, err = cli(*run, *(word for item in sets for word in ("--set", item)))
        assert (code, out) == (2, "")
        assert words in err
    # Of an empty drive a map that is written holds nothing and is not read; one that is not written is there.
    for written, reads in (("true", False), ("false", True)):
        code, out, err = cli(*run, "--prefill", "none", "--set", f"ftl.map.written={written}", "--json")
        assert code == 0, err
        assert (json.loads(out)["counters"].get("map_page_reads", 0) > 0) == reads


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_addresses_beyond_the_drive_are_refused_wrapped_or_compacted(cli, tmp_path):
    trace = tmp_path / "far.txt"
    trace.write_text("0 0 999999992 8 0\n1000 0 8 8 1\n")
    code, _, err = cli("run", str(trace), "--drive", "tlc")
    assert code == 2
    assert "--addresses wrap or compact" in err
    for policy in ("wrap", "compact"):
        code, out, err = cli("run", str(trace), "--drive", "tlc", "--addresses", policy, "--json")
        assert code == 0, err
        assert any(note.startswith(f"addresses {policy}") for note in json.loads(out)["notes"])


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_a_format_is_named_or_described(cli, tmp_path):
    trace = tmp_path / "rows.txt"
    trace.write_text("26.214 0 303574 8 1\n27.5 0 16 8 0\n")
    code, _, err = cli("trace", "stat", str(trace))
    assert code == 2
    assert "rows.txt: reads as disksim (2 times) and as umass (2 times); name the format" in err
    for name, size in (
        ("disksim", 4096),
        ("umass", 32768),
        ("csv:offset=3[sector],size=4[1KiB],sep=blanks", 8192),
    ):
        code, out, err = cli("trace", "stat", str(trace), "--format", name, "--json")
        assert code == 0, err
        assert json.loads(out)["mean_read_bytes"] == size
    code, _, err = cli("trace", "stat", str(trace), "--format", "csv:offset=3,size=4[B]")
    assert code == 2
    assert "offset: `3` has no unit" in err
    assert "line 1" not in err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            '[nand]\nread = "40us"\n',
            "the key `cell` is missing; a drive says everything itself, or begins with",
        ),
        ("[ftl]\nover_provisioning = 0.1\n", "needs; a drive says everything itself, or begins with `base ="),
        ('base = "./b.toml"\n', "base: `./b.toml` is a file, and a base is one of the presets: tlc, slc"),
    ],
)
def test_a_drive_that_lacks_a_base_is_told_of_bases(cli, tmp_path, text, words):
    path = tmp_path / "drive.toml"
    path.write_text(text)
    code, out, err = cli("check", path)
    assert (code, out) == (2, "")
    assert words in err


def test_a_job_works_on_a_share_of_the_drive(cli):
    import ninescope

    drive = ROOT / "examples/drives/small.toml"
    shared = ("run", "--rw", "randread", "--requests", "50", "--drive", drive, "--json", "--size")
    half, whole = (json.loads(cli(*shared, size).out) for size in ("50%", "100%"))
    assert (half["workload"]["job"]["size_percent"], half["workload"]["job"].get("size")) == (50, None)
    assert half["digest"] != whole["digest"]
    job = ninescope.Workload.job(rw="randread", requests=50, size="50%")
    assert ninescope.Drive.from_file(drive).run(job).digest == half["digest"]
    code, _, err = cli(*shared, "50 X")
    assert (code, "the unit is unknown" in err) == (2, True)


def test_a_file_of_jobs_is_told_the_key_of_a_share(cli, tmp_path):
    path = tmp_path / "job.toml"
    path.write_text('rw = "read"\nsize = "50%"\n')
    code, _, err = cli("check", path)
    assert code == 2
    assert "as `size_percent` for `size`" in err
