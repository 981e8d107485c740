#!/usr/bin/env python3
"""What the product computes, computed a second time with NumPy from the papers' formulas, the slow and plain way.

Reads {"what": NAME, ...} from standard input and writes the answer, both JSON; or an array of them, and that of their answers.
"""

import itertools
import json
import math
import statistics
import sys

import numpy as np


def matern52(a, b, nominal, log_length, log_variance):
    """Rasmussen and Williams (4.17), a length scale a dimension; points are rows."""
    squared = np.zeros((len(a), len(b)))
    for d, scale in enumerate(np.exp(log_length)):
        difference = a[:, d, None] - b[None, :, d]
        squared += ((difference != 0).astype(float) if nominal[d] else difference**2) / scale**2
    distance = math.sqrt(5) * np.sqrt(squared)
    return math.exp(log_variance) * (1 + distance + distance**2 / 3) * np.exp(-distance)


def gaussian_process(q):
    """(2.25), (2.26); points without a target are given their predicted mean and then count as the others."""
    points, at = np.array(q["points"]), np.array(q["at"])
    kernel = lambda a, b: matern52(a, b, q["nominal"], np.array(q["log_length"]), q["log_variance"])
    noise = math.exp(q["log_noise"]) * np.array(q["noise_factor"])
    jitter = 1e-6 * math.exp(q["log_variance"])
    known = len(q["targets"])
    covariance = kernel(points, points) + np.diag(noise + jitter)
    targets = np.array(q["targets"])
    if known < len(points):
        weights = np.linalg.solve(covariance[:known, :known], targets)
        targets = np.concatenate([targets, kernel(points[known:], points[:known]) @ weights])
    inverse = np.linalg.inv(covariance)
    between = kernel(at, points)
    variance = math.exp(q["log_variance"]) - np.einsum("ij,jk,ik->i", between, inverse, between)
    return {"mean": (between @ inverse @ targets).tolist(), "deviation": np.sqrt(variance).tolist()}


def log_posterior(q):
    """(2.30) with log-normal priors on the hyperparameters, but for what does not depend on them; its slopes by differences."""
    points, targets = np.array(q["points"]), np.array(q["targets"])
    factor, median, deviation = (np.array(q[name]) for name in ("noise_factor", "median", "deviation"))

    def at(logs):
        covariance = matern52(points, points, q["nominal"], logs[:-2], logs[-2])
        covariance += np.diag(math.exp(logs[-1]) * factor + 1e-6 * math.exp(logs[-2]))
        _, log_determinant = np.linalg.slogdet(covariance)
        likelihood = -targets @ np.linalg.solve(covariance, targets) / 2 - log_determinant / 2
        return likelihood - (((logs - median) / deviation) ** 2).sum() / 2

    logs, step = np.array(q["logs"]), 1e-5
    slopes = [(at(logs + step * unit) - at(logs - step * unit)) / (2 * step) for unit in np.eye(len(logs))]
    return {"density": at(logs), "gradient": slopes}


def normal_cdf(z):
    return np.array([math.erfc(-x / math.sqrt(2)) / 2 for x in np.ravel(z)]).reshape(np.shape(z))


def normal_quantiles(q):
    """Wichura's algorithm AS 241, as Python's library has it."""
    return [statistics.NormalDist().inv_cdf(share) for share in q["shares"]]


def log_unit_improvements(q):
    """log of the integral of u phi(z + u) over u > 0, by the trapezoidal rule; phi(z) is taken out of it."""
    answers = []
    for z in q["means"]:
        u = np.linspace(0, (12 + max(0, -z)) / max(1, z / 4), 40_001)
        integral = np.trapz(u * np.exp(-u * z - u**2 / 2), u)
        answers.append(-(z**2) / 2 - math.log(2 * math.pi) / 2 + math.log(integral))
    return answers


def age_weights(n):
    return np.ones(n) if n <= 25 else np.concatenate([np.linspace(1 / n, 1, n - 25), np.ones(25)])


def parzen(q):
    """Bergstra et al. 2011, as hyperopt and Optuna 3 have it. With a step: the share of a value's interval."""
    centres = np.array(q["coordinates"] + [0.5])
    weights = np.append(age_weights(len(centres) - 1), 1.0)
    weights /= weights.sum()
    if q["categories"]:
        spread, counts = 1 / len(weights), np.zeros(q["categories"])
        for centre, weight in zip(q["coordinates"], weights):
            kernel = np.full(q["categories"], spread)
            kernel[int(centre)] += 1
            counts += weight * kernel / kernel.sum()
        counts += weights[-1] / q["categories"]
        return np.log(counts[np.array(q["at"], int)]).tolist()
    order = np.argsort(centres, kind="stable")
    ordered = centres[order]
    gaps = np.diff(ordered)
    widths = np.empty(len(centres))
    for i, index in enumerate(order):
        neighbours = ([gaps[i - 1]] if i > 0 else []) + ([gaps[i]] if i < len(gaps) else [])
        widths[index] = np.clip(max(neighbours), 1 / min(100, len(centres) + 1), 1) if neighbours else 1
    widths[-1] = 1
    inside = normal_cdf((1 - centres) / widths) - normal_cdf(-centres / widths)
    at = np.array(q["at"])[:, None]
    z, step = (at - centres) / widths, q["step"]
    if step > 0:
        density = normal_cdf(z + step / 2 / widths) - normal_cdf(z - step / 2 / widths)
    else:
        density = np.exp(-(z**2) / 2) / widths
    return np.log((weights / inside * density).sum(axis=1)).tolist()


def non_dominated_sort(q):
    """Deb et al. 2002, III A and B, straight from the definitions."""
    costs = {int(trial): np.array(cost) for trial, cost in q["costs"]}
    left, order, ranks = set(costs), [], {}
    for rank in itertools.count(1):
        if not left:
            return {"order": order, "rank": [ranks[trial] for trial, _ in q["costs"]]}
        beaten = lambda a: any((costs[b] <= costs[a]).all() and (costs[b] < costs[a]).any() for b in left)
        front = sorted(trial for trial in left if not beaten(trial))
        distance = dict.fromkeys(front, 0.0)
        for objective in range(len(costs[front[0]])):
            line = sorted(front, key=lambda trial: (costs[trial][objective], trial))
            extent = costs[line[-1]][objective] - costs[line[0]][objective]
            if extent <= 0:
                continue
            distance[line[0]] = distance[line[-1]] = math.inf
            for below, trial, above in zip(line, line[1:], line[2:]):
                distance[trial] += (costs[above][objective] - costs[below][objective]) / extent
        order += sorted(front, key=lambda trial: (-distance[trial], trial))
        ranks.update(dict.fromkeys(front, rank))
        left -= set(front)


def concordance(q):
    """The share of pairs in the same order, a tie in one of the two counting half: (1 + tau) / 2 of Kendall's tau-a."""
    below, above = np.array(q["below"]), np.array(q["above"])
    pairs = [
        (1 + np.sign(below[i] - below[j]) * np.sign(above[i] - above[j])) / 2
        for i, j in itertools.combinations(range(len(below)), 2)
    ]
    return float(np.mean(pairs))


def pasha_caps(q):
    """Bohdal et al. 2023: the cap after each result (rung, trial, cost), of the first 100 trials that both rungs have."""
    rungs, cap, caps = [{} for _ in range(q["rungs"])], 1, []

    def disagree():
        trials = [trial for trial in sorted(rungs[cap]) if trial in rungs[cap - 1]][:100]
        signs, distance = [], {}
        for rung in rungs[: cap + 1]:
            at = np.array([rung.get(trial, np.nan) for trial in trials])
            distance = at[:, None] - at
            signs.append(np.nan_to_num(np.sign(distance)))
        changes, last = np.zeros_like(distance), np.zeros_like(distance)
        for sign in signs:
            changes += sign * last < 0
            last = np.where(sign == 0, last, sign)
        crossed = np.abs(distance)[np.triu(changes >= 2, 1)]
        epsilon = np.percentile(crossed, 90, method="lower") if len(crossed) else 0
        below = np.array([rungs[cap - 1][trial] for trial in trials])
        return bool(((np.abs(below[:, None] - below) > epsilon) & (signs[-1] * signs[-2] < 0)).any())

    for rung, trial, cost in q["results"]:
        rungs[rung][trial] = cost
        if rung == cap and cap + 1 < len(rungs) and disagree():
            cap += 1
        caps.append(cap)
    return caps


def median_rule(q):
    """Golovin et al. 2017, section 3.2: for each result (rung, trial, cost) the median of the other trials' running averages at
    its rung, and whether the trial's best is not worse; null where there are fewer than five."""
    courses, averages, answers = {}, {}, []
    for rung, trial, cost in q["results"]:
        courses.setdefault(trial, []).append(cost)
        here = averages.setdefault(rung, {})
        here[trial] = np.mean(courses[trial])
        others = [average for other, average in here.items() if other != trial]
        median = np.median(others) if len(others) >= 5 else None
        answers.append(None if median is None else [median, bool(min(courses[trial]) <= median)])
    return answers


def scales(q):
    """Best value and distance between the quartiles of each column of the rows that are finite, as what was measured."""
    rows = np.array([row for row in q["rows"] if row is not None and np.isfinite(row).all()])
    low, high = np.quantile(rows, (0.25, 0.75), axis=0, method="lower")
    return {"origin": np.where(q["maximize"], rows.max(axis=0), rows.min(axis=0)).tolist(), "spread": (high - low).tolist()}


def chebyshev(q):
    """Knowles 2006, formula 2: the augmented Chebyshev scalarisation, of costs in units of their scales."""
    costs = np.where(q["maximize"], -1, 1) * (np.array(q["rows"]) - q["origin"]) / q["spread"]
    weighted = costs * q["weights"]
    return (weighted.max(axis=1) + 0.05 * weighted.sum(axis=1)).tolist()


def kernel_density(q):
    """Falkner et al. 2018, section 3.2: a product of normals and of Aitchison and Aitken's kernels, these times the number of
    categories; -1 is inactive, and then the factor is 1."""
    points, at, categories = np.array(q["points"]), np.array(q["at"]), q["categories"]
    n, d = points.shape
    product = np.ones((len(at), n))
    for dimension, count in enumerate(categories):
        own, there = points[:, dimension], at[:, dimension, None]
        if count == 1:
            continue
        if count > 1:
            width = max(1e-3, (count - 1) / count * n ** (-2 / (4 + d)))
            factor = count * np.where(own == there, 1 - width, width / (count - 1))
        else:
            active = own[own != -1]
            width = max(1e-3, 1.06 * np.std(active) * n ** (-1 / (4 + d)) if len(active) > 1 else 0)
            factor = np.exp(-(((there - own) / width) ** 2) / 2) / width / math.sqrt(2 * math.pi)
        product *= np.where((own == -1) | (there == -1), 1, factor)
    return np.log(np.maximum(product.mean(axis=1), np.finfo(float).tiny)).tolist()


def rows_by_node(tree, points, categorical):
    """The rows of the points that come to each node of a tree."""
    pending, found = [(0, np.arange(len(points)))], {}
    while pending:
        at, rows = pending.pop()
        found[at], node = rows, tree[at]
        if node["left"] < 0:
            continue
        coordinate = points[rows, node["dimension"]]
        left = coordinate == node["threshold"] if categorical[node["dimension"]] else coordinate < node["threshold"]
        pending += [(node["left"], rows[left]), (node["left"] + 1, rows[~left])]
    return found


def forest(q):
    """The trees' mean at points, and by the law of total variance that between the trees and within their leaves."""
    at, means, variances = np.array(q["at"]), [], []
    for tree in q["trees"]:
        leaf = np.empty(len(at), int)
        for index, rows in rows_by_node(tree, at, q["categorical"]).items():
            if tree[index]["left"] < 0:
                leaf[rows] = index
        means.append([tree[index]["mean"] for index in leaf])
        variances.append([tree[index]["variance"] for index in leaf])
    variance = np.var(means, axis=0) + np.mean(variances, axis=0)
    return {"mean": np.mean(means, axis=0).tolist(), "variance": variance.tolist()}


def splits(q):
    """Of each node of a tree: mean and variance of what comes to it, the squares that its split takes away, and the most that any
    split could (Breiman et al. 1984), both sides at least as great as a leaf may be."""
    points, targets = np.array(q["points"]), np.array(q["targets"])
    squares = lambda rows: targets[rows].var() * len(rows)
    answers = []
    for index, rows in sorted(rows_by_node(q["tree"], points, q["categorical"]).items()):
        gains = [0.0]
        for dimension, is_category in enumerate(q["categorical"]):
            coordinate = points[rows, dimension]
            for value in np.unique(coordinate):
                left = coordinate == value if is_category else coordinate < value
                if min(left.sum(), (~left).sum()) >= q["leaf_min"]:
                    gains.append(squares(rows) - squares(rows[left]) - squares(rows[~left]))
        node, gain = q["tree"][index], 0.0
        if node["left"] >= 0:
            below = rows_by_node(q["tree"], points, q["categorical"])
            gain = squares(rows) - squares(below[node["left"]]) - squares(below[node["left"] + 1])
        answer = {"mean": targets[rows].mean(), "variance": targets[rows].var(), "count": len(rows)}
        answers.append(answer | {"gain": gain, "best": max(gains)})
    return answers


def anova(q):
    """Hutter et al. 2014 by brute force: every tree on every cell of the whole grid, the variance of the marginals."""
    axes = [np.array(axis) for axis in q["axes"]]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    shape = [len(axis) for axis in axes]
    shares = []
    for tree in q["trees"]:
        values = np.empty(len(grid))
        for index, rows in rows_by_node(tree, grid, q["categorical"]).items():
            if tree[index]["left"] < 0:
                values[rows] = tree[index]["mean"]
        values = values.reshape(shape)
        others = lambda *kept: tuple(d for d in range(len(shape)) if d not in kept)
        main = [values.mean(axis=others(d)).var() for d in range(len(shape))]
        pair = [values.mean(axis=others(i, j)).var() - main[i] - main[j] for i, j in itertools.combinations(range(len(shape)), 2)]
        whole = values.var()
        shares.append([value / whole if whole > 0 else 0 for value in main + pair])
    return {"mean": np.mean(shares, axis=0).tolist(), "deviation": np.std(shares, axis=0).tolist()}


def reductions(q):
    """NumPy's own reductions of each array, in double precision; NaN and infinity as texts."""
    answers = []
    for array in q["arrays"]:
        shape, order = array["shape"], "F" if array["fortran_order"] else "C"
        values = np.frombuffer(bytes.fromhex(array["bytes"]), array["descr"]).reshape(shape, order=order).astype(np.float64)
        answer = {"nans": np.isnan(values).sum(), "infs": np.isinf(values).sum()}
        answer |= {"zeros": (values == 0).sum(), "count": values.size}
        with np.errstate(all="ignore"):
            for prefix, of in (("", values), ("abs_", np.abs(values))):
                empty = values.size == 0
                answer[prefix + "min"] = np.nan if empty else of.min()
                answer[prefix + "max"] = np.nan if empty else of.max()
                for name in ("mean", "std", "var"):
                    answer[prefix + name.replace("var", "variance")[:8]] = np.nan if empty else getattr(of, name)()
                answer[prefix + "sum"], answer[prefix + "prod"] = of.sum(), of.prod()
                answer[prefix + "l1_norm"] = np.linalg.norm(of.ravel(), 1)
                answer[prefix + "l2_norm"] = np.linalg.norm(of.ravel())
        answers.append({name: float(value) if np.isfinite(value) else str(float(value)) for name, value in answer.items()})
        answers[-1]["elements"] = [v if np.isfinite(v) else str(v) for v in values.ravel().tolist()]
    return answers


ANSWERS = {
    f.__name__: f
    for f in (gaussian_process, log_posterior, normal_quantiles, log_unit_improvements, parzen, non_dominated_sort, concordance,
              pasha_caps, median_rule, scales, chebyshev, kernel_density, forest, splits, anova, reductions)
}

if __name__ == "__main__":
    question = json.load(sys.stdin)
    answer = lambda q: ANSWERS[q["what"]](q)
    json.dump([answer(each) for each in question] if isinstance(question, list) else answer(question), sys.stdout)
