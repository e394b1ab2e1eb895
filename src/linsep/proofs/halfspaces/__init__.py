"""Separation as a system of half-spaces ⟨z, v⟩ > 0, and quick ways to a solution.

`perceptron_search` and `linear_program` look for a point, `separator` makes it definite, `witness`
turns multipliers into exact proofs that there is none.
"""
