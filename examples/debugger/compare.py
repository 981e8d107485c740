#!/usr/bin/env python3
"""A job half of whose trials diverge, with its rules and without: what was trained, and how long it took."""

import json
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
tuneband = os.environ.get("TUNEBAND", "tuneband")
rows = []
with tempfile.TemporaryDirectory() as folder:
    for name in ("with rules", "without"):
        with open(os.path.join(here, "diverging.json")) as file:
            job = json.load(file)
        job["trainer"]["working_dir"] = here
        if name == "without":
            del job["debug"]
        path = os.path.join(folder, "job.json")
        with open(path, "w") as file:
            json.dump(job, file)
        run = [tuneband, "--json", "run", path, "--data-dir", os.path.join(folder, name.split()[0])]
        done = subprocess.run(run, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if not done.stdout:
            sys.exit("compare: %s printed nothing" % tuneband)
        found = json.loads(done.stdout)
        ended, counts = found["job"], found["job"]["trials"]
        rows.append((name, counts["completed"], counts["failed"], ended["resource_spent"], ended["training_seconds"]))

print("%-12s %9s %8s %15s %9s" % ("", "completed", "failed", "finite epochs", "training"))
for name, completed, failed, epochs, seconds in rows:
    print("%-12s %9d %8d %15d %7.1f s" % (name, completed, failed, epochs, seconds))
print("saved: %.0f %% of the training" % (100 * (1 - rows[0][4] / rows[1][4])))
