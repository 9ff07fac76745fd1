"""How each cause of latency is called and coloured, everywhere the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Look(NamedTuple):
    """How a cause is shown."""

    label: str
    colour: str


# In stacking order: the request's own work first (blue and green), then what it waited for (purple: other
# host work; orange and red: the drive's own housekeeping; grey: outside the drive).
LOOKS: Mapping[str, Look] = {
    "command_array": Look("flash array", "#1f4e79"),
    "transfer": Look("transfer", "#4a90c2"),
    "channel": Look("channel wait", "#9ecae1"),
    "link": Look("host link", "#74c476"),
    "command_processing": Look("command processing", "#c7e9c0"),
    "decode": Look("decode", "#41ab5d"),
    "decoder_wait": Look("decoder wait", "#a1d99b"),
    "retry": Look("read retry", "#006d2c"),
    "refetch": Look("refetch", "#66c2a4"),
    "mapping_read": Look("mapping read", "#8c6d31"),
    "read_modify_write": Look("read-modify-write", "#17a2a2"),
    "program_wait": Look("program wait", "#54278f"),
    "die_host_read": Look("behind host read", "#bcbddc"),
    "die_host_program": Look("behind host program", "#807dba"),
    "die_waiting_for_channel": Look("behind a channel wait", "#dadaeb"),
    "ordering": Look("ordering", "#636363"),
    "die_gc_read": Look("behind GC read", "#fdd0a2"),
    "die_gc_program": Look("behind GC program", "#f59744"),
    "die_erase": Look("behind erase", "#c0271f"),
    "die_suspend_overhead": Look("behind suspend overhead", "#f4a6a0"),
    "die_wear_leveling": Look("behind wear levelling", "#d94801"),
    "die_migration": Look("behind migration", "#8c6bb1"),
    "die_mapping": Look("behind mapping access", "#bd9e39"),
    "die_scrub": Look("behind scrub", "#e7cb94"),
    "allocation_stall": Look("allocation stall", "#67000d"),
    "buffer_stall": Look("buffer stall", "#d6499a"),
    "die_idle": Look("die held idle", "#f0f0f0"),
    "host_queue": Look("host queue", "#b3b3b3"),
    "other": Look("other", "#d9d9d9"),
}

_ORDER = {cause: index for index, cause in enumerate(LOOKS)}


def look(cause: str) -> Look:
    """Return how a cause is shown; one that is not known here keeps its name."""
    return LOOKS.get(cause) or Look(cause.replace("_", " "), "#444444")


def stacking_order(causes: Iterable[str]) -> list[str]:
    """Sort causes as they are stacked."""
    return sorted(causes, key=lambda cause: (_ORDER.get(cause, len(_ORDER)), cause))
