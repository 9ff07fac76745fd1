"""Workloads: what the drive is asked to do."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ninescope.common.numbers import whole


@dataclasses.dataclass(frozen=True)
class Workload:
    """A trace to replay or a synthetic job; words that neither has are refused where they are given."""

    words: Mapping[str, Any]
    _holds: object = dataclasses.field(default=None, repr=False, compare=False)
    """What has to live as long as this does: the folder of a temporary copy."""

    @classmethod
    def trace(
        cls,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002
        columns: str | None = None,
        strict: bool = False,
        loop: int = 1,
        time_scale: float = 1.0,
        closed_loop: bool = False,
        iodepth: int | None = None,
        trims: bool = False,
        volume: str | Iterable[str] = (),
        volumes: str = "in-order",
        addresses: str | None = None,
        host_cache: str | os.PathLike[str] | None = None,
        zone_log: str | os.PathLike[str] | None = None,
        stream: int = 0,
    ) -> Workload:
        """Replay a trace file (plain, gzip, zstd, bzip2 or xz; Parquet).

        `format` is recognised from the content when it is None. `columns` says what the columns of a text or
        of Parquet are where their names do not: "time=ts:us,op=kind,offset=lba:sector,size=len:B".
        `strict` refuses what is otherwise skipped and counted. `loop` replays it so many times; `time_scale`
        stretches its time stamps; `closed_loop` ignores them and keeps `iodepth` requests in flight (by
        default as many as the drive takes).

        `trims` replays discards too. `volume` names the volume or the volumes to replay, all by default;
        `volumes` says where they lie: "in-order" (one after the other), "merge" (all at zero) or
        "map:NAME=OFFSET;NAME=OFFSET".
        `addresses` says what becomes of addresses beyond the drive: "refuse", "wrap" (modulo its size) or
        "compact" (what is touched is put next to each other). None refuses them too, unless the drive is
        sized to the trace and no drive is large enough: then it is "compact", and the result says so.

        `host_cache` names a TOML file with a table `[host_cache]`: the trace is that of a disk, and the drive
        a cache in front of it. `zone_log` names one with a table `[zone_log]`: a log on the zones of the
        drive, to which the requests go. `stream` is the number of the stream that the host names for writes
        (a placement handle) of which the trace itself names none.
        """
        if not (math.isfinite(time_scale) and time_scale > 0):
            from ninescope._native import ConfigError

            raise ConfigError(f"time_scale: {time_scale} is not a number greater than 0")
        words = {
            "trace": os.fspath(path),
            "format": format,
            "columns": columns,
            "strict": strict,
            "loop": whole(loop),
            "time_scale": time_scale,
            "closed_loop": closed_loop,
            "iodepth": whole(iodepth),
            "trims": trims,
            "volume": [volume] if isinstance(volume, str) else list(volume),
            "volumes": volumes,
            "addresses": addresses,
            "host_cache": None if host_cache is None else os.fspath(host_cache),
            "zone_log": None if zone_log is None else os.fspath(zone_log),
            "stream": whole(stream),
        }
        return cls._of_trace(Path(path), words)

    @classmethod
    def _of_trace(cls, path: Path, words: dict[str, Any]) -> Workload:
        """Look at a trace and at its words; a Parquet file is copied to one that the engine reads."""
        from ninescope.common.files import existing
        from ninescope.common.written import refuse_as_workload
        from ninescope.simulation.traces import TemporaryFolder, copy_of_parquet, is_parquet

        if words["format"] is None and words["columns"] is None:
            refuse_as_workload(path)
        existing(os.fspath(path), "trace")
        # Without its content, which is read when it is run: of nothing only the words can be wrong.
        _refuse_words(
            {**words, "trace": os.devnull}, of=("workload.", "format:", "columns:", "volumes", "loop:")
        )
        if not is_parquet(path):
            return cls(words)
        folder = TemporaryFolder()
        copy = copy_of_parquet(path, folder.path, words["columns"])
        words |= {"trace": os.fspath(copy.path), "columns": copy.columns}
        return cls({**words, "name": os.path.basename(path), "copied_from": "parquet"}, folder)

    @classmethod
    def job(cls, **words: object) -> Workload:
        """Make requests in fio's words: `job(rw="randread", bs="4k", iodepth=32, requests=1_000_000)`."""
        return cls._looked_at({"job": _in_whole(words)})

    @classmethod
    def jobs(cls, *jobs: Mapping[str, object]) -> Workload:
        """Run several jobs at the same time, each with a `name`: `jobs({"name": "a", "rw": "read"}, ...)`."""
        return cls._looked_at({"job": [_in_whole(job) for job in jobs]})

    @classmethod
    def profile(
        cls,
        profile: str | os.PathLike[str],
        *,
        requests: int | float | None = None,
        seed: int = 1,
        **replay: Any,
    ) -> Workload:
        """Draw a trace from a profile (a shipped one by its name, or a file), and replay it.

        As many requests are drawn as `requests` says, or as the original had. `replay` are words of `trace`.
        """
        from ninescope.simulation.profiles import draw_rows
        from ninescope.simulation.traces import TemporaryFolder

        folder = TemporaryFolder()
        path = Path(folder.path, "drawn.rows.zst")
        drawn = draw_rows(profile, path, requests=whole(requests), seed=seed)
        words = cls.trace(path, **{**replay, "trims": True}).words
        return cls({**words, "name": f"{drawn.name} ({drawn.label})", "copied_from": "profile"}, folder)

    @classmethod
    def job_file(cls, path: str | os.PathLike[str]) -> Workload:
        """Read jobs from a TOML file, or from a job file of fio (`.fio`)."""
        from ninescope.common import kinds
        from ninescope.common.files import existing

        given = existing(os.fspath(path), "job file")
        if given.endswith(".toml"):
            kinds.refuse_others(given, kinds.JOB)
            kinds.refuse_a_list_called_job(given)
        return cls._looked_at({"job_file": given})

    @classmethod
    def preset(cls, name: str) -> Workload:
        """Take a job that comes with ninescope: `preset("varmail")`."""
        return cls._looked_at({"preset": name})

    def remarks(self) -> list[str]:
        """Say which of its words say nothing beside the others."""
        from ninescope.simulation.remarks import file_remarks, jobs_remarks, replay_remarks

        if "trace" in self.words:
            return list(replay_remarks(self.words))
        file = self.words.get("job_file")
        return list(file_remarks(str(file)) if file else jobs_remarks(self.words.get("job") or {}, "jobs"))

    @classmethod
    def _looked_at(cls, words: Mapping[str, Any]) -> Workload:
        """Return a job if it can be read; whether a drive has room for it is seen when it is run."""
        _refuse_words(words, of=("job", "preset", str(words.get("job_file", "job"))))
        return cls(words)


def _in_whole(job: Mapping[str, object]) -> dict[str, object]:
    return {key: whole(value) for key, value in job.items()}


def _refuse_words(words: Mapping[str, Any], *, of: tuple[str, ...]) -> None:
    """Refuse what the engine has against a workload itself, whose messages begin so, on any drive."""
    from ninescope import _native

    try:
        # When it ends may still be said where it is run.
        _native.check_run(json.dumps({"workload": dict(words), "requests": 1}))
    except _native.ConfigError as error:
        # What a drive has no room for another one may have. Names that are expected are none of a drive.
        said = str(error).partition(", expected one of ")[0]
        if said.startswith(of) and "drive" not in said:
            raise
