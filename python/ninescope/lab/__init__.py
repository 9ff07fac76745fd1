"""The lab: whatever needs more than one run.

Runs with several seeds (`replications`), designs compared (`compare`), many runs planned and kept (`sweep`),
the best of many designs found (`search`), two traces held against each other (`fidelity`); the workers on
which all of it runs (`pool`), the intervals that it speaks in (`statistics`), and the name of the build that
kept results are good for (`build`). Nothing here knows papers, reports or the command line.
"""
