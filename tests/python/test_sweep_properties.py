"""Properties of the planner, whatever is written: ranges, grids, conditions."""

from __future__ import annotations

import json
import math

import pytest

from ninescope.lab.sweep.conditions import Condition
from ninescope.lab.sweep.file import SweepFile
from ninescope.lab.sweep.plan import plan_of
from ninescope.lab.sweep.values import quantity, values_of
from sweep_samples import DRIVE

pytest.importorskip("hypothesis", reason="Hypothesis is not installed: requirements/dev.lock")

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

few = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
many = settings(few, max_examples=300)
times = st.tuples(st.integers(1, 10**6), st.sampled_from(["ns", "us", "ms"])).map(
    lambda pair: f"{pair[0]}{pair[1]}"
)


def in_ns(value: str) -> float:
    kind, number = quantity(value)
    assert kind == "time"
    return float(number)


@many
@given(times, times, st.integers(2, 30), st.booleans())
def test_a_counted_range_of_times_leads_from_end_to_end_in_whole_nanoseconds(low, high, count, is_log):
    values = values_of({"from": low, "to": high, "count": count, "log": is_log})
    found = [in_ns(value) for value in values]
    assert found[0] == in_ns(low)
    assert found[-1] == pytest.approx(in_ns(high))
    assert all(number == int(number) for number in found)
    assert found in (sorted(found), sorted(found, reverse=True))
    assert len(set(values)) == len(values) <= count


@many
@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(1, 9), st.booleans())
def test_a_stepped_range_is_that_of_python(low, high, step, is_falling):
    step = -step if is_falling else step
    assume((high - low) / step >= 0)
    values = values_of({"from": low, "to": high, "step": step})
    assert values == list(range(low, high + (1 if step > 0 else -1), step))


numbers = st.integers(-20, 20) | st.floats(-4, 4).map(lambda number: round(number, 2))
names = st.sampled_from(["a.b", "c", "d.e.f"])
compared = st.tuples(names, st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), numbers).map(
    lambda parts: f"{parts[0]} {parts[1]} {parts[2]}"
)
conditions = st.recursive(
    compared,
    lambda inner: (
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda parts: "({} {} {})".format(*parts))
        | inner.map("not ({})".format)
    ),
    max_leaves=8,
)


@many
@given(conditions, st.fixed_dictionaries({"a.b": numbers, "c": numbers, "d.e.f": numbers}))
def test_a_condition_means_what_python_means(text, values):
    plain = text
    for name in ("d.e.f", "a.b"):
        plain = plain.replace(name, name.replace(".", "_"))
    meant = eval(plain, {name.replace(".", "_"): value for name, value in values.items()})
    assert Condition(text).holds(values) is meant


axes = st.fixed_dictionaries(
    {},
    optional={
        "nand.read": st.lists(st.sampled_from(["20us", "40us", "60us"]), min_size=1, max_size=3, unique=True),
        "ftl.over_provisioning": st.lists(
            st.sampled_from([0.1, 0.2, 0.3]), min_size=1, max_size=3, unique=True
        ),
        "workload.iodepth": st.lists(st.integers(1, 32), min_size=1, max_size=3, unique=True),
        "run.requests": st.lists(st.integers(1, 1000), min_size=1, max_size=2, unique=True),
    },
)


def planned(axes: dict, seeds: list[int], *, least: int = 0):
    lines = [f"{json.dumps(key)} = {json.dumps(values)}" for key, values in axes.items()]
    when = f'[[when]]\nif = "seed < {least}"\nskip = true\n' if least else ""
    text = f"""
seeds = {json.dumps(seeds)}
[drive]
file = "{DRIVE}"
[workload]
rw = "read"
size = "1m"
{when}
[axes]
"""
    return plan_of(SweepFile.parse(text + "\n".join(lines)))


@few
@given(axes, st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True))
def test_a_grid_holds_every_combination_once(axes, seeds):
    plan = planned(axes, seeds)
    assert len(plan.rows) == math.prod(map(len, axes.values())) * len(seeds) == len(plan.points)
    assert len({json.dumps(row.values) for row in plan.rows}) == len(plan.rows)
    assert [point.id for point in plan.points] == [point.id for point in planned(axes, seeds).points]


@few
@given(axes, st.lists(st.integers(1, 9), min_size=2, max_size=4, unique=True))
def test_what_is_left_out_changes_nothing_of_the_rest(axes, seeds):
    least = max(seeds)
    rest = planned(axes, seeds, least=least)
    alone = planned(axes, [least])
    assert [point.id for point in rest.points] == [point.id for point in alone.points]
    assert rest.left_out == len(alone.rows) * (len(seeds) - 1)
