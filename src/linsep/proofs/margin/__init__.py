"""The largest margin, between certified bounds.

`max_margin_qp` and `hildreth` come near it, `refinement` widens a separator, `exact_margin` gives
it exactly once its rows are known, `upper_bound` bounds every margin from above.
"""
