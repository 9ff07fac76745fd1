"""What broke of a drive's blocks, in words."""

from __future__ import annotations

from collections.abc import Iterator

from ninescope.result.bad_blocks import BadBlocks


def facts(broken: BadBlocks) -> Iterator[tuple[str, str]]:
    """Yield what failed and what is left."""
    what = {
        "programs failed": broken.program_failures,
        "erases failed": broken.erase_failures,
        "block groups worn out": broken.worn_out_groups,
    }
    words = [f"{count:,} {name}" for name, count in what.items() if count] or ["nothing failed"]
    words.append(f"{broken.bad_blocks:,} bad blocks, {broken.spare_blocks_left:,} to spare")
    yield "blocks", "; ".join(words)
    if broken.pages_programmed_again:
        yield "rewritten", f"{broken.pages_programmed_again:,} pages programmed again"
    if broken.read_only:
        kept = f", {broken.pages_kept:,} pages stay in the controller" if broken.pages_kept else ""
        yield "read-only", f"no block is left to write to: {broken.refused_commands:,} commands refused{kept}"
