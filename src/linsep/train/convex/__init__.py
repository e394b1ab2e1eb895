"""Penalised losses: ½‖w‖² (or an elastic net) + C Σ cᵢ ℓ(zᵢ), each fit with its duality gap.

`choose` picks the solver. Shared parts: `losses`, `penalties`, `coordinates` (column scaling and
the way back), `lbfgs`, `sampling`, `curvature`. The solvers are in `newton` and, for many rows, in
`blockwise` (second-order methods in the primal), `dual` (coordinate descent and interior points),
`solvers` (one file each: l1 in `prox_newton`), `steps` (gradients, minibatches, sgd), `softmax`
(several classes) and `path` (all folds and
penalties of a path at once).
"""
