"""Which inferred values a claim hangs on.

Each value that a paper does not give is halved and made half as large again, one at a time, and its
quantitative claims are judged again. A claim that holds as the value was chosen and on neither side of it
holds by luck: it is called fragile.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import ninescope
from ninescope._native import ConfigError
from ninescope.lab.build import build
from ninescope.lab.pool import Pool
from ninescope.papers import runner
from ninescope.papers.catalogue import Paper
from ninescope.papers.claims import Claim
from ninescope.papers.experiment import Inferred, Settings
from ninescope.papers.judge import HOLDS, NOT_REPRODUCED, judge

FACTORS = (0.5, 1.5)
FILE = "sensitivity.json"
FORMAT = 1
_MANIFOLD = 10.0
MOVED = 0.05
"""A measured value that changes by less was not moved."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """One claim, judged with one set of values."""

    verdict: str
    measured: Mapping[str, float | None]


@dataclasses.dataclass(frozen=True)
class Swing:
    """What varying one inferred value did to one claim."""

    parameter: str
    outcomes: Mapping[float, Outcome]
    """By the factor."""
    chosen: Outcome

    @property
    def change(self) -> float:
        """Return the largest relative change of any of the claim's values."""
        changes = [0.0]
        for outcome in self.outcomes.values():
            for name, before in self.chosen.measured.items():
                after = outcome.measured.get(name)
                if before and after is not None:
                    changes.append(abs(after / before - 1))
        return max(changes)

    @property
    def moves(self) -> bool:
        """Say whether the value matters to the claim."""
        verdicts = {outcome.verdict for outcome in self.outcomes.values()}
        return self.change >= MOVED or verdicts != {self.chosen.verdict}

    @property
    def is_lucky(self) -> bool:
        """Say whether the claim holds for the chosen value and for no other that was tried."""
        others = [outcome.verdict for outcome in self.outcomes.values()]
        return self.chosen.verdict == HOLDS and all(verdict == NOT_REPRODUCED for verdict in others)


@dataclasses.dataclass(frozen=True)
class Finding:
    """What one quantitative claim hangs on."""

    claim: str
    statement: str
    chosen: Outcome
    swings: Sequence[Swing]

    @property
    def fragile(self) -> list[str]:
        """List the values of which it bears no other."""
        return [swing.parameter for swing in self.swings if swing.is_lucky]

    def with_verdict(self, verdict: str) -> list[str]:
        """List the changes under which the verdict is this one, and is another as things were chosen."""
        if self.chosen.verdict == verdict:
            return []
        return [
            f"{swing.parameter} {_percent(factor)}"
            for swing in self.swings
            for factor, outcome in swing.outcomes.items()
            if outcome.verdict == verdict
        ]

    @property
    def words(self) -> str:
        """Sum it up."""
        moved = sorted((swing for swing in self.swings if swing.moves), key=lambda swing: -swing.change)
        words = ", ".join(f"{swing.parameter} ({_size(swing.change)})" for swing in moved)
        parts = [f"moved by {words}" if moved else "moved by none of them"]
        lost = self.with_verdict(NOT_REPRODUCED)
        if self.fragile:
            parts.insert(0, f"fragile: holds for the chosen {', '.join(self.fragile)} alone")
            others = [one for one in lost if one.rpartition(" ")[0] not in self.fragile]
            if others:
                parts.insert(1, f"nor does it hold with {', '.join(others)}")
        elif self.chosen.verdict == HOLDS and lost:
            parts.insert(0, f"does not hold with {', '.join(lost)}")
        elif self.chosen.verdict == HOLDS:
            parts.insert(0, "holds throughout")
        elif won := self.with_verdict(HOLDS):
            parts.insert(0, f"would hold with {', '.join(won)}")
        elif self.chosen.verdict != NOT_REPRODUCED:
            parts.insert(0, "not judged by runs as short as these")
        else:
            parts.insert(0, "holds with none of them")
        return "; ".join(parts)


@dataclasses.dataclass(frozen=True)
class Sensitivity:
    """All quantitative claims of a paper."""

    paper: str
    seed: int
    inferred: Sequence[Inferred]
    findings: Sequence[Finding]
    build: str

    def as_json(self) -> dict[str, Any]:
        """Return the document of `sensitivity.json`."""
        return {
            "format": FORMAT,
            "paper": self.paper,
            "seed": self.seed,
            "ninescope": ninescope.__version__,
            "build": self.build,
            "factors": list(FACTORS),
            "inferred": [dataclasses.asdict(one) for one in self.inferred],
            "claims": [
                {
                    "id": finding.claim,
                    "statement": finding.statement,
                    "chosen": dataclasses.asdict(finding.chosen),
                    "fragile": finding.fragile,
                    "words": finding.words,
                    "varied": [
                        {
                            "parameter": swing.parameter,
                            "change": swing.change,
                            "outcomes": {
                                f"{factor:g}": dataclasses.asdict(outcome)
                                for factor, outcome in swing.outcomes.items()
                            },
                        }
                        for swing in finding.swings
                    ],
                }
                for finding in self.findings
            ],
        }


def examine(
    paper: Paper,
    *,
    seed: int,
    jobs: int | None = None,
    on_step: Callable[[runner.Step], None] | None = None,
    keep_in: Path | None = None,
    workers: Pool | None = None,
) -> Sensitivity:
    """Vary all that a paper's experiment infers, and judge its quantitative claims each time."""
    inferred = runner.inferred(paper.experiment_file, varied=True)
    if not inferred:
        raise ConfigError(f"{paper.experiment_file}: names nothing that is inferred (INFERRED)")
    chosen = Settings(seed=seed, brief=True)
    each = [chosen] + [
        dataclasses.replace(chosen, varied=one.name, factor=factor) for one in inferred for factor in FACTORS
    ]
    found = runner.measure_each(
        paper.experiment_file, each, jobs=jobs, on_step=on_step, keep_in=keep_in, workers=workers
    )
    measured = {
        (settings.varied, settings.factor): one.summary.measured
        for settings, one in zip(each, found, strict=True)
    }
    claims = [claim for claim in paper.claims().claims if claim.grade == "quantitative"]
    findings = [_finding(claim, inferred, measured) for claim in claims]
    return Sensitivity(paper.id, seed, inferred, findings, build())


def _finding(
    claim: Claim, inferred: Sequence[Inferred], measured: Mapping[tuple[str, float], Mapping[str, Any]]
) -> Finding:
    chosen = _outcome(claim, measured["", 1.0])
    swings = [
        Swing(one.name, {factor: _outcome(claim, measured[one.name, factor]) for factor in FACTORS}, chosen)
        for one in inferred
    ]
    return Finding(claim.id, claim.statement, chosen, swings)


def _outcome(claim: Claim, measured: Mapping[str, Any]) -> Outcome:
    judgement = judge(claim, measured, quick=True)
    return Outcome(judgement.verdict, {name: found.value for name, found in judgement.readings.items()})


def _percent(factor: float) -> str:
    return f"{factor - 1:+.0%}"


def _size(change: float) -> str:
    """Write a relative change; of a value near zero it only says that much came of little."""
    return f"{change:.0%}" if change < _MANIFOLD else "manifold"


def save(sensitivity: Sensitivity, directory: Path) -> Path:
    """Write `sensitivity.json`."""
    from ninescope.common.files import written_whole

    file = directory / FILE
    with written_whole(file) as temporary:
        temporary.write_text(json.dumps(sensitivity.as_json(), indent=1) + "\n", encoding="utf-8")
    return file


def read(folder: Path) -> dict[str, Any] | None:
    """Read a `sensitivity.json`, where there is one."""
    file = folder / FILE
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file}: {error}") from error
    if not isinstance(stored, dict) or stored.get("format") != FORMAT:
        raise ConfigError(f"{file}: is not what `ninescope papers sensitivity --out` writes")
    return stored
