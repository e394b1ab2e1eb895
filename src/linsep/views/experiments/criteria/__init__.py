"""Learners that minimise a criterion: Fisher's, squares, likelihood, hinge; scale and variance."""
