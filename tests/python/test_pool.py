"""Pools: processes that outlive each other, and end with whoever started them."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

import pool_tasks
from conftest import ROOT
from ninescope._native import ConfigError
from ninescope.lab import pool


@pytest.fixture
def two():
    with pool.local(2) as workers:
        yield workers


def test_tasks_are_done_side_by_side_and_answers_come_back(two):
    futures = [two.submit(pool_tasks.twice, number) for number in range(20)]
    assert [future.result() for future in futures] == [2 * number for number in range(20)]
    pids = {future.result() for future in [two.submit(pool_tasks.pid_after, 0.2) for _ in range(4)]}
    assert len(pids) == 2
    assert os.getpid() not in pids


def test_an_exception_crosses(two):
    with pytest.raises(ValueError, match="so it is"):
        two.submit(pool_tasks.fail, "so it is").result()


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ((pool_tasks.end, signal.SIGKILL), "SIGKILL"),
        ((pool_tasks.end, signal.SIGABRT), "SIGABRT"),
        ((pool_tasks.leave, 3), "exit code 3"),
    ],
)
def test_a_lost_worker_costs_its_task_and_no_other(two, task, words):
    before = [two.submit(pool_tasks.pid_after, 0.5)]
    lost = two.submit(*task)
    after = [two.submit(pool_tasks.twice, number) for number in range(5)]
    with pytest.raises(pool.WorkerLostError, match=words):
        lost.result()
    assert [future.result() for future in after] == [0, 2, 4, 6, 8]
    assert before[0].result() > 0
    assert isinstance(two.failure(lost.exception()), pool.WorkerLostError)


def test_a_worker_that_ends_while_it_is_idle_is_replaced():
    with pool.local(1) as workers:
        os.kill(workers.submit(pool_tasks.pid_after, 0).result(), signal.SIGKILL)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                assert workers.submit(pool_tasks.twice, 1).result() == 2
                break
            except pool.WorkerLostError:  # its end was not known yet
                continue


@pytest.mark.parametrize("is_given_up", [False, True])
def test_a_worker_that_ends_in_the_middle_of_its_answer_is_not_waited_for(is_given_up):
    workers = pool.local(1)
    lost = workers.submit(pool_tasks.end_while_answering)
    if is_given_up:
        time.sleep(0.5)
        workers.stop()
    with pytest.raises(pool.WorkerLostError):
        lost.result(timeout=60)
    workers.stop()


def test_what_cannot_be_pickled_is_said_and_the_worker_goes_on(two):
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError)):
        two.submit(lambda: 1).result()
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError, RuntimeError)):
        two.submit(pool_tasks.unsendable).result()
    with pytest.raises(RuntimeError, match="UnsendableError: so it is"):
        two.submit(pool_tasks.fail_unsendably, "so it is").result()
    assert two.submit(pool_tasks.twice, 3).result() == 6


def test_memory_is_limited_worker_by_worker():
    with pool.local(1, memory=64 << 20) as workers:
        assert workers.submit(pool_tasks.take, 16 << 20).result() == 16 << 20
        with pytest.raises(MemoryError):
            workers.submit(pool_tasks.take, 256 << 20).result()
        assert workers.submit(pool_tasks.twice, 2).result() == 4


def test_what_workers_leave_behind_goes_with_them(two):
    folder = Path(two.submit(pool_tasks.temporary).result())
    assert folder.is_dir()
    two.close()
    assert not folder.exists()


def test_the_pool_alone_decides_what_an_interrupt_means(two):
    assert two.submit(pool_tasks.blocked).result()


def test_the_first_worker_of_a_process_leaves_interrupts_to_it_as_well():
    script = f"""
import sys
sys.path[:0] = [{str(ROOT / "tests/python")!r}]
import pool_tasks
from ninescope.lab import pool

if __name__ == "__main__":
    with pool.local(1) as workers:
        print(workers.submit(pool_tasks.blocked).result())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_giving_up_ends_workers_at_once(tmp_path):
    workers = pool.local(2)
    futures = [workers.submit(pool_tasks.note_and_sleep, str(tmp_path)) for _ in range(3)]
    pids = noted(tmp_path, 2)
    began = time.monotonic()
    workers.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert time.monotonic() - began < 30
    assert not any(runs(pid) for pid in pids)
    assert futures[2].cancelled()


def test_workers_end_when_their_parent_is_killed(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import sys
            sys.path[:0] = [{str(ROOT / "tests/python")!r}]
            import pool_tasks
            from ninescope.lab import pool

            if __name__ == "__main__":
                with pool.local(2) as workers:
                    for _ in range(2):
                        workers.submit(pool_tasks.note_and_sleep, {str(tmp_path)!r})
            """
        )
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen([sys.executable, script], env=os.environ | {"TMPDIR": str(temporary)})
    pids = noted(tmp_path, 2)
    process.kill()
    process.wait()
    wait_for_the_end_of(pids)
    assert not list(temporary.glob("ninescope-*"))


def test_what_workers_print_is_not_mixed_with_results(capfd):
    with pool.local(1) as workers:
        workers.submit(pool_tasks.say, "no result").result()
    out, err = capfd.readouterr()
    assert out == ""
    assert "no result" in err


def test_any_executor_will_do():
    with ThreadPoolExecutor(2) as executor, pool.Pool(executor, 2) as workers:
        futures = [workers.submit(pool_tasks.twice, number) for number in range(3)]
        wait(futures)
        assert [future.result() for future in futures] == [0, 2, 4]
        assert workers.put(b"x") == b"x"


# ---- Dask ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    pytest.importorskip("distributed")
    with pool.dask("local:2") as workers:
        yield workers


def test_dask_runs_tasks_and_tells_what_went_wrong(cluster):
    assert cluster.workers == 2
    assert cluster.submit(pool_tasks.twice, 4).result() == 8
    with pytest.raises(ValueError, match="so it is"):
        cluster.submit(pool_tasks.fail, "so it is").result()
    assert cluster.submit(len, cluster.put(b"four")).result() == 4


def test_a_task_that_ends_dask_workers_is_lost(cluster):
    future = cluster.submit(pool_tasks.leave, 3)
    error = cluster.failure(future.exception(timeout=120))
    assert isinstance(error, pool.WorkerLostError)
    assert cluster.submit(pool_tasks.twice, 4).result(timeout=60) == 8


def test_a_cluster_that_was_started_here_leaves_interrupts_to_us(cluster):
    assert cluster.submit(pool_tasks.blocked).result()


def test_a_scheduler_without_ninescope_is_said(cluster):
    said = cluster.failure(RuntimeError("Error during deserialization of the task graph. This frequently"))
    assert isinstance(said, pool.PoolLostError)
    assert "scheduler lacks" in str(said)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", "tcp://nowhere.invalid:8786"])
def test_a_scheduler_that_cannot_be_reached_is_named(address, monkeypatch):
    pytest.importorskip("distributed")
    from ninescope.lab.pool import dask_cluster

    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 1)
    with pytest.raises(pool.PoolLostError, match=address) as caught:
        pool.dask(address)
    assert isinstance(caught.value, ConfigError)
    assert "\n" not in str(caught.value)


def test_what_answers_and_is_no_scheduler_is_said():
    pytest.importorskip("distributed")
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 4)

        speaker = threading.Thread(target=answer, daemon=True)
        speaker.start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(pool.PoolLostError, match=address) as caught:
            pool.dask(address)
        speaker.join(10)
    assert "\n" not in str(caught.value)


def noted(folder: Path, count: int) -> list[int]:
    """Wait until so many workers are at work."""
    deadline = time.monotonic() + 60
    while len(found := list(folder.glob("*.pid"))) < count:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return [int(path.stem) for path in found]


def runs(pid: int) -> bool:
    try:
        # A process that nobody waits for any more may stay in the table as a zombie.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for_the_end_of(pids: list[int]) -> None:
    deadline = time.monotonic() + 20
    while any(runs(pid) for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.05)
