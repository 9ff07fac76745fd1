"""What becomes of each setting of MQSim: the table `settings.toml`, which docs and tests read too."""

from __future__ import annotations

import dataclasses
import difflib
import functools
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from ninescope.toml import loads

CARRIED, WRONG, IDLE, OTHERWISE, UNKNOWN = "carried", "wrong", "idle", "otherwise", "unknown"
GROUPS = {
    CARRIED: "carried over",
    WRONG: "wrong there",
    IDLE: "without effect there",
    OTHERWISE: "modelled otherwise",
    UNKNOWN: "unknown",
}
"""What can become of a setting, in the words of the account."""
MEANS = {
    CARRIED: "the drive or the job has it",
    WRONG: "MQSim does something that hardware does not",
    IDLE: "MQSim has it, and nothing depends on it",
    OTHERWISE: "ninescope has no such key",
    UNKNOWN: "no setting of MQSim",
}
FLOW = "IO_Flow_Parameter_Set"
"""What flows of both kinds have."""


@dataclasses.dataclass(frozen=True)
class Fate:
    """What becomes of a setting."""

    group: str
    why: str = ""
    """Of what is not carried over: the reason, and what is taken instead."""
    to: str = ""
    """Of what is: the key that it becomes."""


@dataclasses.dataclass(frozen=True)
class Setting:
    """One setting of MQSim."""

    fate: Fate
    as_mqsim: Fate | None = None
    """With `--as mqsim`, where that is something else."""
    same: str | None = None
    """The value that says what ninescope does anyway."""
    values: tuple[str, ...] = ()
    """The only values that are carried over; none: all."""
    beyond: Fate | None = None
    """What becomes of another value; none: it is refused."""

    def fate_of(self, value: str, *, as_mqsim: bool) -> Fate:
        """Return what becomes of a value as hardware has it, or as MQSim does."""
        if self.same is not None and value.upper() == self.same.upper():
            return Fate(CARRIED)
        if self.beyond and self.values and value.upper() not in self.values:
            return self.beyond
        return self.as_mqsim if as_mqsim and self.as_mqsim else self.fate


def _fate(entry: Mapping[str, Any]) -> Fate:
    return Fate(entry["is"], entry.get("why", ""), entry.get("to", ""))


@functools.cache
def settings() -> Mapping[str, Mapping[str, Setting]]:
    """Return the table, by the tag in which settings stand and by their names."""
    text = files("ninescope.mqsim").joinpath("settings.toml").read_text(encoding="utf-8")
    return {
        section: {
            name: Setting(
                _fate(entry),
                _fate(entry["as_mqsim"]) if "as_mqsim" in entry else None,
                entry.get("same"),
                tuple(entry.get("values", ())),
                _fate(entry["beyond"]) if "beyond" in entry else None,
            )
            for name, entry in entries.items()
        }
        for section, entries in loads(text).items()
    }


def known(section: str) -> Mapping[str, Setting]:
    """Return the settings that can stand in a tag."""
    common = settings()[FLOW] if section.startswith(FLOW) else {}
    return {**common, **settings().get(section, {})}


def unknown(section: str, tag: str) -> Fate:
    """Say of a tag that nobody knows what it may have been meant to be."""
    meant = difflib.get_close_matches(tag, known(section), 1)
    hint = f"; did you mean {meant[0]}?" if meant else ""
    return Fate(UNKNOWN, f"not known to this importer{hint}")
