"""What is in an installed package: examples, experiments, licences; and the commands that find them there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools/packaging"))
import stage
import try_wheel


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as a wheel would have it: outside of a checkout."""
    site = tmp_path_factory.mktemp("site")
    package = site / "ninescope"
    shutil.copytree(
        ROOT / "python/ninescope", package, ignore=shutil.ignore_patterns("__pycache__", "shipped")
    )
    for folder in stage.FOLDERS:
        shutil.copytree(ROOT / folder, package / "shipped" / folder, ignore=stage.LEFT_OUT)
    return site


def command(site: Path, where: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ninescope", *words],
        env={"PYTHONPATH": str(site), "PATH": ""},
        cwd=where,
        capture_output=True,
        text=True,
    )


def test_papers_and_examples_need_no_checkout(installed: Path, tmp_path: Path) -> None:
    papers = command(installed, tmp_path, "papers", "list")
    assert papers.returncode == 0, papers.stderr
    assert [line.split()[0] for line in papers.stdout.splitlines() if line[:3].isdigit()] == [
        folder.name[:3] for folder in sorted((ROOT / "experiments").glob("[0-9]*"))
    ]
    copied = command(installed, tmp_path, "examples", "copy")
    assert copied.returncode == 0, copied.stderr
    assert (tmp_path / "examples/traces/pgbench.csv.zst").is_file()
    again = command(installed, tmp_path, "examples", "copy")
    assert again.returncode == 2
    assert (
        again.stderr
        == "ninescope: error: examples: there is something of that name, and nothing of it is overwritten\n"
    )
    listed = command(installed, tmp_path, "examples", "list", "traces")
    assert "  pgbench.csv.zst" in listed.stdout.splitlines()
    wrong = command(installed, tmp_path, "examples", "list", "trace")
    assert wrong.returncode == 2
    assert "did you mean 'traces'" in wrong.stderr


def test_what_is_missing_is_said(installed: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(installed, site)
    shutil.rmtree(site / "ninescope/shipped")
    missing = command(site, tmp_path, "papers", "list")
    assert missing.returncode == 2
    assert "the experiments are not here" in missing.stderr


def test_licences_of_all_that_is_linked_are_there() -> None:
    text = stage.licences()
    for crate in ("serde", "pyo3", "zstd-sys", "libbz2-rs-sys"):
        assert f"\n{crate} " in text, crate
    # What tests alone need is not linked.
    assert "\nproptest " not in text
    assert "Permission is hereby granted" in text


def test_a_wheel_that_lacks_something_is_refused(tmp_path: Path) -> None:
    import zipfile

    wheel = tmp_path / "ninescope-1-cp310-abi3-linux.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr("ninescope/_native.abi3.so", b"0" * (try_wheel.EXTENSION_MAX + 1))
        packed.writestr(try_wheel.PROMISED[0], "")
    problems = try_wheel.look_into(wheel)
    assert problems == [
        *(f"{name} is not in it" for name in try_wheel.PROMISED[1:]),
        "the extension has 8.0 MB, and 8 at most",
    ]
