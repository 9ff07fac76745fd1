"""Interactive figures: plotly is given what the result holds; and bars of tqdm, moved by what runs."""

from __future__ import annotations

import sys
import types

import pytest

import ninescope
from conftest import NATIVE, ROOT
from ninescope.common import bars
from ninescope.figures import Axis, Figure, Panel, Series
from ninescope.figures.latency import survival
from ninescope.lab.sweep.sweep import Step

DEMO = ROOT / "examples/drives/demo.toml"


@pytest.fixture(scope="module")
def plotly():
    return pytest.importorskip("plotly", reason="plotly is not installed (requirements/dev.lock has it)")


@pytest.fixture(scope="module")
def result():
    if not NATIVE:
        pytest.skip("the engine is not built")
    job = ninescope.Workload.job(rw="randrw", bs="4k", iodepth=8, size="64m", requests=3_000)
    return ninescope.Drive.from_file(DEMO).run(job, prefill="full")


def test_any_figure_is_drawn_with_the_values_it_holds(plotly):
    from ninescope.pictures.interactive import picture

    lines = Panel(
        "one",
        Axis("place", log=True),
        Axis("value", low=0, high=7),
        [
            Series("a", [1, 2, 4], [3.0, None, 5.0], low=[2.5, None, 5.0], high=[4.0, None, 6.5]),
            Series("a", [1, 4], [3.1, 5.2], form="points", published=True),
            Series("b", [1, 2], [0.5, 0.25], form="steps", hollow=[True, False]),
        ],
        [("limit", 6.0)],
        [("edge", 3.0)],
    )
    bars_ = Panel(
        "two", Axis(categories=["x", "y"]), Axis("share"), [Series("b", [1, 0], [2.0, 1.0], form="bars")]
    )
    drawn = picture(Figure("name", "Title", [lines, bars_]))
    a, published, b, bar = drawn.data
    assert (list(a.x), list(a.y), a.name, a.mode) == ([1, 2, 4], [3.0, None, 5.0], "a", "lines+markers")
    assert list(a.error_y.array) == [1.0, 0.0, 1.5]
    assert list(a.error_y.arrayminus) == [0.5, 0.0, 0.0]
    assert (published.name, published.mode, list(published.y)) == ("a (published)", "markers", [3.1, 5.2])
    assert published.marker.color == a.line.color, "what is published has the colour of what it is about"
    assert (b.line.shape, list(b.marker.symbol)) == ("hv", ["square-open", "square"])
    assert (bar.type, list(bar.x), list(bar.y)) == ("bar", ["y", "x"], [2.0, 1.0])
    assert (b.showlegend, bar.showlegend) == (True, False), "a label is named once"
    layout = drawn.layout
    assert (layout.title.text, layout.xaxis.type, tuple(layout.yaxis.range)) == ("Title", "log", (0, 7))
    assert list(layout.xaxis2.categoryarray) == ["x", "y"]
    assert [each.y0 for each in layout.shapes if each.y0 == each.y1] == [6.0]
    assert [each.x0 for each in layout.shapes if each.x0 == each.x1] == [3.0]
    by_words = {each.text: each for each in layout.annotations}
    limit, edge = by_words["limit"], by_words["edge"]
    assert (limit.xref, limit.y, limit.yref) == ("x domain", 6.0, "y")
    # On a logarithmic axis the place of words is given by its logarithm, that of lines is not.
    assert (edge.x, edge.xref, edge.yref) == (pytest.approx(0.4771, abs=1e-4), "x", "y domain")


def test_percentiles_say_under_the_pointer_what_requests_waited_for(plotly, result):
    drawn = result.interactive.percentiles()
    assert [trace.name for trace in drawn.data] == ["reads", "writes"]
    for trace, (op, latency) in zip(drawn.data, result.latency, strict=True):
        assert list(trace.x)[:3] == ["p50", "p90", "p99"]
        for key, value, told in zip(trace.x, trace.y, trace.customdata, strict=True):
            if value is None:
                continue
            assert value == latency.percentiles_ns[key[1:]] / 1e3
            band = next(each for each in getattr(result.attribution, op) if each.name == key)
            [(cause, _)] = band.top(1)
            lines = told.split("<br>")
            assert f"{band.count:,} requests" in lines[0]
            assert lines[1].startswith(f"{band.share(cause):.0%} ")
        assert "%{customdata}" in trace.hovertemplate
    assert "randrw" in drawn.layout.title.text


def test_the_distribution_and_the_course_of_a_run_hold_what_was_measured(plotly, result):
    [reads, _] = result.interactive.cdf().data
    at, slower = survival(result.latency.read)
    assert len(reads.x) == len(at) or len(at) > 400
    assert (reads.y[0], reads.y[-1]) == (slower[0], slower[-1]) == (1.0, 0.0)
    assert reads.x[-1] == pytest.approx(result.latency.read.max_ns / 1e3, rel=1e-3)
    drawn = result.interactive.time()
    rates = {trace.name: trace for trace in drawn.data if trace.line.shape == "hv"}
    frame = result.to_polars("series")
    step = rates["reads"].x[1] - rates["reads"].x[0]
    shown = sum(value * step for value in rates["reads"].y)
    # All intervals but the last ones, which make no whole group.
    assert 0.9 * frame["reads"].sum() < shown * 1.001
    assert shown <= frame["reads"].sum() * 1.001


def test_a_sweep_is_drawn_as_its_table_says(plotly, tmp_path):
    if not NATIVE:
        pytest.skip("the engine is not built")
    sweep = ninescope.Sweep.from_dict(
        {
            "name": "depths",
            "drive": {"file": str(DEMO)},
            "workload": {"rw": "randread", "size": "16m", "requests": 300},
            "run": {"prefill": "full"},
            "axes": {"workload.iodepth": [1, 4]},
        }
    )
    sweep.run(tmp_path / "lake", jobs=1)
    drawn = sweep.interactive(tmp_path / "lake", x="workload.iodepth", y="read_mean_ns")
    [trace] = drawn.data
    table = sweep.table(tmp_path / "lake").sort("workload.iodepth")
    assert list(trace.x) == [1.0, 4.0]
    assert list(trace.y) == pytest.approx([value / 1e3 for value in table["read_mean_ns"]])
    assert list(drawn.layout.xaxis.ticktext) == ["1", "4"]


@pytest.mark.parametrize("name", ["percentiles", "cdf", "time"])
def test_without_plotly_one_line_says_what_is_missing(monkeypatch, result, name):
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(
        ninescope.ConfigError, match=r"need the package plotly: pip install 'ninescope\[notebook\]'"
    ):
        getattr(result.interactive, name)()


# ---- bars --------------------------------------------------------------------------------------------------


class Bar:
    """Stands in for tqdm."""

    made: list[Bar]

    def __init__(self, desc, total, unit, delay, leave):
        self.desc, self.total, self.unit, self.n, self.closed = desc, total, unit, 0, False
        Bar.made.append(self)

    def update(self, count):
        assert not self.closed
        self.n += count

    def close(self):
        self.closed = True


@pytest.fixture
def tqdm(monkeypatch):
    Bar.made = []
    module = types.ModuleType("tqdm.auto")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    return Bar


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_a_run_moves_a_bar_for_each_phase_to_its_end(tqdm):
    seen = []
    job = ninescope.Workload.job(rw="randread", size="16m", requests=500)
    drive = ninescope.Drive.from_file(DEMO)
    drive.run(job, prefill="full", progress=True, on_progress=seen.append)
    assert seen, "whoever asks is told besides"
    last = tqdm.made[-1]
    assert (last.desc, last.n, last.total) == ("running", 500, 500)
    assert {each.desc for each in tqdm.made} <= {"preparing", "running"}
    assert all(each.closed for each in tqdm.made)


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_a_bar_is_shown_by_itself_in_a_notebook_alone(tqdm, monkeypatch):
    job = ninescope.Workload.job(rw="randread", size="16m", requests=50)
    drive = ninescope.Drive.from_file(DEMO)
    drive.run(job, prefill="none")
    assert tqdm.made == []
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    drive.run(job, prefill="none", progress=False)
    assert tqdm.made == []
    ninescope.replicate(drive, job, seeds=2, prefill="none")
    assert len(tqdm.made) == 2
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    drive.run(job, prefill="none")
    with pytest.raises(
        ninescope.ConfigError, match=r"needs the package tqdm: pip install 'ninescope\[notebook\]'"
    ):
        drive.run(job, prefill="none", progress=True)


def test_steps_move_a_bar_and_are_told(tqdm):
    told = []
    with bars.of_steps("sweep", True, "points", told.append) as step:
        step(Step("a", 1, 3, 0.1))
        step(Step("b", 3, 3, 0.1))
    [bar] = tqdm.made
    assert (bar.desc, bar.unit, bar.n, bar.total, bar.closed) == ("sweep", " points", 3, 3, True)
    assert [each.label for each in told] == ["a", "b"]
    with bars.of_steps("sweep", None, "points", None) as step:
        assert step is None
    with bars.of_steps("sweep", False, "points", told.append) as step:
        step(Step("c", 1, 1, 0.1))
    assert told[-1].label == "c"


def test_a_total_that_changes_is_followed_and_an_error_closes_the_bar(tqdm):
    def search():
        with bars.shown(True, "designs") as move:
            move("search", 1, None)
            move("search", 2, 9)
            raise KeyError

    with pytest.raises(KeyError):
        search()
    [bar] = tqdm.made
    assert (bar.n, bar.total, bar.closed) == (2, 9, True)
