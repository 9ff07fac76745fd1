"""The command line in programs of their own that need not import what others wrote: a server forks for each.

Python takes longer to import numpy, polars and matplotlib than most tests and most examples of the
documentation run. The server imports these, and nothing of ninescope; who asks gives it words, folder,
environment and standard streams, and gets the exit code. What it forks is a process like any other, which
runs `python -m ninescope` from its first module on. Who sends it signals, closes its streams or wants to know
how it starts needs a program of its own: what stands in its place here is not the process that simulates.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ASKS = """#!{python} -ISs
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    asked = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(asked).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(asked)
    server.recv(8, socket.MSG_WAITALL)
    code = server.recv(1)
sys.exit(code[0] if code else 70)
"""
"""What stands in the place of the command."""


# ---- who asks -----------------------------------------------------------------------------------------


class Forks(NamedTuple):
    """A server that was started."""

    address: str
    command: Path
    """A program that asks it."""

    def run(self, words: list[str], stdin: bytes | None, timeout: float) -> tuple[int, bytes, bytes]:
        """Run the command line here, with these words; return its exit code, its output and its errors."""
        with (
            socket.socket(socket.AF_UNIX) as server,
            contextlib.ExitStack() as theirs,
            ThreadPoolExecutor(3) as side_by_side,
        ):
            pipes = [os.pipe() for _ in range(3)]
            streams = [pipes[0][0], pipes[1][1], pipes[2][1]]
            for stream in streams:
                theirs.callback(os.close, stream)
            written = side_by_side.submit(_write, pipes[0][1], stdin or b"")
            out, err = (side_by_side.submit(_read, pipe[0]) for pipe in pipes[1:])
            server.connect(self.address)
            asked = json.dumps([words, os.getcwd(), dict(os.environ)]).encode()
            socket.send_fds(server, [len(asked).to_bytes(8, "big")], streams)
            server.sendall(asked)
            theirs.close()
            process = int.from_bytes(server.recv(8, socket.MSG_WAITALL), "big")
            server.settimeout(timeout)
            try:
                code = server.recv(1)
            except TimeoutError:
                os.kill(process, signal.SIGKILL)
                raise
            written.result()
            assert code, f"it ended without a word: {err.result().decode()}"
            return code[0], out.result(), err.result()


def _write(stream: int, content: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), open(stream, "wb") as file:
        file.write(content)


def _read(stream: int) -> bytes:
    with open(stream, "rb") as file:
        return file.read()


@contextlib.contextmanager
def server(folder: Path) -> Iterator[Forks]:
    """Start a server, which ends with the block or with this process."""
    address = str(folder / "forks")
    process = subprocess.Popen(
        [sys.executable, __file__, address], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    try:
        until = time.monotonic() + 60
        while not Path(address).exists():
            assert process.poll() is None
            assert time.monotonic() < until, "the server does not begin"
            time.sleep(0.02)
        command = folder / "ninescope"
        command.write_text(ASKS.format(python=sys.executable, address=address))
        command.chmod(0o755)
        yield Forks(address, command)
    finally:
        process.kill()
        process.wait()
        assert process.stdin is not None
        process.stdin.close()


PRELOADED = (
    "jinja2",
    "matplotlib.backends.backend_agg",
    "matplotlib.figure",
    "numpy",
    "PIL.PngImagePlugin",
    "polars._utils.parquet",
    "pydantic.json_schema",
    "pydantic.type_adapter",
    "rich._emoji_codes",
    "rich.console",
    "rich.table",
    "tomllib",
    "typer._adapters",  # what typer imports when it meets the first option
)
"""What the command line uses of others, down to what they import themselves only when they are used."""


# ---- the server ---------------------------------------------------------------------------------------


def serve(address: str) -> None:
    """Answer those who ask, one process each, until standard input ends."""
    for name in PRELOADED:
        with contextlib.suppress(ImportError):  # of another release, or not here
            importlib.import_module(name)
    gc.freeze()  # nobody looks for garbage in it, nor copies the pages that it is in
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{address}.new")
        server.listen(16)
        os.rename(f"{address}.new", address)  # who sees it can connect
        while 0 not in select.select([server, 0], [], [])[0]:
            client, _ = server.accept()
            if os.fork() == 0:
                server.close()
                answer(client)
            client.close()


def answer(client: socket.socket) -> None:
    """Be the program that a client asks for."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    code = 1
    try:
        head, streams, _, _ = socket.recv_fds(client, 8, 3)
        asked = b""
        while len(asked) < int.from_bytes(head, "big"):
            asked += client.recv(1 << 16)
        words, folder, environment = json.loads(asked)
        client.sendall(os.getpid().to_bytes(8, "big"))
        for stream, number in zip(streams, (0, 1, 2), strict=True):
            os.dup2(stream, number)
            os.close(stream)
        # As Python opens them: what is a terminal is written to line by line.
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", buffering=1 if os.isatty(1) else -1, closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        code = run(words)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        with contextlib.suppress(OSError):
            sys.stderr.flush()
        client.send(bytes([code & 255]))
        os._exit(code)


def run(words: list[str]) -> int:
    """Run the command line to its end, as `python -m ninescope` does."""
    sys.argv = ["ninescope", *words]
    sys.path[0] = os.getcwd()
    code = 0
    try:
        runpy.run_module("ninescope", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = int(end.code or 0)
    threading._shutdown()
    atexit._run_exitfuncs()
    return code


if __name__ == "__main__":
    serve(sys.argv[1])
