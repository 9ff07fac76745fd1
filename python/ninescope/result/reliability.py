"""What codes found and what was done about it: the section `reliability` of a result."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from ninescope.result.stored import known_keys


@dataclasses.dataclass(frozen=True)
class CodeUse:
    """One code of the drive in the measured time. Counts are of codewords unless named otherwise."""

    codewords: int
    corrupted_codewords: int
    """Codewords with errors."""
    corrected_bits: int
    failed_codewords: int
    """Codewords with more errors than the code corrects, which it noticed."""
    undetected_codewords: int
    """Codewords with more errors than the code corrects that passed as good."""
    encoded_codewords: int
    decoder_wait_ns: int
    decoder_busy_ns: int
    user_bytes: int
    codeword_bits: int
    parity_bytes: int
    correctable: int
    decoders: int
    decoder_utilisation: float | None = None
    failed_share: float | None = None

    @property
    def mean_errors(self) -> float | None:
        """Bits corrected per codeword decoded; None without any."""
        return self.corrected_bits / self.codewords if self.codewords else None


@dataclasses.dataclass(frozen=True)
class CacheUse:
    """What a drive did that keeps clean data apart, in units of mapping; corruptions since the start."""

    ecc_reads: int
    edc_reads: int
    ecc_moved: int
    edc_moved: int
    ecc_to_edc: int
    """Flushed units that a move put under the detecting code."""
    corruptions: int
    corruptions_under_edc: int
    refetches: int
    """Units that the host waited for while they came from the backing store."""
    refetches_for_moves: int
    prefetched: int
    """Units fetched because the scrubber found them corrupt."""
    corrected: int
    met_by_host: int
    """Corrupt units that a read of the host was the first to find bad."""
    met_by_moves: int
    met_by_scrubber: int
    overwritten: int
    """Corrupt units that were erased before anybody met them."""
    never_met: int
    """Corrupt units that nobody met, those overwritten included."""


@dataclasses.dataclass(frozen=True)
class ReadsOfClass:
    """Page reads of flash whose data was of an age, or whose block was of a wear, of one class."""

    reads: int
    retried: int
    """Reads that took an attempt or more."""
    retries: int
    """Attempts to read again, of all of them."""
    mean_attempts: float
    """Attempts per read, those without any included."""
    soft: int
    """Reads that were decoded by more than one bit of a cell."""
    undecoded: int
    """Reads that did not decode at last."""
    attempts: tuple[int, ...]
    """How many reads took no attempt, one, two, and so on."""
    from_ns: int | None = None
    """The least age of the class, at the temperature at which ages are told; None in a class of wear."""
    until_ns: int | None = None
    """The age at which the next class begins; None in the last one."""
    mean_age_ns: float | None = None
    from_cycles: int | None = None
    """The fewest P/E cycles of the class; None in a class of age."""
    until_cycles: int | None = None
    mean_cycles: float | None = None

    @property
    def mean_attempts_of_retried(self) -> float | None:
        """Attempts per read that took one or more; None without any."""
        return self.retries / self.retried if self.retried else None


@dataclasses.dataclass(frozen=True)
class Reliability:
    """Codes and failing bits of a drive."""

    codes: Mapping[str, CodeUse]
    """By "nand", "nand_edc", "scm", "storage_scm", those that the drive has."""
    counters: Mapping[str, int]
    cache: CacheUse | None
    """None where clean data is not kept apart."""
    reads_by_age: tuple[ReadsOfClass, ...] = ()
    """Page reads of flash by how old what they read was; classes without any are left out."""
    reads_by_wear: tuple[ReadsOfClass, ...] = ()
    """The same by the P/E cycles of the blocks."""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Reliability | None:
        """Read the section of a result; None for a drive without codes."""
        stored = document.get("reliability")
        if not stored:
            return None
        cache = stored.get("cache")
        return cls(
            codes={name: known_keys(CodeUse, values) for name, values in stored["codes"].items()},
            counters=stored["counters"],
            cache=None if cache is None else known_keys(CacheUse, cache),
            reads_by_age=_classes(stored.get("reads_by_age", ())),
            reads_by_wear=_classes(stored.get("reads_by_wear", ())),
        )


def _classes(stored: Iterable[Mapping[str, Any]]) -> tuple[ReadsOfClass, ...]:
    return tuple(known_keys(ReadsOfClass, {**of, "attempts": tuple(of["attempts"])}) for of in stored)
