"""An independent check of certificates, in exact arithmetic; shares nothing with their search.

`scores` reads rows and planes as whole numbers. `separability` then checks the five claims a
certificate can make, `mistakes` those about the fewest rows that any plane gets wrong, and
`mistake_bound` Novikoff's bound.
"""
