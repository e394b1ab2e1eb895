"""Learners that correct mistakes row by row: Rosenblatt's, voted, in a kernel's space, PA.

Each turns its parameters into a rule or a walk of `train.online` or `train.voted`, runs the one
loop, and keeps what came of it. `one_pass` fits on a long file while it is parsed; `replay` makes
the weights of noted corrections again, for a trace.
"""
