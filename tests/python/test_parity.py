"""Parity over dies, from end to end."""

from __future__ import annotations

import pytest

from conftest import NATIVE, ROOT

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
DEMO = ROOT / "examples" / "drives" / "demo.toml"
SMALL = {
    "geometry__channels": 4,
    "geometry__packages_per_channel": 2,
    "geometry__blocks_per_plane": 64,
    "geometry__pages_per_block": 16,
    "ftl__over_provisioning": 0.6,
}


def drive(**sets: object):
    import ninescope

    return ninescope.Drive.from_file(DEMO).with_(**(SMALL | sets))


def writes(requests: int, **options: object):
    import ninescope

    return ninescope.Workload.job(rw="randwrite", bs="16k", iodepth=8, requests=requests, **options)


@pytest.mark.parametrize(("stripe", "over"), [(2, "channels"), (4, "channels"), (2, "dies")])
def test_a_page_of_parity_is_programmed_for_each_stripe_and_the_host_sees_less(stripe, over):
    parity = {"stripe": stripe, "over": over}
    result = drive(ftl__parity=parity).run(writes(6_000), prefill="full", check="full")
    waf = result.waf
    assert waf.parity == pytest.approx((waf.total - waf.parity) / (stripe - 1), rel=0.01)
    bytes_of = result.document["waf"]["bytes"]
    assert sum(bytes_of.values()) == result.document["waf"]["flash_bytes"]
    page = 16 * 1024
    programmed = result.document["counters"]["parity_page_programs"]
    assert programmed == pytest.approx(bytes_of["parity"] / page, abs=64)
    plain = drive().run(writes(500), prefill="full")
    assert plain.waf.parity == 0
    seen = result.document["ftl"]["logical_units"] / plain.document["ftl"]["logical_units"]
    assert seen == pytest.approx((stripe - 1) / stripe, rel=1e-4)


def test_who_waits_behind_parity_is_told():
    import ninescope

    mixed = ninescope.Workload.job(rw="randrw", bs="4k", iodepth=16, requests=6_000)
    result = drive(ftl__parity={"stripe": 2}).run(mixed, prefill="full", check="full")
    assert sum(band.share("die_parity") for band in result.attribution.read) > 0


def test_what_no_decoder_makes_good_is_found_by_the_rest_of_its_stripe():
    """Of two pages of a stripe one is good: fewer errors are told than without parity, by a named wait."""
    import ninescope

    code = {
        "policy": "bch",
        "user_data": "1KiB",
        "correctable": 36,
        "latency": {"policy": "fixed", "encode": "1us", "clean": "1us", "corrupted": "4us"},
    }
    weak = {"nand__ecc": code, "nand__errors": {"policy": "constant", "rber": 3e-3}}
    reads = ninescope.Workload.job(rw="randread", bs="4k", iodepth=4, requests=3_000)
    plain = drive(**weak).run(reads, prefill="full", check="full").reliability.counters
    result = drive(ftl__parity={"stripe": 2}, **weak).run(reads, prefill="full", check="full")
    counters = result.reliability.counters
    assert plain["degraded_reads"] == plain["units_rebuilt"] == 0
    assert counters["degraded_reads"] > 50
    # A mirror: one page is read for each, and both are no good with the square of the chance that one is.
    assert counters["stripe_page_reads"] == counters["degraded_reads"]
    chance = plain["reads_reported"] / 3_000
    assert counters["reads_reported"] / 3_000 == pytest.approx(chance**2, rel=0.5)
    assert result.waf.scrub > 0 or result.document["ftl"]["healed_units"] > 0
    assert sum(band.share("degraded_read") for band in result.attribution.read) > 0
    assert "found by parity" in str(result)


FAILS = {"nand__ecc": "crc", "nand__die_failures": [{"die": 2, "at": "2ms"}]}


@pytest.mark.parametrize("parity", [True, False])
def test_a_die_that_fails_is_read_by_its_stripes_and_written_again(parity):
    """With parity nothing is lost, and a page takes a read of each other die; without it reads are errors."""
    import ninescope

    sets = FAILS | ({"ftl__parity": {"stripe": 4}, "ftl__rebuild_rate": "200MB/s"} if parity else {})
    mixed = ninescope.Workload.job(rw="randrw", bs="4k", iodepth=8, requests=6_000)
    result = drive(**sets).run(mixed, prefill="full", check="full")
    counters = result.reliability.counters
    assert counters["die_failures"] == 1
    assert (counters["reads_reported"] > 0) is not parity
    assert (counters["pages_rebuilt"] > 0) is parity
    assert result.document["counters"]["rebuild_page_programs"] == pytest.approx(
        counters["pages_rebuilt"], abs=64
    )
    assert "dies failed" in str(result)
    if parity:
        assert counters["degraded_reads"] > 50
        assert counters["rebuild_page_reads"] == pytest.approx(3 * counters["pages_rebuilt"], rel=0.05)
        assert result.waf.rebuild > 0


def test_who_waits_behind_a_rebuild_is_told_and_it_is_the_drive_that_is_waited_for():
    """Of two jobs neither works for parity or a rebuild: all of those waits are behind the drive."""
    import ninescope

    sets = FAILS | {"ftl__parity": {"stripe": 4}, "ftl__rebuild_rate": "200MB/s"}
    one, two = ({"name": name, "rw": "randrw", "bs": "4k", "iodepth": 4, "requests": 3_000} for name in "ab")
    result = drive(**sets).run(ninescope.Workload.jobs(one, two), prefill="full", check="full")
    assert result.document["utilisation"]["dies"]["occupancy"]["rebuild"] > 0
    assert "behind rebuild" in str(result)
    for job in result.jobs:
        waits = job.waits["read"]
        for cause in ("die_parity", "die_rebuild"):
            assert waits.parts_ns[cause] > 0
            assert waits.behind_drive_ns[cause] == pytest.approx(waits.parts_ns[cause])


def test_a_rebuild_goes_at_its_rate():
    import ninescope

    page, rate = 16 * 1024, 10e6
    reads = ninescope.Workload.job(rw="randread", bs="4k", iodepth=1, requests=2_000)
    sets = FAILS | {"ftl__parity": {"stripe": 4}, "ftl__rebuild_rate": "10MB/s"}
    result = drive(**sets).run(reads, prefill="full")
    pages = result.reliability.counters["pages_rebuilt"]
    seconds = result.document["simulated_ns"] / 1e9 - 2e-3
    assert pages == pytest.approx(seconds * rate / page, rel=0.02)


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        ({"nand__die_failures": [{"die": 0}]}, "nand.ecc"),
        (FAILS | {"nand__die_failures": [{"die": 99}]}, "die 99"),
        (FAILS | {"nand__die_failures": [{"die": 1}, {"die": 1}]}, "die 1 twice"),
        (FAILS | {"nand__erase_failures": 0.1}, "nand.die_failures"),
        (FAILS | {"zns": {}}, "zns"),
        (FAILS | {"firmware": {"cores": 1, "clock": "1GHz", "command": 100}}, "nand.die_failures"),
        (FAILS | {"ftl__rebuild_rate": "1MB/s"}, "ftl.rebuild_rate"),
        ({"ftl__rebuild_rate": "1MB/s"}, "ftl.rebuild_rate"),
    ],
)
def test_what_dies_that_fail_do_not_go_with_is_said_by_name(sets, words):
    with pytest.raises(ValueError, match=words):
        drive(**sets).run(writes(10))


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        ({"ftl__parity": {"stripe": 3}}, "ftl.parity.stripe"),
        ({"ftl__parity": {"stripe": 1}}, "ftl.parity.stripe"),
        ({"ftl__parity": {"stripe": 4, "over": "dies"}}, "ftl.parity.stripe"),
        ({"ftl__parity": {"stripe": 2, "over": "blocks"}}, "ftl.parity.over"),
        ({"ftl__parity": {}}, "ftl.parity"),
        ({"ftl__superblock": {"dies": 3}}, "ftl.superblock.dies"),
        ({"ftl__superblock": {"dies": 2, "over": "blocks"}}, "ftl.superblock.over"),
        ({"ftl__superblock": {"dies": 2}, "ftl__parity": {"stripe": 2}}, "ftl.superblock"),
        ({"ftl__page_allocation": "static"}, "ftl.page_allocation"),
        ({"ftl__page_allocation": "least-queue"}, "ftl.page_allocation"),
        ({"nand__erase_failures": 0.1}, "nand.erase_failures"),
        ({"nand__factory_bad_blocks": 0.01}, "nand.factory_bad_blocks"),
        (
            {"ftl__streams": {"policy": "hinted", "streams": 2}, "ftl__stream_channels": [[0, 1], [2, 3]]},
            "ftl.stream_channels",
        ),
        ({"zns": {}}, "zns"),
    ],
)
def test_what_makes_no_sense_names_its_key(sets, words):
    with pytest.raises(ValueError, match=words):
        drive(**({"ftl__parity": {"stripe": 2}} | sets)).run(writes(10))


def test_a_job_has_no_channels_for_itself():
    with pytest.raises(ValueError, match="channels"):
        drive(ftl__parity={"stripe": 2}).run(writes(10, channels=[0]))
