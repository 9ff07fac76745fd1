"""Plots of sweeps: rows chosen, panels side by side, and lines that are told apart without colours."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import polars as pl
import pytest

from ninescope import ConfigError, figures, pictures
from ninescope.figures import Axis, Figure, Panel, Series, styles
from ninescope.lab.sweep.filters import filtered
from ninescope.lab.sweep.plot import MOST_LINES, figure, withheld
from ninescope.lab.sweep.record import DONE, STATE, Record
from ninescope.result.waf import STEADINESS

AXES = ("ftl.over_provisioning", "nand.read", "ftl.victim", "workload.iodepth", "seed")
ROWS = list(
    itertools.product((0.07, 0.1, 0.28), ("20us", "40us", "1ms"), ("greedy", "fifo"), (1, 4, 16, 64), (1, 2))
)
RECORD = Record("designs", "", "build", AXES, tuple((str(at), row) for at, row in enumerate(ROWS)))
FRAME = pl.DataFrame(
    {
        **{name: [row[at] for row in ROWS] for at, name in enumerate(AXES)},
        STATE: [DONE] * len(ROWS),
        STEADINESS: ["no-drift-shown"] * len(ROWS),
        "iops": [1_000.0 * row[3] / row[0] + row[4] for row in ROWS],
        "waf_total": [1 / row[0] + (row[2] == "fifo") for row in ROWS],
        "read_p99.9_ns": [None if row[4] == 2 else 1_000.0 * at for at, row in enumerate(ROWS)],
    },
    strict=False,
)


def test_what_too_few_samples_leave_out_of_a_figure_is_said():
    # Lines and panels of a percentile that is withheld were left out without a word.
    y = "read_p99.9_ns"
    short = (pl.col("nand.read") == "1ms") & (pl.col("ftl.victim") == "fifo")
    frame = FRAME.filter((pl.col("seed") == 1) & (pl.col("ftl.over_provisioning") == 0.1)).with_columns(
        pl.when(short).then(None).otherwise(pl.col(y)).alias(y)
    )
    drawn = figure(frame, RECORD, "workload.iodepth", y)
    assert drawn.caption.startswith(
        "Left out, 4 of 24 results have no read_p99.9_ns (fewer than ten samples lie beyond it): "
        "nand.read 1ms, ftl.victim fifo, workload.iodepth 1; "
    )
    assert drawn.caption == withheld(frame, AXES, y)
    assert withheld(FRAME, AXES, "iops") == ""
    none = frame.with_columns(pl.lit(None, pl.Float64).alias(y))
    with pytest.raises(ConfigError, match=r"has a read_p99.9_ns .fewer than ten samples lie beyond it"):
        figure(none, RECORD, "workload.iodepth", y)


def test_what_is_left_out_is_told_by_the_axis_that_tells_it():
    # 108 of 216 results were named one by one, in five lines.
    y = "read_p99.9_ns"
    fifo = pl.when(pl.col("ftl.victim") == "fifo").then(None).otherwise(1.0).alias(y)
    drawn = figure(FRAME.filter(pl.col("seed") == 1).with_columns(fifo), RECORD, "workload.iodepth", y)
    half = FRAME.filter(pl.col("seed") == 1).height // 2
    assert drawn.caption.startswith(
        f"Left out, {half} of {2 * half} results have no read_p99.9_ns (fewer than ten samples lie beyond "
        "it): all of ftl.victim=fifo."
    )


def chosen(*where: str) -> list[tuple]:
    return filtered(FRAME, RECORD, where).select(AXES).rows()


# ---- Rows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ("ftl.over_provisioning=0.10", lambda row: row[0] == 0.1),
        ("ftl.over_provisioning = 10%", lambda row: False),
        ("nand.read<=40us", lambda row: row[1] != "1ms"),
        ("nand.read > 0.00004s", lambda row: row[1] == "1ms"),
        ("ftl.victim!=greedy", lambda row: row[2] == "fifo"),
        ("ftl.victim==fifo", lambda row: row[2] == "fifo"),
        ("workload.iodepth >= 16", lambda row: row[3] >= 16),
        ("workload.iodepth in [1, 64]", lambda row: row[3] in (1, 64)),
        ('ftl.victim == "fifo" and nand.read < "40us"', lambda row: row[2] == "fifo" and row[1] == "20us"),
        ("waf < 4", lambda row: 1 / row[0] + (row[2] == "fifo") < 4),
    ],
)
def test_rows_are_chosen_by_what_tables_show(where, holds):
    wanted = [row for row in ROWS if holds(row)]
    if wanted:
        assert chosen(where) == wanted
    else:
        with pytest.raises(ConfigError, match=r"cannot be compared|no row of designs is left"):
            chosen(where)


def test_several_conditions_hold_together_and_numbers_by_any_of_their_names():
    assert chosen("ftl.victim=fifo", "workload.iodepth=4", "seed=2") == [
        row for row in ROWS if row[2:] == ("fifo", 4, 2)
    ]
    assert chosen("read_p99.9<=2us") == chosen("read_p99.9_ns <= 2000") == [ROWS[0], ROWS[2]]
    # What was not measured is neither less nor more.
    assert all(row[4] == 1 for row in chosen("read_p99.9_ns>=0"))


@pytest.mark.parametrize(
    ("where", "words"),
    [
        (
            "nand.raed=40us",
            "--where 'nand.raed=40us': 'nand.raed' is no axis of designs; did you mean 'nand.read'?",
        ),
        ("ftl.victim=gredy", "no row of designs is left; ftl.victim is never that; did you mean 'greedy'?"),
        ("workload.iodepth=2", "no row of designs is left; workload.iodepth is never that"),
        ("nand.read<4", "cannot be compared"),
        ("iops > 1e12", "no row of designs is left"),
        ("p99=3", "of reads and of writes: name one"),
        ("nand.read = ", "no expression"),
        ("import os", "no expression"),
    ],
)
def test_what_chooses_nothing_is_refused_with_the_nearest(where, words):
    with pytest.raises(ConfigError) as refused:
        chosen(where)
    assert words in str(refused.value)


# ---- Panels ----------------------------------------------------------------------------------------------


def test_a_mean_of_which_conditions_left_seeds_out_says_so():
    first = FRAME.row(0, named=True)
    axes = [name for name in FRAME.columns if name in RECORD.columns]
    of_first = pl.all_horizontal(pl.col(name) == first[name] for name in axes)
    drawn = figure(FRAME.filter(~of_first), RECORD, "workload.iodepth", "iops", by="ftl.victim")
    assert " 1 to 2 seeds; bars from the least to the most." in drawn.caption


def test_a_facet_makes_a_panel_for_each_value_with_the_same_ends():
    drawn = figure(FRAME, RECORD, "workload.iodepth", "iops", by="ftl.victim", facet=["nand.read"])
    assert [panel.name for panel in drawn.panels] == ["nand.read 20us", "nand.read 40us", "nand.read 1ms"]
    assert drawn.columns == 3
    for panel in drawn.panels:
        assert [line.label for line in panel.series] == ["ftl.victim greedy", "ftl.victim fifo"]
    assert len({(panel.y.low, panel.y.high, panel.x.low, panel.x.high) for panel in drawn.panels}) == 1
    assert drawn.panels[0].y.low < 1_000 / 0.28 < 64_000 / 0.07 < drawn.panels[0].y.high
    assert (
        drawn.caption
        == "Mean over the 3 values of ftl.over_provisioning and 2 seeds; bars from the least to the most."
    )


def test_two_facets_make_rows_and_columns_in_the_order_of_sizes():
    drawn = figure(
        FRAME, RECORD, "workload.iodepth", "waf", facet=["ftl.over_provisioning", "nand.read"], log_y=True
    )
    assert drawn.columns == 3
    assert [panel.name for panel in drawn.panels[:4]] == [
        "ftl.over_provisioning 0.07, nand.read 20us",
        "ftl.over_provisioning 0.07, nand.read 40us",
        "ftl.over_provisioning 0.07, nand.read 1ms",
        "ftl.over_provisioning 0.1, nand.read 20us",
    ]
    assert all(
        [line.label for line in panel.series] == ["ftl.victim greedy", "ftl.victim fifo"]
        for panel in drawn.panels
    )
    assert drawn.panels[0].y.low > 0


def test_a_combination_that_there_is_not_is_an_empty_panel():
    rows = FRAME.filter((pl.col("ftl.victim") == "fifo") | (pl.col("nand.read") != "1ms"))
    drawn = figure(rows, RECORD, "workload.iodepth", "iops", facet=["ftl.victim", "nand.read"])
    assert [bool(panel.series) for panel in drawn.panels] == [True, True, False, True, True, True]
    axes = pictures.picture(drawn).axes
    assert [text.get_text() for text in axes[2].texts] == ["not measured"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"facet": ["nand.raed"]}, "did you mean 'nand.read'"),
        ({"facet": ["nand.read", "nand.read"]}, "asked for twice"),
        ({"facet": ["workload.iodepth"]}, "asked for twice"),
        ({"facet": ["nand.read"], "by": "nand.read"}, "asked for twice"),
        ({"facet": ["nand.read", "ftl.victim", "ftl.over_provisioning"]}, "three are too many"),
    ],
)
def test_panels_that_cannot_be_are_refused(options, words):
    with pytest.raises(ConfigError) as refused:
        figure(FRAME, RECORD, "workload.iodepth", "iops", **options)
    assert words in str(refused.value)


def test_too_many_lines_and_panels_name_the_ways_out():
    many = pl.DataFrame(
        {"a": range(40), "b": [1] * 40, "iops": [1.0] * 40, STATE: [DONE] * 40, STEADINESS: [None] * 40}
    )
    record = Record("many", "", "", ("a", "b"), ())
    with pytest.raises(
        ConfigError, match=r"40 lines are too many .*--by, panels with --facet, or rows with --where"
    ):
        figure(many, record, "b", "iops")
    with pytest.raises(ConfigError, match=r"40 panels are too many .*--where"):
        figure(many, record, "b", "iops", facet=["a"])
    assert MOST_LINES >= 24


# ---- Axes ------------------------------------------------------------------------------------------------


def words_at_ticks(axes) -> dict[float, str]:
    """What stands at each tick that can be seen; a word on a lower row begins with empty lines."""
    axes.figure.canvas.draw()
    low, high = axes.get_xlim()
    pairs = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
    return {float(place): label.get_text().strip() for place, label in pairs if low <= place <= high}


@pytest.mark.parametrize("log_x", [False, True])
def test_an_axis_of_few_values_has_its_ticks_at_them_as_the_file_writes_them(log_x):
    # A logarithmic axis had 2, 5, 10, 20 and 50 where 1, 4, 16 and 64 had been run.
    depths = figure(FRAME, RECORD, "workload.iodepth", "iops", by="ftl.victim", log_x=log_x)
    [axes] = pictures.picture(depths).axes
    assert words_at_ticks(axes) == {1: "1", 4: "4", 16: "16", 64: "64"}
    assert list(axes.xaxis.get_minorticklocs()) == []
    times = figure(FRAME, RECORD, "nand.read", "waf_total", by="ftl.victim", log_x=log_x)
    [axes] = pictures.picture(times).axes
    assert words_at_ticks(axes) == {20: "20us", 40: "40us", 1000: "1ms"}
    assert axes.get_xlabel() == "nand.read"  # its values say their units


@pytest.mark.parametrize("facet", [(), ("nand.read",)])
def test_words_of_ticks_do_not_overlap(facet):
    depths = [1, 2, 4, 8, 16, 32, 64, 128]
    rows = list(itertools.product(depths, ("20us", "40us", "1ms")))
    frame = pl.DataFrame(
        {
            "workload.iodepth": [row[0] for row in rows],
            "nand.read": [row[1] for row in rows],
            STATE: [DONE] * len(rows),
            STEADINESS: [None] * len(rows),
            "iops": [1_000.0 * row[0] for row in rows],
        }
    )
    record = Record("depths", "", "", ("workload.iodepth", "nand.read"), ())
    drawn = pictures.picture(figure(frame, record, "workload.iodepth", "iops", facet=facet))
    drawn.canvas.draw()
    for axes in drawn.axes:
        assert list(words_at_ticks(axes).values()) == [str(depth) for depth in depths]
        # Of the lines of a word only the last is written.
        ends = []
        for label in axes.get_xticklabels():
            box = label.get_window_extent()
            height = box.height / (1 + label.get_text().count("\n"))
            ends.append((box.x0, box.y0, box.x1, box.y0 + height))
        for (left, low, right, high), other in itertools.combinations(ends, 2):
            is_apart = right < other[0] or other[2] < left or high <= other[1] or other[3] <= low
            assert is_apart, (facet, left, other)


def test_an_axis_of_many_values_has_round_ticks_and_its_unit():
    values = [f"{10 * at}us" for at in range(1, 10)]
    rates = [f"{100 * at}MB/s" for at in range(1, 10)]
    frame = pl.DataFrame(
        {
            "a": values,
            "b": rates,
            STATE: [DONE] * 9,
            STEADINESS: [None] * 9,
            "iops": [1.0 * at for at in range(9)],
        }
    )
    record = Record("many", "", "", ("a", "b"), ())
    for name, label, last in (("a", "a [us]", 90), ("b", "b [MB/s]", 900)):
        [panel] = figure(
            frame.select(name, STATE, STEADINESS, "iops"), record_of(record, name), name, "iops"
        ).panels
        assert (panel.x.label, panel.x.ticks) == (label, ())
        assert panel.series[0].x[-1] == last


def record_of(record: Record, name: str) -> Record:
    return dataclasses.replace(record, columns=(name,))


def test_a_logarithmic_axis_refuses_what_it_has_no_place_for():
    frame = pl.DataFrame({"a": [0, 1, 2], STATE: [DONE] * 3, STEADINESS: [None] * 3, "iops": [1.0, 2.0, 3.0]})
    record = Record("zero", "", "", ("a",), ())
    with pytest.raises(ConfigError, match=r"--log-x: a logarithmic axis has no place for the 0 of a"):
        figure(frame, record, "a", "iops", log_x=True)


@pytest.mark.parametrize("by", [None, "ftl.over_provisioning"])
def test_no_line_leads_over_values_that_are_names(by):
    drawn = figure(
        FRAME.filter(pl.col("seed") == 1), RECORD, "ftl.victim", "iops", by=by, facet=["nand.read"]
    )
    for axes in pictures.picture(drawn).axes:
        assert axes.lines
        assert all(line.get_linestyle() == "None" for line in axes.lines)
        assert [label.get_text() for label in axes.get_xticklabels()] == ["greedy", "fifo"]
    several = figure(FRAME, RECORD, "ftl.victim", "iops", facet=["nand.read"], by="workload.iodepth")
    assert all(series.low and series.form == "points" for panel in several.panels for series in panel.series)


# ---- Legends and what is hidden ---------------------------------------------------------------------------


@pytest.mark.parametrize("facet", [(), ("nand.read",), ("nand.read", "ftl.victim")])
def test_a_legend_has_words_for_all_it_shows(facet):
    # Where a facet left no axis for lines, the legend was a handle without a word.
    told = [name for name in ("ftl.victim", "nand.read") if name not in facet]
    alone = pl.all_horizontal(pl.col(name) == ROWS[0][AXES.index(name)] for name in told) if told else True
    frame = FRAME.filter(alone).filter(pl.col("ftl.over_provisioning") == 0.1)
    drawn = pictures.picture(figure(frame, RECORD, "workload.iodepth", "iops", facet=facet))
    assert drawn.legends == []
    lines_of = pictures.picture(figure(FRAME, RECORD, "workload.iodepth", "iops", by="ftl.over_provisioning"))
    [legend] = lines_of.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        f"ftl.over_provisioning {value}" for value in (0.07, 0.1, 0.28)
    ]


def caption_of(*ys: list[float | None], log: bool = False, names: str = "abc", **axis: object) -> str:
    series = [Series(name, range(len(y)), y) for name, y in zip(names, ys, strict=False)]
    drawn = pictures.picture(Figure("f", "T", [Panel("", Axis(**axis), Axis(log=log), series)]))  # type: ignore[arg-type]
    return " ".join(drawn.texts[1].get_text().split())


def test_lines_that_others_hide_are_named():
    # Panels are some 400 dots high: of 0 to 1000 a dot is 2.5.
    assert caption_of([0, 500, 1000], [0, 501, 1000]) == "a lies under b."
    assert caption_of([0, 500, 1000], [0, 520, 1000]) == ""
    assert caption_of([0, 500, 1000], [0, 500, 1000], [0, 501, 1000]) == "a and b lie under c."
    # What is hidden at some places is seen at others; what goes on beyond its end is seen there.
    assert caption_of([0, 500, 1000], [0, 500, 0]) == ""
    assert caption_of([0, 500, None], [0, 500, 1000]) == "a lies under b."
    assert caption_of([0, 500, 1000], [0, 500, None]) == ""
    # Of decades from 1 to 1000 a dot is 1.7 %: what is one dot on a linear axis is many on this one.
    assert caption_of([1, 10, 1000], [1, 12, 1000]) == "a lies under b."
    assert caption_of([1, 10, 1000], [1, 12, 1000], log=True) == ""
    assert caption_of([1, 10, 1000], [1, 10.1, 1000], log=True) == "a lies under b."
    # Over names those that differ stand side by side.
    names = ["x", "y", "z"]
    assert caption_of([0, 500, 1000], [0, 501, 1000], categories=names) == ""
    assert caption_of([0, 500, 1000], [0, 500, 1000], categories=names) == "a lies under b."


def test_panels_in_which_lines_are_hidden_are_named():
    drawn = figure(FRAME, RECORD, "workload.iodepth", "iops", by="ftl.victim", facet=["nand.read"])
    assert "ftl.victim greedy lies under ftl.victim fifo." in whole_caption(drawn)
    one = pl.when(pl.col("nand.read") == "1ms").then(pl.col("waf_total") * 9).otherwise(pl.col("iops"))
    drawn = figure(
        FRAME.with_columns(one.alias("iops")), RECORD, "workload.iodepth", "iops", by="ftl.victim",
        facet=["nand.read"], log_y=True,
    )  # fmt: skip
    assert (
        "ftl.victim greedy lies under ftl.victim fifo (in nand.read 20us; nand.read 40us)."
        in whole_caption(drawn)
    )


def whole_caption(drawn: Figure) -> str:
    return " ".join(pictures.picture(drawn).texts[1].get_text().split())


# ---- Looks -----------------------------------------------------------------------------------------------


def lines(count: int, places: int = 6) -> Figure:
    series = [Series(f"line {at}", range(places), [at + 1.0] * places) for at in range(count)]
    return Figure("lines", "Lines", [Panel("", Axis(), Axis(), series)], columns=1)


def test_each_of_32_lines_is_told_from_all_others_without_its_colour():
    looks = list(styles(lines(32)).values())
    assert len({(look.dash, look.marker) for look in looks}) == 32 == MOST_LINES
    # Neighbours in the legend differ in all but the dash, those of one colour in all but that.
    for one, other in itertools.pairwise(looks):
        assert one.colour != other.colour
        assert one.marker != other.marker
    for one, other in itertools.combinations(looks, 2):
        assert one.colour != other.colour or (one.dash != other.dash and one.marker != other.marker)


BLIND = {
    # Machado, Oliveira and Fernandes, IEEE Transactions on Visualization and Computer Graphics 15(6), 2009:
    # what is left of linear RGB where one kind of cone is missing.
    "nobody": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def lab(colour: str, seen_by: str) -> np.ndarray:
    """CIELAB of a colour, under daylight (D65), as somebody sees it."""
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(BLIND[seen_by]) @ linear, 0, 1)
    to_xyz = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
    ratio = np.array(to_xyz) @ seen / np.array([0.95047, 1.0, 1.08883])
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("seen_by", BLIND)
def test_the_colours_are_told_apart_by_whoever_is_blind_to_one(seen_by):
    # A difference of 2.3 is just noticed side by side; the palette before had one of 2.8 for a missing green.
    for one, other in itertools.combinations(figures.PALETTE, 2):
        assert math.dist(lab(one, seen_by), lab(other, seen_by)) > 16


@pytest.mark.parametrize("places", [6, 400])
def test_every_line_of_a_picture_has_its_dash_and_marker_also_in_the_legend(places):
    drawn = pictures.picture(lines(24, places))
    [axes] = drawn.axes
    shown = [
        (line.get_marker(), line.get_linestyle(), str(line._unscaled_dash_pattern)) for line in axes.lines
    ]
    assert len(set(shown)) == 24
    assert all(marker != "None" for marker, *_ in shown)
    [legend] = drawn.legends
    assert [
        (one.get_marker(), one.get_linestyle(), str(one._unscaled_dash_pattern))
        for one in legend.legend_handles
    ] == shown
    if places > 40:  # sparse, and not all at the same places
        firsts = {line.get_markevery() for line in axes.lines}
        assert len(firsts) > 3


def test_a_picture_in_grey_still_holds_24_lines(tmp_path):
    # Each alone, in grey, point by point: no two of them are the same drawing.
    figure_ = lines(24)
    pictures_of = []
    for at in range(24):
        one = [dataclasses.replace(each, colour="#555555", y=[1.0] * 6 if place == at else [None] * 6)
               for place, each in enumerate(figure_.panels[0].series)]  # fmt: skip
        picture = pictures.picture(
            dataclasses.replace(figure_, panels=[dataclasses.replace(figure_.panels[0], series=one)])
        )
        picture.legends[0].remove()
        picture.savefig(tmp_path / "one.png", dpi=150)
        import matplotlib.image

        pictures_of.append(matplotlib.image.imread(tmp_path / "one.png")[..., 0])
    for one, other in itertools.combinations(pictures_of, 2):
        assert (np.abs(one - other) > 0.3).sum() > 20
