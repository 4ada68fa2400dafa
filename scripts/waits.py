"""What the scripts share that measure waits in recordings of guests."""

import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def percentiles(ordered, shares):
    """The values of a list in order of size below which these shares of it lie."""
    return [ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in shares]


def renew(page, table, script):
    """Puts a table between the marks that a page has for this script."""
    with tempfile.TemporaryDirectory() as scratch:
        part = pathlib.Path(scratch) / "part"
        part.write_text(table)
        command = ["scripts/page-part.sh", page, str(part), f"scripts/{script}"]
        subprocess.run(command, check=True, cwd=ROOT)
