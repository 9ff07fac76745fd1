"""Policies of your own, in Python: a class, a name, and every drive can have it.

    from ninescope.extension import VictimSelection, policy

    @policy("oldest")
    class Oldest(VictimSelection):
        \"\"\"The candidate that was filled longest ago.\"\"\"

        def select(self, candidates):
            ages = np.where(candidates.valid_units < 0, -1, candidates.age)
            return int(ages.argmax()) if ages.max() >= 0 else None

    ninescope.Drive.preset("tlc").with_(ftl__victim="oldest")

What each kind of policy is asked, and what it may answer, is at its class. Parameters are those of
`__init__`. This room does not know drives or runs.
"""

from ninescope.extension.added import AddedPolicy, added, policies, policy
from ninescope.extension.kinds import (
    DataPlacement,
    PageAllocation,
    StreamChoice,
    SuspendPolicy,
    TransactionScheduler,
    VictimSelection,
)
from ninescope.extension.plugins import load

__all__ = [
    "AddedPolicy",
    "DataPlacement",
    "PageAllocation",
    "StreamChoice",
    "SuspendPolicy",
    "TransactionScheduler",
    "VictimSelection",
    "added",
    "load",
    "policies",
    "policy",
]
