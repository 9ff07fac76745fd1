"""Figures as data, and the pictures that are drawn of them."""

from __future__ import annotations

import itertools
import math

import matplotlib.colors
import numpy as np
import pytest
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.patches import Rectangle

from ninescope import pictures
from ninescope.figures import NEUTRAL, PALETTE, Axis, Figure, Panel, Series, styles
from ninescope.pictures import result as of_result
from ninescope.pictures import style
from ninescope.result import Band
from ninescope.text.causes import LOOKS

FORMS = ("line", "points", "bars", "steps")


def one_panel(*series: Series, x: Axis | None = None, y: Axis | None = None, **panel: object) -> Figure:
    return Figure("figure-1", "A title", [Panel("a panel", x or Axis(), y or Axis(), series, **panel)])  # type: ignore[arg-type]


def axes_of(figure: Figure):
    [axes] = pictures.picture(figure).axes
    return axes


def bars_of(figure: Figure) -> list[Rectangle]:
    return [patch for patch in axes_of(figure).patches if isinstance(patch, Rectangle)]


def words_of(figure: Figure) -> list[str]:
    [legend] = pictures.picture(figure).legends
    return [text.get_text() for text in legend.get_texts()]


# ---- as data -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [{"y": [1]}, {"y": [1, 2], "low": [0]}, {"y": [1, 2], "high": [3, 3, 3]}])
def test_values_are_as_many_as_places(values):
    with pytest.raises(ValueError, match="series 'a': 2 places"):
        Series("a", [0, 1], **values)


def test_a_published_series_joins_its_panel_and_no_other():
    figure = Figure("figure-1", "t", [Panel("left", Axis(), Axis()), Panel("right", Axis(), Axis())])
    more = figure.with_published("right", Series("theirs", [0], [1], published=True))
    assert [len(panel.series) for panel in more.panels] == [0, 1]
    assert [len(panel.series) for panel in figure.panels] == [0, 0]


def test_a_published_series_of_an_unknown_panel_is_refused():
    with pytest.raises(ValueError, match="no panel 'middle'; it has left"):
        Figure("f", "t", [Panel("left", Axis(), Axis())]).with_published("middle", Series("a", [0], [1]))


# ---- as pictures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("log", [False, True])
def test_every_form_is_drawn(tmp_path, form, published, log):
    series = Series(
        "a", [1, 2, 3], [10, 0, 1000], form, low=[1, 0, 900], high=[20, 3, 1100], published=published
    )
    figure = one_panel(series, x=Axis("x", log=log), y=Axis("y", log=log))
    [path] = pictures.save(figure, tmp_path)
    assert path == tmp_path / "figure-1.png"
    assert path.stat().st_size > 5000
    axes = axes_of(figure)
    assert axes.patches if form == "bars" else axes.lines
    assert words_of(figure) == ["published: a" if published else "a"]


def test_the_same_figure_makes_the_same_bytes(tmp_path):
    figure = one_panel(Series("a", [0, 1], [1, 2], "bars", published=True))
    for form in ("png", "svg", "pdf"):
        [path] = pictures.save(figure, tmp_path, (form,))
        first = path.read_bytes()
        assert pictures.save(figure, tmp_path, (form,)) == [path]
        assert path.read_bytes() == first, form


@pytest.mark.parametrize("log", [False, True])
def test_bars_of_several_series_do_not_overlap(log):
    figure = one_panel(
        *(Series(name, [0, 1, 2], [5, 50, 500], "bars", published=name == "d") for name in "abcd"),
        x=Axis(categories=["one", "two", "three"]),
        y=Axis(log=log),
    )
    found = sorted(bars_of(figure), key=lambda bar: bar.get_x())
    assert len(found) == 12
    for left, right in itertools.pairwise(found):
        assert left.get_x() + left.get_width() < right.get_x()
    # The bars of a place are nearer to it than to any other.
    assert [round(bar.get_x() + bar.get_width() / 2) for bar in found] == [0] * 4 + [1] * 4 + [2] * 4
    tops = {round(bar.get_y() + bar.get_height(), 6) for bar in found}
    assert tops == {5, 50, 500}


def test_bars_at_any_places_do_not_overlap():
    figure = one_panel(Series("a", [10, 12, 30], [1, 2, 3], "bars"), Series("b", [12], [4], "bars"))
    found = sorted(bars_of(figure), key=lambda bar: bar.get_x())
    assert all(one.get_x() + one.get_width() < other.get_x() for one, other in itertools.pairwise(found))


@pytest.mark.parametrize("form", ["line", "points", "steps"])
def test_what_was_not_measured_is_a_gap(form):
    [line] = axes_of(one_panel(Series("a", [0, 1, 2], [1, None, 3], form))).lines
    assert [math.isnan(value) for value in np.asarray(line.get_ydata(), dtype=float)] == [False, True, False]


def test_a_figure_without_values_says_so():
    axes = axes_of(one_panel(Series("a", [0, 1], [None, None])))
    assert "not measured" in [text.get_text() for text in axes.texts]
    assert len(pictures.picture(Figure("figure-1", "empty", [])).axes) == 1


def test_intervals_stay_above_zero_on_a_logarithmic_axis():
    figure = one_panel(Series("a", [0, 1], [10, 20], low=[0, 15], high=[12, 30]), y=Axis(log=True))
    axes = axes_of(figure)
    [arms] = [collection for collection in axes.collections if len(collection.get_segments()) == 2]
    lows = [segment[0][1] for segment in arms.get_segments()]
    assert lows == [pytest.approx(5), 15]


def test_categories_levels_and_one_legend():
    figure = Figure(
        "figure-1",
        "Two panels",
        [
            Panel(
                name,
                Axis(categories=["p50", "p99"]),
                Axis("us"),
                [Series("ours", [0, 1], [1, 2])],
                [("bound", 1.5)],
            )
            for name in ("left", "right")
        ],
        caption="words " * 60,
    ).with_published("right", Series("ours", [1], [2], "points", published=True))
    drawn = pictures.picture(figure)
    for axes in drawn.axes:
        assert [label.get_text() for label in axes.get_xticklabels()] == ["p50", "p99"]
        assert [text.get_text() for text in axes.texts] == ["bound"]
    assert words_of(figure) == ["ours", "published: ours"]
    caption = drawn.texts[1].get_text()
    assert caption.split() == figure.caption.split()
    assert "\n" in caption


def test_a_series_has_its_colour_in_every_panel():
    panels = [
        Panel("left", Axis(), Axis(), [Series("a", [0], [1], "bars"), Series("b", [0], [1], "bars")]),
        Panel(
            "right",
            Axis(),
            Axis(),
            [Series("b", [0], [1], "bars"), Series("c", [0], [1], "bars", colour="#123456")],
        ),
    ]
    left, right = pictures.picture(Figure("figure-1", "t", panels)).axes
    assert left.patches[1].get_facecolor() == right.patches[0].get_facecolor()
    assert left.patches[0].get_facecolor() != left.patches[1].get_facecolor()
    assert right.patches[1].get_facecolor()[:3] == pytest.approx((0x12 / 255, 0x34 / 255, 0x56 / 255))


# ---- what is published beside what was measured --------------------------------------------------------


def test_what_is_published_has_the_colour_of_what_it_is_about():
    figure = one_panel(
        Series("a", [0], [1], colour="#112233"),
        Series("b", [0], [2]),
        Series("a: at most 3", [0], [3], published=True, of="a"),
        Series("b", [0], [3], published=True),
        Series("a drive", [0], [3], published=True),
    )
    found = {key: style.colour for key, style in styles(figure).items()}
    assert found["a: at most 3", True] == "#112233"
    assert found["b", True] == found["b", False] == PALETTE[1]
    assert found["a drive", True] == NEUTRAL
    *_, of_a, of_b, of_none = axes_of(figure).lines
    assert [line.get_color() for line in (of_a, of_b, of_none)] == ["#112233", PALETTE[1], NEUTRAL]


def test_a_published_point_stands_over_its_bar_or_over_all():
    bars = [Series(name, [0, 1], [1, 2], "bars") for name in ("a", "b", "c")]
    about = Series("c is the best", [1], [2], "points", published=True, of="c")
    of_none = Series("no great difference", [0], [2], "points", published=True)
    axes = axes_of(one_panel(*bars, about, of_none, x=Axis(categories=["x", "y"])))
    [point] = axes.lines
    bar = axes.patches[5]
    assert isinstance(bar, Rectangle)
    assert point.get_xdata()[0] == pytest.approx(bar.get_x() + bar.get_width() / 2)
    [across] = axes.collections
    (left, _), (right, _) = across.get_segments()[0]
    assert left < axes.patches[0].get_x() + 0.02
    assert right > axes.patches[4].get_x()


def test_curves_that_are_equal_lie_on_each_other():
    x = Axis(categories=["p50", "p99"])
    same = [Series(name, [0, 1], [1, 2], low=[0, 1], high=[2, 3]) for name in "abc"]

    def places(*series: Series) -> list[list[float]]:
        # Those of the ends of intervals have no line.
        lines = axes_of(one_panel(*series, x=x)).lines
        return [list(line.get_xdata()) for line in lines if line.get_linestyle() != "None"]

    assert places(*same) == [[0, 1]] * 3
    other = Series("d", [0, 1], [1, 5], low=[0, 1], high=[2, 6])
    *equal, last = places(*same, other)
    assert equal[0] == equal[1] == equal[2] != last


def test_points_are_named_and_borders_have_no_markers():
    points = [Series(f"v_{at}", [at], [at], "points") for at in (1, 2, 2.01)]
    axes = axes_of(
        one_panel(*points, x=Axis(log=True), y=Axis(log=True), borders=[("from here", 1.5)], named=True)
    )
    texts = {text.get_text(): text for text in axes.texts}
    assert {"v_1", "v_2", "v_2.01", "from here"} <= set(texts)
    # Two that are next to each other are named on different sides.
    sides = [(texts[name].get_ha(), texts[name].get_va()) for name in ("v_2", "v_2.01")]
    assert sides[0] != sides[1]
    assert [line.get_marker() for line in axes.lines if list(line.get_xdata()) == [1.5, 1.5]] == ["None"]


def test_a_logarithmic_axis_of_less_than_a_decade_has_ticks_between():
    axes = axes_of(one_panel(Series("a", [0, 1, 2], [1.04, 1.06, 2.56]), y=Axis(log=True)))
    low, high = axes.get_ylim()
    assert len([tick for tick in axes.get_yticks() if low <= tick <= high]) >= 5


def test_a_logarithmic_axis_of_one_place_has_room_and_ticks():
    same = {"low": [39.9, 39.9], "high": [39.9, 39.9]}
    for series in (Series("a", [0, 1], [39.9, 39.9], **same), Series("a", [0, 1], [39.9, 39.9000001])):
        axes = axes_of(one_panel(series, y=Axis(log=True)))
        low, high = axes.get_ylim()
        assert low < 39 < 39.9 < 41 < high < 50
        assert len([tick for tick in axes.get_yticks() if low <= tick <= high]) >= 3


def test_numbers_of_a_logarithmic_axis_are_all_written_in_one_way():
    # 10,000 and 100,000 stood below a power of ten.
    for low, high in ((1e3, 2e6), (1e-4, 1.0), (1.0, 1e5)):
        axes = axes_of(one_panel(Series("a", [0, 1], [low, high]), y=Axis(log=True)))
        axes.figure.canvas.draw()
        bottom, top = axes.get_ylim()
        words = [
            label.get_text()
            for place, label in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
            if bottom <= place <= top
        ]
        assert len({"^" in word for word in words}) == 1, words
        assert ("^" in words[0]) == (high != 1e5)


@pytest.mark.parametrize("falls", [True, False])
def test_words_of_a_level_stand_where_they_cover_nothing(falls):
    # Those of the survival curve stood on the curves: at the right, where these fall.
    y = [100, 80, 10] if falls else [10, 80, 100]
    axes = axes_of(one_panel(Series("a", [0, 1, 2], y), lines=[("fewer than ten samples", 30)]))
    [words] = [text for text in axes.texts if text.get_text() == "fewer than ten samples"]
    assert words.get_ha() == ("left" if falls else "right")
    axes.figure.canvas.draw()
    box = words.get_window_extent()
    x = np.linspace(0, 2, 400)
    drawn = axes.transData.transform(np.column_stack([x, np.interp(x, [0, 1, 2], y)]))
    assert not any(box.contains(*place) for place in drawn)


@pytest.mark.parametrize("spread", [0.0, 0.1])
def test_words_of_a_level_cover_no_point_and_no_interval(spread):
    # "no difference" stood on the last metric, whose interval it hid: at both ends points lie on the level.
    places = range(14)
    y = [0.6 if place in (5, 6) else 1.0 for place in places]
    series = Series(
        "a", places, y, "points", low=[one - spread for one in y], high=[one + spread for one in y]
    )
    names = [f"read p{place}" for place in places]
    axes = axes_of(
        one_panel(series, x=Axis(categories=names), y=Axis(log=True), lines=[("no difference", 1.0)])
    )
    [words] = [text for text in axes.texts if text.get_text() == "no difference"]
    axes.figure.canvas.draw()
    box = words.get_window_extent()
    radius = 5 / 72 / 2 * axes.figure.dpi
    for place, one in zip(places, y, strict=True):
        x, low = axes.transData.transform((place, one - spread))
        _, high = axes.transData.transform((place, one + spread))
        beside = box.x1 < x - radius or box.x0 > x + radius
        assert beside or box.y1 < low - radius or box.y0 > high + radius, place


def luminance(colour) -> float:
    """Relative luminance, WCAG 2.1: of what is seen where something shines through to white."""
    *parts, opacity = matplotlib.colors.to_rgba(colour)
    seen = [1 - opacity * (1 - part) for part in parts]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in seen)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("count", [3, 300])
@pytest.mark.parametrize("cause", sorted(LOOKS))
def test_numbers_are_read_on_their_bars_also_on_pale_ones(cause, count):
    # White stood on the pale bars of bands with few requests.
    axes = MatplotlibFigure().subplots()
    band = Band(name="p50-p90", count=count, lower_ns=1, upper_ns=2, parts_ns={cause: 1.0})
    of_result._stack(axes, (band,), [cause])
    [bar], [words] = axes.patches, axes.texts
    # White or ink: on any ground one of them has at least the root of the contrast they have to each other.
    least = math.sqrt(contrast("white", style.INK))
    assert contrast(words.get_color(), bar.get_facecolor()) >= least - 1e-9 > 3.98
    other = {"white": style.INK, style.INK: "white"}[words.get_color()]
    assert contrast(words.get_color(), bar.get_facecolor()) >= contrast(other, bar.get_facecolor())


def in_lab(colour: str) -> tuple[float, float, float]:
    """CIELAB under D65 (CIE 15:2004): the distance of two is how different they look."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in matplotlib.colors.to_rgb(colour)
    )
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.0890
    x, y, z = (
        part ** (1 / 3) if part > (6 / 29) ** 3 else part / 3 * (29 / 6) ** 2 + 4 / 29 for part in (x, y, z)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def test_causes_are_told_apart_by_their_colours():
    # Waits behind host reads and behind a channel wait were 13 apart, two that often lie on each other.
    places = {cause: in_lab(look.colour) for cause, look in LOOKS.items()}
    apart = {(a, b): math.dist(places[a], places[b]) for a, b in itertools.combinations(LOOKS, 2)}
    assert min(apart.values()) >= 14, min(apart, key=apart.get)
    assert min(apart[pair] for pair in itertools.pairwise(LOOKS)) >= 16
    # What nearly every band has of these lies on each other; in print without colours lightness alone tells.
    waits = ["transfer", "own_parts", "channel", "die_host_read", "die_host_program"]
    for a, b in [*itertools.pairwise(waits), ("die_host_read", "die_waiting_for_channel")]:
        assert apart[a, b] >= 20, (a, b)
        assert abs(places[a][0] - places[b][0]) >= 8, (a, b)


@pytest.mark.parametrize("width", [5.0, 12.0])
def test_a_long_title_is_whole(width):
    figure = MatplotlibFigure(figsize=(width, 4), layout="constrained")
    figure.subplots()
    title = "Where the time went: " + "a-workload-of-a-long-name.csv.zst, " * 5 + "on a drive"
    style.head(figure, title)
    figure.canvas.draw()
    box = figure._suptitle.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width
    assert box.y1 <= figure.bbox.height
    assert figure._suptitle.get_text().split() == title.split()
