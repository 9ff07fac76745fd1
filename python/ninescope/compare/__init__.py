"""Two results compared, or two designs that were run with several seeds each.

    from ninescope.compare import compare

    print(compare(one, other))

`sides` are what is compared, `conditions` say what differs between them, `design` which runs are compared
with which, `metrics` what is compared; `within` and `ninescope.statistics` give the intervals, `verdict` the
words. Nothing here knows where results come from: a sweep, a folder or a program.
"""

from ninescope.compare.comparison import Comparison, Row, compare
from ninescope.compare.sides import Side, load

__all__ = ["Comparison", "Row", "Side", "compare", "load"]
