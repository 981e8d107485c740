"""Tuneband's debugger for Python programs: docs/debugger.md. One file; copy it beside the training. Needs nothing but what the
training itself has: NumPy or PyTorch for arrays, neither for numbers.

In a training:

    import tuneband_debugger as debugger
    debugger.hook(model, loss=loss_function, optimizer=optimizer)   # PyTorch: one line, before the first batch
    debugger.save(step, {"losses/train": loss})                     # anything: one call a step

Outside of a Tuneband trial both do nothing. Afterwards, anywhere:

    trial = debugger.Trial("http://127.0.0.1:7070", "JOB", 0)
    trial.names(), trial.tensor("losses/train").values()
"""

import io
import json
import os
import re
import struct
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

_directory = os.environ.get("TUNEBAND_TENSORS", "")
_collections = json.loads(os.environ.get("TUNEBAND_COLLECTIONS", "{}")) if _directory else {}


def _due(schedule, step):
    inside = step >= schedule["from"] and (schedule["until"] is None or step < schedule["until"])
    return (inside and step % schedule["every"] == 0) or step in schedule["steps"]


def _held(collection, schedule, name):
    patterns = schedule.get("patterns")
    return any(re.search(p, name) for p in patterns) if patterns else name.split("/")[0] == collection


def _due_at(step):
    return [(collection, schedule) for collection, schedule in _collections.items() if _due(schedule, step)]


def wants(name, step):
    """Whether the job saves a tensor of this name ("weights/fc1", or a collection alone) at this step."""
    return any(_held(collection, schedule, name) for collection, schedule in _due_at(step))


def _number(value):
    """A Python number where `value` is one number, of whatever library; else None."""
    if isinstance(value, (bool, int, float)):
        return float(value)
    if hasattr(value, "numel"):
        return float(value.detach()) if value.numel() == 1 else None
    if getattr(value, "size", None) == 1:
        return float(value.reshape(-1)[0]) if hasattr(value, "reshape") else float(value)
    return None


def _npy(value):
    """The bytes of an .npy file of a PyTorch tensor or a NumPy array."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":  # which NumPy lacks
            value = value.float()
        value = value.numpy()
    descr, shape = value.dtype.str, tuple(value.shape)
    header = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + value.tobytes()


def _file_name(name):
    return re.sub(r"[^A-Za-z0-9_.,=+-]", "_", name)


def save(step, tensors):
    """Saves numbers and arrays, by name ("losses/train", "weights/fc1"), those that the job wants at this step."""
    _save(step, tensors, _due_at(step))


def _save(step, tensors, due):
    numbers = {}
    for name, value in tensors.items():
        name = name if "/" in name else "metrics/" + name
        if not any(_held(collection, schedule, name) for collection, schedule in due):
            continue
        number = _number(value)
        if number is not None:
            numbers[name] = number
            continue
        collection, rest = name.split("/", 1)
        folder = os.path.join(_directory, collection)
        if not os.path.isdir(folder):
            continue
        with open(os.path.join(folder, "%s@%d.npy" % (_file_name(rest), step)), "wb") as file:
            file.write(_npy(value))
    if numbers:
        print(json.dumps({"step": step, "tensors": numbers}), flush=True)


class _Hook:
    """Counts the forward passes of a module in training and saves what the job wants of each.

    Where the job does not say when (`derived`), it saves as often as takes at most SHARE of the time: after a step that took
    long to save it waits so much longer."""

    SHARE = 0.02

    def __init__(self, module, loss, optimizer):
        self.module, self.lossy, self.optimizer = module, loss, optimizer
        self.step, self.due, self.handles = 0, [], []
        self.spent, self.rests_until = 0.0, 0.0
        self.told_when = [one for one in _collections.items() if not one[1].get("derived")]
        self.all = list(_collections.items())
        module.register_forward_pre_hook(self.begin)

    def arm(self):
        """For the steps that save alone: hooks that have nothing to do cost a small network a tenth of its time."""
        for name, part in self.module.named_modules():
            if not list(part.children()):
                self.handles.append(part.register_forward_hook(self.layer(name or "module")))
        for name, parameter in self.module.named_parameters():
            if parameter.requires_grad:
                self.handles.append(parameter.register_hook(self.gradient(name)))
        if self.lossy is not None:
            self.handles.append(self.lossy.register_forward_hook(self.loss))

    def disarm(self):
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def wants(self, kind):
        """Whether something of the collection `kind` may be saved now; patterns may find some of it."""
        return any(collection == kind or "patterns" in schedule for collection, schedule in self.due)

    def save(self, tensors):
        begin = time.perf_counter()
        _save(self.step, tensors, self.due)
        self.spent += time.perf_counter() - begin

    def begin(self, module, inputs):
        if not module.training:
            return
        self.step += 1
        now = time.perf_counter()
        if self.spent > 0:
            self.rests_until, self.spent = now + self.spent / self.SHARE, 0.0
        candidates = self.told_when if now < self.rests_until else self.all
        self.due = [(collection, schedule) for collection, schedule in candidates if _due(schedule, self.step)]
        if not self.due:
            if self.handles:
                self.disarm()
            return
        if not self.handles:
            self.arm()
        if self.wants("weights") or self.wants("biases"):
            self.save({("biases/" if name.endswith("bias") else "weights/") + name: p for name, p in module.named_parameters()})
        if self.optimizer is not None and self.wants("optimizer_state"):
            state = {}
            for i, group in enumerate(self.optimizer.param_groups):
                state["optimizer_state/lr%d" % i] = group.get("lr", 0.0)
            names = {id(p): name for name, p in module.named_parameters()}
            for parameter, values in self.optimizer.state.items():
                for key, value in values.items():
                    if hasattr(value, "numel") or isinstance(value, (int, float)):
                        state["optimizer_state/%s.%s" % (names.get(id(parameter), "other"), key)] = value
            self.save(state)

    def layer(self, name):
        def hook(part, inputs, output):
            if not self.due or not self.module.training:
                return
            kind = type(part).__name__.lower()
            if self.wants("inputs"):
                values = [v for v in inputs if hasattr(v, "detach")]
                self.save({"inputs/%s.%s_input%s" % (name, kind, i or ""): v for i, v in enumerate(values)})
            if self.wants("outputs") and hasattr(output, "detach"):
                self.save({"outputs/%s.%s_output" % (name, kind): output})

        return hook

    def gradient(self, name):
        def hook(gradient):
            if self.due and self.wants("gradients"):
                self.save({"gradients/" + name: gradient})

        return hook

    def loss(self, part, inputs, output):
        if self.due and self.module.training and hasattr(output, "numel") and output.numel() == 1:
            self.save({"losses/" + type(part).__name__: output})


def hook(module, loss=None, optimizer=None):
    """PyTorch: weights, gradients, layers' inputs and outputs, the loss and the optimiser's state, as the job's collections say.

    A step is a forward pass of `module` in training mode, from 1. Of a collection without `save` in the job it saves as often
    as costs 2 % of the training's time."""
    if _directory:
        module._tuneband_hook = _Hook(module, loss, optimizer)
    return module


# ---- afterwards ---------------------------------------------------------------------------


class NotSaved(KeyError):
    """The tensor is not there at that step: the server's words say whether it is not saved yet, or never was."""


def _value(json_number):
    return {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}.get(json_number, json_number)


class Tensor:
    def __init__(self, trial, name, rank):
        self.trial, self.name, self.rank = trial, name, rank

    def _series(self, **query):
        page = self.trial._json("tensors/series", name=self.name, rank=self.rank, **query)
        return {step["step"]: step for step in page["steps"]}

    def steps(self):
        return sorted(self._series())

    def value(self, step):
        """A number, or with NumPy the whole array where it was kept."""
        series = self._series(**{"from": step, "until": step})
        if step in series and "value" in series[step]:
            return _value(series[step]["value"])
        import numpy

        body = self.trial._bytes("tensors/array", name=self.name, step=step, rank=self.rank)
        return numpy.load(io.BytesIO(body), allow_pickle=False)

    def values(self):
        """Of a number: every step with its value."""
        return {step: _value(row["value"]) for step, row in self._series().items() if "value" in row}

    def reduction(self, step, name="mean"):
        series = self._series(**{"from": step, "until": step})
        if step not in series:
            raise NotSaved("%s at step %d" % (self.name, step))
        row = series[step]
        return _value(row["reductions"].get(name, row.get("value")))

    def reductions(self, name="mean"):
        return {step: _value(row["reductions"].get(name, row.get("value"))) for step, row in self._series().items()}

    def previous_steps(self, step, count):
        return [s for s in self.steps() if s < step][-count:]


class Trial:
    def __init__(self, server, job, number, token=""):
        self.base = "%s/v1/jobs/%s/trials/%d/" % (server.rstrip("/"), urllib.parse.quote(str(job), safe=""), number)
        self.token = token

    def _bytes(self, page, body=None, **query):
        url = self.base + page + ("?" + urllib.parse.urlencode(query) if query else "")
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        request = urllib.request.Request(url, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            said = json.loads(error.read() or b"{}").get("error", {})
            text = ": ".join(part for part in (said.get("message"), said.get("hint")) if part)
            raise (NotSaved if error.code == 404 else RuntimeError)(text or str(error)) from None

    def _json(self, page, body=None, **query):
        return json.loads(self._bytes(page, body, **query))

    def _tensors(self, rank=0):
        return self._json("tensors", rank=rank)["tensors"]

    def names(self, collection=None, pattern=None, rank=0):
        return [
            t["name"]
            for t in self._tensors(rank)
            if (collection is None or t["collection"] == collection) and (pattern is None or re.search(pattern, t["name"]))
        ]

    def collections(self, rank=0):
        return sorted({t["collection"] for t in self._tensors(rank)})

    def ranks(self):
        return self._json("tensors", rank=0)["ranks"]

    def steps(self, rank=0):
        """All at which anything was saved."""
        found = set()
        for name in self.names(rank=rank):
            found.update(self.tensor(name, rank).steps())
        return sorted(found)

    def tensor(self, name, rank=0):
        return Tensor(self, name, rank)

    def findings(self):
        return self._json("findings")["findings"]

    def check(self, rules):
        """[{"rule": "overfit", "parameters": {"patience": 3}}] -> what they find in what was saved."""
        return self._json("check", json.dumps({"rules": rules}).encode())["findings"]


class _LiveTensor:
    def __init__(self, trial, name):
        self.trial, self.name = trial, name

    def steps(self):
        return [step for step in self.trial.steps() if self.name in self.trial.rows[step]]

    def _row(self, step):
        try:
            return self.trial.rows[step][self.name]
        except KeyError:
            raise NotSaved("%s at step %d" % (self.name, step)) from None

    def value(self, step):
        row = self._row(step)
        if isinstance(row, dict):
            raise NotSaved("%s at step %d came as reductions" % (self.name, step))
        return _value(row)

    def values(self):
        return {step: self.value(step) for step in self.steps() if not isinstance(self._row(step), dict)}

    def reduction(self, step, name="mean"):
        row = self._row(step)
        return _value(row[name] if isinstance(row, dict) else row)

    def reductions(self, name="mean"):
        return {step: self.reduction(step, name) for step in self.steps()}

    def previous_steps(self, step, count):
        return [s for s in self.steps() if s < step][-count:]


class LiveTrial:
    """What a rule's process has read so far of the trial that runs: the last STEPS_KEPT steps. As Trial, without whole arrays."""

    STEPS_KEPT = 10000

    def __init__(self):
        self.rows = {}

    def add(self, line):
        row = json.loads(line)
        self.rows.setdefault(row["step"], {}).update(row["tensors"])  # a step may come in parts
        if len(self.rows) > self.STEPS_KEPT:
            del self.rows[min(self.rows)]
        return row["step"]

    def steps(self, rank=0):
        return sorted(self.rows)

    def names(self, collection=None, pattern=None, rank=0):
        names = sorted({name for row in self.rows.values() for name in row})
        return [
            name
            for name in names
            if (collection is None or name.startswith(collection + "/")) and (pattern is None or re.search(pattern, name))
        ]

    def tensor(self, name, rank=0):
        return _LiveTensor(self, name)


class Rule:
    """A rule of one's own over a trial: invoke_at_step(step) is called for each saved step, in order; True ends it.

    A tensor or step that is not there (NotSaved) skips that step. What is set in `self.finding` (tensor, value, threshold,
    message, remedy) becomes the finding's, where the rule is a process of a job: `if __name__ == "__main__": MyRule.serve()`."""

    finding = {}

    @classmethod
    def serve(cls, lines=None, answers=None, **parameters):
        """As a process of a job's rule: reads steps from standard input, answers once."""
        trial = LiveTrial()
        rule = cls(trial, **parameters)
        for line in lines or sys.stdin:
            step = trial.add(line)
            try:
                if rule.invoke_at_step(step):
                    print(json.dumps(dict({"step": step}, **rule.finding)), file=answers or sys.stdout, flush=True)
                    return step
            except (NotSaved, KeyError):
                continue
        return None

    def __init__(self, trial, **parameters):
        self.trial, self.parameters = trial, parameters

    def invoke_at_step(self, step):
        raise NotImplementedError

    def run(self, wait_seconds=0.0):
        """The step at which it held, or None. Waits that long for further steps of a trial that is still running."""
        seen, until = set(), time.monotonic() + wait_seconds
        while True:
            steps = [step for step in self.trial.steps() if step not in seen]
            for step in steps:
                seen.add(step)
                try:
                    if self.invoke_at_step(step):
                        return step
                except NotSaved:
                    continue
            if steps:
                until = time.monotonic() + wait_seconds
            if time.monotonic() >= until:
                return None
            time.sleep(0.5)
