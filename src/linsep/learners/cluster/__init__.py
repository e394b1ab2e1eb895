"""Learners on the rows of a Dask cluster.

`fit` opens Dask collections and files that workers read, and decides where each learner runs: on
sums from the workers, by `mixing` (the perceptron family), or on a copy brought to the client.
`lazy` makes predictions of Dask collections when they are asked for.
"""
