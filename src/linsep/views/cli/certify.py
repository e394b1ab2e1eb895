"""`linsep certify`: separable or not, with a certificate that can be checked again."""

import json
import math
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
    """
    from linsep.views.output_paths import require_place
    from linsep.views.sources import open_data

    if no_intercept and certificate is not None:
        raise click.UsageError(
            "--no-intercept is for a proof to be made; with --verify the certificate says which "
            "planes it is about. Leave it out."
        )
    require_place("--out", out)
    how = arguments.how_to_read(columns, base, reading)
    X, y = open_data(data, target, arguments.split_classes(classes), bad_rows, **how)
    if certificate is not None:
        _check(X, y, data, certificate, as_json)
        return
    report = _prove(X, y, not no_intercept, time_limit, out)
    if as_json:
        click.echo(json.dumps(report))
        return
    click.echo(report["verdict"])
    _tell_bound(report, no_intercept)
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


def _prove(
    X: Any, y: Any, fit_intercept: bool, time_limit: float | None, out: Path | None
) -> dict[str, Any]:
    from linsep import mistake_bound, separability
    from linsep.data.files.atomic import replace

    proof = separability(X, y, fit_intercept=fit_intercept, time_limit=time_limit)
    text = proof.to_json()
    if out is not None:
        replace(out, [text.encode()])
    bound = mistake_bound(X, y, proof, fit_intercept=fit_intercept) if proof.separable else None
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
