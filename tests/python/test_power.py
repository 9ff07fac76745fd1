"""What a drive draws, from end to end: sums, what changes it, what is said of it."""

from __future__ import annotations

import pytest

from conftest import NATIVE, ROOT
from ninescope.result.metrics import metrics_of

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
DRIVE = ROOT / "examples" / "drives" / "power.toml"


def run(workload: dict[str, object] | None = None, prefill: str = "full", **sets: object):
    import ninescope

    job = {"rw": "randread", "bs": "4k", "iodepth": 8, "requests": 4_000, "size": "64m", **(workload or {})}
    drive = ninescope.Drive.from_file(DRIVE).with_(**sets)
    job = {key: value for key, value in job.items() if value is not None}
    return drive.run(ninescope.Workload.job(**job), prefill=prefill, check="full")


def test_energy_is_told_by_cause_and_by_part():
    result = run({"rw": "randrw", "bs": "16k", "size": None, "requests": 8_000}, prefill="steady")
    energy = result.energy
    assert energy is not None
    assert sum(energy.by_cause.values()) == pytest.approx(energy.joules, rel=1e-12)
    assert sum(energy.by_part.values()) == pytest.approx(energy.joules, rel=1e-12)
    assert {"idle", "host_read", "host_program", "gc_read", "gc_program", "erase"} <= set(energy.by_cause)
    assert energy.average_watts == pytest.approx(energy.joules / energy.elapsed_ns * 1e9, rel=1e-12)
    assert energy.peak_watts is not None
    assert energy.average_watts is not None
    # At rest it draws what its controller and its dies do; and no more than all dies and a core beside.
    at_rest = 1.1 + 16 * 33e-6
    assert at_rest < energy.average_watts < energy.peak_watts < at_rest + 16 * 0.0825 + 0.25 + 0.8
    metrics = {"energy_joules": energy.joules, "power_peak_watts": energy.peak_watts}
    assert {name: metrics_of(result)[name] for name in metrics} == metrics
    assert "in the mean, at most" in str(result)


def test_reads_of_one_page_take_what_they_say():
    # The LSB page of the preset takes 34 us, as does the MSB page; the one between them 52 us.
    result = run({"iodepth": 1})
    energy = result.energy
    assert energy is not None
    reads = result.document["counters"]["read_commands"]
    assert 34e-6 <= energy.by_part["dies"] / reads / 0.0825 <= 52e-6
    assert energy.by_part["channels"] == pytest.approx(reads * 4096 * 73.6e-12, rel=1e-12)
    assert energy.by_part["cores"] == pytest.approx(result.requests * 1e-6 * 0.25, rel=1e-12)
    assert energy.joules_per_byte == pytest.approx(energy.joules / result.requests / 4096, rel=1e-12)


def test_what_is_drawn_changes_nothing_else():
    import ninescope

    drawn = run()
    shape = {
        "geometry__blocks_per_plane": 32,
        "geometry__pages_per_block": 96,
        "ftl__over_provisioning": 0.28,
    }
    plain = (
        ninescope.Drive.preset("tlc")
        .with_(**shape)
        .run(
            ninescope.Workload.job(rw="randread", bs="4k", iodepth=8, requests=4_000, size="64m"),
            prefill="full",
        )
    )
    assert (plain.energy, plain.digest) == (None, drawn.digest)
    assert metrics_of(plain)["energy_joules"] is None


def test_a_drive_that_waits_is_at_rest():
    busy, idle = (run({"rate_iops": rate}) for rate in (None, 1_000))
    for result in (busy, idle):
        assert result.energy is not None
    share = [result.energy.by_cause["idle"] / result.energy.joules for result in (busy, idle)]
    assert share[0] < 0.8 < 0.99 < share[1]
    # The longer it takes, the more each request costs.
    assert idle.energy.joules_per_request > 5 * busy.energy.joules_per_request


def test_a_cap_bounds_power_and_iops():
    """A read of the preset senses for 40 us in the mean of its page types: with power for N dies N do."""
    found = {}
    for dies in (1, 2, 4):
        result = run(
            {"iodepth": 64}, power__cap=f"{1_100_528 + dies * 82_500}uW", scheduler__multi_plane=False
        )
        found[dies] = sum(of.iops for of in result.throughput.values())
        assert result.document["counters"]["power_waits"] > 1_000
        assert result.energy.cap_watts == pytest.approx(1.100528 + dies * 0.0825)
        assert result.document["attribution"]["read"][0]["parts_ns"]["die_waiting_for_power"] > 10_000
    assert found[1] == pytest.approx(1e9 / 40_290, rel=0.03)
    assert found[2] == pytest.approx(2 * found[1], rel=0.02)
    assert found[4] == pytest.approx(4 * found[1], rel=0.02)


def test_reads_far_apart_wait_until_the_drive_is_awake():
    states = [{"after": "1ms", "power": "70mW", "enter": "500us", "leave": "5ms"}]
    gap = 20_000_000
    workload = {"rate_iops": 50, "iodepth": 1, "requests": 100}
    awake, resting = run(workload), run(workload, power__states=states)
    for result in (awake, resting):
        assert result.energy is not None
    of = resting.energy.states[0]
    assert resting.document["counters"]["power_wakes"] >= 99
    assert resting.latency.read.mean_ns == pytest.approx(
        awake.latency.read.mean_ns + 5e6 * resting.document["counters"]["power_wakes"] / 100, rel=1e-6
    )
    assert resting.document["attribution"]["read"][0]["parts_ns"]["waking"] == pytest.approx(5e6, rel=0.02)
    # Of each gap all but the way in, and what lies before that, and the way out with the read.
    assert of["time_ns"] / of["entries"] == pytest.approx(gap - 1.5e6 - 5e6, rel=0.01)
    assert of["joules"] == pytest.approx(of["time_ns"] * 1e-9 * 0.07, rel=1e-9)
    assert resting.energy.average_watts < 0.5 < awake.energy.average_watts
    assert "at 70 mW of the time" in str(resting)


def test_tables_of_sweeps_keep_fractions_of_joules_and_watts():
    # A peak of 1.9 W was shown as 1.
    pl = pytest.importorskip("polars")
    from ninescope.lab.sweep.dataset import SCHEMA

    names = ("energy_joules", "energy_per_request_joules", "power_mean_watts", "power_peak_watts")
    assert {SCHEMA[name] for name in names} == {pl.Float64}


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        ({"power__die_read": "82.5"}, "has no unit"),
        ({"power__die_read": "-1mW"}, "negative"),
        ({"power__window": 0}, "power.window must not be zero"),
        ({"power__dram": "1W"}, r"power.dram is given.*\[dram\]"),
        ({"power__warmth": "1W"}, "warmth"),
        ({"power__cap": "1W"}, "power.cap is 1W"),
        ({"power__states": [{"after": "1ms", "power": "5W"}]}, r"power.states\[0\].power is 5W"),
    ],
)
def test_what_cannot_be_is_said_by_name(sets, words):
    with pytest.raises(ValueError, match=words):
        run(**sets)
