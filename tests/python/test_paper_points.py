"""Runs of papers that were interrupted go on where they were."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from conftest import command, quick_command
from ninescope import ConfigError
from ninescope.lab import pool
from ninescope.papers import points, runner
from ninescope.papers.experiment import Point, Settings
from ninescope.papers.points import Identity, Kept, PointStore

NATIVE = importlib.util.find_spec("ninescope._native") is not None

EXPERIMENT = """\
import os
from ninescope.papers.experiment import Point, Summary

def points(settings):
    return [Point(name, {"of": [name]}, weight) for name, weight in (("a", 1), ("b", 2), ("c", 3))]

def simulate(point, settings):
    notes = os.environ["NOTES"]
    with open(os.path.join(notes, point.name), "a") as file:
        file.write("simulated\\n")
    if os.path.exists(os.path.join(notes, "stop")) and point.name == "a":
        import time
        time.sleep(60)
    return {"answer": 0.1 + ord(point.name) + settings.seed}

def summarise(results, settings):
    return Summary({name: result["answer"] for name, result in results.items()})
"""

CLAIMS = """\
[paper]
id = "900"
title = "A paper made for tests"
citation = "nobody, nowhere"

[[claim]]
id = "9.1"
statement = "the answers ascend"
grade = "ordering"
published = "a < b < c"
source = "section 1"
[[claim.check]]
order = ["a", "<", "b", "<", "c"]
"""


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "experiments" / "900-test"
    folder.mkdir(parents=True)
    (folder / "experiment.py").write_text(EXPERIMENT)
    (folder / "claims.toml").write_text(CLAIMS)
    (folder / "values.toml").write_text("")
    (tmp_path / "notes").mkdir()
    monkeypatch.setenv("NOTES", str(tmp_path / "notes"))
    return folder / "experiment.py"


def simulated(experiment: Path) -> dict[str, int]:
    """Count how often each point was simulated."""
    notes = experiment.parents[2] / "notes"
    return {path.name: len(path.read_text().splitlines()) for path in notes.iterdir() if path.name != "stop"}


def measured(
    experiment: Path, keep_in: Path | None, **settings: object
) -> tuple[dict[str, object], list[bool]]:
    steps: list[bool] = []
    measurement = runner.measure(
        experiment,
        Settings(**settings),  # type: ignore[arg-type]
        jobs=1,
        on_step=lambda step: steps.append(step.kept),
        keep_in=keep_in,
    )
    return dict(measurement.summary.measured), steps


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_what_is_kept_is_not_simulated_again_and_says_the_same(experiment, tmp_path):
    folder = tmp_path / "points"
    first, steps = measured(experiment, folder)
    assert steps == [False, False, False]
    assert len(list(folder.iterdir())) == 3
    again, steps = measured(experiment, folder)
    assert steps == [True, True, True]
    assert again == first
    assert simulated(experiment) == {"a": 1, "b": 1, "c": 1}
    nowhere, steps = measured(experiment, None)
    assert (nowhere, steps) == (first, [False] * 3)


FURTHER = """\
from experiment import simulate as first
from ninescope.papers.experiment import Point

def points(settings):
    return [] if settings.quick else [Point("d", {"of": ["d"]}, 9)]

def simulate(point, settings):
    return first(point, settings)
"""


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_what_is_run_beside_makes_nothing_anew_of_what_is_judged(experiment, tmp_path):
    folder = tmp_path / "points"
    measured(experiment, folder, quick=False)
    further = experiment.with_name("further.py")
    further.write_text(FURTHER)
    found, steps = measured(experiment, folder, quick=False)
    assert sorted(steps) == [False, True, True, True]
    assert found["d"] == pytest.approx(101.1)
    assert measured(experiment, folder, quick=True)[1] == [False] * 3
    # A change of it concerns its own points, a change of the experiment those too.
    further.write_text(FURTHER + "# changed\n")
    assert sorted(measured(experiment, folder, quick=False)[1]) == [False, True, True, True]
    experiment.write_text(EXPERIMENT + "# changed\n")
    assert measured(experiment, folder, quick=False)[1] == [False] * 4
    further.write_text(FURTHER.replace('Point("d"', 'Point("a"'))
    with pytest.raises(ConfigError, match="two points have one name"):
        measured(experiment, folder, quick=False)


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_another_seed_mode_or_experiment_is_simulated_by_itself(experiment, tmp_path, monkeypatch):
    folder = tmp_path / "points"
    measured(experiment, folder)
    other, steps = measured(experiment, folder, seed=2)
    assert steps == [False] * 3
    assert other["a"] == pytest.approx(99.1)
    assert measured(experiment, folder, quick=False)[1] == [False] * 3
    # What was published, and what is written about it, has no part in it.
    (experiment.parent / "claims.toml").write_text(CLAIMS.replace("ascend", "rise"))
    (experiment.parent / "README.md").write_text("words")
    assert measured(experiment, folder)[1] == [True] * 3
    (experiment.parent / "drive.toml").write_text("summary = 'a drive'")
    assert measured(experiment, folder)[1] == [False] * 3
    assert len(list(folder.iterdir())) == 4 * 3
    # Whoever asks is another build than the workers: nothing is kept under its name, and nothing lost.
    monkeypatch.setattr(points, "build", lambda: "another build")
    with pytest.raises(ConfigError, match=r"runs another build of ninescope .*, and this is another build"):
        measured(experiment, folder)
    assert len(list(folder.iterdir())) == 4 * 3


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_a_worker_that_lives_on_never_runs_what_an_experiment_was_before(experiment, tmp_path):
    point, settings, before = Point("a", {"of": ["a"]}), Settings(), Identity.of(experiment)
    with pool.local(1) as workers:

        def simulated(identity: Identity):
            return workers.submit(runner._simulate, experiment, identity, point, settings).result()

        assert simulated(before)[1][0] == {"answer": pytest.approx(98.1)}
        experiment.write_text(EXPERIMENT.replace("0.1 + ", "0.2 + "))
        kind, words = simulated(before)
        assert (kind, "sees other files in" in words, str(experiment.parent) in words) == (
            "config",
            True,
            True,
        )
        assert simulated(Identity.of(experiment))[1][0] == {"answer": pytest.approx(98.2)}


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize("damage", ["", "{", "[]", '{"result": 1}', '{"result": {}}'])
def test_what_is_damaged_is_simulated_again(experiment, tmp_path, damage):
    folder = tmp_path / "points"
    first, _ = measured(experiment, folder)
    store = PointStore(folder, Identity.of(experiment), Settings())
    file = store.file(Point("b", {"of": ["b"]}))
    file.write_text(damage)
    again, steps = measured(experiment, folder)
    assert (again, sorted(steps)) == (first, [False, True, True])
    assert json.loads(file.read_text())["result"] == {"answer": 0.1 + ord("b") + 1}


def test_a_file_is_named_by_parameters_and_holds_what_was_put(experiment, tmp_path):
    identity = Identity("a build", "an experiment")
    store = PointStore(tmp_path / "points", identity, Settings())
    one, other = Point("a", {"x": 1, "y": [2]}), Point("a", {"x": 1, "y": [3]})
    assert store.file(one) != store.file(other)
    for another in (identity._replace(build="another"), identity._replace(experiment="another")):
        assert PointStore(store.folder, another, Settings()).file(one) != store.file(one)
    assert store.file(one) == store.file(Point("a", {"y": [2], "x": 1}, weight=7))
    assert store.get(one) is None
    store.put(one, Kept({"value": 0.1}, 1.25))
    assert store.get(one) == Kept({"value": 0.1}, 1.25)
    assert store.get(other) is None


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_all_papers_end_with_a_summary(experiment, cli):
    folder = experiment.parents[1]
    assert "All papers" not in cli("papers", "run", "900", "--experiments", folder).out
    other = folder / "901-other"
    other.mkdir()
    (other / "experiment.py").write_text(EXPERIMENT)
    (other / "values.toml").write_text("")
    (other / "claims.toml").write_text(
        CLAIMS.replace('"900"', '"901"').replace('"9.1"', '"9.2"').replace('"a"', '"d"')
    )
    (other / "experiment.py").write_text(
        EXPERIMENT.replace("Summary({", "Summary({'d': None, **{").replace("})", "}})")
    )
    out = cli("papers", "run", "all", "--experiments", folder).out
    rows = [line.split() for line in out[out.index("All papers") :].splitlines()]
    # Claims, those that hold, the predicted of them, those that are not reproduced, those not judged.
    assert rows[2][:6] == ["900", "1", "1", "1", "0", "0"]
    assert rows[3][:6] == ["901", "1", "0", "0", "0", "1"]
    assert rows[4][:6] == ["all", "2", "1", "1", "0", "1"]
    assert "not judged: 9.2" in out
    assert "in a full run" not in out
    (experiment.parent / "baseline.toml").write_text('[full]\n"9.1" = "not reproduced"\n')
    out = cli("papers", "run", "all", "--experiments", folder).out
    assert "not reproduced in a full run, which counts: 9.1" in out


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_a_run_that_was_killed_goes_on_and_ends_byte_for_byte_the_same(experiment, tmp_path):
    folder = experiment.parents[1]
    words = ["papers", "run", "900", "--jobs", "1", "--experiments", str(folder), "--out"]

    def run(out: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*quick_command(), *words, str(out)], capture_output=True, text=True, check=True
        )

    (tmp_path / "notes" / "stop").touch()
    out = tmp_path / "out"
    process = subprocess.Popen(
        [*command(), *words, str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    # The worker begins the last point while this process may still be writing those before it.
    while "a" not in simulated(experiment) or len(list((out / "points").glob("*.json"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert len(list((out / "points").glob("*.json"))) == 2
    assert not (out / "claims.json").exists()
    (tmp_path / "notes" / "stop").unlink()
    told = run(out).stderr
    assert told.count("(kept)") == 2
    run(tmp_path / "whole")
    for name in ("claims.json", "measured.json"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert simulated(experiment) == {"a": 3, "b": 2, "c": 2}
