"""Duality gaps, computed from data and weights with all rounding allowed for.

`duality_gap` is `linsep.gap`; `certificate` and `joint_certificate` confirm what a
fit says of itself.
"""
