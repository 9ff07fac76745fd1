"""What the simulations of `experiment.py` come to: named values, tables and figures.

It knows nothing of what was published or of what would count as reproducing it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiment import (
    APART,
    APART_RATIOS,
    EVICT_SWEEP,
    LATENCIES,
    MOVE_RATIOS,
    MOVE_RULES,
    MOVING,
    OPEN_LOOP,
    PLACEMENTS,
    RATIOS,
    SATURATION_RATIOS,
    SEARCHED,
    SEARCHED_RATIOS,
    SHORT,
    SIBLING_RATIOS,
    SKEWED,
    TABLE_RATIOS,
    VARIANT_RATIO,
    VARIANT_VOLUMES,
    VARIANTS,
    VOLUMES,
)
from further import APART as APART_FURTHER
from further import APART_RATIO, APART_VOLUMES, REQUESTS, WAYS, Combination, combinations

from ninescope import toml
from ninescope.figures import PALETTE, Axis, Figure, Panel, Series
from ninescope.papers.experiment import Settings, Summary, Table

TIE = 0.02
COLOURS = {"wb": "#444444", "wo-dm": "#d9621e", "rwb-dm": "#1f6fb4"}
OTHERS = ("hm_0", "rsrch_0", "src1_2", "src2_0", "stg_0", "ts_0", "usr_0", "wdev_0", "proj_1")
"""Stand-ins that are placed in figure 3 and run nowhere."""
MORE_COLOURS = ("#8c564b", "#9aa52b", "#d98fb0", "#5b6fd1", "#b03a2e", "#2f7f86", "#a9a9a9", "#6b8e23")
VOLUME_COLOURS = dict(zip((*VOLUMES, *OTHERS), (*PALETTE, *MORE_COLOURS), strict=True))

Results = Mapping[str, dict[str, Any]]


ALL_VOLUMES = 36
"""Of figure 3."""
CLASS_6 = 6


def of_class_6(settings: Settings) -> int | None:
    """Count the volumes that are read hot and sequentially, where somebody has all of them."""
    if len(settings.volumes) < ALL_VOLUMES:
        return None
    return sum(volume.class_number == CLASS_6 for volume in settings.volumes)


def summarise(results: Results, settings: Settings) -> Summary:
    """Name what was measured."""
    if settings.brief:
        return Summary(of_quantitative_claims(results), [kept_free_table(results)])
    iops = iops_of_all(results)
    measured: dict[str, Any] = {
        "iops": iops,
        "margin": {volume: {key: margins(cell) for key, cell in cells(iops[volume])} for volume in VOLUMES},
        "spread": {volume: {key: spread(cell) for key, cell in cells(iops[volume])} for volume in VOLUMES},
        "class_6_volumes_of_all": of_class_6(settings),
        **of_quantitative_claims(results),
        "caches": caches(results),
        **({} if settings.quick else {"searched": searched(results)}),
    }
    tables = [
        stand_in_table(results),
        iops_table(results, iops),
        best_table(iops, source(results)),
        ten_percent_table(results, iops),
        kept_free_table(results),
        cache_table(measured["caches"]),
        *([] if settings.quick else [move_table(results)]),
        movement_table(results),
        below_table(results),
        *(
            []
            if settings.quick
            else [
                variant_table(results),
                search_table(results),
                apart_table(results, iops),
                apart_further_table(results, iops),
                open_loop_table(results),
            ]
        ),
    ]
    return Summary(measured, tables)


def of_quantitative_claims(results: Results) -> dict[str, Any]:
    """Name what a brief run measures as well."""
    return {
        "saturation": {placement: saturation(results, placement) for placement in PLACEMENTS},
        "over_nand_only": {volume: over_nand_only(results, volume) for volume in SKEWED},
        "kept_free": kept_free(results),
        "slower_scm": {volume: slower_scm(results, volume) for volume in SKEWED},
    }


def iops_of_all(results: Results) -> dict[str, Any]:
    """Return IOPS by volume, ratio and placement."""
    tree: dict[str, Any] = {}
    for volume in VOLUMES:
        of_volume: dict[str, Any] = {}
        for placement in PLACEMENTS:
            for name, found in results[f"{volume}/{placement}"]["runs"].items():
                of_volume.setdefault(name.removeprefix(f"{placement}/"), {})[placement] = found["iops"]
        alone = results.get(f"{volume}/nand-only") or results[f"{volume}/at 10 %"]
        of_volume["nand-only"] = alone["runs"]["nand-only/0"]["iops"]
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


def saturation(results: Results, placement: str) -> float:
    """Return which part of the IOPS with most SCM is there with little of it."""
    little, most = (
        results[f"prxy_1/{placement}"]["runs"][f"{placement}/{ratio}"]["iops"] for ratio in SATURATION_RATIOS
    )
    return float(little / most)


def over_nand_only(results: Results, volume: str) -> dict[str, float]:
    """Return how many times the IOPS of flash alone are reached with 10 % SCM, by the best placement."""
    runs = results[f"{volume}/at 10 %"]["runs"]
    alone = runs["nand-only/0"]["iops"]
    return {
        "fast": max(runs[f"{name}/10"]["iops"] for name in PLACEMENTS) / alone,
        "asymmetric": max(runs[f"{name}/10/asymmetric"]["iops"] for name in PLACEMENTS) / alone,
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


STAND_IN = "stand-in"


def source(results: Results) -> str:
    """Say what the requests are: drawn in the places of volumes, or the volumes' own."""
    rows = [of["stand_in"] for name, of in results.items() if name.split("/")[0] in VOLUMES]
    return "real trace" if rows and all(row["is_real"] for row in rows) else STAND_IN


def about(results: Results) -> str:
    """Say the same of volumes that are placed and not run as well."""
    if source(results) == STAND_IN:
        return "Stand-ins, drawn from published statistics"
    return "Real traces, and where one is not at hand its stand-in"


def searched(results: Results) -> dict[str, Any]:
    """Return what claims are about with each combination of what the paper leaves open."""
    cut = ", ".join(f"{volume} {requests:,}" for volume, requests in REQUESTS.items())
    return {
        "note": f"the first requests of each volume ({cut}) on drives of the size of the whole one, so that "
        "what is read hot is the share of SCM that it is there. Judged above, on whole volumes, is: "
        f"{next(combinations()).words}. That row says how far a cut tells the same: of prxy_1 it does to "
        "some percent; of others what is touched fits from 25 % on, which 1.6 has cells of, and proj_3 comes "
        "back to its data too late for 1.3. The table What decides which placement is best has 1.3 and 1.5 "
        "on whole volumes; 1.6 is measured there for what is judged alone",
        "of": {combination.words: with_combination(results, combination) for combination in combinations()},
    }


def with_combination(results: Results, combination: Combination) -> dict[str, Any]:
    """Return IOPS, margins, spreads and saturation with one of them."""
    iops: dict[str, Any] = {}
    for volume in VOLUMES:
        runs = results[f"{volume}/search/{combination.setting}"]["runs"]
        iops[volume] = {
            str(ratio): {
                name: runs[f"{name}/{ratio}/{way}"]["iops"] for name, way in combination.ways.items()
            }
            for ratio in (RATIOS if volume == "prxy_1" else TABLE_RATIOS)
        }
    little, most = map(str, SATURATION_RATIOS)
    of_prxy_1 = iops["prxy_1"]
    return {
        "iops": iops,
        "margin": {name: {ratio: margins(cell) for ratio, cell in of.items()} for name, of in iops.items()},
        "spread": {name: {ratio: spread(cell) for ratio, cell in of.items()} for name, of in iops.items()},
        "saturation": {name: of_prxy_1[little][name] / of_prxy_1[most][name] for name in PLACEMENTS},
    }


MEAN_BYTES = ("mean_write_bytes", "mean_read_bytes")


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
                # Of a few requests there may be none.
                *("" if row[key] is None else f"{row[key] / 1024:.1f}" for key in MEAN_BYTES),
                f"{row['footprint'] / (1 << 20):,.0f}",
                f"{row['read_footprint'] / (1 << 20):,.0f}",
                f"{row['read_and_written']:.0%}",
            ]
        )
    return Table(
        "What was drawn" if source(results) == STAND_IN else "What was taken",
        [
            source(results),
            "stands for",
            "class of these requests",
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
        note="none: flash alone, its IOPS under WB",
    )


def best_table(iops: Mapping[str, Any], requests: str) -> Table:
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
        "Table 1: the best placement by class and share of SCM",
        ["SCM / flash", *(f"{number} {volume}" for volume, number in VOLUMES.items())],
        rows,
        note=f"each class by its {requests}; the best first, and what lies within {TIE:.0%} of it",
    )


def ten_percent_table(results: Results, iops: Mapping[str, Any]) -> Table:
    """Tabulate what 10 % of SCM gain over flash alone, and what slower SCM loses."""
    rows: list[list[Any]] = []
    for volume in SKEWED:
        alone = results[f"{volume}/at 10 %"]["runs"]["nand-only/0"]["iops"]
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
        ["volume", "SCM / flash", "WB", "WO-DM", "RWB-DM", "hot and random", "with a copy"],
        rows,
        note="the first requests alone, on drives of their size, in which SCM holds less of what is read "
        "hot: another placement may be ahead than on the whole (tables Decided otherwise and What decides). "
        "No verdict rests on it. RWB-DM: hot or random, no copy in flash",
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


CLASSES = ("hot_random", "hot_sequential", "cold_random", "cold_sequential")


def below_table(results: Results) -> Table:
    """Tabulate what the host still has flash do where SCM is as large as flash."""
    rows: list[list[Any]] = []
    for volume, number in VOLUMES.items():
        for placement in PLACEMENTS:
            tier = results[f"{volume}/{placement}"]["runs"][f"{placement}/{TABLE_RATIOS[-1]}"]["tier"]
            read, written = (
                sum(tier.get(name, {}).get(key, 0) for name in CLASSES)
                for key in ("read_lower", "written_lower")
            )
            evicted = tier.get("evicted_dirty", 0)
            cells = [f"{count(sectors * 512 / (1 << 20))} MiB" for sectors in (read, written)]
            rows.append([f"{number} {volume}", SHORT[placement], *cells, f"{evicted:,}"])
    return Table(
        f"What the host reads from flash and writes to it, at {TABLE_RATIOS[-1]} %",
        ["volume", "placement", "read", "written", "pages down, dirty"],
        rows,
        note="a write to flash ends in RAM (decision 33)",
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
    return Table(
        f"Decided otherwise: IOPS at {VARIANT_RATIO} %",
        columns,
        rows,
        note="whole volumes, as in the table of IOPS; no verdict rests on them. Writes end in flash: a "
        "request that writes to flash waits for the program",
    )


def search_table(results: Results) -> Table:
    """Tabulate which placement is the best under each of what decides it, and what more memory brings."""
    found = {"as it is": {}} | {variant: results[f"prxy_1/{variant}"]["runs"] for variant in SEARCHED}
    for placement in PLACEMENTS:
        for ratio in (VARIANT_RATIO, *SEARCHED_RATIOS):
            name = f"{placement}/{ratio}"
            found["as it is"][name] = results[f"prxy_1/{placement}"]["runs"][name]
    rows: list[list[Any]] = []
    for variant, runs in found.items():
        others = {volume: results[f"{volume}/{variant}"]["runs"] for volume in ("prxy_0", "proj_3")}
        row: list[Any] = [variant, *(ahead(others[volume], VARIANT_RATIO) for volume in others)]
        row += [ahead(runs, ratio) for ratio in sorted((VARIANT_RATIO, *SEARCHED_RATIOS))]
        low, high = SATURATION_RATIOS
        row += [
            percent(runs[f"{name}/{low}"]["iops"] / runs[f"{name}/{high}"]["iops"]) for name in PLACEMENTS
        ]
        rows.append(row)
    columns = ["decided otherwise", *(f"{volume} {VARIANT_RATIO} %" for volume in ("prxy_0", "proj_3"))]
    columns += [f"prxy_1 {ratio} %" for ratio in sorted((VARIANT_RATIO, *SEARCHED_RATIOS))]
    columns += [f"{SHORT[name]} at 5 over 100 %" for name in PLACEMENTS]
    return Table(
        "What decides which placement is best",
        columns,
        rows,
        note="the best, and by how much it is ahead of the next; whole volumes",
    )


def apart_table(results: Results, iops: Mapping[str, Any]) -> Table:
    """Tabulate what each placement reaches of the best where what sets them apart is taken away."""
    rows: list[list[Any]] = []
    for volume, category in VOLUMES.items():
        runs = results[f"{volume}/apart"]["runs"]
        for ratio in APART_RATIOS:
            usual = {name: iops[volume][str(ratio)][name] for name in PLACEMENTS}
            cells = [usual]
            for words, changed in APART.items():
                others = {name: runs[f"{name}/{ratio}/{words}"]["iops"] for name in changed}
                cells.append(usual | others)
            rows.append([f"{category} {volume}", f"{ratio} %", *map(of_best, cells)])
    return Table(
        "What puts a placement ahead",
        ["volume", "SCM", "as it is", *APART],
        rows,
        note="IOPS of WB, WO-DM and RWB-DM, of 100 of the best; whole volumes, and no verdict rests on "
        "what is decided otherwise",
    )


def apart_further_table(results: Results, iops: Mapping[str, Any]) -> Table:
    """Tabulate what is left of the differences where RWB-DM neither waits nor moves much."""
    rows: list[list[Any]] = []
    way = WAYS["rwb-dm"]["does not wait, moves less"]
    for volume in APART_VOLUMES:
        usual = {name: iops[volume][str(APART_RATIO)][name] for name in PLACEMENTS}
        runs = results[f"{volume}/{APART_FURTHER}"]["runs"]
        cell = usual | {"rwb-dm": runs[f"rwb-dm/{APART_RATIO}"]["iops"]}
        in_turn = results[f"{volume}/apart"]["runs"]
        waits = in_turn[f"wo-dm/{APART_RATIO}/all evict in the foreground"]["iops"]
        both = cell | {"wo-dm": waits}
        rows.append([f"{VOLUMES[volume]} {volume}", *map(of_best, (usual, cell, both))])
    return Table(
        "What puts a placement ahead: RWB-DM by another rule",
        ["volume", "as it is", APART_FURTHER, "and WO-DM waits"],
        rows,
        note=f"{APART_RATIO} % of SCM; IOPS of WB, WO-DM and RWB-DM, of 100 of the best; whole volumes; "
        f"RWB-DM: {', '.join(f'{key} = {value}' for key, value in way.items())}",
    )


def of_best(cell: Mapping[str, float]) -> str:
    """Write what each placement reaches, of 100 of the best."""
    best = max(cell.values())
    return " ".join(f"{100 * cell[name] / best:.0f}" for name in PLACEMENTS)


def ahead(runs: Mapping[str, Any], ratio: int) -> str:
    """Write the best placement, and by how much it is ahead of the next."""
    iops = {name: runs[f"{name}/{ratio}"]["iops"] for name in PLACEMENTS}
    best, second = sorted(iops, key=lambda name: -iops[name])[:2]
    return f"{SHORT[best]} +{100 * (iops[best] / iops[second] - 1):.1f}%"


def percent(share: float) -> str:
    """Write a share."""
    return f"{share:.0%}"


def open_loop_table(results: Results) -> Table:
    """Tabulate how long requests take that come at their own times."""
    rows: list[list[Any]] = []
    for volume in VARIANT_VOLUMES:
        runs = results[f"{volume}/{OPEN_LOOP}"]["runs"]
        mean = {name: runs[f"{name}/{VARIANT_RATIO}"]["mean_us"] for name in PLACEMENTS}
        best = min(mean, key=lambda name: mean[name])
        rows.append([volume, *(f"{mean[name]:,.1f}" for name in PLACEMENTS), SHORT[best]])
    return Table(
        f"Requests at their own times: mean response at {VARIANT_RATIO} % [us]",
        ["volume", *(SHORT[name] for name in PLACEMENTS), "best"],
        rows,
        note="whole volumes at the published rates, with the idle time between requests",
    )


def count(value: float) -> str:
    """Write IOPS."""
    return f"{value:,.0f}"


# ---- figures -----------------------------------------------------------------------------------------


def figures(results: Results, settings: Settings) -> list[Figure]:
    """Say what the paper's figures look like here; a brief run measures too little for any."""
    if settings.brief:
        return []
    iops = iops_of_all(results)
    return [
        figure_3(results, settings),
        figure_4(iops, source(results)),
        figure_5(results, iops),
        ratio_sweep(iops, source(results)),
    ]


def drawn(results: Results, settings: Settings) -> dict[str, Mapping[str, Any]]:
    """Return what each stand-in is like: of a full run all of them, whole; of a quick one those that ran."""
    if settings.quick:
        return {volume: results[f"{volume}/wb"]["stand_in"] for volume in VOLUMES}
    whole = {name.removesuffix("/whole"): of for name, of in results.items() if name.endswith("/whole")}
    return {volume: whole[volume]["stand_in"] for volume in sorted(whole)}


def figure_3(results: Results, settings: Settings) -> Figure:
    """Place stand-ins by the size of their requests and by how hot they are."""
    stand_ins = drawn(results, settings)
    extent = "as many requests as are run" if settings.quick else "all requests of the volume"
    return Figure(
        "figure-3",
        "Figure 3: classes of workloads",
        [class_panel(stand_ins, word, dominant) for word, dominant in WORDS.items()],
        caption=f"{about(results)}, each at the mean size and the total bytes of "
        f"the operation that it has more requests of ({extent}; fewer are colder). The paper has 36 volumes "
        "and a border at 8 KiB; where hot begins is not published, 20 is inferred.",
    )


WORDS = {"writing": "write", "reading": "read"}
"""Panels of figure 3, and the operation that dominates."""


def class_panel(stand_ins: Mapping[str, Mapping[str, Any]], word: str, dominant: str) -> Panel:
    """Show those in which an operation dominates, and the borders between the classes."""
    found = {name: row for name, row in stand_ins.items() if row["class"]["dominant"] == dominant}
    classes = {name: row["class"] for name, row in found.items()}
    # The borders are the same for all.
    borders = next(iter(stand_ins.values()))["class"]
    series = [
        Series(name, [row["mean_bytes"] / 1024], [row["hotness"]], "points", colour=VOLUME_COLOURS[name])
        for name, row in classes.items()
    ]
    border = borders["random_below_bytes"] / 1024
    return Panel(
        word,
        Axis(f"mean {dominant} [KiB]", log=True),
        Axis(f"bytes of {dominant}s over what is touched", log=True),
        series,
        lines=[("hot from here", borders["hot_from"])],
        borders=[(f"random below {border:g} KiB", border)],
        named=True,
    )


def figure_4(iops: Mapping[str, Any], requests: str) -> Figure:
    """Compare placements at the smallest ratio of the table."""
    ratio = str(TABLE_RATIOS[0])
    cells_of = [iops[volume][ratio] for volume in VOLUMES]
    series = [
        Series(
            SHORT[name],
            list(range(len(VOLUMES))),
            [cell[name] / max(cell.values()) for cell in cells_of],
            "bars",
            colour=COLOURS[name],
        )
        for name in PLACEMENTS
    ]
    return Figure(
        "figure-4",
        f"Figure 4: IOPS with SCM of {ratio} % of flash",
        [
            Panel(
                "by class",
                Axis("class and volume", categories=categories()),
                Axis("IOPS over those of the best placement", low=0.0),
                series,
            )
        ],
        caption=f"A {requests} for each class, replayed in a closed loop; flash is 1.25 times what it "
        "touches. WO-DM evicts in the background and the other two in the foreground, which the paper leaves "
        "open. Of the paper's figure the order alone is known: what it calls the best is at 1.",
        columns=1,
    )


def categories() -> list[str]:
    """Name the places of volumes on an axis."""
    return [f"{number} {volume}" for volume, number in VOLUMES.items()]


def figure_5(results: Results, iops: Mapping[str, Any]) -> Figure:
    """Show the volume whose data is read hot and at random over the ratios."""
    requests = results["prxy_1/wb"]["stand_in"]["requests"]
    drawn = source(results) == STAND_IN
    whose = "the stand-in for prxy_1, which is a sixteenth of the volume" if drawn else "prxy_1, its first"
    return Figure(
        "figure-5",
        "Figure 5: IOPS of prxy_1 over the share of SCM",
        [sweep_panel("prxy_1", iops, log=False)],
        caption=f"{requests:,} requests of {whose}; "
        "flash is 1.25 times what they touch. Flash alone is given the same requests.",
        columns=1,
    )


def ratio_sweep(iops: Mapping[str, Any], requests: str) -> Figure:
    """Show all volumes over the ratios."""
    return Figure(
        "ratio-sweep",
        "IOPS over the share of SCM, by class",
        [sweep_panel(volume, iops, log=True) for volume in VOLUMES],
        caption=f"Each a {requests}; the numbers are their classes. No figure of the paper, whose table 1 "
        "says which placement is best at some of the shares. Flash alone is given the same requests.",
        columns=3,
    )


def sweep_panel(volume: str, iops: Mapping[str, Any], *, log: bool) -> Panel:
    """Show IOPS of a volume over the ratios, and those of flash alone."""
    found = [ratio for ratio in RATIOS if str(ratio) in iops[volume]]
    series = [
        Series(SHORT[name], found, [iops[volume][str(ratio)][name] for ratio in found], colour=COLOURS[name])
        for name in PLACEMENTS
    ]
    return Panel(
        f"{VOLUMES[volume]} {volume}",
        Axis("SCM / flash [%]", log=True),
        Axis("IOPS", log=log, low=None if log else 0.0),
        series,
        lines=[("flash alone", iops[volume]["nand-only"])],
    )


def configuration(settings: Settings) -> dict[str, str]:
    """Return, as TOML, the placements, set on drive.toml, and what is decided otherwise."""
    return {"Placements": toml.dumps(PLACEMENTS), "What is decided otherwise": toml.dumps(VARIANTS)}
