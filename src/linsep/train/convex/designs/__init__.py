"""The rows of a problem as solvers see them: products with them, and sums over them.

The bytes of a sum are decided here, by spans of row numbers that are added along a fixed tree;
threads, files and clusters change none of them.
"""
