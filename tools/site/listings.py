"""Sources that pages link to, as HTML with lines that can be named."""

from __future__ import annotations

import html
import os
from pathlib import Path, PurePosixPath

from places import ROOT, write
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font-family: sans-serif; margin: 1rem 2rem; }}
pre {{ line-height: 1.3; overflow-x: auto; }}
{style}
</style>
<p><a href="{home}">The documentation</a></p>
<h1>{title}</h1>
{body}
</html>
"""


def write_all(site: Path, listed: dict[str, Path]) -> None:
    """Write a page for each source, and one for each folder with what lies in it."""
    formatter: HtmlFormatter[str] = HtmlFormatter(linenos="inline", lineanchors="line", style="friendly")
    style = formatter.get_style_defs()
    for at, path in listed.items():
        folder = PurePosixPath(at).parent
        body = _contents(path, folder, listed) if path.is_dir() else _lines(path, formatter)
        home = os.path.relpath("index.html", folder)
        title = html.escape(path.relative_to(ROOT).as_posix())
        write(site / at, PAGE.format(title=title, style=style, home=home, body=body))


def _lines(path: Path, formatter: HtmlFormatter[str]) -> str:
    try:
        lexer = get_lexer_for_filename(path.name)
    except ClassNotFound:
        lexer = TextLexer()
    return str(highlight(path.read_text(encoding="utf-8"), lexer, formatter))


def _contents(path: Path, folder: PurePosixPath, listed: dict[str, Path]) -> str:
    inner = [(at, of) for at, of in listed.items() if of.parent == path]
    items = (f'<a href="{os.path.relpath(at, folder)}">{html.escape(of.name)}</a>' for at, of in inner)
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"
