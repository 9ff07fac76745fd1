"""The page to look into results in a real browser: zooming by pointer, keyboard and buttons."""

from __future__ import annotations

import pytest

import chromium
from ninescope.report.document import Document, GanttBlock, Lane, Part, Section, Span, View
from ninescope.report.html import render

pytestmark = pytest.mark.skipif(
    chromium.executable() is None, reason="CHROMIUM IS NOT INSTALLED: THE PAGE WAS NOT TRIED IN A BROWSER"
)
GANTT = "document.querySelector('figure.gantt').gantt"
REACH = f"(() => {{ const g = {GANTT}; return [Math.round(g.from), Math.round(g.until)]; }})()"
PARTS = [Part("erase", "#c0271f"), Part("read", "#1f4e79")]


def view(name: str, length: int) -> View:
    die = [
        Span(0, length, "erase", "erase block 17"),
        Span(length // 2, length * 3 // 4, "read", "read #7"),
        Span(0, length // 2, "erase", "loop 1 of 2", low=True),
    ]
    way = [Span(0, length, "read", "the way")]
    return View(name, f"{length} ns, so and so", 0, length, 0, [Lane("request #7", way), Lane("die 3", die)])


@pytest.fixture(scope="module")
def browser():
    with chromium.browser() as opened:
        yield opened


@pytest.fixture
def page(browser, tmp_path):
    gantt = GanttBlock("g", "Lanes", [view("read #7", 8_000), view("read #8", 400)], PARTS)
    document = Document("Title", "", [Section("lanes", "Lanes", [gantt])])
    (tmp_path / "page.html").write_text(render(document))
    browser.open(tmp_path / "page.html")
    yield browser
    assert browser.complaints() == []
    assert len(browser.requests()) == 1, "it loads nothing but itself"


def test_bars_stand_where_their_times_are(page):
    assert page.run(REACH) == [0, 8_000]
    red, blue, nothing = [0xC0, 0x27, 0x1F, 255], [0x1F, 0x4E, 0x79, 255], [0, 0, 0, 0]
    lane, phases = 26 + 40 + 8, 26 + 40 + 30
    expected = [
        (3_500, lane, red),
        (5_900, lane, blue),  # what runs while the erase is parked lies over it
        (7_900, lane, red),  # and behind that it goes on
        (3_900, phases, red),
        (6_300, phases, nothing),
    ]
    found = page.run(
        f"(() => {{ const g = {GANTT}, c = g.canvas;"
        "const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height);"
        "const at = (ns, y) => [...data.slice(4 * (y * c.width + Math.round(g.where(ns))))].slice(0, 4);"
        f"return {[[ns, y] for ns, y, _ in expected]}.map(([ns, y]) => at(ns, y)); }})()"
    )
    assert found == [colour for _, _, colour in expected]


def test_a_request_is_chosen_and_told(page):
    words = "document.querySelector('.view-words').textContent"
    assert page.run(words) == "read #7: 8000 ns, so and so"
    page.run(
        "(() => { const s = document.querySelector('.gantt select'); s.value = '1';"
        "s.dispatchEvent(new Event('change')); })()"
    )
    assert page.run(words) == "read #8: 400 ns, so and so"
    assert page.run(REACH) == [0, 400]


def test_buttons_zoom_and_move_and_stay_within_what_there_is(page):
    for button, reach in (
        ("in", [2_000, 6_000]),
        ("in", [3_000, 5_000]),
        ("right", [3_667, 5_667]),
        ("left", [3_000, 5_000]),
        ("out", [2_000, 6_000]),
        ("out", [0, 8_000]),
        ("left", [0, 8_000]),
        ("in", [2_000, 6_000]),
        ("all", [0, 8_000]),
    ):
        page.click(f".zooms [data-do={button}]")
        assert page.run(REACH) == reach, button
    assert page.run("document.querySelector('.reach').textContent") == "0 ns to 8 us"
    page.run(f"{GANTT}.show(100, 101)")
    assert page.run(REACH) == [100, 120], "no closer than 20 ns"


def test_the_keyboard_goes_from_bar_to_bar_and_into_one(page):
    spoken = "document.getElementById('Spoken').textContent"
    page.run("document.querySelector('.gantt .canvas').focus({focusVisible: true})")
    page.key("ArrowRight")
    assert page.run(spoken).startswith("request #7; the way; 8 us, from 0 ns to 8 us")
    page.key("ArrowDown")
    assert page.run(spoken).startswith("die 3; erase block 17")
    page.key("End")  # is nobody's here
    page.key("ArrowRight")
    page.key("ArrowRight")
    assert page.run(spoken) == "die 3; read #7; 2 us, from 4 us to 6 us"
    page.key("Enter")
    assert page.run(REACH) == [3_700, 6_300]
    page.key("Escape")
    assert page.run(REACH) == [0, 8_000]
    assert page.run("document.querySelector('.tip').hidden")


def test_the_pointer_shows_values_and_drags_a_stretch_to_zoom_into(page):
    box = page.box(".gantt canvas")
    x = page.run(f"{GANTT}.where(5000)")
    page.point(box["x"] + x, box["y"] + 26 + 40 + 8)
    assert page.run("document.querySelector('.tip').textContent") == "die 3read #72 us, from 4 us to 6 us"
    ends = [box["x"] + page.run(f"{GANTT}.where({at})") for at in (2_000, 4_000)]
    y = box["y"] + 60
    mouse = "Input.dispatchMouseEvent"
    page.call(mouse, type="mousePressed", x=ends[0], y=y, button="left", clickCount=1)
    page.call(mouse, type="mouseMoved", x=ends[1], y=y, button="left", buttons=1)
    page.call(mouse, type="mouseReleased", x=ends[1], y=y, button="left", clickCount=1)
    begin, until = page.run(REACH)
    assert abs(begin - 2_000) < 20
    assert abs(until - 4_000) < 20


def test_on_a_phone_nothing_is_wider_than_the_window(page):
    page.resize(360, 740)
    page.settle()
    assert page.run("document.documentElement.scrollWidth") <= 360


def test_without_scripts_the_tables_take_the_place_of_the_lanes(page):
    folded = "document.querySelector('details.values')"
    assert page.run(f"{folded}.open") is False
    assert page.run(f"[...{folded}.querySelectorAll('caption')].map((each) => each.textContent)") == [
        "read #7: 8000 ns, so and so",
        "read #8: 400 ns, so and so",
    ]
