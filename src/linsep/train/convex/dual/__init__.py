"""Solvers of the dual: one multiplier for each row.

`coordinate_descent` moves multipliers one by one (`state`, `working_set`, compiled in `kernels`),
`interior_point` takes few costly steps, `active_set` gives the last digits. Several classes at once
are in `linsep.train.convex.joint`.
"""
