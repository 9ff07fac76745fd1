"""Which single changes of a drive there are.

A lever says which keys it sets on a drive that was resolved, or that the drive does not have what it changes.
Where it changes how much flash there is, the host sees as much as before: workloads stay the same. A bound is
no change that anybody can make: it says what is there to gain.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean

Config = Mapping[str, Any]
"""A resolved drive."""
Settings = dict[str, Any]
_QUANTITY = re.compile(r"([0-9.eE+-]+)([A-Za-z/]*)")
_OF_COLLECTION = ("die_gc_read", "die_gc_program", "die_erase", "allocation_stall")
_OF_DIES = ("die_host_read", "die_host_program", *_OF_COLLECTION, "die_suspend_overhead", "die_mapping")
_OF_CHANNELS = ("channel", "die_waiting_for_channel")


@dataclasses.dataclass(frozen=True)
class Lever:
    """A single change of a drive."""

    name: str
    says: str
    """What is changed, in words."""
    settings: Callable[[Config], Settings | None] = dataclasses.field(repr=False, compare=False)
    """The keys that it sets; None of a drive that has nothing to change, or is changed already."""
    causes: tuple[str, ...]
    """Whose time it shortens, as results name causes: at first sight it buys what they take."""
    is_bound: bool = False
    """Nobody can make it."""
    price: str = ""
    """What it would cost besides the media, in words of whoever wrote it into a file."""


def named(names: Iterable[str], own: Iterable[Lever] = ()) -> list[Lever]:
    """Return levers by their names, of those that are built in and of one's own."""
    known = {lever.name: lever for lever in (*LEVERS, *own)}
    for name in names:
        if name not in known:
            raise ConfigError(f"no lever is called {name!r}{did_you_mean(name, known)}")
    return [known[name] for name in names]


# ---- what a drive says -----------------------------------------------------------------------------------


def _at(config: Config, key: str) -> Any:
    """Return the value of a key with dots; None where it is not there."""
    found: Any = config
    for part in key.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return None
        found = found[part]
    return found


def _policy(config: Config, key: str) -> str:
    """Return the name of a policy."""
    value = _at(config, key)
    return str(value.get("policy", "") if isinstance(value, Mapping) else value or "")


def scaled(value: Any, factor: float) -> Any:
    """Return a quantity with its unit, a number, or each of a list, times a factor."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [scaled(each, factor) for each in value]
    if isinstance(value, str):
        match = _QUANTITY.fullmatch(value)
        if match is None:
            raise ConfigError(f"{value!r} is no quantity")
        number = float(match[1]) * factor
        # A rate in whole bytes stays one.
        return (
            f"{round(number) if match[2] in ('B/s', 'ns') else number:g}{match[2]}"
            if number < 1e6
            else (f"{round(number)}{match[2]}")
        )
    return round(value * factor) if isinstance(value, int) else value * factor


def _times(key: str, factor: float) -> Callable[[Config], Settings | None]:
    def settings(config: Config) -> Settings | None:
        value = _at(config, key)
        return None if value in (None, 0, "0ns", []) else {key: scaled(value, factor)}

    return settings


def _policy_is(key: str, name: str) -> Callable[[Config], Settings | None]:
    def settings(config: Config) -> Settings | None:
        if "nand" not in config or "zns" in config or _policy(config, key) == name:
            return None
        return {key: name}

    return settings


def _spare(more: float) -> Callable[[Config], Settings | None]:
    """More flash behind what the host sees, which stays as much."""

    def settings(config: Config) -> Settings | None:
        before, blocks = _at(config, "ftl.over_provisioning"), _at(config, "geometry.blocks_per_plane")
        if "nand" not in config or "zns" in config or before is None or blocks is None:
            return None
        wanted = math.ceil(blocks * (1 + before + more) / (1 + before))
        # Blocks are whole: what the host sees is kept, and the rest is spare.
        return {
            "geometry.blocks_per_plane": wanted,
            "ftl.over_provisioning": wanted * (1 + before) / blocks - 1,
        }

    return settings


def _twice_as_many(key: str) -> Callable[[Config], Settings | None]:
    """Twice as many dies or channels, each half as large."""

    def settings(config: Config) -> Settings | None:
        count, blocks = _at(config, key), _at(config, "geometry.blocks_per_plane")
        if "nand" not in config or "zns" in config or count is None or blocks is None or blocks % 2:
            return None
        return {key: 2 * count, "geometry.blocks_per_plane": blocks // 2}

    return settings


def _suspended(config: Config) -> Settings | None:
    """Erases and programs give way at safe points."""
    suspend = _at(config, "scheduler.suspend")
    if "nand" not in config or (isinstance(suspend, Mapping) and suspend.get("programs")):
        return None
    return {"scheduler.suspend": {"policy": "every-safe-point", "programs": True}}


def _erases_suspended(config: Config) -> Settings | None:
    return (
        None
        if "nand" not in config or _policy(config, "scheduler.suspend") not in ("", "none")
        else {"scheduler.suspend": "every-safe-point"}
    )


LEVERS: tuple[Lever, ...] = (
    Lever(
        "suspend-erases",
        "erases are suspended for reads, at safe points",
        _erases_suspended,
        ("die_erase",),
    ),
    Lever(
        "suspend-all",
        "erases and programs are suspended for reads, at safe points",
        _suspended,
        ("die_erase", "die_gc_program", "die_host_program"),
    ),
    Lever("spare-7", "7 points more over-provisioning", _spare(0.07), _OF_COLLECTION),
    Lever("spare-25", "25 points more over-provisioning", _spare(0.25), _OF_COLLECTION),
    Lever("victim-greedy", "the victim with least valid", _policy_is("ftl.victim", "greedy"), _OF_COLLECTION),
    Lever(
        "victim-cost-benefit",
        "victims by cost and benefit",
        _policy_is("ftl.victim", "cost-benefit"),
        _OF_COLLECTION,
    ),
    Lever(
        "collect-at-rest",
        "garbage is collected while dies rest, too",
        _policy_is("ftl.gc_trigger", "idle"),
        _OF_COLLECTION,
    ),
    Lever(
        "slow-down",
        "writes slow down the less is free, instead of stopping",
        _policy_is("ftl.throttle", "proportional"),
        ("allocation_stall",),
    ),
    Lever(
        "buffer-4x", "four times the write buffer", _times("controller.buffered_pages", 4), ("buffer_stall",)
    ),
    Lever(
        "dies-2x",
        "twice the dies, each half as large",
        _twice_as_many("geometry.dies_per_package"),
        _OF_DIES,
    ),
    Lever(
        "channels-2x",
        "twice the channels, with dies half as large",
        _twice_as_many("geometry.channels"),
        (*_OF_DIES, *_OF_CHANNELS),
    ),
    Lever("bus-2x", "channels twice as fast", _times("nand.channel_rate", 2), (*_OF_CHANNELS, "transfer")),
    Lever("link-2x", "the host's link twice as fast", _times("controller.link_rate", 2), ("link",)),
    Lever(
        "commands-half",
        "half the controller's time for a command",
        _times("controller.command_cost", 0.5),
        ("command_processing",),
    ),
    Lever(
        "read-half",
        "flash that reads twice as fast",
        _times("nand.read", 0.5),
        ("command_array", "die_host_read", "die_gc_read"),
    ),
    Lever(
        "program-half",
        "flash that programs twice as fast",
        _times("nand.program", 0.5),
        ("die_host_program", "die_gc_program", "buffer_stall", "program_wait"),
    ),
    Lever(
        "erase-free",
        "erases that take next to no time",
        _times("nand.erase_loop", 0.001),
        ("die_erase",),
        is_bound=True,
    ),
    Lever(
        "spare-all",
        "four times the flash, so that next to nothing is collected",
        _spare(3.0),
        _OF_COLLECTION,
        is_bound=True,
    ),
)
"""In the order in which they are told before they are ranked."""
