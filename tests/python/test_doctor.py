"""`ninescope doctor`: what is well, what is missing, and how it ends."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from conftest import NATIVE
from ninescope.cli import doctor

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")


def test_a_machine_that_is_well_is_told_so(cli):
    told = cli("doctor")
    lines = told.out.splitlines()
    assert told.code == 0
    assert all(line.startswith(("ok  ", "without")) for line in lines)
    assert any("a simulation, digest " in line for line in lines)
    # The digest is the same with every call, here and elsewhere.
    assert [line for line in cli("doctor").out.splitlines() if "digest" in line] == [
        line for line in lines if "digest" in line
    ]


def test_what_is_missing_is_told_with_what_it_is_for(cli, monkeypatch):
    known = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "optuna" else known(name))
    told = cli("doctor", "--missing")
    assert told.code == 0, "searches alone need it"
    assert "without  optuna, for searches: pip install 'ninescope[sweep]'" in told.out
    assert "ok " not in told.out


def test_each_part_that_may_be_missing_is_named(cli, monkeypatch):
    known = importlib.util.find_spec
    gone = {"polars": "ninescope", "plotly": "ninescope[notebook]", "tqdm": "ninescope[notebook]"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in gone else known(name))
    monkeypatch.setenv("PATH", "")
    told = cli("doctor", "--missing")
    assert told.code == 0
    lines = told.out.splitlines()
    for module, package in gone.items():
        [line] = [line for line in lines if line.startswith(f"without  {module}, for ")]
        assert line.endswith(f": pip install '{package}'")
    assert any(line.startswith("without  fio, to measure a drive of your own") for line in lines)


def test_fio_is_told_with_its_place(cli, monkeypatch, tmp_path):
    (tmp_path / "fio").write_text("#!/bin/sh\n")
    (tmp_path / "fio").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert f"ok       fio in {tmp_path}/fio, to measure a drive of your own" in cli("doctor").out


def test_what_nothing_works_without_ends_badly(cli, monkeypatch):
    monkeypatch.setattr(doctor, "_PYTHON", (9, 0))
    told = cli("doctor")
    version = ".".join(map(str, sys.version_info[:3]))
    assert told.code == 1
    assert f"MISSING  Python {version}, and 9.0 is the least" in told.out
