"""Arguments: platforms, workloads, seeds and settings in the forms that Python has for them."""

from __future__ import annotations

import functools
import inspect
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from . import _wakeplace

P = ParamSpec("P")
T = TypeVar("T")

#: What the native module takes: a name, or a name and a text.
Native = str | tuple[str, str]


@dataclass(frozen=True)
class Platform:
    """A machine: the name of one that is built in, the path of a TOML file, or a dict with the
    keys of such a file (docs/guide/platforms.md). Read and checked at once.

    Raises:
        WakeplaceError: There is no such platform, or a key or value of it is wrong.
    """

    source: str | os.PathLike[str] | Mapping[str, Any]
    name: str = ""
    #: CPUs of the machine.
    nr_cpus: int = field(init=False, compare=False)
    _native: Native = field(init=False, repr=False)

    def __post_init__(self) -> None:
        native: Native
        if isinstance(self.source, Mapping):
            text = _wakeplace.toml_of_json(json.dumps(self.source))
            native = (self.name or "dict", text)
        else:
            native = os.fspath(self.source)
        name, nr_cpus = _wakeplace.check_platform(native)
        object.__setattr__(self, "_native", native)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "nr_cpus", nr_cpus)


@dataclass(frozen=True)
class Workload:
    """What tasks do: a model as ``periodic:n=10,duty=5%``, the path of an rt-app file, a recording
    as ``trace:FILE``, or a dict with the keys of an rt-app file (docs/guide/workloads.md).

    It is read with the platform that it is to run on.
    """

    source: str | os.PathLike[str] | Mapping[str, Any]
    name: str = ""
    _native: Native = field(init=False, repr=False)

    def __post_init__(self) -> None:
        native: Native
        if isinstance(self.source, Mapping):
            native = (self.name or "dict", json.dumps(self.source))
        else:
            native = os.fspath(self.source)
        object.__setattr__(self, "_native", native)
        named = native if isinstance(native, str) else native[0]
        object.__setattr__(self, "name", self.name or named)

    def check(self, platform: PlatformLike) -> None:
        """Reads it for a platform.

        Raises:
            WakeplaceError: A key or value of it is wrong, or it does not fit the platform.
        """
        _wakeplace.check_workload(self._native, _platform(platform))


PlatformLike = Platform | str | os.PathLike[str] | Mapping[str, Any]
WorkloadLike = Workload | str | os.PathLike[str] | Mapping[str, Any]
Seeds = int | str | Sequence[int]
Setting = str | int | float | bool


def _platform(one: PlatformLike) -> Native:
    if isinstance(one, Mapping):
        one = Platform(one)
    return one._native if isinstance(one, Platform) else os.fspath(one)


def _workload(one: WorkloadLike) -> Native:
    if isinstance(one, Mapping):
        one = Workload(one)
    return one._native if isinstance(one, Workload) else os.fspath(one)


def _several(value: Any, one: Callable[[Any], T]) -> list[T]:
    """A single thing is a list of one."""
    alone = isinstance(value, (str, os.PathLike, Mapping, Platform, Workload))
    return [one(value)] if alone else [one(each) for each in value]


def _seeds(seeds: Seeds | None) -> str | None:
    """The forms of ``--seeds``: a number is 1 to that number."""
    if seeds is None or isinstance(seeds, str):
        return seeds
    if isinstance(seeds, int):
        return str(seeds)
    listed = [str(seed) for seed in seeds]
    return f"{listed[0]}..{listed[0]}" if len(listed) == 1 else ",".join(listed)


def _value(value: Setting) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def _set(settings: Mapping[str, Setting] | None) -> list[tuple[str, str]]:
    return [(key, _value(value)) for key, value in (settings or {}).items()]


def _as_it_is(value: Any) -> Any:
    return value


#: What the native module takes: what makes it of an argument in Python's forms, and the argument
#: where a function has none of that name.
_NATIVE: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "platform": (lambda value: _several(value, _platform), ()),
    "workload": (lambda value: _several(value, _workload), ()),
    "policy": (lambda value: _several(value, str), ()),
    "seeds": (_seeds, None),
    "seed": (_as_it_is, None),
    "duration": (_as_it_is, None),
    "set": (_set, None),
    "jitter": (_as_it_is, None),
    "margin": (_as_it_is, None),
    "hotplug": (_as_it_is, None),
    "policy_at": (lambda value: _several(value, str), ()),
    "allow_unmodelled": (_as_it_is, False),
    "rtapp_dialect": (_as_it_is, None),
    "oracle": (_as_it_is, False),
    "timeline": (_as_it_is, None),
}


def _ask(given: Mapping[str, Any]) -> dict[str, Any]:
    """What the native module takes, out of all arguments of a function; plain values, which a
    process can send to another."""
    return {name: form(given.get(name, absent)) for name, (form, absent) in _NATIVE.items()}


def names_are_known(function: Callable[P, T]) -> Callable[P, T]:
    """An argument that the function does not have is refused with the nearest that it has."""
    valid = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        for word in kwargs:
            if word not in valid:
                raise _wakeplace.unknown(function.__name__, word, valid)
        return function(*args, **kwargs)

    return checked
