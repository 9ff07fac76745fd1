"""Build the documentation as a site: `make site`.

The pages of docs/ stay as they are, to be read where they lie too. What a site needs besides is put together
in a folder of its own: the pages with their links, a reference made of the schemas, the presets and the
command line, and the sources that pages link to. Sphinx makes HTML of it, with every warning an error.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from pathlib import Path

import listings
import reference
from places import ROOT, Pages, write


def assemble(source: Path) -> Pages:
    """Put the source of the site together; what is left of an earlier one goes."""
    pages = Pages.read(ROOT)
    texts = pages.texts() | reference.texts()
    for place, text in texts.items():
        write(source / place, text)
    for place, original in pages.copied.items():
        write(source / place, original.read_bytes())
    for path in [path for path in source.rglob("*") if path.is_file()]:
        if path.relative_to(source).as_posix() not in {*texts, *pages.copied}:
            path.unlink()
    return pages


def main() -> int:
    """Build the site, and say how long it took."""
    parser = argparse.ArgumentParser(description="Build the documentation as a site.")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "out/site", help="where; html/index.html comes first"
    )
    out = parser.parse_args().out
    began = time.monotonic()
    # A third of the time would go into looking for garbage among nodes that all live to the end.
    gc.disable()
    pages = assemble(out / "source")
    from sphinx.cmd.build import main as sphinx

    options = ["-q", "-W", "--keep-going", "-j", "auto", "-b", "html", "-c", str(Path(__file__).parent)]
    code: int = sphinx([*options, "-d", str(out / "doctrees"), str(out / "source"), str(out / "html")])
    if code:
        return code
    listings.write_all(out / "html", pages.listed)
    print(f"{out / 'html/index.html'}: {len(pages.placed)} pages, {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
