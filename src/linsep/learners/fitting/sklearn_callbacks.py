"""scikit-learn's callbacks (`set_callbacks`, since 1.9) are told of linsep's passes.

The whole fit is a task, and every pass one below it. `fitted_estimator` is given at the end of the
fit alone: weights between passes are the solver's own, in its own units.
"""

from typing import Any

from linsep.train.run.loop import Pass, listeners_of


def fit_with_callbacks(learner: Any, X: Any, y: Any, sample_weight: Any, how: Any) -> None:
    """`fit` of a learner that has such callbacks; a callback that asks to stop ends the fit."""
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    data = {"estimator": learner, "X": X, "y": y, "metadata": {"sample_weight": sample_weight}}

    def run(learner: Any) -> None:
        most = getattr(learner, "max_iter", 1)
        # not inherited: scikit-learn's callbacks would be imported with every learner
        task = CallbackSupportMixin._init_callback_context(learner, max_subtasks=most)
        task.call_on_fit_task_begin(**data)

        def tell(done: Pass) -> bool:
            below = task.subcontext(task_name="pass")
            below.call_on_fit_task_begin(**data)
            return bool(below.call_on_fit_task_end(**data))

        own = how | {"callback": [*listeners_of(how["callback"]), tell]}
        learner.fit(X, y, sample_weight, **own)
        names = ("coef_", "intercept_", "classes_", "n_iter_", "status_")
        state = {name: getattr(learner, name) for name in names if hasattr(learner, name)}
        task.call_on_fit_task_end(**data, reconstruction_attributes=state)

    with_callbacks(run)(learner)
