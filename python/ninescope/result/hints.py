"""What whoever stands in front of a drive asked it for: a cache of the host, or a log on zones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ninescope.result.latency import Latency, latency_of


@dataclass(frozen=True)
class Hint:
    """Requests of one kind."""

    bytes: int
    """What they moved [B]; of TRIMs nothing."""
    latency: Latency
    """From submission to completion, without buckets."""


def hints_of(document: Mapping[str, Any]) -> dict[str, Hint]:
    """Read each kind by its name: of a cache `hit` and others, of a log `log_read` and others."""
    stored: Mapping[str, Any] = document.get("hints") or {}
    return {name: Hint(bytes=hint["bytes"], latency=latency_of(hint)) for name, hint in stored.items()}
