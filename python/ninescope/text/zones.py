"""What was asked of the zones of a drive, and what they refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ninescope.result.zones import Zones


def facts(zones: Zones) -> Iterator[tuple[str, str]]:
    """Yield commands and states of zones, and the errors that commands completed with."""
    yield "zones", f"{_words(zones.states)}; {_words(zones.commands) or 'no commands'}"
    if any(zones.errors.values()):
        yield "zone errors", _words(zones.errors)


def _words(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if count)
