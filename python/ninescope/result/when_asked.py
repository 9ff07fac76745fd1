"""What is made when somebody first asks for it: most who run something never look at its histograms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class MadeMapping(Mapping[str, T]):
    """A mapping that is made as a whole when it is first looked into."""

    def __init__(self, make: Callable[[], Mapping[str, T]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> Mapping[str, T]:
        return self._make()

    def __getitem__(self, key: str) -> T:
        return self._made[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __reduce__(self) -> tuple[Any, ...]:
        """Be sent to other processes as what it is made to."""
        return dict, (dict(self._made),)


class Made(Generic[T]):
    """A field of a dataclass that may be given as the function that makes it."""

    def __init__(self, default: T) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> T:
        if instance is None:
            return self._default
        fields = vars(instance)
        value = fields[self._name]
        if callable(value):
            value = fields[self._name] = value()
        made: T = value
        return made

    def __set__(self, instance: object, value: T | Callable[[], T]) -> None:
        vars(instance)[self._name] = value
