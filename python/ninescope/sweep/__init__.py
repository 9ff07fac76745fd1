"""Many runs: planned before anything runs, run on whatever there is, and never lost.

| module | is for | must not know |
| --- | --- | --- |
| `source` | workloads by content | drives |
| `point` | one run, named by everything that its result depends on | axes, lakes |
| `store` | a folder or a URL in which files appear whole | what they hold |
| `lake` | what points came to, kept | axes, pools |
| `claims` | who runs what at the moment | results |
| `worker` | a point becomes a result, somewhere | lakes |
| `runner` | points on a pool (`ninescope.pool`), their results in a lake | axes, files of sweeps |
"""
