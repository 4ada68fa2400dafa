"""The package's functions, with the command line's arguments.

`cargo run -p wakeplace-study --example python-module` writes this file from
crates/study/src/ask/arguments.rs, where an argument is described once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _run
from ._inputs import PlatformLike, Seeds, Setting, WorkloadLike, names_are_known
from ._result import Answer, Evaluation, Result, SweepResult


@names_are_known
def sim(
    platform: PlatformLike,
    workload: WorkloadLike,
    policy: str,
    *,
    set: Mapping[str, Setting] | None = None,
    policy_at: str | Iterable[str] = (),
    duration: str | None = None,
    seed: int | None = None,
    seeds: Seeds | None = None,
    jitter: str | None = None,
    deadlines: str | None = None,
    margin: float | None = None,
    hotplug: str | None = None,
    rtapp_dialect: str | None = None,
    timeline: str | None = None,
    lines: int | None = None,
    allow_unmodelled: bool = False,
    oracle: bool = False,
    jobs: int | None = None,
) -> Result:
    """Simulates one policy, as ``wakeplace sim``.

    Args:
        platform: A name, a TOML file, a dict, or a `Platform`.
        workload: A model, an rt-app file, a recording, a dict, or a `Workload`.
        policy: ``ERA[+FEATURE[=VERSION]]...[-FEATURE]...[:KEY=VALUE,...]``.
        set: Parameters of the policy and of the machine's model (``model.KEY``).
        policy_at: Parameters that change in mid-run, as ``"10s=power-policy=powersaving"``.
        duration: Simulated time with its unit, as ``"500ms"``; else the workload's, or 30 s.
        seed: Seed of the workload's random choices; 1 unless given.
        seeds: Several: 5 for 1 to 5, a list, or a text as ``"4..6"``.
        jitter: Varies a recording or an rt-app file with the seed, as ``"start=10ms,run=5%"``.
        deadlines: A file with deadlines of chains of tasks.
        margin: A difference of less does not matter, percent; 1 unless given.
        hotplug: CPUs that leave and come back, as ``"0s:1=off,2s:1=on"``.
        rtapp_dialect: Read an rt-app file as older tools did: ``"workgen"``, ``"suspend-ref"``.
        timeline: Take down what runs where between two times, as ``"1s..1200ms"``.
        lines: How many of the most expensive cache lines are told.
        allow_unmodelled: Leave out parts of an rt-app file that have no model.
        oracle: Also find how little energy the load could have taken.
        jobs: Threads; results do not depend on it. All CPUs unless given.

    Raises:
        WakeplaceError: What was asked for cannot be run.
    """
    return _run.sim(locals())


@names_are_known
def compare(
    platform: PlatformLike | Sequence[PlatformLike],
    workload: WorkloadLike | Sequence[WorkloadLike],
    policy: Sequence[str],
    *,
    set: Mapping[str, Setting] | None = None,
    policy_at: str | Iterable[str] = (),
    duration: str | None = None,
    seeds: Seeds | None = None,
    jitter: str | None = None,
    deadlines: str | None = None,
    margin: float | None = None,
    hotplug: str | None = None,
    rtapp_dialect: str | None = None,
    timeline: str | None = None,
    lines: int | None = None,
    allow_unmodelled: bool = False,
    oracle: bool = False,
    jobs: int | None = None,
) -> Result:
    """Compares policies, as ``wakeplace compare``: every policy with every seed, on every platform
    with every workload. The first policy is the base of the differences.

    Args:
        platform: A name, a TOML file, a dict, or a `Platform`.
        workload: A model, an rt-app file, a recording, a dict, or a `Workload`.
        policy: ``ERA[+FEATURE[=VERSION]]...[-FEATURE]...[:KEY=VALUE,...]``.
        set: Parameters of the policy and of the machine's model (``model.KEY``).
        policy_at: Parameters that change in mid-run, as ``"10s=power-policy=powersaving"``.
        duration: Simulated time with its unit, as ``"500ms"``; else the workload's, or 30 s.
        seeds: Several: 5 for 1 to 5, a list, or a text as ``"4..6"``.
        jitter: Varies a recording or an rt-app file with the seed, as ``"start=10ms,run=5%"``.
        deadlines: A file with deadlines of chains of tasks.
        margin: A difference of less does not matter, percent; 1 unless given.
        hotplug: CPUs that leave and come back, as ``"0s:1=off,2s:1=on"``.
        rtapp_dialect: Read an rt-app file as older tools did: ``"workgen"``, ``"suspend-ref"``.
        timeline: Take down what runs where between two times, as ``"1s..1200ms"``.
        lines: How many of the most expensive cache lines are told.
        allow_unmodelled: Leave out parts of an rt-app file that have no model.
        oracle: Also find how little energy the load could have taken.
        jobs: Threads; results do not depend on it. All CPUs unless given.

    Raises:
        WakeplaceError: What was asked for cannot be run.
    """
    return _run.compare(locals())


@names_are_known
def explain(
    platform: PlatformLike,
    workload: WorkloadLike,
    policy: str,
    *,
    set: Mapping[str, Setting] | None = None,
    policy_at: str | Iterable[str] = (),
    duration: str | None = None,
    seed: int | None = None,
    jitter: str | None = None,
    hotplug: str | None = None,
    rtapp_dialect: str | None = None,
    allow_unmodelled: bool = False,
    task: str | None = None,
    wakeup: int | None = None,
    at: str | None = None,
    to: int | None = None,
    why_not: int | None = None,
    compare_policy: str | Iterable[str] = (),
) -> Answer:
    """One placement decision: its candidates, and what other policies would have done, as
    ``wakeplace explain``.

    Args:
        platform: A name, a TOML file, a dict, or a `Platform`.
        workload: A model, an rt-app file, a recording, a dict, or a `Workload`.
        policy: ``ERA[+FEATURE[=VERSION]]...[-FEATURE]...[:KEY=VALUE,...]``.
        set: Parameters of the policy and of the machine's model (``model.KEY``).
        policy_at: Parameters that change in mid-run, as ``"10s=power-policy=powersaving"``.
        duration: Simulated time with its unit, as ``"500ms"``; else the workload's, or 30 s.
        seed: Seed of the workload's random choices; 1 unless given.
        jitter: Varies a recording or an rt-app file with the seed, as ``"start=10ms,run=5%"``.
        hotplug: CPUs that leave and come back, as ``"0s:1=off,2s:1=on"``.
        rtapp_dialect: Read an rt-app file as older tools did: ``"workgen"``, ``"suspend-ref"``.
        allow_unmodelled: Leave out parts of an rt-app file that have no model.
        task: Decisions on this task only: its name, or that of its kind.
        wakeup: The N-th wake-up, from 1; 0: where a new task begins. 1 unless `at` or `to` is
            given.
        at: The first wake-up at this time of the run or after it, as ``"120ms"``.
        to: The first wake-up that went to this CPU
        why_not: Say first why this CPU was not chosen
        compare_policy: Policies that are asked, too; all eras, and each feature turned, unless
            given.

    Raises:
        WakeplaceError: There is no such decision; the message says what there is.
    """
    return _run.explain(locals())


@names_are_known
def evaluate(
    policy: str,
    *,
    battery: str = "small",
    platform: PlatformLike | Sequence[PlatformLike] = (),
    base: str = "linux-7.3",
    goal: str | Iterable[str] = (),
    set: Mapping[str, Setting] | None = None,
    duration: str | None = None,
    seeds: Seeds | None = None,
    jobs: int | None = None,
) -> Evaluation:
    """One score of a policy beside a base on the loads of a battery, as ``wakeplace evaluate``: 1
    is like the base, more is better.

    Args:
        policy: ``ERA[+FEATURE[=VERSION]]...[-FEATURE]...[:KEY=VALUE,...]``.
        battery: The loads and boards: ``small``, ``quick``, ``full``, or a TOML file.
        platform: A name, a TOML file, a dict, or a `Platform`.
        base: The policy that the candidate is measured against.
        goal: What counts: ``energy``, ``benchmark``, ``latency``, ``misses``, or a metric; the
            first four unless given.
        set: Parameters of the policy and of the machine's model (``model.KEY``).
        duration: Simulated time with its unit, as ``"500ms"``; else the workload's, or 30 s.
        seeds: Several: 5 for 1 to 5, a list, or a text as ``"4..6"``.
        jobs: Threads; results do not depend on it. All CPUs unless given.

    Raises:
        WakeplaceError: What was asked for cannot be run.
    """
    return _run.evaluate(locals())


@names_are_known
def sweep(
    platform: PlatformLike | Sequence[PlatformLike] = (),
    workload: WorkloadLike | Sequence[WorkloadLike] = (),
    policy: str | Sequence[str] = (),
    *,
    vary: Mapping[str, str | Iterable[Setting]],
    latin_hypercube: int | None = None,
    design_seed: int = 1,
    base: Mapping[str, Setting] | None = None,
    set: Mapping[str, Setting] | None = None,
    policy_at: str | Iterable[str] = (),
    duration: str | None = None,
    seeds: Seeds | None = None,
    jitter: str | None = None,
    deadlines: str | None = None,
    margin: float | None = None,
    hotplug: str | None = None,
    rtapp_dialect: str | None = None,
    allow_unmodelled: bool = False,
    store: str | os.PathLike[str] | None = None,
    executor: Any = None,
    jobs: int | None = None,
) -> SweepResult:
    """Runs every point of a design with every seed, as ``wakeplace sweep``. ``platform``,
    ``workload`` and ``policy`` may be left out if they are varied.

    Args:
        platform: A name, a TOML file, a dict, or a `Platform`.
        workload: A model, an rt-app file, a recording, a dict, or a `Workload`.
        policy: ``ERA[+FEATURE[=VERSION]]...[-FEATURE]...[:KEY=VALUE,...]``.
        vary: Key and values: a text as ``"4..32:3"`` (from, to, steps) or ``"a,b"``, or a list.
            Keys are ``platform``, ``workload``, ``policy``, ``duration``, ``jitter``,
            ``deadlines``, ``hotplug``, ``rtapp_dialect``, ``workload.KEY``, ``platform.PATH``,
            ``model.KEY``, or a parameter of the policies.
        latin_hypercube: So many points, drawn by ``design_seed``, instead of every value with
            every other.
        design_seed: Seed of that draw.
        base: Keys and values of the point that others are compared with. Unless given the first of
            several policies, else the policy's own values of what is varied, or the first ones.
        set: Parameters of the policy and of the machine's model (``model.KEY``).
        policy_at: Parameters that change in mid-run, as ``"10s=power-policy=powersaving"``.
        duration: Simulated time with its unit, as ``"500ms"``; else the workload's, or 30 s.
        seeds: Several: 5 for 1 to 5, a list, or a text as ``"4..6"``.
        jitter: Varies a recording or an rt-app file with the seed, as ``"start=10ms,run=5%"``.
        deadlines: A file with deadlines of chains of tasks.
        margin: A difference of less does not matter, percent; 1 unless given.
        hotplug: CPUs that leave and come back, as ``"0s:1=off,2s:1=on"``.
        rtapp_dialect: Read an rt-app file as older tools did: ``"workgen"``, ``"suspend-ref"``.
        allow_unmodelled: Leave out parts of an rt-app file that have no model.
        store: A file that keeps the runs; a call with the same arguments goes on with what it
            lacks.
        executor: Who runs the cells: None for threads of this process (`jobs`), an executor of
            ``concurrent.futures``, or a client of Dask distributed. This process alone writes the
            store.
        jobs: Threads; results do not depend on it. All CPUs unless given.

    Raises:
        WakeplaceError: A key or value is wrong, or the store is of another sweep.
    """
    return _run.sweep(locals())


@names_are_known
def study(
    names: str | os.PathLike[str] | Sequence[str],
    *,
    quick: bool = False,
    experiments: bool = False,
    sensitivity: bool = False,
    set: Mapping[str, Setting] | None = None,
    duration: str | None = None,
    seeds: Seeds | None = None,
    margin: float | None = None,
    store: str | os.PathLike[str] | None = None,
    executor: Any = None,
    jobs: int | None = None,
) -> Result | SweepResult:
    """Runs studies, as ``wakeplace study run``; `studies` lists them. A file with a table ``vary``
    (studies/README.md) is a sweep: ``store`` and ``executor`` are those of `sweep`, and so is the
    result.

    Args:
        names: Names, in which ``*`` stands for anything, or files that end in ``.toml``.
        quick: The reduced size, as the study says.
        experiments: Also run what explains the result.
        sensitivity: Try each conclusion at half and double of every assumed cost.
        set: Parameters of the policy and of the machine's model (``model.KEY``).
        duration: Simulated time with its unit, as ``"500ms"``; else the workload's, or 30 s.
        seeds: Several: 5 for 1 to 5, a list, or a text as ``"4..6"``.
        margin: A difference of less does not matter, percent; 1 unless given.
        store: A file that keeps the runs; a call with the same arguments goes on with what it
            lacks.
        executor: Who runs the cells: None for threads of this process (`jobs`), an executor of
            ``concurrent.futures``, or a client of Dask distributed. This process alone writes the
            store.
        jobs: Threads; results do not depend on it. All CPUs unless given.

    Raises:
        WakeplaceError: There is no such study, or a file breaks a rule.
    """
    return _run.study(locals())
