"""Optuna behind a few words: proposals that depend on the seed and what was told, and on nothing else.

    with Optimiser(journal, space, fixed, ...) as optimiser:
        design = optimiser.ask(0)
        optimiser.tell(0, values, violations)

All that is asked and told is in a journal (`optuna.storages.journal`), line by line. Whoever is killed
at any moment and opens the journal again is proposed what would have been proposed: each value is drawn with
a generator of its own, named by seed, trial and parameter, so that nothing depends on how often a process was
begun.

Only this module imports Optuna.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from ninescope._native import ConfigError
from ninescope.common.files import TakenError, take_lock
from ninescope.lab.search.space import Design, Parameter, Raw, Space

NEEDED = "a search needs the package optuna: pip install 'ninescope[sweep]'"
STARTUP = 12
"""So many designs are drawn at random before any is modelled."""
POPULATION = 16
"""Of NSGA-II: few, because designs are dear."""
_AMERICAN = {"minimise": "minimize", "maximise": "maximize"}
_IDENTITY = "ninescope"
_VIOLATIONS = "violations"


def optuna() -> Any:
    """Import Optuna, or say what is missing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import optuna as module
    except ImportError:
        raise ConfigError(NEEDED) from None
    module.logging.set_verbosity(module.logging.ERROR)
    return module


class Optimiser:
    """A study that goes on where it was left."""

    def __init__(
        self,
        journal: Path | None,
        space: Space,
        fixed: Mapping[str, Any],
        *,
        directions: Sequence[str],
        sampler: str,
        seed: int,
    ) -> None:
        """Open a journal, or begin one; None: in memory alone."""
        self._optuna = optuna()
        self._space, self._fixed = space, fixed
        self._lock = _locked(journal) if journal is not None else None
        try:
            make = _makers(self._optuna)[sampler]
            self._study = self._quietly(
                self._optuna.create_study,
                study_name="search",
                storage=self._storage(journal),
                sampler=_repeatable(self._optuna, make, seed),
                directions=[_AMERICAN[direction] for direction in directions],
                load_if_exists=True,
            )
        except BaseException:
            self.close()
            raise

    def _storage(self, journal: Path | None) -> Any:
        storages = self._optuna.storages
        if journal is None:
            return storages.InMemoryStorage()
        mend(journal)
        return storages.JournalStorage(_journal_file(self._optuna, journal))

    @property
    def identity(self) -> str | None:
        """Return what the study was begun for; None where it is new."""
        return self._study.user_attrs.get(_IDENTITY)  # type: ignore[no-any-return]

    @identity.setter
    def identity(self, value: str) -> None:
        self._study.set_user_attr(_IDENTITY, value)

    def ask(self, number: int, instead: Design | None = None) -> Design:
        """Return the design of a trial; one that was asked for before is proposed as it was then.

        `instead` is what is tried whatever the sampler would propose.
        """
        known = self._study.get_trials(deepcopy=False)
        if number > len(known):
            raise ValueError(f"trial {number} comes after {len(known)}")
        waiting = self._optuna.trial.TrialState.WAITING
        if number == len(known) or known[number].state == waiting:
            if instead is not None and number == len(known):
                self._quietly(self._study.enqueue_trial, instead)
            trial = self._quietly(self._study.ask)
        elif known[number].state.is_finished():
            params = known[number].params
            return self._space.design(lambda each: _raw(each, params[each.name]), self._fixed)
        else:
            trial = self._quietly(self._optuna.trial.Trial, self._study, known[number]._trial_id)
        design: Design = self._quietly(self._space.design, lambda each: _suggested(trial, each), self._fixed)
        return design

    def is_told(self, number: int) -> bool:
        """Say whether a trial was told."""
        known = self._study.get_trials(deepcopy=False)
        return number < len(known) and known[number].state.is_finished()

    def tell(self, number: int, values: Sequence[float] | None, violations: Sequence[float]) -> None:
        """Say what a trial came to: values (None: nothing), and by how much each constraint is missed."""
        if self.is_told(number):
            return
        if values is None:
            self._quietly(self._study.tell, number, state=self._optuna.trial.TrialState.FAIL)
            return
        trial = self._study.get_trials(deepcopy=False)[number]
        self._study._storage.set_trial_user_attr(trial._trial_id, _VIOLATIONS, list(violations))
        self._quietly(self._study.tell, number, [min(max(value, -1e300), 1e300) for value in values])

    def importance(self, target: Callable[[int], float | None]) -> dict[str, float]:
        """Return the share of a number that each parameter is behind (PED-ANOVA), of trials that have it.

        Nothing where there are too few trials.
        """
        optuna_ = self._optuna
        trials = [
            optuna_.trial.create_trial(params=each.params, distributions=each.distributions, value=value)
            for each in self._study.get_trials(deepcopy=False)
            if each.state.is_finished() and (value := target(each.number)) is not None
        ]
        if len(trials) < 2 * STARTUP:
            return {}
        study = optuna_.create_study()
        study.add_trials(trials)
        try:
            found = self._quietly(optuna_.importance.get_param_importances, study)
        except (ValueError, RuntimeError):
            return {}
        return {name: round(float(share), 4) for name, share in found.items()}

    @staticmethod
    def _quietly(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """Call without Optuna's remarks on what is experimental in it: its version is pinned."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*arguments, **keywords)

    def close(self) -> None:
        """Let others have the journal."""
        if self._lock is not None and self._lock >= 0:
            os.close(self._lock)
        self._lock = None

    def __enter__(self) -> Optimiser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _suggested(trial: Any, parameter: Parameter) -> Raw:
    """Ask for the value of a parameter."""
    if parameter.kind == "choice":
        return str(trial.suggest_categorical(parameter.name, list(parameter.labels)))
    if parameter.kind == "ordered":
        return int(trial.suggest_int(parameter.name, 0, len(parameter.rows) - 1))
    if parameter.kind == "whole":
        ends = int(parameter.low), int(parameter.high)
        return int(trial.suggest_int(parameter.name, *ends, log=parameter.log))
    found = trial.suggest_float(parameter.name, parameter.low, parameter.high, log=parameter.log)
    return _raw(parameter, found)


def _raw(parameter: Parameter, stored: Any) -> Raw:
    """Return the value that is tried for one in the journal."""
    if parameter.kind == "real":
        return parameter.rounded(float(stored))
    return str(stored) if parameter.kind == "choice" else int(stored)


def _makers(module: Any) -> dict[str, Callable[[int], Any]]:
    """Return what makes a sampler of each kind with a seed."""

    def violations(trial: Any) -> Sequence[float]:
        found: Sequence[float] = trial.user_attrs.get(_VIOLATIONS, [0.0])
        return found

    return {
        "tpe": lambda seed: module.samplers.TPESampler(
            seed=seed, n_startup_trials=STARTUP, multivariate=True, group=True, constraints_func=violations
        ),
        "nsga2": lambda seed: module.samplers.NSGAIISampler(
            seed=seed, population_size=POPULATION, constraints_func=violations
        ),
    }


def _repeatable(module: Any, make: Callable[[int], Any], seed: int) -> Any:
    """Return a sampler that draws each value anew from seed, trial and parameter."""

    class Repeatable(module.samplers.BaseSampler):  # type: ignore[misc]
        def _of(self, trial: Any, what: str) -> Any:
            return make(derived(seed, trial.number, what))

        def infer_relative_search_space(self, study: Any, trial: Any) -> Any:
            self._relative = self._of(trial, "relative")
            return self._relative.infer_relative_search_space(study, trial)

        def sample_relative(self, study: Any, trial: Any, search_space: Any) -> Any:
            return self._relative.sample_relative(study, trial, search_space)

        def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: Any) -> Any:
            sampler = self._of(trial, param_name)
            return sampler.sample_independent(study, trial, param_name, param_distribution)

        def before_trial(self, study: Any, trial: Any) -> None:
            self._of(trial, "before").before_trial(study, trial)

        def after_trial(self, study: Any, trial: Any, state: Any, values: Any) -> None:
            self._of(trial, "after").after_trial(study, trial, state, values)

    return Repeatable()


def derived(seed: int, number: int, what: str) -> int:
    """Return the seed of one draw."""
    return int.from_bytes(hashlib.sha256(f"{seed} {number} {what}".encode()).digest()[:4], "little")


# ---- the journal ----------------------------------------------------------------------------------------


def mend(journal: Path) -> None:
    """Take away what a killed writer left half-written at the end of a journal.

    A damaged line before that is an error: what follows depends on it.
    """
    try:
        content = journal.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise ConfigError(f"{journal}: {error.strerror}") from error
    good = 0
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        is_whole = line.endswith(b"\n")
        try:
            json.loads(line)
        except ValueError:
            if good + len(line) < len(content):
                raise ConfigError(
                    f"{journal}, line {number}: is damaged; without the journal the search begins anew "
                    "(points that the lake has are not run again)"
                ) from None
            is_whole = False
        if not is_whole:
            break
        good += len(line)
    if good < len(content):
        with open(journal, "r+b") as file:
            file.truncate(good)


def _locked(journal: Path) -> int:
    """Keep other processes from the journal for as long as this one lives."""
    lock = journal.with_suffix(".lock")
    try:
        journal.parent.mkdir(parents=True, exist_ok=True)
        return take_lock(lock)
    except OSError as error:
        raise ConfigError(f"{lock}: {error.strerror}") from error
    except TakenError as by:
        raise ConfigError(
            f"the search {journal.stem} of this lake is being run by another process{by}: wait for it, or "
            "give this one another `name`"
        ) from None


def _journal_file(module: Any, journal: Path) -> Any:
    """Return the journal, written by this process alone: no line needs a lock or a disk that has caught up.

    What a power cut takes away of its end is asked for again, and is the same again.
    """

    class JournalFile(module.storages.journal.JournalFileBackend):  # type: ignore[misc]
        def append_logs(self, logs: list[dict[str, Any]]) -> None:
            lines = "".join(json.dumps(log, separators=(",", ":")) + "\n" for log in logs)
            try:
                with open(journal, "ab") as file:
                    file.write(lines.encode())
            except OSError as error:
                raise ConfigError(f"cannot write {journal}: {error.strerror}") from error

    return JournalFile(str(journal))
