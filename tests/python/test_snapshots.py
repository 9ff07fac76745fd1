"""Snapshots by command line and Python API: a prepared drive from a file is the prepared drive."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import warnings

import pytest

import ninescope
from conftest import ROOT, command, quick_command
from ninescope.text.reliability import facts

DEMO = ROOT / "examples/drives/demo.toml"
SMALL = ("--drive", DEMO, "--set", "geometry.blocks_per_plane=40")
JOB = ("--rw", "randrw", "--size", "8m", "--iodepth", "8", "--requests", "2000")


def result_of(out: str) -> dict:
    """Return a result without what depends on the machine."""
    result = json.loads(out)
    del result["performance"]
    return result


@pytest.fixture
def small() -> ninescope.Drive:
    return ninescope.Drive.from_file(DEMO).with_(geometry__blocks_per_plane=40)


@pytest.fixture
def job() -> ninescope.Workload:
    return ninescope.Workload.job(rw="randrw", size="8m", iodepth=8, requests=2_000)


@pytest.mark.parametrize("prefill", ["footprint", "steady"])
def test_a_result_is_the_same_with_and_without(cli, tmp_path, prefill):
    arguments = ("run", *JOB, *SMALL, "--prefill", prefill, "--json")
    code, out, err = cli(*arguments)
    assert (code, err) == (0, "")
    without = result_of(out)
    for loaded in (False, True):
        code, out, err = cli(*arguments, "--snapshots", tmp_path / "kept")
        assert (code, err) == (0, "")
        assert json.loads(out)["performance"]["snapshot"]["loaded"] is loaded
        assert result_of(out) == without
    assert [path.suffix for path in (tmp_path / "kept").iterdir()] == [".snapshot"]


def test_a_damaged_file_is_told_and_replaced(cli, tmp_path):
    arguments = ("run", *JOB, *SMALL, "--prefill", "steady", "--json", "--snapshots", tmp_path)
    without = result_of(cli(*arguments).out)
    [file] = tmp_path.iterdir()
    good = file.read_bytes()
    file.write_bytes(good[:1000] + bytes([good[1000] ^ 1]) + good[1001:])
    code, out, err = cli(*arguments)
    assert (code, result_of(out)) == (0, without)
    assert err.startswith(f"ninescope: {file}: damaged: ")
    assert "the drive was prepared anew and the file replaced" in err
    assert err.count("\n") == 1
    assert file.read_bytes() == good


def test_a_file_is_saved_named_and_refused_for_another_drive(cli, tmp_path):
    file = tmp_path / "worn.snapshot"
    code, out, err = cli("snapshot", "save", file, *SMALL, "--prefill", "steady-uniform")
    assert (code, err) == (0, "")
    assert "to steady state" in out
    arguments = ("run", *JOB, *SMALL, "--prefill", "steady-uniform", "--json")
    code, out, err = cli(*arguments, "--from-snapshot", file)
    assert (code, err) == (0, "")
    assert json.loads(out)["performance"]["snapshot"]["loaded"] is True
    assert result_of(out) == result_of(cli(*arguments).out)
    # What preparing does not depend on may differ.
    assert cli(*arguments, "--from-snapshot", file, "--set", "nand.erase_loop=9ms").code == 0
    for more, words in (
        (("--seed", "2"), "ftl.seed is 1 there and 2 here"),
        (("--set", "ftl.victim=fifo"), "ftl.victim_selection.policy"),
        (("--prefill", "full"), 'prefill is "steady-uniform" there and "full" here'),
    ):
        code, out, err = cli(*arguments, "--from-snapshot", file, *more)
        assert (code, out) == (2, "")
        assert err.startswith(f"ninescope: error: {file}: a snapshot of another drive: ")
        assert words in err


def test_what_is_named_and_no_snapshot_is_refused(cli, tmp_path):
    arguments = ("run", *JOB, *SMALL, "--prefill", "steady")
    other = tmp_path / "other.snapshot"
    other.write_text("something else")
    for options, words in (
        (("--from-snapshot", other), "not a snapshot"),
        (("--from-snapshot", tmp_path / "othr.snapshot"), "did you mean"),
        (("--from-snapshot", tmp_path), "Is a directory"),
        (("--snapshots", other), "cannot use"),
        (("--snapshots", tmp_path, "--from-snapshot", other), "not both"),
    ):
        code, out, err = cli(*arguments, *options)
        assert (code, out) == (2, ""), options
        assert words in err, err


def test_check_reads_a_snapshot_to_its_end(cli, tmp_path):
    file = tmp_path / "worn.snapshot"
    assert cli("snapshot", "save", file, *SMALL).code == 0
    code, out, err = cli("check", file)
    assert (code, err) == (0, "")
    assert out.startswith(f"{file}: snapshot, OK")
    assert "erases per block" in out
    good = file.read_bytes()
    unnamed = tmp_path / "unnamed"
    for content, words in (
        (good[:-1], "cut off"),
        (good + b"x", "follows its end"),
        (good[:500] + bytes(100) + good[600:], "damaged"),
    ):
        unnamed.write_bytes(content)
        code, out, err = cli("check", unnamed)
        assert (code, out) == (2, "")
        assert f"{unnamed}: " in err
        assert words in err
    empty = tmp_path / "empty.snapshot"
    empty.touch()
    assert "not a snapshot" in cli("check", empty).err


def test_info_tells_files_and_folders(cli, tmp_path):
    folder = tmp_path / "kept"
    for prefill in ("full", "steady"):
        assert cli("run", *JOB, *SMALL, "--prefill", prefill, "--snapshots", folder).code == 0
    code, out, err = cli("snapshot", "info", folder)
    assert (code, err) == (0, "")
    assert out.count("geometry") == 2
    code, out, err = cli("snapshot", "info", folder, "--json")
    known = json.loads(out)
    assert {snapshot["drive"]["prefill"] for snapshot in known} == {"full", "steady"}
    assert all(snapshot["path"].endswith(f"{snapshot['shape']}.snapshot") for snapshot in known)
    (folder / "bad.snapshot").write_bytes(b"\x899SCOPE\nand no more")
    code, out, err = cli("snapshot", "info", folder)
    assert (code, out.count("geometry")) == (2, 2)
    assert "bad.snapshot: damaged" in err
    (tmp_path / "empty").mkdir()
    assert cli("snapshot", "info", tmp_path / "empty") == (
        0,
        "",
        f"ninescope: {tmp_path / 'empty'} holds no snapshots\n",
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--prefill", "footprint"), "depends on the workload"),
        (("--prefill", "none"), "--prefill 'none' is not known"),
        (("--set", "ftl.over_provisioning=0"), "ftl.over_provisioning"),
    ],
)
def test_what_cannot_be_saved_is_refused(cli, tmp_path, arguments, words):
    code, out, err = cli("snapshot", "save", tmp_path / "x.snapshot", "--drive", DEMO, *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_refused_before_preparing(cli, tmp_path):
    for target in (tmp_path, tmp_path / "none" / "x.snapshot"):
        code, out, err = cli("snapshot", "save", target)
        assert (code, out) == (2, "")
        assert f"cannot write {target}" in err


def test_processes_that_share_a_folder_agree(tmp_path):
    words = ["run", *JOB, *SMALL, "--prefill", "steady", "--json", "--snapshots", tmp_path / "kept"]
    processes = [
        subprocess.Popen(
            [*quick_command(), *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    results = [process.communicate(timeout=120) for process in processes]
    assert all(process.returncode == 0 for process in processes), results
    assert [err for _, err in results] == [""] * 4
    assert len({json.dumps(result_of(out)) for out, _ in results}) == 1
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_a_full_disk_ends_no_run(tmp_path):
    """A limit on the size of files stands for the disk: it lets the output pass, and no snapshot."""
    folder = tmp_path / "kept"
    words = [*command(), "run", *JOB, *SMALL, "--prefill", "steady", "--json", "--snapshots", folder]
    if shutil.which("prlimit") is None:
        pytest.skip("no prlimit here")
    done = subprocess.run(
        ["prlimit", "--fsize=1024", *(str(word) for word in words)],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert result_of(done.stdout)["complete"] is True
    assert done.stderr.startswith("ninescope: cannot write ")
    assert list(folder.iterdir()) == [], "nothing half-written stays"
    file = tmp_path / "worn.snapshot"
    save = [*command(), "snapshot", "save", file, *SMALL]
    done = subprocess.run(
        ["prlimit", "--fsize=1024", *(str(word) for word in save)],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"ninescope: error: cannot write {file}: ")
    assert list(tmp_path.iterdir()) == [folder], "nor of a file that is named"


def test_a_folder_that_cannot_be_written_serves_what_it_holds(cli, tmp_path):
    arguments = ("run", *JOB, *SMALL, "--json", "--snapshots", tmp_path)
    assert cli(*arguments, "--prefill", "steady").code == 0
    [file] = tmp_path.iterdir()
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    try:
        code, out, err = cli(*arguments, "--prefill", "steady")
        assert (code, err) == (0, "")
        assert json.loads(out)["performance"]["snapshot"]["loaded"] is True
        code, out, err = cli(*arguments, "--prefill", "full")
        assert code == 0
        assert err.startswith("ninescope: cannot write ")
        assert err.count("\n") == 1
    finally:
        tmp_path.chmod(0o700)
    assert list(tmp_path.iterdir()) == [file]


def test_the_python_words(small, job, tmp_path):
    without = small.run(job, prefill="steady")
    kept = small.run(job, prefill="steady", snapshots=tmp_path / "kept")
    again = small.run(job, prefill="steady", snapshots=tmp_path / "kept")
    assert kept.digest == again.digest == without.digest
    assert again.document["performance"]["snapshot"]["loaded"]
    [file] = (tmp_path / "kept").iterdir()
    file.write_bytes(b"")
    with pytest.warns(RuntimeWarning, match="not a snapshot"):
        assert small.run(job, prefill="steady", snapshots=tmp_path / "kept").digest == without.digest
    named = tmp_path / "named.snapshot"
    told: list[str] = []
    small.save_snapshot(
        named, prefill="footprint", workload=job, on_progress=lambda now: told.append(now.phase)
    )
    assert set(told) == {"prepare"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert small.run(job, from_snapshot=named).digest == small.run(job).digest
    with pytest.raises(ninescope.ConfigError, match="another drive"):
        small.run(job, prefill="steady", from_snapshot=named)
    with pytest.raises(ninescope.ConfigError, match="depends on the workload"):
        small.save_snapshot(named, prefill="footprint")


def test_a_drive_on_a_shelf_is_older_for_it(cli, tmp_path):
    file, old = tmp_path / "new.snapshot", tmp_path / "old.snapshot"
    assert cli("snapshot", "save", file, *SMALL, "--prefill", "full").code == 0
    code, out, err = cli("shelf", file, "--for", "96h", "--at", "66C", "--out", old)
    assert (code, err) == (0, "")
    assert "shelf     4d at 66 C" in out or "96h at 66 C" in out
    assert "at 66 C" in cli("snapshot", "info", old).out
    assert "at 66 C" not in cli("snapshot", "info", file).out
    of_age = "retention_factor=1e-5,retention_cycles_exponent=0.0,retention_exponent=1.0"
    law = f'nand.errors={{policy="power-law",{of_age}}}'
    code_of_drive = 'nand.ecc={policy="bch",user_data="1KiB",correctable=60}'
    reads = ("run", "--rw", "randread", "--requests", "2000", *SMALL, "--prefill", "full", "--json")
    sets = ("--set", law, "--set", code_of_drive, "--set", "nand.temperature={running=40.0}")
    bits = []
    for name in (file, old):
        code, out, err = cli(*reads, *sets, "--from-snapshot", name)
        assert (code, err) == (0, "")
        result = json.loads(out)
        bits.append(result["reliability"]["codes"]["nand"]["corrected_bits"])
    # The floor of the law is 8.34e-5; 96 hours at 66 C are 91.04 days at 40 C, and each of them 1e-5 more.
    assert bits[1] / bits[0] == pytest.approx((8.34e-5 + 91.04e-5) / 8.34e-5, rel=0.1)
    assert any("lay without power for" in note for note in result["notes"])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--for", "0s"), "--for 0s"),
        (("--for", "soon"), "--for soon"),
        (("--for", "1d", "--at", "warm"), "--at warm: no temperature in degrees Celsius"),
        (("--for", "1d", "--at", "400C"), "--at 400: a shelf has -55 to 150 degrees Celsius"),
    ],
)
def test_a_shelf_that_cannot_be_is_told_by_its_option(cli, tmp_path, arguments, told):
    file, old = tmp_path / "new.snapshot", tmp_path / "old.snapshot"
    assert cli("snapshot", "save", file, *SMALL, "--prefill", "full").code == 0
    code, out, err = cli("shelf", file, *arguments, "--out", old)
    assert (code, out) == (2, "")
    assert told in err
    assert not old.exists()


def test_a_shelf_holds_snapshots_alone(cli, tmp_path):
    other = tmp_path / "other"
    other.write_text("no drive")
    code, out, err = cli("shelf", other, "--for", "1d", "--out", tmp_path / "old.snapshot")
    assert (code, out) == (2, "")
    assert f"{other}: not a snapshot of ninescope" in err
    code, out, err = cli("shelf", tmp_path / "nothing", "--for", "1d", "--out", tmp_path / "old.snapshot")
    assert (code, out) == (2, "")
    assert str(tmp_path / "nothing") in err


def test_a_shelf_in_python_is_that_of_the_command(cli, small, tmp_path):
    new, old, same = (tmp_path / f"{name}.snapshot" for name in ("new", "old", "same"))
    small.save_snapshot(new, prefill="full")
    ninescope.shelve(new, old, time="30d", celsius=55)
    assert cli("shelf", new, "--for", "30d", "--at", "55C", "--out", same).code == 0
    assert old.read_bytes() == same.read_bytes()
    assert old.read_bytes() != new.read_bytes()
    aged = small.with_(
        {
            "nand.ecc": {"policy": "bch", "correctable": 8},
            "nand.errors": {"policy": "power-law"},
            "nand.initial_cycles": 3000,
            "nand.retry": {"policy": "table"},
            "nand.temperature": {"running": 40.0},
        }
    )
    reads = ninescope.Workload.job(rw="randread", size="8m", requests=1_000)
    shelved = aged.run(reads, prefill="full", from_snapshot=old)
    # It is as old as data that the description says to have grown so old, as warm as that.
    said = aged.with_({"nand.initial_age": "30d", "nand.temperature.stored": 55.0})
    described = said.run(reads, prefill="full")
    assert shelved.reliability == described.reliability
    assert shelved.latency.read.mean_ns == described.latency.read.mean_ns
    fresh = aged.run(reads, prefill="full", from_snapshot=new)
    assert shelved.reliability.counters["retries"] > 10 * fresh.reliability.counters["retries"]
    # Times add up, also in a file that is its own target: three months at 55 C are one and two.
    ninescope.shelve(old, old, time="60d", celsius=55)
    ninescope.shelve(new, same, time="90d", celsius=55)
    twice, once = (aged.run(reads, prefill="full", from_snapshot=name) for name in (old, same))
    # Ages in sum are rounded to nanoseconds once for each shelf.
    assert (twice.reliability.counters, twice.reliability.codes) == (
        once.reliability.counters,
        once.reliability.codes,
    )
    assert twice.reliability.counters != shelved.reliability.counters


def test_reads_of_what_lay_on_a_shelf_and_of_what_was_written_since_are_told_apart(small, tmp_path):
    new, old = tmp_path / "new.snapshot", tmp_path / "old.snapshot"
    small.save_snapshot(new, prefill="full")
    ninescope.shelve(new, old, time="365d")
    worn = small.with_(
        {
            "nand.ecc": {"policy": "bch", "correctable": 8},
            "nand.errors": {"policy": "constant", "rber": 0.5},
            "nand.initial_cycles": 3000,
            "nand.retry": {"policy": "table"},
        }
    )
    writes = {"name": "writes", "rw": "write", "bs": "16k", "size": "32m", "requests": 2048}
    reads = {"rw": "randread", "bs": "16k", "size": "64m", "requests": 6_000, "startdelay": "5s"}
    reads["name"] = "reads"
    found = worn.run(ninescope.Workload.jobs(writes, reads), prefill="full", from_snapshot=old).reliability
    assert found is not None
    second, minute, year = 1_000_000_000, 60_000_000_000, 365 * 86_400_000_000_000
    of_age = {of.from_ns: of for of in found.reads_by_age}
    assert of_age[second].until_ns == minute
    assert of_age[second].reads > 1_000
    assert of_age[year].reads > 1_000
    # The rows of the policy's own table after 3,000 cycles: of new data, and of data a year old.
    for begins, shares in ((second, (0.6, 0.3, 0.1)), (year, (0.05, 0.15, 0.35, 0.3, 0.15))):
        of = of_age[begins]
        assert (of.attempts[0], of.retried, of.undecoded, of.soft) == (0, of.reads, 0, 0)
        assert len(of.attempts) == len(shares) + 1
        for share, count in zip(shares, of.attempts[1:], strict=True):
            deviation = (of.reads * share * (1 - share)) ** 0.5
            assert abs(count - of.reads * share) < 4 * deviation
        assert of.mean_attempts == of.mean_attempts_of_retried == of.retries / of.reads
    assert sum(of.reads for of in found.reads_by_age) == sum(of.reads for of in found.reads_by_wear)
    assert sum(of.retries for of in found.reads_by_age) == found.counters["retries"]
    assert [of.from_cycles for of in found.reads_by_wear] == [3_000]
    lines = dict(facts(found))
    assert lines["data 1 y to 3 y old"].startswith(f"{of_age[year].reads:,} page reads, 3.")
    assert lines["data 1 s to 1 min old"].endswith("attempts each, 3 at most")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"time": "0s"}, "shelve: time 0s: no time passes"),
        ({"time": 90}, "shelve: time 90: `90` has no unit"),
        ({"time": "1d", "celsius": 400}, "shelve: celsius 400: a shelf has -55 to 150 degrees Celsius"),
    ],
)
def test_a_shelf_that_cannot_be_is_told_by_its_argument(small, tmp_path, words, told):
    new, old = tmp_path / "new.snapshot", tmp_path / "old.snapshot"
    small.save_snapshot(new, prefill="full")
    with pytest.raises(ninescope.ConfigError) as refused:
        ninescope.shelve(new, old, **words)
    assert str(refused.value).startswith(told)
    assert not old.exists()
    with pytest.raises(ninescope.ConfigError, match="cannot write"):
        ninescope.shelve(new, tmp_path / "nowhere" / "old.snapshot", time="1d")
