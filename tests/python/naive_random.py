"""The simulator's random numbers once more, from the published definitions.

xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021) with its state
filled by SplitMix64, keyed by FNV-1a over the names of component and purpose; bounded draws are Lemire's
("Fast random integer generation in an interval", 2019). For the naive models only: it must not share code
with the simulator.
"""

from __future__ import annotations

WORD = 2**64


def rotated_left(word: int, bits: int) -> int:
    return (word * 2**bits) % WORD + word // 2 ** (64 - bits)


def fnv1a(offset: int, data: bytes) -> int:
    for byte in data:
        offset = (offset ^ byte) * 0x100000001B3 % WORD
    return offset


def split_mix(state: int, count: int) -> list[int]:
    """The first `count` numbers of SplitMix64 from `state`."""
    numbers = []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) % WORD
        mixed = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % WORD
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % WORD
        numbers.append(mixed ^ mixed >> 31)
    return numbers


class RandomStream:
    """The numbers that one component draws for one purpose."""

    def __init__(self, seed: int, component: str, purpose: str) -> None:
        key = fnv1a(0xCBF29CE484222325 ^ seed, component.encode() + b"\0" + purpose.encode())
        self._state = split_mix(key ^ rotated_left(seed, 32), 4)

    def bits(self) -> int:
        """64 uniform bits."""
        a, b, c, d = self._state
        result = (rotated_left((a + d) % WORD, 23) + a) % WORD
        shifted = b * 2**17 % WORD
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        self._state = [a, b, c, rotated_left(d, 45)]
        return result

    def below(self, bound: int) -> int:
        """A uniform integer from 0 up to and without `bound`."""
        while True:
            high, low = divmod(self.bits() * bound, WORD)
            # Of the low words, the first `2^64 mod bound` would favour some results.
            if low >= WORD % bound:
                return high

    def unit(self) -> float:
        """A uniform float from 0 up to and without 1."""
        return (self.bits() >> 11) / 2**53
