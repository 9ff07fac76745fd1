"""Sweeps run: whoever runs them comes to the same table, and nothing that was done is lost."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import itertools
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

import ninescope
from conftest import command, interrupted
from ninescope import pool
from ninescope.metrics import NAMES
from ninescope.sweep import runner as runner_module
from ninescope.sweep import worker
from ninescope.sweep.lake import Lake
from ninescope.sweep.point import Point
from ninescope.sweep.runner import Runner
from ninescope.sweep.source import Source
from ninescope.sweep.store import open_store
from ninescope.sweep.sweep import Sweep
from sweep_samples import DRIVE, LONGER, SMALL, csv, run_here, sweep_file


@pytest.fixture
def sweep(tmp_path) -> Sweep:
    return Sweep.from_file(sweep_file(tmp_path))


@pytest.fixture
def undisturbed(sweep, tmp_path) -> bytes:
    """The table of the small sweep, run in one thread."""
    run_here(sweep, tmp_path / "undisturbed")
    return csv(tmp_path / "undisturbed")


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


def in_form(out: Path, form: str) -> bytes:
    from ninescope.sweep import record

    lake = Lake.open(out)
    return record.as_bytes(record.table(lake, record.Record.load(lake)), form)


def test_a_table_says_what_results_say_and_nothing_of_who_ran_them(sweep, tmp_path):
    run_here(sweep, tmp_path / "lake")
    frame = sweep.table(tmp_path / "lake")
    assert frame.columns == ["ftl.over_provisioning", "nand.read", "seed", "state", *NAMES, "point"]
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
    from ninescope.sweep import claims

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
    from ninescope.sweep import claims

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


def test_what_a_lost_worker_had_is_run_again(sweep, undisturbed, tmp_path):
    ids = [point.id for point in sweep.plan().points]
    with ThreadPoolExecutor(2) as executor:
        workers = Unlucky(executor, {ids[1]: 2, ids[4]: 1})
        assert sweep.run(tmp_path / "lake", executor=workers).is_finished
    assert sorted(workers.tried) == sorted([*ids, ids[1], ids[1], ids[4]])
    assert csv(tmp_path / "lake") == undisturbed


def test_a_poisoned_point_is_put_into_quarantine_with_its_error(sweep, undisturbed, tmp_path, cli):
    ids = [point.id for point in sweep.plan().points]
    with ThreadPoolExecutor(2) as executor:
        workers = Unlucky(executor, {ids[1]: 99})
        status = sweep.run(tmp_path / "lake", executor=workers)
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


def test_points_that_no_worker_can_hold_are_refused_before_anything_runs(cli, tmp_path):
    code, _, err = cli("sweep", "run", sweep_file(tmp_path), "--out", tmp_path / "lake", "--memory", "1MiB")
    assert code == 2
    assert "8 of 8 points need more memory" in err
    assert not (tmp_path / "lake/points").exists()


# ---- prepared drives -----------------------------------------------------------------------------------


PREPARED = SMALL.replace("requests = 300", 'requests = 300\nprefill = "steady"').replace(
    "seeds = 2", "seeds = 1"
)
"""Four points, two of each prepared drive."""


class Noting(pool.Pool):
    """Notes what is asked of workers."""

    def __init__(self, executor, workers):
        super().__init__(executor, workers)
        self.asked: list[tuple[str, str]] = []

    def submit(self, function, /, *arguments):
        self.asked.append((function.__name__, arguments[0].id))
        return super().submit(function, *arguments)

    def asked_for(self, function) -> int:
        return [name for name, _ in self.asked].count(function.__name__)


@pytest.fixture
def found(monkeypatch) -> list[bool]:
    """Whether each run that was finished had found its drive in a file."""
    from ninescope.run import Run

    found: list[bool] = []
    result = Run.result

    def noted(run):
        snapshot = run.snapshot()
        found.append(snapshot is not None and snapshot["loaded"])
        return result(run)

    monkeypatch.setattr(Run, "result", noted)
    return found


def test_a_drive_is_prepared_once_for_all_points_that_share_it(tmp_path, found):
    sweep = Sweep.from_toml(PREPARED)
    with ThreadPoolExecutor(4) as executor:
        workers = Noting(executor, 4)
        assert sweep.run(tmp_path / "without", executor=workers, snapshots=False).is_finished
        assert (workers.asked_for(worker.prepare_drive), workers.asked_for(worker.run_point)) == (0, 4)
        assert found == [False] * 4
        assert not (tmp_path / "without/snapshots").exists()
        assert sweep.run(tmp_path / "lake", executor=workers).is_finished
    assert (workers.asked_for(worker.prepare_drive), workers.asked_for(worker.run_point)) == (2, 8)
    assert found[4:] == [True] * 4
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "lake/snapshots").iterdir()}
    assert len(kept) == 2
    for form in ("csv", "parquet", "json"):
        assert in_form(tmp_path / "lake", form) == in_form(tmp_path / "without", form)
    points = sorted(path.name for path in (tmp_path / "lake/points").iterdir())
    assert points == sorted(path.name for path in (tmp_path / "without/points").iterdir())
    # Another sweep of the same drives finds them.
    more = Sweep.from_toml(PREPARED.replace('"60us"]', '"60us", "80us", "90us"]'))
    assert run_here(more, tmp_path / "lake", workers=2).run_now == 4
    assert found[8:] == [True] * 4
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "lake/snapshots").iterdir()} == kept


def test_a_drive_that_one_point_has_for_itself_is_not_kept(tmp_path, found):
    sweep = Sweep.from_toml(PREPARED.replace('["20us", "60us"]', '["20us"]'))
    assert run_here(sweep, tmp_path / "lake").is_finished
    assert found == [False, False]
    assert not (tmp_path / "lake/snapshots").exists()


def test_workers_that_see_no_lake_keep_drives_for_themselves(tmp_path, found, monkeypatch):
    monkeypatch.setattr(worker, "_FOLDERS", [])
    monkeypatch.setattr(pool.Pool, "shares_files", False)
    sweep = Sweep.from_toml(PREPARED)
    run_here(sweep, tmp_path / "without", snapshots=False)
    assert run_here(sweep, tmp_path / "lake").is_finished
    assert sorted(found[4:]) == [False, False, True, True]
    assert not (tmp_path / "lake/snapshots").exists()
    assert len(list(Path(worker._folder(), "prepared").iterdir())) == 2
    assert csv(tmp_path / "lake") == csv(tmp_path / "without")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_prepared_drives_that_cannot_be_kept_or_read_cost_nothing(tmp_path, found):
    sweep = Sweep.from_toml(PREPARED)
    (tmp_path / "file").write_text("no folder")
    assert run_here(sweep, tmp_path / "lake", snapshots=tmp_path / "file").is_finished
    assert found == [False] * 4
    assert run_here(sweep, tmp_path / "other", snapshots=tmp_path / "kept").is_finished
    for path in (tmp_path / "kept").iterdir():
        path.write_bytes(path.read_bytes()[:-100])
    assert run_here(sweep, tmp_path / "third", snapshots=tmp_path / "kept").is_finished
    assert csv(tmp_path / "lake") == csv(tmp_path / "other") == csv(tmp_path / "third")


def test_points_whose_drive_cannot_be_prepared_find_out_for_themselves(sweep, undisturbed, tmp_path):
    class Breaking(Noting):
        def submit(self, function, /, *arguments):
            if function is worker.prepare_drive:
                future: Future[object] = Future()
                future.set_exception(pool.WorkerLostError("it was lost"))
                return future
            return super().submit(function, *arguments)

    with ThreadPoolExecutor(2) as executor:
        assert sweep.run(tmp_path / "lake", executor=Breaking(executor, 2)).is_finished
    assert csv(tmp_path / "lake") == undisturbed


# ---- other builds -------------------------------------------------------------------------------------


def test_results_of_another_build_are_kept_and_marked_and_not_mixed(sweep, tmp_path, monkeypatch, cli):
    from ninescope.sweep import point

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


# ---- lakes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ('{"format": "ninescope lake", "version": 2}', "version 2"),
        ('{"format": "something", "version": 1}', "not of a lake"),
        ("{", "not of a lake"),
        (None, "no lake"),
    ],
)
def test_what_is_no_lake_or_a_newer_one_is_refused(cli, tmp_path, mark, words):
    lake = tmp_path / "lake"
    lake.mkdir()
    if mark is not None:
        (lake / "lake.json").write_text(mark)
    verbs = [("table", lake), ("status", lake), ("sql", lake, "select 1")]
    verbs += [("resume", sweep_file(tmp_path), "--out", lake)]
    verbs += [("run", sweep_file(tmp_path), "--out", lake)] if mark is not None else []
    for verb in verbs:
        code, out, err = cli("sweep", *verb)
        assert (code, out) == (2, "")
        assert words in err
        assert str(lake) in err
    assert not (lake / "points").exists()


def test_a_lake_that_cannot_be_written_is_refused(cli, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = cli("sweep", "run", sweep_file(tmp_path), "--out", tmp_path / "file/lake")
    assert code == 2
    assert "cannot write" in err


def test_what_is_refused_leaves_nothing_behind(cli, tmp_path):
    small = sweep_file(tmp_path)
    wrong = sweep_file(tmp_path, SMALL.replace("[0.1, 0.2]", "[0.1, -3]"), "wrong.toml")
    for arguments in ((small, "--memory", "1MiB"), (wrong,), (small, "--dask", "nonsense")):
        assert cli("sweep", "run", *arguments, "--out", tmp_path / "out/lake").code == 2
        assert not (tmp_path / "out").exists()
    # A lake that is there has no sweep more.
    run_here(Sweep.from_toml(SMALL), tmp_path / "lake")
    before = sorted(path.name for path in (tmp_path / "lake").rglob("*"))
    larger = SMALL.replace('"small"', '"larger"').replace("0.2]", "0.3]")
    code, _, err = cli(
        "sweep", "run", sweep_file(tmp_path, larger), "--out", tmp_path / "lake", "--memory", "1MiB"
    )
    assert code == 2
    assert "4 of 4 points need more memory" in err
    assert sorted(path.name for path in (tmp_path / "lake").rglob("*")) == before


def test_a_lasting_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    store = open_store(tmp_path / "lake")
    seen = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: seen.append(("sync", os.fstat(file).st_size)) or sync(file))
    monkeypatch.setattr(os, "replace", lambda *names: seen.append(("rename", 0)) or replace(*names))
    store.write("points/a.json", b"whole")
    assert seen[:2] == [("sync", 5), ("rename", 0)]
    assert [what for what, _ in seen] == ["sync", "rename", "sync"]  # the folder's names last
    seen.clear()
    store.write("claims/a.json", b"whole", lasting=False)
    assert [what for what, _ in seen] == ["rename"]


def test_threads_may_write_one_file(tmp_path):
    store = open_store(tmp_path / "lake")
    contents = [bytes([index]) * 10_000 for index in range(8)]
    with ThreadPoolExecutor(8) as threads:
        for _ in range(20):
            list(threads.map(lambda content: store.write("sweeps/a.json", content), contents))
            assert store.read("sweeps/a.json") in contents
    assert store.names("sweeps") == ["a.json"]


def test_a_lake_at_a_url(sweep, undisturbed, tmp_path):
    pytest.importorskip("fsspec")
    url = f"memory://{tmp_path.name}"
    assert run_here(sweep, url).is_finished
    assert csv(url) == undisturbed
    assert run_here(sweep, url).run_now == 0
    assert sweep.status(url).is_finished


def test_a_url_that_is_none_is_refused(cli, tmp_path):
    pytest.importorskip("fsspec")
    for url, words in (("nonsense://there", "nonsense"), ("file:///tmp/x", "by its path")):
        code, _, err = cli("sweep", "run", sweep_file(tmp_path), "--out", url)
        assert code == 2
        assert words in err


def test_files_of_a_file_system_that_shows_halves_appear_whole(tmp_path, monkeypatch):
    pytest.importorskip("fsspec")
    from ninescope.sweep.store import UrlStore

    monkeypatch.setattr(UrlStore, "_WHOLE", ())
    store = UrlStore(f"memory://{tmp_path.name}")
    store.write("points/a.json", b"whole")
    assert store.names("points") == ["a.json"]
    monkeypatch.setattr(type(store._files), "mv", lambda *_, **__: (_ for _ in ()).throw(OSError("no room")))
    with pytest.raises(ninescope.ConfigError, match=r"cannot write .*no room"):
        store.write("points/a.json", b"half")
    assert store.read("points/a.json") == b"whole"
    assert store.names("points") == ["a.json"]
    assert not store.exists("points/b.json")


# ---- the command line ---------------------------------------------------------------------------------


def start(path: Path, out: Path, *options: object, **more: object) -> subprocess.Popen[bytes]:
    arguments = ["sweep", "run", path, "--out", out, "--jobs", "2", *options]
    return subprocess.Popen(
        [*command(), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        **more,
    )


def children(pid: int) -> list[int]:
    """Return the simulating processes of a sweep."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            arguments = stat.with_name("cmdline").read_bytes()
            if int(fields[1]) == pid and b"spawn_main" in arguments and fields[0] != "Z":
                found.append(int(stat.parent.name))
    return found


def points_in(lake: Path) -> int:
    return len(list((lake / "points").glob("*.json.gz")))


def wait_for_points(out: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while points_in(out) < count:
        assert time.monotonic() < deadline
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)


@pytest.fixture
def longer(tmp_path) -> tuple[Path, bytes]:
    """A sweep that can be disturbed, and its table when nobody does."""
    path = sweep_file(tmp_path, LONGER)
    run_here(Sweep.from_file(path), tmp_path / "undisturbed", workers=2)
    return path, csv(tmp_path / "undisturbed")


def test_a_worker_that_is_killed_in_mid_run_changes_nothing(longer, tmp_path):
    path, table = longer
    process = start(path, tmp_path / "lake")
    wait_for_points(tmp_path / "lake", 2, process)
    os.kill(children(process.pid)[0], signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert b"12 of 12 points done" in out
    assert csv(tmp_path / "lake") == table


def test_a_sweep_that_is_killed_at_any_moment_goes_on(longer, tmp_path):
    path, table = longer
    rng = random.Random(1)
    lake = tmp_path / "lake"
    kills, longest = 0, 1.0
    for _ in range(60):
        before = points_in(lake)
        process = start(path, lake)
        try:
            process.communicate(timeout=rng.uniform(0, longest))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            kills += 1
            kept = Lake.open(lake) if (lake / "lake.json").exists() else None
            # Whatever is there is whole, and nothing goes.
            assert kept is None or all(kept.get(point) is not None for point in kept.ids())
            assert points_in(lake) >= before
            if points_in(lake) == before:  # this machine takes longer to begin
                longest *= 1.5
            continue
        break
    assert process.returncode == 0
    assert kills >= 1
    assert csv(lake) == table
    again = start(path, lake)
    again.communicate(timeout=60)
    assert again.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_with_130_and_keeps_what_is_done(longer, tmp_path, number):
    path, table = longer
    process = start(path, tmp_path / "lake")
    wait_for_points(tmp_path / "lake", 1, process)
    workers = children(process.pid)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does
    else:
        process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"")
    assert b"points are kept" in err
    assert b"Traceback" not in err
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
    assert not list((tmp_path / "lake/claims").iterdir())
    assert 1 <= len(Lake.open(tmp_path / "lake").ids()) < 12
    assert run_here(Sweep.from_file(path), tmp_path / "lake", workers=2).run_now < 12
    assert csv(tmp_path / "lake") == table


def test_an_interrupt_at_a_terminal_shows_no_traceback(tmp_path):
    path = sweep_file(tmp_path, LONGER)
    arguments = ["sweep", "run", str(path), "--out", str(tmp_path / "lake"), "--jobs", "2"]
    outcome = interrupted(arguments, r"[1-9]\d*/12", signal.SIGINT, tmp_path / "stdout")
    assert outcome.code == 130
    assert "Traceback" not in outcome.shown
    assert "points are kept" in outcome.shown


def test_a_full_disk_is_one_clear_error_and_loses_nothing(longer, tmp_path):
    path, table = longer
    lake = tmp_path / "lake"

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))

    run_here(Sweep.from_toml(SMALL.replace("seeds = 2", "seeds = 1")), lake)
    before = {file: file.read_bytes() for file in (lake / "points").iterdir()}
    process = start(path, lake, preexec_fn=full)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, b"")
    lines = [line for line in err.decode().splitlines() if line.startswith("ninescope:")]
    assert len(lines) == 1
    assert "cannot write" in lines[0]
    assert "too large" in lines[0].lower()
    assert {file: file.read_bytes() for file in (lake / "points").iterdir()} == before
    assert not list((lake / "points").glob(".*"))
    assert run_here(Sweep.from_file(path), lake, workers=2).is_finished
    assert csv(lake, "small") == table


def test_a_scheduler_that_cannot_be_reached_is_bad_input(cli, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    from ninescope.pool import dask_cluster

    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 1)
    arguments = (
        "sweep",
        "run",
        sweep_file(tmp_path),
        "--out",
        tmp_path / "lake",
        "--dask",
        "tcp://127.0.0.1:9",
    )
    code, _, err = cli(*arguments)
    assert code == 2
    assert "tcp://127.0.0.1:9 cannot be reached" in err
    assert err.count("\n") == 1
    assert not (tmp_path / "lake").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--dask", "local", "--ray", "local"), "one of --dask and --ray"),
        (("--dask", "local", "--jobs", "2"), "--jobs"),
        (("--memory", "much"), "4GiB"),
        (("--snapshots", "x", "--no-snapshots"), "one of --snapshots and --no-snapshots"),
    ],
)
def test_options_that_contradict_each_other_are_refused(cli, tmp_path, options, words):
    code, _, err = cli("sweep", "run", sweep_file(tmp_path), "--out", tmp_path / "lake", *options)
    assert code == 2
    assert words in err


# ---- looking at results -------------------------------------------------------------------------------


@pytest.fixture
def lake(sweep, tmp_path) -> Path:
    run_here(sweep, tmp_path / "lake")
    return tmp_path / "lake"


def test_tables_in_every_form(cli, lake, tmp_path):
    import polars as pl

    code, out, err = cli("sweep", "table", lake)
    assert (code, err) == (0, "")
    assert "WAF total" in out
    assert out.count("\n") == 9
    columns = ("--columns", "waf_total,requests")
    assert (
        cli("sweep", "table", lake, *columns, "--csv").out.splitlines()[0].endswith("seed,waf_total,requests")
    )
    short = cli("sweep", "table", lake, "--columns", "waf,p99,read_mean,lifetime,seed", "--csv").out
    assert short.splitlines()[0].split(",")[3:] == [
        *["waf_total", "read_p99_ns", "write_p99_ns", "read_mean_ns", "lifetime_years"]
    ]
    rows = json.loads(cli("sweep", "table", lake, *columns, "--json").out)["rows"]
    assert rows[0] == {
        "ftl.over_provisioning": 0.1,
        "nand.read": "20us",
        "seed": 1,
        "waf_total": 1.0,
        "requests": 300,
    }
    assert cli("sweep", "table", lake, "--parquet", tmp_path / "t.parquet").code == 0
    assert pl.read_parquet(tmp_path / "t.parquet").height == 8
    code, _, err = cli("sweep", "table", lake, "--columns", "waf_totl")
    assert code == 2
    assert "did you mean 'waf_total'" in err
    code, _, err = cli("sweep", "table", lake, "--sweep", "smal")
    assert code == 2
    assert "did you mean 'small'" in err


def test_rows_without_results_are_there_and_said(cli, lake):
    points = sorted((lake / "points").iterdir())
    points[0].unlink()
    code, out, err = cli("sweep", "table", lake, "--csv")
    assert code == 0
    assert out.count("\n") == 9
    assert sum(",left," in line for line in out.splitlines()) == 1
    assert "1 of 8 rows have no result" in err


def test_sql_over_a_sweep_and_over_the_lake(cli, lake):
    query = 'select "nand.read", min(read_mean_ns) as least from sweep group by "nand.read" order by least'
    code, out, _ = cli("sweep", "sql", lake, query, "--csv")
    assert code == 0
    assert [line.partition(",")[0] for line in out.splitlines()] == ["nand.read", "20us", "60us"]
    assert json.loads(cli("sweep", "sql", lake, "select count(*) as n from points", "--json").out) == {
        "rows": [{"n": 8}]
    }
    assert cli("sweep", "sql", lake, "select count(*) as n from small", "--csv").out == "n\n8\n"
    code, _, err = cli("sweep", "sql", lake, "select * from nothing")
    assert code == 2
    assert "tables: points, small, sweep" in err
    for query, words in (
        ("select waf from sweep", "the column is 'waf_total'"),
        ("select waf_totl from sweep", "did you mean 'waf_total'"),
        ("drop table points", "that reads"),
        ("/* select */ delete from points", "that reads"),
        ("", "that reads"),
    ):
        code, out, err = cli("sweep", "sql", lake, query)
        assert (code, out) == (2, "")
        assert words in err
        assert err.count("\n") == 1
    for query in ("  (select 1 as a)", "with b as (select 1 as a) select * from b", "/* x */ SELECT 1 as a"):
        assert cli("sweep", "sql", lake, query, "--csv").out == "a\n1\n"


def test_plots_of_a_sweep(cli, lake, tmp_path):
    for form in ("png", "svg"):
        out = tmp_path / f"plot.{form}"
        code, _, err = cli("sweep", "plot", lake, "--x", "nand.read", "--y", "read_mean_ns", "--out", out)
        assert code == 0, err
        assert out.stat().st_size > 1000
    svg = (tmp_path / "plot.svg").read_text()
    cli("sweep", "plot", lake, "--x", "nand.read", "--y", "read_mean_ns", "--out", tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text() == svg
    cli("sweep", "plot", lake, "--x", "nand.read", "--y", "read_mean", "--out", tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text() == svg
    for options, words in (
        (("--x", "nand.raed", "--y", "waf_total"), "did you mean 'nand.read'"),
        (("--x", "nand.read", "--y", "wfa"), "did you mean 'waf'?"),
        (("--x", "nand.read", "--y", "p99"), "read_p99_ns or write_p99_ns"),
        (("--x", "nand.read", "--y", "suspensions", "--by", "sed"), "no axis"),
        (("--x", "nand.read", "--y", "hit_ratio"), "no result"),
    ):
        code, _, err = cli("sweep", "plot", lake, *options, "--out", tmp_path / "no.png")
        assert code == 2
        assert words in err
    assert not (tmp_path / "no.png").exists()


def test_a_figure_has_a_line_for_each_value_and_the_spread_of_the_seeds(sweep, lake):
    from ninescope.sweep.plot import figure
    from ninescope.sweep.record import Record

    frame = sweep.table(lake)
    [panel] = figure(frame, Record.of(sweep.plan()), "nand.read", "read_mean_ns").panels
    assert [line.label for line in panel.series] == ["ftl.over_provisioning 0.1", "ftl.over_provisioning 0.2"]
    assert list(panel.series[0].x) == [20, 60]
    means = frame["read_mean_ns"].to_list()
    assert panel.series[0].y[0] == pytest.approx(sum(means[:2]) / 2e3)
    assert panel.series[0].low[0] == min(means[:2]) / 1e3


def test_a_pipe_has_whole_rows_and_a_narrow_terminal_whole_cells(lake, monkeypatch, capsys):
    from rich.console import Console

    from ninescope.sweep import record
    from ninescope.sweep.text import print_frame, print_table

    opened = Lake.open(lake)
    found = record.Record.load(opened)
    frame = record.table(opened, found)
    piped = Console(force_terminal=False, width=20)
    print_frame(frame, piped)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 9
    for point, line in zip(frame["point"], lines[1:], strict=True):
        assert line.endswith(point)
        assert "…" not in line
    # Every column is as wide as what stands in it, so that all begin where their heads do.
    assert len({line.index("done") for line in lines[1:]}) == 1

    narrow = Console(force_terminal=True, width=60, color_system=None)
    two = frame.select("nand.read", "seed", "read_mean_ns", "point").head(2)
    print_frame(two, narrow)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "the same in all: nand.read = 20us"
    assert max(map(len, lines)) <= 60
    assert [line.split()[-1] for line in lines[-3:]] == ["point", *frame["point"].head(2)]
    ends = frame.select("nand.read", "seed", "read_mean_ns", "point")[[0, -1]]
    print_frame(ends, Console(force_terminal=True, width=48, color_system=None))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0].strip() for line in lines] == [
        *["nand.read", "seed", "read mean [us]", "point"],
        "",
        *["nand.read", "seed", "read mean [us]", "point"],
    ]
    assert lines[3].split()[-1] == frame["point"][0]

    print_table(frame, found, narrow, chosen=False)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines()[:-1])) <= 60
    shown = out.splitlines()[0]
    assert "iops" in shown.lower()
    assert out.splitlines()[-1].startswith("left out, for want of room: ")
    assert out.splitlines()[-1].endswith("lifetime_years")


def test_sweeps_from_python(tmp_path):
    sweep = ninescope.Sweep.from_toml(SMALL)
    assert len(sweep.plan().points) == 8
    with ThreadPoolExecutor(2) as executor:
        status = sweep.run(tmp_path / "lake", executor=executor)
    assert status.is_finished
    assert sweep.table(tmp_path / "lake").height == 8
    with (
        pytest.raises(ninescope.ConfigError, match="executor has its own"),
        ThreadPoolExecutor(2) as executor,
    ):
        sweep.run(tmp_path / "lake2", executor=executor, jobs=2)
