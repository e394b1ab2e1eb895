"""A table that commands are tried on, and a model of it."""

import numpy as np
import pytest
from commands import run


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["age,city,hours,income"]
    for _ in range(120):
        age, hours = rng.integers(18, 80), rng.integers(5, 60)
        city = ["Rome", "Oslo", "Lima, Peru"][rng.integers(3)]
        rich = age + hours + 20 * (city == "Oslo") > 85
        lines.append(f'{age},"{city}",{hours},{"high" if rich else "low"}')
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def model(people, tmp_path):
    path = tmp_path / "people.linsep"
    made = run("fit", people, "--target", "income", "--out", path, "-q")
    assert made.exit_code == 0, made.output
    return path
