"""Documents with one of everything, and with names that try to get out of their place."""

from __future__ import annotations

from ninescope.figures import Axis, Figure, Panel, Series
from ninescope.report.document import (
    AttributionBand,
    AttributionBlock,
    Cell,
    CheckLine,
    ClaimLine,
    Claims,
    Details,
    Document,
    Facts,
    FigureBlock,
    Notes,
    Part,
    Section,
    Source,
    TableBlock,
    Text,
)

HOSTILE = "</script></title><img src=x onerror=alert(1)>\"'&<!--" + "-unbroken" * 9


def figure(name: str = "sample", label: str = "lru") -> Figure:
    """A figure with every form, published values, intervals, gaps and level lines."""
    policies = ("baseline", "hot and cold apart", "adaptive", "oracle")
    places = list(range(len(policies)))
    xs = [float(10 * step) for step in range(1, 41)]
    return Figure(
        name,
        f"Everything that a figure may hold, {label}",
        [
            Panel(
                "Bars side by side",
                Axis("", categories=policies),
                Axis("p99 [us]", low=0),
                [
                    Series(
                        label,
                        places,
                        [120.5, 98.0, None, 61.25],
                        "bars",
                        low=[110, 90, None, 55],
                        high=[130, 104, None, 66],
                    ),
                    Series(f"{label} too", places, [80, 71, 64, 60], "bars"),
                    Series(label, places, [118, 95, 70, None], "bars", published=True, source="Fig. 7"),
                ],
                [("what the drive bears", 100.0)],
            ),
            Panel(
                "A line in its band",
                Axis("requests", log=True),
                Axis("share", log=True),
                [
                    Series(
                        label,
                        xs,
                        [1 / x if index != 20 else None for index, x in enumerate(xs)],
                        low=[0.8 / x for x in xs],
                        high=[1.3 / x for x in xs],
                    ),
                    Series("steps", [10.0, 50.0, 200.0, 400.0], [1.0, 0.1, 0.02, 0.0], "steps"),
                    Series(
                        label, [20.0, 100.0, 300.0], [0.06, 0.012, 0.004], published=True, source="Fig. 8"
                    ),
                ],
            ),
            Panel(
                "Points",
                Axis("GB of flash"),
                Axis("IOPS"),
                [
                    Series("a", [3, 1, 2, 2], [5_000, 12_500, 7_000, 8_000], "points"),
                    Series("b", [1.5, 2.5], [6_000, 7_500], "points", published=True),
                ],
            ),
            Panel("Nothing yet", Axis("time [s]"), Axis("value"), [Series("a", [], [])]),
        ],
        "Values are made up.",
    )


def attribution(name: str = "attribution-sample", cause: str = "behind erase") -> AttributionBlock:
    parts = [
        Part("flash array", "#1f4e79", "the flash array at work"),
        Part(cause, "#c0271f", "its die was busy erasing"),
        Part("controller", "#c7e9c0"),
    ]
    return AttributionBlock(
        name,
        "Where the time of samples went",
        [
            AttributionBand(
                "min-p50", 5_000, 50_000.0, {"flash array": 45_000.0, "controller": 5_000.0}, 40e3, 60e3
            ),
            AttributionBand(
                "p50-p99", 4_900, 400_000.0, {"flash array": 100_000.0, cause: 300_000.0}, 60e3, 2e6
            ),
            AttributionBand("p99-max", 7, 3e6, {"flash array": 0.1e6, cause: 2.9e6}),
        ],
        parts,
        "Bars are slices of the distribution.",
    )


def claims(statement: str = "Reads wait less behind erases") -> Claims:
    return Claims(
        "Claims of the sample, and what became of them",
        [
            ClaimLine(
                "S-1",
                "quantitative",
                statement,
                "2.3 times",
                "2.41 (2.35 to 2.48)",
                "holds",
                "",
                "Table 3",
                [CheckLine("p99.99 of `a` over that of `b`: in 2 to 2.6", "2.41 (2.35 to 2.48)", "holds")],
            ),
            ClaimLine(
                "S-2",
                "ordering",
                "The adaptive policy beats the others at every depth, and by more the deeper it is",
                "adaptive < hot and cold apart < baseline",
                "61 us, 98 us, 120 us",
                "not reproduced",
                "The order is that of the paper; the distance is not: 1.6 times, where 2 were claimed.",
                "Section 5.2",
                [
                    CheckLine("adaptive < baseline", "61 us, 120 us", "holds"),
                    CheckLine("ratio >= 2", "1.6 (1.5 to 1.7)", "not reproduced", "wanted 2, measured 1.6"),
                ],
            ),
            ClaimLine(
                "S-3",
                "exact",
                "The code corrects 40 bits",
                "40",
                "",
                "not judged",
                "a quick run is too short",
            ),
        ],
        "Intervals are 95% confidence.",
    )


def document(hostile: bool = False) -> Document:
    """One of everything; with names that try to break out, where they are asked for."""
    bad = HOSTILE if hostile else "plain"
    return Document(
        title=f"A sample of everything ({bad})",
        subtitle=f"With `code` in it, {bad}",
        lead=[
            Notes([f"It is interrupted, {bad}."], warning=True),
            Text([f"An abstract of one paragraph, {bad}."]),
            Facts([("claims", "3"), ("hold", "1"), ("runs", "128")], headline=True),
        ],
        sections=[
            Section("claims", "The claims", [claims(bad)]),
            Section(
                "paper-000",
                f"A paper {bad}",
                [Text(["What it is about."])],
                [
                    Section(
                        "paper-000.tables",
                        "Tables",
                        [
                            TableBlock(
                                f"Response times, {bad}",
                                ["policy", "p50", "p99", "verdict", f"remark {bad}"],
                                [
                                    [
                                        f"baseline {bad}",
                                        Cell("58.1 us", published="60 us"),
                                        Cell("1.94 ms", under="467 us to 2.77 ms", published="2 ms"),
                                        Cell("", verdict="holds"),
                                        Cell("inferred", title=f"chosen by {bad}"),
                                    ],
                                    [
                                        "adaptive",
                                        "40 us",
                                        Cell("900 us*", faint=True),
                                        Cell("", verdict="not judged"),
                                        "",
                                    ],
                                ],
                                f"Of synthetic traces, {bad}.",
                            )
                        ],
                    ),
                    Section(
                        "paper-000.figures",
                        "Figures",
                        [
                            FigureBlock(figure(f"figure-1-{bad}", f"lru {bad}")),
                            attribution(f"attribution-{bad}", f"behind erase {bad}"),
                        ],
                    ),
                ],
            ),
            Section(
                "provenance",
                "Provenance",
                [
                    Facts([("seed", "1"), ("digest", "`87d8a441a5abdf2f4154102d757c3ea1`")]),
                    Details(
                        f"The configuration, {bad}", [Source(f"name = '{bad}'\n" * 5, f"configuration {bad}")]
                    ),
                ],
            ),
            Section(
                "caveats",
                "Caveats",
                [Notes([f"Traces are synthetic, {bad}.", "The drive is scaled by 1/64."])],
            ),
        ],
        facts=[("made by", f"ninescope, {bad}"), ("seed", "1")],
    )
