"""The perceptron family, row by row or by minibatches.

`one_vs_rest` trains all hyperplanes of a learner; `weights` makes the passes over blocks; `kernels`
is one pass of a correction rule (`rules`), compiled. `bf16_screen` spares scores that a rounded
copy of the weights settles; `averaging` and `line_search` are options of a run.
"""
