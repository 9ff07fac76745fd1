"""Two designs of a sweep: which runs face each other, and what is said of several seeds and settings."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import compare_samples
from ninescope.lab.sweep.lake import Kept, Lake
from ninescope.lab.sweep.point import current_build
from ninescope.lab.sweep.record import Record
from ninescope.lab.sweep.runner import described
from ninescope.lab.sweep.sweep import Sweep
from sweep_samples import SMALL, run_here


def p_of(a: list[float], b: list[float]) -> float:
    """With two degrees of freedom p = 1 - t / sqrt(t^2 + 2); here of the logarithm of b over a."""
    off = [other - one for one, other in zip(*map(compare_samples.one_left_out, (a, b)), strict=True)]
    mean = sum(off) / 3
    error = math.sqrt(sum((each - mean) ** 2 for each in off) / 6)
    t = abs(math.log(sum(b) / sum(a))) / error
    return 1 - t / math.sqrt(t * t + 2)


P = p_of([3.0, 3.2, 3.1], [2.5, 2.8, 2.5])


@pytest.fixture
def lake(tmp_path) -> Path:
    run_here(Sweep.from_toml(SMALL), tmp_path / "lake")
    return tmp_path / "lake"


def made_up(
    folder: Path,
    waf: dict[tuple[float, str], list[float]],
    cost: dict[tuple[float, str], float] | None = None,
) -> Path:
    """A lake of results with a WAF, and a cost where told: for spare flash and read time, and each seed."""
    seeds = max(map(len, waf.values()))
    plan = Sweep.from_toml(SMALL.replace("seeds = 2", f"seeds = {seeds}")).plan()
    lake = Lake.open(folder, create=True)
    Record.of(plan).save(lake)
    for row in plan.rows:
        values = dict(zip(plan.columns, row.values, strict=True))
        seed = values.get("seed", 1)
        setting = (values["ftl.over_provisioning"], values["nand.read"])
        of_setting = waf.get(setting, [])
        if len(of_setting) < seed:
            continue
        made = compare_samples.document(seed, waf={"total": of_setting[seed - 1]}, operations={"erases": 900})
        if cost is not None:
            made["cost"] = {"total": cost[setting], "media": {}}
        made["digest"] = row.point.id
        made["config"]["drive"] = {"nand": {"read": values["nand.read"]}}
        lake.put(Kept(row.point.id, row.point.design, current_build(), described(row.point), made, {}))
    return folder


def side_by_side(cli, lake: Path, *sides: str) -> dict:
    code, out, err = cli("sweep", "compare", lake, *(sides or ("nand.read=20us", "nand.read=60us")), "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def number(setting: dict, key: str) -> dict:
    [found] = [one for one in setting["metrics"] if one["key"] == key]
    return found


def test_seeds_of_a_setting_give_the_paired_interval(cli, tmp_path):
    found = side_by_side(
        cli, made_up(tmp_path / "lake", {(0.1, "20us"): [3.0, 3.2, 3.1], (0.1, "60us"): [2.5, 2.8, 2.5]})
    )
    [setting] = found["settings"]
    assert setting["setting"] == {"ftl.over_provisioning": 0.1}
    assert setting["design"] == "3 runs of each, paired by their seeds 1 to 3"
    waf = number(setting, "waf")
    # Means 3.1 and 2.6: log ratio -0.175891. Without one pair each -0.172844, -0.198851 and -0.156842: the
    # jackknife's error is 0.024482, t(2) = 4.302653. The ratio lies from 0.754855 to 0.931878, and the
    # difference is 3.1 times that less 1.
    assert list(waf["difference"].values()) == pytest.approx([-0.5, -0.759950, -0.211178], abs=1e-5)
    assert waf["p"] == pytest.approx(P, abs=1e-6)
    # The erases are compared as well: two at once.
    assert waf["p_corrected"] == pytest.approx(2 * P, abs=1e-6)
    assert waf["verdict"] == "lower"


def test_settings_are_no_replications_of_each_other(cli, tmp_path):
    waf = {
        (0.1, "20us"): [3.0, 3.2, 3.1],
        (0.1, "60us"): [2.5, 2.7, 2.5],
        (0.2, "20us"): [2.0, 2.2, 2.1],
        (0.2, "60us"): [2.1, 2.3, 2.2],
    }
    lake = made_up(tmp_path / "lake", waf)
    found = side_by_side(cli, lake)
    assert [one["setting"] for one in found["settings"]] == [
        {"ftl.over_provisioning": 0.1},
        {"ftl.over_provisioning": 0.2},
    ]
    first, second = (number(one, "waf") for one in found["settings"])
    # Each by itself, and both looked at: WAF and erases of two settings are four. The second differs by 0.1
    # in every pair: its p is the least, and comes first.
    assert first["samples"] == second["samples"] == [3, 3]
    assert second["p_corrected"] == pytest.approx(4 * p_of([2.0, 2.2, 2.1], [2.1, 2.3, 2.2]), abs=1e-6)
    assert first["p_corrected"] == pytest.approx(3 * p_of([3.0, 3.2, 3.1], [2.5, 2.7, 2.5]), abs=1e-6)
    code, out, _ = cli("sweep", "compare", lake, "nand.read=20us", "nand.read=60us")
    assert code == 0
    [line] = [line for line in out.splitlines() if line.startswith("WAF")]
    # 7.7 / 9.3 with little spare flash, 6.6 / 6.3 with more.
    assert " ".join(line.split()) == "WAF 0.828 #1 1.048 #2 lower in 1, higher in 1"
    assert "no interval, because other" in out
    assert "1 number is equal in every pair, and left out: erases" in out
    assert "2 settings (ftl.over_provisioning)" in out


def test_one_seed_gives_no_interval_over_seeds_and_that_is_said(cli, tmp_path):
    lake = made_up(tmp_path / "lake", {(0.1, "20us"): [3.0], (0.1, "60us"): [2.5], (0.2, "60us"): [2.0]})
    [setting] = side_by_side(cli, lake)["settings"]
    waf = number(setting, "waf")
    assert waf["difference"] is None
    assert waf["words"] == "cannot be told (one run of each)"
    out = cli("sweep", "compare", lake, "nand.read=20us", "nand.read=60us").out
    assert " no number differs" not in out
    assert "one seed alone: no interval over seeds can be made" in out
    assert "left out: 1 setting of which only one side has results" in out
    assert " erases" not in out


def test_what_is_equal_in_every_pair_is_counted_alone(cli, tmp_path):
    waf = {(flash, read): [2.0, 3.0] for flash in (0.1, 0.2) for read in ("20us", "60us")}
    lake = made_up(tmp_path / "lake", waf)
    out = cli("sweep", "compare", lake, "nand.read=20us", "nand.read=60us").out
    assert "2 numbers are equal in every pair, and left out: WAF, erases" in out
    assert "from  at" not in out
    one = ("nand.read=20us,ftl.over_provisioning=0.1", "nand.read=60us,ftl.over_provisioning=0.1")
    out = cli("sweep", "compare", lake, *one).out
    assert " no number differs" in out
    assert "2 numbers are equal in every pair, and left out" in out


def test_what_chance_has_no_part_in_is_the_same_or_differs(cli, tmp_path):
    cost = {(0.1, "20us"): 10.0, (0.1, "60us"): 10.0, (0.2, "20us"): 10.0, (0.2, "60us"): 9.0}
    lake = made_up(tmp_path / "lake", {key: [2.0, 3.0] for key in cost}, cost)
    out = cli("sweep", "compare", lake, "nand.read=20us", "nand.read=60us").out
    [line] = [line for line in out.splitlines() if line.startswith("cost")]
    assert " ".join(line.split()) == "cost 0.900 #2 1.000 #1 the same in 1, lower in 1"


def test_two_designs_side_by_side(cli, lake):
    found = side_by_side(cli, lake)
    assert len(found["settings"]) == 2
    for setting in found["settings"]:
        reads = number(setting, "read.mean")
        assert reads["b"]["value"] > reads["a"]["value"]
        assert reads["paired"]
        assert [one["key"] for one in setting["differences"]] == ["nand.read"]
    one = ("nand.read=20us,ftl.over_provisioning=0.1", "nand.read=60us,ftl.over_provisioning=0.1")
    assert "2 runs of each, paired by their seeds 1 to 2" in cli("sweep", "compare", lake, *one).out
    # Of single runs percentiles are told by the blocks that they were cut into, where they are long enough.
    [setting] = side_by_side(cli, lake, f"{one[0]},seed=1", f"{one[1]},seed=1")["settings"]
    assert setting["design"] == "one run of each, on the same requests, with seed 1"
    assert "kept without its time series" in number(setting, "read.mean")["words"]
    for a, b, words in (
        ("nand.read=20", "nand.read=60us", "did you mean '20us'"),
        ("nand.raed=20us", "nand.read=60us", "did you mean 'nand.read'"),
        ("nand.read=20us,seed=1", "zzz", "names no single point"),
        (one[0], "nand.read=60us", "nand.read=60us leaves ftl.over_provisioning open"),
    ):
        code, _, err = cli("sweep", "compare", lake, a, b)
        assert code == 2
        assert words in err


def test_a_number_may_be_written_in_any_form(cli, lake):
    usual, other = (
        side_by_side(cli, lake, f"ftl.over_provisioning={a}", f"ftl.over_provisioning={b}")["settings"]
        for a, b in (("0.1", "0.2"), ("0.10", "2e-1"))
    )
    assert [one["metrics"] for one in usual] == [one["metrics"] for one in other]
