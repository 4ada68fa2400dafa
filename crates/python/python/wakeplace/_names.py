"""What there is.

What must stay: `policies` is what ``wakeplace policy list --format json`` lists. Tests by part:
`test_policies_are_those_of_the_command_line` (`policies`),
`test_study_gives_the_bytes_of_its_command` (`studies`). No test of its own: `platforms`.

Tests: crates/python/tests/test_results.py
"""

from __future__ import annotations

from . import _wakeplace


def policies() -> list[dict[str, object]]:
    """Eras and features, as ``wakeplace policy list --format json``: dicts with ``name``, ``kind``
    (``era`` or ``feature``), ``versions`` and ``doc``."""
    return [
        {
            "name": name,
            "kind": "feature" if name.startswith("+") else "era",
            "versions": versions,
            "doc": doc,
        }
        for name, versions, doc in _wakeplace.policies()
    ]


def platforms() -> list[str]:
    """Names of the platforms that are built in."""
    return _wakeplace.platforms()


def studies() -> list[dict[str, str]]:
    """The studies: dicts with ``name`` and ``title``."""
    return [{"name": name, "title": title} for name, title in _wakeplace.studies()]
