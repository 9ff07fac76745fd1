"""`trace stat` against the definitions in docs/trace-statistics.md, computed the slow and obvious way."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

import ninescope

PAGE = 4096
WITHIN_A_BUCKET = 1 / 256


def random_trace(seed: int) -> list[tuple[int, str, int, int]]:
    """Rows of (time in ns, op, offset in bytes, size in bytes); times in units of 100 ns."""
    draw = random.Random(seed)
    rows, time, end = [], 0, 0
    pages = draw.choice([3, 40, 400])
    for _ in range(draw.choice([1, 2, 50, 600])):
        time += draw.choice([0, 1, 7, 1000, 123_456, 10**9]) * 100
        offset = end if draw.random() < 0.2 else draw.randrange(pages) * PAGE + 512 * draw.randrange(8)
        size = 512 * draw.choice([1, 8, 8, 8, 9, 64, 200])
        end = offset + size
        rows.append((time, draw.choice(["Read", "Write", "Write"]), offset, size))
    return [(time - rows[0][0], *rest) for time, *rest in rows]


def nearest_rank(values: list[int], percent: int) -> int:
    return sorted(values)[math.ceil(len(values) * percent / 100) - 1]


def pages_of(offset: int, size: int) -> range:
    return range(offset // PAGE, -(-(offset + size) // PAGE))


def bars(sizes: list[int]) -> list[dict[str, int]]:
    counts = Counter(1 << (size - 1).bit_length() for size in sizes)
    return [{"up_to_bytes": size, "count": count} for size, count in sorted(counts.items())]


def share_of_top(counts: Counter[int], percent: int) -> float | None:
    if not counts:
        return None
    top = math.ceil(len(counts) * percent / 100)
    return sum(sorted(counts.values(), reverse=True)[:top]) / sum(counts.values())


def stack_distances(accesses: list[int]) -> list[int | None]:
    stack: list[int] = []
    distances: list[int | None] = []
    for page in accesses:
        distances.append(stack.index(page) if page in stack else None)
        if page in stack:
            stack.remove(page)
        stack.insert(0, page)
    return distances


@pytest.fixture(params=range(24))
def rows(request) -> list[tuple[int, str, int, int]]:
    return random_trace(request.param)


@pytest.fixture
def stat(rows, tmp_path):
    path = tmp_path / "random.csv"
    path.write_text("".join(f"{t // 100},host,0,{op},{offset},{size},0\n" for t, op, offset, size in rows))
    return ninescope.trace_stat(path, strict=True)


def test_counts_and_footprints(rows, stat):
    touched = {
        op: [page for _, o, *where in rows if o == op for page in pages_of(*where)]
        for op in ("Read", "Write")
    }
    reads, writes = ([size for _, op, _, size in rows if op == name] for name in ("Read", "Write"))
    assert (stat["requests"], stat["reads"], stat["writes"]) == (len(rows), len(reads), len(writes))
    assert (stat["read_bytes"], stat["write_bytes"]) == (sum(reads), sum(writes))
    assert stat["footprint_bytes"] == PAGE * len({*touched["Read"], *touched["Write"]})
    assert stat["read_footprint_bytes"] == PAGE * len(set(touched["Read"]))
    assert stat["written_footprint_bytes"] == PAGE * len(set(touched["Write"]))
    assert stat["duration_ns"] == rows[-1][0]
    assert stat["sizes"] == {"read": bars(reads), "write": bars(writes), "trim": []}
    pages = len(touched["Write"])
    assert stat["rewrite_ratio"] == pytest.approx(1 - len(set(touched["Write"])) / pages if pages else 0)


def test_order(rows, stat):
    def share(chosen: list[tuple[int, str, int, int]]) -> float | None:
        follows = [two[2] == one[2] + one[3] for one, two in itertools.pairwise(chosen)]
        return sum(follows) / len(chosen) if chosen else None

    runs: list[list[int]] = []
    for index, (_, _, offset, size) in enumerate(rows):
        if index and offset == rows[index - 1][2] + rows[index - 1][3]:
            runs[-1].append(size)
        else:
            runs.append([size])
    assert stat["sequential_share"] == pytest.approx(share(rows))
    assert stat["sequentiality"] == {
        "reads": share([row for row in rows if row[1] == "Read"]),
        "writes": share([row for row in rows if row[1] == "Write"]),
        "longest_run_requests": max(map(len, runs)),
        "longest_run_bytes": max(map(sum, runs)),
    }


def check_times(found, values):
    assert found["count"] == len(values)
    if not values:
        return
    assert (found["min_ns"], found["max_ns"]) == (min(values), max(values))
    for percent in (50, 90, 99):
        exact = nearest_rank(values, percent)
        assert exact <= found[f"p{percent}_ns"] <= exact * (1 + WITHIN_A_BUCKET)
    for upper, count in found["cumulative"]:
        assert count == sum(value <= upper for value in values)


def test_gaps(rows, stat):
    gaps = [two[0] - one[0] for one, two in itertools.pairwise(rows)]
    found = stat["inter_arrival"]
    check_times(found, gaps)
    mean = Fraction(sum(gaps), len(gaps)) if gaps else Fraction(0)
    assert found["mean_ns"] == pytest.approx(float(mean))
    if mean:
        variance = sum((gap - mean) ** 2 for gap in gaps) / len(gaps)
        assert found["coefficient_of_variation"] == pytest.approx(math.sqrt(variance) / float(mean))
    else:
        assert found["coefficient_of_variation"] is None


def test_rewrites_and_popularity(rows, stat):
    latest: dict[int, int] = {}
    intervals = []
    counts: dict[str, Counter[int]] = {"Read": Counter(), "Write": Counter()}
    for time, op, *where in rows:
        for page in pages_of(*where):
            counts[op][page] += 1
            if op == "Write":
                intervals += [time - latest[page]] if page in latest else []
                latest[page] = time
    check_times(stat["rewrite_interval"], intervals)
    for op, found in stat["popularity"].items():
        expected = counts[op.title()]
        assert found["pages"] == len(expected)
        assert found["accesses"] == expected.total()
        assert found["max_accesses"] == max(expected.values(), default=0)
        assert found["top_1_percent_share"] == share_of_top(expected, 1)
        assert found["top_10_percent_share"] == share_of_top(expected, 10)
    assert stat["top_1_percent_write_share"] == share_of_top(counts["Write"], 1)


def test_reuse(rows, stat):
    distances = stack_distances([page for _, _, *where in rows for page in pages_of(*where)])
    cold = distances.count(None)
    found = stat["reuse"]
    assert stat["page_sample"]["exact"]
    assert found["accesses"] == len(distances)
    assert found["cold_share"] == pytest.approx(cold / len(distances))
    for size, ratio in found["miss_ratio"]:
        missed = sum(distance is None or distance >= size // PAGE for distance in distances)
        assert ratio == pytest.approx(missed / len(distances))
    assert found["miss_ratio"][-1][1] == found["cold_share"]


def test_activity(rows, stat):
    found = stat["activity"]
    length = found["stretch_ns"]
    for key, op in (("reads", "Read"), ("writes", "Write")):
        expected = Counter(time // length for time, o, *_ in rows if o == op)
        assert {index: count for index, count in enumerate(found[key]) if count} == expected
    assert sum(found["bytes"]) == stat["read_bytes"] + stat["write_bytes"]
    assert len(found["reads"]) <= 512


@pytest.mark.parametrize(
    ("op", "size", "times", "number", "name"),
    [
        ("Write", 4096, 20, 1, "write-hot-random"),
        ("Write", 8192, 20, 2, "write-hot-sequential"),
        ("Write", 4096, 19, 3, "write-cold-random"),
        ("Write", 8192, 19, 4, "write-cold-sequential"),
        ("Read", 4096, 20, 5, "read-hot-random"),
        ("Read", 8192, 20, 6, "read-hot-sequential"),
        ("Read", 4096, 19, 7, "read-cold-random"),
        ("Read", 8192, 19, 8, "read-cold-sequential"),
    ],
)
def test_classes(tmp_path, op, size, times, number, name):
    path = tmp_path / "class.csv"
    path.write_text("".join(f"{time},host,0,{op},0,{size},0\n" for time in range(times)))
    found = ninescope.trace_stat(path)["class"]
    assert (found["number"], found["name"], found["hotness"]) == (number, name, times)


def test_figures_are_written(cli, msr_trace, tmp_path):
    out = tmp_path / "out"
    assert cli("trace", "stat", msr_trace, "--out", out).code == 0
    figures = ("sizes", "popularity", "rewrite_interval", "inter_arrival", "reuse", "activity")
    assert {path.name for path in out.iterdir()} == {*(f"{stem}.png" for stem in figures), "trace.json"}
    assert json.loads((out / "trace.json").read_text()) == ninescope.trace_stat(msr_trace)


def test_a_trace_without_rewrites_has_no_figure_of_them(cli, tmp_path):
    path, out = tmp_path / "one.csv", tmp_path / "out"
    path.write_text("1,host,0,Read,0,4096,0\n")
    code, text, _ = cli("trace", "stat", path, "--out", out)
    assert code == 0
    assert "7 of 8, read-cold-random" in text
    assert {path.stem for path in out.iterdir()} == {"sizes", "popularity", "reuse", "activity", "trace"}


# What the README beside the traces says: requests, write %, mean KiB of reads and writes, footprint and its
# written part [GiB], rewrite ratio, sequential %, duration [s]; None where it says nothing.
TRACES = Path(__file__).resolve().parents[3] / "shared" / "traces"
PUBLISHED = {
    "msr/rsrch_1.csv.zst": (13_780, 99.7, 13.2, 12.2, 0.110, 0.110, 0.319, 1.3, 6.67 * 86400),
    "msr/wdev_1.csv.zst": (1_055, 100.0, None, 5.1, 0.0014, 0.0014, 0.728, 0.9, 6.89 * 86400),
    "msr/wdev_3.csv.zst": (682, 98.4, 63.3, 4.4, 0.0012, None, 0.905, 1.6, 6.91 * 86400),
    "msr/hm_1.writes13069.csv.zst": (13_069, 100.0, None, 20.7, 0.085, None, 0.673, 0.8, 3.75 * 86400),
    "msr/hm_0.window7016.csv.zst": (7_016, 17.1, 13.0, 5.8, 0.052, 0.005, 0.422, 4.5, 148),
    "msr/hm_0.head1000.csv.zst": (1_000, 49.2, 11.7, 7.1, 0.007, None, 0.493, 3.9, 127),
    "msr/mds_0.writes1000.csv.zst": (1_000, 100.0, None, 5.8, 0.002, None, 0.71, 3.9, 619),
    "msr/proj_0.writes1000.csv.zst": (1_000, 99.9, None, 6.9, 0.002, None, 0.77, 4.6, 511),
    "msr/rsrch_2.writes1000.csv.zst": (1_000, 100.0, None, 4.3, 0.003, None, 0.67, 0.6, 7.6 * 3600),
    "other/mqsim_tpcc-small.trace.zst": (6_999, 37.4, 8.1, 8.7, 0.078, 0.030, 0.017, 0.1, 0.136),
    "other/mqsim_wsrch-small.trace.zst": (24_783, 0.02, 15.1, 8.0, 0.352, None, None, 5.8, 60),
    "other/cloudPhysicsIO.vscsi.zst": (113_872, 58.8, 37.4, 35.2, 1.027, 0.796, 0.682, 26.0, 7200),
}


@pytest.mark.skipif(
    not TRACES.is_dir(), reason=f"no traces at {TRACES}: the published statistics are NOT checked"
)
@pytest.mark.parametrize("name", PUBLISHED)
def test_real_traces_are_as_published(name):
    stat = ninescope.trace_stat(TRACES / name)
    requests, writes, read_kib, write_kib, footprint, written, rewrite, sequential, seconds = PUBLISHED[name]
    assert stat["requests"] == requests

    def near(found: float, published: float | None, digit: float) -> None:
        # Half a unit of the last digit, and a little for what was rounded twice.
        assert published is None or found == pytest.approx(published, abs=0.56 * digit, rel=0)

    near(100 * stat["writes"] / requests, writes, 0.1)
    near((stat["mean_read_bytes"] or 0) / 1024, read_kib, 0.1)
    near((stat["mean_write_bytes"] or 0) / 1024, write_kib, 0.1)
    near(stat["footprint_bytes"] / 2**30, footprint, 0.001)
    near(stat["written_footprint_bytes"] / 2**30, written, 0.001)
    near(stat["rewrite_ratio"], rewrite, 0.01 if rewrite in (0.71, 0.77, 0.67) else 0.001)
    near(100 * stat["sequential_share"], sequential, 0.1)
    assert stat["duration_ns"] / 1e9 == pytest.approx(seconds, rel=0.007)
    # What the README does not say has to fit together.
    assert stat["page_sample"]["exact"]
    page_writes = stat["popularity"]["write"]["accesses"]
    assert stat["rewrite_interval"]["count"] == page_writes - stat["written_footprint_bytes"] // PAGE
    assert stat["reuse"]["cold_share"] == pytest.approx(
        stat["footprint_bytes"] / PAGE / stat["reuse"]["accesses"]
    )
