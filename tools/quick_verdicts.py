"""Keep the verdicts of quick runs of several seeds in `experiments/quick.toml`.

    make papers-quick OUT=out

runs all papers quickly with seeds 1, 2 and 3, some 35 minutes on two processors, and calls

    python tools/quick_verdicts.py out/quick-1 out/quick-2 out/quick-3

A test holds the file against full runs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ninescope import toml
from ninescope.papers import record

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "experiments" / "quick.toml"
WORDS = """\
# What quick runs of several seeds say of each claim, by paper and seed, and the build that ran them. Written
# by `make papers-quick`; a test says that none contradicts the full run of `baseline.toml`.

"""


def main(folders: list[Path]) -> None:
    """Take the outputs of `papers run all --quick --out`."""
    kept: dict[str, dict[str, dict[str, str]]] = {}
    for folder in folders:
        for paper in sorted(path for path in folder.iterdir() if (path / record.FILE).is_file()):
            found = record.read(paper)
            if found["mode"] != "quick" or found.get("real_traces"):
                sys.exit(f"{paper}: is no quick run of stand-ins")
            verdicts = {claim["id"]: claim["verdict"] for claim in found["claims"]}
            words = {"build": found["manifest"]["build"], **verdicts}
            kept.setdefault(found["paper"]["id"], {})[f"seed-{found['seed']}"] = words
    if not kept:
        sys.exit("there is no output of a quick run")
    FILE.write_text(WORDS + toml.dumps(dict(sorted(kept.items()))), encoding="utf-8")
    print(f"written to {FILE}")


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("folder", type=Path, metavar="FOLDER", nargs="+")
    given = words.parse_args()
    for folder in given.folder:
        if not folder.is_dir():
            words.error(f"{folder} is no folder")
    main(given.folder)
