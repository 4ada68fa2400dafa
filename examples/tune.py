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
#: Seeds of the judgement.
JUDGES = 10


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


def table(heads, rows):
    print("| " + " | ".join(heads) + " |")
    print("|" + ":--|" * len(heads))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def judged(settings, how):
    """One setting on each held-back platform with each workload: change, interval and word."""
    policy = BASE + "".join(f",{key}={value}" for key, value in settings.items())
    result = wp.compare(HELD_BACK, WORKLOADS, [BASE, policy], **(how | {"seeds": JUDGES}))
    for comparison in result["comparisons"]:
        of = {delta["metric"]: delta for delta in comparison["deltas"]}
        run = comparison["runs"][0]
        for metric in METRICS:
            delta = of[metric]
            low, high = delta["ci95"] or (None, None)
            interval = "" if low is None else f"{low:+.2f} to {high:+.2f} %"
            change = "" if delta["delta_pct"] is None else f"{delta['delta_pct']:+.2f} %"
            where = (run["platform"], f"`{run['workload']}`", metric)
            yield *where, change, interval, delta["difference"] or "no change"


def page(best, args, how):
    """The Pareto set, on the platforms of the search and on those held back."""
    print(f"# Thresholds of `{BASE}`, tuned\n")
    print(f"Written by `python examples/tune.py --trials {args.trials} --seeds {args.seeds}", end="")
    print(f" --duration {args.duration}`, wakeplace {wp.__version__}. A page to read, not a default.")
    print()
    print(f"Tuned on {', '.join(TUNED_ON)}. Held back: {', '.join(HELD_BACK)}. Workloads:")
    print(f"{', '.join(f'`{w}`' for w in WORKLOADS)}.")
    print("Changes are geometric means of the ratios to the defaults, run by run; less is better.\n")
    print("## Settings of which none is better in both\n")
    names = [key for key, *_ in THRESHOLDS]
    heads = [f"{metric}, {where}" for where in ("tuned", "held back") for metric in METRICS]
    rows = []
    for trial in sorted(best, key=lambda trial: trial.values):
        ratios = (*trial.values, *changes(trial.params, HELD_BACK, how))
        rows.append([*(trial.params[name] for name in names), *map(percent, ratios)])
    table([*names, *heads], rows)
    # Less energy and less latency count alike.
    middle = min(best, key=lambda trial: math.prod(trial.values))
    print("## One of them, judged on machines that the search never saw\n")
    shown = ", ".join(f"`{key}={value}`" for key, value in middle.params.items())
    print(f"The one with the least product of both: {shown}.\n")
    print(f"{JUDGES} seeds; words with the margin of 1 % (docs/guide/results.md).\n")
    heads = ["platform", "workload", "metric", "change", "95 % interval", "difference"]
    rows = list(judged(middle.params, how))
    table(heads, rows)
    shown = sum(1 for row in rows if row[4])
    print(f"{shown} intervals of 95 %: about {shown / 20:.2g} of them are expected to miss the true")
    print("change by chance.")


# %%
if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--duration", default="1s")
    args, _ = parser.parse_known_args()
    how = {"seeds": args.seeds, "duration": args.duration}
    page(tune(args.trials, how), args, how)
