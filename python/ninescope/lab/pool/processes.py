"""Processes of this machine: each task in one of them, and each of them replaced when it is lost.

A `ProcessPoolExecutor` will not do: there the loss of one process costs all tasks, and one that ends while
it sends an answer leaves the parent waiting for the rest. Here each process has a pipe of its own, whose
other end is open nowhere else: however the process ends, the parent reads the end of the pipe. Workers end
with the process that started them, however that ends.
"""

from __future__ import annotations

import collections
import multiprocessing
import multiprocessing.connection
import os
import pickle
import shutil
import signal
import sys
import tempfile
import threading
import traceback
import weakref
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

from ninescope.lab.pool.base import Pool, WorkerLostError
from ninescope.lab.pool.interrupts import blocked_interrupt

_END_SECONDS = 10
"""So long may a process take to end that has nothing to do any more."""


class LocalPool(Pool):
    """Processes of this machine."""

    executor: LocalExecutor

    def __init__(self, jobs: int, *, memory: int | None, begin: Callable[[], None] | None) -> None:
        super().__init__(LocalExecutor(jobs, memory=memory, begin=begin), jobs, memory)

    def stop(self) -> None:
        """End the processes, whatever they do."""
        self.executor.kill()

    def close(self) -> None:
        """Wait for what is under way, and end the processes."""
        self.executor.shutdown()


class _Task(NamedTuple):
    call: Callable[[], Any]
    future: Future[Any]


class _Worker(NamedTuple):
    process: BaseProcess
    pipe: Connection

    def answer(self, call: Callable[[], Any]) -> Any:
        """Let the worker make a call; raise what that raises, or a WorkerLostError when it ends meanwhile."""
        message = pickle.dumps(call)
        try:
            self.pipe.send_bytes(message)
            received = self.pipe.recv_bytes()
        except (EOFError, OSError):
            raise WorkerLostError(_ending(self.process)) from None
        has_failed, answer = pickle.loads(received)  # noqa: S301 - of a process of our own
        if has_failed:
            raise answer
        return answer

    def end(self) -> None:
        """End an idle worker: it reads the end of its pipe."""
        self.pipe.close()
        self.process.join(_END_SECONDS)
        self.process.kill()


class LocalExecutor(Executor):
    """An executor of processes that outlives each of them."""

    def __init__(
        self, jobs: int, *, memory: int | None = None, begin: Callable[[], None] | None = None
    ) -> None:
        self._jobs = jobs
        # Workers that are ended at once leave their temporary files behind: here they go together.
        self._folder = tempfile.mkdtemp(prefix="ninescope-workers-")
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._begin = partial(_begin_worker, self._folder, memory, begin)
        self._change = threading.Condition()
        self._waiting: collections.deque[_Task] = collections.deque()
        self._threads: list[threading.Thread] = []
        self._resting = 0
        """Threads that wait for a task."""
        self._processes: set[BaseProcess] = set()
        self._is_closed = False
        self._is_killed = False

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future[Any]:
        """Queue a call: it starts when a worker is free."""
        task = _Task(partial(function, *arguments, **keywords), Future())
        with self._change:
            if self._is_closed:
                raise RuntimeError("the pool takes no more tasks")
            self._waiting.append(task)
            if len(self._waiting) > self._resting and len(self._threads) < self._jobs:
                self._threads.append(threading.Thread(target=self._feed, daemon=True))
                self._threads[-1].start()
            self._change.notify()
        return task.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more tasks; wait for those there are, or cancel those that have not begun."""
        with self._change:
            self._is_closed = True
            if cancel_futures:
                self._forget_waiting()
            self._change.notify_all()
        if wait:
            self._join()

    def kill(self) -> None:
        """End all processes now; what they had is lost."""
        with self._change:
            self._is_closed = self._is_killed = True
            self._forget_waiting()
            for process in self._processes:
                process.terminate()
            self._change.notify_all()
        self._join()

    def _join(self) -> None:
        for thread in self._threads:
            thread.join()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _forget_waiting(self) -> None:
        for task in self._waiting:
            task.future.cancel()
        self._waiting.clear()

    # ---- one thread per worker ------------------------------------------------------------------------

    def _feed(self) -> None:
        """Give tasks to a worker, one after the other; another one takes its place when it is lost."""
        worker: _Worker | None = None
        while (task := self._next()) is not None:
            if not task.future.set_running_or_notify_cancel():
                continue
            try:
                if worker is not None and not _lives(worker):
                    self._put_away(worker)
                    worker = None
                worker = worker or self._started()
                answer = worker.answer(task.call)
            except BaseException as error:
                task.future.set_exception(error)
            else:
                task.future.set_result(answer)
        if worker is not None:
            self._put_away(worker)

    def _next(self) -> _Task | None:
        """Wait for a task; None where none will come."""
        with self._change:
            self._resting += 1
            while not (self._waiting or self._is_closed):
                self._change.wait()
            self._resting -= 1
            return self._waiting.popleft() if self._waiting else None

    def _started(self) -> _Worker:
        context = multiprocessing.get_context("spawn")
        with self._change:
            if self._is_killed:
                raise WorkerLostError("it was given up")
            ours, theirs = context.Pipe()
            with theirs:
                process = context.Process(target=_work, args=(theirs, self._begin), daemon=True)
                with blocked_interrupt():
                    process.start()
            self._processes.add(process)
        return _Worker(process, ours)

    def _put_away(self, worker: _Worker) -> None:
        worker.end()
        with self._change:
            self._processes.discard(worker.process)


def _lives(worker: _Worker) -> bool:
    """Say whether an idle worker is still there: its pipe says nothing, not even that it is at its end."""
    return not worker.pipe.poll() and worker.process.is_alive()


def _ending(process: BaseProcess) -> str:
    """Say how a worker ended."""
    process.join(_END_SECONDS)
    code = process.exitcode
    if code is None or code >= 0:
        return f"its worker process ended with exit code {code}"
    hint = {
        signal.SIGKILL: " (the system kills what takes too much memory)",
        signal.SIGABRT: " (out of memory?)",
    }
    return (
        f"its worker process was ended by {signal.Signals(-code).name}{hint.get(signal.Signals(-code), '')}"
    )


# ---- in the worker ------------------------------------------------------------------------------------


def _work(pipe: Connection, begin: Callable[[], None]) -> None:
    """Make calls until the pipe ends."""
    begin()
    while True:
        try:
            message = pipe.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            answer = _answer(message)
        except MemoryError as error:
            answer = pickle.dumps((True, MemoryError(*error.args)))
        pipe.send_bytes(answer)


def _answer(message: bytes) -> bytes:
    """Make a call, and pickle what it comes to: whether it raised something, and what."""
    try:
        return pickle.dumps((False, pickle.loads(message)()))  # noqa: S301 - of our parent
    except BaseException as error:
        try:
            return _pickled(error)
        except Exception:  # it cannot be pickled: its words can
            return pickle.dumps((True, RuntimeError(traceback.format_exc())))


def _pickled(error: BaseException) -> bytes:
    """Pickle an exception that can be unpickled as well."""
    pickled = pickle.dumps((True, error))
    pickle.loads(pickled)  # noqa: S301 - just made
    return pickled


def _begin_worker(folder: str, memory: int | None, begin: Callable[[], None] | None) -> None:
    # What a task prints is no result: standard output belongs to the parent's.
    os.dup2(2, 1)
    tempfile.tempdir = folder
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel, folder), daemon=True).start()
    if begin is not None:
        begin()
    if memory is not None:
        _limit_memory(memory)


def _end_with(sentinel: Any, folder: str) -> None:
    """Wait for the end of the parent, and end: what it would have tidied up is tidied up here."""
    multiprocessing.connection.wait([sentinel])
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _limit_memory(more: int) -> None:
    """Let this process take so many bytes more than it has now."""
    if sys.platform != "linux":
        return
    import resource

    with open("/proc/self/status", encoding="ascii") as status:
        [now] = [int(line.split()[1]) * 1024 for line in status if line.startswith("VmData:")]
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = now + more
    resource.setrlimit(
        resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
    )
