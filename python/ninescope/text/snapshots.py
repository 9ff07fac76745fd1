"""What is in the file of a prepared drive, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ninescope.text.units import binary, quantity


def in_words(known: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Tell what is known of a snapshot, in pairs of a name and a text."""
    drive = known["drive"]
    ftl, recipe = drive["ftl"], drive["recipe"]
    geometry = ftl["geometry"]
    shape = ("channels", "packages_per_channel", "dies_per_package", "planes_per_die", "blocks_per_plane")
    yield "shape", known["shape"]
    yield "drive", f"{binary(known['logical_bytes'])} for the host, {binary(known['raw_bytes'])} of flash"
    yield (
        "geometry",
        f"{' x '.join(str(geometry[key]) for key in shape)} blocks "
        f"(channel, package, die, plane, block) of {geometry['pages_per_block']} pages of "
        f"{binary(geometry['page_size'])}",
    )
    yield "unit", binary(geometry["mapping_unit"])
    policies = {
        key: value["policy"] for key, value in ftl.items() if isinstance(value, dict) and "policy" in value
    }
    yield "policies", ", ".join(f"{key} {name}" for key, name in policies.items())
    if ftl.get("translation_units"):
        yield "map", f"in flash (ftl.map), {ftl['translation_units']:,} pages of it"
    yield "seed", str(ftl["seed"])
    yield "prefill", f"{drive['prefill']}: {_preparing(known, recipe)}"
    for shelf in drive.get("shelves", []):
        warmth = f"at {shelf['celsius']:g} C" if "celsius" in shelf else "at the reference temperature"
        yield "shelf", f"{shelf['time']} {warmth}"
    if "wear" in known:
        wear = known["wear"]
        yield "holds", f"{known['mapped_units']:,} of {ftl['logical_units']:,} units"
        yield (
            "wear",
            f"{wear['erases_mean']:.2f} erases per block ({wear['erases_min']} to {wear['erases_max']})",
        )
    yield (
        "file",
        f"{quantity(known['file_bytes'], 'B')}, format {drive['format']}, ninescope {drive['ninescope']}",
    )


def _preparing(known: Mapping[str, Any], recipe: Mapping[str, Any]) -> str:
    """Tell how a drive was prepared."""
    at_random = recipe.get("fill_order") == "random"
    told = f"{recipe['fill_units']:,} units written{' in random order' if at_random else ''}"
    overwritten = known["prepared_units"] - recipe["fill_units"]
    if overwritten <= 0:
        return told
    whose = "at random" if recipe.get("by_workload") is None else "by a workload"
    told = f"{told}, {overwritten:,} overwritten {whose}"
    steady = known["steady_state"]
    if steady is None:
        return told
    settled = "to steady state" if steady["converged"] else "not to steady state"
    return f"{told}, {settled} (WAF {steady['waf']:.2f})"
