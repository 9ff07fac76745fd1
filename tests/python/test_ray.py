"""Sweeps on Ray; `make test-ray` installs it. Without it they are skipped."""

from __future__ import annotations

import contextlib
import os
import signal

import pytest

import pool_tasks
from ninescope.lab import pool
from ninescope.lab.sweep.sweep import Sweep
from sweep_samples import LONGER, csv, run_here, sweep_file

pytest.importorskip("ray", reason="Ray is not installed: make test-ray")
pytestmark = pytest.mark.filterwarnings("default")  # Ray warns of itself


@pytest.fixture(scope="module")
def cluster():
    with pool.ray() as workers:
        yield workers


def test_ray_runs_tasks_and_tells_what_went_wrong(cluster):
    assert cluster.submit(pool_tasks.twice, 4).result() == 8
    with pytest.raises(ValueError, match="so it is"):
        cluster.submit(pool_tasks.fail, "so it is").result()
    assert cluster.submit(len, cluster.put(b"four")).result() == 4


def test_a_task_that_ends_its_worker_is_lost_alone(cluster):
    lost, other = cluster.submit(pool_tasks.leave, 3), cluster.submit(pool_tasks.twice, 4)
    assert isinstance(cluster.failure(lost.exception(timeout=120)), pool.WorkerLostError)
    assert other.result(timeout=60) == 8


def test_ray_comes_to_the_same_table(cluster, tmp_path):
    sweep = Sweep.from_file(sweep_file(tmp_path))
    run_here(sweep, tmp_path / "undisturbed")
    assert sweep.run(tmp_path / "lake", executor=cluster).is_finished
    assert csv(tmp_path / "lake") == csv(tmp_path / "undisturbed")


@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9"])
def test_a_cluster_that_cannot_be_reached_is_named(address):
    with pytest.raises(pool.PoolLostError, match=f"{address} cannot be reached"):
        pool.ray(address)


def test_a_worker_that_ray_loses_in_mid_run_changes_nothing(cluster, tmp_path):
    sweep = Sweep.from_file(sweep_file(tmp_path, LONGER))
    run_here(sweep, tmp_path / "undisturbed", workers=2)
    pids = sorted({cluster.submit(pool_tasks.pid_after, 0.3).result() for _ in range(2)})
    killed = []

    def killing(step) -> None:
        if not killed:
            killed.append(pids[0])
            with contextlib.suppress(ProcessLookupError):
                os.kill(pids[0], signal.SIGKILL)

    assert sweep.run(tmp_path / "lake", executor=cluster, on_step=killing).is_finished
    assert killed
    assert csv(tmp_path / "lake") == csv(tmp_path / "undisturbed")
