"""What identifies a run: hashes of what the device did, of its workload and of its configuration."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def of_run(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what identifies a run, from its result document."""
    workload = document["workload"]
    return {
        "digest": document["digest"],
        # Of a trace the engine hashes the requests. Those of a job follow from its words and the seed.
        "workload": workload["hash"] or _hash({**workload, "path": None, "seed": document["seed"]}),
        "config": _hash(document["config"]),
        "requests": document["requests"],
    }


def _hash(words: Any) -> str:
    return hashlib.sha256(json.dumps(words, sort_keys=True).encode()).hexdigest()[:16]
