"""Sweeps on a Dask cluster of processes: workers and schedulers that are lost."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import ninescope
from conftest import command
from ninescope.lab import pool
from ninescope.lab.sweep.sweep import Sweep
from sweep_samples import LONGER, csv, run_here, sweep_file
from test_papers import change, experiments

__all__ = ["experiments"]

pytest.importorskip("distributed", reason="Dask is not installed: requirements/sweep.lock")


class Cluster:
    """A scheduler and workers, each a process, without anybody who would start them again."""

    def __init__(self, folder: Path, workers: int) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self.folder = folder
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", self.address.rpartition(":")[2], "--no-dashboard"
        )
        self.workers = [self.worker(number) for number in range(workers)]

    def worker(self, number: int) -> subprocess.Popen[bytes]:
        return self._start(
            "worker", self.address, "--no-nanny", "--nthreads", "1", "--no-dashboard", "--name", f"w{number}"
        )

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(Path(ninescope.__file__).parents[1])},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def end(self) -> None:
        for process in (self.scheduler, *self.workers):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path) -> Iterator[Cluster]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    cluster = Cluster(folder, 3)
    try:
        yield cluster
    finally:
        cluster.end()


@contextlib.contextmanager
def connected(cluster: Cluster, workers: int) -> Iterator[pool.Pool]:
    """Connect when so many workers are there."""
    deadline = time.monotonic() + 60
    while True:
        assert time.monotonic() < deadline
        try:
            found = pool.dask(cluster.address)
        except pool.PoolLostError:  # no scheduler, or no workers yet
            continue
        if found.workers == workers:
            break
        found.stop()
    with found:
        yield found


def test_a_cluster_of_three_processes_survives_the_loss_of_one(cluster, tmp_path):
    sweep = Sweep.from_file(sweep_file(tmp_path, LONGER))
    run_here(sweep, tmp_path / "undisturbed", workers=2)
    steps = []

    def killing(step) -> None:
        steps.append(step)
        if len(steps) == 2:
            os.kill(cluster.workers[1].pid, signal.SIGKILL)

    with connected(cluster, 3) as workers:
        status = sweep.run(tmp_path / "lake", executor=workers, on_step=killing)
    assert cluster.workers[1].wait(timeout=10) == -signal.SIGKILL
    assert status.is_finished
    assert (status.run_now, len(steps)) == (12, 12)
    assert not any(step.error for step in steps)
    assert csv(tmp_path / "lake") == csv(tmp_path / "undisturbed")


def test_a_scheduler_that_is_lost_is_one_error_and_loses_nothing(cluster, tmp_path):
    path = sweep_file(tmp_path, LONGER)
    lake = tmp_path / "lake"
    with connected(cluster, 3):
        pass
    arguments = [*command(), "sweep", "run", str(path), "--out", str(lake), "--dask", cluster.address]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    timer = threading.Thread(target=kill_when_points_are_there, args=(cluster.scheduler, lake))
    timer.start()
    out, err = process.communicate(timeout=120)
    timer.join()
    assert (process.returncode, out) == (2, b""), err
    [line] = [line for line in err.decode().splitlines() if line.startswith("ninescope:")]
    assert "scheduler" in line
    done = len(list((lake / "points").iterdir()))
    sweep = Sweep.from_file(path)
    status = run_here(sweep, lake, workers=2)
    assert status.is_finished
    assert status.run_now <= 12 - done
    run_here(sweep, tmp_path / "undisturbed", workers=2)
    assert csv(lake) == csv(tmp_path / "undisturbed")


def kill_when_points_are_there(process: subprocess.Popen[bytes], lake: Path) -> None:
    deadline = time.monotonic() + 100
    while not list((lake / "points").glob("*.json.gz")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()


def test_a_paper_run_by_a_cluster_comes_to_the_same(cli, cluster, experiments):
    arguments = ("papers", "run", "900", "--json", "--experiments", experiments)
    with connected(cluster, 3):
        pass
    here = json.loads(cli(*arguments).out)
    there = json.loads(cli(*arguments, "--dask", cluster.address).out)
    assert there == here
    # Their workers refuse what no experiment reads as well.
    reads = (
        "def simulate(point, settings):\n    open(os.path.join(os.path.dirname(__file__), 'claims.toml'))\n"
    )
    change(experiments, "def simulate(point, settings):\n", reads, "experiment.py")
    code, _, err = cli(*arguments, "--dask", cluster.address)
    assert code == 1
    assert "an experiment does not read claims.toml" in err
