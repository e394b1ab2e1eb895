"""Perceptrons that remember every separator they met.

`corrections` is the history of a run, `running_average` all its separators as one, and
`kernel_perceptron` the same rule in the feature space of a kernel.
"""
