"""Which claims hold together: each judged by what was measured with something decided otherwise.

An experiment that searches puts what it found under `searched` in its measured values: `of` has the values of
each combination, by its name, in the places that they have among the measured ones; `note` says what was run.
No verdict that counts comes from it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from ninescope._native import ConfigError
from ninescope.papers.claims import Claim
from ninescope.papers.experiment import Table
from ninescope.papers.judge import HOLDS, Judgement, judge

KEY = "searched"


def tables(claims: Sequence[Claim], measured: Mapping[str, Any]) -> list[Table]:
    """Tabulate which claims hold with each combination, and which pairs of claims hold together."""
    searched = measured.get(KEY)
    if not searched:
        return []
    found = {name: judged(claims, tree) for name, tree in searched["of"].items()}
    ids = list(dict.fromkeys(claim for of in found.values() for claim in of))
    return [_by_combination(found, ids, searched["note"]), _pairs(found, ids)]


def judged(claims: Sequence[Claim], tree: Mapping[str, Any]) -> dict[str, Judgement]:
    """Judge the published claims of which all is measured."""
    found = {}
    for claim in claims:
        if claim.origin == "ours":
            continue
        try:
            found[claim.id] = judge(claim, tree)
        except ConfigError:  # not all of it is
            continue
    return found


def _by_combination(found: Mapping[str, Mapping[str, Judgement]], ids: Sequence[str], note: str) -> Table:
    counts = {name: sum(one.verdict == HOLDS for one in of.values()) for name, of in found.items()}
    rows: list[list[Any]] = [
        [name, *(_words(found[name].get(claim)) for claim in ids), counts[name]]
        for name in sorted(found, key=lambda name: -counts[name])
    ]
    return Table("Searched: which claims hold with what is decided", ["decided", *ids, "hold"], rows, note)


def _words(judgement: Judgement | None) -> str:
    if judgement is None:
        return ""
    words = "holds" if judgement.verdict == HOLDS else "-"
    held = sum(finding.verdict == HOLDS for finding in judgement.findings)
    if judgement.claim.at_least is not None:
        return f"{words} ({held} of {len(judgement.findings)})"
    if judgement.verdict == HOLDS or len(judgement.findings) == 1:
        return words
    failing = dict.fromkeys(finding.check.what for finding in judgement.findings if finding.verdict != HOLDS)
    return f"{words} ({', '.join(failing)})"


def _pairs(found: Mapping[str, Mapping[str, Judgement]], ids: Sequence[str]) -> Table:
    def both(one: str, other: str) -> int:
        return sum(
            all(claim in of and of[claim].verdict == HOLDS for claim in (one, other)) for of in found.values()
        )

    rows: list[list[Any]] = [[one, *(both(one, other) for other in ids)] for one in ids]
    never = [one for one in ids if not both(one, one)]
    excluding = [
        f"{one} and {other}"
        for one, other in itertools.combinations([claim for claim in ids if claim not in never], 2)
        if not both(one, other)
    ]
    note = f"of {len(found)} combinations, in how many both hold; on the diagonal the claim itself. "
    note += f"Holds in none: {', '.join(never) or 'no claim'}. "
    note += f"Each holds somewhere, and never both: {', '.join(excluding) or 'no pair'}"
    return Table("Searched: which claims exclude each other", ["claim", *ids], rows, note)
