"""Numbers and labels, wherever they live.

`sources` opens what a user names or hands in; `table` and `svmlight` read its cells, `encoding`
makes features of columns, `check` refuses what is not usable. Rows end in fixed `blocks` by row
number. `files` writes whole files, `cluster` holds rows that lie on the workers of a cluster, and
`toys` makes small sets to play with.
"""
