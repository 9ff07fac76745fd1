"""Sweeps from the command line that are killed, interrupted or refused: nothing that was done is lost."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from conftest import command, interrupted
from ninescope.lab.sweep.lake import Lake
from ninescope.lab.sweep.sweep import Sweep
from sweep_samples import LONGER, SMALL, csv, run_here, sweep_file


def start(path: Path, out: Path, *options: object, **more: object) -> subprocess.Popen[bytes]:
    arguments = ["sweep", "run", path, "--out", out, "--jobs", "2", *options]
    return subprocess.Popen(
        [*command(), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        **more,
    )


def children(pid: int) -> list[int]:
    """Return the simulating processes of a sweep."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            arguments = stat.with_name("cmdline").read_bytes()
            if int(fields[1]) == pid and b"spawn_main" in arguments and fields[0] != "Z":
                found.append(int(stat.parent.name))
    return found


def points_in(lake: Path) -> int:
    return len(list((lake / "points").glob("*.json.gz")))


def wait_for_points(out: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while points_in(out) < count:
        assert time.monotonic() < deadline
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)


@pytest.fixture
def longer(tmp_path) -> tuple[Path, bytes]:
    """A sweep that can be disturbed, and its table when nobody does."""
    path = sweep_file(tmp_path, LONGER)
    run_here(Sweep.from_file(path), tmp_path / "undisturbed", workers=2)
    return path, csv(tmp_path / "undisturbed")


def test_a_worker_that_is_killed_in_mid_run_changes_nothing(longer, tmp_path):
    path, table = longer
    process = start(path, tmp_path / "lake")
    wait_for_points(tmp_path / "lake", 2, process)
    os.kill(children(process.pid)[0], signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert b"12 of 12 points done" in out
    assert csv(tmp_path / "lake") == table


def test_a_sweep_that_is_killed_at_any_moment_goes_on(longer, tmp_path):
    path, table = longer
    rng = random.Random(1)
    lake = tmp_path / "lake"
    kills, longest = 0, 1.0
    for _ in range(60):
        before = points_in(lake)
        process = start(path, lake)
        try:
            process.communicate(timeout=rng.uniform(0, longest))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            kills += 1
            kept = Lake.open(lake) if (lake / "lake.json").exists() else None
            # Whatever is there is whole, and nothing goes.
            assert kept is None or all(kept.get(point) is not None for point in kept.ids())
            assert points_in(lake) >= before
            if points_in(lake) == before:  # this machine takes longer to begin
                longest *= 1.5
            continue
        break
    assert process.returncode == 0
    assert kills >= 1
    assert csv(lake) == table
    again = start(path, lake)
    again.communicate(timeout=60)
    assert again.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_with_130_and_keeps_what_is_done(longer, tmp_path, number):
    path, table = longer
    process = start(path, tmp_path / "lake")
    wait_for_points(tmp_path / "lake", 1, process)
    workers = children(process.pid)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does
    else:
        process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"")
    assert b"points are kept" in err
    assert b"Traceback" not in err
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
    assert not list((tmp_path / "lake/claims").iterdir())
    assert 1 <= len(Lake.open(tmp_path / "lake").ids()) < 12
    assert run_here(Sweep.from_file(path), tmp_path / "lake", workers=2).run_now < 12
    assert csv(tmp_path / "lake") == table


def test_an_interrupt_at_a_terminal_shows_no_traceback(tmp_path):
    path = sweep_file(tmp_path, LONGER)
    arguments = ["sweep", "run", str(path), "--out", str(tmp_path / "lake"), "--jobs", "2"]
    outcome = interrupted(arguments, r"[1-9]\d*/12", signal.SIGINT, tmp_path / "stdout")
    assert outcome.code == 130
    assert "Traceback" not in outcome.shown
    assert "points are kept" in outcome.shown


def test_a_full_disk_is_one_clear_error_and_loses_nothing(longer, tmp_path):
    path, table = longer
    lake = tmp_path / "lake"

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))

    run_here(Sweep.from_toml(SMALL.replace("seeds = 2", "seeds = 1")), lake)
    before = {file: file.read_bytes() for file in (lake / "points").iterdir()}
    process = start(path, lake, preexec_fn=full)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, b"")
    lines = [line for line in err.decode().splitlines() if line.startswith("ninescope:")]
    assert len(lines) == 1
    assert "cannot write" in lines[0]
    assert "too large" in lines[0].lower()
    assert {file: file.read_bytes() for file in (lake / "points").iterdir()} == before
    assert not list((lake / "points").glob(".*"))
    assert run_here(Sweep.from_file(path), lake, workers=2).is_finished
    assert csv(lake, "small") == table


def test_a_scheduler_that_cannot_be_reached_is_bad_input(cli, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    from ninescope.lab.pool import dask_cluster

    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 1)
    arguments = (
        "sweep",
        "run",
        sweep_file(tmp_path),
        "--out",
        tmp_path / "lake",
        "--dask",
        "tcp://127.0.0.1:9",
    )
    code, _, err = cli(*arguments)
    assert code == 2
    assert "tcp://127.0.0.1:9 cannot be reached" in err
    assert err.count("\n") == 1
    assert not (tmp_path / "lake").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--dask", "local", "--ray", "local"), "one of --dask and --ray"),
        (("--dask", "local", "--jobs", "2"), "--jobs"),
        (("--memory", "much"), "4GiB"),
        (("--dask", "local:0"), "a number of workers is wanted, as in local:2"),
        (("--snapshots", "x", "--no-snapshots"), "one of --snapshots and --no-snapshots"),
    ],
)
def test_options_that_contradict_each_other_are_refused(cli, tmp_path, options, words):
    code, _, err = cli("sweep", "run", sweep_file(tmp_path), "--out", tmp_path / "lake", *options)
    assert code == 2
    assert words in err
