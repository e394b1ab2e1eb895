"""Answers that can be checked: recomputed from data and weights, trusting no solver."""

from linsep import _lean as _lean
