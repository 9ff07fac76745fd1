"""Results: what is read from them, saved, drawn."""

from __future__ import annotations

import io
import json
import pickle
import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure as MatplotlibFigure
from rich.console import Console

import fakes
import ninescope
from conftest import ROOT, tomllib
from ninescope.pictures.style import times_along
from ninescope.result import MeasuredWaf, Result, SteadyState
from ninescope.result.attribution import Band
from ninescope.result.when_asked import MadeMapping
from ninescope.text.bands import tail_in_words
from ninescope.text.causes import LOOKS
from ninescope.text.contrast import contrast, luminance
from ninescope.text.lines import plain_text
from ninescope.text.names import band_ranges
from ninescope.text.result import print_result
from ninescope.text.units import duration


@pytest.fixture(scope="module")
def made() -> Result:
    return make(20_000)


def make(count: int, *, read_share: float = 0.7) -> Result:
    random = np.random.default_rng(3)
    reads = int(count * read_share)
    samples = {
        "read": fakes.latencies(random, reads, 6e4),
        "write": fakes.latencies(random, count - reads, 1e4),
    }
    request = {"drive": {"preset": "tlc"}, "seed": 3, "workload": {"trace": "/somewhere/db.csv"}}
    return Result(
        fakes.result_document(samples, request, complete=True),
        histograms={op: fakes.histogram(values) for op, values in samples.items()},
        series={"time_ns": np.arange(4, dtype=np.uint64)},
    )


def test_a_stored_percentile_is_exact_and_others_come_from_the_histogram(made):
    read = made.latency.read
    assert read.percentile(99.9) == read.percentiles_ns["99.9"]
    assert read.percentile(99.9999) == read.percentiles_ns["99.9999"]
    assert read.percentiles_ns["90"] < read.percentile(95) < read.percentiles_ns["99"]
    assert read.percentile(0) == read.min_ns
    assert read.percentile(100) == read.max_ns


def test_the_histogram_agrees_with_the_stored_percentiles(made):
    read = made.latency.read
    for key, value in read.percentiles_ns.items():
        stripped = ninescope.result.Latency(
            read.count, read.min_ns, read.mean_ns, read.max_ns, histogram=read.histogram
        )
        assert stripped.percentile(float(key)) == pytest.approx(value, rel=0.008)


def test_percentiles_outside_0_to_100_and_of_nothing_are_refused(made):
    with pytest.raises(ValueError, match="between 0 and 100"):
        made.latency.read.percentile(101)
    with pytest.raises(ValueError, match="no request"):
        make(100, read_share=1).latency.write.percentile(50)


def test_without_a_histogram_only_stored_percentiles_are_known(made):
    bare = Result(made.document)
    assert bare.latency.read.percentile(50) == made.latency.read.percentile(50)
    with pytest.raises(ValueError, match="not stored"):
        bare.latency.read.percentile(95)


def test_the_parts_of_a_band_sum_to_its_mean(made):
    for _, bands in made.attribution:
        for band in bands:
            assert band.mean_ns == pytest.approx(sum(band.parts_ns.values()))
            assert sum(band.share(cause) for cause in band.parts_ns) == pytest.approx(1)
            assert band.top(1)[0][1] == max(band.parts_ns.values())


def test_saved_and_loaded_results_are_equal(made, tmp_path):
    made.save(tmp_path / "out")
    loaded = Result.load(tmp_path / "out")
    assert loaded.document == made.document
    assert loaded.latency.read.percentile(97.3) == made.latency.read.percentile(97.3)
    assert loaded.attribution == made.attribution
    assert loaded.to_polars("series").equals(made.to_polars("series"))
    assert loaded.to_polars("latency").equals(made.to_polars("latency"))
    with pytest.raises(ValueError, match="not logged"):
        loaded.to_polars("requests")
    assert Result.load(tmp_path / "out" / "result.json").digest == made.digest


def test_the_saved_configuration_is_toml(made, tmp_path):
    made.save(tmp_path)
    config = tomllib.loads((tmp_path / "config.toml").read_text())
    assert config["ftl"]["mapping_unit"] == "4KiB"


def test_a_failed_save_leaves_the_old_file_and_no_temporary(made, tmp_path, monkeypatch):
    made.save(tmp_path)
    before = (tmp_path / "result.json").read_text()

    def full(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(json, "dumps", full)
    with pytest.raises(OSError, match="No space left"):
        made.save(tmp_path)
    assert (tmp_path / "result.json").read_text() == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_table_that_cannot_be_written_leaves_nothing(made, tmp_path, monkeypatch):
    def full(self: pl.DataFrame, path: object) -> None:
        raise pl.exceptions.ComputeError("underlying IO error: No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    with pytest.raises(ninescope.ConfigError, match=r"cannot write .*\.parquet: .*No space left"):
        made.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_log_of_nothing_is_a_table_without_rows(tmp_path):
    result = Result({"requests": 0, "complete": False}, requests={})
    assert result.to_polars("requests").is_empty()
    result.save(tmp_path)
    assert Result.load(tmp_path).to_polars("requests").columns == result.to_polars("requests").columns


def test_tables(made):
    assert made.to_polars().height == 1
    assert made.to_polars()["read_p99.99_ns"][0] == made.latency.read.percentile(99.99)
    latency = made.to_polars("latency")
    assert latency["count"].sum() == made.requests
    shares = made.to_polars("attribution").group_by("op", "band").agg(pl.col("share").sum())["share"]
    assert shares.to_list() == pytest.approx([1.0] * len(shares))
    with pytest.raises(ValueError, match="no table"):
        made.to_polars("bogus")


def test_the_text_says_what_matters(made):
    text = str(made)
    for word in (
        "db.csv",
        "tlc",
        "20,000 requests",
        made.digest,
        "p99.9",
        "too few samples",
        "buffer stall: the write buffer was full",
        "290 programmed, 12 erases",
        "7 waits of writes for the write buffer",
    ):
        assert word in text
    assert max(map(len, text.splitlines())) <= 100
    assert "20,000 requests" in repr(made)
    alone = Result({**made.document, "requests": 1})
    assert "Result 1 request," in repr(alone)
    assert "\n 1 request, " in str(alone)
    assert made._repr_html_().startswith("<pre")


def test_what_a_notebook_shows_is_read_on_any_ground(made):
    shown = made._repr_html_()
    words = re.findall(r'<span style="([^"]*)">([^<]*\w[^<]*)</span>', shown)
    coloured = {}
    for style, text in words:
        ground = re.search(r"background-color: (#[0-9a-f]{6})", style)
        letters = re.search(r"(?<!-)\bcolor: (#[0-9a-f]{6})", style)
        if ground:
            coloured[text.strip()] = contrast(luminance(letters[1]), luminance(ground[1]))
        elif letters:  # grey and olive, as terminals have them, are read on white and on black
            assert all(contrast(luminance(letters[1]), each) > 3 for each in (0, 1)), text
    assert "controller" in coloured, "the palest of all"
    assert min(coloured.values()) >= 4.5, "level AA of WCAG 2.1"


def test_the_words_about_the_tail_agree_with_the_bands(made):
    text = str(made)
    slowest = [band for band in made.attribution.read if band.name not in ("p50", "p90", "p99", "p99.9")]
    assert sum(band.count for band in slowest) < 30  # too few to speak of
    tail = [band for band in made.attribution.read if band.name not in ("p50", "p90", "p99")]
    count = sum(band.count for band in tail)
    assert f"({count:,} requests) took" in text
    share = sum(band.count * band.parts_ns["die_gc_program"] for band in tail) / sum(
        band.count * band.mean_ns for band in tail
    )
    assert f"{share * 100:.0f}%  behind GC program: its die was busy programming for" in text


def test_a_percentile_without_samples_is_not_shown(made):
    text = str(made)
    assert "\n p99.9 " in text
    assert "\n p99.99 " not in text
    assert "p99.99 and beyond: too few samples" in text


def test_bands_say_from_where_to_where_they_reach(made):
    bands = made.attribution.read
    ranges = band_ranges(bands)
    assert ranges[:3] == ["min-p50", "p50-p90", "p90-p99"]
    assert ranges[-1].endswith("-max")


@pytest.mark.parametrize(
    ("ns", "text"),
    [(12, "12 ns"), (1500, "1.50 us"), (99.96e3, "100 us"), (7200e9, "2.00 h"), (576558e9, "6.67 d")],
)
def test_durations(ns, text):
    assert duration(ns) == text


def test_a_band_that_holds_more_than_its_name_says_is_pointed_out(made):
    assert "bands end where" not in str(made)
    bands = [
        {"band": "p50", "count": 720, "parts_ns": {"transfer": 1.0}},
        {"band": "p90", "count": 200, "parts_ns": {"transfer": 2.0}},
        {"band": "max", "count": 80, "parts_ns": {"transfer": 3.0}},
    ]
    text = str(Result(made.document | {"attribution": {"read": bands}}))
    assert "bands end where buckets of the histogram end: min-p50 holds 72% of the requests" in text


def test_a_band_without_a_request_is_named(made):
    assert "no request in" not in str(made)

    def words(*names: str) -> str:
        bands = [{"band": name, "count": 500, "parts_ns": {"transfer": 1.0}} for name in names]
        lines = str(Result(made.document | {"attribution": {"read": bands}})).splitlines()
        return "".join(line.strip() for line in lines if "no request in" in line)

    assert words("p50", "p90", "p99", "p99.99") == (
        "no request in p99-p99.9: both its ends lie in one bucket of the histogram"
    )
    assert words("p50", "p99.9", "p99.99", "p99.9999") == (
        "no request in p50-p99 and in p99.99-p99.999: both ends of each lie in one bucket of the histogram"
    )
    assert words("p50") == words("p50", "p90", "p99") == ""


def test_a_steady_state_without_an_interval_is_told_without_one(made):
    def before(low: float, high: float) -> str:
        steady = {"window_waf": [1.0], "waf": 1.25, "waf_low": low, "waf_high": high, "converged": True}
        told = {"steady_state": steady | {"drive_writes": 1.0}, "config": {"drive": {"nand": {}}}}
        return " ".join(str(Result(made.document | told)).split())

    assert "to steady state (WAF 1.25)" in before(1.25, 1.25)
    assert "to steady state (WAF 1.25, from 1.20 to 1.31)" in before(1.2, 1.31)


def on_a_terminal(result: Result, width: int) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    print_result(result, console)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [60, 80, 110, 160])
def test_a_narrow_terminal_cuts_no_name_or_number_of_a_job(made, width):
    # rich shortens what does not fit: at 80 columns names and operations were gone, at 60 heads and numbers.
    latency = {op: made.document["latency"][op] for op in ("read", "write")}
    moved = {"requests": 14_000, "bytes": 57_344_000, "iops": 39_712.0, "bytes_per_second": 155e6}
    names = ["a-job-with-a-long-name", "logger"]
    jobs = [
        {"name": name, "requests": 20_000, "throughput": dict.fromkeys(latency, moved), "latency": latency}
        for name in names
    ]
    text = on_a_terminal(Result(made.document | {"by_job": jobs}), width)
    assert "\u2026" not in text
    part = text[text.index("a-job-with") - 120 :]
    words = part.split()
    assert all(words.count(name) == 1 for name in names)
    assert all(part.replace(",", "").count(op) >= 2 for op in latency)
    assert part.count("39.7 k") + part.count("39.7\n") + part.count("39.7 \n") >= 4
    assert all(len(line) <= width for line in text.splitlines())


@pytest.mark.parametrize("width", [24, 30, 36, 40, 44, 46, 48, 52, 60, 80])
def test_no_terminal_is_so_narrow_that_names_or_numbers_are_cut(made, width):
    text = on_a_terminal(made, width)
    assert "\u2026" not in text
    assert all(len(line) <= width for line in text.splitlines())
    # Folded at blanks alone, so that words are whole; what a table is to hold is in the document.
    words = " ".join(text.split())
    for op in ("read", "write"):
        latency = made.document["latency"][op]
        assert f"{latency['count']:,}" in words
        for name, value in (("mean", latency["mean_ns"]), ("max", latency["max_ns"])):
            assert name in words
            assert duration(value) in words
        for key, value in latency["percentiles_ns"].items():
            if key not in latency["insufficient"]:
                assert f"p{key} " in words
                assert duration(value) in words


def test_the_title_of_a_table_is_one_line_where_there_is_room(made):
    bands = [{"band": "p50", "count": 720, "parts_ns": {"transfer": 1.0}}]
    told = made.document | {"attribution": {"read": bands}}
    title = "Where the time of reads went"
    # A table of one cause is narrower than its title.
    for width in (40, 100):
        assert title in on_a_terminal(Result(told), width)


def test_causes_without_room_for_a_column_are_named_with_their_largest_share(made):
    causes = ("transfer", "link", "die_gc_program", "die_erase", "die_host_read", "program_wait")
    shares = {"p50": (60, 6, 1, 1, 2, 30), "max": (2, 5, 55, 7, 1, 30)}
    bands = [
        {"band": band, "count": 500, "parts_ns": dict(zip(causes, map(float, parts), strict=True))}
        for band, parts in shares.items()
    ]
    result = Result(made.document | {"attribution": {"read": bands}})
    # Three columns fit: transfer (60 %), behind GC program (55 %), program wait (30 %).
    told = " ".join(on_a_terminal(result, 80).split())
    named = "behind erase (7.0% at most), host link (6.0% at most), behind host read (2.0% at most)"
    assert f"other, for want of room: {named}" in told
    assert "for want of room" not in on_a_terminal(result, 160)


def test_an_interrupted_result_says_so(made):
    partial = Result(made.document | {"complete": False})
    assert "INTERRUPTED" in str(partial)
    assert "incomplete" in repr(partial)


def test_a_row_of_a_result_says_whether_it_had_settled():
    told = Result({"steadiness": {"verdict": "not-steady", "words": "it drifts"}}).to_polars()
    nothing = Result({}).to_polars()
    assert pl.concat([told, nothing])["steadiness"].to_list() == ["not-steady", None]


def test_why_a_window_is_not_steady_is_known_of_results_that_store_only_words():
    fewer, more = ({"programmed_bytes": 6, "erased_bytes": erased} for erased in (3, 9))
    drift = {"change": 0.09, "low": 0.02, "high": 0.16}
    free = fewer | {
        "words": "the drive lives on blocks that were free: 50 % of what was programmed was erased"
    }
    for stored, reasons in (
        ({"drift": drift}, ("drift",)),
        ({"start": drift}, ("drift",)),
        (free, ("free-blocks",)),
        (more | {"words": "the drive empties blocks: 150 % of it was erased"}, ("emptied-blocks",)),
        (free | {"drift": drift}, ("free-blocks", "drift")),
        (free | {"reasons": ["drift"]}, ("drift",)),
    ):
        told = Result({"steadiness": {"verdict": "not-steady", **stored}}).steadiness
        assert told is not None
        assert told.reasons == reasons
    calm = Result({"steadiness": {"verdict": "no-drift-shown", **fewer}}).steadiness
    assert calm is not None
    assert calm.reasons == ()


def test_the_steady_state_of_preparing_is_read():
    assert Result({}).steady_state is None
    assert Result({"steady_state": None, "steady_state_measured": None}).steady_state is None
    stored = {
        "by": "workload",
        "converged": True,
        "drive_writes": 1.5,
        "replays": None,
        "unreached": 0.25,
        "waf": 2.0,
        "waf_low": 1.9,
        "waf_high": 2.1,
        "window_waf": [1.5, 2.0],
    }
    found = Result({"steady_state": stored}).steady_state
    assert found == SteadyState("workload", True, 1.5, None, 0.25, 2.0, 1.9, 2.1, (1.5, 2.0), None)
    assert Result({"steady_state": stored | {"composed": True}}).steady_state.composed
    told = {"as_declared": False, "waf": 3.0, "waf_low": 2.9, "waf_high": 3.1, "level": 0.995}
    measured = Result({"steady_state": stored, "steady_state_measured": told}).steady_state.measured
    assert measured == MeasuredWaf(False, 3.0, 2.9, 3.1, 0.995)


@pytest.mark.parametrize("share", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("figure", ["tail", "cdf"])
@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_figures_are_written(tmp_path, share, figure, suffix):
    path = tmp_path / f"figure.{suffix}"
    drawn = getattr(make(5000, read_share=share).plot, figure)(path)
    assert path.stat().st_size > 3000
    assert [path] == list(tmp_path.iterdir())
    if suffix == "png":
        assert drawn._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("least", "most", "labels"),
    [
        (1_000, 1_000_000, ["1 us", "10 us", "100 us", "1 ms"]),
        (15_000, 60_000, ["20 us", "50 us"]),  # no two powers of ten: 1, 2 and 5
        (39_897, 57_897, ["40 us", "45 us", "50 us", "55 us"]),  # nor two of those: even steps
        (57_897, 57_897, None),
        (57_897, 57_898, None),
        (1, 1, None),
    ],
)
def test_a_latency_axis_has_two_labels_however_narrow_it_is(least, most, labels):
    figure = MatplotlibFigure()
    axes = figure.subplots()
    axes.plot([0, 1], [least, most])
    axes.set_yscale("log")
    times_along(axes.yaxis)
    if least < most:
        axes.set_ylim(least * 0.99, most * 1.01)
    figure.draw_without_rendering()
    low, high = axes.get_ylim()
    seen = [each.label1.get_text() for each in axes.yaxis.get_major_ticks() if low <= each.get_loc() <= high]
    assert len(seen) >= 2
    assert len(set(seen)) == len(seen), "ticks are told apart"
    assert labels in (None, seen)


def test_a_result_of_nothing_can_be_shown_and_drawn(tmp_path):
    nothing = Result({"requests": 0, "complete": False})
    assert "0 requests" in str(nothing)
    nothing.plot.tail(tmp_path / "tail.png")
    nothing.plot.cdf(tmp_path / "cdf.png")
    nothing.save(tmp_path)
    assert Result.load(tmp_path).requests == 0


def test_every_cause_of_the_engine_has_a_label_and_a_colour_of_its_own():
    source = (ROOT / "crates/model/src/cause.rs").read_text()
    names = set(re.findall(r'Self::\w+ => "(\w+)"', source[source.index("impl Cause") :]))
    assert len(names) >= 20
    assert names == LOOKS.keys() - {"other"}
    assert len({look.colour for look in LOOKS.values()}) == len(LOOKS)
    assert len({look.label for look in LOOKS.values()}) == len(LOOKS)


def test_histograms_are_made_when_they_are_asked_for_and_once(made: Result):
    asked: list[str] = []

    def make(name: str, values: Any) -> Any:
        asked.append(name)
        return values

    histograms = {op: latency.histogram for op, latency in made.latency}
    result = Result(
        made.document,
        histograms=MadeMapping(lambda: make("histograms", histograms)),
        blocks=MadeMapping(lambda: make("blocks", {"read": (histograms["read"],)})),
        series=MadeMapping(lambda: make("series", {"reads": np.arange(3)})),
    )
    assert str(result) == str(made)
    assert result.latency.read.percentile(99) == made.latency.read.percentile(99)
    assert not asked
    for _ in range(2):
        assert result.latency.read.histogram is histograms["read"]
        assert result.latency_without_host_queue.read.histogram is None
    assert asked == ["histograms"]
    there = pickle.loads(pickle.dumps(result))
    assert there.latency.read.histogram[1].tolist() == histograms["read"][1].tolist()
    assert there.to_polars("series")["reads"].to_list() == [0, 1, 2]
    assert sorted(asked) == ["blocks", "histograms", "series"]


def test_what_the_slowest_waited_for_is_set_in_where_it_is_folded():
    bands = tuple(
        Band(
            name=name,
            count=count,
            lower_ns=1,
            upper_ns=2,
            parts_ns={"read_modify_write": 900.0, "link": 100.0},
        )
        for name, count in (("min-p50", 500), ("p50-max", 100))
    )
    head, first, folded, *_ = plain_text(tail_in_words(bands), 60).splitlines()
    assert head.startswith("  The slowest")
    assert first.startswith("    90%  partial write: ")
    assert folded[:9].isspace()
