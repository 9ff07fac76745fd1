"""The engine (compiled from crates/python)."""

from collections.abc import Callable, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Access",
    "Candidates",
    "Code",
    "ConfigError",
    "Measured",
    "Preparation",
    "ProfileBatches",
    "Simulation",
    "SimulationError",
    "Suspendable",
    "TraceBatches",
    "TraceEncoder",
    "WaitingOnDie",
    "Written",
    "add_policy",
    "added_rber",
    "bootstrap",
    "check_run",
    "check_snapshot",
    "describe_snapshot",
    "joint_choices",
    "needs_of_run",
    "policies",
    "presets",
    "profile_of_trace",
    "resolve_drive",
    "schemas",
    "shelve_snapshot",
    "strongest_bch",
    "trace_columns",
    "trace_stat",
    "version",
    "weakest_bch",
]

class ConfigError(ValueError):
    """A configuration, trace or argument is wrong; the message names file, line and key."""

class SimulationError(RuntimeError):
    """The simulator contradicts itself: a bug."""

@final
class Candidates:
    """The groups of a pool, of which a victim is selected: a row each."""

    @property
    def pool(self) -> int:
        """Return the number of the pool."""

    @property
    def units_per_group(self) -> int:
        """Return how many units a group has."""

    @property
    def valid_units(self) -> NDArray[np.int64]:
        """Return how many units of each group are valid, -1 where it is no candidate."""

    @property
    def age(self) -> NDArray[np.int64]:
        """Return how long ago each was filled [groups filled in the drive since]."""

    @property
    def erases(self) -> NDArray[np.int64]:
        """Return the program/erase cycles of each."""

    @property
    def stream(self) -> NDArray[np.int64]:
        """Return the stream that filled each."""

    @property
    def fewest_valid(self) -> int | None:
        """Return the candidate with the fewest valid units, the lowest number among equals."""

@final
class Written:
    """A unit that is written."""

    @property
    def lpa(self) -> int:
        """Return the number of the unit."""

    @property
    def clean(self) -> bool:
        """Return whether another copy of it exists, where that is known."""

    @property
    def named(self) -> int:
        """Return the stream that the host named, 0 for none."""

    @property
    def sectors(self) -> int:
        """Return the sectors of the host's command, 0 where none wrote it."""

    @property
    def before(self) -> int | None:
        """Return the stream in which it lies until now; None where it was never written."""

@final
class Suspendable:
    """An erase or a program that runs or is parked, and what waits for its die."""

    @property
    def now(self) -> int:
        """Return the simulated time [ns]."""

    @property
    def kind(self) -> str:
        """Return "erase" or "program"."""

    @property
    def cycles(self) -> int:
        """Return the P/E cycles of its block."""

    @property
    def oldest_write_wait(self) -> int:
        """Return how long the host's write waits that waits for longest, where that is watched [ns]."""

    @property
    def total(self) -> int:
        """Return the pulse time that all of it takes [ns]."""

    @property
    def done(self) -> int:
        """Return the pulse time before its present stretch [ns]."""

    @property
    def progress(self) -> int:
        """Return the pulse time until now [ns]."""

    @property
    def end(self) -> int:
        """Return when it ends if nothing stops it [ns]."""

    @property
    def segments(self) -> int:
        """Return its loops or pulses."""

    @property
    def segment(self) -> int:
        """Return the loop or pulse that runs, from 0."""

    @property
    def suspensions(self) -> int:
        """Return how often it was stopped."""

    @property
    def stopped(self) -> int:
        """Return when it was last stopped, 0 where it never was [ns]."""

    def next_safe_point(self, points_per_segment: int) -> int:
        """Return when it may next be stopped, with so many equally spaced points in each loop [ns]."""

    def queued(self, class_: str) -> int:
        """Return how many accesses wait in a queue of its die."""

@final
class WaitingOnDie:
    """What waits on a die."""

    @property
    def die(self) -> int:
        """Return the number of the die."""

    @property
    def gc_is_urgent(self) -> bool:
        """Return whether host writes wait for garbage collection on it."""

    def queued(self, class_: str) -> int:
        """Return how many accesses wait in a queue."""

    def head_queued(self, class_: str) -> int | None:
        """Return since when the first of a queue waits [ns]."""

    def first_of(self, classes: Sequence[str]) -> str | None:
        """Return the first of these queues in which something waits."""

@final
class Access:
    """An access of the host to one page of a drive with two media."""

    @property
    def page(self) -> int:
        """Return the number of the page."""

    @property
    def sectors(self) -> int:
        """Return how many sectors of it."""

    @property
    def request_sectors(self) -> int:
        """Return the sectors of the whole request."""

    @property
    def uses(self) -> int:
        """Return how often it was used lately, this access not included."""

    @property
    def resident(self) -> bool:
        """Return whether it has a slot in the upper medium."""

@final
class Simulation:
    """One run, advanced in slices."""

    def __new__(cls, request_json: str) -> Simulation: ...
    def run_slice(self, milliseconds: int) -> bool:
        """Run for about so many milliseconds of wall time without the GIL; True when the run is complete."""

    def progress(self) -> dict[str, int | str | None]:
        """Say how far it is: `phase`, `done`, `total`, `simulated_ns`."""

    def result_json(self, complete: bool) -> str:
        """Return the finished or partial result."""

    def measured(self) -> Measured:
        """Return what has been measured so far, apart from the engine."""

    def request_log(self) -> dict[str, NDArray[np.generic]]:
        """Return one row per request where logging was asked for, else nothing."""

    def snapshot_json(self) -> str | None:
        """Say what became of the snapshot, where one was asked for and the drive is ready."""

    def timeline_json(self) -> str | None:
        """Return the timeline in Chrome's trace-event format where a window was asked for."""

@final
class Measured:
    """The tables of a run, each made when it is asked for: numpy is imported then."""

    def histogram(self, op: str) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return upper bounds [ns] and counts of the latency buckets of "read" or "write"."""

    def latency_blocks(self, op: str) -> list[tuple[NDArray[np.uint64], NDArray[np.uint64]]]:
        """Return the same for each block of the run; of few requests one block holds all."""

    def series(self) -> dict[str, NDArray[np.generic]]:
        """Return the columns of the time series."""

@final
class Code:
    """A code with its codec."""

    def __new__(cls, description_json: str) -> Code: ...
    @property
    def user_bits(self) -> int:
        """User data of a codeword."""

    @property
    def parity_bits(self) -> int:
        """Parity of a codeword."""

    @property
    def parity_bytes(self) -> int:
        """The same in bytes, rounded up."""

    @property
    def codeword_bits(self) -> int:
        """Length of a codeword."""

    @property
    def correctable(self) -> int:
        """Errors corrected in a codeword."""

    @property
    def field_degree(self) -> int | None:
        """Degree of a BCH code's field."""

    @property
    def rate(self) -> float:
        """Code rate."""

    @property
    def undetected(self) -> float:
        """The chance that a codeword with more errors than are corrected passes as good."""

    def failure(self, rber: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the chance that a codeword holds more errors than are corrected, for each rate."""

    def uber(self, rber: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the same per bit of user data."""

    def page_failure(self, rber: NDArray[np.float64], codewords: int) -> NDArray[np.float64]:
        """Return the same for at least one of so many codewords."""

    def aber(self, uber: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the largest raw bit error rate that meets each target."""

    def codewords(self, data: str) -> int:
        """Return how many codewords cover so much user data."""

    def encode_time(self, codewords: int) -> int:
        """Return how long an encoder takes for so many codewords [ns]."""

    def decode_time(self, codewords: int, corrupted: int) -> int:
        """Return how long a decoder takes for so many codewords, of which so many hold errors [ns]."""

    def encode(self, user: bytes) -> bytes:
        """Return the parity of a codeword."""

    def decode(self, user: bytes, parity: bytes) -> tuple[bytes, bytes, int | None]:
        """Correct a codeword; return it, and how many bits were wrong if they could be corrected."""

@final
class Preparation:
    """The preparation of a drive, advanced in slices."""

    def __new__(cls, request_json: str) -> Preparation: ...
    def run_slice(self, milliseconds: int) -> bool:
        """Prepare for so many milliseconds of wall time without the GIL; True when it is ready."""

    def progress(self) -> dict[str, int | str | None]:
        """Say how far it is, as a run does."""

    def save(self, path: str) -> None:
        """Write the drive that is ready into a file, whole or not at all."""

@final
class ProfileBatches:
    """Requests drawn from a profile, in batches of columns."""

    def __new__(cls, origin: str, text: str, requests: int | None, seed: int) -> ProfileBatches: ...
    def next(
        self, limit: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint32]]:
        """Return times [ns], operations by number, first sectors and counts of sectors; none at the end."""

    @property
    def name(self) -> str:
        """What the profile stands for."""

    @property
    def label(self) -> str:
        """What requests drawn from it are called."""

    @property
    def source(self) -> list[str]:
        """Where its numbers come from."""

    @property
    def original_requests(self) -> int:
        """Requests of the original."""

    def report(self) -> tuple[int, int, int, int]:
        """Count the requests so far: drawn, replaced, left out, crowded."""

@final
class TraceBatches:
    """The requests of a trace, in batches of columns."""

    def __new__(cls, path: str, options_json: str) -> TraceBatches: ...
    def next(
        self, limit: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint32]]:
        """Return times [ns], operations by number, first sectors and counts of sectors; none at the end."""

    def health_json(self) -> str:
        """Say what was skipped and mended so far, and the trace's format."""

@final
class TraceEncoder:
    """Columns of requests to the text of a trace."""

    def __new__(cls, to: str, compression: str) -> TraceEncoder: ...
    def add(
        self,
        submitted_ns: NDArray[np.uint64],
        op: NDArray[np.uint8],
        lba: NDArray[np.uint64],
        sectors: NDArray[np.uint64],
    ) -> bytes:
        """Take requests; return the text, compressed, that is ready."""

    def finish(self) -> bytes:
        """End the trace; return the rest of it."""

    def report_json(self) -> str:
        """Say what became of the requests so far."""

def add_policy(registry: str, name: str, reader: Callable[[str], tuple[str, Callable[..., object]]]) -> None:
    """Add a policy to a registry; `reader` reads its parameters and returns them with what makes it."""

def added_rber(request_json: str, loops: int, cycles: list[int], suspensions: list[int]) -> list[list[float]]:
    """Say what suspensions in an erase add to the raw bit error rate, by P/E cycles and suspensions."""

def bootstrap(
    blocks: list[tuple[NDArray[np.uint64], NDArray[np.uint64]]], parts_per_billion: list[int]
) -> list[tuple[int, int]]:
    """Say where percentiles lie in 95 % of the runs put together from these blocks."""

def check_run(request_json: str) -> list[str]:
    """Find what is wrong with a run before it begins; return what is to be said about it."""

def check_snapshot(path: str) -> str:
    """Read a snapshot to its end; return what it is, as JSON."""

def describe_snapshot(path: str) -> str:
    """Return what the head of a snapshot says, as JSON."""

def shelve_snapshot(path: str, target: str, time: str, celsius: float | None) -> None:
    """Write a snapshot whose data is older than that of another one."""

def joint_choices(
    user_data: str, field_degree: int | None, rber: float, uber: float, verify_cycles: int
) -> list[tuple[int, float, tuple[int, int] | None]]:
    """Return the rate that is left after each number of verify cycles, and the weakest BCH code for it."""

def needs_of_run(request_json: str) -> tuple[list[str], int | None, int, int]:
    """Do the same as `check_run`; return also what the run takes.

    The requests, where known, bytes of the drive's tables, and how many requests at its beginning are not
    measured: as many as were asked for, or as a job leads in with.
    """

def presets(kind: str = "drives") -> list[tuple[str, str, str]]:
    """List the presets of a kind, "drives" or "jobs": name, summary, TOML text."""

def profile_of_trace(path: str, options_json: str, name: str, source: list[str]) -> str:
    """Return the profile of a trace, as the text of its file."""

def resolve_drive(request_json: str) -> str:
    """Return the complete TOML of a drive."""

def schemas() -> list[tuple[str, str]]:
    """Return the JSON Schemas of the files that people write, by kind of file."""

def strongest_bch(user_data: str, rate: float, field_degree: int | None) -> tuple[int, int]:
    """Return errors corrected and field degree of the strongest BCH code of a rate."""

def trace_columns(names: list[str], description: str | None = None) -> tuple[str, list[int]]:
    """Return how the columns of a table of requests are described, and which are read, by their places."""

def trace_stat(path: str, options_json: str) -> str:
    """Return what a trace contains, as JSON."""

def policies() -> str:
    """Return the policies of every registry, as JSON."""

def version() -> str:
    """Return the version of the engine."""

def weakest_bch(user_data: str, field_degree: int | None, rber: float, uber: float) -> tuple[int, int] | None:
    """Return the same of the weakest BCH code that meets a target."""
