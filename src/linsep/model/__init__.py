"""The result of training."""
