"""What error remedies of SCM above flash cost: bits that a code corrects, and cycles that verify a write.

The paper: Kinoshita, Matsui, Yamaga, Adachi, Takeuchi, on error correction and verify-programs of SCM in
hybrid SSDs (in Japanese). This says what is simulated, and knows neither what was published nor what its
answers are made into: that is in findings.py.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ninescope
from ninescope import toml
from ninescope.papers import provenance, stand_ins
from ninescope.papers.experiment import Inferred, Point, Settings
from ninescope.simulation.codes import joint_choices

HERE = Path(__file__).resolve().parent
BASE = toml.loads((HERE / "drive.toml").read_text(encoding="utf-8"))

QUICK_REQUESTS = {"prxy_0": 3_000_000, "prxy_1": 2_000_000}
FULL_REQUESTS = {"prxy_0": 12_518_968, "prxy_1": 10_539_935}
QUICK_CODE_REQUESTS = {"prxy_0": 1_000_000, "prxy_1": 1_000_000}
"""A volume is run some thirty times with codes."""
VOLUMES = tuple(QUICK_REQUESTS)
BEYOND = 0.25
"""Flash beyond the footprint, as a share of it."""
FEWEST_SPARE_BLOCKS = 4
"""Of a plane: frontiers, a reserve and garbage collection need them."""
BUS_US = 0.2
"""Time of a sector on the bus of SCM, as in drive.toml."""
SECTOR = 512
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
            "migration": BASE["tier"]["placement"]["migration"],
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
"""Raw bit error rates of SCM for which the best remedy is chosen; the strongest code just bears the last, by
which the claim is judged, and a quick run has it alone."""
QUICK_CHOICES = (0, 1, 3, 7, 20)
FULL_CHOICES = (0, 1, 2, 3, 4, 5, 7, 10, 14, 20)
"""Verify cycles between which the best remedy is chosen."""
CODE_VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
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
    "evictions in the background": {f"{PLACEMENT}.migration": "background"},
    "evictions in the foreground, with their programs": {f"{PLACEMENT}.migration": "foreground"},
    "one cell access takes 100 ns": {"scm.read": "100ns", "scm.set": "100ns", "scm.reset": "100ns"},
    "dies are free while their page is decoded": {"nand.ecc.holds_die": False},
}
"""What the paper leaves open, decided otherwise, for slopes; in a full run alone. No verdict rests on it."""
FIGURE_STEPS = {"scm": 1, "nand": 7}
"""Corrected bits from one point of a curve of codes to the next."""

DIES = "geometry.dies_per_package"
FLASH_TIMES = ("nand.read", "nand.program", "nand.erase_loop")
CELL_ACCESS = "cell access of SCM"
BUS_TIME = "bus time of a sector of SCM"
LAWS = {medium: f"{medium}.ecc.latency.factor" for medium in MEDIA}
FLASH_BEYOND = "flash beyond the footprint"
FAST_NAND = "a search of the prototype: of fast and slow flash, the fast meets more of the published slopes"
LAW = "a search of the prototype; the paper says that decoding takes longer with each bit, not how much"
INFERRED = (
    Inferred(DIES, "4 in each of 4 channels, 16 dies", "a search of the prototype: 8 to 32 do"),
    Inferred("nand.read", BASE["nand"]["read"], FAST_NAND),
    Inferred("nand.program", BASE["nand"]["program"], FAST_NAND),
    Inferred("nand.erase_loop", BASE["nand"]["erase_loop"], FAST_NAND),
    Inferred(
        CELL_ACCESS,
        f"{BASE['scm']['read']} to read, to set and to reset a sector",
        "a search of the prototype between 100 and 500 ns; related papers simulate 0.1, 1 and 10 us",
    ),
    Inferred(BUS_TIME, f"{BUS_US} us, {BASE['scm']['channel_rate']}", "customary; the bus is not described"),
    Inferred(
        LAWS["scm"], f"{BASE['scm']['ecc']['latency']['factor']} cycles of 10 ns for a bit squared", LAW
    ),
    Inferred(
        LAWS["nand"], f"{BASE['nand']['ecc']['latency']['factor']} cycles of 10 ns for a bit squared", LAW
    ),
    Inferred(
        FLASH_BEYOND,
        f"{BEYOND} of the footprint; what is varied is this, not the whole capacity",
        "chosen: how full the drive of the paper is, and what it keeps in reserve, is not given. A plane"
        " keeps 4 spare blocks: what codes run prxy_1 with in a quick run has no less than 0.25",
    ),
)


def points(settings: Settings) -> list[Point]:
    """List the volumes, for placement and for codes; and the codes themselves.

    What is claimed of the codes themselves is exact: a brief run has nothing to vary in it.
    """
    placements = [Point(volume, {"kind": "placement", "volume": volume}) for volume in VOLUMES]
    coded = [Point(f"{volume}/codes", {"kind": "codes", "volume": volume}, weight=5) for volume in VOLUMES]
    if settings.brief:
        return [*coded, *placements]
    otherwise = [
        Point(f"{volume}/otherwise", {"kind": "otherwise", "volume": volume}, weight=2) for volume in VOLUMES
    ]
    codes = Point("codes", {"kind": "mathematics"}, weight=0.1)
    return [*coded, *([] if settings.quick else otherwise), *placements, codes]


def simulate(point: Point, settings: Settings) -> dict[str, Any]:
    """Run a volume on the drive and on its variants, or compute what codes are."""
    kind = point.parameters["kind"]
    if kind == "mathematics":
        return mathematics(settings)
    volume = point.parameters["volume"]
    if kind == "codes":
        requests = settings.requests((QUICK_CODE_REQUESTS if settings.quick else FULL_REQUESTS)[volume])
        return {"runs": coded_runs(stand_ins.take(volume, requests, settings), settings)}
    if kind == "otherwise":
        # No verdict rests on these, and they take no longer runs than a quick one's.
        requests = settings.requests(QUICK_CODE_REQUESTS[volume])
        return {"runs": varied_runs(stand_ins.take(volume, requests, settings), settings)}
    requests = settings.requests((QUICK_REQUESTS if settings.quick else FULL_REQUESTS)[volume])
    stand_in = stand_ins.take(volume, requests, settings)
    return {
        "stand_in": stand_in.as_row(),
        "runs": {
            name: measure(stand_in, changes, settings) for name, changes in placements(settings).items()
        },
    }


def placements(settings: Settings) -> dict[str, dict[str, Any]]:
    """List what is decided otherwise of the placement; nothing, in a brief run."""
    return dict(list(VARIANTS.items())[:1]) if settings.brief else VARIANTS


def base_drive(settings: Settings) -> dict[str, Any]:
    """Return the drive of drive.toml, with an inferred value varied if one is."""
    access = scaled(BASE["scm"]["read"], CELL_ACCESS, settings)
    changes: dict[str, Any] = {
        DIES: round(settings.varying(DIES, BASE["geometry"]["dies_per_package"])),
        **{f"scm.{pulse}": access for pulse in ("read", "set", "reset")},
        "scm.channel_rate": f"{SECTOR / settings.varying(BUS_TIME, BUS_US):.10g}MB/s",
    }
    for name in FLASH_TIMES:
        changes[name] = scaled(BASE["nand"][name.removeprefix("nand.")], name, settings)
    for medium, name in LAWS.items():
        changes[name] = settings.varying(name, BASE[medium]["ecc"]["latency"]["factor"])
    return stand_ins.with_changes(BASE, changes)


def scaled(time: str, name: str, settings: Settings) -> str:
    """Return an inferred time such as "45us", varied if it is the one that is."""
    number = time.rstrip("munsµ")
    return f"{settings.varying(name, float(number)):.10g}{time.removeprefix(number)}"


def describe(footprint: int, changes: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Describe the drive of a run."""
    base = base_drive(settings)
    geometry = base["geometry"]
    page = stand_ins.size(geometry["page_size"])
    row = math.prod(geometry[key] for key in stand_ins.PLANES) * geometry["pages_per_block"] * page
    rows = math.ceil(footprint / page) * page / row
    capacity = 1 + settings.varying(FLASH_BEYOND, BEYOND)
    # A try-out touches so little that its share beyond is less than a plane cannot do without.
    if math.ceil(capacity * rows) < math.ceil(rows) + FEWEST_SPARE_BLOCKS:
        capacity = (math.ceil(rows) + FEWEST_SPARE_BLOCKS - 0.5) / rows
    return stand_ins.flash_sized(base, footprint, capacity, changes)


def measure(stand_in: stand_ins.StandIn, changes: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Run it once."""
    description = describe(stand_in.footprint, changes, settings)
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
        "provenance": provenance.of_run(document),
    }


# ---- codes -------------------------------------------------------------------------------------------


def code(medium: str, bits: int, settings: Settings) -> ninescope.Code:
    """Return the code of a medium that corrects so many bits."""
    ecc = base_drive(settings)[medium]["ecc"]
    return ninescope.Code.bch(user_data=ecc["user_data"], correctable=bits, latency=ecc["latency"])


def remedies(bits: Mapping[str, int], cycles: int, settings: Settings) -> dict[str, Any]:
    """Say what a drive with such codes, and so many verify cycles, differs in.

    Every codeword goes through the whole decoder, as in the paper: at the error rates it is about nine
    sectors of ten hold an error.
    """
    changes: dict[str, Any] = {}
    for medium, correctable in bits.items():
        found = code(medium, correctable, settings)
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
    if not settings.brief:
        for rber in wanted_rbers(settings):
            found += [(scm, strongest, cycles) for cycles, scm in choices(rber, settings)]
    return list(dict.fromkeys(found))


def wanted_rbers(settings: Settings) -> tuple[float, ...]:
    """Return the raw bit error rates for which the best remedy is chosen."""
    return WANTED_RBERS[-1:] if settings.quick else WANTED_RBERS


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
    """Run a volume with all codes and verify cycles."""
    return {
        name_of(*wanted): measure_codes(stand_in, wanted, {}, settings) for wanted in wanted_runs(settings)
    }


def varied_runs(stand_in: stand_ins.StandIn, settings: Settings) -> dict[str, Any]:
    """Run the ends of slopes, as they are and with what is decided otherwise."""
    return {
        f"{variant}: {name_of(*wanted)}": measure_codes(stand_in, wanted, changes, settings)
        for variant, changes in CODE_VARIANTS.items()
        for wanted in variant_runs()
    }


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
    return measure(stand_in, {**remedies({"scm": scm, "nand": nand}, cycles, settings), **changes}, settings)


def mathematics(settings: Settings) -> dict[str, Any]:
    """Compute what codes are, without a drive."""
    found: dict[str, Any] = {}
    for medium in MEDIA:
        user_data = BASE[medium]["ecc"]["user_data"]
        best = ninescope.Code.bch(user_data, rate=HIGHEST_RATE)
        decode = [code(medium, bits, settings).decode_time(1, 1) for bits in FULL_BITS[medium]]
        encode = [code(medium, bits, settings).encode_time(1) for bits in FULL_BITS[medium]]
        found[medium] = {
            "correctable": best.correctable,
            "rate": best.rate,
            "codeword_bits": best.codeword_bits,
            "acceptable_ber": {f"{uber:g}": float(best.aber(uber=uber)) for uber in UBERS},
            "encode_ns": [encode[0], encode[-1]],
            "decode_ns": [decode[0], decode[-1]],
            "encode_slowest_over_fastest": max(encode) / min(encode),
            "decode_rises": all(one < next_one for one, next_one in itertools.pairwise(decode)),
            "curve": curve(medium, settings),
        }
    found["choices"] = {f"{rber:g}": choices(rber, settings) for rber in wanted_rbers(settings)}
    found["ber_left"] = ber_left()
    return found


def curve(medium: str, settings: Settings) -> dict[str, list[float]]:
    """Compute what codes of a medium take and accept, from one corrected bit to the strongest."""
    bits = range(1, STRONGEST[medium] + 1, FIGURE_STEPS[medium])
    codes = [code(medium, correctable, settings) for correctable in bits]
    return {
        "bits": list(bits),
        "encode_ns": [one.encode_time(1) for one in codes],
        "decode_ns": [one.decode_time(1, 1) for one in codes],
        "acceptable_ber": [float(one.aber(uber=UBER)) for one in codes],
    }


def ber_left() -> list[float]:
    """Compute which share of bit errors verify cycles leave: none, one, two ... of them."""
    rber = WANTED_RBERS[0]
    found = joint_choices(BASE["scm"]["ecc"]["user_data"], rber=rber, verify_cycles=max(FULL_CYCLES))
    return [choice.rber / rber for choice in found]
