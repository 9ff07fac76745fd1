"""Reading `marks.toml`: why each claim is called calibrated or predicted, in a sentence.

The mark itself follows from `values.toml`; here it is said once more, so that the two cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ninescope import toml
from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.papers.claims import Claims, load_toml
from ninescope.papers.values import Values

FILE = "marks.toml"
_KEYS = ("mark", "because")


def load_marks(path: Path, claims: Claims, values: Values) -> dict[str, str]:
    """Read the reason of each published claim's mark; a paper without the file gives none."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    published = [claim.id for claim in claims.claims if claim.origin != "ours"]
    stored = load_toml(path, text)
    for claim in stored:
        if claim not in published:
            raise ConfigError(
                f"{path}: there is no published claim {claim!r}{did_you_mean(claim, published)}"
            )
    missing = [claim for claim in published if claim not in stored]
    if missing:
        raise ConfigError(f"{path}: {missing[0]}: is missing; every published claim has its reason here")
    return {claim: _reason(path, text, claim, stored[claim], values.mark(claim)) for claim in published}


def _reason(path: Path, text: str, claim: str, words: Any, mark: str) -> str:
    line = toml.line_of(text, "", claim)
    where = f"{path}{f', line {line}' if line else ''}: {claim}"
    if not isinstance(words, Mapping) or sorted(words) != sorted(_KEYS):
        raise ConfigError(f"{where}: must be a table of {' and '.join(_KEYS)}")
    if words["mark"] != mark:
        raise ConfigError(f"{where}.mark: is {words['mark']!r}, and by values.toml the claim is {mark}")
    because = words["because"]
    if not isinstance(because, str) or not because.strip():
        raise ConfigError(f"{where}.because: must be a text")
    return " ".join(because.split())
