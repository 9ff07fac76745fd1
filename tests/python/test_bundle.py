"""Bundles: a run in one file, which comes to the same for somebody else, or says what is not as it was."""

from __future__ import annotations

import json
import zipfile

import pytest

from conftest import NATIVE, ROOT

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
DRIVE = ROOT / "examples/drives/demo.toml"
TRACE = ROOT / "examples/traces/pgbench.csv.zst"


def packed(cli, bundle, *words: object):
    told = cli("run", *words, "--provenance", bundle)
    assert told.code == 0, told.err
    return bundle


def changed(bundle, member: str, change):
    """Write the bundle again, with one member changed."""
    with zipfile.ZipFile(bundle) as opened:
        members = {name: opened.read(name) for name in opened.namelist()}
    members[member] = change(members[member])
    with zipfile.ZipFile(bundle, "w") as written:
        for name, content in members.items():
            written.writestr(name, content)


@pytest.mark.parametrize(
    "words",
    [
        ("--rw", "randrw", "--size", "64m", "--requests", "2000", "--set", "nand.read=30us", "--seed", "7"),
        (
            ROOT / "examples/jobs/zone-log.toml",
            "--drive",
            ROOT / "examples/drives/zns.toml",
            "--requests",
            "2000",
        ),
        ("prxy_0", "--requests", "2000"),
        ("varmail", "--requests", "2000", "--warmup", "10%"),
    ],
)
def test_a_bundle_comes_to_the_same_wherever_it_lies(cli, tmp_path, monkeypatch, words):
    bundle = packed(cli, tmp_path / "run.zip", *words)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    bundle.rename(elsewhere / "run.zip")
    told = cli("replay", "run.zip")
    assert (told.code, told.out[:18]) == (0, "run.zip: the same,")


def test_equal_runs_have_equal_bundles(cli, tmp_path):
    words = ("--rw", "randread", "--size", "64m", "--requests", "500")
    one = packed(cli, tmp_path / "one.zip", *words).read_bytes()
    assert packed(cli, tmp_path / "other.zip", *words).read_bytes() == one


def test_a_trace_is_known_by_its_hash(cli, tmp_path):
    bundle = packed(cli, tmp_path / "run.zip", TRACE, "--drive", DRIVE, "--requests", "3000")
    told = cli("replay", bundle)
    assert (told.code, "--trace FILE says where it lies" in told.err) == (2, True)
    assert cli("replay", bundle, "--trace", TRACE, "--out", tmp_path / "again").code == 0
    again = json.loads((tmp_path / "again" / "result.json").read_text())
    assert again["requests"] == 3000
    other = tmp_path / "other.csv"
    other.write_text("".join(f"{at},host,0,Read,{at * 4096},4096,1\n" for at in range(1, 4000)))
    told = cli("replay", bundle, "--trace", other)
    assert told.code == 2
    assert f"{other}: is not the trace of {bundle}: its hash is " in told.err


def test_what_is_not_as_it_was_is_said(cli, tmp_path):
    bundle = packed(cli, tmp_path / "run.zip", "--rw", "randread", "--size", "64m", "--requests", "500")
    # Somebody else's drive reads faster, of a later version.
    changed(
        bundle,
        "drive/tlc.toml",
        lambda text: text.replace(b'read = ["34us", "52us", "34us"]', b'read = ["30us"]'),
    )
    changed(bundle, "bundle.json", lambda text: text.replace(b'"version": "0.', b'"version": "9.'))
    told = cli("replay", bundle)
    assert told.code == 1
    assert [line.partition(":")[0] for line in told.out.splitlines()[1:]] == [
        "  what the device did",
        "  the drive",
    ]
    assert "it was made by ninescope 9." in told.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--provenance", "run.tar"), "a bundle is a file that ends in .zip"),
        (("--provenance", f"{DRIVE}/run.zip"), "cannot write"),
        (("--provenance", "run.zip", "--from-snapshot", DRIVE), "has a past that no bundle holds"),
    ],
)
def test_what_no_bundle_can_hold_is_refused_before_it_is_run(cli, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    told = cli("run", "--rw", "randread", "--size", "64m", "--requests", "500", *words)
    assert (told.code, message in told.err) == (2, True), told.err
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_bundle_is_refused(cli, tmp_path):
    file = tmp_path / "run.zip"
    assert "run.zip" in cli("replay", file).err
    file.write_bytes(b"nothing")
    told = cli("replay", file)
    assert (told.code, "is no bundle, or a damaged one" in told.err) == (2, True)
    with zipfile.ZipFile(file, "w") as bundle:
        bundle.writestr("else.txt", "nothing")
    assert "it has no bundle.json" in cli("replay", file).err
    bundle = packed(cli, tmp_path / "good.zip", "--rw", "randread", "--size", "64m", "--requests", "500")
    assert "all that it replays is in it" in cli("replay", bundle, "--trace", TRACE).err
    changed(
        bundle, "bundle.json", lambda text: text.replace(b'"ninescope_bundle": 1', b'"ninescope_bundle": 2')
    )
    assert "is a bundle of format 2" in cli("replay", bundle).err
