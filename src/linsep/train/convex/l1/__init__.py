"""A smooth loss of two classes with weights that are exactly zero.

`design` holds rows and their columns and makes the products with them; `loss_terms` sums losses,
slopes and curvatures of scores; `quadratic` minimises a quadratic model with the corner of |w|, one
coordinate at a time, for `model`; `prox_newton` chooses working sets, searches along steps and
bounds the gap.
"""
