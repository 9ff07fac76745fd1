"""A Dask cluster for a while: processes of this host, or each in a network namespace in place of a host."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

PORT = 8786
_NAME = "ninescope"
_NET = "10.213.7"
_SECONDS = 60


class ImpossibleError(Exception):
    """There can be no such cluster here; the message says why."""


@contextlib.contextmanager
def processes(folder: Path, workers: int) -> Iterator[str]:
    """Start a scheduler and workers as processes of this host; give the scheduler's address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with _cluster(folder, [[]] * (workers + 1), "127.0.0.1", port) as address:
        yield address


@contextlib.contextmanager
def namespaces(folder: Path, hidden: Path, workers: int) -> Iterator[tuple[str, list[str]]]:
    """Start a scheduler and workers, each on a host of its own, joined by a switch on the scheduler's.

    The hosts of the workers do not see the folder `hidden`. Gives the scheduler's address, and the words
    before a command that let it run on the scheduler's host.
    """
    names = [f"{_NAME}-{number}" for number in range(workers + 1)]
    if os.geteuid() != 0 or shutil.which("ip") is None:
        raise ImpossibleError("network namespaces need root and iproute2")
    try:
        _join(names)
        inside = [["ip", "netns", "exec", name] for name in names]
        # A namespace's command has mounts of its own: what it covers is covered for nobody else.
        cover = ["sh", "-c", f'mount -t tmpfs tmpfs "{hidden}" && exec "$@"', "sh"]
        before = [inside[0], *([*one, *cover] for one in inside[1:])]
        with _cluster(folder, before, f"{_NET}.1", PORT) as address:
            yield address, inside[0]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL, check=False)


def _join(names: Sequence[str]) -> None:
    """Make hosts, and a switch on the first that joins them."""
    for name in names:
        _ip("netns", "add", name)
        _ip("-n", name, "link", "set", "lo", "up")
    first = names[0]
    _ip("-n", first, "link", "add", "switch", "type", "bridge")
    _ip("-n", first, "addr", "add", f"{_NET}.1/24", "dev", "switch")
    _ip("-n", first, "link", "set", "switch", "up")
    for number, name in enumerate(names[1:], 2):
        port = f"port{number}"
        _ip("-n", first, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name)
        _ip("-n", first, "link", "set", port, "master", "switch", "up")
        _ip("-n", name, "addr", "add", f"{_NET}.{number}/24", "dev", "eth0")
        _ip("-n", name, "link", "set", "eth0", "up")


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ImpossibleError(f"ip {' '.join(words)}: {done.stderr.strip().partition(chr(10))[0]}")


@contextlib.contextmanager
def _cluster(folder: Path, before: Sequence[Sequence[str]], host: str, port: int) -> Iterator[str]:
    """Start a scheduler, and workers with what stands before their commands."""
    address = f"tcp://{host}:{port}"
    started: list[subprocess.Popen[bytes]] = []

    def start(prefix: Sequence[str], *words: str) -> None:
        with (folder / f"{words[0]}-{len(started)}.log").open("wb") as log:
            command = [*prefix, sys.executable, "-m", "dask", *words, "--no-dashboard"]
            started.append(subprocess.Popen(command, cwd=folder, stdout=log, stderr=log))

    try:
        start(before[0], "scheduler", "--host", host, "--port", str(port))
        for number, prefix in enumerate(before[1:]):
            start(prefix, "worker", address, "--no-nanny", "--nthreads", "1", "--name", str(number))
        _wait(folder, started)
        yield address
    finally:
        for process in started:
            process.kill()  # asked to end, workers wait for the scheduler
        for process in started:
            process.wait()


def _wait(folder: Path, started: Sequence[subprocess.Popen[bytes]]) -> None:
    """Wait until every worker has said that it is registered."""
    deadline = time.monotonic() + _SECONDS
    logs = [folder / f"worker-{number}.log" for number in range(1, len(started))]
    while not all(log.exists() and b"Registered to" in log.read_bytes() for log in logs):
        for process in started:
            if process.poll() is not None:
                raise ImpossibleError(f"a process of the cluster ended with {process.returncode}")
        if time.monotonic() > deadline:
            raise ImpossibleError(f"the workers of the cluster do not come within {_SECONDS} s")
        time.sleep(0.05)
