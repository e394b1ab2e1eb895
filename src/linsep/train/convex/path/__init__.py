"""Fits along a path of penalties, folds side by side, on the ordinary solvers by warm starts."""
