"""Tables: the cells of CSV and Parquet files and of frames in memory, as columns.

A file is opened by `delimited` (its `dialect` judged from the first lines) or `parquet`, a frame
by `memory`; `cells` reads what people write, `number_signs` judges what points and commas mean,
`column` says of what kind a column is, and `target` which one is to be predicted. A batch of rows
is a `table_part`.
"""
