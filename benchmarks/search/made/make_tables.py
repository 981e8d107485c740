#!/usr/bin/env python3
"""Learning curves of other kinds than boosting and the recorded nets: small trainings, made here.

    make_tables.py DIRECTORY

writes DIRECTORY/made/*.csv (seven real trainings: nets under three schedules, matrix factorisation, a linear model by gradient
descent, evolution strategies on a cart with a pole, a genetic algorithm) and DIRECTORY/crossing/*.csv (two formulas on which
early values mislead), which bench_search reads as folders `made` and `crossing`. Every curve has 50 values of `loss`, the less
the better. Seeds are fixed: the same numpy writes the same files.
"""

import os
import sys

import numpy as np

UNITS = 50


class Draws:
    """Hyperparameters of all configurations at once, each an array of shape (configurations,)."""

    def __init__(self, random, count):
        self.random = random
        self.count = count
        self.columns = {}

    def uniform(self, name, low, high):
        return self._add(name, self.random.uniform(low, high, self.count))

    def log(self, name, low, high):
        return self._add(name, np.exp(self.random.uniform(np.log(low), np.log(high), self.count)))

    def integer(self, name, low, high):
        return self._add(name, self.random.integers(low, high + 1, self.count))

    def choice(self, name, values):
        return self._add(name, self.random.choice(values, self.count))

    def _add(self, name, values):
        self.columns[name] = values
        return values


def write(folder, name, draws, losses):
    """losses: (configurations, UNITS). What is not finite is `nan`: the training diverged."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".csv"), "w") as file:
        names = list(draws.columns)
        file.write(",".join(["config", *names, *(f"loss_{r}" for r in range(1, UNITS + 1))]) + "\n")
        for i in range(draws.count):
            cells = [str(i)] + [f"{draws.columns[n][i]:.6g}" if draws.columns[n].dtype.kind == "f" else str(draws.columns[n][i])
                                for n in names]
            cells += [f"{value:.6g}" if np.isfinite(value) else "nan" for value in losses[i]]
            file.write(",".join(cells) + "\n")


# ---- nets -------------------------------------------------------------------------------------------------------------------


def blobs(random, rows, features, classes, noise):
    """Points around three centres for each class; a share `noise` of the labels is drawn anew."""
    centres = random.normal(size=(classes * 3, features)) * 1.2
    of = random.integers(0, classes * 3, rows)
    x = centres[of] + random.normal(size=(rows, features))
    y = of % classes
    wrong = random.random(rows) < noise
    y[wrong] = random.integers(0, classes, wrong.sum())
    return x, y


def nets(draws, random, schedule, data, rows_to_train, width_max=32, batch=50):
    """Nets of one hidden layer, all configurations side by side; the draws, and their losses on the rows that are not trained on.
    schedule: progress in [0, 1] to factors of the learning rate."""
    (x, x_test), (y, y_test) = (np.split(part, [rows_to_train]) for part in data)
    c = draws.columns
    classes = int(y.max()) + 1
    mask = (np.arange(width_max)[None, :] < c["width"][:, None]).astype(float)[:, None, :]
    scale = c.get("init_scale", np.ones(draws.count))[:, None, None]
    w1 = random.normal(size=(draws.count, x.shape[1], width_max)) * scale * np.sqrt(2 / x.shape[1])
    w2 = random.normal(size=(draws.count, width_max, classes)) * scale * np.sqrt(2 / c["width"])[:, None, None]
    b1, b2 = np.zeros((draws.count, 1, width_max)), np.zeros((draws.count, 1, classes))
    weights = [w1, b1, w2, b2]
    speeds = [np.zeros_like(w) for w in weights]
    momentum = c["momentum"][:, None, None]
    decay = c["weight_decay"][:, None, None]
    keep = 1 - c.get("dropout", np.zeros(draws.count))[:, None, None]
    smoothing = c.get("smoothing", np.zeros(draws.count))[:, None, None]
    steps = len(x) // batch
    losses = np.full((draws.count, UNITS), np.nan)
    for unit in range(UNITS):
        order = random.permutation(len(x))
        for step in range(steps):
            rows = order[step * batch:(step + 1) * batch]
            rate = (c["learning_rate"] * schedule(c, (unit + step / steps) / UNITS))[:, None, None]
            hidden = np.maximum(x[rows] @ w1 + b1, 0) * mask
            hidden *= (random.random(hidden.shape) < keep) / keep
            out = softmax(hidden @ w2 + b2)
            error = (out - ((1 - smoothing) * np.eye(classes)[y[rows]] + smoothing / classes)) / batch
            back = (error @ w2.transpose(0, 2, 1)) * (hidden > 0)
            gradients = [x[rows].T @ back, back.sum(1, keepdims=True), hidden.transpose(0, 2, 1) @ error,
                         error.sum(1, keepdims=True)]
            for weight, speed, gradient in zip(weights, speeds, gradients):
                speed *= momentum
                speed -= rate * (gradient + decay * weight)
                weight += speed
        out = softmax(np.maximum(x_test @ w1 + b1, 0) * mask @ w2 + b2)
        losses[:, unit] = -np.log(np.maximum(out[:, np.arange(len(y_test)), y_test], 1e-9)).mean(1)
    return draws, losses


def softmax(z):
    z = np.exp(z - z.max(-1, keepdims=True))
    return z / z.sum(-1, keepdims=True)


def net_draws(random, rate_low, rate_high):
    draws = Draws(random, 400)
    draws.log("learning_rate", rate_low, rate_high)
    draws.uniform("momentum", 0, 0.97)
    draws.log("weight_decay", 1e-6, 3e-2)
    draws.integer("width", 2, 32)
    return draws


def cosine(random):
    """The rate falls to nothing at the end of the training: who has a high one is bad until then."""
    draws = net_draws(random, 3e-3, 3)
    draws.log("init_scale", 0.05, 3)
    draws.uniform("smoothing", 0, 0.2)
    return nets(draws, random, lambda c, t: 0.5 * (1 + np.cos(np.pi * t)), blobs(random, 1400, 10, 4, 0.1), 800)


def stepdecay(random):
    """The rate falls by a tuned factor at a tuned point of the training."""
    draws = net_draws(random, 3e-3, 3)
    draws.uniform("decay_at", 0.1, 0.95)
    draws.log("decay_factor", 0.003, 1)
    def schedule(c, t):
        return np.where(t < c["decay_at"], 1, c["decay_factor"])

    return nets(draws, random, schedule, blobs(random, 1400, 12, 3, 0.15), 800)


def overfit(random):
    """Few rows, wrong labels: who learns fast is overtaken by who does not learn the noise."""
    draws = net_draws(random, 1e-2, 2)
    draws.uniform("dropout", 0, 0.8)
    draws.uniform("smoothing", 0, 0.4)
    return nets(draws, random, lambda c, t: 1.0, blobs(random, 900, 20, 3, 0.3), 200, batch=20)


# ---- linear models ----------------------------------------------------------------------------------------------------------


def ridge(random):
    """Gradient descent on a badly scaled linear model: a small rate is good at once, a large one in the end, if it is stable."""
    draws = Draws(random, 600)
    rate = draws.log("learning_rate", 1e-4, 1)[:, None]
    momentum = draws.uniform("momentum", 0, 0.99)[:, None]
    l2 = draws.log("l2", 1e-6, 1)[:, None]
    power = draws.uniform("rate_decay", 0, 1)[:, None]
    average = draws.uniform("averaging", 0, 0.999)[:, None]
    scales = np.logspace(0, -1.5, 40)
    x = random.normal(size=(700, 40)) * scales
    y = x @ (random.normal(size=40) / np.sqrt(scales)) + random.normal(size=700)
    weights = random.normal(size=(draws.count, 40)) * 2
    speed, mean = np.zeros_like(weights), weights.copy()
    losses = np.zeros((draws.count, UNITS))
    for step in range(UNITS * 10):
        rows = random.integers(0, 300, 30)
        gradient = (weights @ x[rows].T - y[rows]) @ x[rows] / 30 + l2 * weights
        with np.errstate(all="ignore"):
            speed = momentum * speed - rate * (1 + step / 10) ** -power * gradient
            weights = weights + speed
            mean = average * mean + (1 - average) * weights
            if step % 10 == 9:
                losses[:, step // 10] = ((mean @ x[300:].T - y[300:]) ** 2).mean(1)
    losses[losses > 1e12] = np.nan
    return draws, losses


def matfac(random):
    """Matrix factorisation by stochastic gradients: the rank and the penalty matter late, the rate early."""
    draws = Draws(random, 400)
    rate = draws.log("learning_rate", 1e-3, 0.5)[:, None]
    l2 = draws.log("l2", 1e-4, 0.5)[:, None]
    rank = draws.integer("rank", 1, 16)
    init = draws.log("init_scale", 0.01, 1)
    decay = draws.uniform("rate_decay", 0.85, 1)[:, None]
    people, things, most = 60, 50, 16
    truth = random.normal(size=(people, 5)) @ random.normal(size=(things, 5)).T / np.sqrt(5)
    known = random.permutation(people * things)[:1500]
    train, test = known[:900], known[900:]
    values = truth.ravel() + 0.5 * random.normal(size=people * things)
    mask = (np.arange(most)[None, :] < rank[:, None])[:, None, :]
    p = random.normal(size=(draws.count, people, most)) * init[:, None, None] * mask
    q = random.normal(size=(draws.count, things, most)) * init[:, None, None] * mask
    losses = np.zeros((draws.count, UNITS))
    with np.errstate(all="ignore"):
        for unit in range(UNITS):
            for cell in random.permutation(train)[:450]:
                i, j = divmod(int(cell), things)
                error = (p[:, i] * q[:, j]).sum(1, keepdims=True) - values[cell]
                step = rate * decay ** unit
                old = p[:, i].copy()
                p[:, i] -= step * (error * q[:, j] + l2 * old)
                q[:, j] -= step * (error * old + l2 * q[:, j])
            rows, columns = np.divmod(test, things)
            losses[:, unit] = (((p[:, rows] * q[:, columns]).sum(2) - values[test]) ** 2).mean(1)
    losses[losses > 1e6] = np.nan
    return draws, losses


# ---- without gradients ------------------------------------------------------------------------------------------------------


def cartpole(random):
    """Evolution strategies on a linear controller of a cart with a pole; loss: the part of 200 steps that it does not stand."""
    draws = Draws(random, 300)
    rate = draws.log("learning_rate", 1e-2, 3)
    sigma = draws.log("sigma", 1e-2, 2)
    momentum = draws.uniform("momentum", 0, 0.95)
    population = draws.integer("population", 2, 12)
    decay = draws.log("weight_decay", 1e-4, 0.3)
    most = 12
    used = np.arange(most)[None, :] < population[:, None]
    weights = random.normal(size=(draws.count, 4)) * 0.1
    speed = np.zeros_like(weights)
    losses = np.zeros((draws.count, UNITS))
    for unit in range(UNITS):
        noise = random.normal(size=(draws.count, most, 4))
        tried = weights[:, None, :] + sigma[:, None, None] * noise
        reward = (stands(random, tried) - stands(random, 2 * weights[:, None, :] - tried)) / 200 * used
        gradient = (reward[:, :, None] * noise).sum(1) / population[:, None]
        speed = momentum[:, None] * speed + rate[:, None] * gradient
        weights = (1 - decay[:, None]) * weights + speed
        losses[:, unit] = 1 - stands(random, np.repeat(weights[:, None, :], 10, 1)).mean(1) / 200
    return draws, losses


def stands(random, weights):
    """Steps (at most 200) that each controller (..., 4) keeps the pole up; Barto, Sutton and Anderson (1983), wind added."""
    state = random.uniform(-0.05, 0.05, weights.shape)
    up, steps = np.ones(weights.shape[:-1], bool), np.zeros(weights.shape[:-1])
    for _ in range(200):
        force = np.where((state * weights).sum(-1) > 0, 10.0, -10.0) + random.normal(size=up.shape) * 6
        x, dx, angle, turn = np.moveaxis(state, -1, 0)
        sine, cosine_ = np.sin(angle), np.cos(angle)
        push = (force + 0.05 * turn ** 2 * sine) / 1.1
        pull = (9.8 * sine - cosine_ * push) / (0.5 * (4 / 3 - 0.1 * cosine_ ** 2 / 1.1))
        away = push - 0.05 * pull * cosine_ / 1.1
        state = np.stack([x + 0.02 * dx, dx + 0.02 * away, angle + 0.02 * turn, turn + 0.02 * pull], -1)
        state = np.where(up[..., None], state, 0)
        up &= (np.abs(state[..., 0]) < 2.4) & (np.abs(state[..., 2]) < 0.21)
        steps += up
        if not up.any():
            break
    return steps


def ga(random):
    """A genetic algorithm on Rastrigin's function in 10 dimensions: pressure is good early, variety in the end."""
    draws = Draws(random, 400)
    sigma = draws.log("mutation_size", 0.01, 3)
    rate = draws.uniform("mutation_rate", 0.02, 1)
    cross = draws.uniform("crossover", 0, 1)
    tournament = draws.integer("tournament", 1, 8)
    elite = draws.integer("elite", 0, 6)
    cooling = draws.uniform("cooling", 0.85, 1.0)
    people, dims = 24, 10
    each = np.arange(draws.count)[:, None]
    x = random.uniform(-5, 5, (draws.count, people, dims))
    losses = np.zeros((draws.count, UNITS))
    for unit in range(UNITS):
        for generation in range(3):
            cost = rastrigin(x)
            order = np.argsort(cost, 1)
            chosen = [chosen_by(random, cost, tournament, people) for _ in range(2)]
            mothers, fathers = x[each, chosen[0]], x[each, chosen[1]]
            mixed = (random.random(mothers.shape) < 0.5) & (random.random((draws.count, people, 1)) < cross[:, None, None])
            children = np.where(mixed, fathers, mothers)
            size = (sigma * cooling ** (unit + generation / 3))[:, None, None]
            mutated = random.random(children.shape) < rate[:, None, None]
            children = np.clip(children + mutated * size * random.normal(size=children.shape), -5, 5)
            stays = np.arange(people)[None, :, None] < elite[:, None, None]
            x = np.where(stays, x[each, order], children)
        losses[:, unit] = rastrigin(x).min(1)
    return draws, losses


def chosen_by(random, cost, tournament, people):
    rivals = random.integers(0, people, (*cost.shape, 8))
    costs = cost[np.arange(len(cost))[:, None, None], rivals]
    costs = np.where(np.arange(8)[None, None, :] < tournament[:, None, None], costs, np.inf)
    return np.take_along_axis(rivals, costs.argmin(2)[..., None], 2)[..., 0]


def rastrigin(x):
    return (x ** 2 - 10 * np.cos(2 * np.pi * x) + 10).sum(-1)


# ---- formulas ---------------------------------------------------------------------------------------------------------------


def slow_learners(random):
    """The faster a curve falls the higher it ends; the order turns little by little."""
    draws = Draws(random, 800)
    speed = draws.log("speed", 0.02, 1)
    x = np.stack([draws.uniform(name, 0, 1) for name in "abc"])
    end = 0.45 + 0.3 * np.log(speed) / np.log(50) + 0.3 * ((x - [[0.3], [0.6], [0.5]]) ** 2).sum(0)
    curve = end[:, None] + 0.7 * np.exp(-speed[:, None] * np.arange(1, UNITS + 1))
    return draws, curve + 0.003 * random.normal(size=curve.shape)


def four_groups(random):
    """Four groups of configurations; the slower a group learns the better it ends. Within one early values tell the end."""
    draws = Draws(random, 4000)
    group = draws.choice("group", ["a", "b", "c", "d"])
    number = np.searchsorted(["a", "b", "c", "d"], group)
    x = np.stack([draws.uniform(name, 0, 1) for name in "xyz"])
    speed = np.array([1.0, 0.3, 0.12, 0.06])[number]
    end = np.array([0.45, 0.38, 0.31, 0.2])[number] + 0.4 * ((x - [[0.2], [0.7], [0.5]]) ** 2).sum(0)
    curve = end[:, None] + (1 - end[:, None]) * np.exp(-speed[:, None] * np.arange(1, UNITS + 1))
    return draws, curve + 0.003 * random.normal(size=curve.shape)


TABLES = {"made": [cartpole, cosine, ga, matfac, overfit, ridge, stepdecay], "crossing": [slow_learners, four_groups]}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    for folder, makers in TABLES.items():
        for maker in makers:
            draws, losses = maker(np.random.default_rng(20_000 + len(maker.__name__)))
            write(os.path.join(sys.argv[1], folder), maker.__name__, draws, losses)
            report(maker.__name__, losses)


def report(name, losses):
    """How far the order at a few units agrees with the one at the end (Spearman)."""
    filled = np.where(np.isfinite(losses), losses, 1e30)
    ranks = filled.argsort(0).argsort(0)
    agree = [np.corrcoef(ranks[:, r - 1], ranks[:, -1])[0, 1] for r in (1, 2, 5, 16)]
    print(f"{name:14s} {len(losses)} configurations, rank correlation with the end at 1 / 2 / 5 / 16: "
          + " / ".join(f"{a:.2f}" for a in agree))


if __name__ == "__main__":
    main()
