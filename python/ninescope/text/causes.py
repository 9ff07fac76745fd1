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
    "transfer": Look("transfer", "#5085a0", "its own data on the flash channel"),
    "own_parts": Look(
        "own parts",
        "#11a4e2",
        "another part of the same request had its die or its channel",
    ),
    "channel": Look("channel wait", "#90d9f5", "its die was ready, the flash channel was busy for others"),
    "link": Look("host link", "#70c075", "its data on the host link, and the wait for the link"),
    "dram": Look(
        "DRAM", "#1fd1d1", "its data or its entries of the map in the controller's DRAM, and the wait for it"
    ),
    "firmware": Look(
        "firmware", "#904858", "a core of the firmware, to decide about it, and the decision that it took"
    ),
    "command_processing": Look(
        "controller",
        "#d0edca",
        "the controller at work on its command, and the wait for the controller",
    ),
    "encode": Look("encode", "#188654", "its data in the encoder"),
    "decode": Look("decode", "#31aa4f", "its data in the decoder"),
    "decoder_wait": Look("decoder wait", "#a7d397", "the decoder was busy"),
    "retry": Look("read retry", "#096720", "its data had to be read again"),
    "refetch": Look("refetch", "#62c5a3", "its data was lost and fetched from elsewhere"),
    "degraded_read": Look(
        "degraded read", "#7fa00f", "it could not be corrected, and the rest of its parity stripe was read"
    ),
    "mapping_read": Look("mapping read", "#9e7836", "its mapping entry had to be read first"),
    "read_modify_write": Look(
        "partial write",
        "#139d9f",
        "a unit written in part: the rest of it was read first, without what that read waited for",
    ),
    "program_wait": Look("program wait", "#6c3a9e", "buffered data had to be programmed first"),
    "migration_wait": Look(
        "migration wait", "#17007b", "a page had to be moved first: it waited for a free slot above"
    ),
    "die_host_read": Look(
        "behind host read",
        "#d1a6c0",
        "its die read for another host request, or the rest of a partial write",
    ),
    "die_host_program": Look(
        "behind host program", "#797db7", "its die was busy programming what another request wrote"
    ),
    "die_waiting_for_channel": Look(
        "behind a channel wait",
        "#ced1fa",
        "its die was held by another operation, which waited for the flash channel",
    ),
    "die_waiting_for_power": Look(
        "behind a wait for power", "#b5a100", "its die had to wait until there was power for it to work"
    ),
    "die_throttled_by_heat": Look(
        "throttled by heat", "#ffe100", "its die had to wait because the drive was hot and drew less"
    ),
    "waking": Look("waking", "#5a6b2f", "the drive had to leave a state of less power first"),
    "ordering": Look("ordering", "#636363", "an earlier request had to end first"),
    "die_gc_read": Look("behind GC read", "#f2c89c", "its die was busy reading for garbage collection"),
    "die_gc_program": Look(
        "behind GC program", "#f59744", "its die was busy programming for garbage collection"
    ),
    "die_erase": Look("behind erase", "#c0271f", "its die was busy erasing"),
    "die_suspend_overhead": Look(
        "behind suspend overhead", "#e69e97", "its die was suspending or resuming an operation"
    ),
    "die_wear_leveling": Look("behind wear levelling", "#d04900", "its die was busy levelling wear"),
    "die_parity": Look("behind parity", "#8c5a2b", "its die was busy with parity of other dies' pages"),
    "die_rebuild": Look(
        "behind rebuild", "#e86070", "its die was busy writing again what lay on a die that failed"
    ),
    "die_migration": Look("behind migration", "#89619d", "its die was busy moving data between tiers"),
    "die_mapping": Look("behind mapping access", "#b69937", "its die was busy with the mapping table"),
    "die_scrub": Look("behind scrub", "#d8cd87", "its die was busy scrubbing"),
    "allocation_stall": Look(
        "no free page",
        "#690005",
        "no block was erased in time: garbage collection, or resets, did not keep up",
    ),
    "buffer_stall": Look("buffer stall", "#d94c97", "the write buffer was full: programs did not keep up"),
    "program_failure": Look(
        "program failure", "#7a1f5c", "a program had failed, and was done again elsewhere"
    ),
    "die_idle": Look("die held idle", "#f0f0f0", "the scheduler held it back"),
    "host_queue": Look("host queue", "#9c9c9c", "it waited in the host: the drive's queue was full"),
    "fetch": Look("fetch", "#7d8f69", "the drive reading its command out of the host's queue"),
    "interrupt": Look("interrupt", "#3f4a3a", "it was done, and the host was told of several together"),
    "other": Look("other", "#c8c8c8", "causes too small for a place of their own"),
}

_ORDER = {cause: index for index, cause in enumerate(LOOKS)}


def look(cause: str) -> Look:
    """Return how a cause is shown; one that is not known here keeps its name."""
    return LOOKS.get(cause) or Look(cause.replace("_", " "), "#444444", "")


def stacking_order(causes: Iterable[str]) -> list[str]:
    """Sort causes as they are stacked."""
    return sorted(causes, key=lambda cause: (_ORDER.get(cause, len(_ORDER)), cause))
