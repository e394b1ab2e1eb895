"""What a kernel sees.

`rows` has the two layouts, dense and sparse; `scaling` brings their columns to one size and weights
back. `kernels` and `gram` are inner products of feature spaces, `feature_maps` and `features` the
spaces that are written out. `int8_screen` is a rounded copy that settles most scores; `radius` and
`row_hash` are numbers of whole rows.
"""
