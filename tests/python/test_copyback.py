"""Pages that dies copy by themselves, from end to end."""

from __future__ import annotations

import pytest

from conftest import NATIVE, ROOT

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
DRIVE = ROOT / "examples" / "drives" / "copyback.toml"


def drive(**sets: object):
    import ninescope

    return ninescope.Drive.from_file(DRIVE).with_(**sets)


def writes(requests: int):
    import ninescope

    return ninescope.Workload.job(rw="randwrite", bs="16k", iodepth=16, requests=requests)


def test_pages_are_copied_and_those_at_the_limit_are_read():
    result = drive(ftl__gc_copybacks=1).run(writes(8_000), prefill="steady", check="full")
    counters = result.document["counters"]
    assert counters["copybacks"] + counters["gc_page_reads"] == pytest.approx(
        counters["gc_page_programs"], abs=16
    )
    assert 0 < counters["copybacks_at_limit"] <= counters["gc_page_reads"]


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        ({"ftl__gc_copybacks": -1}, "gc_copybacks"),
        ({"ftl__gc_copybacks": 70_000}, "gc_copybacks"),
        ({"ftl__parity": {"stripe": 2}}, "ftl.parity.stripe"),
        ({"nand__erase_failures": 0.1}, "nand.erase_failures"),
        ({"nand__program_failures": 0.1}, "nand.program_failures"),
        ({"nand__ecc": "crc", "nand__die_failures": [{"die": 0, "at": "1ms"}]}, "nand.die_failures"),
        ({"firmware": {"cores": 1, "clock": "1GHz", "move": 100}}, "firmware.move"),
        ({"zns": {}}, "zns"),
        (
            {"nand__any_page": True, "ftl__frontier_planes": 1, "scheduler__merge_by": "write"},
            "scheduler.merge_by is write",
        ),
    ],
)
def test_what_copyback_does_not_go_with_is_said_by_name(sets, words):
    with pytest.raises(ValueError, match=words):
        drive(**sets).run(writes(10))
