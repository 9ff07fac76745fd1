"""Tables of codes: their rows as numbers, and as a reader sees them in a terminal."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ninescope.simulation.codes import Code, JointChoice, best
from ninescope.text.units import binary, duration

_NICE = (1, 2, 5)
_LEAST = 1e-300
"""What is less cannot be told from nothing."""
_MANY_COLUMNS = 12
_ROWS = 8
"""About so many codes show how a table runs up to the strongest."""


@dataclasses.dataclass(frozen=True)
class Conditions:
    """What codes are looked at for."""

    uber: float
    """The target of the uncorrectable bit error rate."""
    rber: float | None = None
    """A raw bit error rate of interest."""
    page: str = "16KiB"
    """User data of a page."""


def ladder(most: int) -> list[int]:
    """Return numbers of corrected errors that lead up to the most: 1, 5, 10, … 35."""
    power = 1
    while True:
        for nice in _NICE:
            step = nice * power
            if most / step <= _ROWS:
                return sorted({1, most, *range(step, most, step)})
        power *= 10


def row(code: Code, conditions: Conditions) -> dict[str, Any]:
    """Return everything about one code, as it goes into JSON."""
    rber = conditions.rber
    codewords = code.codewords(conditions.page)
    return {
        "policy": code.policy,
        "user_bytes": code.user_bytes,
        "correctable": code.correctable,
        "field_degree": code.field_degree,
        "codeword_bits": code.codeword_bits,
        "parity_bits": code.parity_bits,
        "parity_bytes": code.parity_bytes,
        "rate": code.rate,
        "aber": code.aber(conditions.uber),
        "undetected": code.undetected,
        "encode_ns": code.encode_time(1),
        "decode_clean_ns": code.decode_time(1, 0),
        "decode_corrupted_ns": code.decode_time(1, 1),
        "uber": None if rber is None else code.uber(rber),
        "page_codewords": codewords,
        "page_failure": None if rber is None else code.page_failure(rber, codewords),
    }


def document(
    codes: Sequence[Code],
    conditions: Conditions,
    weakest: Sequence[Code | None],
    choices: Sequence[JointChoice],
) -> dict[str, Any]:
    """Return all of it, as it goes into JSON."""

    def one(code: Code | None) -> dict[str, Any] | None:
        return None if code is None else row(code, conditions)

    return {
        "target_uber": conditions.uber,
        "rber": conditions.rber,
        "codes": [row(code, conditions) for code in codes],
        "weakest": [one(code) for code in weakest],
        "joint_choices": [
            {
                "verify_cycles": choice.verify_cycles,
                "rber": choice.rber,
                "code": one(choice.code),
                "write_ns": choice.write_ns,
                "read_ns": choice.read_ns,
            }
            for choice in choices
        ],
    }


def render(
    codes: Sequence[Code],
    conditions: Conditions,
    weakest: Sequence[tuple[str, Code | None]],
    choices: Sequence[JointChoice],
) -> RenderableType:
    """Return what is printed."""
    sizes = {code.user_bytes for code in codes}
    of = f" of {size(sizes.pop())} of user data" if len(sizes) == 1 else ""
    parts: list[RenderableType] = [
        Text(f" Codes{of}, and the times of one codeword", style="bold"),
        _codes(codes, conditions),
        *(Text(f" {line}") for line in _explanations(codes, conditions)),
        *(Text(f" {_weakest(user_data, code, conditions)}") for user_data, code in weakest),
    ]
    if choices:
        title = f"\n Verify cycles, and the weakest code that meets UBER {conditions.uber:g} then"
        parts += [Text(title, style="bold"), _choices(choices), Text(f" {_best(choices)}")]
    return Group(*parts)


def _table(columns: Sequence[str]) -> Table:
    """Begin a table of numbers; as many columns as there may be stand close to fit a line."""
    between = 2 if len(columns) < _MANY_COLUMNS else 1
    table = Table(box=None, pad_edge=False, padding=(0, between, 0, 0), header_style="dim")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _codes(codes: Sequence[Code], conditions: Conditions) -> RenderableType:
    one_size = len({code.user_bytes for code in codes}) == 1
    rates = ("undetected",) if conditions.rber is None else ("UBER", "page fails")
    columns = [
        *(() if one_size else ("user data",)),
        *("t", "m", "n", "parity", "rate", "ABER", *rates, "encode", "clean", "corrupted"),
    ]
    table = _table(columns)
    for code in codes:
        facts = row(code, conditions)
        table.add_row(
            *(() if one_size else (size(code.user_bytes),)),
            str(code.correctable) if code.correctable else code.policy.upper(),
            "-" if code.field_degree is None else str(code.field_degree),
            str(code.codeword_bits),
            f"{code.parity_bytes} B",
            f"{code.rate:.4f}",
            error_rate(facts["aber"]),
            *(error_rate(facts[share.replace("page fails", "page_failure").lower()]) for share in rates),
            *(duration(facts[key]) for key in ("encode_ns", "decode_clean_ns", "decode_corrupted_ns")),
        )
    return Padding(table, (0, 0, 0, 1), expand=False)


def _explanations(codes: Sequence[Code], conditions: Conditions) -> Iterator[str]:
    """Say what the columns mean, as far as their names do not."""
    yield f"ABER: the raw bit error rate at which the UBER is {conditions.uber:g}"
    if conditions.rber is None:
        yield "undetected: the chance that a codeword with more than t errors passes as good"
        return
    counts = {code.codewords(conditions.page) for code in codes}
    words = f"{counts.pop()} codewords" if len(counts) == 1 else "as many codewords as cover it"
    yield f"UBER, and failures of a page of {conditions.page} ({words}), at RBER {conditions.rber:g}"


def _weakest(user_data: str, code: Code | None, conditions: Conditions) -> str:
    asked = f"UBER {conditions.uber:g} at RBER {conditions.rber:g}"
    if code is None:
        return f"{user_data}: no BCH code meets {asked}"
    parity = f"{code.parity_bytes} B of parity, rate {code.rate:.4f}"
    return f"{size(code.user_bytes)}: t = {code.correctable} is the least that meets {asked} ({parity})"


def _best(choices: Sequence[JointChoice]) -> str:
    shares = {"to read": 1.0, "to read and write": 0.5, "to write": 0.0}
    found = [(words, best(choices, share)) for words, share in shares.items()]
    told = [
        f"V = {choice.verify_cycles}, t = {choice.code.correctable} {words}"
        for words, choice in found
        if choice is not None and choice.code is not None
    ]
    return "least time: " + "; ".join(told) if told else "no code is enough"


def _choices(choices: Sequence[JointChoice]) -> RenderableType:
    columns = ("verify cycles", "RBER left", "t", "parity", "rate", "sector written", "read")
    table = _table(columns)
    for choice in choices:
        code = choice.code
        table.add_row(
            str(choice.verify_cycles),
            error_rate(choice.rber),
            *(
                ("-",) * 5
                if code is None or choice.write_ns is None or choice.read_ns is None
                else (
                    str(code.correctable),
                    f"{code.parity_bytes} B",
                    f"{code.rate:.4f}",
                    duration(choice.write_ns),
                    duration(choice.read_ns),
                )
            ),
        )
    return Padding(table, (0, 0, 0, 1), expand=False)


def size(count: int) -> str:
    """Write the size of a codeword's user data."""
    return binary(count).replace(".00 ", " ").replace(".0 ", " ")


def error_rate(value: float) -> str:
    """Write a rate of errors: 0.127, 6.51e-4."""
    if value < _LEAST:
        return "<1e-300"
    if value >= 0.01:
        return f"{value:.3g}"
    mantissa, _, exponent = f"{value:.2e}".partition("e")
    return f"{mantissa}e{int(exponent)}"
