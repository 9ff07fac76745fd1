"""Searches run: they find what a full grid finds, and come to the same however they are run."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import ninescope
from conftest import NATIVE, ROOT, command
from ninescope.lab import pool
from ninescope.lab.search.record import KIND
from ninescope.lab.search.search import Search
from ninescope.lab.sweep.lake import Lake
from ninescope.lab.sweep.sweep import Sweep
from search_samples import SMALL, search_file, search_here
from sweep_samples import run_here

pytest.importorskip("optuna", reason="searches need optuna: requirements/sweep.lock has it")
pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")

DEPTHS = (
    SMALL.replace("ftl.over_provisioning >= 0.15", "workload.iodepth >= 2")
    .replace('"ftl.over_provisioning" = [0.1, 0.15, 0.2]', '"workload.iodepth" = [1, 2, 4]')
    .replace('minimise = ["cost_per_logical_gb", "read_mean"]', 'minimise = "read_mean"\nmaximise = "iops"')
)
"""The deeper the queue the more requests, and the longer each takes: 8 designs of depth 1, 16 of others."""
GRID = f"""
name = "grid"
[drive]{DEPTHS.partition("[drive]")[2].partition("[parameters]")[0]}
[axes]
"workload.iodepth" = [1, 2, 4]
"nand.read" = ["20us", "40us", "60us", "80us"]
"nand.program" = ["300us", "600us"]
"ftl.victim" = ["greedy", "fifo"]
"""
"""All 48 combinations; eight of them twice as seen by the search."""
LONGER = (
    SMALL.replace("requests = 300", "requests = 30_000")
    .replace("pruning = false", "")
    .replace("[final]", "[pruning]\nshort = 0.6\n\n[final]")
)
"""Runs of some hundredths of a second, short ones first."""


def stored(out: Path, name: str = "small") -> bytes:
    return (out / f"{KIND}/{name}.json").read_bytes()


# ---- what is found --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def grid(tmp_path_factory) -> list[dict]:
    """Every design, run by a sweep."""
    sweep = Sweep.from_toml(GRID)
    out = tmp_path_factory.mktemp("grid")
    assert run_here(sweep, out).is_finished
    return sweep.table(out).to_dicts()


def test_a_search_of_everything_finds_the_front_of_the_grid(grid, tmp_path):
    record = search_here(DEPTHS.replace("trials = 12", "trials = 200"), tmp_path)
    assert record.ended == "all 40 designs were tried"
    assert len(record.trials) == len(record.distinct) == 40
    values = {(row["read_mean_ns"], -row["iops"]) for row in grid}
    best = {
        point
        for point in values
        if not any(other != point and other[0] <= point[0] and other[1] <= point[1] for other in values)
    }
    assert len(best) > 1
    found = [tuple(trial.values(record.goals)) for trial in record.front]
    assert found == sorted(best)


def test_a_search_of_a_part_finds_the_best_of_the_grid(grid, tmp_path):
    limit = sorted(row["iops"] for row in grid)[-16]
    text = DEPTHS.replace('maximise = "iops"', f'constraints = ["iops >= {limit}"]').replace("12", "24", 1)
    record = search_here(text, tmp_path)
    assert len(record.distinct) < 30
    best = min(row["read_mean_ns"] for row in grid if row["iops"] >= limit)
    assert record.front[0].metrics["randrw"]["read_mean_ns"] == best
    chosen = record.finish.candidates[record.finish.chosen]
    around = {(neighbour.parameter, neighbour.candidate.shown[neighbour.parameter])
              for neighbour in record.finish.neighbours}  # fmt: skip
    reads = ["20us", "40us", "60us", "80us"]
    place = reads.index(chosen.shown["nand.read"])
    asides = {reads[other] for other in (place - 1, place + 1) if 0 <= other < len(reads)}
    assert {value for parameter, value in around if parameter == "nand.read"} == asides


def test_the_answer_goes_where_a_neighbour_is_better(tmp_path):
    text = SMALL.replace('"cost_per_logical_gb", ', "").replace("seeds = 2", "seeds = 3\nsteps = STEPS")
    # One design of forty is drawn; reads of 60 or 80 us are two steps from the best.
    text = text.replace("trials = 12", "trials = 1\nbatch = 1\nseed = 3").replace(
        "requests = 300", "requests = 3_000"
    )
    stays = search_here(text.replace("STEPS", "0"), tmp_path)
    goes = search_here(text.replace("STEPS", "9"), tmp_path)
    assert len(stays.finish.candidates) == 1
    first, last = goes.finish.candidates[0], goes.finish.candidates[goes.finish.chosen]
    assert first == stays.finish.candidates[0]
    assert first.shown["nand.read"] != "20us"
    assert last.shown["nand.read"] == "20us"
    assert last.trial is None
    means = [candidate.objectives[0].mean for candidate in goes.finish.candidates]
    assert means == sorted(means, reverse=True)
    assert not any(neighbour.effect == "better" for neighbour in goes.finish.neighbours)


def test_values_are_those_of_the_runs(tmp_path):
    record = search_here(SMALL.replace("trials = 12", "trials = 4"), tmp_path)
    trial = record.trials[0]
    drive = ninescope.Drive.from_file(ROOT / "examples/drives/small.toml").with_(record.shown[0])
    job = ninescope.Workload.job(rw="randrw", bs="4k", size="16m", iodepth=4)
    result = drive.run(job, requests=300)
    assert trial.metrics["randrw"]["read_mean_ns"] == result.latency.read.mean_ns
    assert trial.metrics["randrw"]["cost_per_logical_gb"] == result.cost.per_logical_gb
    kept = [
        kept for point in Lake.open(tmp_path).ids() if (kept := Lake.open(tmp_path).get(point)) is not None
    ]
    assert trial.points["randrw"] in {each.design for each in kept}
    assert len({each.document["seed"] for each in kept}) == 2  # candidates and neighbours have two


def test_several_workloads_are_run_each_and_the_worst_counts(tmp_path):
    text = SMALL.replace("[workload]", "[[workload]]").replace("[run]", """
[[workload]]
name = "reads"
rw = "randread"
bs = "4k"
size = "16m"
iodepth = 4

[run]""").replace('"read_mean"', '"p90", "read_p90 on reads"').replace(
        "trials = 12", "trials = 4"
    )  # fmt: skip
    record = search_here(text, tmp_path)
    assert record.workloads == ("randrw", "reads")
    for trial in record.distinct:
        both = [trial.metrics[name] for name in record.workloads]
        p90 = [each[f"{op}_p90_ns"] for each in both for op in ("read", "write") if each[f"{op}_p90_ns"]]
        assert len(p90) == 3  # nobody writes in `reads`
        goals = record.goals
        assert trial.objective(goals.objectives[1]) == max(p90)
        assert trial.objective(goals.objectives[2]) == both[1]["read_p90_ns"]


def test_short_runs_spare_long_ones(tmp_path):
    text = LONGER.replace("trials = 12", 'constraints = ["read_p50 < 80us"]\ntrials = 12').partition(
        '"ftl.victim"'
    )[0]
    text = text.replace(
        '"ftl.over_provisioning" = [0.1, 0.15, 0.2]\n', ""
    )  # eight designs are left: all are tried
    record = search_here(text, tmp_path / "pruned", workers=2)
    pruned = {trial.number: trial for trial in record.trials if trial.state == "pruned"}
    assert (
        4 <= len(pruned) < 8
    )  # those of 60 and 80 us, which with what they wait for is too much, perhaps others
    for trial in pruned.values():
        assert record.shown[trial.number]["nand.read"] != "20us"
        assert trial.reason.startswith("read_p50 < 80us is violated on randrw: ")
        assert trial.requests == 18_000
    assert all(trial.requests == 48_000 for trial in record.trials if trial.state == "full")
    whole = search_here(text.replace("short = 0.6", "short = 0"), tmp_path / "whole", workers=2)
    assert [trial.state for trial in whole.trials] == ["full"] * 8
    # Of what was pruned nothing keeps the limit when it is run in full.
    assert not any(whole.trials[number].is_feasible(whole.goals) for number in pruned)
    assert [trial.number for trial in whole.front] == [trial.number for trial in record.front]


# ---- the same, whoever runs it --------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", ["tpe", "nsga2"])
def test_workers_make_no_difference(tmp_path, sampler):
    text = SMALL.replace("trials = 12", f'trials = 16\nsampler = "{sampler}"')
    for workers in (1, 3):
        search_here(text, tmp_path / str(workers), workers=workers)
    assert stored(tmp_path / "1") == stored(tmp_path / "3")
    other = search_here(text.replace("trials = 16", "trials = 16\nseed = 2"), tmp_path / "seed")
    assert json.loads(stored(tmp_path / "1"))["trials"] != [trial.as_json() for trial in other.trials]


def test_processes_come_to_the_same(tmp_path):
    Search.from_toml(SMALL).run(tmp_path / "processes", jobs=2)
    search_here(SMALL, tmp_path / "threads")
    assert stored(tmp_path / "processes") == stored(tmp_path / "threads")


def test_dask_comes_to_the_same(tmp_path):
    pytest.importorskip("distributed")
    with pool.dask("local:2") as workers:
        Search.from_toml(SMALL).run(tmp_path / "dask", executor=workers, trials=4)
    search_here(SMALL, tmp_path / "threads", trials=4)
    assert stored(tmp_path / "dask") == stored(tmp_path / "threads")


def test_a_search_that_is_made_longer_is_the_longer_one(tmp_path):
    search_here(SMALL, tmp_path / "extended", trials=8)
    assert len(json.loads(stored(tmp_path / "extended"))["trials"]) < 16
    search_here(SMALL, tmp_path / "extended", trials=16)
    search_here(SMALL, tmp_path / "at once", trials=16)
    assert stored(tmp_path / "extended") == stored(tmp_path / "at once")


def test_killed_at_any_moment_and_resumed_it_comes_to_the_same(tmp_path):
    file = search_file(tmp_path, LONGER)
    search_here(LONGER, tmp_path / "undisturbed", workers=2)
    draw = random.Random(os.environ.get("PYTEST_SEED", "7"))
    out = tmp_path / "killed"
    for attempt in range(2):
        process = subprocess.Popen(
            [*command(), "search", "run", str(file), "--out", str(out), "--jobs", "1"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        journal = out / f"{KIND}/small.journal"
        deadline = time.monotonic() + 60
        # Kill it when the journal has grown by some lines more, wherever that is.
        wanted = (attempt + 1) * 4_000 + draw.randrange(3_000)
        while process.poll() is None and time.monotonic() < deadline:
            if journal.exists() and journal.stat().st_size > wanted:
                break
            time.sleep(0.01)
        time.sleep(draw.random() * 0.1)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    with open(out / f"{KIND}/small.journal", "ab") as journal_file:
        journal_file.write(b'{"op_code": 4, "wor')  # what a killed writer may leave
    search_here(LONGER, out, workers=2)
    assert stored(out) == stored(tmp_path / "undisturbed")


def test_nothing_is_run_twice(tmp_path):
    search_here(SMALL, tmp_path)
    points = {path: path.stat().st_mtime_ns for path in (tmp_path / "points").iterdir()}
    before = stored(tmp_path)
    (tmp_path / f"{KIND}/small.journal").unlink()
    search_here(SMALL, tmp_path)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "points").iterdir()} == points
    assert stored(tmp_path) == before


def test_what_was_damaged_or_lost_is_run_again(tmp_path):
    record = search_here(SMALL, tmp_path, trials=8)
    before = stored(tmp_path)
    lake = Lake.open(tmp_path)
    points = sorted((tmp_path / "points").iterdir())
    documents = {point: lake.get(point) for point in lake.ids()}
    cut, garbled, emptied, lost = points[:4]
    cut.write_bytes(cut.read_bytes()[:-20])
    garbled.write_bytes(garbled.read_bytes()[::-1])
    emptied.write_bytes(b"")
    lost.unlink()
    labels = []
    again = search_here(SMALL, tmp_path, trials=8, on_step=lambda step: labels.append(step.label))
    assert again == record
    assert stored(tmp_path) == before
    for point, kept in documents.items():
        found = lake.get(point)
        assert found is not None
        assert (found.metrics, found.blocks) == (kept.metrics, kept.blocks)


def test_the_end_tells_how_far_it_is(tmp_path):
    steps = []
    record = search_here(SMALL, tmp_path, trials=8, on_step=steps.append)
    candidates = len(record.finish.candidates)
    assert [(step.done, step.total) for step in steps if step.label.startswith("candidate: ")] == [
        (done, candidates) for done in range(1, candidates + 1)
    ]
    neighbours = [step for step in steps if step.label.startswith("neighbour: ")]
    assert len(neighbours) > 1
    assert [step.done for step in neighbours] == sorted(step.done for step in neighbours)
    assert {step.total for step in neighbours} == {len(record.finish.neighbours)}
    assert len([step for step in steps if step.label.startswith("trial ")]) == len(record.distinct)
    steps.clear()
    search_here(SMALL, tmp_path, trials=8, on_step=steps.append)
    assert not [step for step in steps if ": " in step.label]  # nothing was run


# ---- what goes wrong ------------------------------------------------------------------------------------


def test_a_search_is_not_gone_on_with_by_another(tmp_path):
    search_here(SMALL, tmp_path, trials=4)
    with pytest.raises(
        ninescope.ConfigError, match=r"was begun with other parameters: give this one another `name`"
    ):
        search_here(SMALL.replace('"20us", ', ""), tmp_path, trials=4)
    with pytest.raises(ninescope.ConfigError, match="other objectives"):
        search_here(SMALL.replace('"read_mean"', '"write_mean"'), tmp_path, trials=4)
    search_here(SMALL.replace("seeds = 2", "seeds = 3"), tmp_path, trials=4)  # of the end alone


def test_two_processes_do_not_share_a_search(tmp_path):
    from ninescope.lab.search.search import Search as Another

    lake = Lake.open(tmp_path, create=True)
    search = Another.from_toml(SMALL)
    with (
        search._optimiser(lake),
        pytest.raises(ninescope.ConfigError, match="is being run by another process"),
    ):
        search._optimiser(lake)
    search._optimiser(lake).close()


def test_a_damaged_journal_is_named(tmp_path):
    search_here(SMALL, tmp_path, trials=4)
    journal = tmp_path / f"{KIND}/small.journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:3], b"{}garbage\n", *lines[4:]]))
    with pytest.raises(ninescope.ConfigError, match=r"small.journal, line 4: is damaged"):
        search_here(SMALL, tmp_path, trials=4)


def test_numbers_that_no_run_has_are_refused_before_the_first_or_after_it(tmp_path):
    text = SMALL.replace("trials = 12", 'constraints = ["p99.99 < 1ms"]\ntrials = 12')
    with pytest.raises(
        ninescope.ConfigError, match=r"p99.99 < 1ms on randrw cannot be measured: too few requests"
    ):
        search_here(text, tmp_path / "lake")
    assert not (tmp_path / "lake").exists()
    text = SMALL.replace('"read_mean"', '"hit_ratio"')
    with pytest.raises(
        ninescope.ConfigError, match="hit_ratio on randrw cannot be measured: no result has it"
    ):
        search_here(text, tmp_path / "other")


def test_designs_that_cannot_be_built_are_told_and_passed_over(tmp_path):
    # Some of these drives are smaller than the job's region.
    text = SMALL.replace('"16m"', '"400m"').replace("[0.1, 0.15, 0.2]", "[0.1, 0.2, 0.5]")
    record = search_here(text, tmp_path)
    refused = [trial for trial in record.distinct if trial.state == "refused"]
    assert refused
    assert {record.shown[trial.number]["ftl.over_provisioning"] for trial in refused} == {"0.5"}
    assert record.finish.chosen is not None


def test_where_nothing_keeps_the_constraints_the_nearest_is_said(tmp_path):
    text = SMALL.replace("trials = 12", 'constraints = ["read_mean < 1us"]\ntrials = 4')
    record = search_here(text, tmp_path)
    assert record.front == []
    nearest = record.nearest()
    assert nearest is not None
    assert nearest.metrics["randrw"]["read_mean_ns"] == min(
        trial.metrics["randrw"]["read_mean_ns"] for trial in record.distinct
    )
    from ninescope.lab.search.text import answer_lines

    assert "No design that was run in full keeps all constraints." in list(answer_lines(record))
    assert "Nearest is trial" in Search.from_toml(text).report(tmp_path, tmp_path / "r.html").read_text()


def test_without_optuna_it_is_said_what_is_missing(tmp_path):
    file = search_file(tmp_path)
    code = (
        "import sys; sys.modules['optuna'] = None; from ninescope.cli import main; "
        f"main(['search', 'run', {str(file)!r}, '--out', {str(tmp_path / 'lake')!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        "ninescope: error: a search needs the package optuna: pip install 'ninescope[sweep]'\n"
    )
    assert not (tmp_path / "lake").exists()


# ---- the command line -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("done")
    search_here(LONGER, out, workers=2)
    return out


def test_plan_says_what_is_to_be_chosen(cli, tmp_path):
    found = cli("search", "plan", str(search_file(tmp_path, LONGER)))
    assert found.code == 0
    assert "40 designs, 12 are tried, 4 at a time, proposed by tpe" in found.out
    assert "short runs first: 18,000 of randrw" in found.out
    assert "ftl.victim: greedy, fifo   if ftl.over_provisioning >= 0.15" in found.out
    wrong = cli("search", "plan", str(search_file(tmp_path, SMALL.replace('rw = "randrw"', 'rw = "randwr"'))))
    assert wrong.code == 2
    assert "line 15: workload.rw: unknown name `randwr`; did you mean 'randrw'?" in wrong.err


def test_plan_says_what_it_takes(cli, tmp_path):
    few = SMALL.partition("[parameters]")[0] + '[parameters]\n"nand.read" = ["20us", "40us", "60us"]'
    found = cli("search", "plan", str(search_file(tmp_path, few)), "--jobs", "2")
    assert found.code == 0
    assert "3 designs exist; all are tried, 4 at a time" in found.out
    assert re.search(
        r"^time: about \S+ (s|min) \(.* to .*\) on 2 workers \(\d+ runs; estimated: 1 run was",
        found.out,
        re.M,
    )
    assert re.search(r"^memory: up to \S+ MiB for a drive, \S+ MiB on 2 workers", found.out, re.M)
    plan = json.loads(cli("search", "plan", str(tmp_path / "small.toml"), "--no-probe", "--json").out)
    assert (plan["estimated_seconds"], plan["designs"], plan["notes"]) == (None, 3, [])


@pytest.mark.parametrize(
    ("changed", "to", "options"),
    [
        ("trials = 12", "trails = 12", ()),
        ('"20us", ', '"20 parsecs", ', ()),
        ('"randrw"', '"randwr"', ()),
        ("trials = 12", 'constraints = ["p99.99 < 1ms"]', ()),
        ("trials = 12", "trials = 12", ("--memory", "4 apples")),
        ("trials = 12", "trials = 12", ("--dask", "local", "--jobs", "2")),
    ],
)
def test_what_is_refused_leaves_nothing_behind(cli, tmp_path, changed, to, options):
    file = search_file(tmp_path, SMALL.replace(changed, to))
    refused = cli("search", "run", str(file), "--out", str(tmp_path / "lake"), *options)
    assert refused.code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


def test_what_plan_notes_is_told_by_run_too(cli, tmp_path):
    text = SMALL.replace("trials = 12", 'trials = 2\nconstraints = ["waf < 9"]').replace(
        '"randrw"', '"randread"'
    )
    ran = cli(
        "search", "run", str(search_file(tmp_path, text)), "--out", str(tmp_path / "lake"), "--jobs", "1"
    )
    assert ran.code == 0
    assert "small  note: waf < 9 on randread may not be measured: nothing is written there" in ran.err


def test_the_command_line_from_run_to_report(cli, tmp_path):
    file, out = str(search_file(tmp_path, SMALL)), str(tmp_path / "lake")
    assert "no lake of results" in cli("search", "resume", file, "--out", out).err
    ran = cli("search", "run", file, "--out", out, "--trials", "4", "--jobs", "1")
    assert ran.code == 0
    assert "The answer (the knee of the front):" in ran.out
    assert (tmp_path / "lake/small.html").exists()
    again = cli("search", "resume", file, "--out", out, "--trials", "4", "--jobs", "1")
    assert again.code == 0
    assert again.out == ran.out
    status = json.loads(cli("search", "status", out, "--json").out)["searches"][0]
    assert (status["tried"], status["full"], status["ended"]) == (4, 4, "4 designs were tried")
    rows = json.loads(cli("search", "table", out, "--all", "--json").out)["rows"]
    assert len(rows) == 4
    assert cli("search", "table", out, "--csv").out.startswith("trial,state,ftl.over_provisioning,")
    assert "effect" in cli("search", "table", out, "--neighbours").out


def test_the_figure_and_the_report(cli, done, tmp_path):
    figure = tmp_path / "front.svg"
    assert cli("search", "plot", str(done), "--out", str(figure)).code == 0
    assert "<svg" in figure.read_text()
    assert "did you mean 'read_mean'" in cli("search", "plot", str(done), "--x", "read_men").err
    assert cli("search", "report", str(done), "--out", str(tmp_path / "r.html")).code == 0
    text = (tmp_path / "r.html").read_text()
    for title in ("The answer", "The front", "One step aside", "The search", "Caveats", "Provenance"):
        assert f">{title}<" in text
    record = Search.from_toml(LONGER).record(done)
    for trial in record.distinct:
        if trial.state == "pruned":
            assert trial.reason.partition(":")[0].replace("<", "&lt;") in text
    assert record.finish.neighbours[0].effect in text
    assert str(done) not in text


def test_mistyped_words_are_answered(cli, done):
    assert (
        "no search is named 'smal'; did you mean 'small'?"
        in cli("search", "table", str(done), "--search", "smal").err
    )
    assert cli("search", "table", str(done), "--csv", "--json").code == 2
    assert "no lake of results" in cli("search", "status", str(done / "nowhere")).err


def test_a_search_at_a_url_is_refused(tmp_path):
    pytest.importorskip("fsspec")
    with pytest.raises(ninescope.ConfigError, match="a search keeps its journal in a folder"):
        search_here(SMALL, "memory://search-lake")
    with pytest.raises(ninescope.ConfigError, match="there is no lake of results here"):
        Lake.open("memory://search-lake")


def test_the_example_is_sound():
    search = Search.from_file(ROOT / "examples/searches/best-drive.toml")
    assert search.file.workloads == ("prxy_0", "prxy_1")
    plan = search.plan()
    assert len(plan.refused) < plan.drawn / 4
    assert plan.short_requests == {"prxy_0": 28_000, "prxy_1": 28_000}


def test_a_drive_that_comes_to_its_end_is_no_answer(tmp_path):
    text = f"""
    name = "ends"
    maximise = "write_iops"
    trials = 12
    pruning = false

    [final]
    seeds = 1
    candidates = 1

    [drive]
    file = "{ROOT / "examples/drives/wears-out.toml"}"

    [workload]
    rw = "randwrite"
    bs = "16k"
    iodepth = 8

    [run]
    requests = 8000
    prefill = "full"

    [parameters]
    "nand.erase_failures" = [0.0000001, 0.3, 0.4]
    """
    record = search_here(textwrap.dedent(text), tmp_path / "out")
    reasons = {trial.design["nand.erase_failures"]: trial.reason for trial in record.trials}
    assert set(reasons) == {0, 1, 2}, "each of them, by its place"
    assert reasons[0] == ""
    assert all(reasons[chance].startswith("its drive became read-only on ") for chance in (1, 2))
