"""docs/stand-ins.md: each constraint, its source, and what came out."""

from __future__ import annotations

from pathlib import Path

from solve import Measured, seen
from table import Constraint, Volume

HOT_FROM, RANDOM_BELOW = 20.0, 8192.0
FOLDER = Path(__file__).parent

UNITS = {"write_share", "top_1_percent_write_share", "rewrite_ratio", "multiple_share", "unaligned_share"}


def text(name: str) -> str:
    """The prose in a file beside this one."""
    return (FOLDER / name).read_text(encoding="utf-8")


def number(key: str, value: float) -> str:
    """A number as it is read best."""
    if key in UNITS:
        return f"{value:.4f}"
    if key == "mean_gap_s":
        return f"{value:.4f}"
    if key in {"bytes", "span_bytes"}:
        return f"{value / 1e9:,.2f}e9"
    return f"{value:,.0f}" if value >= 100 else f"{value:,.3g}"


def group_of(measured: Measured) -> tuple[int, str, float, float]:
    """The class in eight: number, name, mean bytes of the dominant operation, hotness."""
    whole = measured["whole"]
    is_write = whole["writes"] > whole["reads"]
    op = "write" if is_write else "read"
    mean = whole[f"mean_{op}_bytes"]
    hotness = mean * whole[f"{op}s"] / (whole["pages"] * 4096)
    is_hot, is_random = hotness >= HOT_FROM, mean < RANDOM_BELOW
    place = 1 + 4 * (not is_write) + 2 * (not is_hot) + (not is_random)
    name = f"{op}-{'hot' if is_hot else 'cold'}-{'random' if is_random else 'sequential'}"
    return place, name, mean, hotness


def where(volume: Volume, each: Constraint) -> str:
    """Of which requests a constraint is."""
    return "all" if each.of == "whole" else f"first {int(each.of):,}"


def worst_of(volume: Volume, measured: Measured) -> tuple[Constraint, float]:
    """The constraint that is missed most."""
    missed = [
        (each, seen(volume, measured, each.of, each.key) / each.value - 1) for each in volume.constraints
    ]
    return max(missed, key=lambda pair: abs(pair[1]))


def page(sources: dict[str, str], results: list[tuple[Volume, Measured]]) -> str:
    """The whole page."""
    lines = [text("head.md"), "## All of them", ""]
    lines += [
        "| profile | scale | requests | class | mean bytes | hotness | worst deviation |",
        "|---|---|---:|---|---:|---:|---|",
    ]
    for volume, measured in results:
        place, name, mean, hotness = group_of(measured)
        worst, by = worst_of(volume, measured)
        scale = f"1/{volume.scale}" if volume.scale > 1 else "1"
        lines.append(
            f"| [{volume.name}](#{volume.name}) | {scale} | {measured['whole']['requests']:,} | "
            f"{place} {name} | {mean:,.0f} | {hotness:.1f} | {worst.key} {by:+.1%} |"
        )
    lines += ["", text("classes.md")]
    for volume, measured in results:
        lines += chapter(volume, measured)
    lines += [text("tail.md"), "## Sources", ""]
    lines += [f"- **{name}**: {text}." for name, text in sources.items()]
    return "\n".join(lines) + "\n"


def chapter(volume: Volume, measured: Measured) -> list[str]:
    """What there is to say of one volume."""
    lines = [f"## {volume.name}", ""]
    if volume.scale > 1:
        lines += [
            f"Scaled 1/{volume.scale}: what grows with the trace is divided by {volume.scale} below.",
            "",
        ]
    lines += [
        "| constraint | of | published | source | achieved | deviation | |",
        "|---|---|---:|---|---:|---:|---|",
    ]
    for each in volume.constraints:
        value = seen(volume, measured, each.of, each.key)
        by = value / each.value - 1
        verdict = "" if abs(by) <= each.tolerance else "missed"
        if each.tolerance != 0.1 and not verdict:
            verdict = f"within {each.tolerance:.0%}"
        note = f"{verdict}: {each.why}" if each.why else verdict
        lines.append(
            f"| {each.key} | {where(volume, each)} | {number(each.key, each.value)} | {each.source} | "
            f"{number(each.key, value)} | {by:+.1%} | {note} |"
        )
    if volume.compared:
        lines += [
            "",
            "Compared and not fitted:",
            "",
            "| number | of | published | source | achieved | why not |",
            "|---|---|---:|---|---:|---|",
        ]
        lines += [
            f"| {each.key} | {where(volume, each)} | {number(each.key, each.value)} | {each.source} | "
            f"{number(each.key, seen(volume, measured, each.of, each.key))} | {each.why} |"
            for each in volume.compared
        ]
    if volume.shape:
        shape = ", ".join(f"{key} {value:.2%}" for key, value in volume.shape.items())
        lines += [
            "",
            f"Chosen before any result was seen, not published: {shape}. That what is written hot is the "
            "busiest of what is read hot was decided after verdicts had been seen "
            "([why](decisions/0020-hot-data-is-read-and-written.md)).",
        ]
    entries = [
        (window, key, value, why)
        for window, table in ((volume.window, volume.inferred), ("whole", volume.inferred_whole))
        for key, (value, why) in table.items()
    ]
    if entries:
        lines += [
            "",
            "Inferred:",
            "",
            "| number | of | assumed | achieved | why |",
            "|---|---|---:|---:|---|",
        ]
        for window, key, value, why in entries:
            there = key in measured["whole"]
            got = number(key, seen(volume, measured, window, key)) if there else ""
            of = "all" if window == "whole" else f"first {int(window):,}"
            lines.append(f"| {key} | {of} | {number(key, value)} | {got} | {why} |")
    return [*lines, ""]


def write(path: Path, sources: dict[str, str], results: list[tuple[Volume, Measured]]) -> None:
    """Writes the page."""
    path.write_text(page(sources, results), encoding="utf-8")
