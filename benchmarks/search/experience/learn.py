#!/usr/bin/python3
"""Learns what search_spaces/experience_of_trees.hpp says from the recorded trainings beside this.

On each data set the normal score of a training's cost is a quadratic polynomial in eight hyperparameters, with noise. Its
coefficients are, over data sets, normal with a mean and a covariance, which expectation maximisation finds (hierarchical linear
regression). The factors are the covariance's first principal components, in the metric of the polynomial's values over the space.

    benchmarks/search/experience/learn.py > search_spaces/experience_of_trees.hpp

--check says instead how well what was learned from the other data sets predicts each: the rank correlation with the costs of
trainings that it has not seen, after 0, 5, 10, 20 and 40 that it has.
"""
import argparse
import csv
import gzip
import os
import statistics

import numpy

FACTORS = 10
STEPS = 60
FIRST_VARIANCE = 0.3  # of the coefficients and of the noise
RIDGE = 1e-3


def variables(row, rounds):
    """The eight, about in [-2, 2]; as search_spaces/experience.cpp has them."""
    at = {name: float(value) for name, value in row.items()}
    shrinkage = -rounds * numpy.log1p(-min(at["eta"], 0.9999))
    raw = [
        (numpy.log(max(shrinkage, 1e-3)) - 1.5) / 2,
        (at["max_depth"] - 6) / 3,
        numpy.log(max(at["min_child_weight"], 0.1)) / 3 - 0.2,
        (at["subsample"] - 0.6) / 0.25,
        (at["colsample_bytree"] - 0.6) / 0.25,
        numpy.log(max(at["lambda"], 0.01)) / 2.7,
        (numpy.log(max(at["alpha"], 1e-3)) + 2.3) / 2.7,
        (numpy.log(max(at["gamma"], 1e-3)) + 2.3) / 2.7,
    ]
    return numpy.clip(raw, -2, 2)


def terms(z):
    """Of rows of variables: 1, each variable, each product of two."""
    count = z.shape[1]
    products = [z[:, i] * z[:, j] for i in range(count) for j in range(i, count)]
    return numpy.stack([numpy.ones(len(z)), *z.T, *products], axis=1)


def normal_scores(costs):
    quantile = statistics.NormalDist().inv_cdf
    ranks = numpy.argsort(numpy.argsort(costs))
    return numpy.array([quantile((rank + 0.5) / len(costs)) for rank in ranks])


def read(path):
    """Of each data set its terms and scores."""
    by_dataset = {}
    with gzip.open(path, "rt") as lines:
        for row in csv.DictReader(lines):
            by_dataset.setdefault(int(row["dataset"]), []).append(row)
    sets = []
    for _, rows in sorted(by_dataset.items()):
        z = numpy.array([variables(row, float(row["rounds"])) for row in rows])
        sets.append((terms(z), normal_scores(numpy.array([float(row["full"]) for row in rows]))))
    return sets


def posterior(x, y, mean, covariance, noise):
    precision = numpy.linalg.inv(covariance + RIDGE * numpy.eye(len(mean)))
    spread = numpy.linalg.inv(x.T @ x / noise + precision)
    return spread @ (x.T @ y / noise + precision @ mean), spread


def learn(sets):
    size = sets[0][0].shape[1]
    mean, covariance, noise = numpy.zeros(size), FIRST_VARIANCE * numpy.eye(size), FIRST_VARIANCE
    for _ in range(STEPS):
        means, spreads, squares, count = [], numpy.zeros((size, size)), 0, 0
        for x, y in sets:
            at, spread = posterior(x, y, mean, covariance, noise)
            means.append(at)
            spreads += spread
            error = y - x @ at
            squares += error @ error + numpy.trace(x @ spread @ x.T)
            count += len(y)
        mean = numpy.mean(means, axis=0)
        apart = numpy.array(means) - mean
        covariance = (apart.T @ apart + spreads) / len(sets)
        noise = squares / count
    return mean, covariance, noise


def factors_of(covariance):
    """The first FACTORS, a row each; and the share of the variance of the polynomials' values that they explain."""
    z = numpy.random.default_rng(0).uniform(-1.6, 1.6, (4000, 8))
    x = terms(z)
    root = numpy.linalg.cholesky(x.T @ x / len(x))
    values, vectors = numpy.linalg.eigh(root.T @ covariance @ root)
    first = numpy.argsort(values)[::-1][:FACTORS]
    rows = [numpy.linalg.solve(root.T, vectors[:, i]) * numpy.sqrt(values[i]) for i in first]
    rows = [row * (1 if row[numpy.argmax(numpy.abs(row))] > 0 else -1) for row in rows]
    return rows, values[first].sum() / values.sum()


def check(sets):
    seen = (0, 5, 10, 20, 40)
    found = []
    for i, (x, y) in enumerate(sets):
        learned = learn(sets[:i] + sets[i + 1:])
        order = numpy.random.default_rng(i).permutation(len(y))
        row = []
        for count in seen:
            rest = order[max(seen):]
            at, _ = posterior(x[order[:count]], y[order[:count]], *learned)
            row.append(numpy.corrcoef(x[rest] @ at, y[rest])[0, 1])
        found.append(row)
    print("trainings seen   " + "".join(f"{count:8}" for count in seen))
    print("mean correlation " + "".join(f"{value:8.2f}" for value in numpy.mean(found, axis=0)))
    print("least            " + "".join(f"{value:8.2f}" for value in numpy.min(found, axis=0)))


def braced(row):
    cells = [f"{value:.4g}" for value in row]
    lines, line = [], "   "
    for cell in cells:
        if len(line) + len(cell) + 2 > 125:
            lines.append(line)
            line = "   "
        line += " " + cell + ","
    return "{\n" + "\n".join([*lines, line]) + "}"


def header(sets):
    mean, covariance, _ = learn(sets)
    factors, share = factors_of(covariance)
    rows = ",\n    ".join(braced(row) for row in factors)
    return f"""// Made by benchmarks/search/experience/learn.py of trainings on {len(sets)} data sets; not by hand. Of each term
// of the polynomial (1, z0 ... z7, z0 z0, z0 z1 ... z7 z7) its mean coefficient, and those of the factors along which data sets
// differ, which explain {share:.0%} of how they differ.
#pragma once

#include <cstddef>

namespace tuneband {{

// clang-format off

inline constexpr std::size_t kTreesTerms = {len(mean)};

inline constexpr double kTreesMean[kTreesTerms] = {braced(mean)};

inline constexpr double kTreesFactors[][kTreesTerms] = {{
    {rows}}};

// clang-format on

}}  // namespace tuneband"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--trainings", default=os.path.join(here, "trainings.csv.gz"))
    arguments = parser.parse_args()
    sets = read(arguments.trainings)
    if arguments.check:
        check(sets)
    else:
        print(header(sets))


if __name__ == "__main__":
    main()
