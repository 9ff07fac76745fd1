"""The HTML report: what is in it, that it needs nothing else, and that nothing gets out of its place."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.resources
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

import ninescope
import report_samples
from conftest import NATIVE, ROOT, quick_command
from ninescope.figures import Axis, Figure, Panel, Series
from ninescope.report import values
from ninescope.report.document import (
    AttributionBand,
    AttributionBlock,
    Cell,
    ClaimLine,
    Claims,
    Document,
    FigureBlock,
    Section,
    TableBlock,
    literal,
)
from ninescope.report.html import prose, render

VOID = {"meta", "link", "br", "img", "hr", "input"}
SIMPLE = {"p", "h1", "h2", "h3", "button", "summary", "span", "b", "i", "small", "code", "a", "dt"}
BLOCKS = {"p", "div", "ul", "ol", "table", "section", "details", "figure", "dl", "pre", "h1", "h2", "h3"}
TABLES = {"thead": {"table"}, "tbody": {"table"}, "caption": {"table"}, "tr": {"thead", "tbody"}}
NESTED = TABLES | {
    "td": {"tr"},
    "th": {"tr"},
    "li": {"ul", "ol"},
    "dt": {"div", "dl"},
    "dd": {"div", "dl"},
    "summary": {"details"},
    "figcaption": {"figure"},
}


class Checked(HTMLParser):
    """Reads a page as strictly as its author should have written it."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.scripts: list[tuple[dict[str, str], str]] = []
        self.policy: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        assert len(given) == len(attrs), (tag, attrs)
        parent = self.open[-1] if self.open else ""
        if tag in NESTED:
            assert parent in NESTED[tag], (tag, self.open)
        if tag in BLOCKS:
            assert not set(self.open) & SIMPLE, (tag, self.open)
        if tag == "button":
            assert "button" not in self.open
            assert "a" not in self.open
        self.elements.append((tag, given))
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "script":
            self.scripts.append((given, ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, tag
        assert self.open.pop() == tag, (tag, self.open)

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif self.open and self.open[-1] != "style":
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str]]:
        return [given for name, given in self.elements if name == tag]


@pytest.fixture(scope="module")
def demo():
    if not NATIVE:
        pytest.skip("the engine is not built")
    drive = ninescope.Drive.from_file(ROOT / "examples/drives/demo.toml")
    job = ninescope.Workload.job(rw="randrw", rwmixread=70, bs="4k", iodepth=8, size="64m", requests=30_000)
    return drive.run(job, prefill="full", explain_slowest=3)


@pytest.fixture(scope="module")
def run_page(demo):
    from ninescope.report.single import of_result

    return render(of_result(demo))


@pytest.fixture(params=["sample", "hostile", "run"])
def page(request):
    if request.param == "run":
        return request.getfixturevalue("run_page")
    return render(report_samples.document(hostile=request.param == "hostile"))


# ---- The page --------------------------------------------------------------------------------------------


def test_a_page_is_well_formed(page):
    parsed = Checked(page)
    assert len(set(parsed.ids)) == len(parsed.ids)
    for _, given in parsed.elements:
        for name in ("aria-labelledby", "aria-describedby", "data-values"):
            for target in given.get(name, "").split():
                assert target in parsed.ids, (name, target)
    for link in parsed.all("a"):
        assert link["href"].startswith("#")
        assert link["href"][1:] in parsed.ids


def test_headings_do_not_skip_a_level(page):
    levels = [int(tag[1]) for tag, _ in Checked(page).elements if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    for before, after in pairwise(levels):
        assert after <= before + 1


def test_tables_have_captions_and_scopes(page):
    parsed = Checked(page)
    assert parsed.all("table")
    assert len(parsed.all("table")) == len(parsed.all("caption"))
    for heading in parsed.all("th"):
        assert heading["scope"] in ("col", "row")


def test_landmarks_are_there(page):
    parsed = Checked(page)
    for tag in ("header", "nav", "main", "footer", "h1", "title"):
        assert len(parsed.all(tag)) == 1, tag
    assert parsed.all("html")[0]["lang"] == "en"
    first = next(given for tag, given in parsed.elements if tag == "a")
    assert first == {"class": "skip", "href": "#Main"}


def test_a_page_needs_nothing_else(page):
    parsed = Checked(page)
    for tag, given in parsed.elements:
        for name in ("src", "href", "srcset", "action", "data", "poster"):
            assert not re.match(r"\s*(https?:)?//", given.get(name, "")), (tag, given)
        assert not any(name.startswith("on") for name in given), (tag, given)
    assert [given["href"] for given in parsed.all("link")] == ["data:,"]
    styles = "".join(re.findall(r"<style>(.*?)</style>", page, re.DOTALL))
    assert "@import" not in styles
    assert "url(" not in styles
    policy = next(given["content"] for given in parsed.all("meta") if "http-equiv" in given)
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy


def test_the_policy_names_the_scripts(page):
    import base64

    parsed = Checked(page)
    policy = next(given["content"] for given in parsed.all("meta") if "http-equiv" in given)
    code = [text for given, text in parsed.scripts if given.get("type") != "application/json"]
    assert len(code) == 2
    for text in code:
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy


def test_the_same_document_gives_the_same_bytes():
    assert render(report_samples.document()) == render(report_samples.document())


def test_nothing_gets_out_of_its_place():
    parsed = Checked(render(report_samples.document(hostile=True)))
    assert parsed.all("img") == []
    assert len(parsed.scripts) == 3
    words = "".join(parsed.words)
    assert words.count(report_samples.HOSTILE) > 20


def test_code_stands_between_backquotes():
    assert prose("say `a < b` twice") == "say <code>a &lt; b</code> twice"
    assert prose("an odd ` is itself") == "an odd ` is itself"
    assert prose("`a` and ` alone") == "<code>a</code> and ` alone"
    assert prose(literal("`a`")) == "&#39;a&#39;"
    assert prose("100 ns, `100 ns`") == "100\u00a0ns, <code>100 ns</code>"


# ---- Figures ---------------------------------------------------------------------------------------------


def test_every_value_of_a_figure_is_in_its_table():
    figure = report_samples.figure()
    tables = list(values.tables(figure))
    cells = [cell for table in tables for row in table.rows for cell in row]
    for panel in figure.panels:
        for series in panel.series:
            for index, y in enumerate(series.y):
                low = series.low[index] if series.low else None
                wanted = values.number(y)
                if y is not None and low is not None:
                    wanted += f" ({values.number(low)} to {values.number(series.high[index])})"
                assert wanted in cells
        for words, level in panel.lines:
            assert words in cells
            assert values.number(level) in cells
    page = render(report_samples.document())
    text = "".join(Checked(page).words)
    for table in tables:
        assert table.title.replace("lru", "lru plain") in text


def test_every_figure_of_a_page_has_its_values(page):
    parsed = Checked(page)
    figures = parsed.all("figure")
    assert figures
    for figure in figures:
        start = page.index(f'id="{figure["data-values"]}"')
        assert "<td" in page[start : page.index("</details>", start)]
    data = [json.loads(text) for given, text in parsed.scripts if given.get("type") == "application/json"]
    assert len(data) == sum("plot" in figure["class"] for figure in figures)


def test_the_data_of_a_figure_is_what_its_table_says():
    figure = report_samples.figure()
    data = json.loads(values.as_json(figure))
    for panel, drawn in zip(figure.panels, data["panels"], strict=True):
        for series, line in zip(panel.series, drawn["series"], strict=True):
            assert [values.number(y) for y in line["y"]] == [values.number(y) for y in series.y]
            assert [values.number(x) for x in line["x"]] == [values.number(x) for x in series.x]
            label = data["legend"][line["entry"]][0]
            assert label == series.label + (" (published)" if series.published else "")


def test_a_label_has_one_colour_in_all_panels():
    entries = values.legend(report_samples.figure())
    assert [(entry.label, entry.published) for entry in entries] == [
        ("lru", False),
        ("lru too", False),
        ("lru", True),
        ("steps", False),
        ("a", False),
        ("b", True),
    ]
    assert entries[0].style.colour == entries[2].style.colour
    assert entries[2].source == "Fig. 7, Fig. 8"
    assert len({entry.style.colour for entry in entries}) == 5


def test_series_that_share_a_colour_differ_in_dash_and_marker_on_the_page_too():
    series = [Series(f"line {at}", [0, 1], [at, at + 1]) for at in range(24)]
    series += [Series(f"bar {at}", [0, 1], [at, at + 1], "bars") for at in range(8)]
    figure = Figure("figure-1", "Many", [Panel("p", Axis("x"), Axis("y"), series)])
    legend = json.loads(values.as_json(figure))["legend"]
    assert len({(tuple(dash), marker) for _, _, dash, marker, _ in legend[:24]}) == 24
    assert {pattern for *_, pattern in legend[24:]} == {3}  # stripes, since their colours were there before
    page = render(Document("t", "", [Section("s", "S", [FigureBlock(figure)])]))
    swatches = re.findall(r'<span class="swatch [^"]*"[^>]*>(.*?)</span>', page)
    assert len(set(swatches[:24])) == 24
    assert page.count('class="swatch bars striped"') == 8


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "\u2013"),
        (float("nan"), "\u2013"),
        (float("inf"), "\u2013"),
        (0, "0"),
        (True, "1"),
        (1234567, "1,234,567"),
        (1234567.0, "1,234,567"),
        (0.000123456789, "0.000123457"),
        (98.7654321, "98.7654"),
        (2.0, "2"),
    ],
)
def test_numbers_of_tables(value, written):
    assert values.number(value) == written


def test_what_cannot_be_drawn_is_a_gap():
    panel = Panel("", Axis(), Axis(), [Series("a", [1, 2, 3], [float("nan"), float("inf"), 1.5])])
    [drawn] = json.loads(values.as_json(Figure("f", "", [panel])))["panels"]
    assert drawn["series"][0]["y"] == [None, None, 1.5]


def test_around_a_gap_there_is_no_interval():
    panel = Panel("", Axis(), Axis(), [Series("a", [1, 2], [None, 1.5], low=[1, 1], high=[2, 2])])
    [drawn] = json.loads(values.as_json(Figure("f", "", [panel])))["panels"]
    assert drawn["series"][0]["low"] == [None, 1]
    [table] = values.tables(Figure("f", "", [panel]))
    assert [row[1] for row in table.rows] == ["\u2013", "1.5 (1 to 2)"]


@pytest.mark.parametrize(
    "text", ["1,234", "58.1 us", "-1.5e-3", "35%", "+0.6 %", "900 us*", "5 (4 to 6)", "512B"]
)
def test_columns_of_numbers_stand_flush_right(text):
    block = TableBlock("t", ["a", "b"], [["x", text], ["y", ""], ["z", "-"]])
    page = render(Document("", "", [Section("s", "", [block])]))
    assert f'<td class="number">{prose(text)}</td>' in page


@pytest.mark.parametrize("text", ["", "35, 428", "12 of 12 checks hold", "case 4", "5 %, neither levelled"])
def test_columns_of_words_do_not(text):
    page = render(Document("", "", [Section("s", "", [TableBlock("t", ["a", "b"], [["x", text]])])]))
    assert f"<td>{prose(text)}</td>" in page


def test_a_verdict_is_said_once():
    cell = Cell("holds", verdict="holds", title="because")
    page = render(Document("", "", [Section("s", "", [TableBlock("t", ["a", "b"], [["x", cell]])])]))
    assert "".join(Checked(page).words).count("holds") == 1
    assert "(because)" in page


# ---- Papers ----------------------------------------------------------------------------------------------


def test_a_folder_of_papers_is_handed_on(tmp_path, monkeypatch):
    from ninescope.cli.stored import document_of
    from ninescope.papers import document as of_papers

    (tmp_path / "002").mkdir()
    (tmp_path / "002" / "report.json").write_text("{}")
    asked = []
    monkeypatch.setattr(of_papers, "of_folder", lambda path: asked.append(path) or report_samples.document())
    for path in (tmp_path, tmp_path / "002", tmp_path / "002" / "report.json"):
        assert document_of(path) == report_samples.document()
    assert asked == [tmp_path, tmp_path / "002", tmp_path / "002"]


def test_a_damaged_report_of_papers_is_refused(tmp_path):
    from ninescope.cli.stored import document_of

    for text in ("{}", "[]", "{", '{"paper": {}}'):
        (tmp_path / "report.json").write_text(text)
        with pytest.raises(ninescope.ConfigError) as refused:
            document_of(tmp_path)
        assert "\n" not in str(refused.value)


# ---- Documents -------------------------------------------------------------------------------------------


def test_a_table_may_become_blocks_and_link_to_claims():
    claims = Claims("Claims", [ClaimLine("1.1", "exact", "so", "1", "1", "holds", anchor="claim-1.1")])
    rows: list[list[str | Cell]] = [
        [Cell("1.1", link="claim-1.1"), "so & so", Cell("holds", verdict="holds")]
    ]
    table = TableBlock("All", ["claim", "statement", "verdict"], rows, stacked=True)
    parsed = Checked(render(Document("t", "", [Section("a", "A", [table, claims])])))
    [given] = [each for each in parsed.all("table") if each.get("class") == "stacked"]
    assert given["role"] == "table"
    assert [each["data-label"] for each in parsed.all("td")][:2] == ["statement", "verdict"]
    assert "#claim-1.1" in [link["href"] for link in parsed.all("a")]
    assert "claim-1.1" in parsed.ids


def test_a_published_series_names_what_it_stands_over():
    panel = Panel(
        "p",
        Axis(categories=["x"]),
        Axis(),
        [
            Series("a", [0], [1], "bars"),
            Series("b", [0], [2], "bars"),
            Series("b is the best", [0], [2], "points", published=True, of="b"),
            Series("no difference", [0], [2], "points", published=True),
        ],
        borders=[("here", 0.5)],
    )
    data = json.loads(values.as_json(Figure("f", "t", [panel])))
    assert [one["of"] for one in data["panels"][0]["series"]] == [None, None, 1, None]
    assert data["panels"][0]["borders"] == [["here", 0.5]]
    assert data["legend"][1][1] == data["legend"][2][1] != data["legend"][3][1]
    assert [list(table.rows) for table in values.tables(Figure("f", "t", [panel]))][-1] == [["here", "0.5"]]


def test_names_are_unique():
    figure = FigureBlock(Figure("f", "", []))
    with pytest.raises(ValueError, match="two figures of the document are called 'f'"):
        Document("", "", [Section("a", "", [figure, figure])])
    with pytest.raises(ValueError, match="two sections of the document are called 'a'"):
        Document("", "", [Section("a", ""), Section("a", "")])
    with pytest.raises(ValueError, match="an id is made of"):
        Section("Not an id", "")
    with pytest.raises(ValueError, match="too deep"):
        Section("a", "", [], [Section("b", "", [], [Section("c", "")])])


def test_tables_and_bars_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="2 columns and 1 cells"):
        TableBlock("t", ["a", "b"], [["1"]])
    with pytest.raises(ValueError, match="part 'x' is not listed"):
        AttributionBlock("a", "", [AttributionBand("b", 1, 1.0, {"x": 1.0})], [])


def test_documents_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        report_samples.document().title = "another"  # type: ignore[misc]


# ---- One run ---------------------------------------------------------------------------------------------


def test_a_run_is_told(demo, run_page):
    text = " ".join("".join(Checked(run_page).words).replace("\u00a0", " ").split())
    for words in (
        "randrw 70% reads",
        "on demo",
        "p99.99",
        demo.digest,
        "Where the time of reads went",
        "hash of the job and the seed",
    ):
        assert words in text, words
    for heading in ("Latency", "What the drive did", "Caveats", "Configuration", "Provenance"):
        assert heading in text
    for line in demo.config_toml().splitlines():
        assert " ".join(line.split()) in text
    assert len(run_page.encode()) < 300_000


def test_parts_of_a_band_are_all_in_the_table(demo, run_page):
    from ninescope.text.causes import look
    from ninescope.text.units import duration

    text = "".join(Checked(run_page).words)
    for _, bands in demo.attribution:
        for band in bands:
            for cause, time in band.parts_ns.items():
                if time > 0:
                    assert look(cause).label in text
                    assert f"{duration(time)} (" in text


def test_the_survival_curve_is_thinned_where_it_is_dense():
    import numpy as np

    from ninescope.figures.latency import thinned

    at = np.geomspace(1e3, 1e9, 5_000)
    slower = np.append(np.geomspace(1.0, 1e-7, 4_999), 0.0)
    x, y = thinned(at, slower)
    assert 200 < len(x) <= 402
    assert (x[0], y[0], x[-1], y[-1]) == (at[0], 1.0, at[-1], 0.0)
    assert (np.diff(x) > 0).all()
    assert (np.diff(y) <= 0).all()
    assert np.isin(x, at).all()
    few = np.arange(1.0, 9.0)
    assert thinned(few, few[::-1])[0] is few


def test_percentiles_without_samples_are_marked(demo, run_page):
    insufficient = demo.latency.write.insufficient
    assert insufficient
    text = "".join(Checked(run_page).words)
    assert "* Too few samples" in text
    assert f"From p{insufficient[0]} on" in text


def test_a_result_without_anything_has_a_report():
    from ninescope.report.single import of_result

    page = render(of_result(ninescope.Result({"complete": False, "requests": 0})))
    text = "".join(Checked(page).words)
    assert "The run was interrupted" in text


def test_a_saved_result_gives_the_same_report(demo, run_page, tmp_path):
    demo.save(tmp_path / "saved")
    path = ninescope.Result.load(tmp_path / "saved").report(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == run_page


@pytest.mark.parametrize(
    "options",
    [
        {"drive": "hybrid-wb", "workload": "prxy_0", "addresses": "compact"},
        {"drive": "hybrid-ecc", "workload": "prxy_0", "addresses": "compact"},
        {"drive": "flexecc", "workload": "r90"},
        {"drive": "s-scm", "workload": None},
    ],
    ids=["tier", "codes", "cache", "scm"],
)
def test_drives_of_every_kind_have_a_report(options, tmp_path, ninescope_command):
    words = ["--addresses", "compact"] if "addresses" in options else []
    job = (
        [options["workload"]] if options["workload"] else ["--rw", "randwrite", "--bs", "4k", "--size", "16m"]
    )
    run = ninescope_command(
        "run", *job, *words, "--drive", options["drive"], "--requests", "5000", "--out", str(tmp_path)
    )
    assert run.returncode == 0, run.stderr
    done = ninescope_command("report", str(tmp_path))
    assert done.returncode == 0, done.stderr
    Checked((tmp_path / "report.html").read_text(encoding="utf-8"))


# ---- The command -----------------------------------------------------------------------------------------


@pytest.fixture
def ninescope_command():
    if not NATIVE:
        pytest.skip("the engine is not built")

    def run(*arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
        command = [*quick_command(), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, **more)

    return run


@pytest.fixture
def saved(demo, tmp_path):
    demo.save(tmp_path / "saved")
    return tmp_path / "saved"


def test_the_command_writes_beside_the_result(saved, ninescope_command):
    done = ninescope_command("report", str(saved))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"written to {saved / 'report.html'}\n"
    Checked((saved / "report.html").read_text(encoding="utf-8"))


def test_the_command_writes_where_it_is_told(saved, tmp_path, ninescope_command):
    done = ninescope_command("report", "saved/result.json", "--out", "other.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "written to other.html\n"
    assert not (saved / "report.html").exists()
    # The histogram is beside the JSON, not in it.
    assert "latency.parquet" in (tmp_path / "other.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"[1]", "is not a result"),
        (b'{"claims": []}', "is not a result"),
        (b'{"ninescope": "1", "requests": "many"}', "is a damaged result"),
        (b'{"ninescope": "1", "requests": 5, "latency": {"read": {"count": "x"}}}', "is a damaged result"),
        (b'{"ninescope": "1", "requests": 5, "attribution": {"read": [{}]}}', "is a damaged result"),
        (b'{"ninescope": "1", "requests": 5, "workload": [1]}', "is a damaged result"),
        (b'{"ninescope": "1", "requests": 5, "latency": {"read": {"count": 1, "mean_ns": NaN}}}', ""),
    ],
)
def test_a_file_that_is_no_result_is_refused_in_one_line(content, words, tmp_path, ninescope_command):
    (tmp_path / "result.json").write_bytes(content)
    done = ninescope_command("report", str(tmp_path))
    if words:
        assert done.returncode == 2, done.stderr
        assert words in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert [path.name for path in tmp_path.iterdir()] == ["result.json"]
    else:
        assert done.returncode in (0, 2)
        assert len(done.stderr.splitlines()) <= 1


def test_a_damaged_table_is_refused(saved, ninescope_command):
    (saved / "latency.parquet").write_bytes(b"PAR1 and nothing else")
    done = ninescope_command("report", str(saved))
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (saved / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("missing",), "'missing' does not exist"),
        (("empty",), "holds no result.json"),
        (("saved", "--out", "missing/x.html"), "there is no folder missing"),
        (("saved", "--out", "empty"), "wants the name of a file"),
        (("saved", "--out", ""), "wants the name of a file"),
    ],
)
def test_paths_that_do_not_do_are_refused_in_one_line(arguments, words, saved, tmp_path, ninescope_command):
    (tmp_path / "empty").mkdir()
    done = ninescope_command("report", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list((tmp_path / "empty").iterdir()) == []


# ---- The package -----------------------------------------------------------------------------------------


def test_the_chart_library_is_what_its_readme_says():
    folder = importlib.resources.files("ninescope.report").joinpath("assets/uplot")
    readme = folder.joinpath("README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w.]+)`\s*\|.*\| `([0-9a-f]{64})` \|$", readme, re.MULTILINE) or re.findall(
        r"`([\w.]+)` \|.*`([0-9a-f]{64})`", readme
    )
    assert {name for name, _ in rows} == {"uPlot.iife.min.js", "uPlot.min.css", "LICENSE"}
    for name, digest in rows:
        assert hashlib.sha256(folder.joinpath(name).read_bytes()).hexdigest() == digest


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node here")
def test_the_script_parses(tmp_path: Path):
    script = ROOT / "python/ninescope/report/templates/report.js"
    assert subprocess.run(["node", "--check", str(script)]).returncode == 0


def test_slow_requests_are_submitted_at_times_that_a_window_can_be_taken_around():
    from ninescope.report.single import _slowest
    from ninescope.result import Result

    # The first is 108 s, 184 ms and 138 us after the beginning; both are 108 s.
    times = {"108,184.138 ms": 108_184_138_499, "107,950.000 ms": 107_950_000_000}
    requests = [
        {
            "id": number,
            "lba": 0,
            "sectors": 8,
            "submitted_ns": time,
            "completed_ns": time + 1000,
            "latency_ns": 1000,
            "parts_ns": {"transfer": 1000},
        }
        for number, time in enumerate(times.values())
    ]
    table, _ = _slowest(Result({"slowest": {"read": requests}}))
    assert [row[1] for row in table.rows] == list(times)
