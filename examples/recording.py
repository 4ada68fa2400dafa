# ---
# jupyter:
#   kernelspec: {name: python3, display_name: Python 3, language: python}
# ---
# %% [markdown]
# # A recording as a workload
#
# A trace of the kernel's scheduler events (ftrace text, `trace-cmd report`, `perf script`, Perfetto)
# says who ran and slept how long, and who woke whom. It is simulated under other policies than the
# one it was recorded under. Every seed gives the same run of it, unless `jitter` draws start phases
# and run times. Run this from the repository's root, or name a file of your own.

# %%
import wakeplace as wp

result = wp.compare(
    platform="hikey960",
    workload="trace:crates/trace/tests/data/by_hand.txt",
    policy=["linux-4.17", "linux-7.3"],
    jitter="start=1ms,run=10%",
    seeds=10,
)
print(result)

# %%
result.plot()

# %%
runs = result.to_polars()
print(runs.select("policy", "seed", "cpu_energy_j", "migrations_total"))
for warning in result["warnings"]:
    print("warning:", warning)
