"""Goal: the examples run as they stand. They are notebooks in jupytext's percent form."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[3]
QUICK = {"tune.py": ["--trials", "3", "--seeds", "1", "--duration", "100ms"]}
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_example(file):
    pytest.importorskip({"tune.py": "optuna", "sweep.py": "altair"}.get(file.name, "polars"))
    ran = subprocess.run(
        [sys.executable, file, *QUICK.get(file.name, [])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
