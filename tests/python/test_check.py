"""`ninescope check` tells files apart and says what is wrong; job files of fio run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import NATIVE, ROOT

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
EXAMPLES = ROOT / "examples"


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("drives/demo.toml", "drive"),
        ("jobs/randwrite.toml", "job"),
        ("jobs/mixed.fio", "job"),
        ("traces/pgbench.csv.zst", "trace"),
    ],
)
def test_good_files_are_told_apart(cli, file, kind):
    code, out, err = cli("check", EXAMPLES / file)
    assert (code, err) == (0, "")
    assert out.startswith(f"{EXAMPLES / file}: {kind}")
    assert ", OK" in out


def test_every_preset_is_right(cli, tmp_path):
    from ninescope import presets

    for kind, verdict in (("drives", "drive, OK"), ("jobs", "job, OK")):
        for preset in presets(kind):
            path = tmp_path / f"{preset.name}.toml"
            path.write_text(preset.toml)
            code, out, err = cli("check", path)
            assert (code, err) == (0, ""), preset.name
            assert verdict in out


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("d.toml", 'base = "tlc"\n[geometry]\nchanels = 4\n', ("line 3", "channels")),
        ("d.toml", 'base = "tlc"\n[ftl]\nover_provisioning = 0.0001\n', ("d.toml",)),
        ("d.toml", "[geometry\n", ("line 1",)),
        ("d.toml", "", ("empty",)),
        ("j.toml", 'rw = "sideways"\n', ("line 1", "sideways")),
        ("j.toml", 'rw = "read"\niodepth = 0\n', ("iodepth",)),
        ("j.fio", "[a]\nrw=read\nbsrnge=4k\n", ("line 3", "bsrnge")),
        ("t.csv", "this is\nno trace\n", ("t.csv",)),
    ],
)
def test_bad_files_are_refused_with_their_place(cli, tmp_path, name, text, words):
    path = Path(tmp_path, name)
    path.write_text(text)
    code, out, err = cli("check", path)
    assert (code, out) == (2, "")
    for word in words:
        assert word in err, err


def test_a_job_file_of_fio_runs(cli):
    code, out, err = cli("run", EXAMPLES / "jobs/mixed.fio", "--requests", "3000", "--json")
    assert code == 0, err
    result = json.loads(out)
    assert result["requests"] == 3000
    assert result["workload"]["job"]["bssplit"].startswith("4096/60:16384/30:65536/10")
    assert any("direct: there is no page cache" in note for note in result["notes"])
