"""From what lies in a folder to the document of its report."""

from __future__ import annotations

import json
from pathlib import Path

from ninescope._native import ConfigError
from ninescope.report.document import Document
from ninescope.result import Result

CLAIMS = "claims.json"
RESULT = "result.json"


def document_of(path: Path) -> Document:
    """Return the report of a run or of judged claims; whatever is neither is refused in one line."""
    if path.is_dir():
        if (path / RESULT).exists():
            return _of_run(path)
        if (path / CLAIMS).exists() or any(path.glob(f"*/{CLAIMS}")):
            from ninescope.papers.document import of_folder

            document: Document = of_folder(path)
            return document
        raise ConfigError(
            f"{path} holds no {RESULT} (of `run --out`) and no {CLAIMS} (of `papers run --out`)"
        )
    if not path.exists():
        raise ConfigError(f"{str(path)!r} does not exist")
    return _of_run(path)


def _of_run(path: Path) -> Document:
    from ninescope.report.single import of_result

    file = path / RESULT if path.is_dir() else path
    _is_result(file)
    try:
        return of_result(Result.load(path))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except Exception as error:
        # It is somebody's file: anything may be missing from it or be of another kind, in tables as well.
        kinds = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
        if not isinstance(error, kinds) and not type(error).__module__.startswith("polars"):
            raise
        reason = str(error).partition("\n")[0]
        raise ConfigError(f"{file}: is a damaged result ({type(error).__name__}: {reason})") from error


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
