"""The Python face: drives, workloads, runs."""

from __future__ import annotations

import warnings

import polars as pl
import pytest

import ninescope
from conftest import tomllib
from ninescope.toml import dumps

JOB = ninescope.Workload.job(rw="randrw", bs="4k", iodepth=4, size="64m", requests=2000)


def test_everything_that_is_promised_can_be_imported():
    for name in ninescope.__all__:
        assert getattr(ninescope, name) is not None
    assert ninescope.__version__
    assert set(ninescope.__all__) <= set(dir(ninescope))
    with pytest.raises(AttributeError, match="bogus"):
        ninescope.bogus  # noqa: B018


def test_words_of_jobs_that_say_nothing_are_told():
    mixed = "`rwmixread` says nothing of `rw` randread, which is of one direction"
    job = {"rw": "randread", "rwmixread": 30, "size": "4m", "requests": 20}
    with pytest.warns(RuntimeWarning, match=mixed):
        ninescope.Drive().run(ninescope.Workload.job(**job))
    named = ninescope.Workload.jobs({**JOB.words["job"], "name": "a"}, {**job, "name": "b"})
    assert named.remarks() == [f"jobs[1]: {mixed}"]
    assert JOB.remarks() == []


def test_a_drive_is_a_value():
    drive = ninescope.Drive.preset("tlc")
    changed = drive.with_(ftl__over_provisioning=0.1).with_({"ftl.mapping_unit": "4KiB"})
    assert drive.settings == ()
    assert changed.settings == ("ftl.over_provisioning=0.1", "ftl.mapping_unit=4KiB")


@pytest.mark.parametrize(
    ("value", "written"),
    [(True, "true"), (3, "3"), (0.1, "0.1"), ("45us", "45us"), ([1, "a"], '[1, "a"]'),
     ({"policy": "greedy", "d": 4}, '{ policy = "greedy", d = 4 }')],
)  # fmt: skip
def test_values_are_written_as_the_command_line_takes_them(value, written):
    assert ninescope.Drive().changed({"key": value}).settings == (f"key={written}",)


def test_a_key_within_a_value_is_answered_with_one_of_its_table():
    with pytest.raises(ninescope.ConfigError) as error:
        ninescope.Drive.preset("tlc").with_(ftl__victim={"policy": "d-choices", "dd": 3})
    assert "did you mean `d`?" in str(error.value)
    with pytest.raises(ninescope.ConfigError, match="did you mean `ftl__over_provisioning`"):
        ninescope.Drive.preset("tlc").with_(ftl__over_provisionin=0.1)


def test_an_unknown_preset_is_answered_with_the_nearest():
    with pytest.raises(ninescope.ConfigError, match="did you mean 'tlc"):
        ninescope.Drive.preset("tlcc")


def test_a_run_gives_a_result_and_tells_its_progress():
    seen = []
    result = ninescope.Drive.preset("tlc").run(JOB, requests=2000, on_progress=seen.append)
    assert result.complete
    assert result.requests == 2000
    assert seen
    assert seen[-1].phase in ("prepare", "run")


def test_requests_can_be_logged():
    log = ninescope.Drive().run(JOB, requests=2000, log_requests=True).to_polars("requests")
    assert log.height == 2000
    assert log["op"].dtype == pl.String
    assert set(log["op"]) == {"read", "write"}


def test_a_log_that_was_not_asked_for_is_an_error():
    result = ninescope.Drive().run(JOB, requests=2000)
    with pytest.raises(ValueError, match="log_requests=True"):
        result.to_polars("requests")


@pytest.mark.parametrize("workload", ["trace.csv", None, {"rw": "read"}])
def test_what_is_no_workload_is_refused(workload):
    with pytest.raises(TypeError, match="must be a Workload"):
        ninescope.Drive().run(workload)


@pytest.mark.parametrize("scale", [float("nan"), float("inf"), -1.0, 0.0])
def test_a_time_scale_is_a_number_greater_than_0(scale):
    with pytest.raises(ninescope.ConfigError, match="time_scale"):
        ninescope.Workload.trace("small.csv", time_scale=scale)


def test_one_volume_is_named_by_a_string(msr_trace):
    [name] = [volume["name"] for volume in ninescope.trace_stat(msr_trace)["volumes"]]
    one, listed = (ninescope.Workload.trace(msr_trace, volume=volume) for volume in (name, [name]))
    assert one == listed
    with pytest.raises(ninescope.ConfigError, match="no volume `zz`"):
        ninescope.Drive().run(ninescope.Workload.trace(msr_trace, volume="zz"))


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"loop": 0}, "loop: a trace is read at least once"),
        ({"closed_loop": True, "iodepth": 0}, r"iodepth: 0 "),
    ],
)
def test_nothing_is_no_number_of_a_replay(msr_trace, words, problem):
    with pytest.raises(ninescope.ConfigError, match=problem):
        ninescope.Workload.trace(msr_trace, **words)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"size": "200%"}, r"^job: size: 200 is not a share"),
        ({"offset": "-3%"}, r"^job: offset: -3 is not a share"),
        ({"size_percent": 200}, r"size_percent: 200 is not a share"),
        ({"requests": 0}, r"requests: 0 is not a number of requests"),
    ],
)
def test_a_job_that_no_drive_can_run_is_refused_where_it_is_made(words, problem):
    with pytest.raises(ninescope.ConfigError, match=problem):
        ninescope.Workload.job(rw="randread", **words)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_of_a_profile_that_is_none_is_refused_by_name(seed):
    with pytest.raises(ninescope.ConfigError, match=f"^seed: {seed} is not a seed"):
        ninescope.Workload.profile("prxy_0", requests=10, seed=seed)


def test_a_depth_that_an_open_loop_does_not_keep_is_told(msr_trace):
    with pytest.warns(RuntimeWarning, match="`iodepth` says nothing without `closed_loop`"):
        told = ninescope.Drive().run(ninescope.Workload.trace(msr_trace, iodepth=5))
    assert any("iodepth says nothing" in note for note in told.document["notes"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ninescope.Drive().run(ninescope.Workload.trace(msr_trace, iodepth=5, closed_loop=True))


def test_what_is_no_drive_is_told_by_what_it_is(tmp_path):
    ninescope.Drive().run(JOB, requests=200).save(tmp_path / "out")
    for path in (tmp_path / "out", tmp_path / "out/result.json"):
        with pytest.raises(
            ninescope.ConfigError, match=r"is a result, not a drive; .*out/config\.toml is that"
        ):
            ninescope.Drive.from_file(path)
    (tmp_path / "a.fio").write_text("[a]\nrw=read\nbs=4k\n")
    with pytest.raises(ninescope.ConfigError, match="is a job file, not a drive"):
        ninescope.Drive.from_file(tmp_path / "a.fio")
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake/lake.json").write_text("{}")
    with pytest.raises(ninescope.ConfigError, match="is a lake of results, and no result"):
        ninescope.Result.load(tmp_path / "lake")


def test_a_resolved_drive_is_toml():
    assert tomllib.loads(ninescope.Drive.preset("tlc").resolve())


def test_presets_and_policies_are_listed():
    assert "tlc" in {preset.name for preset in ninescope.presets()}
    assert all(preset.summary for preset in ninescope.presets())
    assert "greedy" in {policy.name for policy in ninescope.policies()["ftl.victim"]}


def test_a_trace_is_described(msr_trace):
    stat = ninescope.trace_stat(msr_trace)
    assert stat["reads"] + stat["writes"] + stat["trims"] == stat["requests"]


def test_toml_is_written_as_it_is_read():
    table = {
        "name": 'a "quoted" name',
        "none": None,
        "on": True,
        "share": 0.07,
        "list": [1, "b", {"c": 2}],
        "nand": {"t_read": "45us", "deeper": {"x": 1}},
        "odd key": {"dotted.key": 1},
    }
    read = tomllib.loads(dumps(table))
    assert read == {key: value for key, value in table.items() if value is not None}


def test_suspensions_beyond_what_an_erase_bears_add_errors_and_sooner_on_worn_blocks():
    drive = ninescope.Drive.preset("ssr-static")
    added = drive.added_rber([0, 10, 11, 30, 31, 100], [100, 1_000])
    assert added.shape == (2, 6)
    young, worn = added
    # 1e-6 s^1.5 beyond 30 suspensions at 100 cycles, and beyond 10 at 1,000.
    assert young.tolist()[:4] == [0, 0, 0, 0]
    assert young[4] == pytest.approx(1e-6)
    assert young[5] == pytest.approx(70**1.5 * 1e-6)
    assert worn.tolist()[:2] == [0, 0]
    assert worn[5] == pytest.approx(90**1.5 * 1e-6)
    assert not drive.added_rber([90], [100], loops=3).any()
    with pytest.raises(ninescope.ConfigError, match=r"nand\.suspend_limit"):
        ninescope.Drive.preset("tlc").added_rber([1], [0])
