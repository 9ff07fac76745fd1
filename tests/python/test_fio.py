"""Logs and results between ninescope and the real fio and its tools, where they are installed."""

from __future__ import annotations

import csv
import json
import os
import shutil
import statistics
import subprocess
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

import ninescope
from fio_oracle import NEEDS_FIO

pytestmark = NEEDS_FIO


def fio(*words: object) -> subprocess.CompletedProcess[str]:
    return tool(Path(), "fio", *words)


def tool(folder: Path, name: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Run fio or one of its tools, which need the distribution's Python and its packages."""
    path = shutil.which(name)
    assert path is not None, f"{name} is not there"
    script = [] if name == "fio" else ["/usr/bin/python3"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        [*script, path, *map(str, words)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_fio_replays_what_is_written(cli, tmp_path: Path):
    source, log, target = tmp_path / "in.mqsim", tmp_path / "out.iolog", tmp_path / "target"
    rows = [(0, 0, 8, 1), (40_000_000, 16, 8, 0), (90_000_000, 32, 16, 0), (200_000_000, 8, 8, 1)]
    source.write_text("".join(f"{ns} 0 {lba} {sectors} {read}\n" for ns, lba, sectors, read in rows))
    assert cli("trace", "convert", source, log).code == 0
    target.touch()
    done = fio(
        *("--name=replay", "--ioengine=null", f"--read_iolog={log}", f"--replay_redirect={target}"),
        *("--size=1m", "--output-format=json"),
    )
    assert done.stderr == ""
    [job] = json.loads(done.stdout)["jobs"]
    assert [(job[op]["total_ios"], job[op]["io_bytes"]) for op in ("read", "write")] == [
        (2, 8192),
        (2, 12288),
    ]
    assert job["job_runtime"] >= 100, "fio waits for the times of the log, 200 ms in all"


def test_what_fio_writes_is_read_with_its_times(tmp_path: Path):
    log = tmp_path / "fio.log"
    began = time.monotonic_ns()
    fio(
        *("--name=job", "--ioengine=sync", f"--filename={tmp_path / 'file'}", "--size=1m", "--rw=randwrite"),
        *("--bs=4k", "--number_ios=20", "--rate_iops=100", "--fsync=5", f"--write_iolog={log}"),
    )
    took = time.monotonic_ns() - began
    stat = ninescope.trace_stat(log, strict=True)
    assert (stat["format"], stat["writes"], stat["write_bytes"]) == ("fio", 20, 20 * 4096)
    assert stat["flushes"] >= 3
    assert 19 * 9_000_000 < stat["duration_ns"] < took


@pytest.fixture(scope="module")
def result() -> ninescope.Result:
    """Two jobs, one of them deeper than the drive's queue; one direction of each may be empty."""
    drive = ninescope.Drive.preset("tlc").with_(controller__queue_depth=4)
    jobs = ninescope.Workload.jobs(
        {"name": "mix", "rw": "randrw", "iodepth": 6, "size": "64m", "requests": 6_000},
        {"name": "log", "rw": "write", "rate_iops": 200_000, "size": "8m", "requests": 4_000},
    )
    return drive.run(jobs, log_requests=True)


def latencies(result: ninescope.Result, job: str, op: str) -> tuple[list[int], list[int]]:
    """Give latencies and waits in the host's queue of a kind of request."""
    frame = result.to_polars("requests")
    rows = frame.filter((frame["job"] == job) & (frame["op"] == op))
    return rows["latency_ns"].to_list(), rows["host_queue_ns"].to_list()


def test_the_json_has_fios_moments_of_all_three_latencies(result):
    """slat is the wait in the host, clat the time in the drive, lat both, as logged."""
    waited = 0
    for job in result.document["jobs"]:
        for op in ("read", "write"):
            lat, slat = latencies(result, job["jobname"], op)
            clat = [both - wait for both, wait in zip(lat, slat, strict=True)]
            for key, values in (("lat_ns", lat), ("slat_ns", slat), ("clat_ns", clat)):
                stored = job[op][key]
                assert stored["N"] == len(values) == job[op]["total_ios"]
                if not values:
                    assert "bins" not in stored
                    assert "percentile" not in stored
                    continue
                assert (stored["min"], stored["max"]) == (min(values), max(values))
                assert stored["mean"] == pytest.approx(statistics.fmean(values))
                assert stored["stddev"] == pytest.approx(statistics.stdev(values))
            waited += sum(slat)
        assert job["job options"]["name"] == job["jobname"]
    assert waited > 0, "the queue was full at times"


def test_the_json_has_the_keys_that_fio_has(result, tmp_path: Path):
    words = ("--name=a", "--ioengine=null", "--size=1m", "--rw=randrw", "--output-format=json+")
    theirs = json.loads(tool(tmp_path, "fio", *words).stdout)["jobs"][0]
    ours = result.document["jobs"][0]
    of_machine = {"usr_cpu", "sys_cpu", "ctx", "majf", "minf", "eta"}
    of_depth = {key for key in theirs if key.startswith(("iodepth_", "latency_"))}
    assert set(theirs) - of_machine - of_depth - set(ours) == set()
    of_samples = {key for key in theirs["read"] if key.startswith(("bw_", "iops_"))} - {"bw_bytes"}
    assert set(theirs["read"]) - of_samples - set(ours["read"]) == set()
    for key in ("slat_ns", "clat_ns", "lat_ns"):
        assert set(theirs["read"][key]) - set(ours["read"][key]) == set()
    assert set(theirs["read"]["clat_ns"]["percentile"]) <= set(ours["read"]["clat_ns"]["percentile"])


def told_by_both(tmp_path: Path, cli, text: str) -> tuple[dict, dict]:
    """Run a job file here and by fio: both results in JSON."""
    (tmp_path / "job.fio").write_text(text)
    out = tool(tmp_path, "fio", "job.fio", "--output-format=json+").stdout
    code, printed, err = cli("run", tmp_path / "job.fio", "--json")
    assert code == 0, err
    return json.loads(printed), json.loads(out[out.index("{") :])


def test_groups_and_flushes_are_those_that_fio_counts(tmp_path: Path, cli):
    text = "[global]\nioengine=null\nsize=256k\nbs=4k\n[a]\nrw=read\n[b]\nrw=write\nfsync=8\n"
    text += "stonewall\n[c]\nrw=read\n"
    ours, theirs = (told["jobs"] for told in told_by_both(tmp_path, cli, text))
    assert [job["groupid"] for job in ours] == [job["groupid"] for job in theirs] == [0, 1, 1]
    assert ours[1]["sync"]["total_ios"] == theirs[1]["sync"]["total_ios"] > 0
    assert all(job["job_runtime"] >= 1 for job in ours)
    reads = [[job["read"]["runtime"] > 0 for job in told] for told in (ours, theirs)]
    assert reads[0] == [True, False, True]
    assert not reads[1][1], "a direction that does nothing has none"


def test_trims_have_the_bytes_that_fio_counts(tmp_path: Path, cli):
    text = "[a]\nioengine=null\nrw=randtrim\nbs=32k\nsize=16m\n[b]\nioengine=null\nrw=write\nbs=4k\nsize=1m\n"
    ours, theirs = (told["jobs"] for told in told_by_both(tmp_path, cli, text))
    for op in ("read", "write", "trim"):
        for key in ("total_ios", "io_bytes", "io_kbytes"):
            assert [job[op][key] for job in ours] == [job[op][key] for job in theirs], (op, key)
    trims = ours[0]["trim"]
    assert trims["io_bytes"] == 16 << 20
    assert trims["bw_bytes"] == pytest.approx(trims["iops"] * (32 << 10), rel=1e-6)


@pytest.mark.parametrize("text", ["numjobs=2\n", "[b]\nrate_iops=5\nruntime=2\n"])
def test_jobs_that_their_runtime_ends_behind_a_ramp_have_its_rates(text, tmp_path: Path, cli):
    """They have bytes left: nothing but the end of the runtime ends them, between two requests."""
    common = "[global]\nioengine=null\nbs=4k\nrw=write\nsize=4m\nramp_time=1\n[a]\nrate_iops=2\nruntime=3\n"
    ours, theirs = (told["jobs"] for told in told_by_both(tmp_path, cli, common + text))
    for mine, fios in zip(ours, theirs, strict=True):
        assert mine["write"]["total_ios"] == pytest.approx(fios["write"]["total_ios"], abs=1)
        assert mine["write"]["runtime"] == pytest.approx(fios["write"]["runtime"], rel=0.01)
    assert ours[0]["write"]["iops"] == pytest.approx(2, abs=0.01)


def test_a_job_of_several_sizes_that_its_runtime_ends_has_its_rate(tmp_path: Path, cli):
    """Gaps are as long as requests are large, and the last of them is not over at the end."""
    text = "[a]\nioengine=null\nsize=64m\nrw=randread\nbssplit=4k/90:1m/10\nnorandommap\n"
    text += "rate_iops=100\nruntime=2\n"
    ([mine], [fios]) = (told["jobs"] for told in told_by_both(tmp_path, cli, text))
    assert mine["read"]["runtime"] == 2000
    assert fios["read"]["runtime"] == pytest.approx(2000, rel=0.01)


def test_what_a_job_file_says_is_told_as_fio_tells_it(tmp_path: Path, cli):
    text = "[global]\nioengine=libaio\nsize=64k\nbs=4k\n[a]\nrw=randread\n[b]\nrw=write\nnumjobs=2\nbs=8k\n"
    ours, theirs = told_by_both(tmp_path, cli, text)
    assert ours["global options"] == theirs["global options"]
    assert [job["job options"] for job in ours["jobs"]] == [job["job options"] for job in theirs["jobs"]]
    # Copies have names of their own here: random numbers depend on them.
    assert [job["jobname"].split(".")[0] for job in ours["jobs"]] == [
        job["jobname"] for job in theirs["jobs"]
    ]


def test_fio_jsonplus_clat2csv_reads_a_result(result, tmp_path: Path):
    result.save(tmp_path / "out")
    document = tmp_path / "out/result.json"
    tool(tmp_path, "fio_jsonplus_clat2csv", document, "clat.csv")
    validated = tool(tmp_path, "fio_jsonplus_clat2csv", document, "clat.csv", "--validate").stdout
    assert validated.count("validated") == len(result.jobs) == 2
    for index, job in enumerate(result.jobs):
        with (tmp_path / f"clat_job{index}.csv").open() as file:
            rows = list(csv.DictReader(file, skipinitialspace=True))
        totals = Counter[str]()
        for row in rows:
            for column, value in row.items():
                if column and column.endswith("_count") and value:
                    totals[column] += int(value)
        for op, key in (("read", "read"), ("write", "write")):
            counted = job.throughput[op].requests if op in job.throughput else 0
            assert totals[f"{key}_clat_ns_count"] == totals[f"{key}_lat_ns_count"] == counted


def test_fio_jsonplus_clat2csv_reads_latencies_beyond_fios_last_bin(tmp_path: Path):
    """Arrivals of 100,000 a second at a drive that takes 1 s for a write wait for minutes."""
    slow = ninescope.Drive.preset("tlc").with_(
        nand__program=["1s", "1s", "1s"], controller__write_completion="program"
    )
    job = ninescope.Workload.job(rw="write", bs="1m", rate_iops=100_000, size="64m", requests=3_000)
    result = slow.run(job)
    assert result.latency.write.max_ns > 17_112_760_320
    result.save(tmp_path / "out")
    tool(tmp_path, "fio_jsonplus_clat2csv", tmp_path / "out/result.json", "clat.csv")
    assert tool(tmp_path, "fio_jsonplus_clat2csv", tmp_path / "out/result.json", "clat.csv", "--validate")


@pytest.mark.parametrize(("flag", "log", "column"), [("-b", "bw", "bytes"), ("-i", "iops", "requests")])
def test_fio2gnuplot_reads_the_logs(result, tmp_path: Path, flag: str, log: str, column: str):
    result.save_fio_logs(tmp_path)
    tool(tmp_path, "fio2gnuplot", flag, "-o", "made", "-k")
    rows = [line.split(", ") for line in (tmp_path / f"ninescope_{log}.log").read_text().splitlines()]
    told = dict(line.split("=") for line in (tmp_path / "made.global").read_text().splitlines())
    values = [int(value) for _, value, *_ in rows]
    assert int(told["values_count"]) == len(values) > 10
    assert float(told["avg"]) == pytest.approx(statistics.fmean(values), abs=0.01)
    # Rates times the lengths of their intervals come to what was done.
    ends = sorted({int(time) for time, *_ in rows})
    lengths = dict(zip(ends, [ends[0], *(b - a for a, b in pairwise(ends))], strict=True))
    for direction, op in enumerate(("read", "write")):
        done = sum(
            int(value) * lengths[int(time)] / 1e3 for time, value, of, *_ in rows if int(of) == direction
        )
        expected = getattr(result.throughput[op], column) / (1024 if column == "bytes" else 1)
        assert done == pytest.approx(expected, rel=0.03)


def test_logs_are_written_where_they_are_asked_for(tmp_path: Path, cli):
    job = ("run", "--rw", "randread", "--size", "16m", "--requests", "20000", "--out", tmp_path / "out")
    assert cli(*job, "--fio-logs").code == 0
    names = {path.name for path in (tmp_path / "out").glob("*.log")}
    assert names == {"ninescope_bw.log", "ninescope_iops.log", "ninescope_lat.log"}
    mean = [
        int(line.split(", ")[1]) for line in (tmp_path / "out/ninescope_lat.log").read_text().splitlines()
    ]
    loaded = ninescope.Result.load(tmp_path / "out")
    assert statistics.fmean(mean) == pytest.approx(loaded.latency.read.mean_ns, rel=0.05)
    assert cli(*job).code == 0
    assert not list((tmp_path / "out").glob("*.log")), "of an earlier run"
    assert cli(*job[:-2], "--fio-logs").code == 2


def test_a_flush_at_the_end_of_a_pass_is_one_more_in_fio_and_noted(cli, tmp_path: Path):
    job = tmp_path / "passes.fio"
    job.write_text("[a]\nioengine=psync\nsize=64k\nrw=write\nbs=4k\nfsync=1\nloops=5\n")
    [theirs] = json.loads(tool(tmp_path, "fio", job, "--output-format=json").stdout)["jobs"]
    document = json.loads(cli("run", job, "--json").out)
    [ours] = document["jobs"]
    assert theirs["write"]["total_ios"] == ours["write"]["total_ios"] == 80
    # Four passes end before the last one does.
    assert (theirs["sync"]["total_ios"], ours["sync"]["total_ios"]) == (79 + 4, 79)
    assert any("where a pass ends" in note for note in document["notes"])
