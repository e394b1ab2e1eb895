"""Where rows come from, and `linsep.read`.

`read` opens files of any format through `tables`, `svmlight` or `arrays`; the result is a
`dataset`, walked in blocks or gathered. Learners take it by `learner_rows`, models by `new_rows`;
`one_pass` learns from a long file while it is parsed.
"""
