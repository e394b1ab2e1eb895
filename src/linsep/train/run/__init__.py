"""The loop, and who listens to it.

`loop` makes passes and tells listeners: the progress bar, the trace, the checkpoint and whatever
the user hands in. `replay_log` keeps the sums of a batch solver's passes, so that a run can be gone
through again.
"""
