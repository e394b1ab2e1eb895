"""Logistic regression for every fold and every C of a path, side by side.

`fold_newton` on dense rows and `fold_dual` on sparse ones; a pass over the rows serves all folds.
"""
