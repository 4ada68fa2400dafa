# ---
# jupyter:
#   kernelspec: {name: python3, display_name: Python 3, language: python}
# ---
# %% [markdown]
# # Five parameters on ten platforms with twenty seeds
#
# A Latin hypercube covers five parameters of load balancing evenly with few points. Every point runs
# on every platform with every seed: 8 x 10 x 20 runs. The store keeps them, so that a second call
# only reads.

# %%
import pathlib
import tempfile

import altair
import polars
import wakeplace as wp

PLATFORMS = [
    "hikey960", "hikey620", "juno-r0", "juno-r2", "rk3399",
    "rk3588", "sdm845", "gs101", "mt8183", "mt8186",
]
PARAMETERS = {
    "busy_factor": "4..64",
    "imbalance_pct": "105..150",
    "nr_migrate": "4..64",
    "migration_cost_ns": "50000..2000000",
    "power_full_util": "50..100",
}

folder = pathlib.Path(tempfile.mkdtemp())
sweep = wp.sweep(
    PLATFORMS,
    "periodic:n=12,duty=20%",
    "wakeplace:mode=powersave",
    vary=PARAMETERS,
    latin_hypercube=8,
    seeds=20,
    duration="100ms",
    store=folder / "runs.sqlite",
)
print(sweep)

# %% [markdown]
# Energy of each point against that of the platform's first point.

# %%
runs = sweep.to_polars()
points = runs.group_by("platform", *PARAMETERS, maintain_order=True).agg(
    polars.col("cpu_energy_j").mean()
)
first = polars.col("cpu_energy_j").first().over("platform")
points = points.with_columns(
    polars.col(list(PARAMETERS)).cast(polars.Float64),
    change_pct=100 * (polars.col("cpu_energy_j") / first - 1),
)
chart = (
    altair.Chart(points.unpivot(PARAMETERS, index=["platform", "change_pct"]))
    .mark_point()
    .encode(
        altair.X("value:Q").title(None).scale(zero=False),
        altair.Y("change_pct:Q").title("energy of the CPUs, change %"),
        color="platform:N",
        facet=altair.Facet("variable:N", columns=3).title(None),
    )
    .resolve_scale(x="independent")
)
chart.save(folder / "sweep.html")
print(f"the plot is in {folder / 'sweep.html'}")
chart
