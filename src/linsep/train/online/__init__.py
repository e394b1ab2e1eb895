"""The perceptron family, row by row, by minibatches or by all rows at once.

`solver` makes the passes of all hyperplanes of a learner, as a `method` says; each group of them is
a `trainer`: `hyperplanes`, and the average (`averaging`) or the `pocket` of those before. `kernels`
is one pass of a correction rule (`rules`), compiled; `bf16_screen` spares scores that a rounded
copy of the weights settles. `minibatch` and `batch` (with `line_search`) are the other passes.
"""
