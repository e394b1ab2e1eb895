"""Is there a separating plane? Yes, with the plane; or no, with rows that rule every one out.

`linear_separability` asks, `prover` orders the stages from the cheapest to the most patient:
`search` on a growing set of rows, then `weak_separation` and the `quotient` by what rows force.
`certificate` is the answer; `far_rows` proves for rows on a cluster.
"""
