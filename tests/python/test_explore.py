"""The page to look into results: what stands on it, and what is said of folders that are no results."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
from pathlib import Path

import pytest

import ninescope
from conftest import NATIVE, ROOT
from ninescope.figures import Axis, Figure, Panel, Series
from ninescope.figures.several import together
from ninescope.report.document import AttributionBlock, GanttBlock, Lane, Part, Span, TableBlock, Text, View
from ninescope.report.explore import names_of, of_results
from ninescope.report.html import render
from ninescope.report.lanes import MOST_ROWS, as_json, tables
from ninescope.report.ways import MOST_SLICES, Timeline, gantt_of_requests, gantt_of_window, window_around
from ninescope.result import Result
from ninescope.result.slowest import slow_request_of

# ---- by hand: times in ns, the timeline in us, as Chrome has it ----------------------------------------

WAITED = {
    "id": 7,
    "lba": 800,
    "sectors": 8,
    "submitted_ns": 1_000,
    "completed_ns": 9_000,
    "latency_ns": 8_000,
    "parts_ns": {"die_erase": 6_000, "command_array": 2_000},
    "stages": [
        {
            "stage": "die_queue",
            "from_ns": 1_000,
            "until_ns": 7_000,
            "die": 3,
            "die_did": [
                {
                    "from_ns": 2_500,
                    "until_ns": 7_000,
                    "occupancy": "erase",
                    "what": "erase of <block> 17",
                    "command": "erase",
                    "blocks": [17],
                }
            ],
            "die_did_earlier_ns": {"gc_read": 1_500},
        },
        {"stage": "command_array", "from_ns": 7_000, "until_ns": 9_000, "die": 3},
    ],
}


def meta(name: str, pid: int, tid: int, value: str) -> dict:
    return {"name": name, "ph": "M", "ts": 0, "pid": pid, "tid": tid, "args": {"name": value}}


def command(name: str, begin: float, length: float, tid: int = 2, cat: str = "command", **args) -> dict:
    return {
        "name": name, "ph": "X", "ts": begin, "dur": length, "pid": 2, "tid": tid, "cat": cat, "args": args,
    }  # fmt: skip


EVENTS = [
    meta("process_name", 2, 0, "channel 1"),
    meta("thread_name", 2, 1, "transfers"),
    meta("thread_name", 2, 2, "die 3 (package 0)"),
    meta("thread_name", 2, 3, "die 4 (package 0)"),
    command("erase block 17", 0.2, 6.8, command="erase"),
    command("erase block 17 (loop 1 of 1)", 0.3, 6.7, cat="die", command="erase"),
    command("host read #7", 7, 2, command="host read", requests=[7]),
    command("host read #9", 7.5, 1, tid=3, command="host read", requests=[9]),
    command("read data, die 3", 8.5, 0.5, tid=1, cat="channel", die=3),
    command("host read #11", 20, 1, command="host read", requests=[11]),
]


def timeline(events: list[dict] = EVENTS, until_ns: int = 25_000) -> dict:
    return {"otherData": {"window_from_ns": 0, "window_until_ns": until_ns}, "traceEvents": events}


def told(**more) -> Result:
    return Result({"ninescope": "0", "requests": 1, "slowest": {"read": [WAITED], **more}})


def recorded(document: dict | None = None) -> Result:
    return Result(told().document, timeline=json.dumps(timeline() if document is None else document))


def spans(lane: Lane) -> list[tuple[int, int, str]]:
    return [(span.from_ns, span.until_ns, span.part) for span in lane.spans]


def test_a_request_is_a_lane_of_stages_above_the_die_that_it_waited_for():
    gantt = gantt_of_requests(told(), None, "ways")
    [view] = gantt.views
    assert (view.name, view.zero_ns, view.from_ns, view.until_ns) == ("read #7", 1_000, 1_000, 9_000)
    assert view.what.startswith("8.00 us, 4.00 KiB at sector 800, submitted at 0.001 ms: behind erase 75%")
    assert [lane.name for lane in view.lanes] == ["request #7", "die 3"]
    assert spans(view.lanes[0]) == [
        (1_000, 7_000, "in a queue: see the die"),
        (7_000, 9_000, "flash array"),
    ]
    # What was too much to list comes first, in sum; then what is known in detail.
    assert spans(view.lanes[1]) == [(1_000, 2_500, "GC read"), (2_500, 7_000, "erase")]
    assert {part.name for part in gantt.parts} == {
        "in a queue: see the die",
        "flash array",
        "GC read",
        "erase",
    }


def test_where_a_timeline_was_recorded_the_die_and_its_channel_are_shown_with_what_came_before():
    result = recorded()
    gantt = gantt_of_requests(result, Timeline.of(result), "ways")
    [view] = gantt.views
    assert (view.from_ns, view.until_ns) == (0, 11_000), "a quarter of 8 us more on either side, from 0 on"
    assert [lane.name for lane in view.lanes] == ["request #7", "die 3 (package 0)", "channel 1"]
    die, channel = view.lanes[1:]
    # The whole erase, the read for this request called so, and not what came long after.
    assert spans(die) == [
        (200, 7_000, "erase"),
        (300, 7_000, "erase"),
        (7_000, 9_000, "for the request itself"),
    ]
    assert [span.low for span in die.spans] == [False, True, False]
    words = ["erase block 17", "loop 1 of 1", "host read #7"]
    assert [span.what for span in die.spans] == words, "the phase does not say again whose it is"
    assert spans(channel) == [(8_500, 9_000, "transfer on the channel")]


def test_a_timeline_that_ends_before_the_request_does_is_not_taken_for_the_whole():
    result = recorded(timeline(until_ns=8_999))
    [view] = gantt_of_requests(result, Timeline.of(result), "ways").views
    assert [lane.name for lane in view.lanes] == ["request #7", "die 3"]


def test_the_window_has_every_die_and_every_channel():
    gantt = gantt_of_window(Timeline(timeline()), "window")
    [view] = gantt.views
    assert [lane.name for lane in view.lanes] == ["channel 1", "die 3 (package 0)", "die 4 (package 0)"]
    assert sum(len(lane.spans) for lane in view.lanes) == 6
    assert gantt_of_window(Timeline(timeline(EVENTS[:4])), "window") is None, "nothing happened in it"


def test_a_window_of_more_than_can_be_drawn_ends_earlier_and_says_so():
    many = [command(f"read #{at}", at, 0.5, command="host read") for at in range(MOST_SLICES + 10)]
    document = timeline([*EVENTS[:4], *many], until_ns=(MOST_SLICES + 20) * 1_000)
    [view] = gantt_of_window(Timeline(document), "window").views
    assert sum(len(lane.spans) for lane in view.lanes) == MOST_SLICES
    assert view.until_ns == MOST_SLICES * 1_000
    assert "is in timeline.json" in view.what


def test_the_window_to_record_holds_the_request_and_a_millisecond_on_either_side():
    request = slow_request_of({**WAITED, "submitted_ns": 5_000_500, "completed_ns": 5_008_500})
    assert window_around(request) == "4000us..6009us"
    early = slow_request_of(WAITED)
    assert window_around(early) == "0us..1009us"


def test_the_page_says_how_to_record_what_it_could_not_show():
    words = [
        text
        for block in of_results({"a": told()}).blocks()
        if isinstance(block, Text)
        for text in block.paragraphs
    ]
    assert any("`--trace-window 0us..1009us`" in each for each in words)
    silent = Result({"ninescope": "0", "requests": 1})
    words = [
        text
        for block in of_results({"a": silent}).blocks()
        if isinstance(block, Text)
        for text in block.paragraphs
    ]
    assert any("`--explain-slowest 20`" in each for each in words)
    whole = [
        text
        for block in of_results({"a": recorded()}).blocks()
        if isinstance(block, Text)
        for text in block.paragraphs
    ]
    assert not any("--trace-window" in each for each in whole)


def test_names_tell_folders_apart_by_their_last_parts():
    assert names_of(["out/a", "out/b/"]) == ["a", "b"]
    assert names_of(["one/run", "two/run", "/three/run"]) == ["one/run", "two/run", "three/run"]
    assert names_of(["a", "a"]) == ["a (1)", "a (2)"]
    assert names_of(["."]) == ["."]


# ---- lanes as JSON and as tables -----------------------------------------------------------------------


def block(count: int = 3) -> GanttBlock:
    made = [
        Span(at * 10, at * 10 + 5, "p", "</script>" if at else "first", low=at == 2) for at in range(count)
    ]
    view = View("v", "w", 0, 100, 10, [Lane("l", made)])
    return GanttBlock("g", "t", [view], [Part("p", "#123456")])


def test_times_of_a_view_count_from_its_zero_and_words_are_there_once():
    data = json.loads(as_json(block()))
    assert data["parts"] == [["p", "#123456"]]
    [view] = data["views"]
    assert (view["from"], view["until"], view["words"]) == (-10, 90, ["first", "</script>"])
    assert view["lanes"] == [["l", [[-10, -5, 0, 0, 0], [0, 5, 0, 1, 0], [10, 15, 0, 1, 1]]]]
    assert "</script>" not in as_json(block()), "no markup can end the element that it stands in"


def test_what_is_drawn_is_there_as_a_table_and_what_is_left_out_of_it_is_counted():
    [table] = tables(block())
    assert table.columns == ["lane", "from", "length", "what"]
    assert table.rows[0] == ["l", "\u221210 ns", "5 ns", "first"]
    [long] = tables(block(MOST_ROWS + 2))
    assert len(long.rows) == MOST_ROWS
    assert "2 more are drawn" in long.title


def test_a_part_that_is_not_listed_is_a_mistake_of_the_writer():
    with pytest.raises(ValueError, match="part 'p' is not listed"):
        dataclasses.replace(block(), parts=[])


def test_only_a_page_with_lanes_carries_the_script_that_draws_them():
    marker = "figure.gantt"
    assert f'all("{marker}")' in render(of_results({"a": told()}))
    assert f'all("{marker}")' not in render(of_results({"a": Result({"ninescope": "0", "requests": 1})}))


# ---- several results -----------------------------------------------------------------------------------


def drawn(label: str, categories: list[str], values: list[float], low: float | None = None) -> Figure:
    panel = Panel(
        "", Axis("x", categories=categories), Axis("y", low=low), [Series(label, range(len(values)), values)]
    )
    return Figure("f", "Title", [panel], f"caption of {len(values)}")


def test_figures_of_several_results_share_their_categories():
    both = together(
        {"a": drawn("reads", ["p50", "p99"], [1, 2], 0), "b": drawn("reads", ["p99", "p99.9"], [3, 4], -1)}
    )
    [panel] = both.panels
    assert panel.x.categories == ["p50", "p99", "p99.9"]
    assert [(one.label, list(one.x), list(one.y)) for one in panel.series] == [
        ("a: reads", [0, 1], [1, 2]),
        ("b: reads", [1, 2], [3, 4]),
    ]
    assert panel.y.low == -1
    assert both.caption == "caption of 2"
    unlike = together({"a": drawn("reads", ["p50"], [1]), "b": drawn("reads", ["p50", "p90"], [3, 4], 5)})
    assert unlike.panels[0].y.low is None, "the reach of one is not that of both"
    assert unlike.caption == "a: caption of 1 b: caption of 2"
    assert together({"a": drawn("reads", ["p50"], [1])}).panels[0].series[0].label == "reads"


@pytest.fixture(scope="module")
def pair() -> dict[str, Result]:
    drive = (
        ninescope.Drive.from_file(ROOT / "examples/drives/demo.toml")
        if NATIVE
        else ninescope.Drive.preset("tlc")
    )
    job = ninescope.Workload.job(rw="randrw", bs="4k", iodepth=8, size="64m", requests=4_000)
    return {name: drive.run(job, seed=seed, explain_slowest=3) for name, seed in (("one", 1), ("two", 2))}


def test_results_stand_side_by_side(pair):
    document = of_results(pair)
    table = next(block for block in document.blocks() if isinstance(block, TableBlock))
    assert list(table.columns) == ["", "one", "two"]
    assert [str(cell) for cell in table.rows[0][1:]] == [
        f"{each.latency.read.count:,}" for each in pair.values()
    ]
    causes = next(block for block in document.blocks() if isinstance(block, AttributionBlock))
    names = [band.name.rsplit(" ", 1) for band in causes.bands]
    assert names[:2] == [[names[0][0], "one"], [names[0][0], "two"]], "the same slice, one under the other"
    assert (
        sum(band.count for band in causes.bands if band.name.endswith(" one"))
        == pair["one"].latency.read.count
    )
    assert len([block for block in document.blocks() if isinstance(block, GanttBlock)]) == 2
    assert render(document) == render(of_results(pair)), "the same results, the same bytes"


# ---- the command line ----------------------------------------------------------------------------------


@pytest.fixture
def folder(pair, tmp_path: Path) -> Path:
    pair["one"].save(tmp_path / "run")
    return tmp_path / "run"


def test_the_page_is_written_into_the_folder(cli, folder):
    code, text, err = cli("explore", folder)
    assert (code, err) == (0, "")
    assert text == f"written to {folder / 'explore.html'}\n"
    page = (folder / "explore.html").read_text()
    assert "run: a look inside" in page
    assert "default-src 'none'" in page
    code, _, err = cli("explore", folder, folder / "result.json", "--out", folder.parent / "both.html")
    assert (code, err) == (0, "")
    assert '<th scope="col" class="number">run (1)</th>' in (folder.parent / "both.html").read_text()


def test_what_is_no_result_is_named_in_one_line(cli, folder, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/result.json").write_text("{")
    (tmp_path / "page.html").mkdir()
    for arguments, words in (
        ([tmp_path / "none"], f"'{tmp_path / 'none'}' does not exist"),
        ([tmp_path / "empty"], f"{tmp_path / 'empty'} holds no result.json"),
        ([folder, tmp_path / "bad"], f"{tmp_path / 'bad/result.json'}: is not JSON"),
        ([folder, "--out", tmp_path / "page.html"], f"cannot write {tmp_path / 'page.html'}: it is a folder"),
        ([folder, "--out", tmp_path / "no/page.html"], "there is no folder"),
        ([folder] * 9, "9 results are too many"),
    ):
        code, text, err = cli("explore", *arguments)
        assert (code, text) == (2, ""), arguments
        assert words in err
        assert err.count("\n") == 1
    assert cli("explore", folder, "--out", "page.txt")[0] == 2
    assert cli("explore")[0] == 2
    assert not (folder / "explore.html").exists()


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"otherData": {}, "traceEvents": []}', timeline()["otherData"]]
)
def test_a_damaged_timeline_is_named(cli, folder, text):
    (folder / "timeline.json").write_text(text if isinstance(text, str) else json.dumps(text))
    code, _, err = cli("explore", folder)
    assert code == 2
    assert f"{folder / 'timeline.json'}: is a damaged timeline" in err
    assert err.count("\n") == 1


def test_the_page_opens_in_the_browser_that_was_set(folder, monkeypatch, capsys):
    import webbrowser

    from ninescope.cli.explore import explore

    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    explore([str(folder)], None, open_=False)
    assert not opened
    explore([str(folder)], None, open_=True)
    assert opened == [(folder / "explore.html").resolve().as_uri()]
    capsys.readouterr()


def test_another_run_in_the_folder_takes_the_page_away(cli, folder):
    job = ("--rw", "randread", "--size", "16m", "--requests", 500)
    (folder / "explore.html").write_text("of an earlier run")
    code, _, err = cli("run", *job, "--out", folder)
    assert code == 0, err
    assert not (folder / "explore.html").exists()


# ---- the page about it ---------------------------------------------------------------------------------


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_the_documented_window_holds_the_request_that_the_page_opens_on(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    words = (ROOT / "docs/explore.md").read_text()
    [block] = re.findall(r"^```sh\n(.*?)^```$", words, re.MULTILINE | re.DOTALL)
    run, explore = block.replace("\\\n", "").splitlines()
    assert explore == "ninescope explore out/explored"
    *options, where = shlex.split(run)[1:]
    assert where == "out/explored"
    code, _, err = cli(*options, tmp_path / "run")
    assert code == 0, err
    result = Result.load(tmp_path / "run")
    opened = result.slowest.read[0]
    assert Timeline.of(result).covers(opened)
    view = gantt_of_requests(result, Timeline.of(result), "ways").views[0]
    assert view.name == f"read #{opened.id}"
    assert f"the slowest read, #{opened.id}: submitted at {opened.submitted_ns / 1e6:.3f} ms" in words
