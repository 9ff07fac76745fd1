"""Puts what an installed package needs of a checkout into it: experiments, examples, licences.

`python/ninescope/shipped` is written anew, and no part of the repository: what reads it looks into the
checkout first (`ninescope.common.shipped`).
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "python/ninescope/shipped"
FOLDERS = ("examples", "experiments")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "target", "own-policies", "Cargo.toml", "*.lock")
"""Of no use without a checkout: crates that depend on its crates."""
BINDING = "ninescope-python"
LICENCES = "third-party-licences.txt"
_TEXTS = ("licen[sc]e*", "LICEN[SC]E*", "COPYING*", "copying*", "NOTICE*")


def stage() -> None:
    """Write the folder."""
    shutil.rmtree(SHIPPED, ignore_errors=True)
    SHIPPED.mkdir()
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, SHIPPED / folder, ignore=LEFT_OUT)
    (SHIPPED / LICENCES).write_text(licences(), encoding="utf-8")


def licences() -> str:
    """Return the names, licences and licence texts of all crates that the extension is linked from."""
    words = ["cargo", "metadata", "--format-version", "1", "--locked"]
    metadata = json.loads(subprocess.run(words, cwd=ROOT, check=True, capture_output=True).stdout)  # noqa: S603
    packages = {package["id"]: package for package in metadata["packages"]}
    linked = [packages[key] for key in _linked(metadata) if packages[key]["source"]]
    texts = [_of_crate(package) for package in sorted(linked, key=lambda package: str(package["name"]))]
    head = "The extension module of ninescope is linked from these crates, each under its own licence.\n"
    return "\n".join([head, *texts])


def _linked(metadata: dict[str, Any]) -> set[str]:
    """Return the crates that the binding depends on, but for what is needed to build or test alone."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    names = {package["id"]: package["name"] for package in metadata["packages"]}
    waiting = [key for key, name in names.items() if name == BINDING]
    seen = set(waiting)
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            is_linked = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if is_linked and dependency["pkg"] not in seen:
                seen.add(dependency["pkg"])
                waiting.append(dependency["pkg"])
    return seen


def _of_crate(package: dict[str, Any]) -> str:
    folder = Path(package["manifest_path"]).parent
    files = sorted({file for pattern in _TEXTS for file in folder.glob(pattern) if file.is_file()})
    head = f"{'=' * 79}\n{package['name']} {package['version']}: {package['license'] or 'see its licence'}\n"
    texts = [file.read_text(encoding="utf-8", errors="replace").strip() for file in files]
    return "\n".join([head, *texts, ""])


if __name__ == "__main__":
    stage()
