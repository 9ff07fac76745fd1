"""How Sphinx makes the site (`tools/site` puts its source together)."""

import re
import sys
from pathlib import Path
from typing import Any

import ninescope

sys.path.insert(0, str(Path(__file__).parent))

project = "ninescope"
copyright = "the ninescope maintainers"  # noqa: A001
version = release = ninescope.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sidebar"]
root_doc = "index"
# Quotes and dashes stay as they are typed.
smartquotes = False
# Fields are called `bytes` and `max`, as what is built in is.
suppress_warnings = ["ref.python"]

html_theme = "furo"
html_title = f"ninescope {version}"
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_theme_options = {"sidebar_hide_name": False}

# Links to headings are written as they are on a page that is looked at in the repository.
myst_heading_anchors = 4
# A listing of a source is no page of Sphinx: `{.external}` behind its link says so.
myst_enable_extensions = ["attrs_inline"]

# Docstrings are written as Markdown is: what stands between single backticks is code.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "undoc-members": False}


def setup(app: Any) -> None:
    """Leave out of signatures what is not for others."""
    app.connect("autodoc-process-signature", _for_others)


def _for_others(
    app: Any, what: str, name: str, of: object, options: object, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    return re.sub(r", _\w+: .*? = (\(\)|None)(?=[,)])", "", signature or "") or signature, returned
