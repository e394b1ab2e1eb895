"""The learner at the end of a pipeline, and rows as the steps before it hand them on."""

from typing import Any

from linsep.errors import DataError, ParameterError
from linsep.model.predictor import Model


def prepared(model: Any, X: Any) -> tuple[Any, Any, list[str] | None, str]:
    """A fitted learner of linsep, its rows, the names of its features if known, and the steps.

    Of a search over parameters it is the best that was found.
    """
    model = getattr(model, "best_estimator_", model)
    if not hasattr(model, "steps"):
        return _fitted(model), X, None, ""
    before, learner = model.steps[:-1], _fitted(model.steps[-1][1])
    if not before:
        return learner, X, None, ""
    preparing = model[:-1]
    return learner, preparing.transform(X), _names(preparing), ", ".join(repr(s) for _, s in before)


def _names(preparing: Any) -> list[str] | None:
    """What the steps call the features they hand on, if they have names that say something."""
    try:
        names = [str(one) for one in preparing.get_feature_names_out()]
    except (AttributeError, ValueError):
        return None
    return None if names == [f"x{k}" for k in range(len(names))] else names


def _fitted(learner: Any) -> Any:
    kind = type(learner)
    if not (isinstance(learner, Model) or kind.__module__.startswith("linsep.")):
        raise ParameterError(
            f"model is a {kind.__name__}; a report takes the learners of linsep, alone, in Scaled "
            "or at the end of a pipeline, and what linsep.load gives."
        )
    if not hasattr(learner, "status_"):
        raise DataError(f"model is {learner!r}, which is not fitted; call fit first.")
    return learner
