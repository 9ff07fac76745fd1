"""From what lies in a folder to the document of its report."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from ninescope._native import ConfigError
from ninescope.report.document import Document
from ninescope.result import Result

RESULT = "result.json"
OF_PAPERS = "report.json"


def document_of(path: Path) -> Document:
    """Return the report of a run or of judged claims; whatever is neither is refused in one line."""
    if not path.exists():
        raise ConfigError(f"{str(path)!r} does not exist")
    if path.is_dir() and not (path / RESULT).exists():
        return _of_papers(path)
    if path.name == OF_PAPERS:
        return _of_papers(path.parent)
    return _of_run(path)


def _of_papers(folder: Path) -> Document:
    from ninescope.papers.document import is_of_papers, of_folder

    if not is_of_papers(folder):
        raise ConfigError(
            f"{folder} holds no {RESULT} (of `run --out`) and no {OF_PAPERS} (of `papers run --out`)"
        )
    with _refused(folder, "a damaged report of papers"):
        document: Document = of_folder(folder)
    return document


def _of_run(path: Path) -> Document:
    from ninescope.report.single import of_result

    file = path / RESULT if path.is_dir() else path
    _is_result(file)
    with _refused(file, "a damaged result"):
        return of_result(Result.load(path))


@contextlib.contextmanager
def _refused(path: Path, what: str) -> Iterator[None]:
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


def _is_result(file: Path) -> None:
    """Refuse what is not the JSON of a run."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: is not UTF-8 text (byte {error.start})") from error
    except ValueError as error:
        raise ConfigError(f"{file}: is not JSON ({error})") from error
    if not isinstance(document, dict) or not {"ninescope", "requests", "latency"} & document.keys():
        raise ConfigError(f"{file}: is not a result of ninescope")
