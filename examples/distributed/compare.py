#!/usr/bin/env python3
"""What tuning does for a distributed XGBoost: real runs on this machine, one table.

    examples/distributed/compare.py [--bin build/release/bin] [--workers 4] [--replicas 3]

Starts a server of its own with local workers, runs four jobs one after the other, prints a row for each, and ends the server:

    default, 1 worker      XGBoost's default parameters, all rounds
    default, distributed   the same on several workers (AllReduce), each with its share of the rows
    tuned, all to the end  job.json with the scheduler `none`: every trial trains all rounds
    tuned, Hyperband       job.json as it is: weak trials are stopped early, groups of workers are reused warm
"""
import argparse
import copy
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def default_job(job, name, replicas):
    """One trial with XGBoost's default parameters."""
    job = copy.deepcopy(job)
    job["name"] = name
    job["trainer"]["replicas"] = replicas
    job["search_space"] = {"eta": 0.3, "max_depth": 6}
    job["scheduler"] = {"type": "none", "max_resource": job["scheduler"]["max_resource"]}
    job["limits"] = {"max_trials": 1}
    return job


def jobs_of(job, replicas):
    to_the_end = copy.deepcopy(job)
    to_the_end["name"] = "tuned-all-to-the-end"
    to_the_end["trainer"]["replicas"] = replicas
    to_the_end["scheduler"] = {"type": "none", "max_resource": job["scheduler"]["max_resource"]}
    early = copy.deepcopy(job)
    early["name"] = "tuned-hyperband"
    early["trainer"]["replicas"] = replicas
    return [
        ("default, 1 worker", default_job(job, "default-alone", 1)),
        (f"default, {replicas} workers", default_job(job, "default-distributed", replicas)),
        ("tuned, all to the end", to_the_end),
        ("tuned, Hyperband", early),
    ]


def start_server(programs, workers, data_dir):
    log = open(os.path.join(data_dir, "server.log"), "w")
    server = subprocess.Popen(
        [programs / "tuneband-server", "--port", "0", "--workers", str(workers), "--data-dir", os.path.join(data_dir, "data")],
        stdout=subprocess.PIPE, stderr=log, text=True)
    line = server.stdout.readline()
    found = re.search(r"listening on (http\S+)", line)
    if not found:
        sys.exit(f"the server did not start; its log is {log.name}")
    return server, found.group(1)


def run(programs, url, job, directory):
    path = os.path.join(directory, job["name"] + ".json")
    with open(path, "w") as file:
        json.dump(job, file)
    command = [programs / "tuneband", "--server", url]
    subprocess.run(command + ["submit", "--wait", path], check=True, stdout=subprocess.DEVNULL)
    text = subprocess.run(command + ["--json", "describe", job["name"]], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(text)


def row(label, report):
    summary = report["summary"]
    job = report["job"]
    return (label, f'{job["best"]["value"]:.4f}', str(job["trials"]["created"]), str(summary["resource_spent"]),
            f'{summary["training_seconds"]:.1f}', f'{summary["wall_seconds"]:.1f}')


def print_table(rows):
    header = ("", "AUC", "trials", "rounds", "worker seconds", "wall seconds")
    widths = [max(len(line[i]) for line in [header] + rows) for i in range(len(header))]
    for line in [header] + rows:
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths))))


def share(part, whole):
    return f"{100 * part / whole:.0f} %" if whole > 0 else "-"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin", help="where the programs are")
    options.add_argument("--workers", type=int, default=4)
    options.add_argument("--replicas", type=int, default=3)
    options = options.parse_args()
    job = json.load(open(HERE / "job.json"))
    data = (HERE / job["trainer"]["data"]["train"]).resolve()
    job["trainer"]["data"]["train"] = str(data)
    if not data.exists():
        print("making the data", file=sys.stderr)
        subprocess.run([sys.executable, data.parent / "generate.py"], check=True)
    with tempfile.TemporaryDirectory() as directory:
        server, url = start_server(options.bin.resolve(), options.workers, directory)
        try:
            reports = []
            for label, one in jobs_of(job, options.replicas):
                print(f"running: {label}", file=sys.stderr)
                reports.append((label, run(options.bin.resolve(), url, one, directory)))
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()
    print_table([row(label, report) for label, report in reports])
    before, all_of_it, early = (reports[i][1] for i in (1, 2, 3))
    gained = early["job"]["best"]["value"] - before["job"]["best"]["value"]
    print(f"\ntuning the distributed training: AUC {gained:+.4f}; early stopping: "
          f'{share(early["summary"]["training_seconds"], all_of_it["summary"]["training_seconds"])} of the worker seconds, '
          f'{share(early["summary"]["wall_seconds"], all_of_it["summary"]["wall_seconds"])} of the wall time')


if __name__ == "__main__":
    main()
