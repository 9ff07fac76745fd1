"""What is simulated, and doing it: drives, workloads, traces, runs, prepared drives, and codes by themselves.

A run comes to a result (`ninescope.result`). Nothing here knows how one is shown, or that there are several.
"""
