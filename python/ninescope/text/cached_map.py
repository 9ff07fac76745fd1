"""What was in memory of a map that lies in flash, in words."""

from __future__ import annotations

from collections.abc import Iterator

from ninescope.result.cached_map import CachedMap
from ninescope.text.units import binary

_COUNTED = {
    "pages_fetched": "waited for",
    "pages_fetched_from_host": "of these from the host's memory",
    "pages_written": "written",
    "pages_read_to_update": "read for that",
}


def facts(cached: CachedMap) -> Iterator[tuple[str, str]]:
    """Yield a line on how often an entry was in memory, and what was read and written of the map."""
    hits = "" if cached.hit_ratio is None else f", {cached.hit_ratio:.1%} of the entries wanted were there"
    counted = [
        f"{cached.counters[key]:,} {words}" for key, words in _COUNTED.items() if cached.counters.get(key)
    ]
    yield (
        "map",
        f"{cached.policy}: {binary(cached.cache_bytes)} of {binary(cached.cache_bytes_max)} in memory"
        f"{hits}" + (f"; pages {', '.join(counted)}" if counted else ""),
    )
