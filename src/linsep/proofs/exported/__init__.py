"""Certificates for other programs, as docs/certificates.md describes them.

`multipliers` brings a dual point to exact feasibility, `claims` states what is proved and by what.
"""
