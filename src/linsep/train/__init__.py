"""Training: rules, passes, the one loop."""
