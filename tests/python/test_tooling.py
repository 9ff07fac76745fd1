"""The Makefile, the locks and the lists of policies."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT

TOOLS = ("cargo", "cc", "python3")
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")


def make(*arguments: str, path: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        [str(shutil.which("make")), *arguments],
        cwd=ROOT,
        env=environment | {"PATH": path},
        capture_output=True,
        text=True,
    )


@needs_make
@pytest.mark.parametrize("missing", TOOLS)
@pytest.mark.parametrize("target", ["demo", "test"])
def test_a_missing_tool_is_named_in_one_line(tmp_path: Path, missing, target):
    for tool in ("sh", "find", *TOOLS):
        found = shutil.which(tool)
        if tool != missing and found:
            (tmp_path / tool).symlink_to(found)
    done = make("--dry-run", target, path=str(tmp_path))
    assert done.returncode == 2
    assert missing in done.stderr
    assert len(done.stderr.splitlines()) == 1


@needs_make
def test_help_lists_every_target():
    listed = make("help", path=os.environ["PATH"]).stdout
    for target in ("demo", "test", "bench", "lint", "clean", "help"):
        assert re.search(rf"^make {target} +\w", listed, re.MULTILINE), target


def pins(name: str) -> set[str]:
    text = (ROOT / "requirements" / f"{name}.lock").read_text()
    assert "://" not in text
    packages = re.split(r"^(?=\S)", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE), flags=re.MULTILINE)
    found = {package.split("\\")[0].strip() for package in packages if package.strip()}
    assert text.count("--hash=sha256:") >= len(found) > 10
    assert all("--hash=sha256:" in package for package in packages if package.strip())
    return found


def test_the_locks_carry_hashes_and_agree():
    def exact(name: str) -> set[str]:
        return {pin.split(";")[0].strip() for pin in pins(name)}

    assert exact("base") <= exact("dev")
    names = {pin.split("==")[0] for pin in exact("base")}
    assert {pin for pin in exact("docs") if pin.split("==")[0] in names} <= exact("base"), "one environment"


@pytest.mark.parametrize(
    "registry", sorted(ROOT.glob("crates/*/src/policies/*/mod.rs")), ids=lambda path: path.parent.name
)
def test_every_file_of_a_policy_is_in_the_list_of_its_folder(registry: Path):
    """A file that no line names is not compiled, and nothing else would say so."""
    text = registry.read_text()
    listed = set(re.findall(r"^\s+\"[\w-]+\" => (\w+)::", text, re.MULTILINE))
    listed |= set(re.findall(r"^(?:pub )?mod (\w+);", text, re.MULTILINE))
    files = {path.stem for path in registry.parent.glob("*.rs")} - {"mod"}
    assert files == listed, f"{registry.parent}: {files - listed} have no line in mod.rs"
