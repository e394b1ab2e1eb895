"""Second-order methods in the primal, with what they need of each row in memory.

`full_newton` makes whole Hessians of few features, `newton_run` all of it in one compiled call;
`squared_hinge` is Newton's method with an exact line search. `full_sums` are the passes over rows.
"""
