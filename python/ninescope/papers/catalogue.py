"""Where the papers are, and which verdicts are committed."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ninescope._native import ConfigError
from ninescope.common import shipped
from ninescope.common.catalogue import did_you_mean
from ninescope.papers.claims import Claims, load_claims, load_toml
from ninescope.papers.experiment import RealVolume
from ninescope.papers.judge import HOLDS, NOT_REPRODUCED, VERDICTS
from ninescope.papers.marks import FILE as MARKS
from ninescope.papers.marks import load_marks
from ninescope.papers.published import Published, load_published
from ninescope.papers.runner import inferred, volumes
from ninescope.papers.values import Values, load_values
from ninescope.papers.volumes import FILE as REGISTER
from ninescope.papers.volumes import load_register, look

MODES = ("quick", "full")
WHY = "why"
"""Beside them: why the verdict of a full run was changed last, by claim; written by hand."""
_FOLDER = re.compile(r"(\d{3})-[\w-]+")


@dataclasses.dataclass(frozen=True)
class Paper:
    """A paper's folder."""

    id: str
    folder: Path

    @property
    def claims_file(self) -> Path:
        """What was published."""
        return self.folder / "claims.toml"

    @property
    def experiment_file(self) -> Path:
        """What measures."""
        return self.folder / "experiment.py"

    @property
    def baseline_file(self) -> Path:
        """The committed verdicts."""
        return self.folder / "baseline.toml"

    def claims(self) -> Claims:
        """Read the claims."""
        claims = load_claims(self.claims_file)
        if claims.id != self.id:
            raise ConfigError(
                f"{self.claims_file}: paper.id is {claims.id!r}, and the folder says {self.id!r}"
            )
        return claims

    def published(self) -> Published:
        """Read what the paper's figures and tables show."""
        return load_published(self.folder / "published.toml")

    def values(self) -> Values:
        """Read what of the configuration is published, and by which figures the rest was chosen."""
        file = self.folder / "values.toml"
        if not file.exists():
            raise ConfigError(
                f"{file}: there is no such file; it says by which published figures values were chosen (an "
                "empty one: by none), and without it every claim would be called predicted"
            )
        return load_values(file, self.claims(), inferred(self.experiment_file))

    def marks(self, values: Values) -> dict[str, str]:
        """Read why each claim is calibrated or predicted."""
        return load_marks(self.folder / MARKS, self.claims(), values)

    def baseline(self) -> dict[str, dict[str, str]]:
        """Read the committed verdicts: by mode, then by claim."""
        return load_baseline(self.baseline_file)

    def renew_baseline(self, mode: str, verdicts: Mapping[str, str]) -> None:
        """Write the verdicts of a mode; the other mode's stay."""
        from ninescope import toml
        from ninescope.common.files import written_whole

        stored = self.baseline()
        stored[mode] = dict(verdicts)
        why = _baseline_file(self.baseline_file)[WHY]
        text = f"# Written by `ninescope papers run {self.id} --quick|--full --renew-baseline`.\n\n"
        text += toml.dumps(
            {name: stored[name] for name in MODES if name in stored} | ({WHY: why} if why else {})
        )
        with written_whole(self.baseline_file) as temporary:
            temporary.write_text(text, encoding="utf-8")


def load_baseline(path: Path) -> dict[str, dict[str, str]]:
    """Read verdicts: by mode, then by claim; where there is no file there are none."""
    return {mode: verdicts for mode, verdicts in _baseline_file(path).items() if mode != WHY}


def _baseline_file(path: Path) -> dict[str, dict[str, str]]:
    """Read verdicts by mode, and why those of a full run have come to be others than they were."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {WHY: {}}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    stored = {WHY: {}, **load_toml(path, text)}
    for mode, verdicts in stored.items():
        if mode not in (*MODES, WHY) or not isinstance(verdicts, dict):
            raise ConfigError(f"{path}: {mode}: only [quick], [full] and [{WHY}] can stand here")
        for claim, verdict in verdicts.items():
            if mode == WHY:
                if not isinstance(verdict, str) or claim not in stored.get("full", {}):
                    raise ConfigError(f"{path}: {mode}.{claim}: must be a text about a claim of [full]")
            elif verdict not in VERDICTS:
                raise ConfigError(
                    f"{path}: {mode}.{claim}: {verdict!r} is no verdict{did_you_mean(str(verdict), VERDICTS)}"
                )
    return stored


def regressions(baseline: Mapping[str, str], verdicts: Mapping[str, str]) -> list[str]:
    """List the claims that hold in the baseline and no longer do; one that is gone is among them."""
    return [claim for claim, verdict in baseline.items() if verdict == HOLDS and verdicts.get(claim) != HOLDS]


def overruled(full: Mapping[str, str], quick: Mapping[str, str]) -> dict[str, str]:
    """Return what a full run says of claims that a quick one judges the other way: the full one counts."""
    decided = (HOLDS, NOT_REPRODUCED)
    return {
        claim: full[claim]
        for claim, verdict in quick.items()
        if verdict in decided and full.get(claim) in decided and full[claim] != verdict
    }


def real_volumes(
    chosen: Sequence[Paper], traces: str, folder: Path, left_out: Callable[[str], None]
) -> dict[str, tuple[RealVolume, ...]]:
    """Find the published volumes that papers run in a folder of traces; return them by paper.

    Each volume that is there is read whole, and refused unless it is the one that was published; of one that
    no paper runs it is told why it is left out.
    """
    needed = {paper.id: volumes(paper.experiment_file) for paper in chosen}
    using = [paper for paper, names in needed.items() if names]
    if not using:
        raise ConfigError(f"--traces: paper {', '.join(needed)} runs no published volume")
    register = load_register(folder / REGISTER)
    names = dict.fromkeys(name for paper in using for name in needed[paper])
    found = look(Path(traces), register, [name for name in names if name in register], left_out)
    return dict.fromkeys(using, found)


def experiments_folder(given: str | None) -> Path:
    """Return the folder of all experiments: the given one, or that which comes with ninescope."""
    if given is not None:
        folder = Path(given)
        if not folder.is_dir():
            problem = "is no folder" if folder.exists() else "there is no such folder"
            raise ConfigError(f"--experiments {given}: {problem}")
        return folder
    return shipped.folder("experiments", "; --experiments DIR says where they are")


def papers(folder: Path) -> list[Paper]:
    """List the papers in a folder of experiments."""
    found = [
        Paper(match[1], entry)
        for entry in sorted(folder.iterdir())
        if entry.is_dir() and (match := _FOLDER.fullmatch(entry.name))
    ]
    for one, other in itertools.pairwise(found):
        if one.id == other.id:
            names = f"{one.folder.name} and {other.folder.name}"
            raise ConfigError(f"{folder}: two folders are paper {one.id}: {names}")
    if not found:
        raise ConfigError(f"{folder}: there is no paper here (folders such as 002-ssr)")
    return found


def chosen(folder: Path, word: str) -> list[Paper]:
    """Return the papers that a word on the command line names: one id, or `all`."""
    known = {paper.id: paper for paper in papers(folder)}
    if word == "all":
        return list(known.values())
    if word not in known:
        raise ConfigError(f"there is no paper {word!r}; there is {', '.join([*known, 'all'])}")
    return [known[word]]
