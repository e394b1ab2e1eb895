"""Logistic regression with several classes: one plane for each, fitted together.

`fit` is the way in for dense rows: `newton` with the full Hessian where parameters are few
(`sums` are its passes, `problem` its objective), otherwise `descent`, L-BFGS on `passes` that keep
nothing of a row, with a first guess at the Hessian from `curvature`. Sparse rows are left to
`sparse_descent`.
"""
