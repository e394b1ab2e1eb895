"""Logistic regression with several classes: one plane for each, fitted together.

`choose` says which solver dense rows go to: where weights are few, or no penalty or many digits ask
for it, `full_newton`, with the full Hessian of a `full_problem`, or of a
`streamed_problem` that keeps nothing of a row; otherwise `descent`, L-BFGS on
`passes` that keep nothing of a row, with a first guess at the Hessian from `curvature`. Sparse rows
are left to `sparse_descent`, whose vectors are those of `sparse_spaces`.
"""
