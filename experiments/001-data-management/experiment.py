"""Three placements of data in SCM and flash, by the kind of workload and by how much SCM there is.

The paper: Yamada, Okamoto, Sun, Hachiya, Takeuchi, "SCM/NAND flash hybrid SSD system that considers writes
and reads" (in Japanese). Figures and acceptance live elsewhere; this only measures.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ninescope import toml
from ninescope.papers import stand_ins
from ninescope.papers.experiment import Point, Settings, Summary, Table

HERE = Path(__file__).resolve().parent
BASE = toml.loads((HERE / "drive.toml").read_text(encoding="utf-8"))

VOLUMES = {
    "prxy_0": 1,
    "proj_0": 2,
    "mds_0": 3,
    "src2_2": 4,
    "prxy_1": 5,
    "proj_3": 7,
    "src1_1": 8,
}
"""Stand-ins by the class that they stand for; the paper names those of 5 and 7."""
QUICK_REQUESTS = {
    "prxy_0": 3_000_000,
    "proj_0": 420_000,
    "mds_0": 300_000,
    "src2_2": 30_000,
    "prxy_1": 10_539_935,
    "proj_3": 300_000,
    "src1_1": 200_000,
}
"""Of prxy_1 all, as it was built: the data read hot is there from the beginning, while the footprint grows,
so that it is a larger share of what fewer requests touch. Of prxy_0 enough to be write-hot."""
FULL_REQUESTS = {
    "prxy_0": 6_000_000,
    "proj_0": 1_000_000,
    "mds_0": 1_211_034,
    "src2_2": 100_000,
    "prxy_1": 10_539_935,
    "proj_3": 2_244_644,
    "src1_1": 500_000,
}
OTHER_REQUESTS = {"prxy_0": 1_000_000, "prxy_1": 2_000_000, "proj_3": 300_000}
"""For what is not about the paper's table, and for what is decided otherwise."""
EVICT_FREE = 0.08
PLACEMENTS: dict[str, dict[str, Any]] = {
    "wb": {"policy": "wb", "evict_free": 0.0, "migration": "foreground"},
    "wo-dm": {
        "policy": "wo-dm",
        "evict_free": EVICT_FREE,
        "evict_stop": EVICT_FREE,
        "migration": "background",
    },
    "rwb-dm": {
        "policy": "rwb-dm",
        "evict_free": EVICT_FREE,
        "evict_stop": EVICT_FREE,
        "migration": "background",
        "moves": "hot-and-random",
        "keep_copy": True,
    },
}
SHORT = {"wb": "WB", "wo-dm": "WO-DM", "rwb-dm": "RWB-DM", "nand-only": "NAND only"}
RATIOS = (1, 3, 5, 25, 75, 100)
"""SCM as a percentage of flash."""
TABLE_RATIOS = (3, 25, 75, 100)
"""Those of the paper's table; a quick run has the others for prxy_1 alone."""
CAPACITY = 1.25
"""Flash as a multiple of the footprint."""
SIBLING_RATIOS = (1, 2, 10)
EVICT_SWEEP = (0.01, 0.05, 0.08, 0.2, 0.35, 0.5)
LATENCIES = {"1us": ("1us", "1us"), "10us": ("10us", "10us")}
ASYMMETRIC = ("500ns", "5us")
MOVE_RULES: dict[str, dict[str, Any]] = {
    "hot-or-random": {"moves": "hot-or-random"},
    "to-the-letter": {"moves": "hot-or-random", "keep_copy": False},
}
"""What RWB-DM brings up: the paper's rule, with a copy that stays in flash and without."""
MOVING = ("prxy_1", "proj_3")
MOVE_RATIOS = (3, 25)
SKEWED = ("prxy_0", "prxy_1")
TIE = 0.02

BACKGROUND = {"migration": "background", "evict_free": EVICT_FREE, "evict_stop": EVICT_FREE}
VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "queue depth 8": {"iodepth": 8},
    "1 die": {"changes": {"geometry.channels": 1, "geometry.dies_per_package": 1}},
    "16 dies": {"changes": {"geometry.dies_per_package": 4, "geometry.pages_per_block": 32}},
    "MLC": {"changes": {"nand.read": "85us", "nand.program": "1.7ms", "nand.erase_loop": "8.5ms"}},
    "flash of 1.67 footprints": {"capacity": 1.25 / 0.75},
    "writes end in RAM": {"changes": {"controller.write_completion": "buffer"}},
    "WB evicts in the background": {"placement": {"wb": BACKGROUND}},
    "20 % kept free": {
        "placement": {name: {"evict_free": 0.2, "evict_stop": 0.2} for name in ("wo-dm", "rwb-dm")}
    },
    "sequential pages leave first": {
        "placement": {name: {"victim": "sequential-first"} for name in ("wo-dm", "rwb-dm")}
    },
}
"""What the paper leaves open, decided otherwise; only with a full run, and no verdict rests on it."""
VARIANT_VOLUMES = ("prxy_0", "prxy_1", "proj_3")
VARIANT_RATIO = 3

Results = Mapping[str, dict[str, Any]]


def points(settings: Settings) -> list[Point]:
    """List groups of runs: each draws its stand-in once."""
    requests = QUICK_REQUESTS if settings.quick else FULL_REQUESTS
    groups = []
    for volume in VOLUMES:
        for placement in PLACEMENTS:
            runs = [run(placement, ratio) for ratio in ratios(volume, settings)]
            groups.append(group(volume, placement, runs, requests))
        if volume not in SKEWED:
            groups.append(group(volume, "nand-only", [run("nand-only", 0)], requests))
    for volume in SKEWED:
        ten = [run("nand-only", 0), *(run(placement, 10) for placement in PLACEMENTS)]
        ten += [run(placement, 10, "asymmetric", changes=latency(*ASYMMETRIC)) for placement in PLACEMENTS]
        ten += [run("wo-dm", 10, name, changes=latency(*times)) for name, times in LATENCIES.items()]
        groups.append(group(volume, "at 10 %", ten, OTHER_REQUESTS))
    sweep = [
        run("wo-dm", 3, f"{free:g}", placement_changes={"evict_free": free, "evict_stop": free})
        for free in EVICT_SWEEP
    ]
    groups.append(group("prxy_0", "kept free", sweep, OTHER_REQUESTS))
    sibling = [
        run("wb", ratio, name, placement_changes={"copy_reads": copies})
        for ratio in SIBLING_RATIOS
        for name, copies in (("write-cache", False), ("read-write-cache", True))
    ]
    groups.append(group("prxy_1", "caches", sibling, OTHER_REQUESTS))
    for volume in MOVING:
        rules = [
            run(placement, ratio, name, placement_changes=rule)
            for ratio in MOVE_RATIOS
            for placement, name, rule in (
                *((placement, "", {}) for placement in PLACEMENTS),
                *(("rwb-dm", name, rule) for name, rule in MOVE_RULES.items()),
            )
        ]
        groups.append(group(volume, "move rules", rules, OTHER_REQUESTS))
    if not settings.quick:
        groups += [
            group(volume, variant, variant_runs(variant), OTHER_REQUESTS)
            for volume in VARIANT_VOLUMES
            for variant in VARIANTS
        ]
    return groups


def group(volume: str, name: str, runs: list[dict[str, Any]], requests: Mapping[str, int]) -> Point:
    """Make a point; those with the same requests follow each other, so that a worker draws them once."""
    words = {"volume": volume, "requests": requests[volume], "runs": runs}
    return Point(f"{volume}/{name}", words, weight=requests[volume])


def ratios(volume: str, settings: Settings) -> tuple[int, ...]:
    """Return the shares of SCM that a volume is measured with."""
    return TABLE_RATIOS if settings.quick and volume != "prxy_1" else RATIOS


def run(
    placement: str,
    ratio: float,
    name: str = "",
    *,
    changes: Mapping[str, Any] | None = None,
    placement_changes: Mapping[str, Any] | None = None,
    **others: Any,
) -> dict[str, Any]:
    """Say what one run is, with a name that is its own within the group."""
    words = f"{placement}/{ratio}" + (f"/{name}" if name else "")
    return {
        "name": words,
        "placement": placement,
        "ratio": ratio,
        "changes": dict(changes or {}),
        "placement_changes": dict(placement_changes or {}),
        **others,
    }


def latency(read: str, write: str) -> dict[str, Any]:
    """Change how long one sector of SCM takes."""
    return {"scm.read": read, "scm.set": write, "scm.reset": write}


def variant_runs(variant: str) -> list[dict[str, Any]]:
    """Say what a variant runs."""
    words = dict(VARIANTS[variant])
    by_placement = words.pop("placement", {})
    return [
        run(placement, VARIANT_RATIO, placement_changes=by_placement.get(placement), **words)
        for placement in PLACEMENTS
    ]


# ---- runs --------------------------------------------------------------------------------------------


def simulate(point: Point, settings: Settings) -> dict[str, Any]:
    """Draw a stand-in and run it on one drive after the other."""
    volume = point.parameters["volume"]
    stand_in = stand_ins.draw(volume, point.parameters["requests"], seed=settings.seed)
    return {
        "stand_in": stand_in.as_row(),
        "runs": {words["name"]: measure(stand_in, words, settings) for words in point.parameters["runs"]},
    }


def measure(stand_in: stand_ins.StandIn, words: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Run it once."""
    description = hybrid(stand_in.footprint, words)
    workload = stand_in.workload
    if "iodepth" in words:
        workload = stand_ins.deeper(stand_in, words["iodepth"])
    result = stand_ins.drive(description).run(workload, seed=settings.seed, warmup=stand_ins.WARMUP)
    document = result.document
    return {
        "iops": sum(document["throughput"][op]["iops"] for op in ("read", "write")),
        "scm_over_footprint": scm_share(document, stand_in.footprint),
        "waf": result.waf.total,
        "erases": document["operations"]["erases"],
        "scm": document.get("scm", {}).get("counters", {}),
        "tier": document.get("tier", {}).get("counters", {}),
    }


def hybrid(footprint: int, words: Mapping[str, Any]) -> dict[str, Any]:
    """Describe the drive of a run."""
    capacity = words.get("capacity", CAPACITY)
    name = words["placement"]
    if name == "nand-only":
        changes = {"tier": None, "scm": None, **words["changes"]}
    else:
        placement = {**PLACEMENTS[name], **words["placement_changes"]}
        changes = {"tier": {"placement": placement, "scm_ratio": words["ratio"] / 100}, **words["changes"]}
    return stand_ins.flash_sized(BASE, footprint, capacity, changes)


def scm_share(document: Mapping[str, Any], footprint: int) -> float:
    """Return how much of what the workload touches fits into SCM, whose capacity comes in whole slots."""
    scm = document["config"]["drive"].get("scm")
    return stand_ins.size(scm["capacity"]) / footprint if scm else 0.0


# ---- what it comes to --------------------------------------------------------------------------------


def summarise(results: Results, settings: Settings) -> Summary:
    """Name what was measured."""
    iops = iops_of_all(results)
    measured: dict[str, Any] = {
        "iops": iops,
        "margin": {volume: {key: margins(cell) for key, cell in cells(iops[volume])} for volume in VOLUMES},
        "spread": {volume: {key: spread(cell) for key, cell in cells(iops[volume])} for volume in VOLUMES},
        "class_6_volumes_of_all": None,
        "saturation": {
            placement: iops["prxy_1"]["5"][placement] / iops["prxy_1"]["100"][placement]
            for placement in PLACEMENTS
        },
        "over_nand_only": {volume: over_nand_only(iops[volume]) for volume in SKEWED},
        "kept_free": kept_free(results),
        "caches": caches(results),
        "slower_scm": {volume: slower_scm(results, volume) for volume in SKEWED},
    }
    tables = [
        stand_in_table(results),
        iops_table(results, iops),
        best_table(iops),
        ten_percent_table(results, iops),
        kept_free_table(results),
        cache_table(measured["caches"]),
        move_table(results),
        movement_table(results),
        *([] if settings.quick else [variant_table(results)]),
    ]
    return Summary(measured, tables)


def iops_of_all(results: Results) -> dict[str, Any]:
    """Return IOPS by volume, ratio and placement."""
    tree: dict[str, Any] = {}
    for volume in VOLUMES:
        of_volume: dict[str, Any] = {}
        for placement in PLACEMENTS:
            for name, found in results[f"{volume}/{placement}"]["runs"].items():
                of_volume.setdefault(name.removeprefix(f"{placement}/"), {})[placement] = found["iops"]
        alone = f"{volume}/{'at 10 %' if volume in SKEWED else 'nand-only'}"
        of_volume["nand-only"] = results[alone]["runs"]["nand-only/0"]["iops"]
        if volume in SKEWED:
            runs = results[f"{volume}/at 10 %"]["runs"]
            of_volume["10"] = {name: runs[f"{name}/10"]["iops"] for name in PLACEMENTS}
            of_volume["10-asymmetric"] = {name: runs[f"{name}/10/asymmetric"]["iops"] for name in PLACEMENTS}
        tree[volume] = of_volume
    return tree


def cells(of_volume: Mapping[str, Any]) -> list[tuple[str, Mapping[str, float]]]:
    """Return IOPS by placement, for each ratio of a volume."""
    return [(key, cell) for key, cell in of_volume.items() if isinstance(cell, Mapping)]


def margins(cell: Mapping[str, float]) -> dict[str, float]:
    """Return by how much each placement is better than the best of the others: above 1 it is the best.

    `wb-or-rwb-dm` takes the better of those two.
    """
    found = {
        name: iops / max(other for other_name, other in cell.items() if other_name != name)
        for name, iops in cell.items()
    }
    return found | {"wb-or-rwb-dm": max(cell["wb"], cell["rwb-dm"]) / cell["wo-dm"]}


def spread(cell: Mapping[str, float]) -> float:
    """Return how far the worst lies below the best."""
    return 1 - min(cell.values()) / max(cell.values())


def over_nand_only(of_volume: Mapping[str, Any]) -> dict[str, float]:
    """Return how many times the IOPS of flash alone are reached with 10 % SCM, by the best placement."""
    alone = of_volume["nand-only"]
    return {
        "fast": max(of_volume["10"].values()) / alone,
        "asymmetric": max(of_volume["10-asymmetric"].values()) / alone,
    }


def kept_free(results: Results) -> dict[str, Any]:
    """Return how IOPS depend on how much is kept free, and where they are best."""
    runs = results["prxy_0/kept free"]["runs"]
    iops = {f"{free:g}": runs[f"wo-dm/3/{free:g}"]["iops"] for free in EVICT_SWEEP}
    best = max(iops, key=lambda free: iops[free])
    return {"iops": iops, "optimum": float(best), "most_over_least": max(iops.values()) / min(iops.values())}


def caches(results: Results) -> dict[str, Any]:
    """Return what caches of writes, and of writes and reads, reach."""
    runs = results["prxy_1/caches"]["runs"]
    return {
        str(ratio): {name: runs[f"wb/{ratio}/{name}"]["iops"] for name in ("write-cache", "read-write-cache")}
        for ratio in SIBLING_RATIOS
    }


def slower_scm(results: Results, volume: str) -> dict[str, float]:
    """Return IOPS by the latency of SCM, and what is lost from 1 to 10 us."""
    runs = results[f"{volume}/at 10 %"]["runs"]
    iops = {name: runs[f"wo-dm/10/{name}"]["iops"] for name in LATENCIES}
    return {**iops, "lost_from_1us_to_10us": 1 - iops["10us"] / iops["1us"]}


def stand_in_table(results: Results) -> Table:
    """Tabulate what was drawn."""
    rows: list[list[Any]] = []
    for volume, wanted in VOLUMES.items():
        row = results[f"{volume}/wb"]["stand_in"]
        found = row["class"]
        rows.append(
            [
                volume,
                wanted,
                f"{found['number']} {found['name']}",
                f"{row['requests']:,}",
                f"{row['write_share']:.1%}",
                f"{row['mean_write_bytes'] / 1024:.1f}",
                f"{row['mean_read_bytes'] / 1024:.1f}",
                f"{row['footprint'] / (1 << 20):,.0f}",
                f"{row['read_footprint'] / (1 << 20):,.0f}",
                f"{row['read_and_written']:.0%}",
            ]
        )
    return Table(
        "What was drawn",
        [
            "stand-in",
            "stands for",
            "class as drawn",
            "requests",
            "writes",
            "KiB a write",
            "KiB a read",
            "MiB touched",
            "read",
            "of it written",
        ],
        rows,
        note="the class of the whole volume is in docs/stand-ins.md; the first requests of one are colder",
    )


def iops_table(results: Results, iops: Mapping[str, Any]) -> Table:
    """Tabulate IOPS by ratio."""
    rows: list[list[Any]] = []
    for volume, number in VOLUMES.items():
        rows.append([f"{number} {volume}", "none", "", count(iops[volume]["nand-only"]), "", "", ""])
        for ratio in RATIOS:
            if str(ratio) not in iops[volume]:
                continue
            cell = iops[volume][str(ratio)]
            share = results[f"{volume}/wb"]["runs"][f"wb/{ratio}"]["scm_over_footprint"]
            rows.append(
                [
                    f"{number} {volume}",
                    f"{ratio} %",
                    f"{share:.3g}",
                    *(count(cell[name]) for name in PLACEMENTS),
                    f"{spread(cell):.1%}",
                ]
            )
    return Table(
        "IOPS",
        ["volume", "SCM / flash", "SCM / footprint", *(SHORT[name] for name in PLACEMENTS), "spread"],
        rows,
        note="none: flash alone, its IOPS under WB (of prxy_0 and prxy_1 fewer requests)",
    )


def best_table(iops: Mapping[str, Any]) -> Table:
    """Tabulate which placement is best, and what lies within the tolerance of it."""
    rows: list[list[Any]] = []
    for ratio in TABLE_RATIOS:
        row: list[Any] = [f"{ratio} %"]
        for volume in VOLUMES:
            cell = iops[volume][str(ratio)]
            best = max(cell.values())
            order = sorted(cell, key=lambda name: -cell[name])
            row.append(" = ".join(SHORT[name] for name in order if cell[name] >= (1 - TIE) * best))
        rows.append(row)
    return Table(
        "table1",
        ["SCM / flash", *(f"{number} {volume}" for volume, number in VOLUMES.items())],
        rows,
        note=f"the best first, and what lies within {TIE:.0%} of it",
    )


def ten_percent_table(results: Results, iops: Mapping[str, Any]) -> Table:
    """Tabulate what 10 % of SCM gain over flash alone, and what slower SCM loses."""
    rows: list[list[Any]] = []
    for volume in SKEWED:
        alone = iops[volume]["nand-only"]
        for name, words in (("10", "0.1 us"), ("10-asymmetric", "0.5 us read, 5 us write")):
            cell = iops[volume][name]
            gains = [f"{cell[placement] / alone:.1f} x" for placement in PLACEMENTS]
            rows.append([volume, words, *gains])
        slower = slower_scm(results, volume)
        for name in LATENCIES:
            rows.append([volume, name, "", f"{slower[name] / alone:.1f} x", ""])
    columns = ["volume", "a sector of SCM takes", *(SHORT[name] for name in PLACEMENTS)]
    return Table("Times the IOPS of flash alone, with 10 % SCM", columns, rows)


def kept_free_table(results: Results) -> Table:
    """Tabulate how much is kept free."""
    runs = results["prxy_0/kept free"]["runs"]
    rows: list[list[Any]] = []
    for free in EVICT_SWEEP:
        found = runs[f"wo-dm/3/{free:g}"]
        rows.append([f"{free:.0%}", count(found["iops"]), f"{found['erases']:,}"])
    return Table("prxy_0, WO-DM at 3 %: kept free", ["kept free", "IOPS", "erases"], rows)


def cache_table(found: Mapping[str, Any]) -> Table:
    """Tabulate what caching reads as well does."""
    rows: list[list[Any]] = [
        [f"{ratio} %", count(cell["write-cache"]), count(cell["read-write-cache"])]
        for ratio, cell in found.items()
    ]
    return Table(
        "prxy_1: WB without and with copies of what is read", ["SCM / flash", "without", "with"], rows
    )


def move_table(results: Results) -> Table:
    """Tabulate what RWB-DM's rule does."""
    rows: list[list[Any]] = []
    for volume in MOVING:
        runs = results[f"{volume}/move rules"]["runs"]
        for ratio in MOVE_RATIOS:
            names = [*PLACEMENTS, *(f"rwb-dm/{ratio}/{name}" for name in MOVE_RULES)]
            found = [runs[f"{name}/{ratio}" if name in PLACEMENTS else name]["iops"] for name in names]
            rows.append([volume, f"{ratio} %", *map(count, found)])
    return Table(
        "RWB-DM: which reads bring a page up",
        ["volume", "SCM / flash", "WB", "WO-DM", "hot and random", "hot or random", "without a copy"],
        rows,
        note="the first requests alone; no verdict rests on it. The paper says hot or random, without a copy",
    )


def movement_table(results: Results) -> Table:
    """Tabulate what moved between the media at the smallest ratio of the table."""
    rows: list[list[Any]] = []
    for volume, number in VOLUMES.items():
        for placement in PLACEMENTS:
            found = results[f"{volume}/{placement}"]["runs"][f"{placement}/3"]
            tier = found["tier"]
            accesses = tier.get("page_accesses", 0)
            hits = f"{tier['page_hits'] / accesses:.1%}" if accesses else None
            moved = [
                tier.get(key) for key in ("evicted_dirty", "evicted_clean", "evictions_merged", "copied_up")
            ]
            cells = [None if value is None else f"{value:,}" for value in moved]
            rows.append([f"{number} {volume}", SHORT[placement], hits, *cells, f"{found['erases']:,}"])
    return Table(
        "Pages that moved, at 3 %",
        ["volume", "placement", "hits", "down, dirty", "dropped, clean", "merged", "copied up", "erases"],
        rows,
    )


def variant_table(results: Results) -> Table:
    """Tabulate what open decisions would change."""
    rows: list[list[Any]] = []
    for variant in VARIANTS:
        row: list[Any] = [variant]
        for volume in VARIANT_VOLUMES:
            runs = results[f"{volume}/{variant}"]["runs"]
            cell = {name: runs[f"{name}/{VARIANT_RATIO}"]["iops"] for name in PLACEMENTS}
            best = max(cell, key=lambda name: cell[name])
            row += [*(count(cell[name]) for name in PLACEMENTS), SHORT[best]]
        rows.append(row)
    columns = ["decided otherwise"]
    for volume in VARIANT_VOLUMES:
        columns += [f"{volume} WB", "WO", "RWB", "best"]
    return Table(f"Decided otherwise: IOPS at {VARIANT_RATIO} %", columns, rows)


def count(value: float) -> str:
    """Write IOPS."""
    return f"{value:,.0f}"


# ---- figures -----------------------------------------------------------------------------------------

COLOURS = {"wb": "#444444", "wo-dm": "#d9621e", "rwb-dm": "#1f6fb4"}


def draw(results: Results, directory: Path, settings: Settings) -> list[Path]:
    """Draw IOPS over the ratio, a panel for each volume."""
    from matplotlib.figure import Figure

    iops = iops_of_all(results)
    figure = Figure(figsize=(13, 6.5), dpi=140, layout="constrained", facecolor="white")
    panels = figure.subplots(2, 4).flatten()
    for axes, (volume, number) in zip(panels, VOLUMES.items(), strict=False):
        for placement in PLACEMENTS:
            found = [ratio for ratio in RATIOS if str(ratio) in iops[volume]]
            reached = [iops[volume][str(ratio)][placement] for ratio in found]
            axes.plot(found, reached, "o-", color=COLOURS[placement], label=SHORT[placement], markersize=4)
        axes.axhline(iops[volume]["nand-only"], color="#999999", linestyle="--", label=SHORT["nand-only"])
        axes.set(xscale="log", yscale="log", xlabel="SCM / flash [%]", ylabel="IOPS")
        axes.set_xticks(RATIOS, [str(ratio) for ratio in RATIOS])
        axes.minorticks_off()
        axes.set_title(f"{number} {volume} (stand-in)", loc="left", fontsize=10, fontweight="bold")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#e6e6e6", linewidth=0.6)
    handles, labels = panels[0].get_legend_handles_labels()
    panels[-1].axis("off")
    panels[-1].legend(handles, labels, frameon=False, loc="center")
    path = directory / "ratio_sweep.png"
    figure.savefig(path)
    return [path]
