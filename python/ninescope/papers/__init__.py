"""Published claims, and whether they can be reproduced here.

A paper is a folder `experiments/NNN-name`. Its `claims.toml` holds what was published and what would count as
reproducing it; its `experiment.py` measures, and never sees `claims.toml`.

- `experiment`: what an `experiment.py` is made of
- `runner`: runs it in processes of its own, which may not read `claims.toml`
- `claims`: reads `claims.toml`
- `judge`: measured values and claims make verdicts
- `catalogue`: where papers are found, and which verdicts are committed
- `report`: verdicts as text, JSON and files
"""
