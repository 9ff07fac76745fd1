"""One output is written by one process at a time: the other is refused, and nobody who is gone keeps it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import NATIVE, ROOT, command, quick_command
from ninescope import ConfigError
from ninescope.common.files import alone, output_directory, output_file, written_whole
from sweep_samples import run_here

HOLDS = """
import sys, time
from pathlib import Path
from ninescope.common import files
with getattr(files, sys.argv[1])(Path(sys.argv[2])) as given:
    if sys.argv[1] == "output_file":
        given.touch()
    print("here", flush=True)
    sys.stdin.readline()
"""
SMALL = ROOT / "examples/drives/small.toml"


def holding(how: str, path: Path) -> subprocess.Popen[str]:
    """Another process that writes something, until it is told to end."""
    other = subprocess.Popen(
        [sys.executable, "-c", HOLDS, how, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "here\n"
    return other


def ended(other: subprocess.Popen[str], word: str = "\n") -> None:
    other.communicate(word, timeout=30)


def test_a_folder_is_one_process_at_a_time_and_then_free(tmp_path):
    folder = tmp_path / "out"
    other = holding("output_directory", folder)
    with (
        pytest.raises(ConfigError, match=rf"another ninescope is writing it \(process {other.pid}\)"),
        output_directory(folder),
    ):
        pytest.fail("two at a time")
    # What is beside it, or a file in it that is nobody's together, is not kept back.
    with output_directory(tmp_path / "other"), output_directory(folder, shared=True):
        pass
    ended(other)
    with output_directory(folder) as given:
        (given / "result").write_text("")
    assert [path.name for path in folder.iterdir()] == ["result"]


def test_what_a_process_does_within_what_it_does_is_its_own(tmp_path):
    with (
        output_directory(tmp_path / "a"),
        output_directory(tmp_path / "a"),
        output_file(tmp_path / "a/f") as file,
    ):
        file.write_text("x")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["f"]


def test_nobody_who_was_killed_keeps_anything(tmp_path):
    folder = tmp_path / "out"
    other = holding("output_directory", folder)
    half = folder / f".result.json.{other.pid}.tmp"
    half.write_text("half of ")
    (folder / ".hidden").write_text("not ours")
    other.kill()
    ended(other, "")
    assert (folder / ".ninescope.lock").exists()  # left behind, and it keeps nobody out
    with output_directory(folder):
        assert not half.exists()
    assert [path.name for path in folder.iterdir()] == [".hidden"]


def test_what_another_process_half_wrote_is_left_to_it_where_a_folder_is_shared(tmp_path):
    half = tmp_path / ".lake.json.12345.tmp"
    half.write_text("")
    with output_directory(tmp_path, shared=True):
        pass
    assert half.exists()


def test_a_file_is_one_process_at_a_time(tmp_path):
    target = tmp_path / "trace.csv"
    other = holding("output_file", target)
    with pytest.raises(ConfigError, match="another ninescope is writing it"), output_file(target):
        pytest.fail("two at a time")
    with output_file(tmp_path / "beside.csv") as file:
        file.write_text("")
    ended(other)


def test_locks_are_taken_again_and_again_by_many(tmp_path):
    # Each takes it, adds one, and lets it go: what is taken away while it is waited for is no lock.
    script = (
        "import sys\nfrom pathlib import Path\nfrom ninescope._native import ConfigError\n"
        "from ninescope.common.files import alone\n"
        "lock, file, done = Path(sys.argv[1]), Path(sys.argv[2]), 0\n"
        "while done < 200:\n"
        "    try:\n"
        "        with alone(lock, lock):\n"
        "            file.write_text(str(int(file.read_text()) + 1))\n"
        "            done += 1\n"
        "    except ConfigError:\n"
        "        pass\n"
    )
    (tmp_path / "count").write_text("0")
    others = [
        subprocess.Popen([sys.executable, "-c", script, tmp_path / "lock", tmp_path / "count"])
        for _ in range(3)
    ]
    assert [other.wait(120) for other in others] == [0, 0, 0]
    assert (tmp_path / "count").read_text() == "600"


def test_a_folder_that_cannot_hold_a_lock_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="cannot write to"), alone(tmp_path / "no/lock", tmp_path / "no"):
        pytest.fail("no folder")


RUN = ("run", "--rw", "randrw", "--size", "8m", "--drive", SMALL)


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize(
    ("verb", "name"),
    [
        ((*RUN, "--requests", "300", "--out"), "out"),
        (("trace", "stat", ROOT / "examples/traces/pgbench.csv.zst", "--out"), "out"),
        (("papers", "run", "002", "--quick", "--out"), "out"),
        (("trace", "convert", ROOT / "examples/traces/pgbench.csv.zst"), "out.csv"),
        (("trace", "generate", "rsrch_0", "--requests", "100"), "out.csv"),
        (("trace", "profile", ROOT / "examples/traces/pgbench.csv.zst", "--out"), "out.toml"),
        (("snapshot", "save", "--drive", SMALL, "--prefill", "full"), "out.snapshot"),
    ],
    ids=lambda value: " ".join(map(str, value[:2])) if isinstance(value, tuple) else value,
)
def test_the_second_of_two_with_one_output_is_refused(cli, tmp_path, verb, name):
    # Both ended with 0, and one of them was lost.
    target = tmp_path / name
    other = holding("output_directory" if name == "out" else "output_file", target)
    before = sorted(path.name for path in tmp_path.rglob("*"))
    code, out, err = cli(*verb, target)
    assert (code, out) == (2, "")
    who = f"another ninescope is writing it (process {other.pid})"
    assert err == f"ninescope: error: cannot write to {target}: {who}\n"
    assert sorted(path.name for path in tmp_path.rglob("*")) == before
    ended(other)


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_of_two_runs_with_one_out_one_ends_well_and_one_is_refused(tmp_path):
    arguments = [*RUN, "--requests", "4000000", "--duration", "400s", "--out", tmp_path / "out"]
    first = subprocess.Popen([*command(), *map(str, arguments)])
    for _ in range(600):
        if (tmp_path / "out/.ninescope.lock").exists():
            break
        time.sleep(0.05)

    def run(words: list) -> subprocess.CompletedProcess[str]:
        whole = [*quick_command(), *map(str, words)]
        return subprocess.run(whole, capture_output=True, text=True, timeout=60, check=False)

    second = run(arguments)
    assert second.returncode == 2
    assert f"another ninescope is writing it (process {first.pid})" in second.stderr
    first.send_signal(signal.SIGKILL)
    first.wait()
    # Killed, it keeps nobody out and leaves nothing half-written.
    third = run([*RUN, "--requests", "300", "--out", tmp_path / "out"])
    assert third.returncode == 0, third.stderr
    assert (tmp_path / "out/result.json").exists()
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]


def test_a_file_written_whole_by_two_is_that_of_one(tmp_path):
    with written_whole(tmp_path / "f") as temporary:
        assert str(os.getpid()) in temporary.name
        temporary.write_text("whole")
    assert (tmp_path / "f").read_text() == "whole"


# ---- Lakes -----------------------------------------------------------------------------------------------

SHARES = """
import sys
from pathlib import Path
from ninescope.lab.sweep.store import FolderStore
with FolderStore(Path(sys.argv[2])).written():
    print("here", flush=True)
    sys.stdin.readline()
"""


def sharing(path: Path) -> subprocess.Popen[str]:
    other = subprocess.Popen(
        [sys.executable, "-c", SHARES, "", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "here\n"
    return other


def test_a_sweep_is_not_run_into_a_folder_that_is_written(sweep, tmp_path):
    folder = tmp_path / "out"
    other = holding("output_directory", folder)
    with pytest.raises(ConfigError, match=rf"another ninescope is writing it \(process {other.pid}\)"):
        run_here(sweep, folder)
    assert not (folder / "lake.json").exists()
    ended(other)
    assert run_here(sweep, folder).done == 8
    assert not (folder / ".ninescope.lock").exists()


def test_runners_share_a_lake_and_keep_others_out_until_the_last_has_ended(sweep, tmp_path):
    first, second = sharing(tmp_path / "lake"), sharing(tmp_path / "lake")
    assert run_here(sweep, tmp_path / "lake").done == 8
    lock = tmp_path / "lake/.ninescope.lock"
    for runner in (first, second):
        with (
            pytest.raises(ConfigError, match="another ninescope is writing it"),
            alone(lock, tmp_path / "lake"),
        ):
            pytest.fail("beside a sweep")
        ended(runner)
    with alone(lock, tmp_path / "lake"):
        pass
    # What is no sweep stays out of a lake for good.
    with pytest.raises(ConfigError, match="a lake of results"), output_directory(tmp_path / "lake"):
        pytest.fail("in a lake")
    assert not (tmp_path / "lake/.ninescope.lock").exists()


def test_a_runner_that_was_killed_keeps_nobody_out(tmp_path):
    runner = sharing(tmp_path / "lake")
    runner.kill()
    ended(runner, "")
    with output_directory(tmp_path / "lake"):
        pass


def test_of_two_threads_the_last_gives_a_folder_up(tmp_path):
    first, second = output_directory(tmp_path), output_directory(tmp_path)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)  # who took it is done before the other
    tried = [sys.executable, "-c", HOLDS, "output_directory", tmp_path]
    done = subprocess.run(tried, input="\n", capture_output=True, text=True)
    assert f"another ninescope is writing it (process {os.getpid()})" in done.stderr
    second.__exit__(None, None, None)
    ended(holding("output_directory", tmp_path))
