"""Goal: a kernel tree's own code is a policy here, too, with the bytes of the command line."""

import os
import subprocess

import pytest
import wakeplace as wp

PROGRAM = os.environ.get("WAKEPLACE", "wakeplace")
KERNEL = "kernel:7.3.4"
LOAD = "periodic:n=4,duty=5%,start=spread"


@pytest.fixture(scope="module")
def kernel():
    """It is fetched and built once, where an archive can be reached."""
    command = [PROGRAM, "kernel", "build", KERNEL.removeprefix("kernel:")]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode == 3:
        pytest.skip(f"no kernel can be run here: {built.stderr}")
    assert built.returncode == 0, built.stderr
    return KERNEL


def test_compare_gives_the_bytes_of_its_command(cli, kernel):
    policies = [kernel, "linux-7.3"]
    result = wp.compare("hikey960", LOAD, policies, seeds=2, duration="200ms")
    assert result.json() == cli(result.command, "--format", "json")


def test_explain_gives_the_bytes_of_its_command(cli, kernel):
    answer = wp.explain("hikey960", LOAD, kernel, duration="200ms", wakeup=3)
    command = f"explain --platform hikey960 --workload {LOAD} --policy {kernel} --wakeup 3"
    assert answer.json() == cli(f"{command} --duration 200ms", "--format", "json")
    assert f"CPU {answer['cpu']}" in repr(answer)


def test_a_kernel_that_is_none_has_the_words_of_the_command_line(cli, tmp_path):
    with pytest.raises(wp.WakeplaceError) as refused:
        wp.sim("hikey960", LOAD, f"kernel:{tmp_path}", duration="10ms")
    command = f"sim --platform hikey960 --workload {LOAD} --policy kernel:{tmp_path}"
    said = cli(command, ok=False)
    assert str(refused.value).splitlines()[0] in said
