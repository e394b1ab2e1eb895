"""`linsep certify`: separable or not, with a certificate that can be checked again."""

import json
import math
import mmap
import shlex
from pathlib import Path
from typing import Any

import click

from linsep import __version__
from linsep.views import arguments


@click.command("certify", short_help="Prove that a plane separates the classes, or that none does.")
@click.argument("data", default="digits01", type=arguments.DATA)
@arguments.target
@arguments.classes
@arguments.bad_rows
@arguments.columns
@arguments.base
@arguments.reading
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write the certificate; without it none is kept.",
)
@click.option(
    "--verify",
    "certificate",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Check this certificate against DATA instead of making one.",
)
@click.option(
    "--export",
    "exported",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write a certificate for programs other than linsep, such as "
    "verify/linsep_verify.py; see docs/certificates.md.",
)
@click.option(
    "--rows",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --export: write the rows there as plain numbers, where DATA takes linsep to read.",
)
@click.option(
    "--model",
    type=arguments.FILE,
    help="With --export: prove how near this LogisticRegression or LinearSVC, fitted on DATA, is "
    "to its optimum, and nothing else.",
)
@click.option(
    "--no-intercept",
    is_flag=True,
    help="Ask about planes through the origin, as learners with fit_intercept=False fit them.",
)
@click.option("--time-limit", type=float, help="Seconds after which the answer may be undecided.")
@arguments.as_json
def command(
    data: str,
    target: str | None,
    classes: str | None,
    bad_rows: str,
    columns: tuple[str, ...],
    base: str | None,
    reading: tuple[str, ...],
    out: Path | None,
    certificate: Path | None,
    exported: Path | None,
    rows: Path | None,
    model: str | None,
    no_intercept: bool,
    time_limit: float | None,
    as_json: bool,
) -> None:
    """Prove that a plane separates the classes of DATA, or prove that none does.

    DATA is a file (CSV, svmlight, NPY/NPZ, IDX, Parquet) or one of the built-in sets digits01,
    digits, iris, cancer, wine, xor. The certificate holds the separator, or the rows and exact
    multipliers that rule every separator out; --verify checks it by code that shares nothing with
    the search. More than two classes are separated by a linear machine (Kesler's construct).
    With --no-intercept all of this is about planes through the origin.

    \b
    Examples:
      linsep certify mnist/ --classes 0,1 --out zero-one.json
      linsep certify covtype.csv.gz --target "Cover_Type == 2"
      linsep certify wine.csv --model wine.linsep --export wine.json
    """
    from linsep.views.output_paths import require_other, require_place
    from linsep.views.sources import open_source

    if exported is None and (rows is not None or model is not None):
        raise click.UsageError("--rows and --model belong to --export FILE; give that too.")
    if exported is not None and certificate is not None:
        raise click.UsageError("--verify checks a certificate and --export writes one; give one.")
    if model is not None and (out is not None or no_intercept):
        raise click.UsageError(
            "--model asks about the optimum of that model, and --out and --no-intercept about "
            "separating planes; leave out one or the other."
        )
    if no_intercept and certificate is not None:
        raise click.UsageError(
            "--no-intercept is for a proof to be made; with --verify the certificate says which "
            "planes it is about. Leave it out."
        )
    for option, path in (("--out", out), ("--export", exported), ("--rows", rows)):
        require_place(option, path)
        require_other(data, {option: None if path is None else str(path)})
    how = arguments.how_to_read(columns, base, reading)
    chunks = open_source(data, target, arguments.split_classes(classes), bad_rows, **how)
    X, y = chunks.load()
    if certificate is not None:
        _check(X, y, data, certificate, as_json)
        return
    place = _place(chunks, data, classes, X, y, rows) if exported is not None else {}
    if model is not None:
        assert exported is not None
        _bound_gap(X, y, model, exported, place, as_json)
        _tell_check(rows or data, exported, model)
        return
    report = _prove(X, y, not no_intercept, time_limit, out, exported, place)
    if as_json:
        click.echo(json.dumps(report))
        return
    click.echo(report["verdict"])
    _tell_bound(report, no_intercept)
    if exported is not None:
        _tell_check(rows or data, exported, None)
        return
    if out is None:
        click.echo("Keep the certificate with --out FILE.", err=True)
    else:
        again = arguments.spelled(
            "certify", data, target=target, classes=classes, base=base, column=columns,
            read=reading, bad_rows=None if bad_rows == "fail" else bad_rows, verify=out,
        )  # fmt: skip
        click.echo(f"Certificate in {out}; check it with: {again}", err=True)


def _tell_bound(report: dict[str, Any], no_intercept: bool) -> None:
    """Novikoff's bound, where the classes are separable."""
    if report["bound"] is None:
        return
    which = "without an intercept" if no_intercept else "with the constant feature of the intercept"
    click.echo(
        f"An online perceptron makes at most {report['bound']} mistakes: R = "
        f"{report['radius']:.6g}, margin {report['augmented_margin']:.6g}, both {which}."
    )


def _place(
    chunks: Any, data: str, classes: str | None, X: Any, y: Any, rows: Path | None
) -> dict[str, Any]:
    from linsep.views.exported import place_of, write_rows

    return place_of(chunks, data, classes, X) if rows is None else write_rows(rows, X, y)


def _tell_check(data: str | Path, exported: Path, model: str | None) -> None:
    parts = [shlex.quote(str(part)) for part in (data, exported, *([model] if model else []))]
    click.echo(f"Check it with: python verify/linsep_verify.py {' '.join(parts)}", err=True)


def _bound_gap(
    X: Any, y: Any, model: str, exported: Path, place: dict[str, Any], as_json: bool
) -> None:
    """The certificate that a model is near its optimum."""
    from linsep.data.files.atomic import replace
    from linsep.proofs.exported.claims import document, gap_claims
    from linsep.views.stored import open_model

    learner = open_model(model).to_estimator()
    claims = gap_claims(learner, X, y)
    replace(exported, [document(claims, learner.classes_, X.shape, place).encode()])
    primal, dual = (
        sum(float.fromhex(claim[name]) for claim in claims) for name in ("primal", "dual")
    )
    relative = (primal - dual) / primal if primal > 0 else 0.0
    if as_json:
        report = {
            "command": "certify", "linsep": __version__, "model": model, "primal": primal,
            "dual": dual, "relative_gap": relative, "exported": str(exported),
        }  # fmt: skip
        click.echo(json.dumps(report))
        return
    click.echo(
        f"The objective of {model} is at most {primal:.9g}, and no weights have less than "
        f"{dual:.9g}: at most {relative:.2g} of it is left."
    )


def _prove(
    X: Any, y: Any, fit_intercept: bool, time_limit: float | None, out: Path | None,
    exported: Path | None, place: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    mmap.mmap(-1, 96 << 20).close()  # short of room, SciPy's OpenBLAS asks for its own for ever
    from linsep import mistake_bound, separability
    from linsep.data.files.atomic import replace

    proof = separability(X, y, fit_intercept=fit_intercept, time_limit=time_limit)
    text = proof.to_json()
    if out is not None:
        replace(out, [text.encode()])
    bound = mistake_bound(X, y, proof, fit_intercept=fit_intercept) if proof.separable else None
    if exported is not None:
        from linsep.proofs.exported.claims import bound_claim, document, separability_claim

        claims = [separability_claim(proof)]
        claims += [] if bound is None or bound.weights is None else [bound_claim(bound)]
        replace(exported, [document(claims, proof.classes, proof.shape, place).encode()])
    return {
        "command": "certify",
        "linsep": __version__,
        "fit_intercept": fit_intercept,
        "separable": proof.separable,
        "kind": proof.kind,
        "verdict": proof.verdict,
        "margin": proof.margin,
        "margin_upper": proof.margin_upper if math.isfinite(proof.margin_upper) else None,
        "rows": None if proof.rows is None else [int(i) for i in proof.rows],
        "rivals": None if proof.rivals is None else proof.classes[proof.rivals].tolist(),
        "multipliers": json.loads(text)["multipliers"],
        "radius": None if bound is None else bound.radius,
        "augmented_margin": None if bound is None else bound.margin,
        "bound": None if bound is None else bound.bound,
        "certificate": None if out is None else str(out),
        "exported": None if exported is None else str(exported),
    }


def _check(X: Any, y: Any, data: str, path: Path, as_json: bool) -> None:
    from linsep.proofs.separability.certificate import Separability
    from linsep.proofs.verify.separability import check

    certificate = Separability.from_json(path.read_text(encoding="utf-8"))
    why = check(certificate, X, y)
    holds = why == ""
    if as_json:
        report = {
            "command": "certify",
            "linsep": __version__,
            "holds": holds,
            "why": why,
            "fit_intercept": certificate.fit_intercept,
            "kind": certificate.kind,
            "verdict": certificate.verdict,
        }
        click.echo(json.dumps(report))
    elif holds:
        click.echo(f"The certificate holds for {data}, in exact arithmetic. {certificate.verdict}")
    else:
        click.echo(f"The certificate in {path} does NOT hold for {data}: {why}.")
    if not holds:
        raise SystemExit(1)
