"""Second-order methods in the primal, with what they need of each row in memory.

`full_newton` makes whole Hessians of few features, `newton_run` all of it in one compiled call;
`newton_cg` needs products with the Hessian alone, a `preconditioner`, and where steps of the hinges
fail a model of rows `near_kinks`; `squared_hinge` is Newton's method with an exact line search.
`full_sums`, `row_products` and `row_numbers` are the passes over rows.
"""
