"""Rows that lie on the workers of a Dask cluster: the library's data set, with its two verbs.

`collections`, `frames` and `files` bring Dask arrays, data frames, delayed blocks and files that
workers read themselves into partitions of whole blocks, cut by row number alone (`layout`,
`partition`). `rows` is X as a fit sees it: a function of a block is carried to the workers
(`shipping`), run there in stateless tasks (`rounds`, beside numbers of rows: `row_numbers`), and
its results come back in block order, or added along the same tree as in memory (`waiting`).
`connect` finds a cluster, or starts one.
"""
