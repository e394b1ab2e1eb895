"""Is there a separating plane? `linear_separability` asks, `prover` orders the stages,
from the cheapest to the most patient, and `certificate` is the answer.
"""
