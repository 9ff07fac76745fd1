"""Results that lie in files: read, or refused in one line."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ninescope._native import ConfigError
from ninescope.common.files import RESULT
from ninescope.common.kinds import kind_of
from ninescope.common.written import refuse_as_result


@contextlib.contextmanager
def refused(path: Path, what: str) -> Iterator[None]:
    """Refuse in one line what cannot be read: it is somebody's file, and anything may be wrong with it."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except Exception as error:
        kinds = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
        if isinstance(error, ConfigError) or not (
            isinstance(error, kinds) or type(error).__module__.startswith("polars")
        ):
            raise
        reason = str(error).partition("\n")[0]
        raise ConfigError(f"{path}: is {what} ({type(error).__name__}: {reason})") from error


def _refuse_other_files(file: Path) -> None:
    """Say of a file that is not called JSON what is wanted in its place."""
    if file.suffix == ".json" or not file.is_file():
        return
    kind = kind_of(file) if file.suffix == ".toml" else None
    what = "no result" if kind is None else f"a {kind.name}, not a result"
    raise ConfigError(f"{file}: is {what}; wanted is what `run --out DIR` wrote: DIR, or DIR/{RESULT}")


def document_of(file: Path) -> dict[str, Any]:
    """Read the JSON of a run; refuse what is none."""
    _refuse_other_files(file)
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: is not UTF-8 text (byte {error.start})") from error
    except ValueError as error:
        problem = f"is not JSON ({error})" if file.stat().st_size else "the file is empty"
        raise ConfigError(f"{file}: {problem}") from error
    if not isinstance(document, dict) or not {"ninescope", "requests", "latency"} & document.keys():
        refuse_as_result(file)
        raise ConfigError(f"{file}: is not a result of ninescope")
    return document
