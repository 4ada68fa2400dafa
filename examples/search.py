"""A search that knows what it found: parameters of `wakeplace`, by `wakeplace.evaluate`.

An evolution of random settings: the better half lives on and is tried with more seeds, and new
ones are made of it. The best is then judged on boards and seeds that the search has not seen: on
those that it has seen, it looks better than it is, since it was chosen there.

`python examples/search.py` writes a Markdown page to standard output, in less than two minutes on
two cores. The result is a page to read, not a default. It needs the package `wakeplace` alone.
"""

import argparse
import math
import random

import wakeplace as wp

DEFAULT = "wakeplace"
#: The boards that the search sees; it sees seeds from 1 on.
SEEN = ["hikey960", "sm8750"]
#: Those that it does not see.
UNSEEN = ["rk3588", "gs101"]
FIRST_UNSEEN_SEED = 101
#: Parameter, lowest, highest, and whether it is drawn by its logarithm.
SPACE = [
    ("runnable_boost_pct", 0, 100, False),
    ("busy_factor", 2, 64, True),
    ("imbalance_pct", 105, 150, False),
    ("migration_cost_ns", 50_000, 5_000_000, True),
    ("power_full_util", 50, 100, False),
]
#: How far a child is from its parents, of the width of each range.
STEP = 0.15


def drawn(rng, low, high, by_log):
    if by_log:
        return round(math.exp(rng.uniform(math.log(low), math.log(high))))
    return rng.randint(low, high)


def child(rng, one, other):
    """Each parameter of one parent or the other, and a step away."""
    settings = {}
    for key, low, high, by_log in SPACE:
        value = rng.choice((one, other))[key]
        step = rng.gauss(0, STEP)
        if by_log:
            value = round(math.exp(math.log(value) + step * math.log(high / low)))
        else:
            value = round(value + step * (high - low))
        settings[key] = min(max(value, low), high)
    return settings


def policy(settings):
    return f"{DEFAULT}:" + ",".join(f"{key}={value}" for key, value in settings.items())


def score(settings, seeds, how):
    """How many times as good as the default; nothing is worse than a candidate that fails."""
    try:
        found = wp.evaluate(policy(settings), base=DEFAULT, platform=SEEN, seeds=seeds, **how)
    except wp.WakeplaceError as error:
        if "is the base" in str(error):
            return 1.0  # the default's own parameters
        raise
    return -math.inf if found.score is None else found.score


def search(args, how):
    """The best settings, their score where the search looked, and how many were tried."""
    rng = random.Random(args.seed)
    crowd = [
        {key: drawn(rng, low, high, by_log) for key, low, high, by_log in SPACE}
        for _ in range(args.population)
    ]
    tried = {}
    for generation in range(1, args.generations + 1):
        # Whoever lives on is tried with one seed more each time.
        ranked = sorted(crowd, key=lambda one: score(one, generation, how), reverse=True)
        tried |= {policy(one): None for one in crowd}
        crowd = ranked[: max(2, len(ranked) // 2)]
        if generation < args.generations:
            parents = list(crowd)
            children = [child(rng, *rng.sample(parents, 2)) for _ in range(len(parents) // 2)]
            crowd += children
    best = crowd[0]
    return best, score(best, args.generations, how), len(tried)


def between(ends):
    return "" if ends is None else f"{ends[0]:.3f} to {ends[1]:.3f}"


def verdict(found):
    """The sentence that the search comes to."""
    gain = 100 * (found.score - 1)
    low, high = found["score_ci95"] or (found.score, found.score)
    if low <= 1 <= high:
        return f"It is not told from the default there ({gain:+.1f} %; the interval has 1 in it)."
    word = "beats" if gain > 0 else "loses to"
    return f"It {word} the default there by {abs(gain):.1f} %."


def page(args, how):
    best, seen, tried = search(args, how)
    last = FIRST_UNSEEN_SEED + args.judges - 1
    unseen = wp.evaluate(
        policy(best), base=DEFAULT, platform=UNSEEN, seeds=f"{FIRST_UNSEEN_SEED}..{last}", **how
    )
    print(f"# A search of {len(SPACE)} parameters of `{DEFAULT}`\n")
    print(f"Written by `python examples/search.py`, wakeplace {wp.__version__}. A page to read, not")
    print("a default. Scores are those of `wakeplace evaluate`: 1 is like the default, more is better.")
    print(f"\n{tried} settings were tried on {', '.join(SEEN)}, with seeds from 1 on. The best:\n")
    for key, value in best.items():
        print(f"- `{key}={value}`")
    print(f"\n| where | score | 95 % interval |\n|:--|--:|:--|\n| what the search saw | {seen:.3f} | |")
    if unseen.score is None:
        print("\nOn what it did not see it fails:", unseen["failures"][0]["reason"])
        return
    where = f"{', '.join(UNSEEN)}, seeds {FIRST_UNSEEN_SEED} to {last}"
    print(f"| {where}: unseen | {unseen.score:.3f} | {between(unseen['score_ci95'])} |")
    for part in unseen["parts"]:
        print(f"| unseen, {part['goal']} alone | {part['score']:.3f} | {between(part['ci95'])} |")
    print(f"\n{verdict(unseen)}\n\nThe judgement again: `{unseen.command}`")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--population", type=int, default=16)
    parser.add_argument("--generations", type=int, default=4)
    parser.add_argument("--judges", type=int, default=8, help="seeds of the judgement")
    parser.add_argument("--seed", type=int, default=1, help="of the search's own choices")
    parser.add_argument("--battery", default="small")
    parser.add_argument("--duration", help="of every run, instead of the battery's")
    args = parser.parse_args()
    page(args, {"battery": args.battery, "duration": args.duration})
