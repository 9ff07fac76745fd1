"""What runs of both memories come to: gains, performance per cost, wear, and their tables and figures.

This reads what experiment.py answers, simulates nothing, and does not know what was published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiment import (
    BASE,
    BUS_US,
    BUS_VOLUMES,
    BUSES,
    CASE_SHARE,
    CASE_WORDS,
    CASES,
    FULL_SHARES,
    INTERVALS,
    LADDER,
    OTHER_REQUESTS,
    PLACED_SHARES,
    PLACED_VOLUME,
    PLACEMENTS,
    QUICK_SHARES,
    UNPAUSED_CASES,
    VARIANTS,
    VOLUMES,
    WEAK_VOLUME,
    WITHOUT_PAUSES,
    cases,
    passes,
    shares,
    weak_interval,
)
from further import AS_IT_IS, BUS_SHARES, ON_WHOLE, SLOWER, SLOWER_BUS

from ninescope import toml
from ninescope.figures import Axis, Figure, Panel, Series, Value
from ninescope.papers.experiment import Settings, Summary, Table

Results = Mapping[str, dict[str, Any]]


def cost(share: float) -> float:
    """Return what a drive costs compared with one of S alone."""
    of_m, of_s = (BASE[table]["bit_cost"] for table in ("scm", "storage_scm"))
    return float((share / 100 * of_m + (1 - share / 100) * of_s) / of_s)


def summarise(results: Results, settings: Settings) -> Summary:
    """Name what was measured."""
    measured: dict[str, Any] = {
        "gain_percent": {volume: gains(results, volume, settings) for volume in VOLUMES},
        "perf_per_cost": {volume: performance_per_cost(results, volume, settings) for volume in VOLUMES},
        "best_share": best_shares(results, settings),
        "case": {volume: case_iops(results, volume, settings) for volume in VOLUMES},
        "case_gain_percent": {volume: case_gains(results, volume, settings) for volume in VOLUMES},
        "weak_interval_over_default": weak_interval(settings) / LADDER["overwrites"],
    }
    if settings.brief:
        return Summary(measured, [stand_in_table(results)])
    measured |= {
        "m_wear_at_s_limit": {volume: wear_at_limit(results, volume) for volume in VOLUMES},
        "wear_ratio": {volume: wear_ratios(results, volume) for volume in VOLUMES},
        "bus": {volume: buses(results, volume) for volume in BUS_VOLUMES},
    }
    hot = measured["gain_percent"]["prxy_1"]
    measured["small_over_large"] = {"prxy_1": hot["5"] / hot["20"] if hot["20"] > 0 else None}
    limit = BASE["scm"]["endurance_writes"]
    within = [measured["m_wear_at_s_limit"][volume]["case-3"] for volume in VOLUMES]
    measured["volumes_with_m_within_limit"] = {
        "case-3": sum(worn is not None and worn < limit for worn in within)
    }
    measured["volumes_where_nearest"] = {"case-3": nearest_to_both_limits(measured["wear_ratio"])}
    tables = [
        conclusion(measured),
        stand_in_table(results),
        share_table(measured, settings),
        case_table(measured),
        wear_table(results, measured, settings),
        bus_table(measured),
        *([] if settings.quick else tables_of_a_full_run(results)),
    ]
    return Summary(measured, tables)


def tables_of_a_full_run(results: Results) -> list[Table]:
    """Tabulate what is decided otherwise, and what no statistic fixes."""
    return [
        whole_variant_table(results),
        slower_bus_table(results),
        variant_table(results),
        placement_table(results),
        pause_table(results),
    ]


STAND_IN = "stand-in"


def source(results: Results) -> str:
    """Say what the requests are: drawn in the places of volumes, or the volumes' own."""
    rows = [results[volume]["stand_in"] for volume in VOLUMES]
    return "real trace" if all(row["is_real"] for row in rows) else STAND_IN


def about(results: Results) -> str:
    """Say what was run."""
    drawn = "stand-ins drawn from published statistics"
    whose = drawn if source(results) == STAND_IN else "real traces"
    return f"All volumes are {whose}, one request in flight; bus and movement are inferred. "


def iops(results: Results, group: str, name: str) -> float:
    """Return the IOPS of one run."""
    return float(results[group]["runs"][name]["iops"])


def gains(results: Results, volume: str, settings: Settings) -> dict[str, float]:
    """Return what each share of M-SCM gains over levelled S-SCM alone [%]."""
    alone = iops(results, volume, "all-s/levelled")
    found = {"0": 0.0}
    for share in shares(volume, settings):
        found[str(share)] = 100 * (iops(results, volume, f"{share}/case-1") / alone - 1)
    if settings.brief:
        return found
    # Against a drive of S-SCM without wear levelling, neither memory levelled.
    plain = iops(results, volume, "all-s/plain")
    unlevelled = iops(results, volume, f"{CASE_SHARE}/case-4")
    return {**found, "unlevelled": 100 * (unlevelled / plain - 1)}


def performance_per_cost(results: Results, volume: str, settings: Settings) -> dict[str, float]:
    """Return IOPS per cost by share, 1 for S-SCM alone."""
    found = gains(results, volume, settings)
    return {share: (1 + found[share] / 100) / cost(int(share)) for share in found if share != "unlevelled"}


def best_shares(results: Results, settings: Settings) -> dict[str, int]:
    """Return the share with most IOPS per cost, of volumes of which more than one was measured."""
    found = {}
    for volume in VOLUMES:
        curve = performance_per_cost(results, volume, settings)
        if len(shares(volume, settings)) > 1:
            found[volume] = int(max(curve, key=lambda share: curve[share]))
    return found


def case_iops(results: Results, volume: str, settings: Settings) -> dict[str, float]:
    """Return IOPS by case."""
    return {case: iops(results, volume, f"{CASE_SHARE}/{case}") for case in cases(volume, settings)}


def case_gains(results: Results, volume: str, settings: Settings) -> dict[str, float]:
    """Return what less wear levelling gains over levelling both [%]."""
    found = case_iops(results, volume, settings)
    return {case: 100 * (found[case] / found["case-1"] - 1) for case in found if case != "case-1"}


def case_run(results: Results, volume: str, case: str) -> dict[str, Any]:
    """Return the run of a case."""
    found: dict[str, Any] = results[volume]["runs"][f"{CASE_SHARE}/{case}"]
    return found


def wear_run(results: Results, volume: str, case: str) -> dict[str, Any]:
    """Return the run of a case over several passes."""
    return named_wear_run(results, volume, f"{CASE_SHARE}/{case}")


def named_wear_run(results: Results, volume: str, name: str) -> dict[str, Any]:
    """Return the run of that name over several passes."""
    found: dict[str, Any] = results[f"{volume}/wear"]["runs"][f"{name}/wear"]
    return found


def wear_at_limit(results: Results, volume: str) -> dict[str, float | None]:
    """Return the writes of the most worn sector of M when that of S has reached what it endures.

    The run of several passes is taken to recur as a whole, as the slides' one run must have been. Its first
    pass wears one slot of M with a hot page that comes back into another one later, so that this overstates
    M for thousands of passes, and what is gained after the first pass (`ratio_of_growth`) understates it as
    long as hot pages have not come back into the slots that they had.
    """
    return {case: worn_at_limit(wear_run(results, volume, case)["wear"]) for case in CASES}


def worn_at_limit(wear: Mapping[str, Any]) -> float | None:
    """Return that of a run that recurs; None where S is not worn."""
    ratio = ratio_of_all(wear)
    return None if ratio is None else float(BASE["storage_scm"]["endurance_writes"] * ratio)


def over(of_m: float, of_s: float) -> float | None:
    """Return the wear of M over that of S; None where S has none."""
    return of_m / of_s if of_s else None


def ratio_of_all(wear: Mapping[str, Any]) -> float | None:
    """Return the wear of the most worn sector of M over that of S, the first pass with the others."""
    return over(wear["m"]["writes_max"], wear["s"]["writes_max"])


def ratio_of_growth(
    first: Mapping[str, Any], wear: Mapping[str, Any], of_s: str = "writes_max"
) -> float | None:
    """Return what the most worn sector of M gained after the first pass, over what that of S did.

    Or over what the mean sector of S did: the most worn one of a levelled memory tends to gain as much.
    """
    return over(wear["m"]["writes_max"] - first["m"]["writes_max"], wear["s"][of_s] - first["s"][of_s])


def wear_ratios(results: Results, volume: str) -> dict[str, float | None]:
    """Return the wear of the most worn sector of M over that of S, by case."""
    return {case: ratio_of_all(wear_run(results, volume, case)["wear"]) for case in CASES}


def nearest_to_both_limits(ratios: Mapping[str, Mapping[str, float | None]]) -> int:
    """Return for how many volumes case 3 brings both memories nearest to their limits at the same time."""
    four = [case for case in CASES if case != "weak"]
    return sum(nearest_case(of_volume, four) == "case-3" for of_volume in ratios.values())


def nearest_case(ratios: Mapping[str, float | None], among: Sequence[str]) -> str:
    """Return the case that brings both memories nearest to their limits at the same time.

    Of the cases that leave M within its limit.
    """
    target = BASE["scm"]["endurance_writes"] / BASE["storage_scm"]["endurance_writes"]
    usable = {case: ratio for case in among if (ratio := ratios[case]) is not None and ratio <= target}
    return max(usable, key=lambda case: usable[case], default="")


def buses(results: Results, volume: str) -> dict[str, Any]:
    """Return what depends on the speed of the buses."""

    def reached(bus: str, name: str) -> float:
        return iops(results, f"{volume}/buses", f"{name}/{bus}")

    found = {}
    for bus in BUSES:
        levelled, plain, all_m = (
            reached(bus, name) for name in ("all-s/levelled", "all-s/plain", "all-m/plain")
        )
        found[bus] = {
            "gain_percent": 100 * (reached(bus, f"{CASE_SHARE}/case-1") / levelled - 1),
            "all_m_over_all_s": all_m / plain,
        }
    return found


CONCLUSION_WORDS = {
    "case-1": "both",
    "case-2": "only M-SCM",
    "case-3": "only S-SCM",
    "case-4": "none",
    "weak": "only M-SCM, weakly",
    "": "none leaves M-SCM within its limit",
}
"""What is levelled, in the words of the conclusion."""


def conclusion(measured: Mapping[str, Any]) -> Table:
    """Tabulate the best share of M-SCM and the best wear levelling, as the slides do."""
    composition: list[Any] = ["M-SCM with most IOPS per cost"]
    levelling: list[Any] = ["wear levelling"]
    for volume in VOLUMES:
        share = str(measured["best_share"][volume])
        gain = measured["gain_percent"][volume][share]
        composition.append(f"{share} % ({gain:+.0f} %)" if int(share) else "not needed")
        case = nearest_case(measured["wear_ratio"][volume], tuple(CASES))
        gained = measured["case_gain_percent"][volume].get(case)
        levelling.append(CONCLUSION_WORDS[case] + ("" if gained is None else f" ({gained:+.1f} %)"))
    return Table(
        "Conclusion: the best share of M-SCM, and the best wear levelling",
        ["best", *VOLUMES],
        [composition, levelling],
        note="share: of those that were measured, with its gain over S-SCM alone; wear levelling: of what "
        "leaves M-SCM within its limit, what brings both memories nearest to theirs, with its gain over "
        f"levelling both, {CASE_SHARE} % of M-SCM",
    )


def stand_in_table(results: Results) -> Table:
    """Tabulate what was drawn."""
    rows: list[list[Any]] = []
    for volume in VOLUMES:
        row = results[volume]["stand_in"]
        found = row["class"]
        written = row["requests"] * row["write_share"] * row["mean_write_bytes"]
        read = row["requests"] * (1 - row["write_share"]) * row["mean_read_bytes"]
        rows.append(
            [
                volume,
                f"{found['number']} {found['name']}",
                f"{row['requests']:,}",
                f"{row['write_share']:.1%}",
                f"{row['footprint'] / (1 << 20):,.0f}",
                f"{written / row['footprint']:.1f}",
                f"{read / row['footprint']:.1f}",
            ]
        )
    columns = [source(results), "class of these requests", "requests", "writes", "MiB touched"]
    return Table(
        "What was drawn" if source(results) == STAND_IN else "What was taken",
        [*columns, "overwritten", "read"],
        rows,
        note="overwritten, read: bytes over what is touched",
    )


def share_table(measured: Mapping[str, Any], settings: Settings) -> Table:
    """Tabulate gains and what they cost."""
    rows: list[list[Any]] = []
    for share in ("0", *map(str, QUICK_SHARES if settings.quick else FULL_SHARES)):
        row: list[Any] = [f"{share} %", f"{cost(int(share)):.3f}"]
        for volume in VOLUMES:
            gain = measured["gain_percent"][volume].get(share)
            row += [None, None] if gain is None else [f"{gain:+.1f} %", worth(measured, volume, share)]
        rows.append(row)
    row = [f"{CASE_SHARE} %, neither levelled", ""]
    for volume in VOLUMES:
        row += [f"{measured['gain_percent'][volume]['unlevelled']:+.1f} %", ""]
    rows.append(row)
    columns = ["M-SCM", "cost"]
    for volume in VOLUMES:
        columns += [volume, "per cost"]
    return Table("IOPS over S-SCM alone, both levelled", columns, rows)


def worth(measured: Mapping[str, Any], volume: str, share: str) -> str:
    """Write performance per cost."""
    return f"{measured['perf_per_cost'][volume][share]:.2f}"


def case_table(measured: Mapping[str, Any]) -> Table:
    """Tabulate the cases of wear levelling."""
    rows: list[list[Any]] = []
    for case, words in CASE_WORDS.items():
        row: list[Any] = [words]
        for volume in VOLUMES:
            row.append(f"{measured['case'][volume][case]:,.0f}")
            gain = measured["case_gain_percent"][volume].get(case)
            row.append("" if gain is None else f"{gain:+.1f} %")
        rows.append(row)
    columns = ["levelled"]
    for volume in VOLUMES:
        columns += [volume, "over case 1"]
    return Table(f"IOPS with {CASE_SHARE} % M-SCM by wear levelling", columns, rows)


def wear_table(results: Results, measured: Mapping[str, Any], settings: Settings) -> Table:
    """Tabulate wear, and which memory is the first to reach what it endures."""
    rows: list[list[Any]] = []
    for volume in VOLUMES:
        for case, words in CASE_WORDS.items():
            first, run = case_run(results, volume, case), wear_run(results, volume, case)
            wear = run["wear"]
            ratios = (
                measured["wear_ratio"][volume][case],
                ratio_of_growth(first["wear"], wear),
                ratio_of_growth(first["wear"], wear, "writes_mean"),
            )
            worn = measured["m_wear_at_s_limit"][volume][case]
            rows.append(
                [
                    volume,
                    words,
                    f"{wear['m']['writes_max']:,}",
                    f"{wear['s']['writes_max']:,}",
                    f"{wear['s']['writes_mean']:.2f}",
                    *(None if ratio is None else f"{ratio:.3g}" for ratio in ratios),
                    None if worn is None else f"{worn:.2g}",
                    f"{run['copies']['m'] or 0:.3f}",
                    f"{run['copies']['s'] or 0:.3f}",
                ]
            )
    columns = ["volume", "levelled", "most worn of M", "of S", "mean of S", "M : S", "after the first pass"]
    return Table(
        "Wear: writes of the most worn sector",
        [*columns, "by the mean of S", "M at the limit of S", "copies a write, M", "S"],
        rows,
        note=f"of a run of {passes(settings)} passes over the requests, taken to recur as a whole until the "
        "most worn sector of S has reached its limit. After the first pass: what the most worn sector of M "
        "gained then over what that of S did; by the mean of S: over what the mean one did. No verdict rests "
        "on these two",
    )


def bus_table(measured: Mapping[str, Any]) -> Table:
    """Tabulate the speed of the buses."""
    rows: list[list[Any]] = []
    for bus, rate in BUSES.items():
        time = float(bus)
        row: list[Any] = [bus, rate, f"{(time + 1) / (time + 0.1):.2f}"]
        for volume in BUS_VOLUMES:
            cell = measured["bus"][volume][bus]
            row += [f"{cell['all_m_over_all_s']:.2f}", f"{cell['gain_percent']:+.1f} %"]
        rows.append(row)
    columns = ["us a sector", "rate", "bound"]
    for volume in BUS_VOLUMES:
        columns += [f"{volume}: M / S", f"{CASE_SHARE} % of M"]
    return Table(
        "The bus bounds what M-SCM can gain",
        columns,
        rows,
        note="bound: (o + 1) / (o + 0.1), M-SCM alone over S-SCM alone, neither levelled; of the first "
        f"{OTHER_REQUESTS:,} requests, of which prxy_1 loses by M-SCM what it gains by on the whole: for the "
        "ratios and what the bus does to them, not for gains",
    )


def gain(results: Results, group: str, with_m: str, alone: str) -> float:
    """Return what a run with M-SCM gains over one of S-SCM alone [%]."""
    return 100 * (iops(results, group, with_m) / iops(results, group, alone) - 1)


def whole_variant_table(results: Results) -> Table:
    """Tabulate what open decisions would change, on whole volumes and in their first million requests."""
    rows: list[list[Any]] = []
    for variant in VARIANTS:
        row: list[Any] = [variant]
        for volume, on_whole in ON_WHOLE.items():
            runs = f"{CASE_SHARE}/case-1/{variant}", f"all-s/levelled/{variant}"
            whole = None
            if variant == AS_IT_IS:
                whole = gain(results, volume, f"{CASE_SHARE}/case-1", "all-s/levelled")
            elif variant in on_whole:
                whole = gain(results, f"{volume}/otherwise/{variant}", *runs)
            row += [None if whole is None else f"{whole:+.1f} %"]
            row += [f"{gain(results, f'{volume}/variants', *runs):+.1f} %"]
        rows.append(row)
    columns = ["decided otherwise"]
    for volume in ON_WHOLE:
        columns += [f"{volume}: the whole", "the first million"]
    return Table(
        f"Decided otherwise: gain of {CASE_SHARE} % of M-SCM over S-SCM alone",
        columns,
        rows,
        note="the whole: all requests that claims are judged by; both memories levelled; no verdict rests on "
        "what is decided otherwise",
    )


def slower_bus_table(results: Results) -> Table:
    """Tabulate the gains that the slides give with either end of what the bus was inferred to be."""
    rows: list[list[Any]] = []
    for volume, share in BUS_SHARES.items():
        group = f"{volume}/otherwise/{SLOWER}"
        slower = gain(results, group, f"{share}/case-1/{SLOWER_BUS}", f"all-s/levelled/{SLOWER_BUS}")
        usual = gain(results, volume, f"{share}/case-1", "all-s/levelled")
        worths = [f"{gained:+.1f} %, {(1 + gained / 100) / cost(share):.2f}" for gained in (usual, slower)]
        rows.append([volume, f"{share} %", *worths])
    return Table(
        "Gains at the best share, by the time of a sector on the bus",
        [source(results), "M-SCM", f"{BUS_US} us", f"{SLOWER_BUS} us"],
        rows,
        note="gain over S-SCM alone, and IOPS per cost; whole volumes, both memories levelled",
    )


def variant_table(results: Results) -> Table:
    """Tabulate what open decisions would change."""
    rows: list[list[Any]] = []
    for variant in VARIANTS:
        row: list[Any] = [variant]
        for volume in VOLUMES:
            levelled, both, only_s = (
                iops(results, f"{volume}/variants", f"{name}/{variant}")
                for name in ("all-s/levelled", f"{CASE_SHARE}/case-1", f"{CASE_SHARE}/case-3")
            )
            row += [f"{100 * (both / levelled - 1):+.1f} %", f"{100 * (only_s / both - 1):+.1f} %"]
        rows.append(row)
    columns = ["decided otherwise"]
    for volume in VOLUMES:
        columns += [f"{volume}: {CASE_SHARE} % of M", "case 3"]
    return Table(
        "Decided otherwise, the first million: gain over S-SCM alone, and of case 3 over case 1",
        columns,
        rows,
        note=f"the first {OTHER_REQUESTS:,} requests touch less, and M-SCM may lose there where it gains on "
        "the whole (table above); case 3 was run with them alone",
    )


def placement_table(results: Results) -> Table:
    """Tabulate what it changes where pages lie."""
    rows: list[list[Any]] = []
    for how in PLACEMENTS:
        group = f"{PLACED_VOLUME}/{how}"
        alone = iops(results, group, "all-s/levelled")
        row: list[Any] = [how]
        for share in PLACED_SHARES:
            over_alone = iops(results, group, f"{share}/case-1") / alone
            row.append(f"{100 * (over_alone - 1):+.1f} %, {over_alone / cost(share):.2f}")
        rows.append(row)
    return Table(
        f"What no statistic fixes: where the pages of {PLACED_VOLUME} lie",
        ["pages lie", *(f"{share} % of M" for share in PLACED_SHARES)],
        rows,
        note="gain over S-SCM alone, and IOPS per cost, both levelled; as drawn: evenly over the volume, "
        "whenever and however often they are used; the same requests of the same pages up to `distances "
        "alone`: these are drawn anew, and nothing is kept but how far apart the uses of an address are, "
        "either with neighbours that have nothing to do with each other or in the order of first use",
    )


def pause_table(results: Results) -> Table:
    """Tabulate what it changes for wear if busy pages are used from the beginning to the end."""
    limits = {"m": BASE["scm"]["endurance_writes"], "s": BASE["storage_scm"]["endurance_writes"]}
    rows: list[list[Any]] = []
    for volume, of_volume in UNPAUSED_CASES.items():
        for case in of_volume:
            row: list[Any] = [volume, CASE_WORDS[case]]
            unpaused = results[f"{volume}/{WITHOUT_PAUSES}"]["runs"][f"{CASE_SHARE}/{case}/wear"]
            for run in (wear_run(results, volume, case), unpaused):
                wear = run["wear"]
                worn = worn_at_limit(wear)
                row += [
                    f"{wear['m']['writes_max']:,}",
                    f"{wear['s']['writes_max']:,}",
                    None if worn is None else f"{worn:.2g}",
                ]
            rows.append(row)
    columns = ["most worn of M", "of S", "M at the limit of S"]
    return Table(
        "What no statistic fixes: whether busy pages pause",
        ["volume", "levelled", *columns, *(f"{column}, no pause" for column in columns)],
        rows,
        note="as drawn a busy page is left alone in the first and the last percent of the requests, so that "
        "it leaves M-SCM between two passes and comes back into another slot; without pauses its requests "
        f"are spread from beginning to end, and it keeps its slot. M endures {limits['m']:.0e} writes, S "
        f"{limits['s']:.0e}",
    )


# ---- figures -----------------------------------------------------------------------------------------

COLOURS = {"prxy_0": "#d9621e", "hm_0": "#444444", "prxy_1": "#1f6fb4", "proj_3": "#2a9d5c"}


def figures(results: Results, settings: Settings) -> list[Figure]:
    """Show what the slides do; a brief run measures too little for any."""
    if settings.brief:
        return []
    return [
        performance(results, settings),
        performance_by_cost(results, settings),
        wear_levelling(results, settings),
        endurance(results),
        weak_levelling(results, settings),
    ]


def by_share(values: Mapping[str, Mapping[str, float]]) -> list[Series]:
    """Draw values of each volume over the share of M-SCM."""
    found = []
    for volume, curve in values.items():
        shown = [share for share in curve if share.isdigit()]
        places, heights = [int(share) for share in shown], [curve[share] for share in shown]
        found.append(Series(volume, places, heights, colour=COLOURS[volume]))
    return found


def performance(results: Results, settings: Settings) -> Figure:
    """Show gains over S-SCM alone."""
    found = {volume: gains(results, volume, settings) for volume in VOLUMES}
    panel = Panel(
        "gain",
        Axis("M-SCM [% of all memory]"),
        Axis("IOPS over S-SCM alone [%]"),
        by_share(found),
        lines=[("S-SCM alone", 0.0)],
    )
    return Figure(
        "performance",
        "What M-SCM gains",
        [panel],
        caption=f"{about(results)}Both memories are levelled, S-SCM alone is too: that it is the reference "
        "is inferred. The slides give one share of each volume in numbers.",
        columns=1,
    )


def performance_by_cost(results: Results, settings: Settings) -> Figure:
    """Show what a drive reaches for what it costs."""
    found = {volume: performance_per_cost(results, volume, settings) for volume in VOLUMES}
    of_m, of_s = (f"{BASE[table]['bit_cost']:g}" for table in ("scm", "storage_scm"))
    panel = Panel(
        "performance per cost",
        Axis("M-SCM [% of all memory]"),
        Axis("IOPS per cost, of S-SCM alone"),
        by_share(found),
        lines=[("S-SCM alone", 1.0)],
    )
    return Figure(
        "cost",
        "IOPS for what the drive costs",
        [panel],
        caption=f"{about(results)}A bit costs {of_m} in M-SCM and {of_s} in S-SCM. Published values are "
        "derived: the gains of the slides over that cost.",
        columns=1,
    )


def wear_levelling(results: Results, settings: Settings) -> Figure:
    """Show what less wear levelling gains over levelling both."""
    words = [CASE_WORDS[case] for case in CASES if case != "weak"]
    panels = []
    for volume in VOLUMES:
        found = {"case-1": 0.0, **case_gains(results, volume, settings)}
        heights = [found[case] for case in CASES if case != "weak"]
        bars = Series(volume, range_of(words), heights, "bars", colour=COLOURS[volume])
        axis = Axis("levelled", categories=words)
        panels.append(Panel(volume, axis, Axis("IOPS over case 1 [%]"), [bars]))
    return Figure(
        "wear-levelling",
        "IOPS by what is levelled",
        panels,
        caption=f"{about(results)}{CASE_SHARE} % of M-SCM. That case 1 is the reference of the published "
        "gains is inferred.",
    )


def range_of(words: Sequence[str]) -> list[int]:
    """Return the places of categories."""
    return list(range(len(words)))


def limit() -> tuple[str, float]:
    """Return the level that wear of M-SCM must not reach."""
    return "M-SCM endures", float(BASE["scm"]["endurance_writes"])


def with_limit(label: str, worn: Sequence[Value]) -> Axis:
    """Return an axis of wear that reaches beyond that level, whatever was measured."""
    highest = max([limit()[1], *(value for value in worn if value is not None)])
    return Axis(label, log=True, high=3 * highest)


def endurance(results: Results) -> Figure:
    """Show how worn M-SCM is when S-SCM is worn out."""
    words = list(CASE_WORDS.values())
    series = []
    for volume in VOLUMES:
        worn = wear_at_limit(results, volume)
        heights = [worn[case] for case in CASE_WORDS]
        series.append(Series(volume, range_of(words), heights, "bars", colour=COLOURS[volume]))
    panel = Panel(
        "M-SCM at the limit of S-SCM",
        Axis("levelled", categories=words),
        with_limit("writes of the most worn sector", [value for one in series for value in one.y]),
        series,
        lines=[limit()],
    )
    return Figure(
        "endurance",
        "Wear of M-SCM when S-SCM has reached its limit",
        [panel],
        caption=f"{about(results)}{CASE_SHARE} % of M-SCM. Extrapolated: a run of several passes is "
        "taken to come again until the most worn sector of S-SCM has reached its limit. The slides give no "
        "numbers.",
        columns=1,
    )


def weak_levelling(results: Results, settings: Settings) -> Figure:
    """Show what the interval of M-SCM changes while S-SCM is not levelled."""
    names = {LADDER["overwrites"]: f"{CASE_SHARE}/case-2", weak_interval(settings): f"{CASE_SHARE}/weak"}
    if not settings.quick:
        names |= {interval: f"{CASE_SHARE}/weak/{interval}" for interval in INTERVALS}
    runs = {interval: results[WEAK_VOLUME]["runs"][names[interval]] for interval in sorted(names)}
    first = iops(results, WEAK_VOLUME, f"{CASE_SHARE}/case-1")
    gained = [100 * (run["iops"] / first - 1) for run in runs.values()]
    repeated = (named_wear_run(results, WEAK_VOLUME, names[interval]) for interval in runs)
    worn = [worn_at_limit(run["wear"]) for run in repeated]
    axis = Axis("overwrites from one levelling of M-SCM to the next", log=True)
    label, colour = WEAK_VOLUME, COLOURS[WEAK_VOLUME]
    return Figure(
        "weak-levelling",
        f"{WEAK_VOLUME}: only M-SCM levelled, and how often",
        [
            Panel(
                "performance",
                axis,
                Axis("IOPS over case 1 [%]"),
                [Series(label, list(runs), gained, colour=colour)],
            ),
            Panel(
                "wear",
                axis,
                with_limit("writes of the most worn sector of M-SCM", worn),
                [Series(label, list(runs), worn, colour=colour)],
                lines=[limit()],
            ),
        ],
        caption=f"{about(results)}{CASE_SHARE} % of M-SCM. Wear is extrapolated to the limit of S-SCM. The "
        "slides do not say how weak their levelling is: the published gain has no place of its own.",
    )


def configuration(settings: Settings) -> dict[str, str]:
    """Return, as TOML, the cases of wear levelling, set on drive.toml, and what is decided otherwise."""
    cases = {name: {"m_scm": of_m, "s_scm": of_s} for name, (of_m, of_s) in CASES.items()}
    return {"Wear levelling": toml.dumps(cases), "What is decided otherwise": toml.dumps(VARIANTS)}
