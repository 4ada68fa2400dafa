"""Arguments: platforms, workloads, seeds and settings in the forms that Python has for them.

What must stay: the text of `_ask` has the names of the command line's arguments, as
crates/python/src/ask.rs reads it; keys of `_FORMS` are the kinds that ask.rs names; what is wrong
is a `WakeplaceError` with what was expected. Tests by part: `test_platforms_of_a_dict`
(`Platform`), `test_dicts_are_files` (`Workload`), `test_compare_gives_the_bytes_of_its_command`
(`_seeds`, `_set`, `_ask`), `test_what_is_wrong_is_said` (`_one`, `_text`, `_whole`, `_percent`,
`names_are_known`). No test of its own: `Workload.check`.

Tests: crates/python/tests/test_results.py
"""

from __future__ import annotations

import functools
import inspect
import json
import math
import operator
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
    return one._native if isinstance(one, Platform) else os.fsdecode(one)


def _workload(one: WorkloadLike) -> Native:
    if isinstance(one, Mapping):
        one = Workload(one)
    return one._native if isinstance(one, Workload) else os.fsdecode(one)


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


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise TypeError


def _whole(least: int) -> Callable[[Any], int | None]:
    def form(value: Any) -> int | None:
        number = None if value is None else operator.index(value)
        if number is not None and number < least:
            raise ValueError
        return number

    return form


def _percent(value: Any) -> float | None:
    number = None if value is None else float(value)
    if number is not None and not math.isfinite(number):
        raise ValueError
    return number


#: An argument in Python's forms: what makes of it what the native module takes, and what is said to
#: be expected where that fails.
Form = tuple[Callable[[Any], Any], str]


_FORMS: dict[str, Callable[[Any], Any]] = {
    "platform": lambda value: _several(value, _platform),
    "workload": lambda value: _several(value, _workload),
    "texts": lambda value: _several(value, str),
    "pairs": _set,
    "seeds": _seeds,
    "whole": _whole(0),
    "percent": _percent,
    "flag": bool,
    "text": _text,
}
#: The arguments of the command line.
_NATIVE: dict[str, Form] = {
    name: (_FORMS[kind], expected) for name, kind, expected in _wakeplace.arguments()
}
#: Arguments that go beside those.
_OTHERS: dict[str, Form] = {
    "jobs": (_whole(1), "a whole number, 1 or more"),
    "latin_hypercube": (_whole(1), "a number of points, 1 or more"),
    "design_seed": (_whole(0), "a whole number, 0 or more"),
}


def _one(name: str, value: Any) -> Any:
    """An argument as the native module takes it.

    Raises:
        WakeplaceError: It has none of the forms that it may have.
    """
    form, expected = (_NATIVE | _OTHERS)[name]
    try:
        return form(value)
    except _wakeplace.WakeplaceError:
        raise
    except (TypeError, ValueError, AttributeError):
        raise _wakeplace.WakeplaceError(f"{name}: {value!r}; expected {expected}") from None


def _ask(given: Mapping[str, Any]) -> str:
    """What the native module takes, out of all arguments of a function: a text, which a process can
    send to another."""
    asked = {name: _one(name, value) for name, value in given.items() if name in _NATIVE}
    return json.dumps(asked)


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
