"""ninescope: a deterministic SSD simulator that says where every nanosecond of the tail went.

    import ninescope

    drive = ninescope.Drive.preset("tlc").with_(ftl__over_provisioning=0.1)
    result = drive.run(ninescope.Workload.job(rw="randread", bs="4k", iodepth=32, requests=1_000_000))
    print(result.latency.read.percentile(99.99))
    result.plot.tail()

Everything is imported when it is first used, so that the command line starts quickly.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ninescope._native import ConfigError, SimulationError
    from ninescope.common.catalogue import Policy, Preset, presets
    from ninescope.extension.added import policies
    from ninescope.lab.replications import replicate
    from ninescope.lab.search.search import Search
    from ninescope.lab.sweep.sweep import Sweep
    from ninescope.result import Latency, Result
    from ninescope.simulation.codes import Code
    from ninescope.simulation.drive import Drive
    from ninescope.simulation.snapshots import shelve
    from ninescope.simulation.traces import trace_stat
    from ninescope.simulation.workload import Workload

    __version__: str

__all__ = [
    "Code",
    "ConfigError",
    "Drive",
    "Latency",
    "Policy",
    "Preset",
    "Result",
    "Search",
    "SimulationError",
    "Sweep",
    "Workload",
    "policies",
    "presets",
    "replicate",
    "shelve",
    "trace_stat",
]

_HOME = {
    "Code": "simulation.codes",
    "ConfigError": "_native",
    "SimulationError": "_native",
    "Drive": "simulation.drive",
    "Latency": "result",
    "Policy": "common.catalogue",
    "Preset": "common.catalogue",
    "Result": "result",
    "Search": "lab.search.search",
    "Sweep": "lab.sweep.sweep",
    "Workload": "simulation.workload",
    "policies": "extension.added",
    "presets": "common.catalogue",
    "replicate": "lab.replications",
    "shelve": "simulation.snapshots",
    "trace_stat": "simulation.traces",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = importlib.import_module("ninescope._native").version()
    elif name in _HOME:
        value = getattr(importlib.import_module(f"ninescope.{_HOME[name]}"), name)
    else:
        raise AttributeError(f"module 'ninescope' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])
