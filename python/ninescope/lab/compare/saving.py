"""Writing a comparison into a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from ninescope.common.files import COMPARISON, output_directory, output_file, written_whole

if TYPE_CHECKING:
    from ninescope.lab.compare.comparison import Comparison

FIGURES = ("relative", "percentiles", "survival", "attribution")


def save(comparison: Comparison, directory: Path) -> list[Path]:
    """Write `comparison.json` and the figures; those of an earlier comparison go."""
    from ninescope import pictures
    from ninescope.lab.compare.attribution import draw
    from ninescope.lab.compare.figures import figures

    written = []
    with output_directory(directory) as folder:
        for figure in figures(comparison):
            written += pictures.save(figure, folder)
        attribution = draw(comparison)
        if attribution is not None:
            path = folder / "attribution.png"
            with written_whole(path) as temporary:
                attribution.savefig(temporary, format="png")
            written.append(path)
        written.append(save_json(comparison, folder / COMPARISON))
        for name in FIGURES:
            path = folder / f"{name}.png"
            if path not in written:
                path.unlink(missing_ok=True)
    return written[::-1]


def save_json(comparison: Comparison, path: Path) -> Path:
    """Write the comparison as one JSON file."""
    with output_file(path) as temporary:
        temporary.write_text(json.dumps(comparison.document(), indent=2) + "\n", encoding="utf-8")
    return path
