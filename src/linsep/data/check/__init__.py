"""What comes in from users, checked once: arrays, frames, sparse matrices, labels.

`arrays` and `labels` serve training, `plain` serves prediction without scikit-learn, `fingerprint`
tells one set of training rows from another.
"""
