"""Installs a wheel into a fresh environment and goes from nothing to a figure.

    python tools/packaging/try_wheel.py dist/ninescope-*.whl

It says how large it is and how long each step takes. It ends with 1 where the extension is larger than its
limit, where something that a wheel promises is not in it, or where a command fails. Seconds have no limit:
they are the machine's.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from pathlib import Path

EXTENSION_MAX = 8_000_000
"""How large the extension may be [B]."""
PROMISED = (
    "ninescope/shipped/experiments/002-ssr/claims.toml",
    "ninescope/shipped/examples/traces/pgbench.csv.zst",
    "ninescope/shipped/third-party-licences.txt",
)


def main(wheel: Path) -> int:
    """Look into a wheel, then use it."""
    problems = list(look_into(wheel))
    with tempfile.TemporaryDirectory() as folder:
        problems += use(wheel, Path(folder))
    for problem in problems:
        print(f"PROBLEM: {problem}")
    return 1 if problems else 0


def look_into(wheel: Path) -> list[str]:
    """Say how large it is, and what is wrong with that."""
    with zipfile.ZipFile(wheel) as packed:
        sizes = {entry.filename: entry.file_size for entry in packed.infolist()}
    extension = max(
        size for name, size in sizes.items() if "_native" in name and name.endswith((".so", ".pyd"))
    )
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, its extension {extension / 1e6:.1f} MB")
    problems = [f"{name} is not in it" for name in PROMISED if name not in sizes]
    if extension > EXTENSION_MAX:
        problems.append(f"the extension has {extension / 1e6:.1f} MB, and {EXTENSION_MAX / 1e6:.0f} at most")
    return problems


def use(wheel: Path, folder: Path) -> list[str]:
    """Install it, and do what a first hour begins with."""
    began = time.monotonic()
    venv.create(folder / "venv", with_pip=True)
    bin_ = folder / "venv/bin"
    ninescope = str(bin_ / "ninescope")
    steps = [
        (
            "pip install",
            [str(bin_ / "pip"), "install", "--quiet", "--disable-pip-version-check", str(wheel.resolve())],
        ),
        ("import", [str(bin_ / "python"), "-c", "import ninescope"]),
        ("ninescope doctor", [ninescope, "doctor"]),
        ("ninescope examples copy", [ninescope, "examples", "copy"]),
        ("a run", [ninescope, "run", "examples/traces/pgbench.csv.zst", "--out", "first"]),
        ("ninescope papers list", [ninescope, "papers", "list"]),
    ]
    for name, words in steps:
        since = time.monotonic()
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
        print(f"{name:24} {time.monotonic() - since:6.1f} s")
        if done.returncode != 0:
            return [f"{' '.join(words)}: {done.stderr.strip()[-500:]}"]
    print(f"{'from nothing to a figure':24} {time.monotonic() - began:6.1f} s")
    figures = list((folder / "first").glob("*.png"))
    return [] if figures else ["the run wrote no figure"]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
