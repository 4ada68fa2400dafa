"""`sim`, `compare`, `explain`, `sweep` and `study`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _wakeplace
from ._executor import drive, made
from ._inputs import (
    PlatformLike,
    Seeds,
    Setting,
    WorkloadLike,
    _about,
    _ask,
    _one,
    _value,
    names_are_known,
)
from ._result import Answer, Result, SweepResult


@names_are_known
def sim(
    platform: PlatformLike,
    workload: WorkloadLike,
    policy: str,
    *,
    seed: int | None = None,
    seeds: Seeds | None = None,
    duration: str | None = None,
    set: Mapping[str, Setting] | None = None,
    jitter: str | None = None,
    margin: float | None = None,
    hotplug: str | None = None,
    policy_at: str | Iterable[str] = (),
    allow_unmodelled: bool = False,
    rtapp_dialect: str | None = None,
    oracle: bool = False,
    timeline: str | None = None,
    jobs: int | None = None,
) -> Result:
    """Simulates one policy, as ``wakeplace sim``.

    Args:
        platform: A name, a TOML file, a dict, or a `Platform`.
        workload: A model, an rt-app file, a recording, a dict, or a `Workload`.
        policy: ``ERA[+FEATURE[=VERSION]]...[-FEATURE]...[:KEY=VALUE,...]``.
        seed: Seed of the workload's random choices; 1 unless given.
        seeds: Several: 5 for 1 to 5, a list, or a text as ``"4..6"``.
        duration: Simulated time with its unit, as ``"500ms"``; else the workload's, or 30 s.
        set: Parameters of the policy and of the machine's model (``model.KEY``).
        jitter: Varies a recording or an rt-app file with the seed, as ``"start=10ms,run=5%"``.
        margin: Stands in the result; one policy alone is compared with none.
        hotplug: CPUs that leave and come back, as ``"0s:1=off,2s:1=on"``.
        policy_at: Parameters that change in mid-run, as ``"10s=power-policy=powersaving"``.
        allow_unmodelled: Leave out parts of an rt-app file that have no model.
        rtapp_dialect: Read an rt-app file as older tools did: ``"workgen"``, ``"suspend-ref"``.
        oracle: Also find how little energy the load could have taken.
        timeline: Take down what runs where between two times, as ``"1s..1200ms"``.
        jobs: Threads; results do not depend on it. All CPUs unless given.

    Raises:
        WakeplaceError: What was asked for cannot be run.
    """
    given = locals()
    if seed is not None and seeds is not None:
        raise _wakeplace.WakeplaceError("sim: both seed and seeds are given; expected one of them")
    return Result(_wakeplace.simulate("sim", _ask(given), _one("jobs", jobs)))


@names_are_known
def compare(
    platform: PlatformLike | Sequence[PlatformLike],
    workload: WorkloadLike | Sequence[WorkloadLike],
    policy: Sequence[str],
    *,
    seeds: Seeds = 5,
    duration: str | None = None,
    set: Mapping[str, Setting] | None = None,
    jitter: str | None = None,
    margin: float | None = None,
    hotplug: str | None = None,
    policy_at: str | Iterable[str] = (),
    allow_unmodelled: bool = False,
    rtapp_dialect: str | None = None,
    oracle: bool = False,
    timeline: str | None = None,
    jobs: int | None = None,
) -> Result:
    """Compares policies, as ``wakeplace compare``: every policy with every seed, on every platform
    with every workload. The first policy is the base of the differences.

    Args:
        margin: A difference of less does not matter, percent; 1 unless given.

    The other arguments are those of `sim`.

    Raises:
        WakeplaceError: What was asked for cannot be run.
    """
    given = locals()
    return Result(_wakeplace.simulate("compare", _ask(given), _one("jobs", jobs)))


@names_are_known
def explain(
    platform: PlatformLike,
    workload: WorkloadLike,
    policy: str,
    *,
    task: str | None = None,
    wakeup: int | None = None,
    at: str | None = None,
    to: int | None = None,
    why_not: int | None = None,
    compare_policy: str | Iterable[str] = (),
    seed: int = 1,
    duration: str | None = None,
    set: Mapping[str, Setting] | None = None,
    jitter: str | None = None,
    hotplug: str | None = None,
    allow_unmodelled: bool = False,
    rtapp_dialect: str | None = None,
) -> Answer:
    """One placement decision: its candidates, and what other policies would have done, as
    ``wakeplace explain``.

    Args:
        task: Decisions on this task only: its name, or that of its kind.
        wakeup: The N-th wake-up, from 1; 0: where a new task begins. 1 unless `at` or `to` is given.
        at: The first wake-up at this time of the run or after it, as ``"120ms"``.
        to: The first wake-up that went to this CPU.
        why_not: Say why this CPU was not chosen.
        compare_policy: Policies that are asked, too; all eras, and each feature turned, unless
            given.

    The other arguments are those of `sim`.

    Raises:
        WakeplaceError: There is no such decision; the message says what there is.
    """
    given = locals()
    return Answer(_wakeplace.explain(_ask(given), _about(given)))


def _values(values: str | Iterable[Setting]) -> str | list[str]:
    return values if isinstance(values, str) else [_value(value) for value in values]


@names_are_known
def sweep(
    platform: PlatformLike | Sequence[PlatformLike] = (),
    workload: WorkloadLike | Sequence[WorkloadLike] = (),
    policy: str | Sequence[str] = (),
    *,
    vary: Mapping[str, str | Iterable[Setting]],
    latin_hypercube: int | None = None,
    design_seed: int = 1,
    seeds: Seeds = 5,
    duration: str | None = None,
    set: Mapping[str, Setting] | None = None,
    jitter: str | None = None,
    hotplug: str | None = None,
    allow_unmodelled: bool = False,
    rtapp_dialect: str | None = None,
    store: str | os.PathLike[str] | None = None,
    executor: Any = None,
    jobs: int | None = None,
) -> SweepResult:
    """Runs every point of a design with every seed, as ``wakeplace sweep``.

    Args:
        vary: Key and values: a text as ``"4..32:3"`` (from, to, steps) or ``"a,b"``, or a list. Keys
            are ``platform``, ``workload``, ``policy``, ``duration``, ``jitter``, ``workload.KEY``,
            ``platform.PATH``, ``model.KEY``, or a parameter of the policies.
        latin_hypercube: So many points, drawn by ``design_seed``, instead of every value with every
            other.
        store: A file that keeps the runs; a call with the same arguments goes on with what it lacks.
        executor: Who runs the cells: None for threads of this process (``jobs``), an executor of
            ``concurrent.futures``, or a client of Dask distributed. This process alone writes the
            store.

    The other arguments are those of `sim`. ``platform``, ``workload`` and ``policy`` may be left out
    if they are varied.

    Raises:
        WakeplaceError: A key or value is wrong, or the store is of another sweep.
    """
    given = locals()
    axes = [(key, _values(values)) for key, values in vary.items()]
    if not axes:
        raise _wakeplace.WakeplaceError(
            'vary: nothing is varied; expected a key with its values, as {"busy_factor": [4, 8]}'
        )
    design = [_one("latin_hypercube", latin_hypercube), _one("design_seed", design_seed)]
    return _swept(("of", _ask(given), axes, *design), store, executor, jobs)


def _swept(definition: tuple[Any, ...], store: Any, executor: Any, jobs: int | None) -> SweepResult:
    if executor is not None:
        return SweepResult(drive(definition, store, executor))
    return SweepResult(made(definition).run(store, _one("jobs", jobs)))


@names_are_known
def study(
    names: str | os.PathLike[str] | Sequence[str],
    *,
    quick: bool = False,
    experiments: bool = False,
    sensitivity: bool = False,
    seeds: Seeds | None = None,
    duration: str | None = None,
    set: Mapping[str, Setting] | None = None,
    margin: float | None = None,
    store: str | os.PathLike[str] | None = None,
    executor: Any = None,
    jobs: int | None = None,
) -> Result | SweepResult:
    """Runs studies, as ``wakeplace study run``; `studies` lists them.

    A file with a table ``vary`` (studies/README.md) is a sweep: ``store`` and ``executor`` are those
    of `sweep`, and so is the result.

    Args:
        names: Names, in which ``*`` stands for anything, or files that end in ``.toml``.
        quick: The reduced size, as the study says.
        experiments: Also run what explains the result.
        sensitivity: Try each conclusion at half and double of every assumed cost.
        seeds, duration, set: In place of the study's; the forms are those of `sim`.
        margin: A difference of less does not matter, percent; 1 unless given.

    Raises:
        WakeplaceError: There is no such study, or a file breaks a rule.
    """
    listed = [os.fspath(names)] if isinstance(names, (str, os.PathLike)) else list(names)
    varies = [name for name in listed if _wakeplace.is_sweep(name)]
    if varies and (len(listed) > 1 or quick or experiments or sensitivity):
        raise _wakeplace.WakeplaceError(
            f"`{varies[0]}` varies something; expected it alone, without quick, experiments and "
            "sensitivity"
        )
    if varies:
        own = [_one("duration", duration), _one("set", set), _one("seeds", seeds)]
        definition = ("of_file", varies[0], *own)
        return _swept(definition, store, executor, jobs)
    for name, given in (("store", store), ("executor", executor)):
        if given is not None:
            raise _wakeplace.WakeplaceError(
                f"{name}: a study without `vary` takes none; expected a file with a table `vary`"
            )
    ask = {
        "names": listed,
        "quick": quick,
        "experiments": experiments,
        "sensitivity": sensitivity,
        "seeds": _one("seeds", seeds),
        "duration": _one("duration", duration),
        "set": _one("set", set),
        "margin": _one("margin", margin),
    }
    return Result(_wakeplace.study(ask, _one("jobs", jobs)))
