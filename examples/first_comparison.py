# ---
# jupyter:
#   kernelspec: {name: python3, display_name: Python 3, language: python}
# ---
# %% [markdown]
# # A first comparison
#
# Four small periodic tasks on a phone's board, under two placement policies. Open this file as a
# notebook with jupytext, or run it.

# %%
import wakeplace as wp

result = wp.compare(
    platform="hikey960",
    workload="periodic:n=4,duty=5%",
    policy=["linux-4.17", "linux-4.17+energy-aware"],
    seeds=5,
    duration="1s",
)
print(result)

# %% [markdown]
# The sentences say which differences are more than chance and larger than the margin of 1 %.

# %%
for verdict in result["verdicts"]:
    print(verdict["text"])

# %% [markdown]
# Charts are those of the page that `wakeplace report` makes; `result.charts()` has all of them.

# %%
result.plot()

# %% [markdown]
# Every run is a row; a metric is a column with its unit at the end of its name.

# %%
runs = result.to_polars()
print(runs.select("policy", "seed", "energy_j", "wake_latency_us_p99", "migrations_total"))
