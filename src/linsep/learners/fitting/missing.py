"""What a learner lacks as it is set, and how to have it."""

from typing import TYPE_CHECKING, Any

import numpy as np

ONLINE = {
    "LogisticRegression": "solver='sgd' or 'minibatch'",
    "LinearSVC": "solver='sgd' and probability=False",
    "Perceptron": "rule='online' or 'minibatch'",
}
PROBABILITIES = ("predict_proba", "predict_log_proba")


class Explained:
    """Attributes that are not there are missed in words that say what to do."""

    if not TYPE_CHECKING:  # which goes on knowing what is there

        def __getattr__(self, name: str) -> Any:
            if name == "feature_names_in_" and (names := names_of_features(self)) is not None:
                return names
            raise AttributeError(_reason(type(self), name), name=name, obj=self)


def names_of_features(learner: Any) -> Any:
    """What the features are called that columns of a table became; None where it had no names."""
    encoding = vars(learner).get("encoding_")
    if encoding is None or not encoding.columns or not encoding.header:
        return None
    return np.array(encoding.feature_names, dtype=object)


def _reason(kind: type, name: str) -> str:
    own = kind.__name__
    if name == "trace_":
        return f"{own} has no trace_: passes are recorded on request, by {own}(trace=True).fit."
    if name in PROBABILITIES and own == "LinearSVC":
        return f"LinearSVC has no {name} as it is set; give probability=True and fit again."
    if name in PROBABILITIES and own == "LinearRegression":
        return f"{own} has no {name}: it predicts numbers, not classes. Use predict."
    if name in PROBABILITIES:
        return (
            f"{own} has no {name}: its scores, of decision_function, are no probabilities. Use "
            "LogisticRegression or LinearDiscriminantAnalysis, or wrap it in scikit-learn's "
            "CalibratedClassifierCV."
        )
    if name == "partial_fit" and own in ONLINE:
        return f"{own} has no partial_fit as it is set; give {ONLINE[own]}."
    if name == "partial_fit":
        return (
            f"{own} has no partial_fit: it needs all rows at once. Use fit(linsep.read(path)) for "
            "rows that do not fit into memory, or a Perceptron, PassiveAggressive or "
            "LogisticRegression(solver='sgd'), which learn from parts."
        )
    return f"{own!r} object has no attribute {name!r}"
