"""Every number of a drive, with a value that is absurd for it: the run succeeds, or one error names that key.

Keys come from the JSON Schema, so that a new one is tested from its first day. The runs are done in a process
of their own whose memory is bounded (`python tests/python/test_absurd_values.py` prints what fails): a value
that makes the engine allocate what the machine does not have fails there, and so does a panic.
"""

from __future__ import annotations

import copy
import functools
import json
import math
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import NATIVE, ROOT
from schema_tables import Path, Table, numbers, tables

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
MEMORY = 4 << 30
"""The address space of the process [B]: drives here are of a few MiB."""
SLICES = 500
"""A run of 48 requests that takes more slices of 20 ms hangs."""
ABSURD: dict[str, tuple[Any, ...]] = {
    "integer": (0, -1, 10**9, 2**32 - 1, 2**63 - 1, 1e9, 0.5, math.nan),
    "number": (0, -1, 1e9, -1e300, 1e300, math.inf, math.nan),
    "Bytes": (0, -1, 1, "1KiB", 10**9, "1000TiB", 2**63 - 1, "1e3"),
    "Duration": (0, -1, 1, "1000d", "200000d", 2**63 - 1),
    "BytesPerSecond": (0, -1, 1, "1000000TB/s", 2**63 - 1),
}
SMALL = [
    "geometry.channels=2",
    "geometry.packages_per_channel=1",
    "geometry.dies_per_package=1",
    "geometry.blocks_per_plane=16",
    "geometry.pages_per_block=8",
    "ftl.over_provisioning=0.9",
]
OF_PAGES = ["geometry.page_size=16KiB", "ftl.mapping_unit=16KiB", "ftl.frontier_planes=1"]
OF_SECTORS = '{policy="bch",user_data="512B"}'
# Drives of a few MiB that have, between them, every table; a table that none of them has is put into one.
DRIVES: dict[str, tuple[str, list[str]]] = {
    "flash": ("ssr-dynamic", SMALL),
    "codes": ("flexecc", SMALL),
    "memory": ("m-scm", ["scm.capacity=8MiB", f"scm.ecc={OF_SECTORS}", "scm.errors=constant"]),
    "two memories": (
        "multi-scm",
        ["storage_scm.capacity=8MiB", f"storage_scm.ecc={OF_SECTORS}", "storage_scm.errors=constant"],
    ),
    "hybrid": ("hybrid-ecc", SMALL),
    "cache": (
        "ssr-dynamic",
        [
            *SMALL,
            "geometry.page_size=16KiB",
            "ftl.mapping_unit=16KiB",
            'dram={capacity="1MiB",access="30ns",rate="3.2GB/s"}',
            "tier.placement=wb",
        ],
    ),
    "a map in flash": ("ssr-dynamic", [*SMALL, "ftl.map=entries"]),
    "blocks of one bit in a cell": (
        "ssr-dynamic",
        [
            *SMALL,
            'ftl.slc_cache={fixed_blocks=1,borrowed_blocks=2,fold_after="1ms"}',
            "nand.slc_read=25us",
            "nand.slc_program=200us",
        ],
    ),
    "wordlines in one go": (
        "tlc",
        [
            *SMALL,
            "geometry.pages_per_block=9",
            "nand.programs=one-shot",
            "nand.program=1ms",
            "nand.program_load=3us",
        ],
    ),
    "a map of blocks": ("ssr-dynamic", [*SMALL, *OF_PAGES, "ftl.map=bast"]),
    "a map of blocks that share logs": ("ssr-dynamic", [*SMALL, *OF_PAGES, "ftl.map=fast"]),
    "one memory for all": (
        "ssr-dynamic",
        [
            *SMALL,
            'dram={capacity="64MiB",access="30ns",rate="3.2GB/s",write_buffer=true,read_data=true,map=true}',
            "ftl.map=entries",
        ],
    ),
    "decisions": ("ssr-dynamic", [*SMALL, 'firmware={cores=2,clock="1GHz",command=100}']),
    "what is drawn": ("ssr-dynamic", [*SMALL, 'power={die_read="80mW",controller="1W",channel_byte="40pJ"}']),
    "states of less power": (
        "ssr-dynamic",
        [*SMALL, 'power={controller="1W",states=[{after="1ms",power="70mW",enter="50us",leave="500us"}]}'],
    ),
    "a drive that warms itself": (
        "ssr-dynamic",
        [
            *SMALL,
            'power={controller="1W",heat={ambient=20,resistance=10,time_constant="1s",begins_at=30.5,window="10ms",'
            'throttle=[{above=35,until=32,cap="1.5W"}]}}',
        ],
    ),
    "parity": ("ssr-dynamic", [*SMALL, "ftl.parity={stripe=2}"]),
    "super-blocks": ("ssr-dynamic", [*SMALL, "ftl.superblock={dies=2}"]),
    "dies that fail": (
        "ssr-dynamic",
        [
            *SMALL,
            "ftl.parity={stripe=2}",
            "nand.ecc=crc",
            'nand.die_failures=[{die=0,at="1ms"}]',
            'ftl.rebuild_rate="1MB/s"',
        ],
    ),
    "zones": ("ssr-dynamic", [*SMALL, "zns={zone_width=1,read_only_zones=[0]}"]),
    "random write areas": (
        "ssr-dynamic",
        [*SMALL, 'zns={zone_width=1,zrwa_size="64KiB",zrwa_granularity="16KiB",zrwa_zones=2}'],
    ),
    "blocks that break": (
        "ssr-dynamic",
        [
            *SMALL,
            "nand.wear_out=normal",
            "nand.program_failures=1e-6",
            "nand.erase_failures=1e-6",
            "nand.failures_rise=2.0",
            "nand.factory_bad_blocks=1e-6",
        ],
    ),
    "held back": ("ssr-dynamic", [*SMALL, "ftl.throttle=proportional"]),
    "kinds of data": ("ssr-dynamic", [*SMALL, "geometry.blocks_per_plane=64"]),
    "put off": ("ssr-dynamic", [*SMALL, "ftl.trim=lazy"]),
    "soft decisions": ("ssr-dynamic", [*SMALL, "nand.ecc=ldpc", "nand.errors=constant"]),
}
ROW = {"cycles": 0, "rber": [1e-4]}
TIMES = {
    "nand": {
        "times": {
            "read_layers": [1.0, 1.2],
            "program_layers": [1.1],
            "wear": [{"cycles": 0, "program": 1.0, "erase": 1.5}],
        },
        "initial_cycles": 0,
    }
}
TABLES: dict[str, dict[str, Any]] = {
    "nand.erase_loops": {"nand": {"erase_loops": [{"cycles": 0, "shares": [1.0]}], "initial_cycles": 0}},
    "nand.page_types": {"nand": {"page_types": {"first": [0], "then": [0], "last": [0]}}},
    "nand.die_failures": {"nand": {"ecc": "crc", "die_failures": [{"die": 0, "at": "1ms"}]}},
    "nand.corruption": {"nand": {"corruption": {"initial_rber": 1e-6}}},
    "nand.temperature": {"nand": {"initial_age": "1d", "temperature": {"running": 40.0}}},
    "nand.variation": {"nand": {"variation": {"layers": [1.0, 1.2], "blocks": 0.1}}},
    "nand.times": TIMES,
    "nand.times.wear": TIMES,
    "nand.retry.rows": {
        "nand": {
            "retry": {
                "policy": "table",
                "retention": ["0s"],
                "rows": [{"cycles": 0, "shares": [[1.0]]}],
            }
        }
    },
    **{
        f"{medium}.errors.rows": {
            medium: {
                "errors": {"policy": "table", "retention": ["0s"], "rows": [{"cycles": 0, "rber": [1e-4]}]}
            }
        }
        for medium in ("nand", "scm", "storage_scm")
    },
    "namespaces": {"namespaces": [{"size": "1MiB"}]},
    "scrub": {"scrub": "periodic"},
    "refresh": {"refresh": {"policy": "limits", "reads": 1000}},
    "endurance": {"endurance": {"dwpd_years": 5.0}},
    "tier": {"tier": {"scm_ratio": 0.5, "migrations_in_flight": 4}},
    "dram.transfer_times": {"dram": {"transfer_times": [{"size": "4KiB", "time": "3us"}]}},
}
# What a policy cannot be without.
NEEDED: dict[str, dict[str, Any]] = {
    "refresh": {"reads": 1000},
    "refresh=expected-errors": {"rber": 0.1},
    "scm.ecc": {"user_data": "512B"},
    "storage_scm.ecc": {"user_data": "512B"},
}


def merged(document: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    found = copy.deepcopy(document)
    for key, value in change.items():
        inner = found.get(key)
        found[key] = merged(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return found


def nested(path: Path, value: Any) -> dict[str, Any]:
    """The value in tables within tables; in a list it is that of its first table."""
    for key in reversed(path):
        value = [value] if key == 0 else {key: value}
    return dict(value)


def changed(document: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """The document with a value that may lie in the table of a list."""
    found = copy.deepcopy(document)
    inner: Any = found
    for key in path[:-1]:
        if isinstance(inner, dict) and not isinstance(inner.get(key), (dict, list)):
            inner[key] = {}
        inner = inner[key]
    inner[path[-1]] = value
    return found


def dotted(path: Path) -> str:
    return ".".join(str(key) for key in path if key != 0)


def problem(drive: dict[str, Any]) -> str:
    """What is wrong with a drive, from its description to the end of a short run; else nothing."""
    from ninescope import ConfigError, _native
    from ninescope.toml import dumps

    job = {"rw": "randrw", "requests": 48, "size": "64KiB"}
    request = {"drive": {"toml": dumps(drive)}, "workload": {"job": job}, "prefill": "footprint"}
    try:
        simulation = _native.Simulation(json.dumps(request))
        if not any(simulation.run_slice(20) for _ in range(SLICES)):
            return "it hangs"
        simulation.result_json(True)
    except ConfigError as error:
        return str(error)
    return ""


def needed(path: Path, policy: str) -> dict[str, Any]:
    """What a policy wants to be told, which others of its key may not know."""
    return NEEDED.get(f"{dotted(path)}={policy}", NEEDED.get(dotted(path), {}))


def contexts(table: Table) -> Iterator[dict[str, Any]]:
    """Right drives that hold the table, as the policy that it belongs to."""
    for name, (preset, sets) in DRIVES.items():
        document = resolved(name, preset, tuple(sets))
        for path, policy in table.around:
            document = changed(document, path, {"policy": policy, **needed(path, policy)})
        if table.policy is not None:
            own = {"policy": table.policy, **needed(table.path, table.policy)}
            document = changed(document, table.path, own)
        else:
            for start, change in TABLES.items():
                if dotted(table.path) == start:
                    document = merged(document, change)
        if holds(document, table.path) and not problem(document):
            yield document


def holds(document: Any, path: Path) -> bool:
    for key in path:
        if key == 0:
            document = document[0] if isinstance(document, list) and document else None
        else:
            document = document.get(key) if isinstance(document, dict) else None
        if document is None:
            return False
    return True


@functools.cache
def resolved(name: str, preset: str, sets: tuple[str, ...]) -> dict[str, Any]:
    from ninescope import _native
    from ninescope.toml import loads

    del name
    return loads(_native.resolve_drive(json.dumps({"drive": {"preset": preset}, "set": list(sets)})))


def blames(message: str, path: Path) -> bool:
    """Whether a message is about a key: it has its whole name, or its own beside the name of its table."""

    def says(name: str) -> bool:
        return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", words) is not None

    words = re.sub(r"\[\d+\]", "", message.partition("\n")[0])
    table, key = dotted(path[:-1]), str(path[-1])
    return says(dotted(path)) or (
        re.search(rf"(?<![\w.]){re.escape(table)}\b", words) is not None and says(key)
    )


def findings() -> Iterator[dict[str, Any]]:
    """One entry for each key: how often it was tried, and what was said of something else."""
    from ninescope.common import catalogue

    root = json.loads(catalogue.schemas()["drive"])
    for table in tables(root):
        document = next(contexts(table), None)
        for key, schema in table.keys.items():
            kinds = numbers(root, schema)
            path = (*table.path, key)
            if key == "policy" or not kinds:
                continue
            entry: dict[str, Any] = {"key": dotted(path), "policy": table.policy, "tried": 0, "wrong": []}
            values = [value for kind in sorted(kinds) for value in ABSURD[kind]]
            for value in values if document is not None else ():
                entry["tried"] += 1
                message = problem(changed(document, path, value))
                if message and not blames(message, path):
                    entry["wrong"].append([repr(value), message])
            yield entry


def test_an_absurd_number_is_borne_or_blamed_by_its_own_name():
    program = [sys.executable, __file__]
    done = subprocess.run(program, capture_output=True, text=True, timeout=900, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) > 250
    # A key may lie within several policies, not all of which go with its own.
    tried = {(entry["key"], entry["policy"]) for entry in found if entry["tried"]}
    assert {(entry["key"], entry["policy"]) for entry in found} == tried
    wrong = [(entry["key"], entry["policy"], *case) for entry in found for case in entry["wrong"]]
    assert wrong == [], "\n".join(" | ".join(map(str, case)) for case in wrong)


@pytest.mark.parametrize("value", ["1e9", "-1", "nan", "0", "inf"])
def test_the_command_line_ends_with_2_and_blames_the_key_and_no_address(cli, tmp_path, value):
    trace = tmp_path / "t.csv"
    trace.write_text("1,host,0,Write,4096,4096,1\n2,host,0,Read,4096,4096,1\n")
    code, out, err = cli("run", trace, "--set", f"ftl.over_provisioning={value}")
    assert (code, out) == (2, "")
    assert f"--set ftl.over_provisioning={value}: ftl.over_provisioning is" in err
    assert "address" not in err


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for finding in findings():
        print(json.dumps(finding), flush=True)
