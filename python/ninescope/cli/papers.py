"""`ninescope papers`: published claims, judged by experiments."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ninescope.cli import papers_options as options
from ninescope.cli.common import EXIT_FAILURE, Interrupted, console
from ninescope.cli.sweep import workers

if TYPE_CHECKING:
    from ninescope.lab.pool import Pool
    from ninescope.papers.catalogue import Paper
    from ninescope.papers.experiment import Settings
    from ninescope.papers.report import Report
    from ninescope.papers.runner import Step
    from ninescope.papers.sensitivity import Sensitivity
    from ninescope.papers.values import Values

app = typer.Typer(help="Judge published claims by experiments.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def papers_list(
    experiments: options.Experiments = None,
    json_: options.ListJson = False,
) -> None:
    """List the papers and how many of their claims hold; with --json each claim and its verdict."""
    from ninescope.papers import catalogue

    found = [
        (paper, paper.claims(), paper.baseline())
        for paper in catalogue.papers(catalogue.experiments_folder(experiments))
    ]
    if json_:
        papers = [
            {
                "id": paper.id,
                "title": claims.title,
                "citation": claims.citation,
                "claims": [claim.id for claim in claims.claims],
                "baseline": baseline,
            }
            for paper, claims, baseline in found
        ]
        print(json.dumps({"papers": papers}))
        return
    for paper, claims, baseline in found:
        print(f"{paper.id}  {claims.title}\n     {claims.citation}")
        for mode, verdicts in baseline.items():
            published = [claim.id for claim in claims.claims if claim.origin != "ours"]
            held = sum(verdicts.get(claim) == "holds" for claim in published)
            print(f"     {mode}: {held} of {len(published)} claims hold")
        if not baseline:
            print(f"     {len(claims.claims)} claims, none judged yet")


@app.command("run")
def papers_run(
    paper: options.Paper,
    quick: options.Quick = False,
    full: options.Full = False,
    json_: options.RunJson = False,
    out: options.RunOut = None,
    jobs: options.Jobs = None,
    dask: options.Dask = None,
    seed: options.Seed = 1,
    experiments: options.Experiments = None,
    traces: options.Traces = None,
    renew_baseline: options.RenewBaseline = False,
) -> None:
    """Measure what a paper claims, and judge it.

    Exits with 1 where a claim that holds in the committed baseline no longer does.
    """
    from ninescope.papers import catalogue
    from ninescope.papers.experiment import Settings

    if quick and full:
        raise typer.BadParameter("--quick or --full, not both")
    if renew_baseline:
        _refuse_as_baseline(seed, traces)
    if out is not None and not out:
        raise typer.BadParameter("--out wants a directory, and its name is empty")
    folder_of_all = catalogue.experiments_folder(experiments)
    chosen = catalogue.chosen(folder_of_all, paper)
    for one in chosen:  # before anything runs for minutes
        one.published()
        one.baseline()
    real = {} if traces is None else catalogue.real_volumes(chosen, traces, folder_of_all, _not_used)
    settings = {one.id: Settings(quick=not full, seed=seed, volumes=real.get(one.id, ())) for one in chosen}
    reports = []
    for one, folder, report in _judged_each(chosen, settings, out, paper, jobs=jobs, dask=dask):
        if renew_baseline:
            one.renew_baseline(report.mode, report.verdicts)
        reports.append(report)
        if not json_:
            from ninescope.papers.report import print_report

            print_report(report, console())
            if folder is not None:
                print(f" written to {folder}")
    if len(reports) > 1 and not json_:
        from ninescope.papers.report import print_summary

        print_summary(reports, console())
    if json_:
        from ninescope.papers.report import together

        print(json.dumps(together(reports)))
    if out is not None:
        _write_html(Path(out), say=not json_)
    if renew_baseline:
        return
    _fail_if_worse(reports)


@app.command("sensitivity")
def papers_sensitivity(
    paper: options.Paper,
    out: options.SensitivityOut = None,
    jobs: options.Jobs = None,
    dask: options.Dask = None,
    seed: options.Seed = 1,
    experiments: options.Experiments = None,
    json_: options.SensitivityJson = False,
) -> None:
    """Say which values that a paper does not give its quantitative claims hang on.

    Each is halved and made half as large again, one at a time, and the claims are judged again.
    """
    from ninescope.papers import catalogue

    if out is not None and not out:
        raise typer.BadParameter("--out wants a directory, and its name is empty")
    chosen = catalogue.chosen(catalogue.experiments_folder(experiments), paper)
    for one in chosen:
        one.claims()
    documents = []
    for one in chosen:
        folder = _folder(out, one, paper)
        with _telling_what_is_kept(folder), workers(jobs, None, dask, None) as given:
            found = _examined(one, folder, seed=seed, jobs=jobs, given=given)
        documents.append(found.as_json())
        if not json_:
            from ninescope.papers.report import print_sensitivity

            print_sensitivity(found, console())
    if json_:
        print(json.dumps({"papers": documents}))
    if out is not None:
        _write_html(Path(out), say=not json_)


def _not_used(why: str) -> None:
    """Tell of a volume that is there and no paper needs."""
    print(f"ninescope: not used: {why}", file=sys.stderr)


def _refuse_as_baseline(seed: int, traces: str | None) -> None:
    if seed != 1:
        raise typer.BadParameter("the baseline is that of seed 1: --renew-baseline goes without --seed")
    if traces is not None:
        raise typer.BadParameter("the baseline is that of stand-ins: --renew-baseline goes without --traces")


def _folder(out: str | None, paper: Paper, word: str) -> Path | None:
    """Return the folder of a paper: with `all` each has its own, which a paper alone finds again."""
    if out is None:
        return None
    own = Path(out, paper.id)
    return own if word == "all" or own.is_dir() else Path(out)


def _write_html(out: Path, *, say: bool) -> None:
    """Write one report of all that is in the folder; without claims there is none."""
    from ninescope.common.files import written_whole
    from ninescope.papers import document
    from ninescope.report.html import render

    if not document.is_of_papers(out):
        return
    file = out / "report.html"
    text = render(document.of_folder(out))
    with written_whole(file) as temporary:
        temporary.write_text(text, encoding="utf-8")
    if say:
        print(f" report: {file}")


def _fail_if_worse(reports: list[Report]) -> None:
    worse = [(report, claim) for report in reports for claim in report.regressions]
    for report, claim in worse:
        now = report.verdicts.get(claim, "no claim any more")
        print(
            f"ninescope: {claim} holds in {report.paper.baseline_file}, and now it is: {now}", file=sys.stderr
        )
    if worse:
        raise typer.Exit(EXIT_FAILURE)


def _judged_each(
    chosen: Sequence[Paper],
    settings: Mapping[str, Settings],
    out: str | None,
    word: str,
    *,
    jobs: int | None,
    dask: str | None,
) -> Iterator[tuple[Paper, Path | None, Report]]:
    """Run the experiments of papers one after the other; yield each with its folder and what was judged."""
    values = {paper.id: paper.values() for paper in chosen}  # before anything runs for minutes
    marks = {paper.id: paper.marks(values[paper.id]) for paper in chosen}
    for paper in chosen:
        folder = _folder(out, paper, word)
        with _telling_what_is_kept(folder), workers(jobs, None, dask, None) as given:
            report = _judged(
                paper,
                folder,
                values[paper.id],
                marks[paper.id],
                settings[paper.id],
                jobs=jobs,
                given=given,
            )
        yield paper, folder, report


def _judged(
    paper: Paper,
    out: Path | None,
    values: Values,
    reasons: Mapping[str, str],
    settings: Settings,
    *,
    jobs: int | None,
    given: Pool | None,
) -> Report:
    """Run one paper's experiment and judge its claims."""
    from ninescope.common.files import output_directory
    from ninescope.papers import record, runner, together
    from ninescope.papers.catalogue import overruled, regressions
    from ninescope.papers.judge import judge
    from ninescope.papers.report import Report

    quick = settings.quick
    claims, published = paper.claims(), paper.published()
    with contextlib.nullcontext() if out is None else output_directory(out):
        with _failing(paper), _steps(paper.id) as on_step:
            measurement = runner.measure(
                paper.experiment_file,
                settings,
                jobs=jobs,
                on_step=on_step,
                keep_in=_points(out),
                workers=given,
            )
            inferred = () if out is None else runner.inferred(paper.experiment_file)
        measurement = measurement.with_tables(together.tables(claims.claims, measurement.summary.measured))
        judgements = tuple(judge(claim, measurement.summary.measured, quick=quick) for claim in claims.claims)
        verdicts = {judgement.claim.id: judgement.verdict for judgement in judgements}
        # What is committed was judged with stand-ins.
        baseline = {} if settings.volumes else paper.baseline()
        committed = baseline.get("quick" if quick else "full", {})
        report = Report(
            paper,
            claims,
            settings,
            judgements,
            measurement,
            tuple(regressions(committed, verdicts)),
            by_full_run=overruled(baseline.get("full", {}), verdicts) if quick else {},
            values=values,
            reasons=reasons,
        )
        if out is not None:
            record.save(report, out, published, inferred)
    return report


def _examined(
    paper: Paper, out: Path | None, *, seed: int, jobs: int | None, given: Pool | None
) -> Sensitivity:
    """Vary what a paper's experiment infers."""
    from ninescope.common.files import output_directory
    from ninescope.papers import sensitivity

    with contextlib.nullcontext() if out is None else output_directory(out):
        with _failing(paper), _steps(paper.id) as on_step:
            found = sensitivity.examine(
                paper, seed=seed, jobs=jobs, on_step=on_step, keep_in=_points(out), workers=given
            )
        if out is not None:
            sensitivity.save(found, out)
    return found


@contextlib.contextmanager
def _telling_what_is_kept(out: Path | None) -> Iterator[None]:
    """Say, where somebody interrupts, what of the work is not lost."""
    try:
        yield
    except Interrupted:
        points = _points(out)
        if points is None:
            print("ninescope: nothing is kept; with --out DIR a run goes on where it was", file=sys.stderr)
        else:
            count = sum(1 for _ in points.glob("*.json"))
            kept = f"{count:,} simulation{'' if count == 1 else 's'} kept in {points}"
            print(f"ninescope: {kept}; the same command goes on from there", file=sys.stderr)
        raise


def _points(out: Path | None) -> Path | None:
    return None if out is None else out / "points"


@contextlib.contextmanager
def _failing(paper: Paper) -> Iterator[None]:
    """Say which experiment failed, and how."""
    from ninescope.papers.runner import ExperimentError

    try:
        yield
    except ExperimentError as error:
        print(f"{str(error).rstrip()}\nninescope: the experiment of paper {paper.id} failed", file=sys.stderr)
        raise typer.Exit(EXIT_FAILURE) from None


@contextlib.contextmanager
def _steps(paper: str) -> Iterator[Any]:
    """Show on stderr how far an experiment is: a bar where that is a terminal, else a line per simulation."""
    if not sys.stderr.isatty():

        def line(step: Step) -> None:
            took = "kept" if step.kept else f"{step.seconds:.1f} s"
            print(
                f"{paper}  {step.done:>3} of {step.total}  {step.point} ({took})",
                file=sys.stderr,
                flush=True,
            )

        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"paper {paper}", total=None)

        def move(step: Step) -> None:
            bar.update(
                task, completed=step.done, total=step.total, description=f"paper {paper}: {step.point}"
            )

        yield move
