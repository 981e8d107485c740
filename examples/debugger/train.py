"""A small regression by gradient descent whose inputs somebody has scaled by SCALE: with 1e11 the loss explodes at once.

Run it as a trial (README.md), or alone: python3 train.py SCALE LEARNING_RATE [ROWS]
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "clients", "python"))
import tuneband_debugger as debugger

scale, rate = float(sys.argv[1]), float(sys.argv[2])
rows = int(sys.argv[3]) if len(sys.argv) > 3 else 512
epochs = int(os.environ.get("TUNEBAND_UNTIL_RESOURCE", "50"))
random = np.random.default_rng(7)
inputs = random.normal(size=(rows, 8))
targets = inputs @ random.normal(size=8) + 0.1 * random.normal(size=rows)
weights = random.normal(size=8) / 3

with np.errstate(all="ignore"):
    for epoch in range(1, epochs + 1):
        scaled = inputs * scale
        outputs = scaled @ weights
        loss = np.mean((outputs - targets) ** 2)
        gradients = 2 * scaled.T @ (outputs - targets) / len(targets)
        debugger.save(
            epoch,
            {
                "inputs/raw": inputs,
                "inputs/scaled": scaled,
                "outputs/linear": outputs,
                "losses/train": loss,
                "gradients/weights": gradients,
                "weights/weights": weights,
            },
        )
        weights = weights - rate * gradients
        print('{"resource": %d, "loss": %s}' % (epoch, loss), flush=True)
