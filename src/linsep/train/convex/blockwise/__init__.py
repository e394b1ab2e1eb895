"""Newton's method by sums over blocks of rows: many rows, few features, bounded memory.

`logistic` begins with a sample and goes on with the Hessian of all rows (`full_steps`; `far_rows`
keep their losses in its model); `primal_newton` smooths the kink of the hinge, by the steps of
`kink_descent`, and takes the rows `near_kink` apart.
`*_sums` and `smoothed_hinge` are the passes over rows, `*_problem` the objectives in safe
coordinates.
"""
