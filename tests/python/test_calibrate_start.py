"""Device files to start from: what is fitted, what is opened, and what is left out of what fio measured."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT

pytest.importorskip("optuna")

from ninescope import ConfigError
from ninescope.lab.calibrate import Calibration, DeviceFile, calibrate
from ninescope.lab.calibrate.record import Row
from ninescope.lab.calibrate.start import start
from ninescope.lab.calibrate.text import markdown

FIO = ROOT / "examples/devices/fio.json"
DEMO = str(ROOT / "examples/drives/demo.toml")
COUNTS = {"50.000000": 90_000, "99.000000": 200_000, "99.900000": 300_000, "99.990000": 400_000}


def job(name: str, rw: str, bs: str, iodepth: int, iops: float, **more: str) -> dict[str, Any]:
    """What fio writes of a job, as far as it is read."""
    measured = {
        "total_ios": 1_000_000,
        "iops": iops,
        "lat_ns": {"mean": 1e9 * iodepth / iops},
        "clat_ns": {"percentile": COUNTS},
    }
    reads = rw.removeprefix("rand") in ("read", "rw")
    writes = rw.removeprefix("rand") in ("write", "rw")
    options = {"rw": rw, "bs": bs, "iodepth": str(iodepth)} | more
    sides = {"read": measured if reads else {}, "write": measured if writes else {}}
    return {"jobname": name, "job options": options} | sides


def fio(path: Path, *jobs: dict[str, Any]) -> Path:
    general = {"ioengine": "libaio", "direct": "1", "filename": "/dev/nvme0n1"}
    path.write_text(json.dumps({"fio version": "fio-3.35", "global options": general, "jobs": jobs}))
    return path


def made(files: list[Path], drive: str, folder: Path) -> DeviceFile:
    out = folder / "mine.toml"
    out.write_text(start(files, drive, out).text)
    return DeviceFile.read(out)


def fitted(file: DeviceFile) -> list[tuple[str, str]]:
    return [(each.set, each.metric) for each in file.figures if each.use == "fit"]


def test_single_reads_are_for_pages_and_deep_queues_for_commands(tmp_path: Path) -> None:
    file = made([FIO], DEMO, tmp_path)
    assert [each.name for each in file.space.parameters] == ["nand.read", "controller.command_cost"]
    assert fitted(file) == [("qd1-4k (fitted)", "read_mean_ns"), ("qd64-4k (fitted)", "read_iops")]
    # The mean of a TLC page's reads is 40 us in the preset.
    read = file.space["nand.read"]
    assert (read.low, read.high, read.unit) == (13, 120, "us")
    held_out = [(each.set, each.metric) for each in file.figures if each.use == "holdout"]
    # Of 64 under way the rate is 64 / mean: one of the two is no prediction where the other is fitted.
    assert {metric for name, metric in held_out if name == "qd64-4k"} == {
        "read_p50_ns", "read_p99_ns", "read_p99.9_ns",
    }  # fmt: skip
    assert ("qd16-4k", "read_mean_ns") in held_out
    assert ("qd16-4k", "read_iops") in held_out
    assert {each.source for each in file.figures} == {"mine"}


def test_large_reads_are_for_the_link_and_writes_for_programs(tmp_path: Path) -> None:
    path = fio(
        tmp_path / "fio.json",
        job("write", "write", "128k", 32, 10_000),
        job("mix", "randrw", "4k", 8, 20_000, rwmixread="70"),
        job("read", "read", "128k", 32, 24_000, size="800g"),
        job("synced", "randwrite", "4k", 4, 10_000, fsync="8"),
        job("again", "write", "128k", 32, 10_001),
    )
    out = tmp_path / "mine.toml"
    found = start([path], "tlc", out)
    file = DeviceFile.parse(found.text, "mine", tmp_path)
    assert found.parameters == ("controller.link_rate", "nand.program")
    assert fitted(file) == [("write (fitted)", "write_iops"), ("read (fitted)", "read_iops")]
    # 24,000 x 128 KiB a second are 3,146 MB/s.
    link = file.space["controller.link_rate"]
    assert link.low == pytest.approx(0.8 * 3145.7, rel=1e-3)
    assert link.high == pytest.approx(2 * 3145.7, rel=1e-3)
    sets = {one.name: one for one in file.sets}
    assert sets["read"].words["size"] == "100%"  # 800 GiB are not in the preset
    assert all(each.case.settings["run.prefill"] == "full" for each in sets["write"].figures)
    # Of 12,000 requests in a mix there may be a quarter: none has ten beyond 99.9 %.
    assert {each.metric for each in sets["mix"].figures} == {
        f"{op}_{kind}" for op in ("read", "write") for kind in ("iops", "mean_ns", "p50_ns", "p99_ns")
    }
    reasons = dict(found.left_out)
    assert set(reasons) == {"synced", "again"}
    assert "fsync=8" in reasons["synced"]
    assert "asks the same as 'write'" in reasons["again"]
    assert "# synced: has fsync=8" in found.text


@pytest.mark.parametrize(
    ("drive", "keys"),
    [
        ("qlc", ["nand.read", "nand.program"]),
        ("scm-10us", ["scm.read", "scm.set", "scm.reset"]),
        ("hybrid-wb", ["nand.read", "nand.program"]),
        ("samsung-980-pro", ["nand.read", "nand.program"]),
    ],
)
def test_what_is_opened_is_of_the_kind_of_the_drive(drive: str, keys: list[str], tmp_path: Path) -> None:
    path = fio(
        tmp_path / "fio.json", job("r", "randread", "4k", 1, 14_000), job("w", "write", "64k", 8, 9_000)
    )
    file = made([path], drive, tmp_path)
    assert [key for each in file.space.parameters for key in file.keys_of(each.name)] == keys


def test_a_mix_alone_is_fitted_to_by_its_reads(tmp_path: Path) -> None:
    path = fio(tmp_path / "fio.json", job("mix", "randrw", "4k", 8, 20_000))
    file = made([path], "tlc", tmp_path)
    assert [each.name for each in file.space.parameters] == ["nand.read"]
    assert fitted(file) == [("mix (fitted)", "read_mean_ns")]


def test_jobs_of_several_outputs_do_not_share_names(tmp_path: Path) -> None:
    one = fio(tmp_path / "one.json", job("r", "randread", "4k", 1, 14_000))
    other = fio(tmp_path / "other.json", job("r", "randread", "4k", 4, 50_000))
    file = made([one, other], "tlc", tmp_path)
    assert list(dict.fromkeys(each.set for each in file.figures)) == ["one r (fitted)", "one r", "other r"]
    assert {each.source for each in file.figures} == {"mine1", "mine2"}


def test_an_output_without_a_job_that_can_be_taken_says_why(tmp_path: Path) -> None:
    path = fio(tmp_path / "fio.json", job("synced", "randwrite", "4k", 4, 10_000, fsync="8"))
    with pytest.raises(ConfigError, match=r"no job of fio can be taken: synced: has fsync=8"):
        start([path], "tlc", tmp_path / "mine.toml")


def test_what_is_written_calibrates_as_it_is_and_is_not_called_published(tmp_path: Path) -> None:
    file = made([FIO], DEMO, tmp_path)
    found = calibrate(dataclasses.replace(file, trials=1, rounds=1, seeds=1), jobs=1)
    assert found.unmeasured == ()
    assert (len(found.of("fit")), len(found.of("holdout"))) == (2, 21)
    assert found.verdict().startswith("fitted to 2 figures measured with fio with a median error of ")
    assert "; predicts 21 figures measured with fio with a median error of " in found.verdict()
    text = markdown(found)
    assert "| figure |  | number | fio | simulated | error | source |" in text
    assert "published" not in text
    assert (
        "published" not in found.drive.partition("[sources]")[2].partition("summary = ")[2].partition("\n")[0]
    )
    assert Calibration.from_json(json.loads(json.dumps(found.as_json())), found.drive) == found


def test_figures_of_both_kinds_are_figures() -> None:
    def row(of_fio: bool) -> Row:
        return Row("a", "", "iops", "fit", "me", 1.0, 1.0, of_fio=of_fio)

    def told(*rows: Row) -> str:
        return Calibration("d", "", "", (), rows).verdict().partition(" with a median")[0]

    assert told(row(False)) == "fitted to 1 published figure"
    assert told(row(True), row(True)) == "fitted to 2 figures measured with fio"
    assert told(row(True), row(False)) == "fitted to 2 figures"
    both = markdown(Calibration("d", "", "", (), (row(True), row(False))))
    assert "| published or fio |" in both


def command(*words: str) -> subprocess.CompletedProcess[str]:
    typed = [sys.executable, "-m", "ninescope", *words]
    return subprocess.run(typed, capture_output=True, text=True, check=False)


def test_the_command_writes_a_file_that_passes_check_and_none_over_another(tmp_path: Path) -> None:
    out = tmp_path / "new/mine.toml"
    words = ("import", "fio", str(FIO), "--drive", DEMO, "--out", str(out))
    done = command(*words)
    assert done.returncode == 0, done.stderr
    told = "23 figures, 2 of them fitted by nand.read and controller.command_cost"
    assert f"written: {out}: {told}\n" in done.stdout
    assert f"ninescope calibrate {out} --out DIR\n" in done.stdout
    assert "2 parameters, 23 figures, 2 of them fitted" in command("check", str(out)).stdout
    before = out.read_text()
    again = command(*words)
    assert again.returncode == 2
    assert "is not written over" in again.stderr
    assert out.read_text() == before


def test_check_names_the_command_for_an_output_of_fio() -> None:
    done = command("check", str(FIO))
    assert done.returncode == 0
    assert "output of fio, OK\n  5 jobs\n" in done.stdout
    assert f"ninescope import fio {FIO}" in done.stdout


def test_bad_input_writes_nothing(tmp_path: Path) -> None:
    out = tmp_path / "mine.toml"
    for words, told in (
        ((str(FIO), "--drive", "tcl"), "did you mean 'tlc'"),
        ((str(tmp_path / "none.json"),), "none.json"),
        ((str(ROOT / "docs/validation/devices/intel-p3700.json"),), "is no JSON of fio"),
    ):
        done = command("import", "fio", *words, "--out", str(out))
        assert (done.returncode, done.stdout) == (2, "")
        assert told in done.stderr
        assert done.stderr.count("\n") == 1
        assert not out.exists()
