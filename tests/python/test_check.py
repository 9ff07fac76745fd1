"""`ninescope check` tells files apart and says what is wrong; job files of fio run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import NATIVE, ROOT
from sweep_samples import SMALL, run_here

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


@pytest.mark.parametrize("file", sorted((EXAMPLES / "sweeps").glob("*.toml")), ids=lambda path: path.stem)
def test_sweeps_are_no_drives(cli, file):
    # They were: "unknown field `axes`" of a drive.
    code, out, err = cli("check", file)
    assert (code, err) == (0, "")
    assert out.startswith(f"{file}: sweep, OK")
    assert "points; " in out


def test_searches_and_the_files_of_papers_are_told_apart(cli):
    search = EXAMPLES / "searches/spare-flash.toml"
    assert cli("check", search).out.startswith(f"{search}: search, OK")
    for folder in sorted((ROOT / "experiments").glob("0*")):
        for name, kind in (
            ("claims", "claims of a paper"),
            ("published", "what a paper published"),
            ("baseline", "baseline of a paper"),
        ):
            path = folder / f"{name}.toml"
            assert cli("check", path) == (0, cli("check", path).out, ""), path
            assert cli("check", path).out.startswith(f"{path}: {kind}, OK")


def test_a_host_cache_by_itself(cli, tmp_path):
    path = tmp_path / "cache.toml"
    path.write_text('[host_cache]\nsize = "64MiB"\n')
    assert cli("check", path).out.startswith(f"{path}: host cache, OK")
    path.write_text('[host_cache]\nsizee = "64MiB"\n')
    code, out, err = cli("check", path)
    assert (code, out) == (2, "")
    assert f"{path}: " in err
    assert "sizee" in err
    assert "line 2" in err


def test_what_ninescope_wrote_is_checked_as_what_it_is(cli, tmp_path):
    run = (
        "run",
        "--rw",
        "randrw",
        "--size",
        "4m",
        "--requests",
        "300",
        "--drive",
        EXAMPLES / "drives/small.toml",
    )
    assert cli(*run, "--out", tmp_path / "a", "--fio-logs").code == 0
    assert cli(*run, "--seed", "2", "--out", tmp_path / "b").code == 0
    assert cli("compare", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "c.json").code == 0
    assert cli("report", tmp_path / "a", "--out", tmp_path / "r.html").code == 0
    for path, kind in (
        ("a", "result"),
        ("a/result.json", "result"),
        ("a/config.toml", "drive"),
        ("a/latency.parquet", "a table of the result"),
        ("c.json", "comparison"),
        ("r.html", "report"),
        ("a/ninescope_bw.log", "log of bandwidth [KiB/s], as fio writes it, OK\n  no input; fio2gnuplot"),
        ("a/ninescope_iops.log", "log of IOPS, as fio writes it"),
        ("a/ninescope_lat.log", "log of latency [ns], as fio writes it"),
    ):
        code, out, err = cli("check", tmp_path / path)
        assert (code, err) == (0, ""), path
        assert out.startswith(f"{tmp_path / path}: {kind}"), out
    for path, words in (
        ("a", "is a result, and no workload; `ninescope report`, `ninescope compare`"),
        ("a/result.json", "is a result, and no workload; `ninescope report`, `ninescope compare`"),
        ("c.json", "is a comparison, and no workload; nothing reads it again"),
        (
            "a/ninescope_bw.log",
            "is a log of bandwidth [KiB/s], as fio writes it, and no workload",
        ),
    ):
        for verb in (("run",), ("trace", "stat")):
            code, out, err = cli(*verb, tmp_path / path)
            assert (code, out) == (2, ""), (verb, path)
            assert f"{tmp_path / path}: {words}" in err, err
    (tmp_path / "a/series.parquet").write_bytes(b"PAR1 and no more")
    code, out, err = cli("check", tmp_path / "a")
    assert (code, out) == (2, "")
    assert "damaged" in err


def test_folders_that_ninescope_wrote_are_known_to_all_commands(cli, tmp_path):
    run = ("run", "--rw", "randread", "--size", "16m", "--requests", "500", "--log-requests", "--out")
    for seed in ("1", "2"):
        assert cli(*run, tmp_path / "seeds" / seed, "--seed", seed).code == 0
    a, b = tmp_path / "seeds/1", tmp_path / "seeds/2"
    assert cli("compare", a, b, "--out", tmp_path / "compared").code == 0
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers/report.json").write_text('{"paper": {}, "claims": [], "mode": "quick"}')
    for folder, kind in (
        ("compared", "comparison"),
        ("seeds", "folder of results"),
        ("papers", "report of papers"),
    ):
        path = tmp_path / folder
        code, out, err = cli("check", path)
        assert (code, err) == (0, ""), folder
        assert out.startswith(f"{path}: {kind}, OK"), out
        code, out, err = cli("run", path)
        assert (code, out) == (2, "")
        assert f"{path}: is a {kind}, and no workload; " in err
    no_result = "is a comparison, and no result; nothing reads it again"
    for words in (("report",), ("compare", a)):
        for path in (tmp_path / "compared", tmp_path / "compared/comparison.json"):
            code, out, err = cli(*words, path)
            assert (code, out) == (2, "")
            assert f"{path}: {no_result}" in err
    for name in ("latency.parquet", "latency_blocks.parquet", "series.parquet"):
        assert f"{a / name}: is a table of a result, and no workload" in cli("run", a / name).err
    assert cli("run", a / "requests.parquet").code == 0, "it is a trace"


def test_lakes_are_checked_point_by_point(cli, tmp_path):
    from ninescope.lab.sweep.sweep import Sweep

    run_here(Sweep.from_toml(SMALL), tmp_path / "lake")
    for path in ("lake", "lake/lake.json"):
        code, out, err = cli("check", tmp_path / path)
        assert (code, err) == (0, "")
        assert out.startswith(f"{tmp_path / path}: lake of results, OK\n  8 points\n  sweeps: small")
    victim = min((tmp_path / "lake/points").iterdir())
    victim.write_bytes(b"nothing")
    code, out, err = cli("check", tmp_path / "lake")
    assert (code, out) == (2, "")
    assert victim.name in err
    assert "1 of 8 points" in err


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (
            "s.toml",
            '[workload]\nrw = "read"\nsize = "4m"\n[axis]\n"nand.read" = ["20us"]\n',
            ("axis", "did you mean 'axes'"),
        ),
        (
            "s.toml",
            'trials = 3\nminimise = ["cots"]\n[workload]\nrw = "read"\n[parameters]\nx = [1]\n',
            ("line 2", "did you mean 'cost'"),
        ),
        ("c.toml", '[paper]\nid = "9"\n[[claim]]\nidd = "1"\n', ("line", "idd")),
        ("b.toml", '[quick]\n"1.1" = "hold"\n', ("did you mean 'holds'",)),
        ("x.json", "[1, 2]", ("JSON of no kind that ninescope knows",)),
        ("x.json", "{", ("is not JSON",)),
    ],
)
def test_what_is_wrong_is_said_of_the_kind_that_it_is(cli, tmp_path, name, text, words):
    path = tmp_path / name
    path.write_text(text)
    code, out, err = cli("check", path)
    assert (code, out) == (2, "")
    for word in (str(path), *words):
        assert word in err, err


def test_a_folder_of_neither_is_refused(cli, tmp_path):
    code, out, err = cli("check", tmp_path)
    assert (code, out) == (2, "")
    assert "neither result.json" in err


def test_every_preset_is_right(cli, tmp_path):
    from ninescope import presets

    for kind, verdict in (("drives", "drive, OK"), ("jobs", "job, OK")):
        for preset in presets(kind):
            path = tmp_path / f"{preset.name}.toml"
            path.write_text(preset.toml)
            code, out, err = cli("check", path)
            assert (code, err) == (0, ""), preset.name
            assert verdict in out


def test_a_log_of_fio_is_told_from_a_trace(cli, tmp_path):
    rows = "".join(f"{10 * row}, {100 + row}, {row % 2}, 4096, 0\n" for row in range(40))
    for name, text, kind in (
        ("run_clat.1.log", rows, "log of completion latency [ns], as fio writes it"),
        ("any.log", rows, "log, as fio writes it"),
        ("trace.log", "0,0,read,4096,8192\n", ""),
    ):
        path = tmp_path / name
        path.write_text(text)
        code, out, err = cli("check", path)
        assert (code, out.startswith(f"{path}: {kind}, OK")) == ((0, True) if kind else (2, False)), out + err
        assert kind or "reads as no known format" in err


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


def test_a_drive_smaller_than_a_usual_request_is_a_drive(cli, tmp_path):
    # Six blocks of 512 B, 1 KiB of it for the host: the job that looks at it is nobody's mistake.
    path = tmp_path / "tiny.toml"
    path.write_text(
        'base = "tlc"\n[geometry]\nchannels = 1\npackages_per_channel = 1\ndies_per_package = 1\n'
        'planes_per_die = 1\nblocks_per_plane = 6\npages_per_block = 1\npage_size = "512B"\n'
        '[ftl]\nmapping_unit = "512B"\nfrontier_planes = 1\nover_provisioning = 1.5\n'
    )
    code, out, err = cli("check", path)
    assert (code, err) == (0, "")
    assert out.startswith(f"{path}: drive, OK")


def test_a_job_file_given_as_a_drive_is_told_to_be_one(cli, tmp_path):
    path = tmp_path / "job.fio"
    path.write_text("[a]\nrw=randread\nbs=4k\nsize=1m\n")
    code, _, err = cli("run", "--rw", "randread", "--drive", path)
    assert code == 2
    assert "is a job file, not a drive; `ninescope run" in err
    code, _, err = cli("run", "--rw", "randread", "--drive", "nosuch.fio")
    assert code == 2
    assert "no drive is named 'nosuch.fio'" in err
    assert "tlc" in err
    assert "varmail" not in err
    assert "tpcc" not in err
