"""Levers: what single changes of a drive buy of a number, each against the drive as it is (`docs/levers.md`).

`catalogue` says which changes there are, `file` reads those of one's own, `pull` runs them, `text`, `figures`
and `saving` show what they buy, `intervals` says why that is not known better. Nothing here knows the
command line.
"""

from ninescope.lab.levers.catalogue import LEVERS, Lever, named
from ninescope.lab.levers.file import read
from ninescope.lab.levers.pull import Levers, Pulled, pull

__all__ = ["LEVERS", "Lever", "Levers", "Pulled", "named", "pull", "read"]
