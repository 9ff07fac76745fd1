"""What an import carried over, and what it could not."""

from __future__ import annotations

import dataclasses
from typing import Any

from ninescope.mqsim.document import Sheet
from ninescope.mqsim.settings import CARRIED, IDLE, OTHERWISE, Fate, known, unknown

FETCHED_MAX = 65535
"""As many commands of a flow as there can be."""


@dataclasses.dataclass(frozen=True)
class Left:
    """A setting that was not carried over."""

    tag: str
    value: str
    why: str
    group: str = OTHERWISE


@dataclasses.dataclass
class Part:
    """One part of an import: a drive, or a flow's job."""

    as_mqsim: bool = False
    """It is to do what MQSim does, where that is not what the file says or hardware does."""
    table: dict[str, Any] = dataclasses.field(default_factory=dict)
    sources: dict[str, str] = dataclasses.field(default_factory=dict)
    left: list[Left] = dataclasses.field(default_factory=list)
    carried: list[str] = dataclasses.field(default_factory=list)
    """The settings that were carried over."""
    _said: dict[str, Fate] = dataclasses.field(default_factory=dict)

    def put(self, key: str, value: object, source: str) -> None:
        """Carry a value over, with where it comes from."""
        inner = self.table
        *tables, last = key.split(".")
        for name in tables:
            inner = inner.setdefault(name, {})
        inner[last] = value
        self.sources[key] = source

    def say(self, tag: str, group: str, why: str) -> None:
        """Say what becomes of a setting in this file, where that is not what the table has of it."""
        self._said[tag] = Fate(group, why)

    def idle(self, why: str, *tags: str) -> None:
        """Say of settings that nothing depends on them in this file."""
        for tag in tags:
            self.say(tag, IDLE, why)

    def settle(self, sheet: Sheet, section: str) -> None:
        """Give account of every setting of a sheet."""
        names = known(section)
        for tag, value in sheet.values():
            fate = self._said.pop(tag, None)
            if fate is None:
                setting = names.get(tag)
                fate = setting.fate_of(value, as_mqsim=self.as_mqsim) if setting else unknown(section, tag)
            if fate.group == CARRIED:
                self.carried.append(tag)
            else:
                self.left.append(Left(tag, value, fate.why, fate.group))


@dataclasses.dataclass
class Drive(Part):
    """A drive, and how many channels, chips per channel, dies per chip and planes per die MQSim gives it."""

    resources: tuple[int, int, int, int] = (0, 0, 0, 0)
    tags: dict[str, tuple[int, str]] = dataclasses.field(default_factory=dict)
    """The line and the value of each tag of its file."""
    fetched_of_each: int = FETCHED_MAX
    """Commands of a flow that are in the drive at a time, of NVMe."""
    starts_empty: bool = False
    """All blocks are empty at the start, as MQSim, whatever is read."""
    is_prepared: bool = False
    """Flows have touched it before the run, as MQSim has them do."""
    cache_bound: int = 0
    """Pages on their way out of a cache at a time, as MQSim."""
    buffer_parts: list[int | None] = dataclasses.field(default_factory=list)
    """By flow: pages of the write buffer that are its own."""
    no_classes: str = ""
    """Why it does not tell flows apart by class; nothing: it does."""

    def carry(self, tag: str) -> None:
        """Say of a setting that it is carried over after all, once more is known than this file."""
        self.left = [left for left in self.left if left.tag != tag]
        self.carried.append(tag)
