"""What was written by each reclaim unit handle of a drive with flexible data placement."""

from __future__ import annotations

from collections.abc import Iterator

from ninescope.result.fdp import Fdp, ReclaimUnitHandle


def facts(fdp: Fdp) -> Iterator[tuple[str, str]]:
    """Yield the handles that were written by, and the events of the drive's log."""
    written = [_words(handle) for handle in fdp.handles if handle.host_units or handle.moved_units]
    if written:
        yield "handles", "; ".join(written)
    events = (
        (fdp.media_reallocated, "reclaim units emptied that held something"),
        (fdp.invalid_placement_identifiers, "units with a handle that there is not"),
    )
    happened = ", ".join(f"{count:,} {words}" for count, words in events if count)
    if happened:
        yield "FDP events", happened


def _words(handle: ReclaimUnitHandle) -> str:
    isolation = handle.isolation.partition("-")[0]
    waf = handle.units_per_host_unit
    amplification = "nothing written" if waf is None else f"WAF {waf:.3f}"
    return f"{handle.handle} ({isolation}) {amplification}"
