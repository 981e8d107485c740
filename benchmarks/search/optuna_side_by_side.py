#!/usr/bin/env python3
"""Optuna over the same recorded learning curves as bench_search: the same budgets, simulated workers, snapping to the table's
configurations, and the same regret. README.md beside this says how to get an Optuna that does not disturb the system.

Optuna is driven through study.ask and study.tell. A trial reports after every unit of resource (from the third on after every
`stride`) and is pruned when its pruner says so. Its parameters are set to those of the table's row that stands for it, so that
the sampler learns of what was measured. As in Tuneband, the best trial so far is the one with the best value at a rung's level
(eta 3, from max_resource down): of all reports the best one would often be a peak before overfitting.
"""

import argparse
import csv
import gzip
import heapq
import math
import multiprocessing
import os
import sys
import time

import numpy as np
import optuna

FAMILIES = {
    "lcbench": ("val_accuracy", "maximize", 52, 1),
    "taskset": ("valid_loss", "minimize", 50, 1),
    "xgboost": ("val_auc", "maximize", 243, 3),
}
LOG_SCALE_RATIO_MIN = 9
AXES = ("resource", "time")
COLUMNS = ("table", "method", "workers", "seed", "axis", "budget", "regret")


def read_csv(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def is_measured(name):
    prefix, _, digits = name.rpartition("_")
    return bool(prefix) and digits.isdigit()


def table_name(path):
    return os.path.basename(path).split(".")[0]


def number(cell):
    return float(cell) if cell else math.nan


def ladder(max_resource, eta=3):
    levels, divisor = {max_resource}, eta
    while divisor <= max_resource:
        levels.add((2 * max_resource + divisor) // (2 * divisor))
        divisor *= eta
    return levels


class Table:
    """values[row, resource - 1], seconds per unit, and the rows in the unit cube of the space that the columns span."""

    def __init__(self, path, metric, maximize, max_resource):
        header, rows = read_csv(path)
        self.max_resource = max_resource
        columns = [header.index(f"{metric}_{r}") for r in range(1, max_resource + 1)]
        self.values = np.array([[number(row[c]) for c in columns] for row in rows])
        time_columns = [(i, name) for i, name in enumerate(header) if name.startswith("time_") or name == "cpu_s_R"]
        self.seconds_per_unit = np.ones(len(rows))
        if time_columns:
            self.seconds_per_unit = np.array([float(row[time_columns[0][0]]) for row in rows]) / max_resource
        parameters = [i for i, n in enumerate(header) if not is_measured(n) and n not in ("config", "cpu_s_R")]
        if not parameters:
            ids = [row[header.index("config")] for row in rows]
            header, others = read_csv(os.path.join(os.path.dirname(path), "configs.csv.gz"))
            by_id = {row[header.index("config")]: row for row in others}
            rows = [by_id[i] for i in ids]
            parameters = [i for i, n in enumerate(header) if n != "config"]
        self.set_space(header, rows, parameters)
        cost = -self.values if maximize else self.values
        final = np.where(np.isfinite(cost[:, -1]), cost[:, -1], np.inf)
        best, median = final.min(), np.sort(final)[(len(final) - 1) // 2]
        self.cost = cost
        # of a row, if its cost at a rung was that: of this or of the final one, whichever is better
        self.regret = lambda row, cost: float(np.clip((min(cost, final[row]) - best) / (median - best), 0.0, 1.0))

    def set_space(self, header, rows, parameters):
        self.distributions, self.rows, columns = {}, [], []
        for i in parameters:
            cells = [row[i] for row in rows]
            integers = all(c.lstrip("-").isdigit() for c in cells)
            numbers = np.array([float(c) for c in cells])
            least, most, median = numbers.min(), numbers.max(), np.sort(numbers)[len(numbers) // 2]
            log = False
            if least > 0 and most / least >= LOG_SCALE_RATIO_MIN:
                linear = (median - least) / (most - least)
                log = abs(math.log(median / least) / math.log(most / least) - 0.5) < abs(linear - 0.5)
            if integers:
                self.distributions[header[i]] = optuna.distributions.IntDistribution(int(least), int(most), log=log)
                least, most = least - 0.5, most + 0.5
            else:
                self.distributions[header[i]] = optuna.distributions.FloatDistribution(least, most, log=log)
            columns.append((header[i], log, least, most, numbers))
        self.columns = columns
        self.units = np.stack([self.unit(numbers, *c[1:4]) for c in columns for numbers in [c[4]]], axis=1)

    @staticmethod
    def unit(value, log, least, most):
        return np.log(value / least) / math.log(most / least) if log else (value - least) / (most - least)

    def nearest_free(self, params, taken):
        point = np.array([self.unit(params[name], log, least, most) for name, log, least, most, _ in self.columns])
        distance = ((self.units - point) ** 2).sum(axis=1)
        distance[taken] = np.inf
        return int(distance.argmin())

    def row_params(self, row):
        return {name: numbers[row] for name, _, _, _, numbers in self.columns}


def make_study(table, pruner, workers, seed, maximize):
    pruners = {
        "hyperband": lambda: optuna.pruners.HyperbandPruner(1, table.max_resource, 3),
        "median": lambda: optuna.pruners.MedianPruner(),
    }
    # For parallel workers Optuna's documentation advises the constant liar.
    sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=workers > 1)
    return optuna.create_study(sampler=sampler, pruner=pruners[pruner](), direction="maximize" if maximize else "minimize")


def run(table, pruner, workers, seed, maximize, stride, budgets):
    """Regret at each budget: by resource spent, by time."""
    study = make_study(table, pruner, workers, seed, maximize)
    taken = np.zeros(len(table.values), dtype=bool)
    full = table.max_resource
    full_seconds = table.seconds_per_unit.mean() * full
    resource_end, seconds_end = max(budgets) * full, max(budgets) * full_seconds / workers
    incumbents, best, spent, now = [], math.inf, 0.0, 0.0
    heap, order = [], 0
    levels = ladder(full)

    def step_of(done):
        return 1 if done < 3 else min(stride - done % stride, full - done)

    def begin():
        nonlocal order
        trial = study.ask(table.distributions)
        row = table.nearest_free(trial.params, taken)
        taken[row] = True
        for name, value in table.row_params(row).items():
            distribution = table.distributions[name]
            value = min(max(value, distribution.low), distribution.high)
            trial.storage.set_trial_param(trial._trial_id, name, float(value), distribution)
        order += 1
        heapq.heappush(heap, (now + table.seconds_per_unit[row], order, trial, row, 1, 1))

    def under_way():
        return sum(step - (end - now) / table.seconds_per_unit[row] for end, _, _, row, _, step in heap)

    for _ in range(workers):
        begin()
    while heap and (spent <= resource_end or now <= seconds_end):
        now, _, trial, row, done, step = heapq.heappop(heap)
        spent += step
        value = float(table.values[row, done - 1])
        if done in levels and math.isfinite(value) and table.cost[row, done - 1] < best:
            best = table.cost[row, done - 1]
            incumbents.append((spent + under_way(), now, row, best))
        trial.report(value, done)
        if done == full:
            if math.isfinite(value):
                study.tell(trial, value)
            else:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
        elif trial.should_prune():
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        else:
            order += 1
            step = step_of(done)
            heapq.heappush(heap, (now + step * table.seconds_per_unit[row], order, trial, row, done + step, step))
            continue
        if not taken.all():
            begin()

    def at(axis, limit):
        reached = [incumbent for incumbent in incumbents if incumbent[axis] <= limit]
        return table.regret(*reached[-1][2:]) if reached else 1.0

    return [[at(0, b * full) for b in budgets], [at(1, b * full_seconds / workers) for b in budgets]]


def one_cell(cell):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    family, path, pruner, workers, seed, budgets = cell
    metric, goal, full, stride = FAMILIES[family]
    table = Table(path, metric, goal == "maximize", full)
    return cell, run(table, pruner, workers, seed, goal == "maximize", stride, budgets)


def half_width(sample):
    t95 = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
    n = len(sample)
    t = t95[n - 1] if n - 1 < len(t95) else 1.96 + 2.4 / (n - 1)
    return t * np.std(sample, ddof=1) / math.sqrt(n) if n > 1 else 0.0


class Regrets:
    """Of runs, by family of tables and number of workers, method, axis and budget: a mean over tables for each seed."""

    def __init__(self, budgets):
        self.budgets, self.families, self.lines = budgets, {}, []
        self.values = {}  # (family, workers) -> method -> (axis, budget) -> seed -> table -> regret

    def add(self, table, method, workers, seed, axis, budget, value):
        self.lines.append(f"{table},{method},{workers},{seed},{axis},{budget:g},{value:.6f}")
        of_method = self.values.setdefault((self.families[table], workers), {}).setdefault(method, {})
        of_method.setdefault((axis, budget), {}).setdefault(seed, {})[table] = value

    def cell(self, of_method, axis, budget):
        means = [np.mean(list(by_table.values())) for by_table in of_method[axis, budget].values()]
        return f" {np.mean(means):.3f} ± {half_width(means):.3f} |"

    def print_tables(self):
        for (family, workers), methods in self.values.items():
            runs = {len(seeds) for of_method in methods.values() for seeds in of_method.values()}
            print(f"\n### {family}, {workers} worker{'s' * (workers != 1)}, {' or '.join(map(str, sorted(runs)))} runs of each\n")
            print("| method |" + "".join(f" {b:g} R |" for b in self.budgets) + f" {self.budgets[-1]:g} R of time |")
            print("|---|" + "--:|" * (len(self.budgets) + 1))
            for method, of_method in methods.items():
                cells = [self.cell(of_method, "resource", b) for b in self.budgets]
                print(f"| {method} |" + "".join(cells) + self.cell(of_method, "time", self.budgets[-1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=os.environ.get("TUNEBAND_TABLES"))
    parser.add_argument("--family", nargs="*", default=list(FAMILIES))
    parser.add_argument("--pruner", nargs="*", default=["hyperband", "median"])
    parser.add_argument("--workers", nargs="*", type=int, default=[1, 8])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--budgets", nargs="*", type=float, default=[1, 3, 6, 10, 20, 30, 40])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--csv", help="write every run's regrets here, in the columns of bench_search --csv")
    parser.add_argument("--beside", nargs="*", default=[],
                        help="what --csv wrote here or in bench_search, for the same budgets: these methods stand in the "
                             "same tables")
    arguments = parser.parse_args()
    if not arguments.tables:
        parser.error("--tables or TUNEBAND_TABLES: a directory with the folders " + ", ".join(FAMILIES))
    began = time.time()
    regrets = Regrets(arguments.budgets)
    cells = []
    for family in arguments.family:
        folder = os.path.join(arguments.tables, family)
        paths = sorted(os.path.join(folder, f) for f in os.listdir(folder) if not f.startswith("configs."))
        regrets.families.update({table_name(path): family for path in paths})
        for workers in arguments.workers:
            for pruner in arguments.pruner:
                for seed in range(arguments.seeds):
                    cells += [(family, path, pruner, workers, seed, arguments.budgets) for path in paths]
    with multiprocessing.Pool(arguments.processes) as pool:
        for (_, path, pruner, workers, seed, budgets), by_axis in pool.imap(one_cell, cells):
            for axis, values in zip(AXES, by_axis):
                for budget, value in zip(budgets, values):
                    method = f"Optuna {optuna.__version__} TPE + {pruner}"
                    regrets.add(table_name(path), method, workers, seed, axis, budget, value)
    if arguments.csv:
        with open(arguments.csv, "w") as file:
            file.write("\n".join([",".join(COLUMNS)] + regrets.lines) + "\n")
    for path in arguments.beside:
        with open(path, newline="") as file:
            for line in csv.DictReader(file):
                if line["table"] in regrets.families and int(line["workers"]) in arguments.workers:
                    regrets.add(line["table"], line["method"].replace(" / ", "/"), int(line["workers"]), int(line["seed"]),
                                line["axis"], float(line["budget"]), float(line["regret"]))
    regrets.print_tables()
    print(f"\n{time.time() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
