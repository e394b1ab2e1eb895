"""The svmlight (libsvm) format: a parser in compiled code.

`parser` cuts a file into pieces of whole lines and reads them by several threads; `lines` and
`line_ends` are its kernels, `decimals` rounds decimal numbers correctly.
"""
