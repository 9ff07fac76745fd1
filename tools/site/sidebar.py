"""The list of pages beside each page.

The theme has Sphinx put together the whole tree anew for each page, which would be most of what building the
site takes. Here it is the sections of the navigation, and the pages below the one that is open.
"""

from __future__ import annotations

import html
from typing import Any

from places import navigation, place
from sphinx.application import Sphinx

CAPTION = '<p class="caption" role="heading"><span class="caption-text">{}</span></p>'


def setup(app: Sphinx) -> dict[str, bool]:
    """Have the list made here: the theme, in between, finds nothing to make it of."""
    # Whatever moves on it is written anew on each page.
    app.add_config_value("navigation", navigation(), "html")
    app.connect("html-page-context", _take_away, priority=400)
    app.connect("html-page-context", _put, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _take_away(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    context.pop("toctree", None)


def _put(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    context["furo_navigation_tree"] = "".join(
        CAPTION.format(html.escape(section["title"]))
        + _listed(app, page, [_name(named) for named in section["pages"]], 1)
        for section in navigation()
    )


def _name(page: str) -> str:
    at = page if page.startswith("reference/") else place(page)
    return at.removesuffix(".md").removesuffix(".rst")


def _listed(app: Sphinx, open_page: str, pages: list[str], level: int) -> str:
    """Return pages as a list, with those below a page where one of them, or it itself, is open."""
    items = []
    for page in pages:
        below = app.env.toctree_includes.get(page, [])
        inside = _holds(app, page, open_page)
        classes = [f"toctree-l{level}", *["current"] * inside, *["current-page"] * (page == open_page)]
        title = html.escape(app.env.titles[page].astext())
        link = f'href="{app.builder.get_relative_uri(open_page, page)}"'
        inner = _listed(app, open_page, below, level + 1) if below and inside else ""
        of = f'<li class="{" ".join(classes)}">'
        items.append(f'{of}<a class="reference internal" {link}>{title}</a>{inner}</li>')
    return f"<ul>{''.join(items)}</ul>"


def _holds(app: Sphinx, page: str, other: str) -> bool:
    return page == other or any(_holds(app, each, other) for each in app.env.toctree_includes.get(page, []))
