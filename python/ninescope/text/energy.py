"""What a drive drew, in words."""

from __future__ import annotations

from collections.abc import Iterator

from ninescope.result.energy import Energy, Heat
from ninescope.text.names import occupancy_name
from ninescope.text.units import duration, percent

_SHOWN = 5
"""Causes that are named, those that took most."""


def facts(energy: Energy | None) -> Iterator[tuple[str, str]]:
    """Yield power, and what energy was spent on; nothing of a drive that does not tell it."""
    if energy is None:
        return
    if energy.average_watts is not None and energy.peak_watts is not None and energy.peak_window_ns:
        window = duration(energy.peak_window_ns)
        cap = f", of {watts(energy.cap_watts)} that it may" if energy.cap_watts is not None else ""
        yield (
            "power",
            f"{watts(energy.average_watts)} in the mean, "
            f"at most {watts(energy.peak_watts)} over {window}{cap}",
        )
    causes = sorted(energy.by_cause.items(), key=lambda item: -item[1])
    shares = [
        f"{occupancy_name(name)} {percent(value / energy.joules)}" for name, value in causes if value > 0
    ]
    words = joules(energy.joules)
    if energy.joules_per_request is not None:
        words += f", {joules(energy.joules_per_request)} per request"
    yield "energy", f"{words}: {', '.join(shares[:_SHOWN])}" if shares else words

    if energy.states and energy.elapsed_ns:
        inside = [
            f"{percent(state['time_ns'] / energy.elapsed_ns)} at {watts(state['power_watts'])}"
            for state in energy.states
        ]
        entries = sum(int(state["entries"]) for state in energy.states)
        yield "states", f"{', '.join(inside)} of the time, entered {entries:,} times"
    if energy.heat is not None:
        yield "temperature", _warm(energy.heat, energy.elapsed_ns)


def _warm(heat: Heat, elapsed_ns: int) -> str:
    mean = f"{celsius(heat.mean_celsius)} in the mean, " if heat.mean_celsius is not None else ""
    words = f"{mean}at most {celsius(heat.highest_celsius)}, {celsius(heat.celsius)} at the end"
    if not heat.steps:
        return words
    if not heat.throttles and not heat.throttled_ns:
        return f"{words}; not throttled"
    of_steps = [
        f"{percent(step['time_ns'] / elapsed_ns)} at {watts(step['cap_watts'])}" for step in heat.steps
    ]
    return f"{words}; throttled {heat.throttles:,} times, {', '.join(of_steps)} of the time"


def celsius(value: float) -> str:
    """Write a temperature."""
    return f"{value:.1f} C"


def joules(value: float) -> str:
    """Write an energy with the unit that fits it."""
    return _small(value, "J")


def watts(value: float) -> str:
    """Write a power with the unit that fits it."""
    return _small(value, "W")


def _small(value: float, unit: str) -> str:
    for prefix, size in (("k", 1e3), ("", 1.0), ("m", 1e-3), ("u", 1e-6), ("n", 1e-9)):
        if value >= size:
            return f"{value / size:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"
