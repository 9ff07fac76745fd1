"""Lakes: what one is, what writes it, and what is shown of the results in it."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

import ninescope
from ninescope.lab.sweep.lake import Lake
from ninescope.lab.sweep.plot import figure
from ninescope.lab.sweep.record import Record
from ninescope.lab.sweep.store import open_store
from ninescope.lab.sweep.sweep import Sweep
from sweep_samples import SMALL, csv, run_here, sweep_file


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ('{"format": "ninescope lake", "version": 2}', "version 2"),
        ('{"format": "something", "version": 1}', "not of a lake"),
        ("{", "not of a lake"),
        (None, "no lake"),
    ],
)
def test_what_is_no_lake_or_a_newer_one_is_refused(cli, tmp_path, mark, words):
    lake = tmp_path / "lake"
    lake.mkdir()
    if mark is not None:
        (lake / "lake.json").write_text(mark)
    verbs = [("table", lake), ("status", lake), ("sql", lake, "select 1")]
    verbs += [("resume", sweep_file(tmp_path), "--out", lake)]
    verbs += [("run", sweep_file(tmp_path), "--out", lake)] if mark is not None else []
    for verb in verbs:
        code, out, err = cli("sweep", *verb)
        assert (code, out) == (2, "")
        assert words in err
        assert str(lake) in err
    assert not (lake / "points").exists()


def test_a_lake_that_cannot_be_written_is_refused(cli, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = cli("sweep", "run", sweep_file(tmp_path), "--out", tmp_path / "file/lake")
    assert code == 2
    assert "cannot write" in err


def test_what_is_refused_leaves_nothing_behind(cli, tmp_path):
    small = sweep_file(tmp_path)
    wrong = sweep_file(tmp_path, SMALL.replace("[0.1, 0.2]", "[0.1, -3]"), "wrong.toml")
    for arguments in ((small, "--memory", "1MiB"), (wrong,), (small, "--dask", "nonsense")):
        assert cli("sweep", "run", *arguments, "--out", tmp_path / "out/lake").code == 2
        assert not (tmp_path / "out").exists()
    # A lake that is there has no sweep more.
    run_here(Sweep.from_toml(SMALL), tmp_path / "lake")
    before = sorted(path.name for path in (tmp_path / "lake").rglob("*"))
    larger = SMALL.replace('"small"', '"larger"').replace("0.2]", "0.3]")
    code, _, err = cli(
        "sweep", "run", sweep_file(tmp_path, larger), "--out", tmp_path / "lake", "--memory", "1MiB"
    )
    assert code == 2
    assert "4 of 4 points need more memory" in err
    assert sorted(path.name for path in (tmp_path / "lake").rglob("*")) == before


def test_a_lasting_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    store = open_store(tmp_path / "lake")
    seen = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: seen.append(("sync", os.fstat(file).st_size)) or sync(file))
    monkeypatch.setattr(os, "replace", lambda *names: seen.append(("rename", 0)) or replace(*names))
    store.write("points/a.json", b"whole")
    assert seen[:2] == [("sync", 5), ("rename", 0)]
    assert [what for what, _ in seen] == ["sync", "rename", "sync"]  # the folder's names last
    seen.clear()
    store.write("claims/a.json", b"whole", lasting=False)
    assert [what for what, _ in seen] == ["rename"]


def test_threads_may_write_one_file(tmp_path):
    store = open_store(tmp_path / "lake")
    contents = [bytes([index]) * 10_000 for index in range(8)]
    with ThreadPoolExecutor(8) as threads:
        for _ in range(20):
            list(threads.map(lambda content: store.write("sweeps/a.json", content), contents))
            assert store.read("sweeps/a.json") in contents
    assert store.names("sweeps") == ["a.json"]


def test_a_lake_at_a_url(sweep, undisturbed, tmp_path):
    pytest.importorskip("fsspec")
    url = f"memory://{tmp_path.name}"
    assert run_here(sweep, url).is_finished
    assert csv(url) == undisturbed
    assert run_here(sweep, url).run_now == 0
    assert sweep.status(url).is_finished


def test_a_url_that_is_none_is_refused(cli, tmp_path):
    pytest.importorskip("fsspec")
    for url, words in (("nonsense://there", "nonsense"), ("file:///tmp/x", "by its path")):
        code, _, err = cli("sweep", "run", sweep_file(tmp_path), "--out", url)
        assert code == 2
        assert words in err


def test_files_of_a_file_system_that_shows_halves_appear_whole(tmp_path, monkeypatch):
    pytest.importorskip("fsspec")
    from ninescope.lab.sweep.store import UrlStore

    monkeypatch.setattr(UrlStore, "_WHOLE", ())
    store = UrlStore(f"memory://{tmp_path.name}")
    store.write("points/a.json", b"whole")
    assert store.names("points") == ["a.json"]
    monkeypatch.setattr(type(store._files), "mv", lambda *_, **__: (_ for _ in ()).throw(OSError("no room")))
    with pytest.raises(ninescope.ConfigError, match=r"cannot write .*no room"):
        store.write("points/a.json", b"half")
    assert store.read("points/a.json") == b"whole"
    assert store.names("points") == ["a.json"]
    assert not store.exists("points/b.json")


# ---- looking at results -------------------------------------------------------------------------------


@pytest.fixture
def lake(sweep, tmp_path) -> Path:
    run_here(sweep, tmp_path / "lake")
    return tmp_path / "lake"


def test_tables_in_every_form(cli, lake, tmp_path):
    import polars as pl

    code, out, err = cli("sweep", "table", lake)
    assert (code, err) == (0, "")
    assert "WAF total" in out
    assert out.count("\n") == 10
    assert "it cannot be told whether their windows drift" in out
    columns = ("--columns", "waf_total,requests")
    assert (
        cli("sweep", "table", lake, *columns, "--csv").out.splitlines()[0].endswith("seed,waf_total,requests")
    )
    short = cli("sweep", "table", lake, "--columns", "waf,p99,read_mean,lifetime,seed", "--csv").out
    assert short.splitlines()[0].split(",")[3:] == [
        *["waf_total", "read_p99_ns", "write_p99_ns", "read_mean_ns", "lifetime_years"]
    ]
    rows = json.loads(cli("sweep", "table", lake, *columns, "--json").out)["rows"]
    assert rows[0] == {
        "ftl.over_provisioning": 0.1,
        "nand.read": "20us",
        "seed": 1,
        "waf_total": 1.0,
        "requests": 300,
    }
    assert cli("sweep", "table", lake, "--parquet", tmp_path / "t.parquet").code == 0
    assert pl.read_parquet(tmp_path / "t.parquet").height == 8
    code, _, err = cli("sweep", "table", lake, "--columns", "waf_totl")
    assert code == 2
    assert "did you mean 'waf_total'" in err
    code, _, err = cli("sweep", "table", lake, "--sweep", "smal")
    assert code == 2
    assert "did you mean 'small'" in err


def test_rows_without_results_are_there_and_said(cli, lake):
    points = sorted((lake / "points").iterdir())
    points[0].unlink()
    code, out, err = cli("sweep", "table", lake, "--csv")
    assert code == 0
    assert out.count("\n") == 9
    assert sum(",left," in line for line in out.splitlines()) == 1
    assert "1 of 8 rows have no result" in err


def test_sql_over_a_sweep_and_over_the_lake(cli, lake):
    query = 'select "nand.read", min(read_mean_ns) as least from sweep group by "nand.read" order by least'
    code, out, _ = cli("sweep", "sql", lake, query, "--csv")
    assert code == 0
    assert [line.partition(",")[0] for line in out.splitlines()] == ["nand.read", "20us", "60us"]
    assert json.loads(cli("sweep", "sql", lake, "select count(*) as n from points", "--json").out) == {
        "rows": [{"n": 8}]
    }
    assert cli("sweep", "sql", lake, "select count(*) as n from small", "--csv").out == "n\n8\n"
    code, _, err = cli("sweep", "sql", lake, "select * from nothing")
    assert code == 2
    assert "tables: points, small, sweep" in err
    for query, words in (
        ("select waf from sweep", "the column is 'waf_total'"),
        ("select waf_totl from sweep", "did you mean 'waf_total'"),
        ("drop table points", "that reads"),
        ("/* select */ delete from points", "that reads"),
        ("", "that reads"),
    ):
        code, out, err = cli("sweep", "sql", lake, query)
        assert (code, out) == (2, "")
        assert words in err
        assert err.count("\n") == 1
    for query in ("  (select 1 as a)", "with b as (select 1 as a) select * from b", "/* x */ SELECT 1 as a"):
        assert cli("sweep", "sql", lake, query, "--csv").out == "a\n1\n"


def test_plots_of_a_sweep(cli, lake, tmp_path):
    for form in ("png", "svg"):
        out = tmp_path / f"plot.{form}"
        code, _, err = cli("sweep", "plot", lake, "--x", "nand.read", "--y", "read_mean_ns", "--out", out)
        assert code == 0, err
        assert out.stat().st_size > 1000
    svg = (tmp_path / "plot.svg").read_text()
    cli("sweep", "plot", lake, "--x", "nand.read", "--y", "read_mean_ns", "--out", tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text() == svg
    cli("sweep", "plot", lake, "--x", "nand.read", "--y", "read_mean", "--out", tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text() == svg
    for options, words in (
        (("--x", "nand.raed", "--y", "waf_total"), "did you mean 'nand.read'"),
        (("--x", "nand.read", "--y", "wfa"), "did you mean 'waf'?"),
        (("--x", "nand.read", "--y", "p99"), "read_p99_ns or write_p99_ns"),
        (("--x", "nand.read", "--y", "suspensions", "--by", "sed"), "no axis"),
        (("--x", "nand.read", "--y", "hit_ratio"), "no result"),
    ):
        code, _, err = cli("sweep", "plot", lake, *options, "--out", tmp_path / "no.png")
        assert code == 2
        assert words in err
    assert not (tmp_path / "no.png").exists()


def test_a_figure_says_what_its_means_are_over_and_mixes_no_workloads(tmp_path):
    text = SMALL.replace("[workload]", "[[workload]]\nname = 'scan'\nrw = 'read'\nsize = '16m'\n[[workload]]")
    sweep = Sweep.from_toml(text)
    run_here(sweep, tmp_path / "lake")
    frame = sweep.table(tmp_path / "lake")
    record = Record.of(sweep.plan())
    axis, other = "ftl.over_provisioning", "nand.read"
    drawn = figure(frame, record, axis, "iops", by=other)
    assert [line.label for line in drawn.panels[0].series] == [
        f"{other} {read}, workload {name}" for name in ("scan", "randrw") for read in ("20us", "60us")
    ]
    untold = "Of 8 of 16 results it cannot be told whether their windows drift."
    assert drawn.caption == f"Mean of 2 seeds; bars from the least to the most. {untold}"
    drawn = figure(frame, record, axis, "iops", by="workload")
    assert [line.label for line in drawn.panels[0].series] == ["workload scan", "workload randrw"]
    assert drawn.caption == (
        f"Mean over the 2 values of {other} and 2 seeds; bars from the least to the most. {untold}"
    )
    part = frame.filter((pl.col("workload") == "scan") & (pl.col(axis) == 0.1))["iops"]
    assert part.len() == 4
    assert drawn.panels[0].series[0].y[0] == pytest.approx(part.mean())


def test_a_figure_has_a_line_for_each_value_and_the_spread_of_the_seeds(sweep, lake):
    from ninescope.lab.sweep.plot import figure
    from ninescope.lab.sweep.record import Record

    frame = sweep.table(lake)
    [panel] = figure(frame, Record.of(sweep.plan()), "nand.read", "read_mean_ns").panels
    assert [line.label for line in panel.series] == ["ftl.over_provisioning 0.1", "ftl.over_provisioning 0.2"]
    assert list(panel.series[0].x) == [20, 60]
    means = frame["read_mean_ns"].to_list()
    assert panel.series[0].y[0] == pytest.approx(sum(means[:2]) / 2e3)
    assert panel.series[0].low[0] == min(means[:2]) / 1e3


def tree(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_lake_shares_its_folder_with_no_result_and_no_comparison(cli, lake, tmp_path):
    before = tree(lake)
    for name in ("one", "other"):
        job = ("run", "--rw", "read", "--size", "1m", "--prefill", "none")
        assert cli(*job, "--out", tmp_path / name).code == 0
    compared = ("compare", tmp_path / "one", tmp_path / "other", "--out")
    assert cli(*compared, tmp_path / "both").code == 0
    result = ninescope.Result.load(tmp_path / "one")
    for words in ((*job, "--out", lake), (*compared, lake)):
        code, out, err = cli(*words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "is a lake of results (lake.json), which shares its folder with nothing else" in err
    with pytest.raises(ninescope.ConfigError, match="is a lake of results"):
        result.save(lake)
    assert tree(lake) == before

    for folder, words in (
        ("one", "the result of a run (result.json)"),
        ("both", "a comparison (comparison.json)"),
    ):
        before = tree(tmp_path / folder)
        code, out, err = cli("sweep", "run", sweep_file(tmp_path), "--out", tmp_path / folder)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert f"it holds {words}, and a lake of results shares its folder with nothing else" in err
        with pytest.raises(ninescope.ConfigError, match="shares its folder with nothing else"):
            Lake.open(tmp_path / folder, create=True)
        assert tree(tmp_path / folder) == before


def test_a_terminal_with_no_room_for_a_number_has_a_block_for_each_row(lake, monkeypatch, capsys):
    from rich.console import Console

    from ninescope.lab.sweep import record
    from ninescope.lab.sweep.text import print_table

    opened = Lake.open(lake)
    found = record.Record.load(opened)
    frame = record.table(opened, found)
    # Two axes and seeds take 37 letters, and the shortest number 8 more.
    print_table(frame, found, Console(force_terminal=True, width=44, color_system=None), chosen=False)
    blocks = capsys.readouterr().out.strip().split("\n\n")
    assert len(blocks) == frame.height
    for block, (space, read, seed) in zip(blocks, frame.select(found.columns).rows(), strict=True):
        cells = dict(line.rsplit("  ", 1) for line in block.splitlines() if "the same in all" not in line)
        cells = {name.strip(): value for name, value in cells.items()}
        assert (cells["ftl.over_provisioning"], cells["nand.read"]) == (str(space), read)
        assert cells["seed"] == str(seed)
        assert {"IOPS", "lifetime [years]"} <= cells.keys()
        assert max(map(len, block.splitlines())) <= 44
    # Where there is room for some numbers the others are left out, in words.
    print_table(frame, found, Console(force_terminal=True, width=64, color_system=None), chosen=False)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == frame.height + 2
    assert lines[-1].startswith("left out, for want of room: ")


def test_a_pipe_has_whole_rows_and_a_narrow_terminal_whole_cells(lake, monkeypatch, capsys):
    from rich.console import Console

    from ninescope.lab.sweep import record
    from ninescope.lab.sweep.text import print_frame, print_table

    opened = Lake.open(lake)
    found = record.Record.load(opened)
    frame = record.table(opened, found)
    piped = Console(force_terminal=False, width=20)
    print_frame(frame, piped)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 9
    for point, line in zip(frame["point"], lines[1:], strict=True):
        assert line.endswith(point)
        assert "…" not in line
    # Every column is as wide as what stands in it, so that all begin where their heads do.
    assert len({line.index("done") for line in lines[1:]}) == 1

    narrow = Console(force_terminal=True, width=60, color_system=None)
    two = frame.select("nand.read", "seed", "read_mean_ns", "point").head(2)
    print_frame(two, narrow)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "the same in all: nand.read = 20us"
    assert max(map(len, lines)) <= 60
    assert [line.split()[-1] for line in lines[-3:]] == ["point", *frame["point"].head(2)]
    ends = frame.select("nand.read", "seed", "read_mean_ns", "point")[[0, -1]]
    print_frame(ends, Console(force_terminal=True, width=48, color_system=None))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0].strip() for line in lines] == [
        *["nand.read", "seed", "read mean [us]", "point"],
        "",
        *["nand.read", "seed", "read mean [us]", "point"],
    ]
    assert lines[3].split()[-1] == frame["point"][0]

    print_table(frame, found, narrow, chosen=False)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines()[:-1])) <= 60
    shown = out.splitlines()[0]
    assert "iops" in shown.lower()
    assert out.splitlines()[-1].startswith("left out, for want of room: ")
    assert out.splitlines()[-1].endswith("lifetime_years")


def test_sweeps_from_python(tmp_path):
    sweep = ninescope.Sweep.from_toml(SMALL)
    assert len(sweep.plan().points) == 8
    with ThreadPoolExecutor(2) as executor:
        status = sweep.run(tmp_path / "lake", executor=executor)
    assert status.is_finished
    assert sweep.table(tmp_path / "lake").height == 8
    sides = ("nand.read=20us", "nand.read=60us")
    found = sweep.compare(tmp_path / "lake", *sides)
    assert (found.a, found.b, len(found.settings)) == (*sides, 2)
    assert sweep.sql(tmp_path / "lake", "select count(*) as n from sweep").item() == 8
    drawn = sweep.plot(tmp_path / "lake", tmp_path / "new" / "p.svg", x="nand.read", y="iops")
    assert drawn.read_text().startswith("<?xml")
    with pytest.raises(ninescope.ConfigError, match=r"p.gif: a figure is png, svg, pdf"):
        sweep.plot(tmp_path / "lake", tmp_path / "p.gif", x="nand.read", y="iops")
    with (
        pytest.raises(ninescope.ConfigError, match="executor has its own"),
        ThreadPoolExecutor(2) as executor,
    ):
        sweep.run(tmp_path / "lake2", executor=executor, jobs=2)
