"""Tuneband's server for Python programs and notebooks: docs/python.md. One file; copy it beside the program. Needs nothing else.

    import tuneband
    server = tuneband.Server()                  # that of TUNEBAND_SERVER, or of this machine
    job = server.submit("job.json")             # or a dict
    job.wait(lambda info: print(info["trials"], info["best"]))
    job.best()["trial"]["configuration"]
    pandas.DataFrame(job.rows())                # a row a trial
    xgboost.Booster(model_file=bytearray(job.model()))
    for trial in server.study({...}):           # trained here, in a loop of one's own
        trial.tell(trained(**trial.configuration))

What the server answers is handed on as it is (docs/api.md has the shapes).
"""

import hashlib
import http.client
import json
import os
import reprlib
import shutil
import socket
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

ENDED = ("completed", "stopped", "failed")  # states of a job
_LOST = (OSError, http.client.HTTPException)  # of a connection
_STARTING = (502, 503, 504)  # what a server that ends or starts answers, or a proxy before it
_READ_SECONDS = 60  # without a word; in a stream of events there is one every quarter of a minute
_QUIET_SECONDS = 16  # a little more than that quarter
_LOOKING_SECONDS = 120  # at data files, before a submission is answered
_JOINING_SECONDS = 4000  # of models: the server takes an hour at most
_REFIT_SECONDS = 25 * 3600  # and a day where they are trained once more
_PAGE = 1000
_MEETING_SECONDS = 5  # between two processes of one machine
_ASKING_SECONDS = 0.05  # between two looks for a trial that waits

_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _asked(request, seconds):
    """A proxy does not reach this machine's loopback."""
    host = urllib.parse.urlsplit(request.full_url).hostname or ""
    here = host in ("localhost", "::1") or host.startswith("127.")
    return (_direct.open if here else urllib.request.urlopen)(request, timeout=seconds)


class Refused(Exception):
    """The server's error: `status` of HTTP, `code` and `details` as docs/api.md says, the text has a line a fault."""

    def __init__(self, status, error):
        self.status = status
        self.code = error.get("code", "")
        self.details = error.get("details") or [error]
        super().__init__("\n".join(_sentence(fault) for fault in self.details))


def _sentence(fault):
    text = ": ".join(part for part in (fault.get("path"), fault.get("message")) if part)
    return "%s (%s)" % (text, fault["hint"]) if fault.get("hint") else text


def _said(error):
    """A proxy's answer may be of any kind."""
    try:
        said = json.loads(error.read())["error"]
    except (*_LOST, ValueError, KeyError, TypeError):
        said = None
    return said if isinstance(said, dict) else {"message": str(error)}


def _plain(value):
    """Numbers and arrays of NumPy or PyTorch as JSON has them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(type(value).__name__)


def _json(value):
    """ValueError names the field that JSON cannot hold."""
    try:
        return json.dumps(value, allow_nan=False, default=_plain).encode()
    except (TypeError, ValueError):
        path, fault = _fault_in(value)
        text = "expected a value that JSON has, got %s" % fault
        raise ValueError(path.lstrip(".") + ": " + text if path else text) from None


def _fault_in(value, path="", around=()):
    """Its path, and what is there. `around`: the dicts and lists that the value is in."""
    if any(value is one for one in around):
        return path, "the %s that it is in" % type(value).__name__
    parts = [("." + str(name), its) for name, its in value.items()] if isinstance(value, dict) else []
    if isinstance(value, (list, tuple)):
        parts = [("[%d]" % place, its) for place, its in enumerate(value)]
    for name, its in parts:
        try:
            json.dumps(its, allow_nan=False, default=_plain)
        except (TypeError, ValueError):
            return _fault_in(its, path + name, (*around, value))
    return path, reprlib.repr(value)


def _part(name):
    return urllib.parse.quote(str(name), safe="")


def _rooted(path):
    """Without its slash a path would be the end of what is before it: of "/v1/jobs/1" and "5" it would be another job's."""
    return path if path.startswith("/") else "/" + path


def _jobs_in(lines):
    """Of a stream of events the job that each line has, or None."""
    kind = None
    for line in lines:
        if line.startswith(b"event:"):
            kind = line[6:].strip()
        yield json.loads(line[5:]) if line.startswith(b"data:") and kind == b"job" else None


def _number(value):
    """JSON has no NaN and no infinity: the server writes them as texts."""
    return float(value) if isinstance(value, str) else value


class Server:
    def __init__(self, url=None, token=None):
        """By default the one that the command line asks: TUNEBAND_SERVER's, or this machine's. `token`: of a server that has one;
        by default TUNEBAND_TOKEN's."""
        self.url = (url or os.environ.get("TUNEBAND_SERVER") or "http://127.0.0.1:7070").rstrip("/")
        self._token = token or os.environ.get("TUNEBAND_TOKEN")

    def submit(self, document, base_dir=None, like=None):
        """Starts a job, of a dict or of a file, which is sent as it is. Relative paths in it begin at `base_dir`: by default the
        file's directory, of a dict the current one. `like`: the document has only what is other than in that job's. A Refused
        names every fault; the same document again is the same job. What the server warned of is in the job's `warnings`, its plan
        in `plan`."""
        if isinstance(document, dict):
            directory = os.getcwd()
        else:
            directory = os.path.dirname(os.path.abspath(document))
            with open(document, "rb") as file:
                document = file.read()
        base_dir = os.path.abspath(base_dir or directory)
        query = {"base_dir": base_dir, "like": like}
        created = self.request("POST", "/v1/jobs", document, seconds=_LOOKING_SECONDS, **query)
        return Job(self, created["job"]["id"], created)

    def study(self, document, base_dir=None):
        """A job whose trials this program trains: a document without a trainer, which is submitted, or the name of a study that
        is there, also of another program on this machine."""
        if isinstance(document, str):
            return Study(self.job(document))
        trainer = {"type": "command", "argv": _asking(self.url, document.get("name"))}
        return Study(self.submit({**document, "trainer": {**trainer, **document.get("trainer", {})}}, base_dir))

    def job(self, name):
        """By its name or its number."""
        return Job(self, self.request("GET", "/v1/jobs/" + _part(name))["id"])

    def jobs(self, state=None):
        """Newest first, as the server lists them."""
        return list(self.pages("/v1/jobs", "jobs", state=state))

    def workers(self):
        return self.request("GET", "/v1/workers")["workers"]

    def request(self, method, path, body=None, **query):
        """Any route of docs/api.md whose answer is JSON; of others read() has the bytes. `body`: what becomes JSON, or bytes
        that are."""
        return json.loads(self.read(method, path, body, **query) or b"null")

    def pages(self, path, field, **query):
        after = None
        while True:
            page = self.request("GET", path, limit=_PAGE, after=after, **query)
            yield from page[field]
            after = page["next"]
            if after is None:
                return

    def read(self, method, path, body=None, **query):
        """The answer's bytes. Errors as of open()."""
        with self.open(method, path, body, **query) as answer:
            try:
                return answer.read()
            except _LOST as error:
                raise self._unreachable(error) from None

    def open(self, method, path, body=None, seconds=_READ_SECONDS, **query):
        """The answer as a stream of bytes. Errors: Refused; ConnectionError when there is no server."""
        asked = urllib.parse.urlencode({name: value for name, value in query.items() if value is not None})
        url = self.url + _rooted(path) + ("?" + asked if asked else "")
        data = body if body is None or isinstance(body, bytes) else _json(body)
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        if self._token:
            request.add_unredirected_header("Authorization", "Bearer " + self._token)
        try:
            return _asked(request, seconds)
        except urllib.error.HTTPError as error:
            raise Refused(error.code, _said(error)) from None
        except _LOST as error:
            raise self._unreachable(error) from None

    def _unreachable(self, error):
        why = getattr(error, "reason", None) or repr(error)
        return ConnectionError("cannot reach the server at %s: %s (tuneband-server starts one)" % (self.url, why))


class Job:
    def __init__(self, server, number, created=None):
        self.server = server
        self.number = number
        self.warnings = (created or {}).get("warnings", [])
        self.plan = (created or {}).get("plan")

    def __repr__(self):
        return "<job %d of %s>" % (self.number, self.server.url)

    def request(self, method, page="", body=None, **query):
        return self.server.request(method, self._path(page), body, **query)

    def info(self):
        return self.request("GET")

    def wait(self, progress=None, seconds=None):
        """Until it has ended, and gives it as info() does; TimeoutError after `seconds`. `progress` is called with the job each
        time that it has changed. A server that is started again meanwhile is waited for for a minute."""
        for ended, info in self._changes(None if seconds is None else time.monotonic() + seconds):
            if ended:
                return info
            if progress is not None:
                progress(info)
        raise TimeoutError("%r goes on after %g s" % (self, seconds))

    def _changes(self, until):
        """(False, the job) each time that it has changed, and (True, it as info() gives it) once it has ended, unless the time is
        over before."""
        heard = time.monotonic()
        last = None
        while True:
            try:
                info = self.info()
                if info["state"] in ENDED:
                    yield True, info
                    return
                heard = time.monotonic()
                if until is not None and until - heard < _QUIET_SECONDS:
                    # A stream would say that the time is over with its next line only.
                    if info != last:
                        last = info
                        yield False, info
                    time.sleep(max(0, min(1, until - time.monotonic())))
                else:
                    with self.server.open("GET", self._path("/events"), seconds=_READ_SECONDS) as lines:
                        for job in _jobs_in(lines):
                            if job is not None:
                                last = job
                                yield False, job
                            heard = time.monotonic()
                            if until is not None and until - heard < _QUIET_SECONDS:
                                break
            except (*_LOST, Refused) as error:
                over = time.monotonic() - heard > _READ_SECONDS
                if over or (isinstance(error, Refused) and error.status not in _STARTING):
                    raise
                time.sleep(1 if until is None else max(0, min(1, until - time.monotonic())))
            if until is not None and time.monotonic() >= until:
                return

    def best(self):
        """The best trial, the path of its model and its test value; None while nothing has a value."""
        try:
            return self.request("GET", "/best")
        except Refused as error:
            if error.status != 404:
                raise
            self.info()  # refused where the job itself is gone
            return None

    def trials(self, state=None, sort="number"):
        """`state`: "completed", or several with commas. `sort`: number, or objective, the best first."""
        return list(self.server.pages(self._path("/trials"), "trials", state=state, sort=sort))

    def rows(self):
        """A flat dict a trial, for a table: the number, state, value, resource, seconds of training, the values of further
        objectives (`objective.METRIC`), in a job with constraints the `violation`, and the parameters."""
        info = self.info()
        further = ["objective." + objective["metric"] for objective in info["more_objectives"]]
        rows = []
        for trial in self.trials():
            kept = trial["kept_value"] is not None
            row = {
                "trial": trial["number"],
                "state": trial["state"],
                "value": _number(trial["kept_value"] if kept else trial["objective"]),
                "resource": trial["resource"],
                "training_seconds": trial["training_seconds"],
            }
            row.update(zip(further, map(_number, trial["more_objectives"])))
            if info["constraints"]:
                row["violation"] = _number(trial["violation"])
            for name, value in trial["configuration"].items():
                row["parameter." + name if name in row else name] = value
            rows.append(row)
        return rows

    def curve(self, trial):
        """[(resource, value)] of its objective."""
        observed = self.request("GET", "/trials/%d/observations" % trial)["observations"]
        return [(one["resource"], _number(one["objective"])) for one in observed if one["objective"] is not None]

    def explain(self, trial):
        """Why it is where it is: a list of sentences."""
        return self.request("GET", "/trials/%d/decisions" % trial)["explanation"]

    def log(self, trial, rank=0):
        """What it printed, as bytes; of a distributed one what this rank of it did."""
        return self._bytes("/trials/%d/log" % trial, rank=rank)

    def model(self, trial=None):
        """The model file of an XGBoost trial, as bytes; by default the best one's."""
        if trial is None:
            best = self.best()
            if best is None:
                raise LookupError("%r has no trial with a value" % self)
            trial = best["trial"]["number"]
        return self._bytes("/trials/%d/model" % trial)

    def ensemble(self, refit=False, models=None):
        """The best trials' models joined into one of XGBoost, as bytes; its attribute tuneband_ensemble says which. With refit
        each is trained once more, on all rows; models: of so many trials at most, 1: of the best one alone."""
        if not refit:
            return self._bytes("/ensemble", seconds=_JOINING_SECONDS, models=models)
        return self._bytes("/ensemble", seconds=_REFIT_SECONDS, refit="true", models=models)

    def importance(self):
        return self.request("GET", "/importance")["importance"]

    def change(self, **changes):
        """Of a job that runs: weight=2, held=True, limits={"max_parallel_trials": 4}."""
        return self.request("PATCH", body=changes)

    def stop(self):
        """Trials that run are ended, what was found is kept."""
        return self.request("POST", "/stop")

    def stop_trial(self, trial):
        return self.request("POST", "/trials/%d/stop" % trial)

    def delete(self):
        """Of a job that has ended, with its logs and models."""
        self.request("DELETE")

    def _path(self, page):
        return "/v1/jobs/%d%s" % (self.number, _rooted(page) if page else "")

    def _bytes(self, page, **query):
        return self.server.read("GET", self._path(page), **query)


class Study:
    """A job whose trials are trained where they are asked for, in this program, also by several of its threads and by other
    programs. For each trial that is to be trained a worker of this machine starts this file, which waits until somebody asks.

        for trial in server.study({"name": "mine", "objective": ..., "search_space": ..., "scheduler": ...}):
            trial.tell(trained(trial.configuration))
    """

    def __init__(self, job):
        self.job = job
        spec = job.info()["spec"]
        argv = spec["trainer"].get("argv", [])
        if _ASKED not in argv:
            raise ValueError("%r is no study: its trials are trained by its trainer" % job)
        self._meeting_place = _unbraced(argv[-1])
        self._metric = (spec.get("objective") or spec["objectives"][0])["metric"]

    def __repr__(self):
        return "<study: %r>" % self.job

    def __iter__(self):
        """Trials until the job has ended. One that the loop's body has not told, and leaves by an exception (or `break`), is
        handed out again."""
        for trial in iter(self.ask, None):
            with trial:
                yield trial

    def ask(self, seconds=None):
        """The next trial, waited for; None once the job has ended, TimeoutError after `seconds`."""
        until = None if seconds is None else time.monotonic() + seconds
        looked = time.monotonic()
        while True:
            for name in _waiting(self._meeting_place):
                trial = self._met(os.path.join(self._meeting_place, name))
                if trial is not None:
                    return trial
            over = until is not None and time.monotonic() >= until
            if over or time.monotonic() - looked >= 1:
                looked = time.monotonic()
                if self._state() in ENDED:
                    shutil.rmtree(self._meeting_place, ignore_errors=True)
                    return None
            if over:
                raise TimeoutError("%r has no trial to train after %g s" % (self.job, seconds))
            time.sleep(_ASKING_SECONDS)

    def _state(self):
        """A server that is started again meanwhile is waited for for a minute."""
        until = time.monotonic() + _READ_SECONDS
        while True:
            try:
                return self.job.info()["state"]
            except (ConnectionError, Refused) as error:
                if time.monotonic() > until or (isinstance(error, Refused) and error.status not in _STARTING):
                    raise
            time.sleep(1)

    def _met(self, path):
        """The trial of who waits there; None where it is gone or has met somebody else."""
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(_MEETING_SECONDS)
        try:
            connection.connect(path)
            told = connection.makefile("rb").readline()
        except ConnectionRefusedError:  # it was killed
            _remove(path)
            told = b""
        except OSError:
            told = b""
        if told.endswith(b"\n"):
            connection.settimeout(None)
            return StudyTrial(connection, json.loads(told), self._metric)
        connection.close()
        return None


class StudyTrial:
    """What is to be trained now: `number` of the trial, its `configuration`, `from_resource` (0, or with "resume": "checkpoint"
    in the study's trainer what it has come to before), `until_resource`, `max_resource`, `checkpoint_dir`, `seed`."""

    def __init__(self, connection, told, metric):
        self._connection = connection
        self._metric = metric
        for name, value in told.items():
            setattr(self, name, value)

    def __repr__(self):
        return "<trial %d: %s>" % (self.number, self.configuration)

    def report(self, resource, value, **metrics):
        """The objective's value (of several a dict) at a resource. False: no more is wanted of it now, because that is
        `until_resource` or because the trial was stopped. One that goes on later is asked for again."""
        values = {**(value if isinstance(value, dict) else {self._metric: value}), **metrics}
        told = {name: _as_number(name, its) for name, its in values.items()}
        if self._send("report " + json.dumps({"resource": int(resource), **told})):
            if resource < self.until_resource:
                return True
            self._end(0)
        return False

    def tell(self, value, **metrics):
        """The value at `until_resource`."""
        self.report(self.until_resource, value, **metrics)

    def fail(self, message=""):
        """The trial has no value. It is tried again once; the second time it has failed, and the message says why."""
        self._send("say " + json.dumps(str(message)))
        self._end(1)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, where):
        if kind is None:
            self._end(0)
        self._connection.close()

    def _end(self, status):
        self._send("end %d" % status)
        self._connection.close()

    def _send(self, line):
        """Whether there was still somebody who reads it."""
        try:
            self._connection.sendall(line.encode() + b"\n")
        except OSError:
            return False
        return True


def _as_number(name, value):
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError("%s: expected a number, got %s" % (name, reprlib.repr(value))) from None


_FILE = os.path.abspath(__file__)
_ASKED = "--asked-for-in"


def _braced(text):
    return text.replace("{", "{{").replace("}", "}}")


def _unbraced(text):
    return text.replace("{{", "{").replace("}}", "}")


def _asking(url, name):
    """The command of a study's trials. Two servers may have jobs of one name. A socket's path has 107 bytes at most."""
    place = hashlib.sha256(("%s %s" % (url, name)).encode()).hexdigest()[:16]
    directory = os.path.join(tempfile.gettempdir(), "tuneband-%d-%s" % (os.getuid(), place))
    return [_braced(sys.executable), _braced(_FILE), _ASKED, _braced(directory)]


def _remove(path):
    try:
        os.remove(path)
    except OSError:
        pass


def _own(directory):
    """Anybody may make it where temporary files are."""
    if os.stat(directory).st_uid != os.getuid():
        raise PermissionError("%s is another user's" % directory)


def _waiting(directory):
    """Sockets of trials that wait, those that have waited longest first."""
    try:
        names = [name for name in os.listdir(directory) if not name.endswith(".new")]
        _own(directory)
    except FileNotFoundError:  # or another thread has taken it away meanwhile, at the end
        return []
    return sorted(names, key=int)


def _of_trial(name):
    return os.environ["TUNEBAND_" + name.upper()]


def _be_asked(directory):
    """As a trial's command: hands the trial out to who asks, prints what it is told, and ends as it is told to. Who asked and
    went away without a word of the end has not trained it: then it waits for the next."""
    told = {name: int(_of_trial(name)) for name in ("from_resource", "until_resource", "max_resource", "seed")}
    told.update(number=int(_of_trial("trial")), checkpoint_dir=_of_trial("checkpoint_dir"))
    with open(_of_trial("parameters_file"), encoding="utf-8") as file:
        told["configuration"] = json.load(file)
    os.makedirs(directory, mode=0o700, exist_ok=True)
    _own(directory)
    path = os.path.join(directory, _of_trial("epoch"))
    print("waits until a program asks for it", flush=True)
    while True:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path + ".new")
        listener.listen(1)
        os.rename(path + ".new", path)
        connection, _ = listener.accept()
        _remove(path)
        listener.close()
        try:
            connection.sendall(json.dumps(told).encode() + b"\n")
            for line in connection.makefile("r", encoding="utf-8"):
                kind, _, rest = line.rstrip("\n").partition(" ")
                if kind == "end":
                    return int(rest)
                print(json.loads(rest) if kind == "say" else rest, flush=True)
        except OSError:
            pass
        connection.close()


if __name__ == "__main__" and sys.argv[1:2] == [_ASKED]:
    sys.exit(_be_asked(sys.argv[2]))
