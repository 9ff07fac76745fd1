"""Lifetime and cost from a request to what is shown. These need the real engine."""

from __future__ import annotations

import json
import re

import pytest

import ninescope
from conftest import ROOT, run_program

DAYS = 365


def job(**words):
    return ninescope.Workload.job(**{"rw": "randwrite", "bs": "4k", "requests": 20_000} | words)


def demo(**settings):
    """A drive of flash that a short run overwrites."""
    shape = {"blocks_per_plane": 24, "pages_per_block": 24}
    shape = {f"geometry__{key}": value for key, value in shape.items()}
    return ninescope.Drive.preset("tlc").with_(**shape | {"ftl__over_provisioning": 0.5} | settings)


def test_flash_lasts_as_its_rating_and_write_amplification_say():
    result = demo().run(job(requests=100_000), prefill="full")
    config, lifetime = result.document["config"], result.endurance.lifetime
    flash, logical = config["raw_bytes"], config["logical_bytes"]
    assert result.waf.total > 1.2
    assert lifetime.host_bytes == pytest.approx(flash * 3_000 / result.waf.total, rel=1e-12)
    dwpd = 3_000 * (flash / logical) / (result.waf.total * DAYS * 5)
    assert lifetime.dwpd == pytest.approx(dwpd, rel=1e-12)
    assert lifetime.dwpd_over(3) == pytest.approx(lifetime.dwpd * 5 / 3, rel=1e-12)
    assert (lifetime.limited_by, lifetime.dwpd_years, lifetime.reason) == ("nand", 5.0, None)
    # As often as the measured time and bytes fit in.
    seconds = result.endurance.window_ns / 1e9
    assert lifetime.years == pytest.approx(lifetime.passes * seconds / (DAYS * 86_400), rel=1e-12)
    assert lifetime.host_bytes == pytest.approx(lifetime.passes * 100_000 * 4096, rel=1e-12)
    assert result.cost.total == pytest.approx(flash / 1e9, rel=1e-12)
    assert result.cost.per_logical_gb == pytest.approx(flash / logical, rel=1e-12)


def test_memory_lasts_as_its_most_worn_sector():
    drive = ninescope.Drive.preset("s-scm").with_(scm__capacity="4MiB", scm__wear_leveling="none")
    result = drive.run(job(rw="write", bs=512, size=512, iodepth=1, requests=1_000))
    medium = result.endurance.media["scm"]
    assert (medium.wear.max, medium.wear.p99, medium.passes) == (1_000, 0, 100.0)
    assert medium.wear.max_over_mean == 8_192
    assert medium.passes_of_mean == 100.0 * 8_192
    assert (medium.unit, medium.life_by, medium.rated, medium.used) == ("sector", "most-worn", 100_000, 0.01)
    assert result.endurance.lifetime.passes == 100.0
    assert result.cost.media["scm"].cost == pytest.approx(6 * 4 * 1024**2 / 1e9, rel=1e-12)
    iops = result.throughput["write"].iops
    assert result.cost.iops_per_cost == pytest.approx(iops / result.cost.total, rel=1e-12)


def test_what_was_saved_says_the_same(tmp_path):
    result = demo().run(job())
    result.save(tmp_path)
    again = ninescope.Result.load(tmp_path)
    assert (again.endurance, again.cost) == (result.endurance, result.cost)
    assert again.endurance.media["nand"].notes, "nothing was erased, and that is said"


def test_a_result_of_before_has_neither():
    result = ninescope.Result({"complete": True})
    assert result.endurance is None
    assert result.cost is None


def test_reads_leave_no_lifetime_and_valid_json():
    arguments = "run --drive s-scm --rw randread --size 1m --requests 500 --json"
    code, out, err = run_program(*arguments.split())
    assert code == 0, err

    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    lifetime = json.loads(out, parse_constant=refuse)["endurance"]["lifetime"]
    assert (lifetime["passes"], lifetime["years"], lifetime["dwpd"]) == (None, None, None)
    assert lifetime["reason"].startswith("unlimited")


@pytest.mark.parametrize(
    ("arguments", "shown", "not_shown"),
    [
        ("--drive s-scm --rw randwrite", ("drive writes per day over 5 years", "cost as much as"), "unknown"),
        ("--drive tlc --rw randwrite", ("lifetime ", "no block was erased in the window"), "unknown"),
        ("--drive tlc --rw randread", ("cost ", "of TLC flash, 1.07 per GB for the host"), "lifetime"),
    ],
)
def test_the_text_says_it(arguments, shown, not_shown):
    code, out, err = run_program(*f"run {arguments} --size 1m --requests 2000".split())
    assert code == 0, err
    words = " ".join(out.split())
    for text in shown:
        assert " ".join(text.split()) in words, out
    assert not_shown not in words


def test_an_unrated_drive_says_what_is_missing():
    text = "\n".join(
        line
        for line in demo().resolve().splitlines()
        if not line.startswith(("endurance_cycles", "bit_cost", '"nand.'))
    )
    result = ninescope.Drive.from_toml(text).run(job())
    assert result.endurance.lifetime.passes is None
    assert "unknown: the drive does not say nand.endurance_cycles" in " ".join(str(result).split())
    assert result.cost.reason == "unknown: the drive does not say nand.bit_cost"


def test_a_window_that_is_too_short_for_its_waf_says_so():
    drive = ninescope.Drive.from_toml((ROOT / "examples/drives/demo.toml").read_text())
    job = ninescope.Workload.job(rw="randwrite", bs="16k", requests=400, rate_iops=2_000)
    text = re.sub(r"\s+", " ", str(drive.run(job, prefill="steady")))
    assert "THE WINDOW IS TOO SHORT FOR ITS WAF" in text
    assert "that of the steady state" in text
    new = re.sub(r"\s+", " ", str(drive.run(job, prefill="none")))
    assert "TOO SHORT FOR ITS WAF" not in new
