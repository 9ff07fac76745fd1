"""Files: never half-written, writable before the work starts, and written by one process at a time."""

from __future__ import annotations

import contextlib
import difflib
import gzip
import json
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ninescope._native import ConfigError
from ninescope.common.catalogue import PRESET_KINDS, presets

try:
    import fcntl
except ImportError:  # then nobody is refused
    fcntl = None  # type: ignore[assignment]

_COMPRESSED = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst", b"PAR1": ".parquet"}


RESULT = "result.json"
"""The file of a result, in the folder that `run --out` writes."""
CONFIG = "config.toml"
"""The drive of a result, beside it."""
LAKE_MARK = "lake.json"
"""The file that makes a folder a lake of results."""
COMPARISON = "comparison.json"
"""The file of a comparison, in the folder that `compare --out` writes."""
OF_PAPERS = "report.json"
"""The file of a paper whose claims were judged, in the folder that `papers run --out` writes."""
TABLES = ("latency.parquet", "latency_blocks.parquet", "series.parquet", "requests.parquet")
"""What stands beside the JSON of a result."""
WRITTEN_ALONE = {RESULT: "the result of a run", COMPARISON: "a comparison"}
"""What makes a folder that of one result."""
_LOCK = ".ninescope.lock"
_TRIES = 4
_A_MOMENT = 0.05
"""So often, and after so long, a lock that others share is asked for again [s]."""
_LEFT_OVER = re.compile(r"\..+\.\d+\.tmp")
"""What `written_whole` writes to; of a process that was killed it is left behind."""
_held: dict[str, int] = {}
"""How often this process has each lock: what it does within what it does is no other's."""
_locks: dict[str, int] = {}
"""The open file of each, which the last to give it up closes."""
_taking = threading.Lock()


@contextlib.contextmanager
def alone(lock: Path, what: Path, *, together: bool = False) -> Iterator[None]:
    """Keep other processes from writing something meanwhile; refuse where another one does.

    Those that write `together`, as runners of one lake do, keep out only whoever does not. The system gives
    the lock up with the process that has it, however that ends: a file that is left behind keeps nobody out.
    """
    name = os.path.realpath(lock)
    with _taking:
        if name not in _held:
            try:
                descriptor = _take_with_others(Path(name)) if together else take_lock(Path(name))
            except TakenError as by:
                raise ConfigError(f"cannot write to {what}: another ninescope is writing it{by}") from None
            except OSError as error:
                raise ConfigError(f"cannot write to {what}: {error.strerror}") from error
            _held[name], _locks[name] = 0, descriptor
        _held[name] += 1
    try:
        yield
    finally:
        with _taking:
            _held[name] -= 1
            if not _held[name]:
                del _held[name]
                _give_up(name, _locks.pop(name))


def _give_up(name: str, descriptor: int) -> None:
    """Give up a lock, and take its file away where nobody else has it."""
    if descriptor < 0:
        return
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails where others write together with this
        if os.path.samestat(os.fstat(descriptor), os.stat(name)):
            os.unlink(name)  # while it is held: nobody has this file who was not refused
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # also of processes that were forked meanwhile
    os.close(descriptor)


def _take_with_others(path: Path) -> int:
    """Take a lock that others may have at the same time."""
    for _ in range(_TRIES):
        with contextlib.suppress(TakenError):
            return take_lock(path, together=True)
        time.sleep(_A_MOMENT)  # whoever has it may be taking the file away
    return take_lock(path, together=True)


class TakenError(Exception):
    """Another process has a lock; in words which, where it says."""


def take_lock(path: Path, *, together: bool = False) -> int:
    """Take a lock and return its open file, which has it until it is closed; -1: no locks are known here.

    Any number may have it `together`, while nobody has it alone; these write no number of a process into it.
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if together else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            by = os.read(descriptor, 32).decode("ascii", "replace").strip()
            os.close(descriptor)
            raise TakenError(f" (process {by})" if by else "") from None
        except (AttributeError, OSError):  # of the system, or of the file system
            os.close(descriptor)
            return -1
        # Whoever had it may have taken it away in between: then this is a lock on nothing.
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                os.truncate(descriptor, 0)
                if not together:
                    os.write(descriptor, f"{os.getpid()}\n".encode())
                return descriptor
        os.close(descriptor)


@contextlib.contextmanager
def output_file(path: Path) -> Iterator[Path]:
    """Give a temporary sibling to write to, as `written_whole` does, to one process at a time."""
    if not path.parent.is_dir():
        raise ConfigError(f"cannot write {path}: there is no folder {str(path.parent)!r}")
    with alone(path.with_name(f".{path.name}.lock"), path), written_whole(path) as temporary:
        yield temporary


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
def output_directory(path: Path, *, shared: bool = False, together: bool = False) -> Iterator[Path]:
    """Make a directory for results and prove that it can be written; take it away again when nothing came.

    It is one process's alone until the block ends; a `shared` one holds files that are nobody's together, and
    one that is written `together` belongs to all who say so.
    """
    if path.exists() and not path.is_dir():
        raise ConfigError(f"cannot write to {path}: it is not a directory")
    if not shared and not together and (path / LAKE_MARK).exists():
        raise ConfigError(
            f"cannot write to {path}: it is a lake of results ({LAKE_MARK}), which shares its folder with "
            "nothing else; name another one"
        )
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
        with contextlib.nullcontext() if shared else alone(path / _LOCK, path, together=together):
            if not shared and not together:
                _sweep_up(path)
            yield path
    finally:
        with contextlib.suppress(OSError):  # not empty: there are results
            for directory in created:
                directory.rmdir()


def _sweep_up(path: Path) -> None:
    """Take away what a process that was killed had half written here: nobody else writes now."""
    if _held.get(os.path.realpath(path / _LOCK)) != 1:
        return
    for file in path.iterdir():
        if _LEFT_OVER.fullmatch(file.name):
            with contextlib.suppress(OSError):
                file.unlink()


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


def json_of(path: str) -> Any:
    """Return what a JSON file holds; what is none is told by its name."""
    text = text_of(path)
    if not text.strip():
        raise ConfigError(f"{path}: the file is empty")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{path}: is not JSON (line {error.lineno}, column {error.colno}: {error.msg})"
        ) from None
