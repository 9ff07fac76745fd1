"""The words of refusals: what was written is named, what is wanted is said, and nobody needs to know Rust."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from conftest import NATIVE, ROOT

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
TRACE = ROOT / "examples/traces/pgbench.csv.zst"
SMALL = ("--drive", ROOT / "examples/drives/small.toml", "--size", "4m")
PLANES = ("--set", "geometry.planes_per_die=2", "--set", "ftl.frontier_planes=2")
WITH_UNIT = re.compile(r"[0-9]+ ?(?:ns|us|ms|s|min|h|d|[KMGT]?i?B/s)")
RUSTIC = re.compile(
    r"invalid type|invalid value|\bu32\b|\bu64\b|\bf64\b|\bstruct\b|\benum\b|variant|missing field"
)


def keys_of(table: dict[str, Any], before: str = "") -> dict[str, Any]:
    """The values of a table by their keys with dots."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        found |= keys_of(value, f"{before}{key}.") if isinstance(value, dict) else {f"{before}{key}": value}
    return found


def refusal(call: Any) -> str:
    from ninescope import ConfigError

    with pytest.raises(ConfigError) as caught:
        call()
    return str(caught.value)


# ---- units -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["ssr-dynamic", "flexecc", "multi-scm", "hybrid-ecc"])
def test_no_time_and_no_rate_of_a_drive_is_taken_without_a_unit(preset):
    from ninescope import Drive
    from ninescope.toml import loads

    drive = Drive.preset(preset)
    resolved = keys_of({key: of for key, of in loads(drive.resolve()).items() if key != "sources"})
    quantities = {
        key
        for key, value in resolved.items()
        for one in (value if isinstance(value, list) else [value])
        if isinstance(one, str) and WITH_UNIT.fullmatch(one)
    }
    assert len(quantities) >= 8, quantities
    for key in quantities:
        for bare in (45, "45", 4.5):
            message = refusal(lambda key=key, bare=bare: drive.with_({key: bare}))
            assert f"`{bare}` has no unit: write {bare}" in message, key
            assert key in message


def test_sizes_count_bytes_and_nothing_has_no_unit():
    from ninescope import Drive, Workload
    from ninescope.toml import loads

    drive = Drive.preset("tlc").with_({"geometry.page_size": 16384, "nand.command_address": 0})
    resolved = loads(drive.resolve())
    assert resolved["geometry"]["page_size"] == "16KiB"
    assert resolved["nand"]["command_address"] == "0ns"
    Workload.job(rw="read", bs=4096, size=1 << 20, requests=1)
    assert "16 B" in refusal(
        lambda: Drive.preset("tlc").with_(geometry__page_size=16).run(Workload.job(rw="read"))
    )
    message = refusal(lambda: Workload.job(rw="read", duration=10))
    assert message == "job: duration: `10` has no unit: write 10ns, 10us, 10ms or 10s"


def test_what_a_result_repeats_can_be_read_again(tmp_path, cli):
    # A unit is written with every quantity, or a configuration would not be one.
    run = ("run", "--rw", "randread", "--requests", "50", *SMALL, "--out", tmp_path / "a")
    assert cli(*run).code == 0
    again = cli(
        "run", "--rw", "randread", "--requests", "50", "--size", "4m", "--drive", tmp_path / "a/config.toml"
    )
    assert again.code == 0, again.err


# ---- the command line --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "nand.read=45"), "`45` has no unit: write 45ns, 45us, 45ms or 45s"),
        (("--set", "nand.channel_rate=1200"), "`1200` has no unit: write 1200B/s, 1200MB/s"),
        (("--set", "geometry.channels=x"), 'a whole number of at most 4294967295 is wanted, not "x"'),
        (("--set", "geometry.channels=2.5"), "is wanted, not 2.5"),
        (("--set", "geometry=3"), "geometry: a table is wanted, not 3"),
        (("--set", "scheduler.multi_plane=yes"), 'true or false is wanted, not "yes"'),
        (("--set", "ftl.over_provisioning=7%"), 'a number is wanted, not "7%"'),
        (("--set", "nand.cell=3"), "nand.cell: a name is wanted"),
        (("--set", "nand.cell=xlc"), "unknown name `xlc`"),
        (
            ("--set", "ftl.victim=3"),
            "a policy name, or a table with `policy` and its parameters is wanted, not 3",
        ),
        (("--set", "nand.read=[45us]"), "texts within are quoted"),
        (("--set", "over_provisioning=0.2"), "did you mean `ftl.over_provisioning`?"),
        (("--set", "nand_read=45us"), "did you mean `nand.read`?"),
        (("--set", "nand.page_size=4KiB"), "did you mean `geometry.page_size`?"),
        (
            ("--set", "sources.nand=x", "--set", "sources.nadn=y"),
            "--set sources.nadn=y: sources: no key of a drive",
        ),
        (("--set", "nand.erase_loops=1000000"), "nand.erase_loops is 1000000, at most 64 are supported"),
        (
            ("--set", "nand.page_types={first=[0],then=[]}"),
            "nand.page_types has no pages in then, which is what a block goes on with",
        ),
        (("--set", "nand.page_types={then=[0,7]}"), "nand.page_types has a page of type 7, the cells have"),
        (
            ("--set", f"nand.page_types={{first={[0] * 2000},then=[0]}}"),
            "nand.page_types has 2000 pages in first and last, and a block has",
        ),
        (("--set", "nand.plane_groups=interleaved"), "give nand.planes_per_command"),
        (
            (*PLANES, "--set", "nand.planes_per_command=2", "--set", "nand.plane_groups=interleaved"),
            "neighbouring planes are programmed and erased together: give ftl.frontier_planes = 1",
        ),
        (
            (*PLANES, "--set", "nand.plane_reads=independently", "--set", "scheduler.transactions=by-class"),
            'nand.plane_reads is "independently", which does not go with classes of jobs',
        ),
        (("--set", "nand.plane_reads=apart"), "nand.plane_reads"),
        (
            (*PLANES, "--set", "nand.plane_reads=independently", "--set", "nand.cache_read=1us"),
            "nand.cache_read is given, and does not go with planes that read each by itself",
        ),
        (("--set", "nand.program_load=1us"), 'give nand.programs = "one-shot"'),
        (("--set", "nand.cache_read=1s"), "nand.cache_read is 1000.000 ms, and a page is read in"),
        (("--set", "scheduler.merge_window=0"), "scheduler.merge_window must not be zero"),
        (("--set", "scheduler.merge_by=touch"), "scheduler.merge_by asks for commands to different pages"),
        (
            (*PLANES, "--set", "nand.any_page=true"),
            "nand.any_page is true, and 2 planes are programmed at one page: give ftl.frontier_planes = 1",
        ),
        (
            (
                *(*PLANES, "--set", "ftl.frontier_planes=1", "--set", "nand.any_page=true"),
                *("--set", "scheduler.merge_by=write", "--set", "ftl.mapping_unit=4KiB"),
            ),
            "scheduler.merge_by counts pages by their units, and a unit is 4KiB of a page of 16KiB",
        ),
        (
            ("--set", "ftl.map={policy='entries',host_link=true}"),
            "ftl.map.host_link is true, and there is no memory of the host: give ftl.map.host_memory",
        ),
        (("--warmup", "100%"), "--warmup 100% is to be below 100 %"),
        (("--warmup", "250%"), "is to be below 100 %"),
        (("--requests", "-5"), "a whole number from 1 on, such as 1000000 or 1e6"),
    ],
)
def test_what_is_mistyped_is_named_and_answered(cli, arguments, words):
    code, out, err = cli("run", "--rw", "randread", "--requests", "20", *SMALL, *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert not RUSTIC.search(err), err


@pytest.mark.parametrize(
    ("mistyped", "meant"),
    [("randrd", "randread"), ("randwite", "randwrite"), ("rnadrw", "randrw"), ("raed", "read")],
)
def test_missing_and_swapped_letters_are_slips_before_other_letters(cli, mistyped, meant):
    code, _, err = cli("run", "--rw", mistyped)
    assert code == 2
    assert f"did you mean `{meant}`?" in err


def test_a_volume_that_is_not_there_is_told_beside_one_that_is(cli):
    for named in (("--volume", "x"), ("--volume", "pgbench_0", "--volume", "x")):
        code, _, err = cli("run", TRACE, *named)
        assert code == 2
        assert err.endswith(f"{TRACE}: there is no volume `x`; the trace has `pgbench_0`\n")


def test_a_job_without_an_end_says_how_long_it_is(cli, capsys):
    from ninescope.cli.run import _say_how_many

    # 4 KiB requests over the region; what is asked for by its size or its number was somebody's choice.
    _say_how_many(35_279_192)
    assert (
        "35,279,192 requests cover the whole drive once; --requests N or --size SIZE"
        in capsys.readouterr().err
    )
    _say_how_many(999_999)
    assert capsys.readouterr().err == ""
    code, _, err = cli("run", "--rw", "read", "--bs", "1m", "--drive", ROOT / "examples/drives/small.toml")
    assert (code, err) == (0, "")


def test_a_long_run_says_once_how_long_it_will_take(monkeypatch, capsys):
    from ninescope.cli import run_output
    from ninescope.simulation.run import Progress

    # Ten requests a second, of 1,000: after three seconds 970 are left, which take 97 s.
    now = iter(range(100))
    monkeypatch.setattr(run_output.time, "monotonic", lambda: float(next(now)))
    slices = (Progress("run", 10 * second, 1000, 0) for second in range(8))
    assert len(list(run_output._telling_how_long(slices))) == 8
    assert capsys.readouterr().err == "ninescope: 1,000 requests will take about 98.0 s more\n"


# ---- files -------------------------------------------------------------------------------------------------

NO_TEXT = {
    "picture.png": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8, "it is a PNG image"),
    "noise.csv": (bytes(range(256)) * 40, "it is binary, not text"),
    "utf16.csv": ("1,hm,0,Read,0,512,1\n" * 9).encode("utf-16"),
}


@pytest.mark.parametrize("name", NO_TEXT)
def test_bytes_that_are_no_text_are_not_printed(cli, tmp_path, name):
    of = NO_TEXT[name]
    content, kind = of if isinstance(of, tuple) else (of, "it is binary, not text")
    path = tmp_path / name
    path.write_bytes(content)
    for command in (("check",), ("run",), ("run", "--format", "msr"), ("run", "--format", "msr", "--strict")):
        code, out, err = cli(*command, path)
        assert (code, out) == (2, "")
        assert f"{path}: {kind}" in err
        assert err.isascii(), err
        assert err.rstrip("\n").isprintable(), err


@pytest.mark.parametrize(("name", "what"), [("ssdconfig", "the drive"), ("workload", "the workload")])
def test_files_of_mqsim_are_known_and_answered_with_the_import(cli, name, what):
    path = ROOT / f"examples/mqsim/{name}.xml"
    code, out, err = cli("check", path)
    assert (code, err) == (0, "")
    assert out.startswith(f"{path}: {what} of a configuration of MQSim, OK\n")
    assert "`ninescope import mqsim " in out
    for command in (("run", path), ("run", "--rw", "read", "--drive", path)):
        code, _, err = cli(*command)
        assert code == 2
        assert "ninescope import mqsim" in err


def test_a_file_of_mqsim_that_is_cut_is_refused(cli, tmp_path):
    path = tmp_path / "cut.xml"
    path.write_bytes((ROOT / "examples/mqsim/ssdconfig.xml").read_bytes()[:2000])
    code, _, err = cli("check", path)
    assert code == 2
    assert f"{path}: line " in err


def test_sources_name_keys_of_drives(cli, tmp_path):
    path = tmp_path / "drive.toml"
    path.write_text('base = "tlc"\n\n[sources]\n"nand.raed" = "a book"\n')
    code, _, err = cli("check", path)
    assert code == 2
    assert "no key of a drive is called `nand.raed`; did you mean `nand.read`?" in err
    assert "line 4" in err
    path.write_text('base = "tlc"\n\n[sources]\n"nand.read" = "a book"\n')
    assert cli("check", path).code == 0


def test_files_that_hold_nothing_or_no_json(cli, tmp_path):
    path = tmp_path / "result.json"
    for content, words in (
        ("", "the file is empty"),
        ("{\n", "is not JSON (line 2, column 1: "),
        (b"\xff\x00", "not a text file"),
    ):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        code, _, err = cli("check", path)
        assert code == 2
        assert err.startswith(f"ninescope: error: {path}: {words}")


def test_a_file_without_a_host_cache_is_told_as_that(cli):
    drive = ROOT / "examples/drives/demo.toml"
    code, _, err = cli("run", TRACE, "--host-cache", drive)
    assert code == 2
    assert f"{drive}: has no table [host_cache]" in err


SEARCH = """\
minimise = ["p99"]
trials = 4

[[workload]]
profile = "prxy_0"
requests = 1000
closed_loop = true
addresses = "compact"

[[workload]]
rw = "randread"
size = "1g"
requests = 1000

[parameters]
"ftl.over_provisioning" = [0.1, 0.2]
"""


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        (
            '"compact"',
            '"compakt"',
            "line 8: workload[0].addresses: unknown name `compakt`; did you mean 'compact'?",
        ),
        (
            '"randread"',
            '"randrd"',
            "line 11: workload[1].rw: unknown name `randrd`; did you mean 'randread'?",
        ),
        ('"1g"', '"1x"', "line 12: workload[1].size: `1x` is not a size"),
        (
            "closed_loop = true",
            "closed_loop = 1",
            "line 7: workload[0].closed_loop: true or false is wanted, not 1",
        ),
        ("trials = 4", "trials = 4\ntrials = 5", "a key or table is there twice (at line 3,"),
    ],
)
@pytest.mark.parametrize("pruning", ["", "pruning = false\n"])
def test_workloads_of_searches_are_wrong_where_they_stand(cli, tmp_path, right, wrong, words, pruning):
    path = tmp_path / "search.toml"
    path.write_text(pruning + SEARCH.replace(right, wrong))
    code, out, err = cli("search", "plan", path)
    assert (code, out) == (2, "")
    shift = re.sub(r"line (\d+)", lambda line: f"line {int(line[1]) + bool(pruning)}", words)
    assert shift in err


def test_a_word_of_a_sweeps_workload_is_named_once(cli, tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text(
        f'[drive]\npreset = "tlc"\n[workload]\ntrace = "{TRACE}"\naddresses = "compakt"\n'
        '[axes]\n"ftl.over_provisioning" = [0.1, 0.2]\n'
    )
    code, _, err = cli("sweep", "plan", path)
    assert code == 2
    assert "line 5: workload.addresses: unknown name `compakt`; did you mean 'compact'?" in err
    assert err.count("addresses") == 1


# ---- Python ------------------------------------------------------------------------------------------------


def test_what_a_program_changed_is_named_as_it_wrote_it():
    from ninescope import Drive, Workload

    tlc, job = Drive.preset("tlc"), Workload.job(rw="read", requests=5)
    for call, words, meant in (
        (lambda: tlc.with_(nand_read="45us"), "with_(nand_read='45us'): ", "`nand__read`"),
        (lambda: tlc.with_(nand__raed="45us"), "with_(nand__raed='45us'): ", "`nand__read`"),
        (lambda: tlc.with_({"nand.raed": "45us"}), "with_({'nand.raed': '45us'}): ", "`nand.read`"),
        (lambda: tlc.with_(ftl__victim="gredy"), "with_(ftl__victim='gredy'): ", "`greedy`"),
        (lambda: tlc.with_(nand__read=45), "with_(nand__read=45): ", ""),
        (lambda: tlc.with_(geometry__channels=0).run(job), "with_(geometry__channels=0): ", ""),
        (lambda: tlc.with_(ftl__over_provisioning=0.5).with_({"ftl.gc_reserve_blocks": 0}).run(job),
         "with_({'ftl.gc_reserve_blocks': 0}): ", ""),
    ):  # fmt: skip
        message = refusal(call)
        assert message.startswith(words), message
        assert "--set" not in message
        assert meant in message.partition("did you mean")[2]


def test_options_of_a_run_are_wanted_in_plain_words():
    from ninescope import Drive, Workload

    job = Workload.job(rw="read", requests=5)
    for options, words in (
        (
            {"warmup": "x"},
            "warmup: a number of requests, or a share of them below 1 (0.2 is 20 %), is wanted",
        ),
        ({"seed": -1}, "seed: a whole number is wanted, not -1"),
        ({"duration": 10}, "duration: `10` has no unit: write 10ns, 10us, 10ms or 10s"),
    ):
        assert refusal(lambda options=options: Drive().run(job, **options)) == words
    assert refusal(lambda: Workload.trace(TRACE, loop="x")).endswith('is wanted, not "x"')
    message = refusal(lambda: Workload.trace(TRACE, addresses="compac"))
    assert message.startswith("workload.addresses: unknown name `compac`")
    assert message.count("addresses") == 1


# ---- what can be set ---------------------------------------------------------------------------------------


def test_every_parameter_of_every_policy_is_listed_with_range_and_default(cli):
    import ninescope

    schema = json.loads(ninescope._native.schemas()[0][1])
    code, out, _ = cli("policies", "--json")
    assert code == 0
    listed = json.loads(out)
    assert set(listed) == set(ninescope.policies())
    for registry, policies in listed.items():
        for policy in policies:
            for parameter in policy["parameters"]:
                assert parameter["values"], (registry, policy["name"], parameter)
                assert parameter["summary"], (registry, policy["name"], parameter)
    [choices] = [policy for policy in listed["ftl.victim"] if policy["name"] == "d-choices"]
    # docs/usage.md and the schema: one draw or more, ten where nobody says it.
    [d] = choices["parameters"]
    assert (d["name"], d["default"], d["values"]) == ("d", 10, "a whole number from 1 on")
    tables = schema["$defs"]["VictimSelectionConfig"]["anyOf"][1]["anyOf"]
    [table] = [table for table in tables if table["properties"]["policy"]["const"] == "d-choices"]
    assert set(table["properties"]) - {"policy"} == {"d"}


def test_the_list_of_policies_says_what_each_can_be_told(cli):
    out = cli("policies", "scheduler.suspend").out
    line = next(line for line in out.splitlines() if line.strip().startswith("points_per_loop"))
    assert line.endswith("a whole number from 1 on, by default 10")
    assert "a time, by default 64ms" in out
    assert "true or false, by default false" in out
    assert "    retention" in cli("policies", "refresh").out
    assert "by default left out" in cli("policies", "refresh").out


# ---- Files of the wrong kind -----------------------------------------------------------------------------

DEMO = ROOT / "examples/drives/demo.toml"
SWEEP = ROOT / "examples/sweeps/codes.toml"
SEARCH_FILE = ROOT / "examples/searches/best-drive.toml"
PROFILE = ROOT / "presets/profiles/hm_0.toml"


@pytest.mark.parametrize(
    ("command", "path", "words"),
    [
        (("run",), DEMO, "is a drive, not a job; `ninescope run WORKLOAD --drive "),
        (("run",), SWEEP, "is a sweep, not a job; `ninescope sweep run "),
        (("run",), SEARCH_FILE, "is a search, not a job; `ninescope search run "),
        (("run", "--rw", "read", "--drive"), SWEEP, "is a sweep, not a drive; `ninescope sweep run "),
        (("run", "--rw", "read", "--drive"), PROFILE, "is a profile, not a drive; `ninescope run "),
        (("sweep", "plan"), SEARCH_FILE, "is a search, not a sweep; `ninescope search run "),
        (("search", "plan"), SWEEP, "is a sweep, not a search; `ninescope sweep run "),
        (("sweep", "plan"), DEMO, "is a drive, not a sweep; "),
        (("check",), ROOT / "Cargo.toml", "TOML of no kind that ninescope knows"),
        (("check",), ROOT / "pyproject.toml", "TOML of no kind that ninescope knows"),
        (("run",), ROOT / "Cargo.toml", "is TOML of no kind that ninescope knows, and a job is wanted"),
        (("report",), DEMO, "is a drive, not a result; wanted is what `run --out DIR` wrote"),
        (("report",), ROOT / "README.md", "is no result; wanted is what `run --out DIR` wrote"),
        (("compare", ROOT / "README.md"), DEMO, "is no result; wanted is what `run --out DIR` wrote"),
    ],
)
def test_a_file_of_the_wrong_kind_is_told_as_what_it_is(cli, command, path, words):
    code, out, err = cli(*command, path)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert words in err
    assert "did you mean" not in err


def test_the_configuration_of_a_result_is_a_drive(cli, tmp_path):
    assert cli("run", "--rw", "read", "--requests", "50", *SMALL, "--out", tmp_path / "a").code == 0
    code, _, err = cli("run", tmp_path / "a/config.toml")
    assert code == 2
    assert "is a drive, not a job" in err


@pytest.mark.parametrize("name", ["x.pdf", "x", "x.png", "x.HTM"])
def test_a_report_is_html_by_its_name(cli, tmp_path, name):
    assert cli("run", "--rw", "read", "--requests", "50", *SMALL, "--out", tmp_path / "a").code == 0
    code, out, err = cli("report", tmp_path / "a", "--out", tmp_path / name)
    assert (code, out) == (2, "")
    assert "--out wants a file that ends in .html" in err
    assert not (tmp_path / name).exists()


def test_a_header_of_a_trace_is_called_that(cli, tmp_path):
    path = tmp_path / "headed.csv"
    rows = "".join(f"{10 * row},hm,0,Read,{4096 * row},4096,1\n" for row in range(100))
    path.write_text("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n" + rows)
    for command in ("check", "run"):
        code, out, err = cli(command, path)
        assert code == 0, err
        assert "number 1, which looks like a header: Timestamp,Hostname," in " ".join(out.split())
    path.write_text("x,hm,0,Read,0,4096,1\n" + rows)
    _, out, _ = cli("check", path)
    assert "looks like a header" not in out
    assert "the timestamp is not a whole number" in out


# ---- Parameters, numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "ftl.victim.d=3"), "`d` is a parameter of d-choices, not of greedy"),
        (("--set", "nand.read=1e30s"), "exponents are unknown here"),
        (("--random-distribution", "hotcold:99.5/1"), "must be whole percents"),
        (("--random-distribution", "zoned:99.5/1:0.5/99"), "must list zones in whole percents"),
    ],
)
def test_what_is_wanted_in_its_place_is_said(cli, arguments, words):
    code, out, err = cli("run", "--rw", "randread", "--requests", "20", *SMALL, *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert "did you mean" not in err


def test_words_that_have_nothing_in_common_are_not_suggested(cli):
    code, _, err = cli("run", "--rw", "randread", *SMALL, "--set", "x=1")
    assert code == 2
    assert "unknown field `x`" in err
    assert "did you mean" not in err


def test_whole_floats_are_whole_numbers_in_python():
    from ninescope import Drive, Workload

    drive = Drive.from_file(ROOT / "examples/drives/small.toml")
    words = {"rw": "randread", "size": "4m"}
    asked = drive.run(Workload.job(**words, iodepth=4, requests=1000))
    same = drive.with_(controller__queue_depth=32.0)
    assert same.resolve() == drive.with_(controller__queue_depth=32).resolve()
    for found in (
        drive.run(Workload.job(**words, iodepth=4.0, requests=1e3)),
        drive.run(Workload.job(**words, iodepth=4), requests=1e3),
    ):
        assert (found.requests, found.digest) == (1000, asked.digest)
    with pytest.raises(Exception, match="whole number"):
        drive.run(Workload.job(**words), requests=1.5)
