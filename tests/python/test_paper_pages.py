"""docs/papers: pages, report and README say what the committed records of a full run say."""

from __future__ import annotations

import importlib.util
import re
from types import ModuleType
from typing import Any

import pytest

from conftest import ROOT
from ninescope.papers import catalogue, record, sensitivity
from ninescope.papers.judge import HOLDS, NOT_JUDGED

DOCS = ROOT / "docs/papers"


@pytest.fixture
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("renew_papers", ROOT / "tools/renew_papers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def records(tool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tool.records(DOCS)
    return found


def test_every_paper_and_every_claim_is_there(records):
    papers = {paper.id: paper for paper in catalogue.papers(ROOT / "experiments")}
    assert [one["paper"]["id"] for one in records] == list(papers)
    for one in records:
        claims = papers[one["paper"]["id"]].claims().claims
        assert [claim["id"] for claim in one["claims"]] == [claim.id for claim in claims]
        assert one["mode"] == "full"
        assert one["seed"] == 1
        assert one["digest"] == record.digest_of([record.provenance.Run(*run) for run in one["runs"]])


def test_the_verdicts_are_those_of_the_baseline(records):
    for one in records:
        [paper] = catalogue.chosen(ROOT / "experiments", one["paper"]["id"])
        verdicts = {claim["id"]: claim["verdict"] for claim in one["claims"]}
        assert paper.baseline()["full"] == verdicts


def test_a_claim_that_does_not_hold_says_why(records):
    for one in records:
        for claim in one["claims"]:
            if claim["verdict"] not in (HOLDS, NOT_JUDGED):
                assert claim["explanation"], claim["id"]


def test_pages_are_what_the_records_come_to(tool):
    for path, text in tool.pages(DOCS):
        assert path.read_text(encoding="utf-8") == text, f"make papers-docs: {path.name}"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert tool.with_summary(readme, DOCS) == readme


def test_the_report_of_all_records_is_built_and_not_kept(tool, tmp_path):
    tool.report(tmp_path / "out" / "papers.html")
    text = (tmp_path / "out" / "papers.html").read_text(encoding="utf-8")
    assert "<title>" in text
    assert all(claim["id"] in text for one in tool.records(DOCS) for claim in one["claims"])
    assert not list(DOCS.rglob("*.html"))


def test_pictures_of_pages_are_small():
    """They are kept with the code, in every version of it."""
    for path in (*DOCS.rglob("*.png"), *(ROOT / "docs/images").iterdir()):
        assert path.stat().st_size < 100_000, path


def test_every_picture_that_a_page_shows_is_there():
    for page in DOCS.glob("*.md"):
        for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            assert (DOCS / name).stat().st_size > 1000, name


def test_what_varied_names_the_same_claims(records):
    for one in records:
        swings = sensitivity.read(DOCS / one["paper"]["id"])
        if swings is not None:
            quantitative = [claim["id"] for claim in one["claims"] if claim["grade"] == "quantitative"]
            assert [claim["id"] for claim in swings["claims"]] == quantitative
            # The record says besides which published figure a value was calibrated on.
            told = [{key: value[key] for key in ("name", "value", "why")} for value in one["inferred"]]
            # Behind them stand those of further.py, which no run hangs on.
            assert swings["inferred"] == told[: len(swings["inferred"])]
