"""What several solvers are made of, each thing once."""
