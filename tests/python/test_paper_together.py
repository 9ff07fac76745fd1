"""Which claims hold together, by what an experiment measured with something decided otherwise."""

from __future__ import annotations

from ninescope.papers import together
from ninescope.papers.claims import Bound, Claim, Order


def claim(name: str, *checks: Bound | Order, origin: str = "paper", at_least: int | None = None) -> Claim:
    return Claim(name, "so", "quantitative", 1, "here", checks, origin=origin, at_least=at_least)


CLAIMS = [
    claim("9.1", Bound("a", 0, 5)),
    claim("9.2", Bound("a", 6, 9)),
    claim("9.3", Order(("b/one", "b/other"), ("<",)), Bound("a", 0, 1), at_least=1),
    claim("9.4", Bound("a", 100, 101)),
    claim("9.5", Bound("elsewhere", 0, 1)),
    claim("9.7", Bound("a", 0, 5, "the first"), Order(("b/one", "b/other"), ("<",), "the order")),
    claim("9.6", Bound("a", 0, 5), origin="ours"),
]
MEASURED = {
    "a": 1,
    "searched": {
        "note": "the first tenth",
        "of": {
            "small": {"a": 3, "b": {"one": 2, "other": 1}},
            "small, ordered": {"a": 3, "b": {"one": 1, "other": 2}},
            "large": {"a": 7, "b": {"one": 1, "other": 2}},
        },
    },
}


def test_claims_are_judged_with_each_combination_those_that_hold_most_first():
    table, _ = together.tables(CLAIMS, MEASURED)
    # What is not all measured, or was published by nobody, is left out.
    assert table.columns == ["decided", "9.1", "9.2", "9.3", "9.4", "9.7", "hold"]
    assert table.rows == [
        ["small, ordered", "holds", "-", "holds (1 of 2)", "-", "holds", 3],
        ["large", "-", "holds", "holds (1 of 2)", "-", "- (the first)", 2],
        ["small", "holds", "-", "- (0 of 2)", "-", "- (the order)", 1],
    ]
    assert table.note == "the first tenth"


def test_pairs_that_never_hold_together_are_named_and_what_never_holds_is_not_blamed_on_another():
    _, pairs = together.tables(CLAIMS, MEASURED)
    assert pairs.rows == [
        ["9.1", 2, 0, 1, 0, 1],
        ["9.2", 0, 1, 1, 0, 0],
        ["9.3", 1, 1, 2, 0, 1],
        ["9.4", 0, 0, 0, 0, 0],
        ["9.7", 1, 0, 1, 0, 1],
    ]
    assert "Holds in none: 9.4." in pairs.note
    assert pairs.note.endswith("never both: 9.1 and 9.2, 9.2 and 9.7")


def test_an_experiment_that_searches_nothing_has_no_such_table():
    assert together.tables(CLAIMS, {"a": 1}) == []
