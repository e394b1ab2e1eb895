"""Second-order methods in the primal, on sums over blocks of rows.

`logistic` begins with a sample, `primal_newton` smooths the kink of the hinge,
`squared_hinge` is Newton's method with an exact line search. `*_sums` are the passes over rows,
`*_problem` the objectives in safe coordinates.
"""
