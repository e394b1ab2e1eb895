"""Fits in closed form, from sums over blocks.

`moments` sums class counts, means and scatter; `whitening` and `tsqr` factor them, `row_axes` the
products of rows (`centred_rows`, `pivots`) where these are not many beside their columns;
`least_squares` solves: from `normal_equations` (of many columns with `single_products`) or, for
wide rows, `minimum_norm` where these keep their digits, in exact arithmetic where few rows are
nearly collinear, and by an orthogonal factor otherwise.
"""
