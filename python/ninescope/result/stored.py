"""From sections of a result's JSON to dataclasses. This module knows none of the sections."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any


def known_keys(kind: type[Any], values: Mapping[str, Any]) -> Any:
    """Build a dataclass from the keys that it knows."""
    known = {field.name for field in dataclasses.fields(kind)}
    return kind(**{key: value for key, value in values.items() if key in known and value is not None})
