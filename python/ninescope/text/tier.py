"""What lay where on a drive of two media, and what moved, in words."""

from __future__ import annotations

from collections.abc import Iterator

from ninescope.result.tier import CLASSES, MIGRATIONS, Tier


def facts(tier: Tier, memory: str) -> Iterator[tuple[str, str]]:
    """Yield lines on what lay where and what moved; `memory` is what is above."""
    hits = "" if tier.hit_ratio is None else f"{tier.hit_ratio:.1%} of the pages asked for were in {memory}, "
    used = tier.slots_holding / tier.slots
    yield (
        "tier",
        f"{tier.placement}: {hits}{tier.slots:,} slots for {tier.pages:,} pages, "
        f"{used:.0%} held one at the end",
    )
    shares = [
        f"{name.replace('_', ' ')} {share:.0%}"
        for name in CLASSES
        if (share := tier.bytes[name].upper_share) is not None
    ]
    if shares:
        yield f"in {memory}", ", ".join(shares) + " of the bytes"
    moved = [f"{tier.counters[key]:,} {words}" for key, words in MIGRATIONS.items() if tier.counters.get(key)]
    if moved:
        yield "pages", ", ".join(moved)
