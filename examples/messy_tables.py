"""
Three tables as people have them
================================

Made up: customers of whom few leave, a survey, and genes.

    python examples/messy_tables.py FOLDER

writes churn.csv, today.csv, survey.csv and genes.csv. docs/command-line.md goes from each of them
to a model.
"""

import csv
import sys
from datetime import date, timedelta
from pathlib import Path

import numpy as np

PLANS = ("Basic", "basic", "PLUS", "Pro")
REGIONS = ("North", "South", "East", "West")
MODES = ("walk", "cycle", "bus", "tram", "train", "car")
REMARKS = {
    "walk": ("it is close to home", "fresh air and no parking", "I like to move"),
    "cycle": ("fast, and I like to move", "no parking to pay", "fresh air in the morning"),
    "bus": ("the stop is close to home", "it is late too often", "too crowded in the morning"),
    "tram": ("quiet and on time", "the stop is close to home", "too crowded in the morning"),
    "train": ("I can read on the way", "on time, most days", "it is late too often"),
    "car": ("parking is dear", "no stop is close to home", "with the children it must be"),
}

ASIDES = (
    "as always", "in winter too", "since we moved", "my son as well", "most of the week",
    "never on Mondays", "thank you for asking", "for years now", "if it does not rain",
    "with a heavy bag", "together with a friend", "at least in summer",
)  # fmt: skip


def customers(n: int = 3000, seed: int = 1) -> list[list[str]]:
    """A header and rows: ids, dates, amounts as written by people, gaps, two spellings of a plan,
    a column that is only filled in once a customer has left, and 3 % who have."""
    rng = np.random.default_rng(seed)
    head = ["customer_id", "signed_up", "plan", "monthly_bill", "support_calls", "discount",
            "region", "cancelled_on", "churned"]  # fmt: skip
    rows = [head]
    for k in range(n):
        joined = date(2019, 1, 1) + timedelta(days=int(rng.integers(0, 1900)))
        plan, region = PLANS[rng.choice(4, p=(0.35, 0.2, 0.25, 0.2))], REGIONS[rng.integers(4)]
        bill = float(np.exp(rng.normal(6.5, 0.6)))
        calls, discount = int(rng.poisson(1.5)), int(rng.choice((0, 5, 10, 15, 25)))
        years = (date(2024, 6, 30) - joined).days / 365
        odds = -4.7 + 0.7 * calls - 0.5 * years + 0.8 * (plan.lower() == "basic") - 0.03 * discount
        odds += 0.0008 * bill
        left = rng.random() < 1 / (1 + np.exp(-odds))
        gone = date(2024, 7, 1) + timedelta(days=int(rng.integers(0, 90)))
        rows.append([
            f"C{100_000 + k}", f"{joined:%d/%m/%Y}", plan,
            "" if rng.random() < 0.01 else f"${bill:,.2f}", str(calls), f"{discount} %", region,
            f"{gone:%Y-%m-%d}" if left else "", "yes" if left else "no",
        ])  # fmt: skip
    return rows


def today() -> list[list[str]]:
    """New customers: one with a plan that nobody had, and without what is known only later."""
    rows = [row[:7] for row in customers(4, seed=2)]
    rows[0] = rows[0][:7]
    rows[2][2] = "Gold"
    rows[3][4] = "9"
    return rows


def survey(n: int = 1200, seed: int = 3) -> list[list[str]]:
    """How people get to work, six answers: decimal commas, euros, a word for no answer, remarks."""
    rng = np.random.default_rng(seed)
    head = ["respondent", "age", "household", "income", "distance_km", "licence", "comment", "mode"]
    rows = [head]
    for k in range(n):
        age, income = int(rng.integers(18, 80)), float(np.exp(rng.normal(7.8, 0.4)))
        household = ("single", "Single", "couple", "family")[rng.integers(4)]
        distance, licence = float(np.exp(rng.normal(1.5, 1.0))), rng.random() < 0.8
        far = np.log(distance)
        merit = np.array([
            3.0 - 2.2 * far, 1.8 - 1.2 * far - 0.02 * (age - 40), 0.4, 0.5 + 0.1 * far,
            -1.5 + 1.1 * far, 1.5 * licence - 1.0 + 0.5 * far + 0.6 * (household == "family"),
        ])  # fmt: skip
        p = np.exp(merit - merit.max())
        mode = MODES[rng.choice(6, p=p / p.sum())]
        said = REMARKS[mode if rng.random() < 0.6 else MODES[rng.integers(6)]][rng.integers(3)]
        also = ASIDES[rng.integers(len(ASIDES))]
        remark = f"{said}, {also}" if rng.random() < 0.5 else f"{also}: {said}"
        money = f"{income:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")
        rows.append([
            str(k + 1), "k.A." if rng.random() < 0.07 else str(age), household, f"{money} €",
            f"{distance:.1f}".replace(".", ","), str(bool(licence)),
            "" if rng.random() < 0.4 else remark, mode,
        ])  # fmt: skip
    return rows


def genes(n: int = 80, d: int = 600, seed: int = 4) -> list[list[str]]:
    """More columns than rows: thirty genes are raised or lowered a little before a relapse, one is
    there twice, a column is constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    relapse = rng.random(n) < 0.5
    X[:, :30] += 0.8 * relapse[:, None] * rng.choice((-1.0, 1.0), 30)
    rows = [["sample", "batch", *(f"g{j + 1}" for j in range(d)), "g1_copy", "outcome"]]
    for k in range(n):
        levels = [f"{value:.4f}" for value in (*X[k], X[k, 0])]
        rows.append([f"S-{k + 1:03}", "7", *levels, "relapse" if relapse[k] else "none"])
    return rows


def write(folder: Path) -> None:
    """The four files."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {"churn": customers(), "today": today(), "survey": survey(), "genes": genes()}
    for name, rows in tables.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter=";" if name == "survey" else ",").writerows(rows)


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
