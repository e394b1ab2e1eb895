"""`linsep inspect`: what is in a model file, to the last byte."""

from typing import Any

import click

from linsep.views import arguments
from linsep.views.arguments import one_line

SHOWN = 12


@click.command("inspect", short_help="Say what a model is, how it was trained, what weighs most.")
@click.argument("model", type=arguments.FILE)
@click.option("--weights", is_flag=True, help="All weights, instead of the largest.")
@arguments.as_json
def command(model: str, weights: bool, as_json: bool) -> None:
    """Say what MODEL is, how its training ended, which features weigh most, and what every byte is.

    \b
    Example:
      linsep inspect people.linsep
    """
    import json

    record = _record(model)
    if as_json:
        click.echo(json.dumps(record))
    else:
        click.echo(_text(record, weights))


def _record(path: str) -> dict[str, Any]:
    import sys
    from pathlib import Path

    from linsep.model.files.container import ranges
    from linsep.model.files.store import from_bytes, load
    from linsep.views.metrics import plain

    if path == "-":
        content = sys.stdin.buffer.read()
        model = from_bytes(content, "standard input")
    else:
        model = load(path)
        content = Path(path).read_bytes()
    classes = None if model.classes_ is None else [plain(one) for one in model.classes_.tolist()]
    encoding = model.encoding_
    return {
        "command": "inspect",
        "linsep": model.version,
        "model": path,
        "learner": model.learner,
        "parameters": {name: _shown(value) for name, value in model.parameters.items()},
        "scaled": model.scaled,
        "form": model.form.name,
        "classes": classes,
        "features": model.n_features_in_,
        "target": None if encoding is None or encoding.target is None else str(encoding.target),
        "status": model.status_.name,
        "sentence": model.status_.value,
        "passes": model.results["n_iter"],
        "gap": model.results["gap"],
        "objective": model.results["objective"],
        "mistakes": model.results["mistakes"],
        "certificate": model.certificate is not None,
        "training_rows_held": model.carries_rows,
        "data": model.data,
        "bytes": [{"start": a, "end": b, "what": what} for a, b, what in ranges(content)],
        "weights": _weights(model),
    }


def _shown(value: Any) -> Any:
    plain = value is None or isinstance(value, (bool, int, str))
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    return value if plain else repr(value)


def _weights(model: Any) -> list[dict[str, Any]] | None:
    """One record per hyperplane: its class, intercept, and the weight of every feature."""
    import numpy as np

    from linsep.views.metrics import plain

    if model.form.name not in ("linear", "centred"):
        return None
    W, b = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    names = model.weight_names or [f"x{j}" for j in range(W.shape[1])]
    classes = [None] * len(W)
    if model.classes_ is not None:
        kept = model.classes_[1:] if len(W) == 1 else model.classes_
        classes = [plain(one) for one in kept.tolist()]
    return [
        {"class": label, "intercept": float(one), "features": dict(zip(names, row.tolist(),
                                                                       strict=True))}
        for label, one, row in zip(classes, b, W, strict=True)
    ]  # fmt: skip


def _text(record: dict[str, Any], everything: bool) -> str:
    lines = [
        f"{record['model']}: {record['learner']}, saved by linsep {record['linsep']}",
        f"End of training: {record['sentence']}",
    ]
    numbers = [
        f"{name} {record[name]:g}"
        for name in ("passes", "mistakes", "objective", "gap")
        if record[name] is not None
    ]
    lines += [", ".join(numbers)] if numbers else []
    if record["classes"] is not None:
        shown = one_line(", ".join(map(str, record["classes"][:20])))
        more = "" if len(record["classes"]) <= 20 else ", …"
        lines.append(f"{len(record['classes'])} classes: {shown}{more}")
    target = f", target {one_line(record['target'])}" if record["target"] else ""
    lines.append(f"{record['features']:,} features{target}")
    data = record["data"]
    if data is not None:
        digest = f", sample {data['sample']}" if data["sample"] else ""
        digest += f", SHA-256 {data['sha256']}" if data["sha256"] else ""
        lines.append(f"Fitted on {data['rows']:,} rows{digest}.")
    settings = ", ".join(f"{k}={v!r}" for k, v in record["parameters"].items())
    lines.append(f"Parameters: {settings}")
    if record["scaled"]:
        lines.append(f"Rows are brought to one size first ({record['scaled']}).")
    held = record["training_rows_held"]
    lines.append(
        f"Holds {held:,} training rows: its kernel or vote needs them." if held
        else "Holds no training rows."
    )  # fmt: skip
    lines += ["", *_weight_lines(record["weights"] or [], everything), "Bytes"]
    lines += [
        f"  {one['start']:>10,} – {one['end']:>10,}  {one['what']}" for one in record["bytes"]
    ]
    return "\n".join(lines)


def _weight_lines(planes: list[dict[str, Any]], everything: bool) -> list[str]:
    lines = []
    for plane in planes if everything else planes[:5]:
        label = one_line(str(plane["class"]))
        title = "Weights" if plane["class"] is None else f"Weights towards {label}"
        pairs = sorted(plane["features"].items(), key=lambda pair: -abs(pair[1]))
        some = pairs if everything else pairs[:SHOWN]
        lines.append(f"{title} (intercept {plane['intercept']:.6g})")
        lines += [f"  {weight:>+14.6g}  {one_line(name)}" for name, weight in some]
        if len(some) < len(pairs):
            lines.append(f"  … {len(pairs) - len(some):,} smaller ones; --weights shows all")
        lines.append("")
    if len(planes) > 5 and not everything:
        lines += [f"… and {len(planes) - 5} hyperplanes more; --weights shows all", ""]
    return lines
