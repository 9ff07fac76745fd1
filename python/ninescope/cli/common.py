"""What the verbs share: ways out, words of options, and how pairs are printed."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from rich.console import Console

TraceFormat = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="The trace's format, where guessing is wrong."),
]
TraceColumns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="KEY=COLUMN:UNIT,...",
        help="What a text's or a Parquet's columns are: time=ts:us,op=kind,offset=lba:sector,size=len:B.",
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse a trace with lines that cannot be read.")]
Volume = Annotated[
    list[str] | None, typer.Option("--volume", metavar="NAME", help="Only this volume; repeatable.")
]

EXIT_FAILURE = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
EXIT_CLOSED_PIPE = 141
"""What a shell says of a program that SIGPIPE ended, as it ends other tools."""


REPORTS = ("report.html", "comparison.html", "explore.html")
"""What `report` writes into the folder of a result where nobody names a file, of it or of two compared; and
what `explore` does."""


class Interrupted(BaseException):
    """The user or the system asked to stop."""


def time_scale(factor: float) -> float:
    """Return what --time-scale says, if it can be multiplied with."""
    if not (math.isfinite(factor) and factor > 0):
        raise typer.BadParameter(f"--time-scale {factor:g} is not a number greater than 0")
    return factor


@contextlib.contextmanager
def naming_stdin(words: Mapping[str, Any]) -> Iterator[None]:
    """Keep the name of the temporary copy of standard input out of messages."""
    from ninescope._native import ConfigError

    try:
        yield
    except ConfigError as error:
        if words.get("name") != "-":
            raise
        raise ConfigError(str(error).replace(str(words["trace"]), "standard input")) from None


def count(option: str, text: str) -> int:
    """Read a number of something: 1000000, 1_000_000 or 1e6."""
    try:
        value = float(text.replace("_", ""))
    except ValueError:
        value = -1.0
    if not 1 <= value < 1 << 63 or value != int(value):
        raise typer.BadParameter(
            f"{option} wants a whole number from 1 on, such as 1000000 or 1e6, not {text!r}"
        )
    return int(value)


_BEFORE_THE_VERB = ("--policies",)


class Command(TyperCommand):
    """A verb whose options say, where their value is missing, what it may be, and which stand before it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; an option without its value is told its values, a misplaced one its place."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:  # typer does not give the class of this one away
            name, message = getattr(error, "option_name", None), getattr(error, "message", "")
            metavar = next((each.metavar for each in self.params if name in each.opts), None)
            words = str(metavar or "").split("|")
            if "requires an argument" in message and len(words) > 1:
                vars(error)["message"] = f"{message.rstrip('.')}: {', '.join(words[:-1])} or {words[-1]}."
            if name in _BEFORE_THE_VERB and "No such option" in message:
                vars(error).update(
                    message=f"{name} goes before the verb: ninescope {name} FILE {ctx.info_name} ...",
                    possibilities=None,
                )
            raise


def one_of(option: str, word: str, known: tuple[str, ...]) -> str:
    """Return the word that an option was given; an unknown one is answered with the nearest."""
    if word not in known:
        from ninescope.common.catalogue import did_you_mean

        raise typer.BadParameter(f"{option} {word!r} is not known{did_you_mean(word, known)}")
    return word


def html_file(out: str) -> None:
    """Refuse a name that promises another kind of file than HTML."""
    if Path(out).suffix != ".html":
        raise typer.BadParameter(f"--out wants a file that ends in .html, not {out!r}")


def console() -> Console:
    """Return where tables are printed."""
    from rich.console import Console

    from ninescope.text.lines import PAGE

    # A pipe has no width.
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=PAGE)


def print_pairs(pairs: list[tuple[str, str]]) -> None:
    """Print names with a text each, the texts in one column."""
    width = max((len(name) for name, _ in pairs), default=0)
    for name, text in pairs:
        print(f"{name:<{width}}  {text}".rstrip())
