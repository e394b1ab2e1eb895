"""Learners made of others: one on scaled features, several units side by side, two layers."""
