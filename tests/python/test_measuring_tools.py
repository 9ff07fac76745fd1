"""The tools that measure: what they read, their tables, and what they refuse. Nothing is measured here."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ninescope
from conftest import NATIVE, ROOT

TOOLS = ROOT / "tools"


def tool(name: str) -> ModuleType:
    """A tool as a module, its `main` not run."""
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def run(*words: object, path: str | None = None) -> tuple[int, str, str]:
    environment = os.environ if path is None else {**os.environ, "PATH": path}
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, env=environment, cwd=ROOT)
    return done.returncode, done.stdout, done.stderr


def assert_refused(words: tuple[object, ...], *told: str, path: str | None = None) -> None:
    """One line, exit code 2, and nothing else is said."""
    code, out, err = run(*words, path=path)
    assert (code, out, len(err.splitlines())) == (2, "", 1), err
    for word in told:
        assert word in err


# ---- instructions -----------------------------------------------------------------------------------------


def test_kept_counts_are_read_as_they_are_written():
    module = tool("instructions")
    counts = dict(zip(module.RUNS, (8_081, 1, 123_456, 9_211, 9_500, 8_000, 9_000, 8_100), strict=True))
    assert module.read(module.written("rustc 1.0", counts)) == ("rustc 1.0", counts)
    of, kept = module.read(module.KEPT.read_text())
    assert of.startswith("rustc ")
    assert list(kept) == list(module.RUNS)
    assert min(kept.values()) > 1_000


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace("  8081 randread", "  many randread"), ("line 2", "'many randread'")),
        (lambda text: text.replace("randwrite", "randrewrite"), ("line 4", "randrewrite")),
        (lambda text: text + "     5 randread\n", ("line 10", "'5 randread'")),
        (lambda text: text.replace("  8081", "     0"), ("line 2",)),
        (lambda text: text[: text.index("  9211")], ("no count of randread coded, randread map", "KEEP=1")),
        (lambda text: "", ("no count of randread, randrw",)),
    ],
)
def test_kept_counts_that_are_none_are_refused(change, words):
    module = tool("instructions")
    counts = dict(zip(module.RUNS, (8_081, 8_018, 4_796, 9_211, 9_500, 8_000, 9_000, 8_100), strict=True))
    with pytest.raises(module.RefusedError) as refused:
        module.read(change(module.written("rustc 1.0", counts)))
    for word in words:
        assert word in str(refused.value)


def test_more_than_is_let_pass_is_named(capsys):
    module = tool("instructions")
    kept = dict.fromkeys(module.RUNS, 1_000)
    found = dict(zip(module.RUNS, (1_030, 1_031, 900, 1_000, 1_000, 1_000, 1_000, 1_000), strict=True))
    assert module.judged(found, kept) == ["randrw"]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-3] for line in lines] == ["+3.0%", "+3.1%", "-10.0%", *["+0.0%"] * 5]


def test_a_hit_in_a_cached_map_that_takes_a_tenth_more_is_named(capsys):
    module = tool("instructions")
    found = dict.fromkeys(module.RUNS, 1_000) | {"randread mapped": 1_099, "randwrite mapped": 1_101}
    assert module.slow_hits(found) == ["randwrite"]
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == ["+9.9%", "+10.1%"]


def test_a_count_of_callgrind_is_taken_and_none_is_refused():
    module = tool("instructions")
    assert module.collected("==1== Events    : Ir\n==1== Collected : 12345\n==1==\n") == 12_345
    with pytest.raises(module.RefusedError, match="0 counts"):
        module.collected("valgrind: failed")


def test_a_program_that_fails_is_told_with_its_last_words():
    module = tool("instructions")
    with pytest.raises(module.RefusedError, match=r"-c .*failed: no such drive"):
        module.told(sys.executable, "-c", "import sys; print('a line'); sys.exit('no such drive')")


def test_instructions_refuses_arguments_in_one_line():
    assert_refused((sys.executable, TOOLS / "instructions.py", "--keep"), "--keep", "KEEP=1")


def test_instructions_says_what_it_is_for():
    code, out, err = run(sys.executable, TOOLS / "instructions.py", "--help")
    assert (code, err) == (0, "")
    assert "make instructions" in out


# ---- side by side -----------------------------------------------------------------------------------------


@pytest.fixture
def configuration(tmp_path: Path) -> Path:
    """A folder of one configuration, as MQSim has them."""
    folder = tmp_path / "some/rand70"
    folder.mkdir(parents=True)
    for name in ("ssdconfig.xml", "workload.xml"):
        shutil.copy(ROOT / "examples/mqsim" / name, folder)
    return folder


def test_a_row_tells_both_sides_and_what_was_lost():
    module = tool("side_by_side")
    theirs, ours = module.Took(15.56, 569.4), module.Took(1.424, 3_170.0)
    row = module.Compared("rand70", 1_000_000, 0, ours, theirs).row()
    assert row == "| `rand70` | 1,000,000 | 15.56 s, 569 MiB | 1.42 s, 3,170 MiB | 10.9 |"
    lossy = module.Compared("rand70", 1_000_000, 1_234, ours, theirs).row()
    assert "569 MiB (1,234 requests lost) |" in lossy
    assert {line.count("|") for line in (*module.HEAD.splitlines(), row, lossy)} == {6}


def test_requests_that_mqsim_lost_are_counted(configuration: Path):
    module = tool("side_by_side")
    wanted = module.number_in(configuration / "workload.xml", "Total_Requests_To_Generate")
    said = configuration / "workload_scenario_1.xml"
    said.write_text(f"<Host.IO_Flow><Request_Count>{wanted - 7}</Request_Count></Host.IO_Flow>")
    assert module.lost_by_mqsim(configuration) == 7
    said.write_text("<Request_Count>1</Request_Count><Request_Count>2</Request_Count>")
    with pytest.raises(module.RefusedError, match="2 numbers in <Request_Count>"):
        module.lost_by_mqsim(configuration)


def test_side_by_side_refuses_what_cannot_be_compared(configuration: Path, tmp_path: Path):
    script = (sys.executable, TOOLS / "side_by_side.py")
    assert_refused((*script, tmp_path / "mqsim", configuration), "mqsim is no program")
    assert_refused((*script, configuration / "workload.xml", configuration), "is no program")
    assert_refused((*script, sys.executable, configuration, "--rounds", 0), "--rounds 0")
    assert_refused((*script, sys.executable, tmp_path), "holds no ssdconfig.xml")
    twin = shutil.copytree(configuration, tmp_path / "rand70")
    assert_refused((*script, sys.executable, configuration, twin), "two folders are called rand70")
    workload = configuration / "workload.xml"
    workload.write_text(workload.read_text().replace("Total_Requests_To_Generate", "Stop"))
    assert_refused((*script, sys.executable, configuration), "0 numbers", "a workload of one flow")
    workload.write_bytes(b"\xff<Total_Requests_To_Generate>5<")
    assert_refused((*script, sys.executable, configuration), "workload.xml is not text in UTF-8")


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_side_by_side_tells_what_ninescope_refuses(configuration: Path):
    (configuration / "ssdconfig.xml").write_text("")
    script = (sys.executable, TOOLS / "side_by_side.py", sys.executable, configuration)
    assert_refused(script, "rand70: ", "ninescope: error:", "ssdconfig.xml")


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_side_by_side_tells_when_mqsim_writes_nothing(configuration: Path, tmp_path: Path):
    mqsim = tmp_path / "mqsim"
    for program, told in {
        "#!/bin/sh\n": "MQSim wrote no workload_scenario_1.xml",
        "#!/bin/sh\necho no such trace; exit 3\n": "no such trace",
        "#!/no/such/shell\n": "does not begin",
    }.items():
        mqsim.write_text(program)
        mqsim.chmod(0o755)
        script = (sys.executable, TOOLS / "side_by_side.py", mqsim, configuration, "--rounds", 1)
        assert_refused(script, told)


def test_the_table_goes_between_its_marks():
    module = tool("side_by_side")
    page = module.PAGE.read_text()
    once = module.on_page(page, "a table")
    assert f"{module.BEGIN}\n\na table\n\n{module.END}" in once
    assert module.on_page(once, "a table") == once
    with pytest.raises(module.RefusedError, match="lacks the marks"):
        module.on_page("", "a table")


# ---- guided -----------------------------------------------------------------------------------------------


def test_guided_refuses_arguments_and_names_what_is_missing(tmp_path: Path):
    script = TOOLS / "guided.sh"
    assert_refused((script, "--help"), "guided: takes no arguments", "--help")
    # A compiler without llvm-profdata beside it: nothing is compiled.
    rustc = tmp_path / "rustc"
    rustc.write_text(
        f'#!/bin/sh\ncase "$1" in -vV) echo "host: here";; *) echo "{tmp_path}/sysroot";; esac\n'
    )
    rustc.chmod(0o755)
    if (ROOT / ".venv/bin/maturin").exists():
        path = f"{tmp_path}:{os.environ['PATH']}"
        assert_refused((script,), "llvm-profdata is missing", "rustup component add", path=path)


# ---- cost of a request ------------------------------------------------------------------------------------


def test_a_cost_is_the_difference_of_many_and_few_requests(monkeypatch):
    module = tool("bench_cost")
    noise = iter([0.5, 0.0, 0.25, 0.125] * 6)

    def measured(drive: dict[str, Any], words: dict[str, Any], options: object, requests: int) -> Any:
        assert drive["ftl.over_provisioning"] == 0.1
        assert words["bs"] == "16k"
        each = 500e-9 if words["rw"] == "randread" else 750e-9
        return [0.01 + requests * each + next(noise), 32 * 1024]

    monkeypatch.setattr(module, "measured", measured)
    text, found = module.table("size", [("16k", {}, {"bs": "16k"}, {})])
    *head, row = text.splitlines()
    assert row == "| 16k | 500 | 750 | 10 ms | 32 MiB |"
    assert {line.count("|") for line in (*head, row)} == {6}
    [(name, reads, mix)] = found
    assert (name, reads, mix) == ("16k", pytest.approx(500), pytest.approx(750))


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_every_point_is_a_drive_and_a_job_that_there_are():
    from ninescope.simulation.run import request

    module = tool("bench_cost")
    for name, points in module.axes().items():
        assert len({point[0] for point in points}) == len(points), name
        for point in points:
            for pattern in (module.READS, module.MIX):
                settings, job, options = module.asked_of(point, pattern)
                drive = ninescope.Drive.preset(settings.pop("preset", "tlc")).with_(settings)
                drive.resolve()
                workload = ninescope.Workload.job(**job)
                assert request(drive, workload, requests=1, prefill="full", **options)["requests"] == 1


def test_tables_go_between_the_marks_of_the_page_and_nowhere_else():
    module = tool("bench_cost")
    page = module.PAGE.read_text()
    once = module.on_page(page, ["a table", "another"])
    before, _, after = page.partition(module.BEGIN)
    assert once.startswith(before)
    assert once.endswith(after.partition(module.END)[2])
    assert f"{module.BEGIN}\n\na table\n\nanother\n\n{module.END}" in once
    assert module.on_page(once, ["a table", "another"]) == once
    for broken in ("", page.replace(module.END, ""), f"{module.END}\n{module.BEGIN}"):
        with pytest.raises(module.RefusedError, match="lacks the marks"):
            module.on_page(broken)


def test_bench_cost_refuses_arguments_and_tells_what_fails():
    assert_refused((sys.executable, TOOLS / "bench_cost.py", "--brief"), "--brief")
    module = tool("bench_cost")
    if NATIVE:
        with pytest.raises(module.RefusedError, match=r"ftl\.wings"):
            module.measured({"ftl.wings": 2}, module.READS, {}, 1)


# ---- all of them ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("coverage.sh", "--x"),
        ("coverage_table.py", "/nope", "/nope"),
        ("deny.sh", "--x"),
        ("fuzz.sh", "--x"),
        ("probe_cost.sh", "--x"),
        ("quick_verdicts.py", "/nope"),
        ("renew_fio_options.py", "--x"),
        ("renew_mqsim_settings.py", "--x"),
        ("renew_papers.py", "/nope"),
        ("renew_readme.py", "/nope"),
        ("renew_today.py", "/nope"),
        ("unsafe.sh", "--x"),
    ],
    ids=lambda words: words[0],
)
def test_a_tool_refuses_what_it_does_not_know_and_does_nothing(words: tuple[str, ...]):
    name, *rest = words
    program = [TOOLS / name] if name.endswith(".sh") else [sys.executable, TOOLS / name]
    code, out, err = run(*program, *rest)
    assert (code, out) == (2, "")
    assert rest[0] in err.splitlines()[-1]
