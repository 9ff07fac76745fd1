"""How long whole runs take beside MQSim: `python tools/side_by_side.py MQSIM FOLDER... [--rounds N]`.

MQSIM is a built MQSim; nothing of it is part of this project. Each FOLDER holds an `ssdconfig.xml` and a
`workload.xml` of one flow. Both programs run them in turn, whole processes from start to end, ninescope what
`ninescope import mqsim` makes of them, on a full drive. What is compared is the processor time of the fastest
of N rounds each: other work on the machine can only add to it.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NINESCOPE = [sys.executable, "-m", "ninescope"]
RUN = ["run", "imported/job.toml", "--drive", "imported/drive.toml", "--prefill", "full", "--json"]


@dataclasses.dataclass(frozen=True)
class Took:
    """What a process took."""

    processor: float
    """Processor time [s]."""
    mebibytes: float
    """The most memory that it had [MiB]."""

    def __str__(self) -> str:
        """Write it for a table."""
        return f"{self.processor:.2f} s, {self.mebibytes:,.0f} MiB"


@dataclasses.dataclass(frozen=True)
class Compared:
    """One configuration in both programs."""

    name: str
    requests: int
    lost: int
    """Requests that MQSim did not complete."""
    ours: Took
    theirs: Took

    def row(self) -> str:
        """Return a line of the table."""
        lost = f" ({self.lost:,} requests lost)" if self.lost else ""
        ratio = self.theirs.processor / self.ours.processor
        return f"| `{self.name}` | {self.requests:,} | {self.theirs}{lost} | {self.ours} | {ratio:.1f} |"


class RefusedError(Exception):
    """What was given cannot be compared; the message says why."""


def run(command: list[str], folder: Path) -> tuple[Took, str]:
    """Run a command to its end; return what it took, and what it printed."""
    with tempfile.TemporaryFile("w+") as out:
        try:
            process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.STDOUT)  # noqa: S603
        except OSError as error:
            raise RefusedError(f"{command[0]} does not begin: {error.strerror}") from None
        _, status, usage = os.wait4(process.pid, 0)
        out.seek(0)
        text = out.read()
    if status:
        said = (text.strip().splitlines() or ["no word"])[-1]
        raise RefusedError(f"{folder.name}: {Path(command[0]).name} ends with {status}: {said}")
    return Took(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024), text


def number_in(file: Path, tag: str) -> int:
    """Return the number that stands once in a file of MQSim, in a tag."""
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise RefusedError(f"{file} is not text in UTF-8") from None
    found = re.findall(rf"<{tag}>\s*(\d+)\s*<", text)
    if len(found) != 1:
        raise RefusedError(
            f"{file} has {len(found)} numbers in <{tag}>, and one is wanted: a workload of one flow"
        )
    return int(found[0])


def lost_by_mqsim(folder: Path) -> int:
    """Return how many of the requests that it was to generate MQSim does not say that it completed."""
    if not (folder / "workload_scenario_1.xml").is_file():
        raise RefusedError(f"{folder.name}: MQSim wrote no workload_scenario_1.xml")
    done = number_in(folder / "workload_scenario_1.xml", "Request_Count")
    return number_in(folder / "workload.xml", "Total_Requests_To_Generate") - done


def refuse(mqsim: Path, folders: list[Path], rounds: int) -> None:
    """Refuse what cannot be compared before anything runs for long."""
    if not (mqsim.is_file() and os.access(mqsim, os.X_OK)):
        raise RefusedError(f"{mqsim} is no program: MQSIM is a built MQSim")
    if rounds < 1:
        raise RefusedError(f"--rounds {rounds}: one is the least")
    names = [folder.name for folder in folders]
    for folder in folders:
        for name in ("ssdconfig.xml", "workload.xml"):
            if not (folder / name).is_file():
                raise RefusedError(f"{folder} holds no {name}")
        if names.count(folder.name) > 1:
            raise RefusedError(f"two folders are called {folder.name}, and rows go by these names")
        number_in(folder / "workload.xml", "Total_Requests_To_Generate")


def compare(mqsim: str, source: Path, rounds: int, scratch: Path) -> Compared:
    """Run one configuration in both programs in turn."""
    folder = scratch / source.name
    folder.mkdir()
    for name in ("ssdconfig.xml", "workload.xml"):
        shutil.copy(source / name, folder)
    run([*NINESCOPE, "import", "mqsim", "ssdconfig.xml", "workload.xml", "--out", "imported"], folder)
    ours, theirs = [], []
    for _ in range(rounds):
        took, text = run([*NINESCOPE, *RUN], folder)
        ours.append(took)
        theirs.append(run([mqsim, "-i", "ssdconfig.xml", "-w", "workload.xml"], folder)[0])
    best = [min(times, key=lambda took: took.processor) for times in (ours, theirs)]
    requests = json.loads(text[text.index("{") :])["requests"]
    return Compared(source.name, requests, lost_by_mqsim(folder), *best)


PAGE = Path(__file__).resolve().parents[1] / "docs/performance.md"
BEGIN, END = "<!-- tools/side_by_side.py writes from here -->", "<!-- to here (side by side) -->"


def on_page(page: str, table: str) -> str:
    """Return the page with the table between its marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise RefusedError(f"{PAGE.name} lacks the marks `{BEGIN}` and `{END}`")
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{after}"


HEAD = "| run | requests | MQSim | ninescope | times as fast |\n| --- | --- | --- | --- | --- |"


def main() -> int:
    """Compare, and print the table."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("mqsim", type=Path)
    words.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    words.add_argument("--rounds", type=int, default=3, metavar="N")
    words.add_argument("--page", action="store_true", help="write the table into docs/performance.md, too")
    given = words.parse_args()
    try:
        refuse(given.mqsim, given.folders, given.rounds)
        with tempfile.TemporaryDirectory() as scratch:
            found = [
                compare(str(given.mqsim.resolve()), folder, given.rounds, Path(scratch))
                for folder in given.folders
            ]
    except RefusedError as refused:
        print(f"side_by_side: {refused}", file=sys.stderr)
        return 2
    load = f"{os.getloadavg()[0]:.1f} processes waiting at the end"
    print(f"{platform.machine()}, {os.cpu_count()} processors, best of {given.rounds} rounds, {load}\n")
    table = "\n".join([HEAD, *(each.row() for each in found)])
    print(table)
    if given.page:
        PAGE.write_text(on_page(PAGE.read_text(encoding="utf-8"), table), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
