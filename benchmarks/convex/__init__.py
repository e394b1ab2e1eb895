"""Certified solvers against their peers: seconds until the same objective is near its optimum."""
