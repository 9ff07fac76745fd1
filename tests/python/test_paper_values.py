"""What of a paper's configuration is published, and what inferred values were chosen by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import NATIVE, ROOT
from ninescope import ConfigError, toml
from ninescope.papers import catalogue
from ninescope.papers.claims import Bound, Claim, Claims
from ninescope.papers.experiment import Inferred
from ninescope.papers.marks import load_marks
from ninescope.papers.values import load_values

CLAIMS = Claims(
    "900",
    "A drive",
    "Nobody",
    tuple(
        Claim(name, "so", "quantitative", 1, "here", (Bound("a", 1, 2),)) for name in ("9.1", "9.2", "9.3")
    ),
)
INFERRED = (Inferred("dies", "8", "chosen"), Inferred("nand.read", "40 us", "customary"))
GOOD = """
[[published]]
value = "page"
is = "16 KiB"
source = "table 1"

[[calibrated]]
value = "dies"
figure = "the peak of figure 2"
claims = ["9.1"]
how = "of 4, 8 and 16 the one nearest to it"

[[calibrated]]
rule = "reads go first"
figure = "figure 3"
claims = ["9.1", "9.3"]
"""


def loaded(tmp_path: Path, text: str):
    file = tmp_path / "values.toml"
    file.write_text(text)
    return load_values(file, CLAIMS, INFERRED)


def test_a_claim_that_something_was_chosen_by_is_calibrated_and_every_other_is_predicted(tmp_path):
    values = loaded(tmp_path, GOOD)
    assert [values.mark(claim.id) for claim in CLAIMS.claims] == ["calibrated", "predicted", "calibrated"]
    assert values.calibrated_on("dies") == "the peak of figure 2 (claim 9.1)"
    assert values.calibrated_on("nand.read") == ""
    assert [(one.of, one.words) for one in values.rules] == [("reads go first", "figure 3 (claims 9.1, 9.3)")]
    assert [(one.name, one.value) for one in values.published] == [("page", "16 KiB")]


@pytest.mark.parametrize(
    ("find", "replace", "line", "words"),
    [
        (
            'value = "dies"',
            'value = "dyes"',
            8,
            "nothing of this name is inferred: 'dyes'; did you mean 'dies'?",
        ),
        ('claims = ["9.1"]', 'claims = ["9.11"]', 10, "there is no claim '9.11'; did you mean '9.1'?"),
        ('claims = ["9.1", "9.3"]', "", 13, "claims: is missing"),
        ('figure = "figure 3"', "figure = 3", 15, "figure: must be a text"),
        ('rule = "reads go first"', "", 13, "either value or rule"),
        ('rule = "reads go first"', 'rule = "a"\nvalue = "dies"', 14, "either value or rule"),
        ('is = "16 KiB"', 'as = "16 KiB"', 4, "published[0].as: is not a key here; did you mean 'is'?"),
        ('source = "table 1"', "", 2, "published[0].source: is missing"),
        ("[[published]]", "[published]", 2, "published: must be tables, [[published]]"),
    ],
)
def test_what_is_wrong_is_named_by_file_line_and_key(tmp_path, find, replace, line, words):
    text = GOOD.replace(find, replace)
    assert text != GOOD
    with pytest.raises(ConfigError) as error:
        loaded(tmp_path, text)
    assert words in str(error.value)
    assert f"values.toml, line {line}:" in str(error.value)


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_each_paper_says_what_is_published_and_what_it_was_calibrated_on():
    for paper in catalogue.papers(ROOT / "experiments"):
        values = paper.values()
        assert values.published, paper.id
        assert values.calibrations, paper.id
        marks = {values.mark(claim.id) for claim in paper.claims().claims}
        assert "predicted" in marks, paper.id


def test_lines_are_found_in_nested_tables():
    text = "[[a]]\nx = 1\n[[a.b]]\ny = 1\n[[a]]\n[[a.b]]\n[[a.b]]\ny = 2\n[c]\nx = 3\n"
    assert toml.line_of(text, "a[0]", "x") == 2
    assert toml.line_of(text, "a[0].b[0]", "y") == 4
    assert toml.line_of(text, "a[1].b[1]", "y") == 8
    assert toml.line_of(text, "c", "x") == 10
    # Without the key the table is named, without the table nothing.
    assert toml.line_of(text, "a[1].b[0]", "y") == 6
    assert toml.line_of(text, "a[7]", "y") == 0


MARKS = """
"9.1" = { mark = "calibrated", because = "dies were chosen by it" }
"9.2" = { mark = "predicted", because = "nothing was" }
"9.3" = { mark = "calibrated", because = "reads go first by it" }
"""


@pytest.mark.parametrize(
    ("find", "replace", "words"),
    [
        ("", "", ""),
        (
            '"9.2" = { mark = "predicted"',
            '"9.2" = { mark = "calibrated"',
            "line 3: 9.2.mark: is 'calibrated'",
        ),
        ('"9.3"', '"9.33"', "there is no published claim '9.33'; did you mean '9.3'?"),
        ('"9.3" = { mark = "calibrated", because = "reads go first by it" }', "", "9.3: is missing"),
        ("mark =", "marks =", "line 2: 9.1: must be a table of mark and because"),
        ('"nothing was"', '""', "line 3: 9.2.because: must be a text"),
    ],
)
def test_each_claim_has_a_reason_for_its_mark_and_it_is_the_mark_it_has(tmp_path, find, replace, words):
    file = tmp_path / "marks.toml"
    file.write_text(MARKS.replace(find, replace, 1))
    values = loaded(tmp_path, GOOD)
    if not words:
        assert load_marks(file, CLAIMS, values)["9.2"] == "nothing was"
        assert load_marks(tmp_path / "none.toml", CLAIMS, values) == {}
        return
    with pytest.raises(ConfigError) as error:
        load_marks(file, CLAIMS, values)
    assert words in str(error.value)


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_each_published_claim_of_each_paper_says_why_it_has_its_mark():
    for paper in catalogue.papers(ROOT / "experiments"):
        published = [claim.id for claim in paper.claims().claims if claim.origin != "ours"]
        assert list(paper.marks(paper.values())) == published


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_a_misspelt_value_stops_a_run_before_it_begins(cli, tmp_path):
    folder = tmp_path / "experiments" / "900-test"
    folder.mkdir(parents=True)
    (folder / "experiment.py").write_text(
        "from ninescope.papers.experiment import Inferred, Point, Summary\n"
        "INFERRED = (Inferred('dies', '8', 'chosen'),)\n"
        "def points(settings): return [Point('p')]\n"
        "def simulate(point, settings): return {'a': 1}\n"
        "def summarise(results, settings): return Summary({'a': 1})\n"
    )
    claim = '[[claim]]\nid = "9.1"\nstatement = "so"\ngrade = "exact"\npublished = 1\nsource = "here"\n'
    (folder / "claims.toml").write_text(
        '[paper]\nid = "900"\ntitle = "A drive"\ncitation = "Nobody"\n\n'
        f'{claim}[[claim.check]]\nvalue = "a"\nequals = 1\n'
    )
    values = folder / "values.toml"
    # Without the file every claim would be called predicted.
    found = cli("papers", "run", "900", "--experiments", folder.parent)
    assert (found.code, found.out) == (2, "")
    assert found.err.count("\n") == 1
    assert "values.toml: there is no such file; it says by which published figures" in found.err
    values.write_text('[[calibrated]]\nvalue = "dyes"\nfigure = "figure 1"\nclaims = ["9.1"]\n')
    found = cli("papers", "run", "900", "--experiments", folder.parent)
    assert found.code == 2
    assert "line 2: calibrated[0].value: nothing of this name is inferred: 'dyes'" in found.err
    values.write_text('[[calibrated]]\nvalue = "dies"\nfigure = "figure 1"\nclaims = ["9.1"]\n')
    found = cli("papers", "run", "900", "--experiments", folder.parent, "--json")
    assert found.code == 0
    assert [claim["mark"] for claim in json.loads(found.out)["claims"]] == ["calibrated"]
