"""Tuneband's debugger for Python programs: docs/debugger.md. One file; copy it beside the training. Needs nothing but what the
training itself has: NumPy or PyTorch for arrays, neither for numbers.

In a training:

    import tuneband_debugger as debugger
    debugger.hook(model, loss=loss_function, optimizer=optimizer)   # PyTorch: one line, before the first batch
    debugger.save(step, {"losses/train": loss})                     # anything: one call a step
    debugger.save(step, {"losses/ce": loss}, mode="validation")     # of one name a value in each mode

Outside of a Tuneband trial both save nothing. Afterwards, anywhere:

    trial = debugger.Trial("http://127.0.0.1:7070", "JOB", 0)
    trial.names(), trial.tensor("losses/train").values(), trial.tensor("losses/ce").values(mode="validation")
"""

import atexit
import http.client
import io
import json
import math
import operator
import os
import re
import struct
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import warnings

_directory = os.environ.get("TUNEBAND_TENSORS", "")
_collections = json.loads(os.environ.get("TUNEBAND_COLLECTIONS", "{}")) if _directory else {}


def _due(schedule, step):
    inside = step >= schedule["from"] and (schedule["until"] is None or step < schedule["until"])
    return (inside and step % schedule["every"] == 0) or step in schedule["steps"]


def _found(pattern, name):
    try:
        return re.search(pattern, name) is not None
    except re.error:  # it is RE2's: the worker, which has that, sees to it
        return True


def _held(collection, schedule, name):
    patterns = schedule.get("patterns")
    return any(_found(pattern, name) for pattern in patterns) if patterns else name.split("/")[0] == collection


def _due_within(schedule, after, step):
    """Whether one of the steps after `after`, until `step` itself, is due."""
    last = step if schedule["until"] is None else min(step, schedule["until"] - 1)
    multiple = last - last % schedule["every"] if last >= 0 else -1
    inside = multiple > after and multiple >= schedule["from"]
    return inside or any(after < listed <= step for listed in schedule["steps"])


MODES = ("train", "validation", "predict")
_OFF_TRAINING = ("validation", "predict")
_told_mode = None  # by mode()
_kept = {}  # of validation and prediction, by collection and mode: the last step that was saved
_passes = set()  # hooks of modules that are validated, or predict, just now


def _checked(mode):
    if mode is not None and mode not in MODES:
        raise ValueError("expected the mode train, validation or predict, got %r" % (mode,))
    return mode


def mode(told):
    """From now on this is what save() and hooks save: "train", "validation" or "predict"; None: as each call says, or the
    module's `training`."""
    global _told_mode
    _told_mode = _checked(told)
    _end_passes()


def _end_passes():
    for passing in list(_passes):
        passing.end_pass()


atexit.register(_end_passes)


def _due_at(step, mode=None, among=_collections.items()):
    """Steps of validations and predictions are few: one is due at or after a step that is."""
    if mode not in _OFF_TRAINING:
        return [(collection, schedule) for collection, schedule in among if _due(schedule, step)]
    return [
        (collection, schedule)
        for collection, schedule in among
        if _kept.get((collection, mode)) == step or _due_within(schedule, _kept.get((collection, mode), -1), step)
    ]


def wants(name, step, mode=None):
    """Whether the job saves a tensor of this name ("weights/fc1", or a collection alone) at this step."""
    return any(_held(collection, schedule, name) for collection, schedule in _due_at(step, _checked(mode) or _told_mode))


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
    """As the worker reads it back: what a file's name cannot hold, and the percent sign, as %XX."""
    encoded = re.sub("[%/\x00-\x1f\x7f]", lambda one: "%%%02X" % ord(one[0]), name)
    return encoded.encode(errors="surrogatepass")  # whatever the locale


_STEP_MAX = 10**12
_FILE_NAME_MAX = 255 - len("@%d.validation.npy" % _STEP_MAX)  # bytes, before the longest of ends


def _not_saved(name, why):
    """A warning, on standard error and so in the trial's log: what watches a training does not end it."""
    warnings.warn("%s is not saved: %s" % (name, why), stacklevel=3)


def _whole(step):
    """A Python number of a whole one of whatever library; None: it is no step."""
    try:
        whole = int(step) if isinstance(step, float) and step.is_integer() else int(operator.index(step))
    except TypeError:
        return None
    return whole if 0 <= whole <= _STEP_MAX else None


def _fault_of(name, value):
    """Why it cannot be saved, or None, from what is known without a look into an array: save() asks outside of a trial too."""
    if not isinstance(name, str) or re.search("[\ud800-\udfff]", name):
        return "expected a text as its name"
    if isinstance(value, (bool, int, float)):
        return "expected a number that a double can hold" if sys.float_info.max < abs(value) < math.inf else None
    kind = getattr(value, "dtype", None)
    if kind is None or not (hasattr(value, "detach") or hasattr(value, "tobytes") or getattr(value, "size", None) == 1):
        return "expected a number, or an array of NumPy or PyTorch, got %s" % type(value).__name__
    if getattr(kind, "kind", "f") in "OSUMmc" or getattr(kind, "is_complex", False):
        return "expected real numbers, got an array of %s" % kind
    if math.prod(value.shape) != 1 and len(_file_name(name.split("/", 1)[-1])) > _FILE_NAME_MAX:
        return "expected at most %d bytes behind the collection in the name of an array" % _FILE_NAME_MAX
    return None


def save(step, tensors, mode=None):
    """Saves numbers and arrays, by name ("losses/train", "weights/fc1"), those that the job wants at this step.

    `mode`: "train", "validation" or "predict"; None: that of mode(), else the one that the name says, if any.

    What cannot be saved is a warning that names it, inside of a trial and outside: the training goes on."""
    mode = _checked(mode) or _told_mode
    whole = _whole(step)
    if whole is None:
        return _not_saved("a step", "expected a whole number from 0 to %d, got %r" % (_STEP_MAX, step))
    faults = {name: _fault_of(name, value) for name, value in tensors.items()}
    for name, fault in faults.items():
        if fault:
            _not_saved(name, fault)
    _save(whole, {name: value for name, value in tensors.items() if not faults[name]}, _due_at(whole, mode), mode)


def _save(step, tensors, due, mode=None):
    numbers = {}
    for name, value in tensors.items():
        name = name if "/" in name else "metrics/" + name
        holding = [collection for collection, schedule in due if _held(collection, schedule, name)]
        if not holding:
            continue
        if mode in _OFF_TRAINING:
            _kept.update({(collection, mode): step for collection in holding})
        try:
            number = _number(value)
            if number is None:
                _write(name, "%d.%s" % (step, mode) if mode else "%d" % step, value)
            else:
                numbers[name] = number
        except Exception as error:  # of an array that is none of the usual, or of the disk
            _not_saved(name, repr(error))
    if numbers:
        line = {"step": step, "tensors": numbers}
        if mode:
            line["mode"] = mode
        print(json.dumps(line), flush=True)


def _write(name, place, array):
    collection, rest = name.split("/", 1)
    folder = os.path.join(_directory, collection)
    if collection in ("", ".", "..") or not os.path.isdir(folder):
        return _not_saved(name, "arrays go into collections, and the job has no collection %s" % collection)
    data = _npy(array)
    with open(os.path.join(os.fsencode(folder), b"%s@%s.npy" % (_file_name(rest), place.encode())), "wb") as file:
        file.write(data)


class _Hook:
    """Counts the forward passes of a module in training and saves what the job wants of each.

    Where the job does not say when (`derived`), it saves as often as takes at most SHARE of the time: after a step that took
    long to save it waits so much longer. Batches in another mode one after the other are a pass, at the step of the training
    before it: of its first batch what goes in and out of the layers is saved, of all of them the mean of the loss."""

    SHARE = 0.01
    STEPS_BETWEEN_LOOKS = 16  # of a rest, at most: asking for the time at each takes a percent or two of a small network's step

    def __init__(self, module, loss, optimizer):
        self.module, self.lossy, self.optimizer = module, loss, optimizer
        self.step, self.due, self.handles = 0, [], []
        self.armed_layers = False
        self.spent, self.rests_until = 0.0, 0.0
        self.looked = (0, time.perf_counter())  # at which step, and when
        self.looks_again = 0  # at this step of the training
        self.told_when = [one for one in _collections.items() if not one[1].get("derived")]
        self.mode = "train"
        self.losses, self.losses_due = {}, []  # of the pass: by name the sum and how many
        module.register_forward_pre_hook(self.begin)

    def arm(self, layers=True):
        """For the steps that save alone: hooks that have nothing to do cost a small network a tenth of its time."""
        self.armed_layers = layers
        if layers:
            for name, part in self.module.named_modules():
                if not list(part.children()):
                    self.handles.append(part.register_forward_hook(self.layer(name or "module")))
        if layers and self.mode == "train":
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

    def save(self, tensors, mode=None):
        begin = time.perf_counter()
        _save(self.step, tensors, self.due, mode)
        self.spent += time.perf_counter() - begin

    def begin(self, module, inputs):
        if self.step + 1 < self.looks_again and module.training and self.mode == "train" and _told_mode is None:
            self.step += 1
            return
        mode = _told_mode or ("train" if module.training else "validation")
        if self.mode != mode:
            self.end_pass()
            self.mode = mode
        if mode == "train":
            self.begin_step(module)
        else:
            self.begin_batch()

    def due_now(self):
        now = time.perf_counter()
        if self.spent > 0:
            self.rests_until, self.spent = now + self.spent / self.SHARE, 0.0
        rest, step_seconds = self.rests_until - now, (now - self.looked[1]) / max(1, self.step - self.looked[0])
        self.looked = (self.step, now)
        if rest > 0 and not self.told_when:
            self.looks_again = self.step + min(self.STEPS_BETWEEN_LOOKS, int(rest / max(step_seconds, 1e-9)))
        return _due_at(self.step, self.mode, self.told_when if rest > 0 else _collections.items())

    def begin_batch(self):
        """Of a pass. Its loss is saved as often as it is due, whatever that costs: once a pass."""
        first = self not in _passes
        if first:
            _passes.add(self)
            self.losses_due = [one for one in _due_at(self.step, self.mode) if one[0] == "losses" or "patterns" in one[1]]
        self.due = self.due_now() if first else []
        self.disarm()
        if self.due or self.losses_due:
            self.arm(layers=bool(self.due))

    def end_pass(self):
        """Saves the mean of its losses."""
        _passes.discard(self)
        self.disarm()
        self.due = []
        means = {name: total / count for name, (total, count) in self.losses.items()}
        if means:
            _save(self.step, means, self.losses_due, self.mode)
        self.losses, self.losses_due = {}, []

    def begin_step(self, module):
        self.step += 1
        self.due = self.due_now()
        if not self.due:
            if self.handles:
                self.disarm()
            return
        begin = time.perf_counter()
        layers = any(self.wants(kind) for kind in ("inputs", "outputs", "gradients"))
        if not self.handles or (layers and not self.armed_layers):
            self.disarm()
            self.arm(layers)
        if self.wants("weights") or self.wants("biases"):
            parameters = module.named_parameters()
            _save(self.step, {("biases/" if name.endswith("bias") else "weights/") + name: p for name, p in parameters}, self.due)
        if self.optimizer is not None and self.wants("optimizer_state"):
            state = {}
            for i, group in enumerate(self.optimizer.param_groups):
                state["optimizer_state/lr%d" % i] = group.get("lr", 0.0)
            names = {id(p): name for name, p in module.named_parameters()}
            for parameter, values in self.optimizer.state.items():
                for key, value in values.items():
                    if hasattr(value, "numel") or isinstance(value, (int, float)):
                        state["optimizer_state/%s.%s" % (names.get(id(parameter), "other"), key)] = value
            _save(self.step, state, self.due)
        self.spent += time.perf_counter() - begin

    def layer(self, name):
        def hook(part, inputs, output):
            if not self.due:
                return
            kind = type(part).__name__.lower()
            if self.wants("inputs"):
                values = [v for v in inputs if hasattr(v, "detach")]
                self.save({"inputs/%s.%s_input%s" % (name, kind, i or ""): v for i, v in enumerate(values)}, self.mode)
            if self.wants("outputs") and hasattr(output, "detach"):
                self.save({"outputs/%s.%s_output" % (name, kind): output}, self.mode)

        return hook

    def gradient(self, name):
        def hook(gradient):
            if self.due and self.wants("gradients"):
                self.save({"gradients/" + name: gradient})

        return hook

    def loss(self, part, inputs, output):
        if not hasattr(output, "numel") or output.numel() != 1:
            return
        name = "losses/" + type(part).__name__
        if self.mode != "train":
            total, count = self.losses.get(name, (0.0, 0))
            self.losses[name] = (total + output.detach().double(), count + 1)
        elif self.due:
            self.save({name: output}, self.mode)


def hook(module, loss=None, optimizer=None):
    """PyTorch: weights, gradients, layers' inputs and outputs, the loss and the optimiser's state, as the job's collections say.

    A step is a forward pass of `module` in training mode, from 1. Of a collection without `save` in the job it saves as often
    as costs 1 % of the training's time. Layers' inputs and outputs and the loss have a mode: that of mode(), else by the
    module's `training` "train" or "validation"."""
    if _directory:
        module._tuneband_hook = _Hook(module, loss, optimizer)
    return module


hook.mode = mode


# ---- afterwards ---------------------------------------------------------------------------


class NotSaved(KeyError):
    """The tensor is not there at that step: the server's words say whether it is not saved yet, or never was."""

    __str__ = Exception.__str__  # a KeyError shows its text in quotes


def _value(json_number):
    return {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}.get(json_number, json_number)


def _one_mode(name, modes):
    """Where one value is wanted: there is one mode, or nobody can say which."""
    if len(modes) > 1:
        said = " and ".join(sorted(mode or "none" for mode in modes))
        raise ValueError("%s was saved in the modes %s: say which with `mode`" % (name, said))


def _last_before(step, steps, count):
    before = [one for one in steps if one < step]
    return before[max(0, len(before) - count) :]


class Tensor:
    """Of a name that was saved in several modes all calls but steps() need `mode`; "none" is without one."""

    def __init__(self, trial, name, rank):
        self.trial, self.name, self.rank = trial, name, rank

    def _rows(self, mode, **query):
        if mode is not None:
            query["mode"] = mode
        return self.trial._json("tensors/series", name=self.name, rank=self.rank, **query)["steps"]

    def _series(self, mode, **query):
        rows = self._rows(mode, **query)
        _one_mode(self.name, {row.get("mode") for row in rows})
        return {row["step"]: row for row in rows}

    def modes(self):
        """Those in which it was saved; None: without one."""
        return sorted({row.get("mode") for row in self._rows(None)}, key=str)

    def steps(self, mode=None):
        return sorted({row["step"] for row in self._rows(mode)})

    def value(self, step, mode=None):
        """A number, or with NumPy the whole array where it was kept."""
        series = self._series(mode, **{"from": step, "until": step})
        if step in series and "value" in series[step]:
            return _value(series[step]["value"])
        query = {} if mode is None else {"mode": mode}
        if mode is None and step in series and "mode" in series[step]:  # another mode may have other steps
            query["mode"] = series[step]["mode"] or "none"
        body = self.trial._bytes("tensors/array", name=self.name, step=step, rank=self.rank, **query)
        import numpy  # a number that was not saved is told without it

        return numpy.load(io.BytesIO(body), allow_pickle=False)

    def values(self, mode=None):
        """Of a number: every step with its value."""
        return {step: _value(row["value"]) for step, row in self._series(mode).items() if "value" in row}

    def reduction(self, step, name="mean", mode=None):
        series = self._series(mode, **{"from": step, "until": step})
        if step not in series:
            raise NotSaved("%s at step %d" % (self.name, step))
        row = series[step]
        return _value(row["reductions"].get(name, row.get("value")))

    def reductions(self, name="mean", mode=None):
        return {step: _value(row["reductions"].get(name, row.get("value"))) for step, row in self._series(mode).items()}

    def previous_steps(self, step, count, mode=None):
        return _last_before(step, self.steps(mode), count)


_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _asked(request, seconds):
    """A proxy does not reach this machine's loopback."""
    host = urllib.parse.urlsplit(request.full_url).hostname or ""
    here = host in ("localhost", "::1") or host.startswith("127.")
    return (_direct.open if here else urllib.request.urlopen)(request, timeout=seconds)


def _error_of(answer):
    """A proxy's answer may be of any kind."""
    try:
        said = json.loads(answer.read())["error"]
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        said = None
    return said if isinstance(said, dict) else {}


class Trial:
    def __init__(self, server, job, number, token=None):
        """`token`: of a server that has one; by default TUNEBAND_TOKEN's."""
        self._token = token or os.environ.get("TUNEBAND_TOKEN")
        self.base = "%s/v1/jobs/%s/trials/%d/" % (server.rstrip("/"), urllib.parse.quote(str(job), safe=""), number)

    def _bytes(self, page, body=None, **query):
        url = self.base + page + ("?" + urllib.parse.urlencode(query) if query else "")
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
        if self._token:
            request.add_unredirected_header("Authorization", "Bearer " + self._token)
        try:
            with _asked(request, 60) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            said = _error_of(error)
            text = ": ".join(part for part in (said.get("message"), said.get("hint")) if part)
            raise (NotSaved if error.code == 404 else RuntimeError)(text or str(error)) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or repr(error)
            raise ConnectionError("cannot reach the server at %s: %s" % (url.split("/v1/")[0], reason)) from None

    def _json(self, page, body=None, **query):
        return json.loads(self._bytes(page, body, **query))

    def _tensors(self, rank=0, mode=None):
        return self._json("tensors", rank=rank, **({} if mode is None else {"mode": mode}))["tensors"]

    def names(self, collection=None, pattern=None, rank=0, mode=None):
        found = [
            t["name"]
            for t in self._tensors(rank, mode)
            if (collection is None or t["collection"] == collection) and (pattern is None or re.search(pattern, t["name"]))
        ]
        return list(dict.fromkeys(found))  # once each, also in several modes

    def collections(self, rank=0):
        return sorted({t["collection"] for t in self._tensors(rank)})

    def modes(self, rank=0):
        """Those in which something was saved; None: without one."""
        return sorted({t.get("mode") for t in self._tensors(rank)}, key=str)

    def ranks(self):
        return self._json("tensors", rank=0)["ranks"]

    def steps(self, rank=0, mode=None):
        """All at which anything was saved, or in this mode."""
        found = set()
        for name in self.names(rank=rank, mode=mode):
            found.update(self.tensor(name, rank).steps(mode))
        return sorted(found)

    def tensor(self, name, rank=0):
        return Tensor(self, name, rank)

    def findings(self):
        return self._json("findings")["findings"]

    def check(self, rules):
        """[{"rule": "overfit", "parameters": {"patience": 3}}] -> what they find in what was saved."""
        return self._json("check", json.dumps({"rules": rules}).encode())["findings"]


_MODES_OF_WORDS = {"train": "train", "training": "train"}
_MODES_OF_WORDS.update(dict.fromkeys(("validation", "valid", "val", "eval", "test"), "validation"))
_NAMES_OF_PARTS = (
    "weights biases gradients inputs outputs optimizer_state shap feature_importance hyperparameters trees".split()
)


def _named_mode(name):
    """The mode that a tensor's name says, as the server has it."""
    collection, _, rest = name.partition("/")
    word = rest if collection in _NAMES_OF_PARTS else re.split("[-_]", rest, maxsplit=1)[0]
    return _MODES_OF_WORDS.get(word)


class _LiveTensor:
    def __init__(self, trial, name):
        self.trial, self.name = trial, name

    def _at(self, step, mode):
        """By mode."""
        rows = self.trial.rows.get(step, {}).get(self.name, {})
        return {its: row for its, row in rows.items() if mode is None or (its or "none") == mode}

    def modes(self):
        return sorted({mode for step in self.trial.steps() for mode in self._at(step, None)}, key=str)

    def steps(self, mode=None):
        return [step for step in self.trial.steps() if self._at(step, mode)]

    def _row(self, step, mode):
        rows = self._at(step, mode)
        if not rows:
            raise NotSaved("%s at step %d" % (self.name, step))
        _one_mode(self.name, rows)
        return next(iter(rows.values()))

    def value(self, step, mode=None):
        row = self._row(step, mode)
        if isinstance(row, dict):
            raise NotSaved("%s at step %d came as reductions" % (self.name, step))
        return _value(row)

    def values(self, mode=None):
        if mode is None:
            _one_mode(self.name, self.modes())
        return {step: self.value(step, mode) for step in self.steps(mode) if not isinstance(self._row(step, mode), dict)}

    def reduction(self, step, name="mean", mode=None):
        row = self._row(step, mode)
        return _value(row[name] if isinstance(row, dict) else row)

    def reductions(self, name="mean", mode=None):
        if mode is None:
            _one_mode(self.name, self.modes())
        return {step: self.reduction(step, name, mode) for step in self.steps(mode)}

    def previous_steps(self, step, count, mode=None):
        return _last_before(step, self.steps(mode), count)


class LiveTrial:
    """What a rule's process has read so far of the trial that runs: the last STEPS_KEPT steps. As Trial, without whole arrays."""

    STEPS_KEPT = 10000

    def __init__(self):
        self.rows = {}  # by step, name and mode

    def add(self, line):
        row = json.loads(line)
        rows = self.rows.setdefault(row["step"], {})  # a step may come in parts
        for name, value in row["tensors"].items():
            rows.setdefault(name, {})[row.get("mode") or _named_mode(name)] = value
        if len(self.rows) > self.STEPS_KEPT:
            del self.rows[min(self.rows)]
        return row["step"]

    def _pairs(self, mode=None):
        """Names and modes that there are."""
        pairs = {(name, its) for rows in self.rows.values() for name, modes in rows.items() for its in modes}
        return {(name, its) for name, its in pairs if mode is None or (its or "none") == mode}

    def steps(self, rank=0, mode=None):
        if mode is None:
            return sorted(self.rows)
        told = None if mode == "none" else mode
        return sorted(step for step, rows in self.rows.items() if any(told in modes for modes in rows.values()))

    def modes(self, rank=0):
        return sorted({its for _, its in self._pairs()}, key=str)

    def names(self, collection=None, pattern=None, rank=0, mode=None):
        return [
            name
            for name in sorted({name for name, _ in self._pairs(mode)})
            if (collection is None or name.startswith(collection + "/")) and (pattern is None or re.search(pattern, name))
        ]

    def tensor(self, name, rank=0):
        return _LiveTensor(self, name)


def _told(finding):
    # JSON has no NaN and no infinities: they travel as texts. Nor has it numbers of NumPy or PyTorch.
    plain = {name: its.item() if hasattr(its, "item") else its for name, its in finding.items()}
    return {name: str(float(its)) if isinstance(its, float) and not math.isfinite(its) else its for name, its in plain.items()}


class Rule:
    """A rule of one's own over a trial: invoke_at_step(step) is called for each saved step, in order; True ends it.

    A tensor or step that is not there (NotSaved) skips that step. What is set in `self.finding` (tensor, mode, value,
    threshold, message, remedy) becomes the finding's, where the rule is a process of a job:
    `if __name__ == "__main__": MyRule.serve()`."""

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
                    print(json.dumps(_told(dict({"step": step}, **rule.finding))), file=answers or sys.stdout, flush=True)
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
        seen, left, until = set(), None, time.monotonic() + wait_seconds
        while True:
            steps = [step for step in self.trial.steps() if step not in seen]
            waits = steps in ([], [left])
            for step in steps:
                try:
                    if self.invoke_at_step(step):
                        return step
                except NotSaved:
                    if step == steps[-1]:
                        left = step  # more of it may come
                        continue
                seen.add(step)
            if not waits:
                until = time.monotonic() + wait_seconds
            if time.monotonic() >= until:
                return None
            time.sleep(0.5)
