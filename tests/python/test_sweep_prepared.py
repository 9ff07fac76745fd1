"""Prepared drives of a sweep: one for all points that share it, and nothing lost where there is none."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from ninescope.lab import pool
from ninescope.lab.sweep import worker
from ninescope.lab.sweep.sweep import Sweep
from sweep_samples import SMALL, csv, in_form, run_here

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
    from ninescope.simulation.run import Run

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
    kept = sorted((tmp_path / "kept").iterdir())
    for path in kept:
        path.write_bytes(path.read_bytes()[:-100])
    told: list[str] = []
    third = run_here(sweep, tmp_path / "third", snapshots=tmp_path / "kept", on_remark=told.append)
    assert third.is_finished
    assert len(told) == len(kept) == 2
    for path, words in zip(kept, sorted(told), strict=True):
        assert words.startswith(str(path))
        assert words.endswith("the drive was prepared anew and the file replaced")
    assert run_here(
        sweep, tmp_path / "fourth", snapshots=tmp_path / "kept", on_remark=told.append
    ).is_finished
    assert len(told) == 2
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
        told: list[str] = []
        workers = Breaking(executor, 2)
        assert sweep.run(tmp_path / "lake", executor=workers, on_remark=told.append).is_finished
    assert set(told) == {"a drive is begun again: it was lost"}
    assert csv(tmp_path / "lake") == undisturbed
