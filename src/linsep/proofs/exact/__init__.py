"""Exact arithmetic: floats as whole numbers, and what can be decided with them.

`integers` scales rows to whole numbers, `dixon` solves large systems by p-adic lifting, `wolfe`
finds the point nearest to the origin, `scores` decides the side of every row.
"""
