"""First-order steps: whole gradients, minibatches and single rows.

The lectures' descents on penalised losses of scores (`score_descent`, `score_walks`)
and on squared error (`squared_error`).
"""
