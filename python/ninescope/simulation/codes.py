"""Codes by themselves, without a drive: what they cost, how often they fail, and real codewords of them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from ninescope import _native, conveniences
from ninescope._native import ConfigError

if TYPE_CHECKING:
    from ninescope.conveniences import Figure

Array = NDArray[np.float64]
Rates = Sequence[float] | NDArray[Any]

UBER = 1e-15
"""The target of the uncorrectable bit error rate where none is named (JESD218 asks it of client drives)."""


class Decoded(NamedTuple):
    """What a decoder makes of a codeword."""

    user: bytes
    parity: bytes
    corrected: int | None
    """Bits that were wrong; None where there are more than the code corrects, and that was seen."""


class Code:
    """A code with its codec, described as in a drive's `nand.ecc`.

    Rates of errors may be numbers or arrays; the answer has the same shape. RBER is the chance that a
    stored bit is wrong, each by itself. UBER is the chance that a codeword holds more errors than are
    corrected, per bit of its user data. ABER is the largest RBER that meets a target UBER.
    """

    def __init__(self, description: Mapping[str, object]) -> None:
        self.description = {key: value for key, value in description.items() if value is not None}
        self._native = _native.Code(json.dumps(self.description, default=_plain))

    @classmethod
    def bch(
        cls,
        user_data: str | int = "1KiB",
        correctable: int | None = None,
        *,
        rate: float | None = None,
        field_degree: int | None = None,
        latency: str | Mapping[str, object] | None = None,
    ) -> Code:
        """Take a binary BCH code that corrects so many errors, or as many as a code rate (0.9) has room for.

        `field_degree` is m of its field GF(2^m), by default the smallest that holds the codeword. `latency`
        is "cycles", "fixed" or a table: `{"policy": "cycles", "bits_per_cycle": 32, "cycle": "5ns"}`.
        """
        if (correctable is None) == (rate is None):
            raise ConfigError(
                "a BCH code wants correctable=, how many errors it corrects, or rate=, not both"
            )
        if rate is not None:
            correctable, field_degree = _native.strongest_bch(str(user_data), rate, _degree(field_degree))
        return cls(
            {
                "policy": "bch",
                "user_data": user_data,
                "correctable": correctable,
                "field_degree": field_degree,
                "latency": latency,
            }
        )

    @classmethod
    def none(cls, user_data: str | int = "512B") -> Code:
        """Take no code: every error passes as good."""
        return cls({"policy": "none", "user_data": user_data})

    @classmethod
    def crc(
        cls,
        user_data: str | int = "4KiB",
        width: int = 32,
        *,
        latency: str | Mapping[str, object] | None = None,
    ) -> Code:
        """Take a cyclic redundancy check of so many bits, which detects errors and corrects none."""
        return cls({"policy": "crc", "user_data": user_data, "width": width, "latency": latency})

    @classmethod
    def ldpc(
        cls,
        user_data: str | int,
        parity: str | int,
        correctable: int,
        *,
        latency: Mapping[str, object] | None = None,
    ) -> Code:
        """Take a low-density parity-check code with hard decisions, as a threshold of errors it corrects."""
        return cls(
            {
                "policy": "ldpc",
                "user_data": user_data,
                "parity": parity,
                "correctable": correctable,
                "latency": latency,
            }
        )

    @classmethod
    def weakest_bch(
        cls,
        user_data: str | int,
        *,
        rber: float,
        uber: float = UBER,
        field_degree: int | None = None,
        latency: str | Mapping[str, object] | None = None,
    ) -> Code | None:
        """Take the BCH code that corrects the fewest errors and meets a target UBER; None where none does."""
        chosen = _native.weakest_bch(str(user_data), _degree(field_degree), rber, uber)
        if chosen is None:
            return None
        return cls.bch(user_data, chosen[0], field_degree=chosen[1], latency=latency)

    @property
    def policy(self) -> str:
        """What kind of code it is: "bch", "crc", "ldpc" or "none"."""
        return str(self.description["policy"])

    @property
    def user_bytes(self) -> int:
        """User data of a codeword [bytes]."""
        return self._native.user_bits // 8

    @property
    def parity_bits(self) -> int:
        """Parity of a codeword, m t of a BCH code [bits]."""
        return self._native.parity_bits

    @property
    def parity_bytes(self) -> int:
        """Parity of a codeword, rounded up [bytes]."""
        return self._native.parity_bytes

    @property
    def codeword_bits(self) -> int:
        """Length of a codeword, n [bits]."""
        return self._native.codeword_bits

    @property
    def correctable(self) -> int:
        """Errors corrected in a codeword, t [bits]; 0 for a code that only detects."""
        return self._native.correctable

    @property
    def field_degree(self) -> int | None:
        """Degree m of a BCH code's field."""
        return self._native.field_degree

    @property
    def rate(self) -> float:
        """Code rate, user data as a share of the codeword."""
        return self._native.rate

    @property
    def undetected(self) -> float:
        """The chance that a codeword with more errors than are corrected passes as good."""
        return self._native.undetected

    @overload
    def failure(self, rber: float) -> float: ...
    @overload
    def failure(self, rber: Rates) -> Array: ...
    def failure(self, rber: float | Rates) -> float | Array:
        """Return the chance that a codeword holds more errors than are corrected."""
        return _elementwise(self._native.failure, rber)

    @overload
    def uber(self, rber: float) -> float: ...
    @overload
    def uber(self, rber: Rates) -> Array: ...
    def uber(self, rber: float | Rates) -> float | Array:
        """Return the uncorrectable bit error rate: failures of a codeword per bit of its user data."""
        return _elementwise(self._native.uber, rber)

    @overload
    def page_failure(self, rber: float, codewords: int) -> float: ...
    @overload
    def page_failure(self, rber: Rates, codewords: int) -> Array: ...
    def page_failure(self, rber: float | Rates, codewords: int) -> float | Array:
        """Return the chance that at least one of so many codewords holds more errors than are corrected."""
        count = _count("codewords", codewords)
        return _elementwise(lambda rbers: self._native.page_failure(rbers, count), rber)

    @overload
    def aber(self, uber: float = UBER) -> float: ...
    @overload
    def aber(self, uber: Rates) -> Array: ...
    def aber(self, uber: float | Rates = UBER) -> float | Array:
        """Return the acceptable bit error rate: the largest RBER whose UBER is at most this target."""
        return _elementwise(self._native.aber, uber)

    def encode_time(self, codewords: int = 1) -> int:
        """Return how long an encoder takes for so many codewords [ns]."""
        return self._native.encode_time(_count("codewords", codewords))

    def decode_time(self, codewords: int = 1, corrupted: int | None = None) -> int:
        """Return how long a decoder takes for so many codewords, of which so many (all) hold errors [ns]."""
        count = _count("codewords", codewords)
        return self._native.decode_time(count, count if corrupted is None else _count("corrupted", corrupted))

    def codewords(self, data: str | int) -> int:
        """Return how many codewords cover so much user data, as "16KiB"."""
        return self._native.codewords(str(data))

    def encode(self, user: bytes) -> bytes:
        """Return the parity of the user data of one codeword, from a real encoder.

        BCH codes with a field degree of up to 20, and a CRC of 32 bits (IEEE 802.3).
        """
        return self._native.encode(bytes(user))

    def decode(self, user: bytes, parity: bytes) -> Decoded:
        """Correct a codeword with a real decoder.

        More errors than that may pass as fewer, unseen; `undetected` says how often.
        """
        return Decoded(*self._native.decode(bytes(user), bytes(parity)))

    def plot(self, path: str | os.PathLike[str] | None = None, *, uber: float = UBER) -> Figure:
        """Draw how the UBER rises with the RBER; write it where a path is given."""
        return conveniences.code_plot(self, path, uber)

    def __repr__(self) -> str:
        words = ", ".join(f"{key}={value!r}" for key, value in self.description.items() if key != "policy")
        return f"Code.{self.policy}({words})"

    def _key(self) -> tuple[object, ...]:
        """Return what codes that do the same have in common, however they are described."""
        bits = (self._native.user_bits, self.parity_bits, self.correctable, self.field_degree)
        times = (self.encode_time(), self.decode_time(1, 0), self.decode_time(1, 1), self.decode_time(2, 2))
        return self.policy, *bits, *times

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Code) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


class MemoryTimes(NamedTuple):
    """What a sector of storage-class memory takes; by default as in `m-scm`, half of it set, half reset."""

    pulse_ns: float = 250.0
    read_ns: float = 100.0


class JointChoice(NamedTuple):
    """How verify-program and code share the work."""

    verify_cycles: int
    rber: float
    """What is left of the raw bit error rate after them."""
    code: Code | None
    """The weakest BCH code for that; None where none does."""
    write_ns: float | None = None
    """Encoding, the first pulse, and a verify read and a pulse for each cycle."""
    read_ns: float | None = None
    """A read of the memory and decoding a codeword with errors."""


def best(choices: Sequence[JointChoice], read_share: float = 0.5) -> JointChoice | None:
    """Return the choice with the least mean time of an access, so many of which read; None without any."""

    def mean(choice: JointChoice) -> float:
        if choice.write_ns is None or choice.read_ns is None:
            return math.inf
        return read_share * choice.read_ns + (1 - read_share) * choice.write_ns

    chosen = min(choices, key=mean, default=None)
    return chosen if chosen is not None and math.isfinite(mean(chosen)) else None


def joint_choices(
    user_data: str | int,
    *,
    rber: float,
    verify_cycles: int = 20,
    uber: float = UBER,
    field_degree: int | None = None,
    latency: str | Mapping[str, object] | None = None,
    memory: MemoryTimes | None = None,
) -> list[JointChoice]:
    """Return the weakest BCH code for each number of verify cycles of a sector write, 0 to `verify_cycles`.

    `rber` is the rate without verifying; cycles cut it by 49 % at 20, as published.
    """
    cycles = _count("verify_cycles", verify_cycles)
    pulse_ns, read_ns = MemoryTimes() if memory is None else memory

    def choice(cycles: int, left: float, chosen: tuple[int, int] | None) -> JointChoice:
        if chosen is None:
            return JointChoice(cycles, left, None)
        code = Code.bch(user_data, chosen[0], field_degree=chosen[1], latency=latency)
        write_ns = code.encode_time(1) + pulse_ns + cycles * (read_ns + pulse_ns)
        return JointChoice(cycles, left, code, write_ns, read_ns + code.decode_time(1, 1))

    choices = _native.joint_choices(str(user_data), _degree(field_degree), rber, uber, cycles)
    return [choice(*found) for found in choices]


def _elementwise(of: Callable[[Array], Array], values: float | Rates) -> float | Array:
    """Return what a function of rates is at one of them, or at each of an array."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ConfigError(f"{values!r} is neither a rate nor an array of rates") from None
    result = of(array.reshape(-1)).reshape(array.shape)
    return result.item() if array.ndim == 0 else result


def _plain(value: object) -> object:
    """Return a number of numpy's as one of Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise ConfigError(f"{value!r} describes no code")


def _count(name: str, value: int) -> int:
    if not 0 <= value < 1 << 32:
        raise ConfigError(f"{name} is {value}, it must be a number from 0 to 2^32 - 1")
    return value


def _degree(field_degree: int | None) -> int | None:
    return None if field_degree is None else _count("field_degree", field_degree)
