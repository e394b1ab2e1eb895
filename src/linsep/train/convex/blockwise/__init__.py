"""Logistic regression by sums over blocks of rows: many rows, few features, bounded memory.

`logistic` begins with a sample and goes on with the Hessian of all rows (`full_steps`; `far_rows`
keep their losses in its model). `*_sums` are the passes over rows, `*_problem` the objectives in
safe coordinates.
"""
