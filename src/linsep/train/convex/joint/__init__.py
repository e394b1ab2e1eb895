"""Losses that all classes share: Crammer and Singer's machine, and what it has in common with
softmax.

`choose.joint_solver` is the way in: `interior_point` where weights are few, `augmented_lagrangian`
for many wide dense rows (sums in `smoothed_rows`, the projections of `simplex`, the preconditioner
in `class_factors`), `primal_dual` where weights come to about as many as such rows, `descent/` on
the dual where they outnumber them by far, where rows are sparse, and where nothing else serves,
handed over where it is slow, and `softened/` for very many rows of few columns, and for wide ones
with a weak penalty; `balance` makes multipliers break even where intercepts are free.
`class_hessian` is the matrix of second derivatives that steps of both losses solve with.
"""
