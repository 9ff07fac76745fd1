"""Laws of flash that wears and ages: what drives measure beside formulas, as docs/validation/nand.md is."""

from __future__ import annotations

import importlib.util
import math
from types import ModuleType

import pytest

from conftest import ROOT


@pytest.fixture(scope="module")
def laws() -> ModuleType:
    spec = importlib.util.spec_from_file_location("laws", ROOT / "experiments/validation-nand/laws.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def text(laws) -> str:
    found = laws.text()
    assert isinstance(found, str)
    return found


def rows(text: str) -> list[tuple[str, float, float]]:
    """The rows of all tables: what, measured, by formula."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "|" in line
    ]
    return [
        (name, float(found), float(formula))
        for name, found, formula, ratio in cells
        if ratio not in ("ratio", "---:")
    ]


def test_drives_measure_what_the_laws_say(text):
    found = rows(text)
    assert len(found) == 8 + 12 + 6 + 5 + 9 + 5 + 8
    wrong = [row for row in found if abs(row[1] / row[2] - 1) > 0.02]
    assert wrong == []


def test_the_page_shows_what_the_tool_prints(laws, text):
    page = laws.PAGE.read_text()
    shown = page.partition(laws.MARKS[0])[2].partition(laws.MARKS[1])[0]
    assert shown.strip() == text.strip(), "experiments/validation-nand/laws.py --write renews it"


def test_the_formulas_are_those_that_were_published(laws):
    # 1.1 eV / 8.617e-5 eV/K x (1 / 313.15 K - 1 / 339.15 K), by which 96 hours of a bake are three months.
    assert laws.acceleration(1.1, 40, 66) == pytest.approx(22.76, abs=0.005)
    assert laws.acceleration(1.1, 40, 66) * 96 == pytest.approx(2190, rel=0.003)
    # By logarithms: 8.34e-5 + 3.30e-11 x 3000^1.71, and 5.56e-19 x 3000^2.49 x 90^3.33 more.
    worn = 8.34e-5 + 10 ** (math.log10(3.30e-11) + 1.71 * math.log10(3000))
    old = worn + 10 ** (math.log10(5.56e-19) + 2.49 * math.log10(3000) + 3.33 * math.log10(90))
    assert laws.by_law(laws.MLC, 3000, 0) == pytest.approx(worn, rel=1e-12)
    assert laws.by_law(laws.MLC, 3000, 90) == pytest.approx(old, rel=1e-12)
    # In hours, as the numbers are told; and 6400 reads of a block are 100 of each of its 64 pages.
    hours = 1.48e-3 + 3.90e-10 * 3000**2.05 + 6.28e-5 * 3000**0.14 * 720**0.54
    assert laws.by_law(laws.TLC, 3000, 30) == pytest.approx(hours, rel=1e-12)
    disturbed = hours + 3.73e-9 * 3000**0.33 * 100**1.71
    assert laws.by_law(laws.TLC, 3000, 30, 6400) == pytest.approx(disturbed, rel=1e-12)
    # The mean of r^q from 0 to R by a sum of its terms.
    law, reads = laws.MLC, 20_000
    terms = sum(laws.by_law(law, 3000, 0, read) for read in range(reads)) / reads
    assert laws.mean_by_law(law, 3000, reads) == pytest.approx(terms, rel=1e-4)


def test_retries_grow_with_wear_and_age_to_over_three(laws):
    means = {cycles: [laws.mean_attempts(shares) for shares in ages] for cycles, ages in laws.SHARES.items()}
    for ages in means.values():
        assert ages == sorted(ages)
        assert ages[-1] > ages[0]
    for young, worn in zip(list(means.values()), list(means.values())[1:], strict=False):
        assert all(more > less for less, more in zip(young, worn, strict=True))
    assert means[3_000][-1] > 3


def test_between_two_ages_the_mean_changes_linearly(laws):
    # 2.5 after 30 days and 3.35 after 365; 150 of the 335 days between them are passed after 180.
    assert laws.mean_attempts_at(30) == pytest.approx(2.5)
    assert laws.mean_attempts_at(365) == pytest.approx(3.35)
    assert laws.mean_attempts_at(180) == pytest.approx(2.5 + 0.85 * 150 / 335)


def test_the_rows_of_the_tool_are_the_defaults_of_the_policy(laws):
    import ninescope

    retry = ninescope.Drive.preset("tlc").with_(
        {"nand.ecc": "bch", "nand.errors": "constant", "nand.retry": "table"}
    )
    job = ninescope.Workload.job(rw="randread", size="1m", requests=10)
    ran = retry.run(job, prefill="footprint").document["config"]["drive"]["nand"]["retry"]
    assert [row["cycles"] for row in ran["rows"]] == list(laws.SHARES)
    assert [tuple(row["shares"]) for row in ran["rows"]] == list(laws.SHARES.values())
