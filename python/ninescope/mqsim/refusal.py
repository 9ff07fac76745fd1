"""What the engine refuses of an imported drive, in terms of MQSim's file: its own is never written then."""

from __future__ import annotations

import re

from ninescope._native import ConfigError
from ninescope.mqsim.report import Drive

_KEY = re.compile(r"\b[a-z]\w*(?:\.\w+)+\b")
_TAG = re.compile(r"\b[A-Z]\w+")
_OF_FILE = "\n  at line "
"""What follows tells of lines of the drive's text."""


def in_mqsims_terms(error: ConfigError, config: str, drive: Drive) -> ConfigError:
    """Name lines and tags of MQSim's file that the keys of an error come from."""
    problem = str(error).partition(_OF_FILE)[0].removeprefix("drive: ")
    origins = {
        tag: f"line {drive.tags[tag][0]}: <{tag}> {drive.tags[tag][1]} becomes {key}"
        for key in dict.fromkeys(_KEY.findall(problem))
        for tag in _TAG.findall(drive.sources.get(key, ""))
        if tag in drive.tags
    }
    return ConfigError(f"{config}: {', '.join(origins.values()) or 'the drive'}: {problem}")
