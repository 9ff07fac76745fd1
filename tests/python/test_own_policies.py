"""Policies in Python: their likes in Rust decide the same, and what is wrong with one is said."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ninescope
from conftest import ROOT
from ninescope import ConfigError, Drive, Result, Workload
from ninescope.extension import (
    DataPlacement,
    PageAllocation,
    StreamChoice,
    SuspendPolicy,
    TransactionScheduler,
    VictimSelection,
    policy,
)

SMALL = Drive.from_file(ROOT / "examples/drives/small.toml")
SKEWED = Workload.job(rw="randwrite", bs="4k", random_distribution="zoned:90/10:10/90")
MIXED = Workload.job(rw="randrw", rwmixread=70, bs="4k", iodepth=16)


@policy("python-greedy")
class Greedy(VictimSelection):
    """The candidate with the fewest valid units."""

    def select(self, candidates: ninescope._native.Candidates) -> int | None:
        valid = np.where(candidates.valid_units < 0, candidates.units_per_group + 1, candidates.valid_units)
        least = int(valid.argmin())
        assert (candidates.fewest_valid is None) == (valid[least] > candidates.units_per_group)
        return None if valid[least] > candidates.units_per_group else least


@policy("python-fifo")
class Fifo(VictimSelection):
    """The group that was filled first."""

    def select(self, candidates: ninescope._native.Candidates) -> int | None:
        ages = np.where(candidates.valid_units < 0, -1, candidates.age)
        return int(ages.argmax()) if ages.max() >= 0 else None


@policy("python-generations")
class Generations(StreamChoice):
    """By how often data was moved."""

    def __init__(self, generations: int = 3) -> None:
        self.kinds_of_moves = generations

    def of_move(self, lpa: int, clean: bool, stream: int) -> int:
        following = stream // 2 + 1 if stream % 2 else 0
        return min(following, self.kinds_of_moves - 1)


@policy("python-by-size")
class BySize(StreamChoice):
    """Small writes apart."""

    kinds_of_writes = 2
    kinds_of_moves = 2
    listens = True

    def of_write(self, unit: ninescope._native.Written) -> int:
        return int(0 < unit.sectors <= 8)

    def of_move(self, lpa: int, clean: bool, stream: int) -> int:
        return stream // 2


@policy("python-round-robin")
class RoundRobin(PageAllocation):
    """Pools in turn, a stripe each."""

    def __init__(self) -> None:
        self.position = 0

    def choose(self, lpa: int, accepting: Sequence[int], loads: Sequence[int]) -> int | None:
        after = [one for one in accepting if one >= self.position]
        if not accepting:
            return None
        self.position = (after or accepting)[0]
        return self.position

    def placed(self, position: int, page_complete: bool, stripe_complete: bool) -> None:
        if stripe_complete:
            self.position = position + 1


@policy("python-least-queue")
class LeastQueue(PageAllocation):
    """The die on which the fewest accesses wait or run; among equals they take turns."""

    load_of_dies = "queued"

    def __init__(self) -> None:
        self.current = -1
        self.turn = 0

    def begin(self, **facts: Any) -> None:
        self.pools = facts["pools"]

    def choose(self, lpa: int, accepting: Sequence[int], loads: Sequence[int]) -> int | None:
        if self.current not in accepting:
            if not accepting:
                return None
            in_turn = sorted(accepting, key=lambda position: (position < self.turn, position))
            self.current = self.turn = min(in_turn, key=lambda position: loads[position])
        return self.current

    def placed(self, position: int, page_complete: bool, stripe_complete: bool) -> None:
        if position == self.current and stripe_complete:
            self.turn = (self.current + 1) % self.pools
            self.current = -1


@policy("python-every-safe-point")
class EverySafePoint(SuspendPolicy):
    """At the next of ten points of the loop."""

    def decide(self, operation: ninescope._native.Suspendable) -> int | None:
        return operation.next_safe_point(10) if operation.kind == "erase" else None

    def goes_before_reads(self, operation: ninescope._native.Suspendable) -> bool:
        return operation.now - operation.stopped >= 64_000_000


@policy("python-reads-first")
class ReadsFirst(TransactionScheduler):
    """Reads before writes before garbage collection."""

    def pick(self, waiting: ninescope._native.WaitingOnDie) -> str | None:
        moves = ["erase", "move-program", "move-read"]
        if waiting.gc_is_urgent:
            return waiting.first_of(["host-read", *moves, "host-program"])
        return waiting.first_of(["host-read", "host-program", *moves])


@policy("python-wo-dm")
class WoDm(DataPlacement):
    """What is written hot or at random goes up."""

    def rules(self) -> dict[str, Any]:
        return {"evict_free": 0.08}

    def write(self, access: ninescope._native.Access) -> str:
        return "upper" if access.uses >= 1 or access.request_sectors <= 16 else "lower"


def run(drive: Drive, workload: Workload = SKEWED, requests: int = 20_000) -> Result:
    return drive.run(workload, prefill="steady", requests=requests, check="cheap")


@pytest.mark.parametrize(
    ("key", "rust", "python", "workload"),
    [
        ("ftl.victim", "greedy", "python-greedy", SKEWED),
        ("ftl.victim", "fifo", "python-fifo", SKEWED),
        ("ftl.streams", "generations", "python-generations", SKEWED),
        (
            "ftl.streams",
            {"policy": "generations", "generations": 5},
            {"policy": "python-generations", "generations": 5},
            SKEWED,
        ),
        ("ftl.streams", {"policy": "by-size", "small": "4KiB"}, "python-by-size", SKEWED),
        ("ftl.page_allocation", "round-robin", "python-round-robin", SKEWED),
        ("ftl.page_allocation", "least-queue", "python-least-queue", MIXED),
        ("scheduler.suspend", "every-safe-point", "python-every-safe-point", MIXED),
        ("scheduler.transactions", "reads-first", "python-reads-first", MIXED),
    ],
)
def test_the_same_policy_in_rust_has_the_same_digest(
    key: str, rust: object, python: object, workload: Workload
) -> None:
    one, other = (run(SMALL.with_({key: name}), workload) for name in (rust, python))
    assert one.digest == other.digest
    assert one.document["counters"] == other.document["counters"]
    # It is not that nothing was asked.
    assert one.document["counters"]["erase_commands"] > 0


def test_a_placement_in_python_decides_as_its_like_in_rust() -> None:
    """When slots are emptied is given by its rules, as it is in wo-dm."""
    hybrid = Drive.preset("hybrid-wo").with_(geometry__blocks_per_plane=64)
    job = Workload.job(rw="randrw", rwmixread=30, bs="4k", size="512MiB", requests=20_000)
    one, other = (
        hybrid.with_({"tier.placement": name}).run(job, check="cheap") for name in ("wo-dm", "python-wo-dm")
    )
    assert one.digest == other.digest
    assert one.document["tier"]["counters"]["evicted_dirty"] > 0


@policy("python-random")
class Random(VictimSelection):
    """Any candidate; its random numbers are state that JSON does not hold."""

    follows_from_groups = False

    def begin(self, **facts: Any) -> None:
        self.random = random.Random(facts["seed"])

    def select(self, candidates: ninescope._native.Candidates) -> int | None:
        known = np.flatnonzero(candidates.valid_units >= 0)
        return int(known[self.random.randrange(len(known))]) if len(known) else None


@policy("python-random-kept")
class RandomKept(Random):
    """The same, which keeps what it remembers."""

    def save(self) -> bytes:
        return json.dumps(self.random.getstate()).encode()

    def load(self, state: bytes) -> None:
        version, numbers, rest = json.loads(state)
        self.random.setstate((version, tuple(numbers), rest))


def test_what_a_policy_remembers_is_in_a_prepared_drive(tmp_path: Path) -> None:
    drive = SMALL.with_(ftl__victim="python-random-kept")
    runs = [
        drive.run(SKEWED, prefill="steady-overwritten", requests=5_000, snapshots=tmp_path) for _ in range(2)
    ]
    assert (
        runs[0].digest
        == runs[1].digest
        == drive.run(SKEWED, prefill="steady-overwritten", requests=5_000).digest
    )
    assert len(list(tmp_path.glob("*"))) == 1
    with pytest.raises(
        TypeError, match="Random remembers what JSON cannot hold: it needs methods save and load"
    ):
        SMALL.with_(ftl__victim="python-random").run(
            SKEWED, prefill="steady-overwritten", requests=5_000, snapshots=tmp_path / "other"
        )


def test_an_error_of_a_policys_own_ends_the_run_and_is_raised() -> None:
    class Broken(VictimSelection):
        def select(self, candidates: ninescope._native.Candidates) -> int | None:
            raise ZeroDivisionError("of its own")

    policy("python-broken")(Broken)
    with pytest.raises(ZeroDivisionError, match="of its own") as raised:
        run(SMALL.with_(ftl__victim="python-broken"))
    assert vars(raised.value)["policy"].endswith(f"Broken of {__file__}, asked select")


def with_answer(base: type, method: str, answer: Any) -> None:
    """Add a policy that always answers the same."""
    attributes = {method: lambda self, *told: answer, "kinds_of_writes": 2, "__module__": __name__}
    made = type("Answers", (base,), attributes)
    policy(f"python-answers-{base.__name__}".lower())(made)


@pytest.mark.parametrize(
    ("base", "method", "answer", "message"),
    [
        (VictimSelection, "select", 10_000, "select returned 10000, which is no candidate"),
        (StreamChoice, "of_write", 2, r"of_write returned 2, of 2 kinds \(0 to 1\)"),
        (PageAllocation, "choose", 77, r"choose returned 77, which takes no write now \(\[0, 1, 2, 3\] do\)"),
        (SuspendPolicy, "decide", 1, r"decide returned 1 ns, and it is \d+ ns already"),
        (SuspendPolicy, "decide", "later", "decide returned 'later'; there is None, \"now\""),
        (TransactionScheduler, "pick", "idle-read", 'pick returned "idle-read", of which nothing waits'),
        (TransactionScheduler, "pick", "reads", 'no queue is named "reads"; there is host-read'),
        (VictimSelection, "select", "x", "'str' object cannot be interpreted as an integer"),
        (StreamChoice, "of_write", -1, "out of range"),
    ],
)
def test_answers_that_cannot_be_are_refused(base: Any, method: str, answer: object, message: str) -> None:
    with_answer(base, method, answer)
    drive = SMALL.with_({base.registry: f"python-answers-{base.__name__}".lower()})
    named = rf"policy Answers of {re.escape(__file__)}(, asked {method})?: "
    with pytest.raises(ConfigError, match=named + message):
        run(drive, MIXED)


def test_parameters_are_those_of_init() -> None:
    with pytest.raises(
        ConfigError, match=r"ftl.streams.*unknown field `generation`; did you mean 'generations'"
    ):
        SMALL.with_({"ftl.streams": {"policy": "python-generations", "generation": 3}})

    class Demands(Greedy):
        def __init__(self, share: float) -> None:
            if not 0 < share < 1:
                raise ValueError(f"share is {share}, it must be between 0 and 1")

    policy("python-demands")(Demands)
    with pytest.raises(ConfigError, match=r"ftl.victim.*the key `share` is missing"):
        SMALL.with_(ftl__victim="python-demands")
    with pytest.raises(ConfigError, match=r"ftl.victim.*share is 2, it must be between 0 and 1"):
        SMALL.with_({"ftl.victim": {"policy": "python-demands", "share": 2}})


def test_a_class_that_answers_nothing_is_refused_where_it_is_named() -> None:
    class Nothing(VictimSelection):
        pass

    policy("python-nothing")(Nothing)
    with pytest.raises(ConfigError, match=r"ftl.victim.*abstract class Nothing.*select"):
        SMALL.with_(ftl__victim="python-nothing")


def test_names_are_of_one_policy_each() -> None:
    with pytest.raises(ConfigError, match="there is a policy named `greedy` already"):
        policy("greedy")(Greedy)
    with pytest.raises(TypeError, match="int is none of VictimSelection"):
        policy("python-number")(int)  # type: ignore[type-var]
    with pytest.raises(ConfigError, match=r"unknown name `python-greedi`.*`python-greedy`"):
        SMALL.with_(ftl__victim="python-greedi")


def test_a_result_knows_the_text_of_its_policy() -> None:
    written = SMALL.with_(ftl__victim="python-greedy").resolve()
    assert 'policy = "python-greedy"' in written
    Drive.from_toml(written)  # it is the same text
    code = next(line for line in written.splitlines() if line.startswith("code = "))
    with pytest.raises(
        ConfigError, match="code is '0123', and the policy 'python-greedy' of this program has"
    ):
        Drive.from_toml(written.replace(code, 'code = "0123"'))


MINE = '''
"""Policies in a file of their own."""
from ninescope.extension import VictimSelection, policy


@policy("mine")
class Mine(VictimSelection):
    """The candidate with the fewest valid units."""

    def select(self, candidates):
        return candidates.fewest_valid
'''


def command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ninescope", *words],
        env=os.environ | environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_line_takes_files_of_policies(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    run_it = (
        "run",
        "--rw",
        "randwrite",
        "--bs",
        "4k",
        "--requests",
        "2000",
        "--drive",
        "examples/drives/small.toml",
    )
    told = (*run_it, "--set", "ftl.victim=mine", "--json")
    option = command("--policies", str(file), *told)
    variable = command(*told, NINESCOPE_POLICIES=str(file))
    assert option.returncode == variable.returncode == 0, option.stderr + variable.stderr
    ours = json.loads(option.stdout)
    assert ours["digest"] == json.loads(variable.stdout)["digest"]
    assert ours["digest"] == json.loads(command(*run_it, "--json").stdout)["digest"]  # greedy is the default
    assert ours["config"]["drive"]["ftl"]["victim"]["policy"] == "mine"
    listed = command("--policies", str(file), "policies", "ftl.victim")
    assert "mine" in listed.stdout
    assert "the candidate with the fewest valid units" in listed.stdout.lower()
    file.write_text("import nothing_of_that_name\n")
    for words, name in (
        (("--policies", str(file), *told), "--policies or NINESCOPE_POLICIES"),
        (("--policies", "no.py", *told), "no.py"),
    ):
        broken = command(*words)
        assert broken.returncode == 2, broken.stderr
        assert name in broken.stderr
        assert broken.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("faulty", "said"),
    [
        (
            "1 / 0",
            "policy Mine of {file}, asked select: ZeroDivisionError: division by zero ({file}, line 11)",
        ),
        ("'x'", "policy Mine of {file}, asked select: 'str' object cannot be interpreted as an integer"),
    ],
)
def test_a_policy_that_fails_is_one_line_on_the_command_line(tmp_path: Path, faulty: str, said: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MINE.replace("candidates.fewest_valid", faulty))
    drive = ("--drive", "examples/drives/small.toml", "--set", "ftl.victim=mine")
    told = command(
        "--policies",
        str(file),
        "run",
        "--rw",
        "randwrite",
        "--requests",
        "20000",
        "--prefill",
        "full",
        *drive,
    )
    assert (told.returncode, told.stderr) == (2, f"ninescope: error: {said.format(file=file)}\n")


def test_their_option_goes_before_the_verb() -> None:
    told = command("run", "--rw", "read", "--policies", "mine.py")
    assert told.returncode == 2
    assert "Error: --policies goes before the verb: ninescope --policies FILE run ...\n" in told.stderr


def test_a_file_that_runs_drives_while_it_is_loaded_is_told_once(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    runs = 'import ninescope\njob = ninescope.Workload.job(rw="read", requests=1)\n'
    file.write_text(f'{MINE}{runs}ninescope.Drive.preset("tlc").run(job)\n')
    told = command("--policies", str(file), "run", "--rw", "read", "--requests", "1")
    assert (told.returncode, told.stderr.count("does not load")) == (2, 1), told.stderr
    assert '`if __name__ == "__main__":`' in told.stderr


@pytest.mark.parametrize("postponed", ["", "from __future__ import annotations\n"])
def test_a_parameter_is_listed_with_its_type_as_it_is_written(tmp_path: Path, postponed: str) -> None:
    file = tmp_path / "mine.py"
    takes = "    def __init__(self, keen: bool = False):\n        pass\n\n"
    text = MINE.replace("    def select", f"{takes}    def select")
    file.write_text(postponed + text.partition('file of their own."""\n')[2])
    listed = command("--policies", str(file), "policies", "ftl.victim").stdout
    assert "a parameter of Mine: bool, by default false" in listed


def test_workers_of_a_sweep_know_them(tmp_path: Path) -> None:
    file, sweep = tmp_path / "mine.py", tmp_path / "sweep.toml"
    file.write_text(MINE)
    sweep.write_text(
        f'[drive]\nfile = "{ROOT / "examples/drives/small.toml"}"\n'
        '[workload]\nrw = "randwrite"\nbs = "4k"\nrequests = 1000\n'
        '[axes]\n"ftl.victim" = ["greedy", "mine"]\n'
    )
    done = command("--policies", str(file), "sweep", "run", str(sweep), "--out", str(tmp_path / "lake"))
    assert done.returncode == 0, done.stderr


def test_packages_bring_policies(tmp_path: Path) -> None:
    (tmp_path / "brings_policies.py").write_text(MINE)
    about = tmp_path / "brings_policies-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: brings-policies\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[ninescope.policies]\nmine = brings_policies\n")
    path = os.pathsep.join([str(tmp_path), str(ROOT / "python")])
    listed = command("policies", "ftl.victim", PYTHONPATH=path)
    assert "  mine " in listed.stdout, listed.stderr
    (tmp_path / "brings_policies.py").write_text("raise RuntimeError('not today')\n")
    broken = command("policies", PYTHONPATH=path)
    assert broken.returncode == 2
    assert (
        "the policies of the package brings-policies (brings_policies) do not load: not today"
        in broken.stderr
    )
