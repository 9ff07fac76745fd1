"""What is said where requests wait in the host: what filled the queue, and whether the drive keeps up at all.

Expected values are those of the M/D/1 queue and of sums by hand: the drive below serves a read in exactly
50 us, one at a time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import ninescope
from conftest import NATIVE, ROOT

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
SERVICE = 50_000
# 1 us each for the controller, the command, 4 KiB on the channel and on the host link; 46 us in the array.
DRIVE = """
base = "slc"
[geometry]
channels = 1
packages_per_channel = 1
dies_per_package = 1
planes_per_die = 1
blocks_per_plane = 64
pages_per_block = 64
page_size = "4KiB"
[nand]
read = "46us"
program = "200us"
command_address = "1us"
channel_rate = "4096MB/s"
[ftl]
over_provisioning = 0.3
frontier_planes = 1
[controller]
queue_depth = 1
command_cost = "1us"
link_rate = "4096MB/s"
"""


def trace(folder: Path, times: Sequence[float] | np.ndarray, scale: float = 1.0) -> Path:
    """Reads of 4 KiB at these times [ns], in the format of MQSim."""
    path = folder / "trace.mqsim"
    path.write_text(
        "".join(f"{int(time * scale)} 0 {index % 64 * 8} 8 1\n" for index, time in enumerate(times))
    )
    return path


def poisson(load: float, requests: int = 20_000, seed: int = 1) -> np.ndarray:
    return np.cumsum(np.random.default_rng(seed).exponential(SERVICE / load, requests))


def run(path: Path, **how: object) -> ninescope.Result:
    return ninescope.Drive.from_toml(DRIVE).run(ninescope.Workload.trace(path, **how))


def about_load(result: ninescope.Result) -> list[str]:
    return [note for note in result.notes if "does not keep up" in note]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_load_below_one_is_kept_up_with(tmp_path, seed):
    result = run(trace(tmp_path, poisson(0.9, seed=seed)))
    assert result.latency_without_host_queue.read.min_ns == SERVICE
    assert result.latency_without_host_queue.read.max_ns == SERVICE
    assert result.host_queue.kept_up
    assert about_load(result) == []


@pytest.mark.parametrize("load", [1.1, 1.5, 20.0])
def test_a_load_above_one_is_told_with_the_time_scale_that_would_do(tmp_path, load):
    path = trace(tmp_path, poisson(load))
    result = run(path)
    [overload] = result.host_queue.overload
    # 20,000 Poisson arrivals have a rate that is known to 0.7 %.
    assert overload.load == pytest.approx(load, rel=0.03)
    assert overload.completions_per_second == pytest.approx(1e9 / SERVICE, rel=0.03)
    assert overload.arrivals_per_second == pytest.approx(load * 1e9 / SERVICE, rel=0.03)
    assert overload.time_scale == pytest.approx(load / 0.9, rel=0.04)
    [note] = about_load(result)
    assert f"--time-scale {overload.time_scale:g} " in note
    assert "--closed-loop" in note
    scaled = run(path, time_scale=overload.time_scale)
    assert scaled.host_queue.kept_up
    assert about_load(scaled) == []


def test_the_scale_that_is_named_includes_the_one_that_was_used(tmp_path):
    times = poisson(1.1)
    plain = run(trace(tmp_path, times)).host_queue.overload[0]
    scaled = run(trace(tmp_path, times, scale=2.0), time_scale=0.5).host_queue.overload[0]
    assert scaled.time_scale == pytest.approx(plain.time_scale / 2, rel=0.02)


@pytest.mark.parametrize("scale", [1e-6, 1e-3])
def test_a_scale_far_below_one_has_digits_that_count(tmp_path, scale):
    # Times a thousand times as far apart as of a load of 0.5: what is right is far below one.
    path = trace(tmp_path, poisson(0.5), scale=1_000)
    [overload] = run(path, time_scale=scale * 1e-3).host_queue.overload
    assert overload.time_scale == pytest.approx(0.5 / 0.9 / 1_000, rel=0.03)
    [note] = about_load(run(path, time_scale=scale * 1e-3))
    assert f"--time-scale {overload.time_scale:f}".rstrip("0") in note


def late(idle_gap: int = 60 * SERVICE) -> np.ndarray:
    """10,000 requests at a sixtieth of the drive's rate, then as many at four times its rate."""
    begin = np.arange(10_000) * idle_gap
    return np.concatenate([begin, begin[-1] + idle_gap + np.arange(10_000) * SERVICE // 4])


def test_an_overload_that_begins_late_has_its_own_factor_and_its_own_busy_times(tmp_path):
    path = trace(tmp_path, late())
    result = run(path)
    [overload] = result.host_queue.overload
    assert overload.load == pytest.approx(4, rel=0.01)
    assert overload.time_scale == pytest.approx(4 / 0.9, rel=0.01)
    assert overload.arrivals_per_second == pytest.approx(4e9 / SERVICE, rel=0.01)
    assert overload.since_ns == pytest.approx(10_000 * 60 * SERVICE, abs=512 * SERVICE // 4)
    # Over the run it is busy for 48 of 50 us of a share of (1 + 1) / (60 + 1).
    assert result.host_queue.resources[0].busy == pytest.approx(0.96 * 2 / 61, rel=0.01)
    assert overload.resources[0].kind == "die"
    assert overload.resources[0].busy == pytest.approx(0.96, rel=0.01)
    text = re.sub(r"\s+", " ", str(result))
    assert "queue_depth =" not in text
    assert re.search(r"saturated die \(9[56]\.\d% busy\) while requests fell behind", text)
    assert run(path, time_scale=overload.time_scale).host_queue.kept_up


def test_a_time_scale_of_a_closed_loop_is_noted(tmp_path):
    path = trace(tmp_path, poisson(0.5, requests=100))
    said = [
        note for note in run(path, closed_loop=True, time_scale=0.5).notes if "time_scale is ignored" in note
    ]
    assert len(said) == 1
    assert not [note for note in run(path, closed_loop=True).notes if "time_scale" in note]


def test_a_closed_loop_waits_for_nobody(tmp_path):
    result = run(trace(tmp_path, poisson(3.0)), closed_loop=True)
    assert result.host_queue.kept_up
    assert result.host_queue.share == {"read": 0.0}
    assert not result.host_queue.holders


def test_what_filled_the_queue_and_what_was_busy_are_sums_by_hand(tmp_path):
    result = run(trace(tmp_path, poisson(1.5)))
    held = result.host_queue.held_by()
    # Command cycles count with the array: 47 of 50 us; channel, link and controller have one each.
    expected = {"command_array": 47 / 50, "transfer": 1 / 50, "link": 1 / 50, "command_processing": 1 / 50}
    assert held == pytest.approx({("read", cause): share for cause, share in expected.items()})
    busy = {resource.name: resource.busy for resource in result.host_queue.resources}
    assert busy["die"] == pytest.approx(48 / 50, rel=0.01)
    assert busy["controller"] == pytest.approx(1 / 50, rel=0.01)
    assert busy["host link out"] == pytest.approx(1 / 50, rel=0.01)
    assert busy["channel"] == pytest.approx(2 / 50, rel=0.3)
    for band in result.attribution.read:
        assert band.in_device.mean_ns == pytest.approx(SERVICE)
        assert "host_queue" not in band.in_device.parts_ns
    read = result.document["host_queue"]["holders"]["read"]
    assert read["mean_ns"] == pytest.approx(SERVICE)


def test_text_and_report_show_the_device_beside_the_queue(tmp_path):
    result = run(trace(tmp_path, poisson(1.5)))
    text = re.sub(r"\s+", " ", str(result))
    for words in (
        "Where the time of reads in the device went",
        "queue full its slots were held by read flash array 94%",
        "saturated die (96.0% busy)",
        "the drive does not keep up",
    ):
        assert words in text
    html = result.report(tmp_path / "report.html").read_text()
    for words in (
        "Where the time of reads in the device went",
        "flash array 94%",
        "does not keep up",
        "saturated",
    ):
        assert words in html
    again = ninescope.Result.load(result.save(tmp_path / "out")[0].parent)
    assert again.host_queue == result.host_queue


def test_where_nobody_waits_nothing_is_said(tmp_path):
    result = run(trace(tmp_path, np.arange(1_000) * 2 * SERVICE))
    text = str(result)
    assert "in the device" not in text
    assert "queue full" not in text
    assert "kept up" not in text


def test_bursts_are_called_bursts(tmp_path):
    # 200 requests at each of 50 times, a tenth of the time between them worked off.
    result = run(trace(tmp_path, np.repeat(np.arange(50) * 200 * SERVICE * 10, 200)))
    assert result.host_queue.share["read"] > 0.9
    assert result.host_queue.kept_up
    assert "kept up" in str(result)
    [note] = [note for note in result.notes if "different times" in note]
    assert "50 different times, multiples of 100ms" in note
    assert "--closed-loop" in note


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (np.zeros(50_000), "all requests of the trace have the same time"),
        (np.repeat([0, 10**9], 25_000), "the trace's 50000 requests have 2 different times, multiples of 1s"),
        (np.arange(20_000) // 1000 * 10**9, "20 different times, multiples of 1s"),
    ],
)
def test_times_that_tell_little_are_told(tmp_path, times, words):
    result = run(trace(tmp_path, times))
    [note] = [note for note in result.notes if words in note]
    assert "--closed-loop" in note


def test_requests_of_one_instant_have_no_time_scale(tmp_path):
    result = run(trace(tmp_path, np.zeros(2_000)))
    [overload] = result.host_queue.overload
    assert (overload.load, overload.time_scale) == (None, None)
    [note] = about_load(result)
    assert "arrive at once" in note
    assert "--time-scale" not in note


def test_fine_times_are_not_blamed(tmp_path):
    result = run(trace(tmp_path, poisson(0.5)))
    assert not any("different times" in note or "same time" in note for note in result.notes)


def test_the_job_that_is_too_fast_is_named():
    jobs = ninescope.Workload.jobs(
        {"name": "fast", "rw": "randread", "bs": "4k", "rate_iops": 30_000, "size": "1m", "requests": 20_000},
        {"name": "slow", "rw": "randread", "bs": "4k", "rate_iops": 100, "size": "1m", "requests": 60},
    )
    result = ninescope.Drive.from_toml(DRIVE).run(jobs)
    assert [overload.job for overload in result.host_queue.overload] == ["fast"]
    [note] = about_load(result)
    assert note.startswith("job fast: ")
    assert "rate_iops" in note
    assert "--time-scale" not in note


def test_trace_stat_tells_the_clock(cli, tmp_path):
    path = trace(tmp_path, np.arange(3_000) // 100 * 10**9)
    assert "30 different ones, multiples of 1.00 s" in re.sub(r"\s+", " ", cli("trace", "stat", path).out)
    stat = json.loads(cli("trace", "stat", path, "--json").out)
    assert (stat["distinct_times"], stat["time_resolution_ns"]) == (30, 10**9)


RATE_DRIVE = ninescope.Drive.from_toml(DRIVE)


def paced(**job: object) -> ninescope.Result:
    return RATE_DRIVE.run(ninescope.Workload.job(size="1m", requests=20_000, **job), prefill="full")


@pytest.mark.parametrize("load", [1.5, 20.0, 3_000.0])
def test_a_job_is_told_the_rate_that_would_do(load):
    """One request after the other of 50 us: 20,000 per second are served, and 18,000 are 90 % of them."""
    rate = load * 1e9 / SERVICE
    result = paced(rw="randread", bs="4k", rate_iops=rate)
    [overload] = result.host_queue.overload
    assert overload.time_scale is None
    assert overload.rate_iops == pytest.approx(0.9e9 / SERVICE, rel=0.02)
    assert float(f"{overload.rate_iops:.3g}") == overload.rate_iops
    assert f"rate_iops={overload.rate_iops:.0f} " in about_load(result)[0]
    assert paced(rw="randread", bs="4k", rate_iops=overload.rate_iops).host_queue.kept_up


def test_a_rate_in_bytes_is_a_word_of_the_command_line(cli, tmp_path):
    words = ("--rw", "randread", "--bs", "8k", "--requests", "500", "--json")
    code, out, err = cli("run", *words, "--rate", "8192MB/s")
    assert code == 0, err
    assert json.loads(out)["workload"]["job"]["rate"] == "8192MB/s"
    # A request of 8 KiB each microsecond.
    assert json.loads(out)["simulated_ns"] >= 499_000
    code, out, err = cli("run", *words, "--rate", "8192")
    assert (code, out) == (2, "")
    assert "`8192` has no unit: write 8192B/s" in err
    code, _, err = cli("run", *words, "--rate", "1MB/s", "--rate-iops", "5")
    assert code == 2
    assert "rate_iops" in err


def test_a_job_is_told_the_rate_in_bytes_that_would_do():
    result = paced(rw="randread", bs="4k", rate=f"{1.5e9 / SERVICE * 4096:.0f}B/s")
    [overload] = result.host_queue.overload
    assert (overload.rate_iops, overload.write_rate) == (None, None)
    assert overload.rate == pytest.approx(0.9e9 / SERVICE * 4096, rel=0.02)
    assert f"rate={overload.rate:.0f} " in about_load(result)[0]
    assert "without rate iodepth is kept" in about_load(result)[0]
    assert paced(rw="randread", bs="4k", rate=f"{overload.rate:.0f}B/s").host_queue.kept_up


def test_the_rate_that_would_do_leaves_the_dies_what_they_owe():
    """Writes complete in the buffer: what the drive works on by itself afterwards belongs to its load."""
    drive = ninescope.Drive.from_file(ROOT / "examples/drives/small.toml")

    def run(rate: float) -> ninescope.Result:
        job = ninescope.Workload.job(rw="randwrite", bs="16k", rate_iops=rate, requests=20_000)
        return drive.run(job, prefill="steady-uniform", warmup=0)

    [overload] = run(300_000).document["host_queue"]["overload"]
    assert overload["rate_iops"] < 0.995 * 0.9 * overload["completions_per_second"]
    result = run(overload["rate_iops"])
    assert result.document["host_queue"]["overload"] == []
    assert 1 - result.document["utilisation"]["dies"]["occupancy"]["idle"] == pytest.approx(0.9, abs=0.01)


def test_rates_of_both_directions_are_lowered_alike():
    [overload] = paced(rw="randrw", bs="4k", rate_iops=90_000, write_rate_iops=30_000).host_queue.overload
    assert overload.write_rate_iops is not None
    assert overload.rate_iops == pytest.approx(3 * overload.write_rate_iops, rel=0.01)
    assert overload.rate_iops + overload.write_rate_iops < 90_000


def test_arrivals_of_a_fixed_rate_are_known_to_the_last():
    """20,000 requests at 100,000 per second: the last of them arrives after 199.99 ms."""
    result = paced(rw="randrw", bs="4k", rate_iops=100_000)
    [overload] = result.host_queue.overload
    assert overload.arrivals_per_second == 100_000
    assert overload.completions_per_second == pytest.approx(100_000 / overload.load)
    assert overload.until_ns == pytest.approx(20_000 * 10_000, abs=10_000)
    assert " (100 k and " in about_load(result)[0]
    assert "to the last at 200 ms" in about_load(result)[0]


def test_what_goes_on_after_the_last_arrival_is_no_keeping_up(tmp_path):
    """Requests of a twelfth of the time come at its end: that they are worked off is all that is known."""
    steady = np.arange(22_000) * 2 * SERVICE
    burst = np.full(4_000, steady[-1])
    result = run(trace(tmp_path, np.concatenate([steady, burst])))
    queue = result.host_queue
    assert not queue.overload
    assert not queue.kept_up
    [left] = queue.undecided
    assert left.arrivals_ns == steady[-1]
    assert left.drain_ns == pytest.approx(4_000 * SERVICE, rel=0.05)
    text = re.sub(r"\s+", " ", str(result))
    assert "kept up cannot be told: completions went on for" in text


@pytest.mark.parametrize(("rate", "requests"), [(2, 2), (100, 100)])
def test_rates_are_over_the_duration_that_ended_a_job(rate, requests):
    """As fio counts: the last of two requests in a second comes after half of it."""
    drive = ninescope.Drive.preset("tlc")
    job = {"rw": "randread", "bs": "4k", "size": "1m", "rate_iops": rate, "duration": "1s"}
    alone = drive.run(ninescope.Workload.job(**job))
    assert sum(each["iops"] for each in alone.document["throughput"].values()) == pytest.approx(
        requests, rel=1e-9
    )
    both = drive.run(ninescope.Workload.jobs({"name": "a", **job}, {"name": "b", **job}))
    assert [each.iops for each in both.jobs] == pytest.approx([requests, requests], rel=1e-9)
    # One that its number of requests ended was over with the last of them.
    ended = drive.run(ninescope.Workload.job(**{**job, "requests": requests // 2}))
    assert ended.document["measured_ns"] < 0.51e9
