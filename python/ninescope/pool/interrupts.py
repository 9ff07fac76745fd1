"""Ctrl-C reaches every process of a terminal's group. Workers leave it to whoever started them."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def blocked_interrupt() -> Iterator[None]:
    """Block it here meanwhile: processes and threads that are started inherit that for good."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
