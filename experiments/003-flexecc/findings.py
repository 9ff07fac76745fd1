"""What the simulations of `experiment.py` come to: named values, tables and figures.

It knows nothing of what was published or of what would count as reproducing it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from experiment import (
    BCH_SSD,
    BITS_OF_A_PAGE,
    DRIVES,
    FATES_OF,
    FILEBENCH,
    FLEXECC,
    IDLE_SHARE,
    OF_QUANTITATIVE_LEDGERS,
    PREFILLED,
    QUICK_SCALE,
    RBER,
    REQUESTS,
    STRETCH,
    VARIANTS,
    WORKLOADS,
    cache_blocks,
    describe,
    errors_of_a_bit,
    scale_of,
)

from ninescope import toml
from ninescope.figures import Axis, Figure, Panel, Series
from ninescope.lab.statistics import Interval, mean_interval
from ninescope.papers.experiment import Settings, Summary, Table

COLOURS = {BCH_SSD: "#444444", FLEXECC: "#1f6fb4"}
LABELS = {BCH_SSD: "BCH-SSD", FLEXECC: "FlexECC"}

BUSY = (
    f"{100 * (1 - IDLE_SHARE):.1f} % busy in the busiest stretch of the run, as long as {STRETCH:.0%} of it"
)
"""How busy dies are."""

Results = Mapping[str, dict[str, Any]]


def summarise(results: Results, settings: Settings) -> Summary:
    """Name what was measured."""
    scale = scale_of(settings)
    measured = of_quantitative_claims(results, settings)
    if settings.brief:
        return Summary(
            measured, [counter_table(results, scale), scrubber_table(measured), decoder_table(results)]
        )
    single = {
        name: {op: of["median_ns"] for op, of in drive.items()} for name, drive in results["single"].items()
    }
    gains = measured["improvement_percent"]
    measured |= {
        "page_us": {name: {op: single[name][op] / 1000 for op in ("read", "write")} for name in DRIVES},
        "page_read_saved_percent": 100 * (1 - single[FLEXECC]["read"] / single[BCH_SSD]["read"]),
        "extreme_improvement_percent": {
            "most of write-intensive": max(gains[name] for name in FILEBENCH),
            "least of read-intensive": min(gains[name] for name in PREFILLED),
        },
        "cleaning_saved_percent": {name: cleaning_saved(results[name]["runs"]) for name in WORKLOADS},
        "normalised_response": {
            rber: {"value": of.value, "interval": [of.low, of.high]}
            for rber, of in ((rber, found.normalised) for rber, found in swept(results).items())
        },
        "normalised_response_of_one_run": {rber: found.of_each[0] for rber, found in swept(results).items()},
        "bch2crc_over_crc_moved": {
            name: share(counters(results, name)["ecc_to_edc"] * scale, measured["crc_moved"][name])
            for name in WORKLOADS
        },
    }
    tables = [
        workload_table(results),
        response_table(results, measured),
        counter_table(results, scale),
        cleaning_table(results, measured),
        scrubber_table(measured),
        ledger_table(results, measured),
        sweep_table(results),
        *([] if settings.quick else [fate_table(results)]),
        variant_table(results),
        decoder_table(results),
    ]
    return Summary(measured, tables)


def of_quantitative_claims(results: Results, settings: Settings) -> dict[str, Any]:
    """Name what a brief run measures as well."""
    scale = scale_of(settings)
    moved = {name: counters(results, name)["edc_moved"] * scale for name in WORKLOADS}
    of_filebench = [moved[name] for name in FILEBENCH]
    with_ledger = OF_QUANTITATIVE_LEDGERS if settings.brief else tuple(WORKLOADS)
    return {
        "improvement_percent": {name: improvement(results[name]["runs"]) for name in WORKLOADS},
        "ledger": {name: ledger(results[name]["ledger"], settings) for name in with_ledger},
        "reads_of_10m": {name: reads_of(results[name]["runs"][FLEXECC]) for name in WORKLOADS},
        "crc_read_share": {name: crc_read_share(results[name]["runs"][FLEXECC]) for name in WORKLOADS},
        "crc_moved": {
            **moved,
            "spread": share(max(of_filebench) - min(of_filebench), max(of_filebench)),
            "r75_over_fileserver": share(moved["r75"], moved["fileserver"]),
        },
        "decoder_us": results["decoders"],
    }


def counters(results: Results, name: str) -> Mapping[str, Any]:
    """Return what FlexECC counted with busy dies."""
    found: Mapping[str, Any] = results[name]["runs"][FLEXECC]["cache"]
    return found


def share(part: float, whole: float) -> float | None:
    """Return a share; None where there is nothing to share."""
    return part / whole if whole else None


def improvement(runs: Mapping[str, Any]) -> float:
    """Return by how much the mean response of FlexECC is shorter [%]."""
    return 100 * (1 - float(runs[FLEXECC]["response_ns"] / runs[BCH_SSD]["response_ns"]))


def cleaning_saved(runs: Mapping[str, Any]) -> float | None:
    """Return how much less time the dies spend on collecting garbage [%]; None where they collect none."""
    whole = runs[BCH_SSD]["cleaning_ns"]
    return 100 * (1 - runs[FLEXECC]["cleaning_ns"] / whole) if whole else None


def reads_of(run: Mapping[str, Any]) -> float:
    """Return the reads among ten million requests."""
    reads = sum(run["hints"].get(name, 0) for name in ("host_read", "flush_read"))
    return float(reads / run["requests"] * REQUESTS)


def crc_read_share(run: Mapping[str, Any]) -> float | None:
    """Return the share of reads of pages under CRC."""
    cache = run["cache"]
    return share(cache["edc_reads"], cache["edc_reads"] + cache["ecc_reads"])


LEDGER = (
    "corruptions",
    "corruptions_under_edc",
    "disk_accesses",
    "disk_accesses_of_moves",
    "prefetched",
    "corrected",
    "never_met",
)


def ledger(run: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return what became of the pages that were made bad."""
    scale = scale_of(settings)
    cache = {**run["cache"], "prefetched": prefetched_before_read(run["cache"])}
    expected = cache_blocks(settings) * (1 - (1 - errors_of_a_bit(settings, RBER)) ** BITS_OF_A_PAGE)
    count = cache["corruptions"]
    return {
        "corruptions": count * scale,
        # Of a Poisson count: how many standard deviations it lies off.
        "deviation": (count - expected) / expected**0.5,
        "prefetched_share": share(cache["prefetched"], count),
        "all_disk_accesses": (cache["disk_accesses"] + cache["disk_accesses_of_moves"]) * scale,
        **{name: cache[name] * scale for name in LEDGER if name != "corruptions"},
    }


def prefetched_before_read(cache: Mapping[str, int]) -> int:
    """Return the bad pages that the scrubber had replaced before anybody had to wait for them.

    The drive counts what the scrubber asks for; a page that the host reads before it has come is asked for
    twice. The slides count each page once, and this one is a disk access.
    """
    others = ("disk_accesses", "disk_accesses_of_moves", "corrected", "never_met")
    left = cache["corruptions"] - sum(cache[name] for name in others)
    return max(0, min(cache["prefetched"], left))


def us(time_ns: float | None) -> str | None:
    """Write a time."""
    return None if time_ns is None else f"{time_ns / 1000:,.1f} us"


def percent(value: float | None) -> str | None:
    """Write a share that is given in percent."""
    return None if value is None else f"{value:+.1f} %"


def thousands(count: float) -> str:
    """Write a count."""
    return f"{count:,.0f}"


def workload_table(results: Results) -> Table:
    """Tabulate what the drive was asked for."""
    kinds = ("dirty_write", "clean_write", "host_read", "flush_read")
    rows: list[list[Any]] = []
    for name, words in WORKLOADS.items():
        run = results[name]["ledger"]
        shares = [f"{run['hints'].get(kind, 0) / run['requests']:.1%}" for kind in kinds]
        rate = run["requests"] / run["simulated_s"]
        rows.append([words, thousands(run["requests"]), *shares, thousands(rate)])
    columns = ["workload", "requests", *(kind.replace("_", " ") + "s" for kind in kinds), "a second"]
    return Table("What the drive is asked for", columns, rows)


def response_table(results: Results, measured: Mapping[str, Any]) -> Table:
    """Tabulate mean responses with busy dies."""
    rows: list[list[Any]] = []
    for name, words in WORKLOADS.items():
        found = results[name]
        row: list[Any] = [words, f"{found['speed']:.1f} x", f"{found['runs'][BCH_SSD]['busy']:.1%}"]
        for key in ("response_ns", "read_ns", "write_ns"):
            row += [us(found["runs"][drive][key]) for drive in (BCH_SSD, FLEXECC)]
        rows.append([*row, percent(measured["improvement_percent"][name])])
    columns = ["workload", "faster by", "dies busy, whole run", "BCH-SSD", "FlexECC"]
    return Table(
        "Mean response with busy dies",
        [*columns, "reads, BCH-SSD", "FlexECC", "writes, BCH-SSD", "FlexECC", "shorter by"],
        rows,
    )


COUNTED = {
    "BCH_READ": "ecc_reads",
    "CRC_READ": "edc_reads",
    "CRC_MOVED": "edc_moved",
    "BCH2CRC": "ecc_to_edc",
    "moved under BCH": "ecc_moved",
}
"""Counters under the names of the slides; the last is none of theirs."""
COUNTER_COLUMNS = ("fileserver", "varmail", "webserver", "oltp", "r75", "r90")


def counter_table(results: Results, scale: int) -> Table:
    """Tabulate how often pages were read and moved under which code."""
    rows: list[list[Any]] = [
        [name, *(thousands(counters(results, workload)[key] * scale) for workload in COUNTER_COLUMNS)]
        for name, key in COUNTED.items()
    ]
    return Table(
        "Page transitions",
        ["", *(WORKLOADS[workload] for workload in COUNTER_COLUMNS)],
        rows,
        note="FlexECC with busy dies, counts for ten million requests",
    )


FATES = {
    "corruptions": "corruptions",
    "disk accesses": "disk_accesses",
    "prefetched": "prefetched",
    "BCH decoded": "corrected",
}
"""What becomes of bad pages, under the names of the slides."""


def scrubber_table(measured: Mapping[str, Any]) -> Table:
    """Tabulate what the slides count of bad pages."""
    rows: list[list[Any]] = [
        [name, *(thousands(measured["ledger"][workload][key]) for workload in OF_QUANTITATIVE_LEDGERS)]
        for name, key in FATES.items()
    ]
    return Table(
        "Scrubber",
        ["", *(WORKLOADS[workload] for workload in OF_QUANTITATIVE_LEDGERS)],
        rows,
        note=f"at a bit error rate of {RBER:g}, at the rates of the workloads; a quick run's times eight",
    )


def cleaning_table(results: Results, measured: Mapping[str, Any]) -> Table:
    """Tabulate the time that dies collect garbage."""
    rows: list[list[Any]] = []
    for name, words in WORKLOADS.items():
        runs = results[name]["runs"]
        row: list[Any] = [words]
        for drive in (BCH_SSD, FLEXECC):
            run = runs[drive]
            row += [
                f"{run['cleaning_ns'] / 1e9:,.1f} s",
                thousands(run["gc_units"]),
                thousands(run["erases"]),
            ]
        rows.append([*row, percent(measured["cleaning_saved_percent"][name])])
    columns = ["workload", "BCH-SSD", "pages moved", "erases", "FlexECC", "pages moved", "erases", "saved"]
    return Table("Time of the dies for garbage collection", columns, rows)


def ledger_table(results: Results, measured: Mapping[str, Any]) -> Table:
    """Tabulate what became of bad pages."""
    rows: list[list[Any]] = []
    for name, words in WORKLOADS.items():
        found = measured["ledger"][name]
        rows.append([words, *(thousands(found[key]) for key in LEDGER), f"{found['deviation']:+.1f}"])
    columns = ["workload", *(key.replace("_", " ") for key in LEDGER), "deviations"]
    return Table(
        f"What became of bad pages, bit error rate {RBER:g}",
        columns,
        rows,
        note="each bad page once; deviations: of their number from what is expected, in standard deviations",
    )


class Swept(NamedTuple):
    """File at one bit error rate, of all seeds."""

    responses_ns: Mapping[str, float]
    """Mean over the runs, of each drive."""
    of_each: Sequence[float]
    """Response of FlexECC in each run, BCH-SSD's with the same seed being 1."""
    disk_accesses: float
    prefetched: float

    @property
    def normalised(self) -> Interval:
        """Mean over the runs, and how sure it is."""
        return mean_interval(self.of_each)


def swept(results: Results) -> dict[str, Swept]:
    """Put the runs of each bit error rate together."""
    sweeps = [results[name]["runs"] for name in results if name.startswith("sweep/")]
    return {rber: swept_once([runs[rber] for runs in sweeps]) for rber in sweeps[0]}


def swept_once(pairs: Sequence[Mapping[str, Any]]) -> Swept:
    """Put the runs of one bit error rate together."""

    def mean(values: Iterable[float]) -> float:
        return sum(values) / len(pairs)

    return Swept(
        {drive: mean(pair[drive]["response_ns"] for pair in pairs) for drive in DRIVES},
        [1 - improvement(pair) / 100 for pair in pairs],
        mean(pair[FLEXECC]["cache"]["disk_accesses"] for pair in pairs),
        mean(pair[FLEXECC]["cache"]["prefetched"] for pair in pairs),
    )


def fate_table(results: Results) -> Table:
    """Tabulate what decides what becomes of bad pages."""
    rows: list[list[Any]] = []
    for name in FATES_OF:
        for words, run in results[f"{name}/fates"]["runs"].items():
            cache = run["cache"]
            bad = cache["corruptions"]
            shares = [share(bad - cache["corruptions_under_edc"], bad), share(cache["prefetched"], bad)]
            cells = ["" if of is None else f"{of:.1%}" for of in shares]
            # A quick run is smaller: of as many requests as a full one has.
            counts = [
                cache[key] * QUICK_SCALE for key in ("disk_accesses", "corrected", "ecc_to_edc", "edc_moved")
            ]
            rows.append([WORKLOADS[name], words, *cells, *(f"{count:,}" for count in counts)])
    return Table(
        "What decides what becomes of bad pages",
        ["workload", "", "under BCH", "prefetched", "disk accesses", "corrected", "BCH2CRC", "CRC moved"],
        rows,
        note=f"bit error rate {RBER:g}, in the space and with the requests of a quick run, counts of ten "
        "million; shares are of all bad pages; no verdict rests on them",
    )


def sweep_table(results: Results) -> Table:
    """Tabulate File over the bit error rate."""
    rows: list[list[Any]] = []
    for rber, found in swept(results).items():
        times = [us(found.responses_ns[drive]) for drive in (BCH_SSD, FLEXECC)]
        counted = [f"{found.disk_accesses:.0f}", f"{found.prefetched:.0f}"]
        value, low, high = found.normalised
        rows.append([rber, *times, f"{value:.3f}", f"{low:.3f} to {high:.3f}", *counted])
    columns = [
        "bit error rate",
        "BCH-SSD",
        "FlexECC",
        "normalised",
        "95 %",
        "disk accesses",
        "prefetched",
    ]
    note = "means of runs with a seed each; normalised: of FlexECC, where BCH-SSD takes 1 with the same seed"
    return Table("File with bad pages", columns, rows, note=note)


def variant_table(results: Results) -> Table:
    """Tabulate what open decisions would change."""
    rows: list[list[Any]] = []
    for name, words in WORKLOADS.items():
        if f"{name}/variants" not in results:
            continue
        for variant, runs in results[f"{name}/variants"]["runs"].items():
            loaded, unloaded = runs["loaded"], runs["unloaded"]
            row: list[Any] = [words, variant]
            for found in (loaded, unloaded):
                row += [us(found[drive]["response_ns"]) for drive in (BCH_SSD, FLEXECC)]
                row.append(percent(improvement(found)))
            rows.append(row)
    columns = ["workload", "decided otherwise", "BCH-SSD, busy", "FlexECC", "shorter by"]
    return Table(
        "Decided otherwise: mean response with busy dies, and at the workload's own rate",
        [*columns, "BCH-SSD, own rate", "FlexECC", "shorter by"],
        rows,
        note="with the drive and the requests of a quick run, an eighth of the whole, in which cleaning "
        "saves more than in all of it: a small gain may be a loss there, and the other way round",
    )


def decoder_table(results: Results) -> Table:
    """Tabulate the fitted decoder."""
    rows = [[f"({name.replace('-', ', ')})", f"{time:.1f} us"] for name, time in results["decoders"].items()]
    return Table(
        "Increasing overhead",
        ["(n, k, t)", "latency"],
        rows,
        note="of a decoder fitted to the slides: 8 bits a cycle at 100 MHz, and 0.16 t^2 cycles",
    )


# ---- figures -----------------------------------------------------------------------------------------


def figures(results: Results, settings: Settings) -> list[Figure]:
    """Say what the slides' figures look like here; a brief run measures too little for all."""
    return [] if settings.brief else [response(results), cleaning(results), faults(results)]


STAND_INS = (
    "File, Web, Mail and OLTP are file systems modelled after filebench; R_75 and R_90 are single pages in a "
    "Poisson process. Sizes of the drive and the part that is written are inferred."
)


def response(results: Results) -> Figure:
    """Compare mean responses with busy dies."""
    panels = {"all requests": "response_ns", "reads": "read_ns", "writes": "write_ns"}
    return Figure(
        "response",
        "Mean response with busy dies",
        [relative_panel(name, "mean response, BCH-SSD = 1", key, results) for name, key in panels.items()],
        caption=f"{STAND_INS} The load is not published: requests come so fast that the dies of BCH-SSD are "
        f"{BUSY}, and FlexECC gets the same requests at the same times. The slides show all requests.",
        columns=3,
    )


def cleaning(results: Results) -> Figure:
    """Compare how long dies collect garbage."""
    return Figure(
        "cleaning",
        "Time for garbage collection",
        [relative_panel("busy dies", "time of the dies, BCH-SSD = 1", "cleaning_ns", results)],
        caption=f"{STAND_INS} Without a bar no garbage is collected. The slides' figure has no numbers.",
        columns=1,
    )


def relative_panel(name: str, label: str, key: str, results: Results) -> Panel:
    """Show both drives side by side for each workload, BCH-SSD being 1; None where there is nothing."""
    series = []
    for drive in (BCH_SSD, FLEXECC):
        heights = []
        for workload in WORKLOADS:
            runs = results[workload]["runs"]
            of, base = runs[drive][key], runs[BCH_SSD][key]
            heights.append(of / base if of is not None and base else None)
        series.append(
            Series(LABELS[drive], list(range(len(WORKLOADS))), heights, "bars", colour=COLOURS[drive])
        )
    return Panel(name, Axis("workload", categories=list(WORKLOADS.values())), Axis(label, low=0.0), series)


def faults(results: Results) -> Figure:
    """Show what remains of the advantage when pages are bad."""
    found = swept(results)
    return Figure(
        "faults",
        "File with bad pages",
        [
            Panel(
                "File",
                Axis("bit error rate", log=True),
                Axis("mean response, BCH-SSD = 1", log=True),
                [
                    Series(
                        LABELS[FLEXECC],
                        [float(rber) for rber in found],
                        [of.normalised.value for of in found.values()],
                        colour=COLOURS[FLEXECC],
                    )
                ],
                lines=[("BCH-SSD", 1.0)],
            )
        ],
        caption="Errors come one after another as long as requests do; dies of BCH-SSD are "
        f"{BUSY}, without errors. The slides' figure has no numbers; its rates are inferred.",
        columns=1,
    )


def configuration(settings: Settings) -> dict[str, str]:
    """Return, as TOML, both drives, and what is decided otherwise."""
    drives = {f"Drive: {LABELS[name]}": toml.dumps(describe(name, settings, {})) for name in DRIVES}
    return {**drives, "What is decided otherwise": toml.dumps(VARIANTS)}
