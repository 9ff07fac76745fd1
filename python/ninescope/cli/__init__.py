"""The command line: one module per verb, put together here.

A verb that is typed is imported alone, and imports itself what is heavy: `run` and `--help` are quick.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import FrameType, ModuleType
from typing import Annotated, NoReturn

import typer

from ninescope.cli.common import (
    EXIT_BAD_INPUT,
    EXIT_CLOSED_PIPE,
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    Command,
    Interrupted,
)

VERBS: Mapping[str, Callable[[], ModuleType]] = {
    "run": lambda: import_module("ninescope.cli.run"),
    "replay": lambda: import_module("ninescope.cli.replay"),
    "compare": lambda: import_module("ninescope.cli.compare"),
    "levers": lambda: import_module("ninescope.cli.levers"),
    "report": lambda: import_module("ninescope.cli.report"),
    "explore": lambda: import_module("ninescope.cli.explore"),
    "check": lambda: import_module("ninescope.cli.check"),
    "doctor": lambda: import_module("ninescope.cli.doctor"),
    "ecc": lambda: import_module("ninescope.cli.ecc"),
    "policies": lambda: import_module("ninescope.cli.policies"),
    "schema": lambda: import_module("ninescope.cli.schema"),
    "calibrate": lambda: import_module("ninescope.cli.calibrate"),
    "shelf": lambda: import_module("ninescope.cli.shelf"),
    "presets": lambda: import_module("ninescope.cli.presets"),
    "import": lambda: import_module("ninescope.cli.import_"),
    "examples": lambda: import_module("ninescope.cli.examples"),
    "trace": lambda: import_module("ninescope.cli.trace"),
    "snapshot": lambda: import_module("ninescope.cli.snapshot"),
    "papers": lambda: import_module("ninescope.cli.papers"),
    "sweep": lambda: import_module("ninescope.cli.sweep"),
    "search": lambda: import_module("ninescope.cli.search"),
}
"""The module of each verb, which has a function of that name, or an `app` with verbs of its own."""


def command_line(typed: Sequence[str] = ()) -> typer.Typer:
    """Put the command line together: of the verb that was typed, or of all where it begins with none."""
    app = typer.Typer(
        name="ninescope",
        help="Simulate an SSD and see where every nanosecond of the tail went.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name in typed[:1] if typed and typed[0] in VERBS else VERBS:
        module = VERBS[name]()
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(cls=Command)(getattr(module, name))
    return app


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; every way out has its exit code."""
    try:
        _run(arguments)
    except BrokenPipeError:
        _end_quietly()
    except SystemExit as end:
        # What draws tables and reads options makes an end of its own of it.
        if isinstance(end.__context__, BrokenPipeError):
            _end_quietly()
        raise


def _run(arguments: Sequence[str] | None) -> NoReturn:
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the caller: nobody writes, or nobody reads
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (lives as long as the process)
    typed = sys.argv[1:] if arguments is None else list(arguments)
    try:
        try:
            command_line(typed)(args=typed, prog_name="ninescope")
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:  # of the output: every other one is caught where it is known
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"ninescope: error: cannot write the output: {error.strerror}", file=sys.stderr)
        sys.exit(EXIT_BAD_INPUT)
    except Interrupted:
        print("ninescope: interrupted", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    except ImportError as error:
        if not any(text in str(error) for text in ("ninescope._native", "name '_native'")):
            raise
        print("ninescope: error: the engine is not built; `make demo` builds it", file=sys.stderr)
        sys.exit(EXIT_FAILURE)
    except Exception as error:
        _end_in_words(error, typed)
        raise
    sys.exit(0)


def _end_in_words(error: Exception, typed: Sequence[str]) -> None:
    """End with what is wrong with the input, or within ninescope; return where nobody has words for it."""
    from ninescope import ConfigError, SimulationError

    if isinstance(error, ConfigError):
        print(f"ninescope: error: {error}", file=sys.stderr)
        sys.exit(EXIT_BAD_INPUT)
    asked = getattr(error, "policy", None)
    if asked is not None:  # a policy in Python raised it
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{place.filename}, line {place.lineno}"
        print(f"ninescope: error: {asked}: {type(error).__name__}: {error} ({where})", file=sys.stderr)
        sys.exit(EXIT_BAD_INPUT)
    if isinstance(error, SimulationError):
        print(f"ninescope: internal error: {error}", file=sys.stderr)
        again = _replay_command(typed)
        if again:
            same = ", with the same standard input" if "-" in typed else ""
            print(f"ninescope: to replay it to that point{same}: {again}", file=sys.stderr)
        sys.exit(EXIT_FAILURE)


def _end_quietly() -> NoReturn:
    """End as other tools do when whoever read the output has seen enough."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # what is left of it is written where nobody reads
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(EXIT_CLOSED_PIPE)


def _replay_command(arguments: Sequence[str]) -> str | None:
    """Return the command that meets an internal error again, with every check on: a run is its input."""
    if not arguments or arguments[0] != "run":
        return None
    words = list(arguments)
    for position, word in enumerate(words):
        if word == "--check":
            del words[position : position + 2]
            break
        if word.startswith("--check="):
            del words[position]
            break
    return shlex.join(["ninescope", *words, "--check", "full"])


def _interrupt(signal_number: int, frame: FrameType | None) -> NoReturn:
    raise Interrupted


def _version(asked: bool) -> None:
    if asked:
        from ninescope import _native

        print(f"ninescope {_native.version()}")
        raise typer.Exit


def _policies(places: list[str]) -> list[str]:
    """Name files of policies in the environment, where this process and its workers find them."""
    if places:
        from ninescope.extension.plugins import VARIABLE

        named = [*os.environ.get(VARIABLE, "").split(os.pathsep), *places]
        os.environ[VARIABLE] = os.pathsep.join(place for place in named if place)
    return places


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    policies: Annotated[
        list[str] | None,
        typer.Option(
            callback=_policies,
            metavar="FILE",
            help="Load policies of your own, of a file or a module of Python (before the verb).",
        ),
    ] = None,
) -> None:
    pass
