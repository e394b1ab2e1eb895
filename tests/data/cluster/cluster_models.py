"""What is compared between fits: every byte of what a model predicts with."""

import numpy as np


def content(learner):
    names = ("coef_", "intercept_", "classes_", "means_")
    there = [name for name in names if hasattr(learner, name)]
    return [(name, np.asarray(getattr(learner, name)).tobytes()) for name in there]
