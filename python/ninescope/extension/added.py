"""The policies that were added, and how their parameters are read."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ninescope import _native
from ninescope._native import ConfigError
from ninescope.common import catalogue
from ninescope.extension.kinds import KINDS, Policy

CODE = "code"
"""The parameter that names the program text of a policy: it tells results of two versions apart."""

Class = TypeVar("Class", bound=type[Policy])


class AddedPolicy(NamedTuple):
    """A policy that was added."""

    registry: str
    name: str
    class_: type[Policy]
    code: str
    """The first digits of the hash of its program text."""

    @property
    def summary(self) -> str:
        """The first line of what it says of itself."""
        return (inspect.getdoc(self.class_) or "").partition("\n")[0].rstrip(".")

    def parameters(self) -> dict[str, inspect.Parameter]:
        """Return the parameters of its `__init__`, by name."""
        if self.class_.__init__ is object.__init__:
            return {}
        _, *parameters = inspect.signature(self.class_.__init__).parameters.values()
        return {parameter.name: parameter for parameter in parameters}


_ADDED: dict[tuple[str, str], AddedPolicy] = {}


def added() -> list[AddedPolicy]:
    """List what was added so far."""
    return list(_ADDED.values())


def policies() -> dict[str, list[catalogue.Policy]]:
    """List the policies of each registry: those that are built in, then those that were added."""
    known = catalogue.policies()
    for entry in _ADDED.values():
        known[entry.registry].append(_described(entry))
    return known


def _described(entry: AddedPolicy) -> catalogue.Policy:
    parameters = (
        catalogue.Parameter(
            name=name,
            summary="a parameter of " + entry.class_.__name__,
            values=_words_of(one.annotation),
            default=None if one.default is one.empty else one.default,
            unit=None,
        )
        for name, one in entry.parameters().items()
    )
    return catalogue.Policy(entry.name, entry.summary, tuple(parameters))


def _words_of(annotation: Any) -> str:
    """Write an annotation as its author did; a module that postpones them has them as text."""
    if annotation is inspect.Parameter.empty:
        return "any"
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def policy(name: str) -> Callable[[Class], Class]:
    """Add a class under a name, at which drives have it; its base class says where.

    A class of the same name that comes later takes its place, as where a cell of a notebook is run again; a
    drive that was written by the one before is refused then (its `code` is another).
    """

    def add(class_: Class) -> Class:
        kind = next((kind for kind in KINDS if issubclass(class_, kind)), None)
        if kind is None:
            known = ", ".join(kind.__name__ for kind in KINDS)
            raise TypeError(f"policy({name!r}): {class_.__name__} is none of {known}")
        entry = AddedPolicy(kind.registry, name, class_, _code_of(class_))
        if CODE in entry.parameters():
            raise TypeError(f"policy({name!r}): {CODE!r} is taken, a parameter needs another name")
        _native.add_policy(kind.registry, name, partial(_read, kind.registry, name))
        _ADDED[kind.registry, name] = entry
        return class_

    return add


def _code_of(class_: type) -> str:
    """Name the program text of a class: that of its file, or of the class itself, or else what it does."""
    hashed = hashlib.sha256()
    try:
        file = inspect.getsourcefile(class_)
        text = Path(file).read_text() if file and Path(file).is_file() else inspect.getsource(class_)
        hashed.update(text.encode())
    except (OSError, TypeError):
        for key, value in sorted(vars(class_).items()):
            code = getattr(value, "__code__", None)
            hashed.update(f"{key} {value if code is None else ''}".encode())
            if code is not None:
                hashed.update(code.co_code + repr((code.co_names, code.co_consts)).encode())
    return hashed.hexdigest()[:12]


def _read(registry: str, name: str, table: str) -> tuple[str, Callable[..., Policy]]:
    """Read the parameters of a policy: all of them as JSON, and what makes the policy by them."""
    entry = _ADDED[registry, name]
    told = json.loads(table)
    code = told.pop(CODE, entry.code)
    if code != entry.code:
        raise ConfigError(f"{CODE} is {code!r}, and the policy {name!r} of this program has {entry.code!r}")
    arguments = _arguments(entry, told)
    make = partial(_make, entry.class_, arguments)
    make()  # whatever it finds wrong is found where it is read
    return json.dumps(arguments | {CODE: entry.code}), make


def _arguments(entry: AddedPolicy, told: Mapping[str, Any]) -> dict[str, Any]:
    parameters = entry.parameters()
    for key in told:
        if key not in parameters:
            raise ConfigError(f"unknown field `{key}`{catalogue.did_you_mean(key, parameters)}")
    missing = [name for name, one in parameters.items() if one.default is one.empty and name not in told]
    if missing:
        raise ConfigError(f"missing field `{missing[0]}`")
    return {name: told.get(name, one.default) for name, one in parameters.items()}


def _make(class_: type[Policy], arguments: Mapping[str, Any], /, **facts: Any) -> Policy:
    """Make a policy; tell it of its drive where there is one."""
    try:
        made = class_(**arguments)
    except (TypeError, ValueError) as error:
        raise ConfigError(str(error)) from error
    if facts:
        made.begin(**facts)
    return made
