"""Renew docs/papers from the output of `ninescope papers run all --full --out DIR`: none is written by hand.

    make papers-docs OUT=out/papers

    make papers-drawn

draws the figures of what is there again, after a change of how they look, and

    make papers-report

builds one file out of all the records, which is not kept with the code.

The first copies each paper's record and what claims hang on, draws its figures, writes a page for each
paper and one for all, and the summary in README.md. A test says that the pages are what the copied records
come to.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ninescope import pictures
from ninescope.papers import record, sensitivity
from ninescope.papers.document import (
    GIVEN_COLUMNS,
    INFERRED_COLUMNS,
    MARK_COLUMNS,
    MARKS_TITLE,
    PREDICTED_NOTE,
    RULES_COLUMNS,
    count_columns,
    counted,
    differing_words,
    fragile_words,
    given_rows,
    inferred_rows,
    mark_rows,
    measured_words,
    of_folder,
    own_claims,
    published_claims,
    published_words,
    rules_rows,
    under_words,
)
from ninescope.papers.judge import HOLDS
from ninescope.papers.record import figure_title, table_title
from ninescope.report.html import render

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs/papers"
GRADES = ("exact", "quantitative", "ordering")
BEGIN, END = "<!-- papers: begin -->", "<!-- papers: end -->"
_GENERATED = "<!-- Written by `make papers-docs` from a full run; not by hand. -->"
Stored = Mapping[str, Any]


def main(output: Path) -> None:
    """Take the output folder."""
    folders = [folder for folder in sorted(output.iterdir()) if (folder / record.FILE).is_file()]
    if not folders:
        sys.exit(f"{output}: there is no folder with a {record.FILE}")
    for folder in folders:
        found = record.read(folder)
        if found["mode"] != "full":
            sys.exit(f"{folder}: is of a {found['mode']} run; the pages are of a full one")
        kept = DOCS / folder.name
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        for name in (record.FILE, sensitivity.FILE):
            if (folder / name).is_file():
                shutil.copyfile(folder / name, kept / name)
    draw_again()
    for path, text in pages(DOCS):
        path.write_text(text, encoding="utf-8")
    readme = ROOT / "README.md"
    readme.write_text(with_summary(readme.read_text(encoding="utf-8"), DOCS), encoding="utf-8")


def draw_again() -> None:
    """Draw what the kept records hold."""
    for one in records(DOCS):
        for figure in map(record.figure, one["figures"]):
            titled = dataclasses.replace(figure, title=figure_title(figure))
            pictures.save(titled, DOCS / one["paper"]["id"], colours=pictures.SMALL)


def report(path: Path) -> None:
    """Write all records as one file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render(of_folder(DOCS)), encoding="utf-8")
    print(f"written to {path}")


def pages(docs: Path) -> Iterator[tuple[Path, str]]:
    """Write all pages from the records beside them."""
    found = records(docs)
    yield docs / "README.md", whole(found, docs)
    for one in found:
        folder = docs / one["paper"]["id"]
        yield folder.with_suffix(".md"), page(one, sensitivity.read(folder))


def records(docs: Path) -> list[Stored]:
    """Read all records."""
    return [record.read(folder) for folder in sorted(docs.iterdir()) if (folder / record.FILE).is_file()]


def with_summary(readme: str, docs: Path) -> str:
    """Put the summary of all papers between its marks."""
    text = f"{BEGIN}\n{by_paper(records(docs), docs, 'docs/papers/')}\n{END}"
    after, count = re.subn(f"{BEGIN}.*?{END}", lambda _: text, readme, count=1, flags=re.DOTALL)
    if not count:
        sys.exit(f"README.md has no place for the summary ({BEGIN})")
    return after


# ---- pages ---------------------------------------------------------------------------------------------


def whole(found: Sequence[Stored], docs: Path) -> str:
    """Write the page of all papers."""
    claims = published_claims([claim for one in found for claim in one["claims"]])
    ours = _own_in_words(found)
    parts = [
        "# Five papers on one simulator",
        _GENERATED,
        f"Of {len(claims)} published claims {_count(claims, HOLDS)} hold{ours}, in a full run, "
        f"seed {found[0]['seed']}. What does not is listed with its cause. [papers.md](../papers.md) says "
        "how claims are judged; `make papers-report` builds one file out of this, with figures that show "
        "values.",
        by_paper(found, docs, ""),
        PREDICTED_NOTE,
        by_grade(found),
        "## Claims",
        _table(
            ["claim", "statement", "published", "measured", "verdict"],
            [
                [
                    f"[{claim['id']}]({one['paper']['id']}.md#claims)",
                    _statement(claim),
                    published_words(claim["published"]),
                    measured_words(claim),
                    claim["verdict"],
                ]
                for one in found
                for claim in one["claims"]
            ],
        ),
        "## Manifest",
        _table(
            ["paper", "seed", "digest of all runs", "runs", "build", "commit", "processor time", "machine"],
            [
                [
                    one["paper"]["id"],
                    str(one["seed"]),
                    f"`{one['digest']}`",
                    f"{len(one['runs']):,}",
                    f"`{one['manifest']['build']}`",
                    f"`{one['manifest']['commit']}`",
                    f"{one['manifest']['busy_seconds']:,.0f} s",
                    one["manifest"]["machine"],
                ]
                for one in found
            ],
        ),
        "The same command gives the same digests on every machine:",
        "```text\nninescope papers run all --full --out out/papers\n"
        "ninescope papers sensitivity all --out out/papers\n```",
    ]
    return "\n\n".join(parts) + "\n"


def by_paper(found: Sequence[Stored], docs: Path, prefix: str) -> str:
    """Count verdicts by paper."""
    every = [claim for one in found for claim in one["claims"]]
    counts = count_columns(published_claims(every))
    rows = []
    for one in found:
        words = one["paper"]
        swings = sensitivity.read(docs / words["id"])
        fragile = "not examined"
        if swings is not None:
            fragile = fragile_words(one, swings)
        link = f"[{words['id']}]({prefix}{words['id']}.md)"
        rows.append([link, words["title"], *counted(published_claims(one["claims"]), counts), fragile])
    rows.append(["all", "published claims", *counted(published_claims(every), counts), ""])
    if ours := own_claims(every):
        named = ", ".join(claim["id"] for claim in ours)
        rows.append(["our own", f"not of a paper: {named}", *counted(ours, counts), ""])
    return _table(["paper", "about", *counts, "fragile"], rows)


def by_grade(found: Sequence[Stored]) -> str:
    """Count verdicts by grade."""
    counts = count_columns(published_claims([claim for one in found for claim in one["claims"]]))
    rows = []
    for grade in GRADES:
        claims = [
            claim for one in found for claim in published_claims(one["claims"]) if claim["grade"] == grade
        ]
        rows.append([grade, *counted(claims, counts)])
    return _table(["grade", *counts], rows)


def page(found: Stored, swings: Stored | None) -> str:
    """Write the page of a paper."""
    words, manifest = found["paper"], found["manifest"]
    claims = published_claims(found["claims"])
    held = _count(claims, HOLDS)
    parts = [
        f"# {words['id']}: {words['title']}",
        _GENERATED,
        f"{words['citation']}. {held} of {len(claims)} published claims hold"
        f"{_own_in_words([found])}. What is simulated, and what is "
        f"inferred about it, says [its experiment](../../experiments/{words['folder']}/README.md).",
        "\n".join(f"- {caveat}" for caveat in words["caveats"]),
        "## Claims",
        _table(
            ["claim", "grade", "statement", "published", "measured", "verdict"],
            [
                [
                    claim["id"],
                    claim["grade"],
                    _statement(claim),
                    published_words(claim["published"]),
                    measured_words(claim),
                    claim["verdict"],
                ]
                for claim in found["claims"]
            ],
        ),
        *_causes(found["claims"]),
        *_notes(found["claims"]),
        *_figures(found),
        *_tables(found),
        *_sensitivity(found, swings),
        "## Manifest",
        f"Mode {found['mode']}, seed {found['seed']}, ninescope {manifest['ninescope']}, build "
        f"`{manifest['build']}`, commit `{manifest['commit']}`, {len(found['runs']):,} runs in "
        f"{manifest['busy_seconds']:,.0f} s of processor time on {manifest['machine']}; digest of all runs "
        f"`{found['digest']}`. [The record]({words['id']}/{record.FILE}) has the digest, the hash of the "
        "workload and the hash of the configuration of each run.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _causes(claims: Sequence[Stored]) -> Iterator[str]:
    lost = [claim for claim in claims if claim["verdict"] != HOLDS]
    if lost:
        yield "## Why claims do not hold"
        yield "\n".join(f"- **{claim['id']}**: {claim['explanation'] or claim['cause']}" for claim in lost)


def _notes(claims: Sequence[Stored]) -> Iterator[str]:
    known = [claim for claim in claims if claim["verdict"] == HOLDS and claim.get("note")]
    if known:
        yield "## By how little claims hold, and on what they rest"
        yield "\n".join(f"- **{claim['id']}**: {claim['note']}" for claim in known)


def _figures(found: Stored) -> Iterator[str]:
    yield "## Figures"
    for figure in map(record.figure, found["figures"]):
        yield f"### {figure_title(figure)}"
        yield f"![{figure_title(figure)}]({found['paper']['id']}/{figure.name}.png)"
        if figure.caption:
            yield figure.caption


def _tables(found: Stored) -> Iterator[str]:
    yield "## Tables"
    for table in found["tables"]:
        published = table.get("published") or [[""] * len(row) for row in table["rows"]]
        rows = [
            [
                f"{_cell(cell)} *(published: {other})*" if other else _cell(cell)
                for cell, other in zip(row, beside, strict=True)
            ]
            for row, beside in zip(table["rows"], published, strict=True)
        ]
        yield f"### {table_title(table['title'])}"
        yield _table(table["columns"], rows)
        if table["note"]:
            yield table["note"]


def _sensitivity(found: Stored, swings: Stored | None) -> Iterator[str]:
    if given := found.get("given"):
        yield "## What the paper gives"
        yield _table(GIVEN_COLUMNS, given_rows(given))
    yield "## What it does not give"
    yield _table(INFERRED_COLUMNS, inferred_rows(found["inferred"]))
    if rules := found.get("rules"):
        yield "Rules that were chosen:"
        yield _table(RULES_COLUMNS, rules_rows(rules))
    if marks := found.get("marks"):
        yield f"## {MARKS_TITLE}"
        yield _table(MARK_COLUMNS, mark_rows(marks))
    yield "## Sensitivity"
    if swings is None:
        yield "No run has varied these values."
        return
    yield "Each was halved and made half as large again, one at a time, in quick runs:"
    yield _table(
        ["claim", "as chosen", "what it hangs on"],
        [[claim["id"], claim["chosen"]["verdict"], claim["words"]] for claim in swings["claims"]],
    )
    if differing := differing_words(found["claims"], swings):
        yield differing


def _own_in_words(found: Sequence[Stored]) -> str:
    ours = own_claims([claim for one in found for claim in one["claims"]])
    if not ours:
        return ""
    return (
        f", and {_count(ours, HOLDS)} of {len(ours)} of our own ({', '.join(claim['id'] for claim in ours)})"
    )


def _statement(claim: Stored) -> str:
    words = under_words(claim)
    return f"{claim['statement']} *({words})*" if words else str(claim["statement"])


def _count(claims: Sequence[Stored], verdict: str) -> int:
    return sum(claim["verdict"] == verdict for claim in claims)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |"
        for line in lines
    )


def _cell(cell: Any) -> str:
    if cell is None:
        return "-"
    return f"{cell:,.4g}" if isinstance(cell, float) else str(cell)


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    what = words.add_mutually_exclusive_group(required=True)
    what.add_argument("folder", type=Path, metavar="FOLDER", nargs="?", help="the output of a full run")
    what.add_argument("--drawn", action="store_true", help="draw what is kept again")
    what.add_argument("--report", type=Path, metavar="FILE", help="write what is kept as one file")
    given = words.parse_args()
    if given.drawn:
        draw_again()
    elif given.report:
        report(given.report)
    elif given.folder.is_dir():
        main(given.folder)
    else:
        words.error(f"{given.folder} is no folder")
