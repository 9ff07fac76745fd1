"""Intervals for what simulations measure: means, batch means, paired and unpaired comparisons.

Plain numbers go in, one per replication or per interval of time, in any unit; intervals come out in the same
unit. Nothing here knows results, drives or workloads. Whatever draws at random draws the same each time.
`bootstrap` does the same for percentiles, and `student` has the distribution.

What is compared cannot be negative, and its ratio cannot either: ratios live in logarithms, where B over A is
as far from nothing as A over B, and shares in logits (decision 28).
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ninescope.lab.statistics import student

LEVEL = 0.95
"""What an interval covers unless another level is asked for."""
SIGN_FLIPS_MIN = 6
"""Of fewer pairs no two-sided test by signs reaches 5 %."""
_ALL_SUBSETS = 14
"""Up to so many pairs all subsets are taken; of more, as many at random."""
_SKEWED = 2.0
"""Skewness of so many standard errors is none of normal samples."""
_TESTED_BATCHES = (64, 32, 16)
"""Correlation is tested on so many batches, one number after the other; half as many are used."""
_INDEPENDENT = 1.2815515655446004
"""The upper 10 % of the normal distribution begin here."""
_PRIOR_BLOCKS = 12
"""What is believed of neighbours' correlation before they are seen weighs as much as so many of them."""
_PRIOR_CORRELATION = 0.5
_CAUTION = 0.75
"""By so many of its standard errors an estimated correlation is taken for higher than it was seen."""
_HIGHEST_CORRELATION = 0.95
_ROUNDING = 1e-12
"""Values that differ by less, relatively, are the same."""
_FARTHEST = 700.0
"""The exponential of no larger number is asked for: it would have no place in a float, or be 0."""

Numbers = NDArray[np.float64]


class Interval(NamedTuple):
    """A value and the interval around it."""

    value: float
    low: float
    high: float


class TooShortError(ValueError):
    """There are too few observations, or they hang together too long, to say how sure their mean is."""


@dataclasses.dataclass(frozen=True)
class Contrast:
    """B against A."""

    difference: Interval
    """B - A, in their unit."""
    ratio: Interval | None
    """B / A, above 0; None where one of them may as well be 0."""
    p: float
    """How often chance alone makes a ratio so far from 1; where there is none, a difference so far from 0."""
    method: str
    """How the interval comes about, in words."""
    samples: tuple[int, int]
    """Values of A and of B that the interval rests on."""
    paired: bool

    @property
    def excludes_none(self) -> bool:
        """Whether the interval of the ratio does not hold 1; of no ratio, that of the difference not 0."""
        if self.ratio is not None:
            return not self.ratio.low <= 1 <= self.ratio.high
        return not self.difference.low <= 0 <= self.difference.high


# ---- One sample ------------------------------------------------------------------------------------------


def is_same(a: float, b: float) -> bool:
    """Say whether two values differ by no more than rounding makes of one."""
    return math.isclose(a, b, rel_tol=_ROUNDING)


def mean_interval(values: Sequence[float] | Numbers, level: float = LEVEL) -> Interval:
    """Return the mean of independent values, at least two, with Student's interval.

    mean +- t(n - 1) s / sqrt(n): Law, Simulation Modeling and Analysis (5th edition), equation 4.12. Exact
    for normal values.
    """
    sample = _sample(values)
    mean, half = float(sample.mean()), _half(sample, level)
    return Interval(mean, mean - half, mean + half)


def log_values(values: Sequence[float] | Numbers) -> Numbers | None:
    """Return one value per observation, of which the mean varies as the logarithm of the observations' does.

    n log(m) - (n - 1) log(m without it), the jackknife's pseudo-values: Tukey (1958); Miller, "The jackknife:
    a review", Biometrika 61(1), 1974. None where the mean is not greater than 0 without one of them: it may
    as well be 0. Single values may be less (see `pseudo_values`).
    """
    sample = _sample(values)
    mean, rest = float(sample.mean()), len(sample) - 1
    if mean <= 0:
        return None
    without = (mean - sample) / (rest * mean)
    if without.min() <= -1:
        return None
    found: Numbers = math.log(mean) - rest * np.log1p(without)
    return found


def positive_interval(values: Sequence[float] | Numbers, level: float = LEVEL) -> Interval:
    """Return the mean of a quantity that cannot be negative, with an interval that does not either.

    Student's, of its logarithm (`log_values`), taken back: it reaches farther up than down, as what cannot be
    negative varies. Where the mean may as well be 0 it is that of the values themselves, from 0.
    """
    found, logs = mean_interval(values, level), log_values(values)
    if logs is None:
        return within(found, 0.0, math.inf)
    half = _half(logs, level)
    return Interval(found.value, found.value * _exp(-half), found.value * _exp(half))


def share_interval(values: Sequence[float] | Numbers, level: float = LEVEL) -> Interval:
    """Return the mean of shares from 0 to 1, with an interval that lies within 0 and 1.

    Student's, of its logit log(m / (1 - m)), taken back: the rest of a share has the rest of its interval.
    Agresti, Categorical Data Analysis (3rd edition), section 3.1.6. Where the mean may as well be 0 or 1 it
    is that of the values themselves, as far as there are such shares.
    """
    found = mean_interval(values, level)
    logs, rest = log_values(values), log_values(1 - np.asarray(values, dtype=np.float64))
    if logs is None or rest is None:
        return within(found, 0.0, 1.0)
    half, odds = _half(logs - rest, level), found.value / (1 - found.value)
    low, high = odds * _exp(-half), odds * _exp(half)
    return Interval(found.value, low / (1 + low), high / (1 + high) if math.isfinite(high) else 1.0)


def within(interval: Interval, least: float, most: float) -> Interval:
    """Return what of an interval lies where the value can: it holds that no less often."""
    value, low, high = interval
    return Interval(value, min(max(low, least), most), max(min(high, most), least))


def lag_one(values: Sequence[float] | Numbers) -> float:
    """Return the correlation of neighbours in a series, 0 where it does not vary.

    Box, Jenkins and Reinsel, Time Series Analysis, equation 2.1.11, at lag 1.
    """
    off = _sample(values) - np.mean(values)
    total = float(off @ off)
    return float(off[:-1] @ off[1:]) / total if total > 0 else 0.0


def von_neumann(values: Sequence[float] | Numbers) -> float:
    """Return the test of neighbours' correlation: standard normal where independent, large where correlated.

    C / sqrt((k - 2) / (k^2 - 1)) with C = 1 - sum (x_i - x_i+1)^2 / (2 sum (x_i - mean)^2): von Neumann,
    Annals of Mathematical Statistics 12 (1941); used on batches by Fishman, "Grouping observations in digital
    simulation", Management Science 24(5), 1978. At least eight values.
    """
    sample = _sample(values)
    count = len(sample)
    total = float(((sample - sample.mean()) ** 2).sum())
    if total <= 0:
        return 0.0
    statistic = 1 - float((np.diff(sample) ** 2).sum()) / (2 * total)
    return statistic / math.sqrt((count - 2) / (count**2 - 1))


def correlated_interval(values: Sequence[float] | Numbers, level: float = LEVEL) -> Interval:
    """Return the mean of a stationary series with an interval for neighbours that may be alike.

    For eight to some sixty values: too few for `batch_means`, or for a test that would notice. Taken for a
    first-order autoregression, whose mean varies by (1 + 2 sum (1 - k/n) r^k) / n of what its values do, and
    whose sample variance is too small by what that leaves of it (Law, Simulation Modeling and Analysis, 5th
    edition, equations 4.7 to 4.9). Few values say little about r, so that it is not taken as seen: its bias
    is mended (`lag_one` is too low by (1 + 4 r) / n: Marriott and Pope, Biometrika 41, 1954), it is pulled
    towards 0.5 as if twelve more had been seen of that, and raised by 0.75 standard errors of 1 / sqrt(n)
    (Bartlett, 1946). Where neighbours correlate by 0.5, 99 % then miss about as often as they may, at any
    number of values from eight on; where they do not, they hardly ever do. The tests measure both.
    """
    sample = _sample(values)
    count = len(sample)
    seen = (count * lag_one(sample) + 1 + _PRIOR_BLOCKS * _PRIOR_CORRELATION) / (count - 4 + _PRIOR_BLOCKS)
    correlation = min(max(seen + _CAUTION / math.sqrt(count), 0.0), _HIGHEST_CORRELATION)
    lags = np.arange(1, count)
    inflation = 1 + 2 * float(((1 - lags / count) * correlation**lags).sum())
    left = 1 - (inflation - 1) / (count - 1)
    error = math.sqrt(float(sample.var(ddof=1)) * inflation / (left * count))
    mean, half = float(sample.mean()), student.quantile(level, count - 1) * error
    return Interval(mean, mean - half, mean + half)


def batch_length(values: Sequence[float] | Numbers) -> int:
    """Return how many neighbours to take together so that batches of a stationary series are independent.

    Batches grow, from 64 of them to 32 and 16, until the test of von Neumann finds no correlation at 10 %, as
    Fishman has them grow, and are doubled once more: few correlated batches pass it too. That leaves 8 to 63,
    as many as Schmeiser finds worth having ("Batch size effects in the analysis of simulation output",
    Operations Research 30(3), 1982). Where 16 are still correlated, `TooShortError`.
    """
    sample = np.asarray(values, dtype=np.float64)
    if len(sample) < _TESTED_BATCHES[-1]:
        raise TooShortError(f"{len(sample)} intervals of time, and {_TESTED_BATCHES[-1]} are needed")
    for batches in _TESTED_BATCHES:
        length = len(sample) // batches
        if length and von_neumann(batched(sample, length)) < _INDEPENDENT:
            return 2 * length
    raise TooShortError("the run is too short for its slow changes, or has not settled")


def batched(values: Sequence[float] | Numbers, length: int) -> Numbers:
    """Return the means of batches of so many neighbours; what is left at the end is dropped."""
    sample = np.asarray(values, dtype=np.float64)
    count = len(sample) // length
    means: Numbers = sample[: count * length].reshape(count, length).mean(axis=1)
    return means


def batch_means(values: Sequence[float] | Numbers) -> Numbers:
    """Return batch means of a stationary series that may be taken for independent, at least eight.

    Law, Simulation Modeling and Analysis (5th edition), section 9.5.3; for the length see `batch_length`.
    """
    return batched(values, batch_length(values))


def pseudo_values(sums: Sequence[float] | Numbers, counts: Sequence[float] | Numbers) -> Numbers:
    """Return one value per interval of time whose mean is sum(sums) / sum(counts), and varies as that does.

    R + (s_i - R n_i) / mean(n), the linearised ratio estimate: Cochran, Sampling Techniques (3rd edition),
    section 6.3. `sums` in the unit of the result, `counts` of what they sum up.
    """
    above, below = np.asarray(sums, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    ratio = above.sum() / below.sum()
    values: Numbers = ratio + (above - ratio * below) / below.mean()
    return values


# ---- Two samples -----------------------------------------------------------------------------------------


def paired(
    a: Sequence[float] | Numbers,
    b: Sequence[float] | Numbers,
    *,
    resolution: tuple[float, float] = (0.0, 0.0),
    level: float = LEVEL,
) -> Contrast:
    """Compare two designs that met the same chance pair by pair: at least two pairs.

    Student's interval of paired differences (Law, Simulation Modeling and Analysis, 5th edition, section
    10.2.1): of the values for the difference, of `log_values` for the ratio of their means and for p. Where
    these are skewed, and there are six or more, sign flips instead. What is measured cannot be negative; what
    is known of a value is that it lies at most `resolution` (of A, of B) below what is given.
    """
    first, second = _pair(a, b)
    logs = _logarithms(first, second, resolution)
    off = second - first if logs is None else logs.second - logs.first
    if len(off) >= SIGN_FLIPS_MIN and _is_skewed(off):
        return _by_sign_flips(first, second, logs, resolution, level)
    return _contrast(
        first,
        second,
        logs,
        _of_pairs,
        resolution=resolution,
        level=level,
        method=f"Student's interval of {len(off)} paired differences",
        is_paired=True,
    )


def unpaired(
    a: Sequence[float] | Numbers,
    b: Sequence[float] | Numbers,
    *,
    resolution: tuple[float, float] = (0.0, 0.0),
    level: float = LEVEL,
) -> Contrast:
    """Compare two designs by independent values, at least two of each, whose variances may differ.

    Welch, Biometrika 34 (1947), with the degrees of freedom of Satterthwaite (1946): of the values for the
    difference, of `log_values` for the ratio and for p.
    """
    first, second = _sample(a), _sample(b)
    if is_same(float(first.mean()), float(second.mean())):
        second = second + (first.mean() - second.mean())
    return _contrast(
        first,
        second,
        _logarithms(first, second, resolution),
        _of_samples,
        resolution=resolution,
        level=level,
        method=f"Welch's interval of {len(first)} and {len(second)} values",
        is_paired=False,
    )


def ratio_of_pairs(
    a: Sequence[float] | Numbers, b: Sequence[float] | Numbers, level: float = LEVEL
) -> Interval | None:
    """Return B / A of paired values with Student's interval in logarithms; None where one may as well be 0.

    The part of `paired` that holds at any level: few pairs have no sign flips for 99 %.
    """
    first, second = _pair(a, b)
    logs = _logarithms(first, second, (0.0, 0.0))
    return None if logs is None else logs.estimated(_of_pairs).taken_back(level)


def difference_beside(ratio: Interval | None, a: float, difference: Interval) -> Interval:
    """Return B - A with the interval that stands beside a ratio: A x (B / A - 1), from end to end.

    One interval told in two units cannot contradict itself, in its sign or in how much of A is left: B - A is
    never below -A. `a` is the mean of A, and `difference` what the values say by themselves: where there is
    no ratio that is all there is, and it ends at -A too, since what is compared cannot be negative.
    """
    value, low, high = difference
    if ratio is None:
        return Interval(value, min(max(low, -a), value), high)
    if ratio.low == ratio.high:  # chance has no part in it, and rounding shall have none
        return Interval(value, value, value) if ratio.value != 1 else Interval(0.0, 0.0, 0.0)
    low, high = (min(a * (end - 1), sys.float_info.max) for end in ratio[1:])
    return Interval(value, min(low, value), max(high, value))


def typical_values(numerators: Numbers, denominators: Numbers | None = None) -> Numbers:
    """Return, in order, means of subsets of values; with denominators, ratios of their sums over subsets.

    For values that are symmetric about c, c lies between any two neighbours of the means of all subsets with
    the same probability, 1 / 2^n: Hartigan, "Using subsample values as typical values", Journal of the
    American Statistical Association 64 (1969). It is the test by flipping signs, turned into an interval.
    Beyond fourteen values, subsets are drawn at random, which keeps it nearly.
    """
    below = np.ones_like(numerators) if denominators is None else denominators
    subsets = _subsets(len(numerators))
    values: Numbers = np.sort((subsets @ numerators) / (subsets @ below))
    return values


def holm(p: Sequence[float]) -> list[float]:
    """Return each p corrected for all of them being looked at: below 0.05, no false one in 95 % of the cases.

    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
    (1979). Holds however the tests depend on each other.
    """
    order = sorted(range(len(p)), key=lambda index: p[index])
    corrected, least = [0.0] * len(p), 0.0
    for rank, index in enumerate(order):
        least = max(least, min(1.0, (len(p) - rank) * p[index]))
        corrected[index] = least
    return corrected


# ---- What they have in common ----------------------------------------------------------------------------


def _half(sample: Numbers, level: float) -> float:
    """Return half of Student's interval of a mean."""
    return student.quantile(level, len(sample) - 1) * math.sqrt(float(sample.var(ddof=1)) / len(sample))


def _sample(values: Sequence[float] | Numbers) -> Numbers:
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or len(sample) < 2:
        raise ValueError(f"two values or more are needed, in a row, not {sample.shape}")
    return sample


@functools.lru_cache(maxsize=2)
def _subsets(count: int) -> Numbers:
    """Return subsets of so many values, none of them empty, as rows of 0 and 1."""
    if count <= _ALL_SUBSETS:
        return np.array(list(itertools.product((0.0, 1.0), repeat=count)))[1:]
    # Unlike default_rng, RandomState draws the same in every version of NumPy.
    drawn = np.random.RandomState(0).randint(0, 2, ((1 << _ALL_SUBSETS) - 1, count)).astype(np.float64)
    chosen: Numbers = drawn[drawn.any(axis=1)]
    return chosen


def _pair(a: Sequence[float] | Numbers, b: Sequence[float] | Numbers) -> tuple[Numbers, Numbers]:
    first, second = _sample(a), _sample(b)
    if len(first) != len(second):
        raise ValueError(f"{len(first)} values cannot be paired with {len(second)}")
    return first, np.where(np.isclose(first, second, rtol=_ROUNDING, atol=0), first, second)


def _is_skewed(values: Numbers) -> bool:
    """Say whether normal samples are hardly ever as skewed: G1 and its error after Joanes and Gill (1998)."""
    count = len(values)
    off = values - values.mean()
    variance = float((off**2).mean())
    if variance <= 0:
        return False
    g1 = float((off**3).mean()) / variance**1.5
    adjusted = g1 * math.sqrt(count * (count - 1)) / (count - 2)
    error = math.sqrt(6 * count * (count - 1) / ((count - 2) * (count + 1) * (count + 3)))
    return bool(abs(adjusted) > _SKEWED * error)


def _beyond(difference: float, resolution: tuple[float, float]) -> float:
    """Return what is left of a difference if the values are off as far as they may be."""
    return difference - min(max(difference, -resolution[0]), resolution[1])


class _Estimate(NamedTuple):
    """A difference of means, how far it may be off, and how well that is known."""

    value: float
    error: float
    """Its standard error."""
    freedom: float

    def ends(self, level: float, resolution: tuple[float, float] = (0.0, 0.0)) -> tuple[float, float]:
        """Return its interval, wider by how exactly the values are known."""
        half = student.quantile(level, self.freedom) * self.error
        return self.value - half - resolution[1], self.value + half + resolution[0]

    def taken_back(self, level: float, resolution: tuple[float, float] = (0.0, 0.0)) -> Interval:
        """Return the ratio that it is the logarithm of, with its interval."""
        return _ratio(self.value, *self.ends(level, resolution))

    def p(self, resolution: tuple[float, float]) -> float:
        """Return how often chance makes one so large, if the values are off as far as they may be."""
        beyond = _beyond(self.value, resolution)
        if beyond == 0:
            return 1.0
        return student.two_sided_tail(abs(beyond) / self.error, self.freedom) if self.error > 0 else 0.0


def _of_pairs(first: Numbers, second: Numbers) -> _Estimate:
    off = second - first
    return _Estimate(float(off.mean()), math.sqrt(float(off.var(ddof=1)) / len(off)), len(off) - 1)


def _of_samples(first: Numbers, second: Numbers) -> _Estimate:
    variances = [float(each.var(ddof=1)) / len(each) for each in (first, second)]
    total = sum(variances)
    below = sum(
        variance**2 / (len(each) - 1) for variance, each in zip(variances, (first, second), strict=True)
    )
    freedom = total**2 / below if below > 0 else float(len(first) + len(second) - 2)
    return _Estimate(float(second.mean() - first.mean()), math.sqrt(total), freedom)


class _Logarithms(NamedTuple):
    """Two means that are greater than 0, in logarithms."""

    first: Numbers
    """As `log_values` has them."""
    second: Numbers
    value: float
    """The logarithm of B / A."""
    resolution: tuple[float, float]
    """By how much either logarithm may be less than what is given."""

    def estimated(self, estimate: Callable[[Numbers, Numbers], _Estimate]) -> _Estimate:
        # Of the jackknife the spread is taken: its middle is not the ratio of the means that are shown.
        return estimate(self.first, self.second)._replace(value=self.value)


def _logarithms(first: Numbers, second: Numbers, resolution: tuple[float, float]) -> _Logarithms | None:
    """Return both in logarithms; None where one of them may as well be 0, by chance or by its resolution."""
    means = (float(first.mean()), float(second.mean()))
    logs = (log_values(first), log_values(second))
    if logs[0] is None or logs[1] is None or means[0] <= resolution[0] or means[1] <= resolution[1]:
        return None
    shifts = (-math.log1p(-resolution[0] / means[0]), -math.log1p(-resolution[1] / means[1]))
    return _Logarithms(logs[0], logs[1], 0.0 if is_same(*means) else math.log(means[1] / means[0]), shifts)


def _contrast(
    first: Numbers,
    second: Numbers,
    logs: _Logarithms | None,
    estimate: Callable[[Numbers, Numbers], _Estimate],
    *,
    resolution: tuple[float, float],
    level: float,
    method: str,
    is_paired: bool,
) -> Contrast:
    found = estimate(first, second)
    ratio, p = None, found.p(resolution)
    if logs is not None:
        relative = logs.estimated(estimate)
        ratio, p = relative.taken_back(level, logs.resolution), relative.p(logs.resolution)
    difference = Interval(float(second.mean() - first.mean()), *found.ends(level, resolution))
    return Contrast(
        difference=difference_beside(ratio, float(first.mean()), difference),
        ratio=ratio,
        p=p,
        method=method,
        samples=(len(first), len(second)),
        paired=is_paired,
    )


def _ratio(value: float, low: float, high: float) -> Interval:
    """Return a ratio, of which these are the logarithm and its ends."""
    return Interval(_exp(value), _exp(low), _exp(high))


def _exp(value: float) -> float:
    if abs(value) < _ROUNDING:  # what rounding leaves of values that are the same
        return 1.0
    return math.exp(min(max(value, -_FARTHEST), _FARTHEST))


def _by_sign_flips(
    first: Numbers,
    second: Numbers,
    logs: _Logarithms | None,
    resolution: tuple[float, float],
    level: float,
) -> Contrast:
    """Compare pairs by the means, and the ratios of sums, of subsets of them."""
    means = typical_values(second - first)
    tail = max(1, math.floor((1 - level) / 2 * (len(means) + 1) + 1e-9))
    off = float(second.mean() - first.mean())
    difference = Interval(off, float(means[tail - 1]) - resolution[1], float(means[-tail]) + resolution[0])
    ratio, p = None, _p_of_signs(means, off, resolution)
    if logs is not None:
        typical = _typical_logs(first, second, logs)
        low, high = float(typical[tail - 1]) - logs.resolution[1], float(typical[-tail]) + logs.resolution[0]
        ratio, p = _ratio(logs.value, low, high), _p_of_signs(typical, logs.value, logs.resolution)
    return Contrast(
        difference=difference_beside(ratio, float(first.mean()), difference),
        ratio=ratio,
        p=p,
        method=f"sign flips of {len(first)} paired differences, which are skewed",
        samples=(len(first), len(second)),
        paired=True,
    )


def _typical_logs(first: Numbers, second: Numbers, logs: _Logarithms) -> Numbers:
    """Return typical values of the logarithm of a ratio: of sums over subsets, where all have a logarithm."""
    if (first > 0).all() and (second > 0).all():
        found: Numbers = np.log(typical_values(second, first))
        return found
    return typical_values(logs.second - logs.first)


def _p_of_signs(typical: Numbers, value: float, resolution: tuple[float, float]) -> float:
    shift = value - _beyond(value, resolution)
    outside = min(int((typical <= shift).sum()), int((typical >= shift).sum())) + 1
    return 1.0 if shift == value else min(1.0, 2 * outside / (len(typical) + 1))
