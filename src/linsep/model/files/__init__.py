"""Models as files that hold numbers and texts, never code.

`store` saves and loads. A model becomes a `document`, whose labels and parameters are spelled by
`values`, and arrays; `container` is the safetensors file around both. The `selftest` rows are
answered when a model is saved and again when it is loaded.
"""
