"""
One program for two libraries
=============================

Change the import, and nothing else: with ``sklearn`` in place of ``linsep`` the same lines run and
come to the same classes.
"""

import pickle

import numpy as np
import pandas as pd
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from linsep import LinearDiscriminantAnalysis, LinearSVC, LogisticRegression

table = load_breast_cancer(as_frame=True)
X, y = table.data, table.target
found = {}

pipe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, solver="lbfgs", tol=1e-6))
search = GridSearchCV(pipe, {"logisticregression__C": [0.01, 0.1, 1.0]}, cv=5).fit(X, y)
found["the C chosen"] = search.best_params_["logisticregression__C"]
found["names of columns"] = list(search.best_estimator_[0].get_feature_names_out()[:2])
found["probabilities"] = search.predict_proba(X)[:3]

machine = make_pipeline(StandardScaler(), LinearSVC(loss="hinge", C=0.1, dual=True, max_iter=50000))
found["a machine, cross-validated"] = cross_val_score(machine, X, y, cv=3).mean()
calibrated = CalibratedClassifierCV(clone(machine), method="sigmoid", cv=3).fit(X, y)
found["calibrated"] = calibrated.predict_proba(X)[:3, 1]
found["after a pickle"] = pickle.loads(pickle.dumps(machine.fit(X, y))).predict(X)

lines = LinearDiscriminantAnalysis(solver="svd").set_output(transform="pandas").fit(X, y)
assert isinstance(lines.transform(X), pd.DataFrame)
found["discriminant"] = lines.predict(X)

with sklearn.config_context(enable_metadata_routing=True):
    weighed = LogisticRegression(max_iter=10000).set_fit_request(sample_weight=True)
    pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), weighed)
    weight = np.where(y == 1, 2.0, 1.0)
    found["with weights"] = pipe.fit(X, y, sample_weight=weight).predict(X)

for name, value in found.items():
    print(f"{name}: {np.asarray(value).ravel()[:3]}")
