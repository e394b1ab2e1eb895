"""Fixed blocks of rows, and the memory they lie in.

`blocks` cuts rows by row number alone, which is why threads, files and clusters do not change the
answer. `store` holds gathered rows in memory or in a binary copy on disk, `page_release` gives
pages of mapped files back, `buffer_pool` lends memory again and again.
"""
