"""Goal: Dask distributed runs a sweep, and a worker that dies costs time only."""

import os
import signal
import threading
import time

import pytest
import wakeplace as wp

from test_executors import ARGUMENTS, CELLS

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    """Two worker processes, each below a nanny that starts it anew."""
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


def test_dask_gives_the_same(client):
    result = wp.sweep(**ARGUMENTS, executor=client)
    assert result.made == CELLS
    assert result.json() == wp.sweep(**ARGUMENTS).json()


def test_workers_that_die_lose_nothing(client, tmp_path):
    arguments = ARGUMENTS | {"duration": "2s"}
    killed = []
    ended = threading.Event()

    def kill():
        """Two workers, one after the other, while they have work."""
        seen_at = time.monotonic()
        while not ended.wait(0.02):
            # On a busy machine Dask's nannies may give up: after 5 s without any there is another.
            if client.nthreads():
                seen_at = time.monotonic()
            elif time.monotonic() - seen_at > 5:
                client.cluster.scale(len(client.cluster.worker_spec) + 1)
                seen_at = time.monotonic()
            busy = [worker for worker, keys in client.processing().items() if keys]
            if len(killed) < 2 and busy and (not killed or busy[0] != killed[-1][0]):
                pid = client.run(os.getpid, workers=busy[:1])[busy[0]]
                os.kill(pid, signal.SIGKILL)
                killed.append((busy[0], pid))
                ended.wait(1)

    thread = threading.Thread(target=kill)
    thread.start()
    result = wp.sweep(**arguments, store=tmp_path / "runs.sqlite", executor=client)
    ended.set()
    thread.join()
    assert killed, "no worker was killed while it worked"
    assert (result.made, result.failed) == (CELLS, 0)
    assert result.json() == wp.sweep(**arguments).json()


def test_workers_may_come_later():
    """A cluster that has no worker yet, as one that a batch system starts."""
    cluster = distributed.LocalCluster(
        n_workers=0, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        timer = threading.Timer(1, cluster.scale, [2])
        timer.start()
        result = wp.sweep(**ARGUMENTS, executor=client)
        assert len(client.nthreads()) > 0
    assert (result.made, result.failed) == (CELLS, 0)
    assert result.json() == wp.sweep(**ARGUMENTS).json()
