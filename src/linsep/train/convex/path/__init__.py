"""Logistic regression for every fold and every C of a path, side by side.

`fold_newton` where features are few: a pass over the rows serves all folds. `fold_products` where
they are many: fits of the ordinary solver, which begin at the models of all rows.
"""
