"""Logistic regression for every fold and every C of a path, side by side.

`fold_newton` on dense rows and `fold_dual` on sparse ones: a pass over the rows serves all folds.
`fold_products` where features are many, or sparse rows many for each: folds begin at the models of
all rows.
"""
