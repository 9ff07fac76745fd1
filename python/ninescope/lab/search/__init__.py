"""Design search: which design is best under which limits, found by running as few designs as will do.

| module | is for | must not know |
| --- | --- | --- |
| `goals` | objectives and constraints: what they want, whether they can hold | parameters, runs |
| `space` | parameters: what they may be and when, and what lies one step aside | objectives, runs |
| `file` | a search as it is written, checked as far as it can be without running | lakes, Optuna |
| `evidence` | what a short run already shows, by intervals | parameters, Optuna |
| `pareto` | which of several is dominated, and which is chosen | what the numbers mean |
| `trial` | a design that was tried, and what became of it | who proposed it |
| `optimiser` | Optuna: proposals that depend on seed and what was told alone, in a journal | runs, lakes |
| `evaluate` | designs become points, points become values | Optuna |
| `finish` | the last candidates with several seeds, the chosen one, and its neighbours | Optuna |
| `record` | a search in a lake, and the tables it makes | pools |
| `search` | the Python API of all of it | |
| `text`, `figures` | looking at a search | pools |

Points, lakes, pools and the runner are those of `ninescope.lab.sweep`. Only `optimiser` imports Optuna.
"""
