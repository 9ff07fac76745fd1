"""Papers 000 and 004: the whole experiments with few requests, and what they infer.

What they share with paper 001 is in `test_hybrid_papers.py`.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from random import Random
from typing import Any

import pytest

import miniature
import ninescope
from conftest import NATIVE, ROOT
from ninescope.papers import arrangements, runner, stand_ins
from ninescope.papers.experiment import Settings

FOLDERS = {"000": ROOT / "experiments/000-hybrid-ecc", "004": ROOT / "experiments/004-multi-scm"}
BRIEF_RUNS = {
    # Of each volume three sweeps of four strengths and one of four verify cycles, each of which but the first
    # begins with a run of another; and one placement.
    "000": 2 * (4 + 3 + 3 + 3 + 1),
    # Of two volumes a share, two cases and S-SCM alone; of prxy_1 its share is that of a case; of proj_3 six
    # shares, of which one is that of a case.
    "004": 2 * (1 + 2 + 1) + (2 + 1) + (6 + 1 + 1),
}
FIGURES = {
    "000": ["figure-2", "figure-3", "figure-4", "figure-5"],
    "004": ["performance", "cost", "wear-levelling", "endurance", "weak-levelling"],
}
LENGTHS = {"000": 0.004, "004": 0.003}
FOOTPRINTS = {"000": 126 << 20, "004": 444 << 20}
"""About the smallest of a brief run."""
needs_engine = pytest.mark.skipif(not NATIVE, reason="the engine is not built")


def module_of(paper: str) -> Any:
    """What is simulated: `experiment.py`."""
    return runner.load(FOLDERS[paper] / "experiment.py")


@needs_engine
@pytest.mark.parametrize("paper", FOLDERS)
def test_the_whole_experiment_runs_with_few_requests(paper):
    found = miniature.run(FOLDERS[paper], Settings(length=LENGTHS[paper]))
    assert [figure.name for figure in found.figures] == FIGURES[paper]
    brief = miniature.run(FOLDERS[paper], Settings(length=LENGTHS[paper], brief=True))
    # A brief run leaves out runs, and those that it has are the same.
    runs = 0
    for name, point in brief.results.items():
        for run, result in point["runs"].items():
            assert result == found.results[name]["runs"][run]
            runs += 1
    assert runs == BRIEF_RUNS[paper] < sum(len(point.get("runs", [])) for point in found.results.values())


@needs_engine
@pytest.mark.parametrize("paper", FOLDERS)
def test_a_full_run_comes_to_all_tables_and_figures(paper):
    settings = Settings(quick=False, length=LENGTHS[paper] / 10)
    found = miniature.run(FOLDERS[paper], settings)
    assert [figure.name for figure in found.figures] == FIGURES[paper]


# ---- what the papers leave open ------------------------------------------------------------------------


class Recorded:
    """A drive that says what it is asked to run, and runs nothing."""

    def __init__(self, asked: list[Any], description: Any) -> None:
        self._asked, self._description = asked, description

    def run(self, workload: Any, *, seed: int, warmup: float) -> Any:
        self._asked.append((workload, seed, warmup, self._description))
        medium = {"counters": {"sectors_read": 1, "sectors_written": 1}, "wear": {}, "copies_per_write": None}
        return ninescope.Result(
            {
                "throughput": {op: {"iops": 1.0, "requests": 1} for op in ("read", "write")},
                "scm": medium,
                "storage_scm": medium,
                "config": {"drive": {"scm": {"capacity": "1MiB"}}},
                "digest": "",
                "workload": {"hash": "1"},
                "requests": 1,
            }
        )


def simulated(paper: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """All that a brief run asks of drives: which requests, how many are left out, and what drive it is."""
    module, asked = module_of(paper), []

    def draw(name: str, requests: int, *, seed: int) -> stand_ins.StandIn:
        row = {"requests": 1, "writes": 0, "mean_read_bytes": 0, "mean_write_bytes": 0, "class": {}}
        statistics = {**row, "read_footprint_bytes": 0, "written_footprint_bytes": 0}
        drawn: Any = (name, requests)
        return stand_ins.StandIn(name, drawn, statistics, FOOTPRINTS[paper])

    monkeypatch.setattr(stand_ins, "draw", draw)
    monkeypatch.setattr(stand_ins, "drive", functools.partial(Recorded, asked))
    for point in module.points(settings):
        module.simulate(point, settings)
    return asked


@needs_engine
@pytest.mark.parametrize("paper", FOLDERS)
def test_every_inferred_value_changes_what_is_simulated(paper, monkeypatch):
    chosen = simulated(paper, Settings(brief=True), monkeypatch)
    assert simulated(paper, Settings(brief=True, varied="nothing", factor=0.5), monkeypatch) == chosen
    names = [inferred.name for inferred in module_of(paper).INFERRED]
    assert len(set(names)) == len(names) >= 6
    for name in names:
        found = [
            simulated(paper, Settings(brief=True, varied=name, factor=factor), monkeypatch)
            for factor in (0.5, 1.5)
        ]
        assert found[0] != found[1], name
        assert chosen != found[1], name


@needs_engine
@pytest.mark.parametrize("paper", FOLDERS)
def test_drives_of_inferred_values_can_be_built(paper, monkeypatch):
    job = ninescope.Workload.job(rw="randrw", bs="4k", size="16MiB", requests=5)
    build = stand_ins.drive
    for inferred, factor in itertools.product(module_of(paper).INFERRED, (0.5, 1.5)):
        settings = Settings(brief=True, varied=inferred.name, factor=factor)
        for _, _, warmup, description in simulated(paper, settings, monkeypatch)[::5]:
            assert build(description).run(job, warmup=warmup).document["requests"] > 0


# ---- paper 004: what no statistic fixes ------------------------------------------------------------------


def rows_of(stand_in: stand_ins.StandIn) -> list[tuple[str, int, int]]:
    """Each request: what it does, where it begins and how long it is, in sectors."""
    rows = arrangements._rows(stand_in)
    return list(zip(rows["op"], rows["lba"], rows["sectors"], strict=True))


def pages_of(request: tuple[str, int, int]) -> range:
    _, lba, sectors = request
    return range(lba // 8, (lba + sectors - 1) // 8 + 1)


def uses_of(requests: list[tuple[str, int, int]]) -> dict[int, int]:
    return Counter(page for request in requests for page in pages_of(request))


@pytest.fixture(scope="module")
def drawn() -> stand_ins.StandIn:
    return stand_ins.draw("hm_0", 20_000, seed=1)


@needs_engine
@pytest.mark.parametrize("how", ["by first use", "by popularity"])
def test_pages_lie_elsewhere_and_their_requests_stay(how, drawn):
    before, after = rows_of(drawn), rows_of(module_of("004").ARRANGEMENTS[how](drawn))
    assert [(op, lba % 8, sectors) for op, lba, sectors in before] == [
        (op, lba % 8, sectors) for op, lba, sectors in after
    ]
    # One page becomes one page, whatever request touches it, and nothing lies between them.
    moved: dict[int, int] = {}
    for old, new in zip(before, after, strict=True):
        for page, place in zip(pages_of(old), pages_of(new), strict=True):
            assert moved.setdefault(page, place) == place
    assert sorted(moved.values()) == list(range(len(moved)))
    uses = uses_of(after)
    if how == "by first use":
        # Neighbours that are used later stay, so that not every page lies where its turn is.
        turns = dict.fromkeys(page for request in after for page in pages_of(request))
        late = sorted(abs(page - turn) for turn, page in enumerate(turns))
        assert late[len(late) // 2] < len(moved) / 20
    else:
        # Pages that were side by side stay so; the busier such a stretch is on average, the earlier it lies.
        old = sorted(moved)
        ends = [page for page, following in zip(old, [*old[1:], -1], strict=True) if following != page + 1]
        begins = [page for page, before in zip(old, [-2, *old], strict=False) if before != page - 1]
        stretches = {
            moved[begin]: sum(uses[moved[page]] for page in range(begin, end + 1)) / (end + 1 - begin)
            for begin, end in zip(begins, ends, strict=True)
        }
        busy = [int(1000 * stretches[place]) for place in sorted(stretches)]
        assert busy == sorted(busy, reverse=True)
        assert len(set(busy)) > 3


@needs_engine
def test_busy_pages_are_used_from_the_beginning_to_the_end(drawn, monkeypatch):
    monkeypatch.setattr(arrangements, "BUSY", 20)
    before, after = rows_of(drawn), rows_of(arrangements.without_pauses(drawn))
    assert Counter(before) == Counter(after)
    begun = Counter(lba // 8 for _, lba, _ in before)
    busy = [page for page, count in begun.items() if count >= 20]
    assert len(busy) >= 5
    for page in busy:
        own = [[request for request in each if request[1] // 8 == page] for each in (before, after)]
        assert own[0] == own[1]
        places = [place for place, request in enumerate(after) if request[1] // 8 == page]
        # Within a few gaps of either end: others move between them.
        gap = len(after) / len(places)
        assert places[0] <= 3 * gap
        assert len(after) - places[-1] <= 3 * gap
    idle = [lba for _, lba, _ in before if begun[lba // 8] < 20]
    assert [lba for _, lba, _ in after if begun[lba // 8] < 20] == idle


@needs_engine
@pytest.mark.parametrize("scattered", [True, False])
def test_of_requests_nothing_is_kept_but_distances(scattered, drawn):
    before = rows_of(drawn)
    arranged = arrangements.by_distances(drawn, scattered=scattered)
    after = rows_of(arranged)
    assert [op for op, _, _ in before] == [op for op, _, _ in after]
    # An address is asked for as a whole each time, and no two share a page.
    sizes = dict({(lba, sectors) for _, lba, sectors in after})
    assert len(sizes) == len({lba for _, lba, _ in after})
    owners = Counter(page for request in sizes.items() for page in pages_of(("", *request)))
    assert set(owners.values()) == {1}
    assert arranged.footprint == 4096 * len(owners)
    assert sorted(owners) == list(range(len(owners)))
    # What naive caches miss of the first pages is what it was; of 20,000 draws within 4 standard deviations.
    for size in (1, 8, 64, 512, 4096):
        ratios = [lru_misses([lba // 8 for _, lba, _ in each], size) / len(each) for each in (before, after)]
        off = 4 * (ratios[0] * (1 - ratios[0]) / len(before)) ** 0.5
        assert abs(ratios[0] - ratios[1]) <= off + 0.01, size
    turns = list(dict.fromkeys(lba for _, lba, _ in after))
    assert (turns == sorted(turns)) is not scattered


def lru_misses(pages: list[int], size: int) -> int:
    cache: dict[int, None] = {}
    missed = 0
    for page in pages:
        missed += page not in cache
        cache.pop(page, None)
        cache[page] = None
        if len(cache) > size:
            del cache[next(iter(cache))]
    return missed


def test_a_stack_of_blocks_is_the_stack():
    """Against one list, with splits and merges of blocks on the way."""
    random = Random(3)
    depths = [
        arrangements.NEW if random.random() < 0.3 else int(random.paretovariate(0.4)) - 1
        for _ in range(40_000)
    ]
    stack: list[int] = []
    for depth, address in zip(depths, arrangements._of_a_stack(depths), strict=True):
        if depth == arrangements.NEW or not stack:
            assert address == len(stack)
        else:
            assert address == stack.pop(max(len(stack) - 1 - depth, 0))
        stack.append(address)
    assert len(stack) > 5_000
