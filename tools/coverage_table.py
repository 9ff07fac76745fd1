"""Turns llvm-cov's summary into two texts: lines covered by crate, and by file (for `tools/coverage.sh`)."""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from pathlib import Path


def table(counts: dict[str, tuple[int, int]]) -> str:
    """One line per name."""
    width = max(map(len, counts))
    rows = [f"{'':<{width}}  covered   lines   share"]
    for name, (covered, lines) in counts.items():
        rows.append(f"{name:<{width}}  {covered:>7} {lines:>7} {covered / max(lines, 1):>7.1%}")
    return "\n".join(rows) + "\n"


def main() -> None:
    """Read the summary of the first argument and write to the folder of the second."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("summary", type=Path)
    words.add_argument("out", type=Path)
    given = words.parse_args()
    summary, out = given.summary, given.out
    if not (summary.is_file() and out.is_dir()):
        words.error(f"{summary} is to be a file, and {out} a folder")
    files: dict[str, tuple[int, int]] = {}
    crates: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for entry in json.loads(summary.read_text())["data"][0]["files"]:
        source = re.search(r"crates/((\w+)/src/.*)$", entry["filename"])
        if not source or not Path("crates", source[1]).exists():
            continue
        lines = entry["summary"]["lines"]
        files[source[1]] = (lines["covered"], lines["count"])
        covered, count = crates[source[2]]
        crates[source[2]] = (covered + lines["covered"], count + lines["count"])
    crates = dict(sorted(crates.items()))
    covered_of_all, lines_of_all = zip(*crates.values(), strict=True)
    crates["all"] = (sum(covered_of_all), sum(lines_of_all))
    (out / "files.txt").write_text(table(dict(sorted(files.items()))))
    (out / "crates.txt").write_text(table(crates))
    print(table(crates), end="")


main()
