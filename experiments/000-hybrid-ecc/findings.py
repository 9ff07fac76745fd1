"""What runs with error remedies come to: slopes, best remedies, tables and figures.

This reads what experiment.py answers, simulates nothing, and does not know what was published.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from experiment import (
    BASE,
    BEYOND,
    CODE_VARIANTS,
    FULL_BITS,
    FULL_CHOICES,
    FULL_CYCLES,
    MEDIA,
    QUICK_BITS,
    QUICK_CHOICES,
    QUICK_CYCLES,
    STRONGEST,
    UBER,
    UBERS,
    VARIANTS,
    VOLUMES,
    WANTED_RBERS,
    name_of,
    variant_runs,
    wanted_rbers,
)
from further import OTHERS
from further import pairs as pairs_for

from ninescope import toml
from ninescope.figures import Axis, Figure, Panel, Series
from ninescope.papers.experiment import Settings, Summary, Table

Results = Mapping[str, dict[str, Any]]


def summarise(results: Results, settings: Settings) -> Summary:
    """Name what was measured."""
    bits = QUICK_BITS if settings.quick else FULL_BITS
    cycles = QUICK_CYCLES if settings.quick else FULL_CYCLES
    found = {volume: reads_per_program(results[volume]["runs"]["as it is"]) for volume in VOLUMES}
    measured: dict[str, Any] = {
        "scm_reads_per_program": found,
        "ratio_of_reads_per_program": ratio(found["prxy_1"], found["prxy_0"]),
        "codes": measured_slopes(results, bits, cycles),
    }
    tables = [
        slope_table(measured["codes"], source(results)),
        iops_table(results, bits, cycles),
        stand_in_table(results),
    ]
    if settings.brief:
        return Summary(measured, tables)
    codes = results["codes"]
    chosen = {volume: best_remedies(results, volume) for volume in VOLUMES}
    measured["codes"] |= measured_codes(results, chosen)
    slopes, volumes, drawn = tables
    tables = [
        remedies_by_volume(measured["codes"]),
        code_table(codes),
        slopes,
        volumes,
        remedy_table(chosen, source(results)),
        *([] if settings.quick else tables_of_a_full_run(results)),
        drawn,
        table(results),
    ]
    return Summary(measured, tables)


def tables_of_a_full_run(results: Results) -> list[Table]:
    """Tabulate what no claim is judged at."""
    return [other_remedy_table(results), code_variant_table(results), added_times_table(results)]


def measured_slopes(
    results: Results, bits: Mapping[str, Iterable[int]], cycles: Iterable[int]
) -> dict[str, Any]:
    """Return what a bit and a cycle cost."""
    strongest = STRONGEST["nand"]
    slopes = {
        volume: {
            "scm": slope(results, volume, [(scm, 1, 0) for scm in bits["scm"]], 0),
            "nand": slope(results, volume, [(1, nand, 0) for nand in bits["nand"]], 1),
        }
        for volume in VOLUMES
    }
    of_ecc = {
        volume: slope(results, volume, [(scm, strongest, 0) for scm in bits["scm"]], 0) for volume in VOLUMES
    }
    of_verify = {
        volume: slope(results, volume, [(1, strongest, count) for count in cycles], 2) for volume in VOLUMES
    }
    return {
        "slope": slopes,
        "scm_slope_over_nand_slope": {
            volume: ratio(slopes[volume]["scm"], slopes[volume]["nand"]) for volume in VOLUMES
        },
        "slope_of_scm_ecc": of_ecc,
        "slope_of_verify": of_verify,
        "slope_of_verify_ratio": ratio(of_verify["prxy_0"], of_verify["prxy_1"]),
        "verify_over_ecc": {volume: ratio(of_verify[volume], of_ecc[volume]) for volume in VOLUMES},
    }


def measured_codes(results: Results, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return what codes are by themselves, and which remedy is best."""
    codes = results["codes"]
    return {
        "correctable_bits": {medium: codes[medium]["correctable"] for medium in MEDIA},
        "acceptable_ber": {medium: codes[medium]["acceptable_ber"][f"{UBER:g}"] for medium in MEDIA},
        "encode_slowest_over_fastest": {
            medium: codes[medium]["encode_slowest_over_fastest"] for medium in MEDIA
        },
        "decode_rises": {medium: codes[medium]["decode_rises"] for medium in MEDIA},
        "ber_left_by_verify": run_of(results, VOLUMES[0], (1, STRONGEST["nand"], 20))["ber_factor"],
        # Where the strongest code just suffices: there verifying can spare most.
        "verify_cycles_of_best_remedy": {
            volume: chosen[volume][f"{WANTED_RBERS[-1]:g}"]["cycles"] for volume in VOLUMES
        },
    }


def run_of(results: Results, volume: str, wanted: tuple[int, int, int]) -> dict[str, Any]:
    """Return a run with codes."""
    found: dict[str, Any] = results[f"{volume}/codes"]["runs"][name_of(*wanted)]
    return found


def slope(results: Results, volume: str, wanted: Iterable[tuple[int, int, int]], coordinate: int) -> float:
    """Return the loss of IOPS for each step, of the IOPS of the first run: least squares."""
    runs = list(wanted)
    places = [float(run[coordinate]) for run in runs]
    first = run_of(results, volume, runs[0])["iops"]
    heights = [run_of(results, volume, run)["iops"] / first for run in runs]
    place, height = (sum(values) / len(values) for values in (places, heights))
    above = sum((x - place) * (y - height) for x, y in zip(places, heights, strict=True))
    return float(-above / sum((x - place) ** 2 for x in places))


def ratio(above: float | None, below: float | None) -> float | None:
    """Return a quotient; None where one would divide by what is no loss, or was not measured."""
    return above / below if above is not None and below is not None and below > 0 else None


def best_remedies(results: Results, volume: str) -> dict[str, Any]:
    """Return for each error rate the pair of verify cycles and corrected bits that reaches most IOPS."""
    found = {}
    for rber, pairs in results["codes"]["choices"].items():
        iops = {
            (cycles, bits): run_of(results, volume, (bits, STRONGEST["nand"], cycles))["iops"]
            for cycles, bits in map(tuple, pairs)
        }
        cycles, bits = max(iops, key=lambda pair: iops[pair])
        without = max((iops[pair] for pair in iops if pair[0] == 0), default=None)
        gain = None if without is None else iops[cycles, bits] / without - 1
        tried = [[*pair, reached] for pair, reached in iops.items()]
        found[rber] = {"cycles": cycles, "bits": bits, "gain": gain, "tried": tried}
    return found


def code_table(codes: Mapping[str, Any]) -> Table:
    """Tabulate the strongest codes."""
    rows: list[list[Any]] = []
    for medium in MEDIA:
        found = codes[medium]
        times = [
            "{:.2f} to {:.2f} us".format(*(time / 1000 for time in found[f"{what}_ns"]))
            for what in ("encode", "decode")
        ]
        abers = [f"{aber:.2e}" for aber in found["acceptable_ber"].values()]
        rows.append(
            [
                medium,
                BASE[medium]["ecc"]["user_data"],
                found["correctable"],
                found["codeword_bits"],
                f"{found['rate']:.5f}",
                *times,
                *abers,
            ]
        )
    columns = ["medium", "user data", "corrects", "bits", "rate", "encodes, from 1 bit on", "decodes"]
    return Table(
        "The strongest codes at rate 9/10",
        [*columns, *(f"accepts at {uber:g}" for uber in UBERS)],
        rows,
        note="accepts: the raw bit error rate at which so many bit errors are left",
    )


def remedies_by_volume(found: Mapping[str, Any]) -> Table:
    """Tabulate what remedies cost, and which is best, as the paper does."""

    def cell(loss: float, step: str) -> str:
        return f"{-loss:.1e} a {step}".replace("e-0", "e-")

    best = found["verify_cycles_of_best_remedy"]
    rows = [
        ["ECC", *(cell(found["slope_of_scm_ecc"][volume], "bit") for volume in VOLUMES)],
        ["verify", *(cell(found["slope_of_verify"][volume], "cycle") for volume in VOLUMES)],
        ["best remedy", *("ECC and verify" if best[volume] else "ECC only" for volume in VOLUMES)],
    ]
    return Table(
        "Table 1: loss of IOPS by remedy of SCM, and the best remedy",
        ["remedy", *VOLUMES],
        rows,
        note=f"flash corrects {STRONGEST['nand']} bits; the best remedy is for a raw bit error rate of "
        f"{WANTED_RBERS[-1]:g}, the most that {STRONGEST['scm']} bits bear",
    )


def slope_table(found: Mapping[str, Any], requests: str) -> Table:
    """Tabulate what a bit and a cycle cost."""
    rows: list[list[Any]] = []
    for volume in VOLUMES:
        numbers = [
            found["slope"][volume]["nand"],
            found["slope"][volume]["scm"],
            found["scm_slope_over_nand_slope"][volume],
            found["slope_of_scm_ecc"][volume],
            found["slope_of_verify"][volume],
            found["verify_over_ecc"][volume],
        ]
        rows.append([volume, *map(short, numbers)])
    return Table(
        "Loss of IOPS for each bit and each cycle",
        [
            requests,
            "bit of flash",
            "bit of SCM",
            "SCM / flash",
            "bit of SCM, flash 428",
            "cycle",
            "cycle / bit",
        ],
        rows,
        note="of the IOPS of the first point; least squares over all points of the table of IOPS",
    )


def iops_table(results: Results, bits: Mapping[str, Iterable[int]], cycles: Iterable[int]) -> Table:
    """Tabulate IOPS."""
    strongest = STRONGEST["nand"]
    sweeps = [
        ("SCM, flash 1", [(scm, 1, 0) for scm in bits["scm"]], 0),
        ("flash, SCM 1", [(1, nand, 0) for nand in bits["nand"]], 1),
        ("SCM, flash 428", [(scm, strongest, 0) for scm in bits["scm"]], 0),
        ("verify cycles, SCM 1, flash 428", [(1, strongest, count) for count in cycles], 2),
    ]
    rows: list[list[Any]] = []
    for name, wanted, coordinate in sweeps:
        for run in wanted:
            iops = [run_of(results, volume, run)["iops"] for volume in VOLUMES]
            first = [run_of(results, volume, wanted[0])["iops"] for volume in VOLUMES]
            cells = [
                cell
                for one, base in zip(iops, first, strict=True)
                for cell in (f"{one:,.0f}", f"{one / base:.4f}")
            ]
            rows.append([name, run[coordinate], *cells])
    columns = [column for volume in VOLUMES for column in (volume, "of the first")]
    return Table("IOPS over corrected bits and verify cycles", ["of", "bits or cycles", *columns], rows)


def remedy_table(chosen: Mapping[str, Any], requests: str) -> Table:
    """Tabulate the best remedies."""
    rows: list[list[Any]] = []
    for volume, of_volume in chosen.items():
        for rber, found in of_volume.items():
            gain = None if found["gain"] is None else f"{found['gain']:+.2%}"
            tried = ", ".join(f"{cycles}: {bits}" for cycles, bits, _ in found["tried"])
            rows.append([volume, rber, found["cycles"], found["bits"], gain, tried])
    return Table(
        "The best remedy for a raw bit error rate of SCM",
        [
            requests,
            "bit error rate",
            "verify cycles",
            "corrected bits",
            "over ECC alone",
            "cycles: bits tried",
        ],
        rows,
    )


def code_variant_table(results: Results) -> Table:
    """Tabulate what open decisions do to slopes."""
    rows: list[list[Any]] = []
    for variant in CODE_VARIANTS:
        for volume in VOLUMES:
            runs = results[f"{volume}/otherwise"]["runs"]
            names = [name_of(*wanted) for wanted in variant_runs()]
            ends = [runs[f"{variant}: {name}"]["iops"] for name in names]
            first, flash, scm, coded, verified = ends
            slopes = [
                (1 - flash / first) / (STRONGEST["nand"] - 1),
                (1 - scm / first) / (STRONGEST["scm"] - 1),
                (1 - coded / flash) / (STRONGEST["scm"] - 1),
                (1 - verified / flash) / max(QUICK_CYCLES),
            ]
            rows.append([variant, volume, f"{first:,.0f}", *(f"{found:.2e}" for found in slopes)])
    return Table(
        "Decided otherwise: loss of IOPS, from end to end",
        ["decided otherwise", source(results), "IOPS", "bit of flash", "bit of SCM", "flash 428", "cycle"],
        rows,
        note="flash 428: bit of SCM with flash at full strength; with the first million requests of each "
        "volume, as a quick run has: slopes of the whole are others, and so may their order be (IOPS of "
        "prxy_0 above are of all of them)",
    )


STAND_IN = "stand-in"


def source(results: Results) -> str:
    """Say what the requests are: drawn in the place of a volume, or the volume's own."""
    rows = [results[volume]["stand_in"] for volume in VOLUMES]
    return "real trace" if all(row["is_real"] for row in rows) else STAND_IN


def other_remedy_table(results: Results) -> Table:
    """Tabulate the best remedies for errors that no claim is judged at."""
    rows: list[list[Any]] = []
    for uber, rber in OTHERS:
        row: list[Any] = [f"{uber:g}", f"{rber:g}"]
        for volume in VOLUMES:
            runs = results[f"{volume}/remedies"]["runs"]
            iops = {
                (cycles, bits): runs[name_of(bits, STRONGEST["nand"], cycles)]["iops"]
                for cycles, bits in pairs_for(uber, rber)
            }
            cycles, bits = max(iops, key=lambda pair: iops[pair])
            alone = next(reached for (tried, _), reached in iops.items() if tried == 0)
            row += [cycles, bits, f"{iops[cycles, bits] / alone - 1:+.2%}"]
        rows.append(row)
    columns = ["errors left", "bit error rate"]
    for volume in VOLUMES:
        columns += [f"{volume}: cycles", "bits", "over ECC alone"]
    return Table(
        "The best remedy for other errors",
        columns,
        rows,
        note="errors left: uncorrectable bit errors that are allowed; with the requests of a quick run",
    )


def added_times_table(results: Results) -> Table:
    """Tabulate a bit of SCM with flash at full strength beside what it is where times add.

    Where a request takes what it took before, and what each code adds, the loss by both codes follows from
    the loss by each.
    """
    rows: list[list[Any]] = []
    for variant in CODE_VARIANTS:
        found = {}
        for volume in VOLUMES:
            runs = results[f"{volume}/otherwise"]["runs"]
            names = [name_of(*wanted) for wanted in variant_runs()]
            first, flash, scm, coded, _ = [runs[f"{variant}: {name}"]["iops"] for name in names]
            added = 1 / (1 / flash + 1 / scm - 1 / first)
            found[volume] = [(1 - both / flash) / (STRONGEST["scm"] - 1) for both in (coded, added)]
        for volume, losses in found.items():
            rows.append([f"{variant}, {volume}", *(f"{loss:.2e}" for loss in losses)])
    return Table(
        "A bit of SCM with flash at full strength, and where times add",
        [f"decided, {source(results)}", "measured", "where times add"],
        rows,
        note="where times add: from the losses by each code alone; with the requests of a quick run",
    )


def reads_per_program(run: Mapping[str, Any]) -> float | None:
    """Return sectors read from SCM, each of which a code would decode, per sector written."""
    return ratio(run["sectors_read"], run["sectors_written"])


def stand_in_table(results: Results) -> Table:
    """Tabulate what was drawn, and how much of what is read was written: SCM holds nothing else."""
    rows: list[list[Any]] = []
    for volume in VOLUMES:
        row = results[volume]["stand_in"]
        sizes = [row[key] / (1 << 20) for key in ("footprint", "written_footprint", "read_footprint")]
        cells = [f"{row['requests']:,}", f"{row['write_share']:.1%}", *(f"{mib:,.0f}" for mib in sizes)]
        rows.append([volume, *cells, f"{row['read_and_written']:.0%}"])
    columns = [source(results), "requests", "writes", "MiB touched", "written", "read", "of it written"]
    return Table("What was drawn" if source(results) == STAND_IN else "What was taken", columns, rows)


def short(number: float | None) -> str | None:
    """Write a number; None stays."""
    return None if number is None else f"{number:.3g}"


def table(results: Results) -> Table:
    """Tabulate both counters, and what open decisions do to them."""
    rows: list[list[Any]] = []
    for variant in VARIANTS:
        found = {volume: results[volume]["runs"][variant] for volume in VOLUMES}
        ratios = [reads_per_program(run) for run in found.values()]
        quotient = short(ratio(ratios[1], ratios[0]))
        for volume, run in found.items():
            rows.append(
                [
                    variant,
                    volume,
                    f"{run['scm_over_footprint']:.3g}",
                    f"{run['iops']:,.0f}",
                    f"{run['sectors_read'] / run['requests']:.3g}",
                    f"{run['sectors_written'] / run['requests']:.3g}",
                    short(reads_per_program(run)),
                    quotient if volume == VOLUMES[-1] else "",
                ]
            )
    columns = ["decided otherwise", source(results), "SCM / footprint", "IOPS", "R", "W", "R / W"]
    return Table(
        "Sectors of SCM read (R) and written (W) per request",
        [*columns, "over prxy_0"],
        rows,
        note="over prxy_0: R / W of prxy_1 over that of prxy_0",
    )


# ---- figures -----------------------------------------------------------------------------------------

COLOURS = {
    "scm": "#d9621e",
    "nand": "#1f6fb4",
    "verify": "#7a5aa0",
    "encode": "#2a9d5c",
    "decode": "#d9621e",
    "accepted": "#1f6fb4",
}
MEDIUM_WORDS = {"scm": "SCM", "nand": "NAND"}


def about(results: Results) -> str:
    """Say what was run."""
    drawn = "are stand-ins drawn from published statistics"
    whose = drawn if source(results) == STAND_IN else "are real traces"
    inferred = "latencies of flash, SCM and decoders are inferred"
    return f"{' and '.join(VOLUMES)} {whose}, one request in flight; {inferred}. "


def figures(results: Results, settings: Settings) -> list[Figure]:
    """Show what the figures of the paper do; a brief run computes no codes."""
    swept = [figure_3(results, settings), figure_5(results, settings)]
    if settings.brief:
        return swept
    codes = results["codes"]
    return [figure_2(codes), swept[0], figure_4(results, settings), swept[1]]


def figure_2(codes: Mapping[str, Any]) -> Figure:
    """Show what codes take and accept, by the bits that they correct."""
    panels = []
    for medium, word in MEDIUM_WORDS.items():
        curve = codes[medium]["curve"]
        bits = Axis(f"corrected bits in {BASE[medium]['ecc']['user_data']}")
        latency = [
            Series(f"{what} (model)", curve["bits"], microseconds(curve[f"{what}_ns"]), colour=COLOURS[what])
            for what in ("encode", "decode")
        ]
        accepted = Series(
            f"at {UBER:g} (computed)", curve["bits"], curve["acceptable_ber"], colour=COLOURS["accepted"]
        )
        panels.append(Panel(f"{word} latency", bits, Axis("us", low=0), latency))
        panels.append(
            Panel(f"{word} acceptable bit error rate", bits, Axis("raw bit error rate", log=True), [accepted])
        )
    return Figure(
        "figure-2",
        "Figure 2: latency of a codeword, and the bit error rate that it accepts",
        panels,
        caption="Computed, no drive: binary BCH codes, m t bits of parity, up to rate 9/10. The form of the "
        "latency was fitted to a table of another paper and its coefficients are inferred: this paper gives "
        "no numbers. Nor does it say at which rate of uncorrectable errors it accepts: "
        f"{UBER:g} is inferred.",
    )


def microseconds(times: Iterable[float]) -> list[float]:
    """Turn times in ns."""
    return [time / 1000 for time in times]


def swept_panel(
    results: Results, volume: str, sweep: tuple[str, str, Iterable[tuple[int, int, int]], int, str]
) -> Panel:
    """Show IOPS of one volume, of those of the first run."""
    name, axis, wanted, coordinate, colour = sweep
    runs = list(wanted)
    iops = [run_of(results, volume, run)["iops"] for run in runs]
    relative = [ratio(reached, iops[0]) for reached in iops]
    places = [run[coordinate] for run in runs]
    # What is published of it has the same name, and so the same colour.
    series = Series(name, places, relative, colour=COLOURS[colour])
    return Panel(f"{volume}, {name}", Axis(axis), Axis(f"IOPS, of those with {places[0]}"), [series])


def figure_3(results: Results, settings: Settings) -> Figure:
    """Show what corrected bits of each medium cost."""
    bits = QUICK_BITS if settings.quick else FULL_BITS
    sweeps = [
        ("SCM", "corrected bits of SCM", [(scm, 1, 0) for scm in bits["scm"]], 0, "scm"),
        ("NAND", "corrected bits of flash", [(1, nand, 0) for nand in bits["nand"]], 1, "nand"),
    ]
    return Figure(
        "figure-3",
        "Figure 3: IOPS by the strength of the code of each medium",
        [swept_panel(results, volume, sweep) for volume in VOLUMES for sweep in sweeps],
        caption=f"{about(results)}The other medium corrects one bit. The paper gives slopes: its lines are "
        "drawn with them through the first point.",
    )


def figure_4(results: Results, settings: Settings) -> Figure:
    """Show which share of bit errors verify cycles leave."""
    left = results["codes"]["ber_left"]
    cycles = QUICK_CYCLES if settings.quick else FULL_CYCLES
    of_runs = [run_of(results, VOLUMES[0], (1, STRONGEST["nand"], count))["ber_factor"] for count in cycles]
    drive = f"drive, {VOLUMES[0]} ({source(results)})"
    series = [
        Series("model", list(range(len(left))), left, colour=COLOURS["verify"]),
        Series(drive, cycles, of_runs, "points", colour=COLOURS["verify"]),
    ]
    return Figure(
        "figure-4",
        "Figure 4: bit errors left by verify-programs",
        [Panel("bit errors", Axis("verify cycles"), Axis("bit error rate, of that without", low=0), series)],
        caption="Of the measured curve of the paper only its end is known: at 20 cycles the model is made to "
        "leave what is published. How it gets there, exponentially, is inferred.",
        columns=1,
    )


def figure_5(results: Results, settings: Settings) -> Figure:
    """Show what both remedies of SCM cost."""
    strongest = STRONGEST["nand"]
    bits = (QUICK_BITS if settings.quick else FULL_BITS)["scm"]
    cycles = QUICK_CYCLES if settings.quick else FULL_CYCLES
    sweeps = [
        ("ECC", "corrected bits of SCM", [(scm, strongest, 0) for scm in bits], 0, "scm"),
        ("verify", "verify cycles", [(1, strongest, count) for count in cycles], 2, "verify"),
    ]
    return Figure(
        "figure-5",
        "Figure 5: IOPS by the two remedies of SCM",
        [swept_panel(results, volume, sweep) for volume in VOLUMES for sweep in sweeps],
        caption=f"{about(results)}Flash corrects {strongest} bits; SCM corrects one bit where cycles vary. "
        "The paper gives slopes: its lines are drawn with them through the first point.",
    )


def configuration(settings: Settings) -> dict[str, str]:
    """Return, as TOML, what is tried on the drive of drive.toml, and what is decided otherwise."""
    bits, cycles, choices = (
        (QUICK_BITS, QUICK_CYCLES, QUICK_CHOICES)
        if settings.quick
        else (FULL_BITS, FULL_CYCLES, FULL_CHOICES)
    )
    tried = {
        "flash_beyond_the_footprint": BEYOND,
        "verify_cycles": list(cycles),
        "corrected_bits": {medium: list(found) for medium, found in bits.items()},
        "best_remedy": {"raw_bit_error_rates": list(wanted_rbers(settings)), "verify_cycles": list(choices)},
    }
    return {"What is tried": toml.dumps(tried), "What is decided otherwise": toml.dumps(VARIANTS)}
