"""Replications: the same drive and workload with several seeds.

A seed names all random streams of a run: what a job asks for, and what the drive draws. Two designs that are
run with the same seeds meet the same chance (common random numbers), and are compared pair by pair
(`ninescope.lab.compare`): what both owe to the same chance cancels. The requests of a trace are the same with
every seed, unless there is a workload for each.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean

if TYPE_CHECKING:
    from ninescope.result import Result
    from ninescope.simulation.drive import Drive
    from ninescope.simulation.workload import Workload

_SEEDS_END = 1 << 64


def replicate(
    drive: Drive,
    workload: Workload | Callable[[int], Workload],
    *,
    seeds: int | Iterable[int],
    executor: Executor | None = None,
    **options: Any,
) -> list[Result]:
    """Run a workload on a drive once for each seed; return the results in the order of the seeds.

    `workload` may be what makes the workload of a seed: `lambda seed: Workload.profile("prxy_0", seed=seed)`.
    `seeds` are the seeds themselves, or how many: 5 stands for 1 to 5. An `executor` of `concurrent.futures`
    runs them side by side, without bars; results do not depend on it. `options` are those of `Drive.run`, but
    for `seed`.
    """
    _refuse_unknown(options, drive.run)
    chosen = _chosen(seeds)
    workload_of = workload if callable(workload) else lambda seed: workload
    if executor is None:
        return [_run(drive, workload_of(seed), seed, options) for seed in chosen]
    workloads = [workload_of(seed) for seed in chosen]  # drawn ones live in files as long as they are held
    options = {**options, "progress": False}
    futures = [
        executor.submit(_run, drive, each, seed, options)
        for each, seed in zip(workloads, chosen, strict=True)
    ]
    try:
        return [future.result() for future in futures]
    finally:
        for future in futures:  # after an error nobody waits for the others
            future.cancel()


def _run(drive: Drive, workload: Workload, seed: int, options: dict[str, Any]) -> Result:
    """Do one of the runs; stands by itself so that it can be sent to another process."""
    return drive.run(workload, seed=seed, **options)


def _refuse_unknown(options: dict[str, Any], run: Callable[..., Result]) -> None:
    """Refuse options that a run does not have, before anything is run."""
    known = [name for name in inspect.signature(run).parameters if name not in ("workload", "seed")]
    for name in options:
        if name not in known:
            raise ConfigError(f"replicate: {name!r} is no option of a run{did_you_mean(name, known)}")


def _chosen(seeds: int | Iterable[int]) -> list[int]:
    chosen = list(range(1, seeds + 1)) if isinstance(seeds, int) else list(seeds)
    if not chosen:
        raise ConfigError("seeds: one or more are needed, or how many")
    for index, seed in enumerate(chosen):
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < _SEEDS_END:
            raise ConfigError(f"seeds: {seed!r} is no whole number from 0 to 2^64 - 1")
        if seed in chosen[:index]:
            raise ConfigError(f"seeds: {seed} is there twice, and would be the same run again")
    return chosen
