"""How large what is installed is, and how much is imported: counts and bytes, which no machine changes."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from conftest import NATIVE, ROOT

sys.path.insert(0, str(ROOT / "tools/packaging"))
import stage

EXTENSION_MAX = 26_000_000
"""What the extension takes in memory at most, compiled as tests are (for wheels: `make try-wheel`) [B]."""
PACKAGE_MAX = 2_500_000
"""What the rest of the package comes to, each file packed by itself as in a wheel [B]."""
MODULES = {"import ninescope": 1, "a run": 50, "a run that is printed": 80}
"""So many modules of the package itself are imported at most."""
OTHERS = {"import ninescope": (), "a run": (), "a run that is printed": ("rich",)}
"""What others wrote that is imported with them."""
STEPS = """
import json, sys
before = set(sys.modules)
def said(what):
    added = set(sys.modules) - before
    own = [name for name in added if name.partition(".")[0] == "ninescope"]
    known = sys.stdlib_module_names | set(sys.builtin_module_names)
    others = {name.partition(".")[0] for name in added} - known - {"ninescope"}
    found[what] = [sorted(own), sorted(name for name in others if not name.startswith("_"))]
found = {}
import ninescope
said("import ninescope")
drive, job = ninescope.Drive.preset("tlc"), ninescope.Workload.job(rw="randread", requests=100)
result = drive.run(job, prefill="none")
result.latency.read.percentile(99), result.attribution, result.digest
said("a run")
str(result)
said("a run that is printed")
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def imported() -> dict[str, tuple[list[str], list[str]]]:
    words = [sys.executable, "-c", STEPS]
    environment = {"PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, tuple[list[str], list[str]]] = json.loads(done.stdout)
    return found


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize("what", MODULES)
def test_little_is_imported(imported, what):
    own, others = imported[what]
    assert others == list(OTHERS[what])
    assert 0 < len(own) <= MODULES[what], own


def loaded(file: bytes) -> int:
    """What an ELF file of 64 bits takes in memory: its sections but for symbols and what debuggers read."""
    assert file[:6] == b"\x7fELF\x02\x01"
    [start] = struct.unpack_from("<Q", file, 0x28)
    size, count = struct.unpack_from("<HH", file, 0x3A)
    total = 0
    for number in range(count):
        flags, _, _, length = struct.unpack_from("<QQQQ", file, start + number * size + 8)
        total += length if flags & 2 else 0  # SHF_ALLOC
    return total


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_the_extension_is_no_larger_than_it_was():
    from ninescope import _native

    file = Path(str(_native.__file__)).read_bytes()
    if file[:6] != b"\x7fELF\x02\x01":
        pytest.skip("no ELF file of 64 bits")
    assert 1_000_000 < loaded(file) < len(file)
    assert loaded(file) <= EXTENSION_MAX


def test_the_rest_of_the_package_is_no_larger_than_it_was():
    def files(folder: Path) -> list[Path]:
        """Those that are packed."""
        if not folder.is_dir():
            return [] if folder.suffix == ".so" else [folder]
        names = {path.name for path in folder.iterdir()}
        left = stage.LEFT_OUT(str(folder), list(names))
        return [one for name in sorted(names - left - {"shipped"}) for one in files(folder / name)]

    package = [path for name in ("python/ninescope", *stage.FOLDERS) for path in files(ROOT / name)]
    assert ROOT / "examples/traces/pgbench.csv.zst" in package
    packed = sum(len(zlib.compress(path.read_bytes(), 6)) for path in package)
    assert 1_000_000 < packed <= PACKAGE_MAX
