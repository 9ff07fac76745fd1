"""At queue depth 1 the engine's latencies are, to the nanosecond, those of a model that adds up the stages of
one request after another (`naive_device`): over drives and request lists drawn at random.

More drives, or one again: `python tests/python/test_queue_depth_one.py FIRST_SEED COUNT`.
"""

from __future__ import annotations

import dataclasses
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

import ninescope
from naive_device import SCHEDULERS, Controller, NaiveDevice, Request
from naive_ftl import Policy, Settings, Shape
from naive_random import RandomStream
from ninescope.simulation.run import request
from test_naive_ftl import VARIANTS

REQUESTS = 250
SECTOR = 512
BY_TIME = ("least-queue", "earliest-free", "idle", "deadline")


@dataclasses.dataclass(frozen=True)
class World:
    """A drive and what is done to it."""

    seed: int
    settings: Settings
    controller: Controller
    over_provisioning: float
    prefill: str
    pattern: str
    prefill_order: str


def odd_or_round(generator: random.Random, low: int, high: int) -> int:
    """Round numbers let stages end at one instant, odd ones show what is rounded."""
    value = generator.randint(low, high)
    step = 10 ** (len(str(low)) - 1) if low else 500
    return max(low, value - value % step) if generator.random() < 0.4 else value


def drawn_shape(generator: random.Random) -> Shape:
    planes = generator.choice([1, 2, 2, 3, 4])
    page = generator.choice([2048, 4096, 16384])
    return Shape(
        channels=generator.choice([1, 1, 2, 3]),
        packages_per_channel=generator.choice([1, 1, 2]),
        dies_per_package=generator.choice([1, 1, 2]),
        planes_per_die=planes,
        blocks_per_plane=0,
        # With one page garbage collection does not always come to rest: see the test of that.
        pages_per_block=generator.randint(2, 7),
        page_bytes=page,
        unit_bytes=max(512, page // generator.choice([1, 1, 2, 4])),
        frontier_planes=generator.choice([count for count in (1, 2, 3, 4) if planes % count == 0]),
    )


def drawn_settings(generator: random.Random) -> tuple[Settings, float]:
    reserve = generator.choice([1, 1, 2])
    usable = generator.randint(3, 8)
    spare = reserve + 3 + generator.choice([0, 1, 3])
    shape = dataclasses.replace(drawn_shape(generator), blocks_per_plane=usable + spare)
    over_provisioning = round(shape.blocks_per_plane / usable - 1 + 0.001, 4)
    policies = {
        # By what dies have to do, or for how long they had nothing to do, the naive model decides nothing:
        # a time of its own would be in it.
        key: generator.choice([each for each in variants if each["policy"] not in BY_TIME])
        for key, variants in VARIANTS.items()
    }
    settings = Settings(
        shape=shape,
        logical_units=int(shape.units / (1 + over_provisioning)),
        reserve_groups=reserve,
        page_allocation=policies["ftl.page_allocation"],
        free_block_choice=policies["ftl.free_block_choice"],
        gc_trigger=policies["ftl.gc_trigger"],
        victim=policies["ftl.victim"],
        seed=generator.randrange(2**32),
    )
    return settings, over_provisioning


def drawn_controller(generator: random.Random, shape: Shape) -> Controller:
    page_types = generator.choice([1, 2, 3, 4])
    least_buffer = shape.planes_per_die // shape.frontier_planes * (shape.frontier_planes - 1) + 1
    return Controller(
        command_cost=generator.choice([0, odd_or_round(generator, 1, 4000)]),
        link_rate=odd_or_round(generator, 200_000_000, 8_000_000_000),
        write_completion=generator.choice(["buffer", "buffer", "program"]),
        buffered_pages=generator.choice([2 * shape.planes_per_die, least_buffer, least_buffer + 3]),
        page_timeout=generator.choice([None, None, odd_or_round(generator, 1000, 2_000_000)]),
        multi_plane=generator.random() < 0.7,
        scheduler=generator.choice(sorted(SCHEDULERS)),
        gc_pages_in_flight=generator.choice([1, 2, 4 * shape.frontier_planes]),
        read=tuple(odd_or_round(generator, 2000, 60_000) for _ in range(page_types)),
        program=tuple(odd_or_round(generator, 10_000, 600_000) for _ in range(page_types)),
        erase=generator.choice([1, 3]) * odd_or_round(generator, 50_000, 2_000_000),
        command_address=generator.choice([0, odd_or_round(generator, 1, 1000)]),
        channel_rate=odd_or_round(generator, 100_000_000, 2_000_000_000),
        read_any_block=generator.random() < 0.3,
    )


def drawn_world(seed: int) -> World:
    generator = random.Random(f"queue depth one {seed}")
    settings, over_provisioning = drawn_settings(generator)
    return World(
        seed=seed,
        settings=settings,
        controller=drawn_controller(generator, settings.shape),
        over_provisioning=over_provisioning,
        prefill=generator.choice(["none", "footprint", "full", "full"]),
        pattern=generator.choice(["trace", "trace", "flushes", "trims"]),
        prefill_order=generator.choice(["ascending", "ascending", "random"]),
    )


# ---- the engine's side -----------------------------------------------------------------------------------


def inline(policy: Policy) -> str:
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in policy.items()) + " }"


def drive_toml(world: World) -> str:
    """The drive as a user would describe it."""
    shape, settings, controller = world.settings.shape, world.settings, world.controller
    times = {
        kind: json.dumps([f"{time}ns" for time in getattr(controller, kind)]) for kind in ("read", "program")
    }
    cell = ("slc", "mlc", "tlc", "qlc")[len(controller.read) - 1]
    timeout = f'page_timeout = "{controller.page_timeout}ns"' if controller.page_timeout else ""
    names = ("channels", "packages_per_channel", "dies_per_package", "planes_per_die")
    geometry = "\n".join(f"{name} = {getattr(shape, name)}" for name in names)
    return f"""
[geometry]
{geometry}
blocks_per_plane = {shape.blocks_per_plane}
pages_per_block = {shape.pages_per_block}
page_size = {shape.page_bytes}
[nand]
cell = "{cell}"
read = {times["read"]}
program = {times["program"]}
erase_loop = "{controller.erase}ns"
command_address = "{controller.command_address}ns"
channel_rate = "{controller.channel_rate}B/s"
read_any_block = {json.dumps(controller.read_any_block)}
[ftl]
mapping_unit = {shape.unit_bytes}
over_provisioning = {world.over_provisioning}
frontier_planes = {shape.frontier_planes}
gc_reserve_blocks = {settings.reserve_groups}
gc_pages_in_flight = {controller.gc_pages_in_flight}
page_allocation = {inline(settings.page_allocation)}
free_block_choice = {inline(settings.free_block_choice)}
gc_trigger = {inline(settings.gc_trigger)}
victim = {inline(settings.victim)}
[controller]
queue_depth = 16
link_rate = "{controller.link_rate}B/s"
command_cost = "{controller.command_cost}ns"
write_completion = "{controller.write_completion}"
buffered_pages = {controller.buffered_pages}
{timeout}
[scheduler]
transactions = "{controller.scheduler}"
multi_plane = {json.dumps(controller.multi_plane)}
"""


def drawn_trace(world: World) -> list[Request]:
    """Reads and writes of all sizes, some of them one after another, half of them in a small region."""
    generator = random.Random(f"requests {world.seed}")
    shape = world.settings.shape
    sectors = world.settings.logical_units * shape.unit_bytes // SECTOR
    page = shape.page_bytes // SECTOR
    largest = min(sectors, 2 * page * shape.frontier_planes * shape.channels)
    aligned, reads = generator.random() < 0.4, generator.random()
    drawn: list[Request] = []
    for _ in range(REQUESTS):
        size = generator.choice([1, page, generator.randint(1, largest), page * generator.randint(1, 4)])
        size = min(size, largest)
        start = generator.randrange(sectors if generator.random() < 0.5 else max(1, sectors // 5))
        if drawn and generator.random() < 0.3:
            start = drawn[-1].lba + generator.choice([0, drawn[-1].sectors])
        start = min(start, sectors - size)
        if aligned:
            start, size = start // page * page, max(page, size // page * page)
            size = min(size, sectors - start)
        drawn.append(Request("read" if generator.random() < reads else "write", start, size))
    return drawn


def drawn_job(world: World) -> dict[str, Any]:
    """A synthetic job: the only kind of workload with flushes and trims."""
    generator = random.Random(f"job {world.seed}")
    shape = world.settings.shape
    sectors = world.settings.logical_units * shape.unit_bytes // SECTOR
    size = min(sectors, generator.randint(1, 3 * shape.page_bytes // SECTOR))
    job = {"bs": size * SECTOR, "blockalign": SECTOR, "requests": REQUESTS}
    if world.pattern == "trims":
        return job | {"rw": "randtrim"}
    return job | {
        "rw": "randrw",
        "rwmixread": generator.randint(0, 90),
        "flush_every": generator.randint(1, 9),
    }


def run_to_the_end(words: dict[str, Any]) -> ninescope._native.Simulation:
    """Run until nothing is left to do, which the drives of these tests reach within seconds of their time."""
    simulation = ninescope._native.Simulation(json.dumps(words))
    while not simulation.run_slice(100):
        assert simulation.progress()["simulated_ns"] < 100 * 10**9, "the drive never comes to rest"
    return simulation


def write_trace(path: Path, requests: list[Request]) -> ninescope.Workload:
    """A closed loop of depth 1 over reads and writes."""
    codes = {"write": 0, "read": 1}
    lines = [
        f"{time} 0 {asked.lba} {asked.sectors} {codes[asked.op]}\n" for time, asked in enumerate(requests)
    ]
    path.write_text("".join(lines))
    return ninescope.Workload.trace(path, format="mqsim", closed_loop=True, iodepth=1)


def simulated(world: World) -> tuple[list[Request], list[int]]:
    """What the engine was asked, and how long each request took."""
    drive = ninescope.Drive.from_toml(drive_toml(world))
    with tempfile.TemporaryDirectory() as folder:
        if world.pattern == "trace":
            workload = write_trace(Path(folder) / "trace.txt", drawn_trace(world))
        else:
            workload = ninescope.Workload.job(**drawn_job(world))
        words = request(
            drive,
            workload,
            seed=world.settings.seed,
            prefill=world.prefill,
            prefill_order=world.prefill_order,
            log_requests=True,
        )
        log = run_to_the_end(words).request_log()
    order = ("read", "write", "trim", "flush")
    columns = (log[name].tolist() for name in ("op", "lba", "sectors", "latency_ns"))
    rows = list(zip(*columns, strict=True))
    return [Request(order[op], lba, sectors) for op, lba, sectors, _ in rows], [row[3] for row in rows]


# ---- the model's side ------------------------------------------------------------------------------------


def in_order_of_writing(world: World, units: list[int]) -> list[int]:
    """In random order the last one is drawn first, among all, and what was drawn first is written first."""
    if world.prefill_order == "ascending":
        return units
    stream = RandomStream(world.settings.seed, "prepare", "order")
    left, drawn = list(units), []
    while left:
        chosen = stream.below(len(left)) if len(left) > 1 else 0
        left[chosen], left[-1] = left[-1], left[chosen]
        drawn.append(left.pop())
    return drawn


def prefilled_units(world: World, requests: list[Request]) -> list[int]:
    """What the drive holds at the start, by address."""
    units = range(world.settings.logical_units)
    per_unit = world.settings.shape.unit_bytes // SECTOR
    if world.prefill == "none":
        return []
    if world.prefill == "full":
        return list(units)
    if world.pattern != "trace":
        # A job's region is the whole drive, as far as its requests reach.
        return list(units)
    page = 4096 // SECTOR
    pages = {
        number
        for asked in requests
        if asked.op == "read"
        for number in range(asked.lba // page, (asked.lba + asked.sectors - 1) // page + 1)
    }
    written: list[int] = []
    for number in sorted(pages):
        covered = range(number * page // per_unit, -(-(number + 1) * page // per_unit))
        if number - 1 in pages:
            covered = [unit for unit in covered if unit != written[-1]]
        written += [unit for unit in covered if unit in units]
    return written


def compare(seed: int) -> None:
    world = drawn_world(seed)
    requests, theirs = simulated(world)
    if world.pattern == "trace":
        assert requests == drawn_trace(world), f"seed {seed}: the engine was asked something else"
    prefilled = in_order_of_writing(world, prefilled_units(world, requests))
    device = NaiveDevice(world.settings, world.controller, prefilled)
    ours = device.run(requests)
    for number, (naive, simulated_ns) in enumerate(zip(ours, theirs, strict=True)):
        assert naive == simulated_ns, (
            f"seed {seed}, request {number} {requests[number]}: the model says {naive} ns, the engine "
            f"{simulated_ns} ns (prefill {world.prefill} {world.prefill_order}, {world.pattern})"
            f"{drive_toml(world)}"
        )


# ---- tests -----------------------------------------------------------------------------------------------


def test_every_scheduler_of_the_model_is_one_of_the_simulator():
    names = {entry["name"] for entry in json.loads(ninescope._native.policies())["scheduler.transactions"]}
    assert set(SCHEDULERS) <= names


@pytest.mark.parametrize("first", range(0, 100, 10))
def test_every_latency_is_the_sum_of_its_stages(first):
    for seed in range(first, first + 10):
        compare(seed)


NEVER_AT_REST = """
[geometry]
channels = 1
packages_per_channel = 1
dies_per_package = 1
planes_per_die = 2
blocks_per_plane = 10
pages_per_block = 1
page_size = 2048
[nand]
cell = "slc"
read = "10us"
program = "100us"
erase_loop = "1ms"
channel_rate = "1000MB/s"
[ftl]
mapping_unit = 512
over_provisioning = 1.501
gc_pages_in_flight = 2
gc_trigger = { policy = "free-groups", beyond_reserve = 0 }
victim = "fifo"
[controller]
write_completion = "program"
[scheduler]
multi_plane = false
transactions = "fifo"
"""
# (first sector, sectors) of writes.
WRITES = [
    (0, 12), (24, 4), (8, 4), (0, 12), (24, 7), (12, 4), (0, 8), (16, 4), (0, 16), (24, 4), (0, 16), (8, 4),
    (20, 4), (8, 12), (20, 3), (24, 4), (0, 8), (4, 8), (28, 3), (4, 8), (12, 16), (4, 4), (12, 3), (12, 12),
    (20, 4),
]  # fmt: skip


def test_garbage_collection_comes_to_rest_where_a_group_is_one_stripe(tmp_path):
    workload = write_trace(tmp_path / "trace.txt", [Request("write", *range_) for range_ in WRITES])
    run_to_the_end(request(ninescope.Drive.from_toml(NEVER_AT_REST), workload, prefill="none"))


if __name__ == "__main__":
    start, count = map(int, sys.argv[1:])
    wrong = 0
    for tried in range(start, start + count):
        try:
            compare(tried)
        except AssertionError as error:
            wrong += 1
            print(str(error).splitlines()[0], flush=True)
    print(f"{count} drives, {wrong} with a difference")
