"""Tables: from the cells of CSV and Parquet files to numbers.

A file is opened by `delimited` (its `dialect` judged from the first lines) or `parquet`; a batch of
rows is a `table_part`; `column_statistics` settles categories and means in one pass; `encoding`
says how columns become features; `assemble` turns columns into dense or sparse rows.
"""
