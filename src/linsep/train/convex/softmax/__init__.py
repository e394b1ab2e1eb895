"""Logistic regression with several classes: one plane for each, fitted together.

Dense rows with few weights go to `full_newton`, all in memory. `fit` is the way in for the rest:
`newton` with the full Hessian (`sums` are its passes, `problem` its objective) where there is no
penalty or many digits are asked for, and where weights are many `descent`, L-BFGS on `passes` that
keep nothing of a row, with a first guess at the Hessian from `curvature`. Sparse rows are left to
`sparse_descent`, whose vectors are those of `sparse_spaces`.
"""
