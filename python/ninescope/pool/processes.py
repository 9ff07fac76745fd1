"""Processes of this machine: each task in one of them, and each of them replaced when it is lost.

Every worker is a `ProcessPoolExecutor` of one process: when a process ends, exactly the task that it had is
lost, and the others go on. Workers end with the process that started them, however it ends.
"""

from __future__ import annotations

import collections
import contextlib
import multiprocessing
import multiprocessing.connection
import os
import shutil
import signal
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

from ninescope.pool import Pool, WorkerLostError


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
    pool: ProcessPoolExecutor
    process: BaseProcess | None


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
        self._lock = threading.RLock()
        self._waiting: collections.deque[_Task] = collections.deque()
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._is_closed = False
        self._is_done_with_one = threading.Condition(self._lock)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future[Any]:
        """Queue a call: it starts when a worker is free."""
        task = _Task(partial(function, *arguments, **keywords), Future())
        with self._lock:
            if self._is_closed:
                raise RuntimeError("the pool takes no more tasks")
            self._waiting.append(task)
        self._dispatch()
        return task.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more tasks; wait for those there are, or cancel those that have not begun."""
        with self._lock:
            self._is_closed = True
            if cancel_futures:
                self._forget_waiting()
            while wait and (self._waiting or self._busy):
                self._is_done_with_one.wait()
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.pool.shutdown(wait=wait)
        if wait:
            shutil.rmtree(self._folder, ignore_errors=True)

    def kill(self) -> None:
        """End all processes now; what they had is lost."""
        with self._lock:
            self._is_closed = True
            self._forget_waiting()
            workers = [*self._idle, *self._busy]
            self._idle = []
        for worker in workers:
            if worker.process is not None:
                worker.process.terminate()
        for worker in workers:
            worker.pool.shutdown(wait=True, cancel_futures=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _forget_waiting(self) -> None:
        for task in self._waiting:
            task.future.cancel()
        self._waiting.clear()

    def _dispatch(self) -> None:
        """Give waiting tasks to workers that are idle, or may be started."""
        while True:
            with self._lock:
                if not self._waiting or (not self._idle and len(self._busy) >= self._jobs):
                    return
                task = self._waiting.popleft()
                if not (task.future.running() or task.future.set_running_or_notify_cancel()):
                    continue
                try:
                    worker = self._idle.pop() if self._idle else self._start()
                except OSError as error:  # no more processes, or no memory for one
                    task.future.set_exception(error)
                    continue
                self._busy.add(worker)
            try:
                inner = worker.pool.submit(task.call)
            except BrokenProcessPool:  # it ended while it had nothing to do: the task is not to blame
                with self._lock:
                    self._busy.discard(worker)
                    self._waiting.appendleft(task)
                continue
            inner.add_done_callback(partial(self._done, worker, task))

    def _start(self) -> _Worker:
        pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), self._begin)
        before = set(multiprocessing.active_children())
        # Ctrl-C reaches every process of the terminal's group. It is blocked while a worker starts, which
        # inherits that: the parent alone decides what it means.
        with _blocked_interrupt():
            pool.submit(_nothing)  # the process starts with its first task
        started = set(multiprocessing.active_children()) - before
        return _Worker(pool, next(iter(started), None))

    def _done(self, worker: _Worker, task: _Task, inner: Future[Any]) -> None:
        """Feed the worker, then tell whoever waits for the task; called in a thread of the worker's pool."""
        error = WorkerLostError("it was given up") if inner.cancelled() else inner.exception()
        if isinstance(error, BrokenProcessPool):
            error = WorkerLostError(_ending(worker.process))
        with self._lock:
            self._busy.discard(worker)
            if not isinstance(error, WorkerLostError):
                self._idle.append(worker)
        self._dispatch()
        if error is None:
            task.future.set_result(inner.result())
        else:
            task.future.set_exception(error)
        with self._lock:
            self._is_done_with_one.notify_all()


def _ending(process: BaseProcess | None) -> str:
    """Say how a worker ended."""
    if process is None:
        return "its worker process ended"
    process.join(1)
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


@contextlib.contextmanager
def _blocked_interrupt() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# ---- in the worker ------------------------------------------------------------------------------------


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


def _nothing() -> None:
    pass


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
