"""`linsep demo`: the lectures' perceptron on handwritten digits, start to end."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from linsep.views import arguments

Say = Callable[[str], None]


@click.command("demo", short_help="Learn to read handwritten digits, and show the work.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("out"),
    show_default=True,
    help="Folder for pictures, pages and the model.",
)
@arguments.as_json
def command(out: Path, as_json: bool) -> None:
    """Learn to read handwritten digits, and show the work.

    Zeros against ones with the perceptron, pass by pass, then all ten digits by Kesler's construct,
    on the data set that comes with scikit-learn. The model is saved, read back and exported.
    """
    import json

    from sklearn.datasets import load_digits

    from linsep import __version__

    said: dict[str, Any] = {"command": "demo", "linsep": __version__}
    say = partial(click.echo, err=as_json)
    X, y = load_digits(return_X_y=True)
    X /= 16.0
    cut = 1200  # later pages were written by other people
    two = y < 2
    some = X[:cut][two[:cut]], y[:cut][two[:cut]]
    new = X[cut:][two[cut:]], y[cut:][two[cut:]]
    zeros_and_ones = _two_digits(*some, *new, say, said)
    learner = _ten_digits(X[:cut], y[:cut], X[cut:], y[cut:], say, said)
    _picture(learner, out, say)
    _pages(zeros_and_ones, *some, new, out, say)
    same = _files(learner, X[cut:], out, say)
    _proof(zeros_and_ones, *some, say, said)
    if as_json:
        said |= {"model": str(out / "digits.linsep"), "same_bytes": same}
        click.echo(json.dumps(said | {"files": sorted(str(path) for path in out.iterdir())}))
    if not same:
        raise SystemExit(1)


def _two_digits(X: Any, y: Any, X_test: Any, y_test: Any, say: Say, said: dict[str, Any]) -> Any:
    from linsep import Perceptron

    say(f"Zeros against ones: {len(X)} images of 64 pixels, {len(X_test)} new.")
    say("\nepoch  changes  train error  test error")
    learner = Perceptron(shuffle=False, trace=True)

    def row(done: Any) -> None:
        train, test = 1 - learner.score(X, y), 1 - learner.score(X_test, y_test)
        say(f"{done.epoch:5}  {done.updates:7}  {train:11.2%}  {test:10.2%}")
        counts = {"epoch": done.epoch, "changes": done.updates}
        said["epochs"].append(counts | {"train_error": train, "test_error": test})

    said["epochs"] = []
    learner.fit(X, y, callback=row)
    said |= {"status": learner.status_.name, "mistakes": learner.mistakes_}
    say(f"\n{learner.status_.value} {learner.mistakes_} corrections in all.")
    return learner


def _ten_digits(X: Any, y: Any, X_test: Any, y_test: Any, say: Say, said: dict[str, Any]) -> Any:
    from sklearn.metrics import confusion_matrix

    from linsep import Perceptron

    say(f"\nAll ten digits by Kesler's construct: {len(X)} images, {len(X_test)} new.")
    learner = Perceptron(verbose=True).fit(X, y)
    say(f"{learner.status_.value} {learner.mistakes_} corrections in {learner.n_iter_} passes.")
    guess = learner.predict(X_test)
    say(f"New images read correctly: {(guess == y_test).mean():.1%}\n")
    say("true \\ read " + "".join(f"{digit:5}" for digit in learner.classes_))
    counted = confusion_matrix(y_test, guess)
    said["ten_test_error"] = float((guess != y_test).mean())
    said["ten_confusion"] = counted.tolist()
    for digit, counts in zip(learner.classes_, counted, strict=True):
        say(f"{digit:11} " + "".join(f"{count or '·':>5}" for count in counts))
    return learner


def _proof(learner: Any, X: Any, y: Any, say: Say, said: dict[str, Any]) -> None:
    from linsep import mistake_bound, separability

    proof = separability(X, y)
    holds = proof.verify(X, y)
    checked = "checked" if holds else "NOT CONFIRMED"
    bound = mistake_bound(X, y, proof)
    said |= {"proof": proof.verdict, "proof_holds": bool(holds), "bound": bound.bound}
    say(
        f"\nProof ({checked} in exact arithmetic), zeros against ones: {proof.verdict}\n"
        f"The perceptron made {learner.mistakes_} mistakes of at most {bound.bound} "
        f"= (R/margin)², with R = {bound.radius:.3f} and margin {bound.margin:.3f} once the "
        "constant feature of the intercept is counted in."
    )


def _files(learner: Any, X: Any, out: Path, say: Say) -> bool:
    """Save the model, read it back, compare, and write it for other programs."""
    import linsep

    out.mkdir(parents=True, exist_ok=True)
    path = out / "digits.linsep"
    linsep.save(learner, path)
    same = (
        linsep.load(path).decision_function(X).tobytes() == learner.decision_function(X).tobytes()
    )
    how = "the same bytes" if same else "OTHER BYTES"
    say(f"\nThe model is in {path}; read back, it scores the new images with {how}.")
    made = linsep.export(learner, out / "digits.sql")
    say(
        f"As an SQL query it is in {made.path}; SQLite agrees on {made.rows} sample rows to "
        f"{made.difference:.0e}. Try: linsep inspect {path}"
    )
    return same


def _pages(learner: Any, X: Any, y: Any, new: Any, out: Path, say: Say) -> None:
    """A film of the run, and a report on the model."""
    import linsep
    from linsep.errors import LinsepError

    out.mkdir(parents=True, exist_ok=True)
    made = linsep.film(learner.trace_, out / "zeros-and-ones.html")
    say(f"\nThe run of zeros against ones plays in {made.path}, {made.frames} frames.")
    try:
        page = linsep.report(learner, X, y, out / "report.html", test=new)
        say(f"A report on that model is in {page}.")
    except LinsepError as problem:
        click.echo(str(problem), err=True)


def _picture(learner: Any, out: Path, say: Say) -> None:
    try:
        from linsep.views import plots
        from linsep.views.findings import save_figure
    except ModuleNotFoundError:
        click.echo("\nFor the picture of the weights: pip install 'linsep[plot]'", err=True)
        return
    out.mkdir(parents=True, exist_ok=True)
    path = out / "weights.png"
    save_figure(plots.weights(learner, shape=(8, 8)), path)
    say(f"\nThe weights of each digit are drawn in {path}: ink where red pulls towards the "
               "digit, blue away from it.")  # fmt: skip
