"""Which ninescope simulates: a hash over the package and its engine, as far as they have a part in results.

Results that are kept for later are named by it, so that those of another build are never taken for these.
"""

from __future__ import annotations

import functools
import hashlib
import os
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path

import ninescope
from ninescope import _native

WITHOUT_PART = (
    "cli",
    "figures",
    "lab",
    "papers/catalogue.py",
    "papers/claims.py",
    "papers/document.py",
    "papers/judge.py",
    "papers/machine.py",
    "papers/marks.py",
    "papers/points.py",
    "papers/published.py",
    "papers/record.py",
    "papers/report.py",
    "papers/runner.py",
    "papers/sensitivity.py",
    "papers/together.py",
    "pictures",
    "report",
    "result/metrics.py",
    "result/saved.py",
    "text",
)
"""Parts that show, keep or start what others find: a change of them makes no result another one."""


def this_worker() -> str:
    """Name this process among those of a cluster."""
    return f"{socket.gethostname()}:{os.getpid()}"


def of_another(worker: str, its: str, wanted: str) -> str:
    """Say that a worker simulates as another build than was wanted."""
    return (
        f"worker {worker} runs another build of ninescope ({its}, and this is {wanted}): "
        "install the same one on all workers"
    )


@functools.cache
def build(*with_part: str) -> str:
    """Say which ninescope simulates, by the content of the package and its engine.

    `with_part` are files of `WITHOUT_PART` that the caller's results depend on all the same.
    """
    package = Path(ninescope.__file__).parent
    others = [package / name for name in WITHOUT_PART]
    sources = [
        path
        for path in sorted(package.rglob("*.py"))
        if "__pycache__" not in path.parts
        and not any(part == path or part in path.parents for part in others)
    ]
    more = [package / name for name in with_part]
    return digest([*sources, *more, Path(_native.__file__ or "")], package)


def digest(files: Iterable[Path], root: Path) -> str:
    """Return a hash over names and contents of files."""
    found = hashlib.sha256()
    for part in _parts(files, root):
        found.update(len(part).to_bytes(8, "little") + part)
    return found.hexdigest()[:16]


def _parts(files: Iterable[Path], root: Path) -> Iterator[bytes]:
    for path in files:
        name = path.relative_to(root) if path.is_relative_to(root) else Path(path.name)
        yield name.as_posix().encode()
        yield path.read_bytes()
