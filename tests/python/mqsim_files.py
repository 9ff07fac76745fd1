"""The two files of MQSim with other values than the usual ones, and what becomes of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

DEFAULTS = Path(__file__).parent / "mqsim_defaults"
FILES = ("ssdconfig.xml", "workload.xml")
FLOW = "IO_Flow_Parameter_Set"


def names(text: str) -> list[str]:
    return re.findall(r"<(\w+)>[^<\n]+</", text)


def changed(folder: Path, values: dict[str, str], section: str = "") -> tuple[str, str]:
    """Write the two files with other values, of Seed that of the section."""
    folder.mkdir(exist_ok=True)
    for file in FILES:
        text = (DEFAULTS / file).read_text()
        for name, value in values.items():
            elsewhere = name == "Seed" and (file == "workload.xml") != section.startswith(FLOW)
            if not elsewhere:
                text = re.sub(rf"<{name}>[^<]*</{name}>", f"<{name}>{value}</{name}>", text)
        (folder / file).write_text(text)
    return str(folder / FILES[0]), str(folder / FILES[1])


def alone(files: tuple[str, str], section: str) -> tuple[str, str]:
    """Leave one flow: that of the section, or the synthetic one."""
    path = Path(files[1])
    text = path.read_text()
    begin, middle = text.index("\t\t<IO_Flow_Parameter_Set_S"), text.index("\t\t<IO_Flow_Parameter_Set_T")
    end = text.index("\t</IO_Scenario>")
    traced = section == f"{FLOW}_Trace_Based"
    path.write_text(text[:begin] + (text[middle:end] if traced else text[begin:middle]) + text[end:])
    return files


def outcome(files: tuple[str, str], *, as_mqsim: bool) -> tuple[Any, Any]:
    """Return what was made of two files, and what was said of each setting that was not carried over."""
    from ninescope import mqsim

    imported = mqsim.convert(*files, as_mqsim=as_mqsim)
    imported.files()
    made = (imported.drive.table, [flow.table for flow in imported.flows], imported.commands("out"))
    return made, [(left.tag, left.value, left.group) for _, left in imported.not_carried()]


def run_as_mqsim(cli: Callable[..., tuple[int, str, str]], files: tuple[str, str], folder: Path) -> Any:
    """Import two files as MQSim has them into a folder and run what that says; return the result."""
    code, out, err = cli("import", "mqsim", *files, "--as", "mqsim", "--out", folder, "--json")
    assert code == 0, err
    code, out, err = cli(*json.loads(out)["commands"][0].split()[1:], "--json")
    assert code == 0, err
    return json.loads(out)


def mean_latency(result: Mapping[str, Any]) -> float:
    """Return the mean over reads and writes of a result, or of one of its jobs [us]."""
    sides = [side for side in result["latency"].values() if side and side.get("count")]
    return sum(side["count"] * side["mean_ns"] for side in sides) / sum(side["count"] for side in sides) / 1e3
