"""A bar that says in a notebook or a terminal how far something is, for whoever calls from Python.

tqdm draws it, where it is installed; the command line has bars of its own.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

from ninescope._native import ConfigError

NEEDED = "a progress bar needs the package tqdm: pip install 'ninescope[notebook]'"
_DELAY = 1.0
"""What ends sooner has no bar [s]."""

Move = Callable[[str, int, int | None], None]
"""Takes what is being done, how much of it is done, and of how much; None: nobody knows."""


class Step(Protocol):
    """A step that is done."""

    @property
    def label(self) -> str:
        """What was done."""
        ...

    @property
    def done(self) -> int:
        """How many are."""
        ...

    @property
    def total(self) -> int:
        """Of how many."""
        ...


S = TypeVar("S", bound=Step)


@contextlib.contextmanager
def shown(wanted: bool | None, unit: str) -> Iterator[Move | None]:
    """Give what moves a bar, or None where there is none.

    With None there is a bar in a notebook, if tqdm is installed. True shows one anywhere, and is refused
    where it is not.
    """
    tqdm = _tqdm(wanted)
    if tqdm is None:
        yield None
        return
    bars: dict[str, Any] = {}  # the one that is shown, by what it says

    def move(what: str, done: int, total: int | None) -> None:
        bar = bars.get(what)
        if bar is None:
            _close(bars)
            bar = bars[what] = tqdm(desc=what, total=total, unit=f" {unit}", delay=_DELAY, leave=False)
        if total is not None and total != bar.total:
            bar.total = total
        bar.update(done - bar.n)

    try:
        yield move
    finally:
        _close(bars)


@contextlib.contextmanager
def of_steps(
    name: str, wanted: bool | None, unit: str, on_step: Callable[[S], None] | None
) -> Iterator[Callable[[S], None] | None]:
    """Give whom steps are to be told: a bar, `on_step`, both, or nobody."""
    with shown(wanted, unit) as move:

        def told(step: S) -> None:
            if on_step is not None:
                on_step(step)
            if move is not None:
                move(name, min(step.done, step.total), step.total)

        yield told if move is not None else on_step


def _close(bars: dict[str, Any]) -> None:
    while bars:
        bars.popitem()[1].close()


def _tqdm(wanted: bool | None) -> Any:
    """Return the class of bars; None where none is wanted."""
    if wanted is False or (wanted is None and not _in_notebook()):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # without ipywidgets it writes text
            from tqdm.auto import tqdm
    except ImportError:
        if wanted is None:
            return None
        raise ConfigError(NEEDED) from None
    return tqdm


def _in_notebook() -> bool:
    """Say whether a kernel of Jupyter runs this process, and is not what a worker was forked from."""
    return "ipykernel" in sys.modules and multiprocessing.parent_process() is None
