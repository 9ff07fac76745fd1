"""Policies that come with other packages, or in files that the environment names.

Every process that reads a drive loads them, workers of sweeps among them: what is added in a program's own
`__main__` is not known to its workers.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import threading
import traceback
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from ninescope._native import ConfigError

GROUP = "ninescope.policies"
"""The group of entry points: each names a module that adds policies when it is imported."""
VARIABLE = "NINESCOPE_POLICIES"
"""Files (`mine.py`) and modules, with `os.pathsep` between them."""


_loading: set[int] = set()
"""The threads that load them: what they load must not ask for policies itself."""


@lru_cache(maxsize=1)
def load() -> None:
    """Load them, once in a process."""
    thread = threading.get_ident()
    if thread in _loading:
        raise ConfigError(
            "it reads a drive while it is loaded; what runs drives belongs behind "
            '`if __name__ == "__main__":`'
        )
    _loading.add(thread)
    try:
        for plugin in entry_points(group=GROUP):
            _load_plugin(plugin)
        for place in os.environ.get(VARIABLE, "").split(os.pathsep):
            if place:
                load_from(place, f"--policies or {VARIABLE}")
    finally:
        _loading.discard(thread)


def _load_plugin(plugin: EntryPoint) -> None:
    try:
        plugin.load()
    except Exception as error:  # whatever it is, whose package it is has to be said
        package = plugin.dist.name if plugin.dist else plugin.value
        raise ConfigError(
            f"the policies of the package {package} ({plugin.value}) do not load: {error}"
        ) from error


def load_from(place: str, named_by: str) -> None:
    """Load a file or module."""
    try:
        if place.endswith(".py"):
            _run_file(Path(place))
        else:
            importlib.import_module(place)
    except Exception as error:
        raise ConfigError(f"{named_by}: {place} does not load: {_told(error, place)}") from error


def _told(error: Exception, place: str) -> str:
    """Say what is wrong, and in which line of the file."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == place]
    at = f" (line {lines[-1]})" if lines else ""
    return f"{error if isinstance(error, ConfigError) else f'{type(error).__name__}: {error}'}{at}"


def _run_file(file: Path) -> None:
    """Import a file by its path."""
    name = f"ninescope_policies_{file.stem}"
    found = importlib.util.spec_from_file_location(name, file)
    if found is None or found.loader is None or not file.is_file():
        raise FileNotFoundError("there is no such file")
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    found.loader.exec_module(module)
