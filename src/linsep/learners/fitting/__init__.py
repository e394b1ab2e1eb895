"""What every fit passes through, and what kindred fits share.

`frame` is the one `fit`: it checks `parameters` (those of scikit-learn's learners by
`sklearn_compat`), makes the problem, trains and says how it ended; `warm_starts` and `first_order`
begin and step. After a convex fit `certificates` computes the gap anew, and `diagnosis` tells why a
goal was missed. `notebook` and `sklearn_callbacks` show the fit to others.
"""
