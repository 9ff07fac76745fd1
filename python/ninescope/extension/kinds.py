"""What a policy of each kind is asked, and what it may answer.

A policy changes nothing but itself, and looks at no clock: the same run has the same result. Random numbers
come from `random.Random(seed)`. What a policy raises ends the run, and is raised where the run was asked for.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from ninescope._native import Access, Candidates, Suspendable, WaitingOnDie, Written


class Policy(ABC):
    """What all kinds have."""

    registry: ClassVar[str]
    """The key of a drive's file at which it is named."""

    def begin(self, **facts: Any) -> None:  # noqa: B027 (most need not know)
        """Take what the drive is like, before anything is asked; which facts there are is said at each kind.

        Not called where a drive is only looked at.
        """

    def save(self) -> bytes:
        """Return what it remembers, which a prepared drive keeps: attributes as JSON, if not otherwise."""
        try:
            state = json.dumps(vars(self), sort_keys=True)
        except TypeError:
            state = "null"
        # A tuple, or a number as a key, would come back as something else.
        if json.loads(state) != vars(self):
            raise TypeError(
                f"{type(self).__name__} remembers what JSON cannot hold: it needs methods save and load"
            )
        return state.encode()

    def load(self, state: bytes) -> None:
        """Take it from there, into a policy of the same parameters that has done nothing yet."""
        vars(self).update(json.loads(state))


class VictimSelection(Policy):
    """Which block group garbage collection empties next. It is asked once for each group that is emptied.

    `begin` is told the shape of the flash (`channels`, `dies`, `planes_per_die`, `pools`, `blocks_per_plane`,
    `pages_per_block`, `page_bytes`, `unit_bytes`, `units_per_page`, `units_per_stripe`, `units_per_group`,
    `groups`) and a `seed`.
    """

    registry = "ftl.victim"
    follows_from_groups: bool = True
    """Whether all that it knows follows from the groups and the order in which they were filled; a steady
    drive is composed of one pool then."""

    @abstractmethod
    def select(self, candidates: Candidates) -> int | None:
        """Return the number of a candidate, or None where none is worth emptying."""

    def closed(self, pool: int, group: int) -> None:
        """Hear that a group was filled, in the order of filling."""

    def taken(self, pool: int, group: int) -> None:
        """Hear that a group is emptied that was not selected."""


class StreamChoice(Policy):
    """Which data lie together: the kind of each unit that is written, and of each that is moved.

    Each kind has two streams: what is written as one of kind `k` lies in stream `2 * k`, what is moved in
    `2 * k + 1`. `begin` is told how many `units` and `groups` there are; both are 0 where a drive is only
    looked at.
    """

    registry = "ftl.streams"
    kinds_of_writes: int = 1
    """Kinds of what is written, from 0 on; there are at most eight."""
    kinds_of_moves: int = 1
    knows_clean: bool = False
    """Whether it matters that data is clean, which lies elsewhere, too."""
    listens: bool = False
    """Whether it matters what the host's command says."""
    remembers: bool = False
    """Whether it remembers something of each unit beyond its stream."""

    def of_write(self, unit: Written) -> int:
        """Return the kind of a unit that is written. The same until something is told."""
        return 0

    def of_move(self, lpa: int, clean: bool, stream: int) -> int:
        """Return the kind of a unit that is moved out of a stream."""
        return 0

    def written(self, lpa: int, kind: int) -> None:
        """Hear that a unit was written, as one of a kind."""

    def opened(self, group: int, stream: int) -> None:
        """Hear that a stream begins to fill a group."""

    def erased(self, group: int, stream: int) -> None:
        """Hear that a group was erased that a stream had filled."""


class PageAllocation(Policy):
    """Which die takes the next unit that the host writes, by its position in the stripe over all dies.

    `begin` is told the shape of the flash, as of victim policies, and the `positions` among which it chooses.
    """

    registry = "ftl.page_allocation"
    load_of_dies: str | None = None
    """What `loads` holds: "queued", accesses that wait or run; "free-at", when a die will be through [ns]."""

    @abstractmethod
    def choose(self, lpa: int, accepting: Sequence[int], loads: Sequence[int]) -> int | None:
        """Return one of the positions that take a write now; None lets the write wait."""

    def placed(self, position: int, page_complete: bool, stripe_complete: bool) -> None:
        """Hear where the unit went, and whether its page and its stripe are full."""


class SuspendPolicy(Policy):
    """When a running erase or program is suspended for a read.

    It is asked when a read is queued on a die that erases or programs, and when an operation begins or goes
    on with reads waiting.
    """

    registry = "scheduler.suspend"
    watches_writes: bool = False
    """Whether it looks at `oldest_write_wait`, which is 0 otherwise."""
    needs_wear: bool = False
    """Whether it looks at P/E cycles, which a drive must be told then."""
    needs_loops: bool = False
    """Whether it stops erases between loops alone."""

    @abstractmethod
    def decide(self, operation: Suspendable) -> int | str | None:
        """Return None (it runs on), when it stops [ns], "now", or "restart-loop" (the loop begins anew)."""

    def goes_before_reads(self, operation: Suspendable) -> bool:
        """Return whether a parked operation goes on although reads wait."""
        return False


class TransactionScheduler(Policy):
    """Which queue of a die goes next, where a die is free and something waits.

    Queues are "host-read", "host-program", "move-read", "move-program", "erase" and "idle-read".
    """

    registry = "scheduler.transactions"

    @abstractmethod
    def pick(self, waiting: WaitingOnDie) -> str | None:
        """Return a queue in which something waits; None leaves the die idle until something else comes."""

    def dies(self, count: int) -> None:
        """Hear how many dies there are."""


class DataPlacement(Policy):
    """Which of two media, storage-class memory over flash, takes what is written, and what reads bring up."""

    registry = "tier.placement"
    is_cache: bool = False
    """Whether what lies above also lies below, but for what was written."""

    def rules(self) -> Mapping[str, Any]:
        """Return what else the tier has to know, in the words of a drive's file.

        These are evict_free, evict_stop, victim, migration, hot_entries, fetch_on_write, write_around,
        write_back, read_ahead and flush_at_rest.
        """
        return {}

    @abstractmethod
    def write(self, access: Access) -> str:
        """Return "upper" or "lower". Not asked for a page that has a slot above: it is written there."""

    def read(self, access: Access) -> str:
        """Return "stay", "copy" or "move", for a page of which sectors are read from below."""
        return "stay"

    def rules_as_json(self) -> str:
        """Write the rules as the engine reads them."""
        return json.dumps(dict(self.rules()))


KINDS = (VictimSelection, StreamChoice, PageAllocation, SuspendPolicy, TransactionScheduler, DataPlacement)
"""Of which a policy in Python may be one."""
