"""Fits in closed form, from sums over blocks.

`moments` sums class counts, means and scatter; `whitening`, `wide_axes` and `tsqr` factor them;
`least_squares` solves: from `normal_equations` (of many columns with `single_products`) or, for
wide rows, `minimum_norm` where these keep their digits, in exact arithmetic where few rows are
nearly collinear, and by an orthogonal factor otherwise; `best_threshold` and `platt` place a cut
and a sigmoid on scores.
"""
