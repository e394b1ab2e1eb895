"""The sums of a certificate, against the formulas written with whole arrays."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.proofs.gap.plane_sums import LOSSES, sum_plane
from linsep.rows.rows import as_rows


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_sums_are_those_of_the_formulas(loss, layout):
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((600, 5)) * (rng.random((600, 5)) < 0.5), rng.standard_normal((1, 5))
    second, C, b = rng.random(600) < 0.4, rng.random(600) + 0.1, np.array([0.3])
    y = np.where(second, 1.0, -1.0)
    z = y * (X @ w[0] + b[0])
    if loss == "logistic":
        phi, u = np.logaddexp(0, -z), 1 / (1 + np.exp(z))
        E = C * (-u * np.log(u) - (1 - u) * np.log1p(-u))
    else:
        lack = np.maximum(0, 1 - z)
        phi, u = (lack, (z < 1) * 1.0) if loss == "hinge" else (lack**2, 2 * lack)
        E = C * u if loss == "hinge" else C * u - (C * u) ** 2 / (4 * C)
    rows = as_rows(layout(X))
    for alpha in (np.empty(0), C * u):
        s, v = sum_plane(loss, rows, second, C, w, b, alpha, True, 1.0)
        assert s[0] == pytest.approx(C @ phi, rel=1e-12)
        np.testing.assert_allclose(s[5:7], [E[~second].sum(), E[second].sum()], rtol=1e-10)
        a = C * u
        np.testing.assert_allclose(s[7:9], [a[~second].sum(), a[second].sum()], rtol=1e-12)
        assert s[10] == pytest.approx(a @ a) and s[11] == pytest.approx((X * X).sum())
        np.testing.assert_allclose(v[1], (a * y)[second] @ X[second], atol=1e-10)
        np.testing.assert_allclose(v[0], (a * y)[~second] @ X[~second], atol=1e-10)
