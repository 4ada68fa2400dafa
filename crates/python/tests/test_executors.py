"""Goal: a sweep is the same whoever runs its cells, and loses nothing when workers die."""

import os
import signal
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

import pytest
import wakeplace as wp

ARGUMENTS = {
    "platform": "hikey960",
    "workload": "periodic:n=4,duty=5%",
    "policy": ["linux-4.17+energy-aware", "linux-7.3"],
    "vary": {"busy_factor": "4..32:8", "workload.n": [2, 4, 6]},
    "seeds": 3,
    "duration": "50ms",
}
CELLS = 8 * 3 * 2 * 3


def processes():
    # A fork of a process with threads may hang.
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))


@pytest.fixture(scope="module")
def alone():
    result = wp.sweep(**ARGUMENTS, jobs=1)
    assert (result.cells, result.made, result.found) == (CELLS, CELLS, 0)
    return result


@pytest.mark.parametrize("executor", [processes, lambda: ThreadPoolExecutor(2)])
def test_any_executor_gives_the_same(alone, executor):
    with executor() as pool:
        result = wp.sweep(**ARGUMENTS, executor=pool)
    assert result.made == CELLS
    assert result.json() == alone.json()
    assert result.to_arrow() == alone.to_arrow()


def test_a_store_goes_on_and_is_that_of_the_command_line(alone, tmp_path):
    store = tmp_path / "runs.sqlite"
    with processes() as pool:
        assert wp.sweep(**ARGUMENTS, store=store, executor=pool).made == CELLS
    again = wp.sweep(**ARGUMENTS, store=store)
    assert (again.found, again.made) == (CELLS, 0)
    assert again.json() == alone.json()


def test_a_store_of_another_sweep_is_refused(tmp_path):
    store = tmp_path / "runs.sqlite"
    # Other seeds and values make a store grow; another length makes another sweep.
    wp.sweep(**(ARGUMENTS | {"duration": "35ms"}), store=store)
    with pytest.raises(wp.WakeplaceError, match="another sweep"), processes() as pool:
        wp.sweep(**ARGUMENTS, store=store, executor=pool)
    other = tmp_path / "text"
    other.write_text("no store, but long enough to be looked at by SQLite as one" * 20)
    with pytest.raises(wp.WakeplaceError, match="no store of runs"):
        wp.sweep(**ARGUMENTS, store=other)


def test_a_pool_that_breaks_loses_nothing(alone, tmp_path):
    store = tmp_path / "runs.sqlite"
    with processes() as pool:
        # Both workers are there before one dies: CPython (seen in 3.11.7) may trip over a worker
        # that starts while the pool breaks, and then waits for it for ever at its own end.
        both = [pool.submit(time.sleep, 0.2) for _ in range(2)]
        assert [done.result() for done in both] == [None, None]
        killed = pool.submit(os.getpid).result()
        pool.submit(os.kill, killed, signal.SIGKILL)
        with pytest.raises(BrokenProcessPool):
            wp.sweep(**ARGUMENTS, store=store, executor=pool)
    with processes() as pool:
        result = wp.sweep(**ARGUMENTS, store=store, executor=pool)
    assert result.found + result.made == CELLS
    assert result.json() == alone.json()


def test_another_file_at_a_worker_is_found():
    class Elsewhere:
        """Runs what it is given on a machine with another file of that name."""

        _max_workers = 1

        def submit(self, function, text, expected, cells):
            from concurrent.futures import Future

            future = Future()
            rows = function(text, expected, cells)
            future.set_result([row | {"key": "of another file"} for row in rows])
            return future

    with pytest.raises(wp.WakeplaceError, match="expected the same files on all machines"):
        wp.sweep(**ARGUMENTS, executor=Elsewhere())


def test_a_cell_that_cannot_run_is_a_row():
    # Juno has six CPUs, HiKey960 eight.
    tasks = "periodic:n=2,duty=5%"
    result = wp.sweep(
        "hikey960",
        policy="linux-7.3",
        vary={"platform": ["hikey960", "juno-r0"], "workload": [tasks, f"{tasks},cal=cpu7"]},
        seeds=1,
        duration="50ms",
    )
    assert (result.cells, result.failed) == (4, 1)
    errors = result.to_arrow()["error"].to_pylist()
    assert errors[:3] == ["", "", ""] and "CPU 7" in errors[3]


def test_a_value_that_fits_no_cell_is_refused():
    with pytest.raises(wp.WakeplaceError, match="`n=0` is not possible"):
        wp.sweep(
            "hikey960",
            policy="linux-7.3",
            vary={"workload": ["periodic:n=2,duty=5%", "periodic:n=0"]},
            seeds=1,
            duration="50ms",
        )
