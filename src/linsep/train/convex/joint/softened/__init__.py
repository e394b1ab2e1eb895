"""The optimum of a softened joint loss, followed as it narrows.

`softened_newton` solves with the matrix of all weights, where columns are few; `softened_cg` by
conjugate gradients, preconditioned by a factor of it (`joint_factor`), where rows are wide.
"""
