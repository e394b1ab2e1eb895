"""Learners made of others.

`scaled` fits one on features of one size and answers in the units of the data, `layer` fits several
units over the same inputs, and `threshold_network` trains two layers by back-propagation.
"""
