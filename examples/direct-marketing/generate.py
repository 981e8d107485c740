#!/usr/bin/env python3
"""Makes a table like the public UCI bank-marketing set: same columns, categories, quoting and size, similar frequencies
and difficulty.

Every row is drawn at random; the same seed gives the same file. `duration` and the last five columns, which describe the
economy, tell the outcome as in the original (they are known only after the call, or stand for the date), so the example's
job drops them.

usage: generate.py [--rows N] [--seed S] [FILE]     (default: bank.csv beside this program)
"""
import argparse
import bisect
import itertools
import math
import os
import random

ROWS = 41188
SEED = 1729
BASE_RATE = 0.1127

HEADER = ["age", "job", "marital", "education", "default", "housing", "loan", "contact", "month", "day_of_week", "duration",
          "campaign", "pdays", "previous", "poutcome", "emp.var.rate", "cons.price.idx", "cons.conf.idx", "euribor3m",
          "nr.employed", "y"]

# Months of the campaign: name, calls, how willing people were (log odds), share of calls to mobile phones, share of people
# called in an earlier campaign, then the economy: employment variation, price index, confidence index, Euribor, thousands
# employed.
MONTHS = [
    ("may", 7700, -1.15, 0.02, 0.00, 1.1, 94.0, -36.5, 4.86, 5191),
    ("jun", 4700, -0.70, 0.03, 0.00, 1.4, 94.5, -42.0, 4.92, 5228),
    ("jul", 6700, -0.75, 0.85, 0.02, 1.4, 93.9, -42.5, 4.96, 5228),
    ("aug", 5200, -0.85, 0.97, 0.03, 1.4, 93.4, -36.0, 4.97, 5228),
    ("oct", 70, 0.40, 0.60, 0.10, -0.1, 93.8, -40.5, 4.70, 5196),
    ("nov", 3600, -0.85, 0.95, 0.22, -0.1, 93.2, -42.0, 4.15, 5196),
    ("dec", 20, 0.50, 0.50, 0.20, -0.2, 92.8, -50.0, 3.20, 5176),
    ("mar", 290, 1.40, 0.90, 0.25, -1.8, 92.8, -50.0, 1.70, 5099),
    ("apr", 2450, 0.30, 0.95, 0.25, -1.8, 93.1, -47.0, 1.40, 5099),
    ("may", 5800, -0.40, 0.92, 0.27, -1.8, 92.9, -46.0, 1.30, 5099),
    ("jun", 250, 1.10, 0.85, 0.25, -2.9, 92.9, -41.0, 1.20, 5076),
    ("jul", 330, 1.20, 0.85, 0.30, -2.9, 93.0, -39.0, 1.00, 5076),
    ("aug", 440, 1.15, 0.85, 0.32, -2.9, 92.2, -31.5, 0.85, 5076),
    ("sep", 300, 1.25, 0.85, 0.40, -3.4, 92.4, -30.0, 0.80, 5018),
    ("oct", 370, 1.25, 0.80, 0.40, -3.4, 92.4, -27.0, 0.74, 5018),
    ("nov", 410, 1.15, 0.85, 0.42, -3.4, 92.6, -30.0, 0.71, 5018),
    ("dec", 160, 1.30, 0.85, 0.40, -3.0, 92.7, -33.0, 0.71, 5024),
    ("mar", 250, 1.35, 0.88, 0.42, -1.8, 93.4, -34.5, 0.64, 5008),
    ("apr", 180, 1.25, 0.85, 0.40, -1.8, 93.7, -34.0, 0.65, 5008),
    ("may", 250, 1.25, 0.85, 0.42, -1.8, 93.9, -40.0, 0.67, 5008),
    ("jun", 380, 1.15, 0.80, 0.45, -1.7, 94.1, -39.5, 0.72, 4992),
    ("jul", 150, 1.25, 0.80, 0.45, -1.7, 94.2, -40.0, 0.82, 4992),
    ("aug", 540, 1.10, 0.80, 0.45, -1.7, 94.0, -38.0, 0.88, 4992),
    ("sep", 270, 1.20, 0.82, 0.45, -1.1, 94.2, -37.5, 0.88, 4964),
    ("oct", 280, 1.20, 0.80, 0.45, -1.1, 94.6, -49.5, 1.00, 4964),
    ("nov", 100, 1.15, 0.80, 0.45, -1.1, 94.8, -50.5, 1.05, 4964),
]

# Job: share, mean age, spread of age, log odds.
JOBS = {
    "admin.": (0.253, 38, 9, 0.12), "blue-collar": (0.225, 40, 9, -0.22), "technician": (0.164, 38.5, 9, 0.0),
    "services": (0.096, 38, 9, -0.15), "management": (0.071, 42, 9.5, 0.02), "retired": (0.042, 62, 9, 0.45),
    "entrepreneur": (0.035, 41.5, 9, -0.15), "self-employed": (0.035, 40, 9, -0.03), "housemaid": (0.026, 45, 10, -0.05),
    "unemployed": (0.025, 39.5, 9.5, 0.1), "student": (0.021, 26, 4.5, 0.55), "unknown": (0.007, 45, 11, 0.0),
}
EDUCATION = {"university.degree": 0.08, "high.school": 0.0, "basic.9y": -0.1, "professional.course": 0.02, "basic.4y": -0.05,
             "basic.6y": -0.08, "unknown": 0.06, "illiterate": 0.3}
SCHOOLING = {  # shares of EDUCATION, in its order
    "admin.": (0.55, 0.32, 0.05, 0.03, 0.01, 0.015, 0.025, 0.0),
    "blue-collar": (0.01, 0.1, 0.39, 0.05, 0.25, 0.15, 0.049, 0.001),
    "technician": (0.27, 0.13, 0.06, 0.49, 0.01, 0.01, 0.03, 0.0),
    "services": (0.04, 0.68, 0.1, 0.05, 0.03, 0.06, 0.04, 0.0),
    "management": (0.71, 0.1, 0.06, 0.03, 0.03, 0.03, 0.04, 0.0),
    "retired": (0.17, 0.16, 0.08, 0.14, 0.35, 0.04, 0.058, 0.002),
    "entrepreneur": (0.42, 0.16, 0.14, 0.09, 0.1, 0.05, 0.039, 0.001),
    "self-employed": (0.54, 0.08, 0.15, 0.12, 0.07, 0.02, 0.018, 0.002),
    "housemaid": (0.13, 0.16, 0.09, 0.06, 0.45, 0.07, 0.039, 0.001),
    "unemployed": (0.26, 0.26, 0.18, 0.14, 0.11, 0.03, 0.02, 0.0),
    "student": (0.19, 0.41, 0.11, 0.05, 0.03, 0.02, 0.19, 0.0),
    "unknown": (0.14, 0.11, 0.09, 0.04, 0.16, 0.06, 0.4, 0.0),
}
DAYS = {"mon": -0.15, "tue": 0.03, "wed": 0.05, "thu": 0.06, "fri": 0.0}
NOISE = 0.1  # spread of what no column tells, log odds


class Draw:
    """Draws one of the keys of a table of weights."""

    def __init__(self, weights):
        self.keys = list(weights)
        self.sums = list(itertools.accumulate(weights.values()))

    def __call__(self, rng):
        return self.keys[bisect.bisect_right(self.sums, rng.random() * self.sums[-1])]


JOB = Draw({name: job[0] for name, job in JOBS.items()})
SCHOOL = {name: Draw(dict(zip(EDUCATION, shares))) for name, shares in SCHOOLING.items()}
DAY = Draw(dict.fromkeys(DAYS, 1))


def geometric(rng, going_on, most):
    count = 1
    while count < most and rng.random() < going_on:
        count += 1
    return count


def marital_status(rng, age):
    married = min(0.82, max(0.04, (age - 22) / 26))
    divorced = min(0.16, max(0.01, (age - 25) / 180))
    chance = rng.random()
    if chance < 0.002:
        return "unknown"
    if chance < married * 0.86:
        return "married"
    return "divorced" if chance < married * 0.86 + divorced else "single"


def history(rng, share_known):
    """The earlier campaign: its outcome, days since its last call, and calls in it."""
    if rng.random() >= share_known:
        return "nonexistent", 999, 0
    success = rng.random() < 0.12 + 0.35 * max(0.0, share_known - 0.2) / 0.25
    previous = geometric(rng, 0.32 if success else 0.14, 7)
    if not success:
        return "failure", 999 if rng.random() < 0.97 else rng.randint(2, 17), previous
    return "success", min(27, int(abs(rng.gauss(5.5, 3.5))) + rng.randint(0, 2)) if rng.random() < 0.95 else 999, previous


def yes_no_unknown(rng, share_yes, unknown):
    if unknown:
        return "unknown"
    return "yes" if rng.random() < share_yes else "no"


def person(rng, month):
    name, _, willing, mobile, known, *economy = month
    job = JOB(rng)
    if job in ("blue-collar", "services") and known > 0.35 and rng.random() < 0.45:
        job = rng.choice(["retired", "student", "admin."])  # later campaigns called other people
    _, mean_age, spread, job_odds = JOBS[job]
    age = int(min(95, max(17, rng.gauss(mean_age, spread) + max(0.0, rng.gauss(0, 3)))))
    education = SCHOOL[job](rng)
    unschooled = education.startswith("basic") or education == "unknown"
    default = "unknown" if rng.random() < (0.36 if unschooled else 0.13) + (0.08 if age > 45 else 0) else "no"
    lost = rng.random() < 0.024
    housing = yes_no_unknown(rng, 0.537, lost)
    loan = yes_no_unknown(rng, 0.155, lost)
    contact = "cellular" if rng.random() < mobile else "telephone"
    day = DAY(rng)
    campaign = geometric(rng, 0.57, 56) if rng.random() < 0.92 else geometric(rng, 0.85, 56)
    poutcome, pdays, previous = history(rng, known)

    odds = 1.3 * willing + job_odds + EDUCATION[education] + DAYS[day]
    odds += 0.9 * max(0.0, (age - 58) / 15) + 0.5 * max(0.0, (30 - age) / 10) - 0.1 * (35 <= age < 50)
    odds -= 0.07 * min(campaign - 1, 12) + (0.55 if default == "unknown" else 0) + (0.4 if contact == "telephone" else 0)
    odds += {"success": 1.95, "failure": -0.35, "nonexistent": 0.0}[poutcome] + 0.06 * previous
    if pdays != 999:
        odds += 0.5 if pdays <= 7 else 0.1
    # Effects of two columns together, which no sum over single columns finds.
    if contact == "cellular" and job in ("student", "retired"):
        odds += 0.35
    if name == "may" and poutcome == "failure":
        odds += 0.5
    if education == "university.degree" and 28 <= age < 36 and name in ("jul", "aug", "nov"):
        odds += 0.45
    if job == "blue-collar" and name == "apr":
        odds -= 0.5
    marital = marital_status(rng, age)
    if marital == "single" and age < 32 and campaign == 1:
        odds += 0.3
    odds += rng.gauss(0, NOISE)
    known_before = [age, job, marital, education, default, housing, loan, contact, name, day]
    of_campaigns = [campaign, pdays, previous, poutcome]
    return odds, known_before, of_campaigns, economy


def intercept_for(odds, rate):
    """The constant with which the mean chance over all rows is `rate`."""
    low, high = -10.0, 10.0
    for _ in range(50):
        middle = (low + high) / 2
        mean = sum(1 / (1 + math.exp(-(x + middle))) for x in odds) / len(odds)
        low, high = (middle, high) if mean < rate else (low, middle)
    return low


def quoted(value):
    return f'"{value}"' if isinstance(value, str) else str(value)


def make_rows(count, seed):
    rng = random.Random(seed)
    calls = sum(month[1] for month in MONTHS)
    people = []
    for index, month in enumerate(MONTHS):
        before = sum(m[1] for m in MONTHS[:index])
        size = round(count * (before + month[1]) / calls) - round(count * before / calls)
        people += [person(rng, month) for _ in range(size)]
    intercept = intercept_for([p[0] for p in people], BASE_RATE)
    for odds, known_before, of_campaigns, economy in people:
        says_yes = rng.random() < 1 / (1 + math.exp(-(odds + intercept)))
        duration = int(rng.lognormvariate(6.15, 0.62) if says_yes else rng.lognormvariate(5.05, 0.85))
        euribor = round(economy[3] + rng.gauss(0, 0.004), 3)
        outcome = "yes" if says_yes else "no"
        yield known_before + [min(duration, 4918)] + of_campaigns + economy[:3] + [euribor, economy[4], outcome]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description="Makes a table like the UCI bank-marketing set.")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("file", nargs="?", default=os.path.join(here, "bank.csv"), metavar="FILE")
    options = parser.parse_args()
    unfinished = options.file + ".part"
    with open(unfinished, "w", encoding="ascii", newline="") as out:
        out.write(";".join(quoted(name) for name in HEADER) + "\n")
        for row in make_rows(options.rows, options.seed):
            out.write(";".join(quoted(value) for value in row) + "\n")
    os.replace(unfinished, options.file)
    print(f"wrote {options.rows} rows to {options.file}")


if __name__ == "__main__":
    main()
