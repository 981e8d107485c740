#!/usr/bin/env python3
"""A training program that Tuneband runs as a command: logistic regression by gradient descent, on data that the program
makes itself.

Nothing here knows Tuneband: parameters come as flags, a line is printed after each epoch, and what is needed to go on is kept
in the checkpoint directory. Only Python's standard library is used.
"""
import argparse
import json
import math
import os
import random


def disc(count, seed):
    """Points inside and outside of a circle; one label in ten is wrong."""
    rng = random.Random(seed)
    for _ in range(count):
        x, y = rng.uniform(-1, 1), rng.uniform(-1, 1)
        inside = x * x + y * y < 0.5
        yield [1.0, x, y, x * x, y * y, x * y], float(inside != (rng.random() < 0.1))


def predict(weights, features):
    z = sum(w * f for w, f in zip(weights, features))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


def loss(weights, rows):
    total = 0.0
    for features, label in rows:
        p = min(1 - 1e-9, max(1e-9, predict(weights, features)))
        total -= math.log(p if label else 1 - p)
    return total / len(rows)


def train_epoch(weights, rows, rate, momentum, decay, speed):
    for features, label in rows:
        error = predict(weights, features) - label
        for i, feature in enumerate(features):
            speed[i] = momentum * speed[i] - rate * (error * feature + decay * weights[i])
            weights[i] += speed[i]


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {"epoch": 0, "weights": [0.0] * 6, "speed": [0.0] * 6}


def save(path, state):
    """Whole or not at all: the program may be ended at any moment."""
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(state, file)
    os.replace(path + ".part", path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, required=True)
    parser.add_argument("--momentum", type=float, required=True)
    parser.add_argument("--decay", type=float, required=True)
    parser.add_argument("--epochs", type=int, required=True, help="train until so many in all")
    parser.add_argument("--checkpoint-dir", default=".")
    options = parser.parse_args()

    training, validation = list(disc(2000, seed=1)), list(disc(1000, seed=2))
    checkpoint = os.path.join(options.checkpoint_dir, "state.json")
    state = load(checkpoint)

    def report():
        print(f"epoch={state['epoch']} val_loss={loss(state['weights'], validation):.6f}", flush=True)

    if state["epoch"] == options.epochs:  # saved, and ended before it was reported
        report()
    for epoch in range(state["epoch"] + 1, options.epochs + 1):
        train_epoch(state["weights"], training, options.lr, options.momentum, options.decay, state["speed"])
        state["epoch"] = epoch
        save(checkpoint, state)
        report()


if __name__ == "__main__":
    main()
