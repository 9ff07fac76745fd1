"""Intervals for what simulations measure, on plain numbers: nothing here knows results.

`intervals` compares means and shares, `bootstrap` percentiles; `student` has the distribution that the first
of them needs.
"""

from ninescope.lab.statistics.bootstrap import Blocks, compare_percentiles
from ninescope.lab.statistics.intervals import (
    LEVEL,
    SIGN_FLIPS_MIN,
    Contrast,
    Interval,
    Numbers,
    TooShortError,
    batch_length,
    batch_means,
    batched,
    correlated_interval,
    difference_beside,
    holm,
    is_same,
    lag_one,
    log_values,
    mean_interval,
    paired,
    positive_interval,
    pseudo_values,
    ratio_of_pairs,
    share_interval,
    typical_values,
    unpaired,
    von_neumann,
    within,
)

__all__ = [
    "LEVEL",
    "SIGN_FLIPS_MIN",
    "Blocks",
    "Contrast",
    "Interval",
    "Numbers",
    "TooShortError",
    "batch_length",
    "batch_means",
    "batched",
    "compare_percentiles",
    "correlated_interval",
    "difference_beside",
    "holm",
    "is_same",
    "lag_one",
    "log_values",
    "mean_interval",
    "paired",
    "positive_interval",
    "pseudo_values",
    "ratio_of_pairs",
    "share_interval",
    "typical_values",
    "unpaired",
    "von_neumann",
    "within",
]
