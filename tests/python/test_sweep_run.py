"""Sweeps run: whoever runs them comes to the same table, and nothing that was done is lost."""

from __future__ import annotations

import dataclasses
import gzip
import itertools
import json
import os
import shutil
import subprocess
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

import ninescope
from ninescope.lab import pool
from ninescope.lab.sweep import dataset, worker
from ninescope.lab.sweep import runner as runner_module
from ninescope.lab.sweep.lake import Lake
from ninescope.lab.sweep.point import Point
from ninescope.lab.sweep.runner import Runner
from ninescope.lab.sweep.source import Source
from ninescope.lab.sweep.sweep import Sweep
from ninescope.result.metrics import NAMES
from sweep_samples import DRIVE, LONGER, SMALL, csv, in_form, run_here, sweep_file

# ---- the same table, whoever ran it -------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2])
def test_processes_come_to_the_same_table(sweep, undisturbed, tmp_path, jobs):
    status = sweep.run(tmp_path / "lake", jobs=jobs)
    assert status.is_finished
    assert (status.run_now, status.left, status.failures) == (8, 0, ())
    assert csv(tmp_path / "lake") == undisturbed
    for form in ("parquet", "json"):
        assert in_form(tmp_path / "lake", form) == in_form(tmp_path / "undisturbed", form)


def test_dask_comes_to_the_same_table(sweep, undisturbed, tmp_path):
    pytest.importorskip("distributed")
    with pool.dask("local:2") as workers:
        assert sweep.run(tmp_path / "lake", executor=workers).is_finished
    assert csv(tmp_path / "lake") == undisturbed


def test_points_in_another_order_come_to_the_same_table(sweep, undisturbed, tmp_path, monkeypatch):
    run = Runner.run
    monkeypatch.setattr(Runner, "run", lambda self, points: run(self, reversed(list(points))))
    run_here(sweep, tmp_path / "lake", workers=3)
    assert csv(tmp_path / "lake") == undisturbed


def test_a_table_says_what_results_say_and_nothing_of_who_ran_them(sweep, tmp_path):
    run_here(sweep, tmp_path / "lake")
    frame = sweep.table(tmp_path / "lake")
    assert frame.columns == [
        "ftl.over_provisioning",
        "nand.read",
        "seed",
        "state",
        "steadiness",
        "steadiness_reasons",
        *NAMES,
        "point",
    ]
    drive = ninescope.Drive.from_file(DRIVE).with_({"ftl.over_provisioning": 0.1, "nand.read": "60us"})
    job = ninescope.Workload.job(rw="randrw", bs="4k", size="16m", iodepth=4)
    result = drive.run(job, seed=2, requests=300)
    row = frame.row(3, named=True)
    assert (row["ftl.over_provisioning"], row["nand.read"], row["seed"]) == (0.1, "60us", 2)
    assert row["read_p99_ns"] is None  # of so few
    assert row["read_p90_ns"] == result.latency.read.percentile(90)
    assert row["waf_total"] == result.waf.total
    assert row["lifetime_years"] == result.endurance.lifetime.years
    kept = Lake.open(tmp_path / "lake").get(sweep.plan().rows[3].point.id)
    again = kept.result()
    assert again.digest == result.digest
    assert again.latency.read.percentile(97) == result.latency.read.percentile(97)
    assert str(tmp_path) not in json.dumps(kept.document)
    assert "performance" not in kept.document


# ---- nothing twice, nothing lost ----------------------------------------------------------------------


def test_what_is_done_is_not_run_again(sweep, tmp_path):
    assert run_here(sweep, tmp_path / "lake").run_now == 8
    assert run_here(sweep, tmp_path / "lake").run_now == 0
    larger = Sweep.from_toml(SMALL.replace('"60us"]', '"60us", "80us"]').replace('"small"', '"larger"'))
    steps = []
    assert run_here(larger, tmp_path / "lake", on_step=steps.append).run_now == 4
    assert [step.done for step in steps] == [9, 10, 11, 12]
    assert {step.total for step in steps} == {12}
    assert csv(tmp_path / "lake", "small").count(b"\n") == 9
    assert csv(tmp_path / "lake", "larger").count(b"\n") == 13


def test_damaged_results_are_as_good_as_none(sweep, undisturbed, tmp_path):
    run_here(sweep, tmp_path / "lake")
    points = sorted((tmp_path / "lake/points").iterdir())
    points[0].write_bytes(b"")
    points[1].write_bytes(points[1].read_bytes()[:200])
    points[2].write_bytes(gzip.compress(b"[]"))
    points[3].write_bytes(points[4].read_bytes())  # another point's
    points[5].unlink()
    for part in (tmp_path / "lake/dataset").iterdir():
        part.write_bytes(b"PAR1")
    assert run_here(sweep, tmp_path / "lake").run_now == 5
    assert csv(tmp_path / "lake") == undisturbed


@pytest.mark.parametrize("content", [b"", b"{}", b'{"name": "sma'])
def test_a_damaged_record_hides_no_other_sweep(cli, sweep, tmp_path, content):
    lake = tmp_path / "lake"
    run_here(sweep, lake)
    run_here(Sweep.from_toml(SMALL.replace('"small"', '"other"')), lake)
    assert cli("sweep", "status", lake).code == 0
    (lake / "sweeps/other.json").write_bytes(content)
    code, out, err = cli("sweep", "status", lake)
    assert code == 2
    assert "small: 8 of 8 points done" in out
    assert "other.json: is damaged" in err
    code, _, err = cli("sweep", "table", lake, "--sweep", "other")
    assert code == 2
    assert "other.json: is damaged" in err
    assert run_here(Sweep.from_toml(SMALL.replace('"small"', '"other"')), lake).run_now == 0
    assert cli("sweep", "status", lake).code == 0


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return (
        content[:middle] + bytes(byte ^ 0xFF for byte in content[middle : middle + 8]) + content[middle + 8 :]
    )


def test_what_ends_while_status_looks_is_not_damaged(sweep, undisturbed, tmp_path, monkeypatch):
    lake = tmp_path / "lake"
    run_here(sweep, lake)
    last = sorted((lake / "points").iterdir())[3]
    content = last.read_bytes()
    last.unlink()
    refreshed = dataset.refreshed

    def another_ends(of):
        table = refreshed(of)
        last.write_bytes(content)
        return table

    monkeypatch.setattr(dataset, "refreshed", another_ends)
    status = sweep.status(lake)
    assert (status.left, status.damaged) == (1, ())


@pytest.mark.parametrize(
    "damage",
    [flipped, lambda content: content[:-20], lambda content: b"", lambda content: bytes(len(content))],
    ids=["bytes flipped", "cut", "empty", "zeros"],
)
def test_damage_after_the_numbers_were_taken_is_noticed(sweep, undisturbed, tmp_path, damage):
    lake = tmp_path / "lake"
    run_here(sweep, lake)
    assert csv(lake) == undisturbed
    hit = sorted((lake / "points").iterdir())[3]
    hit.write_bytes(damage(hit.read_bytes()))
    status = sweep.status(lake)
    assert status.left == 1
    assert status.damaged == (str(hit),)
    assert csv(lake).count(b",left,") == 1
    assert run_here(sweep, lake).run_now == 1
    assert csv(lake) == undisturbed


def test_a_copied_lake_is_read_again_and_not_run_again(sweep, undisturbed, tmp_path, monkeypatch):
    run_here(sweep, tmp_path / "lake")
    csv(tmp_path / "lake")
    shutil.copytree(tmp_path / "lake", tmp_path / "copy", copy_function=shutil.copyfile)
    for point in (tmp_path / "copy/points").iterdir():
        os.utime(point, (0, 0))
    read = []
    get = Lake.get
    monkeypatch.setattr(Lake, "get", lambda self, point: read.append(point) or get(self, point))
    assert sweep.status(tmp_path / "copy").is_finished
    assert len(read) == 8
    assert run_here(sweep, tmp_path / "copy").run_now == 0
    assert csv(tmp_path / "copy") == undisturbed
    assert len(read) == 8  # once


def test_damage_at_a_url_is_noticed(sweep, undisturbed, tmp_path):
    fsspec = pytest.importorskip("fsspec")
    url = f"memory://{tmp_path.name}"
    run_here(sweep, url)
    assert csv(url) == undisturbed
    files = fsspec.filesystem("memory")
    hit = sorted(files.glob(f"/{tmp_path.name}/points/*"))[2]
    files.pipe_file(hit, flipped(files.cat_file(hit)))
    assert sweep.status(url).left == 1
    assert run_here(sweep, url).run_now == 1
    assert csv(url) == undisturbed


def test_two_sweeps_on_one_lake_run_nothing_twice(tmp_path):
    both = [Sweep.from_toml(LONGER.replace('"small"', f'"{name}"')) for name in ("one", "other")]
    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(run_here, sweep, tmp_path / "lake", workers=2) for sweep in both]
        statuses = [run.result() for run in runs]
    assert all(status.is_finished for status in statuses)
    run_now = [status.run_now for status in statuses]
    assert sum(run_now) == 12
    assert min(run_now) >= 2
    assert csv(tmp_path / "lake", "one") == csv(tmp_path / "lake", "other")
    assert not list((tmp_path / "lake/claims").iterdir())


def test_a_claim_of_the_dead_is_nobodys(sweep, tmp_path):
    run_here(sweep, tmp_path / "lake")
    lake = Lake.open(tmp_path / "lake")
    gone = subprocess.Popen(["true"])
    gone.wait()
    ids = sorted(lake.ids())
    from ninescope.lab.sweep import claims

    for number, claim in enumerate(
        (
            {"time": time.time(), "host": claims._host(), "pid": gone.pid, "points": ids[:2]},
            {
                "time": time.time() - claims.EXPIRE_SECONDS - 1,
                "host": "elsewhere",
                "pid": 1,
                "points": ids[2:4],
            },
        )
    ):
        (tmp_path / f"lake/claims/{number}.json").write_text(json.dumps(claim))
    for point in ids[:4]:
        lake.store.remove(f"points/{point}.json.gz")
    assert run_here(sweep, tmp_path / "lake").run_now == 4


def test_a_point_that_somebody_else_runs_is_waited_for(sweep, tmp_path, monkeypatch):
    from ninescope.lab.sweep import claims

    monkeypatch.setattr(runner_module, "_LOOK_SECONDS", 0.05)
    run_here(sweep, tmp_path / "other")
    lake, other = Lake.open(tmp_path / "lake", create=True), Lake.open(tmp_path / "other")
    theirs = sweep.plan().points[2].id
    claim = {"time": time.time(), "host": "elsewhere", "pid": 1, "points": [theirs]}
    lake.store.write("claims/theirs.json", json.dumps(claim).encode())

    def finish() -> None:
        time.sleep(1)
        lake.put(other.get(theirs))

    assert claims.EXPIRE_SECONDS > 30
    thread = threading.Thread(target=finish)
    thread.start()
    status = run_here(sweep, tmp_path / "lake")
    thread.join()
    assert status.is_finished
    assert status.run_now == 7


# ---- workers that are lost, points that fail ----------------------------------------------------------


class Unlucky(pool.Pool):
    """Workers that are lost with some points, so many times."""

    def __init__(self, executor: ThreadPoolExecutor, losses: dict[str, int]) -> None:
        super().__init__(executor, 2)
        self.losses = dict(losses)
        self.tried: list[str] = []

    def submit(self, function, /, *arguments):
        task = arguments[0]
        if function is not worker.run_point:
            return super().submit(function, *arguments)
        self.tried.append(task.id)
        if self.losses.get(task.id, 0) > 0:
            self.losses[task.id] -= 1
            future: Future[object] = Future()
            future.set_exception(pool.WorkerLostError("its worker process was ended by SIGKILL"))
            return future
        return super().submit(function, *arguments)


def test_a_point_that_is_begun_again_is_told(sweep, tmp_path):
    point = sweep.plan().points[0].id
    told: list[str] = []
    with ThreadPoolExecutor(2) as threads:
        status = sweep.run(tmp_path / "lake", executor=Unlucky(threads, {point: 1}), on_remark=told.append)
    assert status.is_finished
    assert told == ["a point is begun again: its worker process was ended by SIGKILL"]


def test_what_a_lost_worker_had_is_run_again(sweep, undisturbed, tmp_path):
    ids = [point.id for point in sweep.plan().points]
    with ThreadPoolExecutor(2) as executor:
        workers = Unlucky(executor, {ids[1]: 2, ids[4]: 1})
        with pytest.warns(RuntimeWarning, match="a point is begun again: its worker process was ended"):
            assert sweep.run(tmp_path / "lake", executor=workers).is_finished
    assert sorted(workers.tried) == sorted([*ids, ids[1], ids[1], ids[4]])
    assert csv(tmp_path / "lake") == undisturbed


def test_a_poisoned_point_is_put_into_quarantine_with_its_error(sweep, undisturbed, tmp_path, cli):
    ids = [point.id for point in sweep.plan().points]
    with ThreadPoolExecutor(2) as executor:
        workers = Unlucky(executor, {ids[1]: 99})
        status = sweep.run(tmp_path / "lake", executor=workers, on_remark=[].append)
        assert workers.tried.count(ids[1]) == runner_module.ATTEMPTS
        [(label, failure)] = status.failures
        assert label == "ftl.over_provisioning=0.1 nand.read=20us seed=2"
        assert failure.error == "tried 3 times: its worker process was ended by SIGKILL"
        # It is not tried again, unless that is asked for.
        assert sweep.run(tmp_path / "lake", executor=workers).failures
        assert workers.tried.count(ids[1]) == runner_module.ATTEMPTS
    table = csv(tmp_path / "lake", columns=["state"]).decode().split()
    assert table[1:] == ["done", "failed", *["done"] * 6]
    path = sweep_file(tmp_path)
    code, out, err = cli("sweep", "run", path, "--out", tmp_path / "lake")
    assert code == 1
    assert "7 of 8 points done, 1 cannot be run" in out
    assert "SIGKILL" in err
    code, out, err = cli("sweep", "status", tmp_path / "lake")
    assert code == 0
    assert "SIGKILL" in out
    code, out, err = cli("sweep", "resume", path, "--out", tmp_path / "lake", "--retry", "--jobs", 1)
    assert code == 0, err
    assert csv(tmp_path / "lake") == undisturbed
    assert not list((tmp_path / "lake/quarantine").iterdir())


def test_a_point_that_is_wrong_fails_at_once_and_alone(tmp_path):
    drive = ninescope.Drive.from_file(DRIVE)
    jobs = [{"rw": "read", "size": size, "requests": 10} for size in ("1m", "16t")]
    points = [Point.of(drive, Source.of(job)) for job in jobs]
    lake = Lake.open(tmp_path, create=True)
    with ThreadPoolExecutor(1) as executor:
        good, bad = list(Runner(lake, pool.Pool(executor, 1)).run(points))
    assert good.kept is not None
    assert bad.failure.attempts == 1
    assert "16TiB" in bad.failure.error


def test_equal_points_are_run_once_and_points_may_follow_outcomes(tmp_path):
    drive = ninescope.Drive.from_file(DRIVE)
    lake = Lake.open(tmp_path, create=True)
    seen = []

    def points():
        for seed in (1, 1, 2):
            yield Point.of(drive, Source.of({"rw": "read", "size": "1m", "requests": 10}), seed=seed)
        while len(seen) < 3:  # a search that has to know more first
            yield None
        yield Point.of(drive, Source.of({"rw": "read", "size": "1m", "requests": 10}), seed=3)

    with ThreadPoolExecutor(1) as executor:
        seen.extend(itertools.islice(outcomes := Runner(lake, pool.Pool(executor, 1)).run(points()), 3))
        seen.extend(outcomes)
    assert [outcome.is_new for outcome in seen] == [True, False, True, True]
    assert len(lake.ids()) == 3


def test_files_are_sent_to_workers_that_do_not_have_them(tmp_path, msr_trace, monkeypatch):
    given = Source.of({"trace": str(msr_trace), "closed_loop": True})
    here = Path(msr_trace).read_bytes()
    # Workers look for the file where it is not.
    elsewhere = dataclasses.replace(given.what, path=str(tmp_path / "nowhere.csv"))
    points = [
        Point.of(ninescope.Drive.from_file(DRIVE), given, {"requests": 50}, seed=seed) for seed in (1, 2, 3)
    ]
    sent = []

    class Far(pool.Pool):
        def submit(self, function, /, task, names, *files):
            sent.append(list(names))
            return super().submit(function, dataclasses.replace(task, workload=lost), names, *files)

        def put(self, content):
            assert content == here
            return content

    lost = dataclasses.replace(given, what=elsewhere)
    lake = Lake.open(tmp_path / "lake", create=True)
    monkeypatch.setattr(worker, "_FOLDERS", [])
    with ThreadPoolExecutor(1) as executor:
        outcomes = list(Runner(lake, Far(executor, 1)).run(points))
    assert all(outcome.kept is not None for outcome in outcomes)
    # The first three are on their way before anything is known; a worker that has a file keeps it.
    assert sum(bool(names) for names in sent) <= 3
    assert worker._path_of(elsewhere) is not None


def test_a_worker_of_another_build_is_refused_by_name(sweep, tmp_path, monkeypatch):
    run_point = worker.run_point
    monkeypatch.setattr(
        worker, "run_point", lambda task, *more: run_point(dataclasses.replace(task, build="another"), *more)
    )
    with pytest.raises(ninescope.ConfigError, match="runs another build of ninescope"):
        run_here(sweep, tmp_path / "lake")


def failing(error: Exception):
    def fail(*arguments):
        raise error

    return fail


class Elsewhere(pool.Pool):
    """Workers that see no files of this process."""

    shares_files = False


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (lambda build: worker.OtherBuild("far:1", "another"), "worker far:1 runs another build of ninescope"),
        (
            failing(ImportError("No module named 'ninescope'")),
            "workers cannot import what they need: No module",
        ),
    ],
)
def test_workers_elsewhere_of_another_build_are_refused_before_there_is_a_lake(
    sweep, tmp_path, monkeypatch, other, words
):
    monkeypatch.setattr(worker, "other_build", other)
    with ThreadPoolExecutor(2) as threads, pytest.raises(ninescope.ConfigError, match=words):
        sweep.run(tmp_path / "lake", executor=Elsewhere(threads, 2))
    assert not (tmp_path / "lake").exists()


def test_points_that_no_worker_can_hold_are_refused_before_anything_runs(cli, tmp_path):
    code, _, err = cli("sweep", "run", sweep_file(tmp_path), "--out", tmp_path / "lake", "--memory", "1MiB")
    assert code == 2
    assert "8 of 8 points need more memory" in err
    assert not (tmp_path / "lake/points").exists()


# ---- other builds -------------------------------------------------------------------------------------


def test_results_of_another_build_are_kept_and_marked_and_not_mixed(sweep, tmp_path, monkeypatch, cli):
    from ninescope.lab.sweep import point

    run_here(sweep, tmp_path / "lake")
    before = csv(tmp_path / "lake")
    with monkeypatch.context() as patch:
        patch.setattr(point, "build", lambda *parts: "0123456789abcdef")
        path = sweep_file(tmp_path)
        other = Sweep.from_file(path)
        assert run_here(other, tmp_path / "lake").run_now == 8
        # Where a build changes nothing, its table is the same.
        assert csv(tmp_path / "lake") == before
        code, out, _ = cli("sweep", "table", tmp_path / "lake", "--csv", "--all-builds")
        rows = out.splitlines()
        assert code == 0
        assert len(rows) == 17
        assert sum("0123456789abcdef" in row for row in rows) == 8
        assert "8 results of other builds" in cli("sweep", "status", tmp_path / "lake").out
    assert "another build" in cli("sweep", "table", tmp_path / "lake").err
    assert run_here(sweep, tmp_path / "lake").run_now == 0
    assert len(Lake.open(tmp_path / "lake").ids()) == 16
