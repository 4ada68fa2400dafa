"""Goal: the examples run as they stand: notebooks in jupytext's percent form, and programs."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
#: A cell of a notebook may take so long: the sweep has 1600 runs.
CELL_S = 900


@pytest.mark.parametrize(
    "file", [file for file in EXAMPLES if file.name != "search.py"], ids=lambda file: file.name
)
def test_notebook(file):
    jupytext = pytest.importorskip("jupytext")
    nbclient = pytest.importorskip("nbclient")
    notebook = jupytext.read(file)
    resources = {"metadata": {"path": str(ROOT)}}
    client = nbclient.NotebookClient(
        notebook, timeout=CELL_S, kernel_name="python3", resources=resources
    )
    # Raises what a cell raised.
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert any(output["output_type"] == "stream" for output in outputs)
    # Altair's own form of a chart in a notebook is a script that draws it.
    assert any("vega" in str(output.get("data")) for output in outputs), "no chart"


def test_search():
    command = [sys.executable, ROOT / "examples/search.py"]
    command += ["--population", "4", "--generations", "2", "--judges", "2", "--duration", "300ms"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("# ") and "unseen" in ran.stdout
