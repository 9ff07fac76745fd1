"""Traces of published formats whose bytes are made here, and tables with names of their own."""

from __future__ import annotations

import json
import struct
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

import ninescope
from conftest import NATIVE
from ninescope.lab.sweep.source import Source

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")

Row = tuple[int, str, int, int]
"""Seconds from the first request on, operation, first sector, sectors."""
ROWS: list[Row] = [
    (100 + index, ("read", "write")[index % 3 == 0], 64 * (index % 7) + 8, 8) for index in range(20)
]
LCS_MAGIC = 0x123456789ABCDEF0
GET, SET = 1, 3


def op_of(op: str) -> int:
    return GET if op == "read" else SET


def lcs(version: int, head: int) -> bytes:
    parts = [struct.pack("<QQ", LCS_MAGIC, version).ljust(head - 8, b"\0") + struct.pack("<Q", LCS_MAGIC)]
    for seconds, op, lba, sectors in ROWS:
        if version == 1:
            parts.append(struct.pack("<IQIq", seconds, lba, sectors * 512, -1))
        elif version == 2:
            parts.append(struct.pack("<IQIIq", seconds, lba, sectors * 512, op_of(op) | 5 << 8, -1))
        else:
            features = (0, 1, 2, 4, 8, 16)[version - 3]
            parts.append(struct.pack("<IQqIIq", seconds, lba, sectors * 512, op_of(op) | 5 << 8, 60, -1))
            parts.append(struct.pack(f"<{features}I", *range(features)))
    return b"".join(parts)


def records(layout: str, *fields: str) -> bytes:
    """Return a record for each row; a field is a name of a value or a number."""
    made = []
    for at, (seconds, op, lba, sectors) in enumerate(ROWS):
        values = {
            "time": seconds, "us": seconds * 1_000_000, "lba": lba, "bytes": sectors * 512, "op": op_of(op),
            "scsi": 0x28 if op == "read" else 0x2A, "next": at + 2, "key": lba // 8,
            "sizes": 40 << 22 | sectors * 512 - 40, "op_ttl": op_of(op) << 24 | 60,
            "value": sectors * 512 - 40,
        }  # fmt: skip
        made.append(struct.pack(layout, *(values[name] if name in values else int(name) for name in fields)))
    return b"".join(made)


def srt(version: int, order: str, head: bytes) -> bytes:
    made = [head]
    for seconds, op, lba, sectors in ROWS:
        numbers = [
            version << 16 | 1,
            seconds,
            0,
            1,
            2,
            sectors * 512,
            lba,
            0x1F00,
            7,
            8,
            int(op == "read"),
            9,
        ]
        numbers += [3] * (version == 4)
        made.append(struct.pack(f"{order}{len(numbers) + 1}I", 4 * len(numbers) + 4, *numbers))
    return b"".join(made)


HEAD = b'tracename\t= "cello";\ntracedate\t= "Sat Apr 18 00:00:00 1992";\n\x0c'
MD5 = "56f11b711d91a065a2b6458eca924523"
TEXTS = {
    "fiu": "".join(
        f"{seconds * 10**9} 7 x {lba} {sectors} {op[0].upper()} 6 0 {' '.join([MD5] * sectors)}\n"
        for seconds, op, lba, sectors in ROWS
    ),
    "srt-text": "# created  start   stop  bytes disk_offset(k) device#   lv#  thrid pid\n"
    + "".join(
        f"{seconds:9.6f} {1:6} {9:6} {sectors * 512:6} {op[0].upper()} {lba // 2:10} 1f04a000 null 0  77\n"
        for seconds, op, lba, sectors in ROWS
    ),
    "csv": "stamp;time_s;sectors;kind;START LBA\n"
    + "".join(f"x;{seconds};{sectors};{op};{lba}\n" for seconds, op, lba, sectors in ROWS),
}
FILES: dict[str, tuple[str, bytes]] = {
    **{
        f"lcs-{version}-{head}": ("lcs", lcs(version, head))
        for version in range(1, 9)
        for head in (1024, 8192)
    },
    "op-ns": ("oracleGeneralOpNS", records("<IQIBHq", "time", "lba", "bytes", "op", "7", "next")),
    "sys-twr": (
        "oracleSysTwrNS",
        records("<IQHIHHIq", "time", "key", "40", "value", "op", "1", "60", "next"),
    ),
    "twr": ("twr", records("<IQII", "time", "key", "sizes", "op_ttl")),
    "twr-ns": ("twrNS", records("<IQIIH", "time", "key", "sizes", "op_ttl", "3")),
    "standard": ("standardIQI", records("<IQI", "time", "lba", "bytes")),
    "vscsi2": ("vscsi2", records("<HHIIIQQQ", "scsi", "512", "1", "bytes", "1", "lba", "us", "9")),
    **{
        f"srt-{version}-{name}": ("srt", srt(version, order, head))
        for version in range(1, 5)
        for name, order, head in (("big", ">", HEAD), ("little", "<", b""))
    },
    **{name: (name, text.encode()) for name, text in TEXTS.items()},
}
READS_ALONE = ("lcs-1-1024", "lcs-1-8192", "standard")


def rows_of(cli, path: Path, *words: str) -> list[Row]:
    """Return what a trace holds, as a conversion to Parquet has it."""
    out = path.with_suffix(".out.parquet")
    code, _, err = cli("trace", "convert", path, out, "--strict", *words)
    assert code == 0, err
    frame = pl.read_parquet(out).with_columns(pl.col("submitted_ns") // 10**9)
    return [tuple(row) for row in frame.rows()]


@pytest.mark.parametrize("name", FILES)
def test_every_row_comes_back(cli, tmp_path, name):
    form, content = FILES[name]
    path = tmp_path / f"{name}.trace"
    path.write_bytes(content)
    # Keys are told apart by pages of their own, which are those of the rows here.
    expected = [
        (seconds - 100, "read" if name in READS_ALONE else op, lba // 8 * 8, sectors)
        for seconds, op, lba, sectors in ROWS
    ]
    words = ["--format", form] if form == "standardIQI" else []
    assert rows_of(cli, path, *words) == expected
    stat = json.loads(cli("trace", "stat", path, "--json", *words).out)
    assert stat["format"].partition(":")[0] == form
    assert stat["skipped_lines"] == (1 if form == "srt-text" else 0)
    if form not in ("fiu", "vscsi2"):
        said = json.loads(cli("run", path, "--json", "--closed-loop", *words).out)["notes"]
        assert [note for note in said if note.startswith("trace: ")] == [
            f"trace: {it}" for it in stat["remarks"]
        ]
        assert stat["remarks"]


@pytest.mark.parametrize("name", [name for name in FILES if name not in (*TEXTS, "standard")])
def test_what_is_cut_is_refused_with_its_record(cli, tmp_path, name):
    path = tmp_path / "cut.bin"
    path.write_bytes(FILES[name][1][:-3])
    code, _, err = cli("trace", "stat", path, "--strict", "--format", FILES[name][0])
    assert code == 2
    head = name.startswith("lcs") or "big" in name
    assert f"cut.bin: record {len(ROWS) + head}: the record is truncated" in err


@pytest.mark.parametrize("form", sorted({form for form, _ in FILES.values()} - {"csv"} | {"arc"}))
def test_garbage_is_refused_with_the_file_in_one_line(cli, tmp_path, form):
    path = tmp_path / "garbage.bin"
    path.write_bytes(bytes(range(255, -1, -1)) * 40)
    named = ("--format", form)
    # Any number may be the hash of a key, so that some of these records may be good.
    any_key = form in ("oracleSysTwrNS", "twr", "twrNS")
    for words in ((), (*named, "--strict"), *(() if any_key else (named,))):
        code, _, err = cli("run", path, *words)
        assert code == 2, err
        assert "garbage.bin" in err
        assert err.count("\n") == 1


def test_arc_has_neither_times_nor_operations(cli, tmp_path):
    path = tmp_path / "P6.lis"
    path.write_text("110765 64 0 0\n8 1 0 1\n")
    assert rows_of(cli, path) == [(0, "read", 110765, 64), (0, "read", 8, 1)]
    result = json.loads(cli("run", path, "--json").out)
    assert result["workload"]["format"] == "arc"
    assert any("no line has a time or an operation" in note for note in result["notes"])


def test_srt_of_version_7_is_refused_by_its_version(cli, tmp_path):
    path = tmp_path / "cello99.srt"
    path.write_bytes(srt(7, ">", HEAD))
    code, _, err = cli("trace", "stat", path)
    assert code == 2
    assert "of srt; 2 is broken: the version is unknown" in err


def test_columns_are_known_or_described_everywhere(cli, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("time_ns,op,lba_sector,sectors,note\n100,W,8,8,x\n150,read,16,1,y\n")
    code, out, err = cli("trace", "stat", path)
    assert code == 0, err
    assert "columns that are not read: note" in out
    assert "columns that are not read: note" in cli("check", path).out
    odd = tmp_path / "odd.csv"
    odd.write_text("ts,kind,lba,len\n5,0,16,2\n6,1,8,1\n")
    code, _, err = cli("run", odd)
    assert code == 2
    assert "odd.csv:1: the columns are `ts`, `kind`, `lba`, `len`" in err
    assert "--columns time=ts:UNIT,op=kind,offset=lba:512B,size=len:UNIT" in err
    words = "time=ts:us,op=kind,read=0,write=1,offset=lba:sector,size=len:4KiB"
    for verb in (("run", odd), ("check", odd), ("trace", "stat", odd), ("trace", "profile", odd)):
        code, _, err = cli(*verb, "--columns", words)
        assert code == 0, err
    assert rows_of(cli, odd, "--columns", words) == [(0, "read", 16, 16), (0, "write", 8, 8)]
    result = ninescope.Drive().run(ninescope.Workload.trace(odd, columns=words))
    assert result.requests == 2
    point = {"trace": "odd.csv", "columns": words}
    assert Source.of(point, tmp_path).words == {"columns": words}
    assert ninescope.trace_stat(odd, columns=words)["writes"] == 1
    jobs = tmp_path / "jobs.toml"
    jobs.write_text(f'[[traces]]\ntrace = "odd.csv"\ncolumns = "{words}"\n')
    assert cli("run", jobs).code == 0
    jobs.write_text('[[traces]]\ntrace = "odd.csv"\ncolumns = "time=ts:lightyears"\n')
    code, _, err = cli("run", jobs)
    assert code == 2
    assert "traces[0].columns: time: `lightyears` is no unit" in err
    assert "line 3" in err


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("time=ts:us", "columns: offset is missing"),
        ("time=ts:us,offset=lbq:sector,size=len:4KiB", "columns: offset: the first line has no column `lbq`"),
        ("offset=lba:parsec,size=len:4KiB", "columns: offset: `parsec` is no unit"),
        ("tine=ts:us,offset=lba:B,size=len:B", "columns: `tine` is not one of time, op"),
        ("", "columns: `` is not KEY=VALUE"),
    ],
)
def test_mistakes_in_columns_name_the_option_and_the_column(cli, tmp_path, columns, message):
    csv, parquet = tmp_path / "odd.csv", tmp_path / "odd.parquet"
    csv.write_text("ts,kind,lba,len\n5,0,16,2\n")
    pl.read_csv(csv).write_parquet(parquet)
    for path in (csv, parquet):
        for verb in (
            ("run", path),
            ("trace", "stat", path),
            ("trace", "convert", path, tmp_path / "out.csv"),
        ):
            code, _, err = cli(*verb, "--columns", columns)
            assert (code, message in err) == (2, True), err
    assert not (tmp_path / "out.csv").exists()


def table(**columns: object) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "time_us": [0, 1, 2],
            "rw": ["R", "w", "F"],
            "offset": [0, 4096, 0],
            "bytes": [512, 4096, 0],
            **columns,
        }
    )


def test_parquet_with_names_of_its_own_reads_as_csv_does(cli, tmp_path):
    path = tmp_path / "table.parquet"
    table(note=[1, 2, 3]).write_parquet(path)
    stat = ninescope.trace_stat(path)
    assert (stat["format"], stat["reads"], stat["writes"], stat["flushes"]) == ("parquet", 1, 1, 1)
    assert stat["remarks"] == ["columns that are not read: note"]
    table(note=[1, 2, 3]).write_csv(tmp_path / "table.csv")
    assert ninescope.trace_stat(tmp_path / "table.csv")["hash"] == stat["hash"]
    result = json.loads(cli("run", path, "--json").out)
    assert (result["workload"]["path"], result["workload"]["format"]) == ("table.parquet", "parquet")
    assert "trace: columns that are not read: note" in result["notes"]


@pytest.mark.parametrize(
    "times",
    [
        [datetime(2024, 1, 1) + timedelta(microseconds=us) for us in (0, 1, 2)],
        [timedelta(microseconds=us) for us in (0, 1, 2)],
    ],
)
def test_a_type_of_times_says_its_unit(tmp_path, times):
    path = tmp_path / "dated.parquet"
    table(time_us=times).rename({"time_us": "timestamp"}).write_parquet(path)
    assert ninescope.trace_stat(path)["duration_ns"] == 2000
    assert (
        ninescope.trace_stat(path, columns="time=timestamp,op=rw,offset=3:B,size=bytes")["duration_ns"]
        == 2000
    )


def test_floats_flags_and_categories_of_parquet_are_read(tmp_path):
    path = tmp_path / "odd.parquet"
    frame = pl.DataFrame(
        {
            "ts_s": [0.0, 0.25, 3e-9],
            "is_write": [True, False, True],
            "lba": [8.0, 16.0, 24.0],
            "sectors": [8, 8, 8],
            "disk": pl.Series(["a", "b", "a"], dtype=pl.Categorical),
        }
    )
    frame.write_parquet(path)
    stat = ninescope.trace_stat(path)
    assert (stat["writes"], stat["reads"], stat["duration_ns"]) == (2, 1, 250_000_000)
    assert [volume["name"] for volume in stat["volumes"]] == ["a", "b"]


def test_a_bad_row_of_parquet_is_named_with_the_file(cli, tmp_path):
    path = tmp_path / "bad.parquet"
    table(bytes=[512, None, 0]).write_parquet(path)
    code, _, err = cli("trace", "stat", path, "--strict")
    assert (code, "bad.parquet:3: the size is missing" in err) == (2, True), err


def test_a_cell_that_is_no_number_is_told_in_one_line(cli, tmp_path):
    path = tmp_path / "nan.parquet"
    table(offset=[0.0, float("nan"), 0.0]).write_parquet(path)
    assert ninescope.trace_stat(path)["broken_lines"] == 1
    code, _, err = cli("trace", "stat", path, "--strict")
    assert (code, "nan.parquet:3: the offset is missing" in err, err.count("\n")) == (2, True, 1), err
