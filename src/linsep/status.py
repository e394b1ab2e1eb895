"""Endings: how a fit ended, as a value whose text is the sentence to read."""

from enum import Enum


class Status(Enum):
    """How a fit ended. The value is the sentence to read."""

    separated = "Every training row lies strictly on its own side: a separator was found."
    touching = (
        "No training row is wrong by the rule asked for, but some lie on the hyperplane itself. "
        "Use boundary='wrong', which corrects those too."
    )
    converged = "Converged to the tolerance asked for."
    averaged = (
        "The last separator makes no mistakes; the average, which is kept, still makes some. "
        "Use keep='last' for the separator itself."
    )
    voted = (
        "Made the passes asked for, or as many as it took to make no mistakes; every separator met "
        "on the way has its votes."
    )
    mixed = (
        "A separator was found by iterative parameter mixing: shards of the rows were trained "
        "apart and their weights mixed after each pass, which is another algorithm than the serial "
        "one."
    )
    mixing = (
        "Stopped after max_iter passes of iterative parameter mixing (shards trained apart, mixed "
        "after each pass) with mistakes left. Raise max_iter, or fit(..., in_order=True) for the "
        "serial rule."
    )
    penalised = (
        "Made its passes with weights drawn to zero by a penalty at every row: no theorem says "
        "that such steps converge, or separate what can be separated. Judge them by rows that were "
        "not in the fit; LinearSVC and LogisticRegression minimise a penalised objective, with a "
        "proof."
    )
    held_out = (
        "Stopped early: for n_iter_no_change passes no more of the held-out rows became right."
    )
    budget = (
        "Stopped after max_iter passes with mistakes left. Raise max_iter, or run certify "
        "(linsep.separability) to see whether a separator exists."
    )
    stalled = (
        "Stopped with mistakes left: the corrections of all wrongly placed rows cancel out, so the "
        "weights can go no further. Run certify (linsep.separability) for the proof that no "
        "separator exists."
    )
    not_separable = (
        "Stopped with mistakes left: no separator exists, and proof_ holds the proof. "
        "Use keep='pocket' or 'average', an intercept if there is none, or features that bend the "
        "boundary."
    )
    separable = (
        "Stopped after max_iter passes with mistakes left, although a separator exists "
        "(proof_ holds it). Raise max_iter, or use LinearSVC."
    )
    inside = (
        "Stopped after max_iter passes with rows still inside the margin, though none on the wrong "
        "side. Raise max_iter or tol."
    )
    gap_left = (
        "Stopped after max_iter passes with a duality gap above tol. Bring the features to one "
        "scale (StandardScaler does), lower C, or raise max_iter or tol."
    )
    unproved = (
        "The solver took its weights to be within tol of the optimum, but a second computation "
        "from the data does not prove it: gap_ is what is proved. Bring the features to one scale "
        "(linsep.Scaled does), or raise tol."
    )
    no_optimum = (
        "The classes are separable, so no finite optimum exists without a penalty. The weights "
        "kept separate them; set a finite C for finite probabilities."
    )
    solved = "Solved exactly."
    deficient = (
        "Solved, but some columns, or combinations of columns, add nothing to the others, so their "
        "weights are not settled by the data; the shortest weights that solve it are kept. "
        "rank_ counts those that do add something."
    )
    no_spread = (
        "The classes differ in a direction in which no class has any spread: there they are "
        "separated with certainty, and a small spread was assumed to keep the weights finite. For "
        "probabilities to rely on use LinearDiscriminantAnalysis(shrinkage='auto'), or drop "
        "columns."
    )
    no_difference = (
        "The classes have the same means, so no hyperplane tells them apart; every row gets the "
        "more frequent class. Add features that differ, or bend them (products, polynomials)."
    )
    unfinished = (
        "Stopped after max_iter passes with the loss still changing by more than tol. Raise "
        "max_iter or tol, or use solver='exact'."
    )
    diverged = (
        "Stopped because the loss grew without bound: the steps are too long. The best weights met "
        "are kept. Lower eta0, or leave it at 'auto'."
    )
    streaming = "Rows were taken in as they came; more may follow."
    stopped = "Stopped because a callback asked for it."
    interrupted = "Interrupted: this is the best model so far."

    @property
    def good(self) -> bool:
        """Whether the fit reached what was asked for."""
        return self in _GOOD


_GOOD = frozenset(
    {
        Status.separated,
        Status.mixed,
        Status.converged,
        Status.averaged,
        Status.voted,
        Status.penalised,
        Status.held_out,
        Status.solved,
        Status.deficient,
        Status.streaming,
    }
)
