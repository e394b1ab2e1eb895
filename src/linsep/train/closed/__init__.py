"""Fits in closed form, from sums over blocks.

`moments` sums class counts, means and scatter; `whitening` and `tsqr` factor them; `least_squares`
solves, in exact arithmetic where few rows are nearly collinear; `best_threshold` and `platt` place
a cut and a sigmoid on scores.
"""
