"""What the simulations of SSR come to: named values, tables and figures.

Nothing here simulates, and nothing here knows what was published.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from experiment import (
    FLOOD_GAP_NS,
    FLOOD_PATIENCE,
    INFERRED,
    MODERN,
    PERCENTILES,
    POLICIES,
    READ_GAP_NS,
    VARIANTS,
    WEAR_CYCLES,
    WEAR_POLICIES,
    WORKLOADS,
    drive,
    scene_drives,
)
from further import LIGHTER, PATIENCE_NS, SEEDED

from ninescope import toml
from ninescope.figures import Axis, Figure, Panel, Series
from ninescope.papers.experiment import Attribution, Settings, Summary, Table

TAIL = ("p99.99", "p99.9999")
COMPARED = (("ssr-des", "ssr-static"), ("ssr-baseline", "ssr-dynamic"))
"""Policies whose tails are compared: the slow one and the fast one."""
COLOURS = {
    "ssr-baseline": "#444444",
    "ssr-ies": "#d9621e",
    "ssr-des": "#7a5aa0",
    "ssr-static": "#1f6fb4",
    "ssr-dynamic": "#2a9d5c",
}
SHADES = ("#9ecae1", "#6baed6", "#2171b5", "#08306b")
FIGURES = {"fio": "figure-9", "tpcc-stand-in": "figure-10"}
ABOUT = {
    "fio": "Random 4 KiB, 70 % reads, queue depth 16.",
    "tpcc-stand-in": "A stand-in for TPC-C, whose trace the paper does not name: mix, sizes and rate of the "
    "tpcc-small.trace that comes with MQSim, addresses drawn evenly.",
}
GROUPS = {
    "its own work": ("command_array", "transfer", "own_parts", "channel", "link", "command_processing"),
    "behind reads": ("die_host_read", "die_gc_read", "die_waiting_for_channel"),
    "behind programs": ("die_host_program", "die_gc_program"),
    "behind erases": ("die_erase",),
    "behind recovery and ramp": ("die_suspend_overhead",),
    "the rest": (),
}
"""Causes of latency that are shown together."""
FIRST_MS = 1.5
MOST_PLACES = 300
"""Of a distribution that is drawn."""
PARAMETERS = (
    "geometry.channels",
    "geometry.packages_per_channel",
    "geometry.planes_per_die",
    "geometry.blocks_per_plane",
    "geometry.pages_per_block",
    "geometry.page_size",
    "nand.read",
    "nand.program",
    "nand.erase_loop",
    "nand.erase_loops",
    "nand.suspend_recover",
    "nand.resume_ramp",
    "nand.initial_cycles",
    "nand.channel_rate",
    "ftl.over_provisioning",
    "ftl.mapping_unit",
    "controller.link_rate",
)
"""Keys of the drive that a table of its parameters has."""

MOST_SEEDS = 10_000
"""More than anybody would run."""

Results = Mapping[str, dict[str, Any]]


class Run(NamedTuple):
    """A long run."""

    workload: str
    policy: str
    found: dict[str, Any]

    @property
    def words(self) -> list[str]:
        """How its workload and its policy are called."""
        return [WORKLOADS[self.workload], POLICIES[self.policy]]


def runs(results: Results) -> Iterator[Run]:
    """Go through the long runs that were made."""
    for workload in WORKLOADS:
        for policy in POLICIES:
            if (name := f"{workload}/{policy}") in results:
                yield Run(workload, policy, results[name])


def summarise(results: Results, settings: Settings) -> Summary:
    """Name what was measured."""
    measured: dict[str, Any] = {workload: tails(results, workload) for workload in WORKLOADS}
    for run in runs(results):
        suspensions_max = run.found["suspension"]["suspensions_max"]
        measured[run.workload].setdefault("suspensions_max", {})[run.policy] = suspensions_max
    measured |= single_erase(results)
    measured["improvement"] = {
        name: largest_ratio(measured, *policies)
        for name, policies in zip(("des_over_static", "baseline_over_dynamic"), COMPARED, strict=True)
    }
    measured["knee"] = {"p99.99_over_p90": knee(results)}
    tables = [
        parameter_table(settings),
        *(latency_table(results, op) for op in ("read", "write")),
        *(interval_table(results, op) for op in ("read", "write")),
        drive_table(results),
        lifetime_table(results),
        cause_table(results),
        scene_table(results),
    ]
    if not settings.brief:
        tables += [variant_table(results), wear_table(results)]
    if not settings.brief and not settings.quick:
        tables += [seed_table(results), lighter_table(results)] if "lighter/ssr-ies" in results else []
    return Summary(measured, tables, [attribution(results, workload) for workload in WORKLOADS])


def knee(results: Results) -> dict[str, Any] | None:
    """Return how much longer the tail of a modern drive is than its body, where nothing suspends erases."""
    if (name := f"{MODERN}/fio/ssr-baseline") not in results:
        return None
    latency = results[name]["latency"]["read"]
    value, intervals = latency["percentiles_ns"], latency["intervals_ns"]
    if not value["90"] or intervals["99.99"] is None or intervals["90"] is None:
        return None
    (low_tail, high_tail), (low_body, high_body) = intervals["99.99"], intervals["90"]
    return {"value": value["99.99"] / value["90"], "interval": [low_tail / high_body, high_tail / low_body]}


def tails(results: Results, workload: str) -> dict[str, Any]:
    """Return percentiles [us] by operation, percentile and policy."""
    tree: dict[str, Any] = {}
    for run in runs(results):
        if run.workload != workload:
            continue
        for op, latency in run.found["latency"].items():
            of_op = tree.setdefault(op, {})
            for key in PERCENTILES:
                of_op.setdefault(f"p{key}", {})[run.policy] = percentile(latency, key)
            of_op.setdefault("behind_erase", {})[run.policy] = latency["behind_erase"]
            of_op.setdefault("mean", {})[run.policy] = latency["mean_ns"] / 1e3
            of_op.setdefault("max", {})[run.policy] = latency["max_ns"] / 1e3
    return tree


def percentile(latency: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    """Return a percentile [us] as a measured value."""
    value, interval = latency["percentiles_ns"][key], latency["intervals_ns"][key]
    if value is None:
        return None
    found = {"value": value / 1e3, "insufficient": key in latency["insufficient"]}
    if interval is not None:
        found["interval"] = [end / 1e3 for end in interval]
    return found


def largest_ratio(measured: Mapping[str, Any], slow: str, fast: str) -> float | None:
    """Return the largest ratio of two policies' read tails, where there are enough samples."""
    ratios = []
    for workload in WORKLOADS:
        for percentile in TAIL:
            ratios.append(ratio(measured[workload]["read"][percentile], slow, fast))
    return max((found for found in ratios if found is not None), default=None)


def ratio(tail: Mapping[str, Any], slow: str, fast: str) -> float | None:
    """Return the ratio of two policies at one percentile, where there are enough samples."""
    found = [tail[policy] for policy in (slow, fast)]
    if any(value is None or value["insufficient"] or not value["value"] for value in found):
        return None
    quotient: float = found[0]["value"] / found[1]["value"]
    return quotient


def scenes(results: Results) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Go through the scenes that were made: their names, how they are called, and what they came to."""
    for name, policy, cycles in scene_drives():
        if (point := f"scenes/{name}") in results:
            yield name, POLICIES[policy] + (f" at {cycles:,} P/E" if cycles else ""), results[point]


def presets(results: Results) -> Iterator[tuple[str, dict[str, Any]]]:
    """Go through the scenes of the drives as they are shipped, by policy."""
    for policy in POLICIES:
        if (point := f"scenes/{policy}") in results:
            yield policy, results[point]


def single_erase(results: Results) -> dict[str, Any]:
    """Return what the scenes measured."""
    tree: dict[str, Any] = {}
    for name, _, scene in scenes(results):
        siege = scene["siege"]
        # What was left of the erase when the last read had come, it did afterwards.
        left = max(0, siege["write_done_after_last_read_ns"]) / scene["erase_ns"]
        values = {
            "max_wait_us": scene["max_wait_ns"] / 1e3,
            "max_wait_and_recovery_us": scene["max_wait_and_recovery_ns"] / 1e3,
            "mean_wait_us": scene["mean_wait_ns"] / 1e3,
            "suspensions_of_one_erase": siege["suspends"],
            "erased_between_reads": 1 - min(left, 1.0),
            "erase_ends_in_flood": ends(flood(results, name)),
            "erase_ends_in_flood_with_less_patience": ends(scene["flood"]),
        }
        for key, value in values.items():
            tree.setdefault(key, {})[name] = value
    waits = tree["mean_wait_us"]
    tree["mean_wait_ratio"] = {"des_over_static": waits["ssr-des"] / waits["ssr-static"]}
    return tree


def flood(results: Results, name: str) -> Mapping[str, Any]:
    """Return the flood of a scene: that of the configured patience, where it was made (not in try-outs)."""
    found: Mapping[str, Any] = results.get(f"flood/{name}") or results[f"scenes/{name}"]["flood"]
    return found


def ends(flood: Mapping[str, Any]) -> bool:
    """Say whether an erase ended before the flood did."""
    return bool(flood["erase_ns"] < flood["reads_ns"])


def latency_table(results: Results, op: str) -> Table:
    """Tabulate the tails."""
    rows = []
    for run in runs(results):
        latency = run.found["latency"][op]
        cells = [
            microseconds(latency["percentiles_ns"][key]) + ("*" if key in latency["insufficient"] else "")
            for key in PERCENTILES
        ]
        rows.append([*run.words, *cells, microseconds(latency["max_ns"])])
    columns = ["workload", "policy", *(f"p{key}" for key in PERCENTILES), "max"]
    return Table(f"Latency of {op}s [us]", columns, rows, note=few_samples(rows))


def interval_table(results: Results, op: str) -> Table:
    """Tabulate the intervals that decide orders."""
    keys = ("99.9", "99.99", "99.999", "99.9999")
    rows: list[list[Any]] = []
    for run in runs(results):
        latency = run.found["latency"][op]
        cells = [
            "-".join(microseconds(end) for end in latency["intervals_ns"][key] or [])
            + ("*" if key in latency["insufficient"] else "")
            for key in keys
        ]
        rows.append([*run.words, *cells])
    columns = ["workload", "policy", *(f"p{key}" for key in keys)]
    return Table(f"95 % intervals of {op}s [us]", columns, rows, note=few_samples(rows))


def few_samples(rows: Sequence[Sequence[Any]]) -> str:
    """Say what a star means, where there is one."""
    starred = any(str(cell).endswith("*") for row in rows for cell in row)
    return "* fewer than ten samples beyond" if starred else ""


def drive_table(results: Results) -> Table:
    """Tabulate what the drive did."""
    rows: list[list[Any]] = []
    for run in runs(results):
        found = run.found
        counts = [found["latency"][op]["count"] for op in ("read", "write")]
        counts += [found["erases"], found["suspends"]]
        cells = [f"{count:,}" for count in counts]
        behind = found["latency"]["read"]["behind_erase"]
        shares = [f"{found['busy']:.0%}", "-" if behind is None else f"{behind:.2%}"]
        rows.append([*run.words, f"{found['waf']:.2f}", *shares, *cells])
    columns = [
        "workload",
        "policy",
        "WAF",
        "busy",
        "behind an erase",
        "reads",
        "writes",
        "erases",
        "suspends",
    ]
    note = "behind an erase: of the reads, those that waited for one; under I-ES they wait for voltages alone"
    return Table("What the drive did", columns, rows, note=note)


def lifetime_table(results: Results) -> Table:
    """Tabulate how often erases were suspended, and what it did to their blocks."""
    rows: list[list[Any]] = []
    for run in runs(results):
        ledger = run.found["suspension"]
        mean = ledger["suspensions"] / max(1, ledger["erases"])
        cells = [f"{ledger['erases']:,}", f"{mean:.3g}", f"{ledger['suspensions_max']:,}"]
        cells += [f"{ledger['over_limit_erases']:,}", f"{ledger['added_rber_max']:.2g}"]
        rows.append([*run.words, *cells])
    columns = [
        "workload",
        "policy",
        "erases",
        "suspended on average",
        "at most",
        "over the limit",
        "added RBER",
    ]
    return Table(
        "Suspensions of an erase",
        columns,
        rows,
        note=(
            "over the limit: erases suspended more often than their block bears. added RBER: at most, by a "
            "law of which the trend alone is published (inferred)."
        ),
    )


def cause_table(results: Results) -> Table:
    """Tabulate what the slowest of 10,000 reads waited for."""
    from ninescope.text.causes import look

    rows: list[list[Any]] = []
    for run in runs(results):
        found = run.found["latency"]["read"]["tail_parts_ns"]
        total = sum(found.values()) if found else None
        top = sorted(found.items(), key=lambda part: -part[1])[:3]
        said = ", ".join(f"{time / total:.0%} {look(cause).label}" for cause, time in top if time > 0)
        rows.append([*run.words, microseconds(total), said])
    columns = ["workload", "policy", "mean", "where the time went"]
    return Table("Reads beyond p99.99 [us]", columns, rows)


def variant_table(results: Results) -> Table:
    """Tabulate what open decisions would change."""
    rows: list[list[Any]] = []
    for workload, name in WORKLOADS.items():
        names = {"": "as it is"} | {f"{variant}/": words for variant, words in VARIANTS.items()}
        for variant, words in names.items():
            if f"{variant}{workload}/ssr-ies" in results:
                for policy, short in POLICIES.items():
                    cells = variant_cells(results[f"{variant}{workload}/{policy}"])
                    rows.append([name, words, short, *cells])
    rows.append([WORKLOADS["fio"], "as it is", "practical", *variant_cells(results["practical"])])
    columns = [
        "workload",
        "decided",
        "policy",
        "read p99.99",
        "p99.999",
        "write p99.99",
        "at most",
        "lost [ms]",
    ]
    return Table(
        "Decided otherwise [us]",
        columns,
        rows,
        note=(
            "with the requests of a quick run, a tenth of the others', but for 2.5 % faster, and `as it is` "
            "with all: tails beyond p99.99, and of writes, hang on the length. a modern drive: as the "
            "presets are, 4 KiB writes share a page, and programs are not suspended. a shared write buffer: "
            "of 112 pages, of which a die holds 16 at most. the controller of the authors' simulator: that "
            "buffer, its data cache, and sectors that move alone. loops by wear: AERO's table at 2,500 "
            "cycles, 3.5 ms each. the trace's own rate: 51,273 a second, more than a drive can serve that "
            "suspends erases and programs. requests 2.5 % faster: than that which each policy keeps up "
            "with. at most: "
            "suspensions of an erase. lost: pulse time of erase loops that began anew."
        ),
    )


def variant_cells(run: Mapping[str, Any]) -> list[Any]:
    """Write the tails of one run, and what suspending took."""
    cells = []
    for op, key in (("read", "99.99"), ("read", "99.999"), ("write", "99.99")):
        latency = run["latency"][op]
        few = "*" if key in latency["insufficient"] else ""
        cells.append(microseconds(latency["percentiles_ns"][key]) + few)
    ledger = run["suspension"]
    return [*cells, ledger["suspensions_max"], f"{ledger['lost_ns'] / 1e6:,.0f}"]


def scene_table(results: Results) -> Table:
    """Tabulate the scenes."""
    rows: list[list[Any]] = []
    for name, words, scene in scenes(results):
        waits = [scene["max_wait_ns"], scene["max_wait_and_recovery_ns"], scene["mean_wait_ns"]]
        siege = scene["siege"]
        in_time = "yes" if siege["write_done_before_last_read"] else "no"
        floods = [ended(flood(results, name)), ended(scene["flood"])]
        cells = [siege["suspends"], in_time, *floods]
        rows.append([words, *(microseconds(wait) for wait in waits), *cells])
    return Table(
        "One erase [us]",
        [
            "policy",
            "longest wait",
            "and recovery",
            "mean wait",
            "suspends",
            "ends in time",
            "ends in a flood",
            f"with {FLOOD_PATIENCE}",
        ],
        rows,
        note=(
            f"suspends, ends in time: while reads come each {READ_GAP_NS / 1e3:g} us, which the die can "
            f"serve. In a flood, each {FLOOD_GAP_NS / 1e3:g} us, it cannot: reads wait at all times, and "
            f"D-ES and SSR let them go first for {PATIENCE_NS / 1e6:g} ms at each stop, as configured; the "
            f"last column has a flood of 0.3 s and {FLOOD_PATIENCE} at each stop. I-ES and the baseline have "
            "no such limit; SSR(d) at given P/E cycles was run with the short flood alone."
        ),
    )


def ended(flood: Mapping[str, Any]) -> str:
    """Write whether an erase ended, after how long, and how often it was suspended."""
    after = f"{flood['erase_ns'] / 1e6:,.0f} ms"
    return f"yes, after {after}, {flood['suspends']} suspends" if ends(flood) else "no"


def seed_table(results: Results) -> Table:
    """Tabulate how far a write tail is from seed to seed, and how many seeds tell two policies apart."""
    rows: list[list[Any]] = []
    for workload, (_, policies) in SEEDED.items():
        found = {policy: seeded(results, workload, policy) for policy in policies}
        fixed = results[f"{workload}/ssr-des"]["latency"]["write"]["percentiles_ns"]["99.99"] / 1e6
        for policy, tails in found.items():
            middle, deviation = in_logarithms(tails)
            low, high = (
                math.exp(middle + sign * student(len(tails)) * deviation / math.sqrt(len(tails)))
                for sign in (-1, 1)
            )
            others = {"ssr-des": (math.log(fixed), 0.0)} | {
                other: in_logarithms(of) for other, of in found.items() if other != policy
            }
            needed = {name: seeds_needed((middle, deviation), other) for name, other in others.items()}
            rows.append(
                [
                    WORKLOADS[workload],
                    POLICIES[policy],
                    ", ".join(f"{tail:,.3g}" for tail in sorted(tails)),
                    f"{math.exp(middle):,.3g}",
                    f"{low:,.3g}-{high:,.3g}",
                    "; ".join(f"{POLICIES[name]} {count}" for name, count in needed.items()),
                ]
            )
    return Table(
        "Write tails from seed to seed: p99.99 [ms]",
        ["workload", "policy", "each seed", "mean", "95 %", "seeds to tell it from"],
        rows,
        note="runs of other seeds than those of the verdicts, "
        + ", ".join(f"{WORKLOADS[name]} {requests:,} requests" for name, (requests, _) in SEEDED.items())
        + ", a third of the full length; means and their intervals (Student's) are of logarithms; the write "
        "tail of D-ES is one loop of an erase with any seed. Seeds: of this length, until intervals as wide "
        "as the measured spread asks for do not overlap, if means stay where they are",
    )


def seeded(results: Results, workload: str, policy: str) -> list[float]:
    """Return a write tail [ms] for each seed."""
    before = f"seeds/{workload}/{policy}/"
    runs = [found for name, found in results.items() if name.startswith(before)]
    return [run["latency"]["write"]["percentiles_ns"]["99.99"] / 1e6 for run in runs]


def in_logarithms(values: Sequence[float]) -> tuple[float, float]:
    """Return mean and standard deviation of logarithms."""
    logarithms = [math.log(value) for value in values]
    return statistics.mean(logarithms), statistics.stdev(logarithms)


def student(count: int) -> float:
    """Return how many standard errors 95 % of means lie within, of so many values."""
    return {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365}.get(count, 1.96)


def seeds_needed(one: tuple[float, float], other: tuple[float, float]) -> str:
    """Return how many seeds it takes until the intervals of two means do not overlap."""
    apart = abs(one[0] - other[0])
    needed = (1.96 * (one[1] + other[1]) / apart) ** 2 if apart else math.inf
    return f"{math.ceil(needed):,}" if needed < MOST_SEEDS else f"more than {MOST_SEEDS:,}"


def lighter_table(results: Results) -> Table:
    """Tabulate reads under both workloads, and under the stand-in at less than its load."""
    rows: list[list[Any]] = []
    for policy, words in POLICIES.items():
        row: list[Any] = [words]
        for name in (f"fio/{policy}", f"tpcc-stand-in/{policy}", f"lighter/{policy}"):
            read = results[name]["latency"]["read"]
            row += [f"{read['behind_erase']:.2%}", microseconds(read["percentiles_ns"]["99"])]
        rows.append(row)
    columns = ["policy"]
    for name in ("FIO", "stand-in", f"stand-in at {LIGHTER:g}"):
        columns += [f"{name}: behind an erase", "p99"]
    return Table(
        "Reads behind an erase, by load [us]",
        columns,
        rows,
        note=f"at {LIGHTER:g} of its requests a second, with those of a quick run; no verdict rests on it",
    )


def wear_table(results: Results) -> Table:
    """Tabulate how often an erase of a worn block may be suspended, and how long a read waits for that."""
    rows: list[list[Any]] = []
    for policy in WEAR_POLICIES:
        for cycles in WEAR_CYCLES:
            found = results[f"wear/{policy}/{cycles}"]
            waits = [microseconds(found[key]) for key in ("max_wait_ns", "max_wait_and_recovery_ns")]
            rows.append([POLICIES[policy], f"{cycles:,}", found["points_per_loop"], *waits])
    columns = ["policy", "P/E cycles", "safe points in a loop", "longest wait", "and recovery"]
    return Table("Wear [us]", columns, rows, note="safe points: how often a loop under siege was suspended.")


def parameter_table(settings: Settings) -> Table:
    """Tabulate the drive; what the paper's table 1 says is missing from the text at hand."""
    found = toml.loads(drive("ssr-dynamic", settings).resolve())
    inferred = {value.name for value in INFERRED}
    rows: list[list[Any]] = []
    for key in PARAMETERS:
        group, name = key.split(".")
        value = found[group][name]
        source = "inferred" if key in inferred else found["sources"].get(key, "")
        rows.append([key, str(value[0] if isinstance(value, list) else value), source])
    return Table(
        "Table 1: parameters of the drive",
        ["parameter", "value", "where from"],
        rows,
        note="where nothing is said: AERO. over_provisioning: of what the host gets (20 % of the flash).",
    )


def microseconds(ns: float | None) -> str:
    """Write a time without a unit."""
    if ns is None:
        return "-"
    return f"{ns / 1e3:,.0f}" if ns >= 1e5 else f"{ns / 1e3:.3g}"


# ---- figures -----------------------------------------------------------------------------------------


def figures(results: Results, settings: Settings) -> list[Figure]:
    """Say what the figures of the paper look like here, as far as they were simulated."""
    found = [
        arrivals(results),
        *(tails_figure(results, workload, name) for workload, name in FIGURES.items()),
        improvements(results),
        survival(results),
        causes(results),
    ]
    return found if settings.brief else [*found, bit_errors(results), wear(results)]


def arrivals(results: Results) -> Figure:
    """Draw what a read waits for, by when it comes into an erase."""
    whole, first = [], []
    for policy, scene in presets(results):
        reads = scene["arrivals"]
        at = [time / 1e6 for time in reads["at_ns"]]
        waits = [
            (wait + recovery) / 1e6
            for wait, recovery in zip(reads["wait_ns"], reads["recovery_ns"], strict=True)
        ]
        early = [index for index, time in enumerate(at) if time <= FIRST_MS]
        label, colour = POLICIES[policy], COLOURS[policy]
        whole.append(Series(label, at, waits, colour=colour))
        if policy not in ("ssr-baseline", "ssr-des"):
            # These two wait for the end of the erase or of a loop, which is too far away to be seen here.
            first.append(Series(label, [at[i] for i in early], [waits[i] for i in early], colour=colour))
    x = Axis("when the read comes, after the erase began [ms]", low=0)
    y = Axis("wait, recovery included [ms]", log=True, low=0.05, high=30)
    near = Axis("wait, recovery included [ms]", low=0)
    panels = [
        Panel("an erase of three loops", x, y, whole),
        Panel("its first 1.5 ms", dataclasses.replace(x, high=FIRST_MS), near, first),
    ]
    return Figure(
        "figure-5",
        "A read that meets an erase",
        panels,
        "One read, one erase of 3 loops x 5 ms, nothing else on the die; each place is a simulation of its "
        "own. Waits include the recovery of voltages (100 us, inferred); the published bounds leave it out: "
        "SSR(s) waits for 0.5 ms at most, and 0.1 ms more for the recovery. SSR(d) at 100 P/E cycles.",
    )


def bit_errors(results: Results) -> Figure:
    """Draw what suspensions do to bit errors."""
    found = results["bit-errors"]
    series = [
        Series(f"{cycles:,} P/E cycles", found["suspensions"], added, colour=shade)
        for cycles, added, shade in zip(found["cycles"], found["added_rber"], SHADES, strict=True)
    ]
    x, y = Axis("suspensions in an erase of one loop", low=0), Axis("added raw bit error rate", low=0)
    return Figure(
        "figure-7",
        "What suspensions add to bit errors",
        [Panel("added bit errors", x, y, series)],
        "The law is inferred (factor 1e-6, exponent 1.5): the paper publishes the trend alone. Where a curve "
        "leaves zero is published for 100 and 1,000 cycles, and inferred between them.",
        columns=1,
    )


def wear(results: Results) -> Figure:
    """Draw safe points and the longest wait over wear."""
    points, waits = [], []
    for policy in WEAR_POLICIES:
        found = [results[f"wear/{policy}/{cycles}"] for cycles in WEAR_CYCLES]
        label, colour = POLICIES[policy], COLOURS[policy]
        points.append(Series(label, WEAR_CYCLES, [one["points_per_loop"] for one in found], colour=colour))
        waits.append(Series(label, WEAR_CYCLES, [one["max_wait_ns"] / 1e3 for one in found], colour=colour))
    x = Axis("P/E cycles of the block", low=0)
    return Figure(
        "figure-8",
        "Safe points and waits as blocks wear",
        [
            Panel("safe points in a loop", x, Axis("safe points in a loop", low=0), points),
            Panel("longest wait", x, Axis("longest wait for a safe point [us]", low=0), waits),
        ],
        "Measured: how often a loop is suspended while reads come without end, and how long the unluckiest "
        "read waits, recovery left out as in the paper. How SSR(d) gets from 30 points to 10 between the two "
        "published examples is inferred.",
        columns=1,
    )


def tails_figure(results: Results, workload: str, name: str) -> Figure:
    """Draw percentiles of reads and of writes."""
    panels = []
    for op in ("read", "write"):
        series = []
        for run in runs(results):
            if run.workload == workload:
                series.append(percentile_series(run, op))
        x = Axis("percentile", categories=[f"p{key}" for key in PERCENTILES])
        panels.append(Panel(f"{op}s", x, Axis("latency [us]", log=True), series))
    return Figure(
        name,
        f"Tail latency: {WORKLOADS[workload]}",
        panels,
        f"{ABOUT[workload]} With 95 % intervals. A percentile with fewer than ten requests beyond it is left "
        "out: a quick run is too short for the last ones. A curve that is not seen lies beneath another.",
    )


def percentile_series(run: Run, op: str) -> Series:
    """Return the percentiles [us] that enough requests stand behind."""
    found = [percentile(run.found["latency"][op], key) for key in PERCENTILES]
    enough = [value if value and not value["insufficient"] else {} for value in found]
    intervals = [value.get("interval", (None, None)) for value in enough]
    return Series(
        POLICIES[run.policy],
        list(range(len(PERCENTILES))),
        [value.get("value") for value in enough],
        low=[low for low, _ in intervals],
        high=[high for _, high in intervals],
        colour=COLOURS[run.policy],
    )


def improvements(results: Results) -> Figure:
    """Draw the ratios of read tails that the paper's abstract speaks of."""
    places = [(workload, key) for workload in WORKLOADS for key in TAIL]
    series = []
    for (slow, fast), colour in zip(COMPARED, ("#1f6fb4", "#2a9d5c"), strict=True):
        ratios = [ratio(tails(results, workload)["read"][key], slow, fast) for workload, key in places]
        label = f"{POLICIES[slow]} / {POLICIES[fast]}"
        series.append(Series(label, list(range(len(places))), ratios, "bars", colour=colour))
    x = Axis(categories=[f"{WORKLOADS[workload]}: {key}" for workload, key in places])
    return Figure(
        "improvement",
        "How many times shorter read tails become",
        [Panel("read tails", x, Axis("ratio of latencies", log=True, low=1), series)],
        "The paper claims up to 10 times, over the baseline in its abstract, over existing techniques in its "
        "section 6. TPC-C is a stand-in. A percentile with fewer than ten requests beyond it is left out.",
        columns=1,
    )


def survival(results: Results) -> Figure:
    """Draw the share of requests that were slower than any latency."""
    panels = []
    for workload, words in WORKLOADS.items():
        for op in ("read", "write"):
            series = [slower(run, op) for run in runs(results) if run.workload == workload]
            # What is answered from the buffer takes less.
            x = Axis("latency [us]", log=True, low=20 if op == "read" else None)
            panels.append(Panel(f"{words}: {op}s", x, Axis("share of slower requests", log=True), series))
    return Figure(
        "survival",
        "Share of requests slower than",
        panels,
        "Not a figure of the paper: the whole distributions behind figures 9 and 10. TPC-C is a stand-in. "
        f"At most {MOST_PLACES} buckets of a histogram are drawn. Where a curve is not seen, it lies beneath "
        "another.",
    )


def slower(run: Run, op: str) -> Series:
    """Return the share of requests slower than the bounds of the histogram."""
    latency = run.found["latency"][op]
    left, places = latency["count"], []
    for bound, count in latency["histogram"]:
        left -= count
        if left > 0:  # a logarithm knows no zero
            places.append((bound / 1e3, left / latency["count"]))
    step = max(1, -(-len(places) // MOST_PLACES))
    # Counted from the end, where each request matters.
    kept = places[::-1][::step][::-1]
    x, y = [at for at, _ in kept], [share for _, share in kept]
    return Series(POLICIES[run.policy], x, y, "steps", colour=COLOURS[run.policy])


def causes(results: Results) -> Figure:
    """Draw where the time of the slowest reads went."""
    panels = []
    for workload, words in WORKLOADS.items():
        series = []
        for run in runs(results):
            latency = run.found["latency"]["read"]
            if run.workload == workload:
                means = grouped(latency["tail_parts_ns"]) if latency["tail_count"] else [None] * len(GROUPS)
                series.append(
                    Series(
                        POLICIES[run.policy],
                        list(range(len(GROUPS))),
                        means,
                        "bars",
                        colour=COLOURS[run.policy],
                    )
                )
        y = Axis("mean time of a read beyond p99.99 [us]", log=True, low=1)
        panels.append(Panel(words, Axis(categories=list(GROUPS)), y, series))
    return Figure(
        "causes",
        "Where the time of the slowest reads went",
        panels,
        "Not a figure of the paper: reads beyond p99.99, one in 10,000. What took less than 1 us on average "
        "is not seen. TPC-C is a stand-in.",
        columns=1,
    )


def grouped(parts: Mapping[str, float]) -> list[float]:
    """Return mean times [us] by group of causes; the last group is what no other has."""
    named = {cause for members in GROUPS.values() for cause in members}
    sums = [sum(parts.get(cause, 0.0) for cause in members) / 1e3 for members in GROUPS.values()]
    sums[-1] += sum(time for cause, time in parts.items() if cause not in named) / 1e3
    return sums


def attribution(results: Results, workload: str) -> Attribution:
    """Return where the time of the slowest reads went, by policy."""
    rows = []
    for run in runs(results):
        latency = run.found["latency"]["read"]
        if run.workload == workload and latency["tail_count"]:
            rows.append((POLICIES[run.policy], latency["tail_count"], latency["tail_parts_ns"]))
    return Attribution(
        f"tail-{workload}", f"{WORKLOADS[workload]}: reads beyond p99.99", rows, note="one read in 10,000"
    )


def configuration(settings: Settings) -> dict[str, str]:
    """Return, as TOML, the drive of each policy."""
    return {f"Drive: {words}": drive(policy, settings).resolve() for policy, words in POLICIES.items()}
