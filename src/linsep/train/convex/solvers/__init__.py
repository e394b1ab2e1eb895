"""The solvers: formula and source on top of each file."""
