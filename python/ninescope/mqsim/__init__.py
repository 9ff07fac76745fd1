"""Configurations of MQSim as drives and jobs.

`document` reads the XML; `settings` knows what becomes of each setting, `drive` and `workload` carry over
those that are, `pieces` measures how much of a page writes have, `report` keeps account, `refusal` says which
tags made a drive that the engine refuses; here the two files are put together and written.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import shlex
from pathlib import Path

from ninescope import _native, toml
from ninescope.common.files import output_directory, written_whole
from ninescope.mqsim import resources
from ninescope.mqsim.drive import read_drive
from ninescope.mqsim.memory import OfFlow, Written
from ninescope.mqsim.refusal import in_mqsims_terms
from ninescope.mqsim.report import FETCHED_MAX, Drive, Left, Part
from ninescope.mqsim.settings import CARRIED, GROUPS
from ninescope.mqsim.workload import (
    Flow,
    give_buffer,
    give_classes,
    give_planes,
    in_order,
    place_trace,
    prepare,
    read_flows,
    settle,
    share_drive,
)


@dataclasses.dataclass(frozen=True)
class Imported:
    """An ssdconfig.xml and a workload.xml, converted."""

    config: str
    workload: str
    drive: Drive
    flows: list[Flow]
    rest: list[Left]
    """What is left of the workload outside its flows."""

    def files(self) -> dict[str, str]:
        """Name the files and their text."""
        texts = {"drive.toml": self._drive_text()}
        for name, flows in self._runs():
            if name is not None:
                texts[name] = _jobs_text(flows)
        return texts

    def commands(self, directory: str) -> list[str]:
        """Say how the flows are run."""
        drive = str(Path(directory, "drive.toml"))
        commands = []
        for name, flows in self._runs():
            what = str(flows[0].trace if name is None else Path(directory, name))
            reads = any(flow.reads for flow in flows)
            fill = "footprint" if self.drive.is_prepared else "full" if reads else "none"
            prefill = [] if name is None else ["--prefill", fill]
            in_parts = name is not None and any(flow.is_touched_in_parts() for flow in flows)
            if in_parts and self.drive.starts_empty:
                # A page that is read has its place there from then on: neighbours lie anywhere.
                prefill += ["--prefill-order", "random"]
            options = flows[0].replay_options() if name is None else flows[0].options
            words = ["ninescope", "run", what, "--drive", drive, *options, *prefill]
            commands.append(shlex.join(words))
        return commands

    def _runs(self) -> list[tuple[str | None, list[Flow]]]:
        """List what runs by itself: flows with the name of their file; none: a trace."""
        alone = self.flows[0] if len(self.flows) == 1 else None
        return [(None if alone and alone.trace else "job.toml", in_order(self.flows))]

    def not_carried(self) -> list[tuple[str, Left]]:
        """List every setting that was not carried over, with its file."""
        listed = [(self.config, left) for left in self.drive.left]
        for flow in self.flows:
            listed += [(self.workload, left) for left in flow.left]
        listed += [(self.workload, left) for left in self.rest]
        return list(dict.fromkeys(listed))

    def counts(self) -> dict[str, int]:
        """Count the settings by what became of them."""
        counted = collections.Counter(left.group for _, left in self.not_carried())
        counted[CARRIED] = len(self.drive.carried) + len({tag for flow in self.flows for tag in flow.carried})
        return {group: counted[group] for group in GROUPS}

    def notes(self) -> list[str]:
        """Say what parts of the drive flows keep to in the file and not here: it changes what is measured."""
        notes: dict[str, list[tuple[str, str]]] = {}
        for flow in self.flows:
            for left in flow.left:
                if left.tag in resources.TAGS:
                    notes.setdefault(left.why, []).append((flow.name, left.tag))
        traces = ", ".join(flow.name for flow in self.flows if flow.trace)
        wrap = f"{traces}: a trace wraps at the drive's end, and so reaches into the parts of those behind it"
        return [
            f"{', '.join(dict(found))}: {', '.join(sorted({tag for _, tag in found}))} not kept to: {why}"
            for why, found in notes.items()
        ] + [wrap] * ("," in traces)

    def as_mqsim(self) -> list[tuple[str, str]]:
        """List what does what MQSim does and hardware does not: key and source."""
        sources = [source for part in (self.drive, *self.flows) for source in part.sources.items()]
        return [(key, source) for key, source in sources if "--as mqsim" in source]

    def document(self, directory: str) -> dict[str, object]:
        """Give the whole report as one JSON value."""
        parts: dict[str, Part] = {"drive.toml": self.drive}
        parts |= {flow.name: flow for flow in self.flows}
        return {
            "files": list(self.files()),
            "commands": self.commands(directory),
            "notes": self.notes(),
            "carried": {name: part.sources for name, part in parts.items()},
            "counts": {GROUPS[group]: count for group, count in self.counts().items()},
            "not_carried": [
                {"file": file, **dataclasses.asdict(left), "group": GROUPS[left.group]}
                for file, left in self.not_carried()
            ],
        }

    def _drive_text(self) -> str:
        table = dict(self.drive.table)
        table["sources"] = {key: f"MQSim: {source}" for key, source in self.drive.sources.items()}
        text = toml.dumps(table)
        anything = {"job": {"rw": "read", "requests": 1}}
        try:
            # Before anything is written.
            _native.check_run(json.dumps({"drive": {"toml": text}, "workload": anything}))
        except _native.ConfigError as error:
            raise in_mqsims_terms(error, self.config, self.drive) from None
        return text + _comments([left for file, left in self.not_carried() if file == self.config])


def _jobs_text(flows: list[Flow]) -> str:
    heads = ["[[traces]]\n" if flow.trace else "[[jobs]]\n" if len(flows) > 1 else "" for flow in flows]
    return "\n".join(
        head + toml.dumps(flow.table) + _comments(flow.left) for head, flow in zip(heads, flows, strict=True)
    )


def _comments(left: list[Left]) -> str:
    """List settings that were not carried over, by group."""
    text = "\n# Not carried over from MQSim\n" if left else ""
    for group, words in GROUPS.items():
        lines = [f"#   {item.tag} = {item.value}: {item.why}" for item in left if item.group == group]
        if lines:
            text += "\n".join((f"# {words}:", *(line.replace("\n", " ") for line in lines))) + "\n"
    return text


def convert(
    config: str,
    workload: str,
    *,
    scenario: int = 1,
    one_command_per_chip: bool = False,
    as_mqsim: bool = False,
    trace: str | None = None,
) -> Imported:
    """Convert the two files of MQSim. A ConfigError names file, line and tag.

    With `as_mqsim` the drive does what MQSim does, where that is not what the file says or hardware does:
    one command at a time in a chip, and data of reads before commands on a channel. `trace` is the one that
    a flow replays, where it does not lie where the file says.
    """
    flows, rest = read_flows(workload, scenario, as_mqsim=as_mqsim, trace=trace)
    sizes = [flow.request_bytes for flow in flows]
    same = sizes[0] if len(set(sizes)) == 1 else None
    cached = {flow.write_cached for flow in flows}
    reads_cached = {flow.reads_cached for flow in flows}
    if len(reads_cached) > 1 and not as_mqsim:
        rest.append(
            Left("Device_Level_Data_Caching_Mode", "differs by flow", "the reads of all are cached, or none")
        )
    through = [flow for flow in flows if flow.write_cached] or flows
    drive = read_drive(
        config,
        page_bytes=same,
        cached=True in cached,
        reads_cached=True in reads_cached,
        one_command_per_chip=one_command_per_chip or as_mqsim,
        as_mqsim=as_mqsim,
        flows=len(flows),
        traces=any(flow.trace for flow in flows),
        written=Written(
            [_of_flow(flow) for flow in flows],
            lambda page: _sectors_of_page(through, page),
            lambda: _sizes_written(through),
        ),
    )
    _keep_queues(flows, drive)
    give_buffer(flows, drive)
    prepare(flows, drive)
    _settle(in_order(flows), drive)
    return Imported(config, workload, drive, flows, rest)


def _keep_queues(flows: list[Flow], drive: Drive) -> None:
    """Let commands that are not fetched wait in the queues, where a flow has more than are let in."""
    if drive.fetched_of_each >= FETCHED_MAX:
        return
    # What comes by a rate or by the times of a trace has no depth.
    deepest = max((flow.table.get("iodepth", drive.fetched_of_each + 1) for flow in flows), default=1)
    if deepest > drive.fetched_of_each and (len(flows) > 1 or "iodepth" in flows[0].table):
        why = "Queue_Fetch_Size, IO_Queue_Depth: so many of a flow are let in, others wait in its queue"
        drive.put("controller.commands_per_queue", drive.fetched_of_each, why)


def _of_flow(flow: Flow) -> OfFlow | None:
    if flow.writes() == 0:
        return None
    return OfFlow(flow.write_cached, flow.sectors_of_writes, flow.pages_under_way)


def _writes_of(flows: list[Flow]) -> list[float]:
    """Return how often each flow writes, where that is known of all; else all alike."""
    counts = [flow.writes() for flow in flows]
    known = [count for count in counts if count is not None]
    return known if len(known) == len(flows) and any(known) else [1.0] * len(flows)


def _sectors_of_page(flows: list[Flow], page: int) -> float:
    """Return how many sectors of a page of so many a write has, in the mean of all pages that are written."""
    written = [
        (writes * flow.mean_written(page), flow.sectors_of_writes(page))
        for flow, writes in zip(flows, _writes_of(flows), strict=True)
    ]
    return sum(moved for moved, _ in written) / sum(moved / of_page for moved, of_page in written)


def _sizes_written(flows: list[Flow]) -> dict[int, float]:
    """Return the shares of writes of so many sectors."""
    found: collections.Counter[int] = collections.Counter()
    for flow, writes in zip(flows, _writes_of(flows), strict=True):
        found.update({sectors: writes * share for sectors, share in flow.sizes_written().items()})
    return dict(found)


def _settle(flows: list[Flow], drive: Drive) -> None:
    """Give the flows of one run what they have of the drive, and account for all that is said of them."""
    apart = give_planes(flows, drive.resources, drive.table)
    give_classes(flows, drive)
    page = int(drive.table["geometry"]["page_size"].removesuffix("B"))
    for flow in flows:
        if len(flows) == 1:
            _size(flow, drive)
        elif flow.trace is not None:
            place_trace(flow, flows, _capacity(drive), page)
        else:
            share_drive(flow, flows, _spared(flow, drive) if apart else 0.0)
        settle(flow)


def _size(flow: Flow, drive: Part) -> None:
    """Give a job that works on a part of the drive the size of that part."""
    share = flow.share * flow.working_set
    if flow.trace is not None or share == 1.0:
        return
    part = int(_capacity(drive) * share)
    grain = max(4096, flow.request_size)
    flow.put(
        "size", f"{max(grain, part // grain * grain)}B", "Working_Set_Percentage of the drive's capacity"
    )


def _capacity(drive: Part) -> float:
    """Return what the host sees of a drive [B]."""
    geometry = drive.table["geometry"]
    raw = int(geometry["page_size"].removesuffix("B"))
    for key in (
        "channels",
        "packages_per_channel",
        "dies_per_package",
        "planes_per_die",
        "blocks_per_plane",
        "pages_per_block",
    ):
        raw *= geometry[key]
    return float(raw / (1 + drive.table["ftl"]["over_provisioning"]))


def _spared(flow: Flow, drive: Part) -> float:
    """Return the share of a drive that two pages and requests of a flow take."""
    page = int(drive.table["geometry"]["page_size"].removesuffix("B"))
    return 2 * (page + flow.request_size) / _capacity(drive)


def save(imported: Imported, directory: Path) -> None:
    """Write the files, each whole, once all of them are known to be good."""
    texts = imported.files()
    with output_directory(directory):
        for name, text in texts.items():
            with written_whole(directory / name) as temporary:
                temporary.write_text(text, encoding="utf-8")
