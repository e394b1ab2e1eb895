"""Readers against inputs that nobody meant: `python -m fuzz SECONDS [TARGET ...]`, in `tests`."""
