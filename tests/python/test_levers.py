"""Levers: single changes of a drive, each against the drive as it is, ranked by what they buy."""

from __future__ import annotations

import dataclasses
import io
import json
import math
from concurrent.futures import ThreadPoolExecutor

import pytest
from rich.console import Console

import ninescope
from conftest import NATIVE, ROOT
from ninescope.lab.compare import Side
from ninescope.lab.compare.comparison import Row
from ninescope.lab.compare.metrics import metrics_of
from ninescope.lab.compare.verdict import Verdict, untold, without_chance
from ninescope.lab.levers import LEVERS, Levers, named, pull, read
from ninescope.lab.levers.catalogue import scaled
from ninescope.lab.levers.figures import figure
from ninescope.lab.levers.intervals import enough
from ninescope.lab.levers.pull import Pulled, _is_long_enough, promise
from ninescope.lab.levers.text import print_levers
from ninescope.lab.pool import Pool
from ninescope.lab.statistics import Contrast, Interval

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
DEMO = ROOT / "examples/drives/demo.toml"
WORDS = ("--rw", "randread", "--bs", "64k", "--size", "64m", "--requests", "400", "--drive", DEMO)


def pulled(workload, goal, names, drive=None, **options):
    drive = drive or ninescope.Drive.from_file(DEMO)
    with ThreadPoolExecutor(2) as executor:
        return pull(drive, workload, goal, levers=named(names), workers=Pool(executor, 2), **options)


def test_a_faster_link_buys_half_of_the_time_on_it():
    # One read at a time waits for nobody: with a link twice as fast half of its time on the link is left.
    reads = ninescope.Workload.job(rw="randread", bs="64k", size="64m")
    found = pulled(
        reads, "read.mean", ["commands-half", "link-2x"], requests=400, prefill="full", seeds=(1, 2)
    )
    by_name = {each.lever.name: each for each in found.pulled}
    band = found.base.first.attribution.read
    total = sum(each.count * each.mean_ns for each in band)
    of_link = sum(each.count * each.parts_ns.get("link", 0.0) for each in band) / total
    assert 0.1 < of_link < 0.9
    link = by_name["link-2x"]
    assert link.ratio == pytest.approx(1 - of_link / 2, rel=1e-3)
    assert link.promised == pytest.approx(1 - of_link)
    assert link.row is not None
    assert (link.row.verdict.kind, link.cost) == ("lower", None), "what a link costs is not known"
    of_command = sum(each.count * each.parts_ns["command_processing"] for each in band) / total
    assert by_name["commands-half"].ratio == pytest.approx(1 - of_command / 2, rel=1e-3)
    assert [each.lever.name for each in found.pulled] == ["link-2x", "commands-half"], "what buys most first"


def test_what_changes_nothing_is_the_same_and_is_not_run_in_full():
    reads = ninescope.Workload.job(rw="randread", bs="4k", size="64m")
    found = pulled(
        reads, "p99", ["victim-cost-benefit", "slow-down"], requests=300, prefill="full", seeds=(1,)
    )
    assert all(each.is_short and each.ratio == 1.0 for each in found.pulled)
    assert found.metric.key == "read.p99", "of reads, which there are alone"


def test_one_lever_is_none_of_several():
    # A read that waits for nobody is mostly of its flash; the writes that slow down are none.
    reads = ninescope.Workload.job(rw="randread", bs="4k", size="64m")
    said: list[str] = []
    names = ["read-half", "slow-down"]
    pulled(reads, "mean", names, requests=300, prefill="full", seeds=(1, 2), on_step=said.append)
    assert said == ["the drive as it is", "2 levers, short runs of 60 requests", "1 lever in full"]


@pytest.mark.parametrize(
    ("short", "full", "is_long_enough"),
    [
        (1.0, 0.2, False),  # no erase yet, and in full they are most of it
        (0.7, 0.2, False),
        (0.5, 0.2, True),
        (1.0, 1.0, True),  # nor do they matter in full
        (1.0, 0.995, True),
        (None, None, True),  # no latency: nothing is known of causes
    ],
)
def test_short_runs_show_nothing_of_what_is_rarer_in_them(short, full, is_long_enough):
    [lever] = named(["suspend-erases"])
    assert _is_long_enough(Pulled(lever, {}, promised=short, is_short=True), full) == is_long_enough


def test_more_flash_changes_nothing_of_what_the_host_sees():
    first = ninescope.Drive.from_file(DEMO).run(ninescope.Workload.job(rw="read", requests=1), prefill="none")
    config = first.document["config"]
    for name in ("spare-7", "spare-25", "dies-2x", "channels-2x", "spare-all"):
        [lever] = named([name])
        settings = lever.settings(config["drive"])
        assert settings is not None
        changed = ninescope.Drive.from_file(DEMO).changed(settings)
        other = changed.run(ninescope.Workload.job(rw="read", requests=1), prefill="none").document["config"]
        assert other["logical_bytes"] == pytest.approx(config["logical_bytes"], rel=1e-3)
        # Of 96 blocks of a plane, 15 % spare: 96 x 1.22, 1.40 and 4.15 / 1.15, rounded up.
        more = {"spare-7": 102 / 96, "spare-25": 117 / 96, "spare-all": 347 / 96}.get(name, 1.0)
        assert other["raw_bytes"] / config["raw_bytes"] == pytest.approx(more, rel=1e-6)


def test_what_a_lever_does_not_find_it_leaves_alone():
    zones = ninescope.Drive.from_file(ROOT / "examples/drives/zns.toml")
    config = zones.run(ninescope.Workload.job(rw="write", requests=1)).document["config"]["drive"]
    there = [lever.name for lever in LEVERS if lever.settings(config) is not None]
    assert "bus-2x" in there
    assert not {"spare-7", "victim-greedy", "collect-at-rest", "dies-2x"} & set(there)
    greedy = {"nand": {}, "ftl": {"victim": {"policy": "greedy"}}}
    assert named(["victim-greedy"])[0].settings(greedy) is None


def test_the_attribution_promises_what_the_causes_take():
    reads = ninescope.Workload.job(rw="randrw", bs="4k", iodepth=8, size="64m", requests=2_000)
    result = ninescope.Drive.from_file(DEMO).run(reads, prefill="full")
    by_key = {metric.key: metric for metric in metrics_of([result])}
    every = {cause for band in result.attribution.read for cause in band.parts_ns}
    assert promise(result, by_key["read.p99"], [*every]) == pytest.approx(0.0, abs=1e-9)
    assert promise(result, by_key["read.mean"], ()) == 1.0
    assert promise(result, by_key["read.iops"], [*every]) is None, "no latency"
    band = next(each for each in result.attribution.read if each.name == "p99")
    largest = band.top(1)[0][0]
    assert promise(result, by_key["read.p99"], [largest]) == pytest.approx(1 - band.share(largest))


def test_quantities_are_scaled_with_their_unit():
    assert scaled(["34us", "52us"], 0.5) == ["17us", "26us"]
    assert scaled("1200MB/s", 2) == "2400MB/s"
    assert scaled("3435973837B/s", 2) == "6871947674B/s"
    assert (scaled("1us", 0.5), scaled(8, 4), scaled(0.07, 2)) == ("0.5us", 32, 0.14)


def test_the_command_ranks_and_writes(cli, tmp_path):
    out = tmp_path / "levers"
    told = cli(
        "levers", *WORDS, "--goal", "mean", "--lever", "link-2x", "--lever", "erase-free", "--out", out
    )
    assert told.code == 0, told.err
    assert "the host's link" in told.out
    assert "bound: nobody can make it" in told.out
    written = json.loads((out / "levers.json").read_text())
    assert [each["name"] for each in written["levers"]] == ["link-2x", "erase-free"]
    assert written["levers"][0]["high"] < 1 == written["levers"][1]["ratio"]
    assert (out / "levers.png").stat().st_size > 1000
    as_json = json.loads(cli("levers", *WORDS, "--goal", "mean", "--lever", "link-2x", "--json").out)
    assert as_json["levers"][0] == written["levers"][0]
    assert cli("levers", "--list").out.count("\n") == len(LEVERS)


@pytest.fixture(scope="module")
def small():
    """A result of 400 reads of 64 KiB."""
    reads = ninescope.Workload.job(rw="randread", bs="64k", size="64m", requests=400)
    return ninescope.Drive.from_file(DEMO).run(reads, prefill="full")


def made_up(result, ratios, key="read.mean", seeds=1):
    """Return levers with made-up ratios, in their order: a value with its ends, or one without any."""
    [metric] = [metric for metric in metrics_of([result]) if metric.key == key]
    pulled = []
    for lever, ratio in zip(LEVERS, ratios, strict=False):
        value = ratio[0] if isinstance(ratio, tuple) else ratio
        contrast = None
        verdict = untold("A and B too short for an interval: it takes 8,192 requests")
        if isinstance(ratio, tuple):
            contrast = Contrast(Interval(-1, -1, -1), Interval(*ratio), 0.5, "", (9, 9), paired=True)
            verdict = Verdict("none", "no difference shown")
        row = Row(metric, Interval(100, 100, 100), Interval(*[100 * value] * 3), contrast, None, verdict)
        pulled.append(Pulled(lever, {}, row=row, is_short=contrast is not None))
    side = Side.of("A", [result])
    return Levers(metric, dataclasses.replace(side, results=side.results * seeds), tuple(pulled), 400)


def printed(found, width=100, *, is_terminal=False):
    file = io.StringIO()
    print_levers(found, Console(file=file, width=width, force_terminal=is_terminal, color_system=None))
    return file.getvalue()


def test_a_cost_is_told_where_there_is_more_flash_and_nowhere_else():
    reads = ninescope.Workload.job(rw="randread", bs="4k", size="64m")
    names = ["spare-25", "dies-2x", "channels-2x", "bus-2x", "suspend-all", "buffer-4x"]
    found = pulled(reads, "mean", names, requests=50, prefill="full", seeds=(1,))
    costs = {each.lever.name: each.cost for each in found.pulled}
    # Of 96 blocks of a plane there are 117 with 1.40 of what the host sees in the place of 1.15.
    assert costs.pop("spare-25") == pytest.approx(117 / 96, rel=1e-6)
    assert len(costs) == 5
    assert set(costs.values()) == {None}
    by_name = {line.split()[0]: line for line in printed(found).splitlines() if line.startswith(" ")}
    assert " 1.22 " in by_name["spare-25"]
    assert all(" - " in by_name[name] and "1.00 " not in by_name[name].partition("]")[2] for name in costs)


def test_why_there_is_no_interval_is_said_and_how_many_requests_would_do():
    # Half of the requests read, of each run: 8,192 reads are 16,384 requests, and 5 % more, rounded up.
    mixed = ninescope.Workload.job(rw="randrw", bs="4k", iodepth=16, size="64m", requests=2_000)
    result = ninescope.Drive.from_file(DEMO).run(mixed, prefill="full")
    share = result.latency.read.count / 2_000
    found = made_up(result, [0.8, 0.9], key="read.p99", seeds=3)
    least = math.ceil(8_192 * 1.05 / share / 1_000) * 1_000
    assert 16_000 < least < 19_000
    assert enough(found) == least
    said = " ".join(printed(found).split())
    assert "no interval of suspend-erases, suspend-all: runs are too short for an interval: it takes" in said
    assert f"--requests {least} would do for read p99" in said
    assert "intervals" not in said
    assert "Whiskers" not in figure(found).caption
    assert "No interval of suspend-erases, suspend-all: runs are too short" in figure(found).caption
    # Ten requests beyond p99.99 take 100,000 of one run, or a third of each of three: more than blocks take.
    beyond = [enough(made_up(result, [0.8], key="read.p99.99", seeds=seeds)) for seeds in (1, 3)]
    assert beyond == [pytest.approx(1e5 * 1.05 / share / seeds, rel=0.1) for seeds in (1, 3)]
    assert enough(made_up(result, [0.8], key="read.mean")) is None


def test_what_has_an_interval_is_told_no_reason(small):
    found = made_up(small, [(0.9, 0.8, 0.95), 0.9])
    assert "Whiskers are 95% intervals" in figure(found).caption
    assert "No interval of suspend-all: " in figure(found).caption
    found = dataclasses.replace(found, pulled=found.pulled[:1])
    assert "No interval" not in figure(found).caption
    assert "no interval" not in printed(found)
    # The same by the configuration: chance has no part, and an interval is missed by nobody.
    row = dataclasses.replace(found.pulled[0].row, contrast=None, verdict=without_chance(2.0, 1.0, "exact"))
    exact = dataclasses.replace(found, pulled=(dataclasses.replace(found.pulled[0], row=row),))
    assert "no interval" not in printed(exact)
    assert "95 % intervals" in printed(found)


def test_half_and_twice_lie_as_far_from_one_in_the_figure(small):
    drawn = figure(made_up(small, [(0.5, 0.4, 0.6), (2.0, 1.5, 2.5)]))
    [panel] = drawn.panels
    assert panel.y.log
    assert list(panel.lines) == [("as it is", 1.0)]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_no_word_of_the_table_is_lost_however_narrow_it_is(small, is_terminal):
    found = made_up(small, [(0.85, 0.75, 0.95)] * len(LEVERS))
    wanted = {word for lever in LEVERS for word in (lever.name, *lever.says.split())}
    for width in range(20, 141, 4):
        assert wanted | {"(short)", "0.95]"} <= set(printed(found, width, is_terminal=is_terminal).split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--goal", "trim.mean"), "--goal trim.mean: no such number was measured"),
        (("--goal", "write.mean"), "--goal write.mean: no such number was measured"),
        (("--lever", "link-3x"), "no lever is called 'link-3x'; did you mean 'link-2x'?"),
        (("--prefill", "stedy"), "did you mean 'steady'?"),
    ],
)
def test_what_makes_no_sense_is_one_error(cli, words, message):
    told = cli("levers", *WORDS, *words)
    assert (told.code, message in told.err) == (2, True), told.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--goal", "p99.7x"), "--goal p99.7x: no number is called so; did you mean 'p99.9'?"),
        (("--goal", "reed.mean"), "--goal reed.mean: no number is called so; did you mean 'read.mean'?"),
        (("--goal", "99"), "--goal 99: no number is called so"),
        (("--out", DEMO), "demo.toml: it is not a directory"),
        (("--out", "/proc/levers"), "cannot write to /proc/levers"),
        (("--out", "out", "--lever", "link-3x"), "did you mean 'link-2x'?"),
    ],
)
def test_what_can_be_refused_before_is_before_anything_is_run(cli, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    told = cli("levers", *WORDS, *words)
    assert (told.code, message in told.err) == (2, True), told.err
    assert len(told.err.strip().splitlines()) == 1, "and nothing of what is being run"
    assert not list(tmp_path.iterdir()), "nothing is left behind"


# ---- levers of one's own ---------------------------------------------------------------------------------

OWN = """summary = "what a newer link would be"

[[levers]]
name = "newer-link"
says = "a link of the next generation"
set = { "controller.link_rate" = "6.4GiB/s" }
cost = "a new   board"
causes = ["link"]

[[levers]]
name = "no-erases"
bound = true
[levers.set]
"scheduler.suspend" = { policy = "every-safe-point", programs = true }
"nand.erase_loop" = "300us"
"""


def own(tmp_path, text=OWN):
    file = tmp_path / "own.toml"
    file.write_text(text)
    return file


def test_a_lever_of_a_file_is_what_a_built_in_one_is_that_sets_the_same(cli, tmp_path):
    # Of the demo's link of 3.2 GiB/s, twice as fast is what link-2x sets: the two buy the same.
    file = own(tmp_path)
    words = ("--goal", "mean", "--levers", file, "--lever", "link-2x", "--lever", "newer-link")
    told = json.loads(cli("levers", *WORDS, *words, "--json").out)
    by_name = {each["name"]: each for each in told["levers"]}
    mine, there = by_name["newer-link"], by_name["link-2x"]
    assert mine["settings"] == {"controller.link_rate": "6.4GiB/s"}
    assert (mine["says"], mine["price"]) == ("a link of the next generation", "a new board")
    assert there["price"] is None
    assert mine["ratio"] == pytest.approx(there["ratio"], rel=1e-9)
    assert mine["without_its_causes"] == there["without_its_causes"] < 1
    assert mine["high"] < 1
    shown = cli("levers", *WORDS, *words).out
    assert "newer-link costs, besides the media: a new board" in shown


def test_levers_of_a_file_are_run_among_the_others_and_listed(cli, tmp_path):
    listed = cli("levers", "--list", "--levers", own(tmp_path)).out.splitlines()
    assert len(listed) == len(LEVERS) + 2
    assert listed[-1].split(maxsplit=1) == [
        "no-erases",
        "bound: scheduler.suspend = every-safe-point, nand.erase_loop = 300us",
    ]
    chosen = named(["no-erases"], read(own(tmp_path)))
    reads = ninescope.Workload.job(rw="randread", bs="64k", size="64m")
    with ThreadPoolExecutor(2) as executor:
        found = pull(
            ninescope.Drive.from_file(DEMO), reads, "read.mean",
            levers=[*named(["bus-2x"]), *chosen], workers=Pool(executor, 2), requests=200, prefill="full",
        )  # fmt: skip
    # Of a drive that is only read nothing is erased: what erases do not take, a bound does not buy.
    assert [(each.lever.name, each.ratio == 1.0) for each in found.pulled] == [
        ("bus-2x", False),
        ("no-erases", True),
    ]
    checked = cli("check", own(tmp_path))
    assert (checked.code, "newer-link, no-erases" in checked.out) == (0, True)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("name =", "nam =", "line 4: levers[0].nam: is no word of a lever; did you mean 'name'?"),
        ('"newer-link"', '"link-2x"', "line 4: levers[0].name: a lever is called 'link-2x' already"),
        ('"no-erases"', '"newer-link"', "line 11: levers[1].name: a lever is called 'newer-link' already"),
        ('"newer-link"', '"a b"', "line 4: levers[0].name: a name is wanted"),
        ('"newer-link"', "7", "line 4: levers[0].name: a text is wanted, not 7"),
        ("bound = true", 'bound = "yes"', "line 12: levers[1].bound: true or false are wanted, not 'yes'"),
        ('["link"]', '["lnk"]', "line 8: levers[0].causes: no cause is called 'lnk'; did you mean 'link'?"),
        ('["link"]', '"link"', "line 8: levers[0].causes: a list of causes is wanted, not 'link'"),
        ('set = { "controller.link_rate" = "6.4GiB/s" }', "set = []", "line 6: levers[0].set: what it"),
        ('set = { "controller.link_rate" = "6.4GiB/s" }\n', "", "line 3: levers[0].set: what it changes is"),
        (
            '"controller.link_rate" =',
            '"controller.link_rat" =',
            "line 6: levers[0].set.controller.link_rat: unknown field `link_rat`",
        ),
        (
            '"6.4GiB/s"',
            '"fast"',
            "line 6: levers[0].set.controller.link_rate: `fast` is not",
        ),
        ('"nand.erase_loop" = "300us"', "nand.erase_loop = 3", "line 13: levers[1].set.nand: keys are"),
        ('"nand.erase_loop" = "300us"', '"nand.erase_loop" = "3"', "[1].set.nand.erase_loop: `3` has no"),
        ('"nand.erase_loop" = "300us"', '"ftl.over_provisioning" = -3', "over_provisioning: is -3"),
        ("[[levers]]\nname = \"newer", "[[lever]]\nname = \"newer", "line 3: lever: is no key of a file of"),
        (OWN, "levers = 3", "line 1: levers: tables are wanted: [[levers]]"),
        (OWN, "levers = []", "line 1: levers: there is none"),
        (OWN, "levers = [", "own.toml: "),
        (OWN, 'rw = "read"\n', "is a job, not a file of levers"),
    ],
    ids=range(20),
)  # fmt: skip
def test_what_a_file_of_levers_cannot_say_is_one_error_with_its_line(cli, tmp_path, before, after, message):
    assert OWN.count(before) >= 1
    file = own(tmp_path, OWN.replace(before, after, 1))
    told = cli("levers", *WORDS, "--levers", file)
    assert told.code == 2
    assert told.err.startswith(f"ninescope: error: {file}"), told.err
    assert message in told.err, told.err
    assert len(told.err.strip().splitlines()) == 1, told.err


def test_a_file_of_levers_that_is_not_there_is_named(cli, tmp_path):
    own(tmp_path)
    told = cli("levers", *WORDS, "--levers", tmp_path / "owm.toml")
    assert told.code == 2
    assert "owm.toml' does not exist; did you mean" in told.err


def test_the_page_shows_the_example_file_and_it_can_be_run():
    example = ROOT / "examples/levers/next-generation.toml"
    shown = (ROOT / "docs/levers.md").read_text().partition("```toml\n")[2].partition("```")[0]
    assert shown in example.read_text()
    found = read(example, ninescope.Drive.from_file(DEMO))
    assert [each.name for each in found] == ["newer-flash", "wider-bus", "gentle-erases"]
    read(example, ninescope.Drive.preset("tlc"))
