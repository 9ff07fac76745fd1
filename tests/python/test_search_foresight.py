"""What is said of a search before it runs: what no run measures, what no design costs, how long it takes."""

from __future__ import annotations

import re

import pytest

import ninescope
from conftest import NATIVE
from ninescope.lab.search.estimate import estimate
from ninescope.lab.search.file import SearchFile
from ninescope.lab.search.foresight import foreseen
from ninescope.lab.search.prices import priced
from search_samples import SMALL

needs_the_engine = pytest.mark.skipif(not NATIVE, reason="the engine is not built")


def wanting(goal: str, *changes: tuple[str, str]) -> SearchFile:
    """The small search with a constraint, changed."""
    text = SMALL.replace("trials = 12", f'constraints = ["{goal}"]\ntrials = 12')
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return SearchFile.parse(text)


@needs_the_engine
@pytest.mark.parametrize(
    ("goal", "changes", "said"),
    [
        # Of 300 requests half are reads: 150 or so, and at most 150 + 5 sqrt(75) = 193.
        ("read_p99 < 1ms", (), "too few requests: a run measures about 150 reads, and 1,000 are needed"),
        ("write_p99.99 < 1ms", (("requests = 300", "requests = 190_000"),),
         "about 95,000 writes, and 100,000 are needed"),
        ("read_p99 < 1ms", (("requests = 300", "requests = 1_200\nwarmup = 0.2"), ("randrw", "randread")),
         "a run measures 960 reads, and 1,000 are needed"),
        # A job leads in on a drive that was prepared to a steady state.
        ("write_p99.9 < 1s", (("requests = 300", 'requests = 10_500\nprefill = "steady-uniform"'),
                             ("randrw", "randwrite"), (', "read_mean"', "")),
         "a run measures 9,4[0-9]+ writes, and 10,000 are needed"),
        ("write_p50 < 1ms", (('"randrw"', '"randread"'),), "cannot be measured: nothing is written there"),
        ("read_iops > 5", (('"randrw"', '"write"'), (', "read_mean"', "")), "nothing is read there"),
    ],
)  # fmt: skip
def test_what_no_run_can_measure_is_refused_before_any(goal, changes, said):
    file = wanting(goal, *changes)
    with pytest.raises(ninescope.ConfigError, match=said) as error:
        foreseen(file)
    assert f"constraints: {goal} on " in str(error.value)


@needs_the_engine
@pytest.mark.parametrize(
    ("goal", "changes"),
    [
        ("read_p99 < 1ms", (("requests = 300", "requests = 2_000\nwarmup = 0.2"), ("randrw", "randread"))),
        ("p99 < 1ms", (("requests = 300", "requests = 1_000"), ("randrw", "randread"))),  # no writes: reads
        ("p90 < 1ms", ()),
        ("read_p99 < 1ms", (("requests = 300", "duration = '1s'"),)),  # nobody knows how many
        ("iops > 5", ()),
    ],
)
def test_what_can_be_measured_is_let_pass(goal, changes):
    assert foreseen(wanting(goal, *changes)) == []


@needs_the_engine
def test_what_may_not_be_measured_is_told():
    # A thousand reads are expected of two thousand requests, and needed.
    [doubt] = foreseen(wanting("read_p99 < 1ms", ("requests = 300", "requests = 2_000")))
    assert "read_p99 < 1ms on randrw may not be measured: a run measures about 1,000 reads" in doubt
    [doubt] = foreseen(wanting("waf < 3", ('"randrw"', '"randread"')))
    assert doubt == "waf < 3 on randread may not be measured: nothing is written there"
    # Designs with 10 % and 90 % reads: some measure enough of them.
    both = foreseen(
        wanting(
            "read_p99 < 1ms",
            ("requests = 300", "requests = 4_000"),
            ("[parameters]", '[parameters]\n"workload.rwmixread" = [10, 90]'),
        )
    )
    assert any("about 400 reads" in doubt for doubt in both)


@needs_the_engine
def test_what_short_runs_cannot_prune_by_is_told_by_operation():
    def told(requests: int, pruning: str) -> list[str]:
        changes = (("requests = 300", f"requests = {requests}"),
                   ("iodepth = 4", "iodepth = 4\nrwmixread = 75"),
                   ("pruning = false", ""), ("[final]", f"[pruning]\n{pruning}\n[final]"))  # fmt: skip
        return foreseen(wanting("p99 < 1ms", *changes))

    few = "short runs on randrw do not prune by "
    # 10,000 requests are 7,500 reads and 2,500 writes; 8,192 are needed.
    assert told(100_000, "short = 0.1") == [
        f"{few}read_mean: an interval takes 8,192, not about 7,500 reads",
        f"{few}read_p99: an interval takes 8,192, not about 7,500 reads",
        f"{few}write_p99: an interval takes 8,192, not about 2,500 writes",
    ]
    assert told(100_000, "short = 0.9") == []
    assert told(200_000, "short = 0.1")[0].startswith(f"{few}read_mean, unless it is far worse: about 15,000")
    # With seeds a percentile needs ten requests beyond it, and no more.
    assert told(100_000, "short = 0.1\nseeds = 3") == []
    assert told(8_000, "short = 0.4\nseeds = 3") == [
        f"{few}write_p99: compared by seeds it has to be measured, with 1,000, not about 800 writes"
    ]
    assert told(1_000_000, "short = 0.1") == []


@needs_the_engine
@pytest.mark.parametrize(
    ("goal", "said"),
    [
        # Flash at 1 per GB of which 10, 15 or 20 % more is bought than a host can address: whole units,
        # 119,156 of 131,072.
        ("cost_per_logical_gb < 1.1", "no design keeps cost_per_logical_gb < 1.1: the cheapest comes to 1.1"),
        ("cost_per_logical_gb <= 1.1", f"the cheapest comes to {131_072 / 119_156:.9g}"),
        ("cost_per_logical_gb > 1.3 on randrw", "the dearest comes to 1.2"),
        # 4 channels of 256 blocks of 32 pages of 16 KiB, whatever the host can address of it: 536,870,912 B.
        ("cost <= 0.5", "the cheapest comes to 0.5369"),
    ],
)
def test_a_cost_that_no_design_keeps_is_refused_before_any_run(goal, said):
    with pytest.raises(ninescope.ConfigError, match=re.escape(said)) as error:
        priced(wanting(goal))
    assert ", line 4: constraints: " in str(error.value)


@needs_the_engine
def test_a_cost_that_some_design_keeps_is_let_pass():
    assert priced(wanting("cost_per_logical_gb < 1.101")) == []
    assert priced(wanting("read_mean < 1us")) == []


@needs_the_engine
def test_a_cost_that_none_of_those_drawn_keeps_is_told():
    # More over-provisionings than are looked at, from 0.2 on, of which the least is hardly drawn.
    many = (
        '"ftl.over_provisioning" = [0.1, 0.15, 0.2]',
        '"ftl.over_provisioning" = { from = 0.2, to = 0.9 }',
    )
    [doubt] = priced(wanting("cost_per_logical_gb < 1.15", many))
    words, _, cheapest = doubt.rpartition(" comes to ")
    assert words == "none of 64 designs that were looked at keeps cost_per_logical_gb < 1.15: the cheapest"
    assert 1.2 <= float(cheapest) < 1.3
    assert priced(wanting("cost_per_logical_gb < 1.5", many)) == []


@needs_the_engine
def test_a_search_of_few_designs_takes_as_long_as_they_do():
    file = SearchFile.parse(
        SMALL.partition("[parameters]")[0] + '[parameters]\n"nand.read" = ["20us", "30us"]'
    )
    found = estimate(file, 2, probe=False)
    # 2 designs once, 2 candidates and 1 neighbour with 2 seeds.
    assert found.runs == 2 + 2 * (2 + 1)
    assert found.seconds is None
    assert 0 < found.worker_bytes <= found.all_bytes <= 2 * found.worker_bytes
    probed = estimate(file, 2)
    assert probed.seconds is not None
    assert 0 < probed.seconds.low <= probed.seconds.likely <= probed.seconds.high
    assert probed.begun == 1


@needs_the_engine
def test_words_of_workloads_that_say_nothing_are_told_unless_designs_change_words():
    def doubts(*changes: tuple[str, str]) -> tuple[str, ...]:
        text = SMALL
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        return ninescope.Search.from_toml(text).plan().doubts

    idle = ('rw = "randrw"', 'rw = "randread"\nrwmixread = 30')
    told = "`rwmixread` says nothing of `rw` randread, which is of one direction"
    assert told in doubts(idle)
    assert told not in doubts()
    varied = ("[parameters]", '[parameters]\n"workload.iodepth" = [1, 2]')
    assert told not in doubts(idle, varied)
