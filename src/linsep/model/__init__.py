"""The result of training: what it is, what it says of new rows, and its files.

A learner's answer has one of the `forms`: hyperplanes (`linear`, `centred`), sums of kernel values
(`expansion`), or either behind a column scaling or the maps of a `pipeline`. `predictor` is the
model that a file holds; `chances` turns scores into probabilities. `files` saves and loads, and
`export` writes models for other programs. Nothing here needs scikit-learn to predict.
"""
