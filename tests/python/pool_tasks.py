"""What tests let workers do."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path


def twice(number: int) -> int:
    return 2 * number


def fail(words: str) -> None:
    raise ValueError(words)


def end(by: int) -> None:
    os.kill(os.getpid(), by)
    time.sleep(60)


def leave(code: int) -> None:
    os._exit(code)


def pid_after(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def note_and_sleep(folder: str) -> None:
    Path(folder, f"{os.getpid()}.pid").touch()
    time.sleep(60)


def take(size: int) -> int:
    return len(bytearray(size))


def temporary() -> str:
    return tempfile.mkdtemp()


def say(words: str) -> None:
    print(words)
    sys.stdout.flush()


def blocked() -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def end_while_answering() -> None:
    """Send the beginning of an answer, and end."""
    for pipe in gc.get_objects():
        if isinstance(pipe, Connection) and pipe.writable:
            os.write(pipe.fileno(), (1000).to_bytes(4, "big") + b"the first of a thousand bytes")
    os.kill(os.getpid(), signal.SIGKILL)


class UnsendableError(Exception):
    """An exception that can be pickled and not unpickled."""

    def __init__(self, words: str, more: str) -> None:
        super().__init__(words)
        self.more = more


def unsendable() -> object:
    return lambda: 1


def fail_unsendably(words: str) -> None:
    raise UnsendableError(words, "more")
