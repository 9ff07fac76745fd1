"""Codes the slow way, to compare the engine's with.

Polynomials over GF(2) are Python's whole numbers, elements of fields are remainders of them, and there is no
table of powers, shift register or iterated key equation.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb

PRIMITIVE = {3: 0xB, 4: 0x13, 5: 0x25, 6: 0x43, 7: 0x89, 8: 0x11D, 9: 0x211, 10: 0x409, 13: 0x201B}
"""Primitive polynomials, bit i for x^i (Lin and Costello, appendix A)."""


def times(a: int, b: int) -> int:
    """The product of two polynomials."""
    product = 0
    while b:
        product ^= a * (b & -b)
        b &= b - 1
    return product


def remainder(a: int, b: int) -> int:
    """What is left of a when it is divided by b."""
    while a.bit_length() >= b.bit_length():
        a ^= b << (a.bit_length() - b.bit_length())
    return a


def gcd(a: int, b: int) -> int:
    while b:
        a, b = b, remainder(a, b)
    return a


class Field:
    """GF(2^m) as polynomials modulo the primitive one."""

    def __init__(self, degree: int) -> None:
        self.degree = degree
        self.modulus = PRIMITIVE[degree]

    def times(self, a: int, b: int) -> int:
        return remainder(times(a, b), self.modulus)

    def power(self, exponent: int) -> int:
        """x^exponent, by squaring."""
        result, square = 1, 2
        exponent %= (1 << self.degree) - 1
        while exponent:
            if exponent & 1:
                result = self.times(result, square)
            square = self.times(square, square)
            exponent >>= 1
        return result

    def inverse(self, a: int) -> int:
        """a^(2^m - 2)."""
        result, square, exponent = 1, a, (1 << self.degree) - 2
        while exponent:
            if exponent & 1:
                result = self.times(result, square)
            square = self.times(square, square)
            exponent >>= 1
        return result

    def at(self, polynomial: int, exponent: int) -> int:
        """A polynomial over GF(2) at x^exponent."""
        terms = (
            self.power(place * exponent)
            for place in range(polynomial.bit_length())
            if polynomial >> place & 1
        )
        total = 0
        for term in terms:
            total ^= term
        return total

    def minimal_polynomial(self, exponent: int) -> int:
        """The polynomial of least degree over GF(2) with the root x^exponent: a dependence of its powers."""
        rows: list[tuple[int, int]] = []
        for degree in range(self.degree + 1):
            vector, combination = self.power(exponent * degree), 1 << degree
            for pivot, row in rows:
                if vector ^ pivot < vector:
                    vector, combination = vector ^ pivot, combination ^ row
            if vector == 0:
                return combination
            rows.append((vector, combination))
            rows.sort(reverse=True)
        raise AssertionError("m + 1 vectors of m bits are dependent")


class Bch:
    """A shortened BCH code of whole bytes of user data."""

    def __init__(self, user_bytes: int, correctable: int, degree: int) -> None:
        self.field = Field(degree)
        self.user_bits = 8 * user_bytes
        self.correctable = correctable
        self.generator = 1
        for exponent in range(1, 2 * correctable + 1):
            minimal = self.field.minimal_polynomial(exponent)
            if gcd(self.generator, minimal) == 1:
                self.generator = times(self.generator, minimal)
        self.parity_bits = self.generator.bit_length() - 1
        self.bits = self.user_bits + self.parity_bits

    def encode(self, user: int) -> int:
        """The parity of user data: u(x) x^r modulo the generator."""
        return remainder(user << self.parity_bits, self.generator)

    def syndrome_table(self) -> dict[int, int]:
        """Every pattern of up to t errors by what it leaves."""
        table = {}
        for count in range(self.correctable + 1):
            for places in itertools.combinations(range(self.bits), count):
                pattern = sum(1 << place for place in places)
                table[remainder(pattern, self.generator)] = pattern
        return table

    def peterson(self, received: int) -> int | None:
        """The errors of a word by Peterson, Gorenstein and Zierler: the largest solvable linear system."""
        left = remainder(received, self.generator)
        if left == 0:
            return 0
        syndromes = [self.field.at(left, exponent) for exponent in range(1, 2 * self.correctable + 1)]
        for count in range(self.correctable, 0, -1):
            matrix = [[syndromes[row + column] for column in range(count)] for row in range(count)]
            solution = solve(self.field, matrix, [syndromes[row + count] for row in range(count)])
            if solution is not None:
                errors = self._errors([1, *reversed(solution)])
                is_codeword = errors is not None and remainder(received ^ errors, self.generator) == 0
                return errors if is_codeword else None
        return None

    def _errors(self, locator: list[int]) -> int | None:
        """The pattern with the inverse roots of a polynomial as places, if they are as many as its degree."""
        pattern = 0
        for place in range(self.bits):
            total = 0
            for exponent, coefficient in enumerate(locator):
                total ^= self.field.times(coefficient, self.field.power(-place * exponent))
            pattern |= (total == 0) << place
        return pattern if bin(pattern).count("1") == len(locator) - 1 else None


def solve(field: Field, matrix: list[list[int]], right: list[int]) -> list[int] | None:
    """The solution of linear equations over a field; None where they are dependent."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for column in range(size):
        pivot = next((row for row in range(column, size) if rows[row][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        scale = field.inverse(rows[column][column])
        rows[column] = [field.times(scale, value) for value in rows[column]]
        for row in range(size):
            if row != column and (factor := rows[row][column]):
                rows[row] = [
                    value ^ field.times(factor, other)
                    for value, other in zip(rows[row], rows[column], strict=True)
                ]
    return [row[-1] for row in rows]


def above(bits: int, most: int, rber: float) -> Fraction:
    """P[more than so many of these bits are wrong], in whole numbers, but for 1e-40 of it."""
    chance = Fraction(rber)
    wrong, right, whole = chance.numerator, chance.denominator - chance.numerator, chance.denominator
    total = 0
    for errors in range(most + 1, bits + 1):
        term = comb(bits, errors) * wrong**errors * right ** (bits - errors)
        total += term
        if errors > bits * rber and term * 10**40 < total:
            break
    return Fraction(total, whole**bits)
