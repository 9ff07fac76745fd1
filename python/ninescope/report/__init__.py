"""Reports: one HTML file that needs nothing else.

`document` says what a report consists of, `html` writes it; `single` makes the document of one run, `paired`
that of a comparison, `search` that of a search. Nothing here knows papers, which make one of their own.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ninescope.report.document import Document


def write(document: Document, path: Path) -> Path:
    """Write a document as an HTML file, whole or not at all; return its path."""
    from ninescope.common.files import output_file
    from ninescope.report.html import render

    text = render(document)
    with output_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path
