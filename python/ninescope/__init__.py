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
    from ninescope.catalogue import Policy, Preset, policies, presets, trace_stat
    from ninescope.codes import Code
    from ninescope.drive import Drive
    from ninescope.replications import replicate
    from ninescope.result import Latency, Result
    from ninescope.search.search import Search
    from ninescope.sweep.sweep import Sweep
    from ninescope.workload import Workload

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
    "trace_stat",
]

_HOME = {
    "Code": "codes",
    "ConfigError": "_native",
    "SimulationError": "_native",
    "Drive": "drive",
    "Latency": "result",
    "Policy": "catalogue",
    "Preset": "catalogue",
    "Result": "result",
    "Search": "search.search",
    "Sweep": "sweep.sweep",
    "Workload": "workload",
    "policies": "catalogue",
    "presets": "catalogue",
    "replicate": "replications",
    "trace_stat": "catalogue",
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
