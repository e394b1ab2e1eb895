"""From columns of a table to features: settled once on training rows, kept with the model.

`column_statistics` and `label_statistics` learn categories, means and classes in one pass over all
rows; an `encoding` says which features the columns become, and `encoding_document` how that is
written in a model file. `assemble` puts columns side by side as dense or sparse rows, `words`
counts words; `records` encodes a few rows, `drift` says what is new.
"""
