"""What error remedies of SCM above flash cost: bits that a code corrects, and cycles that verify a write.

The paper: Kinoshita, Matsui, Yamaga, Adachi, Takeuchi, on error correction and verify-programs of SCM in
hybrid SSDs (in Japanese). Figures and acceptance live elsewhere; this only measures.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import ninescope
from ninescope import toml
from ninescope.codes import joint_choices
from ninescope.papers import stand_ins
from ninescope.papers.experiment import Point, Settings, Summary, Table

HERE = Path(__file__).resolve().parent
BASE = toml.loads((HERE / "drive.toml").read_text(encoding="utf-8"))

QUICK_REQUESTS = {"prxy_0": 3_000_000, "prxy_1": 2_000_000}
FULL_REQUESTS = {"prxy_0": 12_518_968, "prxy_1": 10_539_935}
QUICK_CODE_REQUESTS = {"prxy_0": 1_000_000, "prxy_1": 1_000_000}
"""A volume is run some thirty times with codes."""
VOLUMES = tuple(QUICK_REQUESTS)
CAPACITY = 1.25
"""Flash as a multiple of the footprint."""
PLACEMENT = "tier.placement"
VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "the page used longest ago leaves": {f"{PLACEMENT}.victim": "lru"},
    "8 % kept free": {f"{PLACEMENT}.evict_free": 0.08, f"{PLACEMENT}.evict_stop": 0.08},
    "half as much SCM": {"tier.scm_ratio": BASE["tier"]["scm_ratio"] / 2},
    "what is read hot goes up (RWB-DM)": {
        PLACEMENT: {
            "policy": "rwb-dm",
            "victim": "sequential-first",
            "evict_free": 0.2,
            "evict_stop": 0.2,
            "moves": "hot-or-random",
            "keep_copy": False,
        }
    },
}
"""What the paper leaves open, decided otherwise; no verdict rests on it."""
STRONGEST = {"scm": 35, "nand": 428}
"""The most bits that a codeword corrects in the simulated drives: the codes of drive.toml."""
MEDIA = tuple(STRONGEST)
HIGHEST_RATE = 0.9
UBER = 1e-15
"""Uncorrectable bit errors that are allowed; the paper does not say how many."""
UBERS = (1e-13, 1e-15, 1e-16, 1e-17)
QUICK_BITS = {"scm": (1, 12, 24, 35), "nand": (1, 143, 286, 428)}
FULL_BITS = {"scm": (1, 3, *range(5, 36, 3)), "nand": (1, 61, 122, 183, 244, 305, 366, 428)}
"""Corrected bits that are tried: from one to the strongest code."""
QUICK_CYCLES = (0, 7, 14, 20)
FULL_CYCLES = (0, 1, 2, 3, 5, 7, 10, 12, 14, 16, 18, 20)
"""Verify cycles that are tried."""
WANTED_RBERS = (5e-4, 1e-3, 1.9e-3)
"""Raw bit error rates of SCM for which the best remedy is chosen; the strongest code just bears the last."""
QUICK_CHOICES = (0, 1, 3, 7, 20)
FULL_CHOICES = (0, 1, 2, 3, 4, 5, 7, 10, 14, 20)
"""Verify cycles between which the best remedy is chosen."""
CODE_VARIANTS: dict[str, dict[str, Any]] = {
    "four banks, decoders beside banks and dies": {
        "scm.channels": 2,
        "scm.banks_per_channel": 2,
        "scm.ecc.shared": True,
        "scm.ecc.holds_die": False,
        "nand.ecc.shared": True,
        "nand.ecc.holds_die": False,
    },
    "what is read hot goes up (RWB-DM)": VARIANTS["what is read hot goes up (RWB-DM)"],
    "the page used longest ago leaves": VARIANTS["the page used longest ago leaves"],
    "evictions in the foreground": {f"{PLACEMENT}.migration": "foreground"},
    "one cell access takes 100 ns": {"scm.read": "100ns", "scm.set": "100ns", "scm.reset": "100ns"},
    "dies are free while their page is decoded": {"nand.ecc.holds_die": False},
}
"""What the paper leaves open, decided otherwise, for slopes. No verdict rests on it."""
QUICK_CODE_VARIANTS = 2

Results = Mapping[str, dict[str, Any]]


def points(settings: Settings) -> list[Point]:
    """List the volumes, for placement and for codes; and the codes themselves."""
    placements = [Point(volume, {"kind": "placement", "volume": volume}) for volume in VOLUMES]
    coded = [Point(f"{volume}/codes", {"kind": "codes", "volume": volume}, weight=5) for volume in VOLUMES]
    return [*coded, *placements, Point("codes", {"kind": "mathematics"}, weight=0.1)]


def simulate(point: Point, settings: Settings) -> dict[str, Any]:
    """Run a volume on the drive and on its variants, or compute what codes are."""
    kind = point.parameters["kind"]
    if kind == "mathematics":
        return mathematics(settings)
    volume = point.parameters["volume"]
    if kind == "codes":
        requests = (QUICK_CODE_REQUESTS if settings.quick else FULL_REQUESTS)[volume]
        return {"runs": coded_runs(stand_ins.draw(volume, requests, seed=settings.seed), settings)}
    requests = (QUICK_REQUESTS if settings.quick else FULL_REQUESTS)[volume]
    stand_in = stand_ins.draw(volume, requests, seed=settings.seed)
    return {
        "stand_in": stand_in.as_row(),
        "runs": {name: measure(stand_in, changes, settings) for name, changes in VARIANTS.items()},
    }


def measure(stand_in: stand_ins.StandIn, changes: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Run it once."""
    description = stand_ins.flash_sized(BASE, stand_in.footprint, CAPACITY, changes)
    result = stand_ins.drive(description).run(stand_in.workload, seed=settings.seed, warmup=stand_ins.WARMUP)
    document = result.document
    throughput = document["throughput"]
    scm = document["scm"]["counters"]
    return {
        "iops": sum(throughput[op]["iops"] for op in ("read", "write")),
        "requests": sum(throughput[op]["requests"] for op in ("read", "write")),
        "scm_over_footprint": stand_ins.size(document["config"]["drive"]["scm"]["capacity"])
        / stand_in.footprint,
        "sectors_read": scm["sectors_read"],
        "sectors_written": scm["sectors_written"],
        "ber_factor": (document["scm"].get("verify") or {}).get("ber_factor", 1.0),
        "tier": document.get("tier", {}).get("counters", {}),
    }


# ---- codes -------------------------------------------------------------------------------------------


def code(medium: str, bits: int) -> ninescope.Code:
    """Return the code of a medium that corrects so many bits."""
    ecc = BASE[medium]["ecc"]
    return ninescope.Code.bch(user_data=ecc["user_data"], correctable=bits, latency=ecc["latency"])


def remedies(bits: Mapping[str, int], cycles: int) -> dict[str, Any]:
    """Say what a drive with such codes, and so many verify cycles, differs in.

    Every codeword goes through the whole decoder, as in the paper: at the error rates it is about nine
    sectors of ten hold an error.
    """
    changes: dict[str, Any] = {}
    for medium, correctable in bits.items():
        found = code(medium, correctable)
        whole = f"{found.decode_time(1, 1)}ns"
        changes[f"{medium}.ecc.correctable"] = correctable
        changes[f"{medium}.ecc.latency"] = {
            "policy": "fixed",
            "encode": f"{found.encode_time(1)}ns",
            "clean": whole,
            "corrupted": whole,
        }
    if cycles:
        changes["scm.verify"] = {"policy": "to-the-cap", "cycles": cycles}
    return changes


def name_of(scm: int, nand: int, cycles: int) -> str:
    """Name a run."""
    return f"{scm}/{nand}/{cycles}"


def wanted_runs(settings: Settings) -> list[tuple[int, int, int]]:
    """List what is run: bits of SCM, bits of flash, verify cycles."""
    bits = QUICK_BITS if settings.quick else FULL_BITS
    strongest = STRONGEST["nand"]
    found = [(scm, 1, 0) for scm in bits["scm"]]
    found += [(1, nand, 0) for nand in bits["nand"]]
    found += [(scm, strongest, 0) for scm in bits["scm"]]
    found += [(1, strongest, cycles) for cycles in (QUICK_CYCLES if settings.quick else FULL_CYCLES)]
    for rber in WANTED_RBERS:
        found += [(scm, strongest, cycles) for cycles, scm in choices(rber, settings)]
    return list(dict.fromkeys(found))


def choices(rber: float, settings: Settings) -> list[tuple[int, int]]:
    """List pairs of verify cycles and the fewest bits that suffice after them."""
    tried = QUICK_CHOICES if settings.quick else FULL_CHOICES
    found = joint_choices(BASE["scm"]["ecc"]["user_data"], rber=rber, uber=UBER, verify_cycles=max(tried))
    return [
        (choice.verify_cycles, choice.code.correctable)
        for choice in found
        if choice.verify_cycles in tried and choice.code and choice.code.correctable <= STRONGEST["scm"]
    ]


def coded_runs(stand_in: stand_ins.StandIn, settings: Settings) -> dict[str, Any]:
    """Run a volume with all codes and verify cycles, and the ends of slopes with variants."""
    found = {
        name_of(*wanted): measure_codes(stand_in, wanted, {}, settings) for wanted in wanted_runs(settings)
    }
    for variant, changes in variants(settings).items():
        for wanted in variant_runs():
            found[f"{variant}: {name_of(*wanted)}"] = measure_codes(stand_in, wanted, changes, settings)
    return found


def variants(settings: Settings) -> dict[str, dict[str, Any]]:
    """List what is decided otherwise."""
    most = QUICK_CODE_VARIANTS if settings.quick else len(CODE_VARIANTS)
    return dict(list(CODE_VARIANTS.items())[:most])


def variant_runs() -> list[tuple[int, int, int]]:
    """List the runs of a variant: the ends of each slope."""
    scm, nand = STRONGEST["scm"], STRONGEST["nand"]
    return [(1, 1, 0), (1, nand, 0), (scm, 1, 0), (scm, nand, 0), (1, nand, max(QUICK_CYCLES))]


def measure_codes(
    stand_in: stand_ins.StandIn,
    wanted: tuple[int, int, int],
    changes: Mapping[str, Any],
    settings: Settings,
) -> dict[str, Any]:
    """Run it once."""
    scm, nand, cycles = wanted
    return measure(stand_in, {**remedies({"scm": scm, "nand": nand}, cycles), **changes}, settings)


def mathematics(settings: Settings) -> dict[str, Any]:
    """Compute what codes are, without a drive."""
    found: dict[str, Any] = {}
    for medium in MEDIA:
        user_data = BASE[medium]["ecc"]["user_data"]
        best = ninescope.Code.bch(user_data, rate=HIGHEST_RATE)
        decode = [code(medium, bits).decode_time(1, 1) for bits in FULL_BITS[medium]]
        encode = [code(medium, bits).encode_time(1) for bits in FULL_BITS[medium]]
        found[medium] = {
            "correctable": best.correctable,
            "rate": best.rate,
            "codeword_bits": best.codeword_bits,
            "acceptable_ber": {f"{uber:g}": float(best.aber(uber=uber)) for uber in UBERS},
            "encode_ns": [encode[0], encode[-1]],
            "decode_ns": [decode[0], decode[-1]],
            "encode_slowest_over_fastest": max(encode) / min(encode),
            "decode_rises": all(one < next_one for one, next_one in itertools.pairwise(decode)),
        }
    found["choices"] = {f"{rber:g}": choices(rber, settings) for rber in WANTED_RBERS}
    return found


# ---- what it comes to --------------------------------------------------------------------------------


def summarise(results: Results, settings: Settings) -> Summary:
    """Name what was measured."""
    found = {volume: reads_per_program(results[volume]["runs"]["as it is"]) for volume in VOLUMES}
    bits = QUICK_BITS if settings.quick else FULL_BITS
    strongest = STRONGEST["nand"]
    cycles = QUICK_CYCLES if settings.quick else FULL_CYCLES
    codes = results["codes"]
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
    chosen = {volume: best_remedies(results, volume) for volume in VOLUMES}
    measured: dict[str, Any] = {
        "scm_reads_per_program": found,
        "ratio_of_reads_per_program": found["prxy_1"] / found["prxy_0"],
        "codes": {
            "correctable_bits": {medium: codes[medium]["correctable"] for medium in MEDIA},
            "acceptable_ber": {medium: codes[medium]["acceptable_ber"][f"{UBER:g}"] for medium in MEDIA},
            "encode_slowest_over_fastest": {
                medium: codes[medium]["encode_slowest_over_fastest"] for medium in MEDIA
            },
            "decode_rises": {medium: codes[medium]["decode_rises"] for medium in MEDIA},
            "slope": slopes,
            "scm_slope_over_nand_slope": {
                volume: ratio(slopes[volume]["scm"], slopes[volume]["nand"]) for volume in VOLUMES
            },
            "slope_of_scm_ecc": of_ecc,
            "slope_of_verify": of_verify,
            "slope_of_verify_ratio": ratio(of_verify["prxy_0"], of_verify["prxy_1"]),
            "verify_over_ecc": {volume: ratio(of_verify[volume], of_ecc[volume]) for volume in VOLUMES},
            "ber_left_by_verify": run_of(results, VOLUMES[0], (1, strongest, 20))["ber_factor"],
            # Where the strongest code just suffices: there verifying can spare most.
            "verify_cycles_of_best_remedy": {
                volume: chosen[volume][f"{WANTED_RBERS[-1]:g}"]["cycles"] for volume in VOLUMES
            },
        },
    }
    tables = [
        code_table(codes),
        slope_table(measured["codes"]),
        iops_table(results, bits, cycles),
        remedy_table(chosen),
        code_variant_table(results, settings),
        stand_in_table(results),
        table(results),
    ]
    return Summary(measured, tables)


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


def ratio(above: float, below: float) -> float | None:
    """Return a quotient; None where one would divide by what is no loss."""
    return above / below if below > 0 else None


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


def slope_table(found: Mapping[str, Any]) -> Table:
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
        rows.append([volume, *(None if number is None else f"{number:.3g}" for number in numbers)])
    return Table(
        "Loss of IOPS for each bit and each cycle",
        [
            "stand-in",
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


def remedy_table(chosen: Mapping[str, Any]) -> Table:
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
            "stand-in",
            "bit error rate",
            "verify cycles",
            "corrected bits",
            "over ECC alone",
            "cycles: bits tried",
        ],
        rows,
    )


def code_variant_table(results: Results, settings: Settings) -> Table:
    """Tabulate what open decisions do to slopes."""
    rows: list[list[Any]] = []
    for variant in ("", *variants(settings)):
        for volume in VOLUMES:
            runs = results[f"{volume}/codes"]["runs"]
            names = [name_of(*wanted) for wanted in variant_runs()]
            ends = [runs[f"{variant}: {name}" if variant else name]["iops"] for name in names]
            first, flash, scm, coded, verified = ends
            slopes = [
                (1 - flash / first) / (STRONGEST["nand"] - 1),
                (1 - scm / first) / (STRONGEST["scm"] - 1),
                (1 - coded / flash) / (STRONGEST["scm"] - 1),
                (1 - verified / flash) / max(QUICK_CYCLES),
            ]
            rows.append(
                [variant or "as it is", volume, f"{first:,.0f}", *(f"{found:.2e}" for found in slopes)]
            )
    return Table(
        "Decided otherwise: loss of IOPS, from end to end",
        ["decided otherwise", "stand-in", "IOPS", "bit of flash", "bit of SCM", "flash 428", "cycle"],
        rows,
        note="flash 428: bit of SCM with flash at full strength",
    )


def reads_per_program(run: Mapping[str, Any]) -> float:
    """Return sectors read from SCM, each of which a code would decode, per sector written."""
    return float(run["sectors_read"] / run["sectors_written"])


def stand_in_table(results: Results) -> Table:
    """Tabulate what was drawn, and how much of what is read was written: SCM holds nothing else."""
    rows: list[list[Any]] = []
    for volume in VOLUMES:
        row = results[volume]["stand_in"]
        sizes = [row[key] / (1 << 20) for key in ("footprint", "written_footprint", "read_footprint")]
        cells = [f"{row['requests']:,}", f"{row['write_share']:.1%}", *(f"{mib:,.0f}" for mib in sizes)]
        rows.append([volume, *cells, f"{row['read_and_written']:.0%}"])
    columns = ["stand-in", "requests", "writes", "MiB touched", "written", "read", "of it written"]
    return Table("What was drawn", columns, rows)


def table(results: Results) -> Table:
    """Tabulate both counters, and what open decisions do to them."""
    rows: list[list[Any]] = []
    for variant in VARIANTS:
        found = {volume: results[volume]["runs"][variant] for volume in VOLUMES}
        ratios = [reads_per_program(run) for run in found.values()]
        quotient = f"{ratios[1] / ratios[0]:.3g}" if ratios[0] else None
        for volume, run in found.items():
            rows.append(
                [
                    variant,
                    volume,
                    f"{run['scm_over_footprint']:.3g}",
                    f"{run['iops']:,.0f}",
                    f"{run['sectors_read'] / run['requests']:.3g}",
                    f"{run['sectors_written'] / run['requests']:.3g}",
                    f"{reads_per_program(run):.3g}",
                    quotient if volume == VOLUMES[-1] else "",
                ]
            )
    columns = ["decided otherwise", "stand-in", "SCM / footprint", "IOPS", "R", "W", "R / W"]
    return Table(
        "Sectors of SCM read (R) and written (W) per request",
        [*columns, "over prxy_0"],
        rows,
        note="over prxy_0: R / W of prxy_1 over that of prxy_0",
    )
