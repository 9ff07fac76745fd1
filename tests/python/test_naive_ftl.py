"""The translation layer decides as a model does that was written apart from it (`naive_ftl`): line by line,
for every combination of its policies. The simulator's side is `crates/ftl/examples/instant_log.rs`.

More cases, or one again: `python tests/python/test_naive_ftl.py FIRST_SEED COUNT`.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ninescope._native
from conftest import NATIVE, ROOT
from naive_ftl import FOLLOWED, REGISTRIES, InstantDrive, Policy, Settings, Shape
from naive_random import WORD, RandomStream, rotated_left

# Every policy that has a rule in the model, with the parameters that are tried.
VARIANTS: dict[str, list[Policy]] = {
    "ftl.page_allocation": [
        {"policy": "round-robin", "granularity": "stripe"},
        {"policy": "round-robin", "granularity": "page"},
        {"policy": "static"},
        {"policy": "static", "order": "PWDC"},
        {"policy": "static", "order": "DPCW"},
        {"policy": "least-queue"},
        {"policy": "earliest-free", "granularity": "page"},
    ],
    "ftl.free_block_choice": [{"policy": "fifo"}, {"policy": "least-worn"}],
    "ftl.gc_trigger": [
        {"policy": "free-groups", "beyond_reserve": 0},
        {"policy": "free-groups"},
        {"policy": "free-groups", "beyond_reserve": 3},
        {"policy": "foreground"},
        {"policy": "foreground", "beyond_reserve": 0, "gain": 1},
        {"policy": "foreground", "beyond_reserve": 3, "gain": 4},
        {"policy": "watermarks"},
        {"policy": "watermarks", "beyond_reserve": 0, "gain": 2},
        {"policy": "idle"},
        {"policy": "deadline"},
    ],
    "ftl.victim": [
        {"policy": "greedy"},
        {"policy": "fifo"},
        {"policy": "random"},
        {"policy": "random-invalid"},
        {"policy": "d-choices"},
        {"policy": "d-choices", "d": 2},
        {"policy": "windowed-greedy", "window": 1},
        {"policy": "windowed-greedy", "window": 3},
        {"policy": "second-chance"},
        {"policy": "second-chance", "above": 0.4},
        {"policy": "wear-aware"},
        {"policy": "wear-aware", "weight": 0.3},
    ],
}


def followed() -> list[tuple[str, str]]:
    """Policies without a rule in the model, by registry: their decisions are read from the log."""
    if not NATIVE:
        return []
    listed = json.loads(ninescope._native.policies())
    names = ((registry, entry["name"]) for registry in FOLLOWED for entry in listed[registry])
    return [(registry, name) for registry, name in names if name not in REGISTRIES[registry]]


# (shape, reserve): channels, packages, dies, planes, blocks, pages, page bytes, unit bytes, frontier planes.
SHAPES = [
    (Shape(1, 1, 1, 1, 12, 4, 4096, 4096, 1), 1),
    (Shape(2, 1, 1, 2, 9, 3, 4096, 4096, 1), 2),
    (Shape(1, 2, 1, 2, 9, 4, 4096, 1024, 2), 1),
    (Shape(2, 1, 2, 2, 8, 2, 4096, 1024, 1), 1),
    (Shape(1, 1, 2, 4, 9, 2, 2048, 512, 2), 2),
    (Shape(3, 1, 1, 4, 8, 2, 4096, 4096, 4), 1),
]


# ---- operation lists -------------------------------------------------------------------------------------


def uniform(generator: random.Random, units: int, count: int) -> Iterator[Any]:
    for _ in range(count):
        yield {"trim" if generator.random() < 0.1 else "write": generator.randrange(units)}


def hot_and_cold(generator: random.Random, units: int, count: int) -> Iterator[Any]:
    """Nine of ten operations go to a tenth of the units."""
    hot = max(1, units // 10)
    for _ in range(count):
        unit = generator.randrange(hot) if generator.random() < 0.9 else generator.randrange(units)
        yield {"trim" if generator.random() < 0.03 else "write": unit}


def sequential(generator: random.Random, units: int, count: int) -> Iterator[Any]:
    """Runs of writes, now and then a run of trims."""
    done = 0
    while done < count:
        start, length = generator.randrange(units), generator.randint(1, 2 * units)
        kind = "trim" if generator.random() < 0.15 else "write"
        for offset in range(min(length, count - done)):
            yield {kind: (start + offset) % units}
        done += length


PATTERNS = [uniform, hot_and_cold, sequential]
TESTED_SEEDS = range(len(SHAPES) * len(PATTERNS))
"""Each shape with each pattern. Other seeds have a shape drawn at random."""


def seeds_of(policies: dict[str, Policy]) -> list[int]:
    """Of the tested seeds those of a combination: each shape once, each pattern with a third of the shapes.

    Combinations that differ in one policy have them turned against each other, so that any two policies meet
    every shape with every pattern.
    """
    turned = sum(VARIANTS[key].index(policy) for key, policy in policies.items())
    return [shape + len(SHAPES) * ((shape + turned) % len(PATTERNS)) for shape in range(len(SHAPES))]


def operations(pattern: Any, generator: random.Random, units: int) -> list[Any]:
    """The drive written once in order, then three times over; sometimes it is settled in between."""
    listed: list[Any] = [{"write": unit} for unit in range(units)]
    for operation in pattern(generator, units, generator.randint(units, 3 * units)):
        listed.append(operation)
        if generator.random() < 0.004:
            listed.append("settle")
    return listed


def drawn_shape(generator: random.Random) -> tuple[Shape, int]:
    planes = generator.choice([1, 2, 3, 4])
    reserve = generator.randint(1, 3)
    shape = Shape(
        channels=generator.randint(1, 3),
        packages_per_channel=generator.randint(1, 2),
        dies_per_package=generator.randint(1, 2),
        planes_per_die=planes,
        blocks_per_plane=reserve + 3 + generator.randint(1, 6),
        pages_per_block=generator.randint(1, 5),
        page_bytes=4096,
        unit_bytes=4096 // generator.choice([1, 1, 2, 4, 8]),
        frontier_planes=generator.choice([count for count in (1, 2, 3, 4) if planes % count == 0]),
    )
    return shape, reserve


def case(seed: int, policies: dict[str, Policy]) -> tuple[Settings, list[Any]]:
    """A drive with these policies, and what is done to it."""
    generator = random.Random(f"naive FTL {seed}")
    shape, reserve = SHAPES[seed % len(SHAPES)] if seed in TESTED_SEEDS else drawn_shape(generator)
    most = (shape.blocks_per_plane - reserve - 3) * shape.units_per_group * shape.pools
    settings = Settings(
        shape=shape,
        logical_units=generator.choice([most, most, most * 4 // 5]),
        reserve_groups=reserve,
        page_allocation=policies["ftl.page_allocation"],
        free_block_choice=policies["ftl.free_block_choice"],
        gc_trigger=policies["ftl.gc_trigger"],
        victim=policies["ftl.victim"],
        seed=generator.randrange(2**64),
    )
    pattern = PATTERNS[seed // len(SHAPES) % len(PATTERNS)]
    return settings, operations(pattern, generator, settings.logical_units)


# ---- comparing -------------------------------------------------------------------------------------------


def build_program() -> Path:
    """The simulator's side, as `cargo test --workspace` has built it: of fewer crates it is built anew."""
    words = "cargo build --locked --message-format json --workspace --example instant_log"
    built = subprocess.run(words.split(), cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    messages = map(json.loads, built.stdout.splitlines())
    return next(Path(message["executable"]) for message in messages if message.get("executable"))


def logs_of_simulator(program: Path, cases: list[tuple[Settings, list[Any]]]) -> list[list[str]]:
    lines = []
    for settings, listed in cases:
        fields = {**dataclasses.asdict(settings), "operations": listed}
        fields["geometry"] = list(fields.pop("shape").values())
        lines.append(json.dumps(fields))
    done = subprocess.run([program], input="\n".join(lines), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [text.splitlines() for text in done.stdout.split("done\n")[:-1]]


def first_difference(ours: list[str], theirs: list[str]) -> str | None:
    pairs = itertools.zip_longest(ours, theirs, fillvalue="(nothing)")
    for number, (naive, simulated) in enumerate(pairs):
        if naive != simulated:
            before = "".join(f"\n    {line}" for line in ours[max(0, number - 5) : number])
            return f"after{before}\n  the naive model says  {naive}\n  the simulator says    {simulated}"
    return None


def compare(program: Path, seeds: list[int], combinations: list[dict[str, Policy]]) -> int:
    """Compare every combination of policies on every seed; returns how many decisions were alike."""
    keys = [(seed, policies) for policies in combinations for seed in seeds]
    cases = [case(seed, policies) for seed, policies in keys]
    decisions = 0
    for (seed, policies), (settings, listed), theirs in zip(
        keys, cases, logs_of_simulator(program, cases), strict=True
    ):
        ours = InstantDrive(settings, theirs).run(listed)
        difference = first_difference(ours, theirs)
        assert difference is None, f"seed {seed}, {policies}, {settings}: {difference}"
        decisions += len(ours)
    return decisions


def all_combinations(**fixed: Policy) -> list[dict[str, Policy]]:
    chosen = {key: [fixed[key]] if key in fixed else variants for key, variants in VARIANTS.items()}
    return [dict(zip(chosen, policies, strict=True)) for policies in itertools.product(*chosen.values())]


# ---- tests -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def program() -> Path:
    return build_program()


def test_every_rule_of_the_model_is_that_of_a_policy_and_tried():
    listed = json.loads(ninescope._native.policies())
    for registry, rules in REGISTRIES.items():
        names = {entry["name"] for entry in listed[registry]}
        assert set(rules) <= names, f"{registry}: tests/python/naive_ftl.py models {set(rules)} of {names}"
        tried = {variant["policy"] for variant in VARIANTS[registry]}
        assert set(rules) == tried, (
            f"{registry}: VARIANTS in {Path(__file__).name} tries {tried}, not {set(rules)}"
        )


@pytest.mark.parametrize(("registry", "name"), followed())
def test_a_policy_without_a_rule_decides_what_it_may_and_all_else_is_the_models(program, registry, name):
    compare(program, list(TESTED_SEEDS), all_combinations(**{registry: {"policy": name}}))


@pytest.mark.parametrize("registry", FOLLOWED)
def test_following_a_policy_comes_to_what_its_rule_does(program, registry, monkeypatch):
    """And a log that decides what may not be decided is refused."""
    policies = {key: variants[-1] for key, variants in VARIANTS.items()}
    settings, listed = case(3, policies)
    [theirs] = logs_of_simulator(program, [(settings, listed)])
    monkeypatch.setattr(f"naive_ftl.{TABLES[registry]}", {})
    assert InstantDrive(settings, theirs).run(listed) == theirs
    broken = [TAMPERED[registry](line) for line in theirs]
    assert broken != theirs
    try:
        differs = InstantDrive(settings, broken).run(listed) != broken
    except AssertionError:
        differs = True
    assert differs


TABLES = {
    "ftl.page_allocation": "PAGE_ALLOCATION",
    "ftl.free_block_choice": "FREE_BLOCK_CHOICE",
    "ftl.victim": "VICTIM",
}
TAMPERED: dict[str, Callable[[str], str]] = {
    # Everything goes to die 0, plane 0.
    "ftl.page_allocation": lambda line: re.sub(r"(write \d+ at )\d+/\d+", r"\g<1>0/0", line),
    # Every group is block 0.
    "ftl.free_block_choice": lambda line: re.sub(r"(write \d+ at \d+/\d+)/\d+", r"\g<1>/0", line),
    # Every victim is block 0.
    "ftl.victim": lambda line: re.sub(r"(move \d+ from \d+/\d+)/\d+", r"\g<1>/0", line),
}


def pinned_draws() -> dict[str, str]:
    text = (ROOT / "crates/kernel/tests/pinned_draws.rs").read_text()
    return dict(re.findall(r'\("([a-z0-9. ]+)", "([0-9a-f]{32})"\)', text))


def digest(words: list[int]) -> str:
    lanes = [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F]
    steps = [(0xFF51AFD7ED558CCD, 29), (0xC4CEB9FE1A85EC53, 37)]
    for word in words:
        for lane, (factor, turn) in enumerate(steps):
            lanes[lane] = rotated_left((lanes[lane] ^ word) * factor % WORD, turn)
    return "".join(f"{lane:016x}" for lane in lanes)


@pytest.mark.parametrize(
    ("name", "draw"), [("bits", RandomStream.bits), ("below 1000", lambda stream: stream.below(1000))]
)
def test_the_random_numbers_are_those_of_the_definition(name, draw):
    stream = RandomStream(42, "golden", "draws")
    assert digest([draw(stream) for _ in range(1000)]) == pinned_draws()[name]


@pytest.mark.parametrize(
    "allocation", VARIANTS["ftl.page_allocation"], ids=lambda policy: "-".join(policy.values())
)
@pytest.mark.parametrize(
    "victim", VARIANTS["ftl.victim"], ids=lambda policy: "-".join(map(str, policy.values()))
)
def test_every_decision_is_that_of_the_naive_model(program, allocation, victim):
    combinations = all_combinations(**{"ftl.page_allocation": allocation, "ftl.victim": victim})
    for policies in combinations:
        compare(program, seeds_of(policies), [policies])


def test_what_any_two_policies_decide_is_tried_on_every_shape_with_every_pattern():
    met: dict[Any, set[int]] = collections.defaultdict(set)
    for policies in all_combinations():
        for pair in itertools.combinations(sorted(policies), 2):
            met[tuple((key, str(policies[key])) for key in pair)].update(seeds_of(policies))
    assert all(seeds == set(TESTED_SEEDS) for seeds in met.values())


if __name__ == "__main__":
    first, count = map(int, sys.argv[1:])
    built = build_program()
    for seed in range(first, first + count):
        found = compare(built, [seed], all_combinations())
        print(f"seed {seed}: {len(all_combinations())} combinations, {found} decisions alike", flush=True)
