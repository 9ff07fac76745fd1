#!/usr/bin/env python3
"""Record the block I/O of PostgreSQL and store it as an MSR-style CSV trace.

What it does, in order:

1. makes a sparse image file, a loop device on it (direct I/O) and an ext4 file system (online discard);
2. starts a private PostgreSQL server on it (Unix socket only) and loads a pgbench database;
3. records the kernel's `block_rq_issue` and `block_rq_complete` events of that loop device with ftrace
   while pgbench runs in phases (calm, busy, calm again) next to two table scans and an archive table
   that is written and dropped, so the device sees random and sequential reads and writes, flushes
   and discards;
4. pairs the events and writes `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, time in
   units of 100 ns, offset and size in bytes, compressed with zstd; prints the counts as JSON.

So that reads reach the device, the database is larger than PostgreSQL's own cache, and its files are
dropped from the kernel's page cache once a second (`posix_fadvise`, these files only; nothing else on
the machine loses its cache).

Needs: Linux, root, PostgreSQL 14 or newer with pgbench, e2fsprogs, util-linux, zstd, about 6 GB free.
Everything it made (server, mount, loop device, trace instance, image) is removed at the end, on
errors and on Ctrl-C too.

    sudo python3 tools/record_block_trace.py --output examples/traces/pgbench.csv.zst
"""

from __future__ import annotations

import argparse
import contextlib
import glob
import io
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

TRACEFS = Path("/sys/kernel/tracing")
SECTOR_BYTES = 512
TICKS_PER_MICROSECOND = 10
FILETIME_EPOCH_OFFSET_SECONDS = 11_644_473_600  # 1601-01-01 to 1970-01-01
FOOTPRINT_UNIT_BYTES = 4096

# Duration in seconds, transactions per second (Poisson arrivals), percentage that updates (TPC-B-like).
PHASES = ((70, 50, 40), (60, 150, 60), (70, 50, 40))
# Second of the recording, then the SQL to run beside pgbench. {n} is the number of accounts.
SIDE_JOBS = (
    (25, "SELECT sum(abalance) FROM pgbench_accounts WHERE aid BETWEEN {n} / 4 AND {n} / 2"),
    (100, "CREATE TABLE archive AS SELECT * FROM pgbench_accounts WHERE aid <= {n} / 12"),
    (130, "CHECKPOINT"),
    (145, "DROP TABLE archive"),
    (150, "CHECKPOINT"),
    (160, "SELECT sum(abalance) FROM pgbench_accounts WHERE aid > {n} * 3 / 4"),
)
POSTGRES_SETTINGS = {
    "listen_addresses": "''",
    "shared_buffers": "128MB",
    "max_wal_size": "512MB",
    "checkpoint_timeout": "60s",
    "checkpoint_completion_target": "0.5",
    "autovacuum_naptime": "30s",
    "max_parallel_workers_per_gather": "0",
    "logging_collector": "off",
}

EVENT = re.compile(
    r"\s(?P<seconds>\d+)\.(?P<micros>\d{6}): block_rq_(?P<kind>issue|complete): "
    r"\d+,\d+ (?P<flags>[A-Z]+) (?:\d+ )?\(.*?\) (?P<sector>\d+) \+ (?P<count>\d+) "
)


class RecordingError(Exception):
    """Something the caller can mend; shown without a traceback."""


@dataclass(frozen=True)
class Request:
    """One completed read or write, times in microseconds of the trace clock."""

    issued: int
    completed: int
    is_write: bool
    sector: int
    sectors: int


def run(*command: str, user: str | None = None, check: bool = True, stdin: str = "") -> str:
    """Run a command, return its standard output; its error text becomes our error."""
    result = subprocess.run(  # noqa: S603 - only the fixed commands of this file
        command,
        check=False,
        user=user,
        group=user and pwd.getpwnam(user).pw_gid,
        extra_groups=[] if user else None,
        cwd="/",
        input=stdin,
        capture_output=True,
        text=True,
    )
    if check and result.returncode != 0:
        raise RecordingError(f"{' '.join(command)} failed ({result.returncode}): {result.stderr.strip()}")
    return result.stdout


@dataclass(frozen=True)
class PostgresInstallation:
    """Where the programs are, who runs the server and where its socket lies."""

    programs: Path
    user: str
    sockets: Path

    def server(self, program: str, *options: str, check: bool = True) -> None:
        """Run a server-side program (initdb, pg_ctl) as the server's user."""
        run(str(self.programs / program), *options, user=self.user, check=check)

    def psql(self, sql: str) -> None:
        """Execute one statement."""
        self.server("psql", "-h", str(self.sockets), "-q", "-d", "postgres", "-c", sql)

    def pgbench(self, *options: str) -> None:
        """Run the benchmark client."""
        self.server("pgbench", "-h", str(self.sockets), *options, "postgres")


def postgres_programs() -> Path:
    """Find the directory of the newest installed PostgreSQL server's programs."""
    candidates = glob.glob("/usr/lib/postgresql/*/bin/initdb") + glob.glob("/usr/pgsql-*/bin/initdb")
    if found := shutil.which("initdb"):
        candidates.append(os.path.realpath(found))
    if not candidates:
        raise RecordingError("no PostgreSQL server found: install postgresql (with pgbench)")

    def version(path: str) -> int:
        numbers = re.findall(r"\d+", path)
        return int(numbers[0]) if numbers else 0

    return Path(max(candidates, key=version)).parent


def check_prerequisites(user: str) -> None:
    """Fail early, before anything has been made."""
    if os.geteuid() != 0:
        raise RecordingError("must run as root: loop devices, mounts and kernel tracing need it (try sudo)")
    missing = [name for name in ("losetup", "mkfs.ext4", "mount", "umount", "zstd") if not shutil.which(name)]
    if missing:
        raise RecordingError(f"not installed: {', '.join(missing)}")
    try:
        pwd.getpwnam(user)
    except KeyError:
        message = f"no user '{user}': PostgreSQL refuses to run as root, name one with --user"
        raise RecordingError(message) from None


@contextlib.contextmanager
def loop_file_system(directory: Path, size_bytes: int, user: str) -> Iterator[tuple[str, Path]]:
    """Provide an ext4 file system on a loop device: the device and the mount point."""
    image, mount_point = directory / "device.img", directory / "mnt"
    with contextlib.ExitStack() as cleanup:
        with image.open("wb") as file:
            file.truncate(size_bytes)
        device = run("losetup", "--find", "--show", "--direct-io=on", str(image)).strip()
        cleanup.callback(run, "losetup", "--detach", device, check=False)
        run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", device)
        mount_point.mkdir()
        run("mount", "-o", "discard,noatime", device, str(mount_point))
        cleanup.callback(run, "umount", str(mount_point), check=False)
        shutil.chown(mount_point, user)
        yield device, mount_point


@contextlib.contextmanager
def postgres_server(postgres: PostgresInstallation, mount_point: Path) -> Iterator[Path]:
    """Run a private server on the file system; yields its data directory."""
    data = mount_point / "data"
    postgres.server("initdb", "-D", str(data), "-A", "trust", "--no-instructions")
    with (data / "postgresql.conf").open("a") as file:
        settings = {**POSTGRES_SETTINGS, "unix_socket_directories": f"'{postgres.sockets}'"}
        file.writelines(f"{key} = {value}\n" for key, value in settings.items())
    log = str(postgres.sockets / "server.log")
    try:
        postgres.server("pg_ctl", "-D", str(data), "-w", "-l", log, "start")
        yield data
    finally:
        postgres.server("pg_ctl", "-D", str(data), "-w", "-m", "immediate", "stop", check=False)


@contextlib.contextmanager
def block_events(device: str, output: Path) -> Iterator[Callable[[], None]]:
    """Record the device's request events into a text file; yields the function that starts it."""
    mounted_here = not (TRACEFS / "instances").is_dir()
    if mounted_here:
        run("mount", "-t", "tracefs", "nodev", str(TRACEFS))
    instance = TRACEFS / "instances" / f"block_trace_{os.getpid()}"
    number = os.stat(device).st_rdev
    kernel_number = os.major(number) << 20 | os.minor(number)
    stop = threading.Event()

    def drain() -> None:
        pipe = os.open(instance / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
        try:
            with output.open("wb") as file:
                while True:
                    last_round = stop.is_set()
                    try:
                        while chunk := os.read(pipe, 1 << 16):
                            file.write(chunk)
                    except BlockingIOError:
                        pass
                    if last_round:
                        return
                    time.sleep(0.05)
        finally:
            os.close(pipe)

    thread = threading.Thread(target=drain)
    try:
        instance.mkdir()
        (instance / "tracing_on").write_text("0")
        (instance / "trace_clock").write_text("mono")
        (instance / "buffer_size_kb").write_text("16384")
        for event in ("block_rq_issue", "block_rq_complete"):
            folder = instance / "events" / "block" / event
            (folder / "filter").write_text(f"dev == {kernel_number}")
            (folder / "enable").write_text("1")
        thread.start()

        def start() -> None:
            (instance / "tracing_on").write_text("1")

        yield start
    finally:
        if instance.is_dir():
            with contextlib.suppress(OSError):
                (instance / "tracing_on").write_text("0")
        stop.set()
        if thread.ident is not None:
            thread.join()
        if instance.is_dir():
            instance.rmdir()
        if mounted_here:
            run("umount", str(TRACEFS), check=False)


class PageCacheEvictor(threading.Thread):
    """Drops the database files (and only these) from the kernel's page cache once a second."""

    def __init__(self, data: Path) -> None:
        super().__init__(daemon=True)
        self._data = data
        self._stopped = threading.Event()

    def evict(self) -> None:
        """One round over all relation files; dirty pages stay until the kernel has written them."""
        for folder, _, names in os.walk(self._data / "base"):
            for name in names:
                with contextlib.suppress(OSError):
                    descriptor = os.open(os.path.join(folder, name), os.O_RDONLY)
                    try:
                        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
                    finally:
                        os.close(descriptor)

    def run(self) -> None:
        """Evict until stopped."""
        while not self._stopped.wait(1.0):
            self.evict()

    def stop(self) -> None:
        """End the thread and wait for it."""
        self._stopped.set()
        self.join()


def run_workload(postgres: PostgresInstallation, scale: int, clients: int) -> None:
    """Run the phases of pgbench with the side jobs beside them; returns when all are done."""
    accounts = 100_000 * scale
    failures: list[str] = []
    ending = threading.Event()
    start = time.monotonic()

    def side_jobs() -> None:
        for second, sql in SIDE_JOBS:
            if ending.wait(max(0.0, start + second - time.monotonic())):
                return
            try:
                postgres.psql(sql.format(n=accounts))
            except RecordingError as error:
                failures.append(str(error))

    side = threading.Thread(target=side_jobs)
    side.start()
    finished = False
    try:
        for index, (seconds, rate, updates) in enumerate(PHASES):
            print(f"phase {index + 1}: {seconds} s at {rate} transactions/s", file=sys.stderr)
            mix = ("-b", f"tpcb-like@{updates}", "-b", f"select-only@{100 - updates}")
            pace = ("-n", "-c", str(clients), "-T", str(seconds), "-R", str(rate))
            postgres.pgbench(*pace, *mix, f"--random-seed={index + 1}")
        finished = True
    finally:
        if not finished:
            ending.set()
        side.join()
    if failures:
        raise RecordingError(failures[0])


def pair_events(text: Path) -> tuple[list[Request], Counter[str]]:
    """Match each completion with its issue; returns the reads and writes in order of issue, and counts."""
    open_requests: dict[tuple[str, int], tuple[int, int]] = {}
    requests: list[Request] = []
    counts: Counter[str] = Counter()
    with text.open() as file:
        for line in file:
            if "LOST" in line:
                raise RecordingError("the kernel dropped trace events: raise buffer_size_kb and record again")
            match = EVENT.search(line)
            if not match:
                continue
            when = int(match["seconds"]) * 1_000_000 + int(match["micros"])
            flags, sector, count = match["flags"], int(match["sector"]), int(match["count"])
            # A leading F asks for a flush first; the block layer issues that flush as its own request.
            operation = flags.removeprefix("F")[:1] if count else "F"
            if operation == "D":
                if match["kind"] == "issue":
                    counts["discards"] += 1
                    counts["discard_bytes"] += count * SECTOR_BYTES
            elif operation in ("R", "W"):
                key = (operation, sector)
                if match["kind"] == "issue":
                    open_requests[key] = (when, count)
                elif key in open_requests:
                    issued, sectors = open_requests.pop(key)
                    requests.append(Request(issued, when, operation == "W", sector, sectors))
            elif match["kind"] == "issue":
                counts["flushes"] += 1
    counts["left_open_at_end"] = len(open_requests)
    requests.sort(key=lambda request: request.issued)
    if not requests:
        raise RecordingError("no read or write was recorded")
    return requests, counts


def describe(requests: list[Request], counts: Counter[str]) -> dict[str, float]:
    """Count what the README of the trace states."""
    reads = [request for request in requests if not request.is_write]
    writes = [request for request in requests if request.is_write]

    def footprint(selection: list[Request]) -> int:
        units: set[int] = set()
        for request in selection:
            first = request.sector * SECTOR_BYTES // FOOTPRINT_UNIT_BYTES
            end = (request.sector + request.sectors) * SECTOR_BYTES
            units.update(range(first, -(-end // FOOTPRINT_UNIT_BYTES)))
        return len(units) * FOOTPRINT_UNIT_BYTES

    delays = sorted(request.completed - request.issued for request in requests)
    return {
        "requests": len(requests),
        "reads": len(reads),
        "writes": len(writes),
        "read_bytes": sum(request.sectors for request in reads) * SECTOR_BYTES,
        "write_bytes": sum(request.sectors for request in writes) * SECTOR_BYTES,
        "footprint_bytes": footprint(requests),
        "write_footprint_bytes": footprint(writes),
        "highest_address_bytes": max(request.sector + request.sectors for request in requests) * SECTOR_BYTES,
        "duration_seconds": (requests[-1].issued - requests[0].issued) / 1e6,
        "response_time_median_microseconds": delays[len(delays) // 2],
        "response_time_p99_microseconds": delays[len(delays) * 99 // 100],
        **counts,
    }


def write_trace(requests: list[Request], started: float, output: Path) -> None:
    """Write the MSR rows through zstd, replacing the output only when complete."""
    first = requests[0].issued
    base = int((started + FILETIME_EPOCH_OFFSET_SECONDS) * 1_000_000) * TICKS_PER_MICROSECOND
    partial = output.with_name(output.name + ".partial")
    rows = io.StringIO()
    for request in requests:
        timestamp = base + (request.issued - first) * TICKS_PER_MICROSECOND
        kind = "Write" if request.is_write else "Read"
        offset, size = request.sector * SECTOR_BYTES, request.sectors * SECTOR_BYTES
        response = (request.completed - request.issued) * TICKS_PER_MICROSECOND
        rows.write(f"{timestamp},pgbench,0,{kind},{offset},{size},{response}\n")
    try:
        run("zstd", "-19", "-q", "-f", "-o", str(partial.resolve()), stdin=rows.getvalue())
    except RecordingError:
        partial.unlink(missing_ok=True)
        raise
    partial.replace(output)


def record(arguments: argparse.Namespace) -> dict[str, float]:
    """Record and store a trace; every resource is released when this returns or raises."""
    user: str = arguments.user
    check_prerequisites(user)
    programs = postgres_programs()
    with contextlib.ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="block-trace-", dir=arguments.scratch)
        directory = Path(stack.enter_context(temporary))
        directory.chmod(0o755)  # the server's user has to reach the mount point
        sockets = directory / "sockets"
        sockets.mkdir()
        shutil.chown(sockets, user)
        postgres = PostgresInstallation(programs, user, sockets)
        device_bytes = arguments.device_gib << 30
        device, mount_point = stack.enter_context(loop_file_system(directory, device_bytes, user))
        data = stack.enter_context(postgres_server(postgres, mount_point))
        print(f"loading pgbench scale {arguments.scale} on {device}", file=sys.stderr)
        postgres.pgbench("-i", "-q", "-s", str(arguments.scale))
        postgres.psql("CHECKPOINT")
        os.sync()

        events = directory / "events.txt"
        evictor = PageCacheEvictor(data)
        evictor.evict()
        with block_events(device, events) as start:
            evictor.start()
            try:
                start()
                started = time.time()
                run_workload(postgres, arguments.scale, arguments.clients)
            finally:
                evictor.stop()
        requests, counts = pair_events(events)
        write_trace(requests, started, arguments.output)
        return {**describe(requests, counts), "compressed_bytes": arguments.output.stat().st_size}


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("examples/traces/pgbench.csv.zst"))
    parser.add_argument("--scale", type=int, default=100, help="pgbench scale, 15 MB each (%(default)s)")
    parser.add_argument("--clients", type=int, default=8, help="pgbench connections (%(default)s)")
    parser.add_argument("--device-gib", type=int, default=4, help="size of the loop device (%(default)s)")
    parser.add_argument("--user", default="postgres", help="user that runs the server (%(default)s)")
    parser.add_argument(
        "--scratch", default=None, help="directory for the image (the system's temporary one)"
    )
    arguments = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    try:
        counts = record(arguments)
    except RecordingError as error:
        print(f"record_block_trace: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(json.dumps(counts, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
