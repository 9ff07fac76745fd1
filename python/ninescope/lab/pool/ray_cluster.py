"""The workers of a Ray cluster."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from typing import Any

from ninescope._native import ConfigError
from ninescope.lab.pool.base import Pool, PoolLostError, WorkerLostError

CONNECT_SECONDS = 10
"""How long a cluster may take to answer."""
_HEAD = re.compile(r"(?:ray://)?(?P<host>[^:/]+):(?P<port>\d+)")


class RayPool(Pool):
    """The workers of a Ray cluster; without an address one is started here and ended with the pool."""

    executor: RayExecutor

    def __init__(self, address: str | None) -> None:
        try:
            import ray
        except ImportError:
            raise ConfigError("--ray needs the package ray: pip install 'ninescope[ray]'") from None
        self._ray = ray
        try:
            if address is not None:
                _knock(address)
            with _importing_as_here() if address is None else contextlib.nullcontext():
                ray.init(
                    address=address, log_to_driver=False, include_dashboard=False, configure_logging=False
                )
        except (OSError, RuntimeError, ValueError) as error:
            said = str(error).partition("\n")[0]
            raise PoolLostError(f"--ray: the cluster {address} cannot be reached: {said}") from error
        self.shares_files = address is None
        super().__init__(RayExecutor(ray), max(1, int(ray.cluster_resources().get("CPU", 1))))

    def put(self, content: bytes) -> Any:
        """Put content into Ray's object store."""
        return self._ray.put(content)

    def failure(self, error: BaseException) -> BaseException:
        """Tell the loss of a worker from that of the cluster."""
        errors = self._ray.exceptions
        if isinstance(error, errors.WorkerCrashedError | errors.OutOfMemoryError | errors.NodeDiedError):
            return WorkerLostError(f"its worker was lost: {str(error).partition(chr(10))[0]}")
        if isinstance(error, errors.ObjectLostError):
            return WorkerLostError("what it needs was lost with a worker")
        if isinstance(error, RuntimeError) and "failed to import on the worker" in str(error):
            return ImportError(str(error).strip().splitlines()[-1])
        if isinstance(error, errors.RaySystemError):
            return PoolLostError(f"the Ray cluster is gone: {error}")
        return super().failure(error)

    def stop(self) -> None:
        """Cancel what is under way, and let go of the cluster."""
        self.executor.shutdown(wait=False, cancel_futures=True)
        self._ray.shutdown()

    def close(self) -> None:
        """Let go of the cluster."""
        self._ray.shutdown()


class RayExecutor(Executor):
    """Ray's tasks behind the interface of the standard library."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        # What is lost is tried again by whoever gave it.
        self._call = ray.remote(num_cpus=1, max_retries=0)(_call)
        self._under_way: dict[Future[Any], Any] = {}
        self._lock = threading.Lock()

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future[Any]:
        """Start a call on one processor of the cluster."""
        reference = self._call.remote(function, *arguments, **keywords)
        future: Future[Any] = reference.future()
        with self._lock:
            self._under_way[future] = reference
        future.add_done_callback(self._forget)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for what is under way, or give it up."""
        with self._lock:
            references = list(self._under_way.values())
        for reference in references if cancel_futures else ():
            self._ray.cancel(reference, force=True)
        if wait and references:
            self._ray.wait(references, num_returns=len(references))

    def _forget(self, future: Future[Any]) -> None:
        with self._lock:
            self._under_way.pop(future, None)


def _knock(address: str) -> None:
    """Connect to a cluster's head, and leave again: Ray itself tries for minutes."""
    if match := _HEAD.fullmatch(address):
        socket.create_connection((match["host"], int(match["port"])), CONNECT_SECONDS).close()


def _call(function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    return function(*arguments, **keywords)


@contextlib.contextmanager
def _importing_as_here() -> Iterator[None]:
    """Let processes that start meanwhile find modules where this one does."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
