"""What was asked of the zones of a drive, what they refused, and what their random write areas absorbed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ninescope.result.zones import Zones


def facts(zones: Zones) -> Iterator[tuple[str, str]]:
    """Yield commands and states of zones, the errors that commands completed with, and what areas did."""
    yield "zones", f"{_words(zones.states)}; {_words(zones.commands) or 'no commands'}"
    if any(zones.errors.values()):
        yield "zone errors", _words(zones.errors)
    areas = zones.zrwa
    if areas is not None and areas.written_units:
        share = areas.overwritten_units / areas.written_units
        commits = f"{areas.implicit_commits:,} implicit commits, {zones.commands['commit']:,} explicit"
        yield (
            "random write areas",
            f"{share:.1%} of {areas.written_units:,} units overwritten there; {commits}",
        )


def _words(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if count)
