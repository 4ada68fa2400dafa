"""What placement by capacities and clocks alone loses against the powers that boards draw: how the
constants of docs/rules/energy-no-watts.md were chosen.

    python3 scripts/no-watts.py            # each board under several models
    python3 scripts/no-watts.py --grid     # other constants

Of each board 600 landscapes are drawn: utilisations of all CPUs, up to 0, 10, 25 or 45 % of their
capacity, and a task of 1 to 40 % of the biggest CPU. A model puts the task into the performance
domain where it adds least (the kernel's estimate: cost of the state x busy time, 25 % of headroom,
the CPU with most spare capacity of each domain). A figure is what the chosen domains draw more, by
the board's powers, over what the best ones would have: 1.000 is no loss. Nothing is simulated:
there is no idle power, no cluster's own power, and clocks are at once what is needed.
"""

import csv
import io
import pathlib
import random
import sys
import tomllib

PLATFORMS = pathlib.Path(__file__).resolve().parent.parent / "platforms"
LANDSCAPES = 600
# The constants were chosen on the first group. The form (capacity, not work per cycle) was chosen
# with sm8750 in view as well.
CHOSEN_ON = ["hikey960", "juno-r0", "gs101", "rk3588"]
FORM_ONLY = ["sm8750"]
HELD_BACK = ["tensor-g4", "tensor-g5", "mt6897", "rk3399", "sdm845", "mt8183", "mt8186", "juno-r2"]


def cpus_of(text, clusters):
    """The numbers of a list as `0-3,5`, or of a cluster."""
    ends = (part.partition("-") for part in clusters.get(text, text).split(","))
    return [cpu for low, _, high in ends for cpu in range(int(low), int(high or low) + 1)]


def measured(board):
    """(first CPU, kHz) to uW of a busy CPU, beside the lowest clock of the others."""
    table = board.get("measured_power", {})
    rows = [row for part in ("cpu_1d", "cpu_2d") if part in table
            for row in csv.DictReader(io.StringIO(table[part].strip()))]
    rows.sort(key=lambda row: -float(row.get("dep_freq") or 0))
    return {(int(row["policy"]), int(row["freq_khz"])): 1e3 * float(row["active"]) for row in rows}


def domains(name):
    """Of each performance domain its capacity, its number of CPUs, and (x, uW drawn, uW believed)
    of its states; x is the share of its top clock."""
    with open(PLATFORMS / f"{name}.toml", "rb") as file:
        board = tomllib.load(file)
    cores = [core for cluster in board["cluster"] for core in cluster["cores"]]
    clusters = {c["name"]: ",".join(core["cpus"] for core in c["cores"]) for c in board["cluster"]}
    capacity = {cpu: core["capacity"] for core in cores for cpu in cpus_of(core["cpus"], {})}
    table = measured(board)
    for domain in board["frequency_domain"]:
        cpus = cpus_of(domain["cpus"], clusters)
        top = domain["opps"][-1]["khz"]
        states = []
        for opp in domain["opps"]:
            uw = table.get((min(cpus), opp["khz"]))
            drawn = opp["cpu_uw"] + opp.get("work_uw", 0) if uw is None else uw
            states.append((opp["khz"] / top, drawn, opp.get("em_uw", opp.get("cpu_uw"))))
        yield capacity[cpus[0]], len(cpus), states


def drawn(capacity, state):
    return state[1] / (capacity * state[0])


def believed(capacity, state):
    return state[2] / (capacity * state[0])


def small_first(capacity, state):
    return capacity + state[0]


def by_size(share, slope):
    """The rule: `share` of the biggest CPU's power is any busy CPU's, the rest is by the square of
    the capacity; `slope` of the cost at the top is by the square of the clock. It has 1/5, 1/5."""
    def cost(capacity, state):
        size = capacity / 1024
        return (share + (1 - share) * size**2) / size * (1 - slope + slope * state[0] ** 2)
    return cost


def landscapes(board):
    """(utilisations of each domain's CPUs, utilisation of the task)."""
    draw = random.Random(1).random
    for _ in range(LANDSCAPES):
        most = [0.0, 0.1, 0.25, 0.45][int(4 * draw())]
        utils = [[most * draw() * capacity for _ in range(count)] for capacity, count, _ in board]
        yield utils, 1024 * 0.01 * 40 ** draw()


def cost_at(table, util):
    """The cost of the first state that holds the utilisation and the headroom, else the last's."""
    return next((cost for top, cost in table if top >= 1.25 * util), table[-1][1])


def adds(table, utils, task):
    """What the task adds to a domain, on its CPU with most spare capacity."""
    least = utils.index(min(utils))
    there = [util + task * (cpu == least) for cpu, util in enumerate(utils)]
    return cost_at(table, max(there)) * sum(there) - cost_at(table, max(utils)) * sum(utils)


def loss(name, model):
    """What the model's choices draw over what the best ones draw."""
    board = list(domains(name))
    tables = [[[(capacity * state[0], of(capacity, state)) for state in states]
               for capacity, _, states in board] for of in (drawn, model)]
    chosen = best = 0.0
    for utils, task in landscapes(board):
        fits = [d for d, (capacity, _, _) in enumerate(board)
                if min(utils[d]) + task < 0.8 * capacity]
        if len(fits) > 1:
            true, seen = ({d: adds(table[d], utils[d], task) for d in fits} for table in tables)
            chosen += true[min(fits, key=seen.get)]
            best += min(true.values())
    return chosen / best


def mean(values):
    return sum(values) / len(values)


def main():
    boards = CHOSEN_ON + FORM_ONLY + HELD_BACK
    if sys.argv[1:] == ["--grid"]:
        print("share slope   chosen on   held back")
        for share in (0, 1 / 20, 1 / 10, 3 / 20, 1 / 5, 1 / 4):
            for slope in (1 / 10, 1 / 5, 1 / 4, 1 / 3, 1 / 2):
                model = by_size(share, slope)
                groups = (mean([loss(name, model) for name in group])
                          for group in (CHOSEN_ON, HELD_BACK))
                print(f"{share:5.2f} {slope:5.2f}" + "".join(f"{value:12.3f}" for value in groups))
        return
    models = {"believed": believed, "small first": small_first, "rule": by_size(1 / 5, 1 / 5)}
    print(f"{'board':12}" + "".join(f"{name:>13}" for name in models))
    for name in boards:
        print(f"{name:12}" + "".join(f"{loss(name, model):13.3f}" for model in models.values()))


if __name__ == "__main__":
    main()
