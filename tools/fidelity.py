"""The table of fidelity in docs/profiles.md: traces against what is drawn from their profiles.

`python tools/fidelity.py FOLDER [--write]`, where FOLDER holds the traces (they are not part of the project);
`--write` puts the table into the document.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from ninescope import Drive
from ninescope.lab.fidelity import Row, compare, difference_as_text
from ninescope.simulation.profiles import draw_rows, profile_of

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "profiles.md"
DRIVE = ROOT / "examples" / "drives" / "small.toml"
BEGIN, END = "<!-- fidelity: begin -->", "<!-- fidelity: end -->"
AIM = 0.1
TRACES = (
    "msr/rsrch_1.csv.zst",
    "msr/hm_1.writes13069.csv.zst",
    "msr/hm_0.window7016.csv.zst",
    "msr/web_3.caso.txt.zst",
    "other/cloudPhysicsIO.vscsi.zst",
    "other/umass_fin1_head.trace.zst",
    "other/umass_web1_head.trace.zst",
    "other/mqsim_tpcc-small.trace.zst",
    "other/mqsim_wsrch-small.trace.zst",
    "other/ms_DTRS100M.trace.zst",
    "other/wiscsee_sqlitewal_1.txt.zst",
)
COLUMNS = {
    "footprint_bytes": "footprint",
    "rewrite_ratio": "rewrites",
    "top_1_percent_write_share": "top 1 %",
    "rewrite_interval_p50_ns": "p50",
    "rewrite_interval_p90_ns": "p90",
    "rewrite_interval_p99_ns": "p99",
    "rewrite_interval_gap": "CDF gap",
    "lru_miss_ratio_gap": "LRU gap",
    "simulated_iops": "IOPS",
    "simulated_read_p99_ns": "read p99",
    "simulated_write_p99_ns": "write p99",
    "simulated_waf": "WAF",
}


def line(trace: Path, seed: int) -> str:
    """One trace's line."""
    name = trace.name.split(".zst")[0]
    with tempfile.TemporaryDirectory() as folder:
        profile, drawn = Path(folder, "profile.toml"), Path(folder, "drawn.rows.zst")
        profile.write_text(profile_of(trace, name=name), encoding="utf-8")
        draw_rows(profile, drawn, seed=seed)
        rows = {row.name: row for row in compare(trace, drawn, drive=Drive.from_file(DRIVE))}
        size = profile.stat().st_size / 1024
    return f"| {name} | {size:.0f} | " + " | ".join(cell(rows.get(column)) for column in COLUMNS) + " |"


def cell(row: Row | None) -> str:
    """Write a difference: bold beyond the aim, starred where too little stands behind it."""
    if row is None or row.difference is None:
        return "-"
    text = difference_as_text(row).replace(" points", " pt").replace("%", " %")
    if row.few:
        return f"{text}*"
    return f"**{text}**" if abs(row.difference) > AIM else text


def main() -> int:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    lines = [
        "| trace | KiB | " + " | ".join(COLUMNS.values()) + " |",
        "| --- | ---: |" + " ---: |" * len(COLUMNS),
        *(line(arguments.folder / trace, arguments.seed) for trace in TRACES),
    ]
    table = "\n".join(lines)
    if not arguments.write:
        print(table)
        return 0
    text = DOCUMENT.read_text(encoding="utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    DOCUMENT.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
