"""What a run was made on: processor, system, and the state of the checkout. No result depends on it."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path


def description() -> str:
    """Return processor, number of processors, and system."""
    return f"{_processor()}, {os.cpu_count()} processors, {platform.system()} {platform.machine()}"


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or "a processor of unknown make"
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else "a processor of unknown make"


def commit(folder: Path) -> str:
    """Return the commit of the checkout that a folder lies in, and whether it was changed since."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(folder), *words]  # whichever git the user has
        found = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        return found.stdout.strip() if found.returncode == 0 else ""

    try:
        name = git("rev-parse", "--short=12", "HEAD")
        return f"{name}, with changes" if name and git("status", "--porcelain") else name
    except OSError:
        return ""
