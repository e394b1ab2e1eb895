"""Penalised losses: ½‖w‖² (or an elastic net) + C Σ cᵢ ℓ(zᵢ), each fit with its duality gap.

`choose` picks the solver. Shared parts: `losses`, `penalties`, `coordinates` (column scaling and
the way back), `sampling`, `curvature`. The solvers are in `solvers`; `steps` are those of the
lectures (gradients, minibatches, sgd), `path` has all folds and penalties of a path at once;
`several_classes` says which one a multinomial logistic regression is left to.
"""
