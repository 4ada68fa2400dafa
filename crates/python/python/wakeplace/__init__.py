"""wakeplace: Linux's task placement, simulated.

>>> import wakeplace as wp
>>> result = wp.compare(
...     platform="hikey960",
...     workload="periodic:n=10,duty=5%",
...     policy=["linux-4.17", "linux-4.17+energy-aware"],
...     seeds=5,
...     duration="2s",
... )
>>> print(result)                               # the table of the command line
>>> result.json()                               # its JSON, byte for byte
>>> result.to_polars()                          # one row per run

Names, defaults and messages are those of the command line; an option ``--some-name`` is the argument
``some_name``, and a repeatable option takes a list. What is wrong raises `WakeplaceError`.
docs/guide/python.md is the guide.
"""

# What must stay: names in `__all__`, which programs import. Each function is described once, in
# crates/study/src/ask/arguments.rs, of which `_ask.py` is written. Tests:
# crates/python/tests/test_results.py::test_functions_agree_on_the_arguments_that_they_share,
# crates/python/tests/test_examples.py.

from ._ask import compare, evaluate, explain, sim, study, sweep
from ._inputs import Platform, Workload
from ._names import platforms, policies, studies
from ._result import Answer, Evaluation, Result, SweepResult
from ._wakeplace import WakeplaceError, __commit__, __version__

__all__ = [
    "Answer",
    "Evaluation",
    "Platform",
    "Result",
    "SweepResult",
    "WakeplaceError",
    "Workload",
    "__commit__",
    "__version__",
    "compare",
    "evaluate",
    "explain",
    "platforms",
    "policies",
    "sim",
    "studies",
    "study",
    "sweep",
]
