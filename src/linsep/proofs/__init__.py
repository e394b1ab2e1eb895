"""Answers that can be checked: recomputed from data and weights, trusting no solver."""
