"""Answers that can be checked: recomputed from data and weights, trusting no solver.

`separability` finds a separator or rows that rule every one out, in `halfspaces` of rows and of
classes; `margin` widens it, `mistakes` bounds what any plane must get wrong. `gap` certifies how
far a fit is from its optimum. `exact` has the rational arithmetic, and `verify` checks
certificates without the code that found them.
"""
