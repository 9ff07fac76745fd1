"""A drive in time, written for reading: one request after another, its stages added up.

The engine (`crates/engine`) is tested against it at queue depth 1, to the nanosecond. The host waits for each
request before it makes the next, so a request meets no other; what it can meet is work that earlier ones left
behind: programs of filled stripes and garbage collection. A clock steps from one end of a stage to the next,
and everything is found by looking through lists. The rules are those of ARCHITECTURE.md, docs/decisions and
the contracts of the policies; which unit goes where is `naive_ftl`'s. It must not be a transcription of the
engine.

Not modelled: suspending programs and erases.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import NamedTuple

from naive_ftl import (
    GC,
    HOST,
    WAIT,
    Erase,
    Group,
    InstantDrive,
    Location,
    Move,
    Place,
    Pool,
    Settings,
    Written,
)

SECTOR = 512
NEVER = 2**64

READ, PROGRAM, GC_READ, GC_PROGRAM, ERASE = "read", "program", "gc read", "gc program", "erase"
MERGE_WINDOW = 8
"""How many of the accesses that wait behind the first one are looked at for the other planes of a command."""


class Request(NamedTuple):
    """What the host asks: "read", "write", "trim" or "flush"."""

    op: str
    lba: int
    sectors: int


@dataclasses.dataclass(frozen=True)
class Controller:
    """Times [ns], rates [B/s] and rules of one drive, beside those of its translation layer."""

    command_cost: int
    link_rate: int
    write_completion: str
    buffered_pages: int
    page_timeout: int | None
    multi_plane: bool
    scheduler: str
    gc_pages_in_flight: int
    read: tuple[int, ...]
    program: tuple[int, ...]
    erase: int
    command_address: int
    channel_rate: int
    read_any_block: bool


def burst(count: int, rate: int) -> int:
    """The time `count` bytes take, rounded up once."""
    return -(-count * 10**9 // rate)


# ---- policies: what a free die does next -----------------------------------------------------------------


def reads_first(waiting: list[Access], is_urgent: bool) -> str:
    """Reads before writes before garbage collection, which passes writes where they wait for it."""
    kinds = (
        [READ, ERASE, GC_PROGRAM, GC_READ, PROGRAM]
        if is_urgent
        else [READ, PROGRAM, ERASE, GC_PROGRAM, GC_READ]
    )
    return next(kind for kind in kinds if any(access.kind == kind for access in waiting))


def first_come(waiting: list[Access], is_urgent: bool) -> str:
    """In the order of arrival; at one instant reads, programs, then garbage collection's."""
    kinds = [READ, PROGRAM, GC_READ, GC_PROGRAM, ERASE]
    return min(waiting, key=lambda access: (access.queued, kinds.index(access.kind))).kind


SCHEDULERS = {"reads-first": reads_first, "fifo": first_come}


# ---- what is under way -----------------------------------------------------------------------------------


@dataclasses.dataclass(eq=False)
class Access:
    """One page read or programmed, or one group erased, on its way through a die."""

    kind: str
    group: Group
    positions: list[int]
    when_done: Callable[[], None] = lambda: None
    """Called when it is over: what was read is in the controller, what was programmed is on the media."""
    link_bytes: int = 0
    """What the host gets of it."""
    queued: int = 0

    @property
    def place(self) -> Place:
        return self.group.place(self.positions[0])


@dataclasses.dataclass(eq=False)
class Die:
    """One die: what waits for it and what it does."""

    number: int
    waiting: list[Access] = dataclasses.field(default_factory=list)
    command: list[Access] = dataclasses.field(default_factory=list)
    """The accesses under way, by plane."""
    doing: str = "nothing"
    """"nothing", "asks to send", "array", "asks to answer" or "answers"."""
    until: int = NEVER
    asked: int = 0
    """Its number in the order in which channels were asked for."""
    buffered_pages: int = 0

    @property
    def asks(self) -> bool:
        return self.doing.startswith("asks")

    @property
    def asks_for_data(self) -> bool:
        return self.doing == "asks to answer" or self.command[0].kind in (PROGRAM, GC_PROGRAM)


@dataclasses.dataclass(eq=False)
class Page:
    """A page of a frontier: being filled, or full and waiting for the rest of its stripe."""

    group: Group
    number: int
    sources: list[Location | None] = dataclasses.field(default_factory=list)
    """Of a page of moves: where each unit comes from."""
    units_of_request: int = 0
    """How many units of the present request it holds, where that completes when they are programmed."""


@dataclasses.dataclass(eq=False)
class Frontier:
    """Pages of one stream of a pool that were not sent to the die."""

    open: Page | None = None
    full: list[Page] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(eq=False)
class Collection:
    """What garbage collection of one pool has under way."""

    reads: int = 0
    programs: int = 0
    fills: bool = False


@dataclasses.dataclass(eq=False)
class Entry:
    """Units of a write that are placed one after another."""

    units: list[int]
    merged_with: Location | None = None
    """Of a unit written in part: where its rest was read."""
    is_in_part: bool = False
    had_turn: bool = False
    """It was its turn, and the rest of its unit had to be read again."""
    is_begun: bool = False


class NaiveDevice:
    """One drive and the requests of a host that waits for each of them."""

    def __init__(self, settings: Settings, controller: Controller, prefill: Iterable[int] = ()) -> None:
        self.shape = settings.shape
        self.controller = controller
        self.now = 0
        prepared = InstantDrive(settings)
        for unit in prefill:
            prepared.write(unit)
        prepared.settle()
        self.ftl = prepared.ftl
        self.dies = [Die(number) for number in range(self.shape.dies)]
        self.channel_free_at = [0] * self.shape.channels
        self.frontiers = {(pool, stream): Frontier() for pool in self.ftl.pools for stream in (HOST, GC)}
        self.collections = {pool: Collection() for pool in self.ftl.pools}
        self.latencies: list[int] = []
        # The present request.
        self._requests: list[Request] = []
        self._submitted: int | None = None
        self._parts_left = 0
        self._answers: list[tuple[int, int]] = []
        self._stage: tuple[int, Callable[[], None]] | None = None
        self._flushes = False
        # Between requests.
        self._stalled: list[Entry] = []
        self._something_freed = False
        self._ask_collection: set[Pool] = set()
        self._readers: dict[Group, int] = {}
        self._erases_waiting: list[Group] = []
        self._host_programs = 0
        self._deadlines: list[tuple[int, Page]] = []
        self._channel_asks = 0

    def run(self, requests: list[Request]) -> list[int]:
        """Serve the requests; returns the latency of each."""
        self._requests = list(requests)
        self._decide()
        while self._requests or self._submitted is not None:
            self.now = self._next_end()
            self._end_stages()
            self._decide()
        return self.latencies

    # ---- the clock ---------------------------------------------------------------------------------------

    def _next_end(self) -> int:
        ends = [die.until for die in self.dies] + [at for at, _ in self._deadlines]
        ends += [self._stage[0]] if self._stage else []
        for channel, free_at in enumerate(self.channel_free_at):
            if self._asking(channel):
                ends.append(free_at)
        end = min(ends, default=NEVER)
        assert self.now < end < NEVER, "nothing is under way, and the request is not done"
        return end

    def _end_stages(self) -> None:
        """What ends now: stages of dies by number, then the request's own, then page timeouts."""
        for die in self.dies:
            if die.until == self.now:
                self._die_stage_ended(die)
        if self._stage is not None and self._stage[0] == self.now:
            _, go_on = self._stage
            self._stage = None
            go_on()
        while self._deadlines and self._deadlines[0][0] <= self.now:
            _, page = self._deadlines.pop(0)
            self._page_timed_out(page)

    def _decide(self) -> None:
        """Decide at this instant about requests, stalled writes, garbage collection, dies, channels."""
        again = True
        while again:
            while self._submitted is None and self._requests:
                self._submit(self._requests.pop(0))
            if self._something_freed:
                self._something_freed = False
                self._retry_stalled()
            while self._ask_collection:
                pool = min(self._ask_collection, key=lambda pool: pool.number)
                self._ask_collection.remove(pool)
                self._collect(pool)
            for die in self.dies:
                if die.doing == "nothing" and die.waiting:
                    self._start_command(die)
            for channel in range(self.shape.channels):
                self._grant(channel)
            again = bool(self._ask_collection or self._something_freed) or (
                self._submitted is None and bool(self._requests)
            )

    # ---- a request ---------------------------------------------------------------------------------------

    def _submit(self, request: Request) -> None:
        self._submitted = self.now
        start = {
            "read": lambda: self._start_read(request),
            "write": lambda: self._send_to_device(request),
            "trim": lambda: self._start_trim(request),
            "flush": self._start_flush,
        }[request.op]
        self._after(self.controller.command_cost, start)

    def _after(self, time: int, go_on: Callable[[], None]) -> None:
        """Go on with the request when `time` has passed."""
        if time == 0:
            go_on()
        else:
            self._stage = (self.now + time, go_on)

    def _part_done(self, count: int = 1) -> None:
        self._parts_left -= count
        if self._parts_left == 0:
            self._complete()

    def _complete(self) -> None:
        self.latencies.append(self.now - self._submitted)
        self._submitted = None

    # ---- reads -------------------------------------------------------------------------------------------

    def _start_read(self, request: Request) -> None:
        per_unit = self.shape.unit_bytes // SECTOR
        sectors_of: dict[int, int] = {}
        for sector in range(request.lba, request.lba + request.sectors):
            sectors_of[sector // per_unit] = sectors_of.get(sector // per_unit, 0) + 1
        accesses: list[Access] = []
        at_once = 0
        for unit, sectors in sectors_of.items():
            location = self.ftl.map.get(unit)
            if location is None or not self.ftl.on_media(location):
                at_once += sectors * SECTOR
            elif accesses and self._lies_beside(accesses[-1], location):
                accesses[-1].positions.append(location.position)
                accesses[-1].link_bytes += sectors * SECTOR
            else:
                accesses.append(
                    Access(READ, location.group, [location.position], link_bytes=sectors * SECTOR)
                )
        self._answers = []
        self._parts_left = len(accesses) + (at_once > 0)
        for access in accesses:
            self._queue_read(access)
        if at_once:
            self._answer(self.now, at_once)

    def _lies_beside(self, access: Access, location: Location) -> bool:
        page = self.shape.units_per_page
        last = access.positions[-1]
        side_by_side = location.position == last + 1 and location.position // page == last // page
        return access.group is location.group and side_by_side

    def _answer(self, ready: int, count: int) -> None:
        """Data for the host: it crosses the link in the order in which it is ready."""
        self._answers.append((ready, count))
        if len(self._answers) < self._parts_left:
            return
        link_free_at = 0
        for begins, size in sorted(self._answers, key=lambda answer: answer[0]):
            link_free_at = max(link_free_at, begins) + burst(size, self.controller.link_rate)
        self._after(link_free_at - self.now, self._complete)

    # ---- writes ------------------------------------------------------------------------------------------

    def _send_to_device(self, request: Request) -> None:
        time = burst(request.sectors * SECTOR, self.controller.link_rate)
        self._after(time, lambda: self._start_write(request))

    def _start_write(self, request: Request) -> None:
        per_unit = self.shape.unit_bytes // SECTOR
        end = request.lba + request.sectors
        units = list(range(request.lba // per_unit, (end - 1) // per_unit + 1))
        whole = [unit for unit in units if unit * per_unit >= request.lba and (unit + 1) * per_unit <= end]
        in_part = [unit for unit in units if unit not in whole]
        entries = len(in_part) + (len(whole) > 0)
        self._parts_left = len(units) if self._completes_at_program else entries
        self._write_in_parts(in_part)
        if whole:
            self._place_or_stall(Entry(whole))

    @property
    def _completes_at_program(self) -> bool:
        return self.controller.write_completion == "program"

    def _write_in_parts(self, units: list[int]) -> None:
        """The rests of two units that follow each other are read together where they lie side by side."""
        locations = [location for unit in units if (location := self.ftl.map.get(unit)) is not None]
        if len(locations) == 2 and units[1] == units[0] + 1 and all(map(self.ftl.on_media, locations)):
            first, second = locations
            read = Access(READ, first.group, [first.position, second.position])
            if self._lies_beside(dataclasses.replace(read, positions=[first.position]), second):
                entries = [
                    Entry([unit], place, is_in_part=True)
                    for unit, place in zip(units, locations, strict=True)
                ]
                read.when_done = lambda: [self._place_or_stall(entry) for entry in entries] and None
                self._queue_read(read)
                return
        for unit in units:
            self._write_in_part(unit)

    def _write_in_part(self, unit: int, *, had_turn: bool = False) -> None:
        """The rest of the unit is read first, unless there is none or the controller still has it."""
        location = self.ftl.map.get(unit)
        entry = Entry([unit], location, is_in_part=True, had_turn=had_turn)
        if location is None or not self.ftl.on_media(location):
            self._place_or_stall(entry)
            return
        read = Access(READ, location.group, [location.position], lambda: self._place_or_stall(entry))
        self._queue_read(read)

    def _must_read_again(self, entry: Entry) -> bool:
        """Whether the unit lies elsewhere than when its rest was read.

        At queue depth 1 no other write can have changed it, but garbage collection may have moved it between
        the read and the place in line; who waits there follows a move.
        """
        if not entry.is_in_part:
            return False
        location = self.ftl.map.get(entry.units[0])
        if location is None or not self.ftl.on_media(location):
            return False
        return entry.merged_with is None or location != entry.merged_with

    def _place_or_stall(self, entry: Entry) -> None:
        """Place the units, behind those that wait already; one that had its turn goes before the others."""
        before = len(self._stalled)
        if entry.had_turn:
            # Without a write buffer a page is of one entry.
            keeps = [
                other.had_turn or (self._completes_at_program and other.is_begun) for other in self._stalled
            ]
            before = keeps.index(False) if False in keeps else len(keeps)
        if before or not self._place(entry):
            self._stalled.insert(before, entry)
            self._ask_full_pools()

    def _retry_stalled(self) -> None:
        while self._stalled:
            if not self._place(self._stalled[0]):
                self._ask_full_pools()
                return
            self._stalled.pop(0)

    def _ask_full_pools(self) -> None:
        self._ask_collection.update(pool for pool in self.ftl.pools if not self.ftl.has_space(pool))

    def _place(self, entry: Entry) -> bool:
        """Place as many units as can be; returns whether the entry need not wait any longer."""
        if self._must_read_again(entry):
            self._write_in_part(entry.units[0], had_turn=True)
            return True
        while entry.units:
            written = self.ftl.write(entry.units[0])
            if written is None:
                return False
            entry.units.pop(0)
            entry.is_begun = True
            self._host_unit_placed(written)
        if self._completes_at_program:
            for pool in self.ftl.pools:
                self._send_what_is_there(pool, HOST)
        else:
            self._part_done()
        return True

    def _host_unit_placed(self, written: Written) -> None:
        pool = written.new.group.pool
        if written.opened:
            self._ask_collection.add(pool)
        page = self._unit_joined(written, HOST, None)
        page.units_of_request += self._completes_at_program
        if written.fills_page:
            self._page_filled(pool, HOST, send=written.fills_stripe)
        elif (
            written.new.position % self.shape.units_per_page == 0 and self.controller.page_timeout is not None
        ):
            self._deadlines.append((self.now + self.controller.page_timeout, page))

    def _page_timed_out(self, page: Page) -> None:
        if self.frontiers[page.group.pool, HOST].open is page:
            self._send_what_is_there(page.group.pool, HOST)

    def _start_trim(self, request: Request) -> None:
        """Forget the whole units of a range."""
        per_unit = self.shape.unit_bytes // SECTOR
        end = request.lba + request.sectors
        for unit in range(-(-request.lba // per_unit), end // per_unit):
            old = self.ftl.trim(unit)
            if old is not None:
                self._ask_collection.add(old.group.pool)
        self._complete()

    def _start_flush(self) -> None:
        """Send what is open; done when every host program has ended."""
        for pool in self.ftl.pools:
            self._send_what_is_there(pool, HOST)
        self._flushes = True
        self._look_at_flush()

    def _look_at_flush(self) -> None:
        if self._flushes and self._host_programs == 0:
            self._flushes = False
            self._complete()

    # ---- frontiers ---------------------------------------------------------------------------------------

    def _unit_joined(self, written: Written, stream: str, source: Location | None) -> Page:
        """Follow a unit into the page it was placed in."""
        group = written.new.group
        frontier = self.frontiers[group.pool, stream]
        if frontier.open is None:
            frontier.open = Page(group, written.new.position // self.shape.units_per_page)
        frontier.open.sources.append(source)
        return frontier.open

    def _page_filled(self, pool: Pool, stream: str, *, send: bool) -> None:
        frontier = self.frontiers[pool, stream]
        frontier.full.append(frontier.open)
        frontier.open = None
        if stream == HOST:
            die = self.dies[pool.die]
            die.buffered_pages += 1
            self._set_room(die)
        if send:
            self._send(pool, stream)

    def _set_room(self, die: Die) -> None:
        for pool in self.ftl.pools:
            if pool.die == die.number:
                pool.has_room = die.buffered_pages < self.controller.buffered_pages

    def _send(self, pool: Pool, stream: str) -> None:
        """The full pages of a stripe go to the die together."""
        frontier = self.frontiers[pool, stream]
        for page in frontier.full:
            first = page.number * self.shape.units_per_page
            positions = list(range(first, first + self.shape.units_per_page))
            if stream == HOST:
                self._host_programs += 1
                access = Access(PROGRAM, page.group, positions, lambda page=page: self._host_page_ended(page))
            else:
                self.collections[pool].programs += 1
                self.collections[pool].fills = False
                access = Access(GC_PROGRAM, page.group, positions, lambda page=page: self._moves_ended(page))
            self._queue(access)
        frontier.full = []

    def _send_what_is_there(self, pool: Pool, stream: str) -> None:
        """The open page is padded; it goes to the die with the full ones of its stripe."""
        if self.ftl.pad(pool, stream) is not None:
            self._page_filled(pool, stream, send=False)
        self._send(pool, stream)

    def _page_programmed(self, page: Page) -> None:
        group = page.group
        group.programmed = (page.number + 1) * self.shape.units_per_page
        if group.programmed == self.shape.units_per_group:
            self._ask_collection.add(group.pool)

    def _host_page_ended(self, page: Page) -> None:
        self._page_programmed(page)
        die = self.dies[page.group.pool.die]
        if die.buffered_pages == self.controller.buffered_pages:
            self._something_freed = bool(self._stalled) or self._something_freed
        die.buffered_pages -= 1
        self._set_room(die)
        if page.units_of_request:
            self._part_done(page.units_of_request)
        self._host_programs -= 1
        self._look_at_flush()

    # ---- garbage collection ------------------------------------------------------------------------------

    def _collect(self, pool: Pool) -> None:
        """Carry out what the pool wants done, as far as the bound on pages under way allows."""
        under_way = self.collections[pool]
        while under_way.reads + under_way.programs < self.controller.gc_pages_in_flight:
            if under_way.fills and under_way.reads > 0:
                # An open page is filled page by page.
                return
            step = self.ftl.next_step(pool, fill=under_way.fills)
            if isinstance(step, Move):
                self._read_to_move(step)
            elif isinstance(step, Erase):
                self._erase_when_unread(step.group)
            elif step != WAIT or under_way.reads + under_way.programs > 0 or not self.ftl.is_urgent(pool):
                # A victim that waits for its moves is not over yet.
                if step != WAIT and under_way.reads + under_way.programs == 0 and self.ftl.rests(pool):
                    self._something_freed = bool(self._stalled) or self._something_freed
                return
            elif under_way.fills:
                # No victim is left that could fill the open page.
                under_way.fills = False
                self._send_what_is_there(pool, GC)
                return
            else:
                # What the victim waits for lies in an open page.
                under_way.fills = True

    def _read_to_move(self, move: Move) -> None:
        pool = move.group.pool
        self.collections[pool].reads += 1
        read = [(move.group.content[position], move.group.location(position)) for position in move.positions]

        def arrived() -> None:
            self.collections[pool].reads -= 1
            for unit, source in read:
                if self.ftl.move_is_current(unit, source):
                    written = self.ftl.place_move(unit, source)
                    self._unit_joined(written, GC, source)
                    if written.fills_page:
                        self._page_filled(pool, GC, send=written.fills_stripe)
            self._ask_collection.add(pool)

        self._queue_read(Access(GC_READ, move.group, move.positions, arrived))

    def _moves_ended(self, page: Page) -> None:
        self._page_programmed(page)
        first = page.number * self.shape.units_per_page
        for offset, source in enumerate(page.sources):
            target = page.group.location(first + offset)
            if self.ftl.moved(page.group.content[first + offset], source, target):
                for entry in self._stalled:
                    if entry.is_in_part and entry.merged_with == source:
                        entry.merged_with = target
        self.collections[page.group.pool].programs -= 1
        self._ask_collection.add(page.group.pool)

    def _erase_when_unread(self, group: Group) -> None:
        if self._readers.get(group, 0) > 0:
            self._erases_waiting.append(group)
        else:
            self._queue(Access(ERASE, group, [0], lambda: self._erase_ended(group)))

    def _erase_ended(self, group: Group) -> None:
        self.ftl.erased(group)
        self._ask_collection.add(group.pool)
        self._something_freed = bool(self._stalled) or self._something_freed

    # ---- dies --------------------------------------------------------------------------------------------

    def _queue(self, access: Access) -> None:
        access.queued = self.now
        self.dies[access.group.pool.die].waiting.append(access)

    def _queue_read(self, access: Access) -> None:
        self._readers[access.group] = self._readers.get(access.group, 0) + 1
        self._queue(access)

    def _start_command(self, die: Die) -> None:
        is_urgent = any(pool.die == die.number and self.ftl.is_urgent(pool) for pool in self.ftl.pools)
        kind = SCHEDULERS[self.controller.scheduler](die.waiting, is_urgent)
        queue = [access for access in die.waiting if access.kind == kind]
        die.command = [queue[0]]
        if self.controller.multi_plane and kind != ERASE:
            die.command += self._companions(kind, queue)
        die.command.sort(key=lambda access: access.place.plane)
        die.waiting = [access for access in die.waiting if access not in die.command]
        self._ask_for_channel(die, "asks to send")

    def _companions(self, kind: str, queue: list[Access]) -> list[Access]:
        """Those behind the first that can run beside it: in other planes, at the same page and block."""
        first = queue[0]
        any_block = kind in (READ, GC_READ) and self.controller.read_any_block
        found: list[Access] = []
        planes_taken = {first.place.plane}
        held_back: set[Pool] = set()
        for access in queue[1 : 1 + MERGE_WINDOW]:
            place = access.place
            fits = place.page == first.place.page and (any_block or place.block == first.place.block)
            if fits and place.plane not in planes_taken and access.group.pool not in held_back:
                found.append(access)
                planes_taken.add(place.plane)
            elif kind in (PROGRAM, GC_PROGRAM):
                # Pages of a group are programmed in order.
                held_back.add(access.group.pool)
        return found

    def _die_stage_ended(self, die: Die) -> None:
        die.until = NEVER
        if die.doing == "array" and die.command[0].kind in (READ, GC_READ):
            for access in die.command:
                self._sensed(access.group)
            self._ask_for_channel(die, "asks to answer")
            return
        die.doing = "nothing"
        for access in die.command:
            access.when_done()

    def _sensed(self, group: Group) -> None:
        """The data is in the die's registers: the group is no longer read."""
        self._readers[group] -= 1
        if self._readers[group] == 0 and group in self._erases_waiting:
            self._erases_waiting.remove(group)
            self._erase_when_unread(group)

    # ---- channels ----------------------------------------------------------------------------------------

    def _ask_for_channel(self, die: Die, what: str) -> None:
        die.doing = what
        die.asked = self._channel_asks
        self._channel_asks += 1

    def _asking(self, channel: int) -> list[Die]:
        dies = self.dies[channel * self.shape.dies_per_channel : (channel + 1) * self.shape.dies_per_channel]
        return [die for die in dies if die.asks]

    def _grant(self, channel: int) -> None:
        """Bare commands before data; within each kind, first come, first served."""
        while self.channel_free_at[channel] <= self.now and self._asking(channel):
            die = min(self._asking(channel), key=lambda die: (die.asks_for_data, die.asked))
            use = self._send_command if die.doing == "asks to send" else self._send_data
            self.channel_free_at[channel] = use(die)

    def _send_command(self, die: Die) -> int:
        """Command, address and program data; returns when they have arrived and the array begins."""
        controller, first = self.controller, die.command[0]
        planes = self.shape.frontier_planes if first.kind == ERASE else len(die.command)
        sent = self.now + controller.command_address * planes
        if first.kind in (PROGRAM, GC_PROGRAM):
            sent += sum(burst(self.shape.page_bytes, controller.channel_rate) for _ in die.command)
        if first.kind == ERASE:
            array = controller.erase
        else:
            times = controller.read if first.kind in (READ, GC_READ) else controller.program
            array = times[first.place.page % len(times)]
        die.doing, die.until = "array", sent + array
        return sent

    def _send_data(self, die: Die) -> int:
        """The units asked for, plane after plane; each page is ready for the host when it has left."""
        left = self.now
        for access in die.command:
            left += burst(len(access.positions) * self.shape.unit_bytes, self.controller.channel_rate)
            if access.link_bytes:
                self._answer(left, access.link_bytes)
        die.doing, die.until = "answers", left
        return left
