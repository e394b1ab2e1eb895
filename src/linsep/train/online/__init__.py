"""The perceptron family, row by row, by minibatches or by all rows at once.

`solver` makes the passes of all hyperplanes of a learner, as a `method` says; each group of them is
a `trainer`: `hyperplanes`, and the average (`averaging`) or the `pocket` of those before. A pass of
a correction rule (`rules`) is compiled (`linsep.kernels.online`) and counts in a `tally`.
`minibatch` and `batch` (with `line_search`) are the other passes.
"""
