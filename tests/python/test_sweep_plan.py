"""From sweep files to points: what is counted, what is the same, and what is refused."""

from __future__ import annotations

import itertools
import json
import random

import numpy as np
import pytest

import ninescope
from conftest import ROOT, tomllib
from ninescope import toml
from ninescope.lab.sweep.conditions import Condition
from ninescope.lab.sweep.estimate import lead_in_of
from ninescope.lab.sweep.file import SweepFile
from ninescope.lab.sweep.lines import line_of
from ninescope.lab.sweep.plan import plan_of
from ninescope.lab.sweep.point import Point
from ninescope.lab.sweep.source import Source
from ninescope.lab.sweep.sweep import Sweep
from ninescope.lab.sweep.values import quantity, shown, values_of
from ninescope.simulation.run import LED_IN, PREFILLS
from sweep_samples import DRIVE, SMALL, sweep_file

JOB = {"rw": "randread", "bs": "4k", "size": "16m", "requests": 100}
KEYS = {
    "nand.read": ["20us", "40us", "60us", "80us"],
    "ftl.over_provisioning": [0.1, 0.15, 0.2, 0.3],
    "ftl.victim": ["greedy", "fifo", "random"],
    "controller.queue_depth": [16, 64, 256],
    "workload.iodepth": [1, 2, 8],
    "run.requests": [100, 200, 300],
    "run.warmup": [0, 10, 0.25],
}
"""Axes, each value another one than the rest."""


def parsed(document: dict) -> SweepFile:
    base = {"drive": {"file": str(DRIVE)}, "workload": dict(JOB)}
    tables = {key: value for key, value in document.items() if key != "when"}
    # The value of a list is written in one line, and so is what it holds.
    whens = [
        toml.dumps({"x": [when]}).removeprefix("x = [").rstrip("]\n") for when in document.get("when", ())
    ]
    text = f"when = [{', '.join(whens)}]\n" if whens else ""
    return SweepFile.parse(text + toml.dumps({**base, **tables}))


def planned(document: dict):
    return plan_of(parsed(document))


# ---- properties ---------------------------------------------------------------------------------------


def drawn(rng: random.Random) -> tuple[dict, int]:
    """Draw a sweep, and count its rows by another way."""
    keys = rng.sample(sorted(KEYS), rng.randint(1, 4))
    axes = {key: rng.sample(KEYS[key], rng.randint(1, len(KEYS[key]))) for key in keys}
    document: dict = {"axes": axes, "seeds": rng.choice([1, 2, [5, 9, 11]])}
    zipped: dict = {}
    others = [key for key in sorted(KEYS) if key not in keys]
    if len(others) >= 2 and rng.random() < 0.5:
        moving = rng.sample(others, 2)
        size = rng.randint(1, min(len(KEYS[key]) for key in moving))
        zipped = {key: rng.sample(KEYS[key], size) for key in moving}
        document["zip"] = [zipped]
    whens, tests = [], []
    for key in rng.sample(keys, rng.randint(0, min(2, len(keys)))):
        values = rng.sample(axes[key], rng.randint(1, len(axes[key])))
        whens.append({"if": f"{key} in {json.dumps(values)}", "skip": True})
        tests.append((key, values))
    document["when"] = whens
    seeds = document["seeds"] if isinstance(document["seeds"], list) else range(1, document["seeds"] + 1)
    rows = 0
    for chosen in itertools.product(*axes.values()):
        values = dict(zip(axes, chosen, strict=True))
        if not any(values[key] in left_out for key, left_out in tests):
            rows += len(list(seeds)) * (len(next(iter(zipped.values()))) if zipped else 1)
    return document, rows


@pytest.mark.parametrize("seed", range(40))
def test_rows_are_the_product_of_the_axes_without_what_conditions_leave_out(seed):
    document, rows = drawn(random.Random(seed))
    if not rows:
        with pytest.raises(ninescope.ConfigError, match="leave out all"):
            planned(document)
        return
    plan = planned(document)
    assert len(plan.rows) == rows
    # Each value is another one than the rest: no two rows are one run.
    assert len(plan.points) == rows
    assert plan.combinations == rows + plan.left_out
    assert plan.merged == 0


@pytest.mark.parametrize("seed", range(20))
def test_points_do_not_depend_on_the_order_of_anything(seed):
    rng = random.Random(seed)
    document, rows = drawn(rng)
    if not rows:
        return
    other = {
        **document,
        "axes": {
            key: rng.sample(values, len(values))
            for key, values in rng.sample(sorted(document["axes"].items()), len(document["axes"]))
        },
    }
    assert {point.id for point in planned(document).points} == {point.id for point in planned(other).points}


@pytest.mark.parametrize("seed", range(20))
def test_an_axis_of_one_value_is_that_value_set_for_all(seed):
    rng = random.Random(seed)
    key = rng.choice(["nand.read", "ftl.over_provisioning", "controller.queue_depth"])
    value = rng.choice(KEYS[key])
    as_axis = planned({"axes": {key: [value]}})
    as_setting = planned({"drive": {"file": str(DRIVE), "set": {key: value}}})
    assert [point.id for point in as_axis.points] == [point.id for point in as_setting.points]


# ---- what makes a point -------------------------------------------------------------------------------


@pytest.fixture
def drive() -> ninescope.Drive:
    return ninescope.Drive.from_file(DRIVE)


def test_a_point_is_named_by_everything_that_its_result_depends_on(drive, tmp_path, msr_trace):
    job = Source.of(JOB)
    points = [
        Point.of(drive, job),
        Point.of(drive, job, seed=2),
        Point.of(drive.with_({"nand.read": "41us"}), job),
        Point.of(drive, Source.of({**JOB, "iodepth": 2})),
        Point.of(drive, job, {"requests": 50}),
        Point.of(drive, job, {"prefill": "full"}),
        Point.of(drive, job, {"warmup": 10}),
        Point.of(drive, job, {"duration": "1ms"}),
        Point.of(drive, Source.of({"trace": str(msr_trace)})),
        Point.of(drive, Source.of({"trace": str(msr_trace), "closed_loop": True})),
        Point.of(drive, Source.of({"preset": "oltp"})),
        Point.of(drive, Source.of({"profile": "hm_0", "requests": 100})),
        Point.of(drive, Source.of({"profile": "hm_0", "requests": 200})),
        Point.of(ninescope.Drive(), job),
        Point.of(ninescope.Drive.preset("tlc"), job),  # which is not sized to the workload
    ]
    assert len({point.id for point in points}) == len(points)


def test_a_point_is_not_named_by_what_no_result_depends_on(drive, tmp_path, msr_trace):
    copy = tmp_path / "elsewhere.csv"
    copy.write_bytes(msr_trace.read_bytes())
    job = Source.of(JOB)
    rewritten = tmp_path / "rewritten.toml"
    rewritten.write_text(f'# A remark.\nsummary = "other words"\n{without_summary(DRIVE.read_text())}')
    same = [
        [Point.of(drive, Source.of({"trace": str(path)})) for path in (msr_trace, copy)],
        [
            Point.of(drive, job, run)
            for run in ({}, {"prefill": "footprint", "warmup": 0}, {"check": "cheap"})
        ],
        [Point.of(drive, job, run) for run in ({"warmup": 0.2}, {"warmup": "20%"})],
        [Point.of(drive, Source.of(words)) for words in (JOB, {"job": JOB}, {**JOB, "name": "named"})],
        [Point.of(given, job) for given in (drive, ninescope.Drive.from_file(rewritten))],
        [Point.of(drive.with_({"nand.erase_loop": time}), job) for time in ("3500us", "3.5ms")],
    ]
    for points in same:
        assert len({point.id for point in points}) == 1


def test_the_prefills_that_jobs_lead_in_after_are_those_of_the_engine():
    # Whether `warmup = 0` says what is so anyway depends on it.
    job = {"rw": "randwrite", "bs": "4k", "requests": 30_000}
    for prefill in PREFILLS:
        point = Point.of(ninescope.Drive.from_file(DRIVE), Source.of(job), {"prefill": prefill})
        assert (lead_in_of(point, 30_000) > 0) == (prefill in LED_IN), prefill


def without_summary(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("summary"))


def test_a_changed_trace_is_another_point(drive, msr_trace):
    before = Point.of(drive, Source.of({"trace": str(msr_trace)}))
    msr_trace.write_text(msr_trace.read_text().replace("Write", "Read", 1))
    assert Point.of(drive, Source.of({"trace": str(msr_trace)})).id != before.id


def test_a_point_runs_as_its_drive_would(drive):
    point = Point.of(drive.with_(ftl__over_provisioning=0.2), Source.of(JOB), seed=3)
    job = ninescope.Workload.job(**JOB)
    assert (
        point.drive.run(job, seed=3).digest == drive.with_(ftl__over_provisioning=0.2).run(job, seed=3).digest
    )


# ---- axes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ([1, 2], [1, 2]),
        ("greedy", ["greedy"]),
        ({"from": 0.1, "to": 0.3, "step": 0.1}, [0.1, 0.2, 0.3]),
        ({"from": 1, "to": 10, "step": 4}, [1, 5, 9]),
        ({"from": 3, "to": 1, "step": -1}, [3, 2, 1]),
        ({"from": 1, "to": 64, "count": 7, "log": True}, [1, 2, 4, 8, 16, 32, 64]),
        ({"from": 1, "to": 3, "count": 9, "log": True}, [1, 2, 3]),
        ({"from": 0.0, "to": 1.0, "count": 4}, [0, 0.333333, 0.666667, 1]),
        ({"from": "20us", "to": "40us", "step": "10us"}, ["20us", "30us", "40us"]),
        ({"from": "500us", "to": "1ms", "step": "250us"}, ["500us", "750us", "1000us"]),
        ({"from": "10us", "to": "1ms", "count": 3, "log": True}, ["10us", "100us", "1000us"]),
        ({"from": "1us", "to": "1ms", "count": 4, "log": True}, ["1us", "10us", "100us", "1000us"]),
        ({"from": "1us", "to": "10us", "count": 3, "log": True}, ["1us", "3.162us", "10us"]),
        ({"from": "1ns", "to": "3ns", "count": 9}, ["1ns", "2ns", "3ns"]),
        ({"from": "500mW", "to": "1.5W", "step": "0.5W"}, ["500mW", "1000mW", "1500mW"]),
        ({"from": "1W", "to": "2W", "count": 3, "log": True}, ["1W", "1.41421W", "2W"]),
        ({"from": "10pJ", "to": "1nJ", "count": 3, "log": True}, ["10pJ", "100pJ", "1000pJ"]),
        ({"from": "1KiB", "to": "2KiB", "count": 4}, ["1KiB", "1.3330078125KiB", "1.6669921875KiB", "2KiB"]),
        ({"policy": "d-choices", "d": 4}, [{"policy": "d-choices", "d": 4}]),
    ],
)
def test_values_of_axes(written, values):
    assert values_of(written) == values


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ({"from": 1}, "'to'"),
        ({"from": 1, "to": 2}, "'step' or 'count'"),
        ({"from": 1, "to": 2, "step": 1, "count": 2}, "'step' or 'count'"),
        ({"from": 1, "to": 2, "step": -1}, "does not lead"),
        ({"from": 1, "to": 2, "step": 0}, "does not lead"),
        ({"from": 1, "to": 2, "setp": 1}, "did you mean 'step'"),
        ({"from": "1us", "to": "2KiB", "count": 2}, "do not fit"),
        ({"from": "1us", "to": 2, "count": 2}, "do not fit"),
        ({"from": "1us", "to": "3us", "step": 1}, "does not fit"),
        ({"from": "x", "to": 2, "count": 2}, "a number is wanted"),
        ({"from": 0, "to": 2, "count": 3, "log": True}, "greater than 0"),
        ({"from": 1, "to": 2, "count": 0}, "number of values"),
        ({"from": 1, "to": 2, "count": 1}, "both ends"),
        ({"from": 0, "to": 1e9, "step": 0.1}, "the most"),
    ],
)
def test_ranges_that_make_no_sense_are_refused(written, words):
    with pytest.raises(ninescope.ConfigError, match=words):
        values_of(written)


def test_zipped_axes_move_together_and_may_have_a_name():
    document = {
        "zip": [{"name": "cell", "labels": ["fast", "slow"], "nand.read": ["20us", "60us"],
                 "nand.program": ["200us", "600us"]}],
        "axes": {"workload.iodepth": [1, 2]},
    }  # fmt: skip
    plan = planned(document)
    assert plan.columns == ("workload.iodepth", "cell")
    assert [row.values for row in plan.rows] == [(1, "fast"), (1, "slow"), (2, "fast"), (2, "slow")]
    config = toml.loads(plan.rows[1].point.config)["nand"]
    assert (config["read"][0], config["program"][0]) == ("60us", "600us")


def test_several_workloads_and_drives_are_axes():
    text = """
        [[workload]]
        rw = "read"
        requests = 100

        [[workload]]
        name = "mixed"
        rw = "randrw"
        requests = 100

        [axes]
        "drive.preset" = ["tlc", "mlc"]
    """
    plan = plan_of(SweepFile.parse("\n".join(line.strip() for line in text.splitlines())))
    assert plan.columns == ("workload", "drive.preset")
    assert [row.values for row in plan.rows] == [
        ("read", "tlc"),
        ("read", "mlc"),
        ("mixed", "tlc"),
        ("mixed", "mlc"),
    ]
    assert [row.point.drive_name for row in plan.rows] == ["tlc", "mlc"] * 2


def test_words_that_say_nothing_in_any_point_are_told():
    def remarks(workload: str, axis: str = '"workload.iodepth" = [1, 2]') -> tuple[str, ...]:
        return plan_of(SweepFile.parse(f"[workload]\n{workload}\n[axes]\n{axis}\n")).remarks

    mixed = "`rwmixread` says nothing of `rw` randread, which is of one direction"
    assert remarks('rw = "randread"\nrwmixread = 30') == (mixed,)
    assert remarks('rw = "randread"', '"workload.rwmixread" = [30, 70]') == (mixed,)
    # An axis gives it a meaning in some points.
    assert remarks('rw = "randread"\nrwmixread = 30', '"workload.rw" = ["randread", "randrw"]') == ()
    jobs = '[{ name = "a", rw = "randread" }, { name = "b", rw = "randread", rwmixread = 30 }]'
    axis = '"ftl.over_provisioning" = [0.1, 0.2]'
    assert remarks(f"job = {jobs}", axis) == (f"job[1]: {mixed}",)
    # Of several workloads each is told by its name.
    text = '[[workload]]\nrw = "read"\n[[workload]]\nname = "b"\nrw = "randread"\nrwmixread = 30\n'
    assert plan_of(SweepFile.parse(text)).remarks == (f"workload b: {mixed}",)


def test_conditions_set_keys_and_equal_rows_are_merged():
    document = {
        "axes": {"ftl.victim": ["greedy", "random"], "controller.queue_depth": [16, 64]},
        "when": [{"if": 'ftl.victim == "greedy"', "set": {"controller.queue_depth": 16}}],
    }
    plan = planned(document)
    assert [row.values for row in plan.rows] == [("greedy", 16), ("random", 16), ("random", 64)]
    assert plan.merged == 1


def test_rows_that_are_the_same_run_share_a_point():
    plan = planned({"axes": {"nand.erase_loop": ["3500us", "3.5ms"]}})
    assert len(plan.rows) == 2
    assert len(plan.points) == 1


def test_tables_and_dotted_keys_are_the_same_axes():
    plain = planned({"axes": {"ftl.over_provisioning": [0.1, 0.2]}})
    nested = planned({"axes": {"ftl": {"over_provisioning": [0.1, 0.2]}}})
    assert nested.columns == plain.columns
    assert [point.id for point in nested.points] == [point.id for point in plain.points]


# ---- conditions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("a.b < 2", True),
        ("a.b < 1", False),
        ("1 <= a.b <= 1", True),
        ('c == "x" and not a.b > 1', True),
        ('c in ["y", "x"]', True),
        ('c not in ("y", "x")', False),
        ('time > "900us"', True),
        ('time == "1000us"', True),
        ('size >= "1MiB" or false', True),
        ("a.b + 1 == 2", True),
        ("a.b * 3 - 1 > 2 / 1", False),
        ("-a.b < 0", True),
        ("flag == true", True),
        ("other == 1", False),
        ("other < 1", False),
        ("other != 1", True),
    ],
)
def test_conditions(text, holds):
    values = {"a.b": 1, "c": "x", "time": "1ms", "size": "1MiB", "flag": True}
    assert Condition(text).holds(values) is holds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a <",
        "a = 1",
        "__import__('os')",
        "a()",
        "a[0]",
        "lambda: 1",
        "a if b else c",
        "f'{a}'",
        "a ** 9",
        "{}",
    ],
)
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(ninescope.ConfigError):
        Condition(text)


@pytest.mark.parametrize("text", ['a < "x"', 'a > "1us"', 'a in "1"', "a / 0 > 1"])
def test_what_cannot_be_compared_is_said(text):
    with pytest.raises(ninescope.ConfigError):
        Condition(text).holds({"a": 1})


def test_quantities_and_how_they_are_shown():
    assert quantity("1ms") == quantity("1000us")
    assert quantity("1KiB") != quantity("1KB")
    assert quantity("greedy") is None
    assert shown({"policy": "wb", "evict_free": 0.5}) == "wb(evict_free=0.5)"
    assert shown([1, True, "x"]) == "[1, true, x]"


def test_lines_of_keys():
    text = 'a = 1\n[b]\n"c.d" = 2\n[b.e]\nf = 3\n[[g]]\nh = 1\n[[g]]\n  h = 2\n[[g]]\ni.j = 4\n'
    assert line_of(text, "a") == 1
    assert line_of(text, "b", "c.d") == line_of(text, "b", "c", "d") == 3
    assert line_of(text, "b", "e", "f") == 5
    assert line_of(text, "g", 1, "h") == 9
    assert line_of(text, "g", 2, "i.j") == 11
    assert line_of(text, "g", 1, "missing") == 8
    assert line_of(text, "z") == 0


# ---- bad input ----------------------------------------------------------------------------------------

BAD = [
    ('name = "small"', 'nmae = "small"', ("line 2", "nmae", "did you mean 'name'")),
    ('name = "small"', 'name = "a/b"', ("line 2", "name")),
    ("seeds = 2", "seeds = 0", ("line 3", "seeds")),
    ("seeds = 2", "seeds = [1, 1]", ("line 3", "twice")),
    ("seeds = 2", "seeds = []", ("line 3", "seeds")),
    (
        '"ftl.over_provisioning" =',
        '"ftl.over_provisionin" =',
        ("line 18", "did you mean 'over_provisioning'"),
    ),
    ('"nand.read" =', '"nadn.read" =', ("line 19", "did you mean 'nand'")),
    ('"nand.read" =', '"workload.iodeth" =', ("line 19", "workload.iodeth")),
    ('"nand.read" =', '"run.request" =', ("line 19", "did you mean 'requests'")),
    ('"nand.read" =', '"drive.shape" =', ("line 19", "drive.shape")),
    ('"nand.read" =', '"seed" =', ("line 19", "seeds are no axis")),
    ('["20us", "60us"]', "[]", ("line 19", "an axis without values leaves no point")),
    ('["20us", "60us"]', '["20us", "60 parsecs"]', ("line 19", "nand.read")),
    ('["20us", "60us"]', '{ from = "20us", to = "60us" }', ("line 19", "'step' or 'count'")),
    ("requests = 300", "request = 300", ("line 15", "did you mean 'requests'")),
    ("requests = 300", "requests = -3", ("line 15", "number of requests")),
    ("requests = 300", 'prefill = "ful"', ("line 15", "not one of footprint, full")),
    ("requests = 300", 'warmup = "x%"', ("line 15", "0.2")),
    ("requests = 300", "duration = 3", ("line 15", "unit")),
    ('rw = "randrw"', 'rww = "randrw"', ("rww",)),
    ('rw = "randrw"', 'rw = "randrwx"', ("line 9", "randrwx")),
    ('size = "16m"', 'size = "16t"', ("line 11", "16TiB")),
    ('rw = "randrw"', 'trace = "nowhere.csv"\nrw = "read"', ("line 10", "of a job made here")),
    (f'file = "{DRIVE}"', 'file = "nowhere.toml"', ("line 6", "does not exist")),
    (f'file = "{DRIVE}"', 'preset = "tlcc"', ("line 6", "did you mean 'tlc'")),
    (f'file = "{DRIVE}"', f'file = "{DRIVE}"\npreset = "tlc"', ("line 6", "as well")),
    (f'file = "{DRIVE}"', f'fiel = "{DRIVE}"', ("line 6", "did you mean 'file'")),
    (
        f'file = "{DRIVE}"',
        f'file = "{DRIVE}"\nset = {{ nand = {{ raed = "1us" }} }}',
        ("line 7", "did you mean 'read'"),
    ),
    ("[axes]", '[[zip]]\n"nand.program" = ["1us"]\n"nand.read" = ["1us"]\n[axes]', ("an axis already",)),
    (
        "[axes]",
        '[[zip]]\n"nand.program" = ["1us"]\n"nand.erase_loop" = ["1ms", "2ms"]\n[axes]',
        ("line 17", "has 2"),
    ),
    (
        "[axes]",
        '[[zip]]\nname = "waf_total"\nlabels = ["a"]\n"nand.program" = ["1us"]\n[axes]',
        ("column of every",),
    ),
    ("[axes]", '[[when]]\nif = "nand.read > 1"\nskip = true\n[axes]', ("line 18", "cannot be compared")),
    (
        "[axes]",
        '[[when]]\nif = "nand.raed > 1"\nskip = true\n[axes]',
        ("line 18", "did you mean 'nand.read'"),
    ),
    ("[axes]", '[[when]]\nif = "nand.read >"\nskip = true\n[axes]', ("line 18", "no expression")),
    ("[axes]", '[[when]]\nif = "seed > 0"\nskip = true\n[axes]', ("line 17", "leave out all of 8 points")),
    (
        "[axes]",
        '[[when]]\nif = "seed > 1 and seed < 2"\nskip = true\n[axes]',
        ("line 18", "true of no point"),
    ),
    ("[axes]", '[[when]]\nif = "seed > 1"\n[axes]', ("line 17", "either")),
    (
        "[axes]",
        '[[when]]\nif = "seed > 1"\nset = { "nand.program" = "1us" }\n[[when]]\nif = "seed > 0"\n'
        'set = { "nand.program" = "2us" }\n[axes]',
        ("line 20", "sets nand.program to 2us", "to 1us"),
    ),
    (
        "[0.1, 0.2]",
        "[0.1, -3]",
        ("line 18: axes.ftl.over_provisioning: is -3", "(at ftl.over_provisioning=-3"),
    ),
    ('"ftl.over_provisioning" =', '"ftl.xyzzy" =', ("line 18", "there is mapping_unit, ")),
    ("[run]", "[run]\nseeds = 3", ("run.seeds", "`seeds` stands in a file by itself")),
    ('"nand.read" =', '"workload.iodept" =', ("line 19", "did you mean 'iodepth'? (at")),
    ('"nand.read" = ["20us", "60us"]', '"nand.read" = { from = 1, to = 900000, step = 1 }', ("the most",)),
]


def refusal(cli, folder, text: str) -> str:
    """What `plan` says against a sweep."""
    code, out, err = cli("sweep", "plan", sweep_file(folder, text))
    assert (code, out, err.count("\n")) == (2, "", 1)
    return err


def test_a_word_that_one_of_several_workloads_lacks_is_named_with_its_line(cli, tmp_path):
    text = SMALL.replace("[workload]", "[[workload]]\nname = 'scan'\nrw = 'read'\n[[workload]]")
    err = refusal(cli, tmp_path, text.replace('"nand.read" = ["20us", "60us"]', '"workload.iodept" = [1, 2]'))
    assert "line 22: axes.workload.iodept: unknown field `iodept`; did you mean 'iodepth'?" in err


def test_a_mistyped_axis_is_told_before_a_condition_that_names_it_rightly(cli, tmp_path):
    condition = "[[when]]\nif = 'ftl.over_provisioning > 0.1'\nskip = true\n"
    err = refusal(
        cli, tmp_path, SMALL.replace('"ftl.over_provisioning"', '"ftl.over_provisioming"') + condition
    )
    assert "line 18: axes.ftl.over_provisioming: " in err
    assert "did you mean 'over_provisioning'?" in err


def test_a_value_that_fits_no_drive_is_named_with_its_line_and_by_no_option(cli, tmp_path):
    err = refusal(cli, tmp_path, SMALL.replace("[0.1, 0.2]", "[0.001, 0.2]"))
    assert "line 18: axes.ftl.over_provisioning: is 0.001, and geometry.blocks_per_plane is" in err
    assert "--set" not in err
    few = SMALL.replace(f'file = "{DRIVE}"', 'preset = "tlc"\nset.geometry.blocks_per_plane = 3')
    err = refusal(cli, tmp_path, few.replace('"ftl.over_provisioning" = [0.1, 0.2]\n', ""))
    assert "drive.set.geometry.blocks_per_plane: is 3, and ftl.over_provisioning" in err
    assert " at line " not in err  # of the preset: nobody has it at hand


@pytest.mark.parametrize(("before", "after", "expected"), BAD, ids=lambda value: str(value)[:40])
def test_bad_sweeps_are_named_by_file_line_and_key(cli, tmp_path, before, after, expected):
    assert before in SMALL
    path = sweep_file(tmp_path, SMALL.replace(before, after))
    code, out, err = cli("sweep", "plan", path)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    for words in ("small.toml", *expected):
        assert words in err, err
    # The resolved drive, whose lines the engine counts, is a text that nobody wrote.
    assert " at line " not in err
    assert "|" not in err
    assert err.count("`") <= 4
    assert not (tmp_path / "out").exists()


def test_files_that_are_no_sweeps_are_named(cli, tmp_path):
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "broken.toml").write_text("[axes\n")
    (tmp_path / "empty.toml").write_text("")
    for name, words in (("bytes", "not a text file"), ("broken", "line 1"), ("empty", "[workload]")):
        code, _, err = cli("sweep", "run", tmp_path / f"{name}.toml", "--out", tmp_path / "out")
        assert code == 2
        assert f"{name}.toml" in err
        assert words in err
    code, _, err = cli("sweep", "plan", tmp_path / "brokn.toml")
    assert code == 2
    assert "did you mean" in err
    assert not (tmp_path / "out").exists()


# ---- plan on the command line -------------------------------------------------------------------------


def test_a_plan_says_what_there_is_and_what_it_takes(cli, tmp_path):
    code, out, _ = cli("sweep", "plan", sweep_file(tmp_path), "--jobs", 2)
    assert code == 0
    for words in (
        "8 points",
        "ftl.over_provisioning: 0.1, 0.2",
        "seeds: 1, 2",
        "nand.read=60us seed=2",
        "estimate",
    ):
        assert words in out
    assert "MiB" in out
    code, out, _ = cli("sweep", "plan", sweep_file(tmp_path), "--json", "--no-probe")
    document = json.loads(out)
    assert len(document["points"]) == 8
    assert document["estimated_seconds"] is None
    assert document["worker_bytes"] > 1 << 20
    assert not list(tmp_path.glob("*.json"))


@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples/sweeps").glob("*.toml")), ids=lambda path: path.stem
)
def test_examples_can_be_planned(path):
    plan = plan_of(SweepFile.read(path))
    assert plan.summary
    assert 10 <= len(plan.points) <= 100


def test_numbers_have_short_names():
    from ninescope.result import metrics

    assert metrics.meant("waf") == ("waf_total",)
    assert metrics.meant("p99") == ("read_p99_ns", "write_p99_ns")


def test_one_is_one_point(cli, tmp_path):
    path = sweep_file(tmp_path, SMALL.replace("seeds = 2", "").partition("[axes]")[0])
    assert "1 point (1 combination)" in cli("sweep", "plan", path, "--no-probe").out


# ---- from Python ----------------------------------------------------------------------------------------


def test_values_of_python_are_what_their_toml_would_be():
    text = SMALL.replace("[axes]", "[axes]\n'workload.iodepth' = [1, 2, 3]")
    document = tomllib.loads(text)
    document["axes"] = {
        "workload.iodepth": range(1, 4),
        "ftl.over_provisioning": np.array([0.1, 0.2]),
        "nand.read": ("20us", "60us"),
    }
    first, second = Sweep.from_toml(text).plan(), Sweep.from_dict(document).plan()
    assert [point.id for point in first.points] == [point.id for point in second.points]
    document["axes"]["nadn.read"] = document["axes"].pop("nand.read")
    with pytest.raises(ninescope.ConfigError, match=r"^sweep: axes.nadn.read: .*did you mean 'nand'"):
        Sweep.from_dict(document).plan()


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        ({"workload.iodpeth": [1, 2]}, r"axes.workload.iodpeth: unknown field `iodpeth`; did you mean"),
        ({"workload.iodepth": [0, 2]}, r"axes.workload.iodepth: 0 requests outstanding do no work"),
        ({"workload.size": ["16m", "1t"]}, r"axes.workload.size: .*is more than the"),
    ],
)
def test_a_plan_of_python_refuses_what_a_run_refuses(tmp_path, axes, words):
    document = tomllib.loads(SMALL) | {"axes": axes}
    for refused in (
        lambda: Sweep.from_dict(document).plan(),
        lambda: Sweep.from_dict(document).run(tmp_path / "lake"),
    ):
        with pytest.raises(ninescope.ConfigError, match=words):
            refused()
    assert not (tmp_path / "lake").exists()
