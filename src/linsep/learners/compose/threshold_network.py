"""Two layers of units, trained with sigmoids by back-propagation and then made hard."""

import math
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from linsep.data.check.arrays import check_rows, check_weights
from linsep.data.check.labels import agree, encode
from linsep.errors import DataError, ParameterError
from linsep.learners.fitting.parameters import NamedParameters, check_types, one_of, positive
from linsep.logic import Network, ThresholdUnit
from linsep.losses import sigmoid
from linsep.status import Status
from linsep.train.online.backpropagation import Descent, Weights
from linsep.train.order import seed_of

Array = npt.NDArray[Any]


class ThresholdNetwork(NamedParameters, ClassifierMixin, BaseEstimator):
    """A layer of threshold units, and one more unit on top of them.

    Thresholds have no slope, so the units learn as sigmoids, h = σ(Vx + c) and p = σ(⟨u, h⟩ + a),
    by descent on the mean of −log p of the right class (error back-propagation), from small random
    weights. Then each sigmoid is replaced by the threshold it looks like from afar. The loss is not
    convex: some starts end in a local minimum, so that several are tried.

    Parameters
    ----------
    hidden : int
        Units in the first layer.
    rule : {'batch', 'online'}
        Step after every pass with the mean slope, or after each row, drawn in a new order.
    eta0 : float
        The step size.
    spread : float
        Standard deviation of the weights at the start.
    init : tuple of arrays (V, c, u, a)
        Weights to begin at instead; there is one start then.
    shuffle : bool or 'draw'
        With rule='online', the order of rows as in `Perceptron`.
    max_iter : int
        The most passes to make.
    tol : float
        End when the mean loss is below this.
    n_init : int
        Random starts tried at most: the first that gets below `tol` is kept, or the best.
    random_state : int, None or generator
        Draws the start and the order of rows.

    Attributes
    ----------
    hidden_coef_, hidden_intercept_ : V (hidden, d) and c (hidden,)
    coef_, intercept_ : u (1, hidden) and a (1,)
    loss_curve_ : list of float
        The mean loss after each pass, of the start that is kept.
    losses_ : list of float
        The mean loss at the end of each start that was tried.
    network_ : linsep.logic.Network
        The hardened network, where all inputs are 0 or 1.
    start_ : tuple of arrays
        (V, c, u, a) before the first step.
    classes_, n_features_in_, n_iter_, status_
        `separated` where the hard network has every row right, `converged` where only the sigmoids
        do, `unfinished` otherwise.

    Examples
    --------
    >>> from linsep import ThresholdNetwork
    >>> from linsep.data.toys import xor
    >>> X, y = xor()
    >>> net = ThresholdNetwork(random_state=0).fit(X, y)
    >>> net.predict(X).tolist() == y.tolist(), net.status_.name
    (True, 'separated')
    >>> net.network_.truth_table().tolist()
    [0, 1, 1, 0]
    """

    loss_curve_: list[float]

    def __init__(
        self,
        hidden: int = 2,
        *,
        rule: str = "batch",
        eta0: float = 2.0,
        spread: float = 1.0,
        init: Any = None,
        shuffle: Any = True,
        max_iter: int = 3000,
        tol: float = 0.02,
        n_init: int = 10,
        random_state: Any = 0,
    ) -> None:
        self.hidden = hidden
        self.rule = rule
        self.eta0 = eta0
        self.spread = spread
        self.init = init
        self.shuffle = shuffle
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows `X` and labels `y` of two classes.

        A weight of `sample_weight` counts a row that many times; rows of weight 0 are left out.
        """
        check_types(self)
        positive("hidden", self.hidden, whole=True)
        one_of("rule", self.rule, ("batch", "online"))
        one_of("shuffle", self.shuffle, (True, False, "draw"))
        for name in ("eta0", "spread", "tol"):
            positive(name, getattr(self, name))
        positive("max_iter", self.max_iter, whole=True)
        positive("n_init", self.n_init, whole=True)
        X = check_rows(X, self)
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
        self.classes_, codes = encode(y, len(X))
        if len(self.classes_) != 2:
            raise DataError(
                "Only binary classification is supported. The type of the target is multiclass: y "
                f"has {len(self.classes_)} classes, and the top unit tells two apart."
            )
        t = (codes == 1).astype(float)
        weights = check_weights(sample_weight, len(X))
        share = np.ones(len(X)) if weights is None else weights / weights.max()
        X, t, share = X[share > 0], t[share > 0], share[share > 0]
        share = share / share.mean()
        if t.all() or not t.any():
            raise DataError(
                "All rows of positive weight are of one class; the network tells two apart. Give "
                "some row of the other class a weight above 0."
            )
        seed = seed_of(self.random_state)
        runs: list[dict[str, Any]] = []
        while len(runs) < (self.n_init if self.init is None else 1) and not (
            runs and runs[-1]["loss_curve_"][-1] < self.tol
        ):
            runs.append(self._one_start(X, t, share, seed + len(runs)))
        self.losses_ = [run["loss_curve_"][-1] for run in runs]
        self.__dict__.update(runs[int(np.argmin(self.losses_))])
        self.n_iter_ = len(self.loss_curve_)
        self.status_ = self._ending(X, t)
        if np.isin(X, (0.0, 1.0)).all():
            self.network_ = self._hardened()
        return self

    def _one_start(self, X: Array, t: Array, share: Array, seed: int) -> dict[str, Any]:
        """Weights and losses of one descent; an infinite loss at its end where it left for good."""
        self._start(X.shape[1], seed)
        descent = Descent(X, t, share, Weights(*self._parts()), self.eta0, seed, self.shuffle)
        go = descent.batch if self.rule == "batch" else descent.online
        curve: list[float] = []
        while len(curve) < self.max_iter and not (curve and curve[-1] < self.tol):
            curve += go(self.max_iter - len(curve), self.tol).tolist()
            if not all(np.isfinite(part).all() for part in self._parts()):
                curve[-1] = math.inf
                break
        names = ("hidden_coef_", "hidden_intercept_", "coef_", "intercept_")
        weights: dict[str, Any] = dict(zip(names, self._parts(), strict=True))
        return {**weights, "start_": self.start_, "loss_curve_": curve}

    def _start(self, d: int, seed: int) -> None:
        rng = np.random.default_rng(seed % (1 << 64))
        h = self.hidden
        self.hidden_coef_ = self.spread * rng.standard_normal((h, d))
        self.hidden_intercept_ = self.spread * rng.standard_normal(h)
        self.coef_ = self.spread * rng.standard_normal((1, h))
        self.intercept_ = self.spread * rng.standard_normal(1)
        if self.init is not None:
            self._begin_at_init()
        self.start_ = tuple(part.copy() for part in self._parts())

    def _begin_at_init(self) -> None:
        shapes = [part.shape for part in self._parts()]
        try:
            V, c, u, a = (
                np.array(part, np.float64).reshape(shape)
                for part, shape in zip(self.init, shapes, strict=True)
            )
        except (TypeError, ValueError):
            raise ParameterError(
                f"init is {self.init!r:.80}; give four arrays V, c, u, a of the shapes "
                f"{', '.join(map(str, shapes))}."
            ) from None
        self.hidden_coef_, self.hidden_intercept_, self.coef_, self.intercept_ = V, c, u, a

    def _parts(self) -> tuple[Array, Array, Array, Array]:
        return self.hidden_coef_, self.hidden_intercept_, self.coef_, self.intercept_

    def _forward(self, X: Array) -> tuple[Array, Array]:
        h = sigmoid(X @ self.hidden_coef_.T + self.hidden_intercept_)
        return h, sigmoid(h @ self.coef_[0] + self.intercept_[0])

    def _hard(self, X: Array) -> Array:
        """Whether the hard network says the second class: each σ(z) replaced by z ≥ 0."""
        h = (X @ self.hidden_coef_.T + self.hidden_intercept_ >= 0).astype(float)
        return np.asarray(h @ self.coef_[0] + self.intercept_[0] >= 0)

    def _ending(self, X: Array, t: Array) -> Status:
        if ((self._hard(X)) == (t == 1)).all():
            return Status.separated
        soft = (self._forward(X)[1] >= 0.5) == (t == 1)
        return Status.converged if soft.all() else Status.unfinished

    def _hardened(self) -> Network:
        units = [
            ThresholdUnit(w.tolist(), float(b))
            for w, b in zip(self.hidden_coef_, self.hidden_intercept_, strict=True)
        ]
        return Network(tuple(units), ThresholdUnit(self.coef_[0].tolist(), self.intercept_.item()))

    def _rows(self, X: Any) -> Array:
        check_is_fitted(self)
        X = check_rows(X, self, reset=False)
        return np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)

    def decision_function(self, X: Any) -> Array:
        """⟨u, h⟩ + a of the sigmoids, for each row."""
        X = self._rows(X)
        h = sigmoid(X @ self.hidden_coef_.T + self.hidden_intercept_)
        return np.asarray(h @ self.coef_[0] + self.intercept_[0])

    def predict_proba(self, X: Any) -> Array:
        """What the sigmoids say: the probability of each class."""
        p = sigmoid(self.decision_function(X))
        return np.column_stack([1 - p, p])

    def predict(self, X: Any) -> Array:
        """What the hard network says."""
        said = self._hard(self._rows(X))
        return self.classes_[said.astype(int)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows that the hard network has right, each counted with its weight."""
        right = agree(y, self.predict(X))
        return float(np.average(right, weights=check_weights(sample_weight, len(right))))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True
        return tags
