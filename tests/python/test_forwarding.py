"""Who answers reads of what waits for its program, from end to end."""

from __future__ import annotations

import pytest

from conftest import NATIVE, ROOT

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
DRIVE = ROOT / "examples" / "drives" / "demo.toml"


def drive(**sets: object):
    import ninescope

    return ninescope.Drive.from_file(DRIVE).with_(**sets)


def mixed(bs: str):
    import ninescope

    return ninescope.Workload.job(rw="randrw", rwmixread=50, bs=bs, iodepth=16, requests=4_000, size="512k")


def counters(bs: str, **sets: object):
    return drive(**sets).run(mixed(bs), check="full").document["counters"]


def test_a_drive_that_forwards_nothing_senses_what_waits():
    usual, nothing = counters("4k"), counters("4k", controller__forwards="nothing")
    assert usual["forwarded_units"] > 0 == usual["sensed_while_waiting"]
    assert nothing["sensed_while_waiting"] > 0 == nothing["forwarded_units"]


def test_sectors_that_were_written_are_forwarded_and_others_sensed():
    sets = {"ftl__merges": "sectors", "controller__forwards": "written"}
    of_parts, of_wholes = counters("2k", **sets), counters("4k", **sets)
    assert of_parts["sensed_while_waiting"] > 0 < of_parts["forwarded_units"]
    assert of_wholes["sensed_while_waiting"] == 0 < of_wholes["forwarded_units"]


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        ({"controller__forwards": "some"}, "`written`"),
        ({"controller__forwards": "written"}, 'controller.forwards.*ftl.merges = "sectors"'),
        ({"nand__ecc": "crc"}, "nand.ecc is given"),
        ({"ftl__parity": {"stripe": 2}}, "ftl.parity is given"),
        ({"nand__program_failures": 0.1}, "nand.program_failures is given"),
        ({"nand__erase_failures": 0.1}, "nand.erase_failures is given"),
        ({"scheduler__suspend": "every-safe-point"}, "scheduler.suspend is given"),
        ({"zns": {}}, "zns is given"),
    ],
)
def test_what_it_does_not_go_with_is_said_by_name(sets, words):
    with pytest.raises(ValueError, match=words):
        drive(**{"controller__forwards": "nothing", **sets}).run(mixed("4k"))


def test_a_drive_without_flash_has_nothing_to_forward():
    import ninescope

    scm = ninescope.Drive.preset("s-scm").with_(scm__capacity="4MiB")
    with pytest.raises(ValueError, match=r"controller\.forwards"):
        scm.with_(controller__forwards="nothing").run(mixed("4k"))
