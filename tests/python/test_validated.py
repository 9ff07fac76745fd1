"""What a calibrated drive was validated on, and runs of a kind that no figure of it is of."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from conftest import ROOT

pytest.importorskip("optuna")

from ninescope import Drive, Workload, toml
from ninescope.lab.calibrate import Calibration, DeviceFile
from ninescope.lab.calibrate.calibrate import rewritten
from ninescope.simulation.validated import kind_of, kinds_in, notes_of, with_kinds

PRESETS = ROOT / "presets/drives"
STORED = sorted((ROOT / "docs/validation/devices").glob("*.json"))


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("renew_devices", ROOT / "tools/renew_devices.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("job", "prefill", "kind"),
    [
        ({"rw": "randread"}, "full", "random reads"),
        ({"rw": "read"}, None, "sequential reads"),
        ({"rw": "write"}, "none", "sequential writes to an erased drive"),
        ({"rw": "randwrite"}, None, "random writes to a full drive"),
        ({"rw": "randwrite", "size": "100%"}, "footprint", "random writes to a full drive"),
        ({"rw": "randwrite", "size": "1g"}, "footprint", "random writes to a region that was written once"),
        ({"rw": "randwrite", "size": "1g"}, "steady-uniform", "random writes to a worn-in drive"),
        ({"readwrite": "randrw:8"}, "raw", "random mixes to a full drive"),
        ({"rw": "randtrim"}, "full", None),
    ],
)
def test_a_kind_is_what_is_asked_and_of_writes_what_was_there_before(
    job: dict[str, str], prefill: str | None, kind: str | None
) -> None:
    assert kind_of(job, prefill) == kind


def test_kinds_are_read_as_they_were_written() -> None:
    kinds = ("random reads", "sequential writes to an erased drive")
    assert kinds_in(with_kinds("fitted to 3 figures; predicts 2", kinds)) == kinds
    assert with_kinds("fitted", ()) == "fitted"
    assert kinds_in("fitted to 3 figures; predicts 2") == ()


def document(summary: str, *jobs: dict[str, str]) -> dict[str, object]:
    workload = {"job": jobs[0]} if len(jobs) == 1 else {"jobs": list(jobs)}
    drive = {"sources": {"summary": summary}}
    return {"config": {"drive": drive, "run": {"prefill": "full"}}, "workload": workload}


def test_a_job_of_several_is_told_where_it_alone_is_of_no_known_kind() -> None:
    summary = with_kinds("fitted", ["random reads"])
    reads, writes = {"rw": "randread"}, {"rw": "randwrite"}
    assert notes_of(document(summary, reads)) == []
    assert notes_of(document("fitted", writes)) == []
    assert notes_of({**document(summary, reads), "workload": {"kind": "trace"}}) == []
    [note] = notes_of(document(summary, reads, writes, writes))
    assert note.startswith("no figure that this drive was validated on is of random writes to a full drive: ")


def test_a_run_says_where_no_figure_of_its_drive_is_of_its_kind() -> None:
    """The 980 PRO was held against random reads and an erased drive's fill; its writes at random are not."""
    drive = Drive.from_file(PRESETS / "samsung-980-pro.toml")

    def told(rw: str, prefill: str) -> list[str]:
        job = Workload.job(rw=rw, bs="4k", size="1m", iodepth=2)
        notes = drive.run(job, requests=10, prefill=prefill).notes
        return [note for note in notes if note.startswith("no figure that this drive was validated on")]

    assert told("randread", "footprint") == []
    assert told("write", "none") == []
    [note] = told("randwrite", "footprint")
    assert "is of random writes to a region that was written once: " in note
    [note] = told("write", "footprint")
    assert "is of sequential writes to a region that was written once: " in note


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_presets_are_what_their_stored_calibrations_come_to(path: Path) -> None:
    """Values, and where each is from: what a device file sets, and the base drive's where it set nothing."""
    name = path.stem
    file = DeviceFile.read(ROOT / f"examples/devices/{name}.toml")
    stored = Calibration.from_json(json.loads((ROOT / f"docs/validation/devices/{name}.json").read_text()))
    text = (PRESETS / f"{name}.toml").read_text()
    assert rewritten(file, stored).drive == text == tool().rewritten(name)
    sources = toml.loads(text)["sources"]
    base = (file.base.drive.source or {})["preset"]
    for key in file.base.set_:
        assert sources[key] == f"set by the device file of {name}"
    for key, source in sources.items():
        kinds = ("set by the device file", "calibrated to figures", f"as in {base}: ")
        assert key == "summary" or source.startswith(kinds)
    # A key that is fitted has the fit as its source, and not what its base had.
    fitted = {key for each in stored.parameters for key in file.keys_of(each.name)}
    assert all(sources[key].startswith("calibrated to figures") for key in fitted)
    assert kinds_in(sources["summary"])
