"""An independent check of certificates, in exact arithmetic.

Shares nothing with the search for them.
"""
