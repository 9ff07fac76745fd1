"""The room of pictures: the only one that knows matplotlib, and plotly in `interactive`.

`drawing` draws figures that are data (`ninescope.figures`); the other modules draw what has a form of its
own.
"""

from ninescope.pictures.drawing import SMALL, picture, reduce_colours, save

__all__ = ["SMALL", "picture", "reduce_colours", "save"]
