"""`ninescope policies`: the algorithms that a drive's configuration can name."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ninescope.cli.common import one_of, print_pairs


def policies(
    registry: Annotated[str | None, typer.Argument(help="Only this registry.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the algorithms that a drive's configuration can name."""
    from ninescope import catalogue

    known = catalogue.policies()
    if registry is not None:
        known = {one_of("the registry", registry, tuple(known)): known.get(registry, [])}
    if json_:
        print(json.dumps({name: [policy._asdict() for policy in entries] for name, entries in known.items()}))
        return
    for index, (name, entries) in enumerate(known.items()):
        print(f"{chr(10) if index else ''}{name}")
        print_pairs([(f"  {policy.name}", policy.summary) for policy in entries])
