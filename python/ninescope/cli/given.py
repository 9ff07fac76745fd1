"""The drive and the workload that somebody describes on the command line.

How they are run, and which verb asks for them, is not known here.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ninescope.cli.common import naming_stdin
from ninescope.cli.common import time_scale as checked_time_scale

if TYPE_CHECKING:
    from ninescope.simulation.drive import Drive
    from ninescope.simulation.workload import Workload


_OF_FILES = ("format", "columns", "volume", "volumes")
"""Words of a replay that are about the file of a trace."""


def workload_of(
    source: str | None,
    job: dict[str, Any],
    replay: dict[str, Any],
    limit: int | None,
    seed: int,
    stack: contextlib.ExitStack,
) -> Workload:
    """Return the workload of an argument, of the words of a job and of those of a replay."""
    from ninescope.simulation.workload import Workload

    job = {key: value for key, value in job.items() if value is not None}
    replay = {key: value for key, value in replay.items() if value is not None and value is not False}
    if source is None:
        if not job:
            raise typer.BadParameter("nothing to run: give a trace, a job file or --rw")
        if "rw" not in job:
            describe = "describes" if len(job) == 1 else "describe"
            raise typer.BadParameter(f"{_options(job)} {describe} a job, which also needs --rw")
        if replay:
            raise typer.BadParameter(f"{_options(replay)} is about traces, and this is a job")
        return Workload.job(**job, **({} if limit is None else {"requests": limit}))
    if job:
        hint = " (--closed-loop makes it one of traces)" if "iodepth" in job else ""
        raise typer.BadParameter(
            f"{_options(job)} describes a job{hint}, and {source!r} is already a workload"
        )

    from ninescope.common.files import existing, spooled

    is_job = source != "-" and Path(source).suffix in (".toml", ".fio")
    if "time_scale" in replay and not is_job:
        checked_time_scale(replay["time_scale"])
    if source == "-":
        path = stack.enter_context(spooled(sys.stdin.buffer))
        with naming_stdin({"trace": path, "name": source}):
            trace = Workload.trace(path, **replay)
        return Workload({**trace.words, "name": "-"})
    profile = _profile(source)
    if profile is not None:
        of_files = {key: value for key, value in replay.items() if key in _OF_FILES}
        if of_files:
            raise typer.BadParameter(
                f"{_options(of_files)} is about trace files, and {source!r} is a profile"
            )
        return Workload.profile(profile, requests=limit, seed=seed, **replay)
    is_shipped = _is_shipped_job(source)
    if is_job or is_shipped:
        if replay:
            raise typer.BadParameter(f"{_options(replay)} is about traces, and {source!r} is a job")
        return Workload.preset(source) if is_shipped else Workload.job_file(existing(source, "job file"))
    _refuse_unknown_name(source)
    _refuse_mqsim(source)
    return Workload.trace(source, **replay)


def _is_shipped_job(source: str) -> bool:
    from ninescope.common.catalogue import presets

    return not Path(source).exists() and any(preset.name == source for preset in presets("jobs"))


def _refuse_unknown_name(source: str) -> None:
    """Say of what neither exists nor looks like a file which names there are."""
    from ninescope.common.catalogue import did_you_mean, presets

    if Path(source).exists() or os.sep in source or "." in source:
        return
    names = [preset.name for kind in ("jobs", "profiles") for preset in presets(kind)]
    raise typer.BadParameter(
        f"{source!r} is no file, and no job or profile has that name{did_you_mean(source, names)}"
    )


def _refuse_mqsim(source: str) -> None:
    """Say of a file of MQSim what becomes of it here."""
    from ninescope.mqsim.document import import_command, kind_of

    kind = kind_of(source)
    if kind is not None:
        raise typer.BadParameter(
            f"{source}: {kind} of MQSim; {import_command(source)} makes files for ninescope of it"
        )


def _profile(source: str) -> str | None:
    """Return the profile that is meant, if one is: a shipped one, or a file with the keys of one."""
    from ninescope.common.catalogue import shipped_profiles
    from ninescope.common.kinds import is_profile

    if Path(source).exists():
        return source if source.endswith(".toml") and is_profile(source) else None
    return source if source in shipped_profiles() else None


def _options(words: dict[str, Any]) -> str:
    return ", ".join(f"--{word.replace('_', '-')}" for word in words)


def drive_of(name: str | None, settings: list[str]) -> Drive:
    """Return the drive of `--drive` and `--set`."""
    from ninescope._native import ConfigError
    from ninescope.common.written import refuse_as_drive
    from ninescope.simulation.drive import Drive

    for setting in settings:
        if "=" not in setting:
            raise typer.BadParameter(f"--set wants key=value, not {setting!r}")
    if name is None:
        drive = Drive()
    elif name.endswith((".toml", ".json")) or os.sep in name:
        _refuse_mqsim(name)
        drive = Drive.from_file(name)
    else:
        try:
            drive = Drive.preset(name)
        except ConfigError as error:
            if Path(name).exists():
                refuse_as_drive(Path(name))
            raise ConfigError(f"--drive: {error} (a file ends in .toml)") from None
    return Drive(drive.source, tuple(settings))
