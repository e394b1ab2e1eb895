"""The svmlight (libsvm) format: a parser in compiled code.

`parser` cuts a file into pieces of whole lines and reads them by several threads; `decimals` has
the powers of ten that round decimal numbers correctly.
"""
