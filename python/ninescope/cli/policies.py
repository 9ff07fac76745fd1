"""`ninescope policies`: the algorithms that a drive's configuration can name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from ninescope.cli.common import one_of, print_pairs

if TYPE_CHECKING:
    from ninescope.common.catalogue import Parameter, Policy


_SHOWN = 40
"""Letters of a default that are shown."""


def policies(
    registry: Annotated[str | None, typer.Argument(help="Only this registry.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the algorithms that a drive's configuration can name, with what each can be told."""
    from ninescope import extension

    extension.load()
    known = extension.policies()
    if registry is not None:
        known = {one_of("the registry", registry, tuple(known)): known.get(registry, [])}
    if json_:
        print(json.dumps({name: [_as_json(policy) for policy in entries] for name, entries in known.items()}))
        return
    for index, (name, entries) in enumerate(known.items()):
        print(f"{chr(10) if index else ''}{name}")
        rows = []
        for policy in entries:
            rows.append((f"  {policy.name}", policy.summary))
            rows += [(f"    {parameter.name}", _told(parameter)) for parameter in policy.parameters]
        print_pairs(rows)


def _as_json(policy: Policy) -> dict[str, object]:
    return {**policy._asdict(), "parameters": [parameter._asdict() for parameter in policy.parameters]}


def _told(parameter: Parameter) -> str:
    """Say what a parameter means, what it may be and what it is otherwise."""
    default = parameter.default
    if default is None:
        otherwise = "left out"
    elif isinstance(default, str):
        otherwise = default
    elif isinstance(default, dict) and "policy" in default:
        otherwise = str(default["policy"])
    else:
        otherwise = json.dumps(default)
    if len(otherwise) > _SHOWN:
        otherwise = "as `ninescope policies --json` lists it"
    # Times and sizes say their units themselves.
    unit = (
        f" [{parameter.unit}]" if parameter.unit and not parameter.values.endswith(("time", "size")) else ""
    )
    return f"{parameter.summary}: {parameter.values}{unit}, by default {otherwise}"
