"""From what lies in a folder to the document of its report."""

from __future__ import annotations

from pathlib import Path

from ninescope._native import ConfigError
from ninescope.common.files import OF_PAPERS, RESULT
from ninescope.common.written import refuse_as_result
from ninescope.report.document import Document
from ninescope.result import Result
from ninescope.result.saved import refused


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
        refuse_as_result(folder)
        raise ConfigError(
            f"{folder} holds no {RESULT} (of `run --out`) and no {OF_PAPERS} (of `papers run --out`)"
        )
    with refused(folder, "a damaged report of papers"):
        document: Document = of_folder(folder)
    return document


def _of_run(path: Path) -> Document:
    from ninescope.report.single import of_result

    with refused(path / RESULT if path.is_dir() else path, "a damaged result"):
        return of_result(Result.load(path))
