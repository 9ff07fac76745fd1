"""The workers of a Dask cluster: one that is there already, or one that lives as long as this pool."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

from ninescope._native import ConfigError
from ninescope.lab.pool.base import Pool, PoolLostError, WorkerLostError, processors
from ninescope.lab.pool.interrupts import blocked_interrupt

CONNECT_SECONDS = 3
"""How long a connection to a scheduler may take: one that is there takes a few ms."""
ANSWER_SECONDS = 10
"""How long it may take to answer then."""
_LOCAL = re.compile(r"local(?::0*([1-9]\d*))?")


class DaskPool(Pool):
    """The workers of a Dask cluster."""

    def __init__(self, address: str) -> None:
        try:
            import distributed
        except ImportError:
            raise ConfigError(
                "--dask needs the package distributed: pip install 'ninescope[sweep]'"
            ) from None
        from distributed.comm import CommClosedError

        self._distributed = distributed
        self._closed = CommClosedError
        self._cluster: Any = None
        if address == "local" or address.startswith("local:"):
            match = _LOCAL.fullmatch(address)
            if match is None:
                raise ConfigError(f"--dask: {address!r}: a number of workers is wanted, as in local:2")
            with blocked_interrupt():
                self._cluster = distributed.LocalCluster(
                    n_workers=int(match[1] or processors()),
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=":0",  # any port: two clusters may live at once
                    silence_logs=40,
                )
        self._client = self._connected(address)
        self.shares_files = self._cluster is not None
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        if not workers:
            self.stop()
            raise PoolLostError(
                f"the Dask scheduler {address} has no workers: start some with `dask worker {address}`"
            )
        limits = [
            worker["memory_limit"] // worker["nthreads"] for worker in workers if worker["memory_limit"]
        ]
        super().__init__(
            self._client.get_executor(pure=False),
            sum(worker["nthreads"] for worker in workers),
            min(limits, default=None),
        )

    def _connected(self, address: str) -> Any:
        try:
            if self._cluster is None:
                # A client that comes to nothing may hang when it is thrown away: somebody has to be there.
                asyncio.run(_knock(address))
            return self._distributed.Client(
                self._cluster if self._cluster is not None else address,
                timeout=ANSWER_SECONDS,
                set_as_default=False,
            )
        except (OSError, ValueError, TimeoutError, ImportError) as error:
            if self._cluster is not None:
                self._cluster.close()
            said = str(error).partition("\n")[0] or type(error).__name__
            raise PoolLostError(f"--dask: the scheduler {address} cannot be reached: {said}") from error

    def on_each(self, function: Callable[..., Any], /, *arguments: Any) -> list[Any]:
        """Call a function on each worker, whatever else it is doing."""
        return list(self._client.run(function, *arguments).values())

    def put(self, content: bytes) -> Any:
        """Send content to a worker; others get it from there."""
        return self._client.scatter(content, hash=True)

    def failure(self, error: BaseException) -> BaseException:
        """Tell a worker that was lost too often from a cluster that is gone."""
        if isinstance(error, self._distributed.KilledWorker):
            times = error.allowed_failures + 1
            return WorkerLostError(f"its worker was lost {times} times", times)
        if isinstance(error, RuntimeError) and "deserialization of the task graph" in str(error):
            return PoolLostError(
                "the Dask scheduler lacks Python packages: it needs ninescope, as workers do"
            )
        if isinstance(error, CancelledError | self._closed):
            if self._client.status != "running":
                return PoolLostError("the Dask scheduler is gone")
            return WorkerLostError("what it needs was lost with a worker")
        return super().failure(error)

    def stop(self) -> None:
        """Cancel what is under way, and let go of the cluster."""
        with contextlib.suppress(Exception):
            self.executor.shutdown(wait=False, cancel_futures=True)
        self._let_go()

    def close(self) -> None:
        """Let go of the cluster."""
        self._let_go()

    def _let_go(self) -> None:
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)
        if self._cluster is not None:
            with contextlib.suppress(Exception):
                self._cluster.close(timeout=5)


async def _knock(address: str) -> None:
    """Connect to a scheduler, and leave again."""
    from distributed.comm import connect

    try:
        comm = await connect(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TimeoutError, ImportError):
        raise
    except Exception as error:  # what else speaks there is taken for lengths and messages of Dask's
        raise ValueError("what answers there is no Dask scheduler") from error
    await comm.close()
