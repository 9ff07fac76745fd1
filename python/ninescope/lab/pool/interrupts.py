"""Ctrl-C reaches every process of a terminal's group. Workers leave it to whoever started them."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from multiprocessing import resource_tracker


@contextlib.contextmanager
def blocked_interrupt() -> Iterator[None]:
    """Block it here meanwhile: processes and threads that are started inherit that for good."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # It starts with the first process, and leaves Ctrl-C unblocked behind itself (Python 3.11).
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
