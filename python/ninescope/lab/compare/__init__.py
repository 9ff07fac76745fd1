"""Two results compared, or two designs that were run with several seeds each.

    from ninescope.lab.compare import compare

    print(compare(one, other))

`sides` are what is compared, `conditions` say what differs between them, `design` which runs are compared
with which, `metrics` what is compared; `within` and `ninescope.lab.statistics` give the intervals, `verdict`
the words. Nothing here knows where results come from: a sweep, a folder or a program.
"""

from ninescope.lab.compare.comparison import Comparison, Row
from ninescope.lab.compare.judging import compare
from ninescope.lab.compare.sides import Side, load

__all__ = ["Comparison", "Row", "Side", "compare", "load"]
