"""Papers: reading claims, judging them, running experiments, and the exit codes of `papers`."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import ninescope
from conftest import NATIVE, ROOT, command, run_program, tomllib
from ninescope.common import shipped
from ninescope.papers import catalogue, runner
from ninescope.papers.claims import Bound, Claim, Order, load_claims
from ninescope.papers.experiment import Settings
from ninescope.papers.judge import judge

CLAIMS = """\
[paper]
id = "900"
title = "A drive made for tests"
citation = "Nobody, nowhere, never"

[[claim]]
id = "9.1"
statement = "reads take as long as the media takes"
grade = "exact"
published = 60
source = "section 1"
[[claim.check]]
value = "read/mean_us"
range = [30, 60]

[[claim]]
id = "9.2"
statement = "reads are faster than writes"
grade = "ordering"
published = "read < write"
source = "section 2"
[[claim.check]]
order = ["mean_us/read", "<", "mean_us/write"]

[[claim]]
id = "9.3"
statement = "writes are free"
grade = "quantitative"
published = "0 us"
source = "section 3"
explanation = "nothing is free"
[[claim.check]]
value = "mean_us/write"
max = 0

[[claim]]
id = "9.4"
statement = "only the long run can tell"
grade = "quantitative"
published = "1"
source = "section 4"
[[claim.check]]
value = "long/answer"
equals = 1
"""

EXPERIMENT = '''\
import os, time
import ninescope
from ninescope.papers import provenance
from ninescope.papers.experiment import Inferred, Point

DRIVE = """base = "slc"
[geometry]
channels = 1
packages_per_channel = 1
dies_per_package = 1
blocks_per_plane = 64
pages_per_block = 16
"""
INFERRED = (
    Inferred("nand.read", "25 us", "a guess"),
    Inferred("the moon", "full", "it has no part in it"),
)

def points(settings):
    return [Point(rw, {"rw": rw}, weight) for rw, weight in (("randread", 1), ("randwrite", 2))]

def simulate(point, settings):
    job = ninescope.Workload.job(**point.parameters, bs="4k", requests=settings.requests(300), iodepth=1)
    drive = ninescope.Drive.from_toml(DRIVE).with_(
        controller__write_completion="program", nand__read=f"{settings.varying('nand.read', 25_000):.0f}ns"
    )
    result = drive.run(job, seed=settings.seed, prefill="full")
    latency = result.latency.read if point.name == "randread" else result.latency.write
    return {"mean_us": latency.mean_ns / 1e3, "provenance": provenance.of_run(result.document)}
'''

FINDINGS = """\
from experiment import INFERRED
from ninescope.figures import Axis, Figure, Panel, Series
from ninescope.papers.experiment import Attribution, Summary, Table

def summarise(results, settings):
    read, write = (results[name]["mean_us"] for name in ("randread", "randwrite"))
    table = Table("Mean latency", ["operation", "us"], [["read", read], ["write", write]])
    measured = {
        "mean_us": {"read": {"value": read, "interval": [read - 1, read + 1]}, "write": write},
        "read": {"mean_us": read},
        "long": {"answer": None if settings.quick else 1},
    }
    share = Attribution("shares", "Where it went", [("a drive", 300, {"transfer": 100.0, "die_erase": 1.0})])
    return Summary(measured, [table], [share])

def figures(results, settings):
    operations = Axis("operation", categories=["read", "write"])
    means = [results[name]["mean_us"] for name in ("randread", "randwrite")]
    panel = Panel("means", operations, Axis("us"), [Series("mean", [0, 1], means, "bars")])
    return [Figure("figure-1", "Mean latency", [panel], caption="A drive made for tests.")]
"""

PUBLISHED = """\
[[series]]
figure = "figure-1"
panel = "means"
label = "paper"
x = ["read"]
y = [60]
source = "section 1"

[[table]]
title = "Mean latency"
source = "section 1"
columns = ["operation", "us"]
rows = [["read", "60 us"]]
"""


@pytest.fixture
def experiments(tmp_path: Path) -> Path:
    """A folder of experiments with one paper."""
    folder = tmp_path / "experiments"
    paper = folder / "900-test"
    paper.mkdir(parents=True)
    (folder / "validation-of-something").mkdir()
    (paper / "claims.toml").write_text(CLAIMS)
    (paper / "values.toml").write_text("")
    (paper / "experiment.py").write_text(EXPERIMENT)
    (paper / "findings.py").write_text(FINDINGS)
    (paper / "published.toml").write_text(PUBLISHED)
    return folder


def change(folder: Path, before: str, after: str, name: str = "claims.toml") -> None:
    path = folder / "900-test" / name
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


# ---- claims ------------------------------------------------------------------------------------------


def test_claims_are_read(experiments):
    claims = load_claims(experiments / "900-test/claims.toml")
    assert [claim.id for claim in claims.claims] == ["9.1", "9.2", "9.3", "9.4"]
    assert claims.claims[0].checks == (Bound("read/mean_us", 30, 60),)
    assert claims.claims[1].checks == (Order(("mean_us/read", "mean_us/write"), ("<",)),)
    assert [str(check) for claim in claims.claims for check in claim.checks] == [
        "read/mean_us in 30 to 60",
        "mean_us: read < write",
        "mean_us/write <= 0",
        "long/answer = 1",
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ('title = "A', "title = A", "line 3"),
        ('title = "A drive made for tests"', "", ("line 1", "paper.title", "is missing")),
        ('grade = "exact"', 'grade = "exat"', ("line 9", "claim[0].grade", "did you mean 'exact'")),
        ('grade = "ordering"', "", ("line 16", "claim[1].grade", "is missing")),
        ("published = 60", "published = true", ("line 10", "claim[0].published")),
        ("published = 60", "publishd = 60", ("line 10", "claim[0].publishd", "did you mean 'published'")),
        ("range = [30, 60]", "range = [60, 30]", ("line 14", "claim[0].check[0].range", "nothing")),
        ("range = [30, 60]", "range = [30]", ("line 14", "claim[0].check[0].range", "two numbers")),
        ("range = [30, 60]", 'range = [30, "x"]', ("line 14", "range", "not a number")),
        ("range = [30, 60]", "", ("line 13", "claim[0].check[0].value", "needs a limit")),
        ("range = [30, 60]", "range = [30, 60]\nmax = 3", ("line 15", "max", "beside range")),
        ("max = 0", "maxx = 0", ("line 34", "claim[2].check[0].maxx", "did you mean 'max'")),
        ("max = 0", "", ("claim[2].check[0].value", "needs a limit")),
        ('"<", ', "", ("line 23", "claim[1].check[0].order", '"<"')),
        ('"<"', '"<<"', ("line 23", "claim[1].check[0].order")),
        ('id = "9.2"', 'id = "9.1"', ("line 17", "claim[1].id", "twice")),
        ('id = "900"', 'id = "901"', ("paper.id", "901", "900")),
        ('id = "9.2"', "id = 9.2", ("line 17", "claim[1].id", "must be a text")),
        ("[paper]", "[papers]", ("papers", "did you mean 'paper'")),
        ("published = 60", "published = 60\nat_least = 2", ("line 11", "claim[0].at_least", "from 1 to 1")),
        ("published = 60", 'published = 60\norigin = "our"', ("line 11", "origin", "did you mean 'ours'")),
        ("range = [30, 60]", "range = [30, 60]\nunit = 3", ("line 15", "unit", "must be a text")),
        ("published = 60", "published = 60\nat_least = true", ("line 11", "claim[0].at_least")),
        (
            '[[claim.check]]\nvalue = "read/mean_us"\nrange = [30, 60]\n',
            "",
            ("claim[0].check", "at least one"),
        ),
    ],
)
def test_bad_claims_are_named_by_file_line_and_key(cli, experiments, before, after, expected):
    change(experiments, before, after)
    code, out, err = cli("papers", "run", "900", "--experiments", experiments)
    assert (code, out) == (2, "")
    for text in ("claims.toml", *([expected] if isinstance(expected, str) else expected)):
        assert text in err
    assert "Traceback" not in err


@pytest.mark.parametrize("word", ["009", "90", "al"])
def test_papers_there_are_are_listed_to_whoever_names_another(cli, experiments, word):
    code, out, err = cli("papers", "run", word, "--experiments", experiments)
    assert (code, out) == (2, "")
    assert f"there is no paper '{word}'; there is 900, all" in err
    assert "did you mean" not in err


def test_claims_that_are_missing_or_no_text_are_named(cli, experiments):
    path = experiments / "900-test/claims.toml"
    path.write_bytes(b"\xff\xfe")
    code, _, err = cli("papers", "list", "--experiments", experiments)
    assert code == 2
    assert "UTF-8" in err
    path.unlink()
    code, _, err = cli("papers", "run", "900", "--experiments", experiments)
    assert code == 2
    assert "claims.toml" in err
    assert "No such file" in err


def test_labels_and_units_are_how_checks_are_called(experiments):
    change(experiments, "range = [30, 60]", 'range = [30, 60]\nlabel = "reads"\nunit = "us"')
    change(experiments, 'order = ["', 'label = "mean"\nunit = "us"\norder = ["')
    claims = load_claims(experiments / "900-test/claims.toml").claims
    assert [str(claim.checks[0]) for claim in claims[:2]] == ["reads in 30 to 60 us", "mean: read < write"]
    assert [claim.checks[0].words for claim in claims[:2]] == [("reads",), ("read", "write")]


# ---- judging -----------------------------------------------------------------------------------------


def verdict(
    measured: dict[str, object], *checks: Bound | Order, quick: bool = False, **words: Any
) -> tuple[str, str]:
    claim = Claim("1", "so it is", "ordering", 1, "here", checks, **words)
    judgement = judge(claim, measured, quick=quick)
    return judgement.verdict, judgement.cause


def between(low: float, high: float, **more: object) -> dict[str, object]:
    return {"value": (low + high) / 2, "interval": [low, high], **more}


def test_a_bound_includes_its_ends():
    check = Bound("x", 1, 2)
    for value, holds in ((0.99, False), (1, True), (2, True), (2.01, False)):
        found, cause = verdict({"x": value}, check)
        assert (found == "holds") == holds
        assert (cause == "") == holds
    assert verdict({"x": True}, Bound("x", 1, 1))[0] == "holds"
    assert verdict({"x": False}, Bound("x", 1, 1))[0] == "not reproduced"


@pytest.mark.parametrize(
    ("measured", "quick", "full"),
    [
        (between(2, 3), "not reproduced", "not reproduced"),
        (between(4, 5.5), "too short to say", "not reproduced"),
        (between(4, 8), "too short to say", "holds"),
        (between(5, 9), "holds", "holds"),
        (between(6, 10), "too short to say", "holds"),
        (between(9.5, 11), "not reproduced", "not reproduced"),
    ],
)
def test_a_quick_run_does_not_judge_a_bound_within_the_interval(measured, quick, full):
    check = Bound("x", 5, 9)
    assert verdict({"x": measured}, check, quick=True)[0] == quick
    assert verdict({"x": measured}, check, quick=False)[0] == full


def test_what_is_not_measured_or_rests_on_too_few_samples_is_not_judged():
    assert verdict({"x": None}, Bound("x", 1, 2))[0] == "not judged"
    assert verdict({"x": {"value": 1, "insufficient": True}}, Bound("x", 1, 2))[0] == "not judged"
    few = {"a": between(1, 2), "b": between(3, 4, insufficient=True)}
    assert verdict(few, Order(("a", "b"), ("<",)))[0] == "not judged"
    # A longer run may have them.
    assert verdict(few, Order(("a", "b"), ("<",)), quick=True)[0] == "too short to say"
    assert verdict({"x": {"value": 1, "insufficient": True}}, Bound("x", 1, 2), quick=True)[0] == (
        "too short to say"
    )
    assert verdict({"x": None}, Bound("x", 1, 2), quick=True)[0] == "not judged"


@pytest.mark.parametrize(
    ("first", "relation", "second", "expected"),
    [
        (between(1, 2), "<", between(3, 4), "holds"),
        (between(1, 3), "<", between(2, 4), "too short to say"),
        (between(2, 4), "<", between(1, 3), "too short to say"),
        (between(3, 4), "<", between(1, 2), "not reproduced"),
        (between(1, 2), "<=", between(1, 2), "holds"),
        (between(2, 4), "<=", between(1, 3), "holds"),
        (between(3, 4), "<=", between(1, 2), "not reproduced"),
        (1, "<", 2, "holds"),
        (1, "<", 1, "not reproduced"),
        (2, "<", 1, "not reproduced"),
        (1, "<=", 1, "holds"),
    ],
)
def test_an_order_is_claimed_only_where_intervals_do_not_overlap(first, relation, second, expected):
    check = Order(("a", "b"), (relation,))
    assert verdict({"a": first, "b": second}, check, quick=True)[0] == expected
    # A full run has no excuse.
    expected = expected.replace("too short to say", "not reproduced")
    assert verdict({"a": first, "b": second}, check, quick=False)[0] == expected


def test_one_check_that_fails_outweighs_one_that_cannot_be_decided():
    measured = {"a": 5, "b": None}
    found, cause = verdict(measured, Bound("b", 1, 2), Bound("a", 1, 2), explanation="it is known why")
    assert found == "not reproduced"
    assert "measured 5" in cause
    assert cause.endswith("it is known why")
    assert "not measured" not in cause


def test_a_claim_may_need_only_some_of_its_checks():
    checks = [Bound(name, 1, 1) for name in "abcd"]

    def found(at_least: int, **measured: object) -> tuple[str, str]:
        return verdict(measured, *checks, at_least=at_least, explanation="it is known why")

    assert found(2, a=1, b=1, c=2, d=2) == ("holds", "")
    assert found(2, a=1, b=1, c=2, d=None) == ("holds", "")
    few, cause = found(3, a=1, b=1, c=2, d=2)
    assert few == "not reproduced"
    assert cause.startswith("2 of 4 checks hold, and 3 have to. wanted c = 1, measured 2")
    assert cause.endswith("it is known why")
    # One that fails may, but whether another does is not known.
    open_, cause = found(3, a=1, b=1, c=2, d=None)
    assert open_ == "not judged"
    assert "d not measured" in cause


def test_a_quick_run_leaves_out_what_it_is_too_short_for():
    measured = {"a": 5, "b": {"value": 5, "insufficient": True}}
    claim = Claim("1", "so", "quantitative", 1, "here", (Bound("a", 5, 5), Bound("b", 1, 2, full_only=True)))
    # What is left out may fail: that the rest holds does not say that the claim does.
    assert judge(claim, measured, quick=True).verdict == "too short to say"
    assert judge(claim, measured, quick=False).verdict == "not judged"
    assert judge(dataclasses.replace(claim, at_least=1), measured, quick=True).verdict == "holds"
    assert judge(claim, {**measured, "a": 6}, quick=True).verdict == "not reproduced"
    alone = Claim("1", "so", "quantitative", 1, "here", claim.checks[1:])
    judgement = judge(alone, {"a": 5, "b": 1}, quick=True)
    assert judgement.verdict == "too short to say"
    assert "only with --full" in judgement.cause


def test_the_margin_of_a_value_is_its_distance_to_the_nearest_limit():
    assert Bound("x", 50).margin(50.5) == pytest.approx(0.01)
    assert Bound("x", 0, 100).margin(90) == pytest.approx(0.1)
    assert Bound("x", 100, 200).margin(120) == pytest.approx(0.2)
    # Outside there is none, nor where one number alone is right.
    assert Bound("x", 50).margin(49) is None
    assert Bound("x", 50, 50).margin(50) is None
    assert Bound("x", 0).margin(3) is None


@pytest.mark.parametrize(
    ("check", "value", "near"),
    [
        (Bound("x", 50), 50.5, True),
        (Bound("x", 50), 60, False),
        (Bound("x", high=0.999), 0.99, True),
        # Of a narrow range everything is near both ends: what counts is where in it.
        (Bound("x", 29.9, 30.1), 30.02, False),
        (Bound("x", 29.9, 30.1), 30.09, True),
        (Bound("x", 1, 100), 99, True),
        (Bound("x", 1, 100), 101, False),
    ],
)
def test_a_claim_that_holds_by_a_hair_says_so(check, value, near):
    assert check.is_near(value) == near
    claim = Claim("1", "so", "ordering", 1, "here", (check,), note="on this it rests")
    judgement = judge(claim, {"x": float(value)})
    assert bool(judgement.near) == near
    assert judgement.note == ("on this it rests" if judgement.verdict == "holds" else "")
    exact = Claim("1", "so", "exact", 1, "here", (check,))
    assert not judge(exact, {"x": float(value)}).near


def test_what_was_written_about_a_full_run_is_called_so_in_a_quick_one():
    words = {"explanation": "it is 5 of 9", "note": "by 1 of 9"}
    claim = Claim("1", "so", "ordering", 1, "here", (Bound("x", 1, 2),), **words)
    full, quick = (judge(claim, {"x": 5.0}, quick=quick) for quick in (False, True))
    assert full.explanation == "it is 5 of 9"
    assert quick.explanation == "Of the full run: it is 5 of 9"
    assert quick.cause == "wanted x in 1 to 2, measured 5. Of the full run: it is 5 of 9"
    held = judge(claim, {"x": 1.5}, quick=True)
    assert (held.explanation, held.note) == ("", "Of the full run: by 1 of 9")


def test_a_claim_about_something_that_is_not_measured_is_bad_input(cli, experiments):
    change(experiments, 'mean_us/write"]', 'mean_us/wriet"]')
    code, _, err = cli("papers", "run", "900", "--experiments", experiments)
    assert code == 2
    assert "claim 9.2" in err
    assert "did you mean 'mean_us/write'" in err


# ---- running -----------------------------------------------------------------------------------------


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
class TestRunning:
    def test_verdicts_as_json(self, cli, experiments):
        code, out, err = cli("papers", "run", "900", "--quick", "--json", "--experiments", experiments)
        assert code == 0
        document = json.loads(out)
        claims = {claim["id"]: claim for claim in document["claims"]}
        verdicts = [claim["verdict"] for claim in document["claims"]]
        assert verdicts == ["holds", "holds", "not reproduced", "not judged"]
        for claim in claims.values():
            assert {"id", "grade", "published", "range", "measured", "verdict", "cause"} <= set(claim)
        assert claims["9.1"]["published"] == 60
        assert claims["9.1"]["cause"] == ""
        assert list(claims["9.2"]["measured"]) == ["mean_us/read", "mean_us/write"]
        assert list(claims["9.2"]["intervals"]) == ["mean_us/read"]
        assert claims["9.3"]["cause"].endswith("nothing is free")
        assert claims["9.4"]["measured"] == {"long/answer": None}
        assert document["papers"][0]["mode"] == "quick"
        assert "1 of 2" in err
        assert "2 of 2" in err

    def test_verdicts_as_text(self, cli, experiments):
        code, out, _ = cli("papers", "run", "900", "--full", "--experiments", experiments)
        assert code == 0
        for text in (
            "A drive made for tests",
            "Mean latency",
            "9.1",
            "9.4",
            "- mean_us/write <= 0: 2",
            "nothing is free",
        ):
            assert text in " ".join(out.split())
        assert "4 claims: 3 hold, 3 of them predicted, 1 not reproduced" in out

    def test_claims_of_our_own_are_not_counted_as_published(self, cli, experiments):
        change(experiments, 'grade = "ordering"', 'grade = "ordering"\norigin = "ours"')
        code, out, _ = cli("papers", "run", "all", "--full", "--experiments", experiments)
        assert code == 0
        words = " ".join(out.split())
        assert "3 claims: 2 hold, 2 of them predicted, 1 not reproduced, and 1 of our own" in words
        assert "(ordering, a claim of our own, not the paper's)" in words

    def test_files(self, cli, experiments, tmp_path):
        out = tmp_path / "out"
        code, printed, _ = cli("papers", "run", "900", "--json", "--out", out, "--experiments", experiments)
        assert code == 0
        assert {path.name for path in out.iterdir()} == {
            "claims.json", "measured.json", "report.json", "report.txt", "report.html",
            "mean-latency.csv", "figure-1.png", "points",
        }  # fmt: skip
        assert json.loads((out / "claims.json").read_text()) == json.loads(printed)
        assert "operation,us" in (out / "mean-latency.csv").read_text()
        code, *_ = cli("papers", "run", "all", "--out", out / "all", "--experiments", experiments)
        assert code == 0
        assert (out / "all/900/claims.json").exists()

    def test_what_an_experiment_prints_does_not_reach_the_verdicts(self, cli, experiments):
        before = "    read, write = "
        change(experiments, before, '    print("chatter")\n' + before, "findings.py")
        process = run_program("papers", "run", "900", "--json", "--experiments", experiments)
        assert json.loads(process.out)["claims"]
        assert "chatter" in process.err

    def test_the_number_of_processes_changes_nothing(self, cli, experiments):
        runs = ("papers", "run", "900", "--json", "--experiments", experiments, "--jobs")
        assert cli(*runs, 1).out == cli(*runs, 3).out

    def test_a_claim_that_held_and_no_longer_does_is_exit_1(self, cli, experiments):
        arguments = ("papers", "run", "900", "--quick", "--experiments", experiments)
        baseline = experiments / "900-test/baseline.toml"
        assert cli(*arguments, "--renew-baseline").code == 0
        assert tomllib.loads(baseline.read_text()) == {
            "quick": {"9.1": "holds", "9.2": "holds", "9.3": "not reproduced", "9.4": "not judged"}
        }
        assert cli(*arguments).code == 0
        change(experiments, "range = [30, 60]", "range = [80, 90]")
        code, _, err = cli(*arguments)
        assert code == 1
        assert "9.1 holds in" in err
        # The other mode has a baseline of its own, and a renewal of one keeps the other.
        arguments = ("papers", "run", "900", "--full", "--experiments", experiments)
        assert cli(*arguments).code == 0
        assert cli(*arguments, "--renew-baseline").code == 0
        assert list(tomllib.loads(baseline.read_text())) == ["quick", "full"]
        code, out, _ = cli("papers", "list", "--experiments", experiments)
        assert code == 0
        assert "quick: 2 of 4 claims hold" in out

    def test_a_quick_run_says_where_a_full_one_judges_otherwise(self, cli, experiments, tmp_path):
        baseline = experiments / "900-test/baseline.toml"
        baseline.write_text(
            '[full]\n"9.1" = "not reproduced"\n"9.2" = "holds"\n"9.3" = "holds"\n"9.4" = "holds"\n'
        )
        arguments = ("papers", "run", "all", "--experiments", experiments, "--quick")
        code, out, _ = cli(*arguments, "--out", tmp_path / "out")
        assert code == 0
        assert out.count("A full run judges otherwise, and it counts: not reproduced.") == 1
        assert out.count("A full run judges otherwise, and it counts: holds.") == 1
        claims = json.loads(cli(*arguments, "--json").out)["claims"]
        # 9.2 is judged alike, and 9.4 is not judged at all.
        assert {claim["id"]: claim.get("verdict_of_full_run") for claim in claims} == {
            "9.1": "not reproduced",
            "9.2": None,
            "9.3": "holds",
            "9.4": None,
        }
        html = (tmp_path / "out/report.html").read_text()
        assert "full run: not reproduced" in html
        assert "A full run judges otherwise" in html
        full = cli("papers", "run", "all", "--experiments", experiments, "--full").out
        assert "judges otherwise" not in full

    def test_a_claim_that_is_gone_no_longer_holds(self, cli, experiments):
        baseline = experiments / "900-test/baseline.toml"
        baseline.write_text('[quick]\n"9.0" = "holds"\n"9.3" = "not reproduced"\n')
        code, out, err = cli("papers", "run", "900", "--json", "--experiments", experiments)
        assert code == 1
        assert "9.0" in err
        assert json.loads(out)["papers"][0]["regressions"] == ["9.0"]

    def test_altering_what_was_published_changes_no_measured_value(self, cli, experiments, tmp_path):
        def measured(name: str) -> bytes:
            out = tmp_path / name
            assert cli("papers", "run", "900", "--out", out, "--experiments", experiments).code == 0
            return (out / "measured.json").read_bytes()

        before = measured("before")
        for position, (text, other) in enumerate(
            [("= 60", "= 61"), ("30, 60", "1, 2"), ("max = 0", "max = 1e9"), ("equals = 1", "equals = 2")]
        ):
            change(experiments, text, other)
            assert measured(str(position)) == before, text

    @pytest.mark.parametrize("published", ["claims.toml", "published.toml"])
    @pytest.mark.parametrize(
        ("name", "function"),
        [
            ("experiment.py", "points"),
            ("experiment.py", "simulate"),
            ("findings.py", "summarise"),
            ("findings.py", "figures"),
        ],
    )
    def test_an_experiment_cannot_read_what_was_published(self, cli, experiments, name, function, published):
        reads = f"open(__file__.replace('{name}', '{published}'))"
        path = experiments / "900-test" / name
        path.write_text(re.sub(rf"(def {function}\(.*\n)", rf"\1    {reads}\n", path.read_text()))
        code, _, err = cli("papers", "run", "900", "--experiments", experiments)
        assert code == 1
        assert "what was published measures nothing" in err

    def test_an_experiment_that_fails_is_exit_1_with_its_traceback(self, cli, experiments):
        change(
            experiments,
            "def summarise(results, settings):",
            "def summarise(results, settings):\n    1 / 0",
            "findings.py",
        )
        code, out, err = cli("papers", "run", "900", "--json", "--experiments", experiments)
        assert (code, out) == (1, "")
        assert "ZeroDivisionError" in err

    def test_bad_input_within_an_experiment_is_exit_2(self, cli, experiments):
        change(experiments, 'base = "slc"', 'base = "sld"', "experiment.py")
        code, _, err = cli("papers", "run", "900", "--experiments", experiments)
        assert code == 2
        assert "did you mean" in err.lower()

    def test_an_incomplete_experiment_is_bad_input(self, cli, experiments):
        change(experiments, "def points", "def pints", "experiment.py")
        code, _, err = cli("papers", "run", "900", "--experiments", experiments)
        assert code == 2
        assert "no function points" in err
        change(experiments, "def pints", "def points", "experiment.py")
        change(experiments, "def summarise", "def sum", "findings.py")
        code, _, err = cli("papers", "run", "900", "--experiments", experiments)
        assert code == 2
        assert "findings.py: there is no function summarise" in err
        (experiments / "900-test/experiment.py").unlink()
        code, _, err = cli("papers", "run", "900", "--experiments", experiments)
        assert code == 2
        assert "experiment.py" in err

    def test_a_lost_worker_costs_its_simulation_alone_and_not_for_ever(self, cli, experiments, tmp_path):
        notes = tmp_path / "notes"
        notes.mkdir()
        dies = f"""def simulate(point, settings):
    import pathlib, signal, uuid
    notes = pathlib.Path({str(notes)!r})
    if point.name == "randread" and len(list(notes.iterdir())) < TIMES:
        (notes / uuid.uuid4().hex).touch()
        os.kill(os.getpid(), signal.SIGKILL)
"""
        change(experiments, "def simulate(point, settings):\n", dies.replace("TIMES", "2"), "experiment.py")
        arguments = ("papers", "run", "900", "--json", "--experiments", experiments)
        found = json.loads(cli(*arguments).out)
        assert len(list(notes.iterdir())) == 2
        change(experiments, "< 2", "< 9", "experiment.py")
        code, _, err = cli(*arguments)
        assert code == 1
        assert "a simulation ended before its time, 3 times" in err
        change(experiments, dies.replace("TIMES", "9"), "def simulate(point, settings):\n", "experiment.py")
        assert json.loads(cli(*arguments).out)["papers"] == found["papers"]

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_an_interrupt_ends_everything_with_130(self, experiments, tmp_path, number):
        change(experiments, "def simulate(point, settings):", SLEEP, "experiment.py")
        out_folder = tmp_path / "out"
        given = () if number == signal.SIGINT else ("--out", str(out_folder))
        process = start(experiments, tmp_path, *given)
        pids = workers(tmp_path)
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as a terminal does
        else:
            process.send_signal(number)
        out, err = process.communicate(timeout=20)
        assert (process.returncode, out) == (130, b"")
        assert b"Traceback" not in err
        kept = f"0 simulations kept in {out_folder / 'points'}; the same command goes on from there"
        assert (kept if given else "nothing is kept; with --out DIR a run goes on") in err.decode()
        wait_for_the_end_of(pids)

    def test_workers_end_when_their_parent_is_killed(self, experiments, tmp_path):
        change(experiments, "def simulate(point, settings):", SLEEP, "experiment.py")
        process = start(experiments, tmp_path)
        pids = workers(tmp_path)
        process.kill()
        process.communicate()
        wait_for_the_end_of(pids)


SLEEP = """\
def simulate(point, settings):
    folder = os.environ["NOTES"]
    open(os.path.join(folder, f"{os.getpid()}.pid"), "w").close()
    time.sleep(60)
"""


def start(experiments: Path, notes: Path, *more: str) -> subprocess.Popen[bytes]:
    arguments = ["papers", "run", "900", "--json", "--jobs", "2", "--experiments", str(experiments), *more]
    return subprocess.Popen(
        [*command(), *arguments],
        env=os.environ | {"NOTES": str(notes)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def workers(notes: Path) -> list[int]:
    """Wait until both workers are at work."""
    deadline = time.monotonic() + 60
    while len(found := list(notes.glob("*.pid"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return [int(path.stem) for path in found]


def wait_for_the_end_of(pids: list[int]) -> None:
    def runs(pid: int) -> bool:
        try:
            # A process that nobody waits for any more may stay in the table as a zombie.
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False

    deadline = time.monotonic() + 20
    while any(runs(pid) for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.05)


# ---- the command line --------------------------------------------------------------------------------


def test_two_folders_of_one_paper_are_refused(cli, experiments):
    shutil.copytree(experiments / "900-test", experiments / "900-other")
    code, _, err = cli("papers", "list", "--experiments", experiments)
    assert code == 2
    assert "two folders are paper 900: 900-other and 900-test" in err
    code, _, err = cli("papers", "list", "--experiments", experiments / "900-test/claims.toml")
    assert code == 2
    assert "is no folder" in err


def test_an_unknown_paper_is_answered_with_the_nearest(cli, experiments):
    for word, answer in (("90", "900"), ("al", "all"), ("zzz", "there is 900, all")):
        code, out, err = cli("papers", "run", word, "--experiments", experiments)
        assert (code, out) == (2, "")
        assert answer in err


def test_contradictions_are_refused(cli, experiments):
    for options in (("--quick", "--full"), ("--seed", 2, "--renew-baseline"), ("--out", ""), ("--jobs", 0)):
        assert cli("papers", "run", "900", *options, "--experiments", experiments).code == 2


def test_a_folder_without_papers_is_bad_input(cli, tmp_path):
    code, _, err = cli("papers", "list", "--experiments", tmp_path)
    assert code == 2
    assert "no paper" in err
    code, _, err = cli("papers", "list", "--experiments", tmp_path / "none")
    assert code == 2
    assert "no such folder" in err


def test_an_installation_without_experiments_says_how_to_find_them(cli, monkeypatch, tmp_path):
    monkeypatch.setattr(shipped, "_PACKAGE", tmp_path / "lib/python3/ninescope")
    code, _, err = cli("papers", "list")
    assert code == 2
    assert "--experiments" in err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[quick\n", "line 1"),
        ('[fast]\n"9.1" = "holds"\n', "fast"),
        ('[quick]\n"9.1" = "hold"\n', "did you mean 'holds'"),
        ('[full]\n"9.1" = "holds"\n[why]\n"9.2" = "so"\n', "why.9.2: must be a text about a claim of [full]"),
    ],
)
def test_a_bad_baseline_is_named(cli, experiments, text, words):
    (experiments / "900-test/baseline.toml").write_text(text)
    code, _, err = cli("papers", "run", "900", "--experiments", experiments)
    assert code == 2
    assert "baseline.toml" in err
    assert words in err


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_why_a_verdict_has_changed_outlives_a_renewed_baseline(cli, experiments):
    file = experiments / "900-test/baseline.toml"
    file.write_text('[full]\n"9.1" = "holds"\n\n[why]\n"9.1" = "holds since reads are faster"\n')
    assert cli("papers", "run", "900", "--experiments", experiments, "--renew-baseline").code == 0
    stored = tomllib.loads(file.read_text())
    assert stored["why"] == {"9.1": "holds since reads are faster"}
    assert list(stored) == ["quick", "full", "why"]
    assert "why" not in catalogue.load_baseline(file)


def test_an_output_folder_that_cannot_be_is_bad_input(cli, experiments):
    code, _, err = cli(
        "papers", "run", "900", "--out", experiments / "900-test/claims.toml", "--experiments", experiments
    )
    assert code == 2
    assert "not a directory" in err


def test_list(cli, experiments):
    code, out, _ = cli("papers", "list", "--experiments", experiments)
    assert code == 0
    assert "900  A drive made for tests" in out
    assert "none judged yet" in out
    document = json.loads(cli("papers", "list", "--json", "--experiments", experiments).out)
    assert document["papers"][0]["claims"] == ["9.1", "9.2", "9.3", "9.4"]


# ---- the papers of the project -----------------------------------------------------------------------


def test_nothing_that_simulates_mentions_the_published_values():
    readers = {
        "claims.py",
        "catalogue.py",
        "runner.py",
        "points.py",
        "judge.py",
        "report.py",
        "published.py",
        "__init__.py",
        "experiment.py",
    }
    allowed = {ROOT / "python/ninescope/papers" / name for name in readers}
    sources = [
        *ROOT.glob("crates/**/*.rs"),
        *ROOT.glob("presets/**/*.toml"),
        *ROOT.glob("python/ninescope/**/*.py"),
        *ROOT.glob("experiments/*/*.py"),
    ]
    assert len(sources) > 100
    for path in sources:
        if path not in allowed:
            assert "claims" + ".toml" not in path.read_text(), path


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_altering_what_ssr_published_changes_no_measured_value(tmp_path):
    original = ROOT / "experiments/002-ssr"
    altered = tmp_path / "002-ssr"
    shutil.copytree(original, altered)
    claims = altered / "claims.toml"
    text = re.sub(r"(= |\[|, )(\d+)", r"\g<1>1\2", claims.read_text())
    assert text != claims.read_text()
    claims.write_text(text)

    def results(folder: Path) -> str:
        measurement = runner.measure(
            folder / "experiment.py",
            Settings(),
            jobs=1,
            select=lambda point: point.name == "scenes/ssr-des",
        )
        return json.dumps(measurement.results)

    before = results(original)
    assert results(altered) == before
    # And it is what one computes by hand: one loop of 5 ms and its command.
    [scene] = json.loads(before).values()
    assert 5_000_000 <= scene["max_wait_ns"] < 5_001_000
    assert scene["max_wait_and_recovery_ns"] == scene["max_wait_ns"] + 100_000


TPCC = ROOT / "../shared/traces/other/mqsim_tpcc-small.trace.zst"


@pytest.mark.skipif(
    not TPCC.exists(), reason=f"the trace is not here ({TPCC.name}): THE STAND-IN IS NOT CHECKED"
)
@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_the_stand_in_has_the_mix_of_the_trace():
    stat = ninescope.trace_stat(TPCC)
    job = tomllib.loads((ROOT / "experiments/002-ssr/workloads/tpcc-stand-in.toml").read_text())
    assert 100 * stat["reads"] / stat["requests"] == pytest.approx(job["rwmixread"], abs=0.6)
    experiment = runner.load(ROOT / "experiments/002-ssr/experiment.py")
    rate = stat["requests"] / (stat["duration_ns"] / 1e9)
    assert rate == pytest.approx(experiment.OWN_RATE, rel=0.01)
    assert job["rate_iops"] < rate
    bytes_per_request = (stat["read_bytes"] + stat["write_bytes"]) / stat["requests"]
    assert bytes_per_request == pytest.approx(8192, rel=0.1)


def test_the_projects_papers_are_readable(cli):
    code, out, _ = cli("papers", "list")
    assert code == 0, out
    for paper in catalogue.papers(ROOT / "experiments"):
        claims = paper.claims()
        assert paper.experiment_file.is_file()
        assert (paper.folder / "README.md").is_file()
        for verdicts in paper.baseline().values():
            assert set(verdicts) == {claim.id for claim in claims.claims}
