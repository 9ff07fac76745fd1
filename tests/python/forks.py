"""The command line in programs of their own that need not import what others wrote: a server forks for each.

Python takes longer to import numpy, polars and matplotlib than most examples of the documentation run.
The server imports these, and nothing of ninescope; who asks gives it words, folder, environment and standard
streams, and gets the exit code.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ASKS = """#!{python} -ISs
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    asked = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(asked).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(asked)
    code = server.recv(1)
sys.exit(code[0] if code else 70)
"""
"""What stands in the place of the command."""


def serve(address: str) -> None:
    """Answer those who ask, one process each."""
    import matplotlib.figure  # noqa: F401
    import numpy  # noqa: F401
    import polars  # noqa: F401
    import pydantic  # noqa: F401
    import rich.console
    import rich.table  # noqa: F401
    import typer  # noqa: F401

    gc.freeze()  # nobody looks for garbage in it, nor copies the pages that it is in
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        while True:
            client, _ = server.accept()
            if os.fork() == 0:
                server.close()
                answer(client)
            client.close()


def answer(client: socket.socket) -> None:
    """Be the program that a client asks for."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, streams, _, _ = socket.recv_fds(client, 8, 3)
    asked = b""
    while len(asked) < int.from_bytes(head, "big"):
        asked += client.recv(1 << 16)
    words, folder, environment = json.loads(asked)
    for stream, number in zip(streams, (0, 1, 2), strict=True):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    code = 1
    try:
        code = run(words)
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        sys.stderr.flush()
        client.send(bytes([code & 255]))
        os._exit(code)


def run(words: list[str]) -> int:
    """Run the command line to its end."""
    sys.argv = ["ninescope", *words]
    from ninescope.cli import main

    try:
        main(words)
    except SystemExit as end:
        atexit._run_exitfuncs()
        return int(end.code or 0)
    return 0


@contextlib.contextmanager
def server(folder: Path) -> Iterator[str]:
    """Start a server; give the text of a command that asks it."""
    address = str(folder / "forks")
    process = subprocess.Popen([sys.executable, __file__, address], stdin=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while not Path(address).exists():
            assert process.poll() is None
            assert time.monotonic() < until, "the server does not begin"
            time.sleep(0.02)
        yield ASKS.format(python=sys.executable, address=address)
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    serve(sys.argv[1])
