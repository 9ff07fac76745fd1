"""I/O logs between ninescope and the real fio, where it is installed."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest

import ninescope
from conftest import NATIVE

pytestmark = [
    pytest.mark.skipif(not NATIVE, reason="the engine is not built"),
    pytest.mark.skipif(shutil.which("fio") is None, reason="NO fio: logs are not exchanged with it"),
]


def fio(*words: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(["fio", *map(str, words)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done


def test_fio_replays_what_is_written(cli, tmp_path: Path):
    source, log, target = tmp_path / "in.mqsim", tmp_path / "out.iolog", tmp_path / "target"
    rows = [(0, 0, 8, 1), (40_000_000, 16, 8, 0), (90_000_000, 32, 16, 0), (200_000_000, 8, 8, 1)]
    source.write_text("".join(f"{ns} 0 {lba} {sectors} {read}\n" for ns, lba, sectors, read in rows))
    assert cli("trace", "convert", source, log).code == 0
    target.touch()
    done = fio(
        *("--name=replay", "--ioengine=null", f"--read_iolog={log}", f"--replay_redirect={target}"),
        *("--size=1m", "--output-format=json"),
    )
    assert done.stderr == ""
    [job] = json.loads(done.stdout)["jobs"]
    assert [(job[op]["total_ios"], job[op]["io_bytes"]) for op in ("read", "write")] == [
        (2, 8192),
        (2, 12288),
    ]
    assert job["job_runtime"] >= 100, "fio waits for the times of the log, 200 ms in all"


def test_what_fio_writes_is_read_with_its_times(tmp_path: Path):
    log = tmp_path / "fio.log"
    began = time.monotonic_ns()
    fio(
        *("--name=job", "--ioengine=sync", f"--filename={tmp_path / 'file'}", "--size=1m", "--rw=randwrite"),
        *("--bs=4k", "--number_ios=20", "--rate_iops=100", "--fsync=5", f"--write_iolog={log}"),
    )
    took = time.monotonic_ns() - began
    stat = ninescope.trace_stat(log, strict=True)
    assert (stat["format"], stat["writes"], stat["write_bytes"]) == ("fio", 20, 20 * 4096)
    assert stat["flushes"] >= 3
    assert 19 * 9_000_000 < stat["duration_ns"] < took
