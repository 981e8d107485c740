"""A small network that learns a made-up function, with PyTorch; with NumPy where PyTorch is missing. Large rates diverge.

Run it as a trial (README.md), or alone: python3 network.py LEARNING_RATE [ROWS]

It never looks at its own loss: whether it diverges is for the rules to see.
"""

import json
import os
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "clients", "python"))
import tuneband_debugger as debugger

FEATURES, HIDDEN, BATCH = 20, 64, 50
rate = float(sys.argv[1])
rows = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
epochs = int(os.environ.get("TUNEBAND_UNTIL_RESOURCE", "30"))
random = np.random.default_rng(11)
inputs = random.normal(size=(rows, FEATURES)).astype(np.float32)
targets = np.tanh(inputs @ random.normal(size=(FEATURES, 1)) / 2).astype(np.float32) + 0.05 * random.normal(size=(rows, 1))
targets = targets.astype(np.float32)


def now():
    return time.perf_counter(), time.process_time()


def report(epoch, loss, begin):
    wall, processor = (end - start for start, end in zip(begin, now()))
    row = {"resource": epoch, "loss": loss, "epoch_seconds": wall, "epoch_cpu_seconds": processor}
    print(json.dumps(row), flush=True)


def with_pytorch(torch):
    torch.manual_seed(3)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(FEATURES, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 1))
    criterion = torch.nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    debugger.hook(model, loss=criterion, optimizer=optimizer)  # the one line
    x, y = torch.from_numpy(inputs), torch.from_numpy(targets)
    for epoch in range(1, epochs + 1):
        begin, total = now(), 0.0
        for first in range(0, rows, BATCH):
            optimizer.zero_grad()
            loss = criterion(model(x[first : first + BATCH]), y[first : first + BATCH])
            loss.backward()
            optimizer.step()
            total += float(loss) * BATCH
        report(epoch, total / rows, begin)


def with_numpy():
    layers = [random.normal(size=(FEATURES, HIDDEN)) / 5, np.zeros(HIDDEN), random.normal(size=(HIDDEN, 1)) / 8, np.zeros(1)]
    speed, step = [np.zeros_like(layer) for layer in layers], 0
    names = ["weights/0", "biases/0", "weights/2", "biases/2"]
    for epoch in range(1, epochs + 1):
        begin, total = now(), 0.0
        for first in range(0, rows, BATCH):
            step += 1
            x, y = inputs[first : first + BATCH], targets[first : first + BATCH]
            before = x @ layers[0] + layers[1]
            hidden = np.maximum(before, 0)
            error = hidden @ layers[2] + layers[3] - y
            loss = float(np.mean(error**2))
            back = 2 * error / len(y)
            inner = (back @ layers[2].T) * (before > 0)
            gradients = [x.T @ inner, inner.sum(0), hidden.T @ back, back.sum(0)]
            debugger.save(step, {"losses/MSELoss": loss, **dict(zip(names, layers))})
            speed = [0.9 * s + g for s, g in zip(speed, gradients)]
            layers = [layer - rate * s for layer, s in zip(layers, speed)]
            total += loss * BATCH
        report(epoch, total / rows, begin)


try:
    import torch
except ImportError:
    torch = None
with np.errstate(all="ignore"):
    with_pytorch(torch) if torch is not None else with_numpy()
