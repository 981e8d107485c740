#!/usr/bin/env python3
"""Optuna over the trainings of bench_real: prefixes with the best round kept, rungs from 3 rounds, the same budgets in rounds,
simulated workers, snapping to the table's configurations, and the same regret; with --live over those of bench_live, which
train_lines makes when they are asked for. ../README.md says how to get an Optuna that does not disturb the system.

Written as the lines that bench_real --csv writes, so that bench_real and bench_live can have them in their plots.
"""

import argparse
import heapq
import json
import math
import multiprocessing
import os
import shlex
import subprocess
import sys
import time

import numpy as np
import optuna

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from optuna_side_by_side import half_width, number, read_csv  # noqa: E402

ROUNDS = 81
RUNGS = (3, 9, 27, 81)
RECORDED = (1, 3, 9, 27, 81)
AXES = ("resource", "test")
PRUNERS = {
    "hyperband": lambda: optuna.pruners.HyperbandPruner(RUNGS[0], ROUNDS, 3),
    "successive halving": lambda: optuna.pruners.SuccessiveHalvingPruner(RUNGS[0], 3),
}


class RealTable:
    """cost[row, round - 1] of prefixes, seconds per round, the rows in the unit cube of the job's search space, and regret."""

    def __init__(self, path):
        with open(path) as file:
            job = json.load(file)
        header, rows = read_csv(path[: -len(".json")] + ".csv.gz")
        self.name = job["name"]
        self.maximize = job["objective"]["goal"] == "maximize"
        self.seconds_per_round = np.array([float(row[header.index("seconds_per_unit")]) for row in rows])

        def costs(metric, rounds):
            values = np.array([[number(row[header.index(f"{metric}_{r}")]) for r in rounds] for row in rows])
            return -values if self.maximize else values

        self.prefixes = costs("prefix", range(1, ROUNDS + 1))
        self.test_costs = dict(zip(RECORDED, costs("prefix-test", RECORDED).T))
        self.taken = np.zeros(len(rows), dtype=bool)
        self.scales = {"resource": self.scale(costs, ""), "test": self.scale(costs, "-test")}
        self.set_space(header, rows, job["search_space"])

    def scale(self, costs, suffix):
        """The best of the table at any rung of any fidelity, and the median after a full training."""
        rounds = RECORDED if suffix else range(1, ROUNDS + 1)
        prefix, shrinkage = costs("prefix" + suffix, rounds), costs("shrinkage" + suffix, RECORDED)
        return min(np.nanmin(prefix), np.nanmin(shrinkage)), np.sort(prefix[:, -1])[(len(prefix) - 1) // 2]

    def regret(self, axis, row, rung):
        best, median = self.scales[axis]
        cost = self.cost(row, rung) if axis == "resource" else self.test_cost(row, rung)
        return min(1.0, float((cost - best) / (median - best)))

    def set_space(self, header, rows, space):
        self.distributions, self.columns, units = {}, [], []
        for name, domain in space.items():
            log, least, most = domain["scale"] == "log", domain["min"], domain["max"]
            integer = domain["type"] == "int"
            of_type = optuna.distributions.IntDistribution if integer else optuna.distributions.FloatDistribution
            self.distributions[name] = of_type(least, most, log=log)
            ends = (least - 0.5, most + 0.5) if integer else (least, most)
            cells = np.array([float(row[header.index(name)]) for row in rows])
            self.columns.append((name, log, *ends, cells))
            units.append(self.unit(cells, log, *ends))
        self.units = np.stack(units, axis=1)

    @staticmethod
    def unit(value, log, least, most):
        return np.log(value / least) / math.log(most / least) if log else (value - least) / (most - least)

    def start(self, trial):
        """The nearest row that is free. Optuna learns of it: the trial's parameters are set to the row's."""
        point = np.array([self.unit(trial.params[name], log, least, most) for name, log, least, most, _ in self.columns])
        distance = ((self.units - point) ** 2).sum(axis=1)
        distance[self.taken] = np.inf
        row = int(distance.argmin())
        self.taken[row] = True
        for name, _, _, _, cells in self.columns:
            distribution = self.distributions[name]
            value = min(max(cells[row], distribution.low), distribution.high)
            trial.storage.set_trial_param(trial._trial_id, name, float(value), distribution)
        return row

    def exhausted(self):
        return self.taken.all()

    def cost(self, row, rung):
        return self.prefixes[row, rung - 1]

    def test_cost(self, row, rung):
        return self.test_costs[rung][row]

    def pace(self, row):
        """Seconds of a round."""
        return self.seconds_per_round[row]

    def price(self, row, done, until):
        """What it takes of the budget, in the unit of a training's."""
        return until - done

    def training(self):
        """The price of a full training."""
        return ROUNDS


class LiveTable(RealTable):
    """A table for the scale of the regret alone: whatever is proposed is trained, at an equal pace."""

    def __init__(self, path, command, seed, processor):
        super().__init__(path)
        self.processor = processor
        self.program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.first, self.configurations, self.answers = seed * 10_000, [], {}

    def start(self, trial):
        self.configurations.append(trial.params)
        return len(self.configurations) - 1

    def exhausted(self):
        return False

    def answer(self, row, rung):
        if (row, rung) not in self.answers:
            question = {"dataset": self.name, "index": self.first + row, "rounds": rung}
            question["configuration"] = self.configurations[row]
            print(json.dumps(question), file=self.program.stdin, flush=True)
            self.answers[row, rung] = json.loads(self.program.stdout.readline())
        return self.answers[row, rung]

    def cost(self, row, rung, rows="validation"):
        value = self.answer(row, rung)[rows]
        return -value if self.maximize else value

    def test_cost(self, row, rung):
        return self.cost(row, rung, "test")

    def pace(self, row):
        return 1

    def price(self, row, done, until):
        if not self.processor:
            return super().price(row, done, until)
        return max(0, self.answer(row, until)["seconds"] - (self.answer(row, done)["seconds"] if done else 0))

    def training(self):
        """In seconds the mean of the table."""
        return self.seconds_per_round.mean() * ROUNDS if self.processor else super().training()

    def close(self):
        self.program.stdin.close()
        self.program.wait()


class Run:
    """One study: a heap of workers' next rounds, at which a trial reports and may be pruned."""

    def __init__(self, table, pruner, workers, seed, budget_max):
        self.table, self.workers, self.most = table, workers, budget_max * table.training()
        # For parallel workers Optuna's documentation advises the constant liar.
        sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=workers > 1)
        direction = "maximize" if table.maximize else "minimize"
        name = f"{table.name}-{seed}"  # of which Hyperband's pruner draws a trial's bracket
        self.study = optuna.create_study(sampler=sampler, pruner=PRUNERS[pruner](), direction=direction, study_name=name)
        self.heap, self.order, self.now = [], 0, 0.0

    def begin(self):
        trial = self.study.ask(self.table.distributions)
        self.push(trial, self.table.start(trial), 0)

    def push(self, trial, row, done):
        """A trial reports only at rungs: its pruner looks nowhere else."""
        self.order += 1
        until = min(rung for rung in RUNGS if rung > done)
        end = self.now + (until - done) * self.table.pace(row)
        heapq.heappush(self.heap, (end, self.order, trial, row, done, until))

    def under_way(self):
        return sum(until - done - (end - self.now) / self.table.pace(row)
                   for end, _, _, row, done, until in self.heap)

    def incumbents(self):
        """(spent, row, rung) of each trial that was better than all before."""
        found, best, spent = [], math.inf, 0
        for _ in range(self.workers):
            self.begin()
        while self.heap and spent <= self.most:
            self.now, _, trial, row, done, until = heapq.heappop(self.heap)
            spent += self.table.price(row, done, until)
            cost = self.table.cost(row, until)
            if cost < best:
                best = cost
                found.append((spent + self.under_way(), row, until))
            value = float(-cost if self.table.maximize else cost)
            trial.report(value, until)
            if until < ROUNDS and not trial.should_prune():
                self.push(trial, row, until)
                continue
            if until == ROUNDS:
                self.study.tell(trial, value)
            else:
                self.study.tell(trial, state=optuna.trial.TrialState.PRUNED)
            if not self.table.exhausted():
                self.begin()
        return found


def one_run(cell):
    """By axis, the regret at each budget."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    path, pruner, workers, seed, budgets, live, processor = cell
    table = LiveTable(path, shlex.split(live), seed, processor) if live else RealTable(path)
    found = Run(table, pruner, workers, seed, max(budgets)).incumbents()

    def at(axis, budget):
        reached = [(row, rung) for spent, row, rung in found if spent <= budget * table.training()]
        return table.regret(axis, *reached[-1]) if reached else 1.0

    by_axis = [[at(axis, budget) for budget in budgets] for axis in AXES]
    if live:
        table.close()
    return cell, table.name, by_axis


def print_table(title, budgets, methods):
    """methods: name -> axis, budget -> seed -> regrets of the data sets."""
    print(f"\n### {title}\n\n| method |" + "".join(f" {b:g} R |" for b in budgets) + f" {budgets[-1]:g} R, test |")
    print("|---|" + "--:|" * (len(budgets) + 1))
    for name, by_cell in methods.items():
        cells = [by_cell["resource", budget] for budget in budgets] + [by_cell["test", budgets[-1]]]
        means = [[np.mean(regrets) for regrets in by_seed.values()] for by_seed in cells]
        print(f"| {name} |" + "".join(f" {np.mean(sample):.3f} ± {half_width(sample):.3f} |" for sample in means))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", required=True)
    parser.add_argument("--pruner", nargs="*", default=list(PRUNERS), choices=list(PRUNERS))
    parser.add_argument("--workers", nargs="*", type=int, default=[1, 8])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--budgets", nargs="*", type=float, default=[3, 6, 10, 20])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--live", help="train what is proposed by this: build/bench/bin/train_lines --bank bank7000.csv")
    parser.add_argument("--processor", action="store_true",
                        help="with --live and one worker: R is the processor time of a full training of random parameters")
    parser.add_argument("--csv", help="write every run's regrets here, in the columns of bench_real --csv")
    arguments = parser.parse_args()
    if arguments.processor and (not arguments.live or arguments.workers != [1]):
        parser.error("--processor goes with --live and --workers 1")
    paths = sorted(os.path.join(arguments.tables, f) for f in os.listdir(arguments.tables) if f.endswith(".json"))
    began, lines = time.time(), ["table,method,workers,seed,axis,budget,regret"]
    with multiprocessing.Pool(arguments.processes) as pool:
        for workers in arguments.workers:
            methods = {}
            cells = [(path, pruner, workers, seed, arguments.budgets, arguments.live, arguments.processor)
                     for pruner in arguments.pruner for seed in range(arguments.seeds) for path in paths]
            for (_, pruner, _, seed, budgets, *_), table, by_axis in pool.imap(one_run, cells):
                method = f"Optuna {optuna.__version__} TPE + {pruner}"
                for axis, regrets in zip(AXES, by_axis):
                    for budget, regret in zip(budgets, regrets):
                        lines.append(f'{table},"{method}",{workers},{seed},{axis},{budget:g},{regret:.6f}')
                        by_cell = methods.setdefault(method, {}).setdefault((axis, budget), {})
                        by_cell.setdefault(seed, []).append(regret)
            title = f"{len(paths)} data sets, {workers} worker{'s' * (workers != 1)}, {arguments.seeds} runs of each"
            print_table(title, arguments.budgets, methods)
    if arguments.csv:
        with open(arguments.csv, "w") as file:
            file.write("\n".join(lines) + "\n")
    print(f"\n{time.time() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
