"""Calibrating: what is open is found again where it is known, and what figures cannot tell is said."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import ROOT

pytest.importorskip("optuna")

from ninescope import ConfigError, Drive, Workload
from ninescope.lab.calibrate import Calibration, DeviceFile, calibrate, tried
from ninescope.lab.calibrate.figure import devices_figure, errors_figure
from ninescope.lab.calibrate.linear import said
from ninescope.lab.calibrate.record import Effort, Fitted, Other, Row
from ninescope.lab.calibrate.text import markdown, said_lines
from ninescope.result.metrics import metrics_of

DEMO = ROOT / "examples/drives/demo.toml"
BEFORE = f"""
name = "known"
trials = 8
rounds = 6
seeds = 2
[drive]
file = "{DEMO}"
[run]
requests = 1000
[sources]
me = "made by a drive that is known"
"""
PARAMETERS = """
[parameters]
"nand.read" = { from = "20us", to = "90us", log = true }
"controller.command_cost" = { from = "500ns", to = "10us", log = true }
"""
JOB = 'workload = { rw = "randread", bs = "4k", size = "32m" }'
FITTED = f'[[figures]]\nsource = "me"\nuse = "fit"\n{JOB}\nvalues = {{ read_mean = "60us" }}\n'


def truth(**settings: str) -> Drive:
    return Drive.from_file(DEMO).with_({key.replace("__", "."): value for key, value in settings.items()})


def measured(drive: Drive, depth: int, metric: str) -> float:
    job = Workload.job(rw="randread", bs="4k", size="32m", iodepth=depth)
    value = metrics_of(drive.run(job, requests=1000, seed=1))[metric]
    assert value
    return float(value)


def series(drive: Drive, depths: list[int], use: str) -> str:
    rows = [
        [depth, measured(drive, depth, "read_mean_ns") / 1e3, measured(drive, depth, "iops")]
        for depth in depths
    ]
    return (
        f'[[figures]]\nname = "{use}"\nsource = "me"\nuse = "{use}"\n{JOB}\n'
        f'columns = ["iodepth", "read_mean [us]", "iops"]\nrows = {json.dumps(rows)}\n'
    )


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> tuple[Calibration, DeviceFile, Path]:
    """Calibrate to what a drive of 41 us and 3 us does at two depths, with two more held out."""
    drive = truth(nand__read="41us", controller__command_cost="3us")
    text = BEFORE + PARAMETERS + series(drive, [1, 256], "fit") + series(drive, [4, 16], "holdout")
    folder = tmp_path_factory.mktemp("known")
    path = folder / "device.toml"
    path.write_text(text)
    file = DeviceFile.read(path)
    return calibrate(file, folder / "out", jobs=2), file, folder


def us(text: str) -> float:
    return float(text.removesuffix("ns")) / 1e3 if text.endswith("ns") else float(text.removesuffix("us"))


def test_a_known_drive_is_found_again_within_its_intervals(
    known: tuple[Calibration, DeviceFile, Path],
) -> None:
    found = known[0]
    values = {each.name: each for each in found.parameters}
    for name, is_, near in (("nand.read", 41.0, 1.0), ("controller.command_cost", 3.0, 0.4)):
        each = values[name]
        assert us(each.low) <= is_ <= us(each.high), each
        assert us(each.value) == pytest.approx(is_, abs=near)
        assert us(each.high) - us(each.low) < 0.3 * (us(each.bounds[1]) - us(each.bounds[0]))
        assert each.is_determined
    assert not found.together
    assert not found.undetermined


def test_what_was_held_out_is_predicted_and_counted_apart(
    known: tuple[Calibration, DeviceFile, Path],
) -> None:
    found = known[0]
    assert (len(found.of("fit")), len(found.of("holdout"))) == (4, 4)
    worst = found.worst("holdout")
    assert worst is not None
    assert abs(worst.error or 1) < 0.03
    sizes = sorted(abs(row.error or 0) for row in found.of("holdout"))
    assert found.median("holdout") == pytest.approx((sizes[1] + sizes[2]) / 2)


def test_another_number_of_workers_finds_the_same(known: tuple[Calibration, DeviceFile, Path]) -> None:
    found, file, _ = known
    again = calibrate(file, jobs=1)
    assert [each.value for each in again.parameters] == [each.value for each in found.parameters]
    assert [row.simulated for row in again.rows] == [row.simulated for row in found.rows]
    assert again.effort.runs == found.effort.runs > 0
    assert (again.effort.workers, found.effort.workers) == (1, 2)
    assert again.effort.kept == found.effort.kept == 0
    # One worker is never faster than the simulations by themselves.
    assert again.effort.seconds > again.effort.run_seconds > 0


def test_a_calibration_goes_on_from_its_lake(known: tuple[Calibration, DeviceFile, Path]) -> None:
    found, file, folder = known
    again = calibrate(file, folder / "out", jobs=1)
    assert (again.effort.runs, again.effort.kept) == (0, found.effort.runs)
    assert again.effort.run_seconds == pytest.approx(found.effort.run_seconds)
    assert f"0 simulations ({found.effort.runs} more were there from before) in " in markdown(again)
    assert again.rows == found.rows


def test_the_drive_that_is_written_meets_the_figures_as_the_calibration_says(
    known: tuple[Calibration, DeviceFile, Path],
) -> None:
    found, file, _ = known
    drive = Drive.from_toml(found.drive)
    assert [row.simulated for row in tried(file, drive, jobs=1).rows] == [row.simulated for row in found.rows]
    job = Workload.job(rw="randread", bs="4k", size="1m")
    notes = drive.run(job, requests=10).notes
    assert any(found.verdict() in note for note in notes)
    changed = drive.with_({"nand.read": "99us"}).run(job, requests=10).notes
    assert any("before changes in nand: " in note for note in changed)


def test_a_calibration_is_read_back_as_it_was_written(known: tuple[Calibration, DeviceFile, Path]) -> None:
    found = known[0]
    again = Calibration.from_json(json.loads(json.dumps(found.as_json())), found.drive)
    assert again == found


def test_a_report_says_what_it_took_where_that_is_known() -> None:
    def told(*numbers: float) -> str:
        return Effort(*numbers).told()  # type: ignore[arg-type]

    assert told(74, 0, 61.2, 95.4, 2) == "74 simulations in 61 s on 2 workers; all take 95 s by themselves"
    told_again = (
        "1 simulation (73 more were there from before) in 2.0 s on 1 worker; all take 4 min by themselves"
    )
    assert told(1, 73, 2.0, 240.0, 1) == told_again
    assert told() == ""
    stored = Calibration.from_json(Calibration("d", "", "", (), ()).as_json() | {"effort": {"runs": 3}})
    assert stored.effort == Effort(3)
    assert "simulations" not in markdown(stored)


def test_two_that_enter_as_a_sum_are_not_told_apart() -> None:
    # At depth 1 a read is the fetch of its command, and then the read of its page.
    drive = truth(nand__read="41us", controller__fetch_time="20us")
    value = measured(drive, 1, "read_mean_ns")
    text = BEFORE + """
    [parameters]
    "nand.read" = { from = "20us", to = "60us" }
    "controller.fetch_time" = { from = "1us", to = "41us" }
    "controller.link_rate" = { from = "4GB/s", to = "4.001GB/s" }
    """ + FITTED.replace("60us", f"{value / 1e3}us")  # fmt: skip
    found = calibrate(DeviceFile.parse(text), jobs=1)
    assert found.together == (("nand.read", "controller.fetch_time"),)
    assert found.undetermined == ("controller.link_rate",)
    values = {each.name: us(each.value) for each in found.parameters[:2]}
    assert sum(values.values()) == pytest.approx(61, abs=1)
    assert [each.is_determined for each in found.parameters] == [False, False, False]


def test_of_choices_it_is_said_which_others_meet_the_figures_as_well() -> None:
    # Half the dies cannot read as many pages a second; who is erased changes nothing where none is written.
    truth_of = {count: truth().with_({"geometry.packages_per_channel": count}) for count in (1, 2)}
    iops = {count: measured(drive, 64, "iops") for count, drive in truth_of.items()}
    fitted = FITTED.replace('bs = "4k"', 'bs = "4k", iodepth = 64').replace('read_mean = "60us"', "iops = X")
    text = BEFORE + """
    [parameters]
    "geometry.packages_per_channel" = [1, 2]
    "ftl.victim" = ["greedy", "fifo"]
    """ + fitted.replace("X", str(iops[2]))  # fmt: skip
    found = calibrate(DeviceFile.parse(text), jobs=1)
    packages, victim = found.parameters
    assert (packages.value, packages.alike, packages.is_determined) == ("2", ("2",), True)
    [other] = packages.others
    assert (other.value, other.is_alike) == ("1", False)
    assert other.error == pytest.approx(math.expm1(abs(math.log(iops[1] / iops[2]))), rel=1e-6)
    assert victim.alike == victim.values == ("greedy", "fifo")
    assert not victim.is_determined
    [again] = victim.others
    assert (again.error, again.moved) == (pytest.approx(0, abs=1e-6), ())
    lines = markdown(found)
    missed = f"1 misses the fitted figures by {other.error:.1%}"
    assert f"- told apart (2): geometry.packages_per_channel: {missed}\n" in lines
    assert f"- not determined: ftl.victim: {again.value} meets the fitted figures as well\n" in lines
    assert f"| ftl.victim | {victim.value} | greedy, fifo | greedy, fifo | not determined |" in lines
    assert f'known: 2 ({missed})"' in found.drive
    assert "meets the fitted figures as well), which the figures do not determine" in found.drive
    assert Calibration.from_json(json.loads(json.dumps(found.as_json())), found.drive) == found


def test_a_choice_that_a_number_makes_up_for_is_known_only_with_it() -> None:
    # At depth 1 a read is the fetch of its command, and then the read of its page: 20 + 41, or 40 + 21.
    drive = truth(nand__read="41us", controller__fetch_time="20us")
    value = measured(drive, 1, "read_mean_ns")
    text = BEFORE + """
    [parameters]
    "nand.read" = { from = "15us", to = "50us" }
    "controller.fetch_time" = ["1us", "20us", "40us"]
    """ + FITTED.replace("60us", f"{value / 1e3}us")  # fmt: skip
    found = calibrate(DeviceFile.parse(text), jobs=1)
    read, fetch = found.parameters
    assert found.together == (("controller.fetch_time", "nand.read"),)
    assert [read.is_determined, fetch.is_determined] == [False, False]
    assert fetch.alike == ("20us", "40us")
    others = {other.value: other for other in fetch.others}
    assert set(others) == {"1us", "20us", "40us"} - {fetch.value}
    # A read of 50 us and more is missing to make up for 1 us: 10 of 61, a sixth.
    assert not others["1us"].is_alike
    assert others["1us"].error == pytest.approx(value / 1e3 / (value / 1e3 - 10) - 1, abs=0.02)
    [other] = [other for other in fetch.others if other.is_alike]
    [(name, moved)] = other.moved
    assert name == "nand.read"
    assert us(moved) + us(other.value) == pytest.approx(61, abs=2.5)
    assert us(read.value) + us(fetch.value) == pytest.approx(61, abs=1)
    assert "- not all told apart: controller.fetch_time: " in markdown(found)
    assert f"{other.value} (beside nand.read {moved}) meets the fitted figures as well" in markdown(found)


def test_values_on_a_scale_have_ends_and_two_of_them_have_none() -> None:
    values, ends = ("1us", "2us", "4us"), ("1us", "4us")
    of_three = Fitted("a", "4us", bounds=ends, values=values, others=(Other("2us", False, None),))
    of_two = Fitted("b", "4us", values=ends, others=(Other("1us", False, 0.25),))
    found = Calibration("known", "", "", (of_three, of_two), ())
    assert found.at_bounds == (of_three,)
    assert list(said_lines(found))[1:] == [
        "told apart (4us): a: 2us has not all of them",
        "told apart (4us): b: 1us misses the fitted figures by 25.0%",
    ]


def test_a_fit_that_ends_at_a_bound_says_so_and_where_all_is_from() -> None:
    # A read of 41 us, which may be 50 us at least; and a rate that is the one of the drive it is based on.
    drive = truth(nand__read="41us", controller__command_cost="3us")
    value = measured(drive, 1, "read_mean_ns")
    text = BEFORE + """
    [drive.set]
    nand.channel_rate = "1200MB/s"
    [parameters]
    "nand.read" = { from = "50us", to = "90us" }
    """ + FITTED.replace("60us", f"{value / 1e3}us") + 'note = "of one drive"\n'  # fmt: skip
    found = calibrate(DeviceFile.parse(text), jobs=1)
    assert [(each.name, us(each.value)) for each in found.at_bounds] == [("nand.read", 50)]
    assert found.as_json()["at_bounds"] == ["nand.read"]
    assert "- at a bound: nand.read: figures may want what is beyond 50" in markdown(found)
    assert any(note.endswith(": of one drive") for note in found.notes)
    assert "1200MB/s" in Drive.from_file(DEMO).resolve()
    assert '"nand.channel_rate" = "set by the device file of known"' in found.drive


# ---- what slopes say, by hand ---------------------------------------------------------------------------


def test_an_interval_is_what_the_accuracy_of_figures_leaves() -> None:
    # One figure that doubles in e^2 over the range, good for 2 %: 1.96 * 0.02 / 2, and next to no prior.
    found = said(np.array([[2.0]]), [0.0], noise=0.0, accuracy=0.02)
    assert found.half[0] == pytest.approx(1.96 / math.sqrt((2 / 0.02) ** 2 + 12))
    assert found.singular == (2.0,)
    assert found.undetermined == ()


def test_what_no_figure_depends_on_keeps_its_bounds() -> None:
    found = said(np.array([[1.0, 0.0]]), [0.0], noise=0.0, accuracy=0.01)
    assert found.undetermined == (1,)
    assert found.together == ()
    assert found.half[1] == pytest.approx(1.96 * math.sqrt(1 / 12))


def test_three_parameters_of_which_two_are_one() -> None:
    slopes = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    found = said(slopes, [0.0, 0.0, 0.0], noise=0.0, accuracy=0.01)
    assert found.together == ((0, 1),)
    assert found.correlation[0][1] == pytest.approx(-1, abs=0.01)


def test_figures_that_are_missed_widen_the_intervals() -> None:
    slopes = np.array([[1.0], [1.0], [1.0]])
    found = said(slopes, [0.3, -0.3, 0.0], noise=0.0, accuracy=0.01)
    assert found.sigma == pytest.approx(math.sqrt(0.18 / 2))


# ---- fio ------------------------------------------------------------------------------------------------


def fio_document(**job: object) -> dict[str, object]:
    """What fio 3.35 writes, as far as it is read."""
    read = {
        "total_ios": 20000,
        "iops": 12345.6,
        "lat_ns": {"mean": 81000.0},
        "clat_ns": {
            "mean": 80000.0,
            "percentile": {"50.000000": 79360, "99.000000": 120320, "99.990000": 400000},
        },
    }
    options = {"rw": "randread", "bs": "8k", "iodepth": "4", "size": "32m"}
    general = {"ioengine": "io_uring", "direct": "1", "filename": "/dev/nvme0n1"}
    each = {"jobname": "mine", "job options": options, "read": read, "write": {"total_ios": 0}}
    return {"fio version": "fio-3.35", "global options": general, "jobs": [each | job]}


def fio_device(path: Path, document: object, more: str = "") -> str:
    path.write_text("note: a warning of fio\n" + json.dumps(document))
    of_fio = f'[[figures]]\nname = "mine"\nsource = "me"\nuse = "fit"\nfio = "{path}"\n'
    return BEFORE + PARAMETERS + of_fio + more


def test_a_result_of_fio_gives_the_figures_that_it_would_be_written_out_to(tmp_path: Path) -> None:
    by_fio = DeviceFile.parse(fio_device(tmp_path / "fio.json", fio_document()))
    written = DeviceFile.parse(
        BEFORE
        + PARAMETERS
        + """
        [[figures]]
        name = "mine"
        source = "me"
        use = "fit"
        workload = { rw = "randread", bs = "8k", size = "32m", iodepth = 4 }
        values = { read_iops = 12345.6, read_mean = "81us", read_p50 = "79.36us", read_p99 = "120.32us" }
        """
    )

    def told(file: DeviceFile) -> list[tuple[str, float, str, str]]:
        points = [
            file.base.point(figure.case.values({"nand.read": "50us"})).design for figure in file.figures
        ]
        return [
            (figure.metric, round(figure.value, 6), figure.use, point)
            for figure, point in zip(file.figures, points, strict=True)
        ]

    # p99.99 of 20,000 reads is the second slowest: nothing to hold a drive against.
    assert told(by_fio) == told(written)


def test_copies_of_a_job_are_a_deeper_queue_and_a_share_of_the_drive_is_none(tmp_path: Path) -> None:
    options = {"rw": "randread", "bs": "4k", "iodepth": "8", "numjobs": "4", "size": "100%"}
    text = fio_device(tmp_path / "fio.json", fio_document(**{"job options": options}))
    [one] = DeviceFile.parse(text).sets
    assert one.words == {"rw": "randread", "bs": "4k", "iodepth": 32}


def test_an_engine_without_a_queue_has_one_request_under_way(tmp_path: Path) -> None:
    options = {"rw": "randread", "bs": "4k", "iodepth": "8", "ioengine": "psync"}
    text = fio_device(tmp_path / "fio.json", fio_document(**{"job options": options}))
    [one] = DeviceFile.parse(text).sets
    assert one.words["iodepth"] == 1


def test_a_share_of_writes_is_one_of_reads(tmp_path: Path) -> None:
    options = {"rw": "randrw", "bs": "4k", "rwmixwrite": "20"}
    text = fio_device(tmp_path / "fio.json", fio_document(**{"job options": options}))
    [one] = DeviceFile.parse(text).sets
    assert one.words["rwmixread"] == 80


def test_what_a_job_asks_otherwise_is_not_left_out_unsaid(tmp_path: Path) -> None:
    options = {"rw": "randwrite", "bs": "4k", "iodepth": "4", "thinktime": "0", "fsync": "8"}
    text = fio_device(tmp_path / "fio.json", fio_document(**{"job options": options}))
    with pytest.raises(ConfigError, match=r"line \d+: figures\[0\].fio: .*'mine' has fsync=8, which is not"):
        DeviceFile.parse(text)
    [one] = DeviceFile.parse(text + "workload = { fsync = 8 }\n").sets
    assert one.words["fsync"] == 8


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("fsync", "8", "Say it in `workload`, as fsync = 8, or write"),
        ("bssplit", "4k/50:8k/50", 'as bssplit = "4k/50:8k/50", or'),
        ("thinktime", "10", 'as thinktime = "10us", or'),
        ("rate", "10m", 'as rate = "10MiB/s", or'),
        ("rate", "4000000", 'as rate = "4000000B/s", or'),
        ("zonemode", "zbd", "Jobs have no such word here: measure without it, or write"),
    ],
)
def test_of_what_is_refused_it_is_said_what_to_write_instead(
    option: str, value: str, told: str, tmp_path: Path
) -> None:
    options = {"rw": "randwrite", "bs": "4k", "iodepth": "4", option: value}
    text = fio_device(tmp_path / "fio.json", fio_document(**{"job options": options}))
    with pytest.raises(ConfigError) as error:
        DeviceFile.parse(text)
    assert told in str(error.value)
    if " as " in told:  # what is proposed is taken
        proposed = told.partition("as ")[2].partition(", or")[0]
        assert DeviceFile.parse(f"{text}workload = {{ {proposed} }}\n").sets[0].words[option]


def test_copies_that_go_in_order_are_taken_as_several_jobs(tmp_path: Path) -> None:
    options = {"rw": "read", "bs": "64k", "iodepth": "4", "numjobs": "2"}
    text = fio_device(tmp_path / "fio.json", fio_document(**{"job options": options}))
    with pytest.raises(ConfigError, match="one queue of 2 x 4 has one place") as error:
        DeviceFile.parse(text)
    table = '{ name = "mine-1", rw = "read", bs = "64k", iodepth = 4 }'
    assert f"as {{ job = [{table}, ...] }} with a table and a name for each copy" in str(error.value)
    other = table.replace("-1", "-2")
    [one] = DeviceFile.parse(f"{text}workload = {{ job = [{table}, {other}] }}\n").sets
    assert [job["name"] for job in one.words["job"]] == ["mine-1", "mine-2"]
    assert {job["iodepth"] for job in one.words["job"]} == {4}
    assert {figure.value for figure in one.figures if figure.metric == "read_iops"} == {12345.6}


def test_jobs_that_cannot_be_taken_do_not_keep_others_from_it(tmp_path: Path) -> None:
    document = fio_document()
    copies = {"rw": "write", "bs": "128k", "numjobs": "4"}
    [job] = fio_document(jobname="copies", **{"job options": copies})["jobs"]  # type: ignore[misc]
    [twice] = fio_document(jobname="twice")["jobs"]  # type: ignore[misc]
    document["jobs"] += [job, twice, twice]  # type: ignore[operator]
    text = fio_device(tmp_path / "fio.json", document)
    [one] = DeviceFile.parse(text + 'job = "mine"\n').sets
    assert one.words["iodepth"] == 4
    for name, told in (("copies", "has 4 copies that go"), ("twice", "is there more than once")):
        with pytest.raises(ConfigError, match=told):
            DeviceFile.parse(text + f'job = "{name}"\n')


@pytest.mark.parametrize(
    ("general", "is_cached"),
    [
        ({"ioengine": "libaio"}, True),
        ({"ioengine": "libaio", "direct": "0"}, True),
        ({"ioengine": "libaio", "direct": "1"}, False),
        ({"ioengine": "libaio", "direct": ""}, False),
        ({"ioengine": "libaio", "buffered": "0"}, False),
        ({"ioengine": "spdk_bdev"}, False),
    ],
)
def test_what_went_through_a_page_cache_is_told(
    tmp_path: Path, general: dict[str, str], is_cached: bool
) -> None:
    text = fio_device(tmp_path / "fio.json", fio_document() | {"global options": general})
    [one] = DeviceFile.parse(text).sets
    assert ("page cache" in one.note) is is_cached


# ---- bad input ------------------------------------------------------------------------------------------

VALUES = 'values = { read_mean = "60us" }'
BAD = {
    "an unknown key": ("[paramters]\n", "paramters"),
    "no figure to fit": ('[[figures]]\nsource = "me"\n' + JOB + "\nvalues = { iops = 1 }\n", 'use = "fit"'),
    "no source": (FITTED.replace('source = "me"\n', ""), "figures[0]"),
    "an unknown source": (FITTED.replace('"me"', '"him"'), "figures[0].source"),
    "an unknown use": (FITTED.replace('"fit"', '"both"'), "figures[0].use"),
    "an unknown number": (FITTED.replace("read_mean", "read_men"), "did you mean"),
    "a number of both": (FITTED.replace("read_mean", "mean"), "figures[0].values"),
    "no unit": (FITTED.replace('"60us"', "60"), "a unit is wanted"),
    "a wrong unit": (FITTED.replace("60us", "60MB/s"), "is no unit of it"),
    "nothing": (FITTED.replace("60us", "0us"), "above 0"),
    "an unknown word of a workload": (FITTED.replace("bs =", "bz ="), "bz"),
    "a workload larger than the drive": (FITTED.replace("32m", "32t"), "figures[0].workload.size"),
    "two ways": (FITTED + 'columns = ["iops"]\nrows = [[1]]\n', "only one of them"),
    "rows of another length": (
        FITTED.replace(VALUES, 'columns = ["iodepth", "iops"]\nrows = [[1, 2], [3]]'),
        "row 2",
    ),
    "a column that is nothing": (
        FITTED.replace('values = { read_mean = "60us" }', 'columns = ["iodept", "iops"]\nrows = [[1, 2]]'),
        "did you mean 'iodepth'",
    ),
    "no file of fio": (
        FITTED.replace('values = { read_mean = "60us" }', 'fio = "none.json"'), "none.json: No such file",
    ),
    "a number fitted and held out": (
        FITTED.replace('source = "me"', 'name = "a"\nsource = "me"') + FITTED.replace('"fit"', '"holdout"'),
        "cannot be fitted",
    ),
    "two sets of a name": (2 * FITTED.replace('source = "me"', 'name = "a"\nsource = "me"'), "'a'"),
    "what is set and fitted": (FITTED + 'set = { "nand.read" = "50us" }\n', "is a parameter"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named_by_file_and_key(name: str, tmp_path: Path) -> None:
    text, told = BAD[name]
    path = tmp_path / "device.toml"
    path.write_text(BEFORE + PARAMETERS + text)
    done = subprocess.run(
        [sys.executable, "-m", "ninescope", "calibrate", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"ninescope: error: {path}"), done.stderr
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


BAD_PARAMETERS = {
    "a key that no drive has": ('"nand.raed" = { from = "1us", to = "2us" }', "nand.raed"),
    "bounds the wrong way": ('"nand.read" = { from = "2us", to = "1us" }', "parameters.nand.read"),
    "a value that the drive cannot have": ('"nand.read" = { from = "1MB/s", to = "2MB/s" }', "nand.read"),
}


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_bad_parameters_are_named(name: str) -> None:
    text, told = BAD_PARAMETERS[name]
    with pytest.raises(ConfigError, match=r"^device, line \d+: ") as error:
        DeviceFile.parse(f"{BEFORE}[parameters]\n{text}\n{FITTED}")
    assert told in str(error.value)


def test_an_accuracy_is_a_share() -> None:
    with pytest.raises(ConfigError, match=r"^device, line 1: accuracy: "):
        DeviceFile.parse("accuracy = 2\n" + BEFORE + PARAMETERS + FITTED)


def test_a_fitted_figure_that_no_run_has_is_named() -> None:
    text = BEFORE + PARAMETERS + FITTED.replace("read_mean", "read_p99.99")
    with pytest.raises(
        ConfigError, match=r"line \d+: figures\[0\].values: .*read_p99.99_ns cannot be measured"
    ):
        calibrate(DeviceFile.parse(text), jobs=1)


def test_a_held_out_figure_that_no_run_has_is_told_and_not_counted() -> None:
    text = (
        BEFORE
        + PARAMETERS
        + FITTED
        + FITTED.replace('"fit"', '"holdout"').replace("read_mean", "read_p99.99")
    )
    found = calibrate(DeviceFile.parse(text), jobs=1)
    [missing] = found.unmeasured
    assert missing.metric == "read_p99.99_ns"
    assert "ten requests" in missing.reason
    assert found.of("holdout") == ()
    assert "nothing was held out" in found.verdict()


@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples/devices").glob("*.toml")), ids=lambda path: path.stem
)
def test_example_devices_can_be_read(path: Path) -> None:
    file = DeviceFile.read(path)
    assert {figure.use for figure in file.figures} == {"fit", "holdout"}


# ---- figures --------------------------------------------------------------------------------------------


def test_figures_are_drawn_beside_what_they_are_simulated_to_by_unit() -> None:
    rows = (
        Row("late", "", "read_mean_ns", "holdout", "me", 80_000.0, 100_000.0),
        Row("a (fitted)", "x=1", "read_mean_ns", "fit", "me", 50_000.0, 40_000.0),
        Row("a", "", "iops", "holdout", "me", 1000.0, 2000.0),
        Row("none", "", "iops", "holdout", "me", 1000.0, None),
    )
    times, rates, ratios = errors_figure(Calibration("known", "", "", (), rows)).panels
    assert times.x.categories == ["a x=1 read_mean", "late read_mean"]
    assert [(one.label, list(one.y)) for one in times.series] == [
        ("published", [50.0, 80.0]),
        ("simulated, fitted", [40.0, None]),
        ("simulated, held out", [None, 100.0]),
    ]
    assert [(one.label, list(one.y)) for one in rates.series] == [
        ("published", [1000.0]),
        ("simulated, held out", [2000.0]),
    ]
    assert [list(one.y) for one in ratios.series] == [[0.8, None, None], [None, 1.25, 2.0]]
    assert ratios.y.label == "simulated / published"


def test_of_many_figures_some_have_the_number_that_they_have_in_the_report() -> None:
    late = [Row(f"r{each}", "", "iops", "holdout", "me", 1.0, 1.0, of_fio=True) for each in range(30)]
    rows = (*late, Row("f", "", "read_mean_ns", "fit", "me", 1.0, 1.0, of_fio=True))
    times, rates, _ = errors_figure(Calibration("known", "", "", (), rows)).panels
    assert times.x.categories == ["f read_mean"]
    assert not rates.x.categories
    # The fitted one is the first of the report; every second of thirty has its number.
    assert [tick for _, tick in rates.x.ticks] == [str(number) for number in range(2, 32, 2)]
    assert rates.series[0].label == "fio"
    assert rates.series[0].x[3] < rates.series[1].x[3] == 3


# ---- presets of drives that one can buy -----------------------------------------------------------------

STORED = sorted((ROOT / "docs/validation/devices").glob("*.json"))


def test_the_page_of_drives_is_what_is_stored() -> None:
    import importlib.util

    spec = importlib.util.spec_from_file_location("renew_devices", ROOT / "tools/renew_devices.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text() == module.page()
    assert "(../images/devices.png)" in module.page()
    assert (module.IMAGES / "devices.png").stat().st_size > 5000
    [panel] = devices_figure(module.stored()).panels
    assert panel.x.categories == module.names()
    drawn = {one.label: list(zip(one.x, one.y, strict=True)) for one in panel.series}
    p3700 = Calibration.from_json(json.loads((module.STORED / "intel-p3700.json").read_text()))
    place = module.names().index("intel-p3700")
    for use, called in (("fit", "fitted"), ("holdout", "held out")):
        ratios = [ratio for at, ratio in drawn[called] if at == place]
        assert ratios == [pytest.approx(1 + row.error) for row in p3700.of(use)]
    assert [path.stem for path in STORED] == module.names()


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_a_preset_says_what_it_was_validated_on(path: Path) -> None:
    found = Calibration.from_json(json.loads(path.read_text()))
    job = Workload.job(rw="randread", bs="4k", size="1m", iodepth=2)
    result = Drive.preset(path.stem).run(job, requests=10)
    assert any(found.verdict() in note for note in result.notes)


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_stored_results_are_of_the_figures_of_their_device_file(path: Path) -> None:
    found = Calibration.from_json(json.loads(path.read_text()))
    file = DeviceFile.read(ROOT / f"examples/devices/{path.stem}.toml")
    written = [(each.set, each.case.label, each.metric, each.use, each.value) for each in file.figures]
    assert written == [(row.set, row.case, row.metric, row.use, row.published) for row in found.rows]
    assert found.notes == (*file.notes, *(f"{one.name}: {one.note}" for one in file.sets if one.note))
    assert dict(found.sources) == file.sources


@pytest.mark.parametrize("name", ["intel-p3700", "samsung-980-pro"])
def test_a_preset_still_does_what_is_stored_of_it(name: str) -> None:
    """One fitted figure, run anew: a change of the model that moves it has to renew what is stored."""
    found = Calibration.from_json(json.loads((ROOT / f"docs/validation/devices/{name}.json").read_text()))
    row = next(row for row in found.rows if row.metric == "read_mean_ns" and row.use == "fit")
    job = Workload.job(rw="randread", bs="4k", iodepth=1)
    mean = metrics_of(Drive.preset(name).run(job, requests=10_000, prefill="full"))["read_mean_ns"]
    assert mean == pytest.approx(row.simulated, rel=0.01)
