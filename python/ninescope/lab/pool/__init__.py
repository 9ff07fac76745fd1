"""Pools: who runs tasks. Anything that is a `concurrent.futures.Executor` will do.

    with pool.local(jobs=4) as workers:                 # processes of this machine
    with pool.dask("tcp://10.0.0.1:8786") as workers:   # a cluster that is there
    with pool.dask("local:3") as workers:               # one that lives as long as the block
    with pool.ray() as workers:
    with pool.Pool(any_executor, workers=8) as workers:
        future = workers.submit(function, argument)

A pool knows nothing of what it runs: neither simulations nor results. When its block is left by an exception,
what is under way is given up; when it is left normally, it is done to its end.

Two things can happen to a task beside its own exceptions: `WorkerLostError`, when whoever ran it ended before
it did (it may be tried again), and `PoolLostError`, when nobody is left to try.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from types import TracebackType
from typing import Any

from ninescope._native import ConfigError


class WorkerLostError(RuntimeError):
    """A worker ended before its task did; the message says how."""

    def __init__(self, message: str, times: int = 1) -> None:
        super().__init__(message)
        self.times = times
        """How many workers the task has cost: some pools try again by themselves."""


class PoolLostError(ConfigError):
    """There are no workers any more, or none can be reached."""


class Pool:
    """Workers behind an executor. The base class serves any executor; others know how theirs fail."""

    shares_files = True
    """Whether workers see the files of this process under their names. Where not, content is sent along."""

    def __init__(self, executor: Executor, workers: int, memory: int | None = None) -> None:
        self.executor = executor
        self.workers = workers
        """How many tasks are run at a time."""
        self.memory = memory
        """What a task may take [B], where that is limited."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Start a call of a function that workers can import, with arguments that can be pickled."""
        return self.executor.submit(function, *arguments)

    def on_each(self, function: Callable[..., Any], /, *arguments: Any) -> list[Any]:
        """Call a function on each worker, as far as the executor spreads what it is given."""
        futures = [self.submit(function, *arguments) for _ in range(self.workers)]
        return [future.result() for future in futures]

    def put(self, content: bytes) -> Any:
        """Make something large known to the workers; given as an argument, it arrives as the same bytes."""
        return content

    def failure(self, error: BaseException) -> BaseException:
        """Say what an exception of a future means: one of the two above, or what the task itself raised."""
        if isinstance(error, BrokenExecutor | CancelledError):
            return PoolLostError(f"the workers are gone: {error or type(error).__name__}")
        return error

    def stop(self) -> None:
        """Give up what is under way, and come back soon."""
        self.executor.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Wait for what is under way. An executor that somebody else made is left as it is."""

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self.stop()


def local(
    jobs: int | None = None,
    *,
    memory: int | None = None,
    begin: Callable[[], None] | None = None,
) -> Pool:
    """Return processes of this machine, by default one per processor.

    Each takes no more than `memory` bytes beyond what Python itself needs, and calls `begin` when it starts.
    They end with this process, however it ends.
    """
    from ninescope.lab.pool.processes import LocalPool

    return LocalPool(jobs or processors(), memory=memory, begin=begin)


def dask(address: str) -> Pool:
    """Return the workers of a Dask scheduler (`tcp://host:8786`), or of processes here (`local:N`)."""
    from ninescope.lab.pool.dask_cluster import DaskPool

    return DaskPool(address)


def ray(address: str | None = None) -> Pool:
    """Return the workers of a Ray cluster, by default of one that is started here."""
    from ninescope.lab.pool.ray_cluster import RayPool

    return RayPool(address)


def processors() -> int:
    """Count the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1
