"""`ninescope ecc`: codes by themselves, what they cost and how often they fail."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import typer

from ninescope.cli import ecc_options as options
from ninescope.cli.common import console, one_of

if TYPE_CHECKING:
    from ninescope.simulation.codes import Code, JointChoice, MemoryTimes
    from ninescope.text.codes import Conditions

_MOST = 1 << 24
"""More bits than any codeword has."""
_MANY = 2000
"""More codes than anybody reads: a slip."""

OPTIONS = {
    "width": "--crc",
    "data": "--page",
    "latency.bits_per_cycle": "--bits-per-cycle",
    "latency.cycle": "--cycle",
    "latency.factor": "--factor",
    "user_data": "--user-data",
    "correctable": "--correctable",
    "field_degree": "--field-degree",
    "rate": "--rate",
    "rber": "--rber",
    "uber": "--uber",
    "verify_cycles": "--verify-cycles",
}
"""What the keys of a code are called on the command line."""


def ecc(
    user_data: options.UserData = "1KiB",
    correctable: options.Correctable = None,
    rate: options.Rate = None,
    field_degree: options.FieldDegree = None,
    crc: options.Crc = None,
    uber: options.Uber = 1e-15,
    rber: options.Rber = None,
    page: options.Page = "16KiB",
    verify_cycles: options.VerifyCycles = None,
    pulse_ns: options.PulseNs = 250.0,
    verify_read_ns: options.VerifyReadNs = 100.0,
    bits_per_cycle: options.BitsPerCycle = 8,
    cycle: options.Cycle = "10ns",
    key_equation: options.KeyEquation = "quadratic",
    factor: options.Factor = 0.16,
    overlapped: options.Overlapped = True,
    plot: options.Plot = None,
    json_: options.Json = False,
) -> None:
    """Say what error correcting codes cost and bear: parity, acceptable error rates, times.

    \b
    The codes of a published hybrid drive, one sector of SCM and half a page of flash:
      ninescope ecc --user-data 512B --rate 0.9
      ninescope ecc --user-data 8KiB --correctable 100,200,428 --uber 1e-15
    What a wearing medium needs, and what verify cycles spare:
      ninescope ecc --user-data 512B --rber 1e-3
      ninescope ecc --user-data 512B --rber 1.9e-3 --verify-cycles 20
    Larger codewords bear more at the same rate; a figure:
      ninescope ecc --user-data 512B,1KiB,2KiB,4KiB,8KiB --rate 0.9 --plot codes.png
    """  # noqa: D301 (what begins so is not reflowed)
    if correctable is not None and rate is not None:
        raise typer.BadParameter("--correctable names the codes and --rate finds them: not both")
    if verify_cycles is not None and rber is None:
        raise typer.BadParameter("--verify-cycles cuts a raw bit error rate, so it needs --rber")
    latency = {
        "policy": "cycles",
        "bits_per_cycle": bits_per_cycle,
        "cycle": cycle,
        "key_equation": one_of("--key-equation", key_equation, ("linear", "quadratic")),
        "factor": _finite("--factor", factor),
        "overlapped": overlapped,
    }
    sizes = _sizes(user_data)
    with _naming_options():
        from ninescope.simulation.codes import MemoryTimes
        from ninescope.text.codes import Conditions

        codes = _codes(sizes, correctable, rate, field_degree, latency)
        codes += [] if crc is None else _checksums(sizes, crc, latency)
        if not codes[0].codewords(page):
            raise typer.BadParameter(f"--page {page}: a page holds at least a byte")
        conditions = Conditions(uber=uber, rber=rber, page=page)
        weakest = [] if rber is None else _weakest(sizes, conditions, field_degree, latency)
        memory = MemoryTimes(_finite("--pulse-ns", pulse_ns), _finite("--verify-read-ns", verify_read_ns))
        choices = _choices(sizes, conditions, verify_cycles, field_degree, (latency, memory))
        _show(codes, conditions, weakest, choices, plot=plot, as_json=json_)


def _show(
    codes: list[Code],
    conditions: Conditions,
    weakest: list[tuple[str, Code | None]],
    choices: list[JointChoice],
    *,
    plot: str | None,
    as_json: bool,
) -> None:
    from ninescope.text.codes import document, render
    from ninescope.text.lines import print_whole

    # Whatever is wrong is found before anything is written.
    found = document(codes, conditions, [code for _, code in weakest], choices)
    if plot is not None:
        from ninescope.pictures.codes import plot as draw

        draw(codes, plot, uber=conditions.uber, rber=conditions.rber)
    if as_json:
        print(json.dumps(found))
        return
    print_whole([render(codes, conditions, weakest, choices)], console())
    if plot is not None:
        print(f"\n written to {plot}")


def _codes(
    sizes: Sequence[str],
    correctable: str | None,
    rate: float | None,
    field_degree: int | None,
    latency: dict[str, Any],
) -> list[Code]:
    """Return the BCH codes that are meant; of several sizes and a rate only the strongest of each."""
    from ninescope.simulation.codes import Code
    from ninescope.text.codes import ladder

    codes = []
    for size in sizes:
        if correctable is not None:
            numbers = _numbers(correctable)
            degree = field_degree
        else:
            # The field of the strongest is that of all: one codec.
            strongest = Code.bch(size, rate=0.9 if rate is None else rate, field_degree=field_degree)
            degree = strongest.field_degree
            most = strongest.correctable
            numbers = ladder(most) if len(sizes) == 1 else [most]
        codes += [Code.bch(size, number, field_degree=degree, latency=latency) for number in numbers]
    return codes


def _checksums(sizes: Sequence[str], width: int, latency: dict[str, Any]) -> list[Code]:
    from ninescope.simulation.codes import Code

    return [Code.crc(size, width, latency=latency) for size in sizes]


def _weakest(
    sizes: Sequence[str], conditions: Conditions, field_degree: int | None, latency: dict[str, Any]
) -> list[tuple[str, Code | None]]:
    from ninescope.simulation.codes import Code

    rber = conditions.rber or 0.0
    return [
        (
            size,
            Code.weakest_bch(
                size, rber=rber, uber=conditions.uber, field_degree=field_degree, latency=latency
            ),
        )
        for size in sizes
    ]


def _choices(
    sizes: Sequence[str],
    conditions: Conditions,
    verify_cycles: int | None,
    field_degree: int | None,
    times: tuple[dict[str, Any], MemoryTimes],
) -> list[JointChoice]:
    from ninescope.simulation.codes import joint_choices

    if verify_cycles is None:
        return []
    if len(sizes) > 1:
        raise typer.BadParameter("--verify-cycles goes with one size of --user-data")
    return joint_choices(
        sizes[0],
        rber=conditions.rber or 0.0,
        verify_cycles=verify_cycles,
        uber=conditions.uber,
        field_degree=field_degree,
        latency=times[0],
        memory=times[1],
    )


def _sizes(text: str) -> list[str]:
    sizes = [size.strip() for size in text.split(",")]
    if not all(sizes):
        raise typer.BadParameter(f"--user-data wants sizes such as 512B,1KiB, not {text!r}")
    return sizes


def _numbers(text: str) -> list[int]:
    """Read 1,10,35 or 1..35."""
    numbers: list[int] = []
    for part in text.split(","):
        first, dots, last = (word.strip() for word in part.partition(".."))
        if not (first.isdecimal() and (last.isdecimal() or not dots)):
            raise typer.BadParameter(f"--correctable wants numbers such as 1,10,35 or 1..35, not {text!r}")
        if dots and int(first) > int(last):
            raise typer.BadParameter(f"--correctable {part.strip()} runs backwards")
        if int(last if dots else first) > _MOST:
            raise typer.BadParameter(
                f"--correctable {part.strip()} is more than the longest codeword has bits"
            )
        if len(numbers) + (int(last) - int(first) if dots else 0) >= _MANY:
            raise typer.BadParameter(f"--correctable {text} names more than {_MANY} codes")
        numbers += range(int(first), int(last if dots else first) + 1)
    return numbers


def _finite(option: str, value: float) -> float:
    if not math.isfinite(value):
        raise typer.BadParameter(f"{option} {value:g} is not a number")
    return value


@contextlib.contextmanager
def _naming_options() -> Iterator[None]:
    """Call what is wrong by its option in messages of the engine."""
    from ninescope._native import ConfigError

    try:
        yield
    except ConfigError as error:
        key, space, rest = str(error).partition(" ")
        option = OPTIONS.get(key.rstrip(":"))
        if option is None:
            raise
        raise ConfigError(f"{option}{':' if key.endswith(':') else ''}{space}{rest}") from None
