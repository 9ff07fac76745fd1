"""Quick runs say less than full ones and never the contrary: kept verdicts against kept verdicts."""

from __future__ import annotations

import pytest

from conftest import NATIVE, ROOT, tomllib
from ninescope.papers import catalogue
from ninescope.papers.judge import VERDICTS

KEPT = tomllib.loads((ROOT / "experiments" / "quick.toml").read_text(encoding="utf-8"))
SEEDS = ("seed-1", "seed-2", "seed-3")
PAPERS = catalogue.papers(ROOT / "experiments")


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.id)
def test_what_quick_runs_of_three_seeds_say_contradicts_no_full_run(paper):
    full = paper.baseline()["full"]
    published = [claim.id for claim in paper.claims().claims if claim.origin != "ours"]
    assert tuple(KEPT[paper.id]) == SEEDS
    for seed, words in KEPT[paper.id].items():
        verdicts = {claim: verdict for claim, verdict in words.items() if claim != "build"}
        assert set(published) <= set(verdicts), seed
        assert set(verdicts.values()) <= set(VERDICTS)
        assert catalogue.overruled(full, verdicts) == {}, seed


def test_a_contradiction_would_be_seen():
    assert catalogue.overruled({"9.1": "holds"}, {"9.1": "not reproduced"}) == {"9.1": "holds"}
    assert catalogue.overruled({"9.1": "holds"}, {"9.1": "too short to say"}) == {}
