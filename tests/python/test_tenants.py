"""Several tenants on one drive: how much slower each is than alone, and how fair that is."""

from __future__ import annotations

import json
import math

import pytest

import ninescope
from conftest import NATIVE, ROOT
from ninescope.result.fairness import Fairness, jain, least_over_most, mean_latency

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")

READ_NS, COMMAND_NS, LINK_NS = 50_000, 300, 5
TRANSFER_NS = 4_096
"""4 KiB on a channel of 1 B/ns."""


def one_die() -> ninescope.Drive:
    """Return a drive of one die, in front of which nothing takes time worth mentioning."""
    return ninescope.Drive.preset("tlc").with_(
        geometry__channels=1,
        geometry__packages_per_channel=1,
        geometry__dies_per_package=1,
        geometry__planes_per_die=1,
        geometry__blocks_per_plane=64,
        ftl__frontier_planes=1,
        nand__cell="slc",
        nand__read=["50us"],
        nand__program=["400us"],
        nand__program_pulses=1,
        nand__command_address="300ns",
        nand__channel_rate="1GB/s",
        controller__command_cost="0ns",
        controller__link_rate="1TB/s",
    )


def reader(name: str, **words: object) -> dict[str, object]:
    return {"name": name, "rw": "randread", "size": "4m", "requests": 400} | words


def test_indices_are_what_their_formulas_say():
    assert jain([2.0, 2.0, 2.0]) == pytest.approx(1.0)
    assert jain([1.0, 3.0]) == pytest.approx(16 / 20)
    assert jain([1.0, 0.0, 0.0, 0.0]) == pytest.approx(1 / 4)
    assert least_over_most([1.0, 4.0, 2.0]) == 0.25
    assert (jain([]), least_over_most([])) == (None, None)
    # A starved job bears it all, and two of three bear it alike.
    assert jain([1.0, 7.0, math.inf]) == pytest.approx(1 / 3)
    assert jain([1.0, math.inf, math.inf]) == pytest.approx(2 / 3)
    assert least_over_most([1.0, math.inf]) == 0.0
    assert least_over_most([math.inf]) is None
    latency = {
        "read": {"count": 3, "mean_ns": 10.0},
        "write": {"count": 1, "mean_ns": 50.0},
        "trim": {"count": 0, "mean_ns": 0.0},
    }
    assert mean_latency(latency) == 20.0


def test_two_readers_of_one_die_are_twice_as_slow_and_it_is_fair():
    # Each read takes S on the die; together one waits for the other's every time: 2 S.
    result = one_die().run(ninescope.Workload.jobs(reader("a"), reader("b")), alone=True)
    service = COMMAND_NS + READ_NS + TRANSFER_NS
    for job in result.jobs:
        assert job.alone.requests == 400
        assert job.alone.mean_ns == pytest.approx(service + LINK_NS, rel=1e-6)
        assert job.slowdown == pytest.approx(2 * service / (service + LINK_NS), rel=2 / 400)
        assert job.alone.latency.read.count == 400
        assert job.waits["read"].share("b" if job.name == "a" else "a") == pytest.approx(0.5, abs=0.005)
    assert result.fairness.jain == pytest.approx(1.0, abs=1e-4)
    assert result.fairness.least_over_most == pytest.approx(1.0, abs=2 / 400)


def test_a_deep_reader_slows_a_shallow_one_by_its_depth():
    # First come first served, a read waits for eight others, whosever it is; alone those of the eight wait
    # for seven. So the one is 9 times as slow, and the eight are 9/8 times.
    both = ninescope.Workload.jobs(reader("deep", iodepth=8, requests=3_200), reader("shallow"))
    deep, shallow = (result := one_die().run(both, alone=True)).jobs
    assert shallow.slowdown == pytest.approx(9, rel=0.02)
    assert deep.slowdown == pytest.approx(9 / 8, rel=0.02)
    ratio = deep.slowdown / shallow.slowdown
    assert result.fairness.least_over_most == pytest.approx(ratio)
    assert result.fairness.jain == pytest.approx((1 + ratio) ** 2 / (2 * (1 + ratio**2)))


def test_a_closed_loop_that_waits_to_be_let_in_is_as_much_slower_as_its_rate_is_lower():
    # Alone the eight of a job fill the queue; together each has half of the places,
    # or three and one of every four.
    jobs = [reader(name, iodepth=8, requests=1_000_000) for name in ("a", "b")]
    drive = one_die().with_(controller__queue_depth=8)
    equal = drive.run(ninescope.Workload.jobs(*jobs), duration="400ms", alone=True)
    assert [job.slowdown for job in equal.jobs] == pytest.approx([2, 2], rel=0.02)
    assert equal.fairness.jain == pytest.approx(1.0, abs=1e-3)
    assert equal.jobs[0].latency.read.mean_ns == pytest.approx(equal.jobs[0].alone.mean_ns, rel=0.02)
    assert [job.slowdown_of for job in equal.jobs] == ["rate", "rate"]
    assert "a 2.0" in str(equal)
    assert "requests per second alone over those together" in str(equal)
    weighted = drive.with_(scheduler__arbitration="weighted-round-robin")
    uneven = [jobs[0] | {"weight": 3}, jobs[1] | {"weight": 1}]
    result = weighted.run(ninescope.Workload.jobs(*uneven), duration="400ms", alone=True)
    assert [job.slowdown for job in result.jobs] == pytest.approx([4 / 3, 4], rel=0.02)
    # (1 + 3) ** 2 / (2 * (1 + 9))
    assert result.fairness.jain == pytest.approx(0.80, abs=0.01)
    assert result.fairness.least_over_most == pytest.approx(1 / 3, rel=0.03)
    # Queues of the host hold what the drive has no room for, and the wait is in the latency.
    queued = drive.with_(controller__queue_entries=64)
    result = queued.run(ninescope.Workload.jobs(*jobs), duration="400ms", alone=True)
    assert [job.slowdown for job in result.jobs] == pytest.approx([2, 2], rel=0.02)
    assert [job.slowdown_of for job in result.jobs] == ["latency", "latency"]


def test_what_comes_by_its_times_and_a_closed_loop_beside_it_are_told_each_in_its_way(tmp_path):
    # 400 reads of a trace come at once, and fill the queue of four for as long as they last.
    rows = "".join(f"{index},host,0,Read,{4096 * index},4096,0\n" for index in range(400))
    (tmp_path / "burst.csv").write_text(rows, encoding="utf-8")
    limited = "\niops_max = 100000"
    for words, of in (
        ("", "latency"),
        ("closed_loop = true\niodepth = 4", "rate"),
        (f"closed_loop = true{limited}", "latency"),
    ):
        text = f"""[[traces]]
name = "burst"
trace = "burst.csv"
format = "msr"
{words}
[[jobs]]
name = "loop"
rw = "randread"
iodepth = 4
offset = "4m"
size = "4m"
requests = 400
"""
        (tmp_path / "jobs.toml").write_text(text, encoding="utf-8")
        file = ninescope.Workload.job_file(tmp_path / "jobs.toml")
        result = one_die().with_(controller__queue_depth=4).run(file, alone=True)
        told = {job.name: job for job in result.jobs}
        assert told["loop"].slowdown_of == "rate"
        assert told["loop"].slowdown == pytest.approx(2, rel=0.1)
        assert told["burst"].slowdown_of == of


def test_a_job_without_one_completion_is_starved_and_bears_it_all(tmp_path):
    urgent = reader("first", iodepth=8, requests=1_000_000, priority="urgent")
    later = reader("later", iodepth=8, startdelay="1s")
    drive = one_die().with_(controller__queue_depth=4, scheduler__arbitration="weighted-round-robin")
    jobs = ninescope.Workload.jobs(urgent, reader("one", iodepth=8), later)
    result = drive.run(jobs, duration="50ms", alone=True)
    first, one, later = result.jobs
    assert first.slowdown == pytest.approx(1, rel=0.01)
    assert (one.requests, one.slowdown, one.starved) == (0, None, True)
    assert one.alone.requests > 0
    # That one never began.
    assert (later.slowdown, later.starved) == (None, False)
    assert result.fairness == Fairness(jain=0.5, least_over_most=0.0)
    assert any(note.startswith("job one was starved") for note in result.notes)
    assert "one starved; Jain's fairness index 0.500, least over most 0.000" in " ".join(str(result).split())
    result.save(tmp_path)
    assert ninescope.Result.load(tmp_path).jobs == result.jobs
    stored = result.document["by_job"][1]
    assert (stored["slowdown"], stored["starved"]) == (None, True)


def test_alone_changes_nothing_in_the_run_itself_and_is_saved(tmp_path):
    both = ninescope.Workload.jobs(reader("a"), reader("w", rw="randwrite", offset="4m"))
    plain, compared = one_die().run(both), one_die().run(both, alone=True)
    assert plain.digest == compared.digest
    assert plain.fairness is None
    assert all(job.slowdown is None and job.alone is None for job in plain.jobs)
    compared.save(tmp_path)
    loaded = ninescope.Result.load(tmp_path)
    assert loaded.jobs == compared.jobs
    assert loaded.fairness == compared.fairness == Fairness(**compared.document["fairness"])
    assert "Slowdown against running alone" in str(loaded)
    assert "Slowdown" not in str(plain)


def test_a_job_runs_alone_on_the_drive_that_all_of_them_prepare(cli):
    example = ROOT / "examples/jobs/noisy-neighbour.toml"
    demo = ("--drive", str(ROOT / "examples/drives/demo.toml"), "--json", "--prefill", "footprint")
    code, out, err = cli("run", example, *demo, "--alone")
    assert code == 0, err
    document = json.loads(out)
    quiet, noisy = document["by_job"]
    assert quiet["slowdown"] > 2 > noisy["slowdown"] >= 1
    assert document["fairness"]["least_over_most"] == pytest.approx(noisy["slowdown"] / quiet["slowdown"])
    assert quiet["alone"]["throughput"].keys() == {"read"}


def test_one_job_has_nothing_to_be_compared_with(cli):
    with pytest.raises(ninescope.ConfigError, match="alone: the workload has one job"):
        one_die().run(ninescope.Workload.job(rw="randread", requests=5), alone=True)
    code, _, err = cli("run", "--rw", "randread", "--requests", "5", "--alone")
    assert code == 2
    assert "alone: the workload has one job" in err


# ---- Whose command is next -------------------------------------------------------------------------------


def weighted(burst: int = 1) -> ninescope.Drive:
    arbitration = {"policy": "weighted-round-robin", "burst": burst}
    return one_die().with_(controller__queue_depth=8, scheduler__arbitration=arbitration)


@pytest.mark.parametrize("burst", [1, 8])
def test_shares_of_a_full_queue_are_the_weights(burst):
    # Both always have something ready, so that of each four commands three are of the first.
    both = ninescope.Workload.jobs(
        reader("three", iodepth=16, weight=3, requests=10_000),
        reader("one", iodepth=16, weight=1, requests=10_000),
    )
    three, one = weighted(burst).run(both, requests=8_000).jobs
    assert three.arbitration.taken_in == 6_000
    assert one.arbitration.taken_in == 2_000
    assert three.arbitration.out_of_turn > 0
    assert three.iops / one.iops == pytest.approx(3, rel=0.01)


def test_an_urgent_job_goes_first():
    jobs = (
        reader("deep", iodepth=16, requests=4_000),
        reader("urgent", iodepth=1, priority="urgent", requests=400),
    )
    work = ninescope.Workload.jobs(*jobs)
    deep, urgent = weighted().run(work).jobs
    in_turn = one_die().with_(controller__queue_depth=8).run(work).jobs[1]
    assert in_turn.arbitration is None
    assert urgent.arbitration.out_of_turn > 0
    assert urgent.latency.read.mean_ns <= in_turn.latency.read.mean_ns
    assert deep.requests == 4_000


def test_what_jobs_say_of_their_turns_changes_nothing_in_turn():
    silent = ninescope.Workload.jobs(reader("a"), reader("b"))
    said = ninescope.Workload.jobs(reader("a", weight=9), reader("b", priority="urgent"))
    first, second = one_die().run(silent), one_die().run(said)
    assert first.digest == second.digest
    assert any("`weight` and `priority` (job a) change nothing" in note for note in second.notes)
    assert not any("priority" in note for note in weighted().run(said).notes)
    alone = one_die().run(ninescope.Workload.job(**reader("a", weight=9)))
    assert any("has the drive for itself" in note for note in alone.notes)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"weight": 0}, "weight: 0 would never have its turn"),
        ({"weight": 1000}, "weight: 1000 is too large"),
        ({"weight": 2, "priority": "urgent"}, "weight: an urgent job"),
        ({"priority": "hgih"}, "high"),
    ],
)
def test_a_turn_that_makes_no_sense_is_refused_by_its_key(words, said):
    with pytest.raises(ninescope.ConfigError, match=said):
        weighted().run(ninescope.Workload.jobs(reader("a"), reader("b", **words)))


# ---- Limits ----------------------------------------------------------------------------------------------


def limits(result: ninescope.Result) -> list[dict[str, object]]:
    found: list[dict[str, object]] = result.document["host_queue"].get("limits", [])
    return found


def submissions(work: ninescope.Workload) -> tuple[ninescope.Result, list[int], list[int]]:
    """Return a result, when its requests were submitted, and when they were taken in."""
    result = one_die().run(work, log_requests=True)
    rows = result.to_polars("requests").sort("submitted_ns")
    submitted = rows["submitted_ns"].to_list()
    waits = rows["host_queue_ns"].to_list()
    return result, submitted, [at + wait for at, wait in zip(submitted, waits, strict=True)]


@pytest.mark.parametrize("words", [{"iops_max": 1_000}, {"bandwidth_max": "4.096MB/s"}])
def test_a_closed_job_is_let_in_at_the_pace_of_its_limit(words):
    # One request of 4 KiB each millisecond; each takes a twentieth of that.
    result, submitted, _ = submissions(
        ninescope.Workload.job(rw="randread", size="4m", iodepth=4, requests=100, **words)
    )
    assert submitted == [index * 1_000_000 for index in range(100)]
    assert limits(result) == [{"job": None, "taken_in": 100, "held": 99, "mean_wait_ns": 0.0}]


def test_an_open_job_waits_in_the_host_for_its_limit():
    # Requests come every half millisecond and are let in every millisecond: number k waits k times the half.
    count = 50
    job = {"rw": "randread", "size": "4m", "rate_iops": 2_000, "iops_max": 1_000, "requests": count}
    result, submitted, taken_in = submissions(ninescope.Workload.job(**job))
    assert submitted == [submitted[0] + index * 500_000 for index in range(count)]
    assert taken_in == [submitted[0] + index * 1_000_000 for index in range(count)]
    [limit] = limits(result)
    assert (limit["taken_in"], limit["held"]) == (count, count - 1)
    assert limit["mean_wait_ns"] == pytest.approx(500_000 * (count - 1) / 2)
    host_queue = sum(band.parts_ns.get("host_queue", 0) * band.count for band in result.attribution.read)
    assert host_queue / count == pytest.approx(limit["mean_wait_ns"])


def test_a_burst_is_let_in_at_once():
    # Three milliseconds' worth are saved up: four requests at once, and then one each millisecond.
    job = {"rw": "randread", "size": "4m", "rate_iops": 1e6, "iops_max": 1_000, "limit_burst": "3ms"}
    _, submitted, taken_in = submissions(ninescope.Workload.job(**job, requests=10))
    assert taken_in[:4] == submitted[:4]
    assert taken_in[4:] == [submitted[0] + index * 1_000_000 for index in range(1, 7)]


def test_a_limit_of_the_noisy_job_gives_the_quiet_one_its_time_back():
    # Free, a read waits for eight others of S: 9 S. Held, there is one of them a millisecond, and what it
    # leaves of that is the quiet one's.
    service = COMMAND_NS + READ_NS + TRANSFER_NS
    quiet = reader("quiet", requests=1_000)
    noisy = reader("noisy", iodepth=8, requests=8_000)
    free = one_die().run(ninescope.Workload.jobs(quiet, noisy))
    held = one_die().run(ninescope.Workload.jobs(quiet, noisy | {"iops_max": 1_000}), check="cheap")
    [limit] = limits(held)
    assert limit["job"] == "noisy"
    assert limit["held"] == 7_999
    assert limits(free) == []
    assert held.jobs[1].iops == pytest.approx(1_000, rel=0.01)
    assert free.jobs[0].latency.read.mean_ns == pytest.approx(9 * service, rel=0.01)
    left = 1 - service / 1_000_000
    assert held.jobs[0].latency.read.mean_ns == pytest.approx(service / left, rel=0.005)


# ---- Channels and dies of one's own ----------------------------------------------------------------------


def channels(count: int, *, dies: int = 1, planes: int = 1) -> ninescope.Drive:
    """Return a drive of so many channels, in front of which nothing takes time worth mentioning."""
    return one_die().with_(
        geometry__channels=count,
        geometry__dies_per_package=dies,
        geometry__planes_per_die=planes,
        geometry__blocks_per_plane=40,
        geometry__pages_per_block=16,
        ftl__frontier_planes=1,
        ftl__over_provisioning=0.28,
    )


CACHED_MAP = {"ftl__map": {"policy": "entries", "size": "4KiB"}}
CACHE = {
    "ftl__mapping_unit": "16KiB",
    "dram": {"capacity": "1MiB", "rate": "3.2GB/s", "access": "30ns"},
    "tier__placement": {"policy": "wb", "evict_free": 0.2},
}


def writer(name: str, **words: object) -> dict[str, object]:
    return {"name": name, "rw": "randwrite", "iodepth": 8, "size": "4m", "requests": 4_000} | words


def held_by(waits: ninescope.result.JobWaits, job: str, *causes: str) -> float:
    return sum(waits.behind_ns.get(job, {}).get(cause, 0.0) for cause in causes)


def test_a_job_on_channels_of_its_own_does_not_notice_a_noisy_one():
    quiet, noisy = reader("quiet", iodepth=2), writer("noisy", offset="4m")
    shared = channels(4).run(ninescope.Workload.jobs(quiet, noisy), alone=True, check="full")
    assert shared.jobs[0].slowdown > 2
    assert shared.partitions == ()
    assert shared.jobs[0].partition is None
    jobs = ninescope.Workload.jobs(quiet | {"channels": [1]}, noisy | {"channels": [0, 3]})
    apart = channels(4).run(jobs, alone=True, check="full")
    waits = apart.jobs[0].waits["read"]
    causes = ("die_waiting_for_channel", "die_host_read", "die_host_program", "channel")
    assert held_by(waits, "noisy", *causes) == 0
    assert held_by(shared.jobs[0].waits["read"], "noisy", *causes) > 0
    assert waits.behind_ns.keys() <= {"quiet", "noisy"}
    assert not any(cause.startswith("die_") for cause in waits.behind_drive_ns)
    # Link and processor take next to nothing here, so that it is as fast as alone.
    assert apart.jobs[0].slowdown == pytest.approx(1, abs=1e-3)
    assert [partition.jobs for partition in apart.partitions] == [("quiet",), ("noisy",), ()]
    assert [partition.channels for partition in apart.partitions] == [(1,), (0, 3), (2,)]
    assert apart.partitions[0].units_per_host_unit is None
    assert apart.jobs[1].waf == apart.partitions[1].units_per_host_unit
    assert apart.partitions[1].host_units == 4_000
    programmed = sum(each.programmed_units for each in apart.partitions)
    assert programmed == apart.document["ftl"]["programmed_units"]
    assert "planes" in str(apart)
    assert "quiet on channels 1, nothing written; noisy on channels 0, 3, WAF" in " ".join(str(apart).split())


def test_writes_do_not_stand_in_line_behind_those_of_others():
    # The noisy one keeps the write buffer of its channel full; a write of the other one finds its own empty.
    noisy = writer("noisy", bs="32k", offset="8m", size="4m", iodepth=32, channels=[0], requests=2_000)
    quiet = writer("quiet", iodepth=1, rate_iops=500, channels=[1], requests=300)
    apart = channels(2).run(ninescope.Workload.jobs(quiet, noisy), alone=True, check="full")
    assert apart.jobs[0].slowdown == pytest.approx(1, abs=1e-3)
    waits = apart.jobs[0].waits["write"].parts_ns
    assert waits.get("buffer_stall", 0) + waits.get("allocation_stall", 0) == 0
    noisy_waits = apart.jobs[1].waits["write"].parts_ns
    assert noisy_waits["buffer_stall"] > 0


def test_jobs_on_channels_of_their_own_share_the_bound_of_all_dies_in_the_order_of_coming():
    """Both fill the same buffer with as many writes at a time, and get as much of it."""
    drive = channels(2).with_(controller__shared_buffered_pages=8, controller__buffered_pages=8)
    jobs = [
        writer(name, bs="16k", iodepth=16, offset=offset, size="4m", channels=[own], requests=100_000)
        for name, offset, own in (("a", "0", 0), ("b", "8m", 1))
    ]
    shares = drive.run(ninescope.Workload.jobs(*jobs), duration="200ms", check="full")
    a, b = (job.requests for job in shares.jobs)
    assert min(a, b) > 200
    assert a == pytest.approx(b, rel=0.05)


def test_each_part_has_the_write_amplification_of_its_own_writes():
    # One overwrites its region at random, the other writes in order: garbage of one piece each time.
    jobs = ninescope.Workload.jobs(
        writer("random", requests=20_000, size="7m", channels=[0]),
        writer("in-order", rw="write", requests=20_000, offset="7m", size="7m", channels=[1]),
    )
    result = channels(2).run(jobs, prefill="full")
    random, in_order = result.jobs
    assert in_order.waf == pytest.approx(1, abs=0.02)
    assert random.waf > 1.5
    both = (random.waf + in_order.waf) / 2
    assert result.waf.total == pytest.approx(both, rel=0.02)


def test_dies_and_planes_can_be_named_and_jobs_can_share_them():
    drive = channels(2, dies=2, planes=2)
    jobs = ninescope.Workload.jobs(
        writer("a", dies=[0, 3], planes=[1], size="2m"),
        writer("b", dies=[3, 0], planes=[1], offset="2m", size="2m"),
        writer("c", dies=[0], planes=[0], offset="4m", size="2m"),
        writer("rest", offset="6m", size="2m"),
    )
    result = drive.run(jobs, check="full")
    assert [job.partition for job in result.jobs] == [0, 0, 1, 2]
    shared, alone, rest = result.partitions
    assert (shared.jobs, shared.dies, shared.planes) == (("a", "b"), (0, 3), (1,))
    assert (alone.jobs, alone.dies, alone.planes) == (("c",), (0,), (0,))
    assert (rest.jobs, rest.dies) == (("rest",), (1, 2, 3))
    assert shared.host_units == alone.host_units * 2 == 8_000


@pytest.mark.parametrize("prefill", ["footprint", "full", "raw", "steady", "steady-uniform", "none"])
def test_every_way_to_prepare_leaves_each_region_in_its_planes(prefill):
    jobs = ninescope.Workload.jobs(
        writer("a", channels=[0], requests=500),
        writer("b", channels=[1, 2], offset="4m", size="6m", requests=500),
    )
    # The checker looks at every unit before the first request and behind the last one.
    result = channels(3).run(jobs, prefill=prefill, check="full")
    assert [partition.host_units for partition in result.partitions] == [500, 500]


@pytest.mark.parametrize("of_drive", [{}, CACHED_MAP])
def test_a_drive_that_was_prepared_in_parts_is_kept_as_such(tmp_path, of_drive):
    parts = [writer("a", channels=[0], requests=500), writer("b", channels=[1], offset="4m", requests=500)]
    swapped = [parts[0] | {"channels": [1]}, parts[1] | {"channels": [0]}]
    drive = channels(2).with_(**of_drive)
    run = {"prefill": "full", "snapshots": tmp_path}
    first = drive.run(ninescope.Workload.jobs(*parts), **run)
    again = drive.run(ninescope.Workload.jobs(*parts), **run)
    other = drive.run(ninescope.Workload.jobs(*swapped), **run)
    loaded = [result.document["performance"]["snapshot"]["loaded"] for result in (first, again, other)]
    assert loaded == [False, True, False]
    assert first.digest == again.digest


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"channels": []}, {}, r"job `a`: channels: is empty"),
        ({"channels": [2]}, {}, r"job `a`: channels: there is no channel 2, the drive has 0 to 1"),
        ({"dies": [0, 0]}, {}, r"job `a`: dies: die 0 is named twice"),
        ({"dies": [0], "channels": [0]}, {}, r"job `a`: dies: names dies, and `channels`"),
        ({"channels": [0]}, {"dies": [0]}, r"job `b`: dies: are on this drive shared with job `a` in part"),
        ({"channels": [0, 1]}, {}, r"job `b`: channels: names none, and other jobs have all"),
        ({"channels": [0]}, {"channels": [1], "offset": "3m"}, r"`b`: offset: begins or ends in the region"),
        ({"channels": [0], "size": "18m"}, {"offset": "18m"}, r"`a`: size: .* 18MiB, .* hold 16MiB"),
        ({"planes": [0]}, {}, None),
    ],
)
def test_planes_that_cannot_be_are_refused_by_job_and_key(first, second, said):
    drive = channels(2, dies=2)
    drive = drive.with_(geometry__planes_per_die=2, geometry__blocks_per_plane=20, ftl__frontier_planes=2)
    with pytest.raises(ninescope.ConfigError, match=said or "planes 0 to 1 of a die of this drive"):
        drive.run(ninescope.Workload.jobs(writer("a", **first), writer("b", **({"offset": "4m"} | second))))


@pytest.mark.parametrize("prefill", ["none", "full", "steady-uniform"])
@pytest.mark.parametrize(
    ("of_drive", "unit"), [(CACHED_MAP, "4k"), (CACHE, "16k"), (CACHED_MAP | CACHE, "16k")]
)
def test_a_cached_map_and_a_cache_leave_each_region_in_its_planes(prefill, of_drive, unit):
    """The checker holds each page of the map, and each page that goes down, to where its addresses lie."""
    jobs = [
        writer("a", channels=[0], requests=1_000, bs=unit),
        writer("b", channels=[1, 2], offset="4m", size="6m", requests=1_000, bs=unit, rw="randrw"),
    ]
    drive = channels(3).with_(**of_drive)
    result = drive.run(ninescope.Workload.jobs(*jobs), prefill=prefill, check="full")
    document = result.document
    of_map = sum(partition.map_units for partition in result.partitions)
    assert of_map == document["ftl"]["map_units"]
    if of_drive is CACHED_MAP:
        assert all(partition.map_units > 0 for partition in result.partitions)
    below = document["ftl"]["host_units"] + document["ftl"]["migrated_units"]
    assert sum(partition.host_units for partition in result.partitions) == below > 0
    if of_drive is not CACHED_MAP:
        assert document["ftl"]["migrated_units"] > 0
    programmed = sum(partition.programmed_units for partition in result.partitions)
    assert programmed == document["ftl"]["programmed_units"]
    # 3 channels of 40 blocks of 16 pages, 28 % more than what the host sees; pages of the map are not its.
    pages = 3 * 40 * 16 / 1.28
    units = int(pages * (4 if unit == "4k" else 1))
    assert sum(partition.logical_units for partition in result.partitions) == units


def test_what_has_no_planes_of_its_own_says_so():
    job = ninescope.Workload.job(**writer("a", channels=[0]))
    with pytest.raises(ninescope.ConfigError, match="channels: make pools unlike each other"):
        channels(2).run(job, prefill="steady-composed")
    with pytest.raises(ninescope.ConfigError, match="channels: only a drive with flash"):
        ninescope.Drive.preset("s-scm").run(job)
