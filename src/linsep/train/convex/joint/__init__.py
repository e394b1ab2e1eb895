"""Losses that all classes share: Crammer and Singer's machine, and what it has in common with
softmax.

`choose.joint_solver` is the way in: `interior_point` where weights are few, `augmented_lagrangian`
for many wide dense rows (sums in `smoothed_rows`, the projections of `simplex`, the preconditioner
in `class_factors`), `primal_dual` where weights come to about as many as such rows,
`listed_descent` where classes are so many that weights outnumber them by far (its walks in
`listed_sweep`), `softened_newton` for very many rows of few columns and `softened_cg` for many wide
ones with a weak penalty (its preconditioner in `joint_factor`), otherwise descent on the dual in
`crammer_singer`, handed over where it is slow; `balance` makes multipliers break even where
intercepts are free. `class_hessian` is the matrix of second derivatives that steps of both losses
solve with.
"""
