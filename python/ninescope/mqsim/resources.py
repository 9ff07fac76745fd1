"""The channels, chips, dies and planes that a flow of MQSim keeps to, as planes of a job's own."""

from __future__ import annotations

import itertools
import math

from ninescope.mqsim.document import Sheet
from ninescope.mqsim.report import Part
from ninescope.mqsim.settings import CARRIED, OTHERWISE

TAGS = ("Channel_IDs", "Chip_IDs", "Die_IDs", "Plane_IDs")
"""In the order in which a drive counts them."""
Counts = tuple[int, int, int, int]
"""How many channels there are, chips on each, dies in each, planes in each."""
Numbers = tuple[tuple[int, ...], ...]
"""The numbers of each kind that a flow may use."""


def numbers_of(sheet: Sheet, counts: Counts) -> Numbers:
    """Return what a flow may use; what the drive has not is refused."""
    found = []
    for tag, count in zip(TAGS, counts, strict=True):
        words = [word.strip() for word in sheet.text(tag).split(",")]
        if not all(word.isdecimal() for word in words):
            sheet.wrong(tag, "is no list of numbers")
        beyond = next((word for word in words if int(word) >= count), None)
        if beyond is not None:
            sheet.wrong(tag, f"names {beyond}, which the drive has not: its numbers are 0 to {count - 1}")
        found.append(tuple(sorted({int(word) for word in words})))
    return tuple(found)


def why_not(own: Numbers, others: list[Numbers], *, is_job: bool) -> str:
    """Say why a flow cannot have its planes for itself; nothing where it can."""
    if not is_job:
        return "a trace reaches the whole drive, and so do flows beside it"
    if any(other != own and _meet(own, other) for other in others):
        return "flows that share some of their planes, and not all, reach the whole drive"
    return ""


def _meet(one: Numbers, other: Numbers) -> bool:
    return all(set(ours) & set(theirs) for ours, theirs in zip(one, other, strict=True))


def share_of(own: Numbers, counts: Counts) -> float:
    """Return the share of a drive's planes that these are."""
    return math.prod(len(numbers) for numbers in own) / math.prod(counts)


def is_whole(own: Numbers, counts: Counts) -> bool:
    """Say whether these are all planes of the drive."""
    return all(len(numbers) == count for numbers, count in zip(own, counts, strict=True))


def put(flow: Part, own: Numbers, counts: Counts, *, dies_are_merged: bool) -> None:
    """Give a job the planes of its flow; `dies_are_merged`: a chip is one die of all planes."""
    channels, chips, dies, planes = own
    _, chip_count, die_count, plane_count = counts
    if len(chips) < chip_count or (len(dies) < die_count and not dies_are_merged):
        per_chip = range(1) if dies_are_merged else dies
        dies_of_chip = 1 if dies_are_merged else die_count
        flow.put(
            "dies",
            [
                (channel * chip_count + chip) * dies_of_chip + die
                for channel, chip, die in itertools.product(channels, chips, per_chip)
            ],
            "Channel_IDs, Chip_IDs, Die_IDs",
        )
    elif len(channels) < counts[0]:
        flow.put("channels", list(channels), "Channel_IDs")
    if dies_are_merged and len(dies) * len(planes) < die_count * plane_count:
        numbers = [die * plane_count + plane for die, plane in itertools.product(dies, planes)]
        flow.put("planes", numbers, "Die_IDs, Plane_IDs: the dies of a chip are one")
    elif len(planes) < plane_count:
        flow.put("planes", list(planes), "Plane_IDs")
    for tag in TAGS:
        flow.say(tag, CARRIED, "")


def leave(flow: Part, own: Numbers, counts: Counts, why: str) -> None:
    """Say of what a flow keeps to that it is not carried over."""
    for tag, numbers, count in zip(TAGS, own, counts, strict=True):
        if len(numbers) < count:
            flow.say(tag, OTHERWISE, why)
