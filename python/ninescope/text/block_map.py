"""What a map of blocks came to, in words."""

from __future__ import annotations

from collections.abc import Iterator

from ninescope.result.block_map import BlockMap


def facts(of: BlockMap) -> Iterator[tuple[str, str]]:
    """Yield the merges by kind, and what each log block that all share cost."""
    merges = {"switch": of.switch_merges, "partial": of.partial_merges, "full": of.full_merges}
    count = sum(merges.values())
    words = [f"{number:,} {name}" for name, number in merges.items() if number] or ["none"]
    copied = f", {of.pages_copied / count:.1f} pages copied by each" if count else ""
    yield "merges", f"{', '.join(words)}{copied}"
    if of.full_merges_per_log_block is not None:
        yield "", f"{of.full_merges_per_log_block:.1f} full merges for each log block"
