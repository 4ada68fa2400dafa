"""What a sweep costs beside the runs of its cells, in processor time: a machine that others share
tells nothing by its wall clock.

    target/python/bin/python scripts/measure-sweep.py                   two threads and a store
    target/python/bin/python scripts/measure-sweep.py --dask 2          two workers of Dask

Efficiency is the processor time of the same runs alone, by `wp.sim` on one thread, over that of all
processes that took part in the sweep.
"""

import argparse
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import psutil
import wakeplace as wp


def cpu_s(process):
    """Processor time of a process so far."""
    times = process.cpu_times()
    return times.user + times.system


def run_s(own, alone, duration, at_least_s):
    """Processor time of a run without a sweep around it. The sweep's middle value is set."""
    how = {"duration": duration, "set": {"busy_factor": 54}, "jobs": 1}
    wp.sim(*alone, seeds=20, **how)
    runs, before = 0, cpu_s(own)
    while cpu_s(own) - before < at_least_s:
        wp.sim(*alone, seeds=100, **how)
        runs += 100
    return (cpu_s(own) - before) / runs


#: How long a cluster is watched that does nothing.
IDLE_S = 20


class Memory(threading.Thread):
    """Looks at this process's memory while it works."""

    def __init__(self):
        super().__init__(daemon=True)
        self.seen = []
        self.ended = threading.Event()

    def run(self):
        own = psutil.Process()
        while not self.ended.wait(0.5):
            self.seen.append(own.memory_info().rss / 2**20)

    def parts(self):
        """Highest of each fifth of the time, MiB."""
        self.ended.set()
        size = max(1, len(self.seen) // 5)
        return [round(max(self.seen[at : at + size])) for at in range(0, 5 * size, size)]


@contextlib.contextmanager
def dask(workers):
    """A scheduler and workers, a process each: the client, and the processes by what they are."""
    import distributed

    folder = pathlib.Path(tempfile.mkdtemp())
    file = folder / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
    command += ["--scheduler-file", file, "--host", "127.0.0.1", "--port", "0"]
    # Dask's profiler looks at a busy worker every 10 ms.
    environment = os.environ | {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    quiet |= {"cwd": folder, "env": environment}
    scheduler = subprocess.Popen(command, **quiet)
    while not file.exists():
        time.sleep(0.1)
    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny", "--no-dashboard"]
    command += ["--scheduler-file", file, "--nthreads", "1", "--host", "127.0.0.1"]
    started = [subprocess.Popen(command, **quiet) for _ in range(workers)]
    try:
        with distributed.Client(scheduler_file=str(file)) as client:
            client.wait_for_workers(workers)
            # What workers take to start is no part of a long sweep.
            client.run(lambda: __import__("wakeplace"))
            yield client, {"scheduler": [scheduler.pid], "workers": [w.pid for w in started]}
    finally:
        for process in [*started, scheduler]:
            process.terminate()
            process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=10_000)
    parser.add_argument("--duration", default="1s", help="simulated time of a cell")
    parser.add_argument("--workload", default="periodic:n=10,duty=10%")
    parser.add_argument("--calibrate", type=float, default=4, help="seconds of runs alone, twice")
    parser.add_argument("--dask", type=int, metavar="WORKERS")
    args = parser.parse_args()
    alone = ("hikey960", args.workload, "linux-7.3")
    own = psutil.Process()
    run_before_s = run_s(own, alone, args.duration, args.calibrate)
    points = 100
    cells = args.cells // points * points
    with contextlib.ExitStack() as stack:
        client, others = None, {}
        if args.dask:
            client, others = stack.enter_context(dask(args.dask))
        folder = stack.enter_context(tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")))
        processes = {"this": [own]}
        processes |= {k: [psutil.Process(pid) for pid in v] for k, v in others.items()}
        spent_s = lambda: {k: sum(map(cpu_s, v)) for k, v in processes.items()}
        before = spent_s()
        if client:
            # What a cluster costs that does nothing.
            time.sleep(IDLE_S)
            idle = {k: (s - before[k]) / IDLE_S for k, s in spent_s().items()}
            print("idle, ms a second:", {k: round(1000 * s, 2) for k, s in idle.items()})
            before = spent_s()
        memory = Memory()
        memory.start()
        began = time.monotonic()
        result = wp.sweep(
            *alone,
            vary={"busy_factor": f"4..{3 + points}:{points}"},
            seeds=cells // points,
            duration=args.duration,
            store=pathlib.Path(folder) / "runs.sqlite",
            executor=client,
            jobs=None if client else 2,
        )
        wall_s = time.monotonic() - began
        spent = {k: s - before[k] for k, s in spent_s().items()}
        size = sum(file.stat().st_size for file in pathlib.Path(folder).iterdir())
    assert (result.made, result.failed) == (cells, 0)
    run_after_s = run_s(own, alone, args.duration, args.calibrate)
    mean_s = (run_before_s + run_after_s) / 2
    total_s = sum(spent.values())
    print(
        f"{cells} cells, of which each takes {1000 * mean_s:.2f} ms when run alone "
        f"({1000 * run_before_s:.2f} before, {1000 * run_after_s:.2f} after)"
    )
    for name, seconds in spent.items():
        print(f"{name}: {seconds:.1f} s of processor time, {1000 * seconds / cells:.3f} ms a cell")
    print(f"efficiency: {100 * cells * mean_s / total_s:.1f} %; wall clock {wall_s:.0f} s")
    print(f"memory of this process over time, MiB: {memory.parts()}; store {size / cells:.0f} B/cell")


if __name__ == "__main__":
    main()
