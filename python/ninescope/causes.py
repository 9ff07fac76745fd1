"""How each cause of latency is called and coloured, everywhere the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Look(NamedTuple):
    """How a cause is shown."""

    label: str
    colour: str
    meaning: str
    """What the request waited for, as the end of a sentence about it."""


# In stacking order: the request's own work first (blue and green), then what it waited for (purple: other
# host work; orange and red: the drive's own housekeeping; grey: outside the drive).
LOOKS: Mapping[str, Look] = {
    "command_array": Look("flash array", "#1f4e79", "its own command and the flash array at work"),
    "transfer": Look("transfer", "#4a90c2", "its own data on the flash channel"),
    "own_parts": Look(
        "own parts",
        "#6baed6",
        "another part of the same request had its die or its channel",
    ),
    "channel": Look("channel wait", "#9ecae1", "its die was ready, the flash channel was busy for others"),
    "link": Look("host link", "#74c476", "its data on the host link, and the wait for the link"),
    "command_processing": Look(
        "controller",
        "#c7e9c0",
        "the controller at work on its command, and the wait for the controller",
    ),
    "encode": Look("encode", "#238b45", "its data in the encoder"),
    "decode": Look("decode", "#41ab5d", "its data in the decoder"),
    "decoder_wait": Look("decoder wait", "#a1d99b", "the decoder was busy"),
    "retry": Look("read retry", "#006d2c", "its data had to be read again"),
    "refetch": Look("refetch", "#66c2a4", "its data was lost and fetched from elsewhere"),
    "mapping_read": Look("mapping read", "#8c6d31", "its mapping entry had to be read first"),
    "read_modify_write": Look(
        "partial write",
        "#17a2a2",
        "a unit written in part: the rest of it was read first, without what that read waited for",
    ),
    "program_wait": Look("program wait", "#54278f", "buffered data had to be programmed first"),
    "migration_wait": Look(
        "migration wait", "#3f007d", "a page had to be moved first: it waited for a free slot of SCM"
    ),
    "die_host_read": Look("behind host read", "#bcbddc", "its die was busy with another host read"),
    "die_host_program": Look(
        "behind host program", "#807dba", "its die was busy programming what another request wrote"
    ),
    "die_waiting_for_channel": Look(
        "behind a channel wait",
        "#dadaeb",
        "its die was held by another operation, which waited for the flash channel",
    ),
    "ordering": Look("ordering", "#636363", "an earlier request had to end first"),
    "die_gc_read": Look("behind GC read", "#fdd0a2", "its die was busy reading for garbage collection"),
    "die_gc_program": Look(
        "behind GC program", "#f59744", "its die was busy programming for garbage collection"
    ),
    "die_erase": Look("behind erase", "#c0271f", "its die was busy erasing"),
    "die_suspend_overhead": Look(
        "behind suspend overhead", "#f4a6a0", "its die was suspending or resuming an operation"
    ),
    "die_wear_leveling": Look("behind wear levelling", "#d94801", "its die was busy levelling wear"),
    "die_migration": Look("behind migration", "#8c6bb1", "its die was busy moving data between tiers"),
    "die_mapping": Look("behind mapping access", "#bd9e39", "its die was busy with the mapping table"),
    "die_scrub": Look("behind scrub", "#e7cb94", "its die was busy scrubbing"),
    "allocation_stall": Look("no free page", "#67000d", "garbage collection did not keep up with the writes"),
    "buffer_stall": Look("buffer stall", "#d6499a", "the write buffer was full: programs did not keep up"),
    "die_idle": Look("die held idle", "#f0f0f0", "the scheduler held it back"),
    "host_queue": Look("host queue", "#b3b3b3", "it waited in the host: the drive's queue was full"),
    "other": Look("other", "#d9d9d9", "causes too small for a place of their own"),
}

_ORDER = {cause: index for index, cause in enumerate(LOOKS)}


def look(cause: str) -> Look:
    """Return how a cause is shown; one that is not known here keeps its name."""
    return LOOKS.get(cause) or Look(cause.replace("_", " "), "#444444", "")


def stacking_order(causes: Iterable[str]) -> list[str]:
    """Sort causes as they are stacked."""
    return sorted(causes, key=lambda cause: (_ORDER.get(cause, len(_ORDER)), cause))
