"""How often SCM above flash is read for each time it is written: the part of the paper that needs no codes.

The paper: Kinoshita, Matsui, Yamaga, Adachi, Takeuchi, on error correction and verify-programs of SCM in
hybrid SSDs (in Japanese). Figures and acceptance live elsewhere; this only measures.
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

QUICK_REQUESTS = {"prxy_0": 3_000_000, "prxy_1": 2_000_000}
FULL_REQUESTS = {"prxy_0": 12_518_968, "prxy_1": 10_539_935}
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
OF_CODES: tuple[str, ...] = (
    "correctable_bits/scm",
    "correctable_bits/nand",
    "acceptable_ber/scm",
    "acceptable_ber/nand",
    "encode_slowest_over_fastest/scm",
    "encode_slowest_over_fastest/nand",
    "decode_rises/scm",
    "decode_rises/nand",
    *(f"slope/{volume}/{medium}" for volume in VOLUMES for medium in ("scm", "nand")),
    *(f"scm_slope_over_nand_slope/{volume}" for volume in VOLUMES),
    *(f"slope_of_scm_ecc/{volume}" for volume in VOLUMES),
    *(f"slope_of_verify/{volume}" for volume in VOLUMES),
    "slope_of_verify_ratio",
    *(f"verify_over_ecc/{volume}" for volume in VOLUMES),
    "ber_left_by_verify",
    *(f"verify_cycles_of_best_remedy/{volume}" for volume in VOLUMES),
)
"""Measured as soon as there are codes and verify-programs: the reliability stack brings them."""

Results = Mapping[str, dict[str, Any]]


def points(settings: Settings) -> list[Point]:
    """List the volumes: each is drawn once."""
    return [Point(volume, {"volume": volume}) for volume in VOLUMES]


def simulate(point: Point, settings: Settings) -> dict[str, Any]:
    """Run a volume on the drive and on its variants."""
    volume = point.parameters["volume"]
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
        "tier": document.get("tier", {}).get("counters", {}),
    }


def summarise(results: Results, settings: Settings) -> Summary:
    """Name what was measured."""
    found = {volume: reads_per_program(results[volume]["runs"]["as it is"]) for volume in VOLUMES}
    measured: dict[str, Any] = {
        "scm_reads_per_program": found,
        "ratio_of_reads_per_program": found["prxy_1"] / found["prxy_0"],
        "codes": {},
    }
    for path in OF_CODES:
        *tables, key = path.split("/")
        node = measured["codes"]
        for name in tables:
            node = node.setdefault(name, {})
        node[key] = None
    return Summary(measured, [stand_in_table(results), table(results)])


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
