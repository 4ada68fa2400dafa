"""The command line beside the module: WAKEPLACE names the program, built from the same commit."""

import os
import shlex
import subprocess

import pytest

PROGRAM = os.environ.get("WAKEPLACE", "wakeplace")


@pytest.fixture
def cli(tmp_path):
    """Runs a command of `wakeplace`: what it printed, or what it said when it refused."""

    def run(command, *more, ok=True):
        words = shlex.split(command) if isinstance(command, str) else list(command)
        words = [PROGRAM, *words[words[:1] == ["wakeplace"] :], *more]
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (ran.returncode == 0) == ok, ran.stderr
        return ran.stdout if ok else ran.stderr

    return run
