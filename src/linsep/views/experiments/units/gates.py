"""AND, OR, NAND and NOR need one threshold unit; XOR needs two layers of them."""

from pathlib import Path
from typing import Any

import numpy as np

from linsep import Layer
from linsep.data.toys import gates
from linsep.logic import AND, NAND, NOR, NOT, OR, XOR, Network, ThresholdUnit, parse, realize
from linsep.views.findings import Claim, Findings, Table

SINGLE = {"AND": AND(), "OR": OR(), "NAND": NAND(), "NOR": NOR()}


def find(data: Path | None = None) -> Findings:
    """Look at the gates by hand, by search, by proof and by training a layer."""
    rows = []
    for name, unit in {**SINGLE, "NOT": NOT()}.items():
        X, y = gates(name)
        rows.append([name, str(unit), str(realize(unit)), bool((unit(X) == (y > 0)).all())])
    X = gates("AND")[0]
    table = np.column_stack([gates(name)[1] for name in SINGLE])
    layer = Layer().fit(X, table)
    proof = realize(parse("x1 ^ x2"))
    xor = (gates("XOR")[1] > 0).astype(int)
    hidden = [f"h{k + 1} = [{unit}]" for k, unit in enumerate(XOR.hidden)]
    layers = [*hidden, f"y  = [{XOR.output.describe(['h1', 'h2'])}]"]
    return Findings(
        "Logic gates as threshold units",
        "the truth tables",
        [
            Table("One unit each", ["gate", "by hand", "found by search", "right"], rows),
            Table(
                "A layer of four perceptrons, trained at once",
                ["unit", "w1", "w2", "b", "right"],
                [
                    [name, *layer.coef_[k], layer.intercept_[k],
                     bool((layer.predict(X)[:, k] == table[:, k]).all())]
                    for k, name in enumerate(SINGLE)
                ],
            ),
            Table("XOR by two layers", ["unit"], [[line] for line in layers]),
        ],
        [
            Claim("One unit is enough for AND, OR, NAND and NOR.", all(row[-1] for row in rows)),
            Claim("A layer learns four gates at once.", layer.score(X, table) == 1.0),
            Claim(
                "No single unit computes XOR: the proof holds in exact arithmetic.",
                not isinstance(proof, ThresholdUnit) and proof.verify(),
            ),
            Claim("AND(NAND, OR) computes XOR.", bool((XOR(X) == xor).all())),
        ],
        _draw,
        (9.6, 8.6),
    )  # fmt: skip


def _draw(figure: Any) -> None:
    from linsep.views.plots import network

    both: dict[str, ThresholdUnit | Network] = {**SINGLE, "XOR = AND(NAND, OR)": XOR}
    equal = Network([AND(), NOR()], OR())
    both["XNOR = OR(AND, NOR)"] = equal
    for ax, (name, unit) in zip(figure.subplots(2, 3).ravel(), both.items(), strict=True):
        network(unit, ax)
        ax.get_legend().remove()
        units = unit.hidden if isinstance(unit, Network) else [unit]
        ax.set_title("\n".join([name, *map(str, units)]), fontsize=10)
    figure.supxlabel("squares: the gate says 0, circles: 1; ticks point to where a unit fires")
