"""Real volumes in the place of stand-ins: recognised by name, count and hash, and run like what is drawn."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import ninescope
from conftest import NATIVE, ROOT
from ninescope import ConfigError
from ninescope.papers import stand_ins
from ninescope.papers.experiment import Settings
from ninescope.papers.volumes import Volume, load_register, look
from ninescope.simulation.traces import convert

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")

REQUESTS = 400
ARCHIVES = 271_269_632 + 162_942_044
"""Requests of the two archives of MSR Cambridge, as SNIA gives them."""


def rows(host: str = "alpha", disk: int = 0, requests: int = REQUESTS, moved: int = 0) -> str:
    """Write a volume in the format of MSR Cambridge: a Windows file time, and bytes."""
    return "".join(
        f"{128166372003061629 + 10_000 * index},{host},{disk},{'Write' if index % 3 else 'Read'},"
        f"{4096 * (index * 7 % 64) + moved},{4096},{100 + index}\n"
        for index in range(requests)
    )


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "alpha_0.csv").write_text(rows())
    return tmp_path / "traces"


def register(folder: Path) -> dict[str, Volume]:
    known = ninescope.trace_stat(folder / "alpha_0.csv", format="msr")["hash"]
    return {"alpha_0": Volume("alpha_0", REQUESTS, known), "alpha_1": Volume("alpha_1", REQUESTS)}


def test_the_register_has_all_volumes_and_their_counts_sum_to_what_is_published():
    volumes = load_register(ROOT / "experiments" / "volumes.toml")
    assert len(volumes) == 36
    assert sum(volume.requests for volume in volumes.values()) == ARCHIVES


def test_a_volume_is_recognised_by_its_hash_compressed_or_not(folder):
    known = register(folder)
    [found] = look(folder, known, ["alpha_0"])
    assert (found.name, found.requests, found.hash) == ("alpha_0", REQUESTS, known["alpha_0"].hash)
    assert found.known == "known by its hash"
    (folder / "alpha_0.csv").unlink()
    (folder / "alpha_0.csv.gz").write_bytes(gzip.compress(rows().encode()))
    [compressed] = look(folder, known, ["alpha_0"])
    assert compressed.hash == found.hash
    # One without a registered hash is told to be known by less; others in the folder come along.
    (folder / "alpha_1.csv").write_text(rows(disk=1))
    both = look(folder, known, ["alpha_0"])
    assert [one.name for one in both] == ["alpha_0", "alpha_1"]
    assert both[1].known.endswith("its hash is not registered")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (rows(requests=300), "has 300 requests, alpha_0 has 400: it is cut off"),
        (rows(requests=500), "has 500 requests, alpha_0 has 400: it is not the published volume"),
        (rows(moved=4096), "those of alpha_0 have"),
        (rows(host="beta"), "holds beta_0, and should be alpha_0"),
        (rows()[:-20], "alpha_0.csv:400:"),
    ],
)
def test_another_volume_or_a_part_of_it_is_refused(folder, text, words):
    known = register(folder)
    (folder / "alpha_0.csv").write_text(text)
    with pytest.raises(ConfigError) as error:
        look(folder, known, ["alpha_0"])
    assert words in str(error.value)
    assert "alpha_0.csv" in str(error.value)


@pytest.mark.parametrize(
    ("published", "words"),
    [
        ({}, "its number of requests; its hash"),
        ({"writes": 266}, "its number of requests and of writes; its hash"),
        ({"writes": 266, "bytes": 1.64e6}, "its number of requests and of writes and its bytes; its hash"),
        ({"writes": 265}, "266 of its requests write, of alpha_0 265: it was changed"),
        ({"bytes": 1.66e6}, "of 1,638,400 bytes, those of alpha_0 of some 1,660,000: it was changed"),
    ],
)
def test_without_a_hash_published_numbers_have_to_be_met(folder, published, words):
    known = {"alpha_0": Volume("alpha_0", REQUESTS, **published)}
    if "changed" in words:
        with pytest.raises(ConfigError, match=words):
            look(folder, known, ["alpha_0"])
        return
    [found] = look(folder, known, ["alpha_0"])
    assert words in found.known


def test_a_bad_volume_that_nobody_needs_stops_nothing_and_is_told(folder):
    known = register(folder)
    (folder / "alpha_1.csv").write_text(rows(disk=1, requests=10))
    told: list[str] = []
    assert [one.name for one in look(folder, known, ["alpha_0"], told.append)] == ["alpha_0"]
    [words] = told
    assert "alpha_1.csv: has 10 requests, alpha_1 has 400: it is cut off" in words
    with pytest.raises(ConfigError, match="it is cut off"):
        look(folder, known, ["alpha_0", "alpha_1"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ('writes = "many"', "alpha_0.writes: must be a whole number"),
        ("bytes = true", "alpha_0.bytes: must be a number"),
        ("hash = 7", "alpha_0.hash: must be a text"),
        ("size = 7", "alpha_0.size: is not a key here"),
    ],
)
def test_a_bad_register_is_named(tmp_path, words, said):
    file = tmp_path / "volumes.toml"
    file.write_text(f"alpha_0 = {{ requests = 400, {words} }}\n")
    with pytest.raises(ConfigError, match=said):
        load_register(file)


def test_what_is_missing_is_named(folder, tmp_path):
    known = register(folder)
    with pytest.raises(ConfigError, match=r"alpha_1\.csv: no such file"):
        look(folder, known, ["alpha_0", "alpha_1"])
    with pytest.raises(ConfigError, match="no such folder"):
        look(tmp_path / "nowhere", known, [])
    # A compressed file that ends too soon.
    (folder / "alpha_1.csv.gz").write_bytes(gzip.compress(rows(disk=1).encode())[:-900])
    with pytest.raises(ConfigError, match=r"alpha_1\.csv\.gz"):
        look(folder, known, ["alpha_1"])


def test_a_volume_runs_as_its_stand_in_does_where_both_are_the_same_requests(tmp_path):
    """A stand-in, written as a volume, has to come to the same result when it is taken for one."""
    drawn = stand_ins.draw("prxy_0", 20_000, seed=3)
    file = tmp_path / "prxy_0.csv.zst"
    convert(drawn.workload.words["trace"], str(file), to="msr")
    names = ninescope.trace_stat(file, format="msr")
    known = {names["volumes"][0]["name"]: Volume(names["volumes"][0]["name"], 20_000)}
    [name] = known
    file.rename(tmp_path / f"{name}.csv.zst")
    settings = Settings(volumes=look(tmp_path, known, [name]))
    taken = stand_ins.take(name, 20_000, settings)
    assert taken.is_real
    assert not drawn.is_real
    assert taken.footprint == drawn.footprint
    drive = ninescope.Drive.preset("slc")
    results = [drive.run(one.workload, seed=1, prefill="none") for one in (drawn, taken)]
    assert results[0].digest == results[1].digest
    # Fewer requests are the first of them.
    assert stand_ins.take(name, 5_000, settings).statistics["requests"] == 5_000
    # A volume that nobody has is drawn.
    assert not stand_ins.take("hm_0", 1_000, settings).is_real


EXPERIMENT = """
from ninescope.papers import stand_ins
from ninescope.papers.experiment import Point, Summary
VOLUMES = ("alpha_0",)
def points(settings): return [Point("p")]
def simulate(point, settings):
    taken = stand_ins.take("alpha_0", 100, settings)
    return {"requests": taken.statistics["requests"], "is_real": taken.is_real}
def summarise(results, settings): return Summary({"a": int(results["p"]["is_real"])})
"""


@pytest.fixture
def experiments(tmp_path, folder) -> Path:
    paper = tmp_path / "experiments" / "900-test"
    paper.mkdir(parents=True)
    (paper / "experiment.py").write_text(EXPERIMENT)
    (paper / "values.toml").write_text("")
    (paper / "claims.toml").write_text(
        '[paper]\nid = "900"\ntitle = "A drive"\ncitation = "Nobody"\n\n[[claim]]\nid = "9.1"\n'
        'statement = "so"\ngrade = "exact"\npublished = 1\nsource = "here"\n'
        '[[claim.check]]\nvalue = "a"\nequals = 1\n'
    )
    known = register(folder)["alpha_0"].hash
    (paper.parent / "volumes.toml").write_text(f'alpha_0 = {{ requests = {REQUESTS}, hash = "{known}" }}\n')
    return paper.parent


def test_a_paper_runs_real_volumes_and_says_so(cli, experiments, folder, tmp_path):
    def run(*more: Any):
        return cli("papers", "run", "900", "--experiments", experiments, "--traces", folder, *more)

    found = run("--out", tmp_path / "out")
    assert found.code == 0
    assert "Real traces, where claims speak of stand-ins: alpha_0 (400 requests" in " ".join(
        found.out.split()
    )
    stored = json.loads((tmp_path / "out" / "report.json").read_text())
    [volume] = stored["real_traces"]
    assert (volume["name"], volume["known"]) == ("alpha_0", "known by its hash")
    # Where it lies is nobody's business.
    assert str(folder) not in (tmp_path / "out" / "report.json").read_text()
    assert "alpha_0 (400 requests" in (tmp_path / "out" / "report.html").read_text()
    assert run("--renew-baseline").code == 2
    # Nobody runs it.
    register_file = experiments / "volumes.toml"
    register_file.write_text(register_file.read_text() + "beta_0 = { requests = 7 }\n")
    (folder / "beta_0.csv").write_text(rows(host="beta", requests=3))
    told = run()
    assert told.code == 0
    assert "ninescope: not used:" in told.err
    assert "beta_0.csv: has 3 requests, beta_0 has 7: it is cut off" in told.err
    (folder / "alpha_0.csv").write_text(rows(requests=10))
    failed = run()
    assert (failed.code, failed.out) == (2, "")
    assert "it is cut off" in failed.err


def test_a_paper_without_volumes_refuses_traces(cli, folder):
    found = cli("papers", "run", "002", "--traces", folder)
    assert found.code == 2
    assert "paper 002 runs no published volume" in found.err
