"""Bytes of files, below any format.

`atomic` replaces a file whole by the calls of `disk`, `compression` unpacks on the way (gzip,
bzip2, zstd), `idx` reads the headers of the MNIST format, `bad_rows` keeps the list of rows that
could not be read.
"""
