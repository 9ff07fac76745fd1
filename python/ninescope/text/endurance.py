"""How long a drive lasts, and what its media cost, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ninescope.text.units import duration, quantity

_MEDIA = {"nand": "flash", "scm": "storage-class memory", "storage_scm": "storage-type memory"}
"""What media are called in text; others by their keys."""
_YEAR_NS = 365 * 86_400e9
_OTHER_WAF = 1.25
"""A window whose WAF differs from the declared one by this factor says little of a lifetime."""


def facts(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the lines of a result about lifetime and cost, as far as they say something."""
    endurance: Mapping[str, Any] = document.get("endurance") or {}
    lifetime: Mapping[str, Any] = endurance.get("lifetime") or {}
    if lifetime.get("passes") is not None:
        yield "lifetime", "; ".join([_lifetime(endurance, lifetime), *_in_steady_state(document, lifetime)])
    elif "unknown" in (reason := lifetime.get("reason") or "") or reason.startswith("over:"):
        yield "lifetime", reason
    cost: Mapping[str, Any] = document.get("cost") or {}
    if cost.get("total") is not None:
        words = f"as much as {quantity(cost['total'] * 1e9, 'B')} of TLC flash"
        if cost.get("per_logical_gb") is not None:
            words += f", {cost['per_logical_gb']:.3g} per GB for the host"
        if cost.get("iops_per_cost") is not None:
            words += f"; {quantity(cost['iops_per_cost'])} IOPS per GB of that"
        yield "cost", words


def _in_steady_state(document: Mapping[str, Any], lifetime: Mapping[str, Any]) -> Iterator[str]:
    """Say how long it would be at the declared WAF, where the window is too short to show that one."""
    steady = document.get("steady_state")
    measured = (document.get("waf") or {}).get("total")
    is_short = not document.get("steady_state_measured")
    if not (isinstance(steady, Mapping) and steady.get("converged") and measured and is_short):
        return
    declared, years = steady["waf"], lifetime.get("years")
    has_one_medium = len((document.get("endurance") or {}).get("media") or {}) == 1
    is_other = not 1 / _OTHER_WAF < declared / measured < _OTHER_WAF
    if years and has_one_medium and is_other:
        then = quantity(years * measured / declared)
        yield (
            f"THE WINDOW IS TOO SHORT FOR ITS WAF ({measured:.2f}): {then} years at that of the steady "
            f"state, {declared:.2f}"
        )


def _lifetime(endurance: Mapping[str, Any], lifetime: Mapping[str, Any]) -> str:
    years = lifetime["years"]
    long = f"{quantity(years)} years" if years >= 1 else duration(years * _YEAR_NS)
    words = [f"{long} at the measured rate, {quantity(lifetime['passes'])} passes"]
    if lifetime.get("dwpd") is not None:
        dwpd, over = quantity(lifetime["dwpd"]), lifetime["dwpd_years"]
        written = quantity(lifetime["host_bytes"], "B")
        words.append(f"{written} of the host, {dwpd} drive writes per day over {over:g} years")
    media: Mapping[str, Mapping[str, Any]] = endurance.get("media") or {}
    if len(media) > 1:
        words.append(f"{_MEDIA.get(lifetime['limited_by'], lifetime['limited_by'])} is worn out first")
    if any(medium.get("life_by") == "read-only" for medium in media.values()):
        words.append("then too few blocks are left for more writes")
    words += [note for medium in media.values() for note in medium.get("notes") or ()]
    return "; ".join(words)
