"""`linsep demo`: the lectures' perceptron on handwritten digits, start to end."""

from pathlib import Path
from typing import Any

import click


@click.command("demo", short_help="Learn to read handwritten digits, and show the work.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("out"),
    show_default=True,
    help="Folder for pictures, pages and the model.",
)
def command(out: Path) -> None:
    """Learn to read handwritten digits, and show the work.

    Zeros against ones with the perceptron, pass by pass, then all ten digits by Kesler's construct,
    on the data set that comes with scikit-learn. The model is saved, read back and exported.
    """
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X /= 16.0
    cut = 1200  # later pages were written by other people
    two = y < 2
    some = X[:cut][two[:cut]], y[:cut][two[:cut]]
    zeros_and_ones = _two_digits(*some, X[cut:][two[cut:]], y[cut:][two[cut:]])
    learner = _ten_digits(X[:cut], y[:cut], X[cut:], y[cut:])
    _picture(learner, out)
    _pages(zeros_and_ones, *some, out)
    _files(learner, X[cut:], out)
    _proof(zeros_and_ones, *some)


def _two_digits(X: Any, y: Any, X_test: Any, y_test: Any) -> Any:
    from linsep import Perceptron

    click.echo(f"Zeros against ones: {len(X)} images of 64 pixels, {len(X_test)} new.")
    click.echo("\nepoch  changes  train error  test error")
    learner = Perceptron(shuffle=False, trace=True)

    def row(done: Any) -> None:
        train, test = 1 - learner.score(X, y), 1 - learner.score(X_test, y_test)
        click.echo(f"{done.epoch:5}  {done.updates:7}  {train:11.2%}  {test:10.2%}")

    learner.fit(X, y, callback=row)
    click.echo(f"\n{learner.status_.value} {learner.mistakes_} corrections in all.")
    return learner


def _ten_digits(X: Any, y: Any, X_test: Any, y_test: Any) -> Any:
    from sklearn.metrics import confusion_matrix

    from linsep import Perceptron

    click.echo(f"\nAll ten digits by Kesler's construct: {len(X)} images, {len(X_test)} new.")
    learner = Perceptron(verbose=True).fit(X, y)
    click.echo(
        f"{learner.status_.value} {learner.mistakes_} corrections in {learner.n_iter_} passes."
    )
    guess = learner.predict(X_test)
    click.echo(f"New images read rightly: {(guess == y_test).mean():.1%}\n")
    click.echo("true \\ read " + "".join(f"{digit:5}" for digit in learner.classes_))
    for digit, counts in zip(learner.classes_, confusion_matrix(y_test, guess), strict=True):
        click.echo(f"{digit:11} " + "".join(f"{count or '·':>5}" for count in counts))
    return learner


def _proof(learner: Any, X: Any, y: Any) -> None:
    from linsep import mistake_bound, separability

    proof = separability(X, y)
    checked = "checked" if proof.verify(X, y) else "NOT CONFIRMED"
    bound = mistake_bound(X, y, proof)
    click.echo(
        f"\nProof ({checked} in exact arithmetic), zeros against ones: {proof.verdict}\n"
        f"The perceptron made {learner.mistakes_} mistakes of at most {bound.bound} "
        f"= (R/margin)², with R = {bound.radius:.3f} and margin {bound.margin:.3f} once the "
        "constant feature of the intercept is counted in."
    )


def _files(learner: Any, X: Any, out: Path) -> None:
    """Save the model, read it back, compare, and write it for other programs."""
    import linsep

    out.mkdir(parents=True, exist_ok=True)
    path = out / "digits.linsep"
    linsep.save(learner, path)
    same = (
        linsep.load(path).decision_function(X).tobytes() == learner.decision_function(X).tobytes()
    )
    said = "the same bytes" if same else "OTHER BYTES"
    click.echo(f"\nThe model is in {path}; read back, it scores the new images with {said}.")
    made = linsep.export(learner, out / "digits.sql")
    click.echo(
        f"As an SQL query it is in {made.path}; SQLite agrees on {made.rows} sample rows to "
        f"{made.difference:.0e}. Try: linsep inspect {path}"
    )
    if not same:
        raise SystemExit(1)


def _pages(learner: Any, X: Any, y: Any, out: Path) -> None:
    """A film of the run, and a report on the model."""
    import linsep
    from linsep.errors import LinsepError

    out.mkdir(parents=True, exist_ok=True)
    made = linsep.film(learner.trace_, out / "zeros-and-ones.html")
    click.echo(f"\nThe run of zeros against ones plays in {made.path}, {made.frames} moments.")
    try:
        page = linsep.report(learner, X, y, out / "report.html")
        click.echo(f"What there is to know of that model is in {page}.")
    except LinsepError as problem:
        click.echo(str(problem), err=True)


def _picture(learner: Any, out: Path) -> None:
    try:
        from linsep.views import plots
    except ModuleNotFoundError:
        click.echo("\nFor the picture of the weights: pip install 'linsep[plot]'", err=True)
        return
    out.mkdir(parents=True, exist_ok=True)
    path = out / "weights.png"
    plots.weights(learner, shape=(8, 8)).savefig(path, dpi=120)
    click.echo(f"\nThe weights of each digit are drawn in {path}: ink where red pulls towards the "
               "digit, blue away from it.")  # fmt: skip
