"""Job files of fio: what ninescope issues against what fio issues, for every option of the importer's table.

`crates/generators/src/fio/options.toml` says what becomes of each option. Here fio proves it: cases
compare the two where an option is said to be *equal*, fio alone runs with and without an option that is
said to change nothing, and the table in docs/jobs.md is the one that is tested.
"""

from __future__ import annotations

import importlib.util
import json
import math
import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import ninescope
from conftest import NATIVE, ROOT, tomllib
from fio_oracle import NEEDS_FIO, Issued, fio, run_fio, run_ours

OPTIONS_FILE = ROOT / "crates/generators/src/fio/options.toml"
OPTIONS: dict[str, dict[str, Any]] = {
    name: entry for group in tomllib.loads(OPTIONS_FILE.read_text()).values() for name, entry in group.items()
}
OWN_NAMES = {other: name for name, entry in OPTIONS.items() for other in (name, *entry.get("also", ()))}


@dataclass(frozen=True)
class Case:
    """A job file, and how closely both must issue the same."""

    text: str
    # Of each job: `exact`, the same addresses in the same order; `in order`, each direction by itself;
    # `covered`, each as often; `drawn`, by the same law from the same places; `skewed`, as often to the most
    # frequent ones; `window`, the time alone; `repeated`, each pass like the first; `single`, nothing is
    # repeated; `anew`, passes that begin at the same place and are not alike.
    addresses: tuple[str, ...] = ("exact",)
    # Whether sizes and directions are drawn: counted with the slack of chance.
    drawn: bool = False
    begins: bool = False
    files: tuple[str, ...] = ()
    options: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        keys = re.findall(r"(?m)^([a-z_]+)(?:=.*)?$", self.text)
        object.__setattr__(self, "options", frozenset(OWN_NAMES[key] for key in keys))


PLAIN = "[global]\nthread\nbs=4k\nsize=64k\nioengine=psync\n[a]\nrw=randrw\n[b]\nrw=write\n"
OFF = [(name, off) for name, entry in OPTIONS.items() for off in entry.get("off", ())]
# Options that one engine alone knows.
ENGINES = {
    **dict.fromkeys(("cmdprio_percentage", "userspace_reap"), "libaio"),
    **dict.fromkeys(("hipri", "fixedbufs", "registerfiles", "sqthread_poll"), "io_uring"),
    **dict.fromkeys(("nonvectored", "uncached", "nowait", "force_async"), "io_uring"),
    **dict.fromkeys(("readfua", "writefua"), "sg"),
}
ASYNC = "[global]\nioengine=libaio\n"
CASES = {
    "sequential reads": Case("[a]\nrw=read\nbs=8k\nsize=100k\n"),
    "sequential writes at an offset": Case("[a]\nreadwrite=write\nblocksize=4k\noffset=16k\nsize=40k\n"),
    "trims": Case("[a]\nioengine=null\nrw=trim\nbs=4k\nsize=64k\n"),
    "random reads cover": Case("[a]\nrw=randread\nbs=4k\nsize=1m\nloops=2\n", ("covered",)),
    "a mix covers": Case("[a]\nrw=randrw\nbs=4k\nsize=1m\nrwmixread=70\n", ("covered",), drawn=True),
    "a mix in order": Case("[a]\nrw=rw\nbs=4k\nsize=1m\nrwmixwrite=20\n", ("in order",), drawn=True),
    "random without a map": Case("[a]\nrw=randread\nbs=4k\nsize=1m\nio_size=2m\nnorandommap\n", ("drawn",)),
    "a shift register covers": Case(
        "[a]\nrw=randread\nbs=4k\nsize=1m\nnorandommap\nrandom_generator=lfsr\n", ("covered",)
    ),
    "aligned otherwise": Case("[a]\nrw=randread\nbs=4k\nblockalign=16k\nsize=1m\nnorandommap\n", ("drawn",)),
    "some jump": Case("[a]\nrw=randread\nbs=4k\nsize=4m\npercentage_random=30\nnorandommap\n", ("drawn",)),
    "zipf": Case(
        "[a]\nrw=randread\nbs=4k\nsize=4m\nio_size=40m\nrandom_distribution=zipf:1.1\n", ("skewed",)
    ),
    "pareto": Case(
        "[a]\nrw=randread\nbs=4k\nsize=4m\nio_size=40m\nrandom_distribution=pareto:0.2\n", ("skewed",)
    ),
    "zones of sizes": Case(
        "[a]\nrw=randread\nbs=4k\nsize=4m\nrandom_distribution=zoned_abs:60/400k:30/1m:10/2m\n", ("drawn",)
    ),
    "zones": Case(
        "[a]\nrw=randread\nbs=4k\nsize=4m\nrandom_distribution=zoned:60/10:30/20:10/70\n", ("drawn",)
    ),
    "a range of sizes": Case(
        "[a]\nrw=randread\nbsrange=4k-16k\nsize=4m\nnorandommap\n", ("drawn",), drawn=True
    ),
    "a range behind bs": Case(
        "[a]\nrw=randread\nbsrange=8k-16k\nbs=4k\nsize=4m\nnorandommap\n", ("drawn",), drawn=True
    ),
    "a split of sizes": Case(
        "[a]\nrw=randwrite\nbssplit=4k/60:16k/30:64k/10\nsize=64m\nnorandommap\n", ("drawn",), drawn=True
    ),
    "a split of one size": Case("[a]\nrw=randread\nbssplit=8k/100\nsize=1m\n", ("covered",)),
    "sizes by direction": Case("[a]\nrw=rw\nbs=4k,16k\nsize=2m\nrwmixread=50\n", ("drawn",), drawn=True),
    "sizes by direction, one of them": Case("[a]\nrw=write\nbs=4k,16k\nsize=256k\n"),
    "the later size holds": Case("[a]\nrw=read\nbs=1000\nsize=100k\nbs=4k\nsize=64k\n"),
    "a part of a request": Case("[a]\nrw=read\nbs=4k\nsize=10k\n"),
    "bytes end in a request": Case("[a]\nrw=read\nbs=4k\nio_size=10k\nsize=64k\n"),
    "bytes beyond the size": Case("[a]\nrw=randread\nbs=4k\nio_limit=128k\nsize=64k\n", ("covered",)),
    "requests end it": Case("[a]\nrw=read\nbs=4k\nsize=64k\nnumber_ios=10\n"),
    "requests beyond the size": Case("[a]\nrw=read\nbs=4k\nsize=64k\nnumber_ios=100\n"),
    "requests of loops": Case("[a]\nrw=read\nbs=4k\nsize=64k\nnumber_ios=10\nloops=2\n", ("drawn",)),
    "flushes": Case("[a]\nrw=write\nbs=4k\nsize=64k\nfsync=4\n"),
    "flushes of a mix": Case("[a]\nrw=randrw\nbs=4k\nsize=512k\nfsync=3\n", ("covered",), drawn=True),
    "flushes of data": Case("[a]\nrw=write\nbs=4k\nsize=60k\nfdatasync=5\n"),
    "depth of libaio": Case(f"{ASYNC}[a]\nrw=randread\nbs=4k\nsize=512k\niodepth=16\n", ("covered",)),
    "depth of io_uring": Case(
        "[a]\nioengine=posixaio\nrw=randread\nbs=4k\nsize=512k\niodepth=8\n", ("covered",)
    ),
    "depth of psync": Case("[a]\nioengine=psync\nrw=randread\nbs=4k\nsize=512k\niodepth=16\n", ("covered",)),
    "depth of sync": Case("[a]\nioengine=sync\nrw=read\nbs=4k\nsize=512k\niodepth=16\n"),
    "depth of pvsync": Case("[a]\nioengine=pvsync\nrw=write\nbs=4k\nsize=512k\niodepth=16\n"),
    "depth of pvsync2": Case("[a]\nioengine=pvsync2\nrw=read\nbs=4k\nsize=512k\niodepth=16\n"),
    "depth of mmap": Case("[a]\nioengine=mmap\nrw=read\nbs=4k\nsize=512k\niodepth=16\n"),
    "depth of no engine": Case("[a]\nrw=read\nbs=4k\nsize=512k\niodepth=16\n"),
    "files of their own": Case(
        "[global]\nbs=4k\nsize=64k\n[a]\nrw=randread\nnumjobs=3\n[b]\nrw=write\nsize=30k\n[c]\nrw=read\n",
        ("covered",) * 3 + ("exact",) * 2,
    ),
    "a file for all": Case(
        "[global]\nbs=4k\nfilename=x\n[a]\nrw=read\nsize=64k\nnumjobs=2\n[b]\nrw=write\noffset=32k\nsize=64k\n",
        ("exact",) * 3,
    ),
    "files for some": Case(
        "[global]\nbs=4k\nsize=64k\nrw=read\n[a]\nfilename=x\nnrfiles=1\n[b]\n[c]\nfilename=x\noffset=128k\n[d]\n",
        ("exact",) * 4,
    ),
    "increments in a file": Case(
        "[a]\nrw=read\nbs=4k\nsize=32k\nnumjobs=3\noffset_increment=32k\nfilename=x\n", ("exact",) * 3
    ),
    "increments in files": Case(
        "[a]\nrw=read\nbs=4k\nsize=32k\nnumjobs=3\noffset_increment=16k\n[b]\nrw=read\nsize=8k\n",
        ("exact",) * 4,
    ),
    "folders": Case(
        "[global]\nbs=4k\nsize=32k\nrw=read\n[a]\ndirectory=one\nfilename=x\n[b]\nfilename=x\n",
        ("exact",) * 2,
    ),
    "a share of the drive": Case(
        "[a]\nrw=randread\nbs=64k\nfilename=drive\nsize=10%\nnumber_ios=300\nnorandommap\n",
        ("drawn",),
        files=("drive",),
    ),
    "for a time": Case(f"{ASYNC}[a]\nrw=randread\nbs=4k\nsize=1m\nruntime=400ms\ntime_based\n", ("window",)),
    "time or size": Case("[a]\nrw=read\nbs=4k\nsize=64k\ntimeout=5\n"),
    "after a ramp": Case(
        f"{ASYNC}[a]\nrw=randread\nbs=4k\nsize=1m\nruntime=300ms\ntime_based\nramp_time=500ms\n", ("window",)
    ),
    "a delay": Case(
        "[global]\nbs=4k\nsize=64k\nrw=read\n[a]\n[b]\nstartdelay=400ms\n", ("exact",) * 2, begins=True
    ),
    "a wall": Case(
        "[global]\nbs=4k\nrw=read\nsize=64k\nthinktime=20ms\n[a]\n[b]\nstonewall\n[c]\n",
        ("exact",) * 3,
        begins=True,
    ),
    "thinking": Case("[a]\nrw=read\nbs=4k\nsize=64k\nthinktime=20ms\n", begins=True),
    "thinking in microseconds, after four": Case(
        "[a]\nrw=read\nbs=4k\nsize=64k\nthinktime=50000\nthinktime_blocks=4\nthinktime_blocks_type=complete\n"
        "thinktime_spin=1ms\n",
        begins=True,
    ),
    "thinking of a deep job": Case(
        f"{ASYNC}[a]\nrw=read\nbs=4k\nsize=64k\niodepth=4\nthinktime=30ms\n", begins=True
    ),
    "a rate of several sizes": Case(
        "[a]\nioengine=null\nrw=randwrite\nbssplit=4k/50:16k/50\nrate_iops=500\nruntime=2\nsize=16m\ntime_based\n"
        "norandommap\n",
        ("drawn",),
        drawn=True,
    ),
    "a rate of a range of sizes": Case(
        "[a]\nioengine=null\nrw=randread\nbsrange=8k-32k\nrate_iops=400\nruntime=2\nsize=16m\ntime_based\n"
        "norandommap\n",
        ("drawn",),
        drawn=True,
    ),
    "a rate in bytes": Case("[a]\nioengine=null\nrw=write\nbs=8k\nsize=4m\nrate=8m\n", begins=True),
    "a rate in bytes of several sizes": Case(
        "[a]\nioengine=null\nrw=randwrite\nbssplit=4k/50:16k/50\nrate=4m\nruntime=2\nsize=16m\ntime_based\n"
        "norandommap\n",
        ("drawn",),
        drawn=True,
    ),
    "a poisson process of bytes": Case(
        "[a]\nioengine=null\nrw=randread\nbssplit=4k/50:32k/50\nrate=8m\nrate_process=poisson\nruntime=2\n"
        "size=64m\ntime_based\nnorandommap\n",
        ("drawn",),
        drawn=True,
    ),
    # In order: see the rates of a mix in requests.
    "rates in bytes of a mix": Case(
        "[a]\nioengine=null\nrw=rw\nbs=4k,16k\nrate=2m,6m\nruntime=1\nsize=64m\ntime_based\n",
        ("in order",),
        drawn=True,
    ),
    "counts with suffixes": Case(
        "[a]\nrw=read\nbs=4k\nsize=8m\nnumber_ios=1k\nioengine=libaio\niodepth=1k\n"
    ),
    "values that switch off": Case(
        "[a]\nrw=read\nbs=4k\nsize=64k\nverify=0\nrate=1m\nrate=0\nsync=0\nrate_iops=0\n"
    ),
    "nothing in other words": Case(
        "[a]\nrw=write\nbs=4k\nsize=64k\nrate=0,0\nrate_min=0k\nlatency_target=0us\nsync=none\nio_size=0\nexitall=0\n"
        "time_based=0\nruntime=5\nloops=0\nnumber_ios=0\nthinktime=0\nramp_time=0\nstartdelay=0\noffset_increment=0\n"
    ),
    "a rate of the other direction": Case(
        "[a]\nioengine=null\nrw=write\nbs=4k\nsize=1m\nrate_iops=,500\n", begins=True
    ),
    "no rate of this direction": Case("[a]\nioengine=null\nrw=read\nbs=4k\nsize=1m\nrate_iops=,500\n"),
    "a rate with a suffix": Case("[a]\nioengine=null\nrw=read\nbs=4k\nsize=8m\nrate_iops=1k\n", begins=True),
    # In order: where random addresses of several sizes lie differs, which the table says.
    "rates of a mix of ranges": Case(
        "[a]\nioengine=null\nrw=rw\nbsrange=4k-16k,8k-64k\nrate_iops=600,300\nruntime=2\nsize=64m\ntime_based\n",
        ("in order",),
        drawn=True,
    ),
    "rates of a size by direction": Case(
        "[a]\nioengine=null\nrw=rw\nbs=4k,16k\nrate_iops=300\nruntime=1\nsize=64m\ntime_based\n",
        ("in order",),
        drawn=True,
    ),
    "a poisson process of several sizes": Case(
        "[a]\nioengine=null\nrw=randread\nbssplit=4k/50:32k/50\nrate_iops=2000\nrate_process=poisson\nruntime=2\n"
        "size=64m\ntime_based\nnorandommap\n",
        ("drawn",),
        drawn=True,
    ),
    "passes of random writes": Case("[a]\nrw=randwrite\nbs=4k\nsize=1m\nloops=3\n", ("repeated",)),
    "passes of libaio": Case(f"{ASYNC}[a]\nrw=randwrite\nbs=4k\nsize=1m\nloops=3\n", ("repeated",)),
    "passes and a part of one": Case("[a]\nrw=randread\nbs=4k\nsize=1m\nio_size=2560k\n", ("repeated",)),
    "passes of a random mix": Case(
        "[a]\nrw=randrw\nrwmixread=50\nbs=4k\nsize=4m\nloops=8\n", ("repeated",), drawn=True
    ),
    "passes of a sequential mix": Case(
        f"{ASYNC}[a]\nrw=rw\nbs=16k\nsize=16m\nio_size=64m\n", ("repeated",), drawn=True
    ),
    "passes of several sizes": Case(
        f"{ASYNC}[a]\nrw=randread\nbssplit=4k/50:16k/50\nsize=4m\nloops=3\nnorandommap\n",
        ("repeated",),
        drawn=True,
    ),
    "passes of reads without a map": Case(
        f"{ASYNC}[a]\nrw=randread\nbs=4k\nsize=4m\nio_size=12m\nnorandommap\n", ("repeated",)
    ),
    "one pass of writes without a map": Case(
        f"{ASYNC}[a]\nrw=randwrite\nbs=4k\nsize=4m\nio_size=12m\nnorandommap\n", ("single",)
    ),
    "long passes without a map": Case(
        f"{ASYNC}[a]\nrw=randwrite\nbs=4k\nsize=1m\nio_size=2m\nloops=2\nnorandommap\n", ("repeated",)
    ),
    "passes in which some jump": Case(
        f"{ASYNC}[a]\nrw=randread\nbs=4k\nsize=4m\nloops=2\npercentage_random=30\nnorandommap\n",
        ("repeated",),
    ),
    "passes over zones": Case(
        f"{ASYNC}[a]\nrw=randread\nbs=4k\nsize=4m\nloops=2\nrandom_distribution=zoned:60/10:40/90\n",
        ("repeated",),
    ),
    "passes of a shift register": Case(
        "[a]\nrw=randread\nbs=4k\nsize=1m\nloops=3\nrandom_generator=lfsr\n", ("repeated",)
    ),
    "one pass of a synchronous engine": Case(
        "[a]\nrw=randread\nbs=4k\nsize=4m\nio_size=10m\nloops=3\nnorandommap\n", ("single",)
    ),
    "one pass of the null engine": Case(
        "[a]\nioengine=null\nrw=randread\nbs=4k\nsize=4m\nloops=3\nnorandommap\n", ("single",)
    ),
    "passes drawn anew": Case("[a]\nrw=randwrite\nbs=4k\nsize=1m\nloops=3\nrandrepeat=0\n", ("single",)),
    "passes of a mix drawn anew": Case(
        f"{ASYNC}[a]\nrw=rw\nbs=4k\nsize=1m\nloops=4\nrandrepeat=0\n", ("anew",), drawn=True
    ),
    "passes of zipf": Case(
        f"{ASYNC}[a]\nrw=randread\nbs=4k\nsize=4m\nloops=3\nrandom_distribution=zipf:1.1\n", ("single",)
    ),
    "fewer bytes than the size, read in loops": Case("[a]\nrw=read\nsize=1m\nio_size=512k\nloops=3\n"),
    "a share of the device begins it": Case(
        "[global]\nfilename=drive\n[a]\nrw=read\nbs=16k\noffset=33%\nsize=1m\n", files=("drive",)
    ),
    "shares begin and end it": Case(
        "[global]\nfilename=drive\n[a]\nrw=randread\nbs=64k\noffset=25%\nsize=1%\nnorandommap\nnumber_ios=500\n",
        ("drawn",),
        files=("drive",),
    ),
    "a share of the device in loops": Case(
        "[global]\nfilename=drive\n[a]\nrw=read\nbs=4m\noffset=50%\nsize=1%\nloops=2\n", files=("drive",)
    ),
    "a share of the device in loops that requests end": Case(
        "[global]\nfilename=drive\n[a]\nrw=read\nbs=64m\nsize=1%\nloops=3\nnumber_ios=30\n", files=("drive",)
    ),
    "the whole device at random, some requests of it": Case(
        "[a]\nfilename=drive\nrw=randread\nbs=64k\nnorandommap\nloops=2\nnumber_ios=300\n",
        ("drawn",),
        files=("drive",),
    ),
    "a share of the device for a time": Case(
        f"{ASYNC}filename=drive\n[a]\nrw=randread\nbs=4k\nsize=10%\nnorandommap\nloops=2\nruntime=400ms\n",
        ("window",),
        files=("drive",),
    ),
    "the jumps of reads alone": Case(
        "[a]\nrw=randread\nbs=4k\nsize=4m\npercentage_random=30,80\nnorandommap\n", ("drawn",)
    ),
    "a mix of reads alone": Case("[a]\nrw=read\nbs=4k\nsize=1m\nrwmixread=70\n"),
    "bytes beyond loops": Case("[a]\nrw=write\nbs=64k\nsize=4m\nio_size=18m\nloops=3\n"),
    "loops beyond bytes": Case("[a]\nrw=write\nbs=64k\nsize=4m\nio_size=10m\nloops=3\n"),
    "fewer bytes than the size, in loops": Case("[a]\nrw=write\nbs=64k\nsize=4m\nio_size=3m\nloops=2\n"),
    "bytes that leave no room for a request": Case("[a]\nrw=write\nbs=4k\nsize=64k\nio_size=66k\n"),
    "aligned by direction": Case(
        "[a]\nrw=randrw\nbs=4k,16k\nsize=16m\nnorandommap\n", ("drawn",), drawn=True
    ),
    "aligned by direction, of a split": Case(
        "[a]\nrw=randrw\nbssplit=4k/50:8k/50,16k/50:64k/50\nsize=64m\nnorandommap\n", ("drawn",), drawn=True
    ),
    "aligned by direction, of a range": Case(
        "[a]\nrw=randrw\nbsrange=4k-8k,16k-32k\nsize=32m\nnorandommap\n", ("drawn",), drawn=True
    ),
    "a size for writes alone": Case(
        "[global]\nbs=16k\n[a]\nrw=rw\nbs=,8k\nsize=4m\n", ("in order",), drawn=True
    ),
    "a size for reads alone": Case("[a]\nrw=rw\nbs=8k,\nsize=4m\n", ("in order",), drawn=True),
    "comments behind values, and hexadecimal": Case(
        "[a]\nrw=read # c\nbs=0x1000 ; c\nsize=64k# c ; d\nnumber_ios=0xa\n"
    ),
    "two of one name": Case(
        "[global]\nbs=4k\n[a]\nrw=read\nsize=64k\n[a]\nrw=write\nsize=32k\n", ("exact",) * 2
    ),
    "a time base without a time": Case("[a]\nrw=read\nbs=4k\nsize=64k\ntime_based\n"),
    # 83 requests of 12 KiB lie within 1000 KiB, and 84 come to it.
    "a part of a request at an offset": Case("[a]\nrw=write\nbs=12k\nsize=1000k\noffset=3k\n"),
    "a part of a request, by a map": Case("[a]\nrw=randread\nbs=12k\nsize=1000k\n", ("covered",)),
    "a part of a request of a mix": Case(
        "[a]\nrw=rw\nbs=12k\nsize=1000k\noffset=1m\n", ("in order",), drawn=True
    ),
    "a part of a request without a map": Case(
        "[a]\nrw=randread\nbs=12k\nsize=1000k\nnorandommap\n", ("drawn",)
    ),
    "a part of a request in passes": Case(
        f"{ASYNC}[a]\nrw=randread\nbs=12k\nsize=1000k\nnorandommap\nloops=3\n", ("repeated",)
    ),
    "one exits alone": Case("[a]\nrw=read\nbs=4k\nsize=64k\nexitall\n"),
}


@pytest.fixture(scope="module")
def drive_bytes() -> int:
    result = ninescope.Drive().run(ninescope.Workload.job(rw="read", requests=1), prefill="none")
    return int(result.document["config"]["logical_bytes"])


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What fio issues for two jobs without any other option."""
    return filled(PLAIN, tmp_path_factory.mktemp("plain") / "run")


class TestAgainstFio:
    pytestmark = NEEDS_FIO

    @pytest.mark.parametrize("name", CASES)
    def test_ninescope_issues_what_fio_issues(self, name: str, tmp_path: Path, drive_bytes: int) -> None:
        case = CASES[name]
        fios = run_fio(case.text, tmp_path, files=case.files, length=drive_bytes)
        ours = run_ours(case.text, tmp_path, fios)
        assert len(ours.jobs) == len(fios.jobs) == len(case.addresses)
        for theirs, our, law in zip(fios.jobs, ours.jobs, case.addresses, strict=True):
            if law == "window":
                compare_times(theirs, our)
                continue
            # Arrivals are not held back by a depth, which a note says.
            assert our.depth == theirs.depth or {"rate", "rate_iops"} & case.options
            # Passes that are alike say no more of chance than one of them.
            pair = same_passes(theirs, our) if law == "repeated" else (theirs, our)
            compare_counts(*pair, drawn=case.drawn)
            LAWS[law](*pair)
            if case.begins:
                # fio looks every now and then whether a wall is open.
                slack = 500 if "stonewall" in case.options else 60
                assert our.began_ms - 60 < theirs.began_ms < our.began_ms + slack
                compare_times(theirs, our)

    def test_a_map_of_several_sizes_cuts_requests(self, tmp_path: Path) -> None:
        """What docs/jobs.md says of it: of 6 KiB in the mean, 1 MiB takes 171 requests that are whole."""
        text = "[a]\nrw=randread\nbssplit=4k/50:8k/50\nsize=1m\n"
        fios = run_fio(text, tmp_path)
        ours = run_ours(text, tmp_path, fios)
        assert len(fios.jobs[0].requests) == 198
        assert len(ours.jobs[0].requests) == pytest.approx(171, abs=13), "three standard deviations"

    @pytest.mark.parametrize(
        "split", ["4k/50:8k/50", "4k/60:16k/30:64k/10", "4k/50:64k/50", "4k/10:64k/50:32k/40"]
    )
    def test_a_map_of_several_sizes_makes_no_more_requests_than_the_note_says(
        self, split: str, tmp_path: Path
    ) -> None:
        text = f"[a]\nrw=randread\nbssplit={split}\nsize=4m\nioengine=null\n"
        issued = len(run_fio(text, tmp_path).jobs[0].requests)
        shares = [(int(size) << 10, int(share)) for size, share in re.findall(r"(\d+)k/(\d+)", split)]
        whole = (4 << 20) / (sum(size * share for size, share in shares) / 100)
        notes = " ".join(ninescope.Drive().run(ninescope.Workload.job_file(tmp_path / "job.fio")).notes)
        [most] = re.findall(r"up to ([0-9.]+) times as many", notes)
        assert 1.1 * whole < issued < float(most) * whole

    @pytest.mark.parametrize(("mix", "times"), [(25, 1.3), (50, 2.0), (90, 10.0)])
    @pytest.mark.parametrize("every", [1, 3, 10])
    def test_a_flush_comes_again_after_each_read_in_fio_before_3_38(
        self, mix: int, times: float, every: int, tmp_path: Path
    ) -> None:
        """What a note says of a mix: as many flushes in the mean; which reads come when is chance."""
        text = f"[a]\nrw=randrw\nrwmixread={mix}\nbs=4k\nsize=16m\nfsync={every}\nioengine=null\n"
        job = tmp_path / "job.fio"
        job.write_text(text)
        told = json.loads(fio(tmp_path, job, "--output-format=json"))
        if tuple(map(int, re.findall(r"\d+", told["fio version"])[:2])) >= (3, 38):
            pytest.skip("this fio flushes after writes alone")
        issued = told["jobs"][0]
        result = ninescope.Drive().run(ninescope.Workload.job_file(job))
        assert any(f"makes {times} times as many flushes" in note for note in result.notes)
        ours = result.latency.flush.count
        assert ours == pytest.approx(result.latency.write.count / every, abs=1)
        of_writes = issued["write"]["total_ios"] / every
        assert issued["sync"]["total_ios"] == pytest.approx(times * of_writes, rel=0.2)

    @pytest.mark.parametrize("limit", ["", "number_ios=3000\n"])
    def test_a_map_of_a_size_by_direction_ends_early(self, limit: str, tmp_path: Path) -> None:
        """What the table says of it: of 5,324.8 B in the mean, 16 MiB are 3,151 requests."""
        text = f"[a]\nrw=randrw\nrwmixread=70\nbs=4k,8k\nsize=16m\nioengine=null\n{limit}"
        fios = run_fio(text, tmp_path)
        ours = run_ours(text, tmp_path, fios)
        assert len(fios.jobs[0].requests) == 2160
        most = 3000 if limit else math.inf
        assert len(ours.jobs[0].requests) == pytest.approx(min(3151, most), abs=60), (
            "three standard deviations"
        )

    def test_a_map_finer_than_the_requests_ends_a_job_of_fio_by_chance(self, tmp_path: Path) -> None:
        """What its note says. Of n places, k are drawn and moved to the next free one; all find one before
        the end with the chance (1 - x) e^x, x = k/n: the mean of x is e - 2, its standard deviation 0.22.
        """
        text = "[a]\nioengine=null\nrw=randwrite\nbs=4k,8k\nsize=4m\n"
        (tmp_path / "job.fio").write_text(text)
        result = ninescope.Drive().run(ninescope.Workload.job_file(tmp_path / "job.fio"), prefill="none")
        assert result.requests == 512
        [note] = [note for note in result.notes if "fio ends such a job early" in note]
        assert "72 % of its requests in the mean (396 in place of 512" in note
        assert len(run_fio(text, tmp_path).jobs[0].requests) == 396
        (tmp_path / "drawn.fio").write_text(f"{text}randrepeat=0\nnumjobs=64\n")
        out = fio(tmp_path, "drawn.fio", "--output-format=json")
        shares = [job["write"]["total_ios"] / 512 for job in json.loads(out[out.index("{") :])["jobs"]]
        assert len(shares) == 64
        assert sum(shares) / 64 == pytest.approx(math.e - 2, abs=4 * 0.22 / 8), "four standard deviations"

    @pytest.mark.parametrize("more", ["io_size=40m\n", "time_based\nruntime=1\nrate_iops=2000\n"])
    def test_a_map_finer_than_the_requests_repeats_a_part_of_the_places(
        self, more: str, tmp_path: Path
    ) -> None:
        """What its note says: as many requests, on 396 of 512 places."""
        text = f"[a]\nioengine=null\nrw=randwrite\nbs=4k,8k\nsize=4m\n{more}"
        fios = run_fio(text, tmp_path)
        issued = fios.jobs[0].requests
        assert len({offset for _, offset, _ in issued}) == 396
        (tmp_path / "job.fio").write_text(text)
        result = ninescope.Drive().run(ninescope.Workload.job_file(tmp_path / "job.fio"), prefill="none")
        # 40 MiB of 5,324.8 B in the mean; 2,000 a second for one second, of which a busy machine issues less.
        assert len(issued) <= 1.01 * result.requests
        if "io_size" in more:
            assert result.requests == pytest.approx(len(issued), rel=0.01)
        else:
            assert result.requests == 2000
        assert any("the next pass is the same" in note for note in result.notes)

    def test_a_shift_register_finer_than_the_requests_ends_a_job_of_fio(self, tmp_path: Path) -> None:
        text = "[a]\nioengine=null\nrw=randwrite\nbs=4k,8k\nsize=64m\nrandom_generator=lfsr\n"
        (tmp_path / "job.fio").write_text(text)
        out = fio(tmp_path, "job.fio", "--output-format=json")
        assert json.loads(out[out.index("{") :])["jobs"][0]["write"]["total_ios"] < 100
        result = ninescope.Drive().run(ninescope.Workload.job_file(tmp_path / "job.fio"), prefill="none")
        assert result.requests == 8192
        assert any(
            "fio ends a job of lfsr at its first address beyond the file" in note for note in result.notes
        )

    def test_a_file_that_reaches_further_takes_a_request_more_in_fio(self, tmp_path: Path) -> None:
        text = "[a]\nrw=read\nbs=12k\nsize=1000k\noffset=1m\nfilename=longer\n"
        fios = run_fio(text, tmp_path, files=("longer",), length=3 << 20)
        ours = run_ours(text, tmp_path, fios)
        assert [len(run.jobs[0].requests) for run in (fios, ours)] == [84, 83]
        result = ninescope.Drive().run(ninescope.Workload.job_file(tmp_path / "job.fio"), prefill="none")
        assert any("where the file reaches further, as a device does" in note for note in result.notes)

    @pytest.mark.parametrize("law", ["percentage_random=50", "random_distribution=pareto:0.4"])
    def test_a_part_of_a_request_ends_some_jobs_of_fio(self, law: str, tmp_path: Path) -> None:
        """Which of them is chance: at about every 84th request it draws the part at the end."""
        text = (
            "[a]\nioengine=null\nrw=randread\nbs=12k\nsize=1000k\nnorandommap\nrandrepeat=0\n"
            f"numjobs=16\n{law}\n"
        )
        (tmp_path / "job.fio").write_text(text)
        out = fio(tmp_path, "job.fio", "--output-format=json")
        assert min(job["read"]["total_ios"] for job in json.loads(out[out.index("{") :])["jobs"]) < 84
        result = ninescope.Drive().run(ninescope.Workload.job_file(tmp_path / "job.fio"), prefill="none")
        assert result.requests == 16 * 84
        assert any("at the first request that would reach beyond size" in note for note in result.notes)

    def test_a_job_that_ends_within_its_ramp_is_measured_by_fio_alone(self, tmp_path: Path) -> None:
        """Each of them: 256 and 2,048 requests at 1,000/s, with a ramp of a second."""
        text = (
            "[global]\nioengine=null\nrw=randread\nbs=4k\nramp_time=1\nrate_iops=1000\n"
            "[short]\nsize=1m\n[long]\nsize=8m\n"
        )
        fios = run_fio(text, tmp_path)
        result = ninescope.Drive().run(ninescope.Workload.job_file(tmp_path / "job.fio"), prefill="none")
        # Its log leaves out the ramp, its report does not.
        assert [job.measured_ms for job in fios.jobs] == pytest.approx([256, 1048], rel=0.1)
        assert [job.requests for job in result.jobs] == [0, pytest.approx(1048, abs=2)]
        about = [note for note in result.notes if "no request completed after the ramp_time" in note]
        assert [note.split(":")[0] for note in about] == ["job short"]
        assert not re.search(r"busy +-", str(result)), "the other one was measured"

    def test_a_number_of_requests_is_counted_by_fio_from_the_end_of_the_ramp(self, tmp_path: Path) -> None:
        """At 1,000/s a ramp of half a second is 500 requests, which count here."""
        text = (
            "[a]\nioengine=null\nrw=read\nbs=4k\nsize=64m\nrate_iops=1000\nramp_time=500ms\nnumber_ios=1500\n"
        )
        fios = run_fio(text, tmp_path)
        result = ninescope.Drive().run(ninescope.Workload.job_file(tmp_path / "job.fio"), prefill="none")
        assert len(fios.jobs[0].requests) == 1500
        assert result.requests == pytest.approx(1000, abs=2)
        assert any("fio counts from the end of ramp_time on" in note for note in result.notes)

    def test_a_skewed_job_aligned_otherwise_is_ended_by_fio(self, tmp_path: Path) -> None:
        text = (
            "[a]\nioengine=null\nrw=randread\nbs=4k\nblockalign=16k\nsize=8m\nrandom_distribution=zipf:1.2\n"
        )
        (tmp_path / "job.fio").write_text(text)
        out = fio(tmp_path, "job.fio", "--output-format=json")
        assert json.loads(out[out.index("{") :])["jobs"][0]["read"]["total_ios"] < 512
        result = ninescope.Drive().run(ninescope.Workload.job_file(tmp_path / "job.fio"), prefill="none")
        assert result.requests == 2048
        assert any("fio ends a job of zipf or pareto with blockalign" in note for note in result.notes)

    def test_a_mix_of_zipf_with_a_size_by_direction_loses_writes_in_fio(self, tmp_path: Path) -> None:
        """Half of the requests are writes; fio draws them beyond the file and leaves these out."""
        text = "[a]\nrw=randrw\nbs=4k,16k\nsize=1m\nio_size=4m\nnorandommap\nrandom_distribution=zipf:1.1\n"
        fios = run_fio(text, tmp_path)
        assert fios.jobs[0].directions[1] < 0.15 * len(fios.jobs[0].requests)
        ours = run_ours(text, tmp_path, fios)
        assert ours.jobs[0].directions[1] == pytest.approx(len(ours.jobs[0].requests) / 2, rel=0.2)
        result = ninescope.Drive().run(ninescope.Workload.job_file(tmp_path / "job.fio"), prefill="none")
        assert any(
            "leaves out the requests whose address lies beyond the file" in note for note in result.notes
        )

    def test_an_empty_window_has_no_shares(self, tmp_path: Path) -> None:
        text = "[alone]\nioengine=null\nrw=randread\nbs=4k\nsize=1m\nramp_time=2\nrate_iops=1000\n"
        assert run_fio(text, tmp_path).jobs[0].measured_ms == pytest.approx(256, rel=0.2)
        result = ninescope.Drive().run(ninescope.Workload.job_file(tmp_path / "job.fio"), prefill="none")
        assert result.requests == 0
        assert result.document["utilisation"] is None
        assert result.document["host_queue"]["resources"] == []
        assert any(note.startswith("job alone: nothing was measured") for note in result.notes)
        assert re.search(r"busy +-", str(result)), str(result)

    @pytest.mark.parametrize(("name", "off"), OFF, ids="=".join)
    def test_fio_issues_the_same_where_an_option_is_off(
        self, name: str, off: str, plain: object, tmp_path: Path
    ) -> None:
        engine = ENGINES.get(name, "psync")
        if engine == "io_uring" and not has_io_uring(tmp_path):
            pytest.skip("no io_uring here")
        if engine == "sg":
            pytest.skip("it writes to SCSI devices alone")
        text = PLAIN.replace("thread\n", f"thread\n{name}={off}\n").replace("psync", engine)
        assert filled(text, tmp_path / "off") == plain

    @pytest.mark.parametrize("name", [n for n, entry in OPTIONS.items() if entry["is"] == "unchanged"])
    def test_fio_issues_the_same_with_and_without(self, name: str, plain: object, tmp_path: Path) -> None:
        written = f"thread\n{name}={OPTIONS[name]['example']}\n"
        assert filled(PLAIN.replace("thread\n", written), tmp_path / "with") == plain

    def test_fio_knows_no_option_that_is_missing(self) -> None:
        known = {line.split()[0] for line in fio(Path(), "--cmdhelp=all").splitlines() if line.strip()}
        assert {name.rstrip(":") for name in known} - set(OWN_NAMES) == set()
        for engine in ("libaio", "io_uring", "pvsync2", "mmap"):
            of_engine = fio(Path(), f"--enghelp={engine}").splitlines()
            names = {
                line.split(":")[0].strip() for line in of_engine if ":" in line and "IO engine" not in line
            }
            assert names - set(OWN_NAMES) == set(), engine


def has_io_uring(folder: Path) -> bool:
    """Tell whether fio can use it: the kernel may not let it."""
    words = ["fio", "--name=a", "--ioengine=io_uring", "--size=4k", "--rw=read"]
    return subprocess.run(words, cwd=folder, capture_output=True, timeout=60, check=False).returncode == 0


def filled(text: str, folder: Path) -> dict[str, list[str]]:
    """Tell offset, length and direction of what fio issues, by file."""
    folder.mkdir()
    (folder / "job.fio").write_text(text)
    out = fio(folder, "job.fio", "--debug=io")
    issued: dict[str, list[str]] = {}
    for request, file in re.findall(r"fill: io_u \S+ (off=\S+?,len=\S+?,ddir=\d),file=(.*)", out):
        issued.setdefault(file, []).append(request)
    assert sum(map(len, issued.values())) == 32, out
    return issued


def compare_times(theirs: Issued, ours: Issued) -> None:
    """Compare the measured times: fio sleeps on a real machine, and never too short."""
    assert ours.measured_ms * 0.95 - 20 < theirs.measured_ms < ours.measured_ms * 1.5 + 100


def compare_counts(theirs: Issued, ours: Issued, *, drawn: bool) -> None:
    """Compare how many requests there are, of which size and direction."""
    if not drawn:
        assert ours.directions == theirs.directions
        assert ours.flushes == theirs.flushes
        assert Counter(size for *_, size in ours.requests) == Counter(size for *_, size in theirs.requests)
        return
    total = len(theirs.requests)
    assert len(ours.requests) == pytest.approx(total, rel=0.08)
    assert ours.flushes == pytest.approx(theirs.flushes, rel=0.25)
    kinds = {(op, size) for op, _, size in (*theirs.requests, *ours.requests)}
    for kind in kinds:
        theirs_of, ours_of = (
            sum((op, size) == kind for op, _, size in issued.requests) / len(issued.requests)
            for issued in (theirs, ours)
        )
        deviation = math.sqrt(2 * max(theirs_of, 1 / total) * (1 - min(theirs_of, 0.999)) / total)
        assert abs(theirs_of - ours_of) < 4 * deviation, kind


def exact(theirs: Issued, ours: Issued) -> None:
    assert ours.requests == theirs.requests


def covered(theirs: Issued, ours: Issued) -> None:
    """Require each block as often; the second pass begins where the first is through."""
    offsets = [Counter(offset for _, offset, _ in issued.requests) for issued in (theirs, ours)]
    assert offsets[0] == offsets[1]
    places = len(offsets[0])
    for issued in (theirs, ours):
        first = [offset for _, offset, _ in issued.requests[:places]]
        assert len(set(first)) == places
        assert places < 20 or first != sorted(first)


def drawn(theirs: Issued, ours: Issued) -> None:
    """Require the same grid and range, and as many requests in each eighth of it, but for chance."""
    for direction in theirs.directions:
        their_offsets, our_offsets = (
            [offset for offset, _ in issued.of(direction)] for issued in (theirs, ours)
        )
        low, high = min(their_offsets), max(their_offsets)
        span = high - low + 1
        assert min(our_offsets) == pytest.approx(low, abs=span / 20 + 1)
        assert max(our_offsets) == pytest.approx(high, abs=span / 12 + 1)
        assert math.gcd(*our_offsets) == math.gcd(*their_offsets) or {
            math.gcd(*our_offsets),
            math.gcd(*their_offsets),
        } == {0}
        follow = [
            sum(after - before == size for (before, size), (after, _) in pairwise(of)) / max(len(of) - 1, 1)
            for of in (theirs.of(direction), ours.of(direction))
        ]
        assert follow[0] == pytest.approx(follow[1], abs=0.08)
        counts = [
            Counter(min((offset - low) * 8 // span, 7) for offset in of if offset >= low)
            for of in (their_offsets, our_offsets)
        ]
        scale = len(our_offsets) / len(their_offsets)
        square = sum(
            (counts[0][bin_] * scale - counts[1][bin_]) ** 2
            / max(counts[0][bin_] * scale + counts[1][bin_], 1)
            for bin_ in range(8)
        )
        # Of runs instead of single draws, chance is larger.
        assert square < 30 / (1 - min(follow[0], 0.9)), square


def skewed(theirs: Issued, ours: Issued) -> None:
    """Require that the most frequent blocks have as large a share."""
    for share in (0.001, 0.01, 0.1, 0.2, 0.5):
        shares = []
        for issued in (theirs, ours):
            often = sorted(Counter(offset for _, offset, _ in issued.requests).values(), reverse=True)
            shares.append(sum(often[: max(1, int(1024 * share))]) / sum(often))
        assert shares[0] == pytest.approx(shares[1], abs=0.02), share


def in_order(theirs: Issued, ours: Issued) -> None:
    """Require that the requests of each direction follow each other from the same place on."""
    for direction in theirs.directions:
        for issued in (theirs, ours):
            rows = issued.of(direction)
            assert rows[0][0] == theirs.of(direction)[0][0]
            assert all(before + size == after for (before, size), (after, _) in pairwise(rows))


def period(issued: Issued) -> int:
    """Count the requests of a pass, where each repeats the first; where none does, all of them."""
    requests = issued.requests
    of_pass = (
        number
        for number, request in enumerate(requests)
        if number and request == requests[0] and requests[number:] == requests[:-number]
    )
    return next(of_pass, len(requests))


def same_passes(theirs: Issued, ours: Issued) -> tuple[Issued, Issued]:
    """Require that both repeat their passes, as many of them, and return the first of each."""
    assert period(theirs) < len(theirs.requests)
    one_size = len({size for *_, size in theirs.requests}) == 1
    assert period(ours) == pytest.approx(period(theirs), rel=0 if one_size else 0.08)
    assert len(ours.requests) == pytest.approx(len(theirs.requests), rel=0 if one_size else 0.08)
    return first_pass(theirs), first_pass(ours)


def first_pass(issued: Issued) -> Issued:
    return replace(issued, requests=issued.requests[: period(issued)])


def repeated(theirs: Issued, ours: Issued) -> None:
    """Require as many places of each direction in a pass."""
    for direction in theirs.directions:
        places = [len({offset for offset, _ in issued.of(direction)}) for issued in (theirs, ours)]
        assert places[0] == pytest.approx(places[1], rel=0.12)


def single(theirs: Issued, ours: Issued) -> None:
    """Require that nothing is repeated, and as many places."""
    assert period(theirs) == period(ours) == len(theirs.requests)
    repeated(theirs, ours)


def anew(theirs: Issued, ours: Issued) -> None:
    """Require passes of 256 requests, in each of which both directions begin at the file's beginning."""
    for issued in (theirs, ours):
        assert period(issued) == len(issued.requests) == 4 * 256
        for begin in range(0, 4 * 256, 256):
            of_pass = replace(issued, requests=issued.requests[begin : begin + 256])
            for direction in of_pass.directions:
                offsets = [offset for offset, _ in of_pass.of(direction)]
                assert offsets == [4096 * number for number in range(len(offsets))]


LAWS = {
    "repeated": repeated,
    "single": single,
    "anew": anew,
    "in order": in_order,
    "exact": exact,
    "covered": covered,
    "drawn": drawn,
    "skewed": skewed,
}


def test_every_option_that_is_equal_is_in_a_comparison() -> None:
    compared = {option for case in CASES.values() for option in case.options}
    equal = {name for name, entry in OPTIONS.items() if entry["is"] == "equal"}
    # That the rest of the jobs of a mixed file is not compared is no excuse: each is named in a file that is.
    assert equal - compared == set()


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_what_is_refused_is_named_with_what_to_do_instead(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    for name in (name for name, entry in OPTIONS.items() if entry["is"] == "refused"):
        wanted = 2 if "1" in OPTIONS[name].get("off", ()) else 1
        path.write_text(f"[a]\nrw=read\n{name}={wanted}\nsize=64k\n")
        with pytest.raises(ninescope.ConfigError) as refused:
            ninescope.Drive().run(ninescope.Workload.job_file(path))
        assert f"line 3: {name}: not supported; {OPTIONS[name]['instead']}" in str(refused.value)


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
@pytest.mark.parametrize(
    "text",
    [
        # Bytes end it, and do not end what wears the drive in.
        "rw=randwrite\nbssplit=4k/50:8k/50\nsize=8m\nnorandommap\n",
        "rw=randwrite\nbs=4k\nsize=8m\nloops=2\n",
        "rw=randrw\nbssplit=4k/50:8k/50,8k/100\nsize=8m\nloops=2\nnorandommap\n",
        "rw=randrw\nbs=4k\nsize=8m\nloops=2\nrate_iops=9000,4000\n",
    ],
)
def test_jobs_that_end_wear_a_drive_in_without_end(text: str, tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text(f"[a]\n{text}")
    drive = ninescope.Drive.from_file(ROOT / "examples/drives/demo.toml")
    result = drive.run(ninescope.Workload.job_file(path), prefill="steady")
    assert result.requests > 0


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_the_value_that_switches_an_option_off_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    for turn in range(max(len(entry.get("off", ())) for entry in OPTIONS.values())):
        off = {
            name: entry["off"][turn % len(entry["off"])] for name, entry in OPTIONS.items() if "off" in entry
        }
        path.write_text(
            "[a]\nrw=read\nsize=64k\n" + "".join(f"{name}={value}\n" for name, value in off.items())
        )
        result = ninescope.Drive().run(ninescope.Workload.job_file(path))
        assert result.requests == 16
        [note] = [note for note in result.notes if note.startswith("fio options that change nothing here: ")]
        assert set(note.split(": ")[1].split(", ")) == set(off)


@pytest.mark.skipif(not NATIVE, reason="the engine is not built")
def test_what_is_noted_is_noted_with_its_effect(tmp_path: Path) -> None:
    noted = {name: entry["effect"] for name, entry in OPTIONS.items() if entry["is"] == "noted"}
    path = tmp_path / "job.fio"
    values = {"rate_process": "linear", "sync": "dsync", "writefua": 1, "readfua": 1}
    notes: list[str] = []
    # Of two that exclude each other each has a file of its own.
    for other in ("rate", "rate_iops"):
        lines = "".join(f"{name}={values.get(name, 1000)}\n" for name in noted if name != other)
        path.write_text(f"[a]\nrw=read\nsize=64k\n{lines}")
        notes += ninescope.Drive().run(ninescope.Workload.job_file(path)).notes
    for name, effect in noted.items():
        assert any(name in note.split(":")[0].split(", ") and effect in note for note in notes), name


def test_the_table_in_the_docs_is_this_one() -> None:
    spec = importlib.util.spec_from_file_location("renew_fio_options", ROOT / "tools/renew_fio_options.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    text = (ROOT / "docs/jobs.md").read_text()
    assert tool.renewed(text) == text, "`make fio-docs` renews it"
