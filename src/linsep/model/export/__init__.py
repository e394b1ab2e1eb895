"""Models for other programs.

`export` picks the format by the file's name: `onnx_graph`, `sql` or `python_source`, which
writes a file of numbers around the text of `standalone`. What was written is run on sample rows
first, and kept only if it answers as the model does.
"""
