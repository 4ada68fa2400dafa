# ---
# jupyter:
#   kernelspec: {name: python3, display_name: Python 3, language: python}
# ---
# %% [markdown]
# # Thresholds of `wakeplace`, tuned with Optuna
#
# Energy and the 99th percentile of wake-up latency pull apart, so the result is a set of settings of
# which none is better in both (Pareto). Settings are tuned on some platforms and judged on others,
# which the search never sees. The result is a page to read, not a default.
#
# `python examples/tune.py --trials 40` writes a Markdown page to standard output.

# %%
import argparse
import math

import optuna
import wakeplace as wp

TUNED_ON = ["hikey960", "juno-r0", "rk3399", "snb-ep-2s"]
HELD_BACK = ["sdm845", "gs101", "juno-r2", "wsm-ep-2s"]
WORKLOADS = ["periodic:n=6,duty=10%", "periodic:n=24,period=16ms,duty=8%"]
BASE = "wakeplace:mode=powersave"
#: Parameter, lowest, highest, and whether it is drawn by its logarithm.
THRESHOLDS = [
    ("power_full_util", 50, 100, False),
    ("power_small_factor", 1, 64, True),
    ("power_small_room_powersaving", 20, 100, False),
    ("migration_cost_ns", 50_000, 5_000_000, True),
    ("imbalance_pct", 105, 150, False),
]
METRICS = ["cpu_energy_j", "wake_latency_us_p99"]


# %%
def changes(settings, platforms, how):
    """Geometric mean of the ratios to the base policy, run by run with the same seed, for each
    metric; 0.95 is 5 % less. Runs without the metric, or with a 0, do not count."""
    policy = BASE + "".join(f",{key}={value}" for key, value in settings.items())
    table = wp.compare(platforms, WORKLOADS, [BASE, policy], **how).to_arrow()
    rows = table.select(["platform", "workload", "policy", "seed", *METRICS]).to_pylist()
    of = {(r["platform"], r["workload"], r["seed"], r["policy"]): r for r in rows}
    found = []
    for metric in METRICS:
        logs = []
        for (platform, workload, seed, name), row in of.items():
            before = of[platform, workload, seed, BASE][metric]
            if name != BASE and before and row[metric]:
                logs.append(math.log(row[metric] / before))
        found.append(math.exp(sum(logs) / len(logs)))
    return found


def tune(trials, how):
    """The trials of which none is better in both metrics."""

    def objective(trial):
        settings = {
            key: trial.suggest_int(key, low, high, log=log) for key, low, high, log in THRESHOLDS
        }
        return changes(settings, TUNED_ON, how)

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=1)
    study = optuna.create_study(directions=["minimize"] * len(METRICS), sampler=sampler)
    study.optimize(objective, n_trials=trials)
    return study.best_trials


def percent(ratio):
    return f"{100 * (ratio - 1):+.2f} %"


def page(best, trials, how):
    """The Pareto set, on the platforms of the search and on those held back."""
    print(f"# Thresholds of `{BASE}`: {trials} trials\n")
    print(f"Tuned on {', '.join(TUNED_ON)}; held back: {', '.join(HELD_BACK)}. Workloads:")
    print(f"{', '.join(f'`{w}`' for w in WORKLOADS)}; {how['seeds']} seeds of {how['duration']}.")
    print("Changes are against the defaults; less is better.\n")
    names = [key for key, *_ in THRESHOLDS]
    heads = [f"{metric}, {where}" for where in ("tuned", "held back") for metric in METRICS]
    print("| " + " | ".join([*names, *heads]) + " |")
    print("|" + "--:|" * (len(names) + len(heads)))
    for trial in sorted(best, key=lambda trial: trial.values):
        held_back = changes(trial.params, HELD_BACK, how)
        cells = [str(trial.params[name]) for name in names]
        cells += [percent(ratio) for ratio in (*trial.values, *held_back)]
        print("| " + " | ".join(cells) + " |")


# %%
if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--duration", default="1s")
    args, _ = parser.parse_known_args()
    how = {"seeds": args.seeds, "duration": args.duration}
    page(tune(args.trials, how), args.trials, how)
