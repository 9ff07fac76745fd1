"""The HTML report in a real browser: by pointer and keyboard, at many widths, in both themes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import chromium
import compare_samples
import ninescope
import report_samples
from conftest import NATIVE, ROOT
from ninescope.lab.compare import compare
from ninescope.report.document import Cell, Document, Section, TableBlock
from ninescope.report.html import render
from ninescope.report.paired import of_comparison

pytestmark = pytest.mark.skipif(
    chromium.executable() is None, reason="CHROMIUM IS NOT INSTALLED: THE REPORT WAS NOT TRIED IN A BROWSER"
)
SIZES = {"phone": (360, 740), "desktop": (1280, 900)}
SCHEMES = ("light", "dark")
LEAST_CONTRAST = 4.5

# Every element with text of its own, its colour, and what lies behind it.
CONTRASTS = """
(() => {
  const parse = (text) => {
    const numbers = text.match(/[\\d.eE+-]+/g).map(Number);
    const scale = text.startsWith("color(") ? 255 : 1;
    const rgb = numbers.slice(0, 3).map((part) => part * scale);
    return { rgb, alpha: numbers.length > 3 ? numbers[3] : 1 };
  };
  const bright = (rgb) => {
    const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = rgb.map((part) => linear(part / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = parse(getComputedStyle(each).backgroundColor);
      if (colour.alpha > 0.99) return colour.rgb;
      if (colour.alpha > 0.01) throw new Error("half transparent: " + each.className);
    }
    return parse(getComputedStyle(document.body).backgroundColor).rgb;
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].filter((node) => node.nodeType === 3);
    const text = own.map((node) => node.data.trim()).join("");
    if (!text || ["SCRIPT", "STYLE"].includes(element.tagName)) continue;
    if (!element.checkVisibility() || element.closest(".unseen, .skip")) continue;
    for (let each = element; each; each = each.parentElement) {
      if (getComputedStyle(each).opacity !== "1") throw new Error("opacity: " + each.className);
    }
    const [one, other] = [bright(parse(getComputedStyle(element).color).rgb), bright(behind(element))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    found.push([contrast, element.tagName + "." + element.className, text.slice(0, 40)]);
  }
  return found;
})()
"""


@pytest.fixture(scope="module")
def page():
    with chromium.browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    texts = {name: render(report_samples.document(name == "hostile")) for name in ("sample", "hostile")}
    random = np.random.default_rng(1)
    tails = (random.exponential(50_000, 20_480) * slower + 40_000 for slower in (1.0, 1.5))
    texts["pair"] = render(of_comparison(compare(*map(compare_samples.of_latencies, tails))))
    if NATIVE:
        from ninescope.report.single import of_result

        drive = ninescope.Drive.from_file(ROOT / "examples/drives/demo.toml")
        job = ninescope.Workload.job(rw="randrw", bs="4k", iodepth=8, size="64m", requests=20_000)
        texts["run"] = render(of_result(drive.run(job, prefill="full")))
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in texts}


@pytest.fixture(params=["sample", "hostile", "run", "pair"])
def file(request, files) -> Path:
    if request.param not in files:
        pytest.skip("the engine is not built")
    return files[request.param]


@pytest.fixture
def sample(page, files):
    page.open(files["sample"])
    return page


# ---- As it opens -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", SIZES)
def test_it_opens_without_complaints_and_asks_for_nothing(page, file, size, scheme):
    page.open(file, *SIZES[size], scheme)
    assert page.complaints() == []
    assert page.requests() == [file.as_uri()]
    assert page.run("document.querySelectorAll('img, iframe, object, embed').length") == 0


@pytest.mark.parametrize("width", [320, 360, 414, 768, 1024, 1280, 1920])
def test_the_page_does_not_scroll_sideways(page, file, width):
    page.open(file, width, 740)
    wide = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    assert page.run(wide) == [width, width]
    page.run("for (const each of document.querySelectorAll('details')) each.open = true")
    page.settle()
    assert page.run(wide) == [width, width]


def test_on_a_phone_rows_become_blocks_and_only_what_scrolls_is_stopped_at(page, tmp_path):
    words = [f"a text of several words, number {number}" for number in range(5)]
    columns = [f"column {number}" for number in range(5)]
    rows = [[Cell("first", link="a"), *words[1:]]]
    stacked = TableBlock("Stacked", columns, rows, stacked=True)
    document = Document("t", "", [Section("a", "A", [stacked, TableBlock("Scrolls", columns, [words])])])
    file = tmp_path / "tables.html"
    file.write_text(render(document), encoding="utf-8")
    page.open(file, 390, 740)
    regions = """[...document.querySelectorAll(".scroll")].map((region) =>
      [region.scrollWidth > region.clientWidth, region.tabIndex])"""
    page.wait(f"({regions})[0][1] === -1")
    assert page.run(regions) == [[False, -1], [True, 0]]
    seen = (
        "[...document.querySelectorAll('table.stacked td')].map((cell) => cell.getBoundingClientRect().right)"
    )
    assert max(page.run(seen)) <= 390
    label = "getComputedStyle(document.querySelectorAll('table.stacked td')[2], '::before').content"
    assert "column 3" in page.run(label) or "attr(data-label)" in page.run(label)
    page.resize(1900, 740)
    page.wait(f"({regions}).every(([scrolls, stop]) => !scrolls && stop === -1)")


def test_what_scrolls_on_a_phone_is_reached_by_the_tab_key(page, files):
    page.open(files["sample"], 320, 740)
    page.wait(
        "document.querySelectorAll('.scroll[tabindex]').length < document.querySelectorAll('.scroll').length"
    )
    reached = set()
    for _ in range(80):
        page.key("Tab")
        reached.add(page.run("document.activeElement.className"))
    assert "scroll" in reached


def test_complaints_and_requests_are_noticed(page, tmp_path):
    text = "<script>console.error('no'); undefinedName()</script><img src='missing.png'>"
    (tmp_path / "bad.html").write_text(text)
    page.open(tmp_path / "bad.html")
    assert len(page.complaints()) >= 2
    assert len(page.requests()) == 2


def test_figures_are_drawn(page, file):
    page.open(file)
    drawn = page.run(
        """[...document.querySelectorAll("figure.plot canvas")].map((canvas) => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return new Set(new Uint32Array(data.buffer)).size;
        })"""
    )
    assert drawn
    assert min(drawn) > 4


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", SIZES)
def test_text_stands_out(page, file, size, scheme):
    page.open(file, *SIZES[size], scheme)
    page.run("for (const each of document.querySelectorAll('details')) each.open = true")
    found = page.run(CONTRASTS)
    assert len(found) > 50
    assert [each for each in found if each[0] < LEAST_CONTRAST] == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_lines_stand_out(page, files, scheme):
    """What is drawn needs three to one against its ground."""
    page.open(files["sample"], scheme=scheme)
    ratios = page.run(
        """(() => {
          const bright = (text) => {
            const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
            const [r, g, b] = text.match(/\\d+/g).map((part) => linear(part / 255));
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const ground = bright(getComputedStyle(document.body).backgroundColor);
          const probe = document.body.appendChild(document.createElement("p"));
          return [...document.querySelectorAll(".legend button .swatch")].map((swatch) => {
            probe.style.color = swatch.style.getPropertyValue("--shade");
            const colour = bright(getComputedStyle(probe).color);
            return (Math.max(colour, ground) + 0.05) / (Math.min(colour, ground) + 0.05);
          });
        })()"""
    )
    assert min(ratios) > 3


def test_a_phone_folds_the_contents(page, files):
    page.open(files["sample"], 360, 740)
    assert page.run("document.querySelector('.contents details').open") is False
    page.open(files["sample"], 1280, 900)
    assert page.run("document.querySelector('.contents details').open") is True


def test_a_phone_shows_the_verdicts_of_a_comparison(page, files):
    page.open(files["pair"], *SIZES["phone"])
    cells = page.run(
        "[...document.querySelector('#T1').closest('table').tBodies[0].rows].map("
        "(row) => [row.cells[1].innerText, row.cells[1].getBoundingClientRect().right])"
    )
    assert any("B is higher by" in words for words, _ in cells), cells
    assert all(right <= SIZES["phone"][0] for _, right in cells)


def test_intervals_at_one_place_do_not_hide_each_other(page, files):
    page.open(files["pair"])

    def dots(figure: str) -> list[str]:
        page.run(f"document.querySelector('{figure} .canvas').focus()")
        page.key("ArrowRight")
        return page.run(f"[...document.querySelectorAll('{figure} .dot')].map((dot) => dot.style.left)")

    assert len(dots("#F1")) == 1  # each metric is of one series alone
    a, b = dots("#F2")
    assert float(a.removesuffix("px")) + 10 < float(b.removesuffix("px"))


# ---- Themes ----------------------------------------------------------------------------------------------


def ground(page) -> str:
    return str(page.run("getComputedStyle(document.body).backgroundColor"))


def test_light_and_dark(page, files):
    grounds = {}
    for scheme in SCHEMES:
        page.open(files["sample"], scheme=scheme)
        grounds[scheme] = ground(page)
    assert len(set(grounds.values())) == 2


def test_the_theme_button_goes_round(page, files):
    page.open(files["sample"], scheme="light")
    auto = ground(page)
    words, grounds = [], []
    for _ in range(3):
        page.click("#Theme")
        words.append(page.run("document.getElementById('Theme').textContent"))
        grounds.append(ground(page))
    assert words == ["Theme: light", "Theme: dark", "Theme: auto"]
    assert grounds[0] == auto
    assert grounds[1] != auto
    assert grounds[2] == auto
    assert page.complaints() == []


def test_a_printed_page_is_light(page, files):
    page.open(files["sample"], scheme="dark")
    dark = ground(page)
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.call("Emulation.setEmulatedMedia", media="print", features=features)
    assert ground(page) != dark
    page.call("Emulation.setEmulatedMedia", media="", features=features)


# ---- Values under the pointer and by the keyboard --------------------------------------------------------


def tip(page) -> str:
    return str(page.run("(t => t.hidden ? '' : t.innerText)(document.querySelector('.tip'))"))


def spoken(page) -> str:
    return str(page.run("document.getElementById('Spoken').textContent"))


def test_the_pointer_shows_values(sample):
    box = sample.box("#F1 .panel:nth-child(1) .u-over")
    sample.settle()
    sample.point(box["x"] + 0.12 * box["width"], box["y"] + 0.5 * box["height"])
    assert tip(sample).splitlines() == [
        "baseline",
        "lru plain: 120.5 (110 to 130)",
        "lru plain too: 80",
        "lru plain (published): 118",
    ]
    sample.point(2, 2)
    assert tip(sample) == ""


def test_arrow_keys_go_from_value_to_value(sample):
    sample.run("document.querySelector('#F1 .panel:nth-child(1) .canvas').focus()")
    read = []
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowLeft", "End"):
        sample.key(key)
        sample.settle()
        read.append(spoken(sample).split(";")[0])
        assert tip(sample).splitlines()[0] == read[-1]
    assert read == ["baseline", "hot and cold apart", "adaptive", "hot and cold apart", "oracle"]
    sample.key("Escape")
    assert tip(sample) == ""


def test_a_step_has_a_value_between_its_places(sample):
    sample.run("document.querySelector('#F1 .panel:nth-child(2) .canvas').focus()")
    for key in ("Home", "ArrowRight"):
        sample.key(key)
    assert spoken(sample).startswith("requests: 20; lru plain: 0.05 (0.04 to 0.065); steps: 1;")


def test_a_panel_without_values_bears_keys(sample):
    sample.run("document.querySelector('#F1 .panel:nth-child(4) .canvas').focus()")
    for key in ("Home", "ArrowRight", "End"):
        sample.key(key)
    assert tip(sample) == ""
    assert sample.complaints() == []


def test_the_tab_key_reaches_everything(page, files):
    page.open(files["sample"])
    reached = []
    for _ in range(80):
        page.key("Tab")
        reached.append(page.run("(e => e.id || e.className || e.textContent)(document.activeElement)"))
    assert reached[0] == "skip"
    for wanted in ("Theme", "canvas", "stacks", "more"):
        assert wanted in reached, wanted
    # Nothing scrolls where there is room, and then nothing is stopped at to scroll it.
    assert "scroll" not in reached
    # Whatever has the focus can be seen to have it.
    page.run("document.querySelector('.canvas').focus()")
    page.key("ArrowRight")
    assert page.run("getComputedStyle(document.querySelector('.canvas')).outlineStyle") != "none"


def test_bars_tell_their_parts(sample):
    sample.run("document.querySelector('#F2 .stacks').focus()")
    for key in ("Home", "ArrowDown", "ArrowRight"):
        sample.key(key)
    assert spoken(sample) == "p50\u2013p99, 4,900 requests; behind erase plain: 300 us, 75%"
    assert tip(sample).splitlines() == ["p50\u2013p99, 4,900 requests", "behind erase plain: 300 us, 75%"]
    box = sample.box("#F2 .band:nth-child(1) .piece")
    sample.settle()
    sample.point(box["x"] + 5, box["y"] + 5)
    assert tip(sample).splitlines() == ["min\u2013p50, 5,000 requests", "flash array: 45.0 us, 90%"]


def test_lengths_of_bars_can_stand_for_times(sample):
    widths = "[...document.querySelectorAll('#F2 .stack')].map(e => e.getBoundingClientRect().width)"
    before = sample.run(widths)
    assert max(before) - min(before) < 1
    sample.run("for (const each of document.querySelectorAll('.stack')) each.style.transition = 'none'")
    sample.click("#F2 .lengths")
    after = sample.run(widths)
    assert after[2] == pytest.approx(before[2], abs=1)
    assert after[1] == pytest.approx(before[1] * 0.4 / 3, abs=1)


def colours(page, colour: str) -> int:
    """Count the canvas points of a colour in the first panel."""
    return int(
        page.run(
            f"""(() => {{
              const canvas = document.querySelector("#F1 canvas");
              const {{ data }} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
              const wanted = [0, 2, 4].map((at) => parseInt({json.dumps(colour)}.slice(at + 1, at + 3), 16));
              let count = 0;
              for (let at = 0; at < data.length; at += 4) {{
                if (wanted.every((part, index) => data[at + index] === part)) count++;
              }}
              return count;
            }})()"""
        )
    )


def test_the_legend_shows_and_hides_series(sample):
    button = "#F1 .legend li:nth-child(2) button"
    assert sample.run(f"document.querySelector({json.dumps(button)}).getAttribute('aria-pressed')") == "true"
    assert colours(sample, "#d9621e") > 1_000
    sample.run(f"document.querySelector({json.dumps(button)}).focus()")
    sample.key("Enter")
    sample.settle()
    assert sample.run(f"document.querySelector({json.dumps(button)}).getAttribute('aria-pressed')") == "false"
    assert colours(sample, "#d9621e") == 0
    sample.run("document.querySelector('#F1 .panel:nth-child(1) .canvas').focus()")
    sample.key("Home")
    assert "lru plain too" not in spoken(sample)
    sample.click(button)
    sample.settle()
    assert colours(sample, "#d9621e") > 1_000


def test_figures_follow_the_width_of_the_window(sample):
    width = "document.querySelector('#F1 canvas').getBoundingClientRect().width"
    before = sample.run(width)
    sample.resize(500, 800)
    sample.wait(f"{width} !== {before}")
    panel = sample.run("document.querySelector('#F1 .panel').clientWidth")
    assert sample.run(width) == pytest.approx(panel, abs=1)


# ---- Claims, contents, folded parts ----------------------------------------------------------------------


def test_claims_can_be_filtered(sample):
    rows = "[...document.querySelectorAll('.claims tbody tr')]"
    shown = f"{rows}.filter(row => !row.hidden).map(row => row.dataset.verdict)"
    assert len(sample.run(shown)) == 3
    sample.click(".filters button[data-verdict='not reproduced']")
    assert sample.run(shown) == ["not reproduced"]
    assert spoken(sample) == "1 claim shown"
    sample.click(".filters button[data-verdict='']")
    assert len(sample.run(shown)) == 3


def test_contents_lead_to_their_places(sample):
    sample.click(".contents a[href='#provenance']")
    sample.settle()
    assert sample.run("location.hash") == "#provenance"
    top = sample.run("document.getElementById('provenance').getBoundingClientRect().top")
    bottom = sample.run("innerHeight + scrollY >= document.documentElement.scrollHeight - 2")
    assert 0 <= top < 100 or bottom
    # It stays in sight on a wide screen.
    assert sample.run("document.querySelector('.contents summary').getBoundingClientRect().top") >= 0


def test_values_are_folded_and_unfold(sample):
    table = "document.querySelector('#F1-values table')"
    assert sample.run(f"{table}.checkVisibility()") is False
    sample.click("#F1-values")  # hidden: nothing happens
    sample.run("document.querySelector('details.values summary').focus()")
    sample.key("Enter")
    assert sample.run(f"{table}.checkVisibility()") is True


# ---- Without scripts -------------------------------------------------------------------------------------


def test_without_scripts_everything_can_be_read(page, files):
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.resize(1280, 900)
        page.events.clear()
        page.call("Page.navigate", url=files["sample"].as_uri())
        page.wait("document.readyState === 'complete'")
        assert page.run("document.documentElement.className") == ""
        for selector in ("#F1-values table", "#F2-values table", ".claims", ".band-mean", "#claims"):
            assert page.run(f"document.querySelector({json.dumps(selector)}).checkVisibility()"), selector
        for selector in (".drawing", "#Theme", ".filters", ".tools"):
            assert not page.run(f"document.querySelector({json.dumps(selector)}).checkVisibility()"), selector
    finally:
        page.call("Emulation.setScriptExecutionDisabled", value=False)


# ---- What a screen reader is told ------------------------------------------------------------------------


def test_everything_that_can_be_used_has_a_name(page, file):
    page.open(file)
    page.call("Accessibility.enable")
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    page.call("Accessibility.disable")
    used = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node.get("ignored")
        and node["role"]["value"]
        in ("button", "link", "application", "region", "table", "figure", "navigation")
    ]
    assert {role for role, _ in used} >= {"button", "link", "application", "region", "table", "figure"}
    assert [role for role, name in used if not name.strip()] == []
