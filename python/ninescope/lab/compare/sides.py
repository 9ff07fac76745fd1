"""What stands on one side of a comparison: one run, or runs of one design with several seeds."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ninescope._native import ConfigError
from ninescope.common.files import RESULT
from ninescope.common.written import refuse_as_result
from ninescope.lab.compare.conditions import differing
from ninescope.result import DATA_OPS, Result
from ninescope.result.saved import refused
from ninescope.text.names import drive_name, workload_name


@dataclasses.dataclass(frozen=True)
class Side:
    """Runs of one design, one for each seed, in the order of their seeds."""

    name: str
    """What it is called in words: "A"."""
    results: tuple[Result, ...]
    source: str = ""
    """Where it comes from."""

    @classmethod
    def of(cls, name: str, results: Result | Sequence[Result], source: str = "") -> Side:
        """Take one result, or replications; refuse runs of several designs, and two with one seed."""
        given = _results(name, results)
        if not given:
            raise ConfigError(f"{name} holds no result")
        runs = sorted(given, key=_seed)
        for one, other in itertools.pairwise(runs):
            if _seed(one) == _seed(other):
                raise ConfigError(f"{name}: two of its runs have the seed {_seed(one)}")
        for other in runs[1:]:
            differences = differing(runs[0], other)
            if differences:
                first = differences[0]
                raise ConfigError(
                    f"{name}: its runs are of several designs, and only seeds may differ: {first.key} is "
                    f"{first.a} with seed {_seed(runs[0])} and {first.b} with seed {_seed(other)}"
                )
        return cls(name, tuple(runs), source)

    @property
    def seeds(self) -> list[int]:
        """The seeds of its runs."""
        return [_seed(result) for result in self.results]

    @property
    def first(self) -> Result:
        """One of its runs, for what they have in common."""
        return self.results[0]

    @property
    def title(self) -> str:
        """What was run on what."""
        return f"{workload_name(self.first)} on {drive_name(self.first)}"

    def only(self, seeds: Sequence[int]) -> Side:
        """Return it with these seeds alone."""
        runs = tuple(result for result in self.results if _seed(result) in seeds)
        return dataclasses.replace(self, results=runs)


def load(name: str, path: Path) -> Side:
    """Read a side: a folder of `run --out`, its result.json, or a folder of such folders."""
    if not path.exists():
        raise ConfigError(f"{str(path)!r} does not exist")
    if path.name == RESULT:
        path = path.parent  # where the tables are that intervals come from
    if not path.is_dir() or (path / RESULT).exists():
        return Side.of(name, _whole(path), str(path))
    folders = sorted(folder for folder in path.iterdir() if (folder / RESULT).exists())
    if not folders:
        refuse_as_result(path)
        raise ConfigError(f"{path} holds no {RESULT} (of `run --out`), and no folder in it does")
    runs = Side.of(str(path), [_whole(folder) for folder in folders])
    return dataclasses.replace(runs, name=name, source=str(path))


def _whole(path: Path) -> Result:
    """Read a result with all that is compared, so that damage is found here, where the file is known."""
    result = Result.load(path)
    with refused(path, "a damaged result"):
        for op in DATA_OPS:
            getattr(result.latency, op)
        _ = result.throughput, result.attribution, result.waf, result.endurance, result.cost
        result.to_polars("series")
    return result


def _results(name: str, given: object) -> list[Result]:
    """Return the results that somebody gave: one, or several."""
    if isinstance(given, Result):
        return [given]
    several = given if isinstance(given, Iterable) and not isinstance(given, str | bytes) else (given,)
    results: list[Result] = []
    for each in several:
        if not isinstance(each, Result):
            hint = "; Result.load reads one" if isinstance(each, str | os.PathLike) else ""
            raise ConfigError(f"{name} is a Result, or several with other seeds, not {each!r}{hint}")
        results.append(each)
    return results


def _seed(result: Result) -> int:
    return int(result.document.get("seed") or 0)
