"""Drives: what is simulated."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ninescope import _native, extension
from ninescope._native import ConfigError
from ninescope.common import catalogue
from ninescope.common.numbers import whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ninescope.result import Result
    from ninescope.simulation.run import Progress
    from ninescope.simulation.workload import Workload


@dataclasses.dataclass(frozen=True)
class Drive:
    """A drive's configuration: where it comes from and what is changed in it.

    `Drive()` is the default drive: the preset tlc, enlarged where a trace reaches further. What no drive has,
    and what cannot be read, is refused where it is given; numbers out of their range, and what values come to
    together, where the drive is run or checked (`ninescope check`).
    """

    source: Mapping[str, str] | None = None
    settings: tuple[str, ...] = ()
    _given: tuple[tuple[str, str], ...] = dataclasses.field(default=(), repr=False, compare=False)
    """Settings that a program gave, each with how it wrote it: what messages call them."""

    @classmethod
    def preset(cls, name: str) -> Drive:
        """Take a drive that comes with ninescope (`ninescope.presets()` lists them)."""
        return cls({"preset": catalogue.preset(name, "drives").name})

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Drive:
        """Read a drive from a TOML file."""
        from ninescope.common import kinds
        from ninescope.common.files import existing
        from ninescope.common.written import refuse_as_drive

        refuse_as_drive(Path(path))
        given = existing(os.fspath(path), "drive file")
        kinds.refuse_others(given, kinds.DRIVE)
        return cls({"file": given})._looked_at()

    @classmethod
    def from_toml(cls, text: str) -> Drive:
        """Take a drive written as TOML."""
        return cls({"toml": text})._looked_at()

    def with_(self, settings: Mapping[str, object] | None = None, /, **keywords: object) -> Drive:
        """Change keys: `with_({"ftl.over_provisioning": 0.1})` or `with_(ftl__over_provisioning=0.1)`.

        A key that no drive has is refused with the nearest.
        """
        dotted = dict(settings or {})
        changes = dotted | {key.replace("__", "."): value for key, value in keywords.items()}
        given = [(_setting(key, value), f"with_({{{key!r}: {value!r}}})") for key, value in dotted.items()]
        for key, value in keywords.items():
            given.append((_setting(key.replace("__", "."), value), f"with_({key}={value!r})"))
        changed = self.changed(changes)
        return dataclasses.replace(changed, _given=(*self._given, *given))._looked_at()

    def changed(self, settings: Mapping[str, object]) -> Drive:
        """Change keys unseen: for whoever has them looked at afterwards."""
        added = tuple(_setting(key, value) for key, value in settings.items())
        return dataclasses.replace(self, settings=self.settings + added)

    def _looked_at(self) -> Drive:
        """Return this drive if its keys are those of a drive, and their values can be read."""
        self.resolve()
        return self

    @contextlib.contextmanager
    def _as_given(self) -> Iterator[None]:
        """Have messages call settings as they were given to `with_`."""
        try:
            yield
        except ConfigError as error:
            told = str(error)
            for setting, words in self._given:
                if f"--set {setting}" in told:
                    told = _with_words(told.replace(f"--set {setting}", words), setting, words)
            raise ConfigError(told) from None

    def resolve(self) -> str:
        """Return the complete configuration as TOML, every default written out."""
        with self._as_given():
            return _native.resolve_drive(json.dumps(self.request()))

    def added_rber(
        self, suspensions: Sequence[int], cycles: Sequence[int], *, loops: int = 1
    ) -> NDArray[np.float64]:
        """Return what suspensions in one erase add to the raw bit error rate of its block.

        One row per number of P/E cycles, one column per number of suspensions. The drive has to say what an
        erase bears (`nand.suspend_limit`, a table whose constants most presets do not have).
        """
        import numpy as np

        request = json.dumps(self.request())
        with self._as_given():
            return np.array(_native.added_rber(request, loops, list(cycles), list(suspensions)))

    def run(
        self,
        workload: Workload,
        *,
        seed: int = 1,
        warmup: int | float | None = None,
        requests: int | float | None = None,
        duration: str | None = None,
        prefill: str = "footprint",
        prefill_order: str = "ascending",
        log_requests: bool = False,
        check: str = "off",
        explain_slowest: int | None = None,
        trace_window: tuple[str, str] | None = None,
        snapshots: str | os.PathLike[str] | None = None,
        from_snapshot: str | os.PathLike[str] | None = None,
        alone: bool = False,
        progress: bool | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Result:
        """Run a workload on this drive.

        `warmup` (requests, or a share below 1) are run and left out of the statistics; None leaves out what a
        job leads in with on a drive prepared to a steady state, and else nothing. `prefill` is "footprint",
        "full", "raw", "steady", "steady-uniform" ("steady-overwritten" and "steady-composed" say how) or
        "none", and `prefill_order` "ascending" or "random", which lays neighbours apart. `log_requests` keeps
        one row per request. `check` is "off", "cheap" or "full": a checker walks beside the run, and
        SimulationError says which invariant broke.
        `explain_slowest` tells the way of so many of the slowest reads and writes (`result.slowest`).
        `trace_window`, as ("10ms", "12ms"), keeps a timeline of all dies and channels (`result.timeline`).
        `snapshots` is a folder of prepared drives: one that is there is not prepared again, one that is not
        is kept there; a damaged one is warned of and replaced. `from_snapshot` is the file of the prepared
        drive. Neither changes anything in the result.
        `alone` runs each of several jobs also alone on the drive as it is prepared for all of them, and says
        how much slower it was than that (`job.slowdown`, `result.fairness`).
        `progress` shows a bar (of tqdm, the extra `notebook`): True anywhere, False nowhere, None in
        notebooks where tqdm is installed. `on_progress` is called about 20 times a second.
        """
        from ninescope.simulation.alone import check_several, compare_with_alone
        from ninescope.simulation.run import Run, request

        asked = request(
            self,
            workload,
            seed=seed,
            warmup=warmup,
            requests=requests,
            duration=duration,
            prefill=prefill,
            prefill_order=prefill_order,
            log_requests=log_requests,
            check=check,
            explain_slowest=explain_slowest,
            trace_window=trace_window,
            snapshots=snapshots,
            from_snapshot=from_snapshot,
        )
        with self._as_given():
            run = Run(asked)
        if alone:
            check_several(run)
        result = run.to_end(on_progress, progress)
        for remark in [*workload.remarks(), *run.remarks()]:
            warnings.warn(remark, RuntimeWarning, stacklevel=2)
        if alone:
            compare_with_alone(result, asked, lambda run: run.to_end(on_progress, progress))
        return result

    def save_snapshot(
        self,
        path: str | os.PathLike[str],
        *,
        workload: Workload | None = None,
        prefill: str = "steady",
        prefill_order: str = "ascending",
        seed: int = 1,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        """Prepare this drive and write it into a file, for `run(..., from_snapshot=path)`.

        The workload matters only where preparing depends on it: for the prefill "footprint", for "steady",
        which is by its writes (uniform ones without a workload), and for the default drive, which is sized
        to it.
        """
        from ninescope.simulation.snapshots import check_target, preparation

        check_target(Path(path))
        with self._as_given():
            preparing = preparation(self, workload, prefill=prefill, prefill_order=prefill_order, seed=seed)
        for progress in preparing.slices():
            if on_progress is not None:
                on_progress(progress)
        preparing.save(path)

    def request(self) -> dict[str, Any]:
        """Return this drive's part of a run request."""
        extension.load()
        return {"drive": dict(self.source) if self.source else None, "set": list(self.settings)}


def _setting(key: str, value: object) -> str:
    """Write a change as `--set` takes it."""
    return f"{key}={_toml_value(value)}"


def _with_words(message: str, setting: str, words: str) -> str:
    """Write the keys that a message proposes as whoever wrote `words` would."""
    key, _, value = setting.partition("=")
    if value.startswith("{"):
        return message  # of a key within it
    table = key.rpartition(".")[0]
    is_keyword = not words.startswith("with_({")

    def proposed(match: re.Match[str]) -> str:
        key = match[1] if "." in match[1] or not table else f"{table}.{match[1]}"
        return f"`{key.replace('.', '__') if is_keyword else key}`"

    told, mean, proposals = message.partition("did you mean ")
    is_key = "unknown field" in told
    return told + mean + (re.sub("`([^`]*)`", proposed, proposals) if is_key else proposals)


def _toml_value(value: object) -> str:
    """Write a value as `--set` takes it: strings bare, the rest as TOML."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_quoted(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_quoted(item) for item in value) + "]"
    return str(whole(value))


def _quoted(value: object) -> str:
    return json.dumps(value) if isinstance(value, str) else _toml_value(value)
