"""Which C to take and where errors come from: learners fitted many times, and compared.

`path` runs over penalties, with folds that share work where they can (`fold_fits`), on a cluster
too (`cluster_path`); `bias_variance` over samples of the data.
"""
