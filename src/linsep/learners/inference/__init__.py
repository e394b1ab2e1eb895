"""What the weights of a model can be trusted to say: errors, tests, intervals.

`likelihood` maximises the likelihood of a logistic model to rounding, with weights held fixed where
a test or a profile asks for it; `firth` does so with Firth's penalty; `tables` makes the summaries
of logistic and linear regressions of it; `summary` is what learners show.
"""
