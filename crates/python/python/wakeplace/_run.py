"""What the functions of `_ask` do with their arguments.

What must stay: names are those of the functions of `_ask.py`, which calls each with its own
arguments; a definition is what `_executor.made` takes, so that a worker makes the same sweep. Tests
by part: `test_compare_gives_the_bytes_of_its_command` (`compare`),
`test_sim_gives_the_bytes_of_its_command` (`sim`), `test_explain_gives_the_bytes_of_its_command`
(`explain`), `test_evaluate_gives_the_bytes_of_its_command` (`evaluate`), `test_sweep_gives_the_bytes_of_its_command` (`sweep`, `_values`),
`test_study_gives_the_bytes_of_its_command` (`study`), `test_a_file_that_varies_is_a_sweep` (`study`
of a sweep), `test_any_executor_gives_the_same` (`_swept`), `test_what_is_wrong_is_said` (`_jobs`,
nothing that is varied).

Tests: crates/python/tests/test_results.py, crates/python/tests/test_executors.py
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _wakeplace
from ._executor import drive, made
from ._inputs import Setting, _ask, _one, _value
from ._result import Answer, Evaluation, Result, SweepResult

Given = Mapping[str, Any]


def _jobs(given: Given) -> Any:
    return _one("jobs", given["jobs"])


def sim(given: Given) -> Result:
    return Result(_wakeplace.simulate("sim", _ask(given), _jobs(given)))


def compare(given: Given) -> Result:
    return Result(_wakeplace.simulate("compare", _ask(given), _jobs(given)))


def explain(given: Given) -> Answer:
    return Answer(_wakeplace.explain(_ask(given)))


def evaluate(given: Given) -> Evaluation:
    return Evaluation(*_wakeplace.evaluate(_ask(given), _jobs(given)))


def _values(values: str | Iterable[Setting]) -> str | list[str]:
    return values if isinstance(values, str) else [_value(value) for value in values]


def sweep(given: Given) -> SweepResult:
    axes = [(key, _values(values)) for key, values in given["vary"].items()]
    if not axes:
        raise _wakeplace.WakeplaceError(
            'vary: nothing is varied; expected a key with its values, as {"busy_factor": [4, 8]}'
        )
    design = [_one(name, given[name]) for name in ("latin_hypercube", "design_seed")]
    base = [(key, _value(value)) for key, value in (given["base"] or {}).items()]
    # The base of `evaluate` is another argument, a policy.
    ask = _ask({name: value for name, value in given.items() if name != "base"})
    return _swept(("of", ask, axes, *design, base), given)


def _swept(definition: tuple[Any, ...], given: Given) -> SweepResult:
    store, executor = given["store"], given["executor"]
    if executor is not None:
        return SweepResult(drive(definition, store, executor))
    return SweepResult(made(definition).run(store, _jobs(given)))


def study(given: Given) -> Result | SweepResult:
    names = given["names"]
    listed = [os.fspath(names)] if isinstance(names, (str, os.PathLike)) else list(names)
    flags = {name: given[name] for name in ("quick", "experiments", "sensitivity")}
    varies = [name for name in listed if _wakeplace.is_sweep(name)]
    if varies and (len(listed) > 1 or any(flags.values())):
        raise _wakeplace.WakeplaceError(
            f"`{varies[0]}` varies something; expected it alone, without quick, experiments and "
            "sensitivity"
        )
    if varies:
        return _swept(("of_file", varies[0], _ask(given)), given)
    for name in ("store", "executor"):
        if given[name] is not None:
            raise _wakeplace.WakeplaceError(
                f"{name}: a study without `vary` takes none; expected a file with a table `vary`"
            )
    which = {"names": listed, **flags}
    return Result(_wakeplace.study(which, _ask(given), _jobs(given)))
