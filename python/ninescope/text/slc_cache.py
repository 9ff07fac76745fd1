"""What blocks of one bit in a cell took, in words."""

from __future__ import annotations

from collections.abc import Iterator

from ninescope.result.slc_cache import SlcCache
from ninescope.text.units import quantity


def facts(cache: SlcCache) -> Iterator[tuple[str, str]]:
    """Yield what the host wrote to them and past them, and what was folded."""
    written = cache.written_bytes + cache.past_bytes
    share = f" ({cache.written_bytes / written:.1%} of what the host wrote)" if written else ""
    folded = f"{quantity(cache.folded_bytes, 'B')} folded out of {cache.folded_blocks:,} blocks"
    in_use = f"{cache.blocks_in_use:,} of at most {cache.blocks_max:,} blocks in use"
    yield "SLC cache", f"{quantity(cache.written_bytes, 'B')} taken{share}; {folded}; {in_use}"
