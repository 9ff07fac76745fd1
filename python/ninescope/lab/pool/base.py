"""What a pool is: workers behind an executor, and what can happen to a task beside its own exceptions.

Nothing here knows how workers are started: `processes`, `dask_cluster` and `ray_cluster` each know one way.
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


def processors() -> int:
    """Count the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1
