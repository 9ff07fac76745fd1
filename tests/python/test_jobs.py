"""Several jobs in one run, as a user sees them."""

from __future__ import annotations

import json

import polars
import pytest

import ninescope
from conftest import NATIVE, ROOT
from ninescope.result.metrics import metrics_of

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")

EXAMPLES = ROOT / "examples/jobs"
TWO = (
    {"name": "reader", "rw": "randread", "iodepth": 4, "size": "64m", "requests": 4_000},
    {"name": "log", "rw": "write", "rate_iops": 2_000, "size": "8m", "requests": 200, "flush_every": 50},
)


@pytest.fixture(scope="module")
def result() -> ninescope.Result:
    return ninescope.Drive.preset("tlc").run(ninescope.Workload.jobs(*TWO), log_requests=True)


def test_each_job_is_told_by_itself(result):
    reader, log = result.jobs
    assert (reader.name, reader.requests, reader.bytes) == ("reader", 4000, 4000 * 4096)
    assert (log.name, log.requests, log.bytes) == ("log", 203, 200 * 4096)
    assert [op for op, _ in log.latency] == ["write", "flush"]
    assert reader.latency.read.count == 4000
    assert reader.latency.read.max_ns == result.latency.read.max_ns
    assert reader.iops == pytest.approx(4000 * 1e9 / reader.measured_ns)
    # Little's law: four are always in flight, but for the ramp down.
    assert reader.iops * reader.latency.read.mean_ns / 1e9 == pytest.approx(4, rel=0.01)
    assert log.throughput["write"].iops == pytest.approx(2000, rel=0.02)
    assert ninescope.Drive.preset("tlc").run(ninescope.Workload.job(rw="read", requests=5)).jobs == ()


def test_a_trace_of_a_job_has_its_zones_sizes_and_rate(cli, tmp_path):
    """90 % of the requests go to 64 MiB, sizes are 8 KiB with a deviation of 2, 200 MB come a second."""
    job = tmp_path / "job.toml"
    job.write_text(
        'rw = "randrw"\nbsnormal = "8k/2k"\nblockalign = "4k"\nrate = "200MB/s"\nrate_process = "poisson"\n'
        'random_distribution = "zoned_abs:90/64m:10/192m"\nsize = "256MiB"\nrequests = 40000\n'
    )
    assert cli("run", job, "--log-requests", "--out", tmp_path / "out").code == 0
    log = polars.read_parquet(tmp_path / "out/requests.parquet").sort("submitted_ns")
    first = log["lba"].min()
    hot = (log["lba"] - first < (64 << 20) // 512).mean()
    assert hot == pytest.approx(0.9, abs=0.006), "four standard deviations"
    sectors = log["sectors"]
    assert sectors.mean() == pytest.approx(16, abs=0.08)
    assert sectors.var() == pytest.approx(16 + 1 / 12, rel=0.03)
    seconds = (log["submitted_ns"].max() - log["submitted_ns"].min()) / 1e9
    assert sectors.sum() * 512 / seconds == pytest.approx(2e8, rel=0.02)
    told = json.loads(cli("trace", "stat", tmp_path / "out/requests.parquet", "--json").out)
    assert told["requests"] == 40_000


WHOLE = ("die_waiting_for_channel", "die_host_read", "die_host_program", "channel")


def test_each_job_says_for_whom_it_waited(result):
    reader, log = result.jobs
    waits = reader.waits["read"]
    assert waits.count == 4000
    assert sum(waits.parts_ns.values()) == pytest.approx(reader.latency.read.mean_ns)
    assert sum(band.count for band in waits.bands) == 4000
    assert 0 < waits.beyond_p99.count <= 40
    assert waits.beyond_p99.mean_ns == pytest.approx(
        sum(band.mean_ns * band.count for band in waits.bands if band.lower_ns >= waits.beyond_p99.lower_ns)
        / waits.beyond_p99.count
    )
    for entry in (waits, waits.beyond_p99, *waits.bands, *log.waits.values()):
        for cause in WHOLE:
            behind = sum(of.get(cause, 0.0) for of in entry.behind_ns.values())
            said = entry.parts_ns.get(cause, 0.0)
            assert behind + entry.behind_drive_ns.get(cause, 0.0) == pytest.approx(said), cause
    assert waits.behind_ns["log"]["die_host_program"] == pytest.approx(waits.parts_ns["die_host_program"])
    assert "die_host_read" not in waits.behind_ns["log"]
    assert waits.share("log") == pytest.approx(sum(waits.behind_ns["log"].values()) / waits.mean_ns)


def test_the_text_says_who_waited_for_whom(result):
    text = " ".join(str(result).split())
    reader, _ = result.jobs
    waits = reader.waits["read"]
    share, tail = waits.share("log"), waits.beyond_p99.share("log")
    assert f"reads of reader: its own {waits.share('reader'):.1%}" in text
    assert f"log {share:.1%} ({tail:.1%})" in text
    alone = ninescope.Drive.preset("tlc").run(ninescope.Workload.job(rw="read", requests=5))
    assert "waited" not in str(alone)


def test_a_trim_has_bytes_and_moves_none():
    work = (
        {"name": "trims", "rw": "randtrim", "bs": "32k", "size": "1m"},
        {"name": "reads", "rw": "read", "size": "64k"},
    )
    result = ninescope.Drive.preset("tlc").run(ninescope.Workload.jobs(*work))
    trims, reads = result.jobs
    assert trims.throughput["trim"].bytes == result.throughput["trim"].bytes == 1 << 20
    assert trims.throughput["trim"].bytes_per_second == pytest.approx(trims.iops * (32 << 10))
    assert (trims.bytes, reads.bytes) == (0, 64 << 10)
    moved = metrics_of(result)["bytes_per_second"]
    assert moved == pytest.approx(result.throughput["read"].bytes_per_second)


def test_the_log_of_requests_names_the_job_where_there_are_several(result, tmp_path):
    frame = result.to_polars("requests")
    by_job = dict(frame.group_by("job").len().rows())
    assert by_job == {"reader": 4000, "log": 203}
    assert set(frame.filter(polars.col("job") == "log")["op"]) == {"write", "flush"}
    result.save(tmp_path)
    loaded = ninescope.Result.load(tmp_path)
    assert loaded.jobs == result.jobs
    assert loaded.to_polars("requests").equals(frame)
    alone = ninescope.Drive.preset("tlc").run(
        ninescope.Workload.job(rw="read", requests=5), log_requests=True
    )
    assert "job" not in alone.to_polars("requests").columns


def test_the_text_has_a_table_of_the_jobs(result):
    text = str(result)
    assert text.lstrip().startswith("2 jobs on tlc")
    [row] = [line for line in text.splitlines() if line.strip().startswith("log ")]
    assert row.split()[:3] == ["log", "write", "200"]


def test_files_of_several_jobs_run_and_are_checked(cli):
    demo = ("--drive", str(ROOT / "examples/drives/demo.toml"), "--json")
    code, out, err = cli("run", EXAMPLES / "two-jobs.toml", *demo, "--duration", "600ms")
    assert code == 0, err
    tables, log = json.loads(out)["by_job"]
    assert (tables["name"], log["name"], log["began_ns"]) == ("tables", "log", 500_000_000)
    code, out, err = cli("run", EXAMPLES / "readers-and-writer.fio", *demo, "--requests", "44000")
    assert code == 0, err
    document = json.loads(out)
    names = ["readers.0", "readers.1", "writer", "check"]
    assert [job["name"] for job in document["by_job"]] == names
    assert [job["jobname"] for job in document["jobs"]] == names
    ends = [job["began_ns"] + job["measured_ns"] for job in document["by_job"]]
    assert document["by_job"][3]["began_ns"] == max(ends[:3])
    for name in ("two-jobs.toml", "readers-and-writer.fio"):
        code, out, err = cli("check", EXAMPLES / name)
        assert code == 0, err
        assert "job" in out


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (
            "j.fio",
            "[a]\nrw=read\n[b]\nrw=read\nthinktime_iotime=5\n",
            ("j.fio", "line 5", "thinktime_iotime"),
        ),
        ("j.toml", '[[jobs]]\nname = "a"\n[[jobs]]\nname = "b"\niodepht = 3\n', ("line 5", "`iodepth`")),
        (
            "j.toml",
            '[[jobs]]\nname = "a"\n[[jobs]]\nname = "b"\niodepth = 0\n',
            ("jobs[1].iodepth", "line 5"),
        ),
    ],
)
def test_mistakes_among_jobs_are_pointed_at(cli, tmp_path, name, text, words):
    path = tmp_path / name
    path.write_text(text)
    code, out, err = cli("run", path)
    assert (code, out) == (2, "")
    for word in words:
        assert word in err, err


def test_the_mix_may_be_a_fraction_of_percents(cli):
    mix = ("--rw", "randrw", "--size", "64m", "--requests", "100", "--json", "--rwmixread")
    for percent in ("62.5", "70"):
        code, out, err = cli("run", *mix, percent)
        assert code == 0, err
        assert json.loads(out)["workload"]["job"]["rwmixread"] == float(percent)
    assert cli("run", *mix, "100.5").code == 2
