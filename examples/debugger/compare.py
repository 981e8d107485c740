#!/usr/bin/env python3
"""A job half of whose trials diverge, with its rules and without: what was trained, how long it took, what the best is.

  examples/debugger/compare.py [diverging.json|network.json]        TUNEBAND: the program to run
"""

import json
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
tuneband = os.environ.get("TUNEBAND", "tuneband")
document = os.path.join(here, sys.argv[1] if len(sys.argv) > 1 else "diverging.json")
rows = []
with tempfile.TemporaryDirectory() as folder:
    for name in ("with rules", "without"):
        with open(document) as file:
            job = json.load(file)
        job["trainer"]["working_dir"] = here
        if name == "without":
            del job["debug"]
        path = os.path.join(folder, "job.json")
        with open(path, "w") as file:
            json.dump(job, file)
        run = [tuneband, "--json", "run", path, "--data-dir", os.path.join(folder, name.split()[0])]
        try:
            done = subprocess.run(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        except FileNotFoundError:
            sys.exit("compare: there is no program %s: TUNEBAND=build/release/bin/tuneband names it" % tuneband)
        found = json.loads(done.stdout or "{}")
        if "job" not in found:
            sys.exit(done.stderr.strip() or "compare: %s printed no result" % tuneband)
        ended, counts = found["job"], found["job"]["trials"]
        best = found["best"]["trial"]["objective"] if found.get("best") else float("nan")
        rows.append((name, counts["completed"], counts["failed"], ended["resource_spent"], ended["training_seconds"], best))

print("%-12s %9s %8s %15s %9s %9s" % ("", "completed", "failed", "epochs seen", "training", "best loss"))
for name, completed, failed, epochs, seconds, best in rows:
    print("%-12s %9d %8d %15d %7.1f s %9.5f" % (name, completed, failed, epochs, seconds, best))
print("saved: %.0f %% of the training" % (100 * (1 - rows[0][4] / rows[1][4])))
