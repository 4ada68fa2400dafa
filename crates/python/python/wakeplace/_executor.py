"""A sweep whose cells others run: workers return rows, and this process writes the store.

What must stay: this process alone writes the store; a worker that has another program or other
files is refused; leases are renewed within the 10 s of crates/store/src/leases.rs; what came in
before an error is committed. docs/guide/python.md, "Sweeps, and who runs them". Tests by part:
`test_any_executor_gives_the_same` (`drive`, `run_cells`, `_Pool`),
`test_another_file_at_a_worker_is_found` (`_check`), `test_a_pool_that_breaks_loses_nothing`
(`_take`, `release`), `test_what_is_wrong_is_said` (`_pool`), `test_dask_gives_the_same`,
`test_workers_that_die_lose_nothing`, `test_workers_may_come_later` (`_Dask`).

Tests: crates/python/tests/test_executors.py, crates/python/tests/test_dask.py,
crates/python/tests/test_results.py
"""

from __future__ import annotations

import functools
import os
import pickle
import secrets
import time
from collections.abc import Collection
from concurrent.futures import FIRST_COMPLETED, wait
from typing import Any

from . import _wakeplace

#: Chunks that wait for a free worker, per worker: enough that none stands idle.
AHEAD = 2
#: Leases of chunks hold 10 s and are renewed with each commit.
RENEW_S = 2.0
#: How often workers are counted.
RECOUNT_S = 2.0
#: While other processes work on the last chunks.
WAIT_S = 0.1


def made(definition: tuple[Any, ...]) -> _wakeplace.Sweep:
    """The sweep of a definition: the name of what makes it, and its arguments."""
    kind, *arguments = definition
    sweep: _wakeplace.Sweep = getattr(_wakeplace.Sweep, kind)(*arguments)
    return sweep


@functools.lru_cache(maxsize=4)
def _sweep(text: bytes) -> _wakeplace.Sweep:
    """The sweep of a definition; a worker makes it once for the chunks of one call, since a later
    call may find other files."""
    _call, definition = pickle.loads(text)
    return made(definition)


def run_cells(text: bytes, expected: str, cells: list[int]) -> list[dict[str, Any]]:
    """What a worker does: runs some cells, a row each."""
    sweep = _sweep(text)
    if sweep.definition() != expected:
        raise _wakeplace.WakeplaceError(
            f"a worker has wakeplace {_wakeplace.__version__} {_wakeplace.__commit__}, which is "
            "another program, or other files; expected the same wheel and the same files on all "
            "machines"
        )
    return sweep.run_cells(cells)


class _Pool:
    """An executor of `concurrent.futures`."""

    def __init__(self, executor: Any) -> None:
        self.executor = executor

    def workers(self) -> int:
        """How many there are now."""
        known: int | None = getattr(self.executor, "_max_workers", None)
        return known or os.cpu_count() or 1

    def submit(self, *call: Any) -> Any:
        return self.executor.submit(*call)

    def ended(self, futures: Collection[Any]) -> Collection[Any]:
        """Those that have ended, after `RENEW_S` at the latest."""
        return wait(futures, timeout=RENEW_S, return_when=FIRST_COMPLETED).done


class _Dask(_Pool):
    """A client of Dask distributed, whose scheduler runs a chunk again if its worker died. Workers
    of a cluster come and go, and the first ones may come later than the sweep.

    Not by its `get_executor`: that takes the result of a chunk which was lost and made again for an
    error.
    """

    def workers(self) -> int:
        threads: int = sum(self.executor.nthreads().values())
        return max(1, threads)

    def submit(self, *call: Any) -> Any:
        return self.executor.submit(*call, pure=False)

    def ended(self, futures: Collection[Any]) -> Collection[Any]:
        import distributed

        wait_any: Any = distributed.wait
        try:
            found = wait_any(list(futures), timeout=RENEW_S, return_when="FIRST_COMPLETED")
        except TimeoutError:
            return []
        done: Collection[Any] = found.done
        return done


def _pool(executor: Any) -> _Pool:
    """What runs the chunks."""
    if hasattr(executor, "get_executor"):
        return _Dask(executor)
    if not hasattr(executor, "submit"):
        raise _wakeplace.WakeplaceError(
            f"executor: {executor!r}; expected an executor of concurrent.futures or a client of "
            "Dask distributed"
        )
    return _Pool(executor)


def _check(sweep: Any, rows: list[dict[str, Any]]) -> None:
    """A worker must have read the same files as this process."""
    for row in rows[:1]:
        key = sweep.key(row["cell"])
        if key is not None and row["key"] != key:
            raise _wakeplace.WakeplaceError(
                f"cell {row['cell']}: a worker ran something else than this process asked for; "
                "expected the same files on all machines"
            )


def drive(definition: tuple[Any, ...], store: Any, executor: Any) -> Any:
    """Runs all cells that the store lacks. After an error, or a Ctrl-C, what came in before is in
    the store."""
    text = pickle.dumps((secrets.token_hex(8), definition))
    sweep = made(definition)
    pool = _pool(executor)
    workers, counted = pool.workers(), time.monotonic()
    runs = sweep.open(store, workers)
    expected = sweep.definition()
    chunks: dict[Any, int] = {}
    try:
        while True:
            if time.monotonic() - counted > RECOUNT_S:
                workers, counted = pool.workers(), time.monotonic()
            while len(chunks) < (1 + AHEAD) * workers and (claimed := runs.claim()):
                chunk, cells = claimed
                if cells:
                    chunks[pool.submit(run_cells, text, expected, cells)] = chunk
                else:
                    runs.commit([], [chunk])
            if chunks:
                _take(pool, sweep, runs, chunks)
            elif runs.is_complete():
                return runs
            else:
                time.sleep(WAIT_S)
    finally:
        for future in chunks:
            future.cancel()
        runs.release()


def _take(pool: _Pool, sweep: Any, runs: Any, chunks: dict[Any, int]) -> None:
    """Writes what has come in, in one commit."""
    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    failure: BaseException | None = None
    for future in pool.ended(chunks):
        number = chunks.pop(future)
        failure = failure or future.exception()
        if future.exception() is None:
            found = future.result()
            _check(sweep, found)
            rows.extend(found)
            numbers.append(number)
    runs.commit(rows, numbers)
    if failure is not None:
        raise failure
