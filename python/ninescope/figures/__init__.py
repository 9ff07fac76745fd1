"""The room of figures: what is drawn, as data, without saying by what.

A figure becomes a picture (`ninescope.pictures`) or a part of a report that shows values under the pointer
(`ninescope.report`). Nothing here knows either of them.
"""

from ninescope.figures.figure import (
    DASHES,
    MARKERS,
    MOST_TOLD_APART,
    NEUTRAL,
    PALETTE,
    Axis,
    Figure,
    Form,
    Key,
    Panel,
    Series,
    Style,
    Value,
    lies_under,
    styles,
    words_on_hidden,
)

__all__ = [
    "DASHES",
    "MARKERS",
    "MOST_TOLD_APART",
    "NEUTRAL",
    "PALETTE",
    "Axis",
    "Figure",
    "Form",
    "Key",
    "Panel",
    "Series",
    "Style",
    "Value",
    "lies_under",
    "styles",
    "words_on_hidden",
]
