"""First-order steps: whole gradients, minibatches, single rows, and l1.

The lectures' descents on penalised losses of scores (`score_descent`, `score_walks`)
and on squared error (`squared_error`); `proximal_newton` sets weights to exactly zero.
"""
