"""Many runs: planned before anything runs, run on whatever there is, and never lost.

| module | is for | must not know |
| --- | --- | --- |
| `source` | workloads by content | drives |
| `point` | one run, named by everything that its result depends on | axes, lakes |
| `base` | drive, workload and run of a file, and points made of them by changing keys | axes |
| `values`, `conditions`, `lines` | what is written in sweep files: ranges, expressions, places | points |
| `file`, `plan` | a sweep as it is written, and the points it comes to | lakes, pools |
| `estimate` | what points will take, and whether they can be run | lakes |
| `timing` | how long, from what a few of them were measured to take | files, lakes |
| `store` | a folder or a URL in which files appear whole | what they hold |
| `lake`, `dataset` | what points came to, kept; their numbers as a table | axes, pools |
| `claims` | who runs what at the moment | results |
| `prepared` | prepared drives that points share, and where they are kept | lakes |
| `worker` | a point becomes a result, somewhere | lakes |
| `runner` | points on a pool (`ninescope.lab.pool`), their results in a lake | axes, files of sweeps |
| `record` | a sweep in a lake: its rows, and the table they make | pools |
| `sweep` | the Python API of all of it | |
| `sql`, `plot`, `compare`, `text` | looking at tables | pools |

A search is another maker of points: it needs `base`, `lake` and `runner`.
"""
