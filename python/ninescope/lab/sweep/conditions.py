"""Conditions: expressions over the keys of a point, as `ftl.over_provisioning < 0.1 and workload == "oltp"`.

They are written in the part of Python's grammar that compares and combines; nothing is called or executed.
Quantities are compared by what they say: "1ms" is more than "900us".
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

from ninescope._native import ConfigError
from ninescope.common.catalogue import did_you_mean
from ninescope.lab.sweep.values import quantity

_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_CONSTANTS: Mapping[str, Any] = {"true": True, "false": False}


class Condition:
    """An expression over keys, read once."""

    def __init__(self, text: str) -> None:
        """ConfigErrors say what is wrong with the expression."""
        self.text = text
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            raise ConfigError(f"{text!r} is no expression") from None
        self.keys = tuple(dict.fromkeys(_keys(self._tree)))
        """All keys that it asks for."""

    def check(self, known: Iterable[str]) -> None:
        """Refuse keys that are not known."""
        known = list(known)
        for key in self.keys:
            if key not in known:
                raise ConfigError(
                    f"{self.text!r}: {key!r} is neither an axis nor set{did_you_mean(key, known)}"
                )

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Say whether it is true of these values. A key that is not among them is neither more nor less."""
        try:
            return bool(_value(self._tree, values))
        except (TypeError, ZeroDivisionError) as error:
            raise ConfigError(f"{self.text!r}: {error}") from None


def _keys(node: ast.expr) -> Iterable[str]:
    """List the keys of an expression, and refuse what is no part of one."""
    name = _dotted(node)
    if name is not None:
        if name not in _CONSTANTS:
            yield name
        return
    match node:
        case ast.BoolOp(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
            children = parts
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            children = [operand]
        case ast.Compare(left=left, ops=ops, comparators=right) if all(type(op) in _COMPARE for op in ops):
            children = [left, *right]
        case ast.BinOp(left=left, op=op, right=other) if type(op) in _ARITHMETIC:
            children = [left, other]
        case ast.Constant(value=bool() | int() | float() | str()):
            children = []
        case _:
            raise ConfigError(
                f"{ast.unparse(node)!r} cannot stand in a condition: it compares keys and values"
            )
    for child in children:
        yield from _keys(child)


def _dotted(node: ast.expr) -> str | None:
    """Return the key that `ftl.over_provisioning` names."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return None if before is None else f"{before}.{node.attr}"
    return None


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    name = _dotted(node)
    if name is not None:
        return _CONSTANTS[name] if name in _CONSTANTS else values.get(name)
    match node:
        case ast.Constant(value=value):
            return value
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [_value(part, values) for part in parts]
        case ast.BinOp(left=left, op=op, right=right):
            return _ARITHMETIC[type(op)](_value(left, values), _value(right, values))
    return _truth(node, values)


def _truth(node: ast.expr, values: Mapping[str, Any]) -> Any:
    match node:
        case ast.BoolOp(op=op, values=parts):
            combine = all if isinstance(op, ast.And) else any
            return combine(_value(part, values) for part in parts)
        case ast.UnaryOp(op=op, operand=operand):
            value = _value(operand, values)
            return not value if isinstance(op, ast.Not) else -value
        case ast.Compare(left=left, ops=ops, comparators=others):
            sides = [_value(side, values) for side in (left, *others)]
            return all(_compared(op, *sides[index : index + 2]) for index, op in enumerate(ops))
    raise TypeError(f"{ast.unparse(node)!r} has no value")


_SIGNS: Mapping[str, type[ast.cmpop]] = {
    "==": ast.Eq, "!=": ast.NotEq, "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE,
}  # fmt: skip


def compared(sign: str, left: Any, right: Any) -> bool:
    """Compare two values as conditions do; a TypeError says that they cannot be."""
    return _compared(_SIGNS[sign](), left, right)


def _compared(op: ast.cmpop, left: Any, right: Any) -> bool:
    compare = _COMPARE[type(op)]
    if isinstance(op, ast.In | ast.NotIn):
        if isinstance(right, str):
            raise TypeError(f"{right!r} is no list")
        return bool(compare(plain(left), [plain(item) for item in right]))
    one, other = plain(left), plain(right)
    if isinstance(op, ast.Eq | ast.NotEq):
        return bool(compare(one, other))
    if one is None or other is None:  # a key that this point does not have
        return False
    if _kind(one) != _kind(other):
        raise TypeError(f"{left!r} and {right!r} cannot be compared")
    return bool(compare(one, other))


def plain(value: Any) -> Any:
    """Return something that compares as what it says: a quantity by its kind and how much it is."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return ("number", Decimal(repr(value)))
    found = quantity(value)
    return value if found is None else found


def _kind(value: Any) -> Any:
    return value[0] if isinstance(value, tuple) and len(value) == 2 else type(value)
