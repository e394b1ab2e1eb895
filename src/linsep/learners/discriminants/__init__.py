"""Learners in closed form, from means and scatter: Gaussian classes (`lda`), Fisher's direction.

Both sum moments over fixed blocks (`train.closed`) and solve one small system of equations.
"""
