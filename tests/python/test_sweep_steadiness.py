"""Tables, plots and comparisons of a sweep say which results were measured before they settled, and why."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

import compare_samples
from ninescope.lab.sweep.lake import Kept, Lake
from ninescope.lab.sweep.plot import figure
from ninescope.lab.sweep.point import current_build
from ninescope.lab.sweep.record import Record, table
from ninescope.lab.sweep.runner import described
from ninescope.lab.sweep.sweep import Sweep
from ninescope.pictures.drawing import picture
from sweep_samples import SMALL, run_here

VERDICTS = {
    (0.1, "20us", 1): "not-steady",
    (0.1, "20us", 2): "no-drift-shown",
    (0.1, "60us", 1): "no-drift-shown",
    (0.1, "60us", 2): "no-drift-shown",
    (0.2, "20us", 1): "cannot-be-told",
    (0.2, "20us", 2): "cannot-be-told",
    (0.2, "60us", 1): None,
    (0.2, "60us", 2): None,
}
"""By spare flash, read time and seed; None programmed nothing."""
NOTE = "1 of 8 results is not steady, its window drifts; of 2 it cannot be told"


DRIFT, FREE, BOTH = ["drift"], ["free-blocks"], ["free-blocks", "drift"]


def made_up(
    folder: Path,
    verdicts: dict[tuple[float, str, int], str | None] = VERDICTS,
    reasons: Sequence[Sequence[str]] = (),
) -> Path:
    """A lake of results of which nothing is known but whether they had settled, and a WAF.

    With `reasons` as many of them as there are of these are not steady, for these.
    """
    verdicts = verdicts | dict.fromkeys(list(verdicts)[: len(reasons)], "not-steady")
    why = dict(zip(verdicts, reasons, strict=False))
    plan = Sweep.from_toml(SMALL).plan()
    lake = Lake.open(folder, create=True)
    Record.of(plan).save(lake)
    for row in plan.rows:
        values = dict(zip(plan.columns, row.values, strict=True))
        place = values["ftl.over_provisioning"], values["nand.read"], values["seed"]
        verdict, reason = verdicts[place], why.get(place, ())
        told = {"steadiness": {"verdict": verdict, "words": "", "reasons": reason}} if verdict else {}
        made = compare_samples.document(values["seed"], waf={"total": 2.0}, **told)
        waf = {"waf_total": 2.0, "iops": 1_000.0}
        what = described(row.point)
        lake.put(Kept(row.point.id, row.point.design, current_build(), what, made, waf))
    return folder


@pytest.fixture
def lake(tmp_path) -> Path:
    return made_up(tmp_path / "lake")


def test_a_table_has_the_verdict_of_each_result(cli, lake, tmp_path):
    shown = cli("sweep", "table", lake)
    assert shown.code == 0
    assert "steadiness" in shown.out.splitlines()[0]
    assert sum("not-steady" in line for line in shown.out.splitlines()) == 1
    assert shown.out.splitlines()[-1] == f"note: {NOTE}"
    code, out, err = cli("sweep", "table", lake, "--json")
    assert (code, err) == (0, f"ninescope: {NOTE}\n")
    rows = json.loads(out)["rows"]
    assert {
        (row["ftl.over_provisioning"], row["nand.read"], row["seed"]): row["steadiness"] for row in rows
    } == VERDICTS
    assert cli("sweep", "table", lake, "--parquet", tmp_path / "t.parquet").code == 0
    assert pl.read_parquet(tmp_path / "t.parquet")["steadiness"].null_count() == 2


@pytest.mark.parametrize("name", ["steadiness", "steady", "steady_state"])
def test_the_verdict_is_a_column_by_any_of_its_names(cli, lake, name):
    out = cli("sweep", "table", lake, "--columns", f"waf,{name}", "--csv").out
    assert out.splitlines()[0].endswith("seed,waf_total,steadiness")
    kept = cli("sweep", "table", lake, "--where", f"{name}=not-steady", "--csv", "--columns", "waf").out
    assert kept.splitlines()[1:] == ["0.1,20us,1,2.0"]
    either = f'{name} == "not-steady" or {name} == "cannot-be-told"'
    assert cli("sweep", "table", lake, "--where", either, "--csv").out.count("\n") == 4
    code, _, err = cli("sweep", "plot", lake, "--x", "nand.read", "--y", name)
    assert code == 2
    assert "tables have it as the column steadiness" in err


def test_a_table_of_chosen_columns_says_it_too(cli, lake):
    lines = cli("sweep", "table", lake, "--columns", "waf").out.splitlines()
    assert lines[-1] == f"note: {NOTE}"
    assert lines[0].endswith("steadiness")
    assert sum("not-steady" in line for line in lines) == 1
    twice = cli("sweep", "table", lake, "--columns", "steady,waf").out.splitlines()[0]
    assert twice.count("steadiness") == 1
    assert cli("sweep", "table", lake, "--columns", "waf", "--csv").err == f"ninescope: {NOTE}\n"


def test_where_nothing_drifts_nothing_is_said(cli, tmp_path):
    lake = made_up(tmp_path / "calm", dict.fromkeys(VERDICTS, "no-drift-shown"))
    out = cli("sweep", "table", lake).out
    assert "stead" not in out
    assert cli("sweep", "table", lake, "--json").err == ""


def test_where_it_cannot_be_told_that_is_said(cli, tmp_path):
    # Of a sweep of short runs nothing was said at all.
    lake = made_up(tmp_path / "short", dict.fromkeys(VERDICTS, "cannot-be-told"))
    note = "of 8 of 8 results it cannot be told whether their windows drift"
    assert cli("sweep", "table", lake).out.splitlines()[-1] == f"note: {note}"
    assert cli("sweep", "table", lake, "--csv").err == f"ninescope: {note}\n"
    opened = Lake.open(lake)
    drawn = figure(table(opened, Record.load(opened)), Record.load(opened), "nand.read", "waf")
    assert drawn.caption.endswith(f"O{note[1:]}.")
    assert not any(any(series.hollow) for series in drawn.panels[0].series)
    arguments = ("--x", "nand.read", "--y", "waf", "--out", tmp_path / "waf.svg")
    assert cli("sweep", "plot", lake, *arguments).out.splitlines()[-1] == f"O{note[1:]}."
    out = cli("sweep", "compare", lake, "nand.read=20us", "nand.read=60us").out
    assert "of A and B it cannot be told whether the measured window drifts" in " ".join(out.split())


def test_one_result_is_not_several(cli, lake):
    where = ("--where", "nand.read=20us", "--where", "ftl.over_provisioning=0.1", "--where", "seed=1")
    assert cli("sweep", "table", lake, *where).out.splitlines()[-1] == (
        "note: 1 of 1 result is not steady, its window drifts"
    )


@pytest.mark.parametrize(
    ("reasons", "note"),
    [
        ([DRIFT] * 8, "8 of 8 results are not steady, their windows drift"),
        ([FREE] * 8, "8 of 8 results are not steady, their drives live on blocks that were free"),
        (
            [BOTH] * 2,
            "2 of 8 results are not steady, their drives live on blocks that were free and their windows "
            "drift",
        ),
        (
            [FREE, DRIFT, BOTH, FREE],
            "4 of 8 results are not steady: in 2 the window drifts, in 3 the drive lives on blocks that were "
            "free (in 1 of them both)",
        ),
        ([["emptied-blocks"]], "1 of 8 results is not steady, its drive empties blocks"),
        ([["read-only"]] * 2, "2 of 8 results are not steady, their drives became read-only"),
    ],
)
def test_what_holds_is_said_of_why_results_are_not_steady(cli, tmp_path, reasons, note):
    # Windows without any drift were said to drift: of drives that lived on free blocks, at a WAF of 1.
    calm = dict.fromkeys(VERDICTS, "no-drift-shown")
    lake = made_up(tmp_path / "lake", calm, reasons)
    assert cli("sweep", "table", lake).out.splitlines()[-1] == f"note: {note}"
    assert cli("sweep", "table", lake, "--csv").err == f"ninescope: {note}\n"
    arguments = ("--x", "nand.read", "--y", "waf", "--out", tmp_path / "waf.svg")
    assert cli("sweep", "plot", lake, *arguments).out.splitlines()[-1] == f"Hollow: {note}."
    opened = Lake.open(lake)
    frame = table(opened, Record.load(opened))
    told = [" and ".join(reason) for reason in reasons]
    assert frame["steadiness_reasons"].to_list() == told + [None] * (8 - len(told))
    assert figure(frame, Record.load(opened), "nand.read", "waf").caption.endswith(f"Hollow: {note}.")
    kept = cli(
        "sweep", "table", lake, "--where", "steadiness_reasons=free-blocks", "--csv", "--columns", "waf"
    )
    if FREE in reasons:
        assert kept.out.count("\n") == 1 + reasons.count(FREE)


def test_a_comparison_says_for_each_side_why_it_is_not_steady(cli, tmp_path):
    lake = made_up(tmp_path / "lake", dict.fromkeys(VERDICTS, "no-drift-shown"), [FREE, BOTH, DRIFT])
    out = " ".join(cli("sweep", "compare", lake, "nand.read=20us", "nand.read=60us").out.split())
    assert (
        "A is not steady: in 2 of its 2 runs the drive lives on blocks that were free, and its numbers hold "
        "while these last" in out
    )
    assert "A is not steady: in 1 of its 2 runs the measured window drifts, and its numbers with it" in out
    assert "B is not steady: in 1 of its 2 runs the measured window drifts, and its numbers with it" in out
    assert "B is not steady: in 1 of its 2 runs the drive" not in out


def test_sql_knows_the_verdict(cli, lake):
    query = "select count(*) as n from points where steadiness = 'not-steady'"
    assert cli("sweep", "sql", lake, query, "--csv").out == "n\n1\n"


def test_a_mean_over_a_result_that_drifts_has_a_hollow_marker(cli, lake, tmp_path):
    opened = Lake.open(lake)
    record = Record.load(opened)
    drawn = figure(table(opened, record), record, "ftl.over_provisioning", "waf")
    marked = {series.label: list(series.hollow) for series in drawn.panels[0].series}
    assert marked == {"nand.read 20us": [True, False], "nand.read 60us": []}
    assert f"Hollow: {NOTE}." in drawn.caption
    [axes] = picture(drawn).axes
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
    assert [line.get_xdata().tolist() for line in hollow] == [[0.1]]
    assert [text.get_text() for text in picture(drawn).legends[0].get_texts()][-1] == "not steady"
    arguments = ("--x", "nand.read", "--y", "waf", "--out", tmp_path / "waf.svg")
    assert f"Hollow: {NOTE}." in cli("sweep", "plot", lake, *arguments).out


def test_a_figure_of_settled_results_has_no_words_on_it(tmp_path):
    lake = Lake.open(made_up(tmp_path / "calm", dict.fromkeys(VERDICTS, "no-drift-shown")))
    record = Record.load(lake)
    drawn = figure(table(lake, record), record, "ftl.over_provisioning", "waf")
    assert "teady" not in drawn.caption
    assert not any(any(series.hollow) for series in drawn.panels[0].series)
    assert [text.get_text() for text in picture(drawn).legends[0].get_texts()] == [
        "nand.read 20us",
        "nand.read 60us",
    ]


def test_a_comparison_names_the_side_that_drifts(cli, lake):
    out = cli("sweep", "compare", lake, "nand.read=20us", "nand.read=60us").out
    assert "in 1 settings: A is not steady: in 1 of its 2 runs the measured window drifts" in " ".join(
        out.split()
    )
    assert "B is not steady" not in out
    sides = ("nand.read=20us,ftl.over_provisioning=0.2", "nand.read=60us,ftl.over_provisioning=0.2")
    assert "not steady" not in cli("sweep", "compare", lake, *sides).out


def test_the_verdict_of_a_real_run_is_in_the_table(tmp_path):
    # Nothing has to be moved on an empty drive: it lives on blocks that are free.
    text = SMALL.replace("requests = 300", 'requests = 4_000\nprefill = "none"').replace("seeds = 2", "")
    sweep = Sweep.from_toml(text.replace('"randrw"', '"randwrite"'))
    run_here(sweep, tmp_path / "lake")
    frame = sweep.table(tmp_path / "lake")
    assert set(frame["steadiness"]) == {"not-steady"}
    assert set(frame["steadiness_reasons"]) == {"free-blocks"}
