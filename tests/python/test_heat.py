"""A drive that warms itself, from end to end: what a load settles to by theory, its tail, what is told."""

from __future__ import annotations

import math

import pytest

from conftest import NATIVE, ROOT
from ninescope.result.metrics import metrics_of

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
DRIVE = ROOT / "examples" / "drives" / "heats-up.toml"
AMBIENT, RESISTANCE, TIME_CONSTANT = 35.0, 20.0, 20e6
ABOVE, UNTIL = 75.0, 73.0


def run(workload: dict[str, object] | None = None, **sets: object):
    import ninescope

    job = {"rw": "randread", "bs": "4k", "iodepth": 64, "requests": 60_000, "size": "64m", **(workload or {})}
    drive = ninescope.Drive.from_file(DRIVE).with_(**sets)
    job = {key: value for key, value in job.items() if value is not None}
    return drive.run(ninescope.Workload.job(**job), prefill="full", check="full")


def iops(result) -> float:
    return sum(of.iops for of in result.throughput.values())


def leads_to(watts: float) -> float:
    return AMBIENT + RESISTANCE * watts


def time_until(from_: float, to: float, reached: float) -> float:
    return TIME_CONSTANT * math.log((to - from_) / (to - reached))


def test_a_drive_at_rest_goes_to_its_temperature_as_a_capacitor_is_charged():
    # One read each 10 ms, for 100 ms: what they draw is nothing beside 1.1 W.
    result = run({"iodepth": 1, "rate_iops": 100, "requests": 11}, power__heat__begins_at=35.0)
    heat = result.energy.heat
    elapsed = math.floor(result.energy.elapsed_ns / 1e5) * 1e5
    warm = leads_to(result.energy.average_watts)
    assert heat.celsius == pytest.approx(warm + (35 - warm) * math.exp(-elapsed / TIME_CONSTANT), abs=0.02)
    mean = warm - (heat.celsius - 35) * TIME_CONSTANT / elapsed
    assert heat.mean_celsius == pytest.approx(mean, abs=0.02)
    assert (heat.throttles, result.energy.throttled_share) == (0, 0)
    assert "not throttled" in str(result)


def test_a_load_settles_to_what_a_throttle_leaves():
    free, throttled = run(power__heat__throttle=[]), run()
    capped = run(power__cap="1.8W", power__heat__throttle=[])
    hot, cool = (leads_to(result.energy.average_watts) for result in (free, capped))
    assert cool < UNTIL < ABOVE < hot
    up, down = time_until(UNTIL, hot, ABOVE), time_until(ABOVE, cool, UNTIL)
    share = down / (up + down)
    heat, energy = throttled.energy.heat, throttled.energy
    assert heat.throttles >= 8
    assert energy.throttled_share == pytest.approx(share, abs=0.04)
    watts = share * capped.energy.average_watts + (1 - share) * free.energy.average_watts
    assert (UNTIL - AMBIENT) / RESISTANCE < watts < (ABOVE - AMBIENT) / RESISTANCE
    assert energy.average_watts == pytest.approx(watts, rel=0.01)
    assert iops(throttled) == pytest.approx(share * iops(capped) + (1 - share) * iops(free), rel=0.02)
    assert UNTIL < heat.mean_celsius < ABOVE
    # A window of 100 us, and what is under way.
    assert ABOVE < heat.highest_celsius < ABOVE + (hot - ABOVE) * 3e5 / TIME_CONSTANT
    [light, heavy] = heat.steps
    assert light["entries"] == heat.throttles == throttled.document["counters"]["thermal_throttles"]
    assert (light["time_ns"], heavy["time_ns"]) == (heat.throttled_ns, 0)


def test_the_tail_of_a_throttled_drive_says_that_it_was_hot():
    result = run({"requests": 20_000})
    parts = result.document["attribution"]["read"][0]["parts_ns"]
    assert parts["die_throttled_by_heat"] > 10_000
    assert "die_waiting_for_power" not in parts
    assert "throttled by heat" in str(result)
    assert "of the time" in str(result)


def test_where_it_settles_does_not_depend_on_how_fast_it_warms_up():
    slow = run(power__heat__time_constant="40ms")
    fast = run(power__heat__time_constant="10ms", power__heat__window="50us")
    assert slow.energy.heat.mean_celsius == pytest.approx(fast.energy.heat.mean_celsius, abs=0.5)
    assert iops(slow) == pytest.approx(iops(fast), rel=0.05)
    assert fast.energy.heat.throttles > 2 * slow.energy.heat.throttles


def test_sweeps_know_how_warm_it_was():
    result = run({"requests": 20_000})
    found = metrics_of(result)
    assert found["temperature_max_celsius"] == result.energy.heat.highest_celsius
    assert found["throttled_share"] == result.energy.heat.throttled_ns / result.energy.elapsed_ns
    import ninescope

    job = ninescope.Workload.job(rw="randread", bs="4k", requests=1_000, size="64m")
    plain = ninescope.Drive.from_file(DRIVE.with_name("power.toml")).run(job, prefill="full")
    assert (plain.energy.heat, plain.energy.throttled_share) == (None, None)
    assert metrics_of(plain)["temperature_max_celsius"] is None


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        ({"power__heat__resistance": 0}, r"power.heat.resistance is 0"),
        ({"power__heat__time_constant": "20"}, "has no unit"),
        ({"power__heat__ambient": 151}, r"power.heat.ambient is 151"),
        (
            {"power__heat__throttle": [{"above": 75, "until": 80, "cap": "1.8W"}]},
            r"throttle\[0\].until is 80",
        ),
        ({"power__heat__throttle": [{"above": 75, "until": 73, "cap": "1W"}]}, r"throttle\[0\].cap is 1W"),
    ],
)
def test_what_cannot_be_is_said_by_name(sets, words):
    with pytest.raises(ValueError, match=words):
        run(**sets)
