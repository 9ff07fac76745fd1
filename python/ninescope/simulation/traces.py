"""Traces: what is in one, one format from another, and Parquet; batch by batch, in constant memory."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ninescope import _native
from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.common.files import output_file
from ninescope.simulation.remarks import trace_remarks

if TYPE_CHECKING:
    from typing import BinaryIO

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

OPS = ("read", "write", "trim", "flush")
"""Operations in the order of their numbers in the engine."""
WRITTEN = ("msr", "mqsim", "fio", "parquet")
"""Formats that traces are written in."""
COLUMNS = ("submitted_ns", "op", "lba", "sectors")
"""What a Parquet file needs to be a trace."""
_ENDINGS = {".csv": "msr", ".mqsim": "mqsim", ".trace": "mqsim", ".iolog": "fio", ".parquet": "parquet"}
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_UNITS = {"msr": "100 ns", "fio": "1 us"}
_BATCH = 1 << 16
_PARQUET_MAGIC = b"PAR1"


_Batch = tuple["NDArray[np.uint64]", "NDArray[np.uint8]", "NDArray[np.uint64]", "NDArray[np.uint32]"]


class Conversion(NamedTuple):
    """What a conversion did."""

    format: str
    requests: int
    left_out: int
    """Requests of an operation that the format has no word for."""
    rounded: int
    """Requests whose time lost digits that the format's unit cannot hold."""
    health: dict[str, Any]
    """What the reader skipped and mended."""

    def remarks(self) -> Iterator[str]:
        """Say what did not come through as it was."""
        yield from trace_remarks({**self.health, "devices": 0})
        if self.left_out:
            yield f"{self.left_out:,} trims and flushes were left out: {self.format} has no words for them"
        if self.rounded:
            yield f"{self.rounded:,} times were cut to {_UNITS[self.format]}, the unit of {self.format}"
        if self.health.get("devices", 0) > 1:
            yield f"the trace's {self.health['devices']:,} volumes became one"


def target_format(path: str, to: str | None) -> tuple[str, str]:
    """Return the format and the compression of a trace that is to be written to `path`."""
    ending = Path(path).suffix.lower()
    compression = _COMPRESSIONS.get(ending, "none")
    if compression != "none":
        ending = Path(path).with_suffix("").suffix.lower()
    named = to if to is not None else _ENDINGS.get(ending)
    if named is None:
        raise ConfigError(
            f"{path!r} does not say which format is wanted: give --to msr, mqsim, fio or parquet"
        )
    if named not in WRITTEN:
        raise ConfigError(f"--to {named!r} is not a format that is written{did_you_mean(named, WRITTEN)}")
    if named == "parquet" and compression != "none":
        raise ConfigError(
            f"{path!r}: Parquet is compressed inside; leave the ending {Path(path).suffix} away"
        )
    return named, compression


class Batches(Protocol):
    """Requests in batches of columns: those of a trace, or drawn from a profile."""

    def next(self, limit: int) -> _Batch:
        """Return times [ns], operations by number, first sectors and counts of sectors; none at the end."""
        ...


class Written(NamedTuple):
    """What became of requests that were written."""

    requests: int
    left_out: int
    rounded: int


def convert(
    source: str | os.PathLike[str], target: str, *, to: str | None = None, **options: Any
) -> Conversion:
    """Write the trace in `source` to `target` ("-": standard output), in the format of its ending or `to`.

    `options` say how it is read: `format`, `columns`, `strict`, `trims`, `requests`, `time_scale`.
    """
    format, compression = target_format(target, to)  # noqa: A001
    if target != "-" and Path(target).exists() and os.path.samefile(source, target):
        raise ConfigError(f"{target}: the trace would be written over itself; give OUT another name")
    with as_trace(source, options) as (path, words):
        batches = _native.TraceBatches(os.fspath(path), json.dumps(words))
        written = write(batches, target, format, compression)
        return Conversion(format, *written, health=json.loads(batches.health_json()))


def write(batches: Batches, target: str, format: str, compression: str) -> Written:  # noqa: A002
    """Write requests to `target` ("-": standard output)."""
    if target != "-":
        with output_file(Path(target)) as temporary:
            return _write(batches, temporary, format, compression)
    if format != "parquet":
        return encode(batches, sys.stdout.buffer, format, compression)
    with tempfile.TemporaryDirectory(prefix="ninescope-") as directory:
        whole = Path(directory, "trace.parquet")
        done = _write(batches, whole, format, compression)
        with whole.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer, 1 << 20)
        return done


def _write(batches: Batches, path: Path, format: str, compression: str) -> Written:  # noqa: A002
    if format == "parquet":
        return Written(_write_parquet(batches, path), 0, 0)
    with path.open("wb") as file:
        return encode(batches, file, format, compression)


def encode(batches: Batches, file: BinaryIO, format: str, compression: str) -> Written:  # noqa: A002
    """Write requests as the text of a format."""
    encoder = _native.TraceEncoder(format, compression)
    for submitted, ops, lbas, sectors in _batches(batches):
        file.write(encoder.add(submitted, ops, lbas, sectors.astype("uint64")))
    report = json.loads(encoder.report_json())
    file.write(encoder.finish())
    file.flush()
    return Written(**report)


def _batches(batches: Batches) -> Iterator[_Batch]:
    while True:
        batch = batches.next(_BATCH)
        if not len(batch[0]):
            return
        yield batch


def _write_parquet(batches: Batches, path: Path) -> int:
    import numpy as np
    import polars as pl
    from polars.io.plugins import register_io_source

    names = np.array(OPS)
    schema = {"submitted_ns": pl.UInt64, "op": pl.String, "lba": pl.UInt64, "sectors": pl.UInt32}
    requests = 0
    failure: list[Exception] = []

    def frames(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, size: int | None
    ) -> Iterator[pl.DataFrame]:
        nonlocal requests
        try:
            for submitted, ops, lbas, sectors in _batches(batches):
                requests += len(submitted)
                values = (submitted, pl.Series(names[ops], dtype=pl.String), lbas, sectors)
                yield pl.DataFrame(dict(zip(schema, values, strict=True)), schema=schema)
        except ConfigError as error:
            # The table ends here and is thrown away: were this raised, polars would give it back in its own
            # words, while a thread of it still makes the file.
            failure.append(error)

    source = register_io_source(frames, schema=schema)
    source.sink_parquet(path, compression="zstd", row_group_size=_BATCH, engine="streaming")
    if failure:
        raise failure[0]
    return requests


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Say whether the file is Parquet, by its content."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_PARQUET_MAGIC)) == _PARQUET_MAGIC
    except OSError:  # whoever opens it next says so better
        return False


@contextlib.contextmanager
def as_trace(
    path: str | os.PathLike[str], options: Mapping[str, Any]
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Give a file that the engine reads, and how: the same one, or for Parquet a temporary copy."""
    if not is_parquet(path):
        yield Path(path), dict(options)
        return
    with tempfile.TemporaryDirectory(prefix="ninescope-") as directory:
        copy = copy_of_parquet(path, directory, options.get("columns"))
        try:
            yield copy.path, {**options, "columns": copy.columns}
        except ConfigError as error:  # the copy is gone when somebody reads this
            raise ConfigError(str(error).replace(os.fspath(copy.path), os.fspath(path))) from None


def trace_stat(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    columns: str | None = None,
    strict: bool = False,
    trims: bool = False,
    volume: Iterable[str] = (),
) -> dict[str, Any]:
    """Read a trace once and say what it contains.

    `columns` says what the columns of a text or of Parquet are, where their names do not. Discards are
    counted as requests with `trims`. `volume` names the volumes to look at, all by default.
    """
    options = {"format": format, "columns": columns, "strict": strict, "trims": trims, "volume": list(volume)}
    with as_trace(path, options) as (readable, words):
        stat: dict[str, Any] = json.loads(_native.trace_stat(os.fspath(readable), json.dumps(words)))
    if is_parquet(path):
        stat["format"] = "parquet"
    return stat


class TemporaryFolder:
    """A folder that lasts as long as somebody holds this."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="ninescope-")
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


class Copy(NamedTuple):
    """A copy of the requests of a Parquet file that the engine reads."""

    path: Path
    columns: str | None
    """What its columns are; None of rows."""


def copy_of_parquet(path: str | os.PathLike[str], directory: str, columns: str | None = None) -> Copy:
    """Write the requests of a Parquet file to a file that the engine reads.

    Those of ninescope's own columns become rows, with every operation and nanosecond. Of others, which say by
    their names what they are or are described by `columns`, a text is made of those that are read.
    """
    schema = _schema(path)
    if columns is None and all(column in schema for column in COLUMNS):
        return Copy(_rows_of(path, directory), None)
    return _text_of(path, directory, schema, columns)


def _text_of(
    path: str | os.PathLike[str], directory: str, schema: Mapping[str, pl.DataType], columns: str | None
) -> Copy:
    """Write the columns that are read below a line of all their names, the others' last."""
    import polars as pl

    name = os.fspath(path)
    # What has a type of times says its unit by that.
    times = [column for column, type_ in schema.items() if isinstance(type_, pl.Datetime | pl.Duration)]
    names = [f"{column}_ns" if column in times and columns is None else column for column in schema]
    if columns is not None:
        for column in times:
            said = rf"(^|,)time={re.escape(column)}(:\w+|\[\w+\])?(?=,|$)"
            columns = re.sub(said, rf"\1time={column}:ns", columns)
    try:
        description, places = _native.trace_columns(names, columns)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from None
    wanted = [list(schema)[place] for place in places]
    header = [*wanted, *(column for column in schema if column not in wanted)]
    copy = Path(directory, "parquet.csv.gz")
    rows = 0
    with _in_words(path), gzip.open(copy, "wb", compresslevel=1) as file:
        # A comma in a name would be two names, and only words stand in a remark.
        file.write(",".join(re.sub(r"[^\w.() -]", "_", column) for column in header).encode() + b"\n")
        for frame in _batches_of(path, wanted):
            rows += len(frame)
            shown = [_as_text(frame[column]) for column in wanted]
            file.write(pl.DataFrame(shown).write_csv(include_header=False).encode())
    if not rows:
        raise ConfigError(f"{name}: the trace is empty")
    return Copy(copy, description)


def _as_text(values: pl.Series) -> pl.Series:
    """Return a column as it stands in a text: numbers without exponents, times in nanoseconds."""
    import polars as pl

    if isinstance(values.dtype, pl.Datetime):
        return values.dt.timestamp("ns")
    if isinstance(values.dtype, pl.Duration):
        return values.dt.total_nanoseconds()
    if values.dtype.is_float():
        whole = values.cast(pl.Int64, strict=False)
        is_whole: bool = (whole.cast(values.dtype) == values).all()
        shown: pl.Series = whole if is_whole else values.round(9).cast(pl.Decimal(38, 9))
        return shown
    return values if values.dtype.is_numeric() or values.dtype == pl.Boolean else values.cast(pl.String)


def _rows_of(path: str | os.PathLike[str], directory: str) -> Path:
    """Write the requests of ninescope's own columns to rows."""
    copy = Path(directory, "parquet.rows.zst")
    encoder = _native.TraceEncoder("rows", "zstd")
    requests = 0
    with copy.open("wb") as file:
        for frame in _frames(path):
            columns = _columns(frame, os.fspath(path), requests)
            requests += len(frame)
            try:
                file.write(encoder.add(*columns))
            except ConfigError as error:
                raise ConfigError(f"{os.fspath(path)}: {error}") from None
        file.write(encoder.finish())
    if not requests:
        raise ConfigError(f"{os.fspath(path)}: the trace is empty")
    return copy


def _frames(path: str | os.PathLike[str]) -> Iterator[pl.DataFrame]:
    """Read ninescope's own columns in batches."""
    schema = _schema(path)
    for column in ("submitted_ns", "lba", "sectors"):
        if not schema[column].is_integer():
            raise ConfigError(
                f"{os.fspath(path)}: the column {column!r} holds {schema[column]}, not whole numbers"
            )
    yield from _batches_of(path, COLUMNS)


def _schema(path: str | os.PathLike[str]) -> pl.Schema:
    """Return the columns of a Parquet file and their types."""
    import polars as pl

    with _in_words(path):
        return pl.scan_parquet(Path(path), glob=False).collect_schema()


def _batches_of(path: str | os.PathLike[str], columns: Iterable[str]) -> Iterator[pl.DataFrame]:
    """Read columns in batches."""
    import polars as pl

    with _in_words(path):
        table = pl.scan_parquet(Path(path), glob=False).select(list(columns))
        yield from table.collect_batches(chunk_size=_BATCH, maintain_order=True)


@contextlib.contextmanager
def _in_words(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say what polars has against a file with the file's name, on one line."""
    import polars as pl

    name = os.fspath(path)
    try:
        yield
    except pl.exceptions.PolarsError as error:
        raise ConfigError(f"{name}: {str(error).partition(chr(10))[0]}") from error
    except OSError as error:
        raise ConfigError(f"{name}: {error.strerror or error}") from error


def _columns(frame: pl.DataFrame, name: str, before: int) -> tuple[NDArray[Any], ...]:
    """Return a batch as the engine takes it; refuse what is no request, and say in which row."""
    import polars as pl

    def refuse(wrong: pl.Series, what: str) -> None:
        if wrong.any():
            position = wrong.arg_max() or 0
            shown = frame.row(position, named=True)
            raise ConfigError(f"{name}: row {before + position + 1}: {what}: {shown}")

    for column in COLUMNS:
        refuse(frame[column].is_null(), f"{column} is missing")
    for column in ("submitted_ns", "lba", "sectors"):
        refuse(frame[column] < 0, f"{column} is negative")
    ops = frame["op"].cast(pl.String)
    refuse(~ops.is_in(OPS), f"op is none of {', '.join(OPS)}")
    numbers = [frame[column].cast(pl.UInt64).to_numpy() for column in ("submitted_ns", "lba", "sectors")]
    by_number = ops.replace_strict(OPS, range(len(OPS)), return_dtype=pl.UInt8).to_numpy()
    return numbers[0], by_number, numbers[1], numbers[2]
