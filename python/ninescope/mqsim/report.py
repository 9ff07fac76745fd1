"""What an import carried over, and what it could not."""

from __future__ import annotations

import dataclasses
from typing import Any

from ninescope.mqsim.document import Sheet


@dataclasses.dataclass(frozen=True)
class Left:
    """A parameter without a counterpart."""

    tag: str
    value: str
    why: str


@dataclasses.dataclass
class Part:
    """One part of an import: a drive, or a flow's job."""

    table: dict[str, Any] = dataclasses.field(default_factory=dict)
    sources: dict[str, str] = dataclasses.field(default_factory=dict)
    left: list[Left] = dataclasses.field(default_factory=list)

    def put(self, key: str, value: object, source: str) -> None:
        """Carry a value over, with where it comes from."""
        inner = self.table
        *tables, last = key.split(".")
        for name in tables:
            inner = inner.setdefault(name, {})
        inner[last] = value
        self.sources[key] = source

    def leave(self, sheet: Sheet, reasons: dict[str, str]) -> None:
        """List those of some tags that are there as not carried over."""
        for tag, why in reasons.items():
            value = sheet.raw(tag)
            if value is not None:
                self.left.append(Left(tag, value, why))

    def leave_unknown(self, sheet: Sheet) -> None:
        """List what is left of a sheet: nobody knows it."""
        self.left += [Left(tag, value, "not known to this importer") for tag, value in sheet.left()]
