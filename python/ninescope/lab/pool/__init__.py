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

from collections.abc import Callable

from ninescope.lab.pool.base import Pool, PoolLostError, WorkerLostError, processors

__all__ = ["Pool", "PoolLostError", "WorkerLostError", "dask", "local", "processors", "ray"]


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
