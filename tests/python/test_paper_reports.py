"""What is published beside what was measured, what a run leaves behind, and what claims hang on."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import NATIVE, ROOT
from ninescope._native import ConfigError
from ninescope.figures import Axis, Figure, Panel, Series
from ninescope.lab.build import WITHOUT_PART
from ninescope.papers import document, record, sensitivity
from ninescope.papers.experiment import Inferred, Settings, Table
from ninescope.papers.judge import HOLDS, NOT_JUDGED, NOT_REPRODUCED, TOO_SHORT
from ninescope.papers.published import load_published
from ninescope.papers.sensitivity import Finding, Outcome, Swing
from ninescope.report.document import Claims, Facts, FigureBlock, Source, TableBlock
from test_papers import PUBLISHED, change, experiments

__all__ = ["experiments"]

FIGURE = Figure(
    "figure-1",
    "Mean latency",
    [
        Panel(
            "means",
            Axis(categories=["read", "write"]),
            Axis("us"),
            [Series("mean", [0, 1], [50, 200], "bars")],
        )
    ],
)


CONFIGURATION = """def configuration(settings):
    return {"What is set": f"quick = {str(settings.quick).lower()}\\n"}

def figures("""


# ---- what is published -------------------------------------------------------------------------------


def load(tmp_path: Path, text: str) -> Any:
    path = tmp_path / "published.toml"
    path.write_text(text)
    return load_published(path)


def test_published_series_and_cells_stand_beside_ours(tmp_path):
    published = load(tmp_path, PUBLISHED)
    [figure] = published.on([FIGURE])
    assert FIGURE.panels[0].series == [Series("mean", [0, 1], [50, 200], "bars")]
    ours, theirs = figure.panels[0].series
    assert not ours.published
    assert theirs == Series("paper", [0], [60], "points", published=True, source="section 1")
    table = Table("Mean latency", ["operation", "us"], [["read", 50.0], ["write", 200.0]])
    assert published.table("Mean latency").beside(table) == [["", "60 us"], ["", ""]]
    assert published.table("another") is None


def test_a_paper_may_have_published_no_numbers(tmp_path):
    assert load_published(tmp_path / "published.toml").on([FIGURE]) == [FIGURE]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('figure = "figure-1"', 'figure = "figure-2"', "no figure 'figure-2'; did you mean 'figure-1'?"),
        ('panel = "means"', 'panel = "mean"', "no panel 'mean'"),
        ('x = ["read"]', 'x = ["reads"]', "'reads' is no category; did you mean 'read'?"),
        ('x = ["read"]', "x = [1, 2]", "series[0].y"),
        ("x = ", "ex = ", "series[0].ex: is not a key here"),
        ('label = "paper"\n', "", "series[0].label: is missing"),
        ('source = "section 1"\n\n', 'source = "s"\nform = "cake"\n\n', "'cake' is none of line, points"),
        ('rows = [["read", "60 us"]]', 'rows = [["read"]]', "rows[0]: 1 cells, and there are 2 columns"),
        ("[[series]]", "[[serie]]", "serie: is not a key here; did you mean 'series'?"),
        ("[[series]]", "[[series", "published.toml"),
    ],
)
def test_a_bad_file_of_published_values_is_named(tmp_path, before, after, words):
    assert before in PUBLISHED
    with pytest.raises(ConfigError) as error:
        load(tmp_path, PUBLISHED.replace(before, after)).on([FIGURE])
    assert words in str(error.value)
    assert "published.toml" in str(error.value)


def test_a_published_series_may_be_about_a_measured_one(tmp_path):
    text = PUBLISHED.replace('label = "paper"', 'label = "paper"\nof = "mean"')
    [figure] = load(tmp_path, text).on([FIGURE])
    assert figure.panels[0].series[1].of == "mean"
    with pytest.raises(ConfigError, match=r"there is no series 'men'; did you mean 'mean'\?"):
        load(tmp_path, text.replace('of = "mean"', 'of = "men"')).on([FIGURE])


# ---- what a report says of claims --------------------------------------------------------------------


def stored_claim(*checks: dict[str, Any], **words: Any) -> dict[str, Any]:
    given = {"id": "1.1", "verdict": HOLDS, "grade": "ordering", "explanation": "", "cause": ""}
    return {**given, "checks": list(checks), "needed": len(checks), **words}


def bound(name: str, value: str, verdict: str = HOLDS) -> dict[str, Any]:
    return {"text": name, "paths": [name], "of": "", "names": [name], "measured": [value], "verdict": verdict}


def test_measured_values_have_names_and_equal_ones_stay_apart():
    assert document.measured_words(stored_claim(bound("a", "0 us"), bound("b", "0 us"))) == "a: 0 us, b: 0 us"
    order = {
        "text": "IOPS: x < y",
        "paths": ["i/x", "i/y"],
        "of": "IOPS",
        "names": ["x", "y"],
        "measured": ["1", "2"],
        "verdict": HOLDS,
    }
    other = {**order, "paths": ["i/x", "i/z"], "names": ["x", "z"], "measured": ["1", "3"]}
    found = document.measured_words(stored_claim(order, other, bound("b", "yes")))
    assert found == "IOPS: x 1, y 2, z 3; b: yes"
    # The record of an earlier version names none of them.
    old = {"text": "a <= 1", "measured": ["0.5"], "verdict": HOLDS}
    assert document.measured_words(stored_claim(old)) == "0.5"


def test_many_values_are_counted():
    checks = [bound(name, "1", HOLDS if name < "f" else NOT_REPRODUCED) for name in "abcdefgh"]
    assert document.measured_words(stored_claim(*checks)) == "5 of 8 checks hold"
    assert document.measured_words(stored_claim(*checks, needed=7)) == "5 of 8 checks hold, 7 have to"


def test_a_remark_fits_the_verdict_and_the_run():
    assert document.remark(stored_claim(note="by a hair")) == "by a hair"
    lost = {"verdict": NOT_REPRODUCED, "cause": "wanted 1, measured 2. why", "note": "by a hair"}
    assert document.remark(stored_claim(explanation="why", **lost)) == "why"
    # A quick run measured something else than what the explanation is about.
    assert document.remark(stored_claim(explanation="Of the full run: why", **lost)) == lost["cause"]
    assert document.remark(stored_claim(**lost)) == lost["cause"]


def test_verdicts_of_short_runs_that_differ_are_named():
    claims = [stored_claim(), stored_claim(id="1.2")]
    swings = {"claims": [{"id": "1.1", "chosen": {"verdict": HOLDS}}]}
    assert document.differing_words(claims, swings) == ""
    swings["claims"].append({"id": "1.2", "chosen": {"verdict": NOT_REPRODUCED}})
    assert "1.2 (not reproduced there, holds above)" in document.differing_words(claims, swings)


def test_titles_have_their_number_in_the_paper_behind_them():
    named = Figure("figure-3", "Figure 3: classes", [])
    assert record.figure_title(named) == "Classes (figure 3 of the paper)"
    assert record.figure_title(Figure("tails", "p99 of reads", [])) == "p99 of reads"
    assert record.table_title("Table 1: the best") == "The best (table 1 of the paper)"
    assert record.table_title("What was drawn") == "What was drawn"


# ---- what a run leaves behind ------------------------------------------------------------------------


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_a_report_is_made_of_what_a_run_left_behind(cli, experiments, tmp_path):
    out = tmp_path / "out"
    assert cli("papers", "run", "900", "--out", out, "--experiments", experiments).code == 0
    stored = record.read(out)
    assert [run[0] for run in stored["runs"]] == ["randread", "randwrite"]
    assert stored["digest"] == record.read(out)["digest"]
    assert record.figure(stored["figures"][0]).panels[0].series[1].published
    found = document.of_folder(out)
    [claims] = [block for block in found.blocks() if isinstance(block, Claims)]
    assert [(claim.id, claim.verdict) for claim in claims.claims] == [
        ("9.1", HOLDS),
        ("9.2", HOLDS),
        ("9.3", NOT_REPRODUCED),
        ("9.4", NOT_JUDGED),
    ]
    assert [block.figure.name for block in found.blocks() if isinstance(block, FigureBlock)] == ["figure-1"]
    [table] = [
        block for block in found.blocks() if isinstance(block, TableBlock) and block.title == "Mean latency"
    ]
    assert table.rows[0][1].published == "60 us"  # type: ignore[union-attr]
    text = (out / "report.html").read_text()
    for words in ("nothing is free", "A drive made for tests", stored["digest"], stored["manifest"]["build"]):
        assert words in text
    # Kept points come to the same report, byte for byte.
    assert cli("papers", "run", "900", "--out", out, "--experiments", experiments).code == 0
    assert (out / "report.html").read_text() == text


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_all_papers_have_one_report(cli, experiments, tmp_path):
    change(experiments, 'grade = "ordering"', 'grade = "ordering"\norigin = "ours"')
    change(experiments, "max = 0", 'max = 0\nlabel = "writes"\nunit = "us"')
    (experiments / "900-test/drive.toml").write_text('summary = "made for tests"\n')
    change(experiments, "def figures(", CONFIGURATION, "findings.py")
    out = tmp_path / "out"
    assert cli("papers", "run", "all", "--out", out, "--experiments", experiments).code == 0
    found = document.of_folder(out)
    assert [section.id for section in found.sections] == ["summary", "paper-900"]
    text = (out / "report.html").read_text()
    assert text.count("<h1") == 1
    tables = {block.title: block for block in found.blocks() if isinstance(block, TableBlock)}
    # Claims, those that hold, the predicted of them, those that are not reproduced, those not judged.
    assert [row[2:7] for row in tables["By paper"].rows] == [
        ["3", "1", "1", "1", "1"],
        ["3", "1", "1", "1", "1"],
        ["1", "1", "0", "0", "0"],
    ]
    assert [row[-1] for row in tables["By paper"].rows] == ["not examined", "not examined", ""]
    assert ("of our own", "1 of 1 hold") in next(
        block for block in found.lead if isinstance(block, Facts)
    ).rows
    measured = {row[0].text: row[3] for row in tables["All claims"].rows}  # type: ignore[union-attr]
    assert str(measured["9.3"]).startswith("writes: ")
    assert str(measured["9.3"]).endswith(" us")
    # Each claim can be gone to, and what was simulated is there.
    assert text.count('id="claim-9.') == text.count('href="#claim-9.') == 4
    sources = {block.title: block.text for block in found.blocks() if isinstance(block, Source)}
    assert sources == {"drive.toml": 'summary = "made for tests"\n', "What is set": "quick = true\n"}
    [told] = [block for title, block in tables.items() if title == "What each simulation is told"]
    assert told.rows == [["randread", "rw: randread"], ["randwrite", "rw: randwrite"]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no JSON"),
        ("[]", "is not what"),
        ('{"claims": [], "paper": {}, "format": 99}', "is of format 99"),
    ],
)
def test_a_foreign_record_is_named(tmp_path, text, words):
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(ConfigError) as error:
        document.of_folder(tmp_path)
    assert words in str(error.value)
    assert "report.json" in str(error.value)


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_what_simulates_loads_nothing_that_has_no_part_in_its_name(tmp_path):
    """Or a change of it would have to make kept results invalid, and does not."""
    program = f"""
import sys
from ninescope.papers import runner
from ninescope.papers.experiment import Settings
from pathlib import Path
experiment = runner.load(Path({str(ROOT)!r}, "experiments/004-multi-scm/experiment.py"))
settings = Settings(length=0.01, brief=True)
point = min(experiment.points(settings), key=lambda point: point.weight)
experiment.simulate(point, settings)
print(*sorted(name for name in sys.modules if name.startswith("ninescope.")))
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = [name.removeprefix("ninescope.").replace(".", "/") for name in found.stdout.split()]
    # What carries and keeps results, and data classes that findings are made of.
    allowed = ("figures", "lab/build", "lab/pool", "papers/points", "papers/runner")
    others = [name.removesuffix(".py") for name in WITHOUT_PART]
    below = [name for name in loaded if any(name.startswith(f"{part}/") for part in others)]
    files = [name for name in loaded if name in others and f"{name}.py" in WITHOUT_PART]
    assert not [name for name in [*below, *files] if not name.startswith(allowed)]
    assert "papers/stand_ins" in loaded


# ---- sensitivity -------------------------------------------------------------------------------------


def swing(*verdicts: str, values: tuple[float | None, ...] = (1.0, 1.0), chosen: str = HOLDS) -> Swing:
    outcomes = {
        factor: Outcome(verdict, {"a": value})
        for factor, verdict, value in zip((0.5, 1.5), verdicts, values, strict=True)
    }
    return Swing("x", outcomes, Outcome(chosen, {"a": 1.0}))


def finding(*swings: Swing) -> Finding:
    return Finding("1.1", "a claim", swings[0].chosen, swings)


def test_a_claim_that_holds_for_one_value_alone_is_fragile():
    lucky = swing(NOT_REPRODUCED, NOT_REPRODUCED)
    assert finding(lucky).fragile == ["x"]
    assert finding(lucky).words.startswith("fragile: holds for the chosen x alone")
    for steady in (swing(HOLDS, HOLDS), swing(HOLDS, NOT_REPRODUCED), swing(NOT_REPRODUCED, NOT_JUDGED)):
        assert not finding(steady).fragile
    assert not finding(swing(NOT_REPRODUCED, NOT_REPRODUCED, chosen=NOT_REPRODUCED)).fragile
    # What else it does not bear is not lost.
    other = dataclasses.replace(swing(HOLDS, NOT_REPRODUCED), parameter="y")
    assert "alone; nor does it hold with y +50%;" in finding(lucky, other).words


def test_a_claim_that_a_full_run_does_not_reproduce_is_fragile_in_short_runs_alone():
    swings = {"claims": [{"id": "1.1", "fragile": ["x"]}, {"id": "1.2", "fragile": ["x"]}]}
    found = {"claims": [{"id": "1.1", "verdict": HOLDS}, {"id": "1.2", "verdict": NOT_REPRODUCED}]}
    assert document.fragile_claims(found, swings) == (["1.1"], ["1.2"])
    assert document.fragile_words(found, swings) == "1.1; 1.2 (where they hold: in short runs)"
    assert document.fragile_words(found, {"claims": []}) == "none"


def test_what_moves_a_claim_is_named_with_how_much():
    assert "moved by x (40%)" in finding(swing(HOLDS, HOLDS, values=(0.9, 1.4))).words
    assert (
        finding(swing(HOLDS, HOLDS, values=(0.99, 1.01))).words == "holds throughout; moved by none of them"
    )
    assert "moved by x (manifold)" in finding(swing(HOLDS, HOLDS, values=(1.0, 40.0))).words
    one_side = finding(swing(HOLDS, NOT_REPRODUCED, values=(1.0, 3.0)))
    assert one_side.words == "does not hold with x +50%; moved by x (200%)"
    missing = swing(HOLDS, HOLDS, values=(None, 1.0))
    assert missing.change == 0
    won = finding(swing(NOT_REPRODUCED, HOLDS, chosen=NOT_REPRODUCED))
    assert won.words.startswith("would hold with x +50%")
    assert finding(swing(*2 * [NOT_REPRODUCED], chosen=NOT_REPRODUCED)).words.startswith("holds with none")
    assert finding(swing(*2 * [TOO_SHORT], chosen=TOO_SHORT)).words.startswith("not judged by runs as short")


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_varying_finds_what_matters(cli, experiments, tmp_path):
    change(experiments, 'grade = "exact"', 'grade = "quantitative"')
    out = tmp_path / "out"
    arguments = ("papers", "sensitivity", "900", "--out", out, "--experiments", experiments)
    code, printed, err = cli(*arguments)
    assert code == 0, err
    assert not (out / "report.html").exists()
    stored = json.loads((out / "sensitivity.json").read_text())
    claims = {claim["id"]: claim for claim in stored["claims"]}
    assert list(claims) == ["9.1", "9.3", "9.4"]
    # A read of 25 us is measured as some 30: half of the first, and half as much again, move it.
    read, moon = claims["9.1"]["varied"]
    assert read["change"] > 0.3
    assert moon["change"] == 0
    assert "moved by nand.read" in claims["9.1"]["words"]
    assert "9.1  holds" in printed
    # The same command does nothing again, and claims bring the report about.
    assert "(kept)" in cli(*arguments).err
    assert cli("papers", "run", "900", "--out", out, "--experiments", experiments).code == 0
    assert "Verdicts with values varied" in (out / "report.html").read_text()
    document_of_json = json.loads(cli(*arguments[:3], "--json", "--experiments", experiments).out)
    assert document_of_json["papers"] == [stored]
    # Where all papers have been run, one alone goes on in its own folder.
    (out / "900").mkdir()
    assert cli(*arguments).code == 0
    assert json.loads((out / "900" / "sensitivity.json").read_text()) == stored


def test_an_experiment_that_infers_nothing_cannot_be_varied(cli, experiments):
    change(experiments, "INFERRED = (", "INFERRED = () and (", "experiment.py")
    code, _, err = cli("papers", "sensitivity", "900", "--experiments", experiments)
    assert code == 2
    assert "INFERRED" in err


def test_a_value_is_varied_where_it_is_asked_for():
    settings = Settings(varied="a", factor=1.5, length=0.1)
    assert (settings.varying("a", 10), settings.varying("b", 10)) == (15, 10)
    assert (settings.requests(100), settings.requests(1)) == (10, 1)
    assert Inferred("a", "10", "chosen").name == "a"
    assert sensitivity.FACTORS == (0.5, 1.5)
