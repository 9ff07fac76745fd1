"""Files: never half-written, and known to be writable before the work starts."""

from __future__ import annotations

import contextlib
import difflib
import gzip
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ninescope._native import ConfigError

_COMPRESSED = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst", b"PAR1": ".parquet"}


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Give a temporary sibling to write to; it takes its place only when the block ends well."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    except Exception as error:
        # A full disk or a size limit reaches us in the words of whoever was writing.
        if not isinstance(error, OSError) and not type(error).__module__.startswith("polars"):
            raise
        reason = (isinstance(error, OSError) and error.strerror) or str(error).partition("\n")[0]
        raise ConfigError(f"cannot write {path}: {reason}") from error
    finally:
        with contextlib.suppress(OSError):  # it is not there, or its folder is none
            temporary.unlink()


@contextlib.contextmanager
def output_directory(path: Path) -> Iterator[Path]:
    """Make a directory for results and prove that it can be written; take it away again when nothing came."""
    if path.exists() and not path.is_dir():
        raise ConfigError(f"cannot write to {path}: it is not a directory")
    created = []
    for directory in (path, *path.parents):
        if directory.exists():
            break
        created.append(directory)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise ConfigError(f"cannot write to {path}: {error.strerror}") from error
    try:
        yield path
    finally:
        with contextlib.suppress(OSError):  # not empty: there are results
            for directory in created:
                directory.rmdir()


@contextlib.contextmanager
def spooled(stream: BinaryIO) -> Iterator[Path]:
    """Copy a stream into a compressed temporary file, because a trace is read more than once."""
    head = stream.read(4)
    suffix = next((end for magic, end in _COMPRESSED.items() if head.startswith(magic)), None)
    with tempfile.TemporaryDirectory(prefix="ninescope-") as directory:
        path = Path(directory, f"stdin{suffix or '.gz'}")
        with path.open("wb") if suffix else gzip.open(path, "wb", compresslevel=1) as file:
            file.write(head)
            shutil.copyfileobj(stream, file, 1 << 20)
        yield path


def _shipped(name: str) -> str:
    """Say of a bare name that is shipped what it is, and what is done with it."""
    from ninescope.catalogue import PRESET_KINDS, presets

    verbs = {
        "drives": "--drive NAME",
        "jobs": "ninescope run NAME",
        "profiles": "ninescope trace generate NAME",
    }
    for kind in PRESET_KINDS:
        if any(preset.name == name for preset in presets(kind)):
            return f"; it is one of the {kind} that come with ninescope ({verbs[kind].replace('NAME', name)})"
    return ""


def existing(path: str, what: str) -> str:
    """Return a path that can be read; a mistyped name is answered with its nearest neighbour."""
    try:
        with open(path, "rb"):
            return path
    except FileNotFoundError:
        hint = ""
        with contextlib.suppress(OSError):
            folder, name = os.path.split(path)
            for close in difflib.get_close_matches(name, os.listdir(folder or "."), n=1, cutoff=0.7):
                hint = f"; did you mean {os.path.join(folder, close)!r}?"
        hint = hint or _shipped(path)
        raise ConfigError(f"{what} {path!r} does not exist{hint}") from None
    except OSError as error:
        raise ConfigError(f"{what} {path!r}: {error.strerror}") from error


def text_of(path: str) -> str:
    """Return the text of a file that somebody wrote; what is none is told by its name."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not a text file") from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
