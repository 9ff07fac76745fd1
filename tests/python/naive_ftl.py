"""A flash translation layer written for reading: what the documents say, in lists, sets and dictionaries.

The simulator's own (`crates/ftl`) is tested against it: both get the same operations and must decide the
same. It follows the rules of ARCHITECTURE.md, docs/decisions and the contracts of the policies, scans where
the other keeps tables, and must not be a transcription of it. It has no time: `InstantDrive` carries
everything out at once, `naive_device` in time.

A policy of the simulator without a counterpart here is followed: its decisions are read from the simulator's
log, have to be among those that it has a choice of, and everything else is decided here. A counterpart in its
kind's table makes the model decide, too.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from naive_random import RandomStream

HOST, GC = "host", "gc"
Policy = dict[str, Any]
"""A policy's name under "policy", and its parameters."""


@dataclasses.dataclass(frozen=True)
class Shape:
    """The numbers a drive is made of."""

    channels: int
    packages_per_channel: int
    dies_per_package: int
    planes_per_die: int
    blocks_per_plane: int
    pages_per_block: int
    page_bytes: int
    unit_bytes: int
    frontier_planes: int

    @property
    def dies_per_channel(self) -> int:
        return self.packages_per_channel * self.dies_per_package

    @property
    def dies(self) -> int:
        return self.channels * self.dies_per_channel

    @property
    def pools(self) -> int:
        return self.dies * self.planes_per_die // self.frontier_planes

    @property
    def units_per_page(self) -> int:
        return self.page_bytes // self.unit_bytes

    @property
    def units_per_stripe(self) -> int:
        return self.units_per_page * self.frontier_planes

    @property
    def units_per_group(self) -> int:
        return self.units_per_stripe * self.pages_per_block

    @property
    def units(self) -> int:
        return self.pools * self.blocks_per_plane * self.units_per_group


@dataclasses.dataclass(frozen=True)
class Settings:
    """What a translation layer is built from. The names are those of the simulator's configuration."""

    shape: Shape
    logical_units: int
    reserve_groups: int
    page_allocation: Policy
    free_block_choice: Policy
    gc_trigger: Policy
    victim: Policy
    seed: int


class Place(NamedTuple):
    """Where a unit lies on the media."""

    die: int
    plane: int
    block: int
    page: int
    unit: int

    def __str__(self) -> str:
        return "/".join(map(str, self))


@dataclasses.dataclass(eq=False)
class Group:
    """One block index in each plane of a pool: opened, filled, collected and erased as one."""

    pool: Pool
    block: int
    erases: int = 0
    content: list[int | None] = dataclasses.field(default_factory=list)
    """What was written since the last erase, in order; None is padding."""
    valid: set[int] = dataclasses.field(default_factory=set)
    """Positions in `content` that hold what the map points at."""
    programmed: int = 0
    """How much of `content` is on the media."""
    moves_coming: int = 0
    """Moves into this group that have not ended."""
    filled_as: int | None = None
    """Its number in the order in which groups were filled, None while it is not full."""
    is_victim: bool = False
    handed_out: set[int] = dataclasses.field(default_factory=set)
    """Of a victim: the positions whose move was begun."""

    def place(self, position: int) -> Place:
        shape = self.pool.shape
        page, rest = divmod(position, shape.units_per_stripe)
        plane, unit = divmod(rest, shape.units_per_page)
        return Place(self.pool.die, self.pool.first_plane + plane, self.block, page, unit)

    def location(self, position: int) -> Location:
        return Location(self, position, self.erases)

    @property
    def is_full(self) -> bool:
        return len(self.content) == self.pool.shape.units_per_group

    @property
    def may_be_victim(self) -> bool:
        """Filled, all of it on the media, and no move into it under way."""
        done = self.is_full and self.programmed == len(self.content) and self.moves_coming == 0
        return done and not self.is_victim

    @property
    def invalid_count(self) -> int:
        return self.pool.shape.units_per_group - len(self.valid)

    def positions_to_move(self) -> list[int]:
        return sorted(self.valid - self.handed_out)


@dataclasses.dataclass(eq=False)
class Pool:
    """The planes of a die that share free groups, frontiers and garbage collection."""

    shape: Shape
    number: int
    groups: list[Group] = dataclasses.field(default_factory=list)
    free: list[Group] = dataclasses.field(default_factory=list)
    """In the order in which they became free."""
    frontier: dict[str, Group | None] = dataclasses.field(default_factory=lambda: {HOST: None, GC: None})
    victim: Group | None = None
    """The one whose units are being handed out."""
    victim_is_filler: bool = False
    """It was chosen to fill an open page of moves, whatever it holds."""
    emptied: list[Group] = dataclasses.field(default_factory=list)
    """Victims all of whose units were handed out."""
    erasing: list[Group] = dataclasses.field(default_factory=list)
    moves_begun: int = 0
    """Units handed out to be moved that have no new place yet."""
    has_room: bool = True
    """The driver lets host writes in."""
    host_waits: bool = False
    """The trigger does not let host writes take a free group."""
    going_on: bool = False
    """Collection was needed when that was asked last."""

    def __post_init__(self) -> None:
        self.groups = [Group(self, block) for block in range(self.shape.blocks_per_plane)]
        self.free = list(self.groups)

    @property
    def die(self) -> int:
        return self.number * self.shape.frontier_planes // self.shape.planes_per_die

    @property
    def first_plane(self) -> int:
        return self.number * self.shape.frontier_planes % self.shape.planes_per_die


class Location(NamedTuple):
    """A unit's place as the translation layer keeps it."""

    group: Group
    position: int
    life: int
    """How often the group had been erased: what is written there later is something else."""

    @property
    def place(self) -> Place:
        return self.group.place(self.position)


class Written(NamedTuple):
    """What came of placing a unit."""

    new: Location
    old: Location | None
    opened: bool
    """It took a new group into use."""

    @property
    def fills_page(self) -> bool:
        return (self.new.position + 1) % self.new.group.pool.shape.units_per_page == 0

    @property
    def fills_stripe(self) -> bool:
        return (self.new.position + 1) % self.new.group.pool.shape.units_per_stripe == 0

    @property
    def fills_group(self) -> bool:
        return self.new.position + 1 == self.new.group.pool.shape.units_per_group


class Move(NamedTuple):
    """Read these positions of one page and write each anew."""

    group: Group
    positions: list[int]


class Erase(NamedTuple):
    """Erase this group."""

    group: Group


WAIT, NOTHING = "wait", "nothing"
Step = Move | Erase | str


# ---- policies: which pool takes the next unit ------------------------------------------------------------


class RoundRobin:
    """A stripe (or a page) to each pool in turn; those that cannot take a write are passed over."""

    def __init__(self, order: list[Pool], parameters: Policy) -> None:
        self._order = order
        self._by_page = parameters.get("granularity", "stripe") == "page"
        self._turn = 0

    def choose(self, unit: int, accepts: Callable[[Pool], bool]) -> Pool | None:
        for offset in range(len(self._order)):
            turn = (self._turn + offset) % len(self._order)
            if accepts(self._order[turn]):
                self._turn = turn
                return self._order[turn]
        return None

    def placed(self, written: Written) -> None:
        if written.fills_page if self._by_page else written.fills_stripe:
            self._turn = self._order.index(written.new.group.pool) + 1


class Static:
    """The logical address decides, page by page, the first letter of the order fastest."""

    def __init__(self, order: list[Pool], parameters: Policy) -> None:
        shape = order[0].shape
        counts = {
            "C": shape.channels,
            "W": shape.packages_per_channel,
            "D": shape.dies_per_package,
            "P": shape.planes_per_die,
        }
        letters = parameters.get("order", "CWDP")
        self._order = []
        # The last letter is the outermost loop.
        for numbers in itertools.product(*(range(counts[letter]) for letter in reversed(letters))):
            at = dict(zip(reversed(letters), numbers, strict=True))
            die = (at["C"] * counts["W"] + at["W"]) * counts["D"] + at["D"]
            pools = sorted((pool for pool in order if pool.die == die), key=lambda pool: pool.first_plane)
            self._order.append(pools[at["P"] % len(pools)])

    def choose(self, unit: int, accepts: Callable[[Pool], bool]) -> Pool | None:
        pool = self._order[unit // self._order[0].shape.units_per_page % len(self._order)]
        return pool if accepts(pool) else None

    def placed(self, written: Written) -> None:
        pass


PAGE_ALLOCATION: dict[str, Callable[[list[Pool], Policy], Any]] = {
    "round-robin": RoundRobin,
    "static": Static,
    # Without time no die has anything to do, and all are equals.
    "least-queue": RoundRobin,
    "earliest-free": RoundRobin,
}


def in_stripe_order(pools: list[Pool], shape: Shape) -> list[Pool]:
    """Neighbours lie on different channels, then on different dies of a channel, then in different planes."""

    def key(pool: Pool) -> tuple[int, int, int]:
        channel, die_in_channel = divmod(pool.die, shape.dies_per_channel)
        return pool.first_plane, die_in_channel, channel

    return sorted(pools, key=key)


# ---- policies: which free group is opened ----------------------------------------------------------------


def free_longest(free: list[Group]) -> Group:
    return free[0]


def fewest_erases(free: list[Group]) -> Group:
    return min(free, key=lambda group: group.erases)


FREE_BLOCK_CHOICE = {"fifo": free_longest, "least-worn": fewest_erases}


# ---- policies: when garbage collection is needed ---------------------------------------------------------


class FewFreeGroups:
    """Needed at a mark and below; the host is not its business."""

    def __init__(self, parameters: Policy, reserve: int) -> None:
        self.mark = reserve + parameters.get("beyond_reserve", 1)

    def needed(self, in_prospect: int, host_waits: bool, going_on: bool) -> bool:
        return in_prospect <= self.mark

    def host_waits(self, free: int, waited: bool) -> bool:
        return False


class Foreground(FewFreeGroups):
    """From its mark on the host waits, and what is needed is more than the mark."""

    def __init__(self, parameters: Policy, reserve: int) -> None:
        super().__init__(parameters, reserve)
        self.enough = self.mark + parameters.get("gain", 2)

    def needed(self, in_prospect: int, host_waits: bool, going_on: bool) -> bool:
        return in_prospect < self.enough if host_waits else super().needed(in_prospect, False, False)

    def host_waits(self, free: int, waited: bool) -> bool:
        return free < self.enough if waited else free <= self.mark


class Watermarks(FewFreeGroups):
    """Once it is needed, it is until the upper mark is reached, or there is nothing to do."""

    def needed(self, in_prospect: int, host_waits: bool, going_on: bool) -> bool:
        enough = self.mark + self.gain if going_on else self.mark + 1
        return in_prospect < enough

    def __init__(self, parameters: Policy, reserve: int) -> None:
        super().__init__(parameters, reserve)
        self.gain = parameters.get("gain", 4)


class WithoutTime(FewFreeGroups):
    """No die rests where no time passes, and nothing is put off."""

    def __init__(self, parameters: Policy, reserve: int) -> None:
        defaults = {"idle": 1, "deadline": 3}
        super().__init__({"beyond_reserve": defaults[parameters["policy"]], **parameters}, reserve)


GC_TRIGGER = {
    "free-groups": FewFreeGroups,
    "foreground": Foreground,
    "watermarks": Watermarks,
    "idle": WithoutTime,
    "deadline": WithoutTime,
}


# ---- policies: what is collected -------------------------------------------------------------------------


# Where only a page of moves is to be filled, policies are asked although there may be no candidate at all.


def candidates(groups: list[Group]) -> list[Group]:
    return [group for group in groups if group.may_be_victim]


def drawn(
    groups: list[Group], stream: RandomStream, wanted: Callable[[Group], bool] = lambda group: True
) -> Group | None:
    """Any wanted candidate alike: up to 16 draws among all groups, then one among the wanted candidates."""
    for _ in range(16):
        group = groups[stream.below(len(groups))]
        if group.may_be_victim and wanted(group):
            return group
    left = [group for group in candidates(groups) if wanted(group)]
    return left[stream.below(len(left))] if left else None


Choice = Callable[[list[Group]], Group | None]


def greedy(parameters: Policy, seed: int) -> Choice:
    return lambda groups: min(candidates(groups), key=lambda group: len(group.valid), default=None)


def filled_first(parameters: Policy, seed: int) -> Choice:
    return lambda groups: min(candidates(groups), key=lambda group: group.filled_as, default=None)


def at_random(parameters: Policy, seed: int) -> Choice:
    stream = RandomStream(seed, "ftl", "victim random")
    return lambda groups: drawn(groups, stream)


def at_random_with_something_invalid(parameters: Policy, seed: int) -> Choice:
    stream = RandomStream(seed, "ftl", "victim random-invalid")
    return lambda groups: drawn(groups, stream, lambda group: group.invalid_count > 0)


def best_of_several(parameters: Policy, seed: int) -> Choice:
    stream = RandomStream(seed, "ftl", "victim d-choices")

    def choose(groups: list[Group]) -> Group | None:
        draws = [drawn(groups, stream)]
        while draws[0] is not None and len(draws) < parameters.get("d", 10):
            draws.append(drawn(groups, stream))
        return min(draws, key=lambda group: len(group.valid)) if draws[0] is not None else None

    return choose


# ---- policies that have no rule here ----------------------------------------------------------------------


class Followed:
    """Decides what the simulator did, as its log says, where that is a decision that one may make."""

    def __init__(self, theirs: list[str], ours: list[str]) -> None:
        self._theirs, self._ours = theirs, ours

    def _ahead(self) -> Iterator[list[str]]:
        """The simulator's lines of the present operation that were not reached here, in words."""
        rest = self._theirs[len(self._ours) :]
        number = rest[0].split(" ", 1)[0] if rest else ""
        for line in rest:
            words = line.split()
            if words[0] != number:
                return
            yield words

    def pool(self, unit: int, accepts: Callable[[Pool], bool], order: list[Pool]) -> Pool | None:
        """Who takes the unit: the next thing that happens is that it is written."""
        for words in self._ahead():
            if words[1:3] != ["write", str(unit)]:
                return None
            place = words[4]
            pool = next(pool for pool in order if _holds(pool, place))
            if not accepts(pool):
                raise AssertionError(f"{' '.join(words)}: its pool takes no write")
            return pool
        return None

    def free_group(self, free: list[Group]) -> Group:
        """Where the next unit is put."""
        for words in self._ahead():
            place = words[-1] if words[1] == "move" else words[4]
            block = int(place.split("/")[2])
            found = [group for group in free if group.block == block and _holds(group.pool, place)]
            if not found:
                raise AssertionError(f"{' '.join(words)}: that group is not free")
            return found[0]
        raise AssertionError("nothing is written where a group is opened")

    def victim(self, groups: list[Group]) -> Group | None:
        """The first group of those that may be chosen of which something is moved, or that is erased."""
        for words in self._ahead():
            if words[1] not in ("move", "erase"):
                continue
            place = words[4] if words[1] == "move" else words[2]
            for group in candidates(groups):
                if group.block == int(place.split("/")[2]) and _holds(group.pool, place):
                    return group
        return None


def _holds(pool: Pool, place: str) -> bool:
    die, plane = map(int, place.split("/")[:2])
    return pool.die == die and pool.first_plane <= plane < pool.first_plane + pool.shape.frontier_planes


class FollowedAllocation:
    """A page allocation that has no rule here."""

    def __init__(self, followed: Followed, order: list[Pool]) -> None:
        self._followed, self._order = followed, order

    def choose(self, unit: int, accepts: Callable[[Pool], bool]) -> Pool | None:
        return self._followed.pool(unit, accepts, self._order)

    def placed(self, written: Written) -> None:
        pass


FOLLOWED = ("ftl.page_allocation", "ftl.free_block_choice", "ftl.victim")
"""Registries whose decisions a log shows. A trigger does not show there: it has a rule, or is left out."""


def fewest_valid_of_the_first(parameters: Policy, seed: int) -> Choice:
    def choose(groups: list[Group]) -> Group | None:
        filled = [group for group in groups if group.filled_as is not None and not group.is_victim]
        line = sorted(filled, key=lambda group: group.filled_as)
        window = candidates(line[: parameters.get("window", 64)])
        # Where nothing in the window is on the media yet, it is the first behind it.
        return min(window or candidates(line)[:1], key=lambda group: len(group.valid), default=None)

    return choose


class SecondChance:
    """In line as they were filled; one of which too much is valid goes to the end of the line once."""

    def __init__(self, parameters: Policy, seed: int) -> None:
        self.above = parameters.get("above", 0.75)
        self.latest = 0
        self.passed: dict[tuple[Group, int], tuple[int, int]] = {}
        """By group and life: behind which of the filled groups it went, and as which of them."""

    def __call__(self, groups: list[Group]) -> Group | None:
        filled = [group.filled_as for group in groups if group.filled_as is not None]
        self.latest = max(self.latest, *filled)
        line = sorted(
            candidates(groups), key=lambda group: self.passed.get((group, group.erases), (group.filled_as, 0))
        )
        for group in line + line:
            is_full = len(group.valid) > self.above * group.pool.shape.units_per_group
            if not is_full or (group, group.erases) in self.passed:
                return group
            self.passed[group, group.erases] = (self.latest, len(self.passed) + 1)
        return None


def fewest_valid_and_cycles(parameters: Policy, seed: int) -> Choice:
    def weight(group: Group) -> int:
        # In parts of a unit, of which the simulator has 4096.
        cycle = math.floor(parameters.get("weight", 0.02) * group.pool.shape.units_per_group * 4096 + 0.5)
        return len(group.valid) * 4096 + cycle * group.erases

    return lambda groups: min(candidates(groups), key=weight, default=None)


VICTIM = {
    "greedy": greedy,
    "fifo": filled_first,
    "random": at_random,
    "random-invalid": at_random_with_something_invalid,
    "d-choices": best_of_several,
    "windowed-greedy": fewest_valid_of_the_first,
    "second-chance": SecondChance,
    "wear-aware": fewest_valid_and_cycles,
}

REGISTRIES: dict[str, dict[str, Any]] = {
    "ftl.page_allocation": PAGE_ALLOCATION,
    "ftl.free_block_choice": FREE_BLOCK_CHOICE,
    "ftl.gc_trigger": GC_TRIGGER,
    "ftl.victim": VICTIM,
}


# ---- the translation layer -------------------------------------------------------------------------------


class NaiveFtl:
    """Map, frontiers and garbage collection of one drive, without time."""

    def __init__(self, settings: Settings, followed: Followed | None = None) -> None:
        self.shape = settings.shape
        self.reserve = settings.reserve_groups
        self.map: dict[int, Location] = {}
        self.pools = [Pool(self.shape, number) for number in range(self.shape.pools)]
        order = in_stripe_order(self.pools, self.shape)
        allocation, free, victim = (
            policy["policy"]
            for policy in (settings.page_allocation, settings.free_block_choice, settings.victim)
        )
        if allocation in PAGE_ALLOCATION:
            self._allocation = PAGE_ALLOCATION[allocation](order, settings.page_allocation)
        else:
            self._allocation = FollowedAllocation(_needed(followed, allocation), order)
        if free in FREE_BLOCK_CHOICE:
            self._choose_free = FREE_BLOCK_CHOICE[free]
        else:
            self._choose_free = _needed(followed, free).free_group
        self._trigger = GC_TRIGGER[settings.gc_trigger["policy"]](
            settings.gc_trigger, settings.reserve_groups
        )
        if victim in VICTIM:
            self._choose_victim = VICTIM[victim](settings.victim, settings.seed)
        else:
            self._choose_victim = _needed(followed, victim).victim
        self._filled_groups = 0
        self.count = dict.fromkeys(("host", "gc", "padding", "trimmed", "victims", "holding", "erased"), 0)

    # -- what the host does --

    def has_space(self, pool: Pool) -> bool:
        """Host writes find units: in their open group, or in a free group beyond the reserve."""
        return pool.frontier[HOST] is not None or not self.is_urgent(pool)

    def write(self, unit: int) -> Written | None:
        pool = self._allocation.choose(unit, lambda pool: pool.has_room and self.has_space(pool))
        if pool is None:
            return None
        opened, new = self._append(pool, HOST, unit)
        old = self._unmap(unit)
        self._map(unit, new)
        self.count["host"] += 1
        written = Written(new, old, opened)
        self._allocation.placed(written)
        return written

    def trim(self, unit: int) -> Location | None:
        old = self._unmap(unit)
        self.count["trimmed"] += old is not None
        return old

    def pad(self, pool: Pool, stream: str) -> Location | None:
        """Fill the open page of a frontier with padding; returns its last unit."""
        group = pool.frontier[stream]
        if group is None or len(group.content) % self.shape.units_per_page == 0:
            return None
        while True:
            _, new = self._append(pool, stream, None)
            self.count["padding"] += 1
            written = Written(new, None, opened=False)
            if written.fills_page:
                if stream == HOST:
                    self._allocation.placed(written)
                return new

    def on_media(self, location: Location) -> bool:
        return location.position < location.group.programmed

    # -- garbage collection --

    def is_urgent(self, pool: Pool) -> bool:
        """Host writes wait for it: nothing is free for them, or the trigger has them wait."""
        return pool.host_waits or self.lacks_space(pool)

    def lacks_space(self, pool: Pool) -> bool:
        return len(pool.free) <= self.reserve

    def rests(self, pool: Pool) -> bool:
        """Nothing is under way or left to do: the host does not wait for what does not come."""
        pool.going_on = pool.going_on and bool(pool.erasing)
        waited = pool.host_waits and not pool.erasing
        pool.host_waits = pool.host_waits and not waited
        return waited

    def _free_groups_changed(self, pool: Pool) -> None:
        pool.host_waits = self._trigger.host_waits(len(pool.free), pool.host_waits)

    def next_step(self, pool: Pool, *, fill: bool = False) -> Step:
        """What garbage collection wants done next. With `fill` it wants to fill an open page of moves."""
        while True:
            for group in pool.emptied:
                if not group.valid:
                    pool.emptied.remove(group)
                    pool.erasing.append(group)
                    return Erase(group)
            if not (fill or self._is_needed(pool)) or not self._has_victim(pool, fill):
                return WAIT if pool.emptied else NOTHING
            step = self._hand_out(pool, fill)
            if step is not None:
                return step

    def _is_needed(self, pool: Pool) -> bool:
        in_prospect = len(pool.free) + len(pool.erasing) + len(pool.emptied)
        pool.going_on = self._trigger.needed(in_prospect, pool.host_waits, pool.going_on)
        return pool.going_on

    def _has_victim(self, pool: Pool, fill: bool) -> bool:
        """Without `fill`, only where the invalid units of all candidates together make a group."""
        reclaimable = sum(group.invalid_count for group in candidates(pool.groups))
        if pool.victim is not None:
            if pool.victim_is_filler and not fill:
                worthwhile = reclaimable + pool.victim.invalid_count >= self.shape.units_per_group
                pool.victim_is_filler = not worthwhile
                return worthwhile
            return True
        if not fill and reclaimable < self.shape.units_per_group:
            return False
        victim = self._choose_victim(pool.groups)
        if victim is None:
            return False
        victim.is_victim = True
        pool.victim, pool.victim_is_filler = victim, fill
        self.count["victims"] += 1
        self.count["holding"] += len(victim.valid)
        return True

    def _hand_out(self, pool: Pool, fill: bool) -> Step | None:
        """The units of the victim's next page, as many as there is space for.

        To `fill` the open page, no more than that takes.
        """
        victim = pool.victim
        left = victim.positions_to_move()
        if not left:
            pool.emptied.append(victim)
            pool.victim = None
            return None
        page = left[0] // self.shape.units_per_page
        in_page = [position for position in left if position // self.shape.units_per_page == page]
        frontier = pool.frontier[GC]
        filled = 0 if frontier is None else len(frontier.content) % self.shape.units_per_page
        most = self.shape.units_per_page - filled if fill else self.shape.units_per_page
        positions = in_page[: min(most, self._space_for_moves(pool))]
        if not positions:
            return NOTHING
        victim.handed_out.update(positions)
        pool.moves_begun += len(positions)
        return Move(victim, positions)

    def _space_for_moves(self, pool: Pool) -> int:
        """Of the free groups only those that the host cannot take meanwhile."""
        frontier = pool.frontier[GC]
        open_units = 0 if frontier is None else self.shape.units_per_group - len(frontier.content)
        free_units = min(self.reserve, len(pool.free)) * self.shape.units_per_group
        return open_units + free_units - pool.moves_begun

    def move_is_current(self, unit: int | None, source: Location) -> bool:
        """Whether the map still points at what was read; a move that is not current is over."""
        current = self.map.get(unit) == source
        if not current:
            source.group.pool.moves_begun -= 1
        return current

    def place_move(self, unit: int, source: Location) -> Written:
        """Give the copy its place. The map follows when its program has ended."""
        pool = source.group.pool
        opened, new = self._append(pool, GC, unit)
        pool.moves_begun -= 1
        new.group.moves_coming += 1
        self.count["gc"] += 1
        return Written(new, source, opened)

    def moved(self, unit: int, source: Location, target: Location) -> bool:
        target.group.moves_coming -= 1
        if self.map.get(unit) != source:
            return False
        self._unmap(unit)
        self._map(unit, target)
        return True

    def erased(self, group: Group) -> None:
        pool = group.pool
        pool.erasing.remove(group)
        pool.free.append(group)
        self._free_groups_changed(pool)
        group.erases += 1
        group.content, group.valid, group.handed_out = [], set(), set()
        group.programmed, group.filled_as, group.is_victim = 0, None, False
        self.count["erased"] += 1

    # -- inside --

    def _append(self, pool: Pool, stream: str, unit: int | None) -> tuple[bool, Location]:
        group = pool.frontier[stream]
        opened = group is None
        if group is None:
            group = self._choose_free(pool.free)
            pool.free.remove(group)
            self._free_groups_changed(pool)
            pool.frontier[stream] = group
        group.content.append(unit)
        if group.is_full:
            pool.frontier[stream] = None
            group.filled_as = self._filled_groups
            self._filled_groups += 1
        return opened, group.location(len(group.content) - 1)

    def _map(self, unit: int, location: Location) -> None:
        self.map[unit] = location
        location.group.valid.add(location.position)

    def _unmap(self, unit: int) -> Location | None:
        old = self.map.pop(unit, None)
        if old is not None:
            old.group.valid.remove(old.position)
        return old


def _needed(followed: Followed | None, policy: str) -> Followed:
    if followed is None:
        raise KeyError(f"{policy} has no rule in naive_ftl.py, and there is no log to follow")
    return followed


class InstantDrive:
    """Carries out at once what a `NaiveFtl` decides, and keeps a log of it.

    Policies without a rule decide as `theirs` says, the simulator's log.
    """

    def __init__(self, settings: Settings, theirs: list[str] | None = None) -> None:
        self.log: list[str] = []
        self.ftl = NaiveFtl(settings, None if theirs is None else Followed(theirs, self.log))
        self._logical_units = settings.logical_units
        self._number = 0

    def run(self, operations: list[Any]) -> list[str]:
        """Carry out operations as `instant_log.rs` reads them; returns the log."""
        for self._number, operation in enumerate(operations):
            if operation == "settle":
                self.settle()
                continue
            ((kind, unit),) = operation.items()
            if kind == "trim":
                self.trim(unit)
            elif not self.write(unit):
                break
        self.log.extend(self._state())
        return self.log

    def write(self, unit: int) -> bool:
        """Returns False where nothing can take it."""
        written = self.ftl.write(unit)
        if written is None:
            for pool in self.ftl.pools:
                self._collect(pool)
            written = self.ftl.write(unit)
        if written is None:
            self._tell(f"full {unit}")
            return False
        self._tell(f"write {unit} at {written.new.place} old {_place(written.old)}")
        self._is_programmed(written)
        if written.opened:
            self._collect(written.new.group.pool)
        return True

    def trim(self, unit: int) -> None:
        self._tell(f"trim {unit} old {_place(self.ftl.trim(unit))}")

    def settle(self) -> None:
        """Pad what is open; then everything is on the media."""
        for pool in self.ftl.pools:
            for stream in (HOST, GC):
                last = self.ftl.pad(pool, stream)
                if last is not None:
                    self._tell(f"pad {stream} to {last.place}")
            for group in pool.groups:
                group.programmed = len(group.content)

    def _collect(self, pool: Pool) -> None:
        while True:
            step = self.ftl.next_step(pool)
            if isinstance(step, Erase):
                self._tell(f"erase {pool.die}/{pool.first_plane}/{step.group.block}")
                self.ftl.erased(step.group)
            elif isinstance(step, Move):
                for position in step.positions:
                    self._move(step.group.location(position))
            else:
                self.ftl.rests(pool)
                return

    def _move(self, source: Location) -> None:
        unit = source.group.content[source.position]
        written = self.ftl.place_move(unit, source)
        self._tell(f"move {unit} from {source.place} to {written.new.place}")
        self._is_programmed(written)
        self.ftl.moved(unit, source, written.new)

    @staticmethod
    def _is_programmed(written: Written) -> None:
        """A group counts as programmed when it is full."""
        if written.fills_group:
            written.new.group.programmed = len(written.new.group.content)

    def _tell(self, decision: str) -> None:
        self.log.append(f"{self._number} {decision}")

    def _state(self) -> Iterator[str]:
        for unit in range(self._logical_units):
            yield f"end map {unit} at {_place(self.ftl.map.get(unit))}"
        for pool in self.ftl.pools:
            for group in pool.groups:
                name = f"{pool.die}/{pool.first_plane}/{group.block}"
                yield f"end group {name} valid {len(group.valid)} erases {group.erases}"
        yield "end count " + " ".join(f"{name} {count}" for name, count in self.ftl.count.items())


def _place(location: Location | None) -> str:
    return "-" if location is None else str(location.place)
